//! The views of the page at `/_ui/`, and the control paths by which it is anybody that its user wants to be:
//! `/_ops/credentials`, `/_ops/accounts` and `/_ops/accessTokens`.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};
use triptych_core::host::{Page, PageFile};
use triptych_core::kv::{Tx, run};

use super::{ATTEMPTS_MAX, VideoApi};
use crate::account::{ACCOUNTS, Scope};
use crate::api::error::Error;
use crate::oauth::OauthError;
use crate::oauth::grant::{self, ACCESS_SECONDS, Grant};

/// Accounts of one answer.
const ACCOUNTS_MAX: usize = 100;

/// A file of the page, by its name.
macro_rules! files {
    ($($name:literal)*) => {
        &[$(PageFile { name: $name, text: include_str!(concat!("page/", $name)) }),*]
    };
}

/// The page.
pub(super) const PAGE: Page = Page {
    name: "video-api",
    version: env!("CARGO_PKG_VERSION"),
    files: files!("api.js" "channels.js" "comments.js" "lists.js" "playlists.js" "quota.js" "service.css" "service.js" "upload.js" "videos.js"),
};

/// The body of a request for an access token.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AccessTokenRequest {
    account: String,
}

impl VideoApi {
    /// The keys, tokens and secrets of the seed file.
    pub(super) fn credentials(&self) -> Value {
        serde_json::to_value(self.0.seed.secrets()).unwrap_or_default()
    }

    /// Accounts in the order of their ids, at most 100, or the one with this id.
    pub(super) fn accounts(&self, id: Option<&str>) -> Result<Value, Error> {
        let mut tx = Tx::new(&*self.0.store);
        let found = match id {
            Some(id) => ACCOUNTS.peek(&mut tx, &id.to_owned())?.into_iter().collect(),
            None => {
                let (rows, _) = ACCOUNTS.scan(&mut tx, &ACCOUNTS.span(&()), ACCOUNTS_MAX)?;
                rows.into_iter().map(|(_, account)| account).collect::<Vec<_>>()
            }
        };
        let open = found.iter().filter(|account| !account.closed);
        let shown = open.map(
            |account| json!({"id": account.id, "email": account.email, "channel": account.channel}),
        );
        Ok(json!({"accounts": shown.collect::<Vec<_>>()}))
    }

    /// An access token of every scope for an account. What it does counts for no project.
    pub(super) async fn access_token(&self, bytes: &Bytes) -> Result<Value, Error> {
        let asked: AccessTokenRequest =
            serde_json::from_slice(bytes).map_err(|error| Error::ParseError(error.to_string()))?;
        let now = self.0.clock.now();
        let scopes: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
        let (account, scope) = (asked.account, scopes.join(" "));
        let unknown = || Error::InvalidField {
            path: "account".into(),
            expected: "the id of an account that is open",
        };
        let token = run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, ids| {
            let known = ACCOUNTS.get(tx, &account)?.filter(|account| !account.closed);
            let grant = Grant {
                client: String::new(),
                account: known.ok_or_else(unknown)?.id,
                scope: scope.clone(),
                project: None,
            };
            grant::make_access(tx, ids, now, None, &grant).map_err(|error| match error {
                OauthError::Store(error) => Error::Backend(error),
                other => Error::ParseError(other.to_string()),
            })
        })
        .await?;
        Ok(json!({"token": token, "expiresIn": ACCESS_SECONDS}))
    }
}
