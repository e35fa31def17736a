//! The stores that a service keeps its data in, opened from its flags.

use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "sled")]
use std::sync::Weak;

#[cfg(feature = "sled")]
use super::directory_watch::DirectoryWatch;
use super::flags::Flags;
#[cfg(feature = "sled")]
use super::flags::Product;
#[cfg(feature = "sled")]
use super::identity::{BodySide, Sides};
#[cfg(feature = "sled")]
use super::identity_file;
pub use super::secret::{random_hex, secret};
use super::service_mark;
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
use super::shared_store::{self, SharedStore};
#[cfg(feature = "sled")]
use super::staging_dir::{self, StagingDir};
#[cfg(feature = "sled")]
pub use super::storage_error::IdentityError;
pub use super::storage_error::StorageError;
#[cfg(feature = "sled")]
use crate::blobs::Directory;
#[cfg(all(feature = "sled", feature = "object-store"))]
use crate::blobs::remote::{Location, RemoteBlobs};
use crate::blobs::{Blobs, MemoryBlobs};
#[cfg(feature = "sled")]
use crate::disk::SystemDisk;
#[cfg(feature = "sled")]
use crate::host::backup::Source;
#[cfg(feature = "sled")]
use crate::host::ops::store_metrics::StoreMetrics;
use crate::id::{Ids, SystemIds};
use crate::kv::{ClosingFault, KeyValue, Memory};
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
use crate::kv::{Guarded, begin_filling, end_filling, is_empty, is_filling};
#[cfg(feature = "sled")]
use crate::kv::{OpenError, Sled, SledConfig, SortedRows, StoreError};
use crate::pending::Pending;

/// A service's stores.
pub struct Storage {
    /// Records.
    pub kv: Arc<dyn KeyValue>,
    /// Bodies.
    pub blobs: Arc<dyn Blobs>,
    /// The data directory, or `None` in memory.
    pub directory: Option<PathBuf>,
    /// The place of the bodies, if not below the data directory.
    pub bodies_elsewhere: Option<String>,
    /// Answers once the disk has failed, with the reason; the service then stops.
    pub failure: Option<Pending<String>>,
    /// Says, once the stores were dropped, whether they could not be closed.
    pub(super) closing: ClosingFault,
    #[cfg(feature = "sled")]
    pub(in crate::host) metrics: Option<StoreMetrics>,
    #[cfg(feature = "sled")]
    engines: Option<(Weak<Sled>, Weak<Directory>)>,
    /// The records, where they are on another machine.
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    pub(in crate::host) shared: Option<SharedStore>,
    /// Held as long as the bodies are this instance's alone.
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    pub(super) bodies_lock: Option<crate::disk::DiskLock>,
    /// The bodies, until it is known that they belong to the records, and the service that marks its data directory then.
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    bodies_unchecked: Option<(BodySide, Product)>,
}

#[cfg(feature = "sled")]
impl Storage {
    /// The stores as a backup copies them; none in memory.
    pub(in crate::host) fn backup_source(&self, product: &Product) -> Option<Source> {
        let (kv, blobs) = self.engines.clone()?;
        let (service, version) = (product.name, product.version);
        let (directory, taking) = (self.directory.clone()?, parking_lot::Mutex::new(()));
        let bodies_elsewhere = self.bodies_elsewhere.clone();
        let identity = identity_file::of_records(&directory).ok().flatten();
        Some(Source { service, version, directory, identity, bodies_elsewhere, kv, blobs, taking })
    }

    /// The data directory that holds the records; none if they are elsewhere.
    pub(super) fn directory_watch(&self) -> Option<DirectoryWatch> {
        self.engines.as_ref()?;
        self.directory.as_deref().map(DirectoryWatch::of)
    }

    /// The records on disk, as long as the service holds them.
    pub(in crate::host) fn records(&self) -> Weak<Sled> {
        self.engines.as_ref().map(|(kv, _)| Weak::clone(kv)).unwrap_or_default()
    }

