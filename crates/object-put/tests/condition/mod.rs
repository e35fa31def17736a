//! Conditions on the object that is there, by its entity tag.

/// A condition on the object that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    None,
    /// `If-None-Match: *`.
    Absent,
    /// `If-Match` with this entity tag.
    Matches(String),
}

impl Condition {
    /// The refusal of a write; `None` where it may go on.
    pub(crate) fn refusal(&self, object: Option<&String>) -> Option<u16> {
        match (self, object) {
            (Self::Matches(_), None) => Some(404),
            (Self::Matches(tag), Some(own)) if tag != own => Some(412),
            (Self::Absent, Some(_)) => Some(412),
            _ => None,
        }
    }
}
