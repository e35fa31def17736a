//! JSON texts as extension code writes them: with halves of surrogate pairs, and deeper than a reader goes by itself.

use std::borrow::Cow;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny};
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

/// The levels of lists and objects within each other that a text may have; each takes some of the stack.
pub const DEPTH_MAX: usize = 500;

/// A text that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// It is nested too deep.
    #[error("lists and objects are nested deeper than {DEPTH_MAX} levels")]
    TooDeep,
    /// It is no JSON, or not of the form that is wanted.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Reads a text. Half of a surrogate pair, which JavaScript has in its texts and Unicode has not, becomes U+FFFD.
///
/// # Errors
/// [`Unreadable`].
pub fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, Unreadable> {
    let text = readable(text)?;
    let mut deserializer = serde_json::Deserializer::from_slice(&text);
    // The bound has been looked at.
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// The `id` of an object, also of one that cannot be read behind it; null where none is found.
#[must_use]
pub fn id_of(text: &[u8]) -> Value {
    let mut id = Value::Null;
    // It cannot be read, which is why it is asked for.
    let _ = FindId(&mut id).deserialize(&mut serde_json::Deserializer::from_slice(text));
    id
}

/// The text with whole characters, if it is not too deep. What else is wrong with it the reader finds.
fn readable(text: &[u8]) -> Result<Cow<'_, [u8]>, Unreadable> {
    let mut mended = Vec::new();
    let (mut at, mut copied, mut depth, mut is_quoted) = (0, 0, 0_usize, false);
    while let Some(byte) = text.get(at) {
        at += match byte {
            b'\\' if is_quoted => match (code_unit(text, at), code_unit(text, at + 6)) {
                (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
                (Some(0xd800..=0xdfff), _) => {
                    mended.extend_from_slice(text.get(copied..at).unwrap_or_default());
                    mended.extend_from_slice(b"\\ufffd");
                    copied = at + 6;
                    6
                }
                _ => 2,
            },
            b'"' => {
                is_quoted = !is_quoted;
                1
            }
            b'[' | b'{' if !is_quoted => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return Err(Unreadable::TooDeep);
                }
                1
            }
            b']' | b'}' if !is_quoted => {
                depth = depth.saturating_sub(1);
                1
            }
            _ => 1,
        };
    }
    if copied == 0 {
        return Ok(Cow::Borrowed(text));
    }
    mended.extend_from_slice(text.get(copied..).unwrap_or_default());
    Ok(Cow::Owned(mended))
}

/// The unit of UTF-16 that an escape of four hexadecimal digits at this place stands for.
fn code_unit(text: &[u8], at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok()?;
    u16::from_str_radix(digits, 16).ok()
}

/// Keeps the `id` of an object as it comes by, whatever comes behind it.
struct FindId<'v>(&'v mut Value);

impl<'de> DeserializeSeed<'de> for FindId<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FindId<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(key) = members.next_key::<Cow<'_, str>>()? {
            if key == "id" {
                *self.0 = members.next_value()?;
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::js_value::JsValue;

    #[test]
    fn half_of_a_surrogate_pair_is_read_as_the_replacement_character() {
        for (text, wanted) in [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\udc00\ud800""#, "\u{fffd}\u{fffd}"),
            (r#""\ud83d\ude00""#, "\u{1f600}"),
            (r#""\\ud800""#, "\\ud800"),
            (r#""\ud800\n\u0041""#, "\u{fffd}\nA"),
        ] {
            assert_eq!(read::<String>(text.as_bytes()).unwrap(), wanted, "{text}");
        }
        assert_eq!(
            read::<JsValue>(br#"{"\ud800": 1}"#).unwrap(),
            JsValue::Object(vec![("\u{fffd}".into(), JsValue::Number(1.0))])
        );
    }

    #[test]
    fn a_text_is_read_to_its_bound_in_half_of_the_stack_that_a_thread_of_the_service_has() {
        let nested = |depth: usize| format!("{}\"[{{\"{}", "[".repeat(depth), "]".repeat(depth));
        let reading = std::thread::Builder::new().stack_size(1024 * 1024).spawn(move || {
            let value: JsValue = read(nested(DEPTH_MAX).as_bytes()).unwrap();
            let json = value.with_special_values().to_json();
            assert_eq!(json.to_string(), nested(DEPTH_MAX));
            let deeper = read::<JsValue>(nested(DEPTH_MAX + 1).as_bytes());
            assert!(matches!(deeper, Err(Unreadable::TooDeep)));
        });
        reading.unwrap().join().unwrap();
    }

    #[test]
    fn the_id_is_found_in_what_cannot_be_read() {
        let deep = format!(r#"{{"params": {}, "id": 7}}"#, "[".repeat(9000) + &"]".repeat(9000));
        for (text, wanted) in [
            (r#"{"id": 7, "method": "#, Value::from(7)),
            (r#"{"frameId": -1, "id": "a"}"#, "a".into()),
            (deep.as_str(), 7.into()),
            ("[1", Value::Null),
        ] {
            assert_eq!(id_of(text.as_bytes()), wanted);
        }
    }
}
