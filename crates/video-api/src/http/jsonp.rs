//! `callback`: the answer to a GET as a script that calls a function of the page with it, for pages that cannot ask in another way.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::CONTENT_TYPE;

use crate::api::callback::is_name;
use crate::http::ApiRequest;
use crate::http::response::{ApiResponse, Body};

/// The type of answers that a script can be handed.
const JSON: &str = "application/json";

/// The function that a request wants its answer to be handed to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Callback(String);

impl Callback {
    /// The function that a request names; a request that changes something has none.
    pub(super) fn of(request: &ApiRequest) -> Option<Self> {
        let name = request.value("callback").filter(|_| request.method == "GET")?;
        is_name(name).then(|| Self(name.to_owned()))
    }

    /// The answer as a script, with status 200 whatever happened: a page reads the status from what is inside.
    /// An answer other than JSON, as a page of the player, stays as it is.
    pub(super) fn wrap(&self, mut response: ApiResponse) -> ApiResponse {
        let mut headers = response.headers.iter();
        let is_json = headers.any(|(name, value)| *name == CONTENT_TYPE && value.starts_with(JSON));
        let text = match &response.body {
            Body::Text(text) if is_json => text,
            _ => return response,
        };
        // The comment keeps the name from being the first bytes, which another player might take for a file of its own.
        let mut script = format!("// API callback\n{}(", self.0).into_bytes();
        script.extend_from_slice(&without_separators(text));
        script.extend_from_slice(b");");
        response.status = 200;
        response.body = Body::Text(script.into());
        for (name, value) in &mut response.headers {
            if *name == CONTENT_TYPE {
                *value = Cow::Borrowed("text/javascript; charset=UTF-8");
            }
        }
        response
    }
}

/// JSON that every JavaScript reads as it is meant: older ones take two separators of lines for the end of a text.
fn without_separators(json: &Bytes) -> Bytes {
    let text = String::from_utf8_lossy(json);
    if !text.contains(['\u{2028}', '\u{2029}']) {
        return json.clone();
    }
    text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029").into()
}
