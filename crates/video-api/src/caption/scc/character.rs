//! Characters of CEA-608: the basic set, the special one, and the extended ones of two tables.

use super::code::with_parity;

/// The basic set at 20 to 7F where it differs from ASCII.
const BASIC: [(u8, char); 11] = [
    (0x27, '’'),
    (0x2a, 'á'),
    (0x5c, 'é'),
    (0x5e, 'í'),
    (0x5f, 'ó'),
    (0x60, 'ú'),
    (0x7b, 'ç'),
    (0x7c, '÷'),
    (0x7d, 'Ñ'),
    (0x7e, 'ñ'),
    (0x7f, '█'),
];

/// The characters of all bytes of seven bits.
const CHARACTERS: [char; 128] = {
    let mut table = ['\0'; 128];
    let (mut byte, mut other) = (0_u8, 0);
    #[expect(clippy::indexing_slicing, reason = "the compiler runs it, and each loop has its end")]
    {
        while byte < 128 {
            table[byte as usize] = byte as char;
            byte += 1;
        }
        while other < BASIC.len() {
            table[BASIC[other].0 as usize] = BASIC[other].1;
            other += 1;
        }
    }
    table
};

/// Special characters, 11 30 to 11 3F. The tenth is a transparent space.
const SPECIAL: [char; 16] =
    ['®', '°', '½', '¿', '™', '¢', '£', '♪', 'à', '\u{a0}', 'è', 'â', 'ê', 'î', 'ô', 'û'];

/// Extended characters of Spanish, of signs and of French, 12 20 to 12 3F, each with the basic one that decoders without it show.
const EXTENDED_1: [(char, u8); 32] = [
    ('Á', b'A'),
    ('É', b'E'),
    ('Ó', b'O'),
    ('Ú', b'U'),
    ('Ü', b'U'),
    ('ü', b'u'),
    ('‘', 0x27),
    ('¡', b'!'),
    ('*', b'.'),
    ('\'', 0x27),
    ('—', b'-'),
    ('©', b'c'),
    ('℠', b's'),
    ('•', b'.'),
    ('“', b'"'),
    ('”', b'"'),
    ('À', b'A'),
    ('Â', b'A'),
    ('Ç', b'C'),
    ('È', b'E'),
    ('Ê', b'E'),
    ('Ë', b'E'),
    ('ë', b'e'),
    ('Î', b'I'),
    ('Ï', b'I'),
    ('ï', b'i'),
    ('Ô', b'O'),
    ('Ù', b'U'),
    ('ù', b'u'),
    ('Û', b'U'),
    ('«', b'"'),
    ('»', b'"'),
];

/// Extended characters of Portuguese, German and Danish, 13 20 to 13 3F.
const EXTENDED_2: [(char, u8); 32] = [
    ('Ã', b'A'),
    ('ã', b'a'),
    ('Í', b'I'),
    ('Ì', b'I'),
    ('ì', b'i'),
    ('Ò', b'O'),
    ('ò', b'o'),
    ('Õ', b'O'),
    ('õ', b'o'),
    ('{', b'('),
    ('}', b')'),
    ('\\', b'/'),
    ('^', b'.'),
    ('_', b'-'),
    ('|', b'!'),
    ('~', b'-'),
    ('Ä', b'A'),
    ('ä', b'a'),
    ('Ö', b'O'),
    ('ö', b'o'),
    ('ß', b's'),
    ('¥', b'Y'),
    ('¤', b'o'),
    ('¦', b'!'),
    ('Å', b'A'),
    ('å', b'a'),
    ('Ø', b'O'),
    ('ø', b'o'),
    ('┌', b'+'),
    ('┐', b'+'),
    ('└', b'+'),
    ('┘', b'+'),
];

/// Substitutes for characters of none of the sets.
const REPLACED: [(char, &str); 22] = [
    ('…', "..."),
    ('–', "-"),
    ('‐', "-"),
    ('‑', "-"),
    ('−', "-"),
    ('‚', ","),
    ('„', "\""),
    ('‹', "<"),
    ('›', ">"),
    ('`', "‘"),
    ('´', "’"),
    ('ý', "y"),
    ('ÿ', "y"),
    ('ź', "z"),
    ('š', "s"),
    ('č', "c"),
    ('œ', "oe"),
    ('æ', "ae"),
    ('Œ', "OE"),
    ('Æ', "AE"),
    ('♫', "♪"),
    ('€', "EUR"),
];

/// The way a character is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// One byte.
    Basic(u8),
    /// A pair.
    Special(u8, u8),
    /// A basic character, and a pair that takes its place.
    Extended(u8, u8, u8),
}

