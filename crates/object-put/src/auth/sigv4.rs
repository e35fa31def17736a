//! Signature version 4: its credentials in the header or in the query, and their verification.

use std::borrow::Cow;
use std::sync::Arc;

use subtle::ConstantTimeEq;
use triptych_core::time::Timestamp;
use zeroize::Zeroizing;

use crate::auth::account::AccessKey;
use crate::auth::canonical;
use crate::auth::chunk_signature::ChunkSigner;
use crate::auth::digest::{digits, hmac_sha256, sha256};
use crate::auth::key_pair::{Claim, KeyPair};
use crate::auth::payload::{CONTENT_SHA256, Payload, UNSIGNED};
use crate::auth::scope::{ServiceScope, malformed};
use crate::auth::session_token::is_session_key;
use crate::auth::signature::{RequestLine, Verified, check_token};
use crate::error::{Error, SignatureMismatch};
use crate::request::dialect::{Dialect, sigv2};
use crate::request::fields::Fields;
use crate::request::query::Query;

/// Milliseconds that the clocks of client and server may be apart.
const SKEW_MILLIS_MAX: i64 = 15 * 60 * 1000;
/// The longest that a presigned URL may be valid.
const PRESIGNED_SECONDS_MAX: u64 = 604_800;

/// Verifies signatures; derived from an access key's secret.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey {
    scope: String,
    key: KeyMaterial,
}

#[derive(Clone, PartialEq, Eq)]
enum KeyMaterial {
    /// The key of one day, by the scope of a credential.
    Shared(Zeroizing<[u8; 32]>),
    /// The key pair.
    Pair(KeyPair),
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SigningKey").field("scope", &self.scope).finish_non_exhaustive()
    }
}

impl SigningKey {
    /// The signing key of `key` for a scope: day, region, service and end, slashes between.
    fn derive(prefix: &str, scope: &str, key: &AccessKey) -> Self {
        let secret = Zeroizing::new(format!("{prefix}{}", key.secret.reveal()));
        let mut parts = scope.split('/');
        let day = hmac_sha256(secret.as_bytes(), [parts.next().unwrap_or_default().as_bytes()]);
        Self {
            scope: scope.to_owned(),
            key: KeyMaterial::Shared(Zeroizing::new(
                parts.fold(day, |key, part| hmac_sha256(&key, [part.as_bytes()])),
            )),
        }
    }

    /// The pair that follows from `key`, whose id is `id`: the one that is kept, or a new one, which is kept then.
    fn kept_pair(
        kept: &mut Option<Arc<Self>>,
        dialect: Dialect,
        id: &str,
        key: &AccessKey,
    ) -> Result<KeyPair, Error> {
        // No scope is called so.
        let scope = dialect.names().asymmetric_algorithm;
        if let Some(known) = kept.as_ref().filter(|known| known.scope == scope)
            && let KeyMaterial::Pair(pair) = &known.key
        {
            return Ok(pair.clone());
        }
        let pair = KeyPair::derive(dialect, id, key.secret.reveal()).ok_or(Error::Internal)?;
        let material = KeyMaterial::Pair(pair.clone());
        *kept = Some(Arc::new(Self { scope: scope.to_owned(), key: material }));
        Ok(pair)
    }

    /// The signing key of `key` for a scope: the one that is kept, or a new one, which is kept then.
    pub(crate) fn kept<'k>(
        kept: &'k mut Option<Arc<Self>>,
        dialect: Dialect,
        scope: &str,
        key: &AccessKey,
    ) -> &'k Self {
        // The end of a scope tells the dialect, and so the prefix.
        let known = kept.take().filter(|known| known.scope == scope);
        let derive = || Arc::new(Self::derive(dialect.names().key_prefix, scope, key));
        kept.insert(known.unwrap_or_else(derive))
    }

    /// The signature of a text in pieces.
    pub(crate) fn sign<'t>(&self, text: impl IntoIterator<Item = &'t [u8]>) -> [u8; 32] {
        hmac_sha256(self.shared(), text)
    }

    /// The key of the day; none of a key pair, which is never looked for by a scope.
    fn shared(&self) -> &[u8; 32] {
        match &self.key {
            KeyMaterial::Shared(key) => key,
            KeyMaterial::Pair(_) => &[0; 32],
        }
    }
}

