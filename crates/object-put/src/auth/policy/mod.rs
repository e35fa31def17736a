//! Bucket policies and the public access block: what a bucket lets others do, beside its ACLs.
//!
//! A name that this service does not know is refused when the policy is put: a rule that is kept counts.

pub mod access_point;
mod address_range;
mod comparison;
mod condition;
mod condition_key;
mod document;
mod public_access;
mod repeated_field;
mod request_object;
mod upload_encryption;
mod variable;

pub use public_access::PublicAccessBlock;
pub use request_object::RequestObject;

use std::borrow::Cow;

use serde_json::Value;
use triptych_core::kv::Tx;

use crate::auth::account::{Caller, matches_action};
use crate::auth::policy::condition::Test;
use crate::auth::policy::condition_key::ConditionKey;
use crate::error::Error;
use crate::request::arrival::Arrival;
use crate::request::dialect::{directory_action, without_action_prefix};
use crate::request::fields::Fields;
use crate::request::query::Query;
use crate::store::access_point::AccessPoint;
use crate::store::object_encryption::ObjectEncryption;
use crate::store::tables::BUCKET_CONFIGS;
use crate::store::tagging::Tags;

/// The name under which the policy of a bucket is kept.
pub const CONFIG_NAME: &str = "policy";

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

/// Principals, or all but these.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Principals {
    named: Vec<Principal>,
    is_not: bool,
}

/// Someone whom a statement names.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Principal {
    /// Everybody.
    Anyone,
    /// An account: its id, its canonical id, or the name of its root user.
    Account(String),
    /// A service of the provider. None of them sends requests here.
    Service,
}

impl Principals {
    fn names_anyone(&self) -> bool {
        self.named.contains(&Principal::Anyone)
    }

    fn take(&self, caller: &Caller) -> bool {
        self.named.iter().any(|principal| principal.is(caller)) != self.is_not
    }
}

impl Principal {
    fn is(&self, caller: &Caller) -> bool {
        match self {
            Self::Anyone => true,
            Self::Service => false,
            Self::Account(name) => caller.account().is_some_and(|account| {
                account_of(name)
                    .is_some_and(|named| named == account.id || named == account.canonical_id)
            }),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement {
    effect: Effect,
    principal: Principals,
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
    /// The entity tag that it asks of one of many keys.
    pub etag: Option<&'a str>,
    /// The tags and the lock that its document sets.
    pub request_object: Option<&'a RequestObject>,
    /// The account that owns the bucket.
    pub owner: &'a str,
    /// The way and the time in which it came.
    pub arrival: Arrival,
    /// The tags of the object that is there, where [`Policy::looks_at_tags`].
    pub tags: Option<&'a Tags>,
    /// The encryption of the upload in parts that it is about, where [`Policy::looks_at_encryption`].
    pub upload: Option<&'a ObjectEncryption>,
    /// The mode of the session that it asks for, where it asks for one.
    pub session_mode: Option<&'static str>,
    /// The access point that it came through.
    pub point: Option<&'a AccessPoint>,
    /// The region that it was sent to.
    pub region: &'a str,
}

impl Policy {
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

    /// Tells whether a condition of it looks at how an object is to be encrypted.
    #[must_use]
    pub fn looks_at_encryption(&self) -> bool {
        let mut tests = self.statements.iter().flat_map(|own| &own.tests);
        tests.any(|test| test.subject.is_of_encryption())
    }

    /// Tells whether it allows anything to anyone, without a condition that names fixed callers or networks.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.statements.iter().any(|own| {
            let anyone = own.principal.names_anyone();
            own.effect == Effect::Allow
                && anyone != own.principal.is_not
                && !own.tests.iter().any(Test::narrows)
        })
    }
}

impl Statement {
    fn applies_to(&self, request: &PolicyRequest<'_>) -> bool {
        let permission = neutral_action(request.permission);
        self.principal.take(request.caller)
            && self.action.takes(|value| matches_action(value, &permission))
            && self.resource.takes(|value| variable::fits_pattern(value, request.resource, request))
            && self.tests.iter().all(|test| test.holds(request))
    }
}

