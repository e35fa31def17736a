//! Writers that go on while a store has faults, and what must be there in the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use triptych_core::id::SeededIds;
use triptych_core::kv::{SharedKeyValue, Span, StoreError, Tx, run_blocking};

const WRITERS: u64 = 8;
/// Acknowledged writes that come before each fault, so that there is load when it comes.
const BETWEEN: u64 = 60;

/// The answers that the writers were given.
#[derive(Default)]
struct Told {
    acknowledged: AtomicU64,
    refused: AtomicU64,
    stop: AtomicBool,
}

/// The answers that one writer was given.
#[derive(Default)]
struct Written {
    acknowledged: u64,
    /// Writes of which the store could not say what became of them.
    unknown: u64,
}

/// Adds one to a counter of its own and to one that all share, and leaves a row for each, until it is stopped.
fn write(store: &dyn SharedKeyValue, writer: u64, told: &Told) -> Written {
    let mut ids = SeededIds::from_number(1_000 + writer);
    let mut written = Written::default();
    while !told.stop.load(Ordering::Relaxed) {
        let done = run_blocking(store, &mut ids, 10_000, |tx, _| {
            let add_one = |tx: &mut Tx<'_>, counter: String| {
                let count = tx.get(counter.as_bytes())?.map_or(0, |bytes| number(&bytes));
                tx.put(counter, (count + 1).to_be_bytes().to_vec());
                Ok::<_, StoreError>(count)
            };
            let own = add_one(tx, format!("own/{writer}"))?;
            add_one(tx, "shared".to_owned())?;
            tx.put(format!("row/{writer}/{own:08}"), "there");
            Ok(())
        });
        match done {
            Ok(()) => {
                written.acknowledged += 1;
                told.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            // Written or not: the next attempt counts on from what is there.
            Err(StoreError::OutcomeUnknown) => {
                written.unknown += 1;
                store.wait_until_reached(super::PATIENCE).unwrap();
            }
            // Nothing was written: the next attempt leaves the same row.
            Err(StoreError::Unavailable(_)) => {
                told.refused.fetch_add(1, Ordering::Relaxed);
                store.wait_until_reached(super::PATIENCE).unwrap();
            }
            Err(error) => panic!("a writer was told {error}"),
        }
    }
    written
}

fn number(bytes: &Bytes) -> u64 {
    u64::from_be_bytes(bytes.as_ref().try_into().unwrap())
}

/// Runs the writers while `fault` comes a number of times, then compares the store with what they were told.
pub(crate) fn under_load<S: SharedKeyValue + 'static>(
    store: &Arc<S>,
    faults: u32,
    mut fault: impl FnMut(),
) {
    let told = Arc::new(Told::default());
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, told) = (Arc::clone(store), Arc::clone(&told));
            std::thread::spawn(move || write(&*store, writer, &told))
        })
        .collect();
    for _ in 0..faults {
        let goal = told.acknowledged.load(Ordering::Relaxed) + BETWEEN;
        while told.acknowledged.load(Ordering::Relaxed) < goal {
            assert!(writers.iter().all(|writer| !writer.is_finished()), "a writer gave up");
            std::thread::yield_now();
        }
        fault();
    }
    told.stop.store(true, Ordering::Relaxed);
    let written: Vec<_> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
    let counted = |counter: &str| {
        store.get(counter.as_bytes()).unwrap().value.map_or(0, |bytes| number(&bytes))
    };
    let mut sum = 0;
    for (writer, Written { acknowledged, unknown }) in written.iter().enumerate() {
        let count = counted(&format!("own/{writer}"));
        let most = acknowledged + unknown;
        assert!(
            (*acknowledged..=most).contains(&count),
            "writer {writer}: {count} of {acknowledged} to {most}"
        );
        let rows = store.scan(&Span::of(format!("row/{writer}/")), 100_000).unwrap().rows.len();
        assert_eq!(rows as u64, count, "rows of writer {writer}");
        sum += count;
    }
    let shared = counted("shared");
    assert_eq!(shared, sum, "the counter that all share");
    let unknown: u64 = written.iter().map(|written| written.unknown).sum();
    println!("{shared} writes, {:?}, {:?} refused, {unknown} unknown", store.stats(), told.refused);
}
