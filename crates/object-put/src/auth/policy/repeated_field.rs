//! Fields that a JSON document has twice: which of the two a reader takes would be a guess.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Tells whether an object of a document, at any depth, has two fields of one name; also of a text that is no document.
pub(super) fn has_any(text: &str) -> bool {
    serde_json::from_str::<Distinct>(text).is_err()
}

/// A value in which no object has a field twice.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Walk)
    }
}

struct Walk;

impl<'de> Visitor<'de> for Walk {
    type Value = Distinct;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value without repeated fields")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_str<E>(self, _: &str) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_unit<E>(self) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Distinct, A::Error> {
        while values.next_element::<Distinct>()?.is_some() {}
        Ok(Distinct)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Distinct, A::Error> {
        let mut names = BTreeSet::new();
        while let Some((name, Distinct)) = fields.next_entry::<String, Distinct>()? {
            if !names.insert(name) {
                return Err(A::Error::custom("a field twice"));
            }
        }
        Ok(Distinct)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_found_twice_at_any_depth() {
        for text in [r#"{}"#, r#"{"a": 1, "b": {"a": -1.5}}"#, r#"[{"a": null}, {"a": true}]"#] {
            assert!(!has_any(text), "{text}");
        }
        for text in [r#"{"a": 1, "a": 1}"#, r#"[[{"b": {"a": 1, "c": "", "\u0061": 1}}]]"#, "{"] {
            assert!(has_any(text), "{text}");
        }
    }
}
