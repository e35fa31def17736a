//! Override codes of SubStation Alpha (`{\an8}`, `{\i1}`), which SubRip files have and players obey.

use super::super::colour::Colour;
use super::super::layout::{Align, Layout, Line};
use super::super::layout::{Anchor, Percent};
use super::super::lines;
use super::super::text::{Tag, TextBuilder};

/// The beginning of a block of codes.
pub(super) const START: &str = "{\\";
/// A blank that parts no lines.
pub(super) const HARD_SPACE: char = '\u{a0}';
/// The code of one, which stands outside of blocks.
const HARD_SPACE_CODE: &str = "\\h";
/// The longest block that is looked for.
const BLOCK_BYTES_MAX: usize = 256;
/// Names of codes that change what a track cannot hold, the longest of one beginning first.
const OTHERS: [&str; 46] = [
    "alpha", "xbord", "ybord", "xshad", "yshad", "iclip", "fscx", "fscy", "blur", "bord", "clip",
    "fade", "move", "shad", "fad", "fax", "fay", "frx", "fry", "frz", "fsp", "org", "pbo", "pos",
    "1a", "1c", "2a", "2c", "3a", "3c", "4a", "4c", "be", "fe", "fn", "fr", "fs", "kf", "ko", "kt",
    "K", "k", "p", "q", "r", "t",
];

/// The effect of a code.
#[derive(Debug, Clone, PartialEq)]
enum Code {
    /// The key of a number pad that the text lies at.
    Keypad(u8),
    /// A style that begins or ends.
    Style(Tag, bool),
    /// A colour, or the one that text has anyway.
    Colour(Option<Colour>),
    /// Styles end.
    Reset,
    /// Nothing that a track holds.
    Other,
}

/// Reads a block at the start of `text` into the text and the place, and gives what follows it; none if the braces are characters.
pub(super) fn read<'t>(
    text: &'t str,
    builder: &mut TextBuilder,
    layout: &mut Option<Layout>,
) -> Option<&'t str> {
    let inner = text.strip_prefix(START)?;
    let window = inner.as_bytes().get(..inner.len().min(BLOCK_BYTES_MAX))?;
    let end = memchr::memchr2(b'}', b'\n', window).filter(|end| window.get(*end) == Some(&b'}'))?;
    let codes: Vec<Code> = split(inner.get(..end)?).map(code).collect::<Option<_>>()?;
    for code in codes {
        match code {
            // The first place counts, as players have it.
            Code::Keypad(key) => *layout = layout.take().or_else(|| Some(of_keypad(key))),
            Code::Style(tag, true) => builder.open(tag),
            Code::Style(tag, false) => builder.close(|open| *open == tag),
            Code::Colour(colour) => {
                builder.close(|tag| matches!(tag, Tag::Colour(_)));
                if let Some(colour) = colour {
                    builder.open(Tag::Colour(colour));
                }
            }
            Code::Reset => builder.close_all(),
            Code::Other => {}
        }
    }
    inner.get(end + 1..)
}

/// The codes of a block; backslashes within brackets belong to the code that they stand in.
fn split(block: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    block.split(move |c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == '\\' && depth == 0
    })
}

/// Reads a code without its backslash.
fn code(text: &str) -> Option<Code> {
    let text = text.trim_end();
    if let Some(key) = text.strip_prefix("an") {
        return key.parse().ok().filter(|key| (1..=9).contains(key)).map(Code::Keypad);
    }
    let argument = |name| text.strip_prefix(name).filter(|rest: &&str| is_argument(rest));
    if let Some((name, rest)) =
        OTHERS.iter().find_map(|name| Some((*name, text.strip_prefix(name)?)))
    {
        return match name {
            "1c" => Some(Code::Colour(colour(rest)?)),
            "r" => Some(Code::Reset),
            "fn" => Some(Code::Other),
            _ => is_argument(rest).then_some(Code::Other),
        };
    }
    if let Some(place) = argument("a") {
        // The older numbers: 4 more for the top, 8 more for the middle.
        let key = match place.parse().ok()? {
            side @ 1..=3_u8 => side,
            top @ 5..=7 => top + 2,
            middle @ 9..=11 => middle - 5,
            _ => return None,
        };
        return Some(Code::Keypad(key));
    }
    if let Some(value) = argument("c") {
        return Some(Code::Colour(colour(value)?));
    }
    let styles = [("i", Tag::Italic), ("b", Tag::Bold), ("u", Tag::Underline)];
    for (name, tag) in styles {
        if let Some(value) = argument(name) {
            // Bold may be a weight. No value is the one of the style sheet, which has none of the three.
            let weight: u32 = if value.is_empty() { 0 } else { value.parse().ok()? };
            return Some(Code::Style(tag, weight == 1 || weight >= 600));
        }
    }
    argument("s").map(|_| Code::Other)
}

/// Tells whether a text may follow the name of a code.
fn is_argument(text: &str) -> bool {
    text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit() || "-+.&(".contains(c))
}

/// Reads `&HBBGGRR&`; none at all is the colour that text has anyway.
fn colour(text: &str) -> Option<Option<Colour>> {
    if text.is_empty() {
        return Some(None);
    }
    let digits = text.trim_matches('&').trim_start_matches(['H', 'h']);
    let [_, blue, green, red] = u32::from_str_radix(digits, 16).ok()?.to_be_bytes();
    Some(Some(Colour { red, green, blue }))
}

