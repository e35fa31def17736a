//! Replies and refusals as HTTP responses, in the dialect of the request.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderName, HeaderValue, SERVER};
use http::{Method, Response, StatusCode};
use triptych_core::error::Coded;
use triptych_core::host::{ReplyBody as HostBody, RequestId, SenderOnly};
use triptych_core::time::{EachSecond, Timestamp};

use crate::error::Error;
use crate::operation::{Reply, ReplyBody};
use crate::request::dialect::Dialect;
use crate::request::xml::escape;
use crate::server::download::ResponseBody;

/// Headers that every answer gets beside its own.
const HEADERS_OF_ALL: usize = 5;

/// A reply, with a body that is still to be read.
pub(super) fn reply(reply: Reply, dialect: Dialect) -> Response<ResponseBody> {
    let text = match &reply.body {
        ReplyBody::Text(text) => Some(text.len()),
        ReplyBody::Empty | ReplyBody::Object(_) => None,
    };
    let mut response = Response::new(ResponseBody::of(reply.body));
    *response.status_mut() = status(reply.status);
    append(&mut response, reply.headers, dialect);
    if let Some(length) = text {
        let headers = response.headers_mut();
        headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
        headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/xml"));
    }
    response
}

/// A refusal with its XML body; an answer to HEAD has none.
pub(super) fn refusal(
    error: &Error,
    dialect: Dialect,
    method: &Method,
    id: &RequestId,
) -> Response<HostBody> {
    let row = error.row();
    if row.status >= 500
        && let Some(source) = std::error::Error::source(error)
    {
        tracing::error!(id = &*id.0, error = source, "a request failed");
    }
    let mut response = if *method == Method::HEAD {
        let mut response = Response::new(HostBody::empty());
        *response.status_mut() = status(row.status);
        response
    } else {
        let details = error.details(dialect);
        let fields = details.iter().map(|(name, value)| (&**name, value.as_str()));
        let body = error_body(row.code, &error.message(dialect), fields, id);
        xml(row.status, body)
    };
    if let Some(own) = error.of_sender_only() {
        response.extensions_mut().insert(SenderOnly(escaped(own)));
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    append(&mut response, error.headers(), dialect);
    response
}

/// Adds the region of the bucket that an answer is about.
pub(super) fn tell_region<B>(response: &mut Response<B>, region: &str, dialect: Dialect) {
    append(response, vec![("x-store-bucket-region".into(), region.to_owned())], dialect);
}

/// Adds headers that have the spec's names.
fn append<B>(
    response: &mut Response<B>,
    headers: Vec<(Cow<'static, str>, impl Into<Cow<'static, str>>)>,
    dialect: Dialect,
) {
    response.headers_mut().reserve(headers.len() + HEADERS_OF_ALL);
    for (name, value) in headers {
        let name = HeaderName::from_bytes(dialect.header(&name).as_bytes());
        let value = HeaderValue::from_maybe_shared(match value.into() {
            Cow::Borrowed(text) => Bytes::from_static(text.as_bytes()),
            Cow::Owned(text) => text.into(),
        });
        if let (Ok(name), Ok(value)) = (name, value) {
            response.headers_mut().append(name, value);
        }
    }
}

/// A response with this XML.
pub(super) fn xml(code: u16, body: Bytes) -> Response<HostBody> {
    let length = body.len();
    let mut response = Response::new(HostBody::whole(body));
    *response.status_mut() = status(code);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    response
}

/// The XML of an error: code, message, extra fields, and the ids of the request.
pub(super) fn error_body<'a>(
    code: &str,
    message: &str,
    fields: impl IntoIterator<Item = (&'a str, &'a str)>,
    id: &RequestId,
) -> Bytes {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>");
    let mut element = |name: &str, text: &str| {
        // Writing to a String never fails.
        let _ = write!(xml, "<{name}>{}</{name}>", escaped(text));
    };
    element("Code", code);
    element("Message", message);
    fields.into_iter().for_each(|(name, text)| element(name, text));
    element("RequestId", &id.0);
    element("HostId", &second_id(id));
    xml.push_str("</Error>");
    xml.into()
}

/// A text as it stands in the XML of an error.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(text, &mut out);
    out
}

/// Adds what every response carries: ids, date and server.
pub(super) fn identify<B>(
    response: &mut Response<B>,
    dialect: Dialect,
    id: &RequestId,
    now: Timestamp,
) {
    let names = dialect.names();
    let headers = response.headers_mut();
    let texts = [
        (names.request_id_header, id.0.as_ref().to_owned()),
        (names.second_id_header, second_id(id)),
    ];
    for (name, text) in texts {
        if let Ok(value) = HeaderValue::try_from(text) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers.insert(DATE, date(now));
    headers.insert(SERVER, HeaderValue::from_static("object-put"));
}

fn date(now: Timestamp) -> HeaderValue {
    thread_local! {
        static DATE: RefCell<EachSecond<HeaderValue>> = const { RefCell::new(EachSecond::new()) };
    }
    // A date is ASCII.
    let text = |now: Timestamp| HeaderValue::try_from(now.http_date());
    let make = |now| text(now).unwrap_or(HeaderValue::from_static(""));
    DATE.with_borrow_mut(|date| date.at(now, make).clone())
}

/// The longer id of a request.
pub(super) fn second_id(id: &RequestId) -> String {
    STANDARD.encode(id.expanded::<57>())
}

fn status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_no_control_character_as_it_is() {
        let id = RequestId("1".into());
        let body = error_body("C", "it's", [("Key", "a\u{0}\u{b}\n<")], &id);
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("<Message>it's</Message><Key>a&#x0;&#xb;&#xa;&lt;</Key>"), "{text}");
    }

    #[test]
    fn what_is_for_the_sender_alone_is_named_as_it_stands_in_the_answer() {
        let id = RequestId("1".into());
        let error = Error::argument("Authorization", Some("Digest a=\"b\""), "Unsupported");
        let response = refusal(&error, Dialect::Amz, &Method::GET, &id);
        let own = response.extensions().get::<SenderOnly>();
        assert_eq!(own, Some(&SenderOnly("Digest a=&quot;b&quot;".to_owned())));
    }
}
