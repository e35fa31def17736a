//! The schedule of scheduled videos: when the next becomes public, so that not every request has to ask the store.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use triptych_core::time::Timestamp;

/// Microseconds after which the store is asked again, since an embedder may write to it as well.
const MICROS_MAX: i64 = 1_000_000;

/// The schedule, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    /// Number of requests that may have changed it.
    changes: AtomicU64,
    known: Mutex<Option<Quiet>>,
}

/// A time in which nothing becomes public.
#[derive(Debug, Clone, Copy)]
struct Quiet {
    /// The changes that were known of.
    changes: u64,
    from: Timestamp,
    /// The first moment after it.
    until: Timestamp,
}

/// A change of the schedule that is under way.
#[derive(Debug)]
pub(super) struct Change<'s>(&'s Schedule);

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.0.changes.fetch_add(1, Ordering::AcqRel);
    }
}

impl Schedule {
    /// Begins a change, which ends when this is dropped, even where its request was given up: what was committed stays.
    pub(super) const fn change(&self) -> Change<'_> {
        Change(self)
    }

    /// Tells whether something is due; `next` asks the store for the next moment.
    pub(super) fn is_due<E>(
        &self,
        now: Timestamp,
        next: impl FnOnce() -> Result<Option<Timestamp>, E>,
    ) -> Result<bool, E> {
        let changes = self.changes.load(Ordering::Acquire);
        let known = *self.known.lock();
        let is_quiet =
            |quiet: Quiet| quiet.changes == changes && (quiet.from..quiet.until).contains(&now);
        if known.is_some_and(is_quiet) {
            return Ok(false);
        }
        let next = next()?;
        if next.is_some_and(|next| next <= now) {
            return Ok(true);
        }
        let until = Timestamp::from_micros(now.micros().saturating_add(MICROS_MAX));
        let until = next.map_or(until, |next| next.min(until));
        let from = now;
        let quiet = Quiet { changes, from, until };
        *self.known.lock() = Some(quiet);
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[test]
    fn the_store_is_asked_once_until_a_change_or_the_next_moment() {
        let schedule = Schedule::default();
        let at = |millis| Timestamp::from_millis(millis);
        let mut request = 0;
        let mut is_due = |now: i64, next: Option<i64>| {
            let next = || {
                request += 1;
                Ok::<_, Infallible>(next.map(at))
            };
            let due = schedule.is_due(at(now), next).unwrap();
            (due, request)
        };
        assert_eq!(is_due(1_000, None), (false, 1));
        assert_eq!(is_due(1_999, None), (false, 1));
        assert_eq!(is_due(2_000, Some(2_300)), (false, 2));
        assert_eq!(is_due(2_299, Some(2_300)), (false, 2));
        assert_eq!(is_due(2_300, Some(2_300)), (true, 3));
        assert_eq!(is_due(2_300, None), (false, 4));
        assert_eq!(is_due(500, None), (false, 5), "the clock was set back");
        drop(schedule.change());
        assert_eq!(is_due(500, Some(400)), (true, 6));
    }
}
