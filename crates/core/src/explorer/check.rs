//! The look at a state that a kill or a cut has left.

use super::life::{Life, Mark, Moment};
use super::stores::{State, Stores};
use super::workload::{StoreLife, StoreLived, body, is_body, named};
use crate::blobs::Blobs as _;
use crate::disk::simulated::SimulatedDisk;

impl Life for StoreLife {
    type Lived = StoreLived;

    const TAKES_TURNS: bool = true;

    fn live(self, disk: &SimulatedDisk, mark: &Mark) -> Result<StoreLived, String> {
        self.lived(disk, mark)
    }

    fn start(disk: &SimulatedDisk, run_of_machine: u64) -> Result<(), String> {
        Stores::open(disk, run_of_machine).map(drop)
    }

    fn look(
        disk: &SimulatedDisk,
        lived: &StoreLived,
        moment: Moment,
        is_cut: bool,
    ) -> Result<Self, String> {
        look(disk, lived, moment, is_cut)
    }
}

/// Opens the stores on a disk, and compares them with what was acknowledged; gives the life that goes on from there.
///
/// # Errors
/// The fault: they do not open, hold a state that never was or one from before an acknowledgement, a row names a body that is not whole, or base,
/// journal and tree differ.
fn look(
    disk: &SimulatedDisk,
    lived: &StoreLived,
    moment: Moment,
    is_cut: bool,
) -> Result<StoreLife, String> {
    if let Some(shown) = &lived.shown {
        return Err(shown.clone());
    }
    let run_of_machine = lived.run_of_machine + u64::from(is_cut);
    let stores = Stores::open(disk, run_of_machine)?;
    let found = stores.state()?;
    let least = moment.least(is_cut);
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
    stores.verify()?;
    // A kill leaves what the disk does not have yet: until the store has put it there, a cut may take that.
    let first = if is_cut { least + at } else { moment.on_disk };
    let states = lived.states.get(first..=least + at).unwrap_or_default().to_vec();
    Ok(StoreLife::after(lived, states, is_cut))
}

/// The difference between what was found and what had to be there.
fn differs(found: &State, lived: &StoreLived, least: usize, most: usize) -> String {
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
