//! The life of a service on the stores: whatever its clients can see is compared with what they saw after each step.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::life::{Life, Mark, Moment};
use super::stores::Stores;
use super::{Exploration, Explored, FaultReport, Finding, explore, inject};
use crate::disk::simulated::SimulatedDisk;
use crate::id::SeededIds;
use crate::kv::Durability;

/// All that clients of a service can see, by its address.
pub type Seen = BTreeMap<String, String>;

/// A service that the explorer drives.
pub trait Subject: Sized {
    /// Starts it on these stores, in this run of the machine.
    ///
    /// # Errors
    /// It does not start.
    fn start(stores: Stores, run_of_machine: u64) -> Result<Self, String>;

    /// Does one thing that `chance` draws, and gives the promise that its acknowledgement makes.
    ///
    /// # Errors
    /// It was not acknowledged.
    fn step(&mut self, chance: &mut SeededIds) -> Result<Durability, String>;

    /// All that clients can see now.
    ///
    /// # Errors
    /// Something that is shown cannot be read.
    fn seen(&mut self) -> Result<Seen, String>;
}

/// A life of a service: the states in which it may be found before it does anything; it is in the last of these once it has started.
#[derive(Debug)]
pub struct ServiceLife<S> {
    seed: u64,
    steps: u64,
    run_of_machine: u64,
    states: Vec<Seen>,
    /// The states of the same life on a disk without a fault, where this one may meet some.
    unharmed: Option<Vec<Seen>>,
    /// The state that a fault made it show and that it never may.
    shown: Option<String>,
    subject: PhantomData<fn() -> S>,
}

impl<S: Subject> ServiceLife<S> {
    /// The first life, of so many steps, on an empty disk.
    #[must_use]
    pub fn first(seed: u64, steps: u64) -> Self {
        Self {
            seed,
            steps,
            run_of_machine: 1,
            states: Vec::new(),
            unharmed: None,
            shown: None,
            subject: PhantomData,
        }
    }

    /// The first life on a disk whose calls may fail: a step or a look that is refused ends it.
    fn faulty(seed: u64, steps: u64, unharmed: Vec<Seen>) -> Self {
        Self { unharmed: Some(unharmed), ..Self::first(seed, steps) }
    }

    /// The state that is seen after a step, which on a disk with a fault has to be the one without it. Nothing where the service says that it cannot do
    /// it.
    ///
    /// # Errors
    /// It refuses without a fault.
    fn after_step(
        &mut self,
        number: usize,
        outcome: Result<Seen, String>,
    ) -> Result<Option<Seen>, String> {
        let Some(unharmed) = &self.unharmed else {
            return outcome.map(Some);
        };
        let seen = outcome.ok();
        if let Some((expected, seen)) = unharmed.get(number).zip(seen.as_ref())
            && expected != seen
        {
            let other = differs(expected, seen);
            self.shown = Some(format!("step {number} shows another state: {other}"));
        }
        Ok(seen)
    }

    /// The states of this life once the service has started: the last is what is seen then.
    fn started(&mut self, subject: &mut S) -> Result<(), String> {
        let seen = subject.seen()?;
        match self.states.last() {
            None => self.states.push(seen),
            Some(last) if *last == seen => {}
            Some(last) => {
                return Err(format!("another start shows another state: {}", differs(last, &seen)));
            }
        }
        Ok(())
    }
}

impl<S: Subject> Life for ServiceLife<S> {
    type Lived = Self;

    /// The client is one of a runtime, which knows no turns.
    const TAKES_TURNS: bool = false;

    fn live(mut self, disk: &SimulatedDisk, mark: &Mark) -> Result<Self, String> {
        // Before the first start there is nothing, which looks as it does after it.
        let begun = self.states.len().saturating_sub(1);
        mark.set(Moment { on_disk: 0, acknowledged: begun, begun });
        let mut subject = S::start(Stores::open(disk, self.run_of_machine)?, self.run_of_machine)?;
        self.started(&mut subject)?;
        let mut now = Moment { on_disk: begun, acknowledged: begun, begun };
        mark.set(now);
        let mut chance = SeededIds::from_number(self.seed);
        for _ in 0..self.steps {
            now.begun += 1;
            mark.set(now);
            let step = subject.step(&mut chance);
            if let Ok(durability) = &step {
                now.acknowledged = now.begun;
                if *durability == Durability::Disk {
                    now.on_disk = now.begun;
                }
                mark.set(now);
            }
            let seen = step.and_then(|_| subject.seen());
            let Some(seen) = self.after_step(now.begun, seen)? else {
                // It may be there after the next start, and it may not.
                self.states.extend(self.unharmed.iter().flatten().nth(now.begun).cloned());
                break;
            };
            self.states.push(seen);
        }
        Ok(self)
    }

