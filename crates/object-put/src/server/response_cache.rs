//! Answers to requests that only read: what is asked for again is answered as before, as long as nothing that the answer rests on
//! was written.
//!
//! The signature is verified each time, and the bytes of an object are read and decrypted each time: kept are the head, and where
//! they are. An answer that rests on rows which were not there (a scan), or on a policy, is made anew.

use http::{HeaderValue, Response};
use triptych_core::kv::{KeyValue, MemoCache, ReadSet};

use crate::auth::account::Caller;
use crate::body::customer_key;
use crate::request::dialect::is_client_header;
use crate::server::download::ResponseBody;
use crate::server::request::ParsedRequest;

/// Bytes of the answers that are kept.
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of an answer beside its header values and its body.
const ANSWER_BYTES: usize = 2 * 1024;
/// Room for most keys.
const KEY_BYTES: usize = 256;

/// Headers in which requests for the same differ, and which nothing but a policy looks at once the signature is verified.
const IGNORED_HEADERS: [&str; 7] =
    ["host", "authorization", "date", "user-agent", "accept", "accept-encoding", "connection"];
/// The same of the service's own, without their prefix.
const IGNORED_OWN_HEADERS: [&str; 5] =
    ["date", "content-sha256", "security-token", "s3session-token", "user-agent"];

/// Answers by what they follow from.
#[derive(Debug)]
pub(super) struct ResponseCache(MemoCache<Vec<u8>, CachedResponse>);

/// An answer that was given, and will be again.
#[derive(Debug)]
struct CachedResponse {
    caller: Caller,
    response: Response<ResponseBody>,
}

impl ResponseCache {
    /// None yet.
    pub(super) fn new() -> Self {
        Self(MemoCache::new(BYTES_MAX))
    }

    /// The answer under `key` to the same caller, if no row that it rests on was written since.
    pub(super) fn get(
        &self,
        key: &Vec<u8>,
        caller: &Caller,
        store: &dyn KeyValue,
    ) -> Option<Response<ResponseBody>> {
        let cached = self.0.get(key, store).filter(|cached| cached.caller == *caller)?;
        Some(cached.response.clone())
    }

    /// Keeps an answer that rests on the rows of `read_set`; `complete` adds headers to the copy that is kept.
    pub(super) fn insert(
        &self,
        key: Vec<u8>,
        caller: &Caller,
        read_set: ReadSet,
        response: &Response<ResponseBody>,
        complete: impl FnOnce(&mut Response<ResponseBody>),
    ) {
        let values: usize = response.headers().values().map(HeaderValue::len).sum();
        let bytes = ANSWER_BYTES + values + response.body().bytes();
        self.0.insert(key, read_set, bytes, || {
            let mut response = response.clone();
            complete(&mut response);
            CachedResponse { caller: caller.clone(), response }
        });
    }
}

/// The key of a request: all that an answer follows from beside the store and the caller, whose account it has so that callers do not take
/// turns. A read handler is given no ids, and an answer that
/// follows from the time is not kept, so nothing else can enter one. `None` for one that brings a customer's
/// key, which must not outlive its request.
pub(super) fn key(request: &ParsedRequest<'_>) -> Option<Vec<u8>> {
    let (fields, location) = (&request.fields, &request.location);
    if customer_key::OWN.are_named(fields) {
        return None;
    }
    let prefix = fields.dialect().names().header_prefix;
    let account = request.caller.account().map(|account| account.id.as_str());
    let mut key = Vec::with_capacity(KEY_BYTES);
    let mut push = |text: &[u8]| {
        key.extend_from_slice(&text.len().to_be_bytes());
        key.extend_from_slice(text);
    };
    for text in [prefix, request.operation.name, account.unwrap_or_default()] {
        push(text.as_bytes());
    }
    push(location.bucket.as_deref().unwrap_or_default().as_bytes());
    push(location.key.as_ref().map_or(&[], |key| key.as_bytes()));
    push(request.point.as_ref().map(|point| point.label()).unwrap_or_default().as_bytes());
    push(&[u8::from(location.is_aliased)]);
    // Where parameters end and fields begin.
    push(&request.query.iter().count().to_be_bytes());
    for (name, value) in request.query.iter() {
        push(name.as_bytes());
        push(value.as_bytes());
    }
    for (name, value) in fields.iter() {
        let is_ignored = match name.strip_prefix(prefix) {
            Some(own) => IGNORED_OWN_HEADERS.contains(&own),
            None => IGNORED_HEADERS.contains(&name) || is_client_header(name),
        };
        if !is_ignored {
            push(name.as_bytes());
            push(value);
        }
    }
    Some(key)
}