    /// Checks the records, and gives their number.
    ///
    /// # Errors
    /// As [`Sled::verify`].
    pub(super) fn verify_records(&self, told: &mut dyn FnMut(String)) -> Result<u64, StoreError> {
        let kv = self.engines.as_ref().and_then(|(kv, _)| kv.upgrade());
        kv.map_or(Ok(0), |kv| kv.verify(told).map(|verified| verified.rows))
    }
}

impl Storage {
    /// Returns whether other instances may use the records at the same time.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        !self.kv.is_local()
    }

    /// The fact of this name that shared records keep for all instances: `value`, if they kept none before. It blocks.
    ///
    /// # Errors
    /// `Shared` if the store is away.
    pub fn claim(&self, name: &str, value: &str) -> Result<String, StorageError> {
        #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
        if let Some(shared) = &self.shared {
            let kept = shared.kv().claim(name, value);
            return kept.map_err(|error| StorageError::Shared(error.to_string()));
        }
        let _ = name;
        Ok(value.to_owned())
    }

    /// Checks that records on another machine, which are reached by now, are whole, and that the bodies belong to them. It blocks.
    ///
    /// # Errors
    /// `Shared` if the store is away, `Filling`, `Identity` for bodies of other records.
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    pub(super) fn check_shared(&mut self) -> Result<(), StorageError> {
        if self.is_shared() && is_filling(&*self.kv).map_err(away)? {
            return Err(StorageError::Filling(self.place()));
        }
        self.check_bodies()
    }

    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    fn check_bodies(&mut self) -> Result<(), StorageError> {
        let Some((side, product)) = self.bodies_unchecked.take() else {
            return Ok(());
        };
        let identity = self.claim("identity", &random_hex())?;
        side.belong_to(&*self.kv, &identity, &self.place())?;
        match &self.directory {
            // Only now is it known that bodies which an older release put there are this service's.
            Some(directory) if !holds_records(directory) => {
                service_mark::claim(directory, &product)
            }
            _ => Ok(()),
        }
    }

    /// The place of the records, as a banner shows it.
    pub(super) fn place(&self) -> String {
        #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
        if let Some(shared) = &self.shared {
            return shared.address();
        }
        let directory = self.directory.as_ref();
        directory.map_or_else(|| "memory".into(), |path| path.display().to_string())
    }
}

/// Opens the stores that `flags` ask for. It blocks until one on another machine is reached.
///
/// # Errors
/// [`StorageError`]: the directory, then the engine.
pub fn open(flags: &Flags) -> Result<Storage, StorageError> {
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    let storage = {
        let mut storage = reached(flags)?;
        storage.check_shared()?;
        storage
    };
    #[cfg(not(all(any(feature = "etcd", feature = "postgres"), feature = "sled")))]
    let storage = begin(flags)?;
    Ok(storage)
}

/// Opens the stores that `flags` ask for, which are there: nothing is made in the place of those that are not.
///
/// # Errors
/// As [`check_existing`], and [`open`].
#[cfg(feature = "sled")]
pub(super) fn open_existing(flags: &Flags) -> Result<Storage, StorageError> {
    check_existing(flags)?;
    open(flags)
}

/// Checks that the data directory of `flags`, unless the records are on another machine, holds a store that the service may open. Nothing is made.
///
/// # Errors
/// As [`check_service`]; `Unfinished`, `NoStore`.
#[cfg(feature = "sled")]
pub fn check_existing(flags: &Flags) -> Result<(), StorageError> {
    check_service(flags)?;
    let Some(data) = flags.data.as_deref().filter(|_| flags.store.is_none()) else {
        return Ok(());
    };
    check_finished(data)?;
    match holds_records(data) {
        true => Ok(()),
        false => Err(StorageError::NoStore { path: data.display().to_string() }),
    }
}

