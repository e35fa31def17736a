//! Listeners of a page for the moments at which it is left.

/// A moment of a page's end that a listener is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// `beforeunload`.
    Ask,
    /// `pagehide`.
    PageHide,
    /// `visibilitychange`, which is a moment of the end of what is seen alone.
    Hide,
    /// `unload`.
    Leave,
}

impl Moment {
    /// The moment that an event tells of.
    #[must_use]
    pub fn of(event: &str) -> Option<Self> {
        Some(match event {
            "beforeunload" => Self::Ask,
            "pagehide" => Self::PageHide,
            "visibilitychange" => Self::Hide,
            "unload" => Self::Leave,
            _ => return None,
        })
    }
}

/// The document of a page that a listener is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The page's own.
    Page,
    /// That of the frame at this place.
    Frame(usize),
}

/// The function that a listener calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Handler {
    /// That of a property like `onunload`.
    Property,
    /// The one of this name.
    Named(String),
    /// One without a name.
    Unnamed,
}

/// A listener of a page for its being left.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeaveListener {
    /// The document that it is in.
    pub scope: Scope,
    /// The moment that it is told of.
    pub moment: Moment,
    /// The function that it calls.
    pub by: Handler,
}
