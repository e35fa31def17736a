//! Texts between quotes in the source of a script, with what their escapes stand for.

const QUOTES: [char; 2] = ['\'', '"'];

/// The first quoted text.
pub(super) fn quoted(source: &str) -> Option<String> {
    let start = source.find(QUOTES)?;
    literal(source.get(start..)?).map(|(text, _)| text)
}

/// The quoted texts between the first parentheses.
pub(super) fn quoted_arguments(source: &str) -> Vec<String> {
    let (mut given, mut rest) = (Vec::new(), source);
    while let Some(start) = rest.find(['\'', '"', ')']) {
        let Some((text, behind)) = rest.get(start..).and_then(literal) else { break };
        given.push(text);
        rest = behind;
    }
    given
}

/// The statements of a script, each without what stands around it.
pub(super) fn statements(source: &str) -> Vec<&str> {
    let (mut depth, mut mark, mut is_escaped) = (0_usize, None, false);
    let ends = |letter: char| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match (mark, letter) {
            (Some(_), '\\') => is_escaped = !was_escaped,
            (Some(quote), _) if quote == letter && !was_escaped => mark = None,
            (None, _) if QUOTES.contains(&letter) => mark = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        mark.is_none() && depth == 0 && matches!(letter, ';' | '\n')
    };
    source.split(ends).map(str::trim).filter(|statement| !statement.is_empty()).collect()
}

/// The text that a source begins with, and what stands behind it.
fn literal(source: &str) -> Option<(String, &str)> {
    let mut letters = source.chars();
    let mark = letters.next().filter(|mark| QUOTES.contains(mark))?;
    let mut text = String::new();
    loop {
        match letters.next()? {
            letter if letter == mark => return Some((text, letters.as_str())),
            '\\' => {
                let (letter, length) = escape(letters.as_str())?;
                text.push(letter);
                letters = letters.as_str().get(length..)?.chars();
            }
            letter => text.push(letter),
        }
    }
}

/// The character that an escape stands for, and the length of what stands behind its backslash.
fn escape(rest: &str) -> Option<(char, usize)> {
    let letter = rest.chars().next()?;
    let coded = |length: usize| {
        let code = u32::from_str_radix(rest.get(1..=length)?, 16).ok()?;
        Some((char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), length + 1))
    };
    match letter {
        'x' => coded(2),
        'u' => coded(4),
        'n' => Some(('\n', 1)),
        'r' => Some(('\r', 1)),
        't' => Some(('\t', 1)),
        'b' => Some(('\u{8}', 1)),
        'f' => Some(('\u{c}', 1)),
        'v' => Some(('\u{b}', 1)),
        other => Some((other, other.len_utf8())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_end_outside_of_quotes_and_brackets() {
        let code = "x=';';f(()=>{a;b});\n g('\\';')";
        assert_eq!(statements(code), ["x=';'", "f(()=>{a;b})", "g('\\';')"]);
    }

    #[test]
    fn a_text_is_what_its_escapes_stand_for() {
        for (source, text) in [
            (r#"x="a\"b\n\x41\\";0"#, Some("a\"b\nA\\")),
            (r"'it\'s'", Some("it's")),
            (r"'\u00e4'", Some("ä")),
            ("'it", None),
            (r"'\u12", None),
            ("x", None),
        ] {
            assert_eq!(quoted(source).as_deref(), text, "{source}");
        }
        assert_eq!(quoted_arguments("f('a', \"b\\\"\")+'c'"), ["a", "b\""]);
    }
}