/// Returns whether a data directory has records of its own, or what is left of some. A mount point whose disk is not there is a directory too.
#[cfg(feature = "sled")]
fn holds_records(data: &Path) -> bool {
    std::fs::read_dir(data.join("kv")).is_ok_and(|mut entries| {
        entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != "lock"))
    })
}

/// Checks that the data directory of `flags`, if they name one, is not another service's.
///
/// # Errors
/// `OtherService`, `UnknownMark`, `Directory`.
pub fn check_service(flags: &Flags) -> Result<(), StorageError> {
    match &flags.data {
        None => Ok(()),
        Some(data) => service_mark::is_of(data, &flags.product).map(drop),
    }
}

/// Opens the stores that an import fills, whose data directory is `staging`. No instance starts on records on another machine until
/// [`filled`]; `goes_on` says whether an earlier run has begun it.
///
/// # Errors
/// As [`open`]; `NotEmpty`, `NothingToGoOnWith`.
#[cfg(feature = "sled")]
pub(super) fn open_import(
    staging: &StagingDir,
    flags: &Flags,
    goes_on: bool,
) -> Result<Storage, StorageError> {
    let flags = staged(staging, flags);
    if flags.store.is_none() {
        return open(&flags);
    }
    #[cfg(any(feature = "etcd", feature = "postgres"))]
    {
        let mut storage = reached(&flags)?;
        let is_begun = is_filling(&*storage.kv).map_err(away)?;
        if goes_on && !is_begun {
            let path = staging.path().display().to_string();
            return Err(StorageError::NothingToGoOnWith(storage.place(), path));
        }
        if !goes_on && !is_empty(&*storage.kv).map_err(away)? {
            return Err(StorageError::NotEmpty(storage.place()));
        }
        storage.check_bodies()?;
        let guard = begin_filling(&*storage.kv, &mut SystemIds).map_err(away)?;
        storage.kv = Arc::new(Guarded::new(Arc::clone(&storage.kv), guard));
        Ok(storage)
    }
    #[cfg(not(any(feature = "etcd", feature = "postgres")))]
    {
        let _ = goes_on;
        Err(StorageError::NoSharedEngine)
    }
}

/// Lets instances start on the records that an import has filled, where they are on another machine.
///
/// # Errors
/// `Shared` if the store is away.
#[cfg(feature = "sled")]
pub(super) fn filled(staging: &StagingDir, flags: &Flags) -> Result<(), StorageError> {
    if flags.store.is_none() {
        return Ok(());
    }
    #[cfg(not(any(feature = "etcd", feature = "postgres")))]
    let _ = staging;
    #[cfg(any(feature = "etcd", feature = "postgres"))]
    end_filling(&*reached(&staged(staging, flags))?.kv, &mut SystemIds).map_err(away)?;
    Ok(())
}

/// The stores of records on another machine, once that is reached.
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
fn reached(flags: &Flags) -> Result<Storage, StorageError> {
    let storage = begin(flags)?;
    if let Some(shared) = &storage.shared {
        shared.wait_until_reached().map_err(StorageError::Shared)?;
    }
    Ok(storage)
}

#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
fn away(error: StoreError) -> StorageError {
    StorageError::Shared(error.to_string())
}

/// Opens the stores, and begins to connect to one on another machine.
///
/// # Errors
/// As [`open`], but for what only a store that is reached says.
pub(super) fn begin(flags: &Flags) -> Result<Storage, StorageError> {
    match (&flags.store, &flags.data) {
        (Some(url), _) => shared(url.reveal(), flags),
        (None, None) if flags.blobs.is_some() => Err(StorageError::BodiesAlone),
        (None, None) => Ok(memory()),
        (None, Some(directory)) => on_disk(directory, flags),
    }
}

