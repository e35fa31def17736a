//! Answers to requests that only read: what is asked for again is answered as before, as long as nothing that the answer rests on
//! was written.
//!
//! Who asks is looked at first, each time. An answer that rests on rows which were not there (a scan), or on the time, is made anew.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use triptych_core::id::SeededIds;
use triptych_core::kv::{self, KeyValue, Memo, MemoCache};
use triptych_core::time::Timestamp;

use super::{Asked, VideoApi, Visit};
use crate::account::Caller;
use crate::api::error::Error;
use crate::api::operation::{Method, Operation};
use crate::api::response::bytes_of;
use crate::http::response::{Answer, Said};

/// Bytes of the answers that are kept.
const BYTES_MAX: usize = 32 * 1024 * 1024;

/// Answers by what they follow from.
#[derive(Debug)]
pub(super) struct Answers(MemoCache<[u8; 32], Given>);

/// An answer that was given, and will be again.
#[derive(Debug)]
struct Given {
    said: Said,
    /// It holds from then on: a clock that is set back may find another.
    since: Timestamp,
}

impl Answers {
    /// None yet.
    pub(super) fn new() -> Self {
        Self(MemoCache::new(BYTES_MAX))
    }

    fn find(
        &self,
        key: &[u8; 32],
        now: Timestamp,
        store: &dyn KeyValue,
    ) -> Option<Arc<Memo<Given>>> {
        self.0.get(key, store).filter(|given| given.since <= now)
    }
}

/// All that an answer follows from beside the store and the time.
fn key_of(asked: &Asked, caller: &Caller) -> [u8; 32] {
    let language = asked.header("accept-language");
    let request = (&asked.path, &asked.query, &asked.base, language);
    Sha256::digest(bytes_of((request, caller))).into()
}

impl VideoApi {
    /// Whether the operation's requests are answered here: it only reads, and quickly.
    pub(super) fn only_reads(&self, operation: &Operation) -> bool {
        operation.method == Method::Get && !operation.heavy && self.0.store.is_local()
    }

    /// Answers a request that only reads.
    ///
    /// # Errors
    /// As [`VideoApi::check`], then what the handler refuses.
    pub(super) async fn read(
        &self,
        asked: &Asked,
        operation: &'static Operation,
        visit: Visit,
    ) -> Result<Answer, Error> {
        let (store, answers) = (&*self.0.store, &self.0.answers);
        self.publish_due(visit.now).await?;
        let key = key_of(asked, &visit.caller);
        if let Some(given) = answers.find(&key, visit.now, store) {
            return Ok(given.said.answer(asked, operation.name));
        }
        let since = visit.now;
        let admitted = self.check(asked, operation, visit)?;
        let work = self.work(asked, admitted, None, b"", |_, _| Ok(()))?;
        // What only reads draws nothing.
        let mut ids = SeededIds::from_seed([0; 32]);
        let (reply, basis) = kv::read(store, |tx| work(tx, &mut ids)).await?;
        let basis = basis.filter(|_| !reply.is_passing);
        let said = Said::of(reply, asked);
        if let Some(basis) = basis {
            let given = || Given { said: said.clone(), since };
            answers.0.insert(key, basis, said.bytes(), given);
        }
        Ok(said.answer(asked, operation.name))
    }
}

#[cfg(test)]
mod tests {
    use triptych_core::kv::{Memory, Tx};

    use super::*;
    use crate::api::response::Reply;

    #[test]
    fn an_answer_that_is_kept_holds_from_when_it_was_made() {
        let (store, answers) = (Memory::new(), Answers::new());
        let asked = Asked::of("GET", "/v".into(), "", http::HeaderMap::new(), "h".into());
        let key = key_of(&asked, &Caller::default());
        let at = Timestamp::from_millis;
        for _ in 0..2 {
            let basis = Tx::tracking_reads(&store).read_set().unwrap();
            answers.0.insert(key, basis, 1, || Given {
                said: Said::of(Reply::default(), &asked),
                since: at(5),
            });
        }
        let is_found = |now| answers.find(&key, at(now), &store).is_some();
        assert!(is_found(5) && is_found(6) && !is_found(4));
    }

    #[test]
    fn another_caller_target_address_or_language_asks_for_another_answer() {
        let asked = |query: &str, base: &str, language: &'static str| {
            let language = http::HeaderValue::from_static(language);
            let headers = [(http::header::ACCEPT_LANGUAGE, language)];
            Asked::of("GET", "/v".into(), query, headers.into_iter().collect(), base.into())
        };
        let somebody = Caller { project: Some("p".into()), ..Caller::default() };
        let keys = [
            key_of(&asked("a", "h", "en"), &Caller::default()),
            key_of(&asked("a", "h", "en"), &somebody),
            key_of(&asked("b", "h", "en"), &somebody),
            key_of(&asked("a", "i", "en"), &somebody),
            key_of(&asked("a", "h", "de"), &somebody),
            key_of(&asked("ah", "", "en"), &somebody),
        ];
        let different: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(different.len(), keys.len());
    }
}