/// The credentials of a signature of version 4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigV4Credentials<'r> {
    /// The access key.
    pub access_key: &'r str,
    /// Day, region, service and end, slashes between.
    scope: &'r str,
    /// Names of headers, semicolons between.
    signed: &'r str,
    signature: &'r str,
    /// `YYYYMMDDTHHMMSSZ`.
    time_text: Cow<'r, str>,
    time: Timestamp,
    /// Seconds for which a presigned URL is valid.
    valid_seconds: Option<u64>,
    payload: Payload,
    payload_text: Cow<'r, str>,
    token: Option<Cow<'r, str>>,
    algorithm: Algorithm,
}

/// The algorithm of a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    /// With a key that both sides know, for one region.
    Shared,
    /// With a key pair, for a set of regions.
    KeyPair,
}

impl Algorithm {
    fn of(name: &str, dialect: Dialect) -> Option<Self> {
        let names = dialect.names();
        match name {
            name if name == names.algorithm => Some(Self::Shared),
            name if name == names.asymmetric_algorithm => Some(Self::KeyPair),
            _ => None,
        }
    }

    const fn name(self, dialect: Dialect) -> &'static str {
        match self {
            Self::Shared => dialect.names().algorithm,
            Self::KeyPair => dialect.names().asymmetric_algorithm,
        }
    }

    /// The start of the values of `content-sha256` that announce signed chunks.
    const fn streaming_signed(self, dialect: Dialect) -> &'static str {
        match self {
            Self::Shared => dialect.names().streaming_signed,
            Self::KeyPair => dialect.names().streaming_signed_asymmetric,
        }
    }

    /// The access key and the scope of a credential; `regions` is the set that a signature with a key pair is for.
    fn read_credential<'r>(
        self,
        text: &'r str,
        dialect: Dialect,
        here: &ServiceScope<'_>,
        regions: Option<&str>,
    ) -> Result<(&'r str, &'r str), Error> {
        match self {
            Self::Shared => here.read_credential(text, dialect),
            Self::KeyPair => here.read_credential_of_all(text, dialect, regions),
        }
    }
}

fn parameters(reason: impl Into<String>) -> Error {
    Error::AuthorizationQueryParameters { reason: reason.into(), region: None }
}

