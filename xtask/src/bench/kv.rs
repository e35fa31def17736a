//! The key-value store on disk: acknowledged commits against the disk's own append and fdatasync, and reads.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use tempfile::tempdir_in;
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::{KeyValue, Sled, SledConfig, Span, StoreError, TreeKind, run_blocking};

use super::report::Row;
use crate::run::workspace::target;

/// The time that each number is measured.
const SPAN: Duration = Duration::from_secs(3);
/// The number of times that the numbers of one writer are measured; the middle one counts.
const TURNS: usize = 3;
/// More than one writer fills in a [`SPAN`].
const ROOM_BYTES: usize = 16 << 20;
const VALUE_BYTES: usize = 200;
const ROWS: u64 = 100_000;
/// More tries than any writer of one key should need; one that needs more has given up, and the measurement fails.
const ATTEMPTS_MAX: u32 = 50;

/// Commits of 1, 16 and 64 writers, of 64 writers of one key, and beside bases; reads, starts, and ten million rows.
///
/// # Errors
/// If the disk fails, a writer gives up or an update is lost.
pub(crate) fn measure() -> Result<Vec<Row>> {
    std::fs::create_dir_all(target())?;
    let folder = tempdir_in(target())?;
    let (one, append, in_place) = one_writer(folder.path())?;
    let alone = "append + fdatasync, alone";
    let room = "fdatasync of a file that has its room, alone";
    let mut rows = vec![
        row("1 writer", one, (alone, append), Some(0.5)),
        row("1 writer", one, (room, in_place), None),
    ];
    for writers in [16, 64] {
        let grouped = grouped_appends(&folder.path().join(format!("group-{writers}")), writers)?;
        let store = open(&folder.path().join(format!("spread-{writers}")))?;
        let commits = commits(&store, writers, spread)?;
        drop(store);
        let what = format!("{writers} writers, spread keys");
        rows.push(row(&what, commits, ("append + fdatasync, in the same groups", grouped), None));
        if writers == 16 {
            rows.push(row(&what, commits, ("1 writer", one), Some(5.0)));
        } else {
            let same = one_key(&folder.path().join("same"), writers)?;
            rows.push(row("64 writers of one key", same, (&what, commits), Some(0.5)));
        }
    }
    rows.push(beside_bases(folder.path())?);
    rows.extend(redb(folder.path())?);
    rows.extend(reads(&folder.path().join("reads"))?);
    rows.extend(super::rebuild::measure(folder.path())?);
    rows.extend(super::large::measure(folder.path())?);
    Ok(rows)
}

/// Commits while a base is made for each segment of the log that is longer than the one before, against commits of a store that makes none; turn about,
/// and the middle of each.
fn beside_bases(folder: &Path) -> Result<Row> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        for (rates, base_bytes_min) in [(&mut with, 1), (&mut without, u64::MAX)] {
            let path = folder.join(format!("bases-{turn}-{base_bytes_min}"));
            let config = SledConfig { base_bytes_min, ..SledConfig::new(path) };
            rates.push(commits(&Sled::open(&config)?, 16, spread)?);
        }
    }
    let what = "16 writers, spread keys, while bases are made";
    Ok(row(what, middle(with), ("without a base", middle(without)), Some(0.9)))
}

/// The same commits where redb is the tree, against those of sled's.
fn redb(folder: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for count in [1, 16] {
        let mut rates = Vec::new();
        for (name, tree) in TreeKind::all() {
            let path = folder.join(format!("tree-{name}-{count}"));
            let store = Sled::open(&SledConfig { tree: tree.clone(), ..SledConfig::new(path) })?;
            rates.push(commits(&store, count, spread)?);
        }
        if let [sled, redb] = rates.as_slice() {
            let what = format!("{count} writers, redb");
            rows.push(row(&what, *redb, ("sled", *sled), None));
        }
    }
    Ok(rows)
}

fn row(what: &str, value: f64, limit: (&str, f64), expected: Option<f64>) -> Row {
    Row {
        what: what.to_owned(),
        value,
        unit: "commits/s",
        limit: Some((limit.0.to_owned(), limit.1)),
        expected,
    }
}

fn open(directory: &Path) -> Result<Sled> {
    Ok(Sled::open(&SledConfig::new(directory))?)
}

/// One writer of the store, of a file that grows, and of one that does not; turn about, and the middle of each.
fn one_writer(folder: &Path) -> Result<(f64, f64, f64)> {
    let store = open(&folder.join("spread-1"))?;
    let (mut ones, mut grown, mut steady) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..TURNS {
        let own = |writer, number| format!("{turn}/{}", spread(writer, number));
        ones.push(commits(&store, 1, own)?);
        let file = File::create(folder.join("append"))?;
        grown.push(syncs(file)?);
        let file = File::create(folder.join("in-place"))?;
        // Written, not only reserved: the sync of a reserved block still changes the file's map.
        (&file).write_all(&vec![0; ROOM_BYTES])?;
        file.sync_all()?;
        (&file).rewind()?;
        steady.push(syncs(file)?);
    }
    Ok((middle(ones), middle(grown), middle(steady)))
}

fn middle(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}

fn rate(count: u64, begun: Instant) -> f64 {
    count as f64 / begun.elapsed().as_secs_f64()
}

/// The rate of the disk for one writer: write the next record, `fdatasync`, again.
fn syncs(mut file: File) -> Result<f64> {
    let begun = Instant::now();
    let mut count = 0;
    while begun.elapsed() < SPAN {
        file.write_all(&[7; VALUE_BYTES])?;
        file.sync_data()?;
        count += 1;
    }
    Ok(rate(count, begun))
}

