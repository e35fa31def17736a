//! Tags of objects: the header grammar, the XML form and the rules for both.

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::xml::{Element, Writer};

/// The most tags that an object has.
pub const TAGS_MAX: usize = 10;
/// The most characters of a tag's key.
const KEY_CHARACTERS_MAX: usize = 128;
/// The most characters of a tag's value.
const VALUE_CHARACTERS_MAX: usize = 256;

/// A set of tags, in the order they were given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tags(pub Vec<(String, String)>);

impl Tags {
    /// The tags of an `x-store-tagging` header: URL query parameters, each name once.
    ///
    /// # Errors
    /// `InvalidArgument` for what is no such list or has a name twice; `TooManyTags`; `InvalidTag`.
    pub fn from_header(value: &str) -> Result<Self, Error> {
        let malformed = || {
            Error::argument(
                "x-store-tagging",
                Some(value),
                "The header 'x-store-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
            )
        };
        let decode = |text: &str| {
            let text = text.replace('+', " ");
            let decoded = percent_decode_str(&text).decode_utf8();
            decoded
                .map(std::borrow::Cow::into_owned)
                .map_err(|_| malformed())
        };
        let mut tags = Vec::new();
        for pair in value.split('&').filter(|pair| !pair.is_empty()) {
            let (key, text) = pair.split_once('=').unwrap_or((pair, ""));
            // `a=b,c=d` is the other separator that people try: an unencoded `=` in a value tells.
            if text.contains('=') {
                return Err(malformed());
            }
            tags.push((decode(key)?, decode(text)?));
        }
        let tags = Self(tags);
        if tags.repeated().is_some() {
            return Err(malformed());
        }
        tags.checked()
    }

    /// The tags of a `Tagging` document.
    ///
    /// # Errors
    /// `MalformedXml`; `InvalidTag` for a key that is there twice; `TooManyTags`; `InvalidTag`.
    pub fn from_xml(body: &[u8]) -> Result<Self, Error> {
        let document = Element::parse(body, "Tagging")?;
        let set = document.child("TagSet").ok_or(Error::MalformedXml)?;
        Self::of_element(set)
    }

    /// The tags that are children of `set`.
    ///
    /// # Errors
    /// As [`Tags::from_xml`].
    pub fn of_element(set: &Element) -> Result<Self, Error> {
        let pairs = set.all("Tag").map(|tag| {
            let text = |name| tag.child(name).map(|child| child.text.clone());
            Ok((
                text("Key").ok_or(Error::MalformedXml)?,
                text("Value").ok_or(Error::MalformedXml)?,
            ))
        });
        let tags = Self(pairs.collect::<Result<_, Error>>()?);
        if let Some(key) = tags.repeated() {
            return Err(Error::InvalidTag {
                key: key.to_owned(),
                value: None,
                reason: "Cannot provide multiple Tags with the same key",
            });
        }
        tags.checked()
    }

    fn repeated(&self) -> Option<&str> {
        let keys = self.0.iter().enumerate();
        keys.map(|(at, (key, _))| (at, key.as_str()))
            .find(|(at, key)| self.0.iter().take(*at).any(|(earlier, _)| earlier == key))
            .map(|(_, key)| key)
    }

    fn checked(self) -> Result<Self, Error> {
        if self.0.len() > TAGS_MAX {
            return Err(Error::TooManyTags);
        }
        for (key, value) in &self.0 {
            let refused = |reason, with_value: bool| Error::InvalidTag {
                key: key.clone(),
                value: with_value.then(|| value.clone()),
                reason,
            };
            if key
                .get(..4)
                .is_some_and(|start| start.eq_ignore_ascii_case("aws:"))
            {
                return Err(refused("Your TagKey cannot be prefixed with aws:", false));
            }
            if key.is_empty() || !fits(key, KEY_CHARACTERS_MAX) {
                return Err(refused("The TagKey you have provided is invalid", false));
            }
            if !fits(value, VALUE_CHARACTERS_MAX) {
                return Err(refused("The TagValue you have provided is invalid", true));
            }
        }
        Ok(self)
    }

    /// The `Tagging` document of these tags.
    #[must_use]
    pub fn document(&self, namespace: &str) -> String {
        Writer::document("Tagging", namespace, |writer| {
            writer.element("TagSet", |writer| {
                for (key, value) in &self.0 {
                    writer.element("Tag", |writer| {
                        writer.text("Key", key);
                        writer.text("Value", value);
                    });
                }
            });
        })
    }
}

/// Letters, digits, blanks and `+-=._:/@`, in any script.
fn fits(text: &str, characters_max: usize) -> bool {
    text.chars().count() <= characters_max
        && text.chars().all(|character| {
            character.is_alphanumeric()
                || matches!(
                    character,
                    ' ' | '+' | '-' | '=' | '.' | '_' | ':' | '/' | '@'
                )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(header: &str) -> &'static str {
        use triptych_core::error::Coded as _;
        Tags::from_header(header).unwrap_err().row().code
    }

    #[test]
    fn a_header_is_a_list_of_query_parameters() {
        let tags = Tags::from_header("a=1&b=x%20y+z&c&d=%C3%A9%3D").unwrap();
        let expected = [("a", "1"), ("b", "x y z"), ("c", ""), ("d", "\u{e9}=")];
        assert_eq!(
            tags.0,
            expected.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
        assert_eq!(Tags::from_header("").unwrap(), Tags::default());
    }

    #[test]
    fn limits_and_rules_of_tags_hold() {
        let ten: Vec<_> = (0..10).map(|number| format!("k{number}=v")).collect();
        assert!(Tags::from_header(&ten.join("&")).is_ok());
        assert_eq!(code(&format!("{}&k10=v", ten.join("&"))), "BadRequest");
        assert_eq!(code("a=1&a=2"), "InvalidArgument");
        assert_eq!(code("a=1,b=2"), "InvalidArgument");
        assert_eq!(code("a=%ff"), "InvalidArgument");
        assert_eq!(code("aws:a=1"), "InvalidTag");
        assert_eq!(code("=1"), "InvalidTag");
        assert_eq!(code("a%2Cb=1"), "InvalidTag");
        assert!(Tags::from_header(&format!("{}={}", "k".repeat(128), "v".repeat(256))).is_ok());
        assert_eq!(code(&format!("{}=v", "k".repeat(129))), "InvalidTag");
        assert_eq!(code(&format!("k={}", "v".repeat(257))), "InvalidTag");
    }

    #[test]
    fn a_document_reads_back() {
        let tags = Tags::from_header("a=1&b=%3C").unwrap_err();
        assert!(matches!(tags, Error::InvalidTag { .. }));
        let tags = Tags::from_header("a=1&b=2+").unwrap();
        assert_eq!(Tags::from_xml(tags.document("n").as_bytes()), Ok(tags));
        let twice = "<Tagging><TagSet><Tag><Key>a</Key><Value/></Tag><Tag><Key>a</Key><Value/></Tag></TagSet></Tagging>";
        assert!(matches!(
            Tags::from_xml(twice.as_bytes()),
            Err(Error::InvalidTag { .. })
        ));
        assert_eq!(Tags::from_xml(b"<Tagging/>"), Err(Error::MalformedXml));
    }
}
