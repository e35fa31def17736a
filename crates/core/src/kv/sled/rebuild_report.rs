//! The reasons for which a tree is filled anew, and how far that is.

use std::time::{Duration, Instant};

use super::now;

/// Reasons for which the tree is filled anew from the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildReason {
    /// It was asked for.
    #[error("it was asked for")]
    Asked,
    /// The machine was started again, or the directory copied, and nobody had closed the store.
    #[error("it was not closed before the machine stopped, or this is a copy of a store that ran")]
    Restarted,
    /// An earlier run met a fault, or was filling the index itself, or there is no index.
    #[error("it was not whole, or the disk had failed")]
    Unknown,
    /// Its files cannot be read, or make no sense to sled.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// There is none, or one of another kind than is asked for.
    #[error("there is none of the kind that is asked for")]
    Absent,
    /// It names a version that the log does not.
    #[error("it is not at a version that the log knows")]
    Version,
}

/// The progress of a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RebuildProgress {
    /// Rows that are there.
    pub rows: u64,
    /// The most that there will be.
    pub rows_most: u64,
    /// Seconds until they are there, if the rest takes as long as these.
    pub seconds_left: u64,
}

/// Time between two reports.
const REPORTED_EVERY: Duration = Duration::from_secs(1);

/// Tells of a rebuild now and then.
pub(super) struct Report<'r> {
    reason: &'r RebuildReason,
    tell: Option<fn(&RebuildReason, RebuildProgress)>,
    rows_most: u64,
    begun: Instant,
    told: Instant,
}

impl<'r> Report<'r> {
    /// Begins one, and tells of it.
    pub(super) fn begin(
        reason: &'r RebuildReason,
        tell: Option<fn(&RebuildReason, RebuildProgress)>,
        rows_most: u64,
    ) -> Self {
        let report = Self { reason, tell, rows_most, begun: now(), told: now() };
        report.tell(0);
        report
    }

    /// Tells how many rows are there.
    pub(super) fn tell(&self, rows: u64) {
        if let Some(tell) = self.tell {
            let left = self.rows_most.saturating_sub(rows);
            let seconds_left = self.begun.elapsed().as_secs().saturating_mul(left) / rows.max(1);
            tell(self.reason, RebuildProgress { rows, rows_most: self.rows_most, seconds_left });
        }
    }

    /// Tells how many rows are there, if it is time.
    pub(super) fn rows(&mut self, rows: u64) {
        if self.told.elapsed() >= REPORTED_EVERY {
            self.told = now();
            self.tell(rows);
        }
    }
}