/// The rate of the disk for many: one thread appends all that waits, syncs once, and answers everybody.
fn grouped_appends(path: &Path, writers: u64) -> Result<f64> {
    let file = File::create(path)?;
    let (send, orders) = channel::<Sender<()>>();
    let stop = AtomicBool::new(false);
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let syncing = scope.spawn(move || sync_groups(file, &orders));
        let begun = Instant::now();
        for _ in 0..writers {
            let (send, stop, done) = (send.clone(), &stop, &done);
            scope.spawn(move || {
                let (answer, answered) = channel();
                while !stop.load(Ordering::Relaxed)
                    && send.send(answer.clone()).is_ok()
                    && answered.recv().is_ok()
                {
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        drop(send);
        std::thread::sleep(SPAN);
        let measured = rate(done.load(Ordering::Relaxed), begun);
        stop.store(true, Ordering::Relaxed);
        syncing.join().map_err(|_| anyhow!("the appends panicked"))??;
        Ok(measured)
    })
}

fn sync_groups(mut file: File, orders: &Receiver<Sender<()>>) -> Result<()> {
    let mut bytes = Vec::new();
    while let Ok(first) = orders.recv() {
        let mut group = vec![first];
        group.extend(orders.try_iter());
        bytes.resize(group.len() * VALUE_BYTES, 7);
        file.write_all(&bytes)?;
        file.sync_data()?;
        for answer in group {
            // A writer that has stopped waits for no answer.
            let _ = answer.send(());
        }
    }
    Ok(())
}

/// Runs writers for a while, and gives their rate and how often `work` was done; it is told the number of the writer, and of its turn.
///
/// # Errors
/// Those of `work`.
pub(super) fn writers(
    count: u64,
    work: impl Fn(u64, u64) -> Result<(), StoreError> + Sync,
) -> Result<(f64, u64)> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let begun = Instant::now();
        let threads: Vec<_> = (0..count)
            .map(|writer| {
                let (work, stop) = (&work, &stop);
                scope.spawn(move || {
                    let mut number = 0;
                    while !stop.load(Ordering::Relaxed) {
                        work(writer, number)?;
                        number += 1;
                    }
                    Ok::<u64, StoreError>(number)
                })
            })
            .collect();
        std::thread::sleep(SPAN);
        stop.store(true, Ordering::Relaxed);
        let mut total = 0;
        for thread in threads {
            total += thread.join().map_err(|_| anyhow!("a writer panicked"))??;
        }
        Ok((rate(total, begun), total))
    })
}

/// A key of its own for each commit.
fn spread(writer: u64, number: u64) -> String {
    format!("{writer}/{number}")
}

fn commits(store: &Sled, count: u64, key: impl Fn(u64, u64) -> String + Sync) -> Result<f64> {
    let (measured, _) = writers(count, |writer, number| {
        let mut ids = SeededIds::from_number(writer << 32 | number);
        run_blocking(store, &mut ids, ATTEMPTS_MAX, |tx, _| {
            tx.put(key(writer, number), vec![7; VALUE_BYTES]);
            Ok(())
        })
    })?;
    Ok(measured)
}

/// Every writer reads one counter and writes it back with one more; none may be lost.
fn one_key(directory: &Path, count: u64) -> Result<f64> {
    let store = open(directory)?;
    let read = |bytes: &[u8]| bytes.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
    let (measured, total) = writers(count, |writer, number| {
        let mut ids = SeededIds::from_number(writer << 32 | number);
        run_blocking(&store, &mut ids, ATTEMPTS_MAX, |tx, _| {
            let counted = tx.get(b"counter")?.map_or(0, |bytes| read(&bytes));
            let mut value = vec![7; VALUE_BYTES];
            value.splice(..8, (counted + 1).to_be_bytes());
            tx.put("counter", value);
            Ok(())
        })
    })
    .context("a writer of one key gave up")?;
    let counted = store.get(b"counter")?.value.map_or(0, |bytes| read(&bytes));
    ensure!(counted == total, "{total} updates were acknowledged, {counted} are there");
    Ok(measured)
}

/// Single rows and pages of a hundred, at random, from a store that was opened anew.
fn reads(directory: &Path) -> Result<Vec<Row>> {
    let store = open(directory)?;
    let key = |number: u64| format!("row/{number:08}");
    for start in (0..ROWS).step_by(500) {
        run_blocking(&store, &mut SeededIds::from_number(start), 1, |tx, _| {
            for number in start..start + 500 {
                tx.put(key(number), vec![7; VALUE_BYTES]);
            }
            Ok::<(), StoreError>(())
        })?;
    }
    drop(store);
    let store = open(directory)?;
    let mut ids = SeededIds::from_number(1);
    let mut measured = |read: &dyn Fn(u64) -> Result<usize, StoreError>| -> Result<f64> {
        let begun = Instant::now();
        let mut count = 0;
        while begun.elapsed() < SPAN {
            ensure!(read(ids.next() % (ROWS - 100))? > 0, "a row is gone");
            count += 1;
        }
        Ok(rate(count, begun))
    };
    let gets = measured(&|number| {
        let found = store.get(key(number).as_bytes())?;
        Ok(found.value.map_or(0, |value| value.len()))
    })?;
    let pages = measured(&|number| {
        let span = Span { from: Some(key(number).into_bytes()), ..Span::of("row/") };
        Ok(store.scan(&span, 100)?.rows.len())
    })?;
    let plain = |what: &str, value, unit| Row {
        what: what.to_owned(),
        value,
        unit,
        limit: None,
        expected: None,
    };
    Ok(vec![
        plain("reads of single rows, one thread", gets, "reads/s"),
        plain("pages of 100 rows, one thread", pages, "pages/s"),
    ])
}
