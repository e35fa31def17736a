//! The OAuth 2.0 issuer (RFC 6749): who may use which account, so that stock credentials libraries get their tokens here.
//!
//! | module | content |
//! |---|---|
//! | [`authorization`] | the request that a user answers, and the way back to the client |
//! | [`grant`] | what was allowed, to devices without a browser too, the secrets that stand for it, and their end |
//! | [`jwt`] | assertions of service accounts, and identity tokens |
//! | [`token`] | the token endpoint |
//! | [`token_info`] | what a token is, told to whoever holds it |

pub mod authorization;
pub mod grant;
pub mod jwt;
pub mod token;
pub mod token_info;

use std::collections::BTreeSet;

use triptych_core::error::{Coded, Row};
use triptych_core::kv::StoreError;

use crate::record::table_entry::{self, TableEntry};

/// Tables as an export names them.
pub static TABLES: &[TableEntry] = &[
    TableEntry::new("oauthClients", &grant::CLIENTS, table_entry::Form::Json),
    TableEntry::new("oauthServiceAccounts", &grant::SERVICE_ACCOUNTS, table_entry::Form::Json),
    TableEntry::new("oauthGrants", &grant::GRANTS, table_entry::Form::Json),
    TableEntry::new("oauthSecrets", &grant::SECRETS, table_entry::Form::Json),
    TableEntry::new("oauthSecretsOf", &grant::SECRETS_OF, table_entry::Form::Bytes),
    TableEntry::new("oauthEnds", &grant::ENDS, table_entry::Form::Bytes),
    TableEntry::new("oauthDevices", &grant::device::DEVICES, table_entry::Form::Json),
    TableEntry::new("oauthIdentity", &token::IDENTITY, table_entry::Form::Json),
];

/// A refusal of the issuer. The code is that of RFC 6749 §5.2.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OauthError {
    /// A parameter is missing, repeated or none.
    #[error("{0}")]
    InvalidRequest(String),
    /// No such client, or not its secret.
    #[error("The OAuth client was not found, or its secret is another.")]
    InvalidClient,
    /// The client may not send users there.
    #[error(
        "Bad Request: the redirect_uri is not one of the client's, or not the one that the code was made for."
    )]
    RedirectMismatch,
    /// The token endpoint knows no such grant type.
    #[error("Invalid grant_type: {0}")]
    UnsupportedGrantType(String),
    /// The authorization endpoint knows no such response type.
    #[error("Invalid response_type: {0}")]
    UnsupportedResponseType(String),
    /// A code, token or assertion that is not good.
    #[error("{0}")]
    InvalidGrant(&'static str),
    /// A scope that is none, or was not granted.
    #[error("Some requested scopes were invalid: {0}")]
    InvalidScope(String),
    /// The user said no, or was not asked.
    #[error("The user did not allow it.")]
    AccessDenied,
    /// A device asks before its user answered.
    #[error("Precondition Required")]
    AuthorizationPending,
    /// A device asks sooner than it was told to.
    #[error("Forbidden")]
    SlowDown,
    /// The codes of a device ended before its user answered.
    #[error("The device code has expired.")]
    ExpiredToken,
    /// More devices wait for their users than may.
    #[error("Too many devices wait for their users.")]
    TooManyDevices,
    /// A user has to be asked, and `prompt=none` forbids it.
    #[error("The user has to choose an account.")]
    InteractionRequired,
    /// The token that authorizes the request is none, or has ended.
    #[error("Invalid Credentials")]
    InvalidToken,
    /// The token that the request is about is none, or has ended.
    #[error("Token expired or revoked")]
    UnknownToken,
    /// The store failed.
    #[error("The issuer cannot be reached.")]
    Store(#[from] StoreError),
}

impl Coded for OauthError {
    fn row(&self) -> Row {
        match self {
            Self::InvalidRequest(_) => Row::of(400, "invalid_request"),
            Self::InvalidClient => Row::of(401, "invalid_client"),
            Self::RedirectMismatch => Row::of(400, "redirect_uri_mismatch"),
            Self::UnsupportedGrantType(_) => Row::of(400, "unsupported_grant_type"),
            Self::UnsupportedResponseType(_) => Row::of(400, "unsupported_response_type"),
            Self::InvalidGrant(_) => Row::of(400, "invalid_grant"),
            Self::InvalidScope(_) => Row::of(400, "invalid_scope"),
            Self::AccessDenied => Row::of(403, "access_denied"),
            Self::AuthorizationPending => Row::of(428, "authorization_pending"),
            Self::SlowDown => Row::of(403, "slow_down"),
            Self::ExpiredToken => Row::of(400, "expired_token"),
            Self::TooManyDevices => Row::of(403, "rate_limit_exceeded"),
            Self::InteractionRequired => Row::of(400, "interaction_required"),
            Self::InvalidToken => Row::of(401, "invalid_token"),
            Self::UnknownToken => Row::of(400, "invalid_token"),
            Self::Store(_) => Row::of(503, "temporarily_unavailable"),
        }
    }
}

/// Parameters of a form or a query, each at most once.
#[derive(Debug, Clone, Default)]
pub struct Form(Vec<(String, String)>);

impl Form {
    /// The parameters `pairs`, decoded.
    ///
    /// # Errors
    /// `InvalidRequest` if one comes twice (RFC 6749 §3.1).
    pub fn new(pairs: Vec<(String, String)>) -> Result<Self, OauthError> {
        let mut seen = BTreeSet::new();
        let twice = pairs.iter().find(|(name, _)| !seen.insert(name.as_str()));
        if let Some((name, _)) = twice {
            return Err(OauthError::InvalidRequest(format!("Parameter given twice: {name}")));
        }
        Ok(Self(pairs))
    }

    /// The value of a parameter; an empty one counts as absent.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The value of a parameter that has to be there.
    ///
    /// # Errors
    /// `InvalidRequest`.
    pub fn required(&self, name: &str) -> Result<&str, OauthError> {
        self.get(name).ok_or_else(|| {
            OauthError::InvalidRequest(format!("Missing required parameter: {name}"))
        })
    }
}
