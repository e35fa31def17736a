//! Answers as HTTP: status, headers, JSON in the form that the request asks for, errors in the forms that clients read.

use std::borrow::Cow;
use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use triptych_core::host::ReplyBody;

use super::request::Asked;
use crate::api::error::{Error, Place};
use crate::api::response::{Reply, filled, pretty, with_base};

/// Shorter answers are not packed: they would hardly shrink.
const GZIP_BYTES_MIN: usize = 512;

/// An answer, before it is a response: a batch writes it as text.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers beside length and encoding.
    pub headers: Vec<(header::HeaderName, Cow<'static, str>)>,
    /// The body.
    pub body: Body,
    /// The operation's name, for metrics and log.
    pub operation: &'static str,
}

/// The body of an answer.
#[derive(Debug)]
pub enum Body {
    /// None.
    Empty,
    /// Text that may be packed.
    Text(Bytes),
    /// Bytes as they are, or a stream.
    Raw(ReplyBody),
}

const JSON: &str = "application/json; charset=UTF-8";

/// What a reply says to the client that asked: its text in the form that was asked for.
#[derive(Debug, Clone)]
pub(super) struct Said {
    etag: Option<String>,
    /// None where there is nothing to say.
    text: Option<Bytes>,
}

impl Said {
    /// What `reply` says to `asked`.
    pub(super) fn of(reply: Reply, asked: &Asked) -> Self {
        let Reply { json, etag, holes, .. } = reply;
        let base = asked.base.as_str();
        let print = |json: Vec<u8>| match asked.mask() {
            Ok(Some(mask)) => {
                let json = mask.apply(&filled(&json, &holes));
                if asked.pretty() { pretty(&json, base, &[]) } else { with_base(json, base) }
            }
            _ if asked.pretty() => pretty(&json, base, &holes),
            _ => with_base(filled(&json, &holes), base),
        };
        let text = json.map(|json| Bytes::from(print(json).into_boxed_slice()));
        Self { etag, text }
    }

    /// How long it is.
    pub(super) fn bytes(&self) -> usize {
        self.text.as_ref().map_or(0, Bytes::len)
    }

    /// The answer: 200, 204, or 304 where the client has it already.
    pub(super) fn answer(&self, asked: &Asked, operation: &'static str) -> Answer {
        let mut answer = Answer { status: 204, headers: Vec::new(), body: Body::Empty, operation };
        let Some(text) = &self.text else {
            return answer;
        };
        if let Some(etag) = &self.etag {
            answer.headers.push((header::ETAG, format!("\"{etag}\"").into()));
            if asked.method == "GET" && has(asked.if_none_match.as_deref(), etag) {
                answer.status = 304;
                return answer;
            }
        }
        answer.headers.push((header::CONTENT_TYPE, JSON.into()));
        answer.headers.push((header::CACHE_CONTROL, "private".into()));
        answer.status = 200;
        answer.body = Body::Text(text.clone());
        answer
    }
}

impl Answer {
    /// The answer that an error becomes.
    #[must_use]
    pub fn of_error(error: &Error, form: u8, indent: bool, operation: &'static str) -> Self {
        let detail = error.detail();
        let message = error.to_string();
        let mut headers = vec![(header::CONTENT_TYPE, JSON.into())];
        if detail.row.status == 401 {
            let reason =
                if *error == Error::InvalidCredentials { ", error=\"invalid_token\"" } else { "" };
            headers.push((
                header::WWW_AUTHENTICATE,
                format!("Bearer realm=\"https://accounts.google.com/\"{reason}").into(),
            ));
        }
        if let Error::MethodNotAllowed { allowed, .. } = error {
            headers.push((header::ALLOW, allowed.clone().into()));
        }
        let json = error_body(
            detail.row.status,
            detail.row.code,
            detail.domain,
            &detail.place,
            &message,
            form,
        );
        let json = json.to_string().into_bytes();
        let json = if indent { pretty(&json, "", &[]) } else { json };
        Self { status: detail.row.status, headers, body: Body::Text(json.into()), operation }
    }
}

