//! Grants: what a user allowed a client, the secrets that stand for it, and their end. Secrets are stored as digests alone.

pub mod device;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Order, Span, StoreError, Table, Tx};
use triptych_core::time::Timestamp;

use super::OauthError;
use crate::account::{ACCOUNTS, Account, Scope, Scopes, TOKENS, TokenRow, digest};

/// Lifetime of an access token, in seconds.
pub const ACCESS_SECONDS: u32 = 3_600;
/// Lifetime of a code, in seconds.
const CODE_SECONDS: i64 = 600;
/// The begin of a refresh token: what begins otherwise never was one.
const REFRESH_PREFIX: &str = "1//0";
/// Secrets that ended which each new one clears away: more than one, so that they come to an end.
const SWEPT_MAX: usize = 4;
/// Ended access tokens that one refresh clears away.
const CLEARED_MAX: usize = 100;
/// Secrets that a step of the end of a grant removes.
const REMOVED_MAX: usize = 100;
/// Accounts that a lookup by address reads at once.
const ACCOUNTS_STEP: usize = 1_000;

/// The name of a grant.
pub type GrantId = [u8; 16];

/// A program that asks for grants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Client {
    /// The digest of its secret; an installed program may have none.
    pub secret: Option<[u8; 32]>,
    /// Addresses that users may be sent back to. Loopback addresses are allowed with any port and path (RFC 8252 §7.3).
    pub redirects: Vec<String>,
    /// The project that its use counts for.
    pub project: Option<String>,
}

impl JsonRecord for Client {}

/// A program that is an account of its own and proves it with a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceAccount {
    /// The account that it acts as.
    pub account: String,
    /// Its public key in PEM.
    pub key: String,
    /// The project that its use counts for.
    pub project: Option<String>,
}

impl JsonRecord for ServiceAccount {}

/// A grant of scopes on an account to a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// To which client.
    pub client: String,
    /// On which account.
    pub account: String,
    /// Its scopes, as they were asked for.
    pub scope: String,
    /// The project that its use counts for.
    pub project: Option<String>,
}

impl JsonRecord for Grant {}

/// Meaning of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Secret {
    /// An authorization code.
    Code(Code),
    /// A refresh token of this grant.
    Refresh(GrantId),
    /// An access token of this grant.
    Access(GrantId),
    /// The code of a device, whose place is this.
    Device([u8; 32]),
}

impl JsonRecord for Secret {}

/// An authorization code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Code {
    /// The grant that it becomes.
    pub id: GrantId,
    /// The grant itself.
    pub grant: Grant,
    /// Address that the user was sent back to.
    pub redirect: String,
    /// The challenge of RFC 7636, if the client made one.
    pub challenge: Option<Challenge>,
    /// True if a refresh token was asked for.
    pub offline: bool,
    /// The client's value for the identity token.
    pub nonce: Option<String>,
    /// End of its life, in seconds since 1970.
    pub expires: i64,
    /// True once it was used: a second use ends the grant.
    pub used: bool,
}

/// A challenge of RFC 7636.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// As the client sent it.
    pub text: String,
    /// True if it is the verifier's digest (S256), false if it is the verifier itself (plain).
    pub hashed: bool,
}

impl Challenge {
    /// Tells whether `verifier` answers the challenge.
    #[must_use]
    pub fn is_answered_by(&self, verifier: &str) -> bool {
        let fits = (43..=128).contains(&verifier.len());
        let answer = if self.hashed {
            URL_SAFE_NO_PAD.encode(digest(verifier))
        } else {
            verifier.to_owned()
        };
        fits && bool::from(answer.as_bytes().ct_eq(self.text.as_bytes()))
    }
}

/// Clients by their id.
pub const CLIENTS: Table<String, Client> = Table::new(0x90);
/// Service accounts by their address.
pub const SERVICE_ACCOUNTS: Table<String, ServiceAccount> = Table::new(0x91);
/// Grants by their id.
pub const GRANTS: Table<GrantId, Grant> = Table::new(0x92);
/// Secrets by their digest.
pub const SECRETS: Table<[u8; 32], Secret> = Table::new(0x93);
/// The digests of a grant's secrets.
pub const SECRETS_OF: Table<(GrantId, [u8; 32]), ()> = Table::new(0x94);
/// The digests of access tokens and codes by the second in which they end.
pub const ENDS: Table<(u64, [u8; 32]), ()> = Table::new(0x97);

/// Tokens that are issued together. They are shown once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssuedTokens {
    /// The access token.
    pub access: String,
    /// The refresh token, where one is given.
    pub refresh: Option<String>,
    /// The granted scopes.
    pub scope: String,
    /// The account, for the identity token.
    pub account: String,
    /// The client, for the identity token.
    pub client: String,
    /// The client's value for the identity token.
    pub nonce: Option<String>,
}

