//! Control codes of CEA-608: pairs of bytes of seven bits with an odd parity bit above them.

use super::super::colour::Colour;

/// Resume caption loading: what follows is loaded out of sight.
pub(super) const RCL: u16 = 0x1420;
/// Backspace.
pub(super) const BS: u16 = 0x1421;
/// Delete to the end of the row.
pub(super) const DER: u16 = 0x1424;
/// Roll up two rows; three and four follow.
pub(super) const RU2: u16 = 0x1425;
/// Roll up four rows.
pub(super) const RU4: u16 = 0x1427;
/// Resume direct captioning: what follows is shown at once.
pub(super) const RDC: u16 = 0x1429;
/// Text restart and resume: what follows is no caption.
pub(super) const TR: u16 = 0x142a;
/// Resume text display.
pub(super) const RTD: u16 = 0x142b;
/// Erase displayed memory.
pub(super) const EDM: u16 = 0x142c;
/// Carriage return.
pub(super) const CR: u16 = 0x142d;
/// Erase non-displayed memory.
pub(super) const ENM: u16 = 0x142e;
/// End of caption: both memories change places.
pub(super) const EOC: u16 = 0x142f;
/// One column to the right; two and three follow.
pub(super) const TAB: u16 = 0x1721;

/// First byte and high bits of the second byte of the preamble of each row, from the top.
const ROWS: [u16; 15] = [
    0x1140, 0x1160, 0x1240, 0x1260, 0x1540, 0x1560, 0x1640, 0x1660, 0x1740, 0x1760, 0x1040, 0x1340,
    0x1360, 0x1440, 0x1460,
];
/// Colours of preambles and of mid-row codes, by their number. White is the colour that text has anyway.
const COLOURS: [Option<Colour>; 7] = [
    None,
    Some(Colour::of(0x00_ff00)),
    Some(Colour::of(0x00_00ff)),
    Some(Colour::of(0x00_ffff)),
    Some(Colour::of(0xff_0000)),
    Some(Colour::of(0xff_ff00)),
    Some(Colour::of(0xff_00ff)),
];
const ITALICS: u16 = 7;
const WHITE: Colour = Colour::of(0xff_ffff);

/// The look of characters on the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Pen {
    /// One of the six colours; none is white.
    pub(super) colour: Option<Colour>,
    /// In italics.
    pub(super) italic: bool,
    /// Underlined.
    pub(super) underline: bool,
}

impl Pen {
    /// The pen for a colour that may be none of the six: white is none, others are left out.
    pub(super) fn new(colour: Option<Colour>, italic: bool, underline: bool) -> Self {
        let colour = colour.filter(|colour| *colour != WHITE && COLOURS.contains(&Some(*colour)));
        Self { colour, italic, underline }
    }

    /// The pen that one mid-row code makes of this one on the way to `wanted`: it sets either a colour or italics.
    pub(super) fn toward(self, wanted: Self) -> Self {
        let colour = if wanted.italic { self.colour } else { wanted.colour };
        Self { colour, ..wanted }
    }

    /// The mid-row code that leads to this pen.
    pub(super) fn mid_row(self) -> u16 {
        0x1120 | self.number()
    }

    fn number(self) -> u16 {
        let colour = COLOURS.iter().position(|colour| *colour == self.colour).unwrap_or(0);
        let number = if self.italic { ITALICS } else { u16::try_from(colour).unwrap_or(0) };
        number << 1 | u16::from(self.underline)
    }
}

/// The preamble of a row with an indent of so many times four columns.
pub(super) fn preamble_indent(row: usize, fours: usize, underline: bool) -> u16 {
    let fours = u16::try_from(fours.min(7)).unwrap_or(0);
    ROWS.get(row).copied().unwrap_or_default() | 0x10 | fours << 1 | u16::from(underline)
}

/// The preamble of a row with a pen, at the first column. Italics are white.
pub(super) fn preamble_pen(row: usize, pen: Pen) -> u16 {
    ROWS.get(row).copied().unwrap_or_default() | pen.number()
}

/// The command of a pair of control bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// A row, counted from 0, a column and a pen.
    Preamble(usize, usize, Pen),
    /// A mid-row code: a colour, or italics, and underline.
    MidRow(Option<Colour>, bool, bool),
    /// So many columns to the right.
    Tab(usize),
    /// A special character.
    Special(u8),
    /// An extended character.
    Extended(u8, u8),
    /// One of the miscellaneous codes, as a word of [`RCL`] and its like.
    Misc(u16),
    /// A background, or what means nothing.
    Other,
}

