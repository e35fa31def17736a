//! Presigned URLs of the older scheme: what boto3 makes by default for a custom endpoint.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;
use triptych_core::time::Timestamp;

use crate::auth::account::AccessKey;
use crate::auth::digest::hmac_sha1;
use crate::auth::payload::Payload;
use crate::auth::signature::{RequestLine, Verified, check_token};
use crate::error::{Error, SignatureMismatch};
use crate::request::dialect::sigv2;
use crate::request::fields::Fields;
use crate::request::query::Query;

/// Parameters that the signature covers beside those that name a subresource: what of an object is meant, and headers of the response.
const COVERED: [&str; 8] = [
    "partNumber",
    "response-cache-control",
    "response-content-disposition",
    "response-content-encoding",
    "response-content-language",
    "response-content-type",
    "response-expires",
    "versionId",
];

/// The credentials of a presigned URL of the older scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigV2Credentials {
    /// The access key.
    pub access_key: String,
    signature: String,
    expires: Timestamp,
    expires_text: String,
    token: Option<String>,
    /// That of the header, which is signed as one and counts where the query has none.
    header_token: Option<String>,
}

impl SigV2Credentials {
    pub(super) fn read(fields: &Fields<'_>, query: &Query) -> Result<Self, Error> {
        let need = |name: &str| {
            let value = query.get(name).filter(|value| !value.is_empty());
            value.ok_or(Error::MissingQueryParameters)
        };
        let (access_key, signature) = (need(sigv2::ACCESS_KEY)?, need("Signature")?);
        let expires_text = need("Expires")?;
        let seconds: i64 = expires_text
            .parse()
            .map_err(|_| Error::InvalidExpires { value: expires_text.to_owned() })?;
        Ok(Self {
            access_key: access_key.to_owned(),
            signature: signature.to_owned(),
            expires: Timestamp::from_seconds(seconds),
            expires_text: expires_text.to_owned(),
            token: query.get(sigv2::TOKEN).map(str::to_owned),
            header_token: fields.get("x-store-security-token")?.map(Cow::into_owned),
        })
    }

    pub(super) fn verify(
        &self,
        key: &AccessKey,
        line: RequestLine<'_>,
        fields: &Fields<'_>,
        now: Timestamp,
    ) -> Result<Verified, Error> {
        check_token(key, self.token.as_deref().or(self.header_token.as_deref()))?;
        if now > self.expires {
            return Err(Error::RequestExpired {
                valid_seconds: None,
                expires: self.expires.rfc3339(),
                server_time: now.rfc3339(),
            });
        }
        let text = self.string_to_sign(line, fields)?;
        let signature = STANDARD.encode(hmac_sha1(key.secret.reveal().as_bytes(), text.as_bytes()));
        if !bool::from(signature.as_bytes().ct_eq(self.signature.as_bytes())) {
            return Err(Error::SignatureDoesNotMatch(Box::new(SignatureMismatch {
                access_key: self.access_key.clone(),
                provided: self.signature.clone(),
                string_to_sign: text,
                canonical_request: String::new(),
            })));
        }
        // The older scheme covers no body; a hash that came with it still counts.
        Ok(match Payload::of_url(fields)? {
            None => Verified::unsigned(Payload::Unsigned),
            Some((payload, text)) => {
                let sent_hash = payload.sent_hash(&text);
                Verified { sent_hash, ..Verified::unsigned(payload) }
            }
        })
    }

    fn string_to_sign(&self, line: RequestLine<'_>, fields: &Fields<'_>) -> Result<String, Error> {
        let plain = |name: &str| fields.get(name).map(Option::unwrap_or_default);
        let mut own: Vec<(&str, String)> = Vec::new();
        for (name, value) in fields.iter() {
            if !name.starts_with(sigv2::HEADER_PREFIX) {
                continue;
            }
            let value = String::from_utf8_lossy(value).trim().to_owned();
            match own.iter_mut().find(|(first, _)| *first == name) {
                Some((_, joined)) => *joined = format!("{joined},{value}"),
                None => own.push((name, value)),
            }
        }
        if let Some(token) = &self.token {
            own.push((sigv2::TOKEN, token.clone()));
        }
        own.sort();
        let own: String = own.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        let bucket = line.host_bucket.map_or_else(String::new, |bucket| format!("/{bucket}"));
        // A path that is a bucket alone is signed with a slash at its end, whether it was sent with one or not.
        let is_bucket = line.host_bucket.is_none() && line.path.rfind('/') == Some(0);
        let end = if is_bucket && line.path.len() > 1 { "/" } else { "" };
        // By the names that the request is understood by, however they are written: nobody adds one to a URL.
        let mut covered: Vec<(String, Option<String>)> = line
            .query
            .split('&')
            .map(|pair| match pair.split_once('=') {
                Some((name, value)) => (decode(name), Some(decode(value))),
                None => (decode(pair), None),
            })
            .filter(|(name, _)| COVERED.contains(&&**name) || (line.is_subresource)(name))
            .collect();
        covered.sort();
        let covered: Vec<_> = covered
            .into_iter()
            .map(|(name, value)| match value {
                Some(value) if !value.is_empty() => format!("{name}={value}"),
                _ => name,
            })
            .collect();
        let mark = if covered.is_empty() { "" } else { "?" };
        Ok(format!(
            "{}\n{}\n{}\n{}\n{own}{bucket}{}{end}{mark}{}",
            line.method,
            plain("content-md5")?,
            plain("content-type")?,
            self.expires_text,
            line.path,
            covered.join("&")
        ))
    }
}

fn decode(value: &str) -> String {
    percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned()
}
