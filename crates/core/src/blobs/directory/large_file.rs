//! Blobs with a file each. A file has its name only once it is whole and on disk.

use std::path::PathBuf;
use std::sync::Arc;

use super::Listing;
use super::large_writer::{LargeFileWriter, WriteSlots};
use super::pack::Place;
use crate::blobs::{BlobError, BlobId, BlobStat};
use crate::disk::{Disk, DiskFile};
use crate::time::Timestamp;

const UNFINISHED: &str = "part";

/// The files of a directory.
pub(super) struct LargeFiles {
    directory: PathBuf,
    disk: Arc<dyn Disk>,
    slots: Arc<WriteSlots>,
}

impl LargeFiles {
    pub(super) fn open(directory: PathBuf, disk: Arc<dyn Disk>) -> Result<Self, BlobError> {
        disk.make_directory(&directory)?;
        for path in disk.list(&directory)? {
            if path.extension().is_some_and(|extension| extension == UNFINISHED) {
                disk.remove(&path)?;
            }
        }
        Ok(Self { directory, disk, slots: WriteSlots::start()? })
    }

    fn path(&self, id: BlobId) -> PathBuf {
        self.directory.join(hex::encode(id.0))
    }

    pub(super) fn create(
        &self,
        now: Timestamp,
        salt: [u8; 12],
    ) -> Result<UnfinishedFile, BlobError> {
        let id = Place::File.name(now, salt);
        let path = self.path(id);
        let unfinished = path.with_extension(UNFINISHED);
        let file = self.disk.create_large(&unfinished)?;
        Ok(UnfinishedFile {
            disk: Arc::clone(&self.disk),
            directory: self.directory.clone(),
            writer: LargeFileWriter::new(file, &self.slots),
            id,
            path,
            unfinished,
            is_whole: false,
        })
    }

    pub(super) fn find(&self, id: BlobId) -> Result<(Arc<dyn DiskFile>, u64), BlobError> {
        let file = self.disk.open(&self.path(id))?;
        let bytes = file.length()?;
        Ok((file, bytes))
    }

    pub(super) fn remove(&self, id: BlobId) -> Result<(), BlobError> {
        match self.disk.remove(&self.path(id)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => Ok(removed.and_then(|()| self.disk.sync_directory(&self.directory))?),
        }
    }

    /// Adds the blobs that belong into `listing`; only those are asked for their length.
    pub(super) fn list(&self, listing: &mut Listing) -> Result<(), BlobError> {
        for path in self.disk.list(&self.directory)? {
            let Some(id) = path.file_name().and_then(|name| id_of(name.to_str()?)) else {
                continue;
            };
            if !listing.takes(id) {
                continue;
            }
            match self.find(id) {
                Ok((_, bytes)) => listing.add(BlobStat { id, bytes }),
                // It was deleted since the directory was read.
                Err(BlobError::Absent) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A file that is being written. Dropping it before `finish` removes it.
pub(super) struct UnfinishedFile {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    pub(super) writer: LargeFileWriter,
    id: BlobId,
    path: PathBuf,
    unfinished: PathBuf,
    is_whole: bool,
}

impl UnfinishedFile {
    /// Puts the body on disk first, then the name, then the directory: at no moment is there a name without the whole body.
    pub(super) fn finish(mut self) -> Result<BlobStat, BlobError> {
        self.writer.sync()?;
        self.disk.rename(&self.unfinished, &self.path)?;
        self.is_whole = true;
        if let Err(error) = self.disk.sync_directory(&self.directory) {
            // Nobody will name this blob, so it must not stay.
            let _ = self.disk.remove(&self.path);
            return Err(error.into());
        }
        Ok(BlobStat { id: self.id, bytes: self.writer.bytes() })
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if !self.is_whole {
            // What cannot be removed now is removed when the store is opened again.
            let _ = self.disk.remove(&self.unfinished);
        }
    }
}

fn id_of(name: &str) -> Option<BlobId> {
    let mut id = [0; BlobId::BYTES];
    hex::decode_to_slice(name, &mut id).ok()?;
    Some(BlobId(id))
}
