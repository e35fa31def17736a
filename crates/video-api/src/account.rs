//! Callers: accounts, their tokens, the keys of projects, and what a token may be used for.
//!
//! Keys and tokens are stored as digests: whoever reads the disk cannot use them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use triptych_core::kv::{JsonRecord, Plan, StoreError, Table, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::record::closing::{self, ClosingChannels};
use crate::record::table_entry::{Form, TableEntry};

/// Accounts by their id.
pub const ACCOUNTS: Table<String, Account> = Table::new(0x01);

/// Tokens by their digest.
pub const TOKENS: Table<[u8; 32], TokenRow> = Table::new(0x02);

/// API keys by their digest.
pub const KEYS: Table<[u8; 32], KeyRow> = Table::new(0x03);

/// Tables as an export names them.
pub static TABLES: &[TableEntry] = &[
    TableEntry::new("accounts", &ACCOUNTS, Form::Json),
    TableEntry::new("tokens", &TOKENS, Form::Json),
    TableEntry::new("keys", &KEYS, Form::Json),
];

/// A use that a token allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Manage the account.
    Full,
    /// Manage the account, over TLS.
    ForceSsl,
    /// View the account.
    ReadOnly,
    /// Upload and manage videos.
    Upload,
    /// Manage a partner's assets.
    Partner,
    /// View a partner's audit details.
    PartnerAudit,
    /// View the members of a channel.
    Memberships,
}

impl Scope {
    /// Every scope, by its bit in [`Scopes`].
    pub const ALL: [Self; 7] = [
        Self::Full,
        Self::ForceSsl,
        Self::ReadOnly,
        Self::Upload,
        Self::Partner,
        Self::PartnerAudit,
        Self::Memberships,
    ];
    /// The start of the full names of scopes.
    pub const PREFIX: &'static str = "https://www.googleapis.com/auth/";

    /// The name after [`Scope::PREFIX`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "youtube",
            Self::ForceSsl => "youtube.force-ssl",
            Self::ReadOnly => "youtube.readonly",
            Self::Upload => "youtube.upload",
            Self::Partner => "youtubepartner",
            Self::PartnerAudit => "youtubepartner-channel-audit",
            Self::Memberships => "youtube.channel-memberships.creator",
        }
    }

    /// The words of a consent page about it.
    #[must_use]
    pub const fn doc(self) -> &'static str {
        match self {
            Self::Full => "Manage your account",
            Self::ForceSsl => {
                "See, edit, and permanently delete your videos, ratings, comments and captions"
            }
            Self::ReadOnly => "View your account",
            Self::Upload => "Manage your videos",
            Self::Partner => "View and manage your assets and associated content",
            Self::PartnerAudit => {
                "View private information of your channel relevant during the audit process with a partner"
            }
            Self::Memberships => {
                "See a list of your current active channel members, their current level, and when they became a member"
            }
        }
    }

    /// The scope with this name, short or full.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = name.strip_prefix(Self::PREFIX).unwrap_or(name);
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// A set of scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(u8);

impl Scopes {
    /// The set of these.
    #[must_use]
    pub const fn of(scopes: &[Scope]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < scopes.len() {
            #[expect(
                clippy::indexing_slicing,
                reason = "the loop ends at the length; const fn has no iterators"
            )]
            let scope = scopes[at];
            bits |= 1 << scope as u8;
            at += 1;
        }
        Self(bits)
    }

    /// This set and one more.
    #[must_use]
    pub const fn with(self, scope: Scope) -> Self {
        Self(self.0 | 1 << scope as u8)
    }

    /// Returns whether the two have a scope in common.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether this scope is in it.
    #[must_use]
    pub const fn has(self, scope: Scope) -> bool {
        self.0 & (1 << scope as u8) != 0
    }

    /// The scopes in it.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }
}

/// Somebody with a login.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Account {
    /// The name in seed files and tokens.
    pub id: String,
    /// The address that logs in.
    pub email: String,
    /// The account's channel, if it has one.
    pub channel: Option<String>,
    /// True once it was closed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
}

impl JsonRecord for Account {}

/// The record of a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRow {
    /// Its owner.
    pub account: String,
    /// The uses that it allows.
    pub scopes: Scopes,
    /// The project that its use counts for.
    pub project: Option<String>,
    /// The time when it ends; a token of the seed file has no end.
    pub expires: Option<Timestamp>,
    /// Scopes of OpenID Connect that it was given with, apart by blanks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub identity: String,
}

impl JsonRecord for TokenRow {}

/// The project that an API key belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRow {
    /// The project.
    pub project: String,
}

impl JsonRecord for KeyRow {}

/// The digest under which a secret is stored.
#[must_use]
pub fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// The caller, as far as the request says.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Caller {
    /// The project that pays.
    pub project: Option<String>,
    /// The account of the token.
    pub account: Option<Account>,
    /// The uses that the token allows.
    pub scopes: Scopes,
    /// Channels of which nobody finds anything any more.
    pub closing: Arc<ClosingChannels>,
}

