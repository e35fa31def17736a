//! Responses over HTTP: status, headers, JSON in the form that the request asks for, errors in the forms that clients read.

use std::borrow::Cow;
use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderValue, Response, StatusCode, header};
use serde_json::{Value, json};
use triptych_core::host::{Operation, ReplyBody};

use super::request::ApiRequest;
use crate::account::Scope;
use crate::api::error::{Error, Place};
use crate::api::response::{Reply, filled, pretty, with_base};
use crate::resource::OPERATIONS;

/// Shorter responses are not compressed: they would hardly shrink.
const GZIP_BYTES_MIN: usize = 512;

/// A response of the interface, before it is one over HTTP: a batch writes it as text.
#[derive(Debug)]
pub struct ApiResponse {
    /// The status.
    pub status: u16,
    /// Headers beside length and encoding.
    pub headers: Vec<(header::HeaderName, Cow<'static, str>)>,
    /// The body.
    pub body: Body,
    /// The operation's name, for metrics and log.
    pub operation: &'static str,
}

/// The body of a response.
#[derive(Debug)]
pub enum Body {
    /// None.
    Empty,
    /// Text that may be compressed.
    Text(Bytes),
    /// Bytes as they are, or a stream.
    Raw(ReplyBody),
}

/// The headers of a request that its answer follows from.
const VARIES: &str = "Origin, X-Origin, Referer, Accept-Encoding, Accept-Language";

/// The type of answers in JSON.
pub(super) const JSON: &str = "application/json; charset=UTF-8";

/// A reply in the form that its client asked for.
#[derive(Debug, Clone)]
pub(super) struct RenderedReply {
    etag: Option<String>,
    /// None where there is nothing to say.
    text: Option<Bytes>,
}

impl RenderedReply {
    /// Renders `reply` for `request`.
    pub(super) fn new(reply: Reply, request: &ApiRequest) -> Self {
        let Reply { json, etag, splices, .. } = reply;
        let base = request.base.as_str();
        let print = |json: Vec<u8>| match request.mask() {
            Ok(Some(mask)) => {
                let json = mask.apply(&filled(&json, &splices));
                if request.pretty() { pretty(&json, base, &[]) } else { with_base(json, base) }
            }
            _ if request.pretty() => pretty(&json, base, &splices),
            _ => with_base(filled(&json, &splices), base),
        };
        let text = json.map(|json| Bytes::from(print(json).into_boxed_slice()));
        Self { etag, text }
    }

    /// Its length.
    pub(super) fn bytes(&self) -> usize {
        self.text.as_ref().map_or(0, Bytes::len)
    }

    /// The response: 200, 204, or 304 where the client has it already.
    pub(super) fn response(&self, request: &ApiRequest, operation: &'static str) -> ApiResponse {
        let mut response =
            ApiResponse { status: 204, headers: Vec::new(), body: Body::Empty, operation };
        let Some(text) = &self.text else {
            return response;
        };
        response.headers.push((header::CACHE_CONTROL, "private".into()));
        if let Some(etag) = &self.etag {
            response.headers.push((header::ETAG, format!("\"{etag}\"").into()));
            if request.method == "GET" && has_etag(request.if_none_match.as_deref(), etag) {
                // A cache keeps by these what it has, as if it had come anew (RFC 9110 section 15.4.5).
                response.headers.push((header::VARY, VARIES.into()));
                response.status = 304;
                return response;
            }
        }
        response.headers.push((header::CONTENT_TYPE, JSON.into()));
        response.status = 200;
        response.body = Body::Text(text.clone());
        response
    }
}

impl ApiResponse {
    /// The response to a request that failed.
    #[must_use]
    pub fn of_error(error: &Error, form: u8, indent: bool, operation: &'static str) -> Self {
        let detail = error.detail();
        let message = error.to_string();
        let mut headers = vec![(header::CONTENT_TYPE, JSON.into())];
        headers.extend(challenge(Some(error), detail.row.status, operation));
        if let Error::MethodNotAllowed { allowed, .. } = error {
            headers.push((header::ALLOW, allowed.clone().into()));
        }
        let mut json = error_body(
            detail.row.status,
            detail.row.code,
            detail.domain,
            &place_read_by(operation, detail.place),
            &message,
            form,
        );
        if let (Some(summary), Some(told)) = (error.summary(), json.pointer_mut("/error/message")) {
            *told = summary.into();
        }
        let json = json.to_string().into_bytes();
        let json = if indent { pretty(&json, "", &[]) } else { json };
        Self { status: detail.row.status, headers, body: Body::Text(json.into()), operation }
    }

