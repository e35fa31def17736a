//! The bodies of objects: the blobs that they are, the keys that encrypt them, and the threads that take large ones in.

use std::sync::Arc;

use tokio::sync::Semaphore;
use triptych_core::blobs::Blobs;
use triptych_core::kv::KeyValue;
use triptych_crypto::md5_lanes::Md5Sum;

use crate::body::encryption::Keyring;
use crate::server::md5_pool::Md5Pool;
use crate::server::object_keys::ObjectKeys;
use crate::server::open_bodies::OpenBodies;

/// Large bodies that are dealt with at once; each has a blocking thread while it arrives.
const LARGE_BODIES_MAX: usize = 128;

/// All that uploads and downloads share.
pub(super) struct BodyStore {
    pub(super) blobs: Arc<dyn Blobs>,
    /// The records, of which lists of parts are read as a body is.
    pub(super) store: Arc<dyn KeyValue>,
    /// The bodies that are read now.
    pub(super) open: OpenBodies,
    pub(super) keyring: Keyring,
    /// The keys of objects that a key service or a customer has a part in.
    pub(super) keys: ObjectKeys,
    /// A permit for each large body that has a thread.
    pub(super) large: Semaphore,
    md5_pool: Md5Pool,
    md5_threads: usize,
}

impl BodyStore {
    /// The bodies in `blobs`, encrypted with keys of `keyring`, or with `keys`; their lists of parts are in `store`.
    pub(super) fn new(
        blobs: Arc<dyn Blobs>,
        store: Arc<dyn KeyValue>,
        keyring: Keyring,
        keys: ObjectKeys,
    ) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            blobs,
            store,
            open: OpenBodies::default(),
            keyring,
            keys,
            large: Semaphore::new(LARGE_BODIES_MAX),
            md5_pool: Md5Pool::default(),
            md5_threads: (cores / 2).max(1),
        }
    }

    /// The MD5 of a new large body, computed beside its encryption and writing.
    pub(super) fn large_md5(&self) -> Box<dyn Md5Sum> {
        self.md5_pool.start(self.md5_threads)
    }
}
