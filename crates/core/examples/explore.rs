//! Explores the states that kills and power cuts leave of the stores, on a simulated disk.
//!
//! ```text
//! cargo run -p triptych-core --example explore --features redb,testing -- states 5000 records 1
//! cargo run -p triptych-core --example explore --features redb,testing -- faults 11 bodies 1
//! cargo run -p triptych-core --example explore --features redb,testing -- syncs 3000 1
//! cargo run -p triptych-core --example explore --features redb,testing -- simulate 1000000 1
//! ```
//!
//! `states` looks at so many, of runs from a seed on. `faults` lets one call in so many of each kind fail. `syncs` leaves out each sync in turn, and
//! fails unless each that is needed is missed. `simulate` lets the seeds draw the turns of threads as well, until there were so many.

#![expect(clippy::print_stdout, reason = "a program at the terminal")]

use std::process::ExitCode;

use triptych_core::explorer::{
    Exploration, MissingSync, SYNCS, Simulation, StoreLife, Workload, explore, inject, simulate,
};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["states", states, workload, seed] => run_states(states, workload, seed),
        ["faults", every, workload, seed] => run_faults(every, workload, seed),
        ["syncs", states, seed] => run_syncs(states, seed),
        ["without", sync, states, workload, seed] => run_without(sync, states, workload, seed),
        ["simulate", turns, seed] => run_simulation(turns, seed),
        _ => Err("usage: explore states N WORKLOAD SEED | faults EVERY WORKLOAD SEED | syncs N SEED | simulate TURNS SEED; workloads: records, bodies, together".into()),
    };
    match outcome {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn workload(name: &str) -> Outcome<Workload> {
    let found = Workload::ALL.iter().find(|(own, _)| *own == name);
    Ok(found.ok_or("the workloads are records, bodies and together")?.1)
}

fn run_states(states: &str, name: &str, seed: &str) -> Outcome<String> {
    let (seed, states) = (seed.parse()?, states.parse()?);
    let workload = workload(name)?;
    let exploration = Exploration { seed, states, without: None };
    let explored = explore(&exploration, |seed| StoreLife::first(seed, workload))?;
    Ok(format!("{name}: {explored}"))
}

fn run_faults(every: &str, name: &str, seed: &str) -> Outcome<String> {
    let (workload, every) = (workload(name)?, every.parse::<u64>()?.max(1));
    let report = inject(seed.parse()?, every, |seed| StoreLife::first(seed, workload))?;
    Ok(format!("{name}: {report}"))
}

/// All that is found without one sync, with the changes that have to be lost for it.
fn run_without(sync: &str, states: &str, name: &str, seed: &str) -> Outcome<String> {
    let (seed, states) = (seed.parse()?, states.parse()?);
    let workload = workload(name)?;
    let without = Some(MissingSync::named(sync).ok_or("there is no such sync")?);
    let exploration = Exploration { seed, states, without };
    let explored = explore(&exploration, |seed| StoreLife::first(seed, workload))?;
    Ok(format!("{name}: {explored}"))
}

fn run_simulation(turns: &str, seed: &str) -> Outcome<String> {
    let (seed, turns) = (seed.parse()?, turns.parse()?);
    let simulation = Simulation { seed, turns, without: None };
    let simulated = simulate(&simulation, |seed| StoreLife::first(seed, Workload::Together))?;
    Ok(format!("simulated: {simulated}"))
}

/// A table of the syncs, each with what was found without it.
fn run_syncs(states: &str, seed: &str) -> Outcome<String> {
    let (seed, states) = (seed.parse()?, states.parse()?);
    let mut unmissed = Vec::new();
    println!("| without the sync of | found |\n|---|---|");
    for sync in SYNCS {
        let found = Workload::ALL.iter().find_map(|(name, workload)| {
            let exploration = Exploration { seed, states, without: Some(*sync) };
            let found = explore(&exploration, |seed| StoreLife::first(seed, *workload)).err()?;
            Some(format!("{name}, seed {}, state {}: {}", found.seed, found.state, found.what))
        });
        let said = match (&found, sync.needed) {
            (Some(found), _) => found.clone(),
            (None, Err(why)) => format!("nothing: {why}"),
            (None, Ok(())) => {
                unmissed.push(sync.name);
                "NOTHING".to_owned()
            }
        };
        println!("| {} | {} |", sync.name, said.lines().next().unwrap_or_default());
    }
    if unmissed.is_empty() {
        return Ok(format!("{} syncs were left out in turn", SYNCS.len()));
    }
    Err(format!("not missed: {}", unmissed.join(", ")).into())
}