    /// The response over HTTP, compressed if it may be.
    pub(super) fn into_http(self, gzip: bool) -> Response<ReplyBody> {
        let mut response = Response::new(ReplyBody::empty());
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(name, value);
            }
        }
        headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
        *response.body_mut() = match self.body {
            Body::Empty => ReplyBody::empty(),
            Body::Raw(body) => body,
            Body::Text(text) => {
                let headers = response.headers_mut();
                headers.insert(header::VARY, HeaderValue::from_static(VARIES));
                if gzip && text.len() >= GZIP_BYTES_MIN {
                    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                    ReplyBody::whole(compressed(&text))
                } else {
                    ReplyBody::whole(text)
                }
            }
        };
        response.extensions_mut().insert(Operation(self.operation));
        response
    }
}

impl ApiRequest {
    /// The response of a reply.
    #[must_use]
    pub fn respond(&self, reply: Reply, operation: &'static str) -> ApiResponse {
        RenderedReply::new(reply, self).response(self, operation)
    }

    /// The response of an error.
    #[must_use]
    pub fn refuse(&self, error: &Error, operation: &'static str) -> ApiResponse {
        ApiResponse::of_error(error, self.error_form(), self.pretty(), operation)
    }
}

/// The challenge of a refusal that other credentials would mend: those that are wanted (RFC 6750 section 3).
pub(super) fn challenge(
    error: Option<&Error>,
    status: u16,
    operation: &str,
) -> Option<(header::HeaderName, Cow<'static, str>)> {
    let reason = match error {
        Some(Error::InvalidCredentials) => ", error=\"invalid_token\"".to_owned(),
        Some(Error::InsufficientScopes) => {
            let row = OPERATIONS.iter().find(|row| row.name == operation);
            let scopes = row.into_iter().flat_map(|row| row.scopes.iter());
            let names: Vec<_> =
                scopes.map(|scope| format!("{}{}", Scope::PREFIX, scope.name())).collect();
            format!(", error=\"insufficient_scope\", scope=\"{}\"", names.join(" "))
        }
        _ if status == 401 => String::new(),
        _ => return None,
    };
    let value = format!("Bearer realm=\"https://accounts.google.com/\"{reason}");
    Some((header::WWW_AUTHENTICATE, value.into()))
}

/// Tells whether a list of etags names this one.
pub(super) fn has_etag(list: Option<&str>, etag: &str) -> bool {
    let one = |text: &str| text.trim().trim_start_matches("W/").trim_matches('"') == etag;
    list.is_some_and(|list| list.trim() == "*" || list.split(',').any(one))
}

/// The place of a fault where `operation` reads it: an update takes no parameter `id`, but a resource that has one.
fn place_read_by(operation: &str, place: Place) -> Place {
    let reads_in_body = OPERATIONS.iter().any(|row| {
        row.name == operation
            && row.takes_json()
            && row.params.iter().all(|param| param.name != "id")
    });
    match place {
        Place::Parameter(name) if name == "id" && reads_in_body => Place::body("id"),
        elsewhere => elsewhere,
    }
}

/// `locationType` and `location` of a place. The path of a field begins at the body, as in the real service's answers.
fn location(place: &Place) -> Option<(&'static str, Cow<'_, str>)> {
    match place {
        Place::None => None,
        Place::Parameter(name) => Some(("parameter", name.as_ref().into())),
        Place::Parameters => Some(("other", "parameters.".into())),
        Place::Header(name) => Some(("header", (*name).into())),
        Place::Body(path) => Some(("other", format!("body.{path}").into())),
    }
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
    let place = location(place);
    if let (Some((kind, location)), Some(map)) = (&place, one.as_object_mut()) {
        map.insert("locationType".into(), (*kind).into());
        map.insert("location".into(), location.as_ref().into());
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
        if let (Some((kind, location)), Some(map)) = (&place, metadata.as_object_mut()) {
            map.insert("locationType".into(), (*kind).into());
            map.insert("location".into(), location.as_ref().into());
        }
        let info = json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": domain, "metadata": metadata});
        map.insert("details".into(), json!([info]));
    }
    json!({"error": error})
}

fn compressed(text: &[u8]) -> Vec<u8> {
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
            let response = ApiResponse::of_error(
                &Error::UnknownPart("nature".into()),
                form,
                false,
                "videos.list",
            );
            let Body::Text(text) = response.body else { panic!("no text") };
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
        assert!(
            has_etag(Some("\"a\", W/\"b\""), "b")
                && has_etag(Some("*"), "x")
                && has_etag(Some("b"), "b")
        );
        assert!(!has_etag(Some("\"a\""), "b") && !has_etag(None, "b"));
    }
}
