//! `callback`: the name of the JavaScript function that an answer is handed to.

use crate::api::error::Error;

/// A name has at most this many characters.
const NAME_CHARS_MAX: usize = 200;
/// Words of the language, which no function can have as its name.
const RESERVED: &[&str] = &[
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Checks the name of a function: names with dots between them. An empty one is none.
///
/// # Errors
/// [`Error::InvalidCallback`].
pub fn check(name: &str) -> Result<(), Error> {
    if name.is_empty() || is_name(name) {
        return Ok(());
    }
    Err(Error::InvalidCallback(name.to_owned()))
}

/// Returns whether a text names a function.
#[must_use]
pub fn is_name(text: &str) -> bool {
    text.chars().count() <= NAME_CHARS_MAX && text.split('.').all(is_identifier)
}

fn is_identifier(text: &str) -> bool {
    let is_sign = |letter| matches!(letter, '_' | '$');
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || is_sign(first))
        && letters.all(|letter| letter.is_alphanumeric() || is_sign(letter))
        && !RESERVED.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_a_script_can_call() {
        for name in ["f", "jQuery123_45", "$", "angular.callbacks._0", "größe", "a.b.c"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(201);
        for name in [
            "", "1a", "a b", "a(", "a;b", "a..b", ".a", "a[0]", "if", "a.new", "<script>", "a\n",
            &long,
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
