//! Bucket policies and the public access block: what a bucket lets others do, beside its ACLs.
//!
//! A name that this service does not know is refused when the policy is put: a rule that is kept counts.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use triptych_core::kv::Tx;

use crate::auth::account::{AccountDirectory, Caller, matches, matches_action};
use crate::auth::acl::Acl;
use crate::auth::action::ActionTargets;
use crate::error::Error;
use crate::request::dialect::{
    ACCOUNT_PRINCIPALS, global_condition_key, without_action_prefix, without_arn_prefix,
    without_header_prefix,
};
use crate::request::fields::Fields;
use crate::request::query::Query;
use crate::request::xml::Element;
use crate::store::tables::BUCKET_CONFIGS;
use crate::store::tagging::Tags;

/// The name under which the policy of a bucket is kept.
pub const CONFIG_NAME: &str = "policy";
/// The most bytes of a policy document.
const DOCUMENT_BYTES_MAX: usize = 20 * 1024;

/// The effect of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It may be done.
    Allow,
    /// It may not, whatever else says so.
    Deny,
}

/// Values, or all but these.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    values: Vec<String>,
    is_not: bool,
}

impl Choice {
    fn takes(&self, fits: impl Fn(&str) -> bool) -> bool {
        self.values.iter().any(|value| fits(value)) != self.is_not
    }
}

/// One condition: how to compare, which value of the request, with what.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Test {
    comparison: Comparison,
    if_exists: bool,
    subject: ConditionKey,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equals,
    NotEquals,
    EqualsIgnoreCase,
    Like,
    NotLike,
    Null,
}

/// A value of a request that conditions can name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ConditionKey {
    SecureTransport,
    Referer,
    UserAgent,
    /// A query parameter of a listing.
    Parameter(&'static str),
    /// The id of the version that the request is about.
    Version,
    /// A header of the service, by the spec's name.
    Header(String),
    /// A tag of the object that is there, by its key.
    ExistingTag(String),
    /// A tag that the request brings in a header, by its key.
    RequestTag(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement {
    effect: Effect,
    principal: Choice,
    action: Choice,
    resource: Choice,
    tests: Vec<Test>,
}

/// A bucket policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The document as it was put.
    pub document: String,
    statements: Vec<Statement>,
}

/// A request as policies see it.
#[derive(Debug, Clone, Copy)]
pub struct PolicyRequest<'a> {
    /// The sender.
    pub caller: &'a Caller,
    /// The permission, by the spec's name: `store:GetObject`.
    pub permission: &'a str,
    /// The bucket, and the key after a slash if there is one.
    pub resource: &'a str,
    /// Headers of the request.
    pub fields: &'a Fields<'a>,
    /// Parameters of the request.
    pub query: &'a Query,
    /// The id of the version that it is about, where it names one.
    pub version: Option<&'a str>,
    /// True if it came over TLS.
    pub secure: bool,
    /// The tags of the object that is there, where [`Policy::looks_at_tags`].
    pub tags: Option<&'a Tags>,
}

fn malformed(reason: impl Into<String>) -> Error {
    Error::MalformedPolicy { reason: reason.into() }
}

impl Policy {
    /// The policy of a JSON document for `bucket`.
    ///
    /// # Errors
    /// [`Error::MalformedPolicy`], which says what is wrong.
    pub fn parse(document: &[u8], bucket: &str) -> Result<Self, Error> {
        if document.len() > DOCUMENT_BYTES_MAX {
            return Err(malformed("Policies must be at most 20 KiB"));
        }
        let text = std::str::from_utf8(document)
            .map_err(|_| malformed("Policies must be valid JSON and the first byte must be '{'"))?;
        let policy = Self::read(text)?;
        check_document(text)?;
        policy.statements.iter().try_for_each(|statement| statement.check(bucket))?;
        Ok(policy)
    }

    /// Checks that everybody whom it names is there.
    ///
    /// # Errors
    /// [`Error::MalformedPolicy`].
    pub fn check_principals(&self, accounts: &AccountDirectory) -> Result<(), Error> {
        let mut named = self.statements.iter().flat_map(|own| &own.principal.values);
        let is_known = |name: &String| name == "*" || accounts.knows(account_of(name));
        match named.all(is_known) {
            true => Ok(()),
            false => Err(malformed("Invalid principal in policy")),
        }
    }