/// Whether a list of etags names this one.
fn has(list: Option<&str>, etag: &str) -> bool {
    let one = |text: &str| text.trim().trim_start_matches("W/").trim_matches('"') == etag;
    list.is_some_and(|list| list.trim() == "*" || list.split(',').any(one))
}

/// The body of an error. Without `$.xgafv` it has all that either form has (facts: captured bodies); form 1 has no status, form 2 gives
/// the reason as an `ErrorInfo`.
#[must_use]
pub(super) fn error_body(
    status: u16,
    reason: &str,
    domain: &str,
    place: &Place,
    message: &str,
    form: u8,
) -> Value {
    let mut one = json!({"message": message, "domain": domain, "reason": reason});
    let place = match place {
        Place::None => None,
        Place::Parameter(name) => Some(("parameter", name.as_ref())),
        Place::Header(name) => Some(("header", *name)),
        Place::Body(path) => Some(("other", path.as_ref())),
    };
    if let (Some((kind, location)), Some(map)) = (place, one.as_object_mut()) {
        map.insert("locationType".into(), kind.into());
        map.insert("location".into(), location.into());
    }
    let mut error = json!({"code": status, "message": message, "errors": [one]});
    let Some(map) = error.as_object_mut() else {
        return error;
    };
    if form != 1 {
        map.insert("status".into(), Error::canonical(status).into());
    }
    if form == 2 {
        map.remove("errors");
        let mut metadata = json!({"service": "youtube.googleapis.com"});
        if let (Some((kind, location)), Some(map)) = (place, metadata.as_object_mut()) {
            map.insert("locationType".into(), kind.into());
            map.insert("location".into(), location.into());
        }
        let info = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain, "metadata": metadata});
        map.insert("details".into(), json!([info]));
    }
    json!({"error": error})
}

/// The response that an answer is, packed if it may be.
pub(super) fn response(answer: Answer, gzip: bool) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::empty());
    *response.status_mut() =
        StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.append(name, value);
        }
    }
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    *response.body_mut() = match answer.body {
        Body::Empty => ReplyBody::empty(),
        Body::Raw(body) => body,
        Body::Text(text) => {
            let headers = response.headers_mut();
            headers.insert(
                header::VARY,
                HeaderValue::from_static(
                    "Origin, X-Origin, Referer, Accept-Encoding, Accept-Language",
                ),
            );
            if gzip && text.len() >= GZIP_BYTES_MIN {
                headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                ReplyBody::whole(packed(&text))
            } else {
                ReplyBody::whole(text)
            }
        }
    };
    response.extensions_mut().insert(super::operation_name(answer.operation));
    response
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 3), Compression::fast());
    // VideoPatch to memory cannot fail.
    let written = encoder.write_all(text);
    debug_assert!(written.is_ok(), "memory takes what is written");
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_forms_that_clients_read() {
        let body = |form| {
            let answer =
                Answer::of_error(&Error::UnknownPart("nature".into()), form, false, "videos.list");
            let Body::Text(text) = answer.body else { panic!("no text") };
            serde_json::from_slice::<Value>(&text).unwrap()
        };
        let one = json!({"message": "'nature'", "domain": "youtube.part", "reason": "unknownPart", "location": "part", "locationType": "parameter"});
        assert_eq!(body(0)["error"]["errors"][0], one);
        assert_eq!(body(0)["error"]["status"], "INVALID_ARGUMENT");
        assert_eq!(
            body(1),
            json!({"error": {"code": 400, "message": "'nature'", "errors": [one]}})
        );
        assert_eq!(body(2)["error"]["details"][0]["reason"], "unknownPart");
    }

    #[test]
    fn a_list_of_etags_is_searched() {
        assert!(has(Some("\"a\", W/\"b\""), "b") && has(Some("*"), "x") && has(Some("b"), "b"));
        assert!(!has(Some("\"a\""), "b") && !has(None, "b"));
    }
}
