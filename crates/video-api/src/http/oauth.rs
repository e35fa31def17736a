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

use super::request::{ALLOW_POSTS, ApiRequest, pairs, read_whole_body};
use super::{ATTEMPTS_MAX, VideoApi};
use crate::account::ACCOUNTS;
use crate::api::html::escaped;
use crate::http::response::{ApiResponse, Body};
use crate::oauth::authorization::{AuthorizationRequest, Refusal};
use crate::oauth::grant::device::{CODE_PATHS, VERIFICATION_PATH};
use crate::oauth::token::{Issued, Issuer, TOKEN_PATHS, identity_key};
use crate::oauth::token_info::{is_token_info, is_user_info};
use crate::oauth::{Form, OauthError, grant};

/// The most bytes of a form.
const FORM_BYTES_MAX: usize = 64 * 1024;
/// Accounts that the page offers.
const ACCOUNTS_SHOWN_MAX: usize = 100;
/// Paths that users are sent to.
const AUTHORIZE_PATHS: &[&str] = &["/o/oauth2/v2/auth", "/o/oauth2/auth"];
const REVOKE_PATHS: &[&str] = &["/revoke", "/o/oauth2/revoke"];
const CERTS_PATH: &str = "/oauth2/v3/certs";
const CONFIGURATION_PATH: &str = "/.well-known/openid-configuration";

/// Tells whether a path is one of the issuer's.
pub(super) fn is_issuer(path: &str) -> bool {
    let lists = [AUTHORIZE_PATHS, CODE_PATHS, TOKEN_PATHS, REVOKE_PATHS];
    lists.iter().any(|list| list.contains(&path))
        || is_token_info(path)
        || is_user_info(path)
        || path == VERIFICATION_PATH
        || path == CERTS_PATH
        || path == CONFIGURATION_PATH
}

/// Tells whether a path is that of a page that asks users.
pub(super) fn is_consent_page(path: &str) -> bool {
    AUTHORIZE_PATHS.contains(&path) || path == VERIFICATION_PATH
}

