//! A store on another machine, which several instances of a service share.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::disk::{Disk, DiskLock, SystemDisk};
use crate::id::{Ids, SystemIds};
use crate::kv::{Postgres, PostgresConfig, PostgresStats, PostgresUrl, StoreError};

/// Time for which a sub-command, which nobody can ask for its state, waits for the store.
const PATIENCE: Duration = Duration::from_secs(10);
/// The file whose lock says that an instance keeps its bodies in a directory.
const LOCK: &str = "instance.lock";

/// A store that several instances share.
#[derive(Debug, Clone)]
pub(in crate::host) struct SharedStore {
    url: PostgresUrl,
    kv: Arc<Postgres>,
}

impl SharedStore {
    /// A store that begins to be connected to.
    ///
    /// # Errors
    /// A sentence about the URL or the name of the schema.
    pub(super) fn connect(url: &str, schema: &str, connections: usize) -> Result<Self, String> {
        let url: PostgresUrl = url.parse().map_err(|error| format!("--store: {error}"))?;
        let config = PostgresConfig { connections, ..PostgresConfig::new(url.clone(), schema) };
        let failed = |error: StoreError| error.to_string();
        let kv = Postgres::connect(config, SystemIds.fork()).map_err(failed)?;
        Ok(Self { url, kv: Arc::new(kv) })
    }

    pub(super) const fn kv(&self) -> &Arc<Postgres> {
        &self.kv
    }

    /// Its address, without its password.
    pub(super) fn address(&self) -> String {
        self.url.to_string()
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

    pub(in crate::host) fn stats(&self) -> PostgresStats {
        self.kv.stats()
    }
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
