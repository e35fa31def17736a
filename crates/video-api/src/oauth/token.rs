//! The token endpoint (RFC 6749 §3.2): codes, refresh tokens and assertions in, access tokens out.

use serde_json::{Value, json};
use subtle::ConstantTimeEq;
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Table, Tx};
use triptych_core::time::Timestamp;

use super::grant::device::{self, Asked};
use super::grant::{ACCESS_SECONDS, CLIENTS, Grant, IssuedTokens, SERVICE_ACCOUNTS};
use super::jwt::{Assertion, IdentityKey, RsaKey};
use super::{Form, OauthError, grant};
use crate::account::{ACCOUNTS, Account, TOKENS, digest};

/// Paths of the token endpoint: today's and those that older clients know.
pub const TOKEN_PATHS: &[&str] =
    &["/token", "/oauth2/v4/token", "/o/oauth2/token", "/oauth2/v3/token"];
/// Audience that the stock libraries write into an assertion, whichever endpoint they send it to.
const STOCK_AUDIENCE: &str = "https://oauth2.googleapis.com/token";

/// The outcome at the token endpoint. Each has to be committed before the client is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Issued {
    /// Tokens, as the client is told them.
    Tokens(Value),
    /// A code that was used twice, and a step of the end of its grant is taken: the request is asked again until there is no such code.
    UsedCode,
    /// A device whose user did not answer so far.
    Waiting,
}

/// The secret of the key that signs identity tokens.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct IdentitySecret([u8; 32]);

impl IdentitySecret {
    /// The bytes that make the key.
    pub(super) const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl JsonRecord for IdentitySecret {}

/// The one row of the key.
pub(crate) const IDENTITY: Table<(), IdentitySecret> = Table::new(0x95);

/// The issuer at a moment: its address as the client sees it, and the time.
#[derive(Debug, Clone, Copy)]
pub struct Issuer<'i> {
    /// The issuer's base URL as the client sees it.
    pub base: &'i str,
    /// The time.
    pub now: Timestamp,
}

