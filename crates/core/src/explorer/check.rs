//! The look at a state that a kill or a cut has left.

use super::workload::{Life, Lived, Moment, State, Stores, body, is_body, named};
use crate::blobs::Blobs as _;
use crate::disk::simulated::SimulatedDisk;

/// Opens the stores on a disk, and compares them with what was acknowledged; gives the life that goes on from there.
///
/// # Errors
/// The fault: they do not open, hold a state that never was or one from before an acknowledgement, a row names a body that is not whole, or base,
/// journal and tree differ.
pub(super) fn look(
    disk: &SimulatedDisk,
    lived: &Lived,
    moment: Moment,
    is_cut: bool,
) -> Result<Life, String> {
    let run_of_machine = lived.run_of_machine + u64::from(is_cut);
    let stores = Stores::open(disk, run_of_machine)?;
    let found = stores.state()?;
    let least = if is_cut { moment.on_disk } else { moment.acknowledged };
    let legal = lived.states.get(least..=moment.begun).unwrap_or_default();
    let Some(at) = legal.iter().position(|state| *state == found) else {
        return Err(differs(&found, lived, least, moment.begun));
    };
    for (key, value) in found.iter().filter(|(key, _)| is_body(key)) {
        let (id, number) = named(value).ok_or_else(|| format!("{key:?} names no body"))?;
        let expected = body(number);
        match stores.blobs.read_small(id, expected.len() as u64) {
            Ok(body) if body == expected => {}
            Ok(_) => return Err(format!("the body of {key:?} has other bytes")),
            Err(error) => return Err(format!("the body of {key:?}: {error}")),
        }
    }
    let mut faults = Vec::new();
    let verified = stores.kv.verify(&mut |fault| faults.push(fault));
    verified.map_err(|error| format!("verify: {error}"))?;
    if let Some(fault) = faults.first() {
        return Err(format!("verify: {fault}"));
    }
    // A kill leaves what the disk does not have yet: until the store has put it there, a cut may take that.
    let first = if is_cut { least + at } else { moment.on_disk };
    let states = lived.states.get(first..=least + at).unwrap_or_default().to_vec();
    Ok(Life::after(lived, states, is_cut))
}

/// The difference between what was found and what had to be there.
fn differs(found: &State, lived: &Lived, least: usize, most: usize) -> String {
    if let Some(older) = lived.states.iter().position(|state| state == found) {
        return format!("the store is as after {older} batches, and {least} were acknowledged");
    }
    let nearest = lived.states.get(least..=most).unwrap_or_default().last();
    let rows = nearest.into_iter().flatten().filter(|(key, value)| found.get(*key) != Some(value));
    let rows: Vec<_> = rows.map(|(key, _)| format!("{key:?}")).take(5).collect();
    format!(
        "the store is in a state that never was, of {least} to {most} batches: {}",
        rows.join(", ")
    )
}
