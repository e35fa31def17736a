//! Blobs with a file each. A file has its name only once it is whole and on disk.

use std::path::PathBuf;
use std::sync::Arc;

use super::Page;
use super::failed;
use super::large_writer::{Content, Writers};
use super::pack::Place;
use crate::blobs::{BlobError, BlobId, BlobStat};
use crate::disk::{Disk, DiskFile};
use crate::time::Timestamp;

const UNFINISHED: &str = "part";

pub(super) struct Large {
    directory: PathBuf,
    disk: Arc<dyn Disk>,
    writers: Arc<Writers>,
}

impl Large {
    pub(super) fn open(directory: PathBuf, disk: Arc<dyn Disk>) -> Result<Self, BlobError> {
        disk.make_directory(&directory).map_err(failed)?;
        for path in disk.list(&directory).map_err(failed)? {
            if path.extension().is_some_and(|extension| extension == UNFINISHED) {
                disk.remove(&path).map_err(failed)?;
            }
        }
        Ok(Self { directory, disk, writers: Writers::start()? })
    }

    fn path(&self, id: BlobId) -> PathBuf {
        self.directory.join(hex(id))
    }

    pub(super) fn create(&self, now: Timestamp, salt: [u8; 12]) -> Result<LargeFile, BlobError> {
        let id = Place::File.name(now, salt);
        let path = self.path(id);
        let unfinished = path.with_extension(UNFINISHED);
        let file = self.disk.create_large(&unfinished).map_err(failed)?;
        Ok(LargeFile {
            disk: Arc::clone(&self.disk),
            directory: self.directory.clone(),
            content: Content::of(file, &self.writers),
            id,
            path,
            unfinished,
            is_whole: false,
        })
    }

    pub(super) fn find(&self, id: BlobId) -> Result<(Arc<dyn DiskFile>, u64), BlobError> {
        let file = self.disk.open(&self.path(id)).map_err(failed)?;
        let bytes = file.length().map_err(failed)?;
        Ok((file, bytes))
    }

    pub(super) fn remove(&self, id: BlobId) -> Result<(), BlobError> {
        match self.disk.remove(&self.path(id)) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => {
                removed.and_then(|()| self.disk.sync_directory(&self.directory)).map_err(failed)
            }
        }
    }

    /// Adds the blobs that belong on `page`; only those are asked for their length.
    pub(super) fn list(&self, page: &mut Page) -> Result<(), BlobError> {
        for path in self.disk.list(&self.directory).map_err(failed)? {
            let Some(id) = path.file_name().and_then(|name| unhex(name.to_str()?)) else {
                continue;
            };
            if !page.takes(id) {
                continue;
            }
            match self.find(id) {
                Ok((_, bytes)) => page.add(BlobStat { id, bytes }),
                // It was deleted since the directory was read.
                Err(BlobError::Absent) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A file that is being written. Dropping it before `finish` removes it.
pub(super) struct LargeFile {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    pub(super) content: Content,
    id: BlobId,
    path: PathBuf,
    unfinished: PathBuf,
    is_whole: bool,
}

impl LargeFile {
    /// Content first, then the name, then the directory: at no moment is there a name without the whole body.
    pub(super) fn finish(mut self) -> Result<BlobStat, BlobError> {
        self.content.settle()?;
        self.disk.rename(&self.unfinished, &self.path).map_err(failed)?;
        self.is_whole = true;
        if let Err(error) = self.disk.sync_directory(&self.directory) {
            // Nobody will name this blob, so it must not stay.
            let _ = self.disk.remove(&self.path);
            return Err(failed(error));
        }
        Ok(BlobStat { id: self.id, bytes: self.content.bytes() })
    }
}

impl Drop for LargeFile {
    fn drop(&mut self) {
        if !self.is_whole {
            // What cannot be removed now is removed when the store is opened again.
            let _ = self.disk.remove(&self.unfinished);
        }
    }
}

fn hex(id: BlobId) -> String {
    id.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<BlobId> {
    let mut id = [0; BlobId::BYTES];
    if text.len() != 2 * id.len() || !text.is_ascii() {
        return None;
    }
    for (place, byte) in id.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(BlobId(id))
}