/// The key of a number pad that lies where a cue does; none for the middle of the bottom.
pub(super) fn keypad(layout: &Layout) -> Option<u8> {
    let bottom = match layout.line.map(Line::place) {
        None => 0,
        Some((share, anchor)) => {
            let top = match anchor {
                Anchor::Start => share.thousandths(),
                Anchor::Center => share.thousandths() - 5_000,
                Anchor::End => share.thousandths() - 10_000,
            };
            if top < 33_333 {
                6
            } else if top < 60_000 {
                3
            } else {
                0
            }
        }
    };
    let side = match layout.alignment().side() {
        Anchor::Start => 1,
        Anchor::Center => 2,
        Anchor::End => 3,
    };
    Some(bottom + side).filter(|key| *key != 2).map(|key| b'0' + key)
}

/// The layout of a key of a number pad.
fn of_keypad(key: u8) -> Layout {
    let align = match key % 3 {
        1 => Some(Align::Left),
        2 => None,
        _ => Some(Align::Right),
    };
    let line = match key {
        7..=9 => Some(Line::Row(0)),
        4..=6 => Some(Line::At(Percent::HALF, Anchor::Center)),
        _ => None,
    };
    Layout { align, line, ..Layout::default() }
}

/// Gives what follows the code of a hard space at the start of `text`, behind `before`. A backslash is a character in paths: so the code is one where a
/// word stands on one side of it at the most.
pub(super) fn hard_space<'t>(before: &str, text: &'t str) -> Option<&'t str> {
    let after = text.strip_prefix(HARD_SPACE_CODE)?;
    let ends = after.starts_with(|c: char| c.is_whitespace() || matches!(c, '<' | '{'));
    let is_code = match before.chars().next_back() {
        None => true,
        Some(last) if last.is_whitespace() => true,
        Some(':' | '\\' | '/') => false,
        Some(_) => after.is_empty() || ends || after.starts_with(HARD_SPACE_CODE),
    };
    is_code.then_some(after)
}

/// Puts a sign without width into what would be read as a block of codes, as a hard space, or as an arrow; `arrow` is one of the latter.
pub(super) fn guard(out: &mut String, body: usize, arrow: &str) {
    let Some(written) = out.get(body..) else { return };
    let has_code = || {
        let bytes = written.as_bytes();
        memchr::memchr(b'\\', bytes).is_some()
            && (written.contains(START) || written.contains(HARD_SPACE_CODE))
    };
    if lines::split_at_arrow(written).is_some() || has_code() {
        let guarded = written.replace(arrow, "--\u{200b}>").replace(START, "{\u{200b}\\");
        out.truncate(body);
        guard_hard_spaces(&guarded, out);
    }
}

/// Puts a sign without width into what may be read as a hard space, whatever tags stand before it.
fn guard_hard_spaces(written: &str, out: &mut String) {
    let mut rest = written;
    while let Some(at) = rest.find(HARD_SPACE_CODE) {
        let (plain, tail) = rest.split_at(at);
        out.push_str(plain);
        let before = if out.ends_with('>') { "" } else { out.as_str() };
        if let Some(after) = hard_space(before, tail) {
            out.push_str("\\\u{200b}h");
            rest = after;
        } else {
            out.push_str(HARD_SPACE_CODE);
            rest = tail.get(HARD_SPACE_CODE.len()..).unwrap_or_default();
        }
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_the_number_pad_is_a_place() {
        for key in (1..=9).filter(|key| *key != 2) {
            assert_eq!(keypad(&of_keypad(key)), Some(b'0' + key), "{key}");
        }
        assert_eq!(of_keypad(2), Layout::default());
    }

    #[test]
    fn codes_are_known_by_their_names_and_arguments() {
        for (text, expected) in [
            ("an8", Some(Code::Keypad(8))),
            ("an", None),
            ("an10", None),
            ("a6", Some(Code::Keypad(8))),
            ("a10", Some(Code::Keypad(5))),
            ("a4", None),
            ("i1", Some(Code::Style(Tag::Italic, true))),
            ("i", Some(Code::Style(Tag::Italic, false))),
            ("b700", Some(Code::Style(Tag::Bold, true))),
            ("b400", Some(Code::Style(Tag::Bold, false))),
            ("u0", Some(Code::Style(Tag::Underline, false))),
            ("c&H0000FF&", Some(Code::Colour(Some(Colour::of(0xff_0000))))),
            ("1c&HFF0000&", Some(Code::Colour(Some(Colour::of(0x00_00ff))))),
            ("c", Some(Code::Colour(None))),
            ("3c&HFF0000&", Some(Code::Other)),
            ("r", Some(Code::Reset)),
            ("rOther", Some(Code::Reset)),
            ("fnDejaVu Sans", Some(Code::Other)),
            ("fs20", Some(Code::Other)),
            ("pos(400,570)", Some(Code::Other)),
            ("fad(100,200)", Some(Code::Other)),
            ("s1", Some(Code::Other)),
            ("frac{1", None),
            ("begin", None),
            ("text", None),
            ("n", None),
            ("", None),
        ] {
            assert_eq!(code(text), expected, "{text}");
        }
        assert_eq!(
            split(r"i1\t(0,500,\fs20)\b1").collect::<Vec<_>>(),
            ["i1", r"t(0,500,\fs20)", "b1"]
        );
    }
}
