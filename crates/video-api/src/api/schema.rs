//! The types of bodies and answers, as the published document of revision 20261104 has them, with those of operations that it
//! no longer lists (facts: operations_legacy).

use std::sync::LazyLock;

use serde_json::{Map, Value};

static SCHEMAS: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("schemas.json")).unwrap_or_default());

/// All of them by their names, as JSON Schema.
#[must_use]
pub fn all() -> &'static Value {
    &SCHEMAS
}

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub struct Shape(&'static Value);

impl Shape {
    /// The type with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        SCHEMAS.get(name).map(Self::of)
    }

    /// A type, or that of the elements of a list: names speak of them.
    fn of(mut schema: &'static Value) -> Self {
        while let Some(items) = schema.get("items") {
            schema = items;
        }
        let named = schema.get("$ref").and_then(Value::as_str);
        match named.and_then(|name| SCHEMAS.get(name)) {
            Some(named) => Self::of(named),
            None => Self(schema),
        }
    }

    /// The type of a member; none if there is no such member.
    #[must_use]
    pub fn member(self, name: &str) -> Option<Self> {
        let known = self.0.get("properties").and_then(|all| all.get(name));
        let schema = known.or_else(|| self.0.get("additionalProperties"));
        schema.map(Self::of)
    }

    /// Returns whether it has members.
    #[must_use]
    pub fn has_members(self) -> bool {
        ["properties", "additionalProperties"].iter().any(|name| self.0.get(name).is_some())
    }
}

/// Checks a value against the type with this name; `path` is its own.
///
/// # Errors
/// The path of the first member that is unknown or not what its type says, and what is expected there.
pub fn check(name: &str, value: &Value, path: &str) -> Result<(), (String, &'static str)> {
    let schema = SCHEMAS.get(name).unwrap_or(&Value::Null);
    check_schema(schema, value, path)
}

fn check_schema(schema: &Value, value: &Value, path: &str) -> Result<(), (String, &'static str)> {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        return check(name, value, path);
    }
    let wrong = |expected| Err((path.to_owned(), expected));
    match (schema.get("type").and_then(Value::as_str), value) {
        (Some("object"), Value::Object(members)) => {
            let known = schema.get("properties").and_then(Value::as_object);
            for (name, value) in members {
                let path = format!("{path}.{name}");
                match known.and_then(|known| known.get(name)) {
                    Some(schema) => check_schema(schema, value, &path)?,
                    None => return Err((path, "no member that the resource does not have")),
                }
            }
            Ok(())
        }
        (Some("array"), Value::Array(values)) => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            let mut values = values.iter().enumerate();
            values.try_for_each(|(at, value)| check_schema(items, value, &format!("{path}[{at}]")))
        }
        (Some("string"), Value::String(text)) => {
            let listed = schema.get("enum").and_then(Value::as_array);
            if listed.is_none_or(|listed| listed.iter().any(|one| one == text)) {
                Ok(())
            } else {
                wrong("a value of its list")
            }
        }
        (Some("boolean"), Value::Bool(_)) | (Some("integer" | "number"), Value::Number(_)) => {
            Ok(())
        }
        (Some("object"), _) => wrong("an object"),
        (Some("array"), _) => wrong("a list"),
        (Some("string"), _) => wrong("TYPE_STRING"),
        _ => wrong("a value of its type"),
    }
}

/// Checks the types of the members of a body that its schema knows, as a client's own library would: numbers may stand in strings and for
/// them, `true` and `false` in strings, `null` is no value, and which values a text may have is for the resource to say.
///
/// # Errors
/// The path of the first member that is something else, and what is expected there.
pub fn check_types(name: &str, body: &Map<String, Value>) -> Result<(), (String, &'static str)> {
    let schema = SCHEMAS.get(name).unwrap_or(&Value::Null);
    check_members(schema, body, "")
}

fn check_members(
    schema: &Value,
    members: &Map<String, Value>,
    path: &str,
) -> Result<(), (String, &'static str)> {
    for (name, value) in members {
        let known = schema.get("properties").and_then(|known| known.get(name));
        if let Some(schema) = known.or_else(|| schema.get("additionalProperties")) {
            let dot = if path.is_empty() { "" } else { "." };
            check_type(schema, value, &format!("{path}{dot}{name}"))?;
        }
    }
    Ok(())
}

fn check_type(schema: &Value, value: &Value, path: &str) -> Result<(), (String, &'static str)> {
    let text = |name| schema.get(name).and_then(Value::as_str);
    if let Some(named) = text("$ref") {
        return check_type(SCHEMAS.get(named).unwrap_or(&Value::Null), value, path);
    }
    let expected = match (text("type"), value) {
        (None | Some("any"), _) | (_, Value::Null) => return Ok(()),
        (Some("object"), Value::Object(members)) => return check_members(schema, members, path),
        (Some("array"), Value::Array(values)) => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            let mut values = values.iter().enumerate();
            return values
                .try_for_each(|(at, value)| check_type(items, value, &format!("{path}[{at}]")));
        }
        // Ids are often written as the numbers that they are.
        (Some("string"), Value::String(_) | Value::Number(_))
        | (Some("boolean"), Value::Bool(_))
        | (Some("integer" | "number"), Value::Number(_)) => return Ok(()),
        (Some("integer" | "number"), Value::String(text)) if text.parse::<f64>().is_ok() => {
            return Ok(());
        }
        (Some("boolean"), Value::String(text)) if text.parse::<bool>().is_ok() => return Ok(()),
        (Some("object"), _) => "an object",
        (Some("array"), _) => "a list",
        (Some("boolean"), _) => "true or false",
        (Some("integer" | "number"), _) => "a number",
        _ => "TYPE_STRING",
    };
    Err((path.to_owned(), expected))
}

