//! JSON Web Tokens (RFC 7519): assertions of service accounts are checked (RS256), identity tokens are signed (ES256).

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use num_bigint::BigUint;
use p256::ecdsa::signature::{Signer, Verifier};
use p256::ecdsa::{Signature, SigningKey};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// A token longer than this is not read.
const TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Tolerance for a client's clock, in seconds.
const SKEW_SECONDS: i64 = 300;
/// An assertion may last so long, in seconds.
const ASSERTION_SECONDS_MAX: i64 = 3_600;
/// The header of a SHA-256 digest in an RSA signature (RFC 8017 §9.2 note 1).
const SHA256_PREFIX: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0D, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

/// A fault of a token or a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum JwtError {
    /// Not three parts of base64url, the first two of them JSON.
    #[error("the assertion is no JSON Web Token")]
    Form,
    /// Another algorithm than RS256.
    #[error("the assertion is not signed with RS256")]
    Algorithm,
    /// The signature is not the key's.
    #[error("the assertion's signature does not belong to the account's key")]
    Signature,
    /// A key that is no RSA public key of 2048 to 8192 bits in PEM.
    #[error("the public key is no RSA key of 2048 to 8192 bits in PEM")]
    Key,
}

/// Claims of an assertion, before anybody believes them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Claims {
    /// Issuer: the service account's address.
    pub iss: String,
    /// For whom: the address of a user that the account acts for.
    pub sub: Option<String>,
    /// The scopes, apart by blanks.
    #[serde(default)]
    pub scope: String,
    /// To whom it is said: the token endpoint.
    pub aud: String,
    /// Time of issue, in seconds since 1970.
    pub iat: i64,
    /// End of its life.
    pub exp: i64,
}

impl Claims {
    /// Tells whether the assertion is short-lived, has begun and has not ended at `now`, in seconds since 1970.
    #[must_use]
    pub const fn is_valid_at(&self, now: i64) -> bool {
        // The client chooses both moments, so that their difference may be more than fits.
        let lifetime = self.exp.saturating_sub(self.iat);
        let has_ended = self.exp <= now.saturating_sub(SKEW_SECONDS);
        let has_begun = self.iat <= now.saturating_add(SKEW_SECONDS);
        0 <= lifetime && lifetime <= ASSERTION_SECONDS_MAX && has_begun && !has_ended
    }
}

/// A token that was read and not yet checked.
#[derive(Debug, Clone)]
pub struct Assertion<'t> {
    /// Its claims.
    pub claims: Claims,
    signed: &'t str,
    signature: Vec<u8>,
}

impl<'t> Assertion<'t> {
    /// Reads a token.
    ///
    /// # Errors
    /// `Form`, `Algorithm`.
    pub fn read(token: &'t str) -> Result<Self, JwtError> {
        #[derive(Deserialize)]
        struct Header {
            alg: String,
        }
        if token.len() > TOKEN_BYTES_MAX {
            return Err(JwtError::Form);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(JwtError::Form)?;
        let (header, claims) = signed.split_once('.').ok_or(JwtError::Form)?;
        let decode = |part: &str| {
            URL_SAFE_NO_PAD.decode(part.trim_end_matches('=')).map_err(|_| JwtError::Form)
        };
        let header: Header =
            serde_json::from_slice(&decode(header)?).map_err(|_| JwtError::Form)?;
        let claims = serde_json::from_slice(&decode(claims)?).map_err(|_| JwtError::Form)?;
        if header.alg != "RS256" {
            return Err(JwtError::Algorithm);
        }
        Ok(Self { claims, signed, signature: decode(signature)? })
    }

    /// Checks the signature, and only then gives the claims away.
    ///
    /// # Errors
    /// `Signature`.
    pub fn verified_by(self, key: &RsaKey) -> Result<Claims, JwtError> {
        if key.verifies(self.signed.as_bytes(), &self.signature) {
            Ok(self.claims)
        } else {
            Err(JwtError::Signature)
        }
    }
}

/// An RSA public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RsaKey {
    modulus: BigUint,
    exponent: BigUint,
    bytes: usize,
}

impl RsaKey {
    /// Reads `PUBLIC KEY` (RFC 5280) or `RSA PUBLIC KEY` (RFC 8017) in PEM.
    ///
    /// # Errors
    /// `Key`.
    pub fn from_pem(pem: &str) -> Result<Self, JwtError> {
        let body: String =
            pem.lines().map(str::trim).filter(|line| !line.starts_with("-----")).collect();
        let der = STANDARD.decode(body).map_err(|_| JwtError::Key)?;
        Self::from_der(&der).ok_or(JwtError::Key)
    }