/// Tells whether no policy takes a permission from the caller: that over the policy itself, from a key that may do all that the account
/// `owner` may. Else one wrong policy would lose the bucket.
pub(super) fn is_never_denied(caller: &Caller, permission: &str, owner: &str) -> bool {
    let of_policy = ["GetBucketPolicy", "PutBucketPolicy", "DeleteBucketPolicy"];
    let (_, name) = permission.split_once(':').unwrap_or_default();
    let owns = caller.account().is_some_and(|account| account.id == owner);
    owns && of_policy.contains(&name) && caller.is_whole_account()
}

/// The account of a principal: itself, or that of its root user, arn:aws:iam::111122223333:root. Another user or a role is nobody here,
/// and least of all its account.
fn account_of(principal: &str) -> Option<&str> {
    let Some(name) = principal.strip_prefix("arn:") else {
        return Some(principal);
    };
    let (_, name) = name.split_once(':')?;
    name.strip_prefix("iam::")?.strip_suffix(":root")
}

/// An action without the prefix of either dialect; one of directory buckets has the spec's.
fn neutral_action(action: &str) -> Cow<'_, str> {
    match (without_action_prefix(action), directory_action(action)) {
        (Some(own), _) => Cow::Borrowed(own),
        (None, Some(own)) => Cow::Owned(own),
        (None, None) => Cow::Borrowed(action),
    }
}

