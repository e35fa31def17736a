//! Lints are expected where they are broken, so that an exception that is no longer needed is a warning; `allow` would stay for ever.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::tokens::{Token, lex};
use crate::run::workspace::output;

/// Every `allow` of a Rust file that git knows, or would know; clippy's own lint passes over those of a whole file.
///
/// # Errors
/// If git fails or a file cannot be read.
pub(super) fn breaches(root: &Path) -> Result<Vec<String>> {
    let mut list = Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"]);
    let mut found = Vec::new();
    for name in output(list.current_dir(root))?.lines() {
        let path = root.join(name);
        if path.exists() {
            let lines = allows(&lex(&std::fs::read_to_string(path)?));
            let said = lines.iter().map(|line| format!("{name}:{line} allows a lint: expect it"));
            found.extend(said);
        }
    }
    Ok(found)
}

/// Lines of attributes that allow, by themselves or within `cfg_attr`.
fn allows(tokens: &[Token]) -> Vec<usize> {
    let is_allow = |pair: &[Token]| matches!(pair, [word, open] if word.word() == Some("allow") && open.is('('));
    let attributes = tokens.split(|token| token.is('#')).skip(1).filter_map(|behind| {
        let inner = behind.first().is_some_and(|token| token.is('!'));
        let body = behind.get(usize::from(inner)..)?;
        let is_attribute = body.first()?.is('[');
        let name = body.get(1)?.word()?;
        let end =
            if name == "cfg_attr" { body.iter().position(|token| token.is(']'))? } else { 3 };
        let body = body.get(1..end).filter(|_| is_attribute)?;
        body.windows(2).any(is_allow).then(|| body.first().map(|token| token.line))?
    });
    attributes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_allow_of_an_item_a_file_or_a_condition_is_found_and_other_words_are_not() {
        let source = "#![allow(a, reason = \"b\")]\n#[expect(a)]\n#[allow(a)]\nfn allow() { allow(1); }\n\
                      #[cfg_attr(test, allow(a))]\n// #[allow(a)]\n#[test]\nfn f() { allow(2) }\n#[a(allow(b))] x";
        assert_eq!(allows(&lex(source)), [1, 3, 5]);
    }
}