/// The key that signs identity tokens; drawn when it is first needed.
///
/// # Errors
/// `Store`.
pub fn identity_key(tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<IdentityKey, OauthError> {
    if let Some(key) = IDENTITY.get(tx, &())?.and_then(|secret| IdentityKey::from_bytes(&secret.0))
    {
        return Ok(key);
    }
    loop {
        let mut secret = [0; 32];
        ids.fill(&mut secret);
        if let Some(key) = IdentityKey::from_bytes(&secret) {
            IDENTITY.put(tx, &(), &IdentitySecret(secret));
            return Ok(key);
        }
    }
}

impl Issuer<'_> {
    /// Answers the token endpoint. `basic` are the client's id and secret where it sent them as `Authorization: Basic`.
    ///
    /// # Errors
    /// `InvalidRequest`, `UnsupportedGrantType`, `InvalidClient`, `RedirectMismatch`, `InvalidGrant`, `InvalidScope`, `ExpiredToken`, `AccessDenied`,
    /// `SlowDown`, `Store`.
    pub fn issue(
        &self,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
        form: &Form,
        basic: Option<(&str, &str)>,
    ) -> Result<Issued, OauthError> {
        let issued = match form.required("grant_type")? {
            "authorization_code" => {
                let client = self.authenticate_client(tx, form, basic)?;
                let (code, redirect) = (form.required("code")?, form.get("redirect_uri"));
                match grant::redeem(
                    tx,
                    ids,
                    self.now,
                    &client,
                    code,
                    redirect,
                    form.get("code_verifier"),
                )? {
                    Some(issued) => issued,
                    None => return Ok(Issued::UsedCode),
                }
            }
            "refresh_token" => {
                let client = self.authenticate_client(tx, form, basic)?;
                grant::refresh(
                    tx,
                    ids,
                    self.now,
                    &client,
                    form.required("refresh_token")?,
                    form.get("scope"),
                )?
            }
            "urn:ietf:params:oauth:grant-type:jwt-bearer" => {
                self.exchange_assertion(tx, ids, form.required("assertion")?)?
            }
            device if device::GRANT_TYPES.contains(&device) => {
                let client = self.authenticate_client(tx, form, basic)?;
                // Older clients have another name for it.
                let code = form.get("device_code").or_else(|| form.get("code"));
                let code = code.map_or_else(|| form.required("device_code"), Ok)?;
                match device::ask(tx, ids, self.now, &client, code)? {
                    Asked::Granted(issued) => issued,
                    Asked::Wait => return Ok(Issued::Waiting),
                }
            }
            other => return Err(OauthError::UnsupportedGrantType(other.to_owned())),
        };
        self.render(tx, ids, &issued).map(Issued::Tokens)
    }

    /// The client of a request, once its secret is checked.
    fn authenticate_client(
        &self,
        tx: &mut Tx<'_>,
        form: &Form,
        basic: Option<(&str, &str)>,
    ) -> Result<String, OauthError> {
        let (id, secret) = match basic {
            Some((id, secret)) => (id, Some(secret)),
            None => (form.required("client_id")?, form.get("client_secret")),
        };
        let client = CLIENTS.peek(tx, &id.to_owned())?.ok_or(OauthError::InvalidClient)?;
        let proven = match (client.secret, secret) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(stored), Some(secret)) => stored.ct_eq(&digest(secret)).into(),
        };
        if proven { Ok(id.to_owned()) } else { Err(OauthError::InvalidClient) }
    }

    /// A token for a service account's assertion (RFC 7523).
    fn exchange_assertion(
        &self,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
        assertion: &str,
    ) -> Result<IssuedTokens, OauthError> {
        let assertion = Assertion::read(assertion).map_err(|_| {
            OauthError::InvalidGrant("Invalid JWT: it cannot be read, or is not signed with RS256.")
        })?;
        let unknown = OauthError::InvalidGrant("Invalid grant: account not found");
        let service_account =
            SERVICE_ACCOUNTS.peek(tx, &assertion.claims.iss)?.ok_or(unknown.clone())?;
        let key = RsaKey::from_pem(&service_account.key).map_err(|_| unknown.clone())?;
        let claims = assertion
            .verified_by(&key)
            .map_err(|_| OauthError::InvalidGrant("Invalid JWT Signature."))?;
        if !claims.is_valid_at(self.now.seconds()) {
            return Err(OauthError::InvalidGrant(
                "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.",
            ));
        }
        let here = TOKEN_PATHS.iter().any(|path| claims.aud.strip_prefix(self.base) == Some(path));
        if !here && claims.aud != STOCK_AUDIENCE {
            return Err(OauthError::InvalidGrant("Invalid JWT: aud is not this token endpoint."));
        }
        let account = match &claims.sub {
            None => service_account.account,
            Some(subject) if *subject == claims.iss => service_account.account,
            Some(subject) => grant::account_named(tx, subject)?.ok_or(unknown)?.id,
        };
        let granted = Grant {
            client: claims.iss,
            account,
            scope: claims.scope,
            project: service_account.project,
        };
        let access = grant::make_access(tx, ids, self.now, None, &granted)?;
        Ok(IssuedTokens {
            access,
            refresh: None,
            scope: granted.scope,
            account: granted.account,
            client: granted.client,
            nonce: None,
        })
    }

    fn render(
        &self,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
        issued: &IssuedTokens,
    ) -> Result<Value, OauthError> {
        let mut answer = json!({
            "access_token": issued.access,
            "expires_in": ACCESS_SECONDS - 1,
            "scope": issued.scope,
            "token_type": "Bearer",
        });
        if let Some(refresh) = &issued.refresh {
            set(&mut answer, "refresh_token", json!(refresh));
        }
        if issued.scope.split_ascii_whitespace().any(|scope| scope == "openid") {
            let account = ACCOUNTS
                .peek(tx, &issued.account)?
                .ok_or(OauthError::InvalidGrant("account not found"))?;
            let mut claims = profile(&account, &issued.scope);
            set(&mut claims, "iss", json!(self.base));
            set(&mut claims, "aud", json!(issued.client));
            set(&mut claims, "azp", json!(issued.client));
            set(&mut claims, "iat", json!(self.now.seconds()));
            set(&mut claims, "exp", json!(self.now.seconds() + i64::from(ACCESS_SECONDS)));
            if let Some(nonce) = &issued.nonce {
                set(&mut claims, "nonce", json!(nonce));
            }
            set(&mut answer, "id_token", json!(identity_key(tx, ids)?.sign(&claims)));
        }
        Ok(answer)
    }

    /// Profile of the bearer of an access token, as far as its scopes go.
    ///
    /// # Errors
    /// `InvalidToken`, `Store`.
    pub(super) fn profile(&self, tx: &mut Tx<'_>, token: &str) -> Result<Value, OauthError> {
        let row = TOKENS.peek(tx, &digest(token))?.ok_or(OauthError::InvalidToken)?;
        if row.expires.is_some_and(|expires| expires <= self.now) {
            return Err(OauthError::InvalidToken);
        }
        let account = ACCOUNTS.peek(tx, &row.account)?.filter(|account| !account.closed);
        Ok(profile(&account.ok_or(OauthError::InvalidToken)?, &row.identity))
    }

    /// The document that tells clients where everything is (OpenID Connect Discovery 1.0).
    #[must_use]
    pub fn configuration(&self) -> Value {
        let at = |path: &str| format!("{}{path}", self.base);
        json!({
            "issuer": self.base,
            "authorization_endpoint": at("/o/oauth2/v2/auth"),
            "device_authorization_endpoint": at("/device/code"),
            "token_endpoint": at("/token"),
            "userinfo_endpoint": at("/oauth2/v3/userinfo"),
            "revocation_endpoint": at("/revoke"),
            "jwks_uri": at("/oauth2/v3/certs"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
            "scopes_supported": ["openid", "email", "profile"],
            "token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic", "none"],
            "claims_supported": ["aud", "email", "email_verified", "exp", "iat", "iss", "name", "sub"],
            "code_challenge_methods_supported": ["plain", "S256"],
            "grant_types_supported": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
        })
    }
}

pub(super) fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}

/// The members of an account that these scopes tell: its name and its address are told to who was granted them.
fn profile(account: &Account, scope: &str) -> Value {
    let mut told = json!({ "sub": account.id });
    if grant::tells(scope, "email") {
        set(&mut told, "email", json!(account.email));
        set(&mut told, "email_verified", json!(true));
    }
    if grant::tells(scope, "profile") {
        set(&mut told, "name", json!(account.id));
    }
    told
}
