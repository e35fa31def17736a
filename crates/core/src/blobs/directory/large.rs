//! Blobs with a file each. A file has its name only once it is whole and on disk.

use std::future::Future as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::Page;
use super::disk::{Disk, DiskFile, failed};
use super::pack::Place;
use super::worker::Workers;
use crate::blobs::{BlobError, BlobId, BlobStat};
use crate::pending::Pending;
use crate::time::Timestamp;

const UNFINISHED: &str = "part";
/// How much of a body is written before what is there is synced beside the writes: so the last sync finds little to do.
const SYNCED_AHEAD_BYTES: u64 = 16 * 1024 * 1024;
/// Threads for those syncs, apart from those that the last sync of a body runs on and waits from.
const SYNCING_THREADS: usize = 2;

pub(super) struct Large {
    directory: PathBuf,
    disk: Arc<dyn Disk>,
    syncing: Arc<Workers>,
}

impl Large {
    pub(super) fn open(directory: PathBuf, disk: Arc<dyn Disk>) -> Result<Self, BlobError> {
        disk.make_directory(&directory).map_err(failed)?;
        for path in disk.list(&directory).map_err(failed)? {
            if path
                .extension()
                .is_some_and(|extension| extension == UNFINISHED)
            {
                disk.remove(&path).map_err(failed)?;
            }
        }
        Ok(Self {
            directory,
            disk,
            syncing: Arc::new(Workers::start("sync", SYNCING_THREADS)?),
        })
    }

    fn path(&self, id: BlobId) -> PathBuf {
        self.directory.join(hex(id))
    }

    pub(super) fn create(&self, now: Timestamp, salt: [u8; 12]) -> Result<LargeFile, BlobError> {
        let id = Place::File.name(now, salt);
        let path = self.path(id);
        let unfinished = path.with_extension(UNFINISHED);
        let file = self.disk.create(&unfinished).map_err(failed)?;
        Ok(LargeFile {
            disk: Arc::clone(&self.disk),
            directory: self.directory.clone(),
            file,
            id,
            path,
            unfinished,
            bytes: 0,
            unsynced: 0,
            syncing: Arc::clone(&self.syncing),
            ahead: None,
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
            removed => removed
                .and_then(|()| self.disk.sync_directory(&self.directory))
                .map_err(failed),
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
    file: Arc<dyn DiskFile>,
    id: BlobId,
    path: PathBuf,
    unfinished: PathBuf,
    bytes: u64,
    /// Bytes since the last sync ahead began.
    unsynced: u64,
    syncing: Arc<Workers>,
    /// The sync ahead that is under way, or whose outcome nobody has looked at yet.
    ahead: Option<Pending<Result<(), BlobError>>>,
    is_whole: bool,
}

impl LargeFile {
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.file.write_all_at(bytes, self.bytes).map_err(failed)?;
        self.bytes += bytes.len() as u64;
        self.unsynced += bytes.len() as u64;
        if self.unsynced >= SYNCED_AHEAD_BYTES && !self.is_syncing()? {
            let (file, end) = (Arc::clone(&self.file), self.bytes);
            self.ahead = Some(self.syncing.run(move || sync(&*file, end)));
            self.unsynced = 0;
        }
        Ok(())
    }

    /// Whether a sync ahead is under way. The kernel tells a failed sync once, so its fault is the body's.
    fn is_syncing(&mut self) -> Result<bool, BlobError> {
        let Some(ahead) = &mut self.ahead else {
            return Ok(false);
        };
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(ahead).poll(&mut context) {
            Poll::Pending => Ok(true),
            Poll::Ready(outcome) => {
                self.ahead = None;
                outcome.map(|()| false)
            }
        }
    }

    /// Puts on disk what was written.
    pub(super) fn settle(&mut self) -> Result<(), BlobError> {
        if let Some(ahead) = self.ahead.take() {
            ahead.wait()?;
        }
        if self.unsynced > 0 {
            sync(&*self.file, self.bytes)?;
            self.unsynced = 0;
        }
        Ok(())
    }

    /// Content first, then the name, then the directory: at no moment is there a name without the whole body.
    pub(super) fn finish(mut self) -> Result<BlobStat, BlobError> {
        self.settle()?;
        self.disk
            .rename(&self.unfinished, &self.path)
            .map_err(failed)?;
        self.is_whole = true;
        if let Err(error) = self.disk.sync_directory(&self.directory) {
            // Nobody will name this blob, so it must not stay.
            let _ = self.disk.remove(&self.path);
            return Err(failed(error));
        }
        Ok(BlobStat {
            id: self.id,
            bytes: self.bytes,
        })
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

/// Puts the first `bytes` bytes on disk and out of memory: kept, a large body would push out what many requests read, and each new
/// one would need memory that was not in use before.
fn sync(file: &dyn DiskFile, bytes: u64) -> Result<(), BlobError> {
    file.sync().map_err(failed)?;
    file.let_go(0..bytes);
    Ok(())
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
