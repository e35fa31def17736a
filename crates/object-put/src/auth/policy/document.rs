//! The document of a policy: read, and checked when it is put.

use serde_json::Value;

use crate::auth::account::{AccountDirectory, matches};
use crate::auth::action::ActionTargets;
use crate::auth::policy::condition::Test;
use crate::auth::policy::{
    Choice, Effect, Policy, Principal, Principals, Statement, account_of, condition, malformed,
    neutral_action, repeated_field, strings, variable,
};
use crate::error::Error;
use crate::request::dialect::{
    ACCOUNT_PRINCIPALS, without_arn_prefix, without_directory_arn_prefix,
};
use crate::store::access_point::is_directory_point_name;
use crate::store::bucket::is_directory_name;

/// The version of documents that have variables.
const WITH_VARIABLES: &str = "2012-10-17";
/// The most bytes of a policy document.
const DOCUMENT_BYTES_MAX: usize = 20 * 1024;
/// The fault of what begins as a document and is none.
const NO_JSON: &str = "This policy contains invalid Json";

impl Policy {
    /// The policy of a JSON document for `bucket`.
    ///
    /// # Errors
    /// [`Error::MalformedPolicy`], which says what is wrong.
    pub fn parse(document: &[u8], bucket: &str) -> Result<Self, Error> {
        if document.len() > DOCUMENT_BYTES_MAX {
            return Err(malformed("Policies must be at most 20 KiB"));
        }
        let text = std::str::from_utf8(document).map_err(|_| malformed(NO_JSON))?;
        let policy = Self::read(text)?;
        check_document(text)?;
        if repeated_field::has_any(text) {
            return Err(malformed("Policy has a field twice"));
        }
        policy.statements.iter().try_for_each(Statement::check_variables)?;
        policy.statements.iter().try_for_each(|statement| statement.check(bucket))?;
        Ok(policy)
    }

    /// The policy of a JSON document for the access point that policies call `name`.
    ///
    /// # Errors
    /// [`Error::MalformedPolicy`], which says what is wrong.
    pub fn of_access_point(document: &str, name: &str) -> Result<Self, Error> {
        if document.len() > DOCUMENT_BYTES_MAX {
            return Err(malformed("Policies must be at most 20 KiB"));
        }
        let policy = Self::read(document)?;
        policy.statements.iter().try_for_each(Statement::check_variables)?;
        let is_here = |resource: &String| {
            let rest = resource.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '*']))
        };
        let mut resources = policy.statements.iter().flat_map(|own| &own.resource.values);
        if !resources.all(is_here) {
            return Err(malformed("Policy has invalid resource"));
        }
        let mut actions = policy.statements.iter().flat_map(|own| &own.action.values);
        let is_known = |action: &str| match is_directory_point_name(name) {
            true => ActionTargets::of_directory(action).is_some(),
            false => ActionTargets::of(action).is_some(),
        };
        if !actions.all(|action| is_known(action)) {
            return Err(malformed("Policy has invalid action"));
        }
        Ok(policy)
    }

    /// Checks that everybody whom it names is there.
    ///
    /// # Errors
    /// [`Error::MalformedPolicy`].
    pub fn check_principals(&self, accounts: &AccountDirectory) -> Result<(), Error> {
        let mut named = self.statements.iter().flat_map(|own| &own.principal.named);
        let is_known = |principal: &Principal| match principal {
            Principal::Anyone | Principal::Service => true,
            Principal::Account(name) => account_of(name).is_some_and(|own| accounts.knows(own)),
        };
        match named.all(is_known) {
            true => Ok(()),
            false => Err(malformed("Invalid principal in policy")),
        }
    }

    pub(super) fn read(text: &str) -> Result<Self, Error> {
        if !text.trim_start().starts_with('{') {
            return Err(malformed("Policies must be valid JSON and the first byte must be '{'"));
        }
        let json: Value = serde_json::from_str(text).map_err(|_| malformed(NO_JSON))?;
        let statements = match json.get("Statement") {
            Some(Value::Array(list)) if list.is_empty() => {
                Err(malformed("Could not parse the policy: Statement is empty!"))
            }
            Some(Value::Array(list)) => list.iter().map(statement).collect(),
            Some(one @ Value::Object(_)) => statement(one).map(|one| vec![one]),
            _ => Err(malformed("Missing required field Statement")),
        };
        let mut statements: Vec<Statement> = statements?;
        if json.get("Version").and_then(Value::as_str) != Some(WITH_VARIABLES) {
            statements.iter_mut().for_each(Statement::take_variables_for_text);
        }
        Ok(Self { document: text.to_owned(), statements })
    }
}

impl Statement {
    /// Checks that each variable is one that requests can have a value of: else it would fit nothing, or be no denial.
    fn check_variables(&self) -> Result<(), Error> {
        if !self.resource.values.iter().all(|value| variable::are_known(value)) {
            return Err(malformed("Policy has invalid resource"));
        }
        match self.tests.iter().all(Test::has_known_variables) {
            true => Ok(()),
            false => Err(malformed("Policy has an invalid condition value")),
        }
    }

    /// Takes what looks like variables for text.
    fn take_variables_for_text(&mut self) {
        self.resource.values.iter_mut().for_each(|value| *value = variable::as_text(value));
        self.tests.iter_mut().for_each(Test::take_variables_for_text);
    }

