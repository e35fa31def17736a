//! Names of uploaded files: `Slug` (RFC 5023 section 9.7) of a request or of a part, or what the part's disposition says.

use percent_encoding::percent_decode;

/// A name has at most this many bytes, as on most disks. Ours.
const BYTES_MAX: usize = 255;

/// The name in a `Slug`, which is UTF-8 behind percent signs. Bytes that are no text become U+FFFD, which no name may hold.
#[must_use]
pub fn of_slug(value: &[u8]) -> String {
    percent_decode(value.trim_ascii()).decode_utf8_lossy().into_owned()
}

/// Tells whether a file may have this name: text without control characters, of 1 to 255 bytes.
#[must_use]
pub fn is_valid(name: &str) -> bool {
    let is_text = !name.chars().any(|letter| letter.is_control() || letter == '\u{FFFD}');
    is_text && !name.trim().is_empty() && name.len() <= BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_is_text_behind_percent_signs() {
        for (value, name) in [
            (&b"film.mp4"[..], "film.mp4"),
            (b" my film.mp4 ", "my film.mp4"),
            (b"Fr%C3%BChling%20100%.mp4", "Fr\u{fc}hling 100%.mp4"),
            ("\u{1F98A}.mov".as_bytes(), "\u{1F98A}.mov"),
        ] {
            assert_eq!(of_slug(value), name);
            assert!(is_valid(name), "{name}");
        }
    }

    #[test]
    fn a_name_without_text_or_with_more_than_a_disk_takes_is_none() {
        let long = "x".repeat(BYTES_MAX);
        assert!(is_valid(&long));
        for value in ["", " ", "%20", "a%00b", "a%0Ab", "%FF.mp4", &format!("{long}x")] {
            assert!(!is_valid(&of_slug(value.as_bytes())), "{value}");
        }
    }
}
