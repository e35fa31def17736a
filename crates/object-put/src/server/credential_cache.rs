//! A cache of access keys: what was decoded and derived of a key's rows is kept until one of them is written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use triptych_core::kv::{KeyValue, ReadSet, StoreError, Tx};
use triptych_core::time::Timestamp;

use crate::auth::account::Holder;
use crate::auth::sigv4::{Claim, RequestLine, SigningKey, Verified};
use crate::error::Error;
use crate::request::fields::Fields;
use crate::store::tables::{ACCESS_KEYS, ACCOUNTS};

/// Access keys that are kept; with one more, all are read anew.
const KEPT_MAX: usize = 1_024;

/// The holders of keys that were asked for lately.
#[derive(Default)]
pub(super) struct Holders(RwLock<HashMap<String, Arc<Kept>>>);

/// The holder of a key.
pub(super) struct Kept {
    /// The rows that say so.
    basis: Option<ReadSet>,
    pub(super) holder: Arc<Holder>,
    signing: Mutex<Option<Arc<SigningKey>>>,
}

impl Holders {
    /// The holder of the access key `id`, as the store says now.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) fn find(
        &self,
        store: &dyn KeyValue,
        id: &str,
    ) -> Result<Option<Arc<Kept>>, StoreError> {
        if let Some(kept) = self.known(id)
            && kept.basis.as_ref().is_some_and(|basis| basis.is_current(store))
        {
            return Ok(Some(kept));
        }
        let mut tx = Tx::tracking_reads(store);
        let Some(key) = ACCESS_KEYS.peek(&mut tx, &id.to_owned())? else {
            return Ok(None);
        };
        let Some(account) = ACCOUNTS.peek(&mut tx, &key.account)? else {
            return Ok(None);
        };
        let kept = Arc::new(Kept {
            basis: tx.read_set(),
            holder: Arc::new(Holder { account, key }),
            signing: Mutex::default(),
        });
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KEPT_MAX {
            all.clear();
        }
        all.insert(id.to_owned(), Arc::clone(&kept));
        Ok(Some(kept))
    }

    fn known(&self, id: &str) -> Option<Arc<Kept>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(id).map(Arc::clone)
    }
}

impl Kept {
    /// Proves a claim to this key.
    ///
    /// # Errors
    /// Those of [`Claim::verify`].
    pub(super) fn prove(
        &self,
        claim: &Claim<'_>,
        line: RequestLine<'_>,
        fields: &Fields<'_>,
        now: Timestamp,
    ) -> Result<Verified, Error> {
        let lock = || self.signing.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out, so that no request waits while another is verified.
        let known = lock().clone();
        let mut signing = known.clone();
        let verified = claim.verify(&self.holder.key, &mut signing, line, fields, now);
        if signing != known {
            *lock() = signing;
        }
        verified
    }
}