    fn read(text: &str) -> Result<Self, Error> {
        let json: Value = serde_json::from_str(text)
            .map_err(|_| malformed("Policies must be valid JSON and the first byte must be '{'"))?;
        let statements = match json.get("Statement") {
            Some(Value::Array(list)) if !list.is_empty() => list.iter().map(statement).collect(),
            Some(one @ Value::Object(_)) => statement(one).map(|one| vec![one]),
            _ => Err(malformed("Missing required field Statement")),
        };
        Ok(Self { document: text.to_owned(), statements: statements? })
    }

    /// Evaluates the policy for a request; `None` if it says nothing. A denial counts before any allowance.
    #[must_use]
    pub fn evaluate(&self, request: &PolicyRequest<'_>) -> Option<Effect> {
        let said = |effect| {
            self.statements.iter().any(|own| own.effect == effect && own.applies_to(request))
        };
        if said(Effect::Deny) {
            return Some(Effect::Deny);
        }
        said(Effect::Allow).then_some(Effect::Allow)
    }

    /// Tells whether a condition of it looks at the tags of the object that is there.
    #[must_use]
    pub fn looks_at_tags(&self) -> bool {
        let mut tests = self.statements.iter().flat_map(|own| &own.tests);
        tests.any(|test| matches!(test.subject, ConditionKey::ExistingTag(_)))
    }

    /// Tells whether it allows anything to anyone, without a condition.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.statements.iter().any(|own| {
            let anyone = own.principal.values.iter().any(|value| value == "*");
            own.effect == Effect::Allow && own.tests.is_empty() && anyone != own.principal.is_not
        })
    }
}

impl Statement {
    /// Checks that each of its names is one that can count: actions that are known and can be done to a resource of it, and resources
    /// in `bucket`.
    fn check(&self, bucket: &str) -> Result<(), Error> {
        let is_here = |resource: &String| {
            let name = resource.split('/').next().unwrap_or_default();
            matches(name, bucket)
        };
        if !self.resource.values.iter().all(is_here) {
            return Err(malformed("Policy has invalid resource"));
        }
        for action in &self.action.values {
            let targets = ActionTargets::of(action);
            let targets = targets.ok_or_else(|| malformed("Policy has invalid action"))?;
            let fits = self.resource.values.iter().any(|resource| targets.fit(resource));
            // What is not named may be of either kind.
            if !fits && !self.action.is_not && !self.resource.is_not {
                return Err(malformed("Action does not apply to any resource(s) in statement"));
            }
        }
        Ok(())
    }

    fn applies_to(&self, request: &PolicyRequest<'_>) -> bool {
        let permission = neutral_action(request.permission);
        self.principal.takes(|value| is_meant(value, request.caller))
            && self.action.takes(|value| matches_action(value, permission))
            && self.resource.takes(|value| matches(value, request.resource))
            && self.tests.iter().all(|test| test.holds(request))
    }
}

fn is_meant(principal: &str, caller: &Caller) -> bool {
    principal == "*"
        || caller.account().is_some_and(|account| {
            let named = account_of(principal);
            named == account.id || named == account.canonical_id
        })
}

/// The account of a principal: itself, or that of its root user, arn:aws:iam::111122223333:root.
fn account_of(principal: &str) -> &str {
    principal.split(':').nth(4).unwrap_or(principal)
}

/// Checks what a document says beside its statements, and that its resources are named in full.
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
    }
    Ok(())
}

