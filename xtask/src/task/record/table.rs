//! The table of operations as `/v1/schema` shows it: what scenarios are generated from.

use anyhow::{Context, Result};
use serde_json::Value;

/// An operation: a row of the table.
#[derive(Debug, Clone)]
pub(super) struct Operation {
    /// Its full name.
    pub name: String,
    /// Its parameters, without the callback.
    pub parameters: Vec<Member>,
    /// True if it can be called with a callback.
    pub takes_callback: bool,
}

/// A parameter, or a property of an object.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// Its name.
    pub name: String,
    /// True if it has to be there.
    pub is_required: bool,
    /// The values that it takes.
    pub schema: Schema,
}

/// The values that a parameter or property takes.
#[derive(Debug, Clone)]
pub(super) enum Schema {
    /// A whole number, with its bounds.
    Integer { min: Option<i64>, max: Option<i64> },
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A text.
    Text,
    /// One of these words.
    Word(Vec<String>),
    /// An object of these properties.
    Object(Vec<Member>),
    /// A list.
    List(Box<Self>),
    /// One of several.
    Choice(Vec<Self>),
    /// Anything.
    Any,
}

/// Reads the table.
///
/// # Errors
/// If it is none.
pub(super) fn read(schema: &Value) -> Result<Vec<Operation>> {
    let rows = schema.get("operations").and_then(Value::as_array).context("no operations")?;
    rows.iter()
        .map(|row| {
            let name = text(row, "name").context("an operation has no name")?;
            let parameters = row.get("parameters").and_then(Value::as_array).into_iter().flatten();
            let parameters = parameters.map(|parameter| Member {
                name: text(parameter, "name").unwrap_or_default(),
                is_required: !flag(parameter, "optional"),
                schema: Schema::of(parameter.get("schema").unwrap_or(&Value::Null)),
            });
            Ok(Operation {
                name,
                parameters: parameters.collect(),
                takes_callback: flag(row, "callback"),
            })
        })
        .collect()
}

fn text(value: &Value, name: &str) -> Option<String> {
    Some(value.get(name)?.as_str()?.to_owned())
}

fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}

impl Schema {
    fn of(value: &Value) -> Self {
        if let Some(choices) = value.get("oneOf").and_then(Value::as_array) {
            return Self::Choice(choices.iter().map(Self::of).collect());
        }
        if let Some(words) = value.get("enum").and_then(Value::as_array) {
            let words = words.iter().filter_map(|word| Some(word.as_str()?.to_owned()));
            return Self::Word(words.collect());
        }
        let bound = |name: &str| value.get(name).and_then(Value::as_i64);
        match value.get("type").and_then(Value::as_str) {
            Some("integer") => Self::Integer { min: bound("minimum"), max: bound("maximum") },
            Some("number") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some("string") => Self::Text,
            Some("array") => Self::List(Box::new(value.get("items").map_or(Self::Any, Self::of))),
            Some("object") => {
                let properties = value.get("properties").and_then(Value::as_object);
                let properties = properties.into_iter().flatten().map(|(name, property)| Member {
                    name: name.clone(),
                    is_required: flag(property, "required"),
                    schema: property.get("schema").map_or(Self::Any, Self::of),
                });
                Self::Object(properties.collect())
            }
            _ => Self::Any,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_read_with_what_they_take() {
        let table = json!({ "operations": [{ "name": "tabs.new", "callback": true, "parameters": [
            { "name": "tabIds", "optional": false, "schema": { "oneOf": [
                { "type": "integer", "minimum": 0, "maximum": null }, { "type": "array", "items": { "type": "integer" } }] } },
            { "name": "options", "optional": true, "schema": { "type": "object", "properties": {
                "mode": { "required": true, "schema": { "type": "string", "enum": ["a", "b"] } } } } }] }] });
        let rows = read(&table).unwrap();
        let [row] = rows.as_slice() else { panic!("one row") };
        let [ids, options] = row.parameters.as_slice() else { panic!("two parameters") };
        assert!(matches!(&ids.schema, Schema::Choice(choices) if choices.len() == 2));
        assert!(ids.is_required && !options.is_required && row.takes_callback);
        let Schema::Object(properties) = &options.schema else { panic!("an object") };
        assert!(
            matches!(properties.as_slice(), [mode] if mode.is_required && matches!(&mode.schema, Schema::Word(words) if words.len() == 2))
        );
    }
}
