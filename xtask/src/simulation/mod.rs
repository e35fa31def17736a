//! Sizing: what was measured on one machine, taken to a billion objects and a hundred instances by a simulation of queues, with the prices of it.
//!
//! `cargo xtask bench scale` measures the costs and keeps them in [`COSTS`]; the page of the simulation is made from them by it and by
//! `cargo xtask scale --step simulation`.

mod cluster;
mod costs;
mod page;
mod queueing;

use anyhow::{Context, Result};

#[cfg(feature = "postgres")]
pub(crate) use self::costs::Cost;
pub(crate) use self::costs::Costs;
use crate::run::workspace::root;

/// The file of the measured costs.
const COSTS: &str = "docs/benchmarks/scale-costs.json";
/// The page of the simulation.
const PAGE: &str = "docs/benchmarks/simulation.md";

/// Keeps costs that were measured now.
///
/// # Errors
/// If they cannot be written.
#[cfg(feature = "postgres")]
pub(crate) fn keep(costs: &Costs) -> Result<()> {
    let text = serde_json::to_string_pretty(costs)? + "\n";
    Ok(std::fs::write(root().join(COSTS), text)?)
}

/// Simulates with the costs that were measured last, and writes the page; says in a few words where it bends.
///
/// # Errors
/// If they were never measured, or the page cannot be written.
pub(crate) fn run() -> Result<String> {
    let text = std::fs::read_to_string(root().join(COSTS)).context("no costs were measured")?;
    let costs: Costs = serde_json::from_str(&text)?;
    let (page, said) = page::write(&costs, cluster::puts);
    std::fs::write(root().join(PAGE), page)?;
    Ok(said)
}
