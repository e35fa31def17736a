//! A cache of sessions: what a token said when it was opened is kept until one of the rows that it rests on is written.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use triptych_core::kv::{KeyValue, ReadSet, Tx};
use triptych_core::time::Timestamp;

use crate::auth::account::{AccessKey, Caller, Principal, Secret, SessionCaller};
use crate::auth::credentials::Credentials;
use crate::auth::session_token::{SessionCredentials, key_check};
use crate::auth::signature::{RequestLine, Verified};
use crate::auth::sigv4::SigningKey;
use crate::body::encryption::Keyring;
use crate::error::Error;
use crate::request::fields::Fields;
use crate::store::session_key;
use crate::store::tables::{ACCESS_KEYS, ACCOUNTS};

/// Sessions that are kept; with one more, all are opened anew.
const KEPT_MAX: usize = 1_024;

/// Sessions that sent requests lately, by the ids of their access keys.
pub(super) struct SessionCache {
    keyring: Keyring,
    kept: RwLock<HashMap<String, Arc<CachedSession>>>,
}

/// A session, and what was derived of it.
pub(super) struct CachedSession {
    /// The rows that say so.
    read_set: Option<ReadSet>,
    credentials: SessionCredentials,
    caller: Arc<SessionCaller>,
    /// The session's secret and token in the form of those that are stored.
    key: AccessKey,
    signing: Mutex<Option<Arc<SigningKey>>>,
}

impl SessionCache {
    /// None yet; tokens are opened with the key of the store, which `keyring` unwraps.
    pub(super) fn new(keyring: Keyring) -> Self {
        Self { keyring, kept: RwLock::default() }
    }

    /// Verifies credentials that name the access key of a session.
    ///
    /// # Errors
    /// [`Error::InvalidToken`] without its token, [`Error::ExpiredToken`] for a session that ended; those of [`Credentials::verify`];
    /// those of the store.
    pub(super) fn verify(
        &self,
        store: &dyn KeyValue,
        credentials: &Credentials<'_>,
        line: RequestLine<'_>,
        fields: &Fields<'_>,
        now: Timestamp,
    ) -> Result<(Caller, Verified), Error> {
        let id = credentials.access_key().ok_or(Error::InvalidToken)?;
        let token = credentials.session_token().ok_or(Error::InvalidToken)?;
        let cached = self.find(store, id, token)?;
        if now >= cached.caller.session.expires {
            return Err(Error::ExpiredToken);
        }
        let lock = || cached.signing.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out, so that no request waits while another is verified.
        let known = lock().clone();
        let mut signing = known.clone();
        let verified = credentials.verify(&cached.key, &mut signing, line, fields, now)?;
        if signing != known {
            *lock() = signing;
        }
        Ok((Caller::Session(Arc::clone(&cached.caller)), verified))
    }

    /// The access key that made the session with this id, as far as that is known here.
    pub(super) fn access_key_of(&self, id: &str) -> Option<String> {
        self.cached(id).map(|cached| cached.caller.session.access_key.clone())
    }

    fn find(
        &self,
        store: &dyn KeyValue,
        id: &str,
        token: &str,
    ) -> Result<Arc<CachedSession>, Error> {
        if let Some(cached) = self.cached(id)
            && cached.credentials.are(id, token)
            && cached.read_set.as_ref().is_some_and(|read_set| read_set.is_current(store))
        {
            return Ok(cached);
        }
        let mut tx = Tx::tracking_reads(store);
        let sealing = session_key::load(&mut tx, &self.keyring)?.ok_or(Error::InvalidToken)?;
        let (session, credentials) = sealing.open(token).ok_or(Error::InvalidToken)?;
        if !credentials.are(id, token) {
            return Err(Error::InvalidToken);
        }
        let key = ACCESS_KEYS.peek(&mut tx, &session.access_key)?;
        // Of a key that was removed, and maybe made again, the sessions are over.
        let key = key.filter(|key| key_check(key) == session.key_check);
        let key = key.ok_or(Error::ExpiredToken)?;
        let account = ACCOUNTS.peek(&mut tx, &key.account)?.ok_or(Error::ExpiredToken)?;
        let cached = Arc::new(CachedSession {
            read_set: tx.read_set(),
            key: AccessKey {
                account: account.id.clone(),
                secret: credentials.secret.clone(),
                allow: Vec::new(),
                token: Some(Secret::new(token.to_owned())),
            },
            credentials,
            caller: Arc::new(SessionCaller {
                principal: Arc::new(Principal { id: session.access_key.clone(), account, key }),
                session,
            }),
            signing: Mutex::default(),
        });
        let mut all = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= KEPT_MAX {
            all.clear();
        }
        all.insert(id.to_owned(), Arc::clone(&cached));
        Ok(cached)
    }

    fn cached(&self, id: &str) -> Option<Arc<CachedSession>> {
        let all = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        all.get(id).map(Arc::clone)
    }
}
