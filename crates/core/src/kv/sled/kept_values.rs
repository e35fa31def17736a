//! Long values that rows do not name any more and the base still may: they stay until the next base is made, so that every copy of base, log and values
//! can be taken back to any moment since that base.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Version;
use crate::blobs::BlobId;
use crate::disk::{Disk, DiskFile};

/// The file of their names, beside the packs. What it does not say stays until the tree is filled anew.
const FILE: &str = "replaced";
/// A name, the version by which it was replaced, and their checksum.
const ENTRY_BYTES: usize = BlobId::BYTES + 8 + 4;
/// The most entries that are read; of more, the values of the rest stay.
const ENTRIES_MAX: u64 = 4_000_000;

/// A value that was replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReplacedValue {
    pub(super) name: BlobId,
    /// The version that replaced it, or one behind it.
    pub(super) by: Version,
}

/// The replaced values of a store that its base may name.
pub(super) struct KeptValues {
    path: PathBuf,
    /// Values that came up to here may be named by a base.
    upto: Version,
    values: Vec<ReplacedValue>,
    /// Those of them that the file says.
    noted: usize,
    file: Option<(Arc<dyn DiskFile>, u64)>,
}

impl KeptValues {
    /// Those that the file in a directory of values says. Until [`KeptValues::known_up_to`] each value that is replaced is kept.
    pub(super) fn open(disk: &dyn Disk, directory: &Path) -> Self {
        let path = directory.join(FILE);
        let bytes = disk.open(&path).and_then(|file| {
            let length = file.length()?.min(ENTRIES_MAX * ENTRY_BYTES as u64);
            file.read_new(usize::try_from(length).unwrap_or_default(), 0)
        });
        let bytes = bytes.unwrap_or_default();
        let (entries, _) = bytes.as_chunks::<ENTRY_BYTES>();
        let values = entries.iter().filter_map(read).collect();
        Self { path, upto: Version(u64::MAX), values, noted: 0, file: None }
    }

    /// Notes that no value that comes behind a version is named by a base, and forgets what was replaced behind it: that was taken back.
    pub(super) fn known_up_to(&mut self, last: Version) {
        self.values.retain(|value| value.by <= last);
        self.upto = last;
        self.noted = 0;
        self.file = None;
    }

    /// Keeps what is replaced from now on: a base is being made, and may name it.
    pub(super) const fn begin_base(&mut self) {
        self.upto = Version(u64::MAX);
    }

    /// Takes what a tree that was filled anew found replaced.
    pub(super) fn replace(&mut self, values: Vec<ReplacedValue>) {
        self.values = values;
        self.noted = 0;
        self.file = None;
    }

    /// Returns whether a base may name a value.
    pub(super) fn may_be_based(&self, name: BlobId) -> bool {
        u64::try_from(name.created().millis()).is_ok_and(|created| created <= self.upto.0)
    }

    pub(super) fn keep(&mut self, value: ReplacedValue) {
        self.values.push(value);
    }

    /// Takes out those that the base of a version does not name.
    pub(super) fn let_go(&mut self, base: Version) -> Vec<BlobId> {
        let (gone, kept): (Vec<_>, Vec<_>) =
            self.values.drain(..).partition(|value| value.by <= base);
        self.values = kept;
        self.noted = 0;
        self.file = None;
        gone.into_iter().map(|value| value.name).collect()
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = BlobId> {
        self.values.iter().map(|value| value.name)
    }

    /// Writes to the file what it does not say yet. Where that fails it goes on without: a name that is lost costs the space of its value until the tree is
    /// filled anew, and one too many is looked at again when the store is opened.
    pub(super) fn note(&mut self, disk: &dyn Disk) {
        if self.noted < self.values.len() {
            self.file = self.write(disk).ok();
            self.noted = self.values.len();
        }
    }

    fn write(&mut self, disk: &dyn Disk) -> io::Result<(Arc<dyn DiskFile>, u64)> {
        let (file, at, from) = match self.file.take() {
            Some((file, end)) => (file, end, self.noted),
            None => (disk.replace(&self.path)?, 0, 0),
        };
        let new = self.values.get(from..).unwrap_or_default();
        let bytes: Vec<u8> = new.iter().flat_map(|value| entry(*value)).collect();
        file.write_all_at(&bytes, at)?;
        Ok((file, at + bytes.len() as u64))
    }
}

fn entry(value: ReplacedValue) -> [u8; ENTRY_BYTES] {
    let mut entry = [0; ENTRY_BYTES];
    let (said, sum) = entry.split_at_mut(ENTRY_BYTES - 4);
    let (name, by) = said.split_at_mut(BlobId::BYTES);
    name.copy_from_slice(&value.name.0);
    by.copy_from_slice(&value.by.0.to_be_bytes());
    sum.copy_from_slice(&crc32c::crc32c(said).to_be_bytes());
    entry
}

fn read(bytes: &[u8; ENTRY_BYTES]) -> Option<ReplacedValue> {
    let (name, rest) = bytes.split_first_chunk::<{ BlobId::BYTES }>()?;
    let by = Version(u64::from_be_bytes(*rest.first_chunk()?));
    let value = ReplacedValue { name: BlobId(*name), by };
    (entry(value) == *bytes).then_some(value)
}
