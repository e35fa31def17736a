//! The policy document of a form: who signed it says what the form may hold.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::form::fields::Form;
use crate::request::dialect::{names_secret, without_point_arn_prefix};
use crate::store::access_point::AccessPoint;

/// The operation of a condition on the bytes of the file.
const SIZE: &str = "content-length-range";
/// Fields that no condition needs to name.
const EXEMPT: [&str; 4] = ["policy", "signature", "awsaccesskeyid", "file"];
/// Start of the names of fields that are passed over.
const IGNORED: &str = "x-ignore-";

/// The bytes that a file may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeRange {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Condition {
    /// The field has this value.
    Equals { field: String, value: String },
    /// The field's value starts so.
    StartsWith { field: String, start: String },
    /// The file has so many bytes.
    Size(SizeRange),
    /// No form fulfils it.
    Never { shown: String },
}

/// The fault of what is no JSON, or has a value of a kind that does not belong there.
const NO_JSON: &str = "Invalid JSON.";

/// A policy document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostPolicy {
    expiration: Timestamp,
    conditions: Vec<Condition>,
}

fn invalid(reason: impl Into<String>) -> Error {
    Error::InvalidPostPolicy { reason: reason.into() }
}

fn refused(reason: impl Into<String>) -> Error {
    Error::FormRefused { reason: reason.into() }
}

/// The time of an `expiration`: ISO 8601 in its extended form, in UTC, with seconds or fractions of them. Other forms of RFC 3339 are none in
/// the real service.
fn end_of_validity(text: &str) -> Option<Timestamp> {
    const FORM: &[u8] = b"0000-00-00T00:00:00";
    let (seconds, rest) = text.strip_suffix('Z')?.split_at_checked(FORM.len())?;
    let fits = |(byte, form): (u8, &u8)| match form {
        b'0' => byte.is_ascii_digit(),
        _ => byte == *form,
    };
    let is_fraction = match rest.strip_prefix('.') {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()),
        None => rest.is_empty(),
    };
    let has_form = seconds.bytes().zip(FORM).all(fits) && is_fraction;
    has_form.then(|| Timestamp::from_rfc3339(text)).flatten()
}

impl PostPolicy {
    /// The policy of the field `policy`: JSON, in base64.
    ///
    /// # Errors
    /// [`Error::InvalidPostPolicy`].
    pub fn parse(encoded: &str) -> Result<Self, Error> {
        // Some tools break the lines of base64.
        let encoded: String = encoded.chars().filter(|sign| !sign.is_ascii_whitespace()).collect();
        if encoded.is_empty() {
            return Err(invalid("Expecting '{' but found End-of-Input"));
        }
        let bytes = STANDARD.decode(encoded).map_err(|_| invalid("invalid Base64 encoding."))?;
        let text = String::from_utf8(bytes).map_err(|_| invalid(NO_JSON))?;
        let json: Value =
            serde_json::from_str(&plain_dollars(&text)).map_err(|_| invalid(NO_JSON))?;
        let object = json.as_object().ok_or_else(|| invalid(NO_JSON))?;
        if let Some(name) =
            object.keys().find(|name| !["expiration", "conditions"].contains(&name.as_str()))
        {
            return Err(invalid(format!("Unexpected: '{name}'.")));
        }
        let expiration =
            object.get("expiration").ok_or_else(|| invalid("Policy missing expiration."))?;
        let named = expiration.as_str().ok_or_else(|| invalid(NO_JSON))?;
        let expiration = end_of_validity(named)
            .ok_or_else(|| invalid(format!("Invalid 'expiration' value: '{named}'")))?;
        let conditions =
            object.get("conditions").ok_or_else(|| invalid("Policy missing conditions."))?;
        let list = conditions
            .as_array()
            .ok_or_else(|| invalid("Invalid 'conditions' value: must be a List."))?;
        let conditions = list.iter().map(Condition::read).collect::<Result<_, _>>()?;
        Ok(Self { expiration, conditions })
    }

