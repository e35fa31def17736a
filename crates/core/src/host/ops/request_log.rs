//! The last thousand requests, for whoever wants to see what a client really sent. Secrets are taken out.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Display;

use http::{HeaderMap, Method, header};
use parking_lot::Mutex;
use percent_encoding::percent_decode_str;
use serde::{Serialize, Serializer};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::id::{Ids, SystemIds};
use crate::time::Timestamp;

const KEPT: usize = 1_000;
/// Texts of a request that are kept: its target, and each of its headers.
const TARGET_BYTES_MAX: usize = 512;
const HEADERS_BYTES_MAX: usize = 8 * 1024;
/// Parameters that hold a secret in any service: of OAuth, and of signed links. A service has more of its own.
const SECRET_PARAMETERS: &[&str] = &[
    "key",
    "access_token",
    "oauth_token",
    "token",
    "code",
    "refresh_token",
    "client_secret",
    "assertion",
    "signature",
    "ticket",
];
/// A header with one of these in its name holds a secret.
const SECRET_HEADERS: &[&str] =
    &["auth", "cookie", "key", "password", "secret", "signature", "ticket", "token"];

/// One answered request.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::host) struct LoggedRequest {
    /// Its place among all requests of this process, from 1.
    pub(in crate::host) number: u64,
    #[serde(serialize_with = "shown")]
    pub(in crate::host) time: Timestamp,
    pub(in crate::host) id: String,
    #[serde(serialize_with = "shown")]
    pub(in crate::host) method: Method,
    pub(in crate::host) host: String,
    pub(in crate::host) target: String,
    pub(in crate::host) operation: &'static str,
    pub(in crate::host) status: u16,
    pub(in crate::host) micros: u64,
    pub(in crate::host) peer: String,
    /// The longer part, which only the answer about this one request shows.
    #[serde(skip)]
    pub(in crate::host) detail: Detail,
}

/// The longer part of a request.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::host) struct Detail {
    /// Its headers, a line each.
    pub(in crate::host) headers: String,
    /// The beginning of its body, where that was text.
    pub(in crate::host) body: Option<String>,
    /// The beginning of the answer, where that was an error in words.
    pub(in crate::host) error: Option<String>,
    /// The fault on request that it met.
    pub(in crate::host) fault: Option<serde_json::Value>,
}

fn shown<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// The latest requests, and whoever waits for the next.
#[derive(Debug)]
pub(in crate::host) struct RequestLog {
    ring: Mutex<Ring>,
    pushed: Notify,
    /// Names this process, so that a number of an earlier one is not taken for one of this.
    process: u64,
}

#[derive(Debug, Default)]
struct Ring {
    requests: VecDeque<LoggedRequest>,
    last: u64,
}

impl Default for RequestLog {
    fn default() -> Self {
        Self { ring: Mutex::default(), pushed: Notify::new(), process: SystemIds.next() }
    }
}

impl RequestLog {
    /// Notes a request, which `fill` writes over the oldest: each keeps its memory, so that a busy service allocates little here.
    pub(in crate::host) fn push(&self, fill: impl FnOnce(&mut LoggedRequest)) {
        let mut ring = self.ring.lock();
        let oldest = (ring.requests.len() == KEPT).then(|| ring.requests.pop_front()).flatten();
        let mut request = oldest.unwrap_or_default();
        ring.last += 1;
        request.number = ring.last;
        fill(&mut request);
        // A host name may be as long as a head.
        request.host.shrink_to(TARGET_BYTES_MAX);
        ring.requests.push_back(request);
        drop(ring);
        self.pushed.notify_waiters();
    }

    pub(in crate::host) fn clear(&self) {
        self.ring.lock().requests.clear();
    }

    pub(in crate::host) fn list(&self) -> Vec<LoggedRequest> {
        self.ring.lock().requests.iter().cloned().collect()
    }

    /// A request and its longer part.
    pub(in crate::host) fn find(&self, id: &str) -> Option<LoggedRequest> {
        self.ring.lock().requests.iter().find(|request| request.id == id).cloned()
    }

    /// Requests behind a number, the oldest first, without their longer parts.
    pub(in crate::host) fn after(&self, number: u64) -> Vec<LoggedRequest> {
        let ring = self.ring.lock();
        let from = ring.requests.partition_point(|request| request.number <= number);
        let short = |request: &LoggedRequest| LoggedRequest {
            id: request.id.clone(),
            host: request.host.clone(),
            target: request.target.clone(),
            peer: request.peer.clone(),
            method: request.method.clone(),
            detail: Detail::default(),
            ..*request
        };
        ring.requests.range(from..).map(short).collect()
    }

    /// Ends with the next request, also one that comes before this is waited for.
    pub(in crate::host) fn pushed(&self) -> Notified<'_> {
        self.pushed.notified()
    }

    /// The place behind a request, as [`RequestLog::number_of`] reads it.
    pub(in crate::host) fn place(&self, number: u64) -> String {
        format!("{:x}-{number}", self.process)
    }

    /// The number that a place stands for; 0, where it is one of another process or none.
    pub(in crate::host) fn number_of(&self, place: &str) -> u64 {
        let number = place.split_once('-').filter(|(process, _)| {
            u64::from_str_radix(process, 16).is_ok_and(|process| process == self.process)
        });
        number.and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
    }
}

