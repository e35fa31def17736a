//! Words and signs of a Rust source, without its comments and without what is compiled for its tests alone.

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word(String),
    /// The contents of a string literal, escapes as they are written.
    Text(String),
    /// The sign between the parts of a path.
    PathSep,
    /// Any other sign.
    Sign(char),
}

/// A token and the line that it begins on.
#[derive(Clone, Debug)]
pub(super) struct Token {
    /// The kind of token.
    pub kind: Kind,
    /// Counted from 1.
    pub line: usize,
}

impl Token {
    /// The word, if it is one.
    pub(super) fn word(&self) -> Option<&str> {
        if let Kind::Word(word) = &self.kind { Some(word) } else { None }
    }

    /// Tells whether it is this sign.
    pub(super) fn is(&self, sign: char) -> bool {
        self.kind == Kind::Sign(sign)
    }
}

/// Tokens of a source, without what stands behind `#[cfg(test)]`.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    without_tests(&lex(source))
}

/// A place in a source.
struct Cursor<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Cursor<'a> {
    /// Steps over `length` bytes and gives them; a length within a character takes the rest.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Steps over characters while `holds`, and gives them.
    fn take_while(&mut self, holds: impl Fn(char) -> bool) -> &'a str {
        let length = self.rest.find(|sign| !holds(sign)).unwrap_or(self.rest.len());
        self.take(length)
    }

    /// Steps behind the next `end`, and gives what stood before it.
    fn take_until(&mut self, end: &str) -> &'a str {
        let Some(length) = self.rest.find(end) else { return self.take(self.rest.len()) };
        let before = self.take(length);
        self.take(end.len());
        before
    }
}

/// Tokens of a whole source.
pub(super) fn lex(source: &str) -> Vec<Token> {
    let mut cursor = Cursor { rest: source, line: 1 };
    let mut found = Vec::new();
    while let Some(sign) = cursor.rest.chars().next() {
        let line = cursor.line;
        let kind = if sign.is_whitespace() {
            cursor.take(sign.len_utf8());
            None
        } else if cursor.rest.starts_with("//") {
            cursor.take_while(|sign| sign != '\n');
            None
        } else if cursor.rest.starts_with("/*") {
            block_comment(&mut cursor);
            None
        } else if let Some(text) = string(&mut cursor) {
            Some(Kind::Text(text.to_owned()))
        } else if sign == '\'' {
            character_or_lifetime(&mut cursor);
            None
        } else if sign.is_ascii_digit() {
            // What follows the point of a fraction is a number of its own, which changes nothing here.
            cursor.take_while(is_word);
            None
        } else if is_word(sign) {
            Some(Kind::Word(cursor.take_while(is_word).to_owned()))
        } else if cursor.rest.starts_with("::") {
            cursor.take(2);
            Some(Kind::PathSep)
        } else {
            cursor.take(sign.len_utf8());
            Some(Kind::Sign(sign))
        };
        found.extend(kind.map(|kind| Token { kind, line }));
    }
    found
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

fn block_comment(cursor: &mut Cursor<'_>) {
    let mut depth = 0;
    while !cursor.rest.is_empty() {
        if cursor.rest.starts_with("/*") {
            cursor.take(2);
            depth += 1;
        } else if cursor.rest.starts_with("*/") {
            cursor.take(2);
            depth -= 1;
        } else {
            let length = cursor.rest.chars().next().map_or(0, char::len_utf8);
            cursor.take(length);
        }
        if depth == 0 {
            return;
        }
    }
}

/// Takes a string literal of any form, if one begins here.
fn string<'a>(cursor: &mut Cursor<'a>) -> Option<&'a str> {
    let prefix: String = cursor.rest.chars().take_while(|sign| "bcr".contains(*sign)).collect();
    let hashes = cursor.rest.get(prefix.len()..)?;
    let marks = hashes.len() - hashes.trim_start_matches('#').len();
    let is_raw = prefix.ends_with('r');
    if prefix.len() > 2 || (marks > 0 && !is_raw) || !hashes.get(marks..)?.starts_with('"') {
        return None;
    }
    cursor.take(prefix.len() + marks + 1);
    if is_raw {
        return Some(cursor.take_until(&format!("\"{}", "#".repeat(marks))));
    }
    let mut is_escaped = false;
    let length = cursor.rest.find(|sign| {
        let ends = sign == '"' && !is_escaped;
        is_escaped = sign == '\\' && !is_escaped;
        ends
    });
    let text = cursor.take(length.unwrap_or(cursor.rest.len()));
    cursor.take(1);
    Some(text)
}

