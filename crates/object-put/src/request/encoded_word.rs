//! Encoded words (RFC 2047): how values of user metadata that are not ASCII stand in a header.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The most characters of an encoded word.
const WORD_CHARACTERS_MAX: usize = 75;
/// Characters of a word beside its text: `=?UTF-8?B?` and `?=`.
const FRAME_CHARACTERS: usize = 12;

/// A value in which each encoded word that holds ASCII alone is decoded; words of other text stay as they are. Blanks between two words
/// that were decoded belong to neither.
#[must_use]
pub fn decode_ascii(value: &str) -> Cow<'_, str> {
    if !value.contains("=?") {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    let mut after_word = false;
    while let Some(begin) = rest.find("=?") {
        let (before, from) = rest.split_at(begin);
        match word(from) {
            Some((decoded, behind)) => {
                let is_gap = after_word && before.chars().all(|blank| matches!(blank, ' ' | '\t'));
                if !is_gap {
                    text.push_str(before);
                }
                text.push_str(&decoded);
                rest = behind;
                after_word = true;
            }
            None => {
                let (mark, behind) = from.split_at(2);
                text.push_str(before);
                text.push_str(mark);
                rest = behind;
                after_word = false;
            }
        }
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// The ASCII text of the encoded word that `from` begins with, and what follows it.
fn word(from: &str) -> Option<(String, &str)> {
    let (charset, rest) = from.strip_prefix("=?")?.split_once('?')?;
    let (encoding, rest) = rest.split_once('?')?;
    let (text, behind) = rest.split_once("?=")?;
    let known = ["utf-8", "us-ascii", "iso-8859-1"];
    if !known.iter().any(|known| charset.eq_ignore_ascii_case(known)) {
        return None;
    }
    let bytes = match encoding {
        "B" | "b" => STANDARD.decode(text).ok()?,
        "Q" | "q" => unquoted(text)?,
        _ => return None,
    };
    // A control character would not be a header value any more.
    let is_plain = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    let decoded = String::from_utf8(bytes).ok().filter(|_| is_plain)?;
    Some((decoded, behind))
}

fn unquoted(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.as_bytes();
    while let Some((byte, rest)) = left.split_first() {
        left = rest;
        match byte {
            b'_' => bytes.push(b' '),
            b'=' => {
                let (digits, behind) = rest.split_at_checked(2)?;
                bytes.extend(hex::decode(digits).ok()?);
                left = behind;
            }
            b'!'..=b'~' => bytes.push(*byte),
            _ => return None,
        }
    }
    Some(bytes)
}

/// A value as a header can carry it: ASCII as it is, anything else as encoded words. Text that is mostly ASCII is quoted, other text is
/// base64, as mail does it.
#[must_use]
pub fn encode(value: &str) -> Cow<'_, str> {
    if value.is_ascii() {
        return Cow::Borrowed(value);
    }
    let beyond = value.chars().filter(|character| !character.is_ascii()).count();
    let quotes = beyond * 2 < value.chars().count();
    let mut words = Vec::new();
    let mut text = String::new();
    for character in value.chars() {
        text.push(character);
        if framed(&text, quotes).len() > WORD_CHARACTERS_MAX {
            text.pop();
            words.push(framed(&text, quotes));
            text = character.to_string();
        }
    }
    words.push(framed(&text, quotes));
    Cow::Owned(words.join(" "))
}

fn framed(text: &str, quotes: bool) -> String {
    let mut word = String::with_capacity(text.len() * 3 + FRAME_CHARACTERS);
    word.push_str(if quotes { "=?UTF-8?Q?" } else { "=?UTF-8?B?" });
    if quotes {
        for byte in text.bytes() {
            match byte {
                b' ' => word.push('_'),
                byte if byte.is_ascii_alphanumeric() || b"!*+-/.,".contains(&byte) => {
                    word.push(char::from(byte));
                }
                byte => word.push_str(&format!("={byte:02X}")),
            }
        }
    } else {
        STANDARD.encode_string(text, &mut word);
    }
    word.push_str("?=");
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_ascii_are_decoded_and_others_stay() {
        for (sent, kept) in [
            ("plain", "plain"),
            ("=?UTF-8?B?aGVsbG8=?=", "hello"),
            ("=?utf-8?q?a_b=3Dc?=", "a b=c"),
            ("x =?UTF-8?Q?y?= z", "x y z"),
            ("=?UTF-8?Q?a?= =?UTF-8?Q?b?=", "ab"),
            ("=?UTF-8?B?w6k=?=", "=?UTF-8?B?w6k=?="),
            ("=?UTF-8?Q?=C3=A9?= =?UTF-8?Q?b?=", "=?UTF-8?Q?=C3=A9?= b"),
            ("=?UTF-8?Q?=0D=0A?=", "=?UTF-8?Q?=0D=0A?="),
            ("=?UTF-8?X?a?=", "=?UTF-8?X?a?="),
            ("=?koi8-r?Q?a?=", "=?koi8-r?Q?a?="),
            ("=?UTF-8?B?%%?=", "=?UTF-8?B?%%?="),
            ("=?", "=?"),
            ("a=?b?=", "a=?b?="),
            ("=?UTF-8?Q?=4?=", "=?UTF-8?Q?=4?="),
        ] {
            assert_eq!(decode_ascii(sent), kept, "{sent}");
        }
    }

    #[test]
    fn text_that_is_not_ascii_is_encoded_in_words_of_75_characters() {
        assert_eq!(encode("plain =?"), "plain =?");
        assert_eq!(encode("Hello World\u{e9}"), "=?UTF-8?Q?Hello_World=C3=A9?=");
        assert_eq!(encode("\u{e9}"), "=?UTF-8?B?w6k=?=");
        let long = "\u{20ac}".repeat(200);
        let words = encode(&long).into_owned();
        assert!(words.split(' ').count() > 1);
        let mut decoded = String::new();
        for word in words.split(' ') {
            assert!(word.len() <= 75, "{word}");
            let text = word.strip_prefix("=?UTF-8?B?").unwrap().strip_suffix("?=").unwrap();
            decoded.push_str(std::str::from_utf8(&STANDARD.decode(text).unwrap()).unwrap());
        }
        assert_eq!(decoded, long);
    }
}
