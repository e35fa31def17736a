//! Loads a store of many rows, reads it and opens it again, and tells its rates and its memory: for stores whose index outgrows that.
//!
//! ```text
//! cargo run --release -p triptych-core --example large --features redb -- 10000000 redb /var/tmp/large
//! ```
//!
//! Without a number of rows it opens the store that is there as a service does at its start, and tells the seconds that this took.
//!
//! The rows come in no order of their keys. It fails where the process was ever larger than 2 GiB, or a row is not there. The directory is removed at
//! the end.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program at the terminal that measures time"
)]

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::{KeyValue, Sled, SledConfig, Span, StoreError, TreeKind, run_blocking};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Bytes of a value.
const VALUE_BYTES: usize = 200;
/// Rows of a transaction.
const TOGETHER: u64 = 500;
/// Rows that are read, and pages of a hundred.
const READS: u64 = 100_000;
const PAGES: u64 = 10_000;
/// The memory that the store may take.
const MEMORY_MAX: u64 = 2 << 30;
/// Memory of its cache.
const CACHE_BYTES: u64 = 1 << 30;
/// An odd number: numbers times it come once each, in no order.
const SCATTER: u64 = 0x9E37_79B9_7F4A_7C15;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        [rows, tree, directory] => run(rows, tree, Path::new(directory)),
        [tree, directory] => start(tree, Path::new(directory)),
        _ => Err("usage: large [ROWS] sled|redb DIRECTORY".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(rows: &str, tree: &str, directory: &Path) -> Outcome<()> {
    let rows: u64 = rows.parse()?;
    let tree = TreeKind::named(tree).ok_or("no such tree in this build")?;
    let config = SledConfig { tree, cache_bytes: CACHE_BYTES, ..SledConfig::new(directory) };
    println!(
        "| what | rows | a second | memory now, MiB | at the most, MiB |\n|---|---|---|---|---|"
    );
    let store = Sled::open(&config)?;
    let (begun, mut told) = (Instant::now(), Instant::now());
    let part = (rows / 10).next_multiple_of(TOGETHER).max(TOGETHER);
    for start in (0..rows).step_by(TOGETHER as usize) {
        let end = rows.min(start + TOGETHER);
        let mut ids = SeededIds::from_number(start);
        run_blocking(&store, &mut ids, 1, |tx, _| {
            (start..end).for_each(|number| tx.put(key(number), value(number)));
            Ok::<(), StoreError>(())
        })?;
        if end.is_multiple_of(part) || end == rows {
            let count = part.min(end);
            tell("loaded", end, count as f64 / told.elapsed().as_secs_f64())?;
            told = Instant::now();
        }
    }
    let all = begun.elapsed().as_secs_f64();
    println!("| all loaded | {rows} | {:.0} | | |", rows as f64 / all);
    read(&store, rows)?;
    let closing = Instant::now();
    drop(store);
    println!("| closed | | in {:.2} s | | |", closing.elapsed().as_secs_f64());
    let opening = Instant::now();
    let store = Sled::open(&config)?;
    println!("| opened as it is | | in {:.2} s | | |", opening.elapsed().as_secs_f64());
    read(&store, rows)?;
    drop(store);
    let filling = Instant::now();
    let store = Sled::open(&SledConfig { rebuilds: true, ..config })?;
    tell("index filled anew", rows, rows as f64 / filling.elapsed().as_secs_f64())?;
    read(&store, rows)?;
    drop(store);
    std::fs::remove_dir_all(directory)?;
    let most = memory("VmHWM")?;
    if most > MEMORY_MAX {
        return Err(format!("{} MiB of memory, {} allowed", most >> 20, MEMORY_MAX >> 20).into());
    }
    Ok(())
}

/// Opens a store that is there.
fn start(tree: &str, directory: &Path) -> Outcome<()> {
    let tree = TreeKind::named(tree).ok_or("no such tree in this build")?;
    let config = SledConfig { tree, ..SledConfig::new(directory) };
    let opening = Instant::now();
    let store = Sled::open(&config)?;
    let seconds = opening.elapsed().as_secs_f64();
    if let Some(rebuilt) = store.rebuilt() {
        return Err(format!("its index was filled anew: {rebuilt:?}").into());
    }
    println!("{seconds}");
    Ok(())
}

/// Rows and pages at random, each of which has to be there.
fn read(store: &Sled, rows: u64) -> Outcome<()> {
    let mut chance = SeededIds::from_number(rows);
    let begun = Instant::now();
    for _ in 0..READS {
        let number = chance.next() % rows;
        let found = store.get(key(number).as_bytes())?.value;
        if found.as_deref() != Some(value(number).as_slice()) {
            return Err(format!("row {number} is not as it was put").into());
        }
    }
    tell("rows read at random", READS, READS as f64 / begun.elapsed().as_secs_f64())?;
    let begun = Instant::now();
    for _ in 0..PAGES {
        let from = Some(key(chance.next() % rows).into_bytes());
        store.scan(&Span { from, ..Span::of("row/") }, 100)?;
    }
    tell("pages of 100", PAGES, PAGES as f64 / begun.elapsed().as_secs_f64())
}

fn tell(what: &str, count: u64, rate: f64) -> Outcome<()> {
    let (now, most) = (memory("VmRSS")? >> 20, memory("VmHWM")? >> 20);
    println!("| {what} | {count} | {rate:.0} | {now} | {most} |");
    Ok(())
}

/// Bytes of memory of this process, as the system counts them under a name.
fn memory(name: &str) -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let words = line.and_then(|line| line.split_whitespace().next());
    Ok(words.ok_or("the system does not count memory")?.parse::<u64>()? << 10)
}

fn key(number: u64) -> String {
    format!("row/{:016x}", number.wrapping_mul(SCATTER))
}

fn value(number: u64) -> Vec<u8> {
    vec![number as u8; VALUE_BYTES]
}
