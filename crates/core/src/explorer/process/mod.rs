//! The explorer of a whole process, the files of its libraries included: what `strace` saw of its calls is made again on the simulated disk, and at
//! moments that a seed chooses the process is ended by a kill or a power cut. Whoever looks at what is left starts the process on it.

mod call;
mod replay;
mod settle;
mod trace;

use std::collections::BTreeMap;
use std::path::PathBuf;

use self::call::SystemCall;
use self::replay::{Begun, Replay};
pub use self::trace::{Micros, Trace};
use super::{Exploration, Finding, MissingSync, shrunk};
use crate::disk::simulated::{CallOutcome, CrashPlan, Picture, SimulatedDisk};
use crate::id::{Ids, SeededIds};

/// One state in so many is that of a kill, which takes nothing from the system.
const KILLS: u64 = 4;
/// Looks for the fewest changes that have to be lost: each starts the process.
const SHRINKING_LOOKS_MAX: u32 = 40;

/// Everything in a directory by its path below it: the bytes of each file, and nothing for a directory.
pub type Content = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// One life of a process.
#[derive(Debug)]
pub struct RecordedLife {
    /// Its calls.
    pub trace: Trace,
    /// Its data directory after it.
    pub after: Content,
}

/// The lives of a process on one data directory, from the first start on: nothing but kills and stops is between them.
#[derive(Debug)]
pub struct Recording {
    /// The data directory.
    pub data: PathBuf,
    /// The lives.
    pub lives: Vec<RecordedLife>,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It is killed.
    Kill,
    /// The power of the machine is cut.
    Cut,
}

/// A state to look at.
#[derive(Debug)]
pub struct Ended {
    /// The end that left it.
    pub end: End,
    /// Its moment: what was acknowledged before is there.
    pub at: Micros,
    /// The data directory; none if its name was not on disk.
    pub content: Option<Content>,
}

/// The outcome of an exploration that found nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessExplored {
    /// States that were looked at.
    pub states: u64,
    /// Of these, those of a kill.
    pub kills: u64,
    /// Of these, those of a moment after the first life.
    pub later_lives: u64,
    /// Calls after which the disk is another, of all lives.
    pub calls: usize,
    /// Changes that were not on disk when these states were left.
    pub pending_changes: u64,
}

impl std::fmt::Display for ProcessExplored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { states, kills, later_lives, calls, pending_changes } = self;
        write!(
            f,
            "{states} states of a process that made {calls} changes lost nothing, {kills} of them of kills and {later_lives} after a first life, with {pending_changes} changes that were not on disk"
        )
    }
}

/// A moment: the life, and the event before which it is.
type At = (usize, usize);

/// Looks at so many states of a process.
///
/// # Errors
/// The first [`Finding`], or that the recording cannot be made again.
pub fn explore_process(
    recording: &Recording,
    exploration: &Exploration,
    look: &mut dyn FnMut(&Ended) -> Result<(), String>,
) -> Result<ProcessExplored, Box<Finding>> {
    let seed = exploration.seed;
    let odd = |what: String| Box::new(Finding { seed, state: 0, what, lost: Vec::new() });
    let mut moments = Vec::new();
    let whole = SimulatedDisk::new();
    play(recording, &whole, &mut |moment| {
        moments.push(moment.at);
        Ok(())
    })
    .map_err(odd)?;
    if moments.is_empty() {
        return Err(odd("nothing was changed in the data directory".into()));
    }
    let mut chance = SeededIds::from_number(seed);
    let mut drawn: BTreeMap<At, Vec<u64>> = BTreeMap::new();
    for state in 0..exploration.states {
        let moment = moments.get((chance.next() % moments.len() as u64) as usize);
        drawn.entry(*moment.ok_or_else(|| odd(String::new()))?).or_default().push(state);
    }
    let mut explored = ProcessExplored { calls: moments.len(), ..ProcessExplored::default() };
    let mut found = None;
    let played = play(recording, &without(exploration.without), &mut |moment| {
        for state in drawn.get(&moment.at).into_iter().flatten() {
            if let Err(finding) = ended(moment, *state, exploration, &mut explored, look) {
                found = Some(finding);
                return Err(String::new());
            }
        }
        Ok(())
    });
    match (found, played) {
        (Some(finding), _) => Err(finding),
        (None, Err(what)) => Err(odd(what)),
        (None, Ok(())) => Ok(explored),
    }
}

/// An empty disk, whose syncs of this kind are left out.
fn without(sync: Option<MissingSync>) -> SimulatedDisk {
    let disk = SimulatedDisk::new();
    let Some(rule) = sync.map(MissingSync::rule) else { return disk };
    disk.watched(
        move |kind, path| {
            if rule(kind, path) { CallOutcome::LeftOut } else { CallOutcome::Made }
        },
        || 0,
    )
}