impl Code {
    /// Reads a pair without parity and with the bit of its channel cleared.
    pub(super) fn of(first: u8, second: u8) -> Self {
        let word = u16::from_be_bytes([first, second]);
        match (first, second) {
            (0x11, 0x20..=0x2f) => {
                let number = usize::from(second >> 1 & 7);
                let underline = second & 1 == 1;
                match COLOURS.get(number) {
                    Some(colour) => Self::MidRow(*colour, false, underline),
                    None => Self::MidRow(None, true, underline),
                }
            }
            (0x11, 0x30..=0x3f) => Self::Special(second),
            (0x12 | 0x13, 0x20..=0x3f) => Self::Extended(first, second),
            // The second field has its own first byte.
            (0x14 | 0x15, 0x20..=0x2f) => Self::Misc(word & 0xff | RCL & 0xff00),
            (0x17, 0x21..=0x23) => Self::Tab(usize::from(second - 0x20)),
            (0x10..=0x17, 0x40..=0x7f) => Self::preamble(word),
            _ => Self::Other,
        }
    }

    fn preamble(word: u16) -> Self {
        // The eleventh row is alone with its first byte, so its other half says nothing.
        let Some(row) = ROWS.iter().position(|own| *own == word & 0xffe0) else {
            return Self::Other;
        };
        let (number, underline) = (word >> 1 & 0xf, word & 1 == 1);
        if number >= 8 {
            let column = usize::from(number - 8) * 4;
            return Self::Preamble(row, column, Pen { underline, ..Pen::default() });
        }
        let colour = COLOURS.get(usize::from(number)).copied().flatten();
        Self::Preamble(row, 0, Pen { colour, italic: number == ITALICS, underline })
    }
}

/// A byte of seven bits with the bit above that makes the number of ones odd.
pub(super) const fn with_parity(byte: u8) -> u8 {
    // Counting bits is slow where the processor is not known to do it: 6996 has the parity of each half byte.
    let half = (byte ^ byte >> 4) & 0xf;
    if 0x6996_u16 >> half & 1 == 1 { byte } else { byte | 0x80 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(word: u16) -> Code {
        let [first, second] = word.to_be_bytes();
        Code::of(first, second)
    }

    #[test]
    fn preambles_name_each_row_once_with_indents_and_pens() {
        let mut seen = std::collections::BTreeSet::new();
        for row in 0..15 {
            for fours in 0..8 {
                let word = preamble_indent(row, fours, fours % 2 == 1);
                assert!(seen.insert(word));
                let pen = Pen { underline: fours % 2 == 1, ..Pen::default() };
                assert_eq!(of(word), Code::Preamble(row, fours * 4, pen));
            }
            for colour in COLOURS {
                let pen = Pen { colour, italic: false, underline: true };
                assert_eq!(of(preamble_pen(row, pen)), Code::Preamble(row, 0, pen));
            }
            let italics = Pen { italic: true, ..Pen::default() };
            assert_eq!(of(preamble_pen(row, italics)), Code::Preamble(row, 0, italics));
        }
    }

    #[test]
    fn each_byte_is_sent_with_an_odd_number_of_ones() {
        for byte in 0..128 {
            let sent = with_parity(byte);
            assert_eq!((sent & 0x7f, sent.count_ones() % 2), (byte, 1));
        }
    }

    #[test]
    fn known_words_of_real_files_have_their_parity() {
        let word = |code: u16| {
            let [first, second] = code.to_be_bytes();
            format!("{:02x}{:02x}", with_parity(first), with_parity(second))
        };
        let words: Vec<_> = [RCL, ENM, EOC, EDM, CR, RDC, RU2, RU4, TAB, TAB + 1, TAB + 2]
            .into_iter()
            .map(word)
            .collect();
        assert_eq!(
            words,
            [
                "9420", "94ae", "942f", "942c", "94ad", "9429", "9425", "94a7", "97a1", "97a2",
                "9723"
            ]
        );
        assert_eq!(word(preamble_indent(14, 0, false)), "9470");
        assert_eq!(word(preamble_indent(13, 0, false)), "94d0");
        assert_eq!(word(preamble_pen(14, Pen { italic: true, ..Pen::default() })), "946e");
        assert_eq!(word(Pen { italic: true, ..Pen::default() }.mid_row()), "91ae");
        assert_eq!(word(Pen::default().mid_row()), "9120");
        assert_eq!(word(0x1137), "9137");
    }

    #[test]
    fn codes_of_the_second_field_are_those_of_the_first() {
        assert_eq!(of(0x152f), Code::Misc(EOC));
        assert_eq!(of(0x1062), Code::Other);
        assert_eq!(of(0x1728), Code::Other);
        assert_eq!(of(0x1020), Code::Other);
    }
}
