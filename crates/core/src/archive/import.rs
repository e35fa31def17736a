//! Lines as a store.

use std::collections::VecDeque;
use std::io::BufRead;

use bytes::Bytes;

use super::line::End;
use super::lines::Lines;
use super::{ArchiveError, Checkpoint, Codec, Row, SLICE_BYTES};
use crate::blobs::{BlobError, BlobStat, Blobs};
use crate::id::Ids;
use crate::kv::{KeyValue, Loader, is_empty};
use crate::pending::Pending;
use crate::time::Timestamp;

/// Bodies that wait for the disk at once, but for those of one row.
const FLYING_MAX: usize = 64;

/// A witness of an import.
pub trait Watch {
    /// Told after each row how many rows and bytes were read.
    fn progress(&mut self, rows: u64, bytes: u64);

    /// Keeps a checkpoint in the place of the last one; it is on disk when this returns.
    ///
    /// # Errors
    /// As the disk.
    fn save(&mut self, checkpoint: &Checkpoint) -> std::io::Result<()>;
}

/// An archive on its way into a store.
pub struct Import<'s> {
    /// The rows of the service.
    pub codec: &'s dyn Codec,
    /// The records: empty, or those of the import that goes on.
    pub store: &'s dyn KeyValue,
    /// The bodies: none, or those of the import that goes on.
    pub blobs: &'s dyn Blobs,
    /// The names of batches.
    pub ids: &'s mut dyn Ids,
    /// The moment at which bodies are made.
    pub now: Timestamp,
    /// The last checkpoint of the import that goes on.
    pub from: Option<Checkpoint>,
    /// The last line of the file, where it could be read beforehand.
    pub end: Option<End>,
    /// Bytes of the file between two checkpoints.
    pub step_bytes: u64,
}

impl Import<'_> {
    /// Reads the archive, and says how many rows it had. Memory does not grow with it.
    ///
    /// Nothing that was read goes where the file turns out to be damaged: import into a place that is only named once this has succeeded. An
    /// import that went on from a checkpoint can go on from it again, since any line behind it may be wrong.
    ///
    /// # Errors
    /// `OtherArchive`; `Refused` if the store is not empty, or with the line that is wrong; `CutOff`, after which it goes on with the whole
    /// file; `Text`, `Store`, `Blob`.
    pub fn run(self, text: &mut dyn BufRead, watch: &mut dyn Watch) -> Result<u64, ArchiveError> {
        let begun = self.from.clone();
        let outcome = self.read(text, watch);
        if let (Err(ArchiveError::Refused { .. }), Some(begun)) = (&outcome, begun) {
            watch.save(&begun)?;
        }
        outcome
    }

    fn read(mut self, text: &mut dyn BufRead, watch: &mut dyn Watch) -> Result<u64, ArchiveError> {
        let mut lines = Lines::new(text, self.codec.format());
        let mut at = self.begin(&mut lines)?;
        at.archive = self.end.map(|end| end.sha256).or(at.archive);
        let mut intake = Intake {
            codec: self.codec,
            blobs: self.blobs,
            now: self.now,
            loader: Loader::new(self.store, self.ids),
            flying: VecDeque::new(),
        };
        let mut last = at.last();
        loop {
            if lines.bytes - at.bytes >= self.step_bytes {
                intake.settle()?;
                mark(&mut at, &lines, &last);
                watch.save(&at)?;
            }
            lines.next()?;
            if End::is_at(&lines.line) {
                break;
            }
            let row = self.codec.row(&lines.line).map_err(|reason| lines.refuse(&reason))?;
            if row.key <= last {
                return Err(lines.refuse("the rows are not in the order of their keys"));
            }
            last = row.key.clone();
            at.rows += 1;
            at.bodies += row.bodies.len() as u64;
            intake.take(&mut lines, row)?;
            watch.progress(at.rows, lines.bytes);
        }
        let end = lines.end(at.rows, at.bodies)?;
        intake.settle()?;
        mark(&mut at, &lines, &last);
        at.archive = Some(end.sha256);
        at.is_whole = true;
        watch.save(&at)?;
        Ok(at.rows)
    }

    /// Goes to the place at which rows are read next.
    fn begin(&mut self, lines: &mut Lines<'_>) -> Result<Checkpoint, ArchiveError> {
        let Some(from) = self.from.take() else {
            if !is_empty(self.store)? {
                return Err(lines.refuse("the store is not empty"));
            }
            lines.head()?;
            return Ok(Checkpoint::at_start());
        };
        if let (Some(end), Some(archive)) = (&self.end, &from.archive)
            && end.sha256 != *archive
        {
            return Err(ArchiveError::OtherArchive);
        }
        lines.skip(&from)?;
        from.roll_back(self.codec, self.store, self.blobs, self.ids)?;
        Ok(from)
    }
}

