//! Batches that are committed in one transaction: which go together, and how they are written down for the statement.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use tokio_postgres::types::ToSql;

use super::failure::Failure;
use crate::kv::shared::Companions;
use crate::kv::{BATCH_BYTES_MAX, BATCH_OPERATIONS_MAX, Batch, Version};

/// A batch, and the id that it is looked up by where its answer is lost.
#[derive(Debug, Clone)]
pub(super) struct NamedBatch {
    pub(super) id: [u8; 16],
    pub(super) batch: Arc<Batch>,
}

/// The version of a batch, `None` where an expectation does not hold.
pub(super) type Committed = Result<Option<i64>, Failure>;

/// Batches that go together: no more than one batch may be by itself, and none that writes what another one expects or writes, or has its id.
/// So each of them could have been the first, and all find the rows that they would have found alone.
#[derive(Debug, Default)]
pub(super) struct Apart {
    ids: HashSet<[u8; 16]>,
    expected: HashSet<Bytes>,
    written: HashSet<Bytes>,
    operations: usize,
    bytes: usize,
}

/// A version as the server counts; none comes near the end of its numbers.
pub(super) fn to_signed(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}

impl Companions<NamedBatch> for Apart {
    fn take(&mut self, NamedBatch { id, batch }: &NamedBatch) -> bool {
        let operations = self.operations + batch.expectations.len() + batch.writes.len();
        let lengths = batch
            .writes
            .iter()
            .map(|(key, value)| key.len() + value.as_ref().map_or(0, Bytes::len));
        let bytes = self.bytes + lengths.sum::<usize>();
        let is_small = operations <= BATCH_OPERATIONS_MAX && bytes <= BATCH_BYTES_MAX;
        let mut expected = batch.expectations.iter().map(|(key, _)| key);
        let mut written = batch.writes.iter().map(|(key, _)| key);
        let is_apart = !self.ids.contains(id)
            && !expected.any(|key| self.written.contains(key))
            && !written.any(|key| self.written.contains(key) || self.expected.contains(key));
        let goes = self.ids.is_empty() || is_small && is_apart;
        if !goes {
            return false;
        }
        (self.operations, self.bytes) = (operations, bytes);
        self.ids.insert(*id);
        self.expected.extend(batch.expectations.iter().map(|(key, _)| key.clone()));
        self.written.extend(batch.writes.iter().map(|(key, _)| key.clone()));
        true
    }
}

/// The parameters of the statement of several batches.
#[derive(Default)]
pub(super) struct Together<'b> {
    expected: Vec<&'b [u8]>,
    versions: Vec<i64>,
    /// Places among those that are expected, and the batch that expects each.
    guard_places: Vec<i64>,
    guard_batches: Vec<i64>,
    ids: Vec<&'b [u8]>,
    gone_keys: Vec<&'b [u8]>,
    gone_batches: Vec<i64>,
    put_keys: Vec<&'b [u8]>,
    put_values: Vec<&'b [u8]>,
    put_batches: Vec<i64>,
}

impl<'b> Together<'b> {
    /// Those of batches, which are counted from 1.
    pub(super) fn of(batches: &'b [NamedBatch]) -> Self {
        let (mut own, mut places) = (Self::default(), HashMap::new());
        for (number, NamedBatch { id, batch }) in (1_i64..).zip(batches) {
            own.ids.push(id);
            for (key, version) in &batch.expectations {
                let place = own.place(&mut places, key, *version);
                own.guard_places.push(place);
                own.guard_batches.push(number);
            }
            for (key, value) in &batch.writes {
                match value {
                    Some(value) => {
                        own.put_keys.push(key);
                        own.put_values.push(value);
                        own.put_batches.push(number);
                    }
                    None => {
                        own.gone_keys.push(key);
                        own.gone_batches.push(number);
                    }
                }
            }
        }
        own
    }

