//! A group of tabs that stand side by side.

use serde_json::{Value, json};

use crate::id::{GroupId, WindowId};

/// The colours in the order in which new groups take them.
pub const COLORS: &[&str] =
    &["grey", "blue", "red", "yellow", "green", "pink", "purple", "cyan", "orange"];

/// A group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its id in this session.
    pub id: GroupId,
    /// The window that holds its tabs.
    pub window: WindowId,
    /// One of [`COLORS`].
    pub color: String,
    /// Its title, empty unless given.
    pub title: String,
    /// True if its tabs are hidden.
    pub collapsed: bool,
}

impl Group {
    /// The group as the interface shows it.
    #[must_use]
    pub fn render(&self) -> Value {
        json!({
            "collapsed": self.collapsed,
            "color": self.color,
            "id": self.id.0,
            "shared": false,
            "title": self.title,
            "windowId": self.window.0,
        })
    }
}
