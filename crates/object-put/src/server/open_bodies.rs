//! The bodies that answers are read from: what is replaced or deleted meanwhile stays until the last of them is done, and a reader that has
//! stalled holds nothing of it in memory.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::watch;

use crate::store::part_list::BodyName;

/// Records that are read ahead for all clients together, where each has at least one.
const RECORDS_AHEAD: usize = 512;

/// A reader of a body.
pub(super) trait BodyReader: Send + Sync {
    /// Gives up what it has read ahead, if it was not asked for a piece since the last look.
    fn release_if_idle(&self);

    /// Bytes that it has read ahead.
    fn held(&self) -> usize;
}

/// The readers of each body that has any.
#[derive(Clone, Default)]
pub(super) struct OpenBodies {
    readers: Arc<Mutex<Readers>>,
    /// Bytes that the last look left read ahead.
    left: watch::Sender<Option<usize>>,
}

#[derive(Default)]
struct Readers {
    /// The number of readers of each body.
    counts: HashMap<BodyName, usize>,
    /// The number of the last one.
    last: u64,
    all: HashMap<u64, Weak<dyn BodyReader>>,
}

/// A body that is kept for a reader, as long as this lives.
pub(super) struct OpenBody {
    all: OpenBodies,
    name: BodyName,
    number: u64,
}

impl OpenBodies {
    /// Keeps a body for one more reader.
    pub(super) fn open(&self, name: BodyName, reader: Weak<dyn BodyReader>) -> OpenBody {
        let mut readers = self.readers.lock();
        *readers.counts.entry(name).or_default() += 1;
        readers.last += 1;
        let number = readers.last;
        readers.all.insert(number, reader);
        OpenBody { all: self.clone(), name, number }
    }

    /// Tells whether somebody reads a body.
    pub(super) fn is_open(&self, name: BodyName) -> bool {
        self.readers.lock().counts.contains_key(&name)
    }

    /// Records that one reader may read at once, of those that all may hold: many readers are slow ones, and what is freed once they have
    /// stalled is the allocator's from then on, not the system's.
    pub(super) fn share(&self) -> usize {
        (RECORDS_AHEAD / self.readers.lock().all.len().max(1)).max(1)
    }

    /// Frees what was read ahead for clients that took nothing since the last look. To be called every second.
    pub(super) fn release_idle(&self) {
        self.all().iter().for_each(|reader| reader.release_if_idle());
        self.left.send_replace(Some(self.held()));
    }

    /// Waits for a look that leaves nothing read ahead.
    pub(super) async fn all_released(&self) {
        // It ends early for a service that is gone, which holds nothing.
        let _ = self.left.subscribe().wait_for(|left| *left == Some(0)).await;
    }

    /// Bytes that are read ahead for all clients.
    pub(super) fn held(&self) -> usize {
        self.all().iter().map(|reader| reader.held()).sum()
    }

    fn all(&self) -> Vec<Arc<dyn BodyReader>> {
        self.readers.lock().all.values().filter_map(Weak::upgrade).collect()
    }
}

impl Drop for OpenBody {
    fn drop(&mut self) {
        let mut readers = self.all.readers.lock();
        readers.all.remove(&self.number);
        let left = readers.counts.get(&self.name).map_or(0, |count| count.saturating_sub(1));
        match left {
            0 => readers.counts.remove(&self.name),
            _ => readers.counts.insert(self.name, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl BodyReader for Nothing {
        fn release_if_idle(&self) {}

        fn held(&self) -> usize {
            1
        }
    }

    #[test]
    fn a_body_is_open_until_its_last_reader_is_done() {
        let (all, reader) = (OpenBodies::default(), Arc::new(Nothing));
        let open = |list| {
            let reader: Weak<Nothing> = Arc::downgrade(&reader);
            all.open(BodyName::List(list), reader)
        };
        let first = open(1);
        let second = open(1);
        assert_eq!(all.held(), 2);
        drop(first);
        assert!(all.is_open(BodyName::List(1)) && !all.is_open(BodyName::List(2)));
        drop(second);
        assert!(!all.is_open(BodyName::List(1)));
        assert_eq!(all.held(), 0);
    }

    #[test]
    fn readers_share_what_is_read_ahead_and_each_reads_a_record_at_least() {
        let (all, reader) = (OpenBodies::default(), Arc::new(Nothing));
        let mut open = Vec::new();
        for readers in [1, 2, 100, RECORDS_AHEAD, 3 * RECORDS_AHEAD] {
            open.resize_with(readers, || {
                let reader: Weak<Nothing> = Arc::downgrade(&reader);
                all.open(BodyName::List(1), reader)
            });
            assert!(all.share() >= 1);
            assert!(all.share() * readers <= RECORDS_AHEAD.max(readers), "{readers}");
        }
        drop(open);
        assert_eq!(all.share(), RECORDS_AHEAD);
    }
}
