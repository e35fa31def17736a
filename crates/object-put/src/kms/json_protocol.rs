//! The JSON protocol of key services on the network: signed requests, and what their answers say.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use triptych_core::time::Timestamp;
use zeroize::Zeroizing;

use crate::auth::account::Secret;
use crate::auth::digest::{hmac_sha256, sha256};
use crate::body::object_key::SecretKey;
use crate::error::{Error, KmsFault};
use crate::kms::context::EncryptionContext;
use crate::kms::key_manager::{GeneratedKey, KeyIdentity};
use crate::kms::key_name::{KeyArn, KeyName};
use crate::request::dialect::Dialect;

/// The service that scopes of signatures name.
const SERVICE: &str = "kms";
const CONTENT_TYPE: &str = "application/x-amz-json-1.1";
/// The most bytes of a sealed key: it stands in the record of an object.
const SEALED_BYTES_MAX: usize = 4 * 1024;
/// The most characters of a refusal that are passed on.
const REASON_MAX: usize = 500;

/// The access to a key service.
#[derive(Debug, Clone)]
pub struct KeyServiceAccess {
    /// The host, with its port where that is not the usual one.
    pub host: String,
    /// The region that signatures name.
    pub region: String,
    /// The access key.
    pub access_key: String,
    /// Its secret.
    pub secret: Secret,
    /// The token of temporary credentials, which each call shows.
    pub session_token: Option<Secret>,
}

impl KeyServiceAccess {
    /// The name or address of the host, and its port: `usual` where it names none. An IPv6 address stands in brackets, as in a URL.
    #[must_use]
    pub fn name_and_port(&self, usual: u16) -> (&str, u16) {
        let (name, port) = match self.host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port.parse().unwrap_or(usual)),
            _ => (&*self.host, usual),
        };
        (name.trim_start_matches('[').trim_end_matches(']'), port)
    }
}

/// A call: its operation, and what it asks.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyServiceCall {
    operation: &'static str,
    body: Value,
}

fn failed(reason: &'static str) -> Error {
    Error::KeyServiceFailed { reason }
}

fn pairs(context: &EncryptionContext) -> Value {
    Value::Object(context.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
}

impl KeyServiceCall {
    /// The name of the operation.
    #[must_use]
    pub const fn operation(&self) -> &'static str {
        self.operation
    }

    /// Asks what a name means.
    #[must_use]
    pub fn describe(name: &KeyName) -> Self {
        let body = json!({ "KeyId": name.text(Dialect::Amz) });
        Self { operation: "DescribeKey", body }
    }

    /// Asks for a data key.
    #[must_use]
    pub fn generate(name: &KeyName, context: &EncryptionContext) -> Self {
        let key = name.text(Dialect::Amz);
        let body =
            json!({ "KeyId": key, "KeySpec": "AES_256", "EncryptionContext": pairs(context) });
        Self { operation: "GenerateDataKey", body }
    }

    /// Asks for a sealed key, opened.
    #[must_use]
    pub fn decrypt(key: &KeyArn, sealed: &[u8], context: &EncryptionContext) -> Self {
        let body = json!({
            "KeyId": key.text(Dialect::Amz),
            "CiphertextBlob": STANDARD.encode(sealed),
            "EncryptionContext": pairs(context),
        });
        Self { operation: "Decrypt", body }
    }

    /// The headers of the call, signed, and its body.
    #[must_use]
    pub fn signed(
        &self,
        access: &KeyServiceAccess,
        now: Timestamp,
    ) -> (Vec<(String, String)>, String) {
        let names = Dialect::Amz.names();
        let body = self.body.to_string();
        let stamp: String = now.rfc3339().chars().filter(|sign| !"-:".contains(*sign)).collect();
        let day = stamp.get(..8).unwrap_or_default();
        let scope = [day, &access.region, SERVICE, names.scope_end].join("/");
        let named = |name: &str| [names.header_prefix, name].concat();
        let mut headers = vec![
            ("content-type".to_owned(), CONTENT_TYPE.to_owned()),
            ("host".to_owned(), access.host.clone()),
            (named("date"), stamp.clone()),
        ];
        // In the order of their names, as signatures have them.
        if let Some(token) = &access.session_token {
            headers.push((named("security-token"), token.reveal().to_owned()));
        }
        headers.push((named("target"), format!("TrentService.{}", self.operation)));
        let signed: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
        let signed = signed.join(";");
        let lines: String =
            headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let hash = hex::encode(sha256(body.as_bytes()));
        let canonical = format!("POST\n/\n\n{lines}\n{signed}\n{hash}");
        let digest = hex::encode(sha256(canonical.as_bytes()));
        let text = [names.algorithm, &stamp, &scope, &digest].join("\n");
        let start = Zeroizing::new([names.key_prefix, access.secret.reveal()].concat());
        let mut key = Zeroizing::new(hmac_sha256(start.as_bytes(), [day.as_bytes()]));
        for part in [access.region.as_str(), SERVICE, names.scope_end] {
            *key = hmac_sha256(&*key, [part.as_bytes()]);
        }
        let signature = hex::encode(hmac_sha256(&*key, [text.as_bytes()]));
        let (algorithm, id) = (names.algorithm, &access.access_key);
        let value = format!(
            "{algorithm} Credential={id}/{scope}, SignedHeaders={signed}, Signature={signature}"
        );
        headers.push(("authorization".to_owned(), value));
        (headers, body)
    }
}