impl<'r> SigV4Credentials<'r> {
    pub(super) fn from_header(
        header: &'r str,
        fields: &Fields<'r>,
        here: &ServiceScope<'_>,
    ) -> Result<Self, Error> {
        let (algorithm, rest) = header.split_once([' ', '\t']).unwrap_or((header, ""));
        let algorithm =
            Algorithm::of(algorithm, fields.dialect()).ok_or_else(|| match algorithm {
                sigv2::SCHEME => Error::UnsupportedAuthorization,
                _ => {
                    Error::argument("Authorization", Some(header), "Unsupported Authorization Type")
                }
            })?;
        let (mut credential, mut signed, mut signature) = (None, None, None);
        let parts = rest.split(',').map(str::trim);
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            let first = match name {
                "Credential" => &mut credential,
                "SignedHeaders" => &mut signed,
                "Signature" => &mut signature,
                _ => continue,
            };
            first.get_or_insert(value.trim());
        }
        let need = |value: Option<&'r str>| {
            value.filter(|value| !value.is_empty()).ok_or_else(|| {
                malformed(
                    "the authorization header requires three components: Credential, SignedHeaders, and Signature.",
                )
            })
        };
        let (credential, signed) = (need(credential)?, need(signed)?);
        let signature = need(signature)?;
        let regions = fields.get("x-store-region-set")?;
        let (access_key, scope) =
            algorithm.read_credential(credential, fields.dialect(), here, regions.as_deref())?;
        let (time, time_text) = header_time(fields)?;
        let date = day_of(scope);
        if !time_text.starts_with(date) {
            return Err(malformed(format!(
                "Invalid credential date \"{date}\". This date is not the same as X-Store-Date: \"{time_text}\"."
            )));
        }
        let (payload, payload_text) =
            Payload::of_fields(fields, algorithm.streaming_signed(fields.dialect()))?
                .ok_or(Error::MissingContentSha256)?;
        Ok(Self {
            access_key,
            scope,
            signed,
            signature,
            time_text,
            time,
            valid_seconds: None,
            payload,
            payload_text,
            token: token(fields, |_| None, access_key)?,
            algorithm,
        })
    }

    pub(super) fn from_query(
        fields: &Fields<'r>,
        query: &'r Query,
        here: &ServiceScope<'_>,
    ) -> Result<Self, Error> {
        let dialect = fields.dialect();
        let names = dialect.names();
        let get = |name: &str| {
            let value = query.get_prefixed(names.query_prefix, name);
            value.filter(|value| !value.is_empty())
        };
        let need = |name: &str| {
            get(name).ok_or_else(|| {
                parameters(
                    "Query-string authentication version 4 requires the X-Store-Algorithm, X-Store-Credential, X-Store-Signature, X-Store-Date, X-Store-SignedHeaders, and X-Store-Expires parameters.",
                )
            })
        };
        let (algorithm, credential) = (need("Algorithm")?, need("Credential")?);
        let (date, signed) = (need("Date")?, need("SignedHeaders")?);
        let (expires, signature) = (need("Expires")?, need("Signature")?);
        let algorithm = Algorithm::of(algorithm, dialect).ok_or_else(|| {
            let [shared, pair] = [names.algorithm, names.asymmetric_algorithm];
            // The marks are the real service's.
            parameters(format!("X-Store-Algorithm only supports \"{shared} and {pair}\""))
        })?;
        let (access_key, scope) = algorithm
            .read_credential(credential, dialect, here, get("Region-Set"))
            .map_err(|error| match error {
                Error::AuthorizationHeaderMalformed { reason, region } => {
                    let reason =
                        format!("Error parsing the X-Store-Credential parameter; {reason}");
                    Error::AuthorizationQueryParameters { reason, region }
                }
                other => other,
            })?;
        let time = basic_time(date).ok_or_else(|| {
            parameters("X-Store-Date must be in the ISO8601 Long Format \"yyyyMMdd'T'HHmmss'Z'\"")
        })?;
        let day = day_of(scope);
        if !date.starts_with(day) {
            return Err(parameters(format!(
                "Invalid credential date \"{day}\". This date is not the same as X-Store-Date: \"{date}\"."
            )));
        }
        let valid_seconds = read_expires(expires)?;
        let own = dialect.header(CONTENT_SHA256);
        let sent = match get("Content-Sha256") {
            Some(text) => Payload::read(text, algorithm.streaming_signed(dialect))
                .map(|payload| Some((payload, text.into())))
                .ok_or_else(|| Error::InvalidContentSha256 { value: text.to_owned() })?,
            // What a URL does not sign says nothing about the body.
            None if !signed.split(';').any(|name| name == own) => None,
            None => Payload::of_url(fields)?,
        };
        let (payload, payload_text) = sent.unwrap_or((Payload::Unsigned, UNSIGNED.into()));
        Ok(Self {
            access_key,
            scope,
            signed,
            signature,
            time_text: date.into(),
            time,
            valid_seconds: Some(valid_seconds),
            payload,
            payload_text,
            token: token(fields, get, access_key)?,
            algorithm,
        })
    }

    pub(super) fn verify(
        &self,
        key: &AccessKey,
        signing: &mut Option<Arc<SigningKey>>,
        line: RequestLine<'_>,
        fields: &Fields<'_>,
        now: Timestamp,
    ) -> Result<Verified, Error> {
        check_token(key, self.token.as_deref())?;
        self.check_time(now)?;
        self.check_coverage(fields)?;
        let dialect = fields.dialect();
        let without = match self.valid_seconds {
            Some(_) => format!("{}Signature", dialect.names().query_prefix),
            None => String::new(),
        };
        let query = canonical::query(line.query, &without);
        let canonical = |path: &str| {
            canonical::request(line.method, path, &query, fields, self.signed, &self.payload_text)
        };
        let encoded = canonical::path(line.path);
        match self.algorithm {
            Algorithm::Shared => {
                let signing = SigningKey::kept(signing, dialect, self.scope, key);
                self.verify_shared(signing, line, &encoded, canonical, dialect)
            }
            Algorithm::KeyPair => {
                let pair = SigningKey::kept_pair(signing, dialect, self.access_key, key)?;
                Ok(self.claim(pair, line, &encoded, canonical, dialect))
            }
        }
    }

    /// The text that is signed, in pieces but for the hash at its end: only who is refused is shown the whole.
    fn start(&self, dialect: Dialect) -> [&str; 6] {
        [self.algorithm.name(dialect), "\n", &self.time_text, "\n", self.scope, "\n"]
    }

    fn mismatch(&self, request: String, dialect: Dialect) -> Error {
        let hash = hex::encode(sha256(request.as_bytes()));
        Error::SignatureDoesNotMatch(Box::new(SignatureMismatch {
            access_key: self.access_key.to_owned(),
            provided: self.signature.to_owned(),
            string_to_sign: [&self.start(dialect).concat(), hash.as_str()].concat(),
            canonical_request: request,
        }))
    }

    fn verify_shared(
        &self,
        signing: &SigningKey,
        line: RequestLine<'_>,
        encoded: &str,
        canonical: impl Fn(&str) -> String,
        dialect: Dialect,
    ) -> Result<Verified, Error> {
        let start = self.start(dialect);
        let matches = |request: &str| {
            let hash = digits(&sha256(request.as_bytes()));
            let text = start.iter().map(|piece| piece.as_bytes()).chain([hash.as_slice()]);
            let own = digits(&signing.sign(text));
            bool::from(own.as_slice().ct_eq(self.signature.as_bytes()))
        };
        let request = canonical(encoded);
        // Some clients sign the path exactly as they send it, `%2F` and all: that binds the request as well.
        let as_sent = || encoded != line.path && matches(&canonical(line.path));
        if !(matches(&request) || as_sent()) {
            return Err(self.mismatch(request, dialect));
        }
        let chunks = self.payload.has_signed_chunks().then(|| {
            ChunkSigner::new(
                dialect,
                *signing.shared(),
                format!("{}\n{}", self.time_text, self.scope),
                self.signature.to_owned(),
            )
            .refusing_with(self.access_key, &request)
        });
        let sent_hash = self.payload.sent_hash(&self.payload_text);
        Ok(Verified { payload: self.payload, chunks, claim: None, sent_hash })
    }

    /// The part of a signature with a key pair that is still to be verified.
    fn claim(
        &self,
        pair: KeyPair,
        line: RequestLine<'_>,
        encoded: &str,
        canonical: impl Fn(&str) -> String,
        dialect: Dialect,
    ) -> Verified {
        let start = self.start(dialect).concat();
        let text = |request: &str| format!("{start}{}", hex::encode(sha256(request.as_bytes())));
        let request = canonical(encoded);
        let mut texts = vec![text(&request)];
        if encoded != line.path {
            texts.push(text(&canonical(line.path)));
        }
        let chunks = self.payload.has_signed_chunks().then(|| {
            let scope = format!("{}\n{}", self.time_text, self.scope);
            ChunkSigner::with_key_pair(dialect, pair.clone(), scope, self.signature.to_owned())
                .refusing_with(self.access_key, &request)
        });
        let sent_hash = self.payload.sent_hash(&self.payload_text);
        let claim = Claim {
            key: pair,
            texts,
            signature: self.signature.to_owned(),
            refusal: self.mismatch(request, dialect),
        };
        Verified { payload: self.payload, chunks, claim: Some(Box::new(claim)), sent_hash }
    }

    /// The session token that the request brings.
    pub(super) fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    fn check_time(&self, now: Timestamp) -> Result<(), Error> {
        let ahead = self.time.millis() - now.millis();
        let Some(valid_seconds) = self.valid_seconds else {
            if ahead.abs() > SKEW_MILLIS_MAX {
                return Err(Error::RequestTimeTooSkewed {
                    request_time: self.time_text.clone().into_owned(),
                    server_time: now.rfc3339(),
                    most_millis: SKEW_MILLIS_MAX,
                });
            }
            return Ok(());
        };
        let expires = self.time.plus(std::time::Duration::from_secs(valid_seconds));
        if ahead > SKEW_MILLIS_MAX {
            return Err(Error::RequestNotYetValid {
                from_millis: self.time.millis(),
                expires: expires.rfc3339(),
                server_time: now.rfc3339(),
            });
        }
        if now > expires {
            return Err(Error::RequestExpired {
                valid_seconds: Some(valid_seconds),
                expires: expires.rfc3339(),
                server_time: now.rfc3339(),
            });
        }
        Ok(())
    }

    /// Tells whether the signature covers a header. The list is short: a search for its next sign would cost more than a look at each.
    fn covers(&self, name: &str) -> bool {
        let mut signed = self.signed.as_bytes().split(|byte| *byte == b';');
        signed.any(|signed| signed == name.as_bytes())
    }

    /// Every header of the service must be signed, and the host.
    fn check_coverage(&self, fields: &Fields<'_>) -> Result<(), Error> {
        let prefix = fields.dialect().names().header_prefix;
        // A URL signs for any body unless it says otherwise: a hash beside it means nothing.
        let passed = |name: &str| {
            self.valid_seconds.is_some() && fields.dialect().is_header(name, CONTENT_SHA256)
        };
        let mut unsigned: Vec<&str> = fields
            .sent()
            .map(|(name, _)| name)
            .filter(|name| name.starts_with(prefix) || *name == "host")
            .filter(|name| !self.covers(name) && !passed(name))
            .collect();
        unsigned.sort_unstable();
        unsigned.dedup();
        if unsigned.is_empty() {
            return Ok(());
        }
        Err(Error::HeadersNotSigned { names: unsigned.join(", ") })
    }
}

