//! Opens what the end left, and compares it with the acknowledgements on standard input.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::path::Path;

use triptych_core::kv::Span;

use crate::Outcome;
use crate::writer::{Stores, WRITERS_RUN, blob_id, body, open};

/// The answers that the writers got.
#[derive(Default)]
struct Acknowledged {
    /// The last number of each writer of batches.
    batches: BTreeMap<String, u64>,
    rows: Vec<String>,
    blobs: BTreeMap<String, (u64, u64)>,
    gone: BTreeSet<String>,
}

impl Acknowledged {
    fn read() -> Outcome<Self> {
        let mut all = Self::default();
        for line in std::io::stdin().lock().lines() {
            let line = line?;
            let words: Vec<&str> = line.split(' ').collect();
            let [kind, worker, number] = words.as_slice() else {
                continue;
            };
            let (worker, number): (u64, u64) = (worker.parse()?, number.parse()?);
            match *kind {
                "record" | "process" => {
                    let last = all.batches.entry(format!("{kind}/{worker}")).or_default();
                    *last = number.max(*last);
                    all.rows.push(format!("row/{worker}/{number}"));
                }
                "blob" => {
                    let name = format!("blob/{worker}/{number}");
                    all.blobs.insert(name, (worker, number));
                }
                _ => {
                    all.gone.insert(format!("blob/{worker}/{number}"));
                }
            }
        }
        Ok(all)
    }
}

/// Fails with a list of what is lost, partial or torn.
pub(crate) fn run(directory: &Path, is_cut: bool) -> Outcome<()> {
    let acknowledged = Acknowledged::read()?;
    // This machine was not started again, so the store is told what it would see after a cut.
    let run_of_machine = if is_cut { "another" } else { WRITERS_RUN };
    let stores = open(directory, false, run_of_machine)?;
    let mut lost = Vec::new();
    batches(&stores, &acknowledged, &mut lost)?;
    bodies(&stores, &acknowledged, &mut lost)?;
    if lost.is_empty() {
        return Ok(());
    }
    let (count, some) = (lost.len(), lost.iter().take(5).cloned().collect::<Vec<_>>());
    Err(format!("{count} lost or broken: {}", some.join("; ")).into())
}

/// Every acknowledged batch is there, and the three rows of a batch are of one batch.
fn batches(stores: &Stores, acknowledged: &Acknowledged, lost: &mut Vec<String>) -> Outcome<()> {
    for (writer, last) in &acknowledged.batches {
        let mut numbers = BTreeSet::new();
        for part in ["a", "b", "c"] {
            let found = stores.kv.get(format!("{writer}/{part}").as_bytes())?;
            let number: u64 = match found.value {
                Some(value) => std::str::from_utf8(&value)?.parse()?,
                None => 0,
            };
            numbers.insert(number);
        }
        if numbers.len() != 1 {
            lost.push(format!("{writer} is torn: {numbers:?}"));
        }
        if numbers.first().is_some_and(|number| number < last) {
            lost.push(format!("{writer} fell back from {last} to {numbers:?}"));
        }
    }
    for row in &acknowledged.rows {
        if stores.kv.get(row.as_bytes())?.value.is_none() {
            lost.push(format!("{row} is gone"));
        }
    }
    Ok(())
}

/// Every blob that a record names is whole, acknowledged or not; every acknowledged one that was not deleted is named.
fn bodies(stores: &Stores, acknowledged: &Acknowledged, lost: &mut Vec<String>) -> Outcome<()> {
    let mut named = BTreeSet::new();
    let mut span = Span::of("blob/");
    loop {
        let page = stores.kv.scan(&span, 500)?;
        for (key, value) in &page.rows {
            let key = std::str::from_utf8(key)?;
            named.insert(key.to_owned());
            let numbers: Vec<u64> =
                key.split('/').skip(1).map_while(|word| word.parse().ok()).collect();
            let (Some(id), [worker, number]) = (blob_id(value), numbers.as_slice()) else {
                return Err(format!("{key} is not a record of a blob").into());
            };
            let body = body(*worker, *number);
            match stores.blobs.read_small(id, body.len() as u64) {
                Ok(found) if found == body => {}
                Ok(_) => lost.push(format!("{key} has other bytes")),
                Err(error) => lost.push(format!("{key}: {error}")),
            }
        }
        if !page.more {
            break;
        }
        span.from = page.rows.last().map(|(key, _)| key.to_vec());
    }
    for name in acknowledged.blobs.keys() {
        // A blob whose delete was under way may be gone; one is only then excused.
        let next = acknowledged.blobs.get(name).is_some_and(|(worker, number)| {
            let end = number.div_ceil(8) * 8;
            acknowledged.blobs.contains_key(&format!("blob/{worker}/{end}")) && end != *number
        });
        if !named.contains(name) && !acknowledged.gone.contains(name) && !next {
            lost.push(format!("{name} is gone"));
        }
    }
    for name in &acknowledged.gone {
        if named.contains(name) {
            lost.push(format!("{name} came back"));
        }
    }
    Ok(())
}
