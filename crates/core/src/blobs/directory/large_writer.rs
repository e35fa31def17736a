//! The content of a large body on its way into its file: gathered to whole blocks, and written while more is gathered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::aligned_buffer::Blocks;
use super::failed;
use super::pack_writer::closed;
use crate::blobs::BlobError;
use crate::disk::DiskFile;
use crate::pending::Pending;
use crate::worker_pool::Workers;

/// How many blocks are written at once: 512 KiB, from where on disks are at their best.
const BLOCKS_AT_ONCE: usize = 128;
/// Threads that write while more is gathered.
const THREADS: usize = 4;
/// How many bodies have that done for them, which takes twice the memory; of more, each is written by whoever brings it, and while it
/// waits the others go on.
const BEHIND_MAX: usize = 8;

/// What writes for a few bodies at a time.
pub(super) struct Writers {
    threads: Workers,
    busy: AtomicUsize,
}

impl Writers {
    pub(super) fn start() -> Result<Arc<Self>, BlobError> {
        Ok(Arc::new(Self {
            threads: Workers::start("write", THREADS).map_err(failed)?,
            busy: AtomicUsize::new(0),
        }))
    }

    fn turn(self: &Arc<Self>) -> Option<Turn> {
        let one_more = |busy: usize| (busy < BEHIND_MAX).then_some(busy + 1);
        let busy = &self.busy;
        busy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()
            .map(|_| Turn(Arc::clone(self)))
    }
}

/// That a body is one of those few, as long as it is kept.
struct Turn(Arc<Writers>);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one file is to hold.
pub(super) struct Content {
    file: Arc<dyn DiskFile>,
    gathered: Blocks,
    writers: Arc<Writers>,
    turn: Option<Turn>,
    /// The write that is under way, or whose outcome nobody has looked at yet.
    behind: Option<Pending<Result<Blocks, BlobError>>>,
    /// How much is in the file, or on its way there.
    bytes: u64,
    is_settled: bool,
    /// The first fault. It stays: the disk tells of it once, and what comes after would leave a gap.
    fault: Option<BlobError>,
}

impl Content {
    pub(super) fn of(file: Arc<dyn DiskFile>, writers: &Arc<Writers>) -> Self {
        Self {
            file,
            gathered: Blocks::with_room(BLOCKS_AT_ONCE),
            writers: Arc::clone(writers),
            turn: None,
            behind: None,
            bytes: 0,
            is_settled: false,
            fault: None,
        }
    }

    /// How many bytes it has.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes + self.gathered.len() as u64
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.unless_failed(|content| content.gather(bytes))
    }

    /// Puts on disk what was written.
    pub(super) fn settle(&mut self) -> Result<(), BlobError> {
        self.unless_failed(Self::write_all_and_sync)
    }

    fn unless_failed(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<(), BlobError>,
    ) -> Result<(), BlobError> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let outcome = work(self);
        self.fault = outcome.as_ref().err().cloned();
        outcome
    }

    fn gather(&mut self, mut bytes: &[u8]) -> Result<(), BlobError> {
        self.is_settled = false;
        while !bytes.is_empty() {
            bytes = self.gathered.fill(bytes);
            if self.gathered.is_full() {
                self.write_gathered()?;
            }
        }
        Ok(())
    }

    fn write_gathered(&mut self) -> Result<(), BlobError> {
        let room = match self.behind.take() {
            Some(behind) => Some(behind.wait()?),
            None => {
                self.turn = self.turn.take().or_else(|| self.writers.turn());
                self.turn.is_some().then(|| Blocks::with_room(BLOCKS_AT_ONCE))
            }
        };
        let at = self.bytes;
        self.bytes = self.bytes();
        let Some(room) = room else {
            return write(&*self.file, &mut self.gathered, at);
        };
        let mut full = std::mem::replace(&mut self.gathered, room);
        let file = Arc::clone(&self.file);
        let written = self.writers.threads.run(Err(closed()), move || {
            write(&*file, &mut full, at)?;
            Ok(full)
        });
        self.behind = Some(written);
        Ok(())
    }

    fn write_all_and_sync(&mut self) -> Result<(), BlobError> {
        if self.is_settled {
            return Ok(());
        }
        if let Some(behind) = self.behind.take() {
            behind.wait()?;
        }
        let at = self.bytes;
        self.bytes = self.bytes();
        write(&*self.file, &mut self.gathered, at)?;
        self.file.sync().map_err(failed)?;
        self.is_settled = true;
        Ok(())
    }
}

fn write(file: &dyn DiskFile, gathered: &mut Blocks, at: u64) -> Result<(), BlobError> {
    let (whole, rest) = gathered.take();
    let rest_at = at + whole.len() as u64;
    [(whole, at), (rest, rest_at)]
        .into_iter()
        .filter(|(bytes, _)| !bytes.is_empty())
        .try_for_each(|(bytes, at)| file.write_all_at(bytes, at))
        .map_err(failed)
}
