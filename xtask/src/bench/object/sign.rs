//! Requests of the load, signed as clients sign them: with a secret, in a session, or with a key pair.

use std::net::SocketAddr;

use anyhow::{Context, Result};
use hmac::{Hmac, KeyInit, Mac};
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use sha2::{Digest, Sha256};

pub(in crate::bench) const ACCESS_KEY: &str = "BENCHACCESSKEY";
pub(in crate::bench) const SECRET_KEY: &str = "bench-secret-for-this-run-alone";
const REGION: &str = "us-east-1";
const PAYLOAD: &str = "UNSIGNED-PAYLOAD";
const PAIR_ALGORITHM: &str = "AWS4-ECDSA-P256-SHA256";

/// The key of signatures.
#[derive(Clone)]
enum Key {
    /// That of a day, a region and a service, derived once.
    Derived(Vec<u8>),
    /// The private half of a pair.
    Pair(Box<SigningKey>),
}

/// Signs requests, whose bodies nobody digests.
#[derive(Clone)]
pub(in crate::bench) struct Signer {
    key: Key,
    access_key: String,
    algorithm: &'static str,
    stamp: String,
    scope: String,
    /// Headers that each of its requests has beside a date.
    headers: Vec<(&'static str, String)>,
}

/// A request that nobody has signed.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::bench) struct Draft<'d> {
    pub method: &'d str,
    pub host: &'d str,
    pub path: &'d str,
    /// Parameters in the order of their names, each with its equals sign.
    pub query: &'d str,
    /// Names in lower case.
    pub headers: &'d [(&'d str, &'d str)],
    /// The length of its body, if it has one.
    pub length: Option<usize>,
}

impl Signer {
    /// A signer for the next fifteen minutes.
    pub(in crate::bench) fn now() -> Result<Self> {
        Self::of_service("s3", ACCESS_KEY, SECRET_KEY)
    }

    /// The same for a service and an access key.
    pub(in crate::bench) fn of_service(
        service: &str,
        access_key: &str,
        secret: &str,
    ) -> Result<Self> {
        let (stamp, date) = moment()?;
        let start = format!("AWS4{secret}").into_bytes();
        let key = [&date, REGION, service, "aws4_request"]
            .iter()
            .try_fold(start, |key, text| mac(&key, text.as_bytes()))?;
        Ok(Self {
            key: Key::Derived(key),
            access_key: access_key.to_owned(),
            algorithm: "AWS4-HMAC-SHA256",
            stamp,
            scope: format!("{date}/{REGION}/{service}/aws4_request"),
            headers: Vec::new(),
        })
    }

    /// A signer in a session, for as long as that lasts.
    pub(in crate::bench) fn of_session(
        access_key: &str,
        secret: &str,
        token: &str,
    ) -> Result<Self> {
        let mut signer = Self::of_service("s3express", access_key, secret)?;
        signer.headers.push(("x-amz-s3session-token", token.to_owned()));
        Ok(signer)
    }

    /// A signer with the pair that follows from the secret.
    pub(in crate::bench) fn with_key_pair() -> Result<Self> {
        let (stamp, date) = moment()?;
        Ok(Self {
            key: Key::Pair(Box::new(private_key()?)),
            access_key: ACCESS_KEY.to_owned(),
            algorithm: PAIR_ALGORITHM,
            stamp,
            scope: format!("{date}/s3/aws4_request"),
            headers: vec![("x-amz-region-set", REGION.to_owned())],
        })
    }

    /// The head of a request with a body of `length` bytes.
    pub(in crate::bench) fn head(
        &self,
        method: &str,
        address: SocketAddr,
        path: &str,
        length: usize,
    ) -> Result<String> {
        let host = address.to_string();
        let length = (method == "PUT").then_some(length);
        self.sign(&Draft { method, host: &host, path, length, ..Draft::default() })
    }

    /// The head of a request.
    pub(in crate::bench) fn sign(&self, draft: &Draft<'_>) -> Result<String> {
        let Draft { method, host, path, query, headers, length } = *draft;
        let mut fields =
            vec![("host", host), ("x-amz-content-sha256", PAYLOAD), ("x-amz-date", &self.stamp)];
        fields.extend(self.headers.iter().map(|(name, value)| (*name, value.as_str())));
        fields.extend_from_slice(headers);
        fields.sort_unstable();
        let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let lines: String =
            fields.iter().flat_map(|(name, value)| [*name, ":", *value, "\n"]).collect();
        let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{PAYLOAD}");
        let digest = hex(&Sha256::digest(canonical));
        let Self { key, access_key, algorithm, stamp, scope, .. } = self;
        let to_sign = format!("{algorithm}\n{stamp}\n{scope}\n{digest}");
        let signature = match key {
            Key::Derived(key) => hex(&mac(key, to_sign.as_bytes())?),
            Key::Pair(key) => {
                let signature: Signature = key.sign(to_sign.as_bytes());
                hex(&der(&signature.to_bytes()))
            }
        };
        let sent: String =
            fields.iter().flat_map(|(name, value)| [*name, ": ", *value, "\r\n"]).collect();
        let length =
            length.map_or_else(String::new, |length| format!("content-length: {length}\r\n"));
        let mark = if query.is_empty() { "" } else { "?" };
        Ok(format!(
            "{method} {path}{mark}{query} HTTP/1.1\r\n{sent}{length}authorization: {algorithm} \
             Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}\r\n\r\n"
        ))
    }
}

/// The moment and its day, as signatures name them.
fn moment() -> Result<(String, String)> {
    let stamp = crate::run::workspace::output(
        std::process::Command::new("date").args(["-u", "+%Y%m%dT%H%M%SZ"]),
    )?;
    let stamp = stamp.trim().to_owned();
    let date = stamp.get(..8).context("a date has eight digits")?.to_owned();
    Ok((stamp, date))
}

/// The private key that follows from the secret: the first number that counting gives, and one.
fn private_key() -> Result<SigningKey> {
    let input =
        [&[0, 0, 0, 1], PAIR_ALGORITHM.as_bytes(), &[0], ACCESS_KEY.as_bytes(), &[1, 0, 0, 1, 0]];
    let mut number = mac(format!("AWS4A{SECRET_KEY}").as_bytes(), &input.concat())?;
    for byte in number.iter_mut().rev() {
        let (sum, carries) = byte.overflowing_add(1);
        *byte = sum;
        if !carries {
            break;
        }
    }
    SigningKey::from_slice(&number)
        .context("one secret in four thousand million needs a second try")
}

/// A signature of two numbers of 32 bytes in DER.
fn der(numbers: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    for number in numbers.chunks(32) {
        let start = number.iter().position(|byte| *byte != 0).unwrap_or_default();
        let digits = number.get(start..).unwrap_or_default();
        let sign: &[u8] =
            if digits.first().is_some_and(|first| *first >= 0x80) { &[0] } else { &[] };
        push_tagged(0x02, &[sign, digits].concat(), &mut content);
    }
    let mut whole = Vec::new();
    push_tagged(0x30, &content, &mut whole);
    whole
}

fn push_tagged(tag: u8, content: &[u8], out: &mut Vec<u8>) {
    // No signature has so many bytes that a length would need more than one.
    out.extend([tag, u8::try_from(content.len()).unwrap_or(u8::MAX)]);
    out.extend_from_slice(content);
}

fn mac(key: &[u8], text: &[u8]) -> Result<Vec<u8>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)?;
    mac.update(text);
    Ok(mac.finalize().into_bytes().to_vec())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