/// The basic character of a byte from 20 to 7F.
pub(super) fn basic(byte: u8) -> char {
    CHARACTERS.get(usize::from(byte)).copied().unwrap_or(char::from(byte))
}

/// The special character of a second byte, 30 to 3F.
pub(super) fn special(second: u8) -> Option<char> {
    SPECIAL.get(usize::from(second.checked_sub(0x30)?)).copied()
}

/// The extended character of a pair without its channel, 12 or 13 with 20 to 3F.
pub(super) fn extended(first: u8, second: u8) -> Option<char> {
    let table = match first {
        0x12 => &EXTENDED_1,
        0x13 => &EXTENDED_2,
        _ => return None,
    };
    table.get(usize::from(second.checked_sub(0x20)?)).map(|(c, _)| *c)
}

/// Tells whether the basic set has this byte where ASCII has it. Nearly all characters are such, and need no table.
const fn is_plain_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'&' | b'('..=b')' | b'+'..=b'[' | b']' | b'a'..=b'z')
}

/// The bytes that such characters are sent as, with their parity; nought for all others.
const PLAIN: [u8; 128] = {
    let mut table = [0; 128];
    let mut byte: u8 = 0;
    while byte < 128 {
        #[expect(
            clippy::indexing_slicing,
            reason = "the compiler runs it, and the loop ends at the table's length"
        )]
        if is_plain_byte(byte) {
            table[byte as usize] = with_parity(byte);
        }
        byte += 1;
    }
    table
};

/// The byte that a character is sent as, with its parity, if the basic set has it where ASCII has it.
pub(super) fn plain(c: char) -> Option<u8> {
    PLAIN.get(c as usize).copied().filter(|byte| *byte != 0)
}

/// Tells whether each character of a text is in the basic set where ASCII has it.
pub(super) fn is_plain(text: &str) -> bool {
    // Without a way out of the loop, so that the compiler takes many bytes at once.
    text.bytes().fold(true, |all, byte| all & is_plain_byte(byte))
}

/// The way a character is sent; none for one of no set.
pub(super) fn sent(c: char) -> Option<Sent> {
    if let Some(byte) = u8::try_from(c).ok().filter(|byte| is_plain_byte(*byte)) {
        return Some(Sent::Basic(byte));
    }
    if let Some((byte, _)) = BASIC.iter().find(|(_, own)| *own == c) {
        return Some(Sent::Basic(*byte));
    }
    let place = |index: usize, from: u8| u8::try_from(index).map(|index| from + index).ok();
    if let Some(index) = SPECIAL.iter().position(|own| *own == c) {
        return Some(Sent::Special(0x11, place(index, 0x30)?));
    }
    [(0x12, &EXTENDED_1), (0x13, &EXTENDED_2)].into_iter().find_map(|(first, table)| {
        let (index, (_, shown)) = table.iter().enumerate().find(|(_, (own, _))| *own == c)?;
        Some(Sent::Extended(*shown, first, place(index, 0x20)?))
    })
}

/// Characters of the sets that stand for any character. Signs without width stand for nothing.
pub(super) fn stand_ins(c: char, mut each: impl FnMut(char)) {
    if plain(c).is_some() || sent(c).is_some() {
        return each(c);
    }
    match REPLACED.iter().find(|(own, _)| *own == c) {
        Some((_, text)) => text.chars().for_each(each),
        None if matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}') => {}
        None if c.is_whitespace() => each(' '),
        None => each('?'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_of_every_set_is_read_as_it_is_sent() {
        let mut seen = std::collections::BTreeSet::new();
        for byte in 0x20..=0x7f {
            let c = basic(byte);
            assert_eq!(sent(c), Some(Sent::Basic(byte)), "{c}");
            assert!(seen.insert(c));
        }
        for second in 0x30..=0x3f {
            let c = special(second).unwrap();
            assert_eq!(sent(c), Some(Sent::Special(0x11, second)), "{c}");
            assert!(seen.insert(c));
        }
        for (first, second) in (0x20..=0x3f).flat_map(|second| [(0x12, second), (0x13, second)]) {
            let c = extended(first, second).unwrap();
            assert!(
                matches!(sent(c), Some(Sent::Extended(_, f, s)) if (f, s) == (first, second)),
                "{c}"
            );
            assert!(seen.insert(c));
        }
        assert_eq!(seen.len(), 96 + 16 + 64);
    }

    #[test]
    fn every_stand_in_is_of_a_set() {
        for (c, text) in REPLACED {
            assert_eq!(sent(c), None, "{c}");
            assert!(text.chars().all(|c| sent(c).is_some()), "{text}");
        }
        for (_, shown) in EXTENDED_1.iter().chain(&EXTENDED_2) {
            assert!((0x20..=0x7f).contains(shown));
        }
    }
}