/// The day of a scope.
fn day_of(scope: &str) -> &str {
    scope.split('/').next().unwrap_or_default()
}

/// The token of a request, by parameter or header. That of a session on a directory bucket has a name of its own; a second one, which would
/// count for nothing, is refused.
fn token<'r>(
    fields: &Fields<'r>,
    parameter: impl Fn(&str) -> Option<&'r str>,
    access_key: &str,
) -> Result<Option<Cow<'r, str>>, Error> {
    let sent = |name: &str, header: &str| match parameter(name) {
        None => fields.get(header),
        token => Ok(token.map(Cow::Borrowed)),
    };
    let temporary = sent("Security-Token", "x-store-security-token")?;
    let of_session = sent("S3session-Token", "x-store-s3session-token")?;
    match (temporary, of_session) {
        (Some(_), Some(_)) => Err(Error::InvalidToken),
        (Some(_), None) if is_session_key(access_key) => Err(Error::InvalidToken),
        (temporary, of_session) => Ok(temporary.or(of_session)),
    }
}

/// Seconds for which a presigned URL is valid: a second to a week.
fn read_expires(text: &str) -> Result<u64, Error> {
    let seconds: i64 =
        text.parse().map_err(|_| parameters("X-Store-Expires should be a number"))?;
    match u64::try_from(seconds) {
        Err(_) => Err(parameters("X-Store-Expires must be non-negative")),
        Ok(0) => Err(parameters("X-Store-Expires must be at least one second")),
        Ok(seconds) if seconds > PRESIGNED_SECONDS_MAX => Err(parameters(
            "X-Store-Expires must be less than a week (in seconds); that is, the given X-Store-Expires must be less than 604800 seconds",
        )),
        Ok(seconds) => Ok(seconds),
    }
}