fn character_or_lifetime(cursor: &mut Cursor<'_>) {
    cursor.take(1);
    let mut signs = cursor.rest.chars();
    let (first, second) = (signs.next(), signs.next());
    if first == Some('\\') {
        cursor.take(1 + second.map_or(0, char::len_utf8));
        cursor.take_until("'");
    } else if second == Some('\'') {
        cursor.take(1 + first.map_or(0, char::len_utf8));
    } else {
        cursor.take_while(is_word);
    }
}

/// Leaves out every item, field or statement behind `#[cfg(test)]`, and everything behind `#![cfg(test)]`.
fn without_tests(all: &[Token]) -> Vec<Token> {
    let mut kept = Vec::new();
    let mut rest = all;
    while let Some((first, after)) = rest.split_first() {
        if let Some(behind) = behind_signs(rest, &["#", "[", "cfg", "(", "test", ")", "]"]) {
            rest = behind_item(behind);
        } else if behind_signs(rest, &["#", "!", "[", "cfg", "(", "test", ")", "]"]).is_some() {
            return kept;
        } else {
            kept.push(first.clone());
            rest = after;
        }
    }
    kept
}

/// The tokens behind these words and signs, if they begin with them.
fn behind_signs<'a>(tokens: &'a [Token], signs: &[&str]) -> Option<&'a [Token]> {
    let (head, behind) = tokens.split_at_checked(signs.len())?;
    let is_same = |(token, sign): (&Token, &&str)| match &token.kind {
        Kind::Word(word) => word == sign,
        Kind::Sign(found) => sign.chars().eq([*found]),
        Kind::Text(_) | Kind::PathSep => false,
    };
    head.iter().zip(signs).all(is_same).then_some(behind)
}

/// The tokens behind an item: after its block, its semicolon, or the comma of a field; a bracket that it never opened ends it too.
fn behind_item(tokens: &[Token]) -> &[Token] {
    let mut rest = tokens;
    while rest.first().is_some_and(|token| token.is('#')) {
        rest = behind_brackets(rest.get(1..).unwrap_or_default());
    }
    let is_item = rest.first().and_then(Token::word).is_some_and(|word| ITEMS.contains(&word));
    let mut depth = 0_usize;
    for (at, token) in rest.iter().enumerate() {
        let behind = rest.get(at + 1..).unwrap_or_default();
        match token.kind {
            Kind::Sign('(' | '[' | '{') => depth += 1,
            Kind::Sign(')' | ']' | '}') if depth == 0 => return rest.get(at..).unwrap_or_default(),
            Kind::Sign(')' | ']') => depth -= 1,
            Kind::Sign('}') => {
                depth -= 1;
                if depth == 0 {
                    return behind;
                }
            }
            Kind::Sign(';') if depth == 0 => return behind,
            Kind::Sign(',') if depth == 0 && !is_item => return behind,
            _ => {}
        }
    }
    &[]
}

/// The words that begin an item, whose generics may have commas.
const ITEMS: [&str; 14] = [
    "pub",
    "mod",
    "use",
    "fn",
    "struct",
    "enum",
    "trait",
    "impl",
    "const",
    "static",
    "type",
    "async",
    "extern",
    "macro_rules",
];

/// The tokens behind the square brackets that begin here.
fn behind_brackets(tokens: &[Token]) -> &[Token] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if token.is('[') {
            depth += 1;
        } else if token.is(']') {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return tokens.get(at + 1..).unwrap_or_default();
            }
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(source: &str) -> String {
        let all = tokens(source);
        all.iter().filter_map(Token::word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_strings_characters_and_lifetimes_hide_no_word_and_make_none() {
        let source = "a // b\n/* c /* d */ e */ f \"g \\\" h\" r#\"i \" j\"# b\"k\" 'l' '\\'' '\\u{1}' &'m n b'o' 1.0e5 p";
        assert_eq!(words(source), "a f n b p");
    }

    #[test]
    fn what_is_compiled_for_tests_alone_is_left_out() {
        assert_eq!(words("a\n#[cfg(test)]\nmod tests { use b; }\nc"), "a c");
        assert_eq!(words("#[cfg(test)]\n#[path = \"x\"]\nmod tests;\nc"), "c");
        assert_eq!(words("#[cfg(test)] use a::{b, c}; d"), "d");
        assert_eq!(words("struct S { #[cfg(test)] a: B<C>, d: E }"), "struct S d E");
        assert_eq!(words("S { a, #[cfg(test)] b } c"), "S a c");
        assert_eq!(
            words("#[cfg(any(test, feature = \"x\"))] mod a;"),
            "cfg any test feature mod a"
        );
        assert_eq!(words("#![cfg(test)] a"), "");
    }

    #[test]
    fn lines_are_counted_through_comments_and_strings() {
        let all = tokens("/*\n*/ \"\n\" a");
        assert_eq!(all.last().map(|token| token.line), Some(3));
    }
}
