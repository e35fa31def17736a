//! A request as the domain reads it: method, path, pairs, credentials, and the form that its response has.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{self, HeaderName};
use http::request::Parts as Head;
use http_body_util::{BodyExt, Limited};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use triptych_core::host::{BoxError, RequestContext};

use super::content_encoding::EncodingError;
use crate::api::callback;
use crate::api::error::Error;
use crate::api::fields::Mask;
use crate::api::operation::{Operation, VERSION_PATH};
use crate::api::parameter::{boolean, check_global, named};
use crate::api::response::address::ESCAPED_BASE;
use crate::api::schema::Shape;
use crate::resource::route::{self, Route};
use crate::upload::location::{AddressHeaders, base_url};

/// `Allow` of what is only read.
pub(super) const ALLOW_READS: &str = "GET, HEAD, OPTIONS";
/// `Allow` of what is only posted to.
pub(super) const ALLOW_POSTS: &str = "POST, OPTIONS";
/// `Allow` of uploads: a session takes pieces with PUT too, and ends with DELETE.
pub(super) const ALLOW_UPLOADS: &str = "POST, PUT, DELETE, OPTIONS";

/// A request, without its body while that is still on its way.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    /// The method, after any override.
    pub method: String,
    /// The path, decoded.
    pub path: String,
    /// The query's pairs, and the path's.
    pub pairs: Vec<(String, String)>,
    /// The query as it came.
    pub query: String,
    /// The API key.
    pub key: Option<String>,
    /// The token.
    pub token: Option<String>,
    /// `If-Match`.
    pub if_match: Option<String>,
    /// `If-None-Match`.
    pub if_none_match: Option<String>,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// True if the response may be compressed.
    pub gzip: bool,
    /// True if the method was overridden, so that the body holds the query.
    overridden: bool,
    /// The address of the service as the client knows it.
    pub base: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

fn decoded(text: &str) -> String {
    if !text.bytes().any(|byte| byte == b'+' || byte == b'%') {
        return text.to_owned();
    }
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}

/// The method that answers a request: `HEAD` is `GET`, of whose answer the connection, or the batch, leaves out the body.
pub(super) fn routed_method(method: &str) -> &str {
    match method {
        "HEAD" => "GET",
        other => other,
    }
}

/// Returns whether an `Accept-Encoding` names gzip, and not with the weight of what is refused (RFC 9110 section 12.4.2).
fn takes_gzip(accepted: &str) -> bool {
    accepted.split(',').any(|one| {
        let (coding, weight) = one.split_once(';').unwrap_or((one, "q=1"));
        let weight = weight.trim().get(2..).and_then(|weight| weight.parse::<f32>().ok());
        ["gzip", "x-gzip"].iter().any(|known| coding.trim().eq_ignore_ascii_case(known))
            && weight != Some(0.0)
    })
}

