//! The thread of the bases: merges the base with the sealed segments behind it into the next one, beside commits, and lets go of what that
//! one holds.

use std::io;

use super::base::{Base, BaseError, BaseWriter};
use super::merge::{LogIndex, MergeError, MergedRow};
use super::rows::Row;
use super::wal::{SealedSegment, Segment, WalError};
use super::{Engine, Version};
use crate::blobs::BlobId;
use crate::schedule::{self, park};

/// Rows between two looks whether the store is closed.
const ROWS_TOGETHER: usize = 1_000;

impl Engine {
    /// Makes a base whenever one is due, until the store is closed or the disk fails.
    pub(super) fn run_bases(&self) {
        loop {
            let (due, is_over) = {
                let queue = self.queue.read();
                (queue.base_due(), queue.is_closed || queue.failed.is_some())
            };
            if is_over {
                return;
            }
            let Some(segments) = due else {
                park();
                continue;
            };
            match self.make_base(&segments) {
                Ok(()) | Err(MergeError::Stopped(_)) => {}
                // The log goes on without it, and the next sealed segment is a reason to try again.
                Err(MergeError::Base(BaseError::Unreadable(_, error))) if is_full(&error) => {
                    park();
                }
                Err(
                    error @ (MergeError::Base(BaseError::Damaged(..))
                    | MergeError::Wal(WalError::Damaged(_))),
                ) => return self.stop_for_damage(&error.to_string()),
                Err(error) => return self.fail(&error.to_string()),
            }
        }
    }

    /// Makes the base that holds these segments, which follow on the base that is there.
    fn make_base(&self, sealed: &[SealedSegment]) -> Result<(), MergeError> {
        let Some(upto) = sealed.last().map(|segment| segment.last) else {
            return Ok(());
        };
        let _alone = schedule::lock(&self.making_base);
        let Some(base) = self.base.lock().clone() else {
            return Ok(());
        };
        let made = if upto > base.summary.version {
            schedule::lock(&self.kept_values).begin_base();
            Some(self.write_base(&base, sealed, upto)?)
        } else {
            // Starts without a write left segments without a frame.
            None
        };
        let summary = made.as_ref().map_or(base.summary, |made| made.summary);
        self.queue.write().base_made(summary);
        if let Some(made) = made {
            *self.base.lock() = Some(made);
            // Only now, with the name of the new one on disk.
            let removed = self.disk.remove(&base.path);
            removed.map_err(|error| BaseError::Unreadable(base.path, error))?;
            self.delete_unnamed(summary.version)?;
        }
        for segment in sealed {
            let added = self.spares.add(&*self.disk, &segment.path);
            added.map_err(|error| WalError::Unreadable(segment.path.clone(), error))?;
        }
        Ok(())
    }

    /// Deletes the replaced values that no base names any more, now that there is one of this version.
    fn delete_unnamed(&self, base: Version) -> Result<(), MergeError> {
        let Some(value_log) = &self.value_log else {
            return Ok(());
        };
        let mut kept = schedule::lock(&self.kept_values);
        let gone = kept.let_go(base);
        // All that the base names came before this.
        kept.known_up_to(self.queue.read().last);
        kept.note(&*self.disk);
        drop(kept);
        let deleted = value_log.delete(&gone);
        deleted.map_err(|error| MergeError::Values(error.to_string()))
    }

    /// Writes the base of all rows up to a version, which these segments end with.
    fn write_base(
        &self,
        base: &Base,
        sealed: &[SealedSegment],
        upto: Version,
    ) -> Result<Base, MergeError> {
        let mut segments = Segment::all(&*self.disk, &self.directory)?;
        segments.retain(|segment| sealed.iter().any(|sealed| sealed.path == segment.path));
        let index = LogIndex::read(segments, base.summary.version, upto, u64::MAX)?;
        if index.end.last != upto {
            return Err(WalError::Damaged("has lost frames before others").into());
        }
        let created = BaseWriter::create(&*self.disk, &self.directory, upto, index.time);
        let mut writer =
            created.map_err(|error| BaseError::Unreadable(base.path.clone(), error))?;
        let written = self.write_rows(&mut writer, index.merge(Some(base)));
        if let Err(error) = written {
            writer.abandon();
            return Err(error);
        }
        Ok(writer.finish()?)
    }

    fn write_rows(
        &self,
        writer: &mut BaseWriter<'_>,
        rows: impl Iterator<Item = Result<(bytes::Bytes, MergedRow), MergeError>>,
    ) -> Result<(), MergeError> {
        for (at, row) in rows.enumerate() {
            let (key, row) = row?;
            if at % ROWS_TOGETHER == 0 && self.queue.read().is_closed {
                return Err(MergeError::Stopped("the store was closed".into()));
            }
            let added = match row {
                MergedRow::Based(stored) => writer.add(&key, &stored),
                MergedRow::Logged(version, value) => {
                    let pointer = self.pointer(&key, version, &value);
                    writer.add(&key, &Row::write(version, &value, pointer))
                }
            };
            added.map_err(|error| BaseError::Unreadable(self.directory.clone(), error))?;
        }
        Ok(())
    }

    /// The name under which the value log keeps a value of the log. None if it does not, or the tree names another one by now: such a value
    /// stands in the base itself, so that nothing rests on what the tree says.
    fn pointer(&self, key: &[u8], version: Version, value: &bytes::Bytes) -> Option<BlobId> {
        let value_log = self.value_log.as_ref().filter(|value_log| value_log.is_long(value))?;
        let stored = self.tree.get(key).ok().flatten()?;
        match Row::read(stored) {
            Ok(Row::Pointer(of, name)) if of == version => {
                let kept = value_log.get(name).ok().flatten();
                (kept.as_ref() == Some(value)).then_some(name)
            }
            _ => None,
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
