//! Percent-encoding, decoded once and strictly.

use percent_encoding::percent_decode_str;

/// Decodes `text`; `None` where a `%` is not followed by two hexadecimal digits, or what comes out is no UTF-8.
#[must_use]
pub fn decoded(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let bytes = text.as_bytes();
    let whole = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'%')
        .all(|(at, _)| is_digit(bytes.get(at + 1)) && is_digit(bytes.get(at + 2)));
    let text = percent_decode_str(text).decode_utf8().ok();
    text.filter(|_| whole).map(std::borrow::Cow::into_owned)
}

/// As [`decoded`], where a plus sign stands for a blank, as in queries.
#[must_use]
pub fn decoded_query(text: &str) -> Option<String> {
    if text.contains('+') { decoded(&text.replace('+', " ")) } else { decoded(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_code_and_what_is_no_text_are_none() {
        assert_eq!(decoded("a%20b+%2541"), Some("a b+%41".to_owned()));
        assert_eq!(decoded_query("a+b%2B"), Some("a b+".to_owned()));
        for wrong in ["%", "%4", "a%zz", "%%41", "%ff", "%c3%28"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
