//! Writers that go on while a store has faults, and what must be there in the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use triptych_core::id::SeededIds;
use triptych_core::kv::{SharedKeyValue, Span, StoreError, run_blocking};

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

/// Adds one to a counter of its own and to one that all share, and leaves a row for each, until it is stopped.
fn write(store: &dyn SharedKeyValue, writer: u64, told: &Told) -> u64 {
    let mut ids = SeededIds::from_number(1_000 + writer);
    let mut own = 0_u64;
    while !told.stop.load(Ordering::Relaxed) {
        let done = run_blocking(store, &mut ids, 10_000, |tx, _| {
            for counter in [format!("own/{writer}"), "shared".to_owned()] {
                let count = tx.get(counter.as_bytes())?.map_or(0, |bytes| number(&bytes));
                tx.put(counter, (count + 1).to_be_bytes().to_vec());
            }
            tx.put(format!("row/{writer}/{own:08}"), "there");
            Ok(())
        });
        match done {
            Ok(()) => {
                own += 1;
                told.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            // Nothing was written: the next attempt leaves the same row.
            Err(StoreError::Unavailable(_)) => {
                told.refused.fetch_add(1, Ordering::Relaxed);
                store.wait_until_reached(super::PATIENCE).unwrap();
            }
            Err(error) => panic!("a writer was told {error}"),
        }
    }
    own
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
    let written: Vec<u64> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
    for (writer, own) in written.iter().enumerate() {
        let count = store.get(format!("own/{writer}").as_bytes()).unwrap().value.unwrap();
        assert_eq!(number(&count), *own, "writer {writer}");
        let rows = store.scan(&Span::of(format!("row/{writer}/")), 100_000).unwrap().rows.len();
        assert_eq!(rows as u64, *own, "rows of writer {writer}");
    }
    let shared = number(&store.get(b"shared").unwrap().value.unwrap());
    assert_eq!(shared, written.iter().sum::<u64>(), "the counter that all share");
    println!("{shared} writes, {:?}, {:?} refused", store.stats(), told.refused);
}