/// The scopes of this service among `scope`.
///
/// # Errors
/// `InvalidScope` for one that is neither ours nor one of OpenID Connect.
pub fn scopes_of(scope: &str) -> Result<Scopes, OauthError> {
    let mut scopes = Scopes::of(&[]);
    for name in scope.split_ascii_whitespace() {
        match Scope::named(name) {
            Some(scope) => scopes = scopes.with(scope),
            None if is_identity(name) => {}
            None => return Err(OauthError::InvalidScope(name.to_owned())),
        }
    }
    Ok(scopes)
}

/// Tells whether a scope is one of OpenID Connect.
#[must_use]
pub fn is_identity(name: &str) -> bool {
    name == "openid" || ["email", "profile"].iter().any(|short| tells(name, short))
}

/// Tells whether `email` or `profile` is among these scopes, under its short or its long name.
pub(super) fn tells(scope: &str, short: &str) -> bool {
    let long = |name: &str| {
        let own = name.strip_prefix(Scope::PREFIX)?;
        own.strip_prefix("userinfo.").map(|own| own == short)
    };
    scope.split_ascii_whitespace().any(|name| name == short || long(name) == Some(true))
}

/// The account with this id or address, unless it was closed: nobody is asked for it any more.
///
/// # Errors
/// As the store.
pub fn account_named(tx: &mut Tx<'_>, name: &str) -> Result<Option<Account>, StoreError> {
    if let Some(account) = ACCOUNTS.peek(tx, &name.to_owned())? {
        return Ok(Some(account).filter(|account| !account.closed));
    }
    let mut span = ACCOUNTS.span(&());
    loop {
        let (accounts, more) = ACCOUNTS.scan(tx, &span, ACCOUNTS_STEP)?;
        let last = accounts.last().map(|(id, _)| ACCOUNTS.key(id).to_vec());
        let is_meant =
            |account: &Account| !account.closed && account.email.eq_ignore_ascii_case(name);
        let found = accounts.into_iter().map(|(_, account)| account).find(is_meant);
        if found.is_some() || !more {
            return Ok(found);
        }
        span.from = last;
    }
}

/// Makes a code for what the user allowed.
///
/// # Errors
/// As the store.
pub fn make_code(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    now: Timestamp,
    code: Code,
) -> Result<String, StoreError> {
    sweep(tx, now)?;
    let expires = now.seconds().saturating_add(CODE_SECONDS);
    let (id, meaning) = (code.id, Secret::Code(Code { expires, used: false, ..code }));
    let secret = make_secret(tx, ids, "4/0A", expires, &meaning);
    SECRETS_OF.put(tx, &(id, digest(&secret)), &());
    Ok(secret)
}

/// Exchanges a code for tokens. A code that is used a second time ends the grant (RFC 6749 §4.1.2), a step each time: then the answer is
/// `Ok(None)`, for the step has to be committed, until there is no such code.
///
/// # Errors
/// `InvalidGrant`, `Store`.
pub fn redeem(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    now: Timestamp,
    client: &str,
    secret: &str,
    redirect: Option<&str>,
    verifier: Option<&str>,
) -> Result<Option<IssuedTokens>, OauthError> {
    let Some(Secret::Code(code)) = SECRETS.get(tx, &digest(secret))? else {
        return Err(OauthError::InvalidGrant("Malformed auth code."));
    };
    if code.grant.client != client {
        return Err(OauthError::InvalidGrant("The code was made for another client."));
    }
    if code.used {
        remove_grant(tx, code.id, digest(secret))?;
        return Ok(None);
    }
    if now.seconds() >= code.expires {
        return Err(OauthError::InvalidGrant("The code has expired."));
    }
    if redirect != Some(code.redirect.as_str()) {
        return Err(OauthError::RedirectMismatch);
    }
    match (&code.challenge, verifier) {
        (None, _) => {}
        (Some(challenge), Some(verifier)) if challenge.is_answered_by(verifier) => {}
        (Some(_), None) => return Err(OauthError::InvalidGrant("Missing code verifier.")),
        (Some(_), Some(_)) => return Err(OauthError::InvalidGrant("Invalid code verifier.")),
    }
    let (access, refresh) = begin(tx, ids, now, code.id, &code.grant, code.offline)?;
    SECRETS.put(tx, &digest(secret), &Secret::Code(Code { used: true, ..code.clone() }));
    Ok(Some(IssuedTokens {
        access,
        refresh,
        scope: code.grant.scope,
        account: code.grant.account,
        client: code.grant.client,
        nonce: code.nonce,
    }))
}