/// Says where an import stands whose rows are all on disk.
fn mark(at: &mut Checkpoint, lines: &Lines<'_>, last: &[u8]) {
    at.bytes = lines.bytes;
    at.lines = lines.number;
    at.sha256 = lines.sha256();
    at.set_last(last);
}

/// A row whose bodies are on their way to the disk.
struct Flying {
    row: Row,
    bodies: Vec<Pending<Result<BlobStat, BlobError>>>,
}

/// Rows and bodies on their way into the stores, in their order. A row that names a body comes after the body is on disk.
struct Intake<'s> {
    codec: &'s dyn Codec,
    blobs: &'s dyn Blobs,
    now: Timestamp,
    loader: Loader<'s>,
    flying: VecDeque<Flying>,
}

impl Intake<'_> {
    fn take(&mut self, lines: &mut Lines<'_>, row: Row) -> Result<(), ArchiveError> {
        let mut bodies = Vec::with_capacity(row.bodies.len());
        for bytes in &row.bodies {
            bodies.push(self.body(lines, *bytes)?);
        }
        self.flying.push_back(Flying { row, bodies });
        self.land(FLYING_MAX)
    }

    /// The body of the next lines, on its way to the disk.
    fn body(
        &self,
        lines: &mut Lines<'_>,
        bytes: u64,
    ) -> Result<Pending<Result<BlobStat, BlobError>>, ArchiveError> {
        if bytes <= SLICE_BYTES as u64 {
            let slice = if bytes == 0 { Bytes::new() } else { lines.slice()? };
            if slice.len() as u64 != bytes {
                return Err(lines.refuse("the body is not as long as its row says"));
            }
            return Ok(self.blobs.put_small(self.now, slice));
        }
        let mut writer = self.blobs.create(self.now, Some(bytes));
        let mut left = bytes;
        while left > 0 {
            let slice = lines.slice()?;
            left = left
                .checked_sub(slice.len() as u64)
                .ok_or_else(|| lines.refuse("the body is longer than its row says"))?;
            writer.write(slice).wait()?;
        }
        Ok(writer.finish())
    }

    /// Number of bodies on their way; a row without any counts as one.
    fn waiting(&self) -> usize {
        self.flying.iter().map(|flying| flying.bodies.len().max(1)).sum()
    }

    /// Waits until at most `most` bodies are on their way, and puts the rows of the others.
    fn land(&mut self, most: usize) -> Result<(), ArchiveError> {
        while self.waiting() > most {
            let Some(Flying { row, bodies }) = self.flying.pop_front() else { break };
            let bodies = bodies.into_iter().map(Pending::wait).collect::<Result<Vec<_>, _>>()?;
            let value = self.codec.stored(&row, &bodies);
            self.loader.put(row.key, value)?;
        }
        Ok(())
    }

    /// Waits until everything that was taken is on disk.
    fn settle(&mut self) -> Result<(), ArchiveError> {
        self.land(0)?;
        Ok(self.loader.settle()?)
    }
}

impl std::fmt::Debug for Import<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Import").field("from", &self.from).field("end", &self.end).finish()
    }
}