    fn from_der(der: &[u8]) -> Option<Self> {
        let (mut outer, _) = der_value(der, 0x30)?;
        if outer.first() == Some(&0x30) {
            let (_, key) = der_value(outer, 0x30)?;
            let (bits, _) = der_value(key, 0x03)?;
            (outer, _) = der_value(bits.strip_prefix(&[0])?, 0x30)?;
        }
        let (modulus, rest) = der_value(outer, 0x02)?;
        let (exponent, _) = der_value(rest, 0x02)?;
        let (modulus, exponent) =
            (BigUint::from_bytes_be(modulus), BigUint::from_bytes_be(exponent));
        let bits = modulus.bits();
        let usable = (2048..=8192).contains(&bits)
            && exponent.bits() <= 32
            && exponent.bit(0)
            && exponent > BigUint::from(1_u8);
        usable.then_some(Self { modulus, exponent, bytes: usize::try_from(bits.div_ceil(8)).ok()? })
    }

    /// Tells whether `signature` is RSASSA-PKCS1-v1_5 with SHA-256 of `message` (RFC 8017 §8.2.2).
    fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let number = BigUint::from_bytes_be(signature);
        if signature.len() != self.bytes || number >= self.modulus {
            return false;
        }
        let opened = number.modpow(&self.exponent, &self.modulus).to_bytes_be();
        let digest = Sha256::digest(message);
        // 00 01 FF .. FF 00 header digest; the leading zero is not in the number.
        let padding = self.bytes - 3 - SHA256_PREFIX.len() - digest.len();
        let mut expected = vec![1];
        expected.resize(1 + padding, 0xFF);
        expected.push(0);
        expected.extend_from_slice(&SHA256_PREFIX);
        expected.extend_from_slice(&digest);
        opened.ct_eq(&expected).into()
    }
}

