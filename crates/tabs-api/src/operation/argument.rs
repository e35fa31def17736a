//! Arguments against their signature: which parameter each one is, and the browser's sentence for the first that does not fit.

use crate::js_value::JsValue;
use crate::operation::schema::{Check, Parameter, Schema};

/// The arguments of a call, one for each parameter of its operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    values: Vec<Option<JsValue>>,
    /// True if a callback was given behind them.
    pub has_callback: bool,
}

impl Arguments {
    /// Finds which parameter each argument is, then checks each of them.
    ///
    /// # Errors
    /// The browser's sentence for the first that does not fit.
    pub fn check(
        parameters: &[Parameter],
        takes_callback: bool,
        given: &[JsValue],
        check: &Check<'_>,
    ) -> Result<Self, String> {
        let mut matched = vec![None; parameters.len()];
        if !assign(parameters, takes_callback, given, &mut matched) {
            return Err("No matching signature.".into());
        }
        for (parameter, value) in parameters.iter().zip(&matched) {
            let Some(value) = value else { continue };
            if matches!(parameter.schema, Schema::Message) && value.is_unserializable() {
                return Err("Could not serialize message.".into());
            }
            let path = check.path_of(parameter.name);
            if let Some(fault) = parameter.schema.fault(value, &Check { path: &path, ..*check }) {
                return Err(format!("Error at parameter '{}': {fault}", parameter.name));
            }
        }
        let is_taken = |value: &Option<JsValue>| matches!(value, Some(JsValue::Function));
        let has_callback =
            matches!(given.last(), Some(JsValue::Function)) && !matched.iter().any(is_taken);
        Ok(Self { values: matched, has_callback })
    }

    /// The argument of the parameter at this index.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<&JsValue> {
        self.values.get(index).and_then(Option::as_ref)
    }

    /// The whole number at this index.
    #[must_use]
    pub fn integer(&self, index: usize) -> Option<i64> {
        self.at(index)?.integer()
    }
}

/// Gives the arguments to the parameters; where one does not fit an optional parameter, that one is left out.
fn assign(
    parameters: &[Parameter],
    takes_callback: bool,
    given: &[JsValue],
    matched: &mut [Option<JsValue>],
) -> bool {
    let (Some((parameter, others)), Some((slot, slots))) =
        (parameters.split_first(), matched.split_first_mut())
    else {
        // The trailing callback may be there, null or left out.
        return match given {
            [] => true,
            [last] => takes_callback && (last.is_absent() || matches!(last, JsValue::Function)),
            _ => false,
        };
    };
    if let Some((first, rest)) = given.split_first() {
        let is_absent = first.is_absent() && parameter.is_optional;
        let fits = parameter.schema.fits(first)
            && (!first.is_absent() || matches!(parameter.schema, Schema::Message));
        if is_absent || fits {
            *slot = (!is_absent).then(|| first.clone());
            if assign(others, takes_callback, rest, slots) {
                return true;
            }
        }
    }
    *slot = None;
    parameter.is_optional && assign(others, takes_callback, given, slots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::Compat;
    use crate::operation::Operation;
    use crate::version::BrowserVersion;

    fn check(name: &str, arguments: &str) -> Result<Arguments, String> {
        let operation = Operation::find(name).unwrap();
        let given: Vec<JsValue> = serde_json::from_str(arguments).unwrap();
        let given: Vec<JsValue> = given.into_iter().map(JsValue::with_special_values).collect();
        let (parameters, takes_callback) = (operation.parameters, operation.takes_callback);
        let (compat, version) = (Compat::Browser, BrowserVersion::LATEST);
        let check = Check { compat, version, path: name };
        Arguments::check(parameters, takes_callback, &given, &check)
    }

    #[test]
    fn one_number_for_set_zoom_is_the_factor() {
        assert_eq!(
            check("tabs.setZoom", "[2]").unwrap().values,
            [None, Some(JsValue::Number(2.0))]
        );
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
                "tabs.highlight",
                "[{\"tabs\": null, \"windowId\": 1.5}]",
                "Error at parameter 'highlightInfo': Missing required property 'tabs'.",
            ),
            (
                "tabs.highlight",
                "[{\"windowId\": 1.5, \"tabs\": null}]",
                "Error at parameter 'highlightInfo': Error at property 'windowId': Invalid type: expected integer, found number.",
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
