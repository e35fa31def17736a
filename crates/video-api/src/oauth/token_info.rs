//! Telling a token's holder who its user is, and what it is: whose, for which client, with which scopes, and for how long.

use serde_json::{Map, Value, json};
use triptych_core::kv::Tx;

use super::token::{IDENTITY, Issuer, set};
use super::{Form, OauthError, grant};
use crate::account::{Scope, TOKENS, digest};
use crate::oauth::jwt::IdentityKey;

/// Paths whose answers have the names of version 3.
const PATHS: &[&str] = &["/oauth2/v3/tokeninfo", "/tokeninfo"];
/// The path whose answers have the names of version 1.
const FIRST_PATH: &str = "/oauth2/v1/tokeninfo";
/// Paths whose answers about users have the names of versions 1 and 2.
const FIRST_USER_PATHS: &[&str] =
    &["/oauth2/v2/userinfo", "/oauth2/v1/userinfo", "/userinfo/v2/me"];
/// Paths whose answers about users have the names of version 3, which are those of OpenID Connect.
const USER_PATHS: &[&str] = &["/oauth2/v3/userinfo", "/v1/userinfo", "/userinfo"];
/// Names that versions 1 and 2 have for what they say of a user, beside those of version 3.
const FIRST_USER_NAMES: &[(&str, &str)] =
    &[("id", "sub"), ("email", "email"), ("verified_email", "email_verified"), ("name", "name")];
/// Names of version 1 beside those of version 3.
const FIRST_NAMES: &[(&str, &str)] = &[
    ("issued_to", "azp"),
    ("audience", "aud"),
    ("user_id", "sub"),
    ("scope", "scope"),
    ("expires_in", "expires_in"),
    ("email", "email"),
    ("verified_email", "email_verified"),
];

/// Tells whether a path is one that tells of tokens.
#[must_use]
pub fn is_token_info(path: &str) -> bool {
    path == FIRST_PATH || PATHS.contains(&path)
}

/// Tells whether a path is one that tells of users.
#[must_use]
pub fn is_user_info(path: &str) -> bool {
    FIRST_USER_PATHS.contains(&path) || USER_PATHS.contains(&path)
}

impl Issuer<'_> {
    /// Tells of the user whose access token this is, with the names that the path has.
    ///
    /// # Errors
    /// `InvalidToken`, `Store`.
    pub fn user_info(&self, tx: &mut Tx<'_>, path: &str, token: &str) -> Result<Value, OauthError> {
        let told = self.profile(tx, token)?;
        let is_first = FIRST_USER_PATHS.contains(&path);
        Ok(if is_first { renamed(&told, FIRST_USER_NAMES) } else { told })
    }

    /// Tells of the token that `form` brings.
    ///
    /// # Errors
    /// `InvalidRequest` without a token, `UnknownToken`, `Store`.
    pub fn token_info(
        &self,
        tx: &mut Tx<'_>,
        path: &str,
        form: &Form,
    ) -> Result<Value, OauthError> {
        let told = match (form.get("access_token"), form.get("id_token")) {
            (Some(token), _) => self.access_token(tx, token)?,
            (None, Some(token)) => return self.identity_token(tx, token).map(as_texts),
            (None, None) => {
                let missing = "either access_token, id_token, or token_handle required";
                return Err(OauthError::InvalidRequest(missing.to_owned()));
            }
        };
        Ok(if path == FIRST_PATH { renamed(&told, FIRST_NAMES) } else { as_texts(told) })
    }

    /// Account, scopes and life of an access token.
    fn access_token(&self, tx: &mut Tx<'_>, token: &str) -> Result<Value, OauthError> {
        // The token is what is asked about, and authorizes nothing.
        let mut info = self.profile(tx, token).map_err(|error| match error {
            OauthError::InvalidToken => OauthError::UnknownToken,
            other => other,
        })?;
        let row = TOKENS.peek(tx, &digest(token))?.ok_or(OauthError::UnknownToken)?;
        let own = row.scopes.iter().map(|scope| format!("{}{}", Scope::PREFIX, scope.name()));
        let identity = row.identity.split_ascii_whitespace().map(str::to_owned);
        let scopes: Vec<String> = own.chain(identity).collect();
        set(&mut info, "scope", json!(scopes.join(" ")));
        if let Some(client) = grant::client_of(tx, token)? {
            set(&mut info, "azp", json!(client));
            set(&mut info, "aud", json!(client));
        }
        if let Some(expires) = row.expires {
            set(&mut info, "exp", json!(expires.seconds()));
            set(&mut info, "expires_in", json!(expires.seconds() - self.now.seconds()));
        }
        Ok(info)
    }

    /// Header and claims of an identity token of this issuer that has not ended.
    fn identity_token(&self, tx: &mut Tx<'_>, token: &str) -> Result<Value, OauthError> {
        let secret = IDENTITY.peek(tx, &())?.ok_or(OauthError::UnknownToken)?;
        let key = IdentityKey::from_bytes(secret.bytes()).ok_or(OauthError::UnknownToken)?;
        let (header, mut claims) = key.signed(token).ok_or(OauthError::UnknownToken)?;
        let ends = claims.get("exp").and_then(Value::as_i64).unwrap_or_default();
        if ends <= self.now.seconds() {
            return Err(OauthError::UnknownToken);
        }
        for (name, value) in header.as_object().into_iter().flatten() {
            set(&mut claims, name, value.clone());
        }
        Ok(claims)
    }
}

/// An answer of version 3, in which every value is text.
fn as_texts(told: Value) -> Value {
    let text = |value: Value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    };
    let Value::Object(members) = told else {
        return told;
    };
    members.into_iter().map(|(name, value)| (name, Value::String(text(value)))).collect()
}

/// An answer with the names of an earlier version, each beside that of version 3.
fn renamed(told: &Value, names: &[(&str, &str)]) -> Value {
    let member =
        |(first, today): &(&str, &str)| Some(((*first).to_owned(), told.get(*today)?.clone()));
    names.iter().filter_map(member).collect::<Map<_, _>>().into()
}
