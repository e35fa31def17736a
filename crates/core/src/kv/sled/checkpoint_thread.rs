//! The thread of the tree: brings what the journal holds into sled and its file on disk, layer by layer, so that the journal can begin anew.

use std::panic::AssertUnwindSafe;
use std::sync::PoisonError;

use super::memtable::{Next, Rows};
use super::value_log::{LastVersion, Row};
use super::{Shared, VERSION_KEY, Values, Version, now};
use crate::blobs::BlobId;

/// Rows of a batch of the tree. Each row that sled takes replaces a page, and nothing of that is freed before its batch has ended: with
/// batches of up to 4 MiB a load of 200,000 videos took 1.2 GiB, with these 0.7.
const ROWS_TOGETHER: usize = 256;
/// Rounds of crossbeam's collector that free what such a batch replaced: it looks at a few bags of 64 in each.
const ROUNDS: usize = 16;

/// Frees what a batch replaced. sled leaves that to the collector, which works when somebody pins: one batch pins once, so that without this
/// the garbage of a long load grows without bound (5 GiB for a million rows).
fn collect() {
    for _ in 0..ROUNDS {
        crossbeam_epoch::pin().flush();
    }
}

impl Shared {
    /// Layers in order, until the journal's thread has ended or the disk fails.
    pub(super) fn apply_layers(&self) {
        let mut replaced = Vec::new();
        loop {
            let next = self.write().next_layer(now());
            let layer = match next {
                Next::Apply(layer) => layer,
                Next::Wait(None) => {
                    std::thread::park();
                    continue;
                }
                Next::Wait(Some(time)) => {
                    std::thread::park_timeout(time);
                    continue;
                }
                Next::End => return,
            };
            let applied = self
                .apply(&layer.rows, layer.last, &mut replaced)
                .and_then(|()| self.bury(&mut replaced));
            if self.unless_failed(applied).is_none() {
                return;
            }
            drop(layer);
            self.write().drop_layer();
            self.wake_journal();
            collect();
        }
    }

    /// Brings rows into sled and its file on disk, their long values before them. What they replace joins `replaced`.
    ///
    /// Nothing depends on these rows coming together: until all are there the journal has them, and readers see them beside the tree.
    pub(super) fn apply(
        &self,
        rows: &Rows,
        last: Version,
        replaced: &mut Vec<BlobId>,
    ) -> Result<(), String> {
        let mut names = Vec::new();
        if let Some(values) = &self.values {
            names = values.put(rows, last).map_err(|error| error.to_string())?;
            self.find_replaced(rows, replaced)?;
        }
        let applied = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let applying = self.applying.write().unwrap_or_else(PoisonError::into_inner);
            self.insert(rows, names, last, replaced)?;
            self.row_cache.invalidate(rows);
            drop(applying);
            self.tree.flush()
        }));
        match applied {
            Ok(Ok(_)) => self.sync_tree(),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the engine panicked".into()),
        }
    }

    /// The long values that rows of the tree name and these rows replace.
    pub(super) fn find_replaced(
        &self,
        rows: &Rows,
        replaced: &mut Vec<BlobId>,
    ) -> Result<(), String> {
        for key in rows.keys() {
            let old = self.tree.get(key).map_err(|error| error.to_string())?;
            let old = old.as_deref().map(Row::read).transpose();
            if let Some(Row::Elsewhere(_, name)) = old.map_err(|error| error.to_string())? {
                replaced.push(name);
            }
        }
        Ok(())
    }

    /// Hands rows to sled, some at a time, the last version with the last of them.
    pub(super) fn insert(
        &self,
        rows: &Rows,
        names: Vec<BlobId>,
        last: Version,
        replaced: &[BlobId],
    ) -> sled::Result<()> {
        let mut names = names.into_iter();
        let mut batch = sled::Batch::default();
        if rows.len() > ROWS_TOGETHER {
            // A row that is there no longer tells what it replaced.
            let before = self.read().applied;
            batch.insert(VERSION_KEY, LastVersion::write(before, replaced));
        }
        for (number, (key, (value, version))) in (1..).zip(rows) {
            match value {
                Some(value) => {
                    let values = self.values.as_ref();
                    let is_long = values.is_some_and(|values| values.is_long(value));
                    let name = if is_long { names.next() } else { None };
                    batch.insert(key.as_ref(), Row::write(*version, value, name));
                }
                None => batch.remove(key.as_ref()),
            }
            if number % ROWS_TOGETHER == 0 {
                self.tree.apply_batch(std::mem::take(&mut batch))?;
                collect();
            }
        }
        batch.insert(VERSION_KEY, LastVersion::write(last, replaced));
        self.tree.apply_batch(batch)
    }

    fn sync_tree(&self) -> Result<(), String> {
        #[cfg(feature = "testing")]
        if self.sync_is_left_out {
            return Ok(());
        }
        self.file.sync_data().map_err(|error| error.to_string())
    }

    /// Gives back the space of replaced values, once what replaced them is on disk and they are many.
    fn bury(&self, replaced: &mut Vec<BlobId>) -> Result<(), String> {
        if let Some(values) = &self.values
            && Values::is_burial_due(replaced)
        {
            values.bury(replaced).map_err(|error| error.to_string())?;
            replaced.clear();
        }
        Ok(())
    }
}
