//! Schemas of parameters: the values that each takes, and the browser's sentence for one that does not fit.

use serde_json::{Value, json};

use crate::browser::Compat;
use crate::js_value::JsValue;
use crate::version::BrowserVersion;

/// A parameter of an operation.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// The values that it takes.
    pub schema: Schema,
    /// True if it may be left out.
    pub is_optional: bool,
}

impl Parameter {
    pub(super) const fn required(name: &'static str, schema: Schema) -> Self {
        Self { name, schema, is_optional: false }
    }

    pub(super) const fn optional(name: &'static str, schema: Schema) -> Self {
        Self { name, schema, is_optional: true }
    }
}

/// The values that a parameter or property takes.
#[derive(Debug)]
pub enum Schema {
    /// A whole number within bounds.
    Integer {
        /// The least.
        min: Option<i64>,
        /// The greatest.
        max: Option<i64>,
    },
    /// A whole number that the specification raises to this where it is less; the browser refuses it.
    ClampedAtLeast(i64),
    /// A finite number, of at least this where there is a bound.
    Number {
        /// The least.
        min: Option<i64>,
    },
    /// True or false.
    Boolean,
    /// Text.
    String,
    /// One of these words, in alphabetical order.
    Word(&'static [&'static str]),
    /// An object with these properties and no other.
    Object(&'static [Property]),
    /// A list.
    Array {
        /// The schema of its items.
        of: &'static Self,
        /// The least number of items.
        min_items: usize,
    },
    /// One of several.
    Choice(&'static [Self]),
    /// Another schema under the name that errors show.
    Named(&'static str, &'static Self),
    /// Anything that JSON can carry.
    Any,
    /// The same, where what it cannot carry becomes null.
    Message,
    /// A function.
    Function,
}

/// A property of an object.
#[derive(Debug)]
pub struct Property {
    /// Its name.
    pub name: &'static str,
    /// The values that it takes.
    pub schema: Schema,
    /// True if it must be there.
    pub is_required: bool,
}

impl Property {
    /// A property that may be left out.
    #[must_use]
    pub const fn optional(name: &'static str, schema: Schema) -> Self {
        Self { name, schema, is_required: false }
    }

    /// A property that must be there.
    #[must_use]
    pub const fn required(name: &'static str, schema: Schema) -> Self {
        Self { name, schema, is_required: true }
    }
}

impl Schema {
    /// Any whole number of 32 bits.
    pub const INTEGER: Self = Self::Integer { min: None, max: None };

    /// Any finite number.
    pub const NUMBER: Self = Self::Number { min: None };

    /// A whole number of at least `min`.
    #[must_use]
    pub const fn at_least(min: i64) -> Self {
        Self::Integer { min: Some(min), max: None }
    }

    /// The name that a signature shows.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Integer { .. } | Self::ClampedAtLeast(_) => "integer".into(),
            Self::Number { .. } => "number".into(),
            Self::Boolean => "boolean".into(),
            Self::String | Self::Word(_) => "string".into(),
            Self::Object(_) => "object".into(),
            Self::Array { .. } => "array".into(),
            Self::Choice(choices) => {
                let names: Vec<_> = choices.iter().map(Self::name).collect();
                format!("[{}]", names.join("|"))
            }
            Self::Named(name, _) => (*name).into(),
            Self::Any | Self::Message => "any".into(),
            Self::Function => "function".into(),
        }
    }

    /// True if a value has the right JavaScript type, before its content is looked at.
    pub(super) fn fits(&self, value: &JsValue) -> bool {
        match self {
            Self::Integer { .. } | Self::ClampedAtLeast(_) => value.integer().is_some(),
            Self::Number { .. } => matches!(value, JsValue::Number(_)),
            Self::Boolean => matches!(value, JsValue::Bool(_)),
            Self::String | Self::Word(_) => matches!(value, JsValue::String(_)),
            Self::Object(_) => matches!(value, JsValue::Object(_)),
            Self::Array { .. } => matches!(value, JsValue::Array(_)),
            Self::Choice(choices) => choices.iter().any(|choice| choice.fits(value)),
            Self::Named(_, schema) => schema.fits(value),
            Self::Any | Self::Message => true,
            Self::Function => matches!(value, JsValue::Function),
        }
    }

    /// The names of an object's properties.
    pub fn members(&self) -> impl Iterator<Item = &'static str> + use<> {
        let properties: &'static [Property] = match self {
            Self::Object(properties) => properties,
            Self::Named(_, Self::Object(properties)) => properties,
            _ => &[],
        };
        properties.iter().map(|property| property.name)
    }

    /// The first fault of a value; `None` if it is right.
    pub(super) fn fault(&self, value: &JsValue, check: &Check<'_>) -> Option<String> {
        if !self.fits(value) {
            return Some(format!(
                "Invalid type: expected {}, found {}.",
                self.name(),
                value.type_name()
            ));
        }
        match self {
            Self::Integer { min, max } => {
                let number = value.integer()?;
                if let Some(min) = min.filter(|min| number < *min) {
                    return Some(too_small(min));
                }
                max.filter(|max| number > *max).map(|max| format!("Value must be at most {max}."))
            }
            Self::ClampedAtLeast(least) => {
                let is_refused = check.compat == Compat::Browser && value.integer()? < *least;
                is_refused.then(|| too_small(*least))
            }
            Self::Number { min } => match (value, min) {
                (JsValue::Number(number), _) if !number.is_finite() => {
                    Some("Value must not be NaN or Infinity.".into())
                }
                (JsValue::Number(number), Some(min)) if is_less(*number, *min) => {
                    Some(too_small(*min))
                }
                _ => None,
            },
            Self::Word(words) => match value {
                JsValue::String(text) if !words.contains(&text.as_str()) => {
                    Some(format!("Value must be one of {}.", words.join(", ")))
                }
                _ => None,
            },
            Self::Object(properties) => object_fault(properties, value, check),
            Self::Array { of, min_items } => {
                let JsValue::Array(items) = value else { return None };
                if items.len() < *min_items {
                    return Some(format!(
                        "Array must have at least {min_items} items; found {}.",
                        items.len()
                    ));
                }
                let faults = items.iter().enumerate();
                faults
                    .filter_map(|(at, item)| {
                        Some(format!("Error at index {at}: {}", of.fault(item, check)?))
                    })
                    .next()
            }
            Self::Choice(choices) => {
                let matches = choices
                    .iter()
                    .any(|choice| choice.fits(value) && choice.fault(value, check).is_none());
                (!matches).then(|| "Value did not match any choice.".into())
            }
            Self::Named(_, schema) => schema.fault(value, check),
            Self::Any => is_unserializable(value).then(|| "Value is unserializable.".into()),
            Self::Boolean | Self::String | Self::Message | Self::Function => None,
        }
    }
}