impl Test {
    fn holds(&self, request: &PolicyRequest<'_>) -> bool {
        let found = self.subject.value(request);
        if self.comparison == Comparison::Null {
            let wants_absent = self.values.iter().any(|value| value == "true");
            return found.is_none() == wants_absent;
        }
        let Some(found) = found else {
            // A value that is not there differs from any.
            let negative = matches!(self.comparison, Comparison::NotEquals | Comparison::NotLike);
            return self.if_exists || negative;
        };
        let any =
            |fits: fn(&str, &str) -> bool| self.values.iter().any(|value| fits(value, &found));
        match self.comparison {
            Comparison::Equals => any(|value, found| value == found),
            Comparison::NotEquals => !any(|value, found| value == found),
            Comparison::EqualsIgnoreCase => any(str::eq_ignore_ascii_case),
            Comparison::Like => any(matches),
            Comparison::NotLike => !any(matches),
            Comparison::Null => false,
        }
    }
}

impl ConditionKey {
    fn parse(key: &str) -> Option<Self> {
        Some(match global_condition_key(key) {
            Some("SecureTransport") => Self::SecureTransport,
            Some("Referer") => Self::Referer,
            Some("UserAgent") => Self::UserAgent,
            _ => {
                let own = without_action_prefix(key)?;
                match own {
                    "prefix" => Self::Parameter("prefix"),
                    "delimiter" => Self::Parameter("delimiter"),
                    "max-keys" => Self::Parameter("max-keys"),
                    "VersionId" => Self::Version,
                    _ => {
                        match own.split_once('/') {
                            Some(("ExistingObjectTag", key)) => {
                                return Some(Self::ExistingTag(key.to_owned()));
                            }
                            Some(("RequestObjectTag", key)) => {
                                return Some(Self::RequestTag(key.to_owned()));
                            }
                            _ => {}
                        }
                        let name = without_header_prefix(own)?;
                        Self::Header(format!("x-store-{name}"))
                    }
                }
            }
        })
    }

    fn value(&self, request: &PolicyRequest<'_>) -> Option<String> {
        let header = |name: &str| request.fields.get(name).ok().flatten();
        match self {
            Self::SecureTransport => Some(request.secure.to_string()),
            Self::Referer => header("referer").map(Into::into),
            Self::UserAgent => header("user-agent").map(Into::into),
            Self::Parameter(name) => request.query.get(name).map(str::to_owned),
            Self::Version => request.version.map(str::to_owned),
            Self::Header(name) => header(name).map(Into::into),
            Self::ExistingTag(key) => request.tags?.get(key).map(str::to_owned),
            Self::RequestTag(key) => {
                let tags = Tags::from_header(&header("x-store-tagging")?).ok()?;
                tags.get(key).map(str::to_owned)
            }
        }
    }
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
        *value = neutral_action(value).to_owned();
    }
    let mut resource = choice(json, "Resource")?;
    for value in &mut resource.values {
        let name = match value.as_str() {
            "*" => Some("*"),
            arn => arn.splitn(6, ':').nth(5),
        };
        *value = name.ok_or_else(|| malformed("Policy has invalid resource"))?.to_owned();
    }
    Ok(Statement {
        effect,
        principal: principal(json)?,
        action,
        resource,
        tests: tests(json.get("Condition"))?,
    })
}

/// An action without the prefix of either dialect.
fn neutral_action(action: &str) -> &str {
    without_action_prefix(action).unwrap_or(action)
}

