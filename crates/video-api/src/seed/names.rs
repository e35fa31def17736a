//! The names of a seed file, each given once.

use std::collections::BTreeSet;

use super::error::SeedError;

/// The names that a file has given: a second thing of the same name would be left out without a word.
#[derive(Debug, Default)]
pub struct Names(BTreeSet<(&'static str, String)>);

impl Names {
    /// Gives `name` to the `kind` of thing whose `member` it is, at `place` in the file.
    ///
    /// # Errors
    /// [`SeedError::Unreadable`] if it is empty, holds control characters, which no request could name, or is another one's.
    pub fn take(
        &mut self,
        kind: &'static str,
        name: &str,
        place: &str,
        member: &str,
    ) -> Result<(), SeedError> {
        let what = if name.is_empty() {
            "has no name"
        } else if name.contains(char::is_control) {
            "has a name with control characters"
        } else if self.0.insert((kind, name.to_owned())) {
            return Ok(());
        } else {
            "is there already"
        };
        Err(SeedError::Unreadable(format!("{place}{member}: this {kind} {what}")))
    }
}
