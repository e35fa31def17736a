//! Values as extension code hands them over: JSON, what JSON has not, and keys in the caller's order.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// One argument or a part of it. The order of keys matters: it decides which of two faults is named.
#[derive(Debug, Clone, PartialEq)]
pub enum JsValue {
    /// Left out, or `undefined`.
    Undefined,
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// Any number, NaN and the infinities included.
    Number(f64),
    /// Text.
    String(String),
    /// A list.
    Array(Vec<Self>),
    /// Names and values in the order in which they were written, indices first.
    Object(Vec<(String, Self)>),
    /// A function, which cannot travel.
    Function,
}

impl JsValue {
    /// True if it counts as left out where an argument is optional.
    #[must_use]
    pub const fn is_absent(&self) -> bool {
        matches!(self, Self::Undefined | Self::Null)
    }

    /// The whole number of 32 bits that it is.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Number(number)
                if number.fract() == 0.0
                    && (-2_147_483_648.0..2_147_483_648.0).contains(number) =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "it is whole and of 32 bits")]
                Some(*number as i64)
            }
            _ => None,
        }
    }

    /// The value of a property that is there and not null.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&Self> {
        let Self::Object(members) = self else {
            return None;
        };
        members
            .iter()
            .find(|(key, value)| key == name && !value.is_absent())
            .map(|(_, value)| value)
    }

    /// The text that it is.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The browser's name for its type in an error.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            // The zero below zero is taken for a whole number, and not called one.
            Self::Number(number) if *number == 0.0 && number.is_sign_negative() => "number",
            Self::Number(_) if self.integer().is_some() => "integer",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
            Self::Function => "function",
        }
    }

    /// True for what JSON has no text for. No function comes with its code, so that the `toJSON` of an object gives nothing.
    #[must_use]
    pub fn is_unserializable(&self) -> bool {
        match self {
            Self::Function => true,
            Self::Object(members) => members
                .iter()
                .any(|(key, value)| key == "toJSON" && matches!(value, Self::Function)),
            _ => false,
        }
    }

    /// The value as it arrives on the other side of a message: what JSON has not becomes null, or is left out of objects.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            _ if self.is_unserializable() => Value::Null,
            Self::Undefined | Self::Null | Self::Function => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(_) => {
                self.integer().map_or_else(|| self.float(), |whole| Value::Number(whole.into()))
            }
            Self::String(text) => Value::String(text.clone()),
            Self::Array(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Self::Object(members) => {
                let is_sent =
                    |value: &Self| *value != Self::Undefined && !value.is_unserializable();
                let sent = members.iter().filter(|(_, value)| is_sent(value));
                Value::Object(
                    sent.map(|(key, value)| (key.clone(), value.to_json())).collect::<Map<_, _>>(),
                )
            }
        }
    }

    fn float(&self) -> Value {
        let Self::Number(number) = self else {
            return Value::Null;
        };
        Number::from_f64(*number).map_or(Value::Null, Value::Number)
    }

    /// The same value with `{"$js": "undefined" | "NaN" | "Infinity" | "-Infinity" | "-0" | "function"}` read as what it names, as the lab writes it, and `$$js` as the key `$js`.
    #[must_use]
    pub fn with_special_values(self) -> Self {
        match self {
            Self::Array(items) => {
                Self::Array(items.into_iter().map(Self::with_special_values).collect())
            }
            Self::Object(members) => special(&members).unwrap_or_else(|| {
                let members = members.into_iter();
                let read = |(key, value): (String, Self)| {
                    (unescaped(&key).map(str::to_owned).unwrap_or(key), value.with_special_values())
                };
                Self::Object(members.map(read).collect())
            }),
            other => other,
        }
    }
}

/// The value that a mark names. An object with another word in the place of the name is what it is.
fn special(members: &[(String, JsValue)]) -> Option<JsValue> {
    let [(key, JsValue::String(name))] = members else { return None };
    match name.as_str() {
        _ if key != "$js" => None,
        "undefined" => Some(JsValue::Undefined),
        "NaN" => Some(JsValue::Number(f64::NAN)),
        "Infinity" => Some(JsValue::Number(f64::INFINITY)),
        "-Infinity" => Some(JsValue::Number(f64::NEG_INFINITY)),
        "-0" => Some(JsValue::Number(-0.0)),
        "function" => Some(JsValue::Function),
        _ => None,
    }
}

