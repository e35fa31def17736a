//! Field masks of partial answers: `a,b`, `a(b,c)`, `a/b`, `*`. A mask is applied to compact JSON text, which it copies from.

use std::collections::BTreeMap;

use crate::api::error::Error;
use crate::api::schema::Shape;

/// Masks longer than this are refused.
const MASK_BYTES_MAX: usize = 8 * 1024;
/// Masks deeper than this are refused.
const DEPTH_MAX: usize = 32;

/// The members of an answer that are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mask {
    /// The mask of every member.
    any: Option<Box<Self>>,
    /// The masks of the members with these names.
    named: BTreeMap<String, Self>,
}

impl Mask {
    /// Reads a mask.
    ///
    /// # Errors
    /// [`Error::InvalidFields`] if it is none.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let refuse = || Error::InvalidFields(text.chars().take(200).collect());
        if text.len() > MASK_BYTES_MAX {
            return Err(refuse());
        }
        let mut rest = text;
        let mask = Self::list(&mut rest, 0).ok_or_else(refuse)?;
        if rest.is_empty() { Ok(mask) } else { Err(refuse()) }
    }

    /// `item (, item)*`, up to a closing parenthesis or the end.
    fn list(rest: &mut &str, depth: usize) -> Option<Self> {
        let mut mask = Self::default();
        loop {
            Self::item(&mut mask, rest, depth)?;
            match rest.strip_prefix(',') {
                Some(after) => *rest = after,
                None => return Some(mask),
            }
        }
    }

    /// `name`, `name/item`, `name(list)`.
    fn item(mask: &mut Self, rest: &mut &str, depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        let text = rest.trim_start();
        let end = text.find([',', '/', '(', ')']).unwrap_or(text.len());
        let (name, after) = text.split_at_checked(end)?;
        let name = name.trim();
        if name.is_empty()
            || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"*_-#$:@.".contains(&byte))
        {
            return None;
        }
        *rest = after;
        let inner = if let Some(after) = rest.strip_prefix('/') {
            *rest = after;
            let mut inner = Self::default();
            Self::item(&mut inner, rest, depth + 1)?;
            inner
        } else if let Some(after) = rest.strip_prefix('(') {
            *rest = after;
            let inner = Self::list(rest, depth + 1)?;
            *rest = rest.strip_prefix(')')?.trim_start();
            inner
        } else {
            Self::default()
        };
        if name == "*" {
            let slot = mask.any.take().map_or(inner.clone(), |mut any| {
                any.join(inner);
                *any
            });
            mask.any = Some(Box::new(slot));
        } else if let Some(there) = mask.named.get_mut(name) {
            there.join(inner);
        } else {
            mask.named.insert(name.to_owned(), inner);
        }
        Some(())
    }

    /// Returns whether everything below is wanted.
    fn is_whole(&self) -> bool {
        self.any.is_none() && self.named.is_empty()
    }

    /// Wants what either wants.
    fn join(&mut self, other: Self) {
        if self.is_whole() || other.is_whole() {
            *self = Self::default();
            return;
        }
        if let Some(any) = other.any {
            match &mut self.any {
                Some(mine) => mine.join(*any),
                none => *none = Some(any),
            }
        }
        for (name, inner) in other.named {
            match self.named.get_mut(&name) {
                Some(mine) => mine.join(inner),
                None => {
                    self.named.insert(name, inner);
                }
            }
        }
    }

    fn of(&self, name: &str) -> Option<Self> {
        match (self.named.get(name), &self.any) {
            (Some(named), Some(any)) => {
                let mut both = named.clone();
                both.join((**any).clone());
                Some(both)
            }
            (Some(named), None) => Some(named.clone()),
            (None, Some(any)) => Some((**any).clone()),
            (None, None) => None,
        }
    }

    /// The first path that the mask names and a value of this type has not. What is below `*` is not looked at: some member may have it.
    #[must_use]
    pub fn unknown(&self, shape: Shape) -> Option<String> {
        if self.any.is_some() && !shape.has_members() {
            return Some("*".to_owned());
        }
        self.named.iter().find_map(|(name, inner)| {
            let Some(member) = shape.member(name) else {
                return Some(name.clone());
            };
            inner.unknown(member).map(|below| format!("{name}/{below}"))
        })
    }

    /// The part of `json` that the mask wants, which is compact, valid JSON. Lists are passed through: the mask speaks of their elements.
    #[must_use]
    pub fn apply(&self, json: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(json.len());
        let mut text = Text { json, at: 0 };
        self.value(&mut text, &mut out);
        out
    }

    fn value(&self, text: &mut Text<'_>, out: &mut Vec<u8>) {
        match text.peek() {
            _ if self.is_whole() => out.extend_from_slice(text.skip_value()),
            Some(b'{') => self.object(text, out),
            Some(b'[') => {
                text.at += 1;
                out.push(b'[');
                while let Some(byte) = text.peek() {
                    match byte {
                        b']' => {
                            text.at += 1;
                            break;
                        }
                        b',' => {
                            text.at += 1;
                            out.push(b',');
                        }
                        _ => self.value(text, out),
                    }
                }
                out.push(b']');
            }
            _ => out.extend_from_slice(text.skip_value()),
        }
    }

    fn object(&self, text: &mut Text<'_>, out: &mut Vec<u8>) {
        text.at += 1;
        out.push(b'{');
        let mut first = true;
        while let Some(byte) = text.peek() {
            match byte {
                b'}' => {
                    text.at += 1;
                    break;
                }
                b',' => text.at += 1,
                _ => {
                    let name = text.skip_value();
                    text.at += 1;
                    let plain = name.get(1..name.len().saturating_sub(1)).unwrap_or_default();
                    let inner = self.of(std::str::from_utf8(plain).unwrap_or_default());
                    // Below `*` stand names of members, which a text or a number has not.
                    match inner.filter(|inner| inner.is_whole() || text.holds_members()) {
                        None => {
                            text.skip_value();
                        }
                        Some(inner) => {
                            if !std::mem::take(&mut first) {
                                out.push(b',');
                            }
                            out.extend_from_slice(name);
                            out.push(b':');
                            inner.value(text, out);
                        }
                    }
                }
            }
        }
        out.push(b'}');
    }
}

