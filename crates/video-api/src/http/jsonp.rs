//! `callback`: the answer to a GET as a script that calls a function of the page with it, for pages that cannot ask in another way.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::CONTENT_TYPE;

use crate::api::error::Error;
use crate::http::ApiRequest;
use crate::http::response::{ApiResponse, Body};

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

/// The function that a request wants its answer to be handed to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Callback(String);

impl Callback {
    /// The function that a request names; a request that changes something has none.
    pub(super) fn of(request: &ApiRequest) -> Option<Self> {
        let name = request.value("callback").filter(|_| request.method == "GET")?;
        is_name(name).then(|| Self(name.to_owned()))
    }

    /// The answer as a script, with status 200 whatever happened: a page reads the status from what is inside.
    pub(super) fn wrap(&self, mut response: ApiResponse) -> ApiResponse {
        let Body::Text(text) = &response.body else {
            return response;
        };
        // The comment keeps the name from being the first bytes, which another player might take for a file of its own.
        let mut script = format!("// API callback\n{}(", self.0).into_bytes();
        script.extend_from_slice(&without_separators(text));
        script.extend_from_slice(b");");
        response.status = 200;
        response.body = Body::Text(script.into());
        for (name, value) in &mut response.headers {
            if *name == CONTENT_TYPE {
                *value = Cow::Borrowed("text/javascript; charset=UTF-8");
            }
        }
        response
    }
}

/// Checks the name of a function: names with dots between them. An empty one is none.
///
/// # Errors
/// [`Error::InvalidCallback`].
pub(super) fn check(request: &ApiRequest) -> Result<(), Error> {
    match request.value("callback").filter(|name| !name.is_empty() && request.method == "GET") {
        Some(name) if !is_name(name) => Err(Error::InvalidCallback(name.to_owned())),
        _ => Ok(()),
    }
}

fn is_name(text: &str) -> bool {
    text.chars().count() <= NAME_CHARS_MAX && text.split('.').all(is_identifier)
}

fn is_identifier(text: &str) -> bool {
    let is_sign = |letter| matches!(letter, '_' | '$');
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || is_sign(first))
        && letters.all(|letter| letter.is_alphanumeric() || is_sign(letter))
        && !RESERVED.contains(&text)
}

/// JSON that every JavaScript reads as it is meant: older ones take two separators of lines for the end of a text.
fn without_separators(json: &Bytes) -> Bytes {
    let text = String::from_utf8_lossy(json);
    if !text.contains(['\u{2028}', '\u{2029}']) {
        return json.clone();
    }
    text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029").into()
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
