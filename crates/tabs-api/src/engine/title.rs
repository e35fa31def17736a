//! Titles that pages give themselves.

/// The longest title, in units of UTF-16.
const UNITS_MAX: usize = 4_096;

/// A title as the browser takes it: runs of the spaces and controls of ASCII are one space, other spaces go at the ends alone.
#[must_use]
pub fn canonical(title: &str) -> String {
    let is_space = |letter: char| letter <= ' ' && letter != '\u{b}' || letter == '\u{7f}';
    let words: Vec<_> = title.split(is_space).filter(|word| !word.is_empty()).collect();
    let mut units = 0;
    let fits = |letter: &char| {
        units += letter.len_utf16();
        units <= UNITS_MAX
    };
    words.join(" ").chars().take_while(fits).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_joined_and_a_title_has_an_end() {
        for (given, title) in [
            (" a \n\t b\u{7f}", "a b"),
            ("a\u{a0}\u{a0}b", "a\u{a0}\u{a0}b"),
            ("\u{3000}c\u{3000}d ", "c\u{3000}d"),
            (" \u{a0}", ""),
        ] {
            assert_eq!(canonical(given), title);
        }
        assert_eq!(canonical(&"x".repeat(4_200)).len(), 4_096);
        assert_eq!(canonical(&"\u{1f600}".repeat(4_200)).chars().count(), 2_048);
    }
}
