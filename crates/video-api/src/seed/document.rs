//! The text of a seed file as JSON, in which no member stands twice.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// Reads the text of a seed file. Of two members with one name, the first would be left out silently.
///
/// # Errors
/// The place of what is no JSON, or of a member that stands twice.
pub(super) fn read(text: &str) -> Result<Value, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = Place::Root.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// The place of a value, as a chain of the places that it stands in.
#[derive(Clone, Copy)]
enum Place<'p> {
    Root,
    Member(&'p Self, &'p str),
    Element(&'p Self, usize),
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(Self::Root, name) => f.write_str(name),
            Self::Member(of, name) => write!(f, "{of}.{name}"),
            Self::Element(of, at) => write!(f, "{of}[{at}]"),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = elements.next_element_seed(Place::Element(&self, list.len()))? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let place = Place::Member(&self, &name);
            if map.contains_key(&name) {
                return Err(A::Error::custom(format!("{place}: this member stands twice")));
            }
            let value = members.next_value_seed(place)?;
            map.insert(name, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_as_any_json_is() {
        let text = r#"{"a": [1, -2, 2.5, true, null, "t\u0041", {"b": {}, "c": []}], "b": 18446744073709551615}"#;
        assert_eq!(read(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        for broken in ["", "{", "{} {}", "[1,]", r#"{"a" 1}"#, &"[".repeat(1_000)] {
            assert!(read(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_member_that_stands_twice_is_refused_with_its_place_however_deep_it_is() {
        for (text, place) in [
            (r#"{"videos": [], "videos": []}"#, "videos: this member stands twice"),
            (
                r#"{"videos": [{}, {"snippet": {"tags": ["t"], "title": "a", "title": "b"}}]}"#,
                "videos[1].snippet.title: this member stands twice",
            ),
            (r#"[[{"a": 1, "\u0061": 2}]]"#, "[0][0].a: this member stands twice"),
        ] {
            let told = read(text).unwrap_err().to_string();
            assert!(told.starts_with(place), "{told}");
        }
        assert!(read(r#"{"a": {"b": 1}, "b": {"b": 1}}"#).is_ok());
    }
}
