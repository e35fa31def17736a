//! The URL of a store on another machine, as flags give it.

use std::fmt;

/// A URL that may hold a password, and so is shown nowhere as it is.
#[derive(Clone, PartialEq, Eq)]
pub struct StoreUrl(String);

impl StoreUrl {
    /// The URL as it was given.
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The whole text, for whoever connects.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreUrl(..)")
    }
}
