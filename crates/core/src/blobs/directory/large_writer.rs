//! A large body on its way into its file: gathered to whole blocks, and written while more is gathered.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::aligned_buffer::AlignedBuffer;
use super::pack_writer::closed;
use crate::blobs::BlobError;
use crate::disk::DiskFile;
use crate::pending::Pending;
use crate::worker_pool::WorkerPool;

/// Blocks that are written at once: 512 KiB, from where on disks are at their best.
const BLOCKS_AT_ONCE: usize = 128;
/// Threads that write while more is gathered.
const THREADS: usize = 4;
/// Bodies that have that done for them, which takes twice the memory; of more, each is written by whoever brings it, and while it
/// waits the others go on.
const SLOTS_MAX: usize = 8;

/// Slots, for a few bodies at a time, in which threads write for them.
pub(super) struct WriteSlots {
    threads: WorkerPool,
    busy: AtomicUsize,
}

impl WriteSlots {
    pub(super) fn start() -> Result<Arc<Self>, BlobError> {
        let threads = WorkerPool::start("write", THREADS)?;
        Ok(Arc::new(Self { threads, busy: AtomicUsize::new(0) }))
    }

    /// A slot, if one is free.
    fn take(self: &Arc<Self>) -> Option<WriteSlot> {
        let one_more = |busy: usize| (busy < SLOTS_MAX).then_some(busy + 1);
        let busy = &self.busy;
        busy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more)
            .ok()
            .map(|_| WriteSlot(Arc::clone(self)))
    }
}

/// The slot of one body, free again once it is dropped.
struct WriteSlot(Arc<WriteSlots>);

impl Drop for WriteSlot {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The writer of one file.
pub(super) struct LargeFileWriter {
    file: Arc<dyn DiskFile>,
    gathered: AlignedBuffer,
    slots: Arc<WriteSlots>,
    slot: Option<WriteSlot>,
    /// The write that is under way, or whose outcome nobody has looked at yet.
    in_flight: Option<Pending<Result<AlignedBuffer, BlobError>>>,
    /// Bytes in the file, or on their way there.
    bytes: u64,
    is_synced: bool,
    /// The first fault. It stays: the disk tells of it once, and what comes after would leave a gap.
    fault: Option<BlobError>,
}

impl LargeFileWriter {
    pub(super) fn new(file: Arc<dyn DiskFile>, slots: &Arc<WriteSlots>) -> Self {
        Self {
            file,
            gathered: AlignedBuffer::with_capacity(BLOCKS_AT_ONCE),
            slots: Arc::clone(slots),
            slot: None,
            in_flight: None,
            bytes: 0,
            is_synced: false,
            fault: None,
        }
    }

    /// Bytes of the body so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes + self.gathered.len() as u64
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.unless_failed(|writer| writer.gather(bytes))
    }

    /// Puts on disk what was written.
    pub(super) fn sync(&mut self) -> Result<(), BlobError> {
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
        self.is_synced = false;
        while !bytes.is_empty() {
            bytes = self.gathered.fill(bytes);
            if self.gathered.is_full() {
                self.write_gathered()?;
            }
        }
        Ok(())
    }

    fn write_gathered(&mut self) -> Result<(), BlobError> {
        let empty = match self.in_flight.take() {
            Some(write) => Some(write.wait()?),
            None => {
                self.slot = self.slot.take().or_else(|| self.slots.take());
                self.slot.is_some().then(|| AlignedBuffer::with_capacity(BLOCKS_AT_ONCE))
            }
        };
        let at = self.bytes;
        self.bytes = self.bytes();
        let Some(empty) = empty else {
            return write(&*self.file, &mut self.gathered, at);
        };
        let mut full = std::mem::replace(&mut self.gathered, empty);
        let file = Arc::clone(&self.file);
        let written = self.slots.threads.run(Err(closed()), move || {
            write(&*file, &mut full, at)?;
            Ok(full)
        });
        self.in_flight = Some(written);
        Ok(())
    }

    fn write_all_and_sync(&mut self) -> Result<(), BlobError> {
        if self.is_synced {
            return Ok(());
        }
        if let Some(write) = self.in_flight.take() {
            write.wait()?;
        }
        let at = self.bytes;
        self.bytes = self.bytes();
        write(&*self.file, &mut self.gathered, at)?;
        self.file.sync()?;
        self.is_synced = true;
        Ok(())
    }
}

fn write(file: &dyn DiskFile, gathered: &mut AlignedBuffer, at: u64) -> Result<(), BlobError> {
    let (whole, rest) = gathered.take();
    let rest_at = at + whole.len() as u64;
    let pieces = [(whole, at), (rest, rest_at)].into_iter().filter(|(bytes, _)| !bytes.is_empty());
    for (bytes, at) in pieces {
        file.write_all_at(bytes, at)?;
    }
    Ok(())
}
