//! The states that a power cut may leave: of what was not synced, anything may be there and anything missing.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::world::{Directory, Inode, Node, PendingWrite, World, overwrite, rename_in};
use super::{CallOutcome, Picture, SimulatedDisk};
use crate::id::{Ids, SeededIds};

/// Bytes that a disk writes all or not.
const SECTOR_BYTES: usize = 512;

/// The survival of one change that was not on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Survival {
    /// All of it is there.
    Whole,
    /// Nothing of it.
    Missing,
    /// Its first sectors.
    Sectors(usize),
    /// Every other sector, from the first or from the second on.
    Alternate(bool),
}

/// A change, and its survival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The file or the directory, and the change, in words.
    pub change: String,
    /// Its survival.
    pub survival: Survival,
}

/// The survival of each change of a picture that was not on disk, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrashPlan(pub Vec<Choice>);

impl Picture {
    /// The changes that were not on disk, all of which survive: what a kill of the process leaves.
    #[must_use]
    pub fn kill(&self) -> CrashPlan {
        CrashPlan(self.plan(|_, _| Survival::Whole))
    }

    /// A power cut that a seed chooses. Names survive in order, as in a journal, or in any way.
    #[must_use]
    pub fn cut(&self, seed: u64) -> CrashPlan {
        let mut chance = SeededIds::from_number(seed);
        let (order, share) = (chance.next() % 2, 1 + chance.next() % 7);
        let mut lost = std::collections::BTreeSet::new();
        CrashPlan(self.plan(|place, change| {
            let survives = chance.next() % 8 >= share;
            match change {
                Some(PendingWrite::Write { bytes, .. })
                    if !survives && chance.next().is_multiple_of(3) =>
                {
                    let sectors = bytes.len().div_ceil(SECTOR_BYTES) as u64 + 1;
                    match chance.next() % 3 {
                        0 => Survival::Alternate(chance.next().is_multiple_of(2)),
                        _ => Survival::Sectors((chance.next() % sectors) as usize),
                    }
                }
                None if order == 0 && lost.contains(place) => Survival::Missing,
                _ if survives => Survival::Whole,
                _ => {
                    lost.insert(place.to_owned());
                    Survival::Missing
                }
            }
        }))
    }

    fn plan(&self, mut choose: impl FnMut(&str, Option<&PendingWrite>) -> Survival) -> Vec<Choice> {
        let mut choices = Vec::new();
        let names = self.world.names();
        for (number, inode) in &self.world.inodes {
            let place = names.get(number).cloned().unwrap_or_else(|| format!("file {number}"));
            for change in &inode.pending {
                let survival = choose(&place, Some(change));
                let change = match change {
                    PendingWrite::Write { at, bytes } => {
                        format!("{place}: {} bytes written at {at}", bytes.len())
                    }
                    PendingWrite::Truncate(bytes) => format!("{place}: cut to {bytes} bytes"),
                };
                choices.push(Choice { change, survival });
            }
        }
        for (path, directory) in &self.world.directories {
            let place = path.display().to_string();
            for change in &directory.pending {
                let survival = choose(&place, None);
                let said = |(name, node): &(std::ffi::OsString, Option<Node>)| {
                    let name = name.display();
                    if node.is_some() { format!("+{name}") } else { format!("-{name}") }
                };
                let names: Vec<_> = change.names.iter().map(said).collect();
                let change = format!("{place}: {}", names.join(" "));
                choices.push(Choice { change, survival });
            }
        }
        choices
    }

    /// The disk as this end leaves it.
    #[must_use]
    pub fn after(&self, plan: &CrashPlan) -> SimulatedDisk {
        let mut world = self.world.clone().unlocked();
        let mut choices = plan.0.iter().map(|choice| choice.survival);
        for inode in world.inodes.values_mut() {
            let mut content = Vec::clone(&inode.durable);
            for change in std::mem::take(&mut inode.pending) {
                survive(&change, choices.next().unwrap_or(Survival::Whole), &mut content);
            }
            *inode = Inode {
                seen: content.clone(),
                durable: Arc::new(content),
                pending: Vec::new(),
                settled: 0,
            };
        }
        for directory in world.directories.values_mut() {
            let mut names = directory.durable.clone();
            for change in std::mem::take(&mut directory.pending) {
                if choices.next() != Some(Survival::Missing) {
                    rename_in(&mut names, &change.names);
                }
            }
            *directory =
                Directory { seen: names.clone(), durable: names, pending: Vec::new(), settled: 0 };
        }
        world.drop_unreachable();
        SimulatedDisk::of(world, |_, _| CallOutcome::Made, || 0)
    }

    /// The disk as it is, with what is pending, after the process has ended: what the system believes stays believed.
    #[must_use]
    pub fn same_uptime(&self) -> SimulatedDisk {
        SimulatedDisk::of(self.world.clone().unlocked(), |_, _| CallOutcome::Made, || 0)
    }
}

fn survive(change: &PendingWrite, survival: Survival, content: &mut Vec<u8>) {
    match (change, survival) {
        (_, Survival::Missing) => {}
        (PendingWrite::Write { at, bytes }, Survival::Sectors(sectors)) => {
            for (at, sector) in sectors_of(*at, bytes).take(sectors) {
                overwrite(content, at, sector);
            }
        }
        (PendingWrite::Write { at, bytes }, Survival::Alternate(first)) => {
            for (at, sector) in sectors_of(*at, bytes).skip(usize::from(!first)).step_by(2) {
                overwrite(content, at, sector);
            }
        }
        _ => change.apply(content),
    }
}

/// The sectors that a write changes, each with its place: they are the disk's, so the first and the last may be changed in a part.
fn sectors_of(at: u64, bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let (mut at, mut rest) = (at, bytes);
    std::iter::from_fn(move || {
        let left = SECTOR_BYTES - (at % SECTOR_BYTES as u64) as usize;
        let (sector, behind) = rest.split_at(left.min(rest.len()));
        let found = (at, sector);
        at += sector.len() as u64;
        rest = behind;
        (!sector.is_empty()).then_some(found)
    })
}

impl World {
    /// A path of each file that has one.
    fn names(&self) -> BTreeMap<usize, String> {
        let mut names = BTreeMap::new();
        for (path, directory) in &self.directories {
            for (name, node) in directory.durable.iter().chain(&directory.seen) {
                if let Node::File(inode) = node {
                    names.insert(inode.0, path.join(name).display().to_string());
                }
            }
        }
        names
    }

    /// Removes directories whose names, or those above them, did not survive; one that has a name and was not there is empty.
    fn drop_unreachable(&mut self) {
        let mut reached: Vec<PathBuf> = vec![PathBuf::from("/")];
        let mut at = 0;
        while let Some(path) = reached.get(at).cloned() {
            at += 1;
            let Some(directory) = self.directories.get(&path) else { continue };
            let below = directory.seen.iter().filter(|(_, node)| **node == Node::Directory);
            reached.extend(below.map(|(name, _)| path.join(name)));
        }
        self.directories.retain(|path, _| reached.contains(path));
    }
}
