//! Tags of objects and buckets: the header grammar, the XML form and the rules for both.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::request::percent::decoded_query;
use crate::request::xml::{Element, XmlWriter};

/// The bearer of tags: it tells how many there may be, and in which words a rule is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagTarget {
    /// An object, or a rule about objects.
    Object,
    /// A bucket.
    Bucket,
}

impl TagTarget {
    const fn most(self) -> usize {
        match self {
            Self::Object => 10,
            Self::Bucket => 50,
        }
    }

    const fn too_many(self) -> &'static str {
        match self {
            Self::Object => "Object tags cannot be greater than 10",
            Self::Bucket => "Bucket tag count cannot be greater than 50",
        }
    }

    const fn reserved(self) -> &'static str {
        match self {
            Self::Object => "Your TagKey cannot be prefixed with aws:",
            Self::Bucket => "System tags cannot be added/updated by requester",
        }
    }
}

/// The most characters of a tag's key.
pub(crate) const KEY_CHARACTERS_MAX: usize = 128;
/// The most characters of a tag's value.
pub(crate) const VALUE_CHARACTERS_MAX: usize = 256;

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
        let decode = |text: &str| decoded_query(text).ok_or_else(malformed);
        let mut tags = Vec::new();
        for pair in value.split('&').filter(|pair| !pair.is_empty()) {
            let (key, text) = pair.split_once('=').unwrap_or((pair, ""));
            // `a=b,c=d` is the other separator that people try: an unencoded `=` in a value tells.
            if text.contains('=') || key.is_empty() {
                return Err(malformed());
            }
            tags.push((decode(key)?, decode(text)?));
        }
        // A query has no order of its own; the same tags are to look the same.
        tags.sort();
        let tags = Self(tags);
        if tags.repeated().is_some() {
            return Err(malformed());
        }
        tags.checked(TagTarget::Object)
    }

    /// The tags of a `Tagging` document for `bearer`; none without a set.
    ///
    /// # Errors
    /// `MalformedXml`; `InvalidTag` for a key that is there twice; `TooManyTags`; `InvalidTag`.
    pub fn from_xml(body: &[u8], bearer: TagTarget) -> Result<Self, Error> {
        let document = Element::parse(body, "Tagging")?;
        document.has_only(&["TagSet"], &[])?;
        let Some(set) = document.child("TagSet") else {
            return Ok(Self::default());
        };
        set.has_only(&[], &["Tag"])?;
        Self::of_element(set, bearer)
    }

    /// The tags of a bucket that is being made, as children of its configuration's element.
    ///
    /// # Errors
    /// As [`Tags::from_xml`].
    pub fn of_new_bucket(set: &Element) -> Result<Self, Error> {
        set.has_only(&[], &["Tag"])?;
        Self::of_element(set, TagTarget::Bucket).map_err(|error| match error {
            Error::InvalidTag { key, value, reason } if reason == TagTarget::Bucket.reserved() => {
                Error::InvalidTag {
                    key,
                    value,
                    reason: "User-defined tag keys can't start with \"aws:\". This prefix is reserved for system tags. Remove \"aws:\" from your tag keys and try again.",
                }
            }
            other => other,
        })
    }

    /// The tags that are children of `set`.
    ///
    /// # Errors
    /// As [`Tags::from_xml`].
    pub fn of_element(set: &Element, bearer: TagTarget) -> Result<Self, Error> {
        let pairs = set.all("Tag").map(|tag| {
            tag.has_only(&["Key", "Value"], &[])?;
            let text = |name| tag.child(name).map(|child| child.text.clone());
            Ok((text("Key").ok_or(Error::MalformedXml)?, text("Value").ok_or(Error::MalformedXml)?))
        });
        let tags = Self(pairs.collect::<Result<_, Error>>()?);
        if let Some(key) = tags.repeated() {
            return Err(Error::InvalidTag {
                key: key.to_owned(),
                value: None,
                reason: "Cannot provide multiple Tags with the same key",
            });
        }
        tags.checked(bearer)
    }

    /// The value of the tag with this key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().find(|(own, _)| own == key);
        found.map(|(_, value)| value.as_str())
    }

    /// The keys of the tags.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    fn repeated(&self) -> Option<&str> {
        let keys = self.0.iter().enumerate();
        keys.map(|(at, (key, _))| (at, key.as_str()))
            .find(|(at, key)| self.0.iter().take(*at).any(|(earlier, _)| earlier == key))
            .map(|(_, key)| key)
    }

    fn checked(self, bearer: TagTarget) -> Result<Self, Error> {
        if self.0.len() > bearer.most() {
            return Err(Error::TooManyTags { reason: bearer.too_many() });
        }
        for (key, value) in &self.0 {
            let refused = |reason, with_value: bool| Error::InvalidTag {
                key: key.clone(),
                value: with_value.then(|| value.clone()),
                reason,
            };
            if key.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("aws:")) {
                return Err(refused(bearer.reserved(), false));
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
        XmlWriter::document("Tagging", namespace, |writer| {
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
                || matches!(character, ' ' | '+' | '-' | '=' | '.' | '_' | ':' | '/' | '@')
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
        assert_eq!(tags.0, expected.map(|(key, value)| (key.to_owned(), value.to_owned())));
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
        assert_eq!(code("a%"), "InvalidArgument");
        assert_eq!(code("a=%zz"), "InvalidArgument");
        assert_eq!(code("aws:a=1"), "InvalidTag");
        assert_eq!(code("=1"), "InvalidArgument");
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
        let document = tags.document("n");
        assert_eq!(Tags::from_xml(document.as_bytes(), TagTarget::Object), Ok(tags));
        let twice = "<Tagging><TagSet><Tag><Key>a</Key><Value/></Tag><Tag><Key>a</Key><Value/></Tag></TagSet></Tagging>";
        assert!(matches!(
            Tags::from_xml(twice.as_bytes(), TagTarget::Bucket),
            Err(Error::InvalidTag { .. })
        ));
        assert_eq!(Tags::from_xml(b"<Tagging/>", TagTarget::Object), Ok(Tags::default()));
        for document in [
            "<Other/>",
            "<Tagging><TagSet/><TagSet/></Tagging>",
            "<Tagging><TagSet/><Other/></Tagging>",
            "<Tagging><TagSet><Other/></TagSet></Tagging>",
            "<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>",
            "<Tagging><TagSet><Tag><Key>a</Key><Key>b</Key><Value/></Tag></TagSet></Tagging>",
            "<Tagging><TagSet><Tag><Key>a</Key><Value/><Other/></Tag></TagSet></Tagging>",
        ] {
            let read = Tags::from_xml(document.as_bytes(), TagTarget::Object);
            assert_eq!(read, Err(Error::MalformedXml), "{document}");
        }
    }
}
