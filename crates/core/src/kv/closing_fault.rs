//! The reason for which a store could not be closed, for after its drop, which returns nothing.

use std::sync::{Arc, OnceLock};

/// The reason for which a store could not close all of its files, once it was dropped. What was acknowledged is in its log all the same.
#[derive(Debug, Clone, Default)]
pub struct ClosingFault(Arc<OnceLock<String>>);

impl ClosingFault {
    /// Keeps the reason; the first one counts.
    pub fn note(&self, reason: String) {
        let _ = self.0.set(reason);
    }

    /// The reason; nothing where all went well, and as long as the store is open.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }
}