#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
fn shared(url: &str, flags: &Flags) -> Result<Storage, StorageError> {
    let shared = SharedStore::connect(url, &flags.store_schema, flags.store_connections)
        .map_err(StorageError::Shared)?;
    if flags.data.is_none() && flags.blobs.is_none() {
        return Err(StorageError::BodiesInMemory);
    }
    if let Some(data) = &flags.data {
        check_service(flags)?;
        let is_new = std::fs::read_dir(data).map_or(true, |mut entries| entries.next().is_none());
        // Secrets that this instance makes are kept there.
        make_directory(data)?;
        if is_new {
            service_mark::claim(data, &flags.product)?;
        }
    }
    let place = BodyPlace::of(flags.data.as_deref().unwrap_or(Path::new("")), flags)?;
    let side = place.side();
    let bodies_lock = match &side {
        BodySide::Directory(path) => {
            let data = flags.data.as_deref();
            let refused =
                |reason| StorageError::Directory { path: path.display().to_string(), reason };
            Some(shared_store::lock_bodies(path, data).map_err(refused)?)
        }
        #[cfg(feature = "object-store")]
        BodySide::Remote(..) => None,
    };
    let (blobs, _) = place.open()?;
    Ok(Storage {
        kv: Arc::clone(shared.kv()) as Arc<dyn KeyValue>,
        blobs,
        directory: flags.data.clone(),
        bodies_elsewhere: Some(side.to_string()),
        shared: Some(shared),
        bodies_lock,
        bodies_unchecked: Some((side, flags.product)),
        ..memory()
    })
}

#[cfg(not(all(any(feature = "etcd", feature = "postgres"), feature = "sled")))]
fn shared(_url: &str, _flags: &Flags) -> Result<Storage, StorageError> {
    Err(StorageError::NoSharedEngine)
}

/// The most that a store which is filled takes for its cache: its rows come in the order of their keys, so that none is looked at again.
#[cfg(feature = "sled")]
const FILL_CACHE_BYTES: u64 = 256 * 1024 * 1024;

/// Makes the records of a staging directory at once, of rows in the order of their keys, and opens the stores; gives the number of the rows.
///
/// # Errors
/// As [`open`]; as [`Sled::fill`].
#[cfg(feature = "sled")]
pub fn open_filled(
    staging: &StagingDir,
    flags: &Flags,
    rows: SortedRows<'_>,
) -> Result<(Storage, u64), StorageError> {
    if flags.store.is_some() {
        return Err(StorageError::SharedFill);
    }
    let mut count = 0;
    let storage = on_disk_after(staging.path(), &staged(staging, flags), |settings| {
        count = Sled::fill(settings, rows)?;
        Ok(())
    })?;
    Ok((storage, count))
}

/// The flags of stores in a staging directory.
#[cfg(feature = "sled")]
fn staged(staging: &StagingDir, flags: &Flags) -> Flags {
    Flags {
        data: Some(staging.path().to_owned()),
        cache_bytes: flags.cache_bytes.min(FILL_CACHE_BYTES),
        ..flags.clone()
    }
}

/// Stores that live as long as the process.
#[must_use]
pub fn memory() -> Storage {
    Storage {
        kv: Arc::new(Memory::new()),
        blobs: Arc::new(MemoryBlobs::new(SystemIds.fork())),
        directory: None,
        bodies_elsewhere: None,
        failure: None,
        closing: ClosingFault::default(),
        #[cfg(feature = "sled")]
        metrics: None,
        #[cfg(feature = "sled")]
        engines: None,
        #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
        shared: None,
        #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
        bodies_lock: None,
        #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
        bodies_unchecked: None,
    }
}

#[cfg(feature = "sled")]
fn on_disk(directory: &Path, flags: &Flags) -> Result<Storage, StorageError> {
    on_disk_after(directory, flags, |_| Ok(()))
}

