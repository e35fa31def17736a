//! Devices without a browser over HTTP: their codes, and the page where their users answer.

use bytes::Bytes;
use serde_json::Value;
use triptych_core::kv::{Tx, run};

use super::oauth::{oauth_error, page};
use super::request::{ALLOW_POSTS, ApiRequest, pairs};
use super::{ATTEMPTS_MAX, VideoApi};
use crate::http::response::ApiResponse;
use crate::oauth::grant::device;
use crate::oauth::token::Issuer;
use crate::oauth::{Form, OauthError};

/// The title of the page.
const TITLE: &str = "Connect a device";
/// The form for a code.
const ENTRY: &str = "<form><p><label>Code that the device shows <input name=\"user_code\" autocomplete=\"off\" required></label> <button>Next</button></p></form>";

impl VideoApi {
    pub(super) async fn begin_device(
        &self,
        issuer: Issuer<'_>,
        bytes: &Bytes,
    ) -> Result<Value, OauthError> {
        let form = Form::new(pairs(&String::from_utf8_lossy(bytes)))?;
        run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, ids| {
            device::begin(tx, ids, issuer.now, issuer.base, &form)
        })
        .await
    }

    /// The page that asks for a code and then for an account (GET), and what the user answers (POST).
    pub(super) async fn device_page(&self, request: &ApiRequest, bytes: &Bytes) -> ApiResponse {
        if request.header("origin").is_some_and(|origin| origin != request.base) {
            // Only the page itself may answer for the user.
            return oauth_error(&OauthError::AccessDenied);
        }
        let outcome = match request.method.as_str() {
            "GET" => self.device_question(request),
            "POST" => self.device_answer(bytes).await,
            _ => return request.refuse(&request.not_allowed(ALLOW_POSTS), "oauth"),
        };
        match outcome {
            Ok(content) => page(TITLE, &content),
            Err(error) => oauth_error(&error),
        }
    }

    fn device_question(&self, request: &ApiRequest) -> Result<String, OauthError> {
        let form = Form::new(request.pairs.clone())?;
        let Some(code) = form.get("user_code") else {
            return Ok(format!("<h1>{TITLE}</h1>{ENTRY}"));
        };
        let now = self.0.clock.now();
        match device::waiting(&mut Tx::new(&*self.0.store), now, code)? {
            Some(device) => {
                let code = [("user_code".to_owned(), code.to_owned())];
                self.choices(&device.client, &device.scope, &code)
            }
            None => Ok(format!("<h1>{TITLE}</h1><p>No device waits with this code.</p>{ENTRY}")),
        }
    }

    async fn device_answer(&self, bytes: &Bytes) -> Result<String, OauthError> {
        let form = Form::new(pairs(&String::from_utf8_lossy(bytes)))?;
        let code = form.required("user_code")?;
        let account = match form.get("answer") {
            Some("deny") => None,
            _ => Some(form.required("account")?),
        };
        let now = self.0.clock.now();
        run(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, _| {
            device::answer(tx, now, code, account)
        })
        .await?;
        Ok("<h1>Done</h1><p>The device goes on by itself.</p>".to_owned())
    }
}
