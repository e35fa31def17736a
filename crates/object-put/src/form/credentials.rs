//! The credentials of a form: a signature of its policy, of either version.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use subtle::ConstantTimeEq as _;

use crate::auth::account::AccessKey;
use crate::auth::digest::hmac_sha1;
use crate::auth::scope::ServiceScope;
use crate::auth::signature::check_token;
use crate::auth::sigv4::{SigningKey, basic_time};
use crate::error::{Error, SignatureMismatch};
use crate::form::fields::{Form, missing};
use crate::request::dialect::{Dialect, names_secret, sigv2};

/// The credentials of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormCredentials<'f> {
    /// The access key.
    pub access_key: &'f str,
    /// The policy that is signed, as it was sent.
    pub policy: &'f str,
    signature: &'f str,
    token: Option<&'f str>,
    version: Version<'f>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version<'f> {
    V2,
    V4 { scope: &'f str },
}

/// The name of the field that holds a signature of version 4.
#[must_use]
pub fn signature_field(dialect: Dialect) -> String {
    [dialect.names().header_prefix, "signature"].concat()
}

impl<'f> FormCredentials<'f> {
    /// The credentials of a form, whose scope must be that of `here`; `None` for one that nobody signed.
    ///
    /// # Errors
    /// `InvalidArgument` for a field that is missing beside others, and for one that is none; `InvalidFormCredential`.
    pub fn read(
        form: &'f Form,
        dialect: Dialect,
        here: &ServiceScope<'_>,
    ) -> Result<Option<Self>, Error> {
        let names = dialect.names();
        let own = |name: &str| form.of_signature(dialect, name);
        let [algorithm, credential, date, signature] =
            ["algorithm", "credential", "date", "signature"].map(own);
        let token = own("security-token");
        let policy = || form.get("policy").ok_or_else(|| missing("policy"));
        let need = |name: &str, value: Option<&'f str>| {
            value.ok_or_else(|| missing(&[names.query_prefix, name].concat()))
        };
        if [algorithm, credential, date, signature].iter().any(Option::is_some) {
            let algorithm = need("Algorithm", algorithm)?;
            let credential = need("Credential", credential)?;
            let date = need("Date", date)?;
            let signature = need("Signature", signature)?;
            let argument = |name: &str, value: &str, reason: &'static str| {
                Error::argument([names.query_prefix, name].concat(), Some(value), reason)
            };
            if algorithm != names.algorithm {
                let reason = "Only STORE4-HMAC-SHA256 is supported";
                return Err(argument("Algorithm", algorithm, reason));
            }
            let read = here.read_credential(credential, dialect);
            let (access_key, scope) = read.map_err(|error| match error {
                Error::AuthorizationHeaderMalformed { reason, region } => {
                    let name = [names.query_prefix, "Credential"].concat();
                    let value = credential.to_owned();
                    Error::InvalidFormCredential { name, value, reason, region }
                }
                other => other,
            })?;
            if basic_time(date).is_none() {
                let reason = "X-Store-Date must be formated via ISO8601 Long format";
                return Err(argument("Date", date, reason));
            }
            if !date.starts_with(scope.split('/').next().unwrap_or_default()) {
                let reason = "X-Store-Date must be on the day that X-Store-Credential names";
                return Err(argument("Date", date, reason));
            }
            let version = Version::V4 { scope };
            return Ok(Some(Self { access_key, policy: policy()?, signature, token, version }));
        }
        match (form.get(sigv2::ACCESS_KEY), form.get("signature")) {
            (None, None) => Ok(None),
            (None, Some(_)) => Err(missing(sigv2::ACCESS_KEY)),
            (Some(_), None) => Err(missing("Signature")),
            (Some(access_key), Some(signature)) => Ok(Some(Self {
                access_key,
                policy: policy()?,
                signature,
                token,
                version: Version::V2,
            })),
        }
    }

    /// Verifies the signature with `key`. `signing` keeps the signing key that was derived last of it.
    ///
    /// # Errors
    /// `InvalidToken`, `SignatureDoesNotMatch`.
    pub fn verify(
        &self,
        key: &AccessKey,
        signing: &mut Option<Arc<SigningKey>>,
        dialect: Dialect,
    ) -> Result<(), Error> {
        check_token(key, self.token)?;
        let own = match self.version {
            Version::V2 => {
                STANDARD.encode(hmac_sha1(key.secret.reveal().as_bytes(), self.policy.as_bytes()))
            }
            Version::V4 { scope } => {
                let signing = SigningKey::kept(signing, dialect, scope, key);
                hex::encode(signing.sign([self.policy.as_bytes()]))
            }
        };
        if own.as_bytes().ct_eq(self.signature.as_bytes()).into() {
            return Ok(());
        }
        Err(Error::SignatureDoesNotMatch(Box::new(SignatureMismatch {
            access_key: self.access_key.to_owned(),
            provided: self.signature.to_owned(),
            string_to_sign: self.shown_policy(),
            canonical_request: String::new(),
        })))
    }

    /// The policy as it was signed, which an answer shows; nothing of one that may hold a secret.
    fn shown_policy(&self) -> String {
        let read = STANDARD.decode(self.policy).ok();
        // Written anew, a name has no escapes.
        let read = read.and_then(|json| serde_json::from_slice::<Value>(&json).ok());
        match read {
            Some(policy) if !names_secret(&policy.to_string()) => self.policy.to_owned(),
            _ => String::new(),
        }
    }
}