fn strings(json: &Value) -> Option<Vec<String>> {
    match json {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Bool(value) => Some(vec![value.to_string()]),
        Value::Number(value) => Some(vec![value.to_string()]),
        Value::Array(list) => {
            let texts = list.iter().map(strings);
            Some(texts.collect::<Option<Vec<_>>>()?.concat())
        }
        _ => None,
    }
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

fn principal(json: &Value) -> Result<Choice, Error> {
    let invalid = || malformed("Invalid principal in policy");
    let (value, is_not) = match (json.get("Principal"), json.get("NotPrincipal")) {
        (Some(value), None) => (value, false),
        (None, Some(value)) => (value, true),
        _ => return Err(malformed("Missing required field Principal")),
    };
    let values = match value {
        Value::String(text) if text == "*" => vec![text.clone()],
        Value::Object(kinds) => {
            let mut values = Vec::new();
            for (kind, names) in kinds {
                if kind != "CanonicalUser" && !ACCOUNT_PRINCIPALS.contains(&kind.as_str()) {
                    return Err(invalid());
                }
                let names = strings(names).filter(|names| !names.is_empty());
                values.extend(names.ok_or_else(invalid)?);
            }
            values
        }
        _ => return Err(invalid()),
    };
    if values.is_empty() {
        return Err(invalid());
    }
    Ok(Choice { values, is_not })
}

fn tests(json: Option<&Value>) -> Result<Vec<Test>, Error> {
    let mut tests = Vec::new();
    let blocks = match json {
        None => return Ok(tests),
        Some(Value::Object(blocks)) => blocks,
        Some(_) => return Err(malformed("Conditions must be an object")),
    };
    for (operator, block) in blocks {
        let (name, if_exists) = match operator.strip_suffix("IfExists") {
            Some(name) => (name, true),
            None => (operator.as_str(), false),
        };
        let comparison = match name {
            "StringEquals" => Comparison::Equals,
            "StringNotEquals" => Comparison::NotEquals,
            "StringEqualsIgnoreCase" | "Bool" => Comparison::EqualsIgnoreCase,
            "StringLike" => Comparison::Like,
            "StringNotLike" => Comparison::NotLike,
            "Null" => Comparison::Null,
            _ => return Err(malformed(format!("Invalid Condition type : {operator}"))),
        };
        for (key, values) in block.as_object().into_iter().flatten() {
            tests.push(Test {
                comparison,
                if_exists,
                subject: ConditionKey::parse(key).ok_or_else(|| {
                    malformed(format!("Policy has an invalid condition key - {key}"))
                })?,
                values: strings(values)
                    .ok_or_else(|| malformed("Policy has an invalid condition value"))?,
            });
        }
    }
    Ok(tests)
}

/// The policy of a bucket, if it has one.
///
/// # Errors
/// As reads of the store; [`Error::Damaged`] for one that cannot be read.
pub fn of_bucket(tx: &mut Tx<'_>, bucket: u64) -> Result<Option<Policy>, Error> {
    let row = BUCKET_CONFIGS.peek(tx, &(bucket, CONFIG_NAME.to_owned()))?;
    let Some(bytes) = row else {
        return Ok(None);
    };
    let text: String = serde_json::from_slice(&bytes).map_err(|_| Error::Damaged)?;
    Policy::read(&text).map(Some).map_err(|_| Error::Damaged)
}

/// The public access block of a bucket: it keeps a bucket from becoming public, whatever its ACLs and policy say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublicAccessBlock {
    /// Public lists are refused.
    pub block_public_acls: bool,
    /// Public lists that are there do not count.
    pub ignore_public_acls: bool,
    /// Public policies are refused.
    pub block_public_policy: bool,
    /// A public policy that is there counts for the owner's account alone.
    pub restrict_public_buckets: bool,
}

impl PublicAccessBlock {
    /// The name under which the block of a bucket is kept.
    pub const CONFIG_NAME: &'static str = "public-access-block";

    /// The block of a bucket; one that was never put blocks nothing.
    ///
    /// # Errors
    /// As reads of the store; [`Error::Damaged`] for one that cannot be read.
    pub fn of_bucket(tx: &mut Tx<'_>, bucket: u64) -> Result<Self, Error> {
        let row = BUCKET_CONFIGS.peek(tx, &(bucket, Self::CONFIG_NAME.to_owned()))?;
        let block = row.map(|bytes| serde_json::from_slice(&bytes).map_err(|_| Error::Damaged));
        Ok(block.transpose()?.unwrap_or_default())
    }

    /// Checks a list that is to be set in a bucket.
    ///
    /// # Errors
    /// [`Error::AccessDenied`] for a public one where the bucket blocks those.
    pub fn check(tx: &mut Tx<'_>, bucket: u64, acl: &Acl) -> Result<(), Error> {
        if acl.is_public() && Self::of_bucket(tx, bucket)?.block_public_acls {
            return Err(Error::AccessDenied);
        }
        Ok(())
    }