/// Opens the stores of a data directory, once its records have been prepared.
#[cfg(feature = "sled")]
fn on_disk_after(
    directory: &Path,
    flags: &Flags,
    prepare: impl FnOnce(&SledConfig) -> Result<(), OpenError>,
) -> Result<Storage, StorageError> {
    check_service(flags)?;
    check_finished(directory)?;
    staging_dir::clear_finished(directory);
    let settings = SledConfig {
        tree: flags.tree.clone(),
        cache_bytes: flags.cache_bytes,
        record_bytes_max: flags.record_bytes_max,
        rebuilds: flags.rebuild_index,
        on_rebuild: Some(tell_rebuild),
        ..SledConfig::new(directory.join("kv")).with_segments_of(flags.segment_bytes)
    };
    let place = BodyPlace::of(directory, flags)?;
    let sides = Sides::look(directory, place.side())?;
    if !holds_records(directory) {
        // Before anything else is in it, so that no other service takes it for its own.
        make_directory(directory)?;
        service_mark::claim(directory, &flags.product)?;
    }
    prepare(&settings)?;
    let kv = Sled::open(&settings)?;
    sides.check_records(&kv)?;
    if !service_mark::is_of(directory, &flags.product)? {
        service_mark::check_rows(directory, &flags.product, &kv)?;
        service_mark::claim(directory, &flags.product)?;
    }
    if let Some(lost) = kv.lost_frames() {
        tracing::warn!(
            kept = lost.kept.0,
            last = lost.last.0,
            "a power cut took the last half second: the versions after `kept` up to `last`, none of which was promised to be on disk"
        );
    }
    if kv.log_was_broken() {
        tracing::warn!(
            "files of the journal in kv/ were lost or changed by something other than a crash; nothing is missing, since the index had all records and a new base was made of it. Take a backup, and look after the disk"
        );
    }
    let (failure, closing) = (Some(kv.failure()), kv.closing_fault());
    let bodies_elsewhere = place.elsewhere();
    let (blobs, packs) = place.open()?;
    sides.mark()?;
    let kv = Arc::new(kv);
    Ok(Storage {
        engines: Some((Arc::downgrade(&kv), packs.clone())),
        metrics: Some(StoreMetrics { kv: Arc::downgrade(&kv), blobs: packs }),
        kv,
        blobs,
        directory: Some(directory.to_owned()),
        bodies_elsewhere,
        failure,
        closing,
        #[cfg(any(feature = "etcd", feature = "postgres"))]
        shared: None,
        #[cfg(any(feature = "etcd", feature = "postgres"))]
        bodies_lock: None,
        #[cfg(any(feature = "etcd", feature = "postgres"))]
        bodies_unchecked: None,
    })
}

/// A place for bodies.
#[cfg(feature = "sled")]
enum BodyPlace {
    /// Below the data directory.
    Data(PathBuf),
    /// In a directory of their own.
    Directory(PathBuf),
    /// On an object store, under a name for the operator.
    #[cfg(feature = "object-store")]
    Remote(Arc<RemoteBlobs>, String),
}

#[cfg(feature = "sled")]
impl BodyPlace {
    /// The place that the flags name; an object store is connected to, and looked at.
    fn of(directory: &Path, flags: &Flags) -> Result<Self, StorageError> {
        let Some(place) = &flags.blobs else {
            return Ok(Self::Data(directory.join("blobs")));
        };
        if !place.contains("://") {
            return Ok(Self::Directory(place.into()));
        }
        #[cfg(feature = "object-store")]
        {
            let location = Location::parse(place)?;
            let blobs = RemoteBlobs::open(&location, SystemIds.fork())?;
            Ok(Self::Remote(Arc::new(blobs), location.to_string()))
        }
        #[cfg(not(feature = "object-store"))]
        Err(StorageError::NoObjectStore)
    }

    fn side(&self) -> BodySide {
        match self {
            Self::Data(path) | Self::Directory(path) => BodySide::Directory(path.clone()),
            #[cfg(feature = "object-store")]
            Self::Remote(blobs, name) => BodySide::Remote(Arc::clone(blobs), name.clone()),
        }
    }