impl VideoApi {
    /// Answers a request to the issuer.
    pub(super) async fn serve_issuer<B>(&self, request: &ApiRequest, body: &mut B) -> ApiResponse
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        let bytes = match read_whole_body(body, FORM_BYTES_MAX).await {
            Ok(bytes) => bytes,
            Err(error) => return request.refuse(&error, "oauth"),
        };
        let issuer = Issuer { base: &request.base, now: self.0.clock.now() };
        let (path, method) = (request.path.as_str(), request.method.as_str());
        let outcome = match path {
            _ if AUTHORIZE_PATHS.contains(&path) => return self.authorize(request, &bytes).await,
            VERIFICATION_PATH => return self.device_page(request, &bytes).await,
            _ if CODE_PATHS.contains(&path) && method == "POST" => {
                self.begin_device(issuer, &bytes).await
            }
            _ if TOKEN_PATHS.contains(&path) && method == "POST" => {
                self.token(request, issuer, &bytes).await
            }
            _ if REVOKE_PATHS.contains(&path) => self.revoke(request, &bytes).await,
            _ if is_user_info(path) => {
                self.with_token(request, |tx, token| issuer.user_info(tx, path, token))
            }
            _ if is_token_info(path) => self.token_info(request, issuer, &bytes),
            CONFIGURATION_PATH => Ok(issuer.configuration()),
            CERTS_PATH => self.certs().await,
            _ => return request.refuse(&request.not_allowed(ALLOW_POSTS), "oauth"),
        };
        match outcome {
            Ok(json) => json_response(200, &json),
            // The challenge is in the scheme in which the client proved itself (RFC 6749 section 5.2).
            Err(error) if error == OauthError::InvalidClient && basic(request).is_some() => {
                challenged(&error, "Basic realm=\"clients\"")
            }
            Err(error) => oauth_error(&error),
        }
    }

    async fn token(
        &self,
        request: &ApiRequest,
        issuer: Issuer<'_>,
        bytes: &Bytes,
    ) -> Result<Value, OauthError> {
        let form = Form::new(pairs(&String::from_utf8_lossy(bytes)))?;
        let basic = basic(request);
        let basic = basic.as_ref().map(|(id, secret)| (id.as_str(), secret.as_str()));
        let (mut ids, mut was_used) = (self.ids(), false);
        loop {
            let issued = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
                issuer.issue(tx, ids, &form, basic)
            });
            match issued.await {
                Ok(Issued::Tokens(tokens)) => return Ok(tokens),
                Ok(Issued::UsedCode) => was_used = true,
                Ok(Issued::Waiting) => return Err(OauthError::AuthorizationPending),
                Err(OauthError::InvalidGrant(_)) if was_used => {
                    let used = "The code was used before; everything that it gave is revoked.";
                    return Err(OauthError::InvalidGrant(used));
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn revoke(&self, request: &ApiRequest, bytes: &Bytes) -> Result<Value, OauthError> {
        let mut all = request.pairs.clone();
        all.extend(pairs(&String::from_utf8_lossy(bytes)));
        let form = Form::new(all)?;
        let token = form.required("token")?;
        let (store, mut ids, mut is_known) = (&*self.0.store, self.ids(), false);
        let mut step = async || {
            let end = |tx: &mut Tx<'_>| Ok::<_, OauthError>(grant::revoke(tx, token)?);
            run(store, &mut ids, ATTEMPTS_MAX, |tx, _| end(tx)).await
        };
        while step().await? {
            is_known = true;
        }
        if is_known { Ok(json!({})) } else { Err(OauthError::UnknownToken) }
    }

    /// The token stands in the form, in the query, or in the place of one that authorizes.
    fn token_info(
        &self,
        request: &ApiRequest,
        issuer: Issuer<'_>,
        bytes: &Bytes,
    ) -> Result<Value, OauthError> {
        let mut asked = pairs(&String::from_utf8_lossy(bytes));
        let ours = ["access_token", "id_token"];
        asked.retain(|(name, _)| ours.contains(&name.as_str()));
        if asked.is_empty() {
            let query = request.pairs.iter().filter(|(name, _)| ours.contains(&name.as_str()));
            asked = query.cloned().collect();
        }
        if asked.is_empty() {
            let bearer = request.token.clone().map(|token| ("access_token".to_owned(), token));
            asked.extend(bearer);
        }
        let form = Form::new(asked)?;
        issuer.token_info(&mut Tx::new(&*self.0.store), &request.path, &form)
    }

    fn with_token(
        &self,
        request: &ApiRequest,
        read: impl Fn(&mut Tx<'_>, &str) -> Result<Value, OauthError>,
    ) -> Result<Value, OauthError> {
        let token = request.token.as_deref().ok_or(OauthError::InvalidToken)?;
        read(&mut Tx::new(&*self.0.store), token)
    }

    async fn certs(&self) -> Result<Value, OauthError> {
        let key =
            run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, ids| identity_key(tx, ids))
                .await?;
        Ok(json!({ "keys": [key.public()] }))
    }

    /// The page that asks the user (GET), and what the user answers (POST). With `prompt=none` and the account in `login_hint` nobody is asked:
    /// that is how tests get a grant without a browser.
    async fn authorize(&self, request: &ApiRequest, bytes: &Bytes) -> ApiResponse {
        if request.header("origin").is_some_and(|origin| origin != request.base) {
            // Only the page itself may answer for the user.
            return oauth_error(&OauthError::AccessDenied);
        }
        let posted = (request.method == "POST").then(|| pairs(&String::from_utf8_lossy(bytes)));
        let all = posted.clone().unwrap_or_else(|| request.pairs.clone());
        let authorization = Form::new(all.clone()).map_err(Refusal::ToUser).and_then(|form| {
            AuthorizationRequest::read(&mut Tx::new(&*self.0.store), &form)
                .map(|authorization| (form, authorization))
        });
        let (form, authorization) = match authorization {
            Ok(read) => read,
            Err(Refusal::ToUser(error)) => return oauth_error(&error),
            Err(Refusal::ToClient(address)) => return redirect(address),
        };
        let chosen = match (&posted, &authorization.login_hint) {
            (Some(_), _) if form.get("answer") == Some("deny") => {
                return redirect(authorization.deny(&OauthError::AccessDenied));
            }
            (Some(_), _) => form.get("account").map(str::to_owned),
            (None, Some(login_hint)) if authorization.prompt_none => Some(login_hint.clone()),
            (None, None) if authorization.prompt_none => {
                return redirect(authorization.deny(&OauthError::InteractionRequired));
            }
            (None, _) => return self.consent_page(&authorization, &all),
        };
        let chosen = chosen.unwrap_or_default();
        let now = self.0.clock.now();
        let mut ids = self.ids();
        let allowed = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            let account = grant::account_named(tx, &chosen)?.ok_or(OauthError::AccessDenied)?;
            Ok::<_, OauthError>(authorization.allow(tx, ids, now, &account.id)?)
        });
        match allowed.await {
            Ok(address) => redirect(address),
            Err(error) => redirect(authorization.deny(&error)),
        }
    }

    fn consent_page(
        &self,
        authorization: &AuthorizationRequest,
        all: &[(String, String)],
    ) -> ApiResponse {
        let (client, scope) = (&authorization.client, &authorization.scope);
        match self.choices(client, scope, all) {
            Ok(choices) => page("Choose an account", &choices),
            Err(error) => oauth_error(&error),
        }
    }

    /// The question whether a client may have these scopes, and the accounts that may be the answer to it, in a form that holds these pairs.
    pub(super) fn choices(
        &self,
        client: &str,
        scope: &str,
        all: &[(String, String)],
    ) -> Result<String, OauthError> {
        let mut tx = Tx::new(&*self.0.store);
        let (accounts, _) = ACCOUNTS.scan(&mut tx, &ACCOUNTS.span(&()), ACCOUNTS_SHOWN_MAX)?;
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
            .filter(|(_, account)| !account.closed)
            .map(|(id, account)| {
                format!(
                    "<button name=\"account\" value=\"{}\">{}</button> ",
                    escaped(id),
                    escaped(&account.email)
                )
            })
            .collect();
        Ok(format!(
            "<h1>{} asks for access</h1><p>{}</p>\
             <form method=\"post\">{hidden}<p>{choices}</p><p><button name=\"answer\" value=\"deny\">Deny</button></p></form>",
            escaped(client),
            escaped(scope),
        ))
    }
}

