//! The thread of the tree: brings what the journal holds into sled and its file on disk, layer by layer, so that the journal can begin anew.

use std::panic::AssertUnwindSafe;
use std::sync::PoisonError;

use super::values::{LastVersion, Row};
use super::waiting::{Next, Rows};
use super::{Shared, VERSION_KEY, Values, Version, now};
use crate::blobs::BlobId;

/// What crossbeam's collector keeps together.
const BAG: usize = 64;
/// Rows that are written before what they replaced is freed: often enough for a few MiB of garbage, seldom enough to cost nobody time.
const COLLECTED_TOGETHER: usize = 1_024;

/// Frees what a batch of so many rows replaced. sled leaves that to crossbeam's collector, which looks at a few bags of 64 now and then, when
/// somebody pins: one batch pins once, so that without this the garbage of a long load grows without bound (5 GiB for a million rows).
fn collect(rows: usize) {
    for _ in 0..rows / BAG + 4 {
        crossbeam_epoch::pin().flush();
    }
}

impl Shared {
    /// Layers in order, until the journal's thread has ended or the disk fails.
    pub(super) fn apply_layers(&self) {
        let mut replaced = Vec::new();
        let mut uncollected = 0;
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
            uncollected += layer.rows.len();
            drop(layer);
            self.write().drop_layer();
            self.wake_journal();
            if uncollected >= COLLECTED_TOGETHER {
                collect(std::mem::take(&mut uncollected));
            }
        }
    }

    /// Brings rows into sled and its file on disk, their long values before them. What they replace joins `replaced`.
    pub(super) fn apply(
        &self,
        rows: &Rows,
        last: Version,
        replaced: &mut Vec<BlobId>,
    ) -> Result<(), String> {
        let mut names = Vec::new();
        if let Some(values) = &self.values {
            names = values.put(rows, last).map_err(|error| error.to_string())?;
            for key in rows.keys() {
                let old = self.tree.get(key).map_err(|error| error.to_string())?;
                let old = old.as_deref().map(Row::read).transpose();
                if let Some(Row::Elsewhere(_, name)) = old.map_err(|error| error.to_string())? {
                    replaced.push(name);
                }
            }
        }
        let mut names = names.into_iter();
        let mut batch = sled::Batch::default();
        for (key, (value, version)) in rows {
            match value {
                Some(value) => {
                    let values = self.values.as_ref();
                    let is_long = values.is_some_and(|values| values.is_long(value));
                    let name = if is_long { names.next() } else { None };
                    batch.insert(key.as_ref(), Row::write(*version, value, name));
                }
                None => batch.remove(key.as_ref()),
            }
        }
        batch.insert(VERSION_KEY, LastVersion::write(last, replaced));
        let applied = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let applying = self
                .applying
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            self.tree.apply_batch(batch)?;
            self.cache.forget(rows);
            drop(applying);
            self.tree.flush()
        }));
        match applied {
            Ok(Ok(_)) => self.sync_tree(),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the engine panicked".into()),
        }
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
