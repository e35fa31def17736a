//! Accounts, their access keys, and who sends a request.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use triptych_core::kv::JsonRecord;

use crate::auth::digest::hmac_sha256;
use crate::auth::session::Session;

/// An account: the owner of buckets, objects and keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Twelve digits.
    pub id: String,
    /// The name of the account in ACLs: 64 hexadecimal digits.
    pub canonical_id: String,
    /// The name that ACLs show.
    pub display_name: String,
    /// The e-mail address by which grants may name the account.
    #[serde(default)]
    pub email: String,
}

impl JsonRecord for Account {}

/// The accounts that grants can name.
#[derive(Debug, Clone, Default)]
pub struct AccountDirectory(Vec<Account>);

impl AccountDirectory {
    /// The directory of these accounts.
    #[must_use]
    pub const fn new(accounts: Vec<Account>) -> Self {
        Self(accounts)
    }

    /// All accounts.
    pub fn iter(&self) -> impl Iterator<Item = &Account> {
        self.0.iter()
    }

    /// The account with this id.
    #[must_use]
    pub fn account(&self, id: &str) -> Option<&Account> {
        self.0.iter().find(|account| account.id == id)
    }

    /// Tells whether an account has this id, or this canonical id.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.0.iter().any(|account| account.id == id || account.canonical_id == id)
    }

    /// The canonical id of the account with this id; the id itself for one that is no more.
    #[must_use]
    pub fn canonical<'a>(&'a self, id: &'a str) -> &'a str {
        self.account(id).map_or(id, |account| &account.canonical_id)
    }

    /// The name that lists show for a canonical id; empty where it is not known.
    #[must_use]
    pub fn display_name(&self, canonical: &str) -> &str {
        let mut accounts = self.0.iter();
        accounts
            .find(|account| account.canonical_id == canonical)
            .map_or("", |account| &account.display_name)
    }
}

/// The secret half of an access key. It never appears in a log.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Keeps `text` secret.
    #[must_use]
    pub const fn new(text: String) -> Self {
        Self(text)
    }

    /// The secret itself, for signatures.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.0);
    }
}

/// An access key, as stored under its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessKey {
    /// The account that it speaks for.
    pub account: String,
    /// The secret that signatures are made with.
    pub secret: Secret,
    /// The permissions that it has: their names with `*` for any run of characters.
    pub allow: Vec<String>,
    /// The session token that requests with this key must carry, if it is a temporary one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<Secret>,
}

impl JsonRecord for AccessKey {}

/// An access key and the account that it speaks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The id of the access key.
    pub id: String,
    /// The account.
    pub account: Account,
    /// The key.
    pub key: AccessKey,
}

/// The sender of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// Nobody that is known: the request is not signed.
    Anonymous,
    /// The account and the access key of a signature that was verified.
    Principal(Arc<Principal>),
    /// A session on a directory bucket, and who asked for it.
    Session(Arc<SessionCaller>),
}

/// A sender with the credentials of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCaller {
    /// The account and the access key that asked for the session.
    pub principal: Arc<Principal>,
    /// The session.
    pub session: Session,
}

impl Caller {
    /// The account, unless the request is anonymous.
    #[must_use]
    pub fn account(&self) -> Option<&Account> {
        self.principal().map(|principal| &principal.account)
    }

    /// The account and the access key, unless the request is anonymous; of a session those that asked for it.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        match self {
            Self::Anonymous => None,
            Self::Principal(principal) => Some(principal),
            Self::Session(own) => Some(&own.principal),
        }
    }

    /// The session, where the request is of one.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        match self {
            Self::Anonymous | Self::Principal(_) => None,
            Self::Session(own) => Some(&own.session),
        }
    }

    /// Tells whether the caller's key may do whatever its account may.
    #[must_use]
    pub fn is_whole_account(&self) -> bool {
        self.principal().is_some_and(|principal| principal.key.allow.iter().any(|own| own == "*"))
    }

    /// Tells whether the caller's key has `permission`. Whether a bucket lets the caller in is another question.
    #[must_use]
    pub fn has_permission(&self, permission: &str) -> bool {
        self.principal().is_some_and(|principal| {
            let mut allow = principal.key.allow.iter();
            allow.any(|pattern| matches(pattern, permission))
        })
    }
}

/// The access key id that goes with a secret that was made here: it depends on the secret and tells nothing about it.
#[must_use]
pub fn key_id(secret: &str) -> String {
    let digest = hmac_sha256(secret.as_bytes(), [&b"access key id"[..]]);
    let digits: String = hex::encode(digest).chars().take(16).collect();
    format!("OPUT{}", digits.to_ascii_uppercase())
}

/// Tells whether `text` is one that `pattern` describes, where `*` stands for any run of characters and `?` for one.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    matches_by(|at| token_at(pattern, at), text, |one, other| one == other)
}

/// The same for names of actions, whose letters may be of either case.
#[must_use]
pub fn matches_action(pattern: &str, action: &str) -> bool {
    matches_by(|at| token_at(pattern, at), action, |one, other| one.eq_ignore_ascii_case(&other))
}

/// The same for a pattern in which some stars and question marks stand for themselves.
#[must_use]
pub fn matches_tokens(pattern: &[Token], text: &str) -> bool {
    matches_by(|at| pattern.get(at).copied(), text, |one, other| one == other)
}

/// A piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// Any run of bytes.
    Run,
    /// Any byte.
    Any,
    /// This byte.
    Byte(u8),
}

impl Token {
    /// The piece that a byte of a pattern is.
    #[must_use]
    pub const fn of(byte: u8) -> Self {
        match byte {
            b'*' => Self::Run,
            b'?' => Self::Any,
            byte => Self::Byte(byte),
        }
    }
}

fn token_at(pattern: &str, at: usize) -> Option<Token> {
    pattern.as_bytes().get(at).copied().map(Token::of)
}

fn matches_by(
    pattern: impl Fn(usize) -> Option<Token>,
    text: &str,
    same: impl Fn(u8, u8) -> bool,
) -> bool {
    let text = text.as_bytes();
    let (mut at, mut here) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(own) = text.get(here) {
        let takes = match pattern(at) {
            Some(Token::Run) => {
                star = Some((at, here));
                at += 1;
                continue;
            }
            Some(Token::Any) => true,
            Some(Token::Byte(byte)) => same(*own, byte),
            None => false,
        };
        if takes {
            at += 1;
            here += 1;
            continue;
        }
        // Let the last star take one more byte.
        let Some((star_at, taken)) = star else {
            return false;
        };
        star = Some((star_at, taken + 1));
        at = star_at + 1;
        here = taken + 1;
    }
    while pattern(at) == Some(Token::Run) {
        at += 1;
    }
    pattern(at).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        for (pattern, text, expected) in [
            ("store:*", "store:PutObject", true),
            ("*", "kms:Decrypt", true),
            ("store:Put*", "store:GetObject", false),
            ("store:PutObject", "store:PutObjectAcl", false),
            ("*Object*", "store:PutObjectAcl", true),
            ("a*b*c", "aXbXbXc", true),
            ("a*b*c", "aXbXbX", false),
            ("a?c", "abc", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        let secret = Secret::new("hush".to_owned());
        assert!(!format!("{secret:?}").contains("hush"));
    }
}
