//! A store on another machine, which several instances of a service share.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::disk::{Disk, DiskLock, SystemDisk};
use crate::id::{Ids, SystemIds};
#[cfg(feature = "etcd")]
use crate::kv::{Etcd, EtcdConfig, EtcdUrl};
#[cfg(feature = "postgres")]
use crate::kv::{Postgres, PostgresConfig, PostgresUrl};
use crate::kv::{SharedKeyValue, SharedStats, StoreError};

/// Time for which a sub-command, which nobody can ask for its state, waits for the store.
const PATIENCE: Duration = Duration::from_secs(30);
/// The starts of the URLs that this build knows.
const SCHEMES: &[&str] = &[
    #[cfg(feature = "etcd")]
    "etcd://",
    #[cfg(feature = "postgres")]
    "postgres://",
];
/// The file whose lock says that an instance keeps its bodies in a directory.
const LOCK: &str = "instance.lock";

/// A store that several instances share.
#[derive(Clone)]
pub(in crate::host) struct SharedStore {
    /// Without its password.
    address: String,
    kv: Arc<dyn SharedKeyValue>,
}

impl SharedStore {
    /// A store that begins to be connected to, by the engine that the scheme of its URL names.
    ///
    /// # Errors
    /// A sentence about the URL or the name of the schema.
    pub(super) fn connect(url: &str, schema: &str, connections: usize) -> Result<Self, String> {
        match url.split_once("://") {
            #[cfg(feature = "etcd")]
            Some(("etcd", _)) => {
                let url: EtcdUrl = url.parse().map_err(refused)?;
                let config = EtcdConfig { connections, ..EtcdConfig::new(url.clone(), schema) };
                Self::of(&url, Etcd::connect(config, SystemIds.fork()))
            }
            #[cfg(feature = "postgres")]
            Some(("postgres" | "postgresql", _)) => {
                let url: PostgresUrl = url.parse().map_err(refused)?;
                let config =
                    PostgresConfig { connections, ..PostgresConfig::new(url.clone(), schema) };
                Self::of(&url, Postgres::connect(config, SystemIds.fork()))
            }
            _ => Err(refused(format!(
                "the store is a URL that begins with one of {}",
                SCHEMES.join(", ")
            ))),
        }
    }

    fn of<S: SharedKeyValue + 'static>(
        address: &impl ToString,
        connected: Result<S, StoreError>,
    ) -> Result<Self, String> {
        let kv = Arc::new(connected.map_err(|error| error.to_string())?);
        Ok(Self { address: address.to_string(), kv })
    }

    pub(in crate::host) const fn kv(&self) -> &Arc<dyn SharedKeyValue> {
        &self.kv
    }

    /// Its address, without its password.
    pub(super) fn address(&self) -> String {
        self.address.clone()
    }

    /// Waits until it is reached, on a thread that may block.
    ///
    /// # Errors
    /// A sentence that says why it is not, or must not be used.
    pub(super) fn wait_until_reached(&self) -> Result<(), String> {
        self.kv.wait_until_reached(PATIENCE)
    }

    /// Waits until it is reached.
    ///
    /// # Errors
    /// A sentence that says why it must not be used.
    pub(super) async fn reached(&self) -> Result<(), String> {
        self.kv.reached().await
    }

    /// Tells whether it can be asked now.
    pub(in crate::host) fn health(&self) -> Result<(), String> {
        self.kv.health()
    }

    pub(in crate::host) fn stats(&self) -> SharedStats {
        self.kv.stats()
    }
}

impl std::fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedStore").field("address", &self.address).finish_non_exhaustive()
    }
}

/// A reason for which a URL is not taken, with the flag that gave it.
fn refused(reason: impl ToString) -> String {
    format!("--store: {}", reason.to_string())
}

/// Takes a directory for the bodies of this instance alone: nothing else keeps two from writing to one pack.
///
/// # Errors
/// A sentence that says what is in the way.
pub(super) fn lock_bodies(directory: &Path, data: Option<&Path>) -> Result<DiskLock, String> {
    if let Some(data) = data.filter(|data| data.join("kv").exists()) {
        return Err(format!(
            "{} has records of its own in kv/, which --store would leave aside",
            data.display()
        ));
    }
    let locked = SystemDisk
        .make_directory(directory)
        .and_then(|()| SystemDisk.lock(&directory.join(LOCK)))
        .map_err(|error| error.to_string())?;
    locked.ok_or_else(|| "another instance keeps its bodies there".to_owned())
}