    /// The place of a version that is expected: several who expect it share one.
    fn place(
        &mut self,
        places: &mut HashMap<(&'b [u8], Version), i64>,
        key: &'b [u8],
        version: Version,
    ) -> i64 {
        *places.entry((key, version)).or_insert_with(|| {
            self.expected.push(key);
            self.versions.push(to_signed(version.0));
            to_signed(self.expected.len() as u64)
        })
    }

    /// The parameters in the order of the statement.
    pub(super) fn parameters(&self) -> [&(dyn ToSql + Sync); 10] {
        [
            &self.expected,
            &self.versions,
            &self.guard_places,
            &self.guard_batches,
            &self.ids,
            &self.gone_keys,
            &self.gone_batches,
            &self.put_keys,
            &self.put_values,
            &self.put_batches,
        ]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU8, Ordering};

    use super::*;

    fn batch(expected: &[&'static str], written: &[(&'static str, usize)]) -> NamedBatch {
        static NAMED: AtomicU8 = AtomicU8::new(0);
        let key = |key: &&'static str| (Bytes::from(*key), Version(1));
        let write = |(key, bytes): &(&'static str, usize)| {
            (Bytes::from(*key), Some(Bytes::from(vec![0; *bytes])))
        };
        let expectations = expected.iter().map(key).collect();
        let writes = written.iter().map(write).collect();
        let batch = Batch { expectations, writes, ..Batch::default() };
        let id = [NAMED.fetch_add(1, Ordering::Relaxed); 16];
        NamedBatch { id, batch: Arc::new(batch) }
    }

    /// Tells of each whether it goes together with those before it.
    fn taken(batches: &[NamedBatch]) -> Vec<bool> {
        let mut apart = Apart::default();
        batches.iter().map(|batch| apart.take(batch)).collect()
    }

    #[test]
    fn batches_go_together_that_expect_the_same_and_write_what_no_other_expects_or_writes() {
        let found = taken(&[
            batch(&["bucket", "a"], &[("a", 1)]),
            batch(&["bucket", "b"], &[("b", 1)]),
            batch(&["bucket"], &[("a", 1)]),
            batch(&["a"], &[("c", 1)]),
            batch(&[], &[("bucket", 1)]),
            batch(&["b", "d"], &[]),
            batch(&["d"], &[("e", 1)]),
        ]);
        assert_eq!(found, [true, true, false, false, false, false, true]);
    }

    #[test]
    fn a_batch_that_is_sent_twice_does_not_go_with_itself() {
        let batch = batch(&[], &[]);
        assert_eq!(taken(&[batch.clone(), batch]), [true, false]);
    }

    #[test]
    fn together_they_are_no_more_than_one_may_be_and_the_first_goes_however_large_it_is() {
        let found = taken(&[
            batch(&[], &[("a", BATCH_BYTES_MAX - 100)]),
            batch(&[], &[("b", 100)]),
            batch(&[], &[("c", 10)]),
        ]);
        assert_eq!(found, [true, false, true]);
        assert_eq!(taken(&[batch(&[], &[("a", 2 * BATCH_BYTES_MAX)])]), [true]);
    }

    #[test]
    fn what_several_expect_stands_once_unless_they_expect_another_version() {
        let mut other = batch(&["bucket"], &[("c", 1)]);
        Arc::make_mut(&mut other.batch).expectations[0].1 = Version(2);
        let batches =
            [batch(&["bucket", "a"], &[("a", 1)]), batch(&["bucket"], &[("b", 1)]), other];
        let together = Together::of(&batches);
        assert_eq!(together.expected, [b"bucket".as_slice(), b"a", b"bucket"]);
        assert_eq!(together.versions, [1, 1, 2]);
        assert_eq!(together.guard_places, [1, 2, 1, 3]);
        assert_eq!(together.guard_batches, [1, 1, 2, 3]);
        assert_eq!(together.put_batches, [1, 2, 3]);
    }
}
