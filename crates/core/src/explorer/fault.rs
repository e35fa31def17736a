//! The injector: the n-th call of a kind fails, while the stores run or while they start, once or from then on.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::workload::{Life, Moment, Stores, Workload};
use super::{Finding, check, restarted};
use crate::disk::simulated::{CallKind, CallOutcome, SimulatedDisk};

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

/// Errors that calls fail with.
const KINDS: [io::ErrorKind; 2] = [io::ErrorKind::Other, io::ErrorKind::StorageFull];

/// Lets the calls of each kind fail, one in `every` of them, and looks after each at the restarted process and at a cut.
///
/// # Errors
/// The first [`Finding`].
pub fn inject(seed: u64, workload: Workload, every: u64) -> Result<FaultReport, Box<Finding>> {
    let mut report = FaultReport::default();
    for kind in CallKind::ALL {
        for (number, with) in (0_u64..).zip(KINDS) {
            for stays in [false, true] {
                let mut at = seed % every;
                while run(seed + number, workload, kind, at, with, stays, &mut report)? {
                    at += every;
                }
            }
        }
        let mut at = seed % every;
        while start(seed, workload, kind, at, &mut report)? {
            at += every;
        }
    }
    Ok(report)
}

/// The same disk, whose call of this number and kind fails, and those behind it if that stays.
fn failing(
    disk: &SimulatedDisk,
    kind: CallKind,
    at: u64,
    with: io::ErrorKind,
    stays: bool,
    moment: &Arc<AtomicU64>,
) -> (SimulatedDisk, Arc<AtomicU64>) {
    let (calls, met) = (AtomicU64::new(0), Arc::new(AtomicU64::new(0)));
    let (counted, marked) = (Arc::clone(&met), Arc::clone(moment));
    let on_call = move |called: CallKind, _: &Path| {
        if called != kind {
            return CallOutcome::Made;
        }
        let number = calls.fetch_add(1, Ordering::SeqCst);
        if number == at || (stays && number > at) {
            counted.fetch_add(1, Ordering::SeqCst);
            return CallOutcome::Fails(with);
        }
        CallOutcome::Made
    };
    (disk.watched(on_call, move || marked.load(Ordering::SeqCst)), met)
}

/// One fault while the stores run; tells whether there was such a call.
fn run(
    seed: u64,
    workload: Workload,
    kind: CallKind,
    at: u64,
    with: io::ErrorKind,
    stays: bool,
    report: &mut FaultReport,
) -> Result<bool, Box<Finding>> {
    let told = |what: String| {
        let what = format!("{kind:?} number {at} fails with {with}: {what}");
        Box::new(Finding { seed, state: at, what, lost: Vec::new() })
    };
    let (disk, moment) = (SimulatedDisk::new(), Arc::new(AtomicU64::new(0)));
    let (faulty, met) = failing(&disk, kind, at, with, stays, &moment);
    let Ok(lived) = Life::first(seed, workload).live(&faulty, &moment) else {
        // It met the first start, of which nothing is known but that the next one goes on.
        report.refused += 1;
        Stores::open(&restarted(&faulty.picture()), 1).map_err(told)?;
        return Ok(true);
    };
    let picture = faulty.picture();
    let now = Moment::of(picture.mark);
    check::look(&restarted(&picture), &lived, now, false).map_err(told)?;
    for cut in 0..2 {
        let left = picture.after(&picture.cut(seed << 8 | cut));
        check::look(&left, &lived, now, true).map_err(told)?;
    }
    let was_met = met.load(Ordering::SeqCst) > 0;
    report.at_run += u64::from(was_met);
    Ok(was_met)
}

/// One fault while they start on what a kill has left; tells whether there was such a call.
fn start(
    seed: u64,
    workload: Workload,
    kind: CallKind,
    at: u64,
    report: &mut FaultReport,
) -> Result<bool, Box<Finding>> {
    let told = |what: String| {
        let what = format!("{kind:?} number {at} of a start fails: {what}");
        Box::new(Finding { seed, state: at, what, lost: Vec::new() })
    };
    let moment = Arc::new(AtomicU64::new(0));
    let disk = SimulatedDisk::new();
    let watched = disk.watched(|_, _| CallOutcome::Made, {
        let moment = Arc::clone(&moment);
        move || moment.load(Ordering::SeqCst)
    });
    let lived = Life::first(seed, workload).live(&watched, &moment).map_err(told)?;
    let picture = watched.picture();
    let now = Moment::of(picture.mark);
    // A cut before it, so that the tree is filled anew.
    let left = picture.after(&picture.cut(seed));
    let (faulty, met) = failing(&left, kind, at, io::ErrorKind::Other, false, &moment);
    report.refused += u64::from(Stores::open(&faulty, 2).is_err());
    check::look(&restarted(&faulty.picture()), &lived, now, true).map_err(told)?;
    let again = left.picture();
    check::look(&again.after(&again.cut(seed)), &lived, now, true).map_err(told)?;
    let was_met = met.load(Ordering::SeqCst) > 0;
    report.at_start += u64::from(was_met);
    Ok(was_met)
}