/// A place in compact JSON.
struct Text<'j> {
    json: &'j [u8],
    at: usize,
}

impl<'j> Text<'j> {
    fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    /// Returns whether the value is an object, or a list of objects or of nothing.
    fn holds_members(&self) -> bool {
        let rest = self.json.get(self.at..).unwrap_or_default();
        matches!(rest.iter().find(|byte| **byte != b'['), Some(b'{' | b']'))
    }

    /// Moves past one value and gives it.
    fn skip_value(&mut self) -> &'j [u8] {
        let start = self.at;
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.skip_string();
                    if depth == 0 {
                        break;
                    }
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth == 0 => break,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        self.at += 1;
                        break;
                    }
                }
                b',' | b':' if depth == 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        self.json.get(start..self.at).unwrap_or_default()
    }

    fn skip_string(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'"' => break,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIST: &str = r#"{"kind":"k","etag":"e,}","items":[{"id":"1","snippet":{"title":"a \"q\" {","tags":["x","y"]},"n":-1.5},{"id":"2"}],"pageInfo":{"totalResults":2}}"#;

    fn masked(mask: &str) -> String {
        String::from_utf8(Mask::parse(mask).unwrap().apply(LIST.as_bytes())).unwrap()
    }

    #[test]
    fn a_mask_keeps_what_it_names() {
        for (mask, expected) in [
            ("kind", r#"{"kind":"k"}"#),
            ("*", LIST),
            ("items(id),kind", r#"{"kind":"k","items":[{"id":"1"},{"id":"2"}]}"#),
            ("items/id", r#"{"items":[{"id":"1"},{"id":"2"}]}"#),
            (
                "items(id,snippet/title),nextPageToken",
                r#"{"items":[{"id":"1","snippet":{"title":"a \"q\" {"}},{"id":"2"}]}"#,
            ),
            ("items/snippet/tags", r#"{"items":[{"snippet":{"tags":["x","y"]}},{}]}"#),
            ("items/*/title", r#"{"items":[{"snippet":{"title":"a \"q\" {"}},{}]}"#),
            ("*/id", r#"{"items":[{"id":"1"},{"id":"2"}],"pageInfo":{}}"#),
            ("items/snippet/*/none", r#"{"items":[{"snippet":{}},{}]}"#),
            (
                "items(id,*/title)",
                r#"{"items":[{"id":"1","snippet":{"title":"a \"q\" {"}},{"id":"2"}]}"#,
            ),
            ("items(id),items/n", r#"{"items":[{"id":"1","n":-1.5},{"id":"2"}]}"#),
            ("nothing", "{}"),
            ("etag,pageInfo", r#"{"etag":"e,}","pageInfo":{"totalResults":2}}"#),
        ] {
            assert_eq!(masked(mask), expected, "{mask}");
        }
    }

    #[test]
    fn what_an_answer_has_not_is_named_by_its_path() {
        let list = Shape::named("VideoListResponse").unwrap();
        for (mask, unknown) in [
            ("*", None),
            ("items(id,snippet(title,thumbnails/*/url)),nextPageToken", None),
            ("items/*/none", None),
            ("items/localizations(de,fr/title)", None),
            ("none", Some("none")),
            ("kind,items(id,none)", Some("items/none")),
            ("items/id/none", Some("items/id/none")),
            ("kind/*", Some("kind/*")),
            ("items/snippet(title,tags(a))", Some("items/snippet/tags/a")),
        ] {
            let found = Mask::parse(mask).unwrap().unknown(list);
            assert_eq!(found.as_deref(), unknown, "{mask}");
        }
    }

    #[test]
    fn what_is_no_mask_is_refused() {
        for mask in [
            "",
            ",",
            "a,,b",
            "a(",
            "a()",
            "a)",
            "(a)",
            "a/",
            "/a",
            "a b",
            "a(b))",
            &"a(".repeat(200),
            &"a,".repeat(9000),
        ] {
            assert!(Mask::parse(mask).is_err(), "{mask:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_a_mask_or_refused_and_the_answer_stays_json(text in "[a-z*(),/]{0,20}") {
            if let Ok(mask) = Mask::parse(&text) {
                let out = mask.apply(LIST.as_bytes());
                prop_assert!(serde_json::from_slice::<serde_json::Value>(&out).is_ok());
            }
        }
    }
}