    /// Checks a form for a bucket at the time `now`; `is_exempt` names the field of the signature, which nothing needs to name. Gives the bytes
    /// that its file may have.
    ///
    /// # Errors
    /// [`Error::FormRefused`].
    pub fn check(
        &self,
        form: &Form,
        bucket: &NamedBucket<'_>,
        now: Timestamp,
        signature_field: &str,
    ) -> Result<Option<SizeRange>, Error> {
        if now >= self.expiration {
            return Err(refused("Policy expired."));
        }
        let is_bucket = |field: &str| field.eq_ignore_ascii_case("bucket");
        let mut size: Option<SizeRange> = None;
        for condition in &self.conditions {
            let holds = match condition {
                Condition::Equals { field, value } if is_bucket(field) => bucket.is(value),
                Condition::Equals { field, value } => form.get(field) == Some(value),
                Condition::StartsWith { field, start } if is_bucket(field) => {
                    bucket.names().any(|name| name.starts_with(start))
                }
                Condition::StartsWith { field, start } => {
                    form.get(field).is_some_and(|value| starts_with(field, value, start))
                }
                Condition::Size(range) => {
                    let within = size.unwrap_or(*range);
                    let least = within.least.max(range.least);
                    size = Some(SizeRange { least, most: within.most.min(range.most) });
                    true
                }
                Condition::Never { .. } => false,
            };
            if !holds {
                return Err(refused(format!("Policy Condition failed: {}", condition.shown())));
            }
        }
        let is_named = |name: &str| {
            self.conditions.iter().any(|condition| match condition {
                Condition::Equals { field, .. } | Condition::StartsWith { field, .. } => {
                    field.eq_ignore_ascii_case(name)
                }
                Condition::Size(_) | Condition::Never { .. } => false,
            })
        };
        let is_exempt = |name: &str| {
            let name = name.to_ascii_lowercase();
            EXEMPT.contains(&name.as_str()) || name == signature_field || name.starts_with(IGNORED)
        };
        let fields = form.iter().map(|(name, _)| name).chain(["bucket"]);
        let extra: Vec<_> = fields.filter(|name| !is_named(name) && !is_exempt(name)).collect();
        match extra.is_empty() {
            true => Ok(size),
            false => Err(refused(format!("Extra input fields: {}", extra.join(",")))),
        }
    }
}

/// The bucket that a form is for, and the way to it: a policy names either.
#[derive(Debug, Clone, Copy)]
pub struct NamedBucket<'a> {
    /// Its name.
    pub name: &'a str,
    /// The access point that the request came through.
    pub point: Option<&'a AccessPoint>,
    /// The region of the service, which the ARN of an access point names.
    pub region: &'a str,
}

impl<'a> NamedBucket<'a> {
    /// Tells whether `value` names it: the bucket, or the access point by alias or ARN.
    fn is(&self, value: &str) -> bool {
        let arn = || self.point.map(|point| point.bare_arn(self.region));
        self.names().any(|name| name == value)
            || without_point_arn_prefix(value).is_some_and(|bare| arn().as_deref() == Some(bare))
    }

    fn names(&self) -> impl Iterator<Item = &'a str> {
        let alias = self.point.and_then(|point| point.alias.as_deref());
        [Some(self.name), alias].into_iter().flatten()
    }
}

/// Tells whether a value starts so; of a list of media types, each.
fn starts_with(field: &str, value: &str, start: &str) -> bool {
    if field.eq_ignore_ascii_case("content-type") && !start.contains(',') {
        return value.split(',').all(|one| one.trim_start().starts_with(start));
    }
    value.starts_with(start)
}

/// The text of a document with plain dollars: `\$` stands for one, which JSON does not know.
fn plain_dollars(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '\\' {
            plain.push(character);
            continue;
        }
        match characters.next() {
            Some('$') => plain.push('$'),
            Some(escaped) => plain.extend([character, escaped]),
            None => plain.push(character),
        }
    }
    plain
}

impl Condition {
    /// The condition of an element of the list: an object of one field and its value, or a list of an operation and its arguments.
    fn read(json: &Value) -> Result<Self, Error> {
        match json {
            Value::Object(pairs) => {
                let mut pairs = pairs.iter();
                let (Some((field, value)), None) = (pairs.next(), pairs.next()) else {
                    return Err(invalid(
                        "Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.",
                    ));
                };
                let value = value
                    .as_str()
                    .ok_or_else(|| invalid("Invalid Simple-Condition: value must be a string."))?;
                Ok(Self::Equals { field: field.clone(), value: value.to_owned() })
            }
            Value::Array(list) => {
                let (operator, arguments) = list
                    .split_first()
                    .ok_or_else(|| invalid("Invalid Condition: missing operation identifier."))?;
                let operator = operator.as_str().ok_or_else(|| invalid(NO_JSON))?;
                Self::of_list(&operator.to_ascii_lowercase(), arguments)
            }
            _ => Err(invalid("Invalid condition test: must be a List or Object.")),
        }
    }

