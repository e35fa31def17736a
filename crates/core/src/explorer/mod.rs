//! The explorer of crash states: stores, or a service on them, run on a simulated disk, pictures of it are taken at any call, and each picture is
//! ended by a kill or a power cut that a seed chooses. Whatever is left must open, hold all that was acknowledged and nothing that never was, and
//! go on.

mod check;
mod fault;
mod life;
mod missing_sync;
mod process;
mod service;
mod simulation;
mod stores;
mod workload;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use self::fault::Fault;
pub use self::fault::{FaultReport, inject};
pub use self::life::{Life, Mark, Moment};
pub use self::missing_sync::{MissingSync, SYNCS};
pub use self::process::{
    Content, End, Ended, Micros, ProcessExplored, RecordedLife, Recording, Trace, explore_process,
};
pub use self::service::{Seen, ServiceLife, Subject, explore_service, inject_service};
pub use self::simulation::{Simulated, Simulation, simulate};
pub use self::stores::Stores;
pub use self::workload::{StoreLife, Workload};
use crate::disk::simulated::{
    CallKind, CallOutcome, Choice, CrashPlan, Picture, SimulatedDisk, Survival,
};
use crate::id::{Ids, SeededIds};
use crate::schedule::simulated;

/// Pictures of a first life at the most.
const PICTURES_MAX: u64 = 12;
/// Pictures of a second life at the most: what it can show that a first cannot, it shows soon.
const SECOND_PICTURES_MAX: u64 = 2;
/// States that each picture is ended in, but for the kill.
const CUTS: u64 = 3;
/// Lives whose seed is a multiple of this are on a disk whose syncs of the tree and of bases are slow, at the most by so many calls.
const SLOW_LIVES: u64 = 3;
const SLOW_CALLS_MAX: u64 = 200;
/// A picture is taken so many calls after a slow one was begun.
const SLOW_CALLS_PICTURED: u64 = 3;
/// One in so many states is lived on in, and ended again.
const SECOND_LIVES: u64 = 4;

/// The work of an exploration.
#[derive(Debug, Clone)]
pub struct Exploration {
    /// The seed of its first run; the next run has the next one.
    pub seed: u64,
    /// States to look at.
    pub states: u64,
    /// The sync that is left out, to show that it is missed.
    pub without: Option<MissingSync>,
}

/// The outcome of an exploration that found nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Explored {
    /// Runs of the workload.
    pub runs: u64,
    /// States that were opened and compared.
    pub states: u64,
    /// Of these, second ends of a store that lived on.
    pub second_lives: u64,
    /// Changes that were not on disk when these states were left.
    pub pending_changes: u64,
    /// Of these states, those of a moment at which a sync of the tree or of a base was held up.
    pub slow_syncs: u64,
}

impl std::fmt::Display for Explored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { runs, states, second_lives, pending_changes, slow_syncs } = self;
        write!(
            f,
            "{states} states of {runs} runs lost nothing, {second_lives} of them of a second life and {slow_syncs} while a sync was slow, with {pending_changes} changes that were not on disk"
        )
    }
}

/// A state in which something is lost, partial or does not open.
#[derive(Debug, Clone, thiserror::Error)]
#[error("seed {seed}, state {state}: {what}{}", shown(.lost))]
pub struct Finding {
    /// The seed of the run.
    pub seed: u64,
    /// The number of the state, of all that were looked at.
    pub state: u64,
    /// The fault.
    pub what: String,
    /// The changes that have to be lost for it, as few as were found.
    pub lost: Vec<Choice>,
}

fn shown(lost: &[Choice]) -> String {
    lost.iter().map(|choice| format!("\n  {:?}: {}", choice.survival, choice.change)).collect()
}

/// Looks at states of lives that begin with `first` of a seed, until there are enough.
///
/// # Errors
/// The first [`Finding`], with the fewest changes that have to be lost for it.
pub fn explore<L: Life>(
    exploration: &Exploration,
    first: impl Fn(u64) -> L,
) -> Result<Explored, Box<Finding>> {
    let mut explored = Explored::default();
    for seed in exploration.seed.. {
        if explored.states >= exploration.states {
            break;
        }
        explored.runs += 1;
        let stage = Stage::First { fault: None, pictures: PICTURES_MAX };
        let found = in_turns::<L, _>(seed, || {
            run(&SimulatedDisk::new(), first(seed), exploration, seed, &stage, &mut explored)
        });
        // That of a second life is drawn within its run.
        found.map_err(|finding| Box::new(Finding { seed, ..*finding }))?;
    }
    Ok(explored)
}

/// Has threads take their turns as the seed draws them, where the lives allow it.
fn in_turns<L: Life, T>(seed: u64, work: impl FnOnce() -> T) -> T {
    if L::TAKES_TURNS { simulated(seed, work).0 } else { work() }
}

/// A life's place among those of a run.
enum Stage {
    /// It begins on an empty disk, a call to which may fail, and of which so many pictures are taken.
    First { fault: Option<Fault>, pictures: u64 },
    /// It goes on after another.
    Second,
}