/// A target whose secret query values, also those of the service's `own` parameters, are replaced by `...`; at most 512 bytes of it.
pub(in crate::host) fn redact(target: &str, own: &[&str]) -> String {
    let (path, query) =
        target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let mut out = String::with_capacity(target.len().min(520));
    out.push_str(path);
    if let Some(query) = query {
        out.push('?');
        redact_pairs(&mut out, query, own);
    }
    if out.len() > TARGET_BYTES_MAX {
        out.truncate(out.floor_char_boundary(TARGET_BYTES_MAX));
        out.push_str("...");
    }
    out
}

/// Writes the pairs of a query or of a form, whose secret values are replaced by `...`.
pub(in crate::host) fn redact_pairs(out: &mut String, pairs: &str, own: &[&str]) {
    let is_secret = |name: &str| {
        // By the name that the service reads, however it is written.
        let name = Cow::from(percent_decode_str(name));
        let mut secrets = SECRET_PARAMETERS.iter().chain(own);
        secrets.any(|secret| name.eq_ignore_ascii_case(secret.as_bytes()))
    };
    for (place, pair) in pairs.split('&').enumerate() {
        if place > 0 {
            out.push('&');
        }
        match pair.split_once('=') {
            Some((name, _)) if is_secret(name) => {
                out.push_str(name);
                out.push_str("=...");
            }
            _ => out.push_str(pair),
        }
    }
}

/// The headers of a request, a line each, at most 8 KiB; the values of secret ones are replaced by `...`, and so are the secrets of an address
/// that a browser names as the one it came from. `own` are secret parameters of the service.
pub(in crate::host) fn header_lines(headers: &HeaderMap, own: &[&str]) -> String {
    let mut out = String::with_capacity(512);
    for (name, value) in headers {
        let name = name.as_str();
        let is_secret = SECRET_HEADERS.iter().any(|word| name.contains(word));
        let value = match value.to_str() {
            _ if is_secret => Cow::Borrowed("..."),
            Ok(address) if name == header::REFERER.as_str() => Cow::Owned(redact(address, own)),
            text => Cow::Borrowed(text.unwrap_or("(not text)")),
        };
        if out.len() + name.len() + value.len() > HEADERS_BYTES_MAX {
            out.push_str("...\n");
            break;
        }
        for piece in [name, ": ", &value, "\n"] {
            out.push_str(piece);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_a_query_are_taken_out() {
        assert_eq!(
            redact("/a?key=s3cret&part=id&X-Own-Signature=ff", &["x-own-signature"]),
            "/a?key=...&part=id&X-Own-Signature=..."
        );
        assert_eq!(
            redact("/a?X%2DOwn%2dSignature=ff&%6bey=s3cret&%=%zz", &["x-own-signature"]),
            "/a?X%2DOwn%2dSignature=...&%6bey=...&%=%zz"
        );
        assert_eq!(redact("/a?list-type=2", &[]), "/a?list-type=2");
        assert_eq!(redact("/plain", &[]), "/plain");
    }

    #[test]
    fn secrets_in_headers_are_taken_out() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("authorization", "Bearer s3cret"),
            ("x-api-key", "s3cret"),
            ("x-own-customer-key-md5", "s3cret"),
            ("cookie", "a=s3cret"),
            ("x-security-token", "s3cret"),
            ("accept", "*/*"),
        ] {
            headers.insert(name, value.parse().unwrap());
        }
        let lines = header_lines(&headers, &[]);
        assert!(!lines.contains("s3cret") && lines.contains("authorization: ...\n"), "{lines}");
        assert!(lines.contains("accept: */*\n"), "{lines}");
    }

    #[test]
    fn secrets_in_the_address_that_a_request_came_from_are_taken_out() {
        let address = "http://h/page?access_token=s3cret&part=id&own=s3cret";
        let headers = HeaderMap::from_iter([(header::REFERER, address.parse().unwrap())]);
        assert_eq!(
            header_lines(&headers, &["own"]),
            "referer: http://h/page?access_token=...&part=id&own=...\n"
        );
    }

    #[test]
    fn headers_are_kept_within_their_limit() {
        let mut headers = HeaderMap::new();
        for number in 0..100 {
            let name: http::HeaderName = format!("x-{number}").parse().unwrap();
            headers.insert(name, "v".repeat(1_000).parse().unwrap());
        }
        let lines = header_lines(&headers, &[]);
        assert!(lines.len() <= HEADERS_BYTES_MAX + 4 && lines.ends_with("...\n"));
    }

    #[test]
    fn only_the_last_thousand_are_kept() {
        let requests = RequestLog::default();
        for number in 0..1_500_u64 {
            requests.push(|request| request.micros = number);
        }
        let list = requests.list();
        assert_eq!((list.len(), list[0].micros), (1_000, 500));
    }

    #[test]
    fn what_follows_a_place_is_given_once_and_the_place_of_another_process_is_the_beginning() {
        let requests = RequestLog::default();
        for _ in 0..3 {
            requests.push(|_| ());
        }
        let place = requests.place(2);
        let after = requests.after(requests.number_of(&place));
        assert_eq!(after.iter().map(|request| request.number).collect::<Vec<_>>(), [3]);
        for other in ["", "-", "x-2", "0-2"] {
            assert_eq!(requests.number_of(other), 0, "{other}");
        }
        requests.clear();
        requests.push(|_| ());
        assert_eq!(requests.after(2).len(), 1, "a cleared log goes on counting");
    }
}