/// The content of the DER value of this tag at the front, and what follows it.
fn der_value(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7F => (usize::from(*length), rest),
        0x81..=0x83 => {
            let (digits, rest) = rest.split_at_checked(usize::from(length & 0x7F))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    (*first == tag).then(|| rest.split_at_checked(length)).flatten()
}

/// The key that signs identity tokens.
#[derive(Clone)]
pub struct IdentityKey(SigningKey);

impl IdentityKey {
    /// The key of these 32 secret bytes; `None` for the one in 2^32 that make no key.
    #[must_use]
    pub fn from_bytes(secret: &[u8; 32]) -> Option<Self> {
        SigningKey::from_slice(secret).ok().map(Self)
    }

    /// Its public half as a JSON Web Key (RFC 7517).
    #[must_use]
    pub fn public(&self) -> Value {
        let point = self.0.verifying_key().to_sec1_point(false);
        let text =
            |coordinate: Option<&[u8]>| URL_SAFE_NO_PAD.encode(coordinate.unwrap_or_default());
        let (x, y) = (text(point.x().map(AsRef::as_ref)), text(point.y().map(AsRef::as_ref)));
        json!({ "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id(), "x": x, "y": y })
    }

    /// The name of the key: the start of the digest of its public half.
    #[must_use]
    pub fn id(&self) -> String {
        let digest = Sha256::digest(self.0.verifying_key().to_sec1_point(true).as_bytes());
        hex::encode(digest.first_chunk::<10>().map_or(&[][..], |start| start.as_slice()))
    }

    /// A signed token that says `claims`.
    #[must_use]
    pub fn sign(&self, claims: &Value) -> String {
        let header = json!({ "alg": "ES256", "typ": "JWT", "kid": self.id() });
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encode(&header), encode(claims));
        let signature: Signature = self.0.sign(signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }

    /// Header and claims of a token that this key signed; `None` for any other text.
    #[must_use]
    pub fn signed(&self, token: &str) -> Option<(Value, Value)> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        let signature = Signature::from_slice(&signature).ok()?;
        self.0.verifying_key().verify(signed.as_bytes(), &signature).ok()?;
        let (header, claims) = signed.split_once('.')?;
        let decode = |part: &str| {
            let bytes = URL_SAFE_NO_PAD.decode(part).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        Some((decode(header)?, decode(claims)?))
    }
}

impl std::fmt::Debug for IdentityKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("IdentityKey").field(&self.id()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use p256::ecdsa::VerifyingKey;

    /// A key and a token that OpenSSL made.
    const KEY: &str = "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA07GCrjEoDVHKo7/nyOdx\nJcOurSmDScqQxxgqXwY/VPUtwhEbWK37iX/RhSC/OQkCf7L8s6EtgXoO8vbTduXL\nKg5aLk2p/JWRwhbR4/pnD/zzoTuJXDVd9c/mgjlQknsB1yymwedGGGsjy6NQ9tnM\nz8HhzgqncVfOAO9VxiA5LRAjJOVX3PAZNWz6sBTq8mTPM0cfljGpVjGK9y6zqMo1\ne9UfxUio8CSOC9DZueu5HFhoxHPBlsCtx/Nw1NURozkzMAXcMctUAD19KvxKlplm\no36nIL2g43WtuuTj1KfF63QJDd5nNz+YS5f8eKiz+H0bMbrsH0RQtD+jrRt+0uVA\nJQIDAQAB\n-----END PUBLIC KEY-----\n";
    const TOKEN: &str = "eyJhbGciOiAiUlMyNTYiLCAidHlwIjogIkpXVCIsICJraWQiOiAiMSJ9.eyJpc3MiOiAicm9ib3RAZXhhbXBsZS5jb20iLCAic2NvcGUiOiAiYSBiIiwgImF1ZCI6ICJodHRwOi8vbG9jYWxob3N0L3Rva2VuIiwgImlhdCI6IDEwMDAsICJleHAiOiA0NjAwfQ.Yc_h3CZiXcuhEXOtNttQrdxewnUsj4KJzrTfubftTfwynPNNjEOqDai14VwqJ3eqcvkIWFUB8fJKiv10-xh_aq0Im04Bpi46u4BexojFWecOlyzbx_PB1vfyHIN7YWzlcUDzQ3N8Kcxj_UuMiWKLT5gPuTi3aSMOuNYljE1E91KsG2U89QmKSv-pj5YT4Ao_lpwSzLEZqLXLrkB-nmTvPDgZD0BTNn-qaDyZQdam70meuxTKf-VLKGg_QD0bEBpLKGfzywV1oB2-a3b00kNZzYtEYCgYXjQjyEsQ6dIeYwpFUddNtk-UhObckX0WzT3fjPDuu_dhO_8tRw6cmDboCA";

    #[test]
    fn a_token_of_another_program_is_verified_and_a_changed_one_is_not() {
        let key = RsaKey::from_pem(KEY).unwrap();
        let claims = Assertion::read(TOKEN).unwrap().verified_by(&key).unwrap();
        assert_eq!(
            (claims.iss.as_str(), claims.scope.as_str(), claims.exp),
            ("robot@example.com", "a b", 4600)
        );
        for at in [60, 120, TOKEN.len() - 20] {
            let mut changed: Vec<u8> = TOKEN.bytes().collect();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(
                Assertion::read(&changed)
                    .and_then(|assertion| assertion.verified_by(&key))
                    .is_err(),
                "{at}"
            );
        }
    }

    #[test]
    fn an_assertion_is_short_lived_around_now_whatever_its_two_moments_are() {
        let valid = |iat, exp| {
            let claims = Claims {
                iss: String::new(),
                sub: None,
                scope: String::new(),
                aud: String::new(),
                iat,
                exp,
            };
            claims.is_valid_at(1_000_000)
        };
        assert!(valid(1_000_000, 1_003_600) && valid(1_000_300, 1_003_900));
        assert!(valid(996_101, 999_701), "a clock that is a little late");
        assert!(!valid(1_000_000, 1_003_601) && !valid(1_000_301, 1_003_900));
        assert!(!valid(996_100, 999_700));
        assert!(!valid(1_000_100, 1_000_000), "ended before it began");
        for (iat, exp) in
            [(-1, i64::MAX), (i64::MIN, i64::MAX), (i64::MAX, i64::MIN), (i64::MIN, 0)]
        {
            assert!(!valid(iat, exp), "{iat} {exp}");
        }
    }

    #[test]
    fn what_is_no_token_or_no_key_is_refused() {
        let unsigned = format!("{}.e30.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#));
        for (token, expected) in [
            ("", JwtError::Form),
            ("a.b.c", JwtError::Form),
            ("..", JwtError::Form),
            (unsigned.as_str(), JwtError::Form),
        ] {
            assert_eq!(Assertion::read(token).unwrap_err(), expected, "{token}");
        }
        let claims = URL_SAFE_NO_PAD.encode(r#"{"iss":"a","aud":"b","iat":1,"exp":2}"#);
        let unsigned = format!("{}.{claims}.", URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#));
        assert_eq!(Assertion::read(&unsigned).unwrap_err(), JwtError::Algorithm);
        for pem in
            ["", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "MAkCAQMCBAEAAQ=="]
        {
            assert_eq!(RsaKey::from_pem(pem), Err(JwtError::Key));
        }
    }

    #[test]
    fn an_identity_token_is_verified_by_the_published_key() {
        let key = IdentityKey::from_bytes(&[7; 32]).unwrap();
        let token = key.sign(&json!({ "sub": "alice" }));
        let (signed, signature) = token.rsplit_once('.').unwrap();
        let coordinate =
            |name: &str| URL_SAFE_NO_PAD.decode(key.public()[name].as_str().unwrap()).unwrap();
        let point = [vec![4], coordinate("x"), coordinate("y")].concat();
        let public = VerifyingKey::from_sec1_bytes(&point).unwrap();
        let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
        assert!(public.verify(signed.as_bytes(), &signature).is_ok());
        assert!(public.verify(b"other", &signature).is_err());
    }

    #[test]
    fn a_key_knows_the_tokens_that_it_signed_and_no_others() {
        let key = IdentityKey::from_bytes(&[7; 32]).unwrap();
        let token = key.sign(&json!({ "sub": "alice" }));
        let (header, claims) = key.signed(&token).unwrap();
        assert_eq!((&header["alg"], &claims), (&json!("ES256"), &json!({ "sub": "alice" })));
        let other = IdentityKey::from_bytes(&[8; 32]).unwrap();
        let cut = token.get(..token.len() - 4).unwrap();
        for stranger in ["", "a.b.c", "..", cut, TOKEN, &other.sign(&claims)] {
            assert_eq!(key.signed(stranger), None, "{stranger}");
        }
    }
}
