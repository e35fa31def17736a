//! A cache of responses to requests that only read: what is asked for again is answered as before, as long as nothing that the response
//! rests on was written.
//!
//! Every request is authenticated first. A response that rests on rows which were not there (a scan), or on the time, is made anew.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use triptych_core::kv::{KeyValue, Memo, MemoCache, ReadSet};
use triptych_core::time::Timestamp;

use super::request::ApiRequest;
use super::response::RenderedReply;
use crate::account::Caller;
use crate::api::response::bytes_of;

/// Bytes of the responses that are kept.
const BYTES_MAX: usize = 32 * 1024 * 1024;

/// Responses by all that they follow from.
#[derive(Debug)]
pub(super) struct ResponseCache(MemoCache<[u8; 32], CachedResponse>);

/// A response that was given, and will be again.
#[derive(Debug)]
pub(super) struct CachedResponse {
    pub(super) rendered: RenderedReply,
    /// It holds from then on: a clock that is set back may find another.
    since: Timestamp,
}

impl ResponseCache {
    /// None yet.
    pub(super) fn new() -> Self {
        Self(MemoCache::new(BYTES_MAX))
    }

    /// The response of this key, if nothing that it rests on was written since.
    pub(super) fn find(
        &self,
        key: &[u8; 32],
        now: Timestamp,
        store: &dyn KeyValue,
    ) -> Option<Arc<Memo<CachedResponse>>> {
        self.0.get(key, store).filter(|cached| cached.since <= now)
    }

    /// Keeps a response that rests on `read_set` and was made at `since`.
    pub(super) fn insert(
        &self,
        key: [u8; 32],
        read_set: ReadSet,
        rendered: &RenderedReply,
        since: Timestamp,
    ) {
        let cached = || CachedResponse { rendered: rendered.clone(), since };
        self.0.insert(key, read_set, rendered.bytes(), cached);
    }
}

/// Digest of all that a response follows from beside the store and the time.
pub(super) fn cache_key(request: &ApiRequest, caller: &Caller) -> [u8; 32] {
    let language = request.header("accept-language");
    let request = (&request.path, &request.query, &request.base, language);
    Sha256::digest(bytes_of((request, caller))).into()
}

#[cfg(test)]
mod tests {
    use triptych_core::kv::{Memory, Tx};

    use super::*;
    use crate::api::response::Reply;

    #[test]
    fn an_answer_that_is_kept_holds_from_when_it_was_made() {
        let (store, responses) = (Memory::new(), ResponseCache::new());
        let request = ApiRequest::new("GET", "/v".into(), "", http::HeaderMap::new(), "h".into());
        let key = cache_key(&request, &Caller::default());
        let at = Timestamp::from_millis;
        for _ in 0..2 {
            let read_set = Tx::tracking_reads(&store).read_set().unwrap();
            responses.0.insert(key, read_set, 1, || CachedResponse {
                rendered: RenderedReply::new(Reply::default(), &request),
                since: at(5),
            });
        }
        let is_found = |now| responses.find(&key, at(now), &store).is_some();
        assert!(is_found(5) && is_found(6) && !is_found(4));
    }

    #[test]
    fn another_caller_target_address_or_language_asks_for_another_answer() {
        let request = |query: &str, base: &str, language: &'static str| {
            let language = http::HeaderValue::from_static(language);
            let headers = [(http::header::ACCEPT_LANGUAGE, language)];
            ApiRequest::new("GET", "/v".into(), query, headers.into_iter().collect(), base.into())
        };
        let somebody = Caller { project: Some("p".into()), ..Caller::default() };
        let keys = [
            cache_key(&request("a", "h", "en"), &Caller::default()),
            cache_key(&request("a", "h", "en"), &somebody),
            cache_key(&request("b", "h", "en"), &somebody),
            cache_key(&request("a", "i", "en"), &somebody),
            cache_key(&request("a", "h", "de"), &somebody),
            cache_key(&request("ah", "", "en"), &somebody),
        ];
        let different: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
    }
}
