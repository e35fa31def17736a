//! Keys of objects: bytes that are decoded once, never normalised, and never a path.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::request::percent::decoded;

/// The most bytes that a key has.
pub const KEY_BYTES_MAX: usize = 1024;

/// The key of an object: 1 to [`KEY_BYTES_MAX`] bytes of UTF-8 without NUL. `a//b`, `.` and `%2e` are plain keys, and so is `a/../b`:
/// nothing is normalised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Key(String);

impl Key {
    /// The key that a percent-encoded path names, decoded exactly once.
    ///
    /// # Errors
    /// [`Error::InvalidUri`] for what is empty, no percent-encoded UTF-8 or holds a NUL, and for one that leads out of its bucket;
    /// [`Error::KeyTooLong`].
    pub fn from_path(encoded: &str) -> Result<Self, Error> {
        let text = decoded(encoded).ok_or(Error::InvalidUri)?;
        if leads_out(&text) {
            return Err(Error::InvalidUri);
        }
        Self::new(text)
    }

    /// The key that is `text`, as a body or a record carries it. One that leads out of its bucket is a key too, which an earlier release
    /// took: it can be listed, and deleted among others.
    ///
    /// # Errors
    /// As [`Key::from_path`].
    pub fn new(text: String) -> Result<Self, Error> {
        if text.is_empty() || text.contains('\0') {
            return Err(Error::InvalidUri);
        }
        if text.len() > KEY_BYTES_MAX {
            return Err(Error::KeyTooLong { size: text.len(), most: KEY_BYTES_MAX });
        }
        Ok(Self(text))
    }

    /// The key's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key's bytes: the order of listings is theirs.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Tells whether, read from the left, segments `..` ever outnumber the names before them.
fn leads_out(key: &str) -> bool {
    let mut depth = 0_u32;
    for segment in key.split('/') {
        match segment {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_decoded_exactly_once_and_never_normalised() {
        for (path, key) in [
            ("a//b/./../c", "a//b/./../c"),
            ("/lead", "/lead"),
            ("%2541", "%41"),
            ("%2e", "."),
            ("a+b", "a+b"),
            ("a%20b", "a b"),
            ("%E2%82%AC", "\u{20ac}"),
        ] {
            assert_eq!(Key::from_path(path).unwrap().as_str(), key);
        }
    }

    #[test]
    fn a_key_does_not_lead_out_of_its_bucket() {
        for path in ["..", "../a", "a/../..", "a/../../b", "./..", "/..", "a/..//..", "%2e%2e/a"] {
            assert_eq!(Key::from_path(path), Err(Error::InvalidUri), "{path}");
        }
        for path in ["a/..", "a/../b", "a/b/../..", "a/../b/..", "...", "a..b/..", "..a"] {
            assert!(Key::from_path(path).is_ok(), "{path}");
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for path in ["", "%00", "a%00b", "%ff", "%c3", "%", "%zz"] {
            assert_eq!(Key::from_path(path), Err(Error::InvalidUri), "{path}");
        }
    }

    #[test]
    fn a_key_has_at_most_1024_bytes_after_decoding() {
        assert!(Key::from_path(&"%41".repeat(1024)).is_ok());
        assert_eq!(
            Key::from_path(&"a".repeat(1025)),
            Err(Error::KeyTooLong { size: 1025, most: 1024 })
        );
        assert!(Key::from_path(&"%E2%82%AC".repeat(342)).is_err());
    }
}
