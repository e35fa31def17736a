//! The service: its parts, how it is built, and its place under hyper and tower.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use tokio::sync::Semaphore;
use triptych_core::blobs::Blobs;
use triptych_core::cache::ShardedCache;
use triptych_core::host::Upkeep;
use triptych_core::id::{Ids, SharedIds, SystemIds};
use triptych_core::kv::KeyValue;
use triptych_core::time::{Clock, SystemClock, Timestamp};

use super::publish_schedule::Schedule;
use super::response_cache::ResponseCache;
use super::translations::{self, Translations};
use crate::account::LedTo;
use crate::caption::translation::Translator;
use crate::seed::Seed;

/// Bytes of what credentials led to, which is some thousand callers.
const LED_TO_BYTES_MAX: usize = 1024 * 1024;
/// Requests that run at once on threads that may block; more wait.
const BLOCKING_MAX: usize = 4;

/// The video service. It is a `hyper` and a `tower` service at once; clones share one store.
#[derive(Clone)]
pub struct VideoApi(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) store: Arc<dyn KeyValue>,
    pub(super) responses: ResponseCache,
    /// The names that credentials led to, where the store is on another machine.
    pub(super) led_to: ShardedCache<[u8; 32], LedTo>,
    pub(super) blobs: Arc<dyn Blobs>,
    pub(super) clock: Arc<dyn Clock>,
    ids: SharedIds,
    /// Those of the work in the background: which ids requests draw does not hang on when that comes.
    background_ids: SharedIds,
    pub(super) upkeep: Arc<Upkeep>,
    pub(super) strict: bool,
    pub(super) external_url: Option<String>,
    pub(super) translator: Option<Arc<dyn Translator>>,
    pub(super) seed: Seed,
    pub(super) blocking_permits: Semaphore,
    pub(super) translations: Translations,
    /// One thread brings the search index up to date at a time; others wait for what it does.
    pub(super) index_lock: Mutex<()>,
    /// Held by reads that are made again because a step of a closing came in between: the next step waits for them.
    pub(super) closing_turn: RwLock<()>,
    /// Start of this process: what it writes is younger, however its clock is moved.
    pub(super) started: Timestamp,
    pub(super) schedule: Schedule,
    /// True while a thread frees space.
    pub(super) sweeping: AtomicBool,
    /// True if something was deleted since that thread began to look.
    pub(super) sweep_wanted: AtomicBool,
    /// Requests that came, for what works beside them.
    pub(super) requests: AtomicUsize,
    /// Those of its handles that work beside the requests holds.
    pub(super) background_handles: AtomicUsize,
}

/// Parts that a [`VideoApi`] is built from.
pub struct Builder {
    store: Arc<dyn KeyValue>,
    blobs: Arc<dyn Blobs>,
    clock: Arc<dyn Clock>,
    ids: Box<dyn Ids>,
    strict: bool,
    external_url: Option<String>,
    translator: Option<Arc<dyn Translator>>,
    translation_time: Duration,
    seed: Seed,
}

impl std::fmt::Debug for VideoApi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VideoApi").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").finish_non_exhaustive()
    }
}

impl Builder {
    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the source of ids.
    #[must_use]
    pub fn ids(mut self, ids: Box<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// Sets whether parameters that are not known are refused.
    #[must_use]
    pub const fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// The address that clients use, where a proxy stands in front.
    #[must_use]
    pub fn external_url(mut self, url: Option<String>) -> Self {
        self.external_url = url;
        self
    }

    /// The translator of captions; without one they stay in their own language.
    #[must_use]
    pub fn translator(mut self, translator: Option<Arc<dyn Translator>>) -> Self {
        self.translator = translator;
        self
    }

    /// The time that all texts of a track are translated in at most, with the wait for its turn; two minutes unless said otherwise.
    #[must_use]
    pub const fn translation_time(mut self, time: Duration) -> Self {
        self.translation_time = time;
        self
    }

    /// Sets the seed that fills an empty store, and a store that was reset.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// The service.
    #[must_use]
    pub fn build(mut self) -> VideoApi {
        let started = Timestamp::from_millis(self.clock.now().millis());
        VideoApi(Arc::new(Inner {
            started,
            upkeep: Upkeep::of(Arc::clone(&self.store)),
            store: self.store,
            responses: ResponseCache::new(),
            led_to: ShardedCache::new(LED_TO_BYTES_MAX),
            blobs: self.blobs,
            clock: self.clock,
            background_ids: SharedIds::new(Box::new(self.ids.fork())),
            ids: SharedIds::new(self.ids),
            strict: self.strict,
            external_url: self.external_url,
            translator: self.translator,
            seed: self.seed,
            blocking_permits: Semaphore::new(BLOCKING_MAX),
            translations: Translations::new(self.translation_time),
            index_lock: Mutex::new(()),
            closing_turn: RwLock::new(()),
            schedule: Schedule::default(),
            sweeping: AtomicBool::new(false),
            sweep_wanted: AtomicBool::new(false),
            requests: AtomicUsize::new(0),
            background_handles: AtomicUsize::new(0),
        }))
    }
}

impl VideoApi {
    /// A service on these stores; all else has defaults.
    #[must_use]
    pub fn builder(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>) -> Builder {
        Builder {
            store,
            blobs,
            clock: Arc::new(SystemClock::new()),
            // Drawn from the system once: a generator is asked for with every request.
            ids: Box::new(SystemIds.fork()),
            strict: false,
            external_url: None,
            translator: None,
            translation_time: translations::TIME,
            seed: Seed::default(),
        }
    }

    /// The time that bodies are named by.
    pub(super) fn blob_time(&self) -> Timestamp {
        self.0.clock.now().max(self.0.started)
    }

    /// The generator, for one request.
    pub(super) fn ids(&self) -> SharedIds {
        self.0.ids.clone()
    }

    /// The generator of the work in the background.
    pub(super) fn background_ids(&self) -> SharedIds {
        self.0.background_ids.clone()
    }
}

triptych_core::impl_service!(VideoApi: Unpin);
