//! The explorer of a whole process, the files of its libraries included: what `strace` saw of its calls is made again on the simulated disk, and at
//! moments that a seed chooses the process is ended by a kill or a power cut. Whoever looks at what is left starts the process on it. What a cut left is
//! that on which another recording may begin.

mod call;
mod moments;
mod replay;
mod settle;
mod trace;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use self::call::SystemCall;
use self::moments::{At, Moments, Work};
use self::replay::{Begun, Replay};
pub use self::trace::{Micros, Trace};
use super::{Exploration, Finding, MissingSync, shrunk, stores};
use crate::disk::simulated::{CallOutcome, Change, CrashPlan, Picture, SimulatedDisk};
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
    /// The moment at which it was ready: what is before belongs to its start.
    pub ready: Micros,
    /// Its data directory after it.
    pub after: Content,
}

/// The lives of a process on one data directory: nothing but kills and stops is between them.
#[derive(Debug)]
pub struct Recording {
    /// The data directory.
    pub data: PathBuf,
    /// The content before the first of them, all of it on disk, as a cut leaves it; none where there was no directory yet.
    pub begins: Option<Content>,
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
#[derive(Debug, Default)]
pub struct ProcessExplored {
    /// States that were looked at.
    pub states: u64,
    /// Of these, those of a kill.
    pub kills: u64,
    /// Of these, those of a moment after the first life.
    pub later_lives: u64,
    /// Of these, those of a moment before the process was ready.
    pub starts: u64,
    /// Of these, those of a moment at which a base was made, or the log before one was let go.
    pub bases: u64,
    /// Calls after which the disk is another, of all lives.
    pub calls: usize,
    /// Changes that were not on disk when these states were left.
    pub pending_changes: u64,
    /// Of the states that a cut left, the one whose moment is nearest to the middle of the recording, and of no start if there is such a one: another
    /// recording may begin on it.
    pub middle: Option<Ended>,
}

impl std::fmt::Display for ProcessExplored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { states, kills, later_lives, starts, bases, calls, pending_changes, .. } = self;
        write!(
            f,
            "{states} states of a process that made {calls} changes lost nothing, {kills} of them of kills, {later_lives} after a first life, {starts} of a start and {bases} while a base was made, with {pending_changes} changes that were not on disk"
        )
    }
}

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
    let begins = |without| begun_disk(recording, without).map_err(|what| odd(what.to_string()));
    let mut moments = Moments::default();
    play(recording, &begins(None)?, &mut |moment| {
        moments.add(moment.at, moment.work());
        Ok(())
    })
    .map_err(odd)?;
    let drawn = moments.drawn(seed, exploration.states);
    let drawn = drawn.ok_or_else(|| odd("nothing was changed in the data directory".into()))?;
    let mut explored = ProcessExplored { calls: moments.count(), ..ProcessExplored::default() };
    let (mut found, mut nearest) = (None, None);
    let played = play(recording, &begins(exploration.without)?, &mut |moment| {
        for state in drawn.get(&moment.at).into_iter().flatten() {
            match ended(moment, *state, exploration, &mut explored, look) {
                Ok(left) => {
                    // A start may come before anything was acknowledged.
                    let place = (moment.is_start, moments.distance_from_middle(moment.at));
                    let is_nearer = nearest.is_none_or(|nearest| place < nearest);
                    if left.end == End::Cut && left.content.is_some() && is_nearer {
                        nearest = Some(place);
                        explored.middle = Some(left);
                    }
                }
                Err(finding) => {
                    found = Some(finding);
                    return Err(String::new());
                }
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

/// The disk on which a recording begins, whose syncs of this kind are left out from then on.
fn begun_disk(recording: &Recording, without: Option<MissingSync>) -> io::Result<SimulatedDisk> {
    let disk = match &recording.begins {
        Some(content) => settle::disk_with(content)?,
        None => SimulatedDisk::new(),
    };
    let Some(rule) = without.map(MissingSync::rule) else { return Ok(disk) };
    Ok(disk.watched(
        move |kind, path| {
            if rule(kind, path) { CallOutcome::LeftOut } else { CallOutcome::Made }
        },
        || 0,
    ))
}

/// The recording at one moment.
struct Moment<'a> {
    at: At,
    /// The call that is about to begin.
    line: usize,
    name: &'a str,
    micros: Micros,
    /// Set before its life was ready.
    is_start: bool,
    /// The change that the call makes, if it is not a sync.
    change: Option<&'a Change>,
    disk: &'a SimulatedDisk,
    replay: &'a Replay<'a>,
    /// Calls that have begun and not ended.
    under_way: &'a BTreeMap<usize, Begun>,
}

impl Moment<'_> {
    /// The work that the process is at.
    fn work(&self) -> Work {
        let is_base = stores::makes_base(self.disk) || self.change.is_some_and(stores::lets_log_go);
        Work { is_start: self.is_start, is_base }
    }

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
            let change = replay.change_of(&begun, None);
            if matches!(begun, Begun::Syncs(_)) || change.is_some() {
                let (line, name, micros) = (call.line, &*call.name, event.at);
                let (at, is_start, change) =
                    ((number, place), micros < life.ready, change.as_ref());
                let (replay, under_way) = (&replay, &under_way);
                show(&Moment {
                    at,
                    line,
                    name,
                    micros,
                    is_start,
                    change,
                    disk,
                    replay,
                    under_way,
                })?;
            }
            under_way.insert(event.call, begun);
        }
        let left = under_way.values().filter_map(|begun| replay.change_of(begun, None));
        settle::settle(disk, left.collect(), &life.after)
            .map_err(|what| format!("life {number}, after its end: {what}"))?;
    }
    Ok(())
}

/// Ends the process at a moment, and gives what is left once it was looked at.
fn ended(
    moment: &Moment<'_>,
    state: u64,
    exploration: &Exploration,
    explored: &mut ProcessExplored,
    look: &mut dyn FnMut(&Ended) -> Result<(), String>,
) -> Result<Ended, Box<Finding>> {
    let mut chance = SeededIds::from_number(exploration.seed << 20 ^ state);
    let picture = moment.picture(&mut chance);
    let is_kill = exploration.without.is_none() && state.is_multiple_of(KILLS);
    let end = if is_kill { End::Kill } else { End::Cut };
    let plan = if is_kill { picture.kill() } else { picture.cut(chance.next()) };
    explored.states += 1;
    explored.kills += u64::from(is_kill);
    explored.later_lives += u64::from(moment.at.0 > 0);
    let work = moment.work();
    explored.starts += u64::from(work.is_start);
    explored.bases += u64::from(work.is_base);
    explored.pending_changes += plan.0.len() as u64;
    let left = |plan: &CrashPlan| Ended {
        end,
        at: moment.micros,
        content: settle::content(&picture.after(plan)),
    };
    let whole = left(&plan);
    let Err(first) = look(&whole) else { return Ok(whole) };
    let look = std::cell::RefCell::new(look);
    let looks = std::cell::Cell::new(0);
    let looked = |plan: &CrashPlan| {
        looks.set(looks.get() + 1);
        if looks.get() > SHRINKING_LOOKS_MAX {
            return Ok(());
        }
        (look.borrow_mut())(&left(plan))
    };
    let (what, lost) = shrunk(plan, &looked);
    // A look may see what another does not, where it has to do with time.
    let what = if what.is_empty() { first } else { what };
    let (life, line, name) = (moment.at.0, moment.line, moment.name);
    let what = format!("{end:?} in life {life}, before line {line}, {name}: {what}");
    Err(Box::new(Finding { seed: exploration.seed, state, what, lost }))
}

#[cfg(test)]
mod tests;
