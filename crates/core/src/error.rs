//! The row that every error has: its status and its code.

/// The look of an error from outside. Nothing else in a service decides a status or a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// HTTP status, 300 to 599.
    pub status: u16,
    /// The code that clients branch on.
    pub code: &'static str,
}

impl Row {
    /// A row of the error table.
    #[must_use]
    pub const fn of(status: u16, code: &'static str) -> Self {
        Self { status, code }
    }
}

/// An error with a row. Its `Display` says what is wrong, in a sentence a person can act on.
pub trait Coded: std::error::Error {
    /// Status and code.
    fn row(&self) -> Row;
}
