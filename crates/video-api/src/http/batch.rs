//! Batches: requests in one body of `multipart/mixed`, answered in one, each as if it had come alone.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http_body::Frame;
use tokio::sync::mpsc;
use triptych_core::host::{BoxError, FramePoll, ReplyBody};
use triptych_core::id::Ids;

use crate::api::error::Error;
use crate::http::content_encoding::unpacked;
use crate::http::request::{ALLOW_POSTS, ApiRequest, read_whole_body, routed_method};
use crate::http::response::{ApiResponse, Body};
use crate::http::{JSON_BYTES_MAX, VideoApi, cors, router};
use crate::upload::related;

/// Requests of one batch (facts: clients send up to 1,000).
const REQUESTS_MAX: usize = 1_000;
/// A response of up to this many bytes is sent at once, and may be compressed.
const WHOLE_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of one batch.
const BATCH_BYTES_MAX: usize = 16 * 1024 * 1024;

/// One request of a batch.
struct BatchPart {
    content_id: Option<String>,
    request: Result<ApiRequest, Error>,
    /// True if the answer is wanted without its body.
    is_head: bool,
}

impl VideoApi {
    pub(super) async fn batch<B>(&self, outer: &ApiRequest, body: &mut B) -> ApiResponse
    where
        B: http_body::Body<Data = Bytes> + Send + Unpin,
        B::Error: Into<BoxError>,
    {
        if outer.method != "POST" {
            return outer.refuse(&outer.not_allowed(ALLOW_POSTS), "batch");
        }
        let inner = match read_whole_body(body, BATCH_BYTES_MAX)
            .await
            .and_then(|bytes| read(outer, &bytes))
        {
            Ok(inner) => inner,
            Err(error) => return outer.refuse(&error, "batch"),
        };
        let boundary = format!("batch_{:016x}{:016x}", self.ids().next(), self.ids().next());
        let headers =
            vec![(header::CONTENT_TYPE, format!("multipart/mixed; boundary={boundary}").into())];
        let (mut out, mut rest) = (Vec::new(), inner.into_iter());
        let body = loop {
            if out.len() > WHOLE_BYTES_MAX {
                break Body::Raw(self.stream_parts(outer.clone(), boundary, out, rest));
            }
            let Some(one) = rest.next() else {
                out.extend_from_slice(&closing_delimiter(&boundary));
                break Body::Text(out.into());
            };
            self.write_response(outer, &boundary, one, &mut out).await;
        };
        ApiResponse { status: 200, headers, body, operation: "batch" }
    }

    async fn write_response(
        &self,
        outer: &ApiRequest,
        boundary: &str,
        one: BatchPart,
        out: &mut Vec<u8>,
    ) {
        let response = match one.request {
            Ok(request) if request.method == "OPTIONS" => cors::preflight(&request),
            Ok(request) => Box::pin(self.dispatch(request)).await,
            Err(error) => outer.refuse(&error, "batch"),
        };
        write(out, boundary, one.content_id.as_deref(), response, one.is_head);
    }

    /// Streams a long response: what there is of it, and then one part after the other, each made when the one before is taken. So a client that
    /// asks for much in one batch makes the service hold no more of it.
    fn stream_parts(
        &self,
        outer: ApiRequest,
        boundary: String,
        first: Vec<u8>,
        rest: std::vec::IntoIter<BatchPart>,
    ) -> ReplyBody {
        let (sender, parts) = mpsc::channel(1);
        let service = self.clone();
        tokio::spawn(async move {
            let mut piece = first;
            for one in rest {
                if sender.send((piece.into(), false)).await.is_err() {
                    // Nobody reads any more.
                    return;
                }
                piece = Vec::new();
                service.write_response(&outer, &boundary, one, &mut piece).await;
            }
            piece.extend_from_slice(&closing_delimiter(&boundary));
            let _ = sender.send((piece.into(), true)).await;
        });
        ReplyBody::stream(StreamedParts { parts, is_over: false })
    }
}

/// The parts of a long response, and whether each is the last.
struct StreamedParts {
    parts: mpsc::Receiver<(Bytes, bool)>,
    is_over: bool,
}

impl http_body::Body for StreamedParts {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> FramePoll<BoxError> {
        if self.is_over {
            return Poll::Ready(None);
        }
        self.parts.poll_recv(context).map(|piece| {
            self.is_over = piece.as_ref().is_none_or(|(_, is_last)| *is_last);
            // A client must not take a part of the answer for the whole.
            let piece = piece.ok_or_else(|| BoxError::from("the batch ended early"));
            Some(piece.map(|(piece, _)| Frame::data(piece)))
        })
    }
}

fn closing_delimiter(boundary: &str) -> Vec<u8> {
    format!("--{boundary}--\r\n").into_bytes()
}