/// Begins a grant: its access token, and a refresh token where one is to be given.
///
/// # Errors
/// `InvalidScope`, `Store`.
fn begin(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    now: Timestamp,
    id: GrantId,
    grant: &Grant,
    offline: bool,
) -> Result<(String, Option<String>), OauthError> {
    GRANTS.put(tx, &id, grant);
    let refresh = offline.then(|| {
        let refresh = random_secret(ids, REFRESH_PREFIX);
        SECRETS.put(tx, &digest(&refresh), &Secret::Refresh(id));
        SECRETS_OF.put(tx, &(id, digest(&refresh)), &());
        refresh
    });
    let access = make_access(tx, ids, now, Some(id), grant)?;
    Ok((access, refresh))
}

/// Makes a secret with which a grant begins, and which ends in this second.
fn make_secret(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    prefix: &str,
    expires: i64,
    meaning: &Secret,
) -> String {
    let secret = random_secret(ids, prefix);
    ENDS.put(tx, &end_key(expires, digest(&secret)), &());
    SECRETS.put(tx, &digest(&secret), meaning);
    secret
}

/// The client that an access token was given to; none for a token of the seed file, or of a service account.
///
/// # Errors
/// As the store.
pub fn client_of(tx: &mut Tx<'_>, token: &str) -> Result<Option<String>, StoreError> {
    let Some(Secret::Access(id)) = SECRETS.peek(tx, &digest(token))? else {
        return Ok(None);
    };
    Ok(GRANTS.peek(tx, &id)?.map(|grant| grant.client))
}

/// Gives a new access token for a refresh token, with the same scopes or fewer.
///
/// # Errors
/// `InvalidGrant`, `InvalidScope`, `Store`.
pub fn refresh(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    now: Timestamp,
    client: &str,
    secret: &str,
    scope: Option<&str>,
) -> Result<IssuedTokens, OauthError> {
    if !secret.starts_with(REFRESH_PREFIX) {
        return Err(OauthError::InvalidGrant("Bad Request"));
    }
    let revoked = OauthError::InvalidGrant("Token has been expired or revoked.");
    let Some(Secret::Refresh(id)) = SECRETS.get(tx, &digest(secret))? else {
        return Err(revoked);
    };
    let grant = GRANTS.get(tx, &id)?.filter(|grant| grant.client == client).ok_or(revoked)?;
    let scope = match scope {
        None => grant.scope.clone(),
        Some(fewer) => {
            let granted =
                |name: &&str| grant.scope.split_ascii_whitespace().any(|granted| granted == *name);
            if let Some(more) = fewer.split_ascii_whitespace().find(|name| !granted(name)) {
                return Err(OauthError::InvalidScope(more.to_owned()));
            }
            fewer.to_owned()
        }
    };
    clear_expired(tx, now, id)?;
    let access =
        make_access(tx, ids, now, Some(id), &Grant { scope: scope.clone(), ..grant.clone() })?;
    Ok(IssuedTokens {
        access,
        refresh: None,
        scope,
        account: grant.account,
        client: grant.client,
        nonce: None,
    })
}

/// An access token for `grant`, under the grant `id` if it has one that lasts.
///
/// # Errors
/// `InvalidScope`, `Store`.
pub fn make_access(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    now: Timestamp,
    id: Option<GrantId>,
    grant: &Grant,
) -> Result<String, OauthError> {
    sweep(tx, now)?;
    let access = random_secret(ids, "ya29.");
    let key = digest(&access);
    let expires = now.plus(std::time::Duration::from_secs(u64::from(ACCESS_SECONDS)));
    let row = TokenRow {
        account: grant.account.clone(),
        scopes: scopes_of(&grant.scope)?,
        project: grant.project.clone(),
        expires: Some(expires),
        identity: grant
            .scope
            .split_ascii_whitespace()
            .filter(|name| is_identity(name))
            .collect::<Vec<_>>()
            .join(" "),
    };
    TOKENS.put(tx, &key, &row);
    ENDS.put(tx, &end_key(expires.seconds(), key), &());
    if let Some(id) = id {
        SECRETS.put(tx, &key, &Secret::Access(id));
        SECRETS_OF.put(tx, &(id, key), &());
    }
    Ok(access)
}

/// Takes a step of the end of a token's grant, whichever of its tokens it is (RFC 7009); says whether there was such a token. The grant is
/// ended once there is none.
///
/// # Errors
/// As the store.
pub fn revoke(tx: &mut Tx<'_>, token: &str) -> Result<bool, StoreError> {
    let key = digest(token);
    match SECRETS.get(tx, &key)? {
        Some(Secret::Refresh(id) | Secret::Access(id)) => remove_grant(tx, id, key).map(|()| true),
        Some(Secret::Code(_) | Secret::Device(_)) => Ok(false),
        None => {
            let known = TOKENS.get(tx, &key)?.is_some();
            TOKENS.delete(tx, &key);
            Ok(known)
        }
    }
}