/// One life of a store, and the ends of its pictures.
fn run<L: Life>(
    disk: &SimulatedDisk,
    life: L,
    exploration: &Exploration,
    seed: u64,
    stage: &Stage,
    explored: &mut Explored,
) -> Result<(), Box<Finding>> {
    let state = explored.states;
    let finding = |what: String, lost| Box::new(Finding { seed, state, what, lost });
    let (watched, mark) = watched(disk, seed, exploration.without, stage);
    let lived = match life.live(&watched, &mark) {
        Ok(lived) => lived,
        Err(_) if matches!(stage, Stage::First { fault: Some(_), .. }) => {
            // It met the first start, of which nothing is known but that the next one goes on.
            let again = L::start(&restarted(&watched.picture()), 1);
            return again.map_err(|what| finding(what, Vec::new()));
        }
        Err(what) => return Err(finding(what, Vec::new())),
    };
    let mut pictures = watched.pictures();
    pictures.push(watched.picture());
    // Those within a slow sync are few, and the states may be too few for all of a life.
    pictures.sort_by_key(|picture| picture.slow_calls == 0);
    for (number, picture) in (0_u64..).zip(&pictures) {
        let mut chance = SeededIds::from_number(seed << 8 | number);
        for end in 0..=CUTS {
            if explored.states >= exploration.states {
                return Ok(());
            }
            explored.states += 1;
            let plan = if end == 0 { picture.kill() } else { picture.cut(chance.next()) };
            explored.pending_changes += plan.0.len() as u64;
            explored.slow_syncs += u64::from(picture.slow_calls > 0);
            let is_cut = end > 0;
            let look = |plan: &CrashPlan| {
                let left = if is_cut { picture.after(plan) } else { picture.same_uptime() };
                L::look(&left, &lived, Moment::of(picture.mark), is_cut)
            };
            let Ok(next) = look(&plan) else {
                let (what, lost) = shrunk(plan, &look);
                return Err(finding(what, lost));
            };
            if matches!(stage, Stage::First { .. })
                && (number + end + 1).is_multiple_of(SECOND_LIVES)
            {
                let left = if is_cut { picture.after(&plan) } else { picture.same_uptime() };
                let before = explored.states;
                run(&left, next, exploration, chance.next(), &Stage::Second, explored)?;
                explored.second_lives += explored.states - before;
            }
        }
    }
    Ok(())
}

/// The disk with the sync left out and the call that fails, which takes pictures at calls that the seed chooses and may be slow with tree and bases, and the
/// mark that they bear.
fn watched(
    disk: &SimulatedDisk,
    seed: u64,
    without: Option<MissingSync>,
    stage: &Stage,
) -> (SimulatedDisk, Mark) {
    let mark = Mark::default();
    let (marked, watched) = (mark.clone(), mark.clone());
    let mut chance = SeededIds::from_number(seed ^ 0x5EED);
    let every = 5 + chance.next() % 60;
    let (calls, taken) = (AtomicU64::new(chance.next() % every), AtomicU64::new(0));
    let (pictures_max, fault) = match stage {
        Stage::First { fault, pictures } => (*pictures, *fault),
        Stage::Second => (SECOND_PICTURES_MAX, None),
    };
    let met = AtomicU64::new(0);
    let is_slow = without.is_none() && seed.is_multiple_of(SLOW_LIVES);
    let slow_calls = SLOW_CALLS_PICTURED + chance.next() % SLOW_CALLS_MAX;
    let until_picture = AtomicU64::new(0);
    let rule = without.map(MissingSync::rule);
    let on_call = move |kind: CallKind, path: &Path| {
        if rule.as_ref().is_some_and(|rule| rule(kind, path)) {
            return CallOutcome::LeftOut;
        }
        if let Some(with) = fault.and_then(|fault| fault.of(kind, &met)) {
            return CallOutcome::Fails(with);
        }
        // A start waits for its own syncs, and calls nothing meanwhile.
        let is_slow_call = is_slow
            && kind == CallKind::Sync
            && stores::is_of_background(path)
            && Moment::of(watched.number()).on_disk > 0;
        if is_slow_call {
            until_picture.store(SLOW_CALLS_PICTURED, Ordering::Relaxed);
            return CallOutcome::Slow(slow_calls);
        }
        let of_slow = until_picture
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |calls| calls.checked_sub(1));
        let is_due = kind.changes_disk()
            && calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(every)
            && taken.fetch_add(1, Ordering::Relaxed) < pictures_max;
        if is_due || of_slow == Ok(1) { CallOutcome::Pictured } else { CallOutcome::Made }
    };
    (disk.watched(on_call, move || marked.number()), mark)
}

/// The fault that is left where as many changes as can be survive, and those that do not.
fn shrunk<T>(
    mut plan: CrashPlan,
    look: &dyn Fn(&CrashPlan) -> Result<T, String>,
) -> (String, Vec<Choice>) {
    let mut what = look(&plan).err().unwrap_or_default();
    let mut together = plan.0.len().div_ceil(2).max(1);
    loop {
        let mut at = 0;
        while at < plan.0.len() {
            let mut fewer = plan.clone();
            let mut is_other = false;
            for choice in fewer.0.iter_mut().skip(at).take(together) {
                is_other |= choice.survival != Survival::Whole;
                choice.survival = Survival::Whole;
            }
            if is_other && let Err(found) = look(&fewer) {
                (plan, what) = (fewer, found);
            }
            at += together;
        }
        if together == 1 {
            break;
        }
        together = together.div_ceil(2);
    }
    plan.0.retain(|choice| choice.survival != Survival::Whole);
    (what, plan.0)
}

/// A picture, and the state of the disk in the same run of the machine.
fn restarted(picture: &Picture) -> SimulatedDisk {
    picture.same_uptime()
}

#[cfg(test)]
mod tests;