fn malformed(reason: impl Into<String>) -> Error {
    Error::MalformedPolicy { reason: reason.into() }
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

#[cfg(test)]
mod tests {
    use triptych_core::time::Timestamp;

    use super::*;
    use crate::auth::account::AccountDirectory;

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
            etag: None,
            request_object: None,
            owner: "111122223333",
            arrival: Arrival {
                secure: false,
                address: "203.0.113.9".parse().ok(),
                now: Timestamp::from_seconds(1_800_000_000),
            },
            tags: Some(&Tags::from_header("kind=open").unwrap()),
            upload: None,
            session_mode: None,
            point: None,
            region: "eu-central-1",
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
    fn names_of_values_are_the_same_in_upper_and_lower_case() {
        let has = |condition: &str| {
            let statement = format!(
                r#"[{{"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::b/*", "Condition": {{{condition}}}}}]"#
            );
            evaluate(&statement, "store:GetObject", "b/k", "prefix=open").is_some()
        };
        for (condition, expected) in [
            (r#""IpAddress": {"AWS:sourceip": "203.0.113.0/24"}"#, true),
            (r#""Bool": {"aws:secureTransport": "false"}"#, true),
            (r#""StringEquals": {"S3:PREFIX": "open"}"#, true),
            (r#""StringEquals": {"s3:Prefix": "${AWS:SOURCEIP}"}"#, false),
            (r#""Null": {"s3:X-Amz-Acl": "true"}"#, true),
            // The key of a tag is as it is written.
            (r#""StringEquals": {"S3:existingobjecttag/kind": "open"}"#, true),
            (r#""StringEquals": {"s3:ExistingObjectTag/Kind": "open"}"#, false),
        ] {
            assert_eq!(has(condition), expected, "{condition}");
        }
    }

    #[test]
    fn variables_stand_for_values_of_the_request() {
        // The request comes from 203.0.113.9, nobody signed it, and it asks for a listing below open/*.
        let list = |resource: &str, condition: &str| {
            let statement = format!(
                r#"[{{"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::{resource}", "Condition": {{{condition}}}}}]"#
            );
            evaluate(&statement, "store:GetObject", "b/203.0.113.9/*", "prefix=open/*").is_some()
        };
        for (resource, condition, expected) in [
            ("b/${aws:SourceIp}/*", "", true),
            ("b/${aws:SourceIp}/${*}", "", true),
            ("b/${aws:SourceIp}/${?}", "", false),
            ("b/${aws:userid}/*", "", false),
            // A name of a user is nothing that a request has here.
            ("b/${aws:username}*", "", false),
            ("b/${aws:username, '203.0.113.9'}/*", "", true),
            ("b/*", r#""StringEquals": {"s3:prefix": "open/${*}"}"#, true),
            ("b/*", r#""StringLike": {"s3:prefix": "open/${?}"}"#, false),
            ("b/*", r#""StringLike": {"s3:prefix": "${aws:username}*"}"#, false),
            ("b/*", r#""StringNotLike": {"s3:prefix": "${aws:username}*"}"#, true),
            ("b/*", r#""StringEquals": {"aws:SourceIp": "${aws:SourceIp}"}"#, true),
            // What a request says is no wildcard.
            ("b/*", r#""StringLike": {"aws:SourceIp": "${s3:prefix}"}"#, false),
            ("b/*", r#""StringLike": {"s3:prefix": "${s3:prefix}"}"#, true),
        ] {
            assert_eq!(list(resource, condition), expected, "{resource} {condition}");
        }
    }

    #[test]
    fn actions_are_the_same_in_upper_and_lower_case() {
        for action in ["S3:GetObject", "s3:getobject", "S3:GETOBJ*", "Store:GetObject"] {
            let statement = format!(
                r#"[{{"Effect": "Deny", "Principal": "*", "Action": "{action}", "Resource": "arn:aws:s3:::b/*"}}]"#
            );
            let read = evaluate(&statement, "store:GetObject", "b/k", "");
            assert_eq!(read, Some(Effect::Deny), "{action}");
            assert_eq!(evaluate(&statement, "store:PutObject", "b/k", ""), None, "{action}");
        }
    }

    #[test]
    fn documents_of_the_older_version_have_no_variables() {
        let with = |version: &str, resource: &str| {
            let text = format!(
                r#"{{{version}"Statement": {{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::{resource}"}}}}"#
            );
            Policy::parse(text.as_bytes(), "b")
        };
        let newest = r#""Version": "2012-10-17", "#;
        for version in ["", r#""Version": "2008-10-17", "#] {
            let policy = with(version, "b/${aws:nobody}").unwrap();
            let value = policy.statements[0].resource.values[0].clone();
            assert_eq!(value, "b/${$}{aws:nobody}");
        }
        assert!(with(newest, "b/${aws:SourceIp}").is_ok());
        for resource in [
            "b/${aws:nobody}",
            "b/${",
            "b/${}",
            "b/${aws:username, nobody}",
            "b/${aws:PrincipalArn}",
            "b/${s3:ExistingObjectTag/a}",
        ] {
            assert!(with(newest, resource).is_err(), "{resource}");
        }
    }

    #[test]
    fn a_user_of_an_account_is_not_the_account() {
        for (principal, expected) in [
            ("111122223333", Some("111122223333")),
            ("arn:aws:iam::111122223333:root", Some("111122223333")),
            ("arn:store:iam::111122223333:root", Some("111122223333")),
            ("arn:aws:iam::111122223333:user/u", None),
            ("arn:aws:iam::111122223333:role/root", None),
            ("arn:aws:sts::111122223333:assumed-role/r/s", None),
            ("arn:aws:sts::111122223333:root", None),
            ("arn:aws:iam", None),
        ] {
            assert_eq!(account_of(principal), expected, "{principal}");
        }
    }

    #[test]
    fn a_variable_is_no_fixed_caller() {
        let text = r#"{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*",
            "Condition": {"StringEquals": {"aws:PrincipalAccount": "${s3:VersionId}"}}}}"#;
        assert!(Policy::parse(text.as_bytes(), "b").unwrap().is_public());
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
    fn conditions_compare_as_their_operator_says() {
        // The request comes from 203.0.113.9 on 2027-01-15, for a bucket of 111122223333, and is not signed.
        for (condition, expected) in [
            (r#"{"IpAddress": {"aws:SourceIp": ["10.0.0.0/8", "203.0.113.0/24"]}}"#, true),
            (r#"{"IpAddress": {"aws:SourceIp": "203.0.114.0/24"}}"#, false),
            (r#"{"NotIpAddress": {"aws:SourceIp": "203.0.113.9"}}"#, false),
            (r#"{"NotIpAddress": {"aws:SourceIp": "203.0.113.8/32"}}"#, true),
            (r#"{"DateLessThan": {"aws:CurrentTime": "2027-01-16T00:00:00Z"}}"#, true),
            (r#"{"DateGreaterThan": {"aws:CurrentTime": "2027-01-16"}}"#, false),
            (r#"{"DateGreaterThanEquals": {"aws:EpochTime": "1800000000"}}"#, true),
            (r#"{"NumericLessThanEquals": {"s3:max-keys": "10"}}"#, true),
            (r#"{"NumericGreaterThan": {"s3:max-keys": 10}}"#, false),
            (r#"{"NumericLessThan": {"s3:TlsVersion": "1.2"}}"#, false),
            (r#"{"StringNotEquals": {"aws:SourceVpce": "vpce-1"}}"#, true),
            (r#"{"StringEquals": {"aws:PrincipalOrgID": "o-1"}}"#, false),
            (r#"{"StringEquals": {"aws:RequestedRegion": "eu-central-1"}}"#, true),
            (r#"{"StringNotLike": {"aws:RequestedRegion": "eu-*"}}"#, false),
            (r#"{"StringNotEqualsIfExists": {"aws:ResourceOrgID": "o-1"}}"#, true),
            (r#"{"ForAnyValue:StringEquals": {"aws:CalledVia": "athena.amazonaws.com"}}"#, false),
            (r#"{"Null": {"aws:PrincipalServiceNamesList": "true"}}"#, true),
            (r#"{"StringEquals": {"aws:PrincipalType": "Anonymous"}}"#, true),
            (r#"{"StringEquals": {"s3:ResourceAccount": "111122223333"}}"#, true),
            (r#"{"Null": {"aws:PrincipalArn": "true"}}"#, true),
            (r#"{"Null": {"s3:if-none-match": "false"}}"#, false),
            (r#"{"Null": {"s3:if-none-match": "True"}}"#, true),
            (r#"{"Bool": {"aws:SecureTransport": ["FALSE"]}}"#, true),
            (r#"{"Bool": {"aws:SecureTransport": false}}"#, true),
            (r#"{"BoolIfExists": {"aws:MultiFactorAuthPresent": "true"}}"#, true),
            (r#"{"Bool": {"aws:PrincipalIsAWSService": "false"}}"#, true),
            (r#"{"StringNotEqualsIgnoreCase": {"s3:authType": "REST-HEADER"}}"#, true),
            (r#"{"ForAllValues:StringEquals": {"s3:RequestObjectTagKeys": "a"}}"#, true),
            (r#"{"ForAnyValue:StringEquals": {"s3:RequestObjectTagKeys": "a"}}"#, false),
            (r#"{"ForAnyValue:StringLike": {"s3:prefix": ["a*", "b*"]}}"#, true),
        ] {
            let statement = format!(
                r#"[{{"Effect": "Allow", "Principal": "*", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::b",
                "Condition": {condition}}}]"#
            );
            let found = evaluate(&statement, "store:ListBucket", "b", "max-keys=10&prefix=bc");
            assert_eq!(found, expected.then_some(Effect::Allow), "{condition}");
        }
    }

    #[test]
    fn a_condition_that_names_no_fixed_caller_leaves_a_policy_public() {
        for (condition, expected) in [
            (r#"{"IpAddress": {"aws:SourceIp": "10.0.0.0/32"}}"#, false),
            (r#"{"IpAddress": {"aws:SourceIp": "0.0.0.0/1"}}"#, true),
            (r#"{"NotIpAddress": {"aws:SourceIp": "10.0.0.0/32"}}"#, true),
            (r#"{"StringLike": {"aws:Referer": "https://a.example/*"}}"#, true),
            (r#"{"StringEquals": {"aws:PrincipalAccount": "111122223333"}}"#, false),
            (r#"{"StringEqualsIfExists": {"aws:PrincipalAccount": "111122223333"}}"#, true),
            (r#"{"ArnLike": {"aws:PrincipalArn": "arn:aws:iam::*:root"}}"#, true),
            (r#"{"NotIpAddress": {"aws:SourceIp": []}}"#, true),
        ] {
            let text = format!(
                r#"{{"Statement": {{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*",
                "Condition": {condition}}}}}"#
            );
            let policy = Policy::parse(text.as_bytes(), "b").unwrap();
            assert_eq!(policy.is_public(), expected, "{condition}");
        }
    }

    #[test]
    fn services_of_the_provider_are_kept_and_match_nobody() {
        let with = |effect: &str, principal: &str| {
            let statement = format!(
                r#"[{{"Effect": "{effect}", {principal}, "Action": "s3:PutObject", "Resource": "arn:aws:s3:::b/*",
                "Condition": {{"ArnLike": {{"aws:SourceArn": "arn:aws:s3:::c"}}}}}}]"#
            );
            format!("{{\"Statement\": {statement}}}")
        };
        let logging = r#""Principal": {"Service": "logging.s3.amazonaws.com"}"#;
        for effect in ["Allow", "Deny"] {
            let policy = Policy::parse(with(effect, logging).as_bytes(), "b").unwrap();
            assert_eq!(policy.check_principals(&AccountDirectory::default()), Ok(()));
            assert!(!policy.is_public());
        }
        let statement = with("Allow", logging).replace("{\"Statement\": ", "");
        let statement = statement.strip_suffix('}').unwrap();
        assert_eq!(evaluate(statement, "store:PutObject", "b/k", ""), None);
        for wrong in [
            r#""Principal": {"Service": "*"}"#,
            r#""Principal": {"Service": ""}"#,
            r#""Principal": {"Service": []}"#,
            r#""Principal": {"Federated": "a.b"}"#,
        ] {
            assert!(Policy::parse(with("Deny", wrong).as_bytes(), "b").is_err(), "{wrong}");
        }
        // All but the service: everybody here.
        let others = with("Deny", &logging.replace("Principal", "NotPrincipal"));
        let policy = Policy::parse(others.as_bytes(), "b").unwrap();
        assert!(policy.statements.iter().all(|own| own.principal.take(&Caller::Anonymous)));
    }

    #[test]
    fn all_but_some_are_named_by_a_denial_alone() {
        let with = |effect: &str| {
            let text = format!(
                r#"{{"Statement": {{"Effect": "{effect}", "NotPrincipal": {{"AWS": "111122223333"}}, "Action": "s3:GetObject",
                "Resource": "arn:aws:s3:::b/*"}}}}"#
            );
            (Policy::parse(text.as_bytes(), "b"), Policy::read(&text))
        };
        let (put, _) = with("Deny");
        assert!(put.is_ok());
        let (put, kept) = with("Allow");
        assert_eq!(put, Err(malformed("Allow with NotPrincipal is not allowed")));
        // One that was kept before still says what it said.
        assert!(kept.unwrap().is_public());
    }

    #[test]
    fn what_is_no_document_is_told_from_one_without_statements() {
        const FIRST: &str = "Policies must be valid JSON and the first byte must be '{'";
        const NO_JSON: &str = "This policy contains invalid Json";
        for (text, reason) in [
            ("", FIRST),
            ("false", FIRST),
            ("[]", FIRST),
            ("policy", FIRST),
            ("{true}", NO_JSON),
            ("{asdf", NO_JSON),
            (r#"{"Statement": [{"#, NO_JSON),
            ("{}", "Missing required field Statement"),
            (r#"{"Statement": "all"}"#, "Missing required field Statement"),
            (r#"{"Statement": []}"#, "Could not parse the policy: Statement is empty!"),
        ] {
            assert_eq!(Policy::parse(text.as_bytes(), "b"), Err(malformed(reason)), "{text}");
        }
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
            r#", "Condition": {"IpAddress": {"aws:SourceIp": "10.0.0.0/33"}}"#,
            r#", "Condition": {"DateLessThan": {"aws:CurrentTime": "tomorrow"}}"#,
            r#", "Condition": {"NumericLessThan": {"s3:max-keys": "ten"}}"#,
            r#", "Condition": {"ForSomeValues:StringLike": {"aws:SourceIp": "*"}}"#,
            r#", "Condition": {"StringEquals": {"aws:Own": "1"}}"#,
            r#", "Condition": {"StringEquals": "a"}"#,
            r#", "Condition": {"StringEquals": [{"s3:prefix": "a"}]}"#,
            r#", "Condition": {"StringEquals": null}"#,
            r#", "Condition": {"Bool": {"aws:SecureTransport": "flase"}}"#,
            r#", "Condition": {"ForAnyValue:BoolIfExists": {"aws:SecureTransport": ["true", ""]}}"#,
            r#", "Condition": {"NullIfExists": {"s3:prefix": "true"}}"#,
            r#", "NotPrincipal": "*""#,
        ] {
            assert!(with(field).is_err(), "{field}");
        }
        let twice = r#", "Effect": "Deny""#;
        assert!(with(twice).is_err());
        for text in ["", "{}", "[]", r#"{"Statement": []}"#] {
            assert!(Policy::parse(text.as_bytes(), "b").is_err(), "{text}");
        }
        let other = r#"{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::c/*"}}"#;
        assert!(Policy::parse(other.as_bytes(), "b").is_err());
    }
}
