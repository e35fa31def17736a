//! The service and its builder: the stores, the caches and the settings that all requests share.

use std::num::NonZeroU32;
use std::sync::{Arc, RwLock};

use triptych_core::blobs::Blobs;
use triptych_core::host::Upkeep;
use triptych_core::id::{Ids, SharedIds, SystemIds};
use triptych_core::kv::KeyValue;
use triptych_core::time::{Clock, SystemClock};

use crate::body::encryption::Keyring;
use crate::kms::key_manager::KeyManager;
use crate::maintenance::seed::{DEFAULT_REGION, Seed};
use crate::operation::Settings;
use crate::request::dialect::Dialect;
use crate::request::host::HostKind;
use crate::server::body_store::BodyStore;
use crate::server::credential_cache::CredentialCache;
use crate::server::embedded_keys::EmbeddedKeys;
use crate::server::key_service::{KeyService, RemoteKeyService};
use crate::server::object_keys::ObjectKeys;
use crate::server::request_plan::NameCache;
use crate::server::response_cache::ResponseCache;
use crate::server::session_cache::SessionCache;
use crate::store::access_point_directory::AccessPointDirectory;

/// Attempts of a transaction while others win.
pub(super) const ATTEMPTS_MAX: u32 = 64;

/// The service. It is a `hyper` and a `tower` service at once; clones share one store.
#[derive(Clone)]
pub struct ObjectPut(pub(super) Arc<Inner>);

/// The parts of the service that its clones share.
pub(super) struct Inner {
    pub(super) store: Arc<dyn KeyValue>,
    pub(super) bodies: Arc<BodyStore>,
    pub(super) embedded_keys: Arc<EmbeddedKeys>,
    pub(super) clock: Arc<dyn Clock>,
    ids: SharedIds,
    pub(super) upkeep: Arc<Upkeep>,
    pub(super) credentials: CredentialCache,
    pub(super) sessions: SessionCache,
    /// The names and numbers that heads led to, where the store is on another machine.
    pub(super) names: NameCache,
    /// The access points, as the seed left them.
    pub(super) access_points: RwLock<Arc<AccessPointDirectory>>,
    pub(super) responses: ResponseCache,
    pub(super) settings: Settings,
    pub(super) seed: Seed,
    pub(super) sweeps_all: bool,
}

/// The parts that an [`ObjectPut`] is built from.
pub struct Builder {
    store: Arc<dyn KeyValue>,
    blobs: Arc<dyn Blobs>,
    keyring: Option<Keyring>,
    key_service: Option<RemoteKeyService>,
    clock: Arc<dyn Clock>,
    ids: Box<dyn Ids>,
    settings: Settings,
    seed: Seed,
    sweeps_all: bool,
}

impl ObjectPut {
    /// A service on these stores; all else has defaults.
    #[must_use]
    pub fn builder(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>) -> Builder {
        Builder {
            store,
            blobs,
            keyring: None,
            key_service: None,
            clock: Arc::new(SystemClock::new()),
            ids: Box::new(SystemIds),
            settings: Settings { region: DEFAULT_REGION.to_owned(), ..Settings::default() },
            seed: Seed::default(),
            sweeps_all: false,
        }
    }
}

impl Builder {
    /// The root keys of encryption at rest. Without them one is drawn that lives as long as the service: enough for stores in memory.
    #[must_use]
    pub fn keyring(mut self, keyring: Keyring) -> Self {
        self.keyring = Some(keyring);
        self
    }

    /// A key service on the network, in place of the embedded one.
    #[must_use]
    pub fn key_service(mut self, remote: RemoteKeyService) -> Self {
        self.key_service = Some(remote);
        self
    }

    /// The clock.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The source of ids.
    #[must_use]
    pub fn ids(mut self, ids: Box<dyn Ids>) -> Self {
        self.ids = ids;
        self
    }

