//! The conditions of a statement.

use serde_json::Value;

use crate::auth::policy::comparison::Comparison;
use crate::auth::policy::condition_key::ConditionKey;
use crate::auth::policy::{PolicyRequest, malformed, strings, variable};
use crate::error::Error;
use crate::request::dialect::neutral_encryption;

/// One condition: how to compare, which value of the request, with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Test {
    comparison: Comparison,
    quantifier: Quantifier,
    if_exists: bool,
    pub(super) subject: ConditionKey,
    values: Vec<String>,
}

/// The values of a request that must compare as the condition says, where there are several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantifier {
    /// The one that there is.
    One,
    /// Each, so that a request without any passes.
    All,
    /// At least one.
    Any,
}

impl Test {
    /// Tells whether it holds of a request.
    pub(super) fn holds(&self, request: &PolicyRequest<'_>) -> bool {
        let found = self.subject.values(request);
        if self.comparison.is_of_presence() {
            let wants_absent = self.values.iter().any(|value| value.eq_ignore_ascii_case("true"));
            return found.is_empty() == wants_absent;
        }
        let fits = |found: &String| {
            let mut values = self.values.iter();
            values.any(|value| self.fits(value, found, request)) != self.comparison.is_negated
        };
        match (self.quantifier, found.is_empty()) {
            (Quantifier::All, _) => found.iter().all(fits),
            (Quantifier::Any, true) => self.if_exists,
            // A value that is not there differs from any.
            (Quantifier::One, true) => self.if_exists || self.comparison.is_negated,
            (Quantifier::One | Quantifier::Any, false) => found.iter().any(fits),
        }
    }

    /// Tells whether the value `found` of a request fits one of the policy. A variable without a value fits nothing.
    fn fits(&self, value: &str, found: &str, request: &PolicyRequest<'_>) -> bool {
        if !variable::has_any(value) {
            return self.comparison.fits(value, found);
        }
        match self.comparison.is_of_patterns() {
            true => variable::fits_pattern(value, found, request),
            false => variable::resolve(value, request)
                .is_some_and(|value| self.comparison.fits(&value, found)),
        }
    }

    /// Tells whether each variable of its values is one.
    pub(super) fn has_known_variables(&self) -> bool {
        self.values.iter().all(|value| variable::are_known(value))
    }

    /// Takes what looks like variables for text.
    pub(super) fn take_variables_for_text(&mut self) {
        self.values.iter_mut().for_each(|value| *value = variable::as_text(value));
    }

    /// Tells whether it keeps the world out: it names fixed values of what tells callers apart.
    pub(super) fn narrows(&self) -> bool {
        let is_fixed =
            |value: &String| self.comparison.is_fixed(value) && !variable::has_any(value);
        self.subject.narrows()
            && !self.if_exists
            && self.quantifier != Quantifier::All
            // A comparison with no values that is negated holds of everybody.
            && !self.values.is_empty()
            && self.values.iter().all(is_fixed)
    }
}

/// An ARN without what names the provider in either vocabulary.
fn bare_arn(arn: &str) -> &str {
    let own = arn.strip_prefix("arn:").and_then(|rest| rest.splitn(3, ':').nth(2));
    own.unwrap_or(arn)
}

/// Checks the conditions of a statement that is put: each operator has an object, for one that is passed over would let more through
/// than was meant, `Null`, which is told of the lack already, stands without `IfExists`, and `Bool` compares with true or false.
///
/// # Errors
/// [`Error::MalformedPolicy`].
pub(super) fn check(json: Option<&Value>) -> Result<(), Error> {
    for (operator, block) in json.and_then(Value::as_object).into_iter().flatten() {
        let Operator { comparison, if_exists, .. } = Operator::parse(operator)?;
        if comparison.is_of_presence() && if_exists {
            return Err(unknown(operator));
        }
        let Value::Object(block) = block else {
            return Err(malformed("Conditions must be an object"));
        };
        let mut values = block.values().filter_map(strings).flatten();
        if !values.all(|value| comparison.takes_new(&value)) {
            return Err(malformed("Policy has an invalid condition value"));
        }
    }
    Ok(())
}

/// An operator with what stands before and behind it.
struct Operator {
    comparison: Comparison,
    quantifier: Quantifier,
    if_exists: bool,
}

impl Operator {
    fn parse(operator: &str) -> Result<Self, Error> {
        let (quantifier, name) = match operator.split_once(':') {
            Some(("ForAllValues", name)) => (Quantifier::All, name),
            Some(("ForAnyValue", name)) => (Quantifier::Any, name),
            _ => (Quantifier::One, operator),
        };
        let (name, if_exists) = match name.strip_suffix("IfExists") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let comparison = Comparison::named(name).ok_or_else(|| unknown(operator))?;
        Ok(Self { comparison, quantifier, if_exists })
    }
}

fn unknown(operator: &str) -> Error {
    malformed(format!("Invalid Condition type : {operator}"))
}

/// Reads the conditions of a statement.
///
/// # Errors
/// [`Error::MalformedPolicy`].
pub(super) fn tests(json: Option<&Value>) -> Result<Vec<Test>, Error> {
    let mut tests = Vec::new();
    let blocks = match json {
        None => return Ok(tests),
        Some(Value::Object(blocks)) => blocks,
        Some(_) => return Err(malformed("Conditions must be an object")),
    };
    for (operator, block) in blocks {
        let Operator { comparison, quantifier, if_exists } = Operator::parse(operator)?;
        for (key, values) in block.as_object().into_iter().flatten() {
            let subject = ConditionKey::parse(key)
                .ok_or_else(|| malformed(format!("Policy has an invalid condition key - {key}")))?;
            let mut values = strings(values)
                .filter(|values| values.iter().all(|value| comparison.takes(value)))
                .ok_or_else(|| malformed("Policy has an invalid condition value"))?;
            if subject.is_arn() {
                values.iter_mut().for_each(|value| *value = bare_arn(value).to_owned());
            }
            if subject.is_of_encryption() {
                values.iter_mut().for_each(|value| *value = neutral_encryption(value));
            }
            tests.push(Test { comparison, quantifier, if_exists, subject, values });
        }
    }
    Ok(tests)
}
