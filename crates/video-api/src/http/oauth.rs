//! The OAuth 2.0 issuer over HTTP: forms and queries in, JSON, a page and redirections out.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use triptych_core::error::Coded;
use triptych_core::host::BoxError;
use triptych_core::kv::{Tx, run};

use super::request::pairs;
use super::{ATTEMPTS_MAX, Asked, VideoApi, whole};
use crate::account::ACCOUNTS;
use crate::http::response::{Answer, Body};
use crate::http::router::POSTS;
use crate::oauth::authorization::{Refusal, Request};
use crate::oauth::token::{Issuer, TOKEN_PATHS, identity_key};
use crate::oauth::{Form, OauthError, grant};

/// The most bytes of a form.
const FORM_BYTES_MAX: usize = 64 * 1024;
/// Accounts that the page offers.
const ACCOUNTS_SHOWN_MAX: usize = 100;
/// Where users are sent to.
const AUTHORIZE_PATHS: &[&str] = &["/o/oauth2/v2/auth", "/o/oauth2/auth"];
const USERINFO_PATHS: &[&str] =
    &["/oauth2/v3/userinfo", "/oauth2/v2/userinfo", "/v1/userinfo", "/userinfo"];
const REVOKE_PATHS: &[&str] = &["/revoke", "/o/oauth2/revoke"];
const TOKENINFO_PATHS: &[&str] = &["/oauth2/v3/tokeninfo", "/oauth2/v1/tokeninfo", "/tokeninfo"];
const CERTS_PATH: &str = "/oauth2/v3/certs";
const CONFIGURATION_PATH: &str = "/.well-known/openid-configuration";

/// Whether a path is one of the issuer's.
pub(super) fn is_issuer(path: &str) -> bool {
    let lists = [AUTHORIZE_PATHS, TOKEN_PATHS, USERINFO_PATHS, REVOKE_PATHS, TOKENINFO_PATHS];
    lists.iter().any(|list| list.contains(&path))
        || path == CERTS_PATH
        || path == CONFIGURATION_PATH
}

/// Whether a path is that of the page that asks users.
pub(super) fn asks_users(path: &str) -> bool {
    AUTHORIZE_PATHS.contains(&path)
}

