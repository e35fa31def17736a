//! Lines of a text with their numbers, whichever of CR, LF and CRLF ends them.

/// An iterator over the lines of a text. A last line without an end counts; an end without a line after it does not.
#[derive(Debug, Clone)]
pub(super) struct Lines<'t> {
    rest: Option<&'t str>,
    number: usize,
}

impl<'t> Lines<'t> {
    /// The lines of `text`, counted from 1.
    pub(super) fn of(text: &'t str) -> Self {
        Self { rest: Some(text).filter(|text| !text.is_empty()), number: 0 }
    }
}

impl<'t> Iterator for Lines<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest.take()?;
        self.number += 1;
        let Some(end) = memchr::memchr2(b'\n', b'\r', rest.as_bytes()) else {
            return Some((self.number, rest));
        };
        let (line, tail) = rest.split_at(end);
        let tail = tail.strip_prefix("\r\n").or_else(|| tail.get(1..)).unwrap_or_default();
        self.rest = Some(tail).filter(|tail| !tail.is_empty());
        Some((self.number, line))
    }
}

/// The lines of a text that line feeds alone part; a last line without characters counts.
pub(super) fn of_plain(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    ends.map(move |end| text.get(std::mem::replace(&mut start, end + 1)..end).unwrap_or_default())
}

/// The parts of a line before and after its first arrow.
pub(super) fn split_at_arrow(line: &str) -> Option<(&str, &str)> {
    // Few lines have the last character of one.
    let mut heads = memchr::memchr_iter(b'>', line.as_bytes());
    let head = heads.find(|head| line.get(..*head).is_some_and(|before| before.ends_with("--")))?;
    Some((line.get(..head.checked_sub(2)?)?, line.get(head + 1..)?))
}

/// Tells whether a line holds nothing but blanks.
pub(super) fn is_blank(line: &str) -> bool {
    line.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// A text without the lines at its start and its end that hold blanks alone.
pub(super) fn trim_blank(text: &str) -> &str {
    let mut kept = text;
    while let Some(shorter) = kept.strip_prefix('\n').or_else(|| kept.strip_suffix('\n')) {
        kept = shorter;
    }
    // Nearly all texts begin and end with a letter or a sign.
    let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    if !is_edge(kept.as_bytes().first()) && !is_edge(kept.as_bytes().last()) {
        return kept;
    }
    while let Some((before, _)) = kept.rsplit_once('\n').filter(|(_, last)| is_blank(last)) {
        kept = before;
    }
    while let Some((_, after)) = kept.split_once('\n').filter(|(first, _)| is_blank(first)) {
        kept = after;
    }
    if is_blank(kept) { "" } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_line_end_ends_one_line() {
        let lines: Vec<_> = Lines::of("a\r\nb\rc\n\nd").collect();
        assert_eq!(lines, [(1, "a"), (2, "b"), (3, "c"), (4, ""), (5, "d")]);
        assert_eq!(Lines::of("a\n").count(), 1);
        assert_eq!(Lines::of("").count(), 0);
    }

    #[test]
    fn a_line_is_parted_at_its_first_arrow() {
        for (line, parts) in [
            ("a --> b --> c", Some(("a ", " b --> c"))),
            ("<i>a</i>-->", Some(("<i>a</i>", ""))),
            ("-->", Some(("", ""))),
            ("--->x", Some(("-", "x"))),
            ("é-->é", Some(("é", "é"))),
            ("é->é >", None),
            ("", None),
        ] {
            assert_eq!(split_at_arrow(line), parts, "{line}");
            assert_eq!(line.split_once("-->"), parts, "{line}");
        }
    }

    #[test]
    fn blank_lines_go_from_both_ends_and_blanks_within_lines_stay() {
        assert_eq!(trim_blank("\n \n  a\n\nb \n\t\n"), "  a\n\nb ");
        assert_eq!(trim_blank(" \n "), "");
    }
}
