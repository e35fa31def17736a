//! The canonical request of SigV4: the text of a request that both sides hash.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use crate::request::fields::Fields;

/// Everything but letters, digits and `-._~` is encoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// In a path the slash stays.
const PATH_ENCODED: &AsciiSet = &ENCODED.remove(b'/');

/// Room for most requests without their path and query.
const REQUEST_BYTES: usize = 768;

/// The path, decoded once and encoded by the rules of the signature. It is never normalised.
#[must_use]
pub fn path(raw: &str) -> Cow<'_, str> {
    match Cow::from(percent_decode_str(raw)) {
        Cow::Borrowed(decoded) => percent_encode(decoded, PATH_ENCODED).into(),
        Cow::Owned(decoded) => Cow::Owned(percent_encode(&decoded, PATH_ENCODED).to_string()),
    }
}

/// The query parameters but `without`, encoded by the rules of the signature and sorted.
#[must_use]
pub fn query(raw: &str, without: &str) -> String {
    let mut pairs: Vec<(Cow<'_, str>, Cow<'_, str>)> = raw
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (encoded(name), encoded(value)))
        .filter(|(name, _)| name != without)
        .collect();
    pairs.sort_unstable();
    let mut out = String::with_capacity(raw.len());
    for (place, (name, value)) in pairs.iter().enumerate() {
        if place > 0 {
            out.push('&');
        }
        out.push_str(name);
        out.push('=');
        out.push_str(value);
    }
    out
}

/// A name or a value of the query, decoded once and encoded by the rules of the signature.
fn encoded(text: &str) -> Cow<'_, str> {
    if is_encoded(text) {
        return Cow::Borrowed(text);
    }
    let text = text.replace('+', " ");
    let decoded: Vec<u8> = percent_decode_str(&text).collect();
    Cow::Owned(percent_encode(&decoded, ENCODED).to_string())
}

/// Tells whether a text is as the rules of the signature encode it, as nearly all are: who signs has encoded it so.
fn is_encoded(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let digit = |byte: Option<u8>| match byte? {
        digit @ b'0'..=b'9' => Some(digit - b'0'),
        digit @ b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    };
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => {
                let code = digit(bytes.next()).zip(digit(bytes.next()));
                code.is_some_and(|(high, low)| !is_plain(high * 16 + low))
            }
            byte => is_plain(byte),
        };
        if !fits {
            return false;
        }
    }
    true
}

/// Appends the `name:value` lines of the signed headers, in the order in which `signed` lists them, semicolons between.
fn push_headers(signed: &str, fields: &Fields<'_>, lines: &mut String) {
    for name in signed.split(';') {
        lines.push_str(name);
        lines.push(':');
        let values = fields.iter().filter(|(sent, _)| *sent == name);
        for (place, (_, value)) in values.enumerate() {
            if place > 0 {
                lines.push(',');
            }
            match std::str::from_utf8(value) {
                Ok(value) => push_collapsed(value, lines),
                Err(_) => push_collapsed(&String::from_utf8_lossy(value), lines),
            }
        }
        lines.push('\n');
    }
}

/// Appends a value without outer blanks, and with one blank for each run of them.
fn push_collapsed(value: &str, out: &mut String) {
    // One search each: the library's goes over many bytes at once, and the token of a session has hundreds.
    if !b" \t".iter().any(|blank| value.as_bytes().contains(blank)) {
        out.push_str(value);
        return;
    }
    let words = value.split([' ', '\t']).filter(|word| !word.is_empty());
    for (place, word) in words.enumerate() {
        if place > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
}

/// The canonical request of these parts: `path` and `query` in canonical form, `signed` the names of the headers that are covered.
#[must_use]
pub fn request(
    method: &str,
    path: &str,
    query: &str,
    fields: &Fields<'_>,
    signed: &str,
    payload: &str,
) -> String {
    let mut text = String::with_capacity(REQUEST_BYTES + path.len() + query.len());
    for line in [method, path, query] {
        text.push_str(line);
        text.push('\n');
    }
    push_headers(signed, fields, &mut text);
    for line in ["\n", signed, "\n", payload] {
        text.push_str(line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_that_is_taken_as_it_is_is_what_encoding_it_again_gives(
            text in "(%[0-9A-Fa-f]{2}|%[A-G0-9]?|[a-c0-9+~._ /-]|é){0,12}",
        ) {
            let blanks = text.replace('+', " ");
            let decoded: Vec<u8> = percent_decode_str(&blanks).collect();
            let again = percent_encode(&decoded, ENCODED).to_string();
            prop_assert_eq!(is_encoded(&text), again == text);
            prop_assert_eq!(encoded(&text), again);
        }
    }

    #[test]
    fn a_path_is_encoded_once_and_kept_as_it_is() {
        for (raw, canonical) in [
            ("/a//b/./../c", "/a//b/./../c"),
            ("/%2541", "/%2541"),
            ("/a(b)", "/a%28b%29"),
            ("/a%20b", "/a%20b"),
            ("/%e2%82%ac", "/%E2%82%AC"),
        ] {
            assert_eq!(path(raw), canonical);
        }
    }

    #[test]
    fn parameters_are_sorted_by_their_encoded_form() {
        assert_eq!(query("b=2&a=1&acl&A=%2f", ""), "A=%2F&a=1&acl=&b=2");
        assert_eq!(query("X-Amz-Signature=x&a=b+c", "X-Amz-Signature"), "a=b%20c");
    }

    #[test]
    fn header_values_are_trimmed_and_joined() {
        let fields = Fields::of([("a", &b"  x   y "[..]), ("a", &b"z"[..]), ("b", &b""[..])]);
        assert_eq!(
            request("GET", "/", "", &fields, "a;b", "UNSIGNED-PAYLOAD"),
            "GET\n/\n\na:x y,z\nb:\n\na;b\nUNSIGNED-PAYLOAD"
        );
    }
}