    fn of_list(operator: &str, arguments: &[Value]) -> Result<Self, Error> {
        if !["eq", "starts-with", SIZE].contains(&operator) {
            let reason = format!("Invalid Condition: unknown operation '{operator}'.");
            return Err(invalid(reason));
        }
        let [subject, value] = arguments else {
            return Err(invalid(format!("Invalid {operator}: wrong number of arguments.")));
        };
        if operator == SIZE {
            return Ok(match (bytes(subject)?, bytes(value)?) {
                (Some(least), Some(most)) => Self::Size(SizeRange { least, most }),
                _ => Self::Never { shown: shown(operator, subject, value) },
            });
        }
        let (Some(name), Some(text)) = (subject.as_str(), value.as_str()) else {
            return Err(invalid(NO_JSON));
        };
        let Some(field) = name.strip_prefix('$') else {
            // Without its sign it names no field.
            return Ok(Self::Never { shown: shown(operator, subject, value) });
        };
        let (field, text) = (field.to_owned(), text.to_owned());
        Ok(match operator {
            "eq" => Self::Equals { field, value: text },
            _ => Self::StartsWith { field, start: text },
        })
    }

    /// The condition as an answer shows it.
    fn shown(&self) -> String {
        match self {
            Self::Equals { field, value } => {
                shown("eq", &format!("${field}").into(), &value.as_str().into())
            }
            Self::StartsWith { field, start } => {
                shown("starts-with", &format!("${field}").into(), &start.as_str().into())
            }
            Self::Size(range) => shown(SIZE, &range.least.into(), &range.most.into()),
            Self::Never { shown } => shown.clone(),
        }
    }
}

fn shown(operator: &str, subject: &Value, value: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => Value::String(text.clone()).to_string(),
        other => Value::String(other.to_string()).to_string(),
    };
    let value = match subject.as_str() {
        Some(name) if names_secret(name) => text(&"...".into()),
        _ => text(value),
    };
    format!("[\"{operator}\", {}, {value}]", text(subject))
}