/// The JSON of an answer.
///
/// # Errors
/// The refusal that it is; [`Error::KeyServiceFailed`].
pub fn read(status: u16, body: &[u8]) -> Result<Value, Error> {
    let json = || serde_json::from_slice::<Value>(body).ok();
    match status {
        200 => json().ok_or_else(|| failed("its answer is no JSON")),
        400..=499 => Err(refusal(&json().unwrap_or_default())),
        _ => Err(failed("it answers with an error of its own")),
    }
}

fn refusal(json: &Value) -> Error {
    let text = |name: &str| json.get(name).and_then(Value::as_str);
    let kind = text("__type").unwrap_or_default().rsplit('#').next().unwrap_or_default();
    let reason: String = text("message")
        .or_else(|| text("Message"))
        .unwrap_or(kind)
        .chars()
        .take(REASON_MAX)
        .collect();
    match kind {
        "NotFoundException" => Error::kms(KmsFault::NotFound, reason),
        "DisabledException" => Error::kms(KmsFault::Disabled, reason),
        "KMSInvalidStateException" => Error::kms(KmsFault::InvalidState, reason),
        "InvalidKeyUsageException" => Error::kms(KmsFault::InvalidKeyUsage, reason),
        "AccessDeniedException" => Error::AccessDenied,
        "InvalidCiphertextException" | "IncorrectKeyException" => Error::Damaged,
        _ => failed("it refuses the call"),
    }
}

fn key_of(json: &Value) -> Result<SecretKey, Error> {
    let text = json.get("Plaintext").and_then(Value::as_str).unwrap_or_default();
    let bytes = Zeroizing::new(STANDARD.decode(text).unwrap_or_default());
    SecretKey::of_slice(&bytes).ok_or_else(|| failed("it gave a key of another length"))
}

fn arn_of(json: Option<&Value>) -> Result<KeyArn, Error> {
    let arn = json.and_then(Value::as_str).and_then(KeyArn::parse);
    arn.ok_or_else(|| failed("it did not name its key"))
}

/// The key that an answer names, which must be one that `name` can mean.
fn key_named(json: Option<&Value>, name: &KeyName) -> Result<KeyArn, Error> {
    let arn = arn_of(json)?;
    match name.can_mean(&arn) {
        true => Ok(arn),
        false => Err(failed("it used another key than the one that was named")),
    }
}

/// The data key of an answer to GenerateDataKey, which a key that `name` can mean must have sealed.
///
/// # Errors
/// [`Error::KeyServiceFailed`] for one that is not what was asked for.
pub fn generated(json: &Value, name: &KeyName) -> Result<GeneratedKey, Error> {
    let text = json.get("CiphertextBlob").and_then(Value::as_str).unwrap_or_default();
    let sealed = STANDARD.decode(text).unwrap_or_default();
    if !(1..=SEALED_BYTES_MAX).contains(&sealed.len()) {
        return Err(failed("it gave no sealed key"));
    }
    // A service never gives an ARN to another key.
    let by = KeyIdentity { arn: key_named(json.get("KeyId"), name)?, origin: None };
    Ok(GeneratedKey { by, key: key_of(json)?, sealed })
}

/// The data key of an answer to Decrypt, which `key` must have opened.
///
/// # Errors
/// As [`generated`].
pub fn decrypted(json: &Value, key: &KeyArn) -> Result<SecretKey, Error> {
    match arn_of(json.get("KeyId"))? == *key {
        true => key_of(json),
        false => Err(failed("another key opened what was asked for")),
    }
}

