//! Timers: what the browser does by itself after a while.

use std::collections::BTreeMap;

use triptych_core::time::Timestamp;

use crate::id::{TabId, WindowId};

/// Something that the browser does by itself after a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Timer {
    /// A tab of a collapsed group freezes.
    Freeze(TabId),
    /// A page that comes out of the back/forward cache shows that it was frozen there, and no longer is.
    PageRestored { tab: TabId, load: u64, frozen: bool },
    /// The icon of a page that has another address now was asked for anew.
    IconFetched { tab: TabId, load: u64 },
    /// The first page of a tab is read so far that it takes what waited for it.
    Awaited(TabId),
    /// The page of a frozen tab runs again.
    Run(TabId),
    /// Its tab shows that it is no longer frozen.
    Unfreeze(TabId),
    /// The page of a tab that closes has done what it does as it is left.
    Left(TabId),
    /// The pages of a window that closes have done so too.
    WindowLeft(WindowId),
    /// The next page of a window that was brought back loads.
    BackgroundLoad,
    /// A sound has lasted for long enough, or a silence.
    Sound { tab: TabId, sound: u64 },
}

/// Timers by the time at which they fire, and of one time by the order in which they were set.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeMap<(Timestamp, u64), Timer>);

impl Timers {
    pub(super) fn set(&mut self, due: Timestamp, number: u64, timer: Timer) {
        self.0.insert((due, number), timer);
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.0.keys().next().map(|(due, _)| *due)
    }

    /// Takes the first timer that is due at `now`.
    pub(super) fn pop_due(&mut self, now: Timestamp) -> Option<Timer> {
        let first = self.0.first_entry().filter(|entry| entry.key().0 <= now)?;
        Some(first.remove())
    }
}
