//! The laws of [`Blobs`] as a suite that every engine passes.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a suite reports by panicking, as tests do"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::{BlobError, BlobId, BlobStat, Blobs, sweep};
use crate::id::{Ids, SeededIds};
use crate::time::Timestamp;

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

/// Gives a store: an empty one each time to [`all`], the same one each time to [`reopening`].
pub type Open<'a> = &'a mut dyn FnMut() -> Arc<dyn Blobs>;

/// Every law that needs no restart.
pub fn all(open: Open<'_>) {
    bodies_of_every_size_come_back(&*open());
    ranges_are_exact(&*open());
    what_is_not_finished_is_not_there(&*open());
    what_is_deleted_is_absent(&*open());
    names_list_in_order_of_age(&*open());
    a_sweep_takes_old_orphans_alone(&*open());
}

fn body(bytes: usize, seed: u64) -> Bytes {
    let mut body = vec![0; bytes];
    SeededIds::from_number(seed).fill(&mut body);
    body.into()
}

fn write(store: &dyn Blobs, now: Timestamp, body: &Bytes, piece: usize, hinted: bool) -> BlobStat {
    let mut writer = store.create(now, hinted.then_some(body.len() as u64));
    for chunk in body.chunks(piece.max(1)) {
        writer.write(Bytes::copy_from_slice(chunk)).wait().unwrap();
    }
    writer.finish().wait().unwrap()
}

fn read(store: &dyn Blobs, id: BlobId, range: std::ops::Range<u64>) -> Result<Vec<u8>, BlobError> {
    let mut reader = store.open(id, range.clone())?;
    let mut all = Vec::new();
    while let Some(piece) = reader.next().wait()? {
        assert!(piece.len() <= 1024 * 1024, "a piece is at most 1 MiB");
        all.extend_from_slice(&piece);
    }
    let mut reader = store.open(id, range)?;
    let mut pieces = Vec::new();
    loop {
        let next = reader.next_pieces(30_000, 5).wait()?;
        assert!(
            next.iter().map(Bytes::len).sum::<usize>() <= 150_000,
            "no more than was asked for"
        );
        if next.is_empty() {
            break;
        }
        pieces.extend(next);
    }
    assert!(pieces.concat() == all, "the same bytes, whatever the pieces");
    Ok(all)
}

fn bodies_of_every_size_come_back(store: &dyn Blobs) {
    for (seed, bytes) in
        [0, 1, 100, 40_000, 256 * 1024, 256 * 1024 + 1, 3_000_000].into_iter().enumerate()
    {
        for (piece, hinted) in [(usize::MAX, true), (70_000, false), (70_000, true)] {
            let body = body(bytes, seed as u64);
            let stat = write(store, NOW, &body, piece, hinted);
            assert_eq!(stat.bytes, bytes as u64);
            assert_eq!(stat.id.created(), NOW, "a name begins with its time");
            assert_eq!(store.stat(stat.id), Ok(stat));
            assert_eq!(store.length(stat.id), Ok(stat.bytes));
            assert!(
                read(store, stat.id, 0..stat.bytes).unwrap() == body,
                "{bytes} bytes come back"
            );
            assert!(store.read_small(stat.id, stat.bytes).unwrap() == body, "in one read too");
        }
        let stat = store.put_small(NOW, body(bytes, seed as u64)).wait().unwrap();
        assert!(read(store, stat.id, 0..stat.bytes).unwrap() == body(bytes, seed as u64));
    }
}

fn ranges_are_exact(store: &dyn Blobs) {
    for bytes in [10, 2_500_000_u64] {
        let body = body(usize::try_from(bytes).unwrap(), 1);
        let id = write(store, NOW, &body, 1 << 20, false).id;
        for (start, end) in [(0, 0), (0, 1), (3, 9), (bytes - 1, bytes), (bytes, bytes), (1, bytes)]
        {
            let (from, to) = (usize::try_from(start).unwrap(), usize::try_from(end).unwrap());
            assert!(
                read(store, id, start..end).unwrap() == body[from..to],
                "{start}..{end} of {bytes}"
            );
        }
        assert_eq!(read(store, id, 0..bytes + 1), Err(BlobError::OutOfRange));
        #[expect(clippy::reversed_empty_ranges, reason = "that it is refused is the law")]
        let reversed = read(store, id, 5..4);
        assert_eq!(reversed, Err(BlobError::OutOfRange));
    }
}

