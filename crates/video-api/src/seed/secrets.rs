//! The secrets that a seed file names, for whoever runs the service: the store itself has their digests alone.

use serde::Serialize;

/// Keys, tokens and secrets, in the order of the file.
#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Secrets {
    pub(super) api_keys: Vec<ApiKey>,
    pub(super) tokens: Vec<Token>,
    pub(super) oauth_clients: Vec<OauthClient>,
}

/// An API key and its project.
#[derive(Clone, Serialize)]
pub(super) struct ApiKey {
    pub(super) project: String,
    pub(super) key: String,
}

/// A token and its account.
#[derive(Clone, Serialize)]
pub(super) struct Token {
    pub(super) account: String,
    pub(super) token: String,
}

/// An OAuth client and its secret.
#[derive(Clone, Serialize)]
pub(super) struct OauthClient {
    pub(super) id: String,
    pub(super) secret: String,
}

impl Secrets {
    /// Returns whether there are keys or tokens.
    pub(super) const fn has_credentials(&self) -> bool {
        !self.api_keys.is_empty() || !self.tokens.is_empty()
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}