fn too_small(min: i64) -> String {
    format!("Value must be at least {min}.")
}

/// True for a number below a bound.
fn is_less(number: f64, min: i64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "bounds are small")]
    let min = min as f64;
    number < min
}

/// True for a value that cannot be handed on. What is within another one is left out instead.
fn is_unserializable(value: &JsValue) -> bool {
    match value {
        JsValue::Undefined | JsValue::Function => true,
        JsValue::Number(number) => !number.is_finite(),
        _ => false,
    }
}

/// The authority and the version of the browser that a value is checked by, at a path of the table of versions.
#[derive(Debug, Clone, Copy)]
pub struct Check<'p> {
    /// The authority that counts.
    pub compat: Compat,
    /// The version of the browser: what came later is unexpected.
    pub version: BrowserVersion,
    /// The operation, parameter or property that is checked; the newest version, which has everything, needs none.
    pub path: &'p str,
}

impl Check<'_> {
    fn has(&self, member: &str) -> bool {
        self.version.has_member(self.path, member)
    }

    /// The path of a member.
    pub(super) fn path_of(&self, member: &str) -> String {
        if self.version >= BrowserVersion::LATEST {
            return String::new();
        }
        format!("{}.{member}", self.path)
    }
}

/// The first fault of an object: its keys in the caller's order, null among them where it must have a value, then what is missing.
fn object_fault(properties: &[Property], value: &JsValue, check: &Check<'_>) -> Option<String> {
    let JsValue::Object(members) = value else {
        return None;
    };
    for (key, member) in members {
        let is_it = |property: &&Property| property.name == key && check.has(property.name);
        let Some(property) = properties.iter().find(is_it) else {
            return Some(format!("Unexpected property: '{key}'."));
        };
        if member.is_absent() {
            if property.is_required {
                return Some(missing(property));
            }
            continue;
        }
        let path = check.path_of(property.name);
        if let Some(fault) = property.schema.fault(member, &Check { path: &path, ..*check }) {
            return Some(format!("Error at property '{key}': {fault}"));
        }
    }
    let is_missing =
        |property: &&Property| property.is_required && value.property(property.name).is_none();
    properties.iter().find(is_missing).map(missing)
}

fn missing(property: &Property) -> String {
    format!("Missing required property '{}'.", property.name)
}

