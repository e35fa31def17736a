//! Answers to requests that only read: what is asked for again is answered as before, as long as nothing that the answer rests on
//! was written.
//!
//! The signature is verified each time, and the bytes of an object are read and decrypted each time: kept are the head, and where
//! they are. An answer that rests on rows which were not there (a scan), or on a policy, is made anew.

use http::{HeaderValue, Response};
use triptych_core::host::RequestId;
use triptych_core::kv::{self, MemoCache};

use crate::auth::account::Caller;
use crate::auth::policy;
use crate::error::Error;
use crate::operation::Handler;
use crate::request::dialect::is_client_header;
use crate::server::{ObjectPut, ParsedRequest, ResponseBody, render};

/// Bytes of the answers that are kept.
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of an answer beside its header values and its body.
const ANSWER_BYTES: usize = 2 * 1024;
/// Room for most keys.
const KEY_BYTES: usize = 256;

/// Headers in which requests for the same differ, and which nothing but a policy looks at once the sender is proven.
const IGNORED_HEADERS: [&str; 7] =
    ["host", "authorization", "date", "user-agent", "accept", "accept-encoding", "connection"];
/// The same of the service's own, without their prefix.
const IGNORED_OWN_HEADERS: [&str; 4] = ["date", "content-sha256", "security-token", "user-agent"];

/// Answers by what they follow from.
#[derive(Debug)]
pub(super) struct ResponseCache(MemoCache<Vec<u8>, CachedResponse>);

/// An answer that was given, and will be again.
#[derive(Debug)]
struct CachedResponse {
    to: Caller,
    response: Response<ResponseBody>,
}

impl ResponseCache {
    /// None yet.
    pub(super) fn new() -> Self {
        Self(MemoCache::new(BYTES_MAX))
    }
}

/// All that an answer follows from beside the store and the caller, whose account it has so that callers do not take turns.
fn cache_key(request: &ParsedRequest<'_>) -> Vec<u8> {
    let (fields, location) = (&request.fields, &request.location);
    let prefix = fields.dialect().words().header_prefix;
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
    key
}

impl ObjectPut {
    /// Answers a request that only reads.
    ///
    /// # Errors
    /// Those of the admission, then what the handler refuses.
    pub(super) async fn read(
        &self,
        request: &ParsedRequest<'_>,
        handler: Handler,
    ) -> Result<Response<ResponseBody>, Error> {
        let (store, cache) = (&*self.0.store, &self.0.responses.0);
        let key = cache_key(request);
        if let Some(cached) = cache.get(&key, store)
            && cached.to == request.caller
        {
            return Ok(cached.response.clone());
        }
        let (mut ids, empty) = (self.ids(), bytes::Bytes::new());
        let ((reply, is_governed), read_set) = kv::read(store, |tx| {
            let bucket = self.authorize(request, tx)?;
            let call = request.call(&empty, bucket.as_deref(), &self.0.settings);
            let reply = handler(&call, tx, &mut ids)?;
            let policy = bucket.map(|bucket| policy::of_bucket(tx, bucket.id));
            Ok::<_, Error>((reply, policy.transpose()?.flatten().is_some()))
        })
        .await?;
        let dialect = request.fields.dialect();
        let response = render::reply(reply, dialect);
        if let Some(read_set) = read_set.filter(|_| !is_governed) {
            let values: usize = response.headers().values().map(HeaderValue::len).sum();
            let bytes = ANSWER_BYTES + values + response.body().bytes();
            cache.insert(key, read_set, bytes, || {
                let mut response = response.clone();
                // With what each answer has of its own, so that their places are there.
                render::identify(&mut response, dialect, &RequestId("".into()), request.now);
                let to = request.caller.clone();
                CachedResponse { to, response }
            });
        }
        Ok(response)
    }
}
