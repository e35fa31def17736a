//! The answer to a call.

use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use crate::browser::tab::TabView;
use crate::browser::window::WindowView;
use crate::id::RequestId;

/// The answer to a call, without what the caller may not see. It serializes to what the promise resolves with.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A tab.
    Tab(Box<TabView>),
    /// Tabs, in their order.
    Tabs(Vec<TabView>),
    /// A window.
    Window(Box<WindowView>),
    /// Windows, in the order of their creation.
    Windows(Vec<WindowView>),
    /// Anything else.
    Value(Value),
    /// Nothing: the promise resolves without a value, the callback gets no argument.
    Undefined,
    /// An answer that [`Browser::poll_answer`](super::Browser::poll_answer) gives under this id.
    Later(RequestId),
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Tab(tab) => tab.serialize(serializer),
            Self::Tabs(tabs) => tabs.serialize(serializer),
            Self::Window(window) => window.serialize(serializer),
            Self::Windows(windows) => windows.serialize(serializer),
            Self::Value(value) => value.serialize(serializer),
            Self::Undefined | Self::Later(_) => serializer.serialize_unit(),
        }
    }
}

impl Answer {
    /// True for a value, and not for the absence of one.
    #[must_use]
    pub const fn is_value(&self) -> bool {
        !matches!(self, Self::Undefined | Self::Later(_))
    }
}
