//! Arguments against their signature: which parameter each one is, and the browser's sentence for the first that does not fit.

use crate::error::Error;
use crate::js_value::Js;
use crate::operation::Operation;

/// What a parameter or property takes.
#[derive(Debug)]
pub enum Schema {
    /// A whole number within bounds.
    Integer {
        /// The least.
        min: Option<i64>,
        /// The greatest.
        max: Option<i64>,
    },
    /// Any finite number.
    Number,
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
        /// Of what.
        of: &'static Self,
        /// How many at least.
        min_items: usize,
    },
    /// One of several.
    Choice(&'static [Self]),
    /// Another schema under the name that errors show.
    Named(&'static str, &'static Self),
    /// Whatever JSON can carry.
    Any,
    /// A function.
    Function,
}

/// A property of an object.
#[derive(Debug)]
pub struct Property {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub schema: Schema,
    /// Whether it must be there.
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

    /// A whole number of at least `min`.
    #[must_use]
    pub const fn at_least(min: i64) -> Self {
        Self::Integer { min: Some(min), max: None }
    }

    /// The name that a signature shows.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Integer { .. } => "integer".into(),
            Self::Number => "number".into(),
            Self::Boolean => "boolean".into(),
            Self::String | Self::Word(_) => "string".into(),
            Self::Object(_) => "object".into(),
            Self::Array { .. } => "array".into(),
            Self::Choice(choices) => {
                let names: Vec<_> = choices.iter().map(Self::name).collect();
                format!("[{}]", names.join("|"))
            }
            Self::Named(name, _) => (*name).into(),
            Self::Any => "any".into(),
            Self::Function => "function".into(),
        }
    }

    /// Whether a value has the right JavaScript type, before its content is looked at.
    fn fits(&self, value: &Js) -> bool {
        match self {
            Self::Integer { .. } => value.integer().is_some(),
            Self::Number => matches!(value, Js::Number(_)),
            Self::Boolean => matches!(value, Js::Bool(_)),
            Self::String | Self::Word(_) => matches!(value, Js::String(_)),
            Self::Object(_) => matches!(value, Js::Object(_)),
            Self::Array { .. } => matches!(value, Js::Array(_)),
            Self::Choice(choices) => choices.iter().any(|choice| choice.fits(value)),
            Self::Named(_, schema) => schema.fits(value),
            Self::Any => true,
            Self::Function => matches!(value, Js::Function),
        }
    }

    /// The first fault of a value; `None` if it is right.
    fn fault(&self, value: &Js) -> Option<String> {
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
                    return Some(format!("Value must be at least {min}."));
                }
                max.filter(|max| number > *max).map(|max| format!("Value must be at most {max}."))
            }
            Self::Number => match value {
                Js::Number(number) if !number.is_finite() => {
                    Some("Value must not be NaN or Infinity.".into())
                }
                _ => None,
            },
            Self::Word(words) => match value {
                Js::String(text) if !words.contains(&text.as_str()) => {
                    Some(format!("Value must be one of {}.", words.join(", ")))
                }
                _ => None,
            },
            Self::Object(properties) => object_fault(properties, value),
            Self::Array { of, min_items } => {
                let Js::Array(items) = value else { return None };
                if items.len() < *min_items {
                    return Some(format!(
                        "Array must have at least {min_items} items; found {}.",
                        items.len()
                    ));
                }
                let faults = items.iter().enumerate();
                faults
                    .filter_map(|(at, item)| {
                        Some(format!("Error at index {at}: {}", of.fault(item)?))
                    })
                    .next()
            }
            Self::Choice(choices) => {
                let matches = choices
                    .iter()
                    .any(|choice| choice.fits(value) && choice.fault(value).is_none());
                (!matches).then(|| "Value did not match any choice.".into())
            }
            Self::Named(_, schema) => schema.fault(value),
            Self::Boolean | Self::String | Self::Any | Self::Function => None,
        }
    }
}

/// The first fault of an object: its keys in the caller's order, then what is missing.
fn object_fault(properties: &[Property], value: &Js) -> Option<String> {
    let Js::Object(members) = value else {
        return None;
    };
    for (key, member) in members {
        let Some(property) = properties.iter().find(|property| property.name == key) else {
            return Some(format!("Unexpected property: '{key}'."));
        };
        if member.is_absent() {
            continue;
        }
        if let Some(fault) = property.schema.fault(member) {
            return Some(format!("Error at property '{key}': {fault}"));
        }
    }
    let missing = properties
        .iter()
        .find(|property| property.is_required && value.property(property.name).is_none());
    missing.map(|property| format!("Missing required property '{}'.", property.name))
}

/// The arguments of a call, one for each parameter of its operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments(Vec<Option<Js>>);