/// The key that one of `$$js`, `$$$js` and so on stands for: data that has a mark's own key is written with one `$` more.
fn unescaped(key: &str) -> Option<&str> {
    let rest = key.strip_prefix('$')?;
    (rest.starts_with('$') && rest.trim_start_matches('$') == "js").then_some(rest)
}

impl<'de> Deserialize<'de> for JsValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

/// The index that a key is: a number as it is written, below the greatest of 32 bits.
fn index_of_key(key: &str) -> Option<u32> {
    let index = key.parse::<u32>().ok().filter(|index| *index < u32::MAX)?;
    (index.to_string() == key).then_some(index)
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = JsValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<JsValue, E> {
        Ok(JsValue::Null)
    }

    fn visit_none<E>(self) -> Result<JsValue, E> {
        Ok(JsValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<JsValue, E> {
        Ok(JsValue::Bool(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of extension code are doubles")]
    fn visit_i64<E>(self, value: i64) -> Result<JsValue, E> {
        Ok(JsValue::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of extension code are doubles")]
    fn visit_u64<E>(self, value: u64) -> Result<JsValue, E> {
        Ok(JsValue::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<JsValue, E> {
        Ok(JsValue::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<JsValue, E> {
        Ok(JsValue::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<JsValue, E> {
        Ok(JsValue::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsValue, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(JsValue::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<JsValue, A::Error> {
        let mut all: Vec<(String, JsValue)> = Vec::new();
        let mut places = BTreeMap::new();
        while let Some((key, value)) = members.next_entry::<String, JsValue>()? {
            // A key that comes again has the place of the first and the value of the last.
            let place = *places.entry(key.clone()).or_insert(all.len());
            match all.get_mut(place) {
                Some((_, before)) => *before = value,
                None => all.push((key, value)),
            }
        }
        // An object has the keys that are indices first, by their number.
        all.sort_by_key(|(key, _): &(String, _)| index_of_key(key).unwrap_or(u32::MAX));
        Ok(JsValue::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_callers_order() {
        let value: JsValue = serde_json::from_str(r#"{"z": 1, "a": [null, 1.5]}"#).unwrap();
        let expected = vec![
            ("z".to_owned(), JsValue::Number(1.0)),
            ("a".to_owned(), JsValue::Array(vec![JsValue::Null, JsValue::Number(1.5)])),
        ];
        assert_eq!(value, JsValue::Object(expected));
    }

    #[test]
    fn keys_that_are_indices_come_first() {
        let value: JsValue = serde_json::from_str(r#"{"a": 1, "10": 1, "02": 1, "2": 1}"#).unwrap();
        let JsValue::Object(members) = value else { unreachable!() };
        let keys: Vec<_> = members.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["2", "10", "a", "02"]);
    }

    #[test]
    fn a_key_that_comes_twice_has_its_first_place_and_its_last_value() {
        let value: JsValue = serde_json::from_str(r#"{"b": 1, "a": 2, "b": 3}"#).unwrap();
        let expected =
            vec![("b".to_owned(), JsValue::Number(3.0)), ("a".to_owned(), JsValue::Number(2.0))];
        assert_eq!(value, JsValue::Object(expected));
    }

    #[test]
    fn data_that_looks_like_a_mark_is_data_where_it_is_escaped_or_names_nothing() {
        let read = |text: &str| {
            let value: JsValue = serde_json::from_str(text).unwrap();
            value.with_special_values()
        };
        for (text, wanted) in [
            (r#"{"$js": "hello"}"#, r#"{"$js":"hello"}"#),
            (r#"{"$$js": "NaN"}"#, r#"{"$js":"NaN"}"#),
            (r#"{"a": {"$$$js": "NaN"}}"#, r#"{"a":{"$$js":"NaN"}}"#),
            (r#"{"$$jsx": 1, "$": 2, "js": 3}"#, r#"{"$":2,"$$jsx":1,"js":3}"#),
        ] {
            assert_eq!(read(text).to_json().to_string(), wanted);
        }
        assert_eq!(read(r#"{"$js": "undefined"}"#), JsValue::Undefined);
    }

    #[test]
    fn what_json_has_not_arrives_as_null_or_is_left_out() {
        let value = JsValue::Object(vec![
            ("a".into(), JsValue::Undefined),
            ("b".into(), JsValue::Number(f64::NAN)),
            ("c".into(), JsValue::Object(vec![("toJSON".into(), JsValue::Function)])),
        ]);
        assert_eq!(value.to_json(), serde_json::json!({ "b": null }));
    }
}
