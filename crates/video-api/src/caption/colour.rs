//! Colours of text.

use std::fmt::{self, Display};

/// A colour in sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Colour {
    /// Red.
    pub red: u8,
    /// Green.
    pub green: u8,
    /// Blue.
    pub blue: u8,
}

/// The named colours of HTML and TTML.
const NAMED: [(&str, u32); 18] = [
    ("white", 0xff_ffff),
    ("lime", 0x00_ff00),
    ("cyan", 0x00_ffff),
    ("red", 0xff_0000),
    ("yellow", 0xff_ff00),
    ("magenta", 0xff_00ff),
    ("blue", 0x00_00ff),
    ("black", 0x00_0000),
    ("aqua", 0x00_ffff),
    ("fuchsia", 0xff_00ff),
    ("green", 0x00_8000),
    ("gray", 0x80_8080),
    ("maroon", 0x80_0000),
    ("navy", 0x00_0080),
    ("olive", 0x80_8000),
    ("purple", 0x80_0080),
    ("silver", 0xc0_c0c0),
    ("teal", 0x00_8080),
];
/// The number of those of [`NAMED`] that are classes which WebVTT gives a colour to.
const WEBVTT_CLASSES: usize = 8;

impl Colour {
    /// A colour of the number `0xRRGGBB`.
    #[must_use]
    pub const fn of(rgb: u32) -> Self {
        let [_, red, green, blue] = rgb.to_be_bytes();
        Self { red, green, blue }
    }

    /// Reads a name, `#rgb`, `#rrggbb` or `#rrggbbaa`, or the last without the sign, and `rgb(r, g, b)` or `rgba(r, g, b, a)`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some((function, rest)) = text.split_once('(') {
            let numbers =
                rest.strip_suffix(')')?.split(',').map(|number| number.trim().parse().ok());
            let numbers: Vec<u8> = numbers.collect::<Option<_>>()?;
            return match (function.trim_end().to_ascii_lowercase().as_str(), numbers.as_slice()) {
                ("rgb", [red, green, blue]) | ("rgba", [red, green, blue, _]) => {
                    Some(Self { red: *red, green: *green, blue: *blue })
                }
                _ => None,
            };
        }
        let named = NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        if let Some((_, rgb)) = named {
            return Some(Self::of(*rgb));
        }
        let digits = text.strip_prefix('#').unwrap_or(text);
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let value = |from: usize, to: usize| u8::from_str_radix(digits.get(from..to)?, 16).ok();
        match digits.len() {
            3 if text.starts_with('#') => {
                let [red, green, blue] = [value(0, 1)?, value(1, 2)?, value(2, 3)?];
                Some(Self { red: red * 17, green: green * 17, blue: blue * 17 })
            }
            6 | 8 => Some(Self { red: value(0, 2)?, green: value(2, 4)?, blue: value(4, 6)? }),
            _ => None,
        }
    }

    /// The colour of a class that WebVTT defines.
    pub(super) fn of_class(name: &str) -> Option<Self> {
        let mut classes = NAMED.iter().take(WEBVTT_CLASSES);
        classes.find(|(class, _)| *class == name).map(|(_, rgb)| Self::of(*rgb))
    }

    /// The class that WebVTT defines for this very colour.
    pub(super) fn class(self) -> Option<&'static str> {
        let mut classes = NAMED.iter().take(WEBVTT_CLASSES);
        classes.find(|(_, rgb)| Self::of(*rgb) == self).map(|(name, _)| *name)
    }
}

impl Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{:02x}{:02x}{:02x}", self.red, self.green, self.blue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_is_read_by_name_and_by_number_and_written_by_number() {
        for (text, rgb) in [
            ("RED", "#ff0000"),
            ("#0f8", "#00ff88"),
            ("#12345678", "#123456"),
            ("a0b0c0", "#a0b0c0"),
            ("rgb(255, 0,10)", "#ff000a"),
            ("rgba(1,2,3,128)", "#010203"),
        ] {
            assert_eq!(Colour::parse(text).map(|colour| colour.to_string()).as_deref(), Some(rgb));
        }
        for text in [
            "",
            "#",
            "#12",
            "abc",
            "reddish",
            "#ééé",
            "rgb(1,2)",
            "rgba(1,2,3)",
            "rgb(256,0,0)",
            "hsl(1,2,3)",
            "rgb(1,2,3",
        ] {
            assert_eq!(Colour::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_eight_classes_of_webvtt_are_their_colours() {
        for class in ["white", "lime", "cyan", "red", "yellow", "magenta", "blue", "black"] {
            assert_eq!(Colour::of_class(class).and_then(Colour::class), Some(class));
        }
        assert_eq!(Colour::of_class("teal"), None);
    }
}
