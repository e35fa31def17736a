//! The program that is killed: writers of records and of blobs, each of which prints what was acknowledged.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use triptych_core::blobs::{BlobId, Blobs, Directory};
use triptych_core::disk::SystemDisk;
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::{
    Durability, KeyValue, Sled, SledConfig, StoreError, VALUE_BYTES_MAX, run_blocking,
};
use triptych_core::time::Timestamp;

use crate::Outcome;

/// The run of the machine in which the writers are killed.
pub(crate) const WRITERS_RUN: &str = "writers";
const RECORD_WRITERS: u64 = 6;
const BLOB_WRITERS: u64 = 4;
/// Small enough that a round fills, empties and compacts several packs.
const PACK_BYTES_MAX: u64 = 512 * 1024;
const ATTEMPTS_MAX: u32 = 3;

/// Both stores of one data directory.
pub(crate) struct Stores {
    pub(crate) kv: Arc<dyn KeyValue>,
    pub(crate) blobs: Arc<dyn Blobs>,
}

/// Opens the stores as a service would, with small packs.
pub(crate) fn open(
    directory: &Path,
    sync_is_left_out: bool,
    run_of_machine: &str,
) -> Outcome<Stores> {
    // Short values stand in their rows, longer ones lie in packs and are replaced there. Where the sync is left out there are none: theirs
    // would carry the rows to the disk.
    let record_bytes_max = if sync_is_left_out { VALUE_BYTES_MAX } else { 2 };
    let kv = Sled::open(&SledConfig {
        cache_bytes: 64 * 1024 * 1024,
        record_bytes_max,
        sync_is_left_out,
        boot_id: Some(run_of_machine.to_owned()),
        // So that a round has several bases.
        segment_bytes: 64 * 1024,
        base_bytes_min: 256 * 1024,
        ..SledConfig::new(directory.join("kv"))
    })?;
    let names = SeededIds::from_number(u64::from(std::process::id()));
    let blobs = Directory::open_with_packs_of(
        directory.join("blobs"),
        Arc::new(SystemDisk),
        names,
        PACK_BYTES_MAX,
    )?;
    Ok(Stores { kv: Arc::new(kv), blobs: Arc::new(blobs) })
}

/// The name of a body that stands in a record.
pub(crate) fn blob_id(bytes: &[u8]) -> Option<BlobId> {
    bytes.try_into().ok().map(BlobId)
}

/// The body of a writer's blob: small ones share packs, large ones have a file.
pub(crate) fn body(worker: u64, number: u64) -> Bytes {
    let mut ids = SeededIds::from_number(worker << 32 | number);
    let bytes = match ids.next() % 8 {
        0 => 300_000 + ids.next() % 700_000,
        1 => 0,
        _ => ids.next() % 60_000,
    };
    let mut body = vec![0; usize::try_from(bytes).unwrap_or(0)];
    ids.fill(&mut body);
    body.into()
}

/// Writes until it is killed.
pub(crate) fn run(directory: &Path, sync_is_left_out: bool, records_alone: bool) -> Outcome<()> {
    let stores = Arc::new(open(directory, sync_is_left_out, WRITERS_RUN)?);
    let mut threads = Vec::new();
    for worker in 0..RECORD_WRITERS {
        let stores = Arc::clone(&stores);
        threads.push(std::thread::spawn(move || records(&stores, worker)));
    }
    for worker in 0..if records_alone { 0 } else { BLOB_WRITERS } {
        let stores = Arc::clone(&stores);
        threads.push(std::thread::spawn(move || bodies(&stores, worker)));
    }
    for thread in threads {
        thread
            .join()
            .map_err(|_| "a writer panicked")?
            .map_err(|error| format!("a writer ended before it was killed: {error}"))?;
    }
    Ok(())
}

/// One line, whole, at once: the reader takes it for acknowledged.
fn acknowledge(kind: &str, worker: u64, number: u64) -> Result<(), String> {
    let line = format!("{kind} {worker} {number}\n");
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes()).and_then(|()| out.flush()).map_err(|error| error.to_string())
}

/// Batches of three rows that must stand together, and one row each that stays.
fn records(stores: &Stores, worker: u64) -> Result<(), String> {
    let mut ids = SeededIds::from_number(worker);
    let kind = if worker == 0 { "process" } else { "record" };
    for number in 1.. {
        let written: Result<(), StoreError> =
            run_blocking(&*stores.kv, &mut ids, ATTEMPTS_MAX, |tx, _| {
                if worker == 0 {
                    tx.set_durability(Durability::Process);
                }
                for part in ["a", "b", "c"] {
                    let key = format!("{kind}/{worker}/{part}");
                    tx.get(key.as_bytes())?;
                    tx.put(key, number.to_string());
                }
                tx.put(format!("row/{worker}/{number}"), vec![7; 100]);
                Ok(())
            });
        written.map_err(|error| error.to_string())?;
        acknowledge(kind, worker, number)?;
    }
    Ok(())
}

/// Bodies that a record names; the record of every second one is deleted later, and then its blob.
fn bodies(stores: &Stores, worker: u64) -> Result<(), String> {
    let mut ids = SeededIds::from_number(100 + worker);
    let failed = |error: &dyn std::error::Error| error.to_string();
    for number in 1.. {
        let now = Timestamp::from_millis(1_790_000_000_000 + i64::try_from(number).unwrap_or(0));
        let body = body(worker, number);
        let mut writer = stores.blobs.create(now, None);
        for piece in body.chunks(64 * 1024) {
            let piece = Bytes::copy_from_slice(piece);
            writer.write(piece).wait().map_err(|error| failed(&error))?;
        }
        let id = writer.finish().wait().map_err(|error| failed(&error))?.id;
        let name = |number| format!("blob/{worker}/{number}");
        name_blob(stores, &mut ids, name(number), Some(&id.0)).map_err(|error| failed(&error))?;
        acknowledge("blob", worker, number)?;
        if number % 8 != 0 || number < 8 {
            continue;
        }
        for gone in number - 7..number {
            let key = name(gone);
            let found = stores.kv.get(key.as_bytes()).map_err(|error| failed(&error))?;
            let id = found.value.ok_or("a record vanished while it was written to")?;
            name_blob(stores, &mut ids, key, None).map_err(|error| failed(&error))?;
            let id = blob_id(&id).ok_or("a record is not a name")?;
            stores.blobs.delete(id).wait().map_err(|error| failed(&error))?;
            acknowledge("gone", worker, gone)?;
        }
    }
    Ok(())
}

fn name_blob(
    stores: &Stores,
    ids: &mut SeededIds,
    key: String,
    id: Option<&[u8]>,
) -> Result<(), StoreError> {
    run_blocking(&*stores.kv, ids, ATTEMPTS_MAX, |tx, _| {
        match id {
            Some(id) => tx.put(key.clone(), id.to_vec()),
            None => tx.delete(key.clone()),
        }
        Ok(())
    })
}
