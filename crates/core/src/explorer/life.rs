//! A life on a simulated disk: what is done in it, and the look at what a kill or a cut left of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::simulated::SimulatedDisk;

/// Something that keeps what it acknowledges on a disk, from a start to its end.
pub trait Life: Sized {
    /// The life that was lived, with every state in which it may be found.
    type Lived;

    /// Set if all its threads take turns that the seed draws: none waits for anything but the disk and another of them.
    const TAKES_TURNS: bool;

    /// Lives it, and sets `mark` before and after each step. A step that is refused ends it, which a fault may want.
    ///
    /// # Errors
    /// It does not start, or does what it never may.
    fn live(self, disk: &SimulatedDisk, mark: &Mark) -> Result<Self::Lived, String>;

    /// Starts on what is there, in this run of the machine, and ends at once.
    ///
    /// # Errors
    /// It does not start.
    fn start(disk: &SimulatedDisk, run_of_machine: u64) -> Result<(), String>;

    /// Starts on what a kill or a cut at `moment` left, and compares it with what was lived; gives the life that goes on from there.
    ///
    /// # Errors
    /// The fault that was found.
    fn look(
        disk: &SimulatedDisk,
        lived: &Self::Lived,
        moment: Moment,
        is_cut: bool,
    ) -> Result<Self, String>;
}

/// A moment of a life: the steps that were acknowledged as on disk, those that were acknowledged at all, and those that were begun.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Steps that no cut may take.
    pub on_disk: usize,
    /// Steps that no kill may take.
    pub acknowledged: usize,
    /// Steps of which anything may be there.
    pub begun: usize,
}

/// The moment that pictures of a disk bear.
#[derive(Debug, Clone, Default)]
pub struct Mark(Arc<AtomicU64>);

const BITS: u32 = 20;

impl Moment {
    /// The moment of a picture's mark.
    #[must_use]
    pub const fn of(mark: u64) -> Self {
        const fn part(mark: u64, number: u32) -> usize {
            (mark >> (number * BITS) & ((1 << BITS) - 1)) as usize
        }
        Self { on_disk: part(mark, 0), acknowledged: part(mark, 1), begun: part(mark, 2) }
    }

    /// The steps of the oldest state that may be found.
    #[must_use]
    pub const fn least(self, is_cut: bool) -> usize {
        if is_cut { self.on_disk } else { self.acknowledged }
    }
}

impl Mark {
    /// Pictures bear `now` from here on.
    pub fn set(&self, now: Moment) {
        let [on_disk, acknowledged, begun] =
            [now.on_disk, now.acknowledged, now.begun].map(|part| part as u64);
        self.0.store(on_disk | acknowledged << BITS | begun << (2 * BITS), Ordering::SeqCst);
    }

    /// The number of the moment.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}
