//! Text of a caption file's bytes: UTF-8, UTF-16 with a byte order mark, or Latin-1 where neither fits.

use std::borrow::Cow;

/// Characters 80 to 9F of Latin-1 as the web reads it (windows-1252); five of them are not assigned.
const LATIN_1_HIGH: [char; 32] = [
    '€', '\u{fffd}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{fffd}', 'Ž',
    '\u{fffd}', '\u{fffd}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{fffd}',
    'ž', 'Ÿ',
];

/// Decodes a file. Characters that no format can show (controls other than tabs and line ends, and the two that are never
/// characters) become U+FFFD, so that nothing later has to think of them.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf_16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf_16(rest, u16::from_be_bytes)),
        _ => {
            let rest = bytes.strip_prefix(MARK.as_bytes()).unwrap_or(bytes);
            std::str::from_utf8(rest).map_or_else(|_| Cow::Owned(latin_1(rest)), Cow::Borrowed)
        }
    };
    shown(ended_once(whole(unmarked(text))))
}

/// The sign by which programs of DOS end a file, and the one that fills it up to the end of a block.
const ENDINGS: [char; 2] = ['\u{1a}', '\0'];

/// A text without what is behind its end.
fn whole(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_end_matches(ENDINGS)),
        Cow::Owned(mut text) => {
            text.truncate(text.trim_end_matches(ENDINGS).len());
            Cow::Owned(text)
        }
    }
}

/// The byte order mark in UTF-8.
const MARK: &str = "\u{feff}";

/// A text without further marks before it: each program that a file went through may have put one there.
fn unmarked(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_start_matches(MARK)),
        Cow::Owned(text) if text.starts_with(MARK) => {
            Cow::Owned(text.trim_start_matches(MARK).to_owned())
        }
        owned @ Cow::Owned(_) => owned,
    }
}

/// A text whose lines all end in CR CR LF, with one end in the place of two: so end files that were written in text mode twice.
fn ended_once(text: Cow<'_, str>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_doubled = |end: usize| bytes.get(..end).is_some_and(|before| before.ends_with(b"\r\r"));
    let mut ends = memchr::memchr_iter(b'\n', bytes).peekable();
    if ends.peek().is_none() || !ends.all(is_doubled) {
        return text;
    }
    Cow::Owned(text.replace("\r\r\n", "\n"))
}

fn utf_16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len() / 2 + 3);
    let units = pairs.iter().map(|pair| unit(*pair));
    text.extend(char::decode_utf16(units).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)));
    if !odd.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

fn latin_1(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    text.extend(bytes.iter().copied().map(windows_1252));
    text
}

/// The character of a byte of Latin-1 as the web reads it.
pub(super) fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => {
            let high = LATIN_1_HIGH.get(usize::from(byte - 0x80)).copied();
            high.unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        _ => char::from(byte),
    }
}

fn shown(text: Cow<'_, str>) -> Cow<'_, str> {
    // Bytes are looked at first, and without a way out of the inner loop, so that the compiler takes many at once.
    let may_be = |byte: u8| {
        byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r') || matches!(byte, 0x7f | 0xef)
    };
    let finds = |chunk: &[u8]| chunk.iter().fold(false, |found, byte| found | may_be(*byte));
    if !text.as_bytes().chunks(128).any(finds) || !text.chars().any(is_unshown) {
        return text;
    }
    Cow::Owned(
        text.chars().map(|c| if is_unshown(c) { char::REPLACEMENT_CHARACTER } else { c }).collect(),
    )
}

/// Tells whether no format can show a character.
pub(super) const fn is_unshown(c: char) -> bool {
    matches!(c, '\0'..='\x08' | '\x0b'..='\x1f' | '\x7f' | '\u{fffe}' | '\u{ffff}') && c != '\r'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf_16_of(text: &str, mark: [u8; 2], bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
    }

    #[test]
    fn utf_8_and_utf_16_are_read_with_their_marks() {
        let text = "añ€😀\r\n";
        assert_eq!(decode(text.as_bytes()), text);
        assert_eq!(decode(&[b"\xef\xbb\xbf", text.as_bytes()].concat()), text);
        assert_eq!(decode(&utf_16_of(text, [0xff, 0xfe], u16::to_le_bytes)), text);
        assert_eq!(decode(&utf_16_of(text, [0xfe, 0xff], u16::to_be_bytes)), text);
    }

    #[test]
    fn what_is_no_utf_8_is_latin_1() {
        assert_eq!(decode(b"caf\xe9 \x93x\x94 \x80"), "café “x” €");
    }

    #[test]
    fn an_odd_byte_and_half_a_pair_become_replacement_characters() {
        assert_eq!(decode(b"\xff\xfea\0\0\xd8b\0c"), "a\u{fffd}b\u{fffd}");
    }

    #[test]
    fn marks_may_stand_more_than_once() {
        assert_eq!(decode(b"\xef\xbb\xbf\xef\xbb\xbfa"), "a");
        assert_eq!(decode(&utf_16_of("\u{feff}a", [0xff, 0xfe], u16::to_le_bytes)), "a");
    }

    #[test]
    fn lines_that_all_end_twice_end_once() {
        assert_eq!(decode(b"a\r\r\n\r\r\nb\r\r\n"), "a\n\nb\n");
        // Ends of several kinds are what they are.
        assert_eq!(decode(b"a\r\r\nb\r\nc\n"), "a\r\r\nb\r\nc\n");
        assert_eq!(decode(b"a\r\rb"), "a\r\rb");
    }

    #[test]
    fn what_stands_behind_the_end_of_a_file_of_dos_is_no_text() {
        assert_eq!(decode(b"a\r\n\x1a"), "a\r\n");
        assert_eq!(decode(b"caf\xe9\x1a\0\0"), "café");
        assert_eq!(decode(&utf_16_of("a\u{1a}", [0xff, 0xfe], u16::to_le_bytes)), "a");
        assert_eq!(decode(b"a\x1ab"), "a\u{fffd}b");
    }

    #[test]
    fn controls_become_replacement_characters() {
        assert_eq!(decode(b"a\0b\x1b\tc\r\n"), "a\u{fffd}b\u{fffd}\tc\r\n");
        assert_eq!(decode("\u{ffff}x".as_bytes()), "\u{fffd}x");
    }
}