    /// The block of a `PublicAccessBlockConfiguration` document; what it does not name is off.
    ///
    /// # Errors
    /// [`Error::MalformedXml`].
    pub fn from_xml(body: &[u8]) -> Result<Self, Error> {
        let root = Element::parse(body, "PublicAccessBlockConfiguration")?;
        let flag = |name| match root.text_of(name) {
            None => Ok(false),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Err(Error::MalformedXml),
        };
        Ok(Self {
            block_public_acls: flag("BlockPublicAcls")?,
            ignore_public_acls: flag("IgnorePublicAcls")?,
            block_public_policy: flag("BlockPublicPolicy")?,
            restrict_public_buckets: flag("RestrictPublicBuckets")?,
        })
    }

    /// Names and values of its elements.
    #[must_use]
    pub const fn fields(&self) -> [(&'static str, bool); 4] {
        [
            ("BlockPublicAcls", self.block_public_acls),
            ("IgnorePublicAcls", self.ignore_public_acls),
            ("BlockPublicPolicy", self.block_public_policy),
            ("RestrictPublicBuckets", self.restrict_public_buckets),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluate(statements: &str, permission: &str, resource: &str, query: &str) -> Option<Effect> {
        let document = format!("{{\"Version\": \"2012-10-17\", \"Statement\": {statements}}}");
        let policy = Policy::parse(document.as_bytes(), "b").unwrap();
        policy.evaluate(&PolicyRequest {
            caller: &Caller::Anonymous,
            permission,
            resource,
            fields: &Fields::default(),
            query: &Query::parse(query).unwrap(),
            version: None,
            secure: false,
            tags: Some(&Tags::from_header("kind=open").unwrap()),
        })
    }

    #[test]
    fn a_denial_counts_before_any_allowance() {
        let allow = r#"{"Effect": "Allow", "Principal": "*", "Action": "s3:Get*", "Resource": "arn:aws:s3:::b/*"}"#;
        let deny = r#"{"Effect": "Deny", "Principal": {"AWS": "*"}, "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::b/x*"]}"#;
        let both = format!("[{allow}, {deny}]");
        let read = |key| evaluate(&both, "store:GetObject", key, "");
        assert_eq!(read("b/a"), Some(Effect::Allow));
        assert_eq!(read("b/xa"), Some(Effect::Deny));
        assert_eq!(read("b"), None);
        assert_eq!(evaluate(&both, "store:PutObject", "b/a", ""), None);
    }

    #[test]
    fn conditions_look_at_the_request() {
        let statement = r#"[{"Effect": "Allow", "Principal": "*", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::b",
            "Condition": {"StringLike": {"s3:prefix": "open/*"}, "Bool": {"aws:SecureTransport": "false"}}}]"#;
        let list = |query| evaluate(statement, "store:ListBucket", "b", query);
        assert_eq!(list("prefix=open/x"), Some(Effect::Allow));
        assert_eq!(list("prefix=shut"), None);
        assert_eq!(list(""), None);
    }

    #[test]
    fn conditions_look_at_the_tags_of_the_object() {
        let with = |kind: &str| {
            let statement = format!(
                r#"[{{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*",
                "Condition": {{"StringEquals": {{"s3:ExistingObjectTag/kind": "{kind}"}}}}}}]"#
            );
            evaluate(&statement, "store:GetObject", "b/k", "")
        };
        assert_eq!(with("open"), Some(Effect::Allow));
        assert_eq!(with("shut"), None);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let with = |field: &str| {
            let text = format!(
                r#"{{"Statement": [{{"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::b/*"{field}}}]}}"#
            );
            Policy::parse(text.as_bytes(), "b")
        };
        assert!(with("").unwrap().is_public());
        for field in [
            r#", "Conditon": {}"#,
            r#", "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/8"}}"#,
            r#", "Condition": {"StringEquals": {"aws:Own": "1"}}"#,
            r#", "NotPrincipal": "*""#,
        ] {
            assert!(with(field).is_err(), "{field}");
        }
        for text in ["", "{}", "[]", r#"{"Statement": []}"#] {
            assert!(Policy::parse(text.as_bytes(), "b").is_err(), "{text}");
        }
        let other = r#"{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::c/*"}}"#;
        assert!(Policy::parse(other.as_bytes(), "b").is_err());
    }
}
