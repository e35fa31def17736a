//! Encryption contexts: pairs of texts that a data key is bound to. Whoever wants it back names the same.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::request::dialect::RESOURCE_CONTEXT;

/// The header that brings one.
pub const HEADER: &str = "x-store-server-side-encryption-context";
/// The most bytes of one before it is encoded.
const BYTES_MAX: usize = 8 * 1024;

/// An encryption context.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EncryptionContext(BTreeMap<String, String>);

impl EncryptionContext {
    /// The context that a header brings: base64 of a JSON object of texts.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`].
    pub fn from_header(value: &str) -> Result<Self, Error> {
        let read = |value: &str| {
            let bytes = STANDARD.decode(value).ok().filter(|bytes| bytes.len() <= BYTES_MAX)?;
            serde_json::from_slice::<Unique>(&bytes).ok()
        };
        let pairs = read(value).ok_or_else(|| {
            // The text is not repeated: it may be long, and its owner knows it.
            Error::argument(
                HEADER,
                None,
                "The header 'x-store-server-side-encryption-context' shall be Base64-encoded UTF-8 string holding JSON which represents a string-string map",
            )
        })?;
        Ok(Self(pairs.0))
    }

    /// Tells whether it has no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its pairs, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }

    /// The same, with the resource that is encrypted, unless it names one.
    #[must_use]
    pub fn with_resource(&self, resource: &str) -> Self {
        let mut pairs = self.0.clone();
        pairs.entry(RESOURCE_CONTEXT.to_owned()).or_insert_with(|| resource.to_owned());
        Self(pairs)
    }

    /// Bytes that no other context has.
    #[must_use]
    pub fn canonical(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in self.0.iter().flat_map(|(name, value)| [name, value]) {
            bytes.extend_from_slice(&text.len().to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        bytes
    }
}

/// Pairs none of which is there twice: of two the one that counts would be a guess.
struct Unique(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> serde::de::Visitor<'de> for Pairs {
            type Value = Unique;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of texts")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Unique, A::Error> {
                let mut pairs = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, String>()? {
                    if pairs.insert(name, value).is_some() {
                        return Err(serde::de::Error::custom("a name twice"));
                    }
                }
                Ok(Unique(pairs))
            }
        }
        from.deserialize_map(Pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<EncryptionContext, Error> {
        EncryptionContext::from_header(&STANDARD.encode(json))
    }

    #[test]
    fn a_context_is_base64_of_a_json_object_of_texts() {
        let context = read(r#"{"b": "2", "a": "\u00e4"}"#).unwrap();
        let pairs: Vec<_> = context.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(pairs, [("a", "\u{e4}"), ("b", "2")]);
        assert!(read("{}").unwrap().is_empty());
        for json in [
            "",
            "[]",
            "1",
            r#""a""#,
            r#"{"a": 1}"#,
            r#"{"a": {"b": "c"}}"#,
            r#"{"a": null}"#,
            r#"{"a": "1", "a": "2"}"#,
            r#"{"a": "1"} x"#,
            &format!(r#"{{"a": "{}"}}"#, "x".repeat(10 * 1024)),
        ] {
            assert!(read(json).is_err(), "{json:.40}");
        }
        assert!(EncryptionContext::from_header("no base64!").is_err());
        assert!(EncryptionContext::from_header(&STANDARD.encode([0xFF, 0xFE])).is_err());
    }

    #[test]
    fn contexts_that_differ_have_other_bytes() {
        let bytes = |json| read(json).unwrap().canonical();
        assert_eq!(bytes(r#"{"a": "1", "b": "2"}"#), bytes(r#"{"b": "2", "a": "1"}"#));
        assert_ne!(bytes(r#"{"a": "12"}"#), bytes(r#"{"a1": "2"}"#));
        assert_ne!(bytes("{}"), read("{}").unwrap().with_resource("r").canonical());
    }
}