/// A schema as `/v1/schema` shows it, of the parameter at the path of a check, with the bounds that the check has.
pub(super) fn describe(schema: &Schema, check: &Check<'_>) -> Value {
    let Check { compat, version, path } = *check;
    match schema {
        Schema::Integer { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        Schema::ClampedAtLeast(least) if compat == Compat::Browser => {
            json!({ "type": "integer", "minimum": least, "maximum": null })
        }
        Schema::ClampedAtLeast(least) => json!({ "type": "integer", "clampedAtLeast": least }),
        Schema::Word(words) => json!({ "type": "string", "enum": words }),
        Schema::Object(properties) => {
            let here = properties.iter().filter(|property| version.has_member(path, property.name));
            let each = here.map(|property| {
                let path = format!("{path}.{}", property.name);
                let mut shown = json!({ "required": property.is_required, "schema": describe(&property.schema, &Check { path: &path, ..*check }) });
                if let (Some(since), Some(members)) =
                    (BrowserVersion::since(&path), shown.as_object_mut())
                {
                    members.insert("since".into(), since.into());
                }
                (property.name.to_owned(), shown)
            });
            json!({ "type": "object", "properties": each.collect::<serde_json::Map<_, _>>() })
        }
        Schema::Array { of, min_items } => {
            json!({ "type": "array", "items": describe(of, check), "minItems": min_items })
        }
        Schema::Choice(choices) => {
            let each = choices.iter().map(|choice| describe(choice, check));
            json!({ "oneOf": each.collect::<Vec<_>>() })
        }
        Schema::Named(name, schema) => {
            let mut inner = describe(schema, check);
            if let Some(members) = inner.as_object_mut() {
                members.insert("name".into(), (*name).into());
            }
            inner
        }
        Schema::Number { min: Some(min) } => json!({ "type": "number", "minimum": min }),
        Schema::Number { min: None }
        | Schema::Boolean
        | Schema::String
        | Schema::Any
        | Schema::Message
        | Schema::Function => {
            json!({ "type": schema.name() })
        }
    }
}

/// Schemas that several operations share.
pub(in crate::operation) mod shared {
    use super::{Property, Schema};

    pub(in crate::operation) const ID: Schema = Schema::at_least(0);
    pub(in crate::operation) const WINDOW: Schema = Schema::at_least(-2);
    /// The place that something moves to.
    pub(in crate::operation) const PLACE: Schema = Schema::Object(&[
        Property::optional("windowId", WINDOW),
        Property::required("index", Schema::at_least(-1)),
    ]);
    pub(in crate::operation) const IDS: Schema =
        Schema::Choice(&[ID, Schema::Array { of: &ID, min_items: 0 }]);
    pub(in crate::operation) const SOME_IDS: Schema =
        Schema::Choice(&[ID, Schema::Array { of: &ID, min_items: 1 }]);
    pub(in crate::operation) const STATUS: Schema =
        Schema::Named("tabs.TabStatus", &Schema::Word(&["complete", "loading", "unloaded"]));
    const WINDOW_TYPES: Schema =
        Schema::Word(&["app", "custom-tab", "devtools", "normal", "panel", "popup"]);
    pub(in crate::operation) const WINDOW_TYPE: Schema =
        Schema::Named("tabs.WindowType", &WINDOW_TYPES);
    /// The same words, which the operations of windows have under a name of their own.
    const TYPE_OF_WINDOW: Schema = Schema::Named("windows.WindowType", &WINDOW_TYPES);
    pub(in crate::operation) const COLOR: Schema = Schema::Named(
        "tabGroups.Color",
        &Schema::Word(&[
            "blue", "cyan", "green", "grey", "orange", "pink", "purple", "red", "yellow",
        ]),
    );
    pub(in crate::operation) const WINDOW_STATE: Schema = Schema::Named(
        "windows.WindowState",
        &Schema::Word(&["fullscreen", "locked-fullscreen", "maximized", "minimized", "normal"]),
    );
    pub(in crate::operation) const ZOOM_SETTINGS: Schema = Schema::Named(
        "tabs.ZoomSettings",
        &Schema::Object(&[
            Property::optional(
                "mode",
                Schema::Named(
                    "tabs.ZoomSettingsMode",
                    &Schema::Word(&["automatic", "disabled", "manual"]),
                ),
            ),
            Property::optional(
                "scope",
                Schema::Named("tabs.ZoomSettingsScope", &Schema::Word(&["per-origin", "per-tab"])),
            ),
            Property::optional("defaultZoomFactor", Schema::NUMBER),
        ]),
    );
    pub(in crate::operation) const IMAGE: Schema = Schema::Named(
        "extensionTypes.ImageDetails",
        &Schema::Object(&[
            Property::optional(
                "format",
                Schema::Named("extensionTypes.ImageFormat", &Schema::Word(&["jpeg", "png"])),
            ),
            Property::optional("quality", Schema::Integer { min: Some(0), max: Some(100) }),
            Property::optional("rect", RECT),
            Property::optional("scale", Schema::Number { min: Some(0) }),
        ]),
    );
    const RECT: Schema = Schema::Named(
        "extensionTypes.Rect",
        &Schema::Object(&[
            Property::required("height", Schema::at_least(0)),
            Property::required("width", Schema::at_least(0)),
            Property::required("x", Schema::at_least(0)),
            Property::required("y", Schema::at_least(0)),
        ]),
    );
    pub(in crate::operation) const GET_OPTIONS: Schema = Schema::Named(
        "windows.QueryOptions",
        &Schema::Object(&[
            Property::optional("populate", Schema::Boolean),
            Property::optional("windowTypes", Schema::Array { of: &TYPE_OF_WINDOW, min_items: 0 }),
        ]),
    );
    pub(in crate::operation) const RECEIVER: &[Property] = &[
        Property::optional("frameId", Schema::at_least(0)),
        Property::optional("documentId", Schema::String),
    ];
}
