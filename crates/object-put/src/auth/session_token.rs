//! Tokens of sessions: each holds its whole session, sealed, so that nothing about it is stored and whoever has the sealing key opens it.
//! The secret of its credentials follows from the token and that key.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use triptych_core::id::Ids;
use triptych_crypto::aes_256_gcm::{Aes256Gcm, NONCE_BYTES, TAG_BYTES};

use crate::auth::account::{AccessKey, Secret};
use crate::auth::digest::{hmac_sha256, same_secret};
use crate::auth::session::Session;
use crate::body::object_key::SecretKey;

/// The start of the ids of sessions' access keys. No other key's id begins so.
const ID_START: &str = "OPSE";
/// The form of the tokens that are made now, their first byte.
const FORM: u8 = 2;
/// Bytes of a secret before they are encoded.
const SECRET_BYTES: usize = 30;
/// The most characters of a token.
const TOKEN_CHARACTERS_MAX: usize = 2048;

/// The key that tokens are sealed with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionKey(SecretKey);

/// The credentials of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCredentials {
    /// The id of its access key.
    pub access_key: String,
    /// The secret of that key.
    pub secret: Secret,
    /// The token that each request brings.
    pub token: String,
}

/// Tells whether an access key is that of a session, by its id.
#[must_use]
pub fn is_session_key(id: &str) -> bool {
    id.starts_with(ID_START)
}

/// The digest of a key's secret that its sessions are bound to.
#[must_use]
pub fn key_check(key: &AccessKey) -> [u8; 8] {
    let digest = hmac_sha256(key.secret.reveal().as_bytes(), [&b"sessions of this key"[..]]);
    digest.first_chunk().copied().unwrap_or_default()
}

impl SessionKey {
    /// The key that seals with `key`.
    #[must_use]
    pub const fn new(key: SecretKey) -> Self {
        Self(key)
    }

    /// New credentials for a session; `None` for one that cannot be written down.
    pub fn seal(&self, session: &Session, ids: &mut dyn Ids) -> Option<SessionCredentials> {
        let mut nonce = [0; NONCE_BYTES];
        ids.fill(&mut nonce);
        let mut sealed = session.to_bytes()?;
        let tag = self.cipher().encrypt(nonce, &[FORM], &mut sealed).ok()?;
        let bytes = [&[FORM][..], &nonce, &sealed, &tag].concat();
        Some(self.credentials(&bytes, URL_SAFE_NO_PAD.encode(&bytes)))
    }

    /// The session of a token, and its credentials; `None` for what is no token of this key.
    #[must_use]
    pub fn open(&self, token: &str) -> Option<(Session, SessionCredentials)> {
        if token.len() > TOKEN_CHARACTERS_MAX {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (form, rest) = bytes.split_first()?;
        let (nonce, rest) = rest.split_first_chunk::<NONCE_BYTES>()?;
        let (sealed, tag) = rest.split_last_chunk::<TAG_BYTES>()?;
        if *form != FORM {
            return None;
        }
        let mut opened = sealed.to_vec();
        self.cipher().decrypt(*nonce, &[FORM], &mut opened, *tag).ok()?;
        let session = Session::from_bytes(&opened)?;
        Some((session, self.credentials(&bytes, token.to_owned())))
    }

    fn cipher(&self) -> Aes256Gcm {
        Aes256Gcm::new(self.0.derive("token", &[]).reveal())
    }

    fn credentials(&self, bytes: &[u8], token: String) -> SessionCredentials {
        let id = self.0.derive("access key id", &[bytes]);
        let digits: String = hex::encode_upper(id.reveal()).chars().take(16).collect();
        let secret = self.0.derive("secret", &[bytes]);
        let secret = secret.reveal().get(..SECRET_BYTES).unwrap_or_default();
        SessionCredentials {
            access_key: format!("{ID_START}{digits}"),
            secret: Secret::new(STANDARD_NO_PAD.encode(secret)),
            token,
        }
    }
}

impl SessionCredentials {
    /// Tells whether a request names this access key and brings this token.
    #[must_use]
    pub fn are(&self, access_key: &str, token: &str) -> bool {
        same_secret(&self.access_key, access_key) && same_secret(&self.token, token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::id::SeededIds;
    use triptych_core::time::Timestamp;

    use crate::auth::session::SessionMode;

    fn key(number: u64) -> SessionKey {
        SessionKey::new(SecretKey::draw(&mut SeededIds::from_number(number)))
    }

    fn session() -> Session {
        Session {
            access_key: "AK".to_owned(),
            key_check: [7; 8],
            bucket: Some(5),
            bucket_name: "b".to_owned(),
            point: None,
            mode: SessionMode::ReadOnly,
            key: None,
            expires: Timestamp::from_seconds(300),
        }
    }

    #[test]
    fn a_token_opens_with_the_key_that_sealed_it_and_gives_the_same_credentials() {
        let mut ids = SeededIds::from_number(9);
        let made = key(1).seal(&session(), &mut ids).unwrap();
        assert_eq!(key(1).open(&made.token), Some((session(), made.clone())));
        assert_eq!(key(2).open(&made.token), None);
        let next = key(1).seal(&session(), &mut ids).unwrap();
        assert_ne!((next.secret, next.access_key), (made.secret.clone(), made.access_key.clone()));
        assert!(is_session_key(&made.access_key));
        assert!(!made.token.contains(made.secret.reveal()));
        assert!(!format!("{made:?}").contains(made.secret.reveal()));
    }

    #[test]
    fn a_token_is_about_as_long_as_the_names_in_it() {
        for length in [3, 20, 63] {
            let name = "n".repeat(length);
            let session = Session { access_key: name.clone(), bucket_name: name, ..session() };
            let made = key(1).seal(&session, &mut SeededIds::from_number(9)).unwrap();
            assert!(made.token.len() < 80 + 2 * length * 4 / 3, "{length}: {}", made.token);
        }
    }

    #[test]
    fn a_token_with_any_byte_changed_opens_nothing() {
        let made = key(1).seal(&session(), &mut SeededIds::from_number(9)).unwrap();
        for place in 0..made.token.len() {
            for other in [b'A', b'b', b'-', b'=', b' ', b'+', 0x7F] {
                let mut bytes = made.token.clone().into_bytes();
                if std::mem::replace(&mut bytes[place], other) == other {
                    continue;
                }
                let text = String::from_utf8(bytes).unwrap();
                assert_eq!(key(1).open(&text), None, "{place} {other}");
            }
        }
        for end in 0..made.token.len() {
            assert_eq!(key(1).open(&made.token[..end]), None, "{end}");
        }
        assert_eq!(key(1).open(&format!("{}A", made.token)), None);
        assert_eq!(key(1).open(&"A".repeat(100_000)), None);
    }
}