/// A page for users.
pub(super) fn page(title: &str, content: &str) -> ApiResponse {
    let page = format!("<!doctype html><meta charset=\"utf-8\"><title>{title}</title>{content}");
    let headers = vec![
        (header::CONTENT_TYPE, "text/html; charset=utf-8".into()),
        // No other site may show this page in a frame and have it clicked.
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'".into()),
        (header::CACHE_CONTROL, "no-store".into()),
    ];
    ApiResponse { status: 200, headers, body: Body::Text(page.into()), operation: "oauth" }
}

fn json_response(status: u16, json: &Value) -> ApiResponse {
    let headers = vec![
        (header::CONTENT_TYPE, "application/json; charset=utf-8".into()),
        (header::CACHE_CONTROL, "no-store".into()),
    ];
    ApiResponse { status, headers, body: Body::Text(json.to_string().into()), operation: "oauth" }
}

pub(super) fn oauth_error(error: &OauthError) -> ApiResponse {
    challenged(error, &format!("Bearer error=\"{}\"", error.row().code))
}

/// The refusal, with this challenge where other credentials would mend it.
fn challenged(error: &OauthError, challenge: &str) -> ApiResponse {
    let row = error.row();
    let mut refused = json_response(
        row.status,
        &json!({ "error": row.code, "error_description": error.to_string() }),
    );
    if row.status == 401 {
        refused.headers.push((header::WWW_AUTHENTICATE, challenge.to_owned().into()));
    }
    refused
}

fn redirect(address: String) -> ApiResponse {
    let headers =
        vec![(header::LOCATION, address.into()), (header::CACHE_CONTROL, "no-store".into())];
    ApiResponse { status: 302, headers, body: Body::Empty, operation: "oauth" }
}

/// Client id and secret of `Authorization: Basic` (RFC 6749 §2.3.1: each percent-encoded by itself).
fn basic(request: &ApiRequest) -> Option<(String, String)> {
    let (scheme, text) = request.header("authorization")?.split_once(' ')?;
    let bytes = scheme
        .eq_ignore_ascii_case("basic")
        .then(|| STANDARD.decode(text.trim()).ok())
        .flatten()?;
    let text = String::from_utf8(bytes).ok()?;
    let (id, secret) = text.split_once(':')?;
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    Some((decoded(id), decoded(secret)))
}