/// A number of bytes, written as a number or as a text; `None` for a text that is none, which no file fulfils.
fn bytes(json: &Value) -> Result<Option<u64>, Error> {
    let number = match json {
        Value::String(text) => text.trim().parse::<i64>().ok(),
        Value::Number(number) => Some(number.as_i64().ok_or_else(|| invalid(NO_JSON))?),
        _ => return Err(invalid(NO_JSON)),
    };
    let count = number.map(u64::try_from).transpose();
    count.map_err(|_| invalid(format!("Invalid {SIZE}: a number of bytes is not negative.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_795_244_786);

    fn policy(conditions: &str) -> Result<PostPolicy, Error> {
        document(&format!(
            r#"{{"expiration": "2027-01-01T00:00:00.000Z", "conditions": {conditions}}}"#
        ))
    }

    fn document(text: &str) -> Result<PostPolicy, Error> {
        PostPolicy::parse(&STANDARD.encode(text))
    }

    fn check(conditions: &str, fields: &[(&str, &str)]) -> Result<Option<SizeRange>, Error> {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let form = Form::new(fields.iter().map(own).collect());
        let bucket = NamedBucket { name: "b", point: None, region: "us-east-1" };
        policy(conditions)?.check(&form, &bucket, NOW, "x-amz-signature")
    }

    #[test]
    fn a_form_holds_what_its_policy_says_and_nothing_else() {
        let both = r#"[{"bucket": "b"}, ["STARTS-WITH", "$Key", "a/"], ["content-length-range", "1", 10], ["eq", "$acl", "private"]]"#;
        let size = Some(SizeRange { least: 1, most: 10 });
        assert_eq!(check(both, &[("kEy", "a/b"), ("ACL", "private")]), Ok(size));
        let more = [
            ("key", "a/b"),
            ("acl", "private"),
            ("x-ignore-me", "1"),
            ("policy", "p"),
            ("x-amz-signature", "s"),
        ];
        assert_eq!(check(both, &more), Ok(size));
        for (fields, reason) in [
            (
                &[("key", "b"), ("acl", "private")][..],
                "Policy Condition failed: [\"starts-with\", \"$Key\", \"a/\"]",
            ),
            (
                &[("key", "a/"), ("acl", "Private")],
                "Policy Condition failed: [\"eq\", \"$acl\", \"private\"]",
            ),
            (&[("key", "a/")], "Policy Condition failed: [\"eq\", \"$acl\", \"private\"]"),
            (&[("key", "a/"), ("acl", "private"), ("submit", "1")], "Extra input fields: submit"),
        ] {
            assert_eq!(check(both, fields), Err(refused(reason)));
        }
        assert_eq!(
            check(r#"[["starts-with", "$key", ""]]"#, &[("key", "a")]),
            Err(refused("Extra input fields: bucket"))
        );
        let other = r#"[{"bucket": "c"}]"#;
        assert!(check(other, &[("bucket", "c")]).is_err(), "the bucket is that of the request");
    }

    #[test]
    fn conditions_that_nothing_fulfils_are_shown_as_they_are_written() {
        for (condition, text) in [
            (
                r#"["eq", "success_action_redirect", "http://a"]"#,
                r#"["eq", "success_action_redirect", "http://a"]"#,
            ),
            (
                r#"["content-length-range", "test", 10]"#,
                r#"["content-length-range", "test", "10"]"#,
            ),
        ] {
            let seen = check(&format!("[{{\"bucket\": \"b\"}}, {condition}]"), &[]);
            assert_eq!(seen, Err(refused(format!("Policy Condition failed: {text}"))));
        }
    }

    #[test]
    fn no_condition_shows_a_customers_key_or_a_token() {
        let name = "X-Amz-Server-Side-Encryption-Customer-Key";
        let token = r#"["eq", "$x-amz-security-token", "c2VjcmV0"]"#;
        let seen = check(&format!("[{token}]"), &[]);
        assert!(matches!(seen, Err(Error::FormRefused { reason }) if !reason.contains("c2VjcmV0")));
        for condition in [
            format!(r#"{{"{name}": "c2VjcmV0"}}"#),
            format!(r#"["eq", "${name}-MD5", "c2VjcmV0"]"#),
            format!(r#"["starts-with", "${name}", "c2VjcmV0"]"#),
            format!(r#"["eq", "{name}", "c2VjcmV0"]"#),
        ] {
            let seen = check(&format!("[{condition}]"), &[]);
            let Err(Error::FormRefused { reason }) = seen else { panic!("{condition}: {seen:?}") };
            assert!(reason.contains(name) && reason.ends_with(", \"...\"]"), "{reason}");
        }
    }

    #[test]
    fn each_media_type_of_a_list_starts_as_the_policy_says() {
        let images = r#"[{"bucket": "b"}, ["starts-with", "$Content-Type", "image/"]]"#;
        assert!(check(images, &[("content-type", "image/png, image/gif")]).is_ok());
        assert!(check(images, &[("content-type", "image/png, text/html")]).is_err());
    }

    #[test]
    fn a_dollar_may_have_a_backslash() {
        let dollar = r#"[{"bucket": "b"}, ["starts-with", "$key", "\$foo"]]"#;
        assert!(check(dollar, &[("key", "$foo.txt")]).is_ok());
        let backslash = r#"[{"bucket": "b"}, ["starts-with", "$key", "\\$foo"]]"#;
        assert!(check(backslash, &[("key", "\\$foo.txt")]).is_ok());
    }

    #[test]
    fn what_is_no_policy_is_refused_and_the_fault_is_told() {
        for (text, reason) in [
            ("", "Expecting '{' but found End-of-Input"),
            ("[]", NO_JSON),
            ("expiration", NO_JSON),
            ("{}", "Policy missing expiration."),
            (r#"{"conditions": []}"#, "Policy missing expiration."),
            (r#"{"expiration": "2027-01-01T00:00:00Z"}"#, "Policy missing conditions."),
            (r#"{"EXPIRATION": "2027-01-01T00:00:00Z"}"#, "Unexpected: 'EXPIRATION'."),
            (r#"{"CONDITIONS": []}"#, "Unexpected: 'CONDITIONS'."),
            (r#"{"expiration": true, "conditions": []}"#, NO_JSON),
            (
                r#"{"expiration": "tomorrow", "conditions": []}"#,
                "Invalid 'expiration' value: 'tomorrow'",
            ),
            (
                r#"{"expiration": "2027-01-01T00:00:00Z", "conditions": {}}"#,
                "Invalid 'conditions' value: must be a List.",
            ),
        ] {
            assert_eq!(document(text), Err(invalid(reason)), "{text}");
        }
        assert_eq!(PostPolicy::parse("*"), Err(invalid("invalid Base64 encoding.")));
        let past = document(r#"{"expiration": "2020-01-01T00:00:00Z", "conditions": []}"#).unwrap();
        let bucket = NamedBucket { name: "b", point: None, region: "us-east-1" };
        assert_eq!(past.check(&Form::default(), &bucket, NOW, ""), Err(refused("Policy expired.")));
    }

    #[test]
    fn an_expiration_is_a_time_of_utc_in_the_extended_form_of_iso_8601() {
        let read = |end: &str| {
            document(&format!(r#"{{"expiration": "{end}", "conditions": []}}"#))
                .map(|policy| policy.expiration.rfc3339_millis())
        };
        for (end, moment) in [
            ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00.000Z"),
            ("2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00.000Z"),
            ("2030-01-01T23:59:59.1Z", "2030-01-01T23:59:59.100Z"),
            ("2030-01-01T23:59:59.123456Z", "2030-01-01T23:59:59.123Z"),
        ] {
            assert_eq!(read(end).as_deref(), Ok(moment), "{end}");
        }
        for end in [
            "",
            "2030-01-01",
            "2030-01-01 00:00:00Z",
            "2030-01-01 00:00:00+00:00",
            "2030-01-01T00:00:00+00:00",
            "2030-01-01T00:00:00-00:00",
            "2030-01-01T00:00:00",
            "2030-01-01T00:00Z",
            "2030-01-01T00Z",
            "20300101T000000Z",
            "2030-01-01t00:00:00Z",
            "2030-01-01T00:00:00z",
            "2030-01-01T00:00:00.Z",
            "2030-01-01T00:00:00,000Z",
            "2030-01-01T00:00:00Z[UTC]",
            "2030-13-01T00:00:00Z",
            "2030-01-01T00:00:00Z ",
            "+02030-01-01T00:00:00Z",
            "2030-01-01T00:00:00\u{e9}Z",
        ] {
            let refused = invalid(format!("Invalid 'expiration' value: '{end}'"));
            assert_eq!(read(end), Err(refused), "{end}");
        }
    }

    #[test]
    fn a_condition_that_is_none_makes_no_policy() {
        const ONE: &str =
            "Invalid Simple-Condition: Simple-Conditions must have exactly one property specified.";
        const NEGATIVE: &str = "Invalid content-length-range: a number of bytes is not negative.";
        for (condition, reason) in [
            ("{}", ONE),
            (r#"{"expires": "a", "cache": "b"}"#, ONE),
            (r#"{"a": 1}"#, "Invalid Simple-Condition: value must be a string."),
            ("true", "Invalid condition test: must be a List or Object."),
            (r#""bucket""#, "Invalid condition test: must be a List or Object."),
            ("[]", "Invalid Condition: missing operation identifier."),
            (r#"[1, "$a", "b"]"#, NO_JSON),
            (r#"["like", "$a", "b"]"#, "Invalid Condition: unknown operation 'like'."),
            (r#"["eq", "$a"]"#, "Invalid eq: wrong number of arguments."),
            (r#"["EQ", "$a", "b", "c"]"#, "Invalid eq: wrong number of arguments."),
            (r#"["starts-with"]"#, "Invalid starts-with: wrong number of arguments."),
            (r#"["eq", false, "b"]"#, NO_JSON),
            (r#"["starts-with", "$a", 1]"#, NO_JSON),
            (
                r#"["content-length-range", 0]"#,
                "Invalid content-length-range: wrong number of arguments.",
            ),
            (r#"["content-length-range", 12, false]"#, NO_JSON),
            (r#"["content-length-range", 1.5, 10]"#, NO_JSON),
            (r#"["content-length-range", -1, 10]"#, NEGATIVE),
            (r#"["content-length-range", "0", "-1"]"#, NEGATIVE),
        ] {
            assert_eq!(policy(&format!("[{condition}]")), Err(invalid(reason)), "{condition}");
        }
    }
}
