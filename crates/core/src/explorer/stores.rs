//! The stores that the explorer opens on a simulated disk.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::blobs::{Directory, missing_pack};
use crate::disk::Disk as _;
use crate::disk::simulated::{Change, SimulatedDisk};
use crate::id::SeededIds;
use crate::kv::{KeyValue as _, Sled, SledConfig, Span, TreeKind};

/// Packs of a few bodies each.
const PACK_BYTES_MAX: u64 = 16 * 1024;

/// The start of the names of bases.
const BASE: &str = "base-";

/// All rows of a store.
pub(super) type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// Both stores of a data directory.
#[derive(Debug)]
pub struct Stores {
    /// The records.
    pub kv: Sled,
    /// The bodies.
    pub blobs: Directory,
}

impl Stores {
    /// Opens them in this run of the machine, with segments, bases and packs so small that a life has several.
    ///
    /// # Errors
    /// The sentence of whichever does not open.
    pub fn open(disk: &SimulatedDisk, run_of_machine: u64) -> Result<Self, String> {
        let config = SledConfig {
            tree: TreeKind::Redb,
            cache_bytes: 4 * 1024 * 1024,
            record_bytes_max: 64,
            segment_bytes: 8 * 1024,
            base_bytes_min: 24 * 1024,
            boot_id: Some(run_of_machine.to_string()),
            ..SledConfig::new(data().join("kv"))
        };
        let disk = Arc::new(disk.clone());
        let kv =
            Sled::open_on(Arc::clone(&disk) as _, &config).map_err(|error| error.to_string())?;
        let names = SeededIds::from_number(run_of_machine);
        let path = data().join("blobs");
        match missing_pack(&*disk, &path) {
            Ok(None) => {}
            Ok(Some(pack)) => return Err(format!("{} is known and gone", pack.display())),
            Err(error) => return Err(error.to_string()),
        }
        let blobs = Directory::open_with_packs_of(path, disk, names, PACK_BYTES_MAX);
        Ok(Self { kv, blobs: blobs.map_err(|error| format!("the bodies: {error}"))? })
    }

    /// Checks that base, journal and tree of the records agree.
    ///
    /// # Errors
    /// The first place where they do not.
    pub fn verify(&self) -> Result<(), String> {
        let mut faults = Vec::new();
        let verified = self.kv.verify(&mut |fault| faults.push(fault));
        verified.map_err(|error| format!("verify: {error}"))?;
        if let Some(fault) = faults.first() {
            return Err(format!("verify: {fault}"));
        }
        let missing = self.kv.missing_values_of_base().map_err(|error| error.to_string())?;
        missing.map_or(Ok(()), |key| Err(format!("the base names a value of {key} that is gone")))
    }

    /// All rows.
    pub(super) fn state(&self) -> Result<State, String> {
        let page = self.kv.scan(&Span::default(), 100_000).map_err(|error| error.to_string())?;
        Ok(page.rows.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect())
    }
}

/// The data directory.
pub(super) fn data() -> &'static Path {
    Path::new("/data")
}

/// Returns whether a base is being made, or takes the place of the one before it.
pub(super) fn makes_base(disk: &SimulatedDisk) -> bool {
    let files = disk.list(&data().join("kv")).unwrap_or_default();
    files.iter().filter(|path| name_of(path).starts_with(BASE)).count() > 1
}

/// Returns whether a change lets a segment of the log go, which a base holds.
pub(super) fn lets_log_go(change: &Change) -> bool {
    let is_segment =
        |path: &Path| name_of(path).starts_with("journal-") && path.extension().is_none();
    match change {
        Change::Rename(path, _) | Change::Remove(path) => is_segment(path),
        _ => false,
    }
}

fn name_of(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

/// Returns whether a file is written while others go on: the tree of the records, or a base.
pub(super) fn is_of_background(path: &Path) -> bool {
    let name = name_of(path);
    path.parent() == Some(&*data().join("kv")) && (name == "redb" || name.starts_with(BASE))
}