impl VideoApi {
    /// Answers a request to the issuer.
    pub(super) async fn issue<B>(&self, asked: &Asked, body: &mut B) -> Answer
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let bytes = match whole(body, FORM_BYTES_MAX).await {
            Ok(bytes) => bytes,
            Err(error) => return asked.refuse(&error, "oauth"),
        };
        let issuer = Issuer { base: &asked.base, now: self.0.clock.now() };
        let (path, method) = (asked.path.as_str(), asked.method.as_str());
        let outcome = match path {
            _ if AUTHORIZE_PATHS.contains(&path) => return self.authorize(asked, &bytes).await,
            _ if TOKEN_PATHS.contains(&path) && method == "POST" => {
                self.token(asked, issuer, &bytes).await
            }
            _ if REVOKE_PATHS.contains(&path) => self.revoke(asked, &bytes).await,
            _ if USERINFO_PATHS.contains(&path) => {
                self.with_token(asked, |tx, token| issuer.userinfo(tx, token))
            }
            _ if TOKENINFO_PATHS.contains(&path) => {
                let form = pairs(&String::from_utf8_lossy(&bytes));
                let posted = form.into_iter().find(|(name, _)| name == "access_token");
                let token = posted.map(|(_, token)| token).or(asked.token.clone());
                let told = issuer
                    .tokeninfo(&mut Tx::new(&*self.0.store), token.as_deref().unwrap_or_default());
                // The token is what is asked about, and authorizes nothing.
                told.map_err(|error| match error {
                    OauthError::InvalidToken => OauthError::UnknownToken,
                    other => other,
                })
            }
            CONFIGURATION_PATH => Ok(issuer.configuration()),
            CERTS_PATH => self.certs().await,
            _ => return asked.refuse(&asked.not_allowed(POSTS), "oauth"),
        };
        match outcome {
            Ok(json) => answer(200, &json),
            Err(error) => refusal(&error),
        }
    }

    async fn token(
        &self,
        asked: &Asked,
        issuer: Issuer<'_>,
        bytes: &Bytes,
    ) -> Result<Value, OauthError> {
        let form = Form::new(pairs(&String::from_utf8_lossy(bytes)))?;
        let basic = basic(asked);
        let basic = basic.as_ref().map(|(id, secret)| (id.as_str(), secret.as_str()));
        let issued = run(&*self.0.store, &mut self.draw(), ATTEMPTS_MAX, |tx, ids| {
            issuer.answer(tx, ids, &form, basic)
        })
        .await?;
        issued.ok_or(OauthError::InvalidGrant(
            "The code was used before; everything that it gave is revoked.",
        ))
    }

    async fn revoke(&self, asked: &Asked, bytes: &Bytes) -> Result<Value, OauthError> {
        let mut all = asked.pairs.clone();
        all.extend(pairs(&String::from_utf8_lossy(bytes)));
        let form = Form::new(all)?;
        let token = form.need("token")?;
        let known = run(&*self.0.store, &mut self.draw(), ATTEMPTS_MAX, |tx, _| {
            Ok::<_, OauthError>(grant::revoke(tx, token)?)
        })
        .await?;
        if known { Ok(json!({})) } else { Err(OauthError::UnknownToken) }
    }

    fn with_token(
        &self,
        asked: &Asked,
        give: impl Fn(&mut Tx<'_>, &str) -> Result<Value, OauthError>,
    ) -> Result<Value, OauthError> {
        let token = asked.token.as_deref().ok_or(OauthError::InvalidToken)?;
        give(&mut Tx::new(&*self.0.store), token)
    }

    async fn certs(&self) -> Result<Value, OauthError> {
        let key =
            run(&*self.0.store, &mut self.draw(), ATTEMPTS_MAX, |tx, ids| identity_key(tx, ids))
                .await?;
        Ok(json!({ "keys": [key.public()] }))
    }

    /// The page that asks the user (GET), and what the user answers (POST). With `prompt=none` and the account in `login_hint` nobody is asked:
    /// that is how tests get a grant without a browser.
    async fn authorize(&self, asked: &Asked, bytes: &Bytes) -> Answer {
        if asked.header("origin").is_some_and(|origin| origin != asked.base) {
            // Only the page itself may answer for the user.
            return refusal(&OauthError::AccessDenied);
        }
        let answered = (asked.method == "POST").then(|| pairs(&String::from_utf8_lossy(bytes)));
        let all = answered.clone().unwrap_or_else(|| asked.pairs.clone());
        let request = Form::new(all.clone()).map_err(Refusal::Shown).and_then(|form| {
            Request::read(&mut Tx::new(&*self.0.store), &form).map(|request| (form, request))
        });
        let (form, request) = match request {
            Ok(read) => read,
            Err(Refusal::Shown(error)) => return refusal(&error),
            Err(Refusal::Sent(address)) => return redirect(address),
        };
        let chosen = match (&answered, &request.hint) {
            (Some(_), _) if form.get("answer") == Some("deny") => {
                return redirect(request.deny(&OauthError::AccessDenied));
            }
            (Some(_), _) => form.get("account").map(str::to_owned),
            (None, Some(hint)) if request.silent => Some(hint.clone()),
            (None, None) if request.silent => {
                return redirect(request.deny(&OauthError::InteractionRequired));
            }
            (None, _) => return self.ask(&request, &all),
        };
        let chosen = chosen.unwrap_or_default();
        let now = self.0.clock.now();
        let mut ids = self.draw();
        let allowed = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            let account = grant::account_named(tx, &chosen)?.ok_or(OauthError::AccessDenied)?;
            Ok::<_, OauthError>(request.allow(tx, ids, now, &account.id))
        });
        match allowed.await {
            Ok(address) => redirect(address),
            Err(error) => redirect(request.deny(&error)),
        }
    }

    fn ask(&self, request: &Request, all: &[(String, String)]) -> Answer {
        let accounts =
            ACCOUNTS.all(&mut Tx::new(&*self.0.store), &(), ACCOUNTS_SHOWN_MAX).unwrap_or_default();
        let hidden: String = all
            .iter()
            .map(|(name, value)| {
                format!(
                    "<input type=\"hidden\" name=\"{}\" value=\"{}\">",
                    escaped(name),
                    escaped(value)
                )
            })
            .collect();
        let choices: String = accounts
            .iter()
            .map(|(id, account)| {
                format!(
                    "<button name=\"account\" value=\"{}\">{}</button> ",
                    escaped(id),
                    escaped(&account.email)
                )
            })
            .collect();
        let page = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>Choose an account</title><h1>{} asks for access</h1><p>{}</p>\
             <form method=\"post\">{hidden}<p>{choices}</p><p><button name=\"answer\" value=\"deny\">Deny</button></p></form>",
            escaped(&request.client),
            escaped(&request.scope),
        );
        let headers = vec![
            (header::CONTENT_TYPE, "text/html; charset=utf-8".into()),
            // No other site may show this page in a frame and have it clicked.
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'".into()),
            (header::CACHE_CONTROL, "no-store".into()),
        ];
        Answer { status: 200, headers, body: Body::Text(page.into()), operation: "oauth" }
    }
}

fn answer(status: u16, json: &Value) -> Answer {
    let headers = vec![
        (header::CONTENT_TYPE, "application/json; charset=utf-8".into()),
        (header::CACHE_CONTROL, "no-store".into()),
    ];
    Answer { status, headers, body: Body::Text(json.to_string().into()), operation: "oauth" }
}

fn refusal(error: &OauthError) -> Answer {
    let row = error.row();
    let mut refused =
        answer(row.status, &json!({ "error": row.code, "error_description": error.to_string() }));
    if row.status == 401 {
        refused
            .headers
            .push((header::WWW_AUTHENTICATE, format!("Bearer error=\"{}\"", row.code).into()));
    }
    refused
}

fn redirect(address: String) -> Answer {
    let headers =
        vec![(header::LOCATION, address.into()), (header::CACHE_CONTROL, "no-store".into())];
    Answer { status: 302, headers, body: Body::Empty, operation: "oauth" }
}

/// Client id and secret of `Authorization: Basic` (RFC 6749 §2.3.1: each percent-encoded by itself).
fn basic(asked: &Asked) -> Option<(String, String)> {
    let (scheme, text) = asked.header("authorization")?.split_once(' ')?;
    let bytes = scheme
        .eq_ignore_ascii_case("basic")
        .then(|| STANDARD.decode(text.trim()).ok())
        .flatten()?;
    let text = String::from_utf8(bytes).ok()?;
    let (id, secret) = text.split_once(':')?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decoded(id), decoded(secret)))
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}