impl Arguments {
    /// Finds which parameter each argument is, then checks each of them.
    ///
    /// # Errors
    /// [`Error::Arguments`] with the browser's sentence; [`Error::Unserializable`] for a message that cannot travel.
    pub fn check(operation: &Operation, given: &[Js]) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Arguments {
            operation: operation.name,
            signature: operation.signature(),
            reason,
        };
        let mut matched = vec![None; operation.parameters.len()];
        if !assign(operation, given, 0, &mut matched) {
            return Err(refuse("No matching signature.".into()));
        }
        for (parameter, value) in operation.parameters.iter().zip(&matched) {
            let Some(value) = value else { continue };
            if matches!(parameter.schema, Schema::Any) && matches!(value, Js::Function) {
                return Err(Error::Unserializable);
            }
            if let Some(fault) = parameter.schema.fault(value) {
                return Err(refuse(format!("Error at parameter '{}': {fault}", parameter.name)));
            }
        }
        Ok(Self(matched))
    }

    /// The argument of the parameter at this place.
    #[must_use]
    pub fn at(&self, place: usize) -> Option<&Js> {
        self.0.get(place).and_then(Option::as_ref)
    }

    /// The whole number at this place.
    #[must_use]
    pub fn integer(&self, place: usize) -> Option<i64> {
        self.at(place)?.integer()
    }
}

/// Gives the arguments to the parameters from `from` on; where one does not fit an optional parameter, that one is left out.
fn assign(operation: &Operation, given: &[Js], from: usize, matched: &mut [Option<Js>]) -> bool {
    let Some(parameter) = operation.parameters.get(from) else {
        // The trailing callback may be there, null or left out.
        let takes_callback = operation.takes_callback;
        return match given {
            [] => true,
            [last] => takes_callback && (last.is_absent() || matches!(last, Js::Function)),
            _ => false,
        };
    };
    if let Some((first, rest)) = given.split_first() {
        let is_absent = first.is_absent() && parameter.is_optional;
        if is_absent
            || parameter.schema.fits(first)
                && (!first.is_absent() || matches!(parameter.schema, Schema::Any))
        {
            if let Some(slot) = matched.get_mut(from) {
                *slot = (!is_absent).then(|| first.clone());
            }
            if assign(operation, rest, from + 1, matched) {
                return true;
            }
        }
    }
    if parameter.is_optional {
        if let Some(slot) = matched.get_mut(from) {
            *slot = None;
        }
        return assign(operation, given, from + 1, matched);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, arguments: &str) -> Result<Arguments, String> {
        let operation = Operation::find(name).unwrap();
        let given: Vec<Js> = serde_json::from_str(arguments).unwrap();
        let given: Vec<Js> = given.into_iter().map(Js::with_special_values).collect();
        Arguments::check(operation, &given).map_err(|error| match error {
            Error::Arguments { reason, .. } => reason,
            other => other.to_string(),
        })
    }

    #[test]
    fn one_number_for_set_zoom_is_the_factor() {
        assert_eq!(check("tabs.setZoom", "[2]").unwrap().0, [None, Some(Js::Number(2.0))]);
    }

    #[test]
    fn faults_have_the_browsers_sentences() {
        for (name, arguments, reason) in [
            ("tabs.get", "[]", "No matching signature."),
            ("tabs.get", "[\"1\"]", "No matching signature."),
            ("tabs.get", "[1.5]", "No matching signature."),
            ("tabs.get", "[2147483648]", "No matching signature."),
            ("tabs.get", "[1, null, null]", "No matching signature."),
            ("tabs.get", "[-1]", "Error at parameter 'tabId': Value must be at least 0."),
            ("tabs.remove", "[-1]", "Error at parameter 'tabIds': Value did not match any choice."),
            (
                "tabs.create",
                "[{\"foo\": 1}]",
                "Error at parameter 'createProperties': Unexpected property: 'foo'.",
            ),
            (
                "tabs.move",
                "[1, {}]",
                "Error at parameter 'moveProperties': Missing required property 'index'.",
            ),
            (
                "tabs.create",
                "[{\"index\": \"a\"}]",
                "Error at parameter 'createProperties': Error at property 'index': Invalid type: expected integer, found string.",
            ),
            (
                "tabs.query",
                "[{\"status\": \"done\"}]",
                "Error at parameter 'queryInfo': Error at property 'status': Value must be one of complete, loading, unloaded.",
            ),
            (
                "tabs.query",
                "[{\"status\": 1}]",
                "Error at parameter 'queryInfo': Error at property 'status': Invalid type: expected tabs.TabStatus, found integer.",
            ),
            (
                "tabs.query",
                "[{\"url\": 1}]",
                "Error at parameter 'queryInfo': Error at property 'url': Invalid type: expected [string|array], found integer.",
            ),
            (
                "tabs.setZoom",
                "[{\"$js\": \"NaN\"}]",
                "Error at parameter 'zoomFactor': Value must not be NaN or Infinity.",
            ),
            (
                "tabs.group",
                "[{\"tabIds\": []}]",
                "Error at parameter 'options': Error at property 'tabIds': Value did not match any choice.",
            ),
            ("tabs.sendMessage", "[1, {\"$js\": \"function\"}]", "Could not serialize message."),
        ] {
            assert_eq!(check(name, arguments), Err(reason.to_owned()), "{name} {arguments}");
        }
    }
}
