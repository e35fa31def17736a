//! The key-value store at its start: an index that is filled anew, one that is opened as it was left, and what the rows cost on their way.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Sled, SledConfig, StoreError, TreeKind, run_blocking};

use super::report::Row;
use crate::run::workspace::cargo;

/// Rows of the store.
const ROWS: u64 = 1_000_000;
/// Bytes of a value.
const VALUE_BYTES: usize = 500;
/// Rows of a transaction.
const TOGETHER: u64 = 500;
/// The longest that filling the index of these rows should take.
const REBUILD_SECONDS_MAX: f64 = 20.0;
/// Starts that are timed.
const STARTS: usize = 5;
/// The longest that a start should take that opens the index as it is.
const START_SECONDS_MAX: f64 = 0.3;

/// Rows of each tree.
///
/// # Errors
/// If the disk fails, or a row is gone.
pub(crate) fn measure(folder: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, tree) in TreeKind::all() {
        let config = SledConfig { tree: tree.clone(), ..SledConfig::new(folder.join(name)) };
        rows.extend(of_tree(name, &config)?);
        std::fs::remove_dir_all(&config.directory)?;
    }
    Ok(rows)
}

fn of_tree(name: &str, config: &SledConfig) -> Result<Vec<Row>> {
    let row = |what: String, value, unit, limit: (&str, f64), expected| Row {
        what: format!("{what}, {name}"),
        value,
        unit,
        limit: Some((limit.0.to_owned(), limit.1)),
        expected: Some(expected),
    };
    let before = bytes_written()?;
    let store = Sled::open(config)?;
    let loaded = Instant::now();
    for start in (0..ROWS).step_by(TOGETHER as usize) {
        run_blocking(&store, &mut SeededIds::from_number(start), 1, |tx, _| {
            for number in start..start + TOGETHER {
                tx.put(key(number), vec![number as u8; VALUE_BYTES]);
            }
            Ok::<(), StoreError>(())
        })?;
    }
    let load_rate = ROWS as f64 / loaded.elapsed().as_secs_f64();
    drop(store);
    let written = (bytes_written()? - before) as f64;
    let own = (ROWS * (key(0).len() + VALUE_BYTES) as u64) as f64;
    let opened = start(name, &config.directory)?;
    let rebuilt = rebuild(&SledConfig { rebuilds: true, ..config.clone() })?;
    let again = ("the longest that it should take", 1.0 / START_SECONDS_MAX);
    let filled = ("in 20 s", ROWS as f64 / REBUILD_SECONDS_MAX);
    Ok(vec![
        row(
            "index of 1,000,000 rows filled anew".into(),
            ROWS as f64 / rebuilt,
            "rows/s",
            filled,
            1.0,
        ),
        row("starts on the index as it is".into(), 1.0 / opened, "starts/s", again, 1.0),
        Row {
            what: format!("1,000,000 rows loaded, {name}"),
            value: load_rate,
            unit: "rows/s",
            limit: None,
            expected: None,
        },
        Row {
            what: format!("bytes written for each byte of these rows, {name}"),
            value: written / own,
            unit: "bytes",
            limit: None,
            expected: None,
        },
    ])
}

fn key(number: u64) -> String {
    format!("row/{number:012}")
}

/// Seconds that a start takes in the middle of several, each in a process of its own, as a service starts: in this one is the memory of the
/// store that was loaded.
fn start(tree: &str, directory: &Path) -> Result<f64> {
    let mut seconds = Vec::new();
    for _ in 0..STARTS {
        let mut command = cargo(&["run", "--release", "--locked", "-p", "triptych-core"]);
        command.args(["--example", "large", "--features", "redb", "--", tree]).arg(directory);
        let done = command.output()?;
        let said = String::from_utf8_lossy(&done.stdout);
        ensure!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
        seconds.push(said.trim().parse::<f64>().context("the program tells its seconds")?);
    }
    seconds.sort_unstable_by(f64::total_cmp);
    seconds.get(STARTS / 2).copied().context("there was a start")
}

/// Seconds until a store is open whose index is filled anew; it has its last row.
fn rebuild(config: &SledConfig) -> Result<f64> {
    let begun = Instant::now();
    let store = Sled::open(config)?;
    let seconds = begun.elapsed().as_secs_f64();
    let last = store.get(key(ROWS - 1).as_bytes())?.value;
    ensure!(last.is_some_and(|value| value.len() == VALUE_BYTES), "the last row is gone");
    ensure!(store.rebuilt().is_some(), "its index was not filled anew");
    Ok(seconds)
}

/// Bytes that this process has had written to the disk.
fn bytes_written() -> Result<u64> {
    let counts = std::fs::read_to_string("/proc/self/io")?;
    let line = counts.lines().find_map(|line| line.strip_prefix("write_bytes: "));
    Ok(line.context("the system does not count what is written")?.trim().parse()?)
}