/// Removes a grant, and a step of the secrets that stand for it. The one that was `asked` about goes with the last of them, so that who asks
/// again goes on where it was.
fn remove_grant(tx: &mut Tx<'_>, id: GrantId, asked: [u8; 32]) -> Result<(), StoreError> {
    // Without it nothing is given any more.
    GRANTS.delete(tx, &id);
    let (secrets, more) = SECRETS_OF.scan(tx, &SECRETS_OF.span(&id), REMOVED_MAX)?;
    let secrets = secrets.into_iter().map(|((_, key), ())| key);
    for key in secrets.filter(|key| !more || *key != asked) {
        TOKENS.delete(tx, &key);
        SECRETS.delete(tx, &key);
        SECRETS_OF.delete(tx, &(id, key));
    }
    Ok(())
}

/// Removes access tokens of the grant that have ended, so that a grant that is refreshed for years stays small.
fn clear_expired(tx: &mut Tx<'_>, now: Timestamp, id: GrantId) -> Result<(), StoreError> {
    let (secrets, _) = SECRETS_OF.scan(tx, &SECRETS_OF.span(&id), CLEARED_MAX)?;
    for ((_, key), ()) in secrets {
        let ended = match SECRETS.peek(tx, &key)? {
            Some(Secret::Access(_)) => TOKENS
                .peek(tx, &key)?
                .and_then(|row| row.expires)
                .is_none_or(|expires| expires <= now),
            // A used code is kept as long as its grant, so that a second use of it is seen.
            Some(Secret::Code(_) | Secret::Refresh(_) | Secret::Device(_)) => false,
            None => true,
        };
        if ended {
            TOKENS.delete(tx, &key);
            SECRETS.delete(tx, &key);
            SECRETS_OF.delete(tx, &(id, key));
        }
    }
    Ok(())
}

/// The place of a secret that ends in this second.
fn end_key(seconds: i64, key: [u8; 32]) -> (u64, [u8; 32]) {
    (u64::try_from(seconds).unwrap_or_default(), key)
}

/// Removes a few access tokens and codes, those of devices too, that have ended, the earliest first, so that none stays for long where new ones are made.
fn sweep(tx: &mut Tx<'_>, now: Timestamp) -> Result<(), StoreError> {
    let span = Span { order: Order::Ascending, ..ENDS.span(&()) };
    let (ends, _) = ENDS.scan(tx, &span, SWEPT_MAX)?;
    for (end, ()) in ends {
        if i64::try_from(end.0).is_ok_and(|end| end >= now.seconds()) {
            break;
        }
        ENDS.delete(tx, &end);
        let key = end.1;
        let mut secret = SECRETS.peek(tx, &key)?;
        if matches!(secret, Some(Secret::Code(_))) {
            // An instance whose clock is behind may redeem it meanwhile. What else ended ends for all, so that no two who sweep stop each other.
            secret = SECRETS.get(tx, &key)?;
        }
        match secret {
            // It was redeemed; it stays as long as its grant, so that a second use of it is seen.
            Some(Secret::Code(code)) if code.used => {}
            Some(Secret::Code(Code { id, .. }) | Secret::Access(id)) => {
                TOKENS.delete(tx, &key);
                SECRETS.delete(tx, &key);
                SECRETS_OF.delete(tx, &(id, key));
                remove_dead_grant(tx, id)?;
            }
            Some(Secret::Refresh(_)) => {}
            Some(Secret::Device(place)) => {
                SECRETS.delete(tx, &key);
                device::DEVICES.delete(tx, &place);
            }
            None => TOKENS.delete(tx, &key),
        }
    }
    Ok(())
}

/// Removes a grant of which no token is left: its used code can end nothing any more.
fn remove_dead_grant(tx: &mut Tx<'_>, id: GrantId) -> Result<(), StoreError> {
    let (left, more) = SECRETS_OF.scan(tx, &SECRETS_OF.span(&id), 1)?;
    let code = match left.first() {
        Some(((_, key), ())) => match SECRETS.peek(tx, key)? {
            Some(Secret::Code(code)) if code.used && !more => Some(*key),
            _ => return Ok(()),
        },
        None => None,
    };
    GRANTS.delete(tx, &id);
    if let Some(key) = code {
        SECRETS.delete(tx, &key);
        SECRETS_OF.delete(tx, &(id, key));
    }
    Ok(())
}

/// 256 unguessable bits as text.
fn random_secret(ids: &mut dyn Ids, prefix: &str) -> String {
    let mut bytes = [0; 32];
    ids.fill(&mut bytes);
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes))
}

#[cfg(test)]
mod tests;
