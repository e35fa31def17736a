//! The conditions of a statement.

use serde_json::Value;

use crate::auth::account::matches;
use crate::auth::policy::{PolicyRequest, malformed, strings};
use crate::error::Error;
use crate::request::dialect::{
    directory_action, global_condition_key, neutral_encryption, spec_header, without_action_prefix,
};
use crate::store::tagging::Tags;

/// One condition: how to compare, which value of the request, with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Test {
    comparison: Comparison,
    if_exists: bool,
    pub(super) subject: ConditionKey,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equals,
    NotEquals,
    EqualsIgnoreCase,
    Like,
    NotLike,
    Null,
}

/// A value of a request that conditions can name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConditionKey {
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
    /// The mode of the session that is asked for.
    SessionMode,
    /// The ARN of the access point that the request came through.
    PointArn,
    /// The account of that access point.
    PointAccount,
    /// The network that that access point takes requests from.
    PointOrigin,
}

impl Test {
    pub(super) fn holds(&self, request: &PolicyRequest<'_>) -> bool {
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
            _ if directory_action(key).is_some() => {
                let own = directory_action(key)?;
                match own.split_once(':')?.1 {
                    "SessionMode" => Self::SessionMode,
                    own => Self::of_point(own)?,
                }
            }
            _ => {
                let own = without_action_prefix(key)?;
                match own {
                    "prefix" => Self::Parameter("prefix"),
                    "delimiter" => Self::Parameter("delimiter"),
                    "max-keys" => Self::Parameter("max-keys"),
                    "VersionId" => Self::Version,
                    _ if Self::of_point(own).is_some() => Self::of_point(own)?,
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
                        Self::Header(spec_header(own)?)
                    }
                }
            }
        })
    }

    /// One that looks at the access point, in whichever service's words.
    fn of_point(own: &str) -> Option<Self> {
        Some(match own {
            "DataAccessPointArn" => Self::PointArn,
            "DataAccessPointAccount" => Self::PointAccount,
            "AccessPointNetworkOrigin" => Self::PointOrigin,
            _ => return None,
        })
    }

    /// Tells whether its values differ in the two vocabularies.
    fn is_of_encryption(&self) -> bool {
        matches!(self, Self::Header(name) if name.starts_with("x-store-server-side-encryption"))
    }

    fn value(&self, request: &PolicyRequest<'_>) -> Option<String> {
        let header = |name: &str| request.fields.get(name).ok().flatten();
        match self {
            Self::SecureTransport => Some(request.secure.to_string()),
            Self::Referer => header("referer").map(Into::into),
            Self::UserAgent => header("user-agent").map(Into::into),
            Self::Parameter(name) => request.query.get(name).map(str::to_owned),
            Self::SessionMode => request.session_mode.map(str::to_owned),
            Self::Version => request.version.map(str::to_owned),
            Self::PointArn => request.point.map(|(point, region)| point.bare_arn(region)),
            Self::PointAccount => request.point.map(|(point, _)| point.account.clone()),
            Self::PointOrigin => request.point.map(|_| "Internet".to_owned()),
            Self::Header(name) if self.is_of_encryption() => {
                header(name).map(|value| neutral_encryption(&value))
            }
            Self::Header(name) => header(name).map(Into::into),
            Self::ExistingTag(key) => request.tags?.get(key).map(str::to_owned),
            Self::RequestTag(key) => {
                let tags = Tags::from_header(&header("x-store-tagging")?).ok()?;
                tags.get(key).map(str::to_owned)
            }
        }
    }
}

/// An ARN without what names the provider in either vocabulary.
fn bare_arn(arn: &str) -> &str {
    let own = arn.strip_prefix("arn:").and_then(|rest| rest.splitn(3, ':').nth(2));
    own.unwrap_or(arn)
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
        let (name, if_exists) = match operator.strip_suffix("IfExists") {
            Some(name) => (name, true),
            None => (operator.as_str(), false),
        };
        let comparison = match name {
            "StringEquals" => Comparison::Equals,
            "StringNotEquals" => Comparison::NotEquals,
            "StringEqualsIgnoreCase" | "Bool" => Comparison::EqualsIgnoreCase,
            "StringLike" | "ArnLike" | "ArnEquals" => Comparison::Like,
            "StringNotLike" | "ArnNotLike" | "ArnNotEquals" => Comparison::NotLike,
            "Null" => Comparison::Null,
            _ => return Err(malformed(format!("Invalid Condition type : {operator}"))),
        };
        for (key, values) in block.as_object().into_iter().flatten() {
            let subject = ConditionKey::parse(key)
                .ok_or_else(|| malformed(format!("Policy has an invalid condition key - {key}")))?;
            let mut values = strings(values)
                .ok_or_else(|| malformed("Policy has an invalid condition value"))?;
            if subject == ConditionKey::PointArn {
                values.iter_mut().for_each(|value| *value = bare_arn(value).to_owned());
            }
            if subject.is_of_encryption() {
                values.iter_mut().for_each(|value| *value = neutral_encryption(value));
            }
            tests.push(Test { comparison, if_exists, subject, values });
        }
    }
    Ok(tests)
}