/// The path of the first member of a body, at any depth, that its type does not have.
#[must_use]
pub fn unknown_member(name: &str, body: &Map<String, Value>) -> Option<String> {
    unknown_in(Shape::named(name)?, body, "")
}

fn unknown_in(shape: Shape, members: &Map<String, Value>, path: &str) -> Option<String> {
    let dot = if path.is_empty() { "" } else { "." };
    members.iter().find_map(|(name, value)| {
        let path = format!("{path}{dot}{name}");
        match (shape.member(name), value) {
            (None, _) => Some(path),
            (Some(member), Value::Object(members)) if member.has_members() => {
                unknown_in(member, members, &path)
            }
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_checked_at_every_member_that_is_known_and_nowhere_else() {
        let check = |value: Value| check_types("ChannelSection", value.as_object().unwrap());
        for value in [
            serde_json::json!({}),
            serde_json::json!({"none": 7, "snippet": {"none": [], "title": null, "position": "3"}}),
            serde_json::json!({"localizations": {"de": {"title": "t"}}, "targeting": {"regions": ["DE"]}}),
        ] {
            assert_eq!(check(value), Ok(()));
        }
        for (value, path) in [
            (serde_json::json!({"snippet": "t"}), "snippet"),
            (serde_json::json!({"snippet": {"position": "x"}}), "snippet.position"),
            (
                serde_json::json!({"snippet": {"localized": {"title": true}}}),
                "snippet.localized.title",
            ),
            (serde_json::json!({"localizations": {"de": {"title": []}}}), "localizations.de.title"),
            (
                serde_json::json!({"contentDetails": {"channels": ["a", []]}}),
                "contentDetails.channels[1]",
            ),
        ] {
            assert_eq!(check(value).unwrap_err().0, path);
        }
    }

    #[test]
    fn a_member_that_a_type_does_not_have_is_found_at_any_depth() {
        let unknown = |value: Value| unknown_member("Video", value.as_object().unwrap());
        for (value, path) in [
            (serde_json::json!({"titel": "t"}), "titel"),
            (serde_json::json!({"snippet": {"title": "t", "titel": "t"}}), "snippet.titel"),
            (serde_json::json!({"localizations": {"de": {"name": "t"}}}), "localizations.de.name"),
            (
                serde_json::json!({"recordingDetails": {"location": {"lat": 1}}}),
                "recordingDetails.location.lat",
            ),
        ] {
            assert_eq!(unknown(value).as_deref(), Some(path));
        }
        let known = serde_json::json!({"snippet": {"tags": ["a"], "thumbnails": {"default": {"url": "u"}}},
            "localizations": {"de": {"title": "t"}}, "status": "of another type"});
        assert_eq!(unknown(known), None);
    }

    #[test]
    fn members_are_found_through_lists_references_and_free_names() {
        let list = Shape::named("VideoListResponse").unwrap();
        let at = |path: &str| path.split('/').try_fold(list, Shape::member);
        for path in [
            "kind",
            "items/snippet/thumbnails/default/url",
            "items/localizations/de/title",
            "items/fileDetails/videoStreams/codec",
        ] {
            assert!(at(path).is_some(), "{path}");
        }
        for path in ["none", "kind/x", "items/snippet/none", "items/localizations/de/none"] {
            assert!(at(path).is_none(), "{path}");
        }
        assert!(list.has_members() && !at("items/id").unwrap().has_members());
        assert!(Shape::named("None").is_none());
    }

    #[test]
    fn a_value_is_checked_with_all_that_is_in_it() {
        let check = |value: Value| check("ActivityContentDetails", &value, "x");
        let kind = serde_json::json!({"bulletin": {"resourceId": {"kind": "youtube#video"}}});
        assert_eq!(check(kind), Ok(()));
        for (value, path) in [
            (serde_json::json!([]), "x"),
            (serde_json::json!({"none": {}}), "x.none"),
            (
                serde_json::json!({"bulletin": {"resourceId": {"kind": 7}}}),
                "x.bulletin.resourceId.kind",
            ),
            (
                serde_json::json!({"promotedItem": {"impressionUrl": ["a", 1]}}),
                "x.promotedItem.impressionUrl[1]",
            ),
            (serde_json::json!({"social": {"type": "myspace"}}), "x.social.type"),
        ] {
            assert_eq!(check(value).unwrap_err().0, path);
        }
    }
}