fn what_is_not_finished_is_not_there(store: &dyn Blobs) {
    for bytes in [10, 1_000_000] {
        let mut writer = store.create(NOW, None);
        writer.write(body(bytes, 1)).wait().unwrap();
        assert_eq!(store.list(None, 10).unwrap(), [], "an unfinished blob has no name");
        drop(writer);
    }
    assert_eq!(store.list(None, 10).unwrap(), []);
}

fn what_is_deleted_is_absent(store: &dyn Blobs) {
    for bytes in [10, 1_000_000] {
        let stat = write(store, NOW, &body(bytes, 1), 1 << 20, false);
        let kept = write(store, NOW, &body(bytes, 2), 1 << 20, false);
        store.delete(stat.id).wait().unwrap();
        store.delete(stat.id).wait().unwrap();
        assert_eq!(read(store, stat.id, 0..1), Err(BlobError::Absent));
        assert_eq!(store.stat(stat.id), Err(BlobError::Absent));
        assert!(
            read(store, kept.id, 0..kept.bytes).unwrap() == body(bytes, 2),
            "its neighbour stays"
        );
        store.delete(kept.id).wait().unwrap();
    }
    assert_eq!(store.list(None, 10).unwrap(), []);
}

fn names_list_in_order_of_age(store: &dyn Blobs) {
    let mut written = Vec::new();
    for number in 0..6_u64 {
        let bytes = if number.is_multiple_of(2) { 100 } else { 300_000 };
        written.push(write(
            store,
            Timestamp::from_millis(1_000_000 * (6 - number).cast_signed()),
            &body(bytes, number),
            1 << 20,
            false,
        ));
    }
    written.reverse();
    assert_eq!(store.list(None, 10).unwrap(), written, "names sort by age");
    let mut paged = Vec::new();
    while let [.., _] =
        store.list(paged.last().map(|stat: &BlobStat| stat.id), 2).unwrap().as_slice()
    {
        paged.extend(store.list(paged.last().map(|stat: &BlobStat| stat.id), 2).unwrap());
    }
    assert_eq!(paged, written, "pages continue where the last one ended");
}

fn a_sweep_takes_old_orphans_alone(store: &dyn Blobs) {
    let old = Timestamp::from_millis(1_000);
    let named = write(store, old, &body(10, 1), 10, false);
    let orphan = write(store, old, &body(300_000, 2), 1 << 20, false);
    let young = write(store, NOW, &body(10, 3), 10, false);
    // A store that others write to as well takes a second look.
    let looks = [(); 2].map(|()| sweep(store, NOW, |id| id == named.id, &|| true).unwrap());
    assert_eq!(looks[0].seen, 2, "a sweep sees what is old");
    assert_eq!(looks.iter().map(|swept| swept.orphans).sum::<u64>(), 1);
    assert_eq!(looks.iter().map(|swept| swept.bytes).sum::<u64>(), orphan.bytes);
    assert_eq!(store.list(None, 10).unwrap(), [named, young]);
}

/// The laws of an engine that keeps its data: `open` gives the same store each time.
pub fn reopening(open: Open<'_>) {
    let mut model: BTreeMap<BlobId, Bytes> = BTreeMap::new();
    let mut ids = SeededIds::from_number(4);
    for round in 0..4 {
        let store = open();
        let listed: Vec<_> = store.list(None, 1_000).unwrap().iter().map(|stat| stat.id).collect();
        assert_eq!(
            listed,
            model.keys().copied().collect::<Vec<_>>(),
            "the same blobs after opening again (round {round})"
        );
        for (id, body) in &model {
            assert!(read(&*store, *id, 0..body.len() as u64).unwrap() == *body);
        }
        for number in 0..20 {
            let body = body(usize::try_from(ids.next() % 300_000).unwrap(), number);
            model.insert(write(&*store, NOW, &body, 100_000, false).id, body);
        }
        let gone: Vec<_> = model.keys().copied().step_by(3).collect();
        for id in gone {
            store.delete(id).wait().unwrap();
            model.remove(&id);
        }
    }
}