    fn start(disk: &SimulatedDisk, run_of_machine: u64) -> Result<(), String> {
        S::start(Stores::open(disk, run_of_machine)?, run_of_machine).map(drop)
    }

    fn look(
        disk: &SimulatedDisk,
        lived: &Self,
        moment: Moment,
        is_cut: bool,
    ) -> Result<Self, String> {
        if let Some(shown) = &lived.shown {
            return Err(shown.clone());
        }
        let run_of_machine = lived.run_of_machine + u64::from(is_cut);
        let stores = Stores::open(disk, run_of_machine)?;
        stores.verify()?;
        let seen = S::start(stores, run_of_machine)?.seen()?;
        let least = moment.least(is_cut);
        let legal = lived.states.get(least..=moment.begun).unwrap_or_default();
        let Some(at) = legal.iter().position(|state| *state == seen) else {
            let step = format!("{least} of {} steps were acknowledged", moment.begun);
            let nearest = legal.last().map_or_else(String::new, |last| differs(last, &seen));
            return Err(format!("{step}, and a state is seen that never was: {nearest}"));
        };
        // A kill leaves what the disk does not have yet: until the service has put it there, a cut may take that.
        let first = if is_cut { least + at } else { moment.on_disk };
        let states = lived.states.get(first..=least + at).unwrap_or_default().to_vec();
        Ok(Self { run_of_machine, states, ..Self::first(lived.seed ^ 0xA11CE, lived.steps) })
    }
}

/// Looks at lives of `steps` steps: at the states that `asked` wants by `TRIPTYCH_STATES`, from the seed `TRIPTYCH_SEED` on, as
/// `cargo xtask crash` does, or at `states` of seed 1.
///
/// # Errors
/// The first finding.
pub fn explore_service<S: Subject>(
    steps: u64,
    states: u64,
    asked: impl Fn(&str) -> Option<String>,
) -> Result<Explored, Box<Finding>> {
    let number = |name: &str| asked(name)?.parse().ok();
    let seed = number("TRIPTYCH_SEED").unwrap_or(1);
    let states = number("TRIPTYCH_STATES").unwrap_or(states);
    let exploration = Exploration { seed, states, without: None };
    explore(&exploration, |seed| ServiceLife::<S>::first(seed, steps))
}

/// Lives lives of `steps` steps, in which one call to the disk in so many fails of each kind, as [`inject`] says: one in `every`, of seed 1, unless
/// `asked` wants others by `TRIPTYCH_FAULTS` and `TRIPTYCH_SEED`.
///
/// # Errors
/// The first finding.
pub fn inject_service<S: Subject>(
    steps: u64,
    every: u64,
    asked: impl Fn(&str) -> Option<String>,
) -> Result<FaultReport, Box<Finding>> {
    let number = |name: &str| asked(name)?.parse().ok();
    let seed = number("TRIPTYCH_SEED").unwrap_or(1);
    let every = number("TRIPTYCH_FAULTS").unwrap_or(every).max(1);
    let mut unharmed = BTreeMap::new();
    for seed in FaultReport::seeds(seed) {
        let life = ServiceLife::<S>::first(seed, steps);
        let lived = life.live(&SimulatedDisk::new(), &Mark::default());
        let finding = |what| Box::new(Finding { seed, state: 0, what, lost: Vec::new() });
        unharmed.insert(seed, lived.map_err(finding)?.states);
    }
    let first = |seed| {
        let states = unharmed.get(&seed).cloned().unwrap_or_default();
        ServiceLife::<S>::faulty(seed, steps, states)
    };
    inject(seed, every, first)
}

/// The first places in which what is seen is not what was.
fn differs(was: &Seen, seen: &Seen) -> String {
    let places = was.keys().chain(seen.keys().filter(|key| !was.contains_key(*key)));
    let shown =
        |state: &Seen, key: &String| state.get(key).cloned().unwrap_or_else(|| "nothing".into());
    let lines = places
        .filter(|key| was.get(*key) != seen.get(*key))
        .map(|key| format!("{key}: {} was there, {} is", shown(was, key), shown(seen, key)));
    lines.take(3).collect::<Vec<_>>().join("; ")
}