    /// Checks that each of its names is one that can count: actions that are known and can be done to a resource of it, and resources
    /// in `bucket`; and that all but some are named by a denial alone, for an allowance would be everybody's whom nobody thought of.
    fn check(&self, bucket: &str) -> Result<(), Error> {
        if self.principal.is_not && self.effect == Effect::Allow {
            return Err(malformed("Allow with NotPrincipal is not allowed"));
        }
        let is_here = |resource: &String| {
            let name = resource.split('/').next().unwrap_or_default();
            matches(name, bucket)
        };
        if !self.resource.values.iter().all(is_here) {
            return Err(malformed("Policy has invalid resource"));
        }
        for action in &self.action.values {
            let targets = match is_directory_name(bucket) {
                true => ActionTargets::of_directory(action),
                false => ActionTargets::of(action),
            };
            let targets = targets.ok_or_else(|| malformed("Policy has invalid action"))?;
            let fits = self.resource.values.iter().any(|resource| targets.fit(resource));
            // What is not named may be of either kind.
            if !fits && !self.action.is_not && !self.resource.is_not {
                return Err(malformed("Action does not apply to any resource(s) in statement"));
            }
        }
        Ok(())
    }
}

/// Checks what a document says beside its statements, the form of its conditions, and that its resources are named in full.
fn check_document(text: &str) -> Result<(), Error> {
    let json: Value = serde_json::from_str(text).map_err(|_| Error::Internal)?;
    for (name, value) in json.as_object().into_iter().flatten() {
        match name.as_str() {
            "Id" | "Statement" => {}
            "Version" if matches!(value.as_str(), Some("2012-10-17" | "2008-10-17")) => {}
            "Version" => return Err(malformed("The policy must contain a valid version string")),
            _ => return Err(malformed(format!("Unknown field {name}"))),
        }
    }
    let statements = match json.get("Statement") {
        Some(Value::Array(list)) => list.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    for statement in statements {
        let named = ["Resource", "NotResource"].iter().filter_map(|name| statement.get(name));
        let mut named = named.filter_map(strings).flatten();
        if !named.all(|resource| without_arn_prefix(&resource).is_some()) {
            return Err(malformed("Policy has invalid resource"));
        }
        condition::check(statement.get("Condition"))?;
    }
    Ok(())
}

fn statement(json: &Value) -> Result<Statement, Error> {
    let effect = match json.get("Effect").and_then(Value::as_str) {
        Some("Allow") => Effect::Allow,
        Some("Deny") => Effect::Deny,
        Some(other) => return Err(malformed(format!("Invalid effect: {other}"))),
        None => return Err(malformed("Missing required field Effect")),
    };
    let known = [
        "Sid",
        "Effect",
        "Principal",
        "NotPrincipal",
        "Action",
        "NotAction",
        "Resource",
        "NotResource",
        "Condition",
    ];
    let fields = json.as_object().into_iter().flatten();
    for (name, _) in fields {
        if !known.contains(&name.as_str()) {
            return Err(malformed(format!("Unknown field {name}")));
        }
    }
    let mut action = choice(json, "Action")?;
    for value in &mut action.values {
        if !value.contains(':') && value != "*" {
            return Err(malformed("Policy has invalid action"));
        }
        *value = neutral_action(value).into_owned();
    }
    let mut resource = choice(json, "Resource")?;
    for value in &mut resource.values {
        let name = match value.as_str() {
            "*" => Some("*"),
            arn => without_directory_arn_prefix(arn).or_else(|| arn.splitn(6, ':').nth(5)),
        };
        *value = name.ok_or_else(|| malformed("Policy has invalid resource"))?.to_owned();
    }
    let principal = principals(json)?;
    // What only services of the provider meet is met by nobody here, whatever it looks at.
    let tests = match principal.named.iter().all(|own| *own == Principal::Service) {
        true if !principal.is_not => Vec::new(),
        _ => condition::tests(json.get("Condition"))?,
    };
    Ok(Statement { effect, principal, action, resource, tests })
}

fn choice(json: &Value, name: &str) -> Result<Choice, Error> {
    let (value, is_not) = match (json.get(name), json.get(format!("Not{name}"))) {
        (Some(value), None) => (value, false),
        (None, Some(value)) => (value, true),
        _ => return Err(malformed(format!("Missing required field {name}"))),
    };
    let values = strings(value)
        .filter(|values| !values.is_empty())
        .ok_or_else(|| malformed(format!("Policy has invalid {}", name.to_lowercase())))?;
    Ok(Choice { values, is_not })
}

fn principals(json: &Value) -> Result<Principals, Error> {
    let invalid = || malformed("Invalid principal in policy");
    let (value, is_not) = match (json.get("Principal"), json.get("NotPrincipal")) {
        (Some(value), None) => (value, false),
        (None, Some(value)) => (value, true),
        _ => return Err(malformed("Missing required field Principal")),
    };
    let mut named = Vec::new();
    match value {
        Value::String(text) if text == "*" => named.push(Principal::Anyone),
        Value::Object(kinds) => {
            for (kind, names) in kinds {
                let names = strings(names).filter(|names| !names.is_empty()).ok_or_else(invalid)?;
                for name in names {
                    named.push(principal(kind, name).ok_or_else(invalid)?);
                }
            }
        }
        _ => return Err(invalid()),
    }
    if named.is_empty() {
        return Err(invalid());
    }
    Ok(Principals { named, is_not })
}

/// The principal of this kind and name.
fn principal(kind: &str, name: String) -> Option<Principal> {
    let is_host = |name: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        name.contains('.')
            && name.split('.').all(|label| !label.is_empty() && label.bytes().all(fits))
    };
    match kind {
        kind if ACCOUNT_PRINCIPALS.contains(&kind) && name == "*" => Some(Principal::Anyone),
        kind if ACCOUNT_PRINCIPALS.contains(&kind) => Some(Principal::Account(name)),
        "CanonicalUser" => Some(Principal::Account(name)),
        "Service" => is_host(&name).then_some(Principal::Service),
        _ => None,
    }
}
