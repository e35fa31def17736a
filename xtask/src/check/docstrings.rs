//! The first words of docstrings: a noun phrase or a verb, never a question.

use anyhow::{Result, bail};

use crate::run::workspace::{output, root};

/// Words that make a sentence of a docstring's opening which only its end explains.
const QUESTIONS: [&str; 10] =
    ["How", "What", "When", "Where", "Whether", "Which", "Who", "Whom", "Whose", "Why"];

/// Checks every docstring of the Rust files that git knows, or would know.
///
/// # Errors
/// Every docstring that opens with a question, one a line.
pub(crate) fn check() -> Result<String> {
    let mut list = std::process::Command::new("git");
    list.args(["ls-files", "--cached", "--others", "--exclude-standard", "*.rs"]);
    let listed = output(list.current_dir(root()))?;
    let (mut files, mut found) = (0, Vec::new());
    for name in listed.lines().filter(|name| root().join(name).exists()) {
        files += 1;
        let text = std::fs::read_to_string(root().join(name))?;
        found.extend(questions(&text).map(|(line, said)| format!("{name}:{line}: {said}")));
    }
    if found.is_empty() {
        return Ok(format!("docstrings of {files} files open with a noun or a verb"));
    }
    bail!(
        "{} docstrings open with a question; name the thing, or say what it does:\n  {}",
        found.len(),
        found.join("\n  ")
    )
}

/// The first lines of docstrings that open with a question, with their numbers.
fn questions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_within = false;
    text.lines().map(str::trim).enumerate().filter_map(move |(at, line)| {
        let said = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let opens = !std::mem::replace(&mut is_within, said.is_some());
        let said = said.filter(|_| opens)?.trim_start();
        let word = said.split(|sign: char| !sign.is_alphabetic()).next()?;
        QUESTIONS.contains(&word).then_some((at + 1, said))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_question_is_found_and_one_further_down_is_none() {
        let text = "//! A module.\n\n/// Gives a number.\n/// What for: see below.\nfn a() {}\n\n    /// Its owner.\n    /// What, again.\n    b: u8,\n    /// What it is.\n";
        assert_eq!(questions(text).collect::<Vec<_>>(), [(10, "What it is.")]);
    }

    #[test]
    fn a_word_that_only_begins_like_a_question_is_none() {
        assert_eq!(questions("/// Whatever comes.\n").count(), 0);
    }
}
