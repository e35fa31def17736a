//! Lives whose threads take turns that the seed draws, as it draws their writes, the calls that fail, the moments of cuts and what these leave: what a
//! seed finds it finds again.

use super::fault::Fault;
use super::life::Life;
use super::{Exploration, Explored, Finding, MissingSync, Stage, run};
use crate::disk::simulated::SimulatedDisk;
use crate::id::{Ids as _, SeededIds};
use crate::schedule::{Ran, simulated};

/// Pictures of a first life at the most: more lives show more than more pictures.
const PICTURES_MAX: u64 = 1;

/// The outcome of simulations that found nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Simulated {
    /// Lives that began on an empty disk.
    pub lives: u64,
    /// Of these, lives of which a call was to fail.
    pub faulty: u64,
    /// Turns of threads.
    pub turns: u64,
    /// States that were opened and compared.
    pub states: u64,
    /// A sum of the order of turns: the same where seeds were run again.
    pub order: u64,
}

impl std::fmt::Display for Simulated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lives, faulty, turns, states, order } = self;
        write!(
            f,
            "{turns} turns of {lives} lives, {faulty} of them with faults, and {states} states that they left, lost nothing; in the order {order:016x}"
        )
    }
}

/// The work of simulations.
#[derive(Debug, Clone)]
pub struct Simulation {
    /// The seed of the first life; the next one has the next one.
    pub seed: u64,
    /// Turns of threads after which no more lives begin.
    pub turns: u64,
    /// The sync that is left out, to show that it is missed.
    pub without: Option<MissingSync>,
}

/// Lives lives that begin with `first` of a seed, until their threads had enough turns.
///
/// # Errors
/// The first [`Finding`]: its seed alone finds it again.
pub fn simulate<L: Life>(
    simulation: &Simulation,
    first: impl Fn(u64) -> L,
) -> Result<Simulated, Box<Finding>> {
    let mut all = Simulated::default();
    for seed in simulation.seed.. {
        if all.turns >= simulation.turns {
            break;
        }
        let mut chance = SeededIds::from_number(seed ^ 0xFA_017);
        let fault = chance.next().is_multiple_of(2).then(|| Fault::drawn(&mut chance)).flatten();
        all.faulty += u64::from(fault.is_some());
        let (explored, ran) =
            simulated(seed, || life(seed, first(seed), fault, simulation.without));
        all.lives += 1;
        all.states += explored?.states;
        let Ran { turns, order } = ran;
        all.turns += turns;
        all.order = all.order.rotate_left(1) ^ order;
    }
    Ok(all)
}

/// One life, and the ends of its pictures.
fn life<L: Life>(
    seed: u64,
    first: L,
    fault: Option<Fault>,
    without: Option<MissingSync>,
) -> Result<Explored, Box<Finding>> {
    let exploration = Exploration { seed, states: u64::MAX, without };
    let (mut explored, stage) =
        (Explored::default(), Stage::First { fault, pictures: PICTURES_MAX });
    let found = run(&SimulatedDisk::new(), first, &exploration, seed, &stage, &mut explored);
    found.map_err(|finding| Box::new(Finding { seed, ..*finding }))?;
    Ok(explored)
}