    /// The region that signatures must name.
    #[must_use]
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.settings.region = region.into();
        self
    }

    /// Refuses headers and parameters that are not known.
    #[must_use]
    pub const fn strict(mut self, strict: bool) -> Self {
        self.settings.strict = strict;
        self
    }

    /// The least bytes of a part that is not the last of its object: 5 MiB unless tests want fewer.
    #[must_use]
    pub const fn part_bytes_min(mut self, bytes: u64) -> Self {
        self.settings.part_bytes_min = bytes;
        self
    }

    /// Restorations of archived objects take the usual time divided by `speed`: hours unless told otherwise.
    #[must_use]
    pub const fn restore_speed(mut self, speed: NonZeroU32) -> Self {
        self.settings.restore_speed = speed;
        self
    }

    /// Names under which the service is reached, beside `localhost`: `<bucket>.<name>` is a bucket.
    #[must_use]
    pub fn base_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.settings.hosts.add(HostKind::Base, hosts);
        self
    }

    /// Names of the zonal endpoint: `<bucket>.<name>` is a directory bucket. Base hosts serve those too.
    #[must_use]
    pub fn zonal_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.settings.hosts.add(HostKind::Zonal, hosts);
        self
    }

    /// Names of websites: `<bucket>.<name>` is the website of a bucket.
    #[must_use]
    pub fn website_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.settings.hosts.add(HostKind::Website, hosts);
        self
    }

    /// Names of access points: `<name>-<account>.<name>` is an access point. Base hosts serve those too.
    #[must_use]
    pub fn access_point_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.settings.hosts.add(HostKind::AccessPoint, hosts);
        self
    }

    /// Names of deployments on premises: `<name>-<account>.<deployment>.<name>` is an access point in one. Base hosts serve those too.
    #[must_use]
    pub fn on_premises_hosts(mut self, hosts: impl IntoIterator<Item = String>) -> Self {
        self.settings.hosts.add(HostKind::OnPremises, hosts);
        self
    }

    /// The dialect of requests that name nothing of the service; that of the seed comes first.
    #[must_use]
    pub const fn dialect(mut self, dialect: Dialect) -> Self {
        self.settings.dialect = dialect;
        self
    }

    /// False lets new buckets become public without a word about it, as the real service did before 2023.
    #[must_use]
    pub const fn public_access_block(mut self, blocks: bool) -> Self {
        self.settings.blocks_public_access = blocks;
        self
    }

    /// The seed that a reset fills the emptied store with, and what it says of new buckets and dialects. Give it after all else.
    #[must_use]
    pub fn seed(mut self, mut seed: Seed) -> Self {
        self.settings.ownership = seed.ownership;
        self.settings.blocks_public_access &= seed.public_access_block != Some(false);
        seed.public_access_block = Some(self.settings.blocks_public_access);
        self.settings.dialect = seed.dialect.unwrap_or(self.settings.dialect);
        self.seed = seed;
        self
    }

    /// Deletes bodies that no record names, however many of all bodies they are.
    #[must_use]
    pub const fn sweeps_all(mut self, sweeps_all: bool) -> Self {
        self.sweeps_all = sweeps_all;
        self
    }

    /// The service.
    #[must_use]
    pub fn build(mut self) -> ObjectPut {
        let mut root = [0; 32];
        self.ids.fill(&mut root);
        let keyring = self.keyring.unwrap_or_else(|| Keyring::new(&root));
        let ids = SharedIds::new(Box::new(self.ids.fork()));
        let embedded = Arc::new(EmbeddedKeys {
            store: self.store.clone(),
            clock: self.clock.clone(),
            ids: ids.clone(),
            roots: keyring.clone(),
            region: self.settings.region.clone(),
        });
        let manager: Arc<dyn KeyManager> = match self.key_service {
            Some(remote) => Arc::new(KeyService { remote, clock: self.clock.clone() }),
            None => embedded.clone(),
        };
        self.settings.key_service = manager.kind();
        let keys = ObjectKeys::new(manager, keyring.clone(), self.clock.clone());
        let sessions = SessionCache::new(keyring.clone());
        ObjectPut(Arc::new(Inner {
            bodies: Arc::new(BodyStore::new(self.blobs, self.store.clone(), keyring, keys)),
            embedded_keys: embedded,
            upkeep: Upkeep::of(self.store.clone()),
            store: self.store,
            clock: self.clock,
            ids,
            credentials: CredentialCache::default(),
            sessions,
            names: NameCache::default(),
            access_points: RwLock::default(),
            responses: ResponseCache::new(),
            settings: self.settings,
            seed: self.seed,
            sweeps_all: self.sweeps_all,
        }))
    }
}

impl ObjectPut {
    /// Bytes of objects that were read ahead of clients and wait in memory, beside those that connections hold.
    #[must_use]
    pub fn read_ahead_bytes(&self) -> usize {
        self.0.bodies.open.held()
    }

    /// Waits until nothing is read ahead: every client of a large object has stalled or is done. The background tasks look every second.
    pub async fn read_ahead_released(&self) {
        self.0.bodies.open.all_released().await;
    }

    /// The generator of ids, for one request.
    pub(super) fn ids(&self) -> SharedIds {
        self.0.ids.clone()
    }
}

impl std::fmt::Debug for ObjectPut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ObjectPut").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder").field("settings", &self.settings).finish_non_exhaustive()
    }
}