fn read(outer: &ApiRequest, bytes: &Bytes) -> Result<Vec<BatchPart>, Error> {
    let broken = |what: &str| Error::ParseError(format!("the batch {what}"));
    let kind = outer.content_type.as_deref().unwrap_or_default();
    let boundary = related::boundary(kind).ok_or_else(|| broken("names no boundary"))?;
    let delimiter = format!("--{boundary}");
    let mut parts = Vec::new();
    let mut rest = bytes.as_ref();
    let (mut started, mut is_over) = (false, false);
    while let Some(at) = find(rest, delimiter.as_bytes()) {
        let (part, after) = rest.split_at(at);
        if started {
            parts.push(part);
        }
        started = true;
        rest = after.get(delimiter.len()..).unwrap_or_default();
        is_over = rest.starts_with(b"--");
        if is_over {
            break;
        }
    }
    // What was cut off is no request, and nothing of the batch is carried out without it.
    if started && !is_over && !rest.trim_ascii().is_empty() {
        return Err(broken("ends before its closing boundary"));
    }
    if parts.len() > REQUESTS_MAX {
        return Err(Error::BatchTooLarge(REQUESTS_MAX));
    }
    if parts.is_empty() {
        return Err(broken("holds no request"));
    }
    Ok(parts.into_iter().map(|part| read_part(outer, part)).collect())
}

/// The next delimiter: it begins a line, and nothing but blanks, or the mark of the last one, stands behind it there.
fn find(text: &[u8], delimiter: &[u8]) -> Option<usize> {
    let starts = |at: &usize| {
        let begins = *at == 0 || text.get(at - 1) == Some(&b'\n');
        let rest = text.get(*at..).filter(|_| begins).and_then(|rest| rest.strip_prefix(delimiter));
        rest.is_some_and(|rest| {
            let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
            line.starts_with(b"--") || line.trim_ascii().is_empty()
        })
    };
    (0..text.len()).find(starts)
}

/// Lines up to an empty one, and what follows it.
fn head(text: &[u8]) -> (Vec<&str>, &[u8]) {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
        let (line, after) = rest.split_at(at + 1);
        rest = after;
        let line = line.trim_ascii();
        if line.is_empty() {
            if lines.is_empty() {
                continue;
            }
            return (lines, rest);
        }
        lines.push(std::str::from_utf8(line).unwrap_or_default());
    }
    (lines, b"")
}

/// Returns whether a line is a field of a head, and not the first line of a request.
fn is_field(line: &str) -> bool {
    line.split_once(':').is_some_and(|(name, _)| !name.contains(char::is_whitespace))
}

fn read_part(outer: &ApiRequest, part: &[u8]) -> BatchPart {
    let (fields, rest) = match head(part) {
        (fields, rest) if fields.first().is_some_and(|line| is_field(line)) => (fields, rest),
        // A part without a head of its own is the request.
        _ => (Vec::new(), part),
    };
    let content_id = fields.iter().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-id").then(|| value.trim().to_owned())
    });
    let is_head = rest.trim_ascii_start().starts_with(b"HEAD ");
    BatchPart { content_id, request: read_request(outer, rest), is_head }
}

fn read_request(outer: &ApiRequest, text: &[u8]) -> Result<ApiRequest, Error> {
    let broken = || Error::ParseError("a request of the batch cannot be read".into());
    let (lines, body) = head(text);
    let (first, fields) = lines.split_first().ok_or_else(broken)?;
    let mut words = first.split_ascii_whitespace();
    let (method, target) = (words.next().ok_or_else(broken)?, words.next().ok_or_else(broken)?);
    let method = routed_method(method);
    // An absolute target is taken by its path: the batch came here.
    let target = match target.split_once("://") {
        Some((_, rest)) => rest.find('/').and_then(|at| rest.get(at..)).unwrap_or("/"),
        None => target,
    };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
    let mut headers = HeaderMap::new();
    for field in fields {
        let (name, value) = field.split_once(':').ok_or_else(broken)?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| broken())?;
        headers.append(name, HeaderValue::from_str(value.trim()).map_err(|_| broken())?);
    }
    if let Some(language) = outer.headers.get(header::ACCEPT_LANGUAGE) {
        headers.entry(header::ACCEPT_LANGUAGE).or_insert_with(|| language.clone());
    }
    let mut inner = ApiRequest::new(method, path, query, headers, outer.base.clone());
    inner.apply_method_override();
    let is_download = router::served_at(&inner.method, &inner.path)
        .is_ok_and(|(operation, _)| operation.download);
    let is_batch = router::BATCH_PATHS.contains(&&*inner.path);
    if is_batch || is_download || router::under_upload(&inner.path).is_some() {
        return Err(Error::NotInBatch);
    }
    // The line break before the delimiter is the delimiter's.
    let body = body.strip_suffix(b"\n").unwrap_or(body);
    let body = body.strip_suffix(b"\r").unwrap_or(body);
    let body = unpacked(&inner.headers, Bytes::copy_from_slice(body), JSON_BYTES_MAX)?;
    let mut inner = inner.with_body(body);
    // What the batch itself carries holds for requests without their own, in their forms too: its token also for one that names a key.
    if inner.token.is_none() {
        inner.key = inner.key.or_else(|| outer.key.clone());
        inner.token.clone_from(&outer.token);
    }
    Ok(inner)
}

