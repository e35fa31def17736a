//! The injector: the n-th call of a kind fails, while the stores run or while they start, once or from then on.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

use super::life::{Life, Mark, Moment};
use super::{Finding, in_turns, restarted};
use crate::disk::simulated::{CallKind, CallOutcome, SimulatedDisk};
use crate::id::Ids;

/// Counts of an injection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FaultReport {
    /// Faults that were met while the stores ran.
    pub at_run: u64,
    /// Faults that were met while they started.
    pub at_start: u64,
    /// Starts that were refused for one.
    pub refused: u64,
}

impl std::fmt::Display for FaultReport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at_run, at_start, refused } = self;
        write!(
            f,
            "{at_run} faults at run and {at_start} at start lost nothing, {refused} starts were refused for one"
        )
    }
}

/// The errors that a call of a kind fails with. One that comes short has moved a part before it fails: of a write, half is there.
const fn errors(kind: CallKind) -> [Errno; 2] {
    match kind {
        CallKind::Open | CallKind::SyncDirectory | CallKind::List => [Errno::IO, Errno::MFILE],
        CallKind::Create => [Errno::NOSPC, Errno::MFILE],
        _ => [Errno::IO, Errno::NOSPC],
    }
}

/// A call that fails.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    kind: CallKind,
    at: u64,
    with: Errno,
    /// Set if those behind it fail as well.
    stays: bool,
}

/// Calls of a kind among which the one is that a seed has fail.
const DRAWN_CALLS: u64 = 400;
/// Of the syncs of a run so many times more fail than of other calls: they are few, and no other fault takes what was written before it.
const SYNC_FAULTS_FACTOR: u64 = 16;

impl Fault {
    /// A fault that `chance` draws.
    pub(super) fn drawn(chance: &mut impl Ids) -> Option<Self> {
        let kinds = CallKind::ALL;
        let kind = kinds.get(chance.next() as usize % kinds.len()).copied()?;
        let with = errors(kind).get(chance.next() as usize % 2).copied()?;
        let at = chance.next() % DRAWN_CALLS;
        Some(Self { kind, at, with, stays: chance.next().is_multiple_of(2) })
    }

    /// The error of a call, if it is to fail; `calls` counts those of the kind.
    pub(super) fn of(self, kind: CallKind, calls: &AtomicU64) -> Option<Errno> {
        if kind != self.kind {
            return None;
        }
        let number = calls.fetch_add(1, Ordering::SeqCst);
        (number == self.at || (self.stays && number > self.at)).then_some(self.with)
    }
}

impl FaultReport {
    /// The seeds of the lives of an injection: one for each error.
    pub(super) fn seeds(seed: u64) -> impl Iterator<Item = u64> {
        (seed..).take(errors(CallKind::Read).len())
    }
}

/// Lives the lives that begin with `first` of a seed, lets the calls of each kind fail in them, one in `every` of them and more of the syncs, and looks after each at the restarted process and at a cut.
///
/// # Errors
/// The first [`Finding`].
pub fn inject<L: Life>(
    seed: u64,
    every: u64,
    first: impl Fn(u64) -> L,
) -> Result<FaultReport, Box<Finding>> {
    let mut report = FaultReport::default();
    for kind in CallKind::ALL {
        let every_at_run =
            if kind == CallKind::Sync { every.div_ceil(SYNC_FAULTS_FACTOR) } else { every };
        for (number, with) in (0_u64..).zip(errors(kind)) {
            for stays in [false, true] {
                let mut at = seed % every_at_run;
                while in_turns::<L, _>(seed + number, || {
                    run((seed + number, &first), kind, at, with, stays, &mut report)
                })? {
                    at += every_at_run;
                }
            }
        }
        for with in errors(kind) {
            let mut at = seed % every;
            while in_turns::<L, _>(seed, || start((seed, &first), kind, at, with, &mut report))? {
                at += every;
            }
        }
    }
    Ok(report)
}

/// The same disk, whose call of this number and kind fails, and those behind it if that stays.
fn failing(disk: &SimulatedDisk, fault: Fault, mark: &Mark) -> (SimulatedDisk, Arc<AtomicU64>) {
    let (calls, met) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let (counted, marked) = (Arc::clone(&met), mark.clone());
    let on_call = move |called: CallKind, _: &Path| {
        fault.of(called, &calls).map_or(CallOutcome::Made, |with| {
            counted.fetch_add(1, Ordering::SeqCst);
            CallOutcome::Fails(with)
        })
    };
    (disk.watched(on_call, move || marked.number()), met)
}

/// One fault while the stores run; tells whether there was such a call.
fn run<L: Life>(
    (seed, first): (u64, &impl Fn(u64) -> L),
    kind: CallKind,
    at: u64,
    with: Errno,
    stays: bool,
    report: &mut FaultReport,
) -> Result<bool, Box<Finding>> {
    let told = |what: String| {
        let what = format!("{kind:?} number {at} fails with {with}: {what}");
        Box::new(Finding { seed, state: at, what, lost: Vec::new() })
    };
    let (disk, mark) = (SimulatedDisk::new(), Mark::default());
    let (faulty, met) = failing(&disk, Fault { kind, at, with, stays }, &mark);
    let Ok(lived) = first(seed).live(&faulty, &mark) else {
        // It met the first start, of which nothing is known but that the next one goes on.
        report.refused += 1;
        L::start(&restarted(&faulty.picture()), 1).map_err(told)?;
        return Ok(true);
    };
    let picture = faulty.picture();
    let now = Moment::of(picture.mark);
    L::look(&restarted(&picture), &lived, now, false).map_err(told)?;
    for cut in 0..2 {
        let left = picture.after(&picture.cut(seed << 8 | cut));
        L::look(&left, &lived, now, true).map_err(told)?;
    }
    let was_met = met.load(Ordering::SeqCst) > 0;
    report.at_run += u64::from(was_met);
    Ok(was_met)
}

/// One fault while they start on what a kill has left; tells whether there was such a call.
fn start<L: Life>(
    (seed, first): (u64, &impl Fn(u64) -> L),
    kind: CallKind,
    at: u64,
    with: Errno,
    report: &mut FaultReport,
) -> Result<bool, Box<Finding>> {
    let told = |what: String| {
        let what = format!("{kind:?} number {at} of a start fails with {with}: {what}");
        Box::new(Finding { seed, state: at, what, lost: Vec::new() })
    };
    let mark = Mark::default();
    let disk = SimulatedDisk::new();
    let watched = disk.watched(|_, _| CallOutcome::Made, {
        let mark = mark.clone();
        move || mark.number()
    });
    let lived = first(seed).live(&watched, &mark).map_err(told)?;
    let picture = watched.picture();
    let now = Moment::of(picture.mark);
    // A cut before it, so that the tree is filled anew.
    let left = picture.after(&picture.cut(seed));
    let (faulty, met) = failing(&left, Fault { kind, at, with, stays: false }, &mark);
    report.refused += u64::from(L::start(&faulty, 2).is_err());
    L::look(&restarted(&faulty.picture()), &lived, now, true).map_err(told)?;
    let again = left.picture();
    L::look(&again.after(&again.cut(seed)), &lived, now, true).map_err(told)?;
    let was_met = met.load(Ordering::SeqCst) > 0;
    report.at_start += u64::from(was_met);
    Ok(was_met)
}
