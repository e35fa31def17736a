//! Page tokens: opaque, stateless, and made of the key of the last row, so that rows that are added do not move a page,
//! and the thousandth page costs what the first one does.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::api::error::Error;

/// A token longer than this is none of ours.
const TOKEN_BYTES_MAX: usize = 1_024;
/// The form of the tokens.
const FORM: u8 = 1;
/// The bytes at the end of a token that tell it from a changed one.
const SEAL_BYTES: usize = 4;

/// The direction in which a page lies from its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// After it.
    Next,
    /// Before it.
    Previous,
}

/// The beginning of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageToken {
    /// The direction to read in.
    pub direction: Direction,
    /// Number of rows that come before the page, where rows have positions.
    pub position: u32,
    /// The key to read from; it is not in the page.
    pub key: Vec<u8>,
}

/// The bond of a token to its list: the operation and its filter, so that a token of one list is refused by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding([u8; 32]);

impl Binding {
    /// The binding of the list that these name.
    #[must_use]
    pub fn of(names: &[&str]) -> Self {
        let mut hash = Sha256::new();
        for name in names {
            hash.update(name.as_bytes());
            hash.update([0]);
        }
        Self(hash.finalize().into())
    }

    /// The end of a token that holds `bytes`: a token that was changed is none. It keeps nothing secret.
    fn seal(&self, bytes: &[u8]) -> [u8; SEAL_BYTES] {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(bytes);
        let [a, b, c, d, ..] = <[u8; 32]>::from(hash.finalize());
        [a, b, c, d]
    }
}

impl PageToken {
    /// The text.
    #[must_use]
    pub fn print(direction: Direction, position: u32, key: &[u8], binding: Binding) -> String {
        let mut bytes = vec![FORM, u8::from(direction == Direction::Previous)];
        bytes.extend_from_slice(&position.to_be_bytes());
        bytes.extend_from_slice(key);
        let seal = binding.seal(&bytes);
        bytes.extend_from_slice(&seal);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a token of the list that `binding` names.
    ///
    /// # Errors
    /// [`Error::InvalidPageToken`].
    pub fn parse(text: &str, binding: Binding) -> Result<Self, Error> {
        if text.len() > TOKEN_BYTES_MAX {
            return Err(Error::InvalidPageToken);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| Error::InvalidPageToken)?;
        let (sealed, seal) =
            bytes.split_last_chunk::<SEAL_BYTES>().ok_or(Error::InvalidPageToken)?;
        let (head, key) = sealed.split_first_chunk::<6>().ok_or(Error::InvalidPageToken)?;
        let [form, direction, position @ ..] = *head;
        if form != FORM || direction > 1 || *seal != binding.seal(sealed) {
            return Err(Error::InvalidPageToken);
        }
        let direction = if direction == 1 { Direction::Previous } else { Direction::Next };
        Ok(Self { direction, position: u32::from_be_bytes(position), key: key.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_token_is_bound_to_its_list() {
        let binding = Binding::of(&["playlists.list", "mine"]);
        let text = PageToken::print(Direction::Previous, 40, b"key", binding);
        let token = PageToken::parse(&text, binding).unwrap();
        assert_eq!(
            (token.direction, token.position, token.key.as_slice()),
            (Direction::Previous, 40, b"key".as_slice())
        );
        assert_eq!(
            PageToken::parse(&text, Binding::of(&["playlists.list", "other"])),
            Err(Error::InvalidPageToken)
        );
        assert_eq!(PageToken::parse("CAUQAA", binding), Err(Error::InvalidPageToken));
    }

    #[test]
    fn a_token_that_was_changed_anywhere_is_refused() {
        let binding = Binding::of(&["playlists.list", "mine"]);
        let text = PageToken::print(Direction::Next, 40, b"a longer key", binding);
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        for at in 0..text.len() {
            for letter in letters {
                let mut changed = text.clone().into_bytes();
                changed[at] = *letter;
                let changed = String::from_utf8(changed).unwrap();
                let is_same = changed == text;
                assert_eq!(PageToken::parse(&changed, binding).is_ok(), is_same, "{changed}");
            }
        }
        assert!(PageToken::parse(&text[..text.len() - 4], binding).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_a_token_or_refused(text in ".{0,40}") {
            let _ = PageToken::parse(&text, Binding::of(&["x"]));
        }
    }
}
