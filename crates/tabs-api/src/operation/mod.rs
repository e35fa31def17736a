//! Every operation in one table: name, parameters and what answers it. Argument checks, `/v1/schema` and the documents are derived from it.

pub mod argument;
pub(crate) mod call;
mod table;
mod tabs;
mod windows;

use serde_json::{Value, json};

pub use self::table::OPERATIONS;
use crate::operation::argument::Schema;

/// One operation of the `tabs`, `windows`, `tabGroups` or `sessions` namespace.
#[derive(Debug)]
pub struct Operation {
    /// The full name, as `tabs.create`.
    pub name: &'static str,
    /// Its parameters, without the callback.
    pub parameters: &'static [Parameter],
    /// Whether it may be called with a callback (Spec tabs-api §1); all but `connect`.
    pub takes_callback: bool,
    /// What answers it.
    pub action: Action,
    /// What it does, in a sentence.
    pub doc: &'static str,
}

/// A parameter of an operation.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub schema: Schema,
    /// Whether it may be left out.
    pub is_optional: bool,
}

/// What an operation does; one variant a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is the row of its name")]
pub enum Action {
    CaptureVisibleTab,
    Connect,
    Create,
    DetectLanguage,
    Discard,
    Duplicate,
    Get,
    GetCurrent,
    GetZoom,
    GetZoomSettings,
    GoBack,
    GoForward,
    Group,
    Highlight,
    Move,
    Query,
    Reload,
    Remove,
    SendMessage,
    SetZoom,
    SetZoomSettings,
    Ungroup,
    Update,
    WindowGet,
    WindowGetCurrent,
    WindowGetLastFocused,
    WindowGetAll,
    WindowCreate,
    WindowUpdate,
    WindowRemove,
    GroupGet,
    GroupQuery,
    GroupUpdate,
    GroupMove,
    SessionRestore,
}

impl Operation {
    /// The operation of this full name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        OPERATIONS.iter().find(|operation| operation.name == name)
    }

    /// The signature that argument errors show.
    #[must_use]
    pub fn signature(&self) -> String {
        let shown = |parameter: &Parameter| {
            let start = if parameter.is_optional { "optional " } else { "" };
            format!("{start}{} {}", parameter.schema.name(), parameter.name)
        };
        let mut parts: Vec<_> = self.parameters.iter().map(shown).collect();
        if self.takes_callback {
            parts.push("optional function callback".into());
        }
        parts.join(", ")
    }

    /// The operation as `/v1/schema` shows it.
    #[must_use]
    pub fn describe(&self) -> Value {
        let parameters: Vec<_> = self
            .parameters
            .iter()
            .map(|parameter| json!({ "name": parameter.name, "optional": parameter.is_optional, "schema": describe(&parameter.schema) }))
            .collect();
        json!({ "name": self.name, "doc": self.doc, "signature": self.signature(), "callback": self.takes_callback, "parameters": parameters })
    }
}

fn describe(schema: &Schema) -> Value {
    match schema {
        Schema::Integer { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        Schema::Word(words) => json!({ "type": "string", "enum": words }),
        Schema::Object(properties) => {
            let each = properties.iter().map(|property| {
                (property.name.to_owned(), json!({ "required": property.is_required, "schema": describe(&property.schema) }))
            });
            json!({ "type": "object", "properties": each.collect::<serde_json::Map<_, _>>() })
        }
        Schema::Array { of, min_items } => {
            json!({ "type": "array", "items": describe(of), "minItems": min_items })
        }
        Schema::Choice(choices) => {
            json!({ "oneOf": choices.iter().map(describe).collect::<Vec<_>>() })
        }
        Schema::Named(name, schema) => {
            let mut inner = describe(schema);
            if let Some(members) = inner.as_object_mut() {
                members.insert("name".into(), (*name).into());
            }
            inner
        }
        Schema::Number | Schema::Boolean | Schema::String | Schema::Any | Schema::Function => {
            json!({ "type": schema.name() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_23_operations_of_the_specification_and_no_name_twice() {
        assert_eq!(OPERATIONS.iter().filter(|row| row.name.starts_with("tabs.")).count(), 23);
        let names: std::collections::HashSet<_> = OPERATIONS.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
    }

    #[test]
    fn signatures_are_written_as_the_browser_writes_them() {
        for (name, signature) in [
            ("tabs.create", "object createProperties, optional function callback"),
            (
                "tabs.update",
                "optional integer tabId, object updateProperties, optional function callback",
            ),
            (
                "tabs.move",
                "[integer|array] tabIds, object moveProperties, optional function callback",
            ),
            ("tabs.connect", "integer tabId, optional object connectInfo"),
            ("tabs.getCurrent", "optional function callback"),
            (
                "tabs.setZoomSettings",
                "optional integer tabId, tabs.ZoomSettings zoomSettings, optional function callback",
            ),
            (
                "tabs.captureVisibleTab",
                "optional integer windowId, optional extensionTypes.ImageDetails options, optional function callback",
            ),
            (
                "tabs.sendMessage",
                "integer tabId, any message, optional object options, optional function callback",
            ),
        ] {
            assert_eq!(Operation::find(name).unwrap().signature(), signature);
        }
    }
}