impl Caller {
    /// Nobody in particular, who finds what everybody does.
    ///
    /// # Errors
    /// As the store.
    pub fn nobody(tx: &mut Tx<'_>) -> Result<Self, StoreError> {
        Ok(Self { closing: closing::peek(tx)?, ..Self::default() })
    }

    /// The account's channel.
    ///
    /// # Errors
    /// [`Error::LoginRequired`] without an account, [`Error::NoChannel`] if it has none.
    pub fn channel(&self) -> Result<&str, Error> {
        let account = self.account.as_ref().ok_or(Error::LoginRequired)?;
        account.channel.as_deref().ok_or(Error::NoChannel)
    }

    /// Returns whether the channel is the caller's own.
    #[must_use]
    pub fn owns(&self, channel: &str) -> bool {
        self.account.as_ref().is_some_and(|account| account.channel.as_deref() == Some(channel))
    }
}

/// The names that credentials led to when they were used last. The rows are read anew each time; so they are read at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LedTo {
    /// The account.
    pub account: Option<String>,
    /// The project.
    pub project: Option<String>,
}

impl LedTo {
    /// The names that a caller's credentials led to.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        let account = caller.account.as_ref().map(|account| account.id.clone());
        Self { account, project: caller.project.clone() }
    }
}

/// Plans the rows by which the bearer of `key` and `token` is identified; gives the account and the name of the project, once they are known.
pub fn plan(
    plan: &mut Plan<'_>,
    key: Option<&str>,
    token: Option<&str>,
    last: &LedTo,
) -> (Option<Account>, Option<String>) {
    let token = token.and_then(|token| plan.row(&TOKENS, &digest(token)));
    let key = key.and_then(|key| plan.row(&KEYS, &digest(key)));
    let named = token.as_ref().map(|token| &token.account).or(last.account.as_ref());
    let account = named.and_then(|account| plan.row(&ACCOUNTS, account));
    let project = key.map(|key| key.project).or_else(|| token.and_then(|token| token.project));
    (account, project.or_else(|| last.project.clone()))
}

/// Identifies the bearer of `key` and `token`. Digests are looked up, so no time tells how near a guess was.
///
/// # Errors
/// [`Error::InvalidCredentials`] and [`Error::AccountClosed`] for the token, then [`Error::KeyInvalid`] for the key.
pub fn identify(
    tx: &mut Tx<'_>,
    key: Option<&str>,
    token: Option<&str>,
    now: Timestamp,
) -> Result<Caller, Error> {
    let mut caller = Caller::nobody(tx)?;
    if let Some(token) = token {
        let row = TOKENS.peek_shared(tx, &digest(token))?.ok_or(Error::InvalidCredentials)?;
        if row.expires.is_some_and(|expires| expires <= now) {
            return Err(Error::InvalidCredentials);
        }
        let account = ACCOUNTS.peek_shared(tx, &row.account)?.ok_or(Error::InvalidCredentials)?;
        if account.closed {
            return Err(Error::AccountClosed);
        }
        caller = Caller {
            project: row.project.clone(),
            account: Some(Account::clone(&account)),
            scopes: row.scopes,
            ..caller
        };
    }
    if let Some(key) = key {
        let row = KEYS.peek_shared(tx, &digest(key))?;
        caller.project = Some(row.ok_or(Error::KeyInvalid)?.project.clone());
    }
    Ok(caller)
}

/// Checks that the account of a caller was not closed since the caller was identified: an upload takes its time.
///
/// # Errors
/// [`Error::AccountClosed`].
pub fn check_open(tx: &mut Tx<'_>, caller: &Caller) -> Result<(), Error> {
    let Some(account) = &caller.account else {
        return Ok(());
    };
    let stored = ACCOUNTS.peek_shared(tx, &account.id)?;
    if stored.is_some_and(|account| account.closed) { Err(Error::AccountClosed) } else { Ok(()) }
}

/// Records an account, and its tokens are recorded with [`TOKENS`].
///
/// # Errors
/// As the store.
pub fn put(tx: &mut Tx<'_>, account: &Account) -> Result<(), StoreError> {
    ACCOUNTS.put(tx, &account.id, account);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_are_known_by_their_short_and_their_full_names() {
        for scope in Scope::ALL {
            assert_eq!(Scope::named(scope.name()), Some(scope));
            assert_eq!(Scope::named(&format!("{}{}", Scope::PREFIX, scope.name())), Some(scope));
            assert!(Scopes::of(&[scope]).has(scope));
        }
        assert_eq!(Scope::named("drive"), None);
        assert!(!Scopes::of(&[Scope::Full]).meets(Scopes::of(&[Scope::Upload])));
    }
}