fn write(
    out: &mut Vec<u8>,
    boundary: &str,
    content_id: Option<&str>,
    response: ApiResponse,
    is_head: bool,
) {
    out.extend_from_slice(format!("--{boundary}\r\nContent-Type: application/http\r\n").as_bytes());
    if let Some(id) =
        content_id.filter(|id| id.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' '))
    {
        let id = id.trim_start_matches('<').trim_end_matches('>');
        out.extend_from_slice(format!("Content-ID: <response-{id}>\r\n").as_bytes());
    }
    let status = http::StatusCode::from_u16(response.status)
        .unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let words = status.canonical_reason().unwrap_or_default();
    out.extend_from_slice(format!("\r\nHTTP/1.1 {} {words}\r\n", status.as_u16()).as_bytes());
    let text = match response.body {
        Body::Text(text) => text,
        Body::Empty | Body::Raw(_) => Bytes::new(),
    };
    for (name, value) in response.headers {
        out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    if is_head {
        // A length without the bytes would have a client wait for them in the part that follows.
        out.extend_from_slice(b"\r\n\r\n");
        return;
    }
    out.extend_from_slice(format!("Content-Length: {}\r\n\r\n", text.len()).as_bytes());
    out.extend_from_slice(&text);
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(text: &str) -> Result<Vec<BatchPart>, Error> {
        let kind = HeaderValue::from_static("multipart/mixed; boundary=b");
        let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, kind)]);
        let outer = ApiRequest::new("POST", "/batch".into(), "", headers, "http://h".into());
        read(&outer, &Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn a_batch_that_is_cut_off_is_refused_as_a_whole() {
        let one = "--b\r\n\r\nGET /a HTTP/1.1\r\n\r\n";
        for (end, requests) in [
            ("--b--", Some(1)),
            ("--b--\r\nmore", Some(1)),
            ("--b\r\n", Some(1)),
            ("--b\r\n\r\nDELETE /a HTTP/1.1\r\n\r\n", None),
            ("", None),
        ] {
            let parts = batch(&format!("{one}{end}"));
            assert_eq!(parts.ok().map(|parts| parts.len()), requests, "{end:?}");
        }
    }

    #[test]
    fn a_line_that_begins_as_a_delimiter_does_is_none() {
        let text = "--b\n\nPOST /a HTTP/1.1\n\n--bc\n--b x\n--b \n\nGET /a HTTP/1.1\n\n--b--";
        let parts = batch(text).unwrap();
        let [first, _] = parts.as_slice() else { panic!("{}", parts.len()) };
        let body = first.request.as_ref().unwrap().body.as_ref();
        assert_eq!(body, b"--bc\n--b x");
    }

    #[test]
    fn the_batch_of_the_stock_client_is_read() {
        let text = "--===7==\nContent-Type: application/http\nMIME-Version: 1.0\nContent-ID: <4a0f + 1>\n\n\
            GET /youtube/v3/videos?part=id&id=a HTTP/1.1\nauthorization: Bearer T\nHost: h\n\n\n\
            --===7==\nContent-Type: application/http\nContent-ID: <4a0f + 2>\n\n\
            POST /youtube/v3/playlists?part=snippet HTTP/1.1\nContent-Type: application/json\n\n{\"a\": 1}\n--===7==--";
        let mut headers = HeaderMap::new();
        headers.insert(
            "content-type",
            HeaderValue::from_static("multipart/mixed; boundary=\"===7==\""),
        );
        let outer = ApiRequest::new("POST", "/batch".into(), "key=k", headers, "http://h".into());
        let inner = read(&outer, &Bytes::from_static(text.as_bytes())).unwrap();
        let [first, second] = inner.as_slice() else { panic!("{}", inner.len()) };
        let request = first.request.as_ref().unwrap();
        assert_eq!(
            (first.content_id.as_deref(), request.path.as_str()),
            (Some("<4a0f + 1>"), "/youtube/v3/videos")
        );
        assert_eq!((request.token.as_deref(), request.key.as_deref()), (Some("T"), None));
        let request = second.request.as_ref().unwrap();
        assert_eq!(
            (request.key.as_deref(), request.body.as_ref()),
            (Some("k"), b"{\"a\": 1}".as_slice())
        );
    }
}