/// The time of a request: `x-store-date`, or else `Date` in any of its forms.
pub(crate) fn header_time<'r>(fields: &Fields<'r>) -> Result<(Timestamp, Cow<'r, str>), Error> {
    let text = match fields.get("x-store-date")? {
        Some(text) => text,
        None => fields.get("date")?.ok_or(Error::MissingDate)?,
    };
    if let Some(time) = basic_time(&text) {
        return Ok((time, text));
    }
    let time = Timestamp::from_http_date(&text).ok_or(Error::MissingDate)?;
    let basic: String = time.rfc3339().chars().filter(|char| !matches!(char, '-' | ':')).collect();
    Ok((time, basic.into()))
}

/// Reads `YYYYMMDDTHHMMSSZ`.
pub(crate) fn basic_time(text: &str) -> Option<Timestamp> {
    let digits = text.bytes().enumerate().all(|(place, byte)| match place {
        8 => byte == b'T',
        15 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    });
    if text.len() != 16 || !digits {
        return None;
    }
    let mut common = *b"0000-00-00T00:00:00Z";
    for (from, to) in [
        (0..4, 0..4),
        (4..6, 5..7),
        (6..8, 8..10),
        (9..11, 11..13),
        (11..13, 14..16),
        (13..15, 17..19),
    ] {
        common.get_mut(to)?.copy_from_slice(text.as_bytes().get(from)?);
    }
    Timestamp::from_rfc3339(std::str::from_utf8(&common).ok()?)
}