/// The key of an answer to DescribeKey, which must be one that `name` can mean.
///
/// # Errors
/// As [`generated`].
pub fn described(json: &Value, name: &KeyName) -> Result<KeyIdentity, Error> {
    Ok(KeyIdentity { arn: key_named(json.pointer("/KeyMetadata/Arn"), name)?, origin: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ARN: &str = "arn:aws:kms:us-east-1:111122223333:key/k";

    fn answer(plaintext: &[u8], sealed: &str, arn: &str) -> Value {
        json!({ "Plaintext": STANDARD.encode(plaintext), "CiphertextBlob": sealed, "KeyId": arn })
    }

    #[test]
    fn an_answer_is_believed_only_if_it_is_what_was_asked_for() {
        let key = KeyArn::parse(ARN).unwrap();
        let name = KeyName::Arn(key.clone());
        let good = answer(&[1; 32], "c2VhbGVk", ARN);
        assert_eq!(generated(&good, &name).unwrap().sealed, b"sealed");
        assert!(decrypted(&good, &key).is_ok());
        for odd in [
            answer(&[1; 31], "c2VhbGVk", ARN),
            answer(&[1; 33], "c2VhbGVk", ARN),
            answer(&[], "c2VhbGVk", ARN),
            answer(&[1; 32], "c2VhbGVk", "k"),
            json!([]),
            json!({}),
        ] {
            assert!(generated(&odd, &name).is_err() && decrypted(&odd, &key).is_err(), "{odd}");
        }
        assert!(generated(&answer(&[1; 32], "", ARN), &name).is_err());
        assert!(generated(&answer(&[1; 32], &"AAAA".repeat(4096), ARN), &name).is_err());
        let other = answer(&[1; 32], "c2VhbGVk", "arn:aws:kms:us-east-1:111122223333:key/l");
        assert!(decrypted(&other, &key).is_err());
        let described_as = |answer: &Value, name: &KeyName| {
            described(&json!({ "KeyMetadata": { "Arn": answer["KeyId"] } }), name)
        };
        for (text, believed) in [(ARN, false), ("k", false), ("alias/a", true)] {
            let name = KeyName::parse(text, "111122223333").unwrap();
            assert!(generated(&good, &name).is_ok() && described_as(&good, &name).is_ok());
            assert_eq!(generated(&other, &name).is_ok(), believed, "{text}");
            assert_eq!(described_as(&other, &name).is_ok(), believed, "{text}");
        }
    }

    #[test]
    fn a_call_is_signed_as_the_sdks_sign_it_with_a_session_token_and_without() {
        let call =
            KeyServiceCall { operation: "DescribeKey", body: json!({ "KeyId": "alias/demo" }) };
        let now = Timestamp::from_rfc3339("2026-01-02T03:04:05Z").unwrap();
        // Computed by botocore.
        for (token, signature) in [
            (None, "9a944165ef5207f204a701a4cb7fcce380653574afa96ff449595df93a3f94ab"),
            (
                Some("session/token+=="),
                "be7d36b57139ec2d3b201446b184f239c49c2c76b8102ca4c656b81c274750d4",
            ),
        ] {
            let access = KeyServiceAccess {
                host: "keys.example:8080".to_owned(),
                region: "us-east-1".to_owned(),
                access_key: "AKID".to_owned(),
                secret: Secret::new("secret".to_owned()),
                session_token: token.map(|token| Secret::new(token.to_owned())),
            };
            let (headers, _) = call.signed(&access, now);
            let value =
                |name: &str| headers.iter().find(|(own, _)| own == name).map(|(_, value)| &**value);
            let authorization = value("authorization").unwrap();
            assert!(authorization.ends_with(&format!("Signature={signature}")), "{authorization}");
            assert_eq!(value("x-amz-security-token"), token);
        }
    }

    #[test]
    fn a_host_has_the_usual_port_unless_it_names_one() {
        let access = |host: &str| KeyServiceAccess {
            host: host.to_owned(),
            region: String::new(),
            access_key: String::new(),
            secret: Secret::new(String::new()),
            session_token: None,
        };
        for (host, name, port) in [
            ("keys.example", "keys.example", 443),
            ("keys.example:8080", "keys.example", 8080),
            ("127.0.0.1:80", "127.0.0.1", 80),
            ("[::1]:8443", "::1", 8443),
            ("[::1]", "::1", 443),
        ] {
            assert_eq!(access(host).name_and_port(443), (name, port), "{host}");
        }
    }

    #[test]
    fn refusals_have_the_codes_of_the_embedded_service() {
        let refused = |kind: &str| {
            let body = json!({ "__type": kind, "message": "why" }).to_string();
            read(400, body.as_bytes()).unwrap_err()
        };
        assert_eq!(refused("NotFoundException"), Error::kms(KmsFault::NotFound, "why".to_owned()));
        assert_eq!(
            refused("a.b#DisabledException"),
            Error::kms(KmsFault::Disabled, "why".to_owned())
        );
        assert_eq!(refused("AccessDeniedException"), Error::AccessDenied);
        assert_eq!(refused("InvalidCiphertextException"), Error::Damaged);
        for (status, body) in [(500, "{}"), (200, "no json"), (400, ""), (301, "{}")] {
            let refused = read(status, body.as_bytes()).unwrap_err();
            assert!(matches!(refused, Error::KeyServiceFailed { .. }), "{status} {body}");
        }
    }
}
