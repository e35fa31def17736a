//! A cache of access keys: what was decoded and derived of a key's rows is kept until one of them is written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use triptych_core::kv::{KeyValue, ReadSet, StoreError, Tx};
use triptych_core::time::Timestamp;

use crate::auth::account::{AccessKey, Caller, Principal};
use crate::auth::credentials::Credentials;
use crate::auth::signature::{RequestLine, Verified};
use crate::auth::sigv4::SigningKey;
use crate::error::Error;
use crate::request::fields::Fields;
use crate::store::tables::{ACCESS_KEYS, ACCOUNTS};

/// Access keys that are kept; with one more, all are read anew.
const KEPT_MAX: usize = 1_024;

/// Access keys that were asked for lately.
#[derive(Default)]
pub(super) struct CredentialCache(RwLock<HashMap<String, Arc<CachedCredentials>>>);

/// An access key, and what was derived of it.
pub(super) struct CachedCredentials {
    /// The rows that say so.
    read_set: Option<ReadSet>,
    pub(super) principal: Arc<Principal>,
    signing: Mutex<Option<Arc<SigningKey>>>,
}

impl CredentialCache {
    /// The access key `id`, as the store says now.
    ///
    /// # Errors
    /// Those of the store.
    pub(super) fn find(
        &self,
        store: &dyn KeyValue,
        id: &str,
    ) -> Result<Option<Arc<CachedCredentials>>, StoreError> {
        if let Some(cached) = self.cached(id)
            && cached.read_set.as_ref().is_some_and(|read_set| read_set.is_current(store))
        {
            return Ok(Some(cached));
        }
        let mut tx = Tx::tracking_reads(store);
        let Some(key) = ACCESS_KEYS.peek(&mut tx, &id.to_owned())? else {
            return Ok(None);
        };
        let Some(account) = ACCOUNTS.peek(&mut tx, &key.account)? else {
            return Ok(None);
        };
        let cached = Arc::new(CachedCredentials {
            read_set: tx.read_set(),
            principal: Arc::new(Principal { id: id.to_owned(), account, key }),
            signing: Mutex::default(),
        });
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KEPT_MAX {
            all.clear();
        }
        all.insert(id.to_owned(), Arc::clone(&cached));
        Ok(Some(cached))
    }

    fn cached(&self, id: &str) -> Option<Arc<CachedCredentials>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(id).map(Arc::clone)
    }
}

impl CachedCredentials {
    /// Verifies credentials of this key.
    ///
    /// # Errors
    /// Those of [`Credentials::verify`].
    pub(super) fn verify(
        &self,
        credentials: &Credentials<'_>,
        line: RequestLine<'_>,
        fields: &Fields<'_>,
        now: Timestamp,
    ) -> Result<Verified, Error> {
        self.with_signing_key(|key, signing| credentials.verify(key, signing, line, fields, now))
    }

    /// Does something with the key and with the signing key that was derived last of it, and keeps that which `work` leaves.
    pub(super) fn with_signing_key<T>(
        &self,
        work: impl FnOnce(&AccessKey, &mut Option<Arc<SigningKey>>) -> T,
    ) -> T {
        let lock = || self.signing.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out, so that no request waits while another is verified.
        let cached = lock().clone();
        let mut signing = cached.clone();
        let done = work(&self.principal.key, &mut signing);
        if signing != cached {
            *lock() = signing;
        }
        done
    }

    /// The sender of a request that was verified with it.
    pub(super) fn caller(&self) -> Caller {
        Caller::Principal(Arc::clone(&self.principal))
    }
}
