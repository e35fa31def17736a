//! The credentials of a request: none, a signature of version 4 in its header or query, or one of version 2 in its query.
//!
//! [`Credentials::read`] takes them from the request; [`Credentials::verify`] checks them with the secret of their access key.
//! Between the two the server looks the key up.

use std::sync::Arc;

use triptych_core::time::Timestamp;

use crate::auth::account::AccessKey;
use crate::auth::payload::Payload;
use crate::auth::scope::ServiceScope;
use crate::auth::signature::{RequestLine, Verified};
use crate::auth::sigv2::SigV2Credentials;
use crate::auth::sigv4::{SigV4Credentials, SigningKey};
use crate::error::Error;
use crate::request::dialect::sigv2;
use crate::request::fields::Fields;
use crate::request::query::Query;

/// The credentials of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credentials<'r> {
    /// Nothing: it is anonymous.
    Anonymous(Payload),
    /// SigV4, by header or in the query.
    V4(SigV4Credentials<'r>),
    /// Presigned SigV2.
    V2(SigV2Credentials),
}

impl<'r> Credentials<'r> {
    /// Reads the credentials of a request; `authorization` is its header of that name, `here` the scope that they must have.
    ///
    /// # Errors
    /// `UnsupportedAuthorization`, `SeveralAuthorizations`, `AuthorizationHeaderMalformed`, `AuthorizationQueryParameters`,
    /// `MissingQueryParameters`, `MissingDate`, `MissingContentSha256`, `InvalidContentSha256`.
    pub fn read(
        authorization: Option<&'r str>,
        fields: &Fields<'r>,
        query: &'r Query,
        here: &ServiceScope<'_>,
    ) -> Result<Self, Error> {
        let dialect = fields.dialect();
        let names = dialect.names();
        let parameter = |name| query.get_prefixed(names.query_prefix, name);
        // One that is empty is as good as none.
        let header = authorization.filter(|header| !header.trim().is_empty());
        let in_query = parameter("Algorithm").is_some()
            || parameter("Credential").is_some()
            || parameter("Signature").is_some();
        let older =
            query.has(sigv2::ACCESS_KEY) || (query.has("Signature") && query.has("Expires"));
        match (header, in_query, older) {
            (None, false, false) => Ok(Self::Anonymous(anonymous_payload(fields)?)),
            (Some(header), false, false) => {
                SigV4Credentials::from_header(header, fields, here).map(Self::V4)
            }
            (None, true, false) => SigV4Credentials::from_query(fields, query, here).map(Self::V4),
            (None, false, true) => SigV2Credentials::read(fields, query).map(Self::V2),
            _ => Err(Error::SeveralAuthorizations),
        }
    }

    /// The access key that the credentials name; `None` if the request is anonymous.
    #[must_use]
    pub fn access_key(&self) -> Option<&str> {
        match self {
            Self::Anonymous(_) => None,
            Self::V4(own) => Some(own.access_key),
            Self::V2(own) => Some(&own.access_key),
        }
    }

    /// The session token that they bring.
    #[must_use]
    pub fn session_token(&self) -> Option<&str> {
        match self {
            Self::Anonymous(_) | Self::V2(_) => None,
            Self::V4(own) => own.token(),
        }
    }

    /// Verifies the credentials with `key`, at the time `now`. `signing` keeps the signing key that was derived last of `key`: clients sign
    /// a whole day with one.
    ///
    /// # Errors
    /// `InvalidToken`, `RequestTimeTooSkewed`, `RequestExpired`, `RequestNotYetValid`, `HeadersNotSigned`, `SignatureDoesNotMatch`.
    pub fn verify(
        &self,
        key: &AccessKey,
        signing: &mut Option<Arc<SigningKey>>,
        line: RequestLine<'_>,
        fields: &Fields<'_>,
        now: Timestamp,
    ) -> Result<Verified, Error> {
        match self {
            Self::Anonymous(payload) => Ok(Verified::unsigned(*payload)),
            Self::V4(own) => own.verify(key, signing, line, fields, now),
            Self::V2(own) => own.verify(key, line, fields, now),
        }
    }
}

/// Tells whether the credential of a request, which may turn out to be none, is scoped to a service.
#[must_use]
pub fn is_scoped_to(service: &str, fields: &Fields<'_>, query: &Query) -> bool {
    let header = fields.get("authorization").ok().flatten();
    let of_header = header.as_deref().and_then(|header| header.split_once("Credential="));
    let of_header = of_header.and_then(|(_, rest)| rest.split([',', ' ']).next());
    let prefix = fields.dialect().names().query_prefix;
    let credential = of_header.or_else(|| query.get_prefixed(prefix, "Credential"));
    credential.is_some_and(|credential| credential.rsplit('/').nth(1) == Some(service))
}

/// An anonymous body may still bring its hash or its framing; it has no chunk signatures.
fn anonymous_payload(fields: &Fields<'_>) -> Result<Payload, Error> {
    match Payload::of_fields(fields, fields.dialect().names().streaming_signed)? {
        None => Ok(Payload::Unsigned),
        Some((payload, _)) if payload.has_signed_chunks() => Err(Error::AccessDenied),
        Some((payload, _)) => Ok(payload),
    }
}
