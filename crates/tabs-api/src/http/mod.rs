//! The service over HTTP: one WebSocket with everything in order, calls by POST, events as a stream, and a control side.

mod builder;
mod control;
mod fetch;
mod large_write;
mod origin_policy;
mod profile;
mod profile_record;
mod profiles;
mod refusal;
#[cfg(feature = "replay")]
mod replay;
mod request;
mod router;
mod schema;
mod service;
mod sharing;
mod socket;
mod sse;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "tls")]
mod tls_roots;
mod token;
mod writer;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use triptych_core::id::{Ids, SharedIds};
use triptych_core::kv::KeyValue;
use triptych_core::time::Clock;

pub use self::builder::Builder;
use self::fetch::FetchLimits;
use self::origin_policy::OriginPolicy;
use self::profiles::ProfileEntry;
use self::refusal::Refusal;
use self::sharing::Sharing;
use self::token::Tokens;
use crate::browser::Compat;
use crate::seed::Seed;
use crate::version::BrowserVersion;

/// The largest body and the largest message.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The profile that is there from the start.
const FIRST_PROFILE: &str = "default";

/// The service. It is a `hyper` and a `tower` service at once; clones share one set of browsers.
///
/// It runs inside a tokio runtime: a browser whose pages load keeps time by a task.
#[derive(Clone)]
pub struct TabsApi(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    compat: Compat,
    origin_policy: OriginPolicy,
    control_token: Option<String>,
    ids: SharedIds,
    /// The seed file, whose extensions all have their ids and tokens.
    seed: Seed,
    /// The version of profiles that name none.
    browser_version: Option<BrowserVersion>,
    profiles: RwLock<BTreeMap<String, ProfileEntry>>,
    tokens: RwLock<Tokens>,
    #[cfg(feature = "replay")]
    replay: Option<std::sync::Mutex<crate::replay::Replay>>,
    fetching: Option<Arc<FetchLimits>>,
    store: Option<Arc<dyn KeyValue>>,
    /// This instance among those that share the store, where others do.
    sharing: Option<Sharing>,
}

impl TabsApi {
    fn entry(&self, name: &str) -> Result<ProfileEntry, Refusal> {
        let profiles = self.profiles();
        let found = profiles.get(name).filter(|entry| entry.is_made);
        found.cloned().ok_or(Refusal::NoSuchProfile)
    }

    fn profiles(&self) -> RwLockReadGuard<'_, BTreeMap<String, ProfileEntry>> {
        self.0.profiles.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn profiles_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<String, ProfileEntry>> {
        self.0.profiles.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn tokens(&self) -> RwLockReadGuard<'_, Tokens> {
        self.0.tokens.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn tokens_mut(&self) -> RwLockWriteGuard<'_, Tokens> {
        self.0.tokens.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn new_token(&self) -> String {
        drawn_token(&self.0.ids)
    }
}

/// A new token: 32 random bytes as hex.
fn drawn_token(ids: &SharedIds) -> String {
    let mut bytes = [0; 32];
    ids.clone().fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl std::fmt::Debug for TabsApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TabsApi")
            .field("profiles", &self.profiles().len())
            .field("is_kept", &self.0.store.is_some())
            .finish_non_exhaustive()
    }
}
