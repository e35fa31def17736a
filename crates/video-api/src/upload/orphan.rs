//! Bodies that no record names: what an upload left that was cut off between its bytes and its record.

use std::collections::BTreeSet;

use triptych_core::blobs::{BlobId, Blobs};
use triptych_core::kv::{self, Key, KeyValue, Record, StoreError, Table, Tx};
use triptych_core::time::Timestamp;

use super::media::{MediaError, PIECES, delete_all};
use crate::picture::{GARBAGE, PICTURES};

/// Names that are looked up in one pass over the records, so that memory does not grow with what is stored.
const NAMES_MAX: usize = 50_000;
/// Rows that one scan reads.
const STEP: usize = 1_000;

/// Deletes every body that was begun before `before` and that no record names, and says how many. An upload that is still running must not be
/// older than that. Of a store that others write to, what is an orphan at a second look a day later
/// ([`Blobs::ripe_orphans`]). It blocks, and ends early where `goes_on` says no.
///
/// # Errors
/// `Store`, `Blob`; what was deleted before stays deleted.
pub fn sweep(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    before: Timestamp,
    goes_on: &dyn Fn() -> bool,
) -> Result<usize, MediaError> {
    let (mut after, mut freed) = (None, 0);
    loop {
        let mut names = BTreeSet::new();
        while names.len() < NAMES_MAX {
            let page = blobs.list(after, STEP)?;
            // Names sort by age, so everything after one that is too young is so too.
            let old = page.iter().take_while(|blob| blob.id.created() < before);
            let known = names.len();
            names.extend(old.map(|blob| blob.id));
            if names.len() == known {
                break;
            }
            after = names.last().copied();
        }
        if names.is_empty() {
            return Ok(freed);
        }
        strike(store, &PIECES, |_, piece| piece.blob, &mut names)?;
        strike(store, &PICTURES, |_, piece| piece.blob, &mut names)?;
        // What waits to be freed is counted by its own sweep.
        strike(store, &GARBAGE, |blob, ()| BlobId(*blob), &mut names)?;
        let names: Vec<_> = names.into_iter().collect();
        for step in names.chunks(STEP) {
            if !goes_on() {
                return Ok(freed);
            }
            let ripe = blobs.ripe_orphans(step.to_vec())?;
            freed += ripe.len();
            delete_all(blobs, ripe.into_iter())?;
        }
    }
}

/// Takes out of `names` what a row of `table` names.
fn strike<K: Key, V: Record>(
    store: &dyn KeyValue,
    table: &Table<K, V>,
    named: impl Fn(&K, &V) -> BlobId,
    names: &mut BTreeSet<BlobId>,
) -> Result<(), StoreError> {
    let (mut tx, mut span) = (Tx::new(store), table.span(&()));
    loop {
        let (rows, more) = table.scan(&mut tx, &span, STEP)?;
        for (key, value) in &rows {
            names.remove(&named(key, value));
        }
        match rows.last() {
            Some((key, _)) if more => span.from = Some(table.key(key).to_vec()),
            // What is no longer named may be named again after a power cut.
            _ => return kv::settle(store, &tx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture;
    use crate::upload::media::Piece;
    use bytes::Bytes;
    use triptych_core::blobs::MemoryBlobs;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::{Memory, Stalled};

    #[test]
    fn a_body_without_a_record_is_freed_and_no_other() {
        let (store, blobs) = (Memory::new(), MemoryBlobs::new(SeededIds::from_number(1)));
        let put = |seconds| {
            let body = Bytes::from_static(b"body");
            let stat = blobs.put_small(Timestamp::from_seconds(seconds), body);
            let stat = stat.wait().unwrap();
            Piece { blob: stat.id, bytes: stat.bytes }
        };
        let pieces: Vec<_> = (0..2_500).map(|_| put(10)).collect();
        let (picture, replaced, orphan, running) = (put(11), put(12), put(13), put(20));
        for (number, piece) in (0_u64..).zip(&pieces) {
            kv::run_blocking(&store, &mut SeededIds::from_number(number), 1, |tx, _| {
                PIECES.put(tx, &([7; 16], number), piece);
                picture::set(tx, "vi/x", &[(picture::VIDEO[0], replaced)])?;
                picture::set(tx, "vi/x", &[(picture::VIDEO[0], picture)])
            })
            .unwrap();
        }
        let swept =
            |before| sweep(&store, &blobs, Timestamp::from_seconds(before), &|| true).unwrap();
        assert_eq!(swept(13), 0, "it is too young");
        assert_eq!(swept(20), 1);
        let left: BTreeSet<_> =
            blobs.list(None, 9_999).unwrap().iter().map(|blob| blob.id).collect();
        assert_eq!(left.len(), 2_503);
        assert!(!left.contains(&orphan.blob) && left.contains(&running.blob));
    }

    #[test]
    fn no_body_goes_while_it_is_not_on_disk_that_no_record_names_it() {
        let blobs = MemoryBlobs::new(SeededIds::from_number(1));
        let orphan = blobs.put_small(Timestamp::EPOCH, Bytes::from_static(b"body")).wait().unwrap();
        let stalled = Stalled::default();
        let swept =
            |store: &dyn KeyValue| sweep(store, &blobs, Timestamp::from_seconds(9), &|| true);
        assert!(swept(&stalled).is_err());
        assert_eq!(blobs.list(None, 9).unwrap(), [orphan]);
        let stopped = sweep(&stalled.0, &blobs, Timestamp::from_seconds(9), &|| false);
        assert_eq!(stopped.unwrap(), 0, "a service that is being stopped does not wait for it");
        assert_eq!(swept(&stalled.0).unwrap(), 1);
    }
}