/// The pairs of a query or of a form.
#[must_use]
pub(super) fn pairs(query: &str) -> Vec<(String, String)> {
    let pieces = query.split('&').filter(|piece| !piece.is_empty());
    pieces
        .map(|piece| piece.split_once('=').unwrap_or((piece, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

impl ApiRequest {
    /// Reads the head of a request.
    #[must_use]
    pub fn read(head: Head, external_url: Option<&str>) -> Self {
        let text = |name: HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
        let named = |name: &'static str| text(HeaderName::from_static(name));
        let authority = head.uri.authority().map(http::uri::Authority::as_str);
        let received = head.extensions.get::<RequestContext>();
        let seen = AddressHeaders {
            host: text(header::HOST).or(authority),
            forwarded_host: named("x-forwarded-host"),
            forwarded_proto: named("x-forwarded-proto"),
            forwarded_port: named("x-forwarded-port"),
            forwarded_prefix: named("x-forwarded-prefix"),
            tls: received.is_some_and(|received| received.peer.tls),
        };
        let base = base_url(external_url, &seen, "localhost");
        let query = head.uri.query().unwrap_or_default();
        let path = percent_decode_str(head.uri.path()).decode_utf8_lossy().into_owned();
        let method = routed_method(head.method.as_str());
        let mut headers = head.headers;
        if head.method == http::Method::HEAD {
            // Only a GET has a part sent (RFC 9110 section 14.2).
            headers.remove(header::RANGE);
        }
        let mut request = Self::new(method, path, query, headers, base);
        request.apply_method_override();
        request
    }

    /// A request of these, as a batch holds them too.
    #[must_use]
    pub fn new(method: &str, path: String, query: &str, headers: HeaderMap, base: String) -> Self {
        let pairs = pairs(query);
        let text =
            |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let given = |name: &str| {
            pairs
                .iter()
                .find(|(known, value)| known == name && !value.is_empty())
                .map(|(_, value)| value.clone())
        };
        let bearer = text("authorization").and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
        });
        // A list may come in several lines (RFC 9110 section 5.3).
        let list = |name: HeaderName| {
            let lines: Vec<_> =
                headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
            (!lines.is_empty()).then(|| lines.join(", "))
        };
        // Packing is asked for twice over (facts: the user agent has to hold the word as well).
        let gzip = text("accept-encoding").is_some_and(|accepted| takes_gzip(&accepted))
            && text("user-agent").is_some_and(|agent| agent.contains("gzip"));
        Self {
            method: method.to_owned(),
            path,
            query: query.to_owned(),
            key: given("key").or_else(|| text("x-goog-api-key")),
            token: bearer.or_else(|| given("access_token")).or_else(|| given("oauth_token")),
            if_match: list(header::IF_MATCH),
            if_none_match: list(header::IF_NONE_MATCH),
            content_type: text("content-type"),
            gzip,
            overridden: false,
            base,
            body: Bytes::new(),
            pairs,
            headers,
        }
    }

    /// `x-http-method-override` on a POST: a query too long for an address comes as a form (facts: python, above 2,048 characters).
    pub(super) fn apply_method_override(&mut self) {
        let wanted =
            self.headers.get("x-http-method-override").and_then(|value| value.to_str().ok());
        // An empty one names no method.
        let wanted = wanted.map(str::trim).filter(|wanted| !wanted.is_empty());
        if let (Some(wanted), "POST") = (wanted, self.method.as_str()) {
            self.method = routed_method(&wanted.to_ascii_uppercase()).to_owned();
            self.overridden = true;
        }
    }

    /// The request with its body. An overridden GET has its query there, and so may a POST that brings nothing else: the client of Ruby sends it so.
    #[must_use]
    pub fn with_body(mut self, body: Bytes) -> Self {
        let is_form = self.content_type.as_deref().is_some_and(is_form);
        let brings_nothing_else = || {
            let rest = self.path.strip_prefix(VERSION_PATH).filter(|_| self.method == "POST");
            let route = rest.map(|rest| route::find(&self.method, rest));
            matches!(route, Some(Route::Operation(row, _)) if !row.takes_json())
        };
        if is_form && (self.overridden || brings_nothing_else()) {
            let form = String::from_utf8_lossy(&body).into_owned();
            let query = if self.query.is_empty() { form } else { format!("{}&{form}", self.query) };
            let (method, path, base) = (self.method.clone(), self.path.clone(), self.base.clone());
            self =
                Self { overridden: false, ..Self::new(&method, path, &query, self.headers, base) };
        } else {
            self.body = body;
        }
        self
    }

    /// The refusal of a method on a path that takes `allowed`.
    pub(super) fn not_allowed(&self, allowed: &str) -> Error {
        Error::MethodNotAllowed { method: self.method.clone(), allowed: allowed.to_owned() }
    }

    /// A header, if it is text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns whether `Expect` names something else than the one expectation that is met (RFC 9110 section 10.1.1).
    pub(super) fn expects_more_than_continue(&self) -> bool {
        let is_met = |one: &str| one.is_empty() || one.eq_ignore_ascii_case("100-continue");
        let mut values = self.headers.get_all(header::EXPECT).iter();
        values.any(|value| match value.to_str() {
            Ok(list) => !list.split(',').map(str::trim).all(is_met),
            Err(_) => true,
        })
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Tells whether the response is indented.
    #[must_use]
    pub fn pretty(&self) -> bool {
        self.value("prettyPrint").and_then(boolean) != Some(false)
    }

    /// The form of errors: 1 or 2, or neither.
    #[must_use]
    pub fn error_form(&self) -> u8 {
        match self.value("$.xgafv") {
            Some("1") => 1,
            Some("2") => 2,
            _ => 0,
        }
    }

    /// The fields that are wanted.
    ///
    /// # Errors
    /// [`Error::InvalidFields`].
    pub fn mask(&self) -> Result<Option<Mask>, Error> {
        self.value("fields").filter(|text| !text.is_empty()).map(Mask::parse).transpose()
    }

    /// Checks what decides the form of the response.
    ///
    /// # Errors
    /// [`Error::OutputFormat`], [`Error::AltUnsupported`], the fault of another common parameter, [`Error::InvalidFields`].
    pub fn check_form(&self, operation: &Operation) -> Result<(), Error> {
        let alt = self.value("alt").unwrap_or_default();
        match named(&["json", "media", "proto"], alt) {
            None if alt.is_empty() => {}
            Some("json") if !operation.download => {}
            Some("media") if operation.download => {}
            // Nobody gets a file as JSON, nor anything in the form of protocol buffers.
            Some("json" | "proto") => return Err(Error::OutputFormat),
            _ => {
                let allowed = if operation.download { "media" } else { "json" };
                return Err(Error::AltUnsupported { alt: alt.to_owned(), allowed });
            }
        }
        if let Some(name) = self.value("callback").filter(|_| self.method == "GET") {
            callback::check(name)?;
        }
        check_global(&self.pairs)?;
        let (mask, shape) = (self.mask()?, operation.response.and_then(Shape::named));
        let unknown = mask.zip(shape).and_then(|(mask, shape)| mask.unknown(shape));
        unknown.map_or(Ok(()), |path| Err(Error::InvalidFields(path)))
    }

    /// Returns whether a request brings something that says to be neither a resource nor a form.
    pub(super) fn brings_media(&self) -> bool {
        let kind = self.content_type.as_deref().filter(|kind| !type_name(kind).is_empty());
        kind.is_some_and(|kind| !is_json(kind) && !is_form(kind))
            && !self.body.trim_ascii().is_empty()
    }

    /// Checks that the body of an operation that takes a resource says to be JSON, or says nothing.
    ///
    /// # Errors
    /// [`Error::ParseError`] for a form, [`Error::BadContent`] for what is something else.
    pub(super) fn check_resource_type(
        &self,
        operation: &Operation,
        body: &[u8],
    ) -> Result<(), Error> {
        let is_sent = operation.takes_json() && !body.trim_ascii().is_empty();
        match self.content_type.as_deref().filter(|_| is_sent) {
            None => Ok(()),
            Some(kind) if is_json(kind) || type_name(kind).is_empty() => Ok(()),
            Some(kind) if is_form(kind) => Err(Error::ParseError(
                "this operation reads no forms; send JSON with Content-Type application/json"
                    .into(),
            )),
            Some(kind) => Err(Error::BadContent(kind.to_owned(), "application/json".into())),
        }
    }
}

/// The name of a content type, without its parameters.
fn type_name(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

fn is_form(kind: &str) -> bool {
    type_name(kind).eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// Returns whether a content type is that of JSON, under whichever name.
fn is_json(kind: &str) -> bool {
    type_name(kind).rsplit(['/', '+']).next().is_some_and(|last| last.eq_ignore_ascii_case("json"))
}

/// Returns whether a text of the body holds that character, which would be sent back as an address.
fn holds_base(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\u{1}'),
        Value::Array(list) => list.iter().any(holds_base),
        Value::Object(map) => {
            map.iter().any(|(name, value)| name.contains('\u{1}') || holds_base(value))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A JSON object, or nothing at all.
///
/// # Errors
/// [`Error::ParseError`].
pub(super) fn json(bytes: &[u8]) -> Result<Map<String, Value>, Error> {
    // Editors and shells of Windows put the mark of UTF-8 before a text.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if bytes.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(map)) => {
            let may_hold = bytes.windows(ESCAPED_BASE.len()).any(|window| window == ESCAPED_BASE);
            match map.iter().find(|(_, value)| may_hold && holds_base(value)) {
                Some((path, _)) => Err(Error::InvalidField {
                    path: path.clone(),
                    expected: "texts without the control character U+0001",
                }),
                None => Ok(map),
            }
        }
        Ok(_) => Err(Error::ParseError("the body is not a JSON object".into())),
        Err(error) => Err(Error::ParseError(error.to_string())),
    }
}

/// The whole of a body, if it is short.
pub(super) async fn read_whole_body<B>(body: &mut B, bytes_max: usize) -> Result<Bytes, Error>
where
    B: http_body::Body<Data = Bytes> + Send + Unpin,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, bytes_max).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => {
            Err(Error::UploadTooLarge(bytes_max as u64))
        }
        Err(error) => Err(broken_body(&*error)),
    }
}

/// The reason why a body could not be read to its end.
pub(super) fn broken_body(error: &(dyn std::error::Error + 'static)) -> Error {
    error.downcast_ref::<EncodingError>().map_or(Error::BodyBroken, Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(query: &str, headers: &[(&'static str, &'static str)]) -> ApiRequest {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        ApiRequest::new(
            "GET",
            "/youtube/v3/videos".into(),
            query,
            headers.collect(),
            "http://h".into(),
        )
    }

    #[test]
    fn credentials_are_read_from_all_their_places() {
        assert_eq!(request("key=k", &[]).key.as_deref(), Some("k"));
        assert_eq!(request("", &[("x-goog-api-key", "k")]).key.as_deref(), Some("k"));
        assert_eq!(request("access_token=t", &[]).token.as_deref(), Some("t"));
        assert_eq!(request("", &[("authorization", "bearer t")]).token.as_deref(), Some("t"));
        assert_eq!(request("", &[("authorization", "Basic t")]).token, None);
    }

    #[test]
    fn an_answer_is_packed_where_gzip_is_taken_and_the_agent_names_it() {
        for (accepted, agent, packed) in [
            ("gzip", "x (gzip)", true),
            ("deflate, GZIP;q=0.5", "gzip", true),
            ("x-gzip", "gzip", true),
            ("gzip", "x", false),
            ("gzip;q=0", "gzip", false),
            ("identity, gzip; q=0.000", "gzip", false),
            ("br", "gzip", false),
            ("", "gzip", false),
        ] {
            let headers = [("accept-encoding", accepted), ("user-agent", agent)];
            assert_eq!(request("", &headers).gzip, packed, "{accepted} {agent}");
        }
    }

    #[test]
    fn a_long_query_comes_as_the_form_of_an_overridden_post() {
        let headers = [
            ("x-http-method-override", "GET"),
            ("content-type", "application/x-www-form-urlencoded"),
        ];
        let mut long = request("alt=json", &headers);
        long.method = "POST".into();
        long.apply_method_override();
        let long = long.with_body(Bytes::from_static(b"part=id&id=a%2Cb&key=k"));
        assert_eq!((long.method.as_str(), long.key.as_deref()), ("GET", Some("k")));
        assert!(long.pairs.contains(&("id".into(), "a,b".into())));
        assert!(long.pairs.contains(&("alt".into(), "json".into())));
    }

    #[test]
    fn pairs_are_decoded() {
        assert_eq!(
            pairs("a=1+2&b=%C3%A4&c&=d"),
            [
                ("a".into(), "1 2".into()),
                ("b".into(), "ä".into()),
                ("c".into(), String::new()),
                (String::new(), "d".into())
            ]
        );
    }
}
