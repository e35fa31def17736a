//! Variables of policies, `${aws:SourceIp}`: they stand for a value of the request, in resources and in what conditions compare with.
//!
//! Documents of the version 2012-10-17 have them. `${*}`, `${?}` and `${$}` are the characters themselves; a text after a comma,
//! `${aws:username, 'nobody'}`, stands for a value that the request does not have.

use crate::auth::account::{Token, matches, matches_tokens};
use crate::auth::policy::PolicyRequest;
use crate::auth::policy::condition_key::ConditionKey;

/// The beginning of a variable.
const START: &str = "${";

/// A piece of a text with variables.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece<'a> {
    /// Text, in which wildcards count.
    Text(&'a str),
    /// A character that stands for itself.
    Character(&'a str),
    /// The value of a request, or the text in its place.
    Value(ConditionKey, Option<&'a str>),
}

/// Tells whether a text has variables.
pub(super) fn has_any(text: &str) -> bool {
    text.contains(START)
}

/// Tells whether each variable of a text is one that requests can have a value of.
pub(super) fn are_known(text: &str) -> bool {
    pieces(text).is_some()
}

/// The text of a document that has no variables: what looks like one is text.
pub(super) fn as_text(text: &str) -> String {
    text.replace(START, "${$}{")
}

/// Tells whether a pattern takes `text`, with the values of the request in the place of its variables. One without a value takes nothing.
pub(super) fn fits_pattern(pattern: &str, text: &str, request: &PolicyRequest<'_>) -> bool {
    if !has_any(pattern) {
        return matches(pattern, text);
    }
    let Some(pieces) = pieces(pattern) else {
        return false;
    };
    let mut tokens = Vec::new();
    for piece in pieces {
        // What a request says is no wildcard.
        let literally = |text: &str| text.bytes().map(Token::Byte).collect::<Vec<_>>();
        match piece {
            Piece::Text(text) => tokens.extend(text.bytes().map(Token::of)),
            Piece::Character(text) => tokens.extend(literally(text)),
            Piece::Value(key, default) => match value(&key, default, request) {
                Some(value) => tokens.extend(literally(&value)),
                None => return false,
            },
        }
    }
    matches_tokens(&tokens, text)
}

/// A text with the values of the request in the place of its variables; `None` where one has no value.
pub(super) fn resolve(text: &str, request: &PolicyRequest<'_>) -> Option<String> {
    let pieces = pieces(text)?.into_iter().map(|piece| match piece {
        Piece::Text(text) | Piece::Character(text) => Some(text.to_owned()),
        Piece::Value(key, default) => value(&key, default, request),
    });
    pieces.collect()
}

fn value(key: &ConditionKey, default: Option<&str>, request: &PolicyRequest<'_>) -> Option<String> {
    key.values(request).into_iter().next().or_else(|| default.map(str::to_owned))
}

/// The pieces of a text; `None` for one with a variable that is none.
fn pieces(text: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(START) {
        pieces.push(Piece::Text(before));
        let (name, after) = after.split_once('}')?;
        pieces.push(piece(name)?);
        rest = after;
    }
    pieces.push(Piece::Text(rest));
    Some(pieces)
}

fn piece(name: &str) -> Option<Piece<'_>> {
    if matches!(name, "*" | "?" | "$") {
        return Some(Piece::Character(name));
    }
    let (name, default) = match name.split_once(',') {
        None => (name, None),
        Some((name, default)) => {
            let quoted = default.trim().strip_prefix('\'').and_then(|own| own.strip_suffix('\''));
            (name.trim_end(), Some(quoted?))
        }
    };
    let key = ConditionKey::parse(name).filter(ConditionKey::is_variable)?;
    Some(Piece::Value(key, default))
}