/// The recording at one moment.
struct Moment<'a> {
    at: At,
    /// The call that is about to begin.
    line: usize,
    name: &'a str,
    micros: Micros,
    disk: &'a SimulatedDisk,
    replay: &'a Replay<'a>,
    /// Calls that have begun and not ended.
    under_way: &'a BTreeMap<usize, Begun>,
}

impl Moment<'_> {
    /// The disk at this moment, with some of the changes that are under way.
    fn picture(&self, chance: &mut SeededIds) -> Picture {
        let disk = self.disk.picture().same_uptime();
        for begun in self.under_way.values() {
            if let (0, Some(change)) = (chance.next() % 2, self.replay.change_of(begun, None)) {
                // What another one that is under way has made impossible is not made.
                let _ = disk.make(&change);
            }
        }
        disk.picture()
    }
}

/// Makes all calls of a recording again, and shows each moment before a call that changes the disk.
fn play(
    recording: &Recording,
    disk: &SimulatedDisk,
    show: &mut dyn FnMut(&Moment<'_>) -> Result<(), String>,
) -> Result<(), String> {
    for (number, life) in recording.lives.iter().enumerate() {
        let mut replay = Replay::new(disk, &recording.data);
        let mut under_way = BTreeMap::new();
        let mut programs = 0;
        for (place, event) in life.trace.events.iter().enumerate() {
            let Some(call) = life.trace.calls.get(event.call) else { continue };
            let told = |what| format!("life {number}, line {}, {}: {what}", call.line, call.name);
            if !event.is_begin {
                if let (Some(begun), Some(result @ 0..)) =
                    (under_way.remove(&event.call), call.result)
                {
                    replay.end(&begun, result).map_err(told)?;
                }
                continue;
            }
            programs += usize::from(call.name == "execve");
            if programs > 1 {
                return Err(told("a process that starts another program has no rule".into()));
            }
            if call.result.is_some_and(|result| result < 0) {
                continue;
            }
            let typed = SystemCall::of(call).ok_or_else(|| told("its arguments are odd".into()))?;
            let begun = replay.begin(typed).map_err(told)?;
            if matches!(begun, Begun::Syncs(_)) || replay.change_of(&begun, None).is_some() {
                let (line, name, micros) = (call.line, &*call.name, event.at);
                let at = (number, place);
                let (replay, under_way) = (&replay, &under_way);
                show(&Moment { at, line, name, micros, disk, replay, under_way })?;
            }
            under_way.insert(event.call, begun);
        }
        let left = under_way.values().filter_map(|begun| replay.change_of(begun, None));
        settle::settle(disk, left.collect(), &life.after)
            .map_err(|what| format!("life {number}, after its end: {what}"))?;
    }
    Ok(())
}

/// Ends the process at a moment, and looks at what is left.
fn ended(
    moment: &Moment<'_>,
    state: u64,
    exploration: &Exploration,
    explored: &mut ProcessExplored,
    look: &mut dyn FnMut(&Ended) -> Result<(), String>,
) -> Result<(), Box<Finding>> {
    let mut chance = SeededIds::from_number(exploration.seed << 20 ^ state);
    let picture = moment.picture(&mut chance);
    let is_kill = exploration.without.is_none() && state.is_multiple_of(KILLS);
    let end = if is_kill { End::Kill } else { End::Cut };
    let plan = if is_kill { picture.kill() } else { picture.cut(chance.next()) };
    explored.states += 1;
    explored.kills += u64::from(is_kill);
    explored.later_lives += u64::from(moment.at.0 > 0);
    explored.pending_changes += plan.0.len() as u64;
    let look = std::cell::RefCell::new(look);
    let looks = std::cell::Cell::new(0);
    let looked = |plan: &CrashPlan| {
        looks.set(looks.get() + 1);
        if looks.get() > SHRINKING_LOOKS_MAX {
            return Ok(());
        }
        let content = settle::content(&picture.after(plan));
        (look.borrow_mut())(&Ended { end, at: moment.micros, content })
    };
    let Err(first) = looked(&plan) else { return Ok(()) };
    let (what, lost) = shrunk(plan, &looked);
    // A look may see what another does not, where it has to do with time.
    let what = if what.is_empty() { first } else { what };
    let (life, line, name) = (moment.at.0, moment.line, moment.name);
    let what = format!("{end:?} in life {life}, before line {line}, {name}: {what}");
    Err(Box::new(Finding { seed: exploration.seed, state, what, lost }))
}

#[cfg(test)]
mod tests;