    /// Its name, where it is not below the data directory.
    fn elsewhere(&self) -> Option<String> {
        match self {
            Self::Data(_) => None,
            Self::Directory(path) => Some(path.display().to_string()),
            #[cfg(feature = "object-store")]
            Self::Remote(_, name) => Some(name.clone()),
        }
    }

    /// The bodies, and the engine that keeps them on a disk of ours.
    fn open(self) -> Result<(Arc<dyn Blobs>, Weak<Directory>), StorageError> {
        match self {
            Self::Data(path) | Self::Directory(path) => {
                let opened = Directory::open(&path, Arc::new(SystemDisk), SystemIds.fork());
                let blobs = opened.map(Arc::new).map_err(|error| StorageError::Directory {
                    path: path.display().to_string(),
                    reason: error.to_string(),
                })?;
                let packs = Arc::downgrade(&blobs);
                Ok((blobs, packs))
            }
            #[cfg(feature = "object-store")]
            Self::Remote(blobs, _) => Ok((blobs, Weak::new())),
        }
    }
}

/// Refuses a data directory that is being filled.
#[cfg(feature = "sled")]
fn check_finished(directory: &Path) -> Result<(), StorageError> {
    match staging_dir::is_unfinished(directory) {
        true => Err(StorageError::Unfinished { path: directory.display().to_string() }),
        false => Ok(()),
    }
}

#[cfg(feature = "sled")]
fn tell_rebuild(reason: &crate::kv::RebuildReason, progress: crate::kv::RebuildProgress) {
    let crate::kv::RebuildProgress { rows, rows_most, seconds_left } = progress;
    tracing::warn!(
        %reason,
        rows,
        rows_most,
        seconds_left,
        "the index of the records is filled anew from their log; nothing is served before it is whole"
    );
}

#[cfg(not(feature = "sled"))]
fn on_disk(_directory: &Path, _flags: &Flags) -> Result<Storage, StorageError> {
    Err(StorageError::NoEngine)
}

/// Makes the data directory, its name on disk. Nothing is put into one that is being filled.
pub(super) fn make_directory(directory: &Path) -> Result<(), StorageError> {
    #[cfg(feature = "sled")]
    check_finished(directory)?;
    #[cfg(feature = "sled")]
    let made = crate::disk::Disk::make_directory(&SystemDisk, directory);
    #[cfg(not(feature = "sled"))]
    let made = std::fs::create_dir_all(directory);
    made.map_err(|error| StorageError::Directory {
        path: directory.display().to_string(),
        reason: error.to_string(),
    })
}

impl std::fmt::Debug for Storage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Storage").field("directory", &self.directory).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "sled")]
    #[test]
    fn a_file_of_the_journal_has_room_for_what_the_flag_says() {
        use super::super::flags::augment;
        use super::super::flags::tests::PRODUCT;
        use crate::kv::Batch;
        let length = |words: &[&str]| {
            let command = augment(clap::Command::new("thing"), &PRODUCT);
            let flags = Flags::from_matches(&PRODUCT, &command.try_get_matches_from(words).ok()?);
            let folder = tempfile::tempdir().unwrap();
            let storage = open(&Flags { data: Some(folder.path().to_owned()), ..flags }).unwrap();
            let writes = vec![("a".into(), Some("b".into()))];
            storage.kv.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
            Some(std::fs::metadata(folder.path().join("kv/journal-0000000001")).unwrap().len())
        };
        let usual = length(&["thing"]).unwrap();
        assert!(usual > 512 * 1024, "{usual}");
        let short = length(&["thing", "--segment-bytes", "4096"]).unwrap();
        assert!((4_096..8_192).contains(&short), "{short}");
        for refused in ["0", "4095", "1073741825", "some"] {
            assert_eq!(length(&["thing", "--segment-bytes", refused]), None, "{refused}");
        }
    }
}
