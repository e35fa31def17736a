use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::blobs::{BlobId, MemoryBlobs};
use crate::id::SeededIds;
use crate::kv::{Loader, Memory, Span};
use crate::time::Timestamp;

/// Rows of a store whose values are lists of names of bodies, each with its length.
pub(crate) struct Plain;

/// Bytes of a name and a length.
const NAMED_BYTES: usize = BlobId::BYTES + 8;

/// A body in the value of a row.
pub(crate) fn named(stat: &BlobStat) -> Vec<u8> {
    [&stat.id.0[..], &stat.bytes.to_be_bytes()].concat()
}

static FORMAT: Format = Format {
    name: "plain",
    service: "a test",
    version: 3,
    line_bytes_max: 128 * 1024,
    counts_bodies: true,
    pads_slices: true,
};

impl Codec for Plain {
    fn format(&self) -> &'static Format {
        &FORMAT
    }

    fn bodies(&self, _key: &[u8], value: &Bytes) -> Result<Vec<NamedBody>, StoreError> {
        let names = value.chunks_exact(NAMED_BYTES).map(|named| {
            let (name, bytes) = named.split_first_chunk().unwrap();
            NamedBody::of(BlobId(*name), u64::from_be_bytes(bytes.try_into().unwrap()))
        });
        Ok(names.collect())
    }

    fn line(
        &self,
        key: &[u8],
        _value: &Bytes,
        bodies: &[BlobStat],
    ) -> Result<Option<String>, StoreError> {
        let bodies: Vec<_> = bodies.iter().map(|stat| stat.bytes).collect();
        Ok(Some(serde_json::to_string(&(hex::encode(key), bodies)).unwrap()))
    }

    fn row(&self, line: &[u8]) -> Result<Row, String> {
        let (key, bodies): (String, Vec<u64>) =
            serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let key = hex::decode(key).map_err(|error| error.to_string())?;
        Ok(Row { key: key.into(), value: Bytes::new(), bodies })
    }

    fn stored(&self, _row: &Row, bodies: &[BlobStat]) -> Bytes {
        bodies.iter().flat_map(named).collect()
    }
}

struct Stores {
    kv: Memory,
    blobs: MemoryBlobs,
}

impl Stores {
    fn new(seed: u64) -> Self {
        Self { kv: Memory::new(), blobs: MemoryBlobs::new(SeededIds::from_number(seed)) }
    }

    /// A store with a row for each list of lengths of bodies.
    fn of(rows: &[Vec<usize>]) -> Self {
        let stores = Self::new(1);
        let mut loader = Loader::new(&stores.kv, &mut SeededIds::from_number(2));
        for (number, lengths) in rows.iter().enumerate() {
            let kept = |length: &usize| {
                let body = vec![u8::try_from(number % 251).unwrap(); *length];
                named(&stores.blobs.put_small(Timestamp::EPOCH, body.into()).wait().unwrap())
            };
            let value: Bytes = lengths.iter().flat_map(kept).collect();
            let key = u32::try_from(number + 1).unwrap().to_be_bytes();
            loader.put(Bytes::copy_from_slice(&key), value).unwrap();
        }
        loader.finish().unwrap();
        stores
    }

    fn export(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut ids = SeededIds::from_number(3);
        export(&Plain, &self.kv, &self.blobs, &mut ids, &mut out, |_, _| ()).unwrap();
        out
    }

    fn bodies(&self) -> usize {
        self.blobs.list(None, usize::MAX).unwrap().len()
    }

    /// Reads as much as `text` has, on from where `witness` knows of.
    fn import(&self, text: &[u8], witness: &mut Witness) -> Result<u64, ArchiveError> {
        let import = Import {
            codec: &Plain,
            store: &self.kv,
            blobs: &self.blobs,
            ids: &mut SeededIds::from_number(4),
            now: Timestamp::EPOCH,
            from: witness.saved.clone(),
            end: End::find(text),
            step_bytes: witness.step_bytes,
        };
        import.run(&mut &*text, witness)
    }
}

/// A witness that keeps the last checkpoint.
struct Witness {
    step_bytes: u64,
    saved: Option<Checkpoint>,
}

impl Watch for Witness {
    fn progress(&mut self, _rows: u64, _bytes: u64) {}

    fn save(&mut self, checkpoint: &Checkpoint) -> std::io::Result<()> {
        self.saved = Some(checkpoint.clone());
        Ok(())
    }
}

fn rows() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let length = prop_oneof![
        6 => 0..200_usize,
        1 => SLICE_BYTES - 1..SLICE_BYTES + 2,
        1 => 2 * SLICE_BYTES..3 * SLICE_BYTES,
    ];
    proptest::collection::vec(proptest::collection::vec(length, 0..4), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_exported_and_imported_is_the_same_wherever_the_import_is_cut(
        rows in rows(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
        step_bytes in prop_oneof![Just(1_u64), 1..2_000_u64, Just(100_000)],
    ) {
        let first = Stores::of(&rows);
        let text = first.export();
        let second = Stores::new(9);
        let mut witness = Witness { step_bytes, saved: None };
        for cut in cuts {
            // An import that has no checkpoint yet begins anew, in an empty store.
            if witness.saved.is_none() && second.bodies() > 0 {
                break;
            }
            let cut = cut.index(text.len());
            prop_assert!(second.import(&text[..cut], &mut witness).is_err());
        }
        let second = if witness.saved.is_none() { Stores::new(9) } else { second };
        prop_assert_eq!(second.import(&text, &mut witness).unwrap(), rows.len() as u64);
        prop_assert!(second.export() == text);
        // No body is left of what was read twice.
        prop_assert_eq!(second.bodies(), first.bodies());
        prop_assert!(witness.saved.unwrap().is_whole);
    }
}

/// A store, its archive, and an import that was cut in the middle of it.
fn interrupted() -> (Vec<u8>, Stores, Witness) {
    let rows: Vec<_> = (0..60).map(|number| vec![number * 10; number % 3]).collect();
    let text = Stores::of(&rows).export();
    let stores = Stores::new(9);
    let mut witness = Witness { step_bytes: 200, saved: None };
    let error = stores.import(&text[..text.len() / 2], &mut witness).unwrap_err();
    assert!(matches!(error, ArchiveError::CutOff { .. }), "{error}");
    assert!(witness.saved.is_some());
    (text, stores, witness)
}

#[test]
fn an_import_goes_on_with_the_file_that_it_began_with_alone() {
    let (text, stores, mut witness) = interrupted();
    let read = usize::try_from(witness.saved.as_ref().unwrap().bytes).unwrap();
    for at in [0, 40, read / 2, read - 1] {
        let mut changed = text.clone();
        changed[at] ^= 1;
        let error = stores.import(&changed, &mut witness).unwrap_err();
        assert!(matches!(error, ArchiveError::OtherArchive), "byte {at}: {error}");
    }
    let other = Stores::of(&[vec![1]]).export();
    let shorter = &text[..read - 1];
    for wrong in [&other[..], shorter, b""] {
        let error = stores.import(wrong, &mut witness).unwrap_err();
        assert!(matches!(error, ArchiveError::OtherArchive), "{error}");
    }
    // What comes later counts too, and what is right afterwards is the whole file again.
    let mut changed = text.clone();
    let behind = text.len() - text.len() / 4;
    changed[behind] ^= 1;
    let error = stores.import(&changed, &mut witness).unwrap_err();
    assert!(matches!(error, ArchiveError::Refused { .. }), "{error}");
    stores.import(&text, &mut witness).unwrap();
    assert!(stores.export() == text);
}

#[test]
fn a_file_whose_end_differs_is_another_one_before_a_line_of_it_is_read() {
    let (text, stores, mut witness) = interrupted();
    let whole = End::find(&text).unwrap();
    witness.saved.as_mut().unwrap().archive = Some(whole.sha256);
    let rows = stores.kv.scan(&Span::default(), 1_000).unwrap().rows;
    let mut longer = Stores::of(&vec![vec![10]; 70]).export();
    assert!(matches!(stores.import(&longer, &mut witness), Err(ArchiveError::OtherArchive)));
    // A file of the same beginning.
    longer = text[..text.len() / 2].to_vec();
    longer.extend_from_slice(b"\n{\"rows\":30,\"bodies\":1,\"sha256\":\"00\"}\n");
    assert!(matches!(stores.import(&longer, &mut witness), Err(ArchiveError::OtherArchive)));
    assert_eq!(stores.kv.scan(&Span::default(), 1_000).unwrap().rows, rows);
}

#[test]
fn a_store_that_is_not_empty_is_not_written_over() {
    let text = Stores::of(&[vec![3]]).export();
    let stores = Stores::of(&[vec![4]]);
    let mut witness = Witness { step_bytes: 1, saved: None };
    let error = stores.import(&text, &mut witness).unwrap_err().to_string();
    assert!(error.contains("not empty"), "{error}");
}

#[test]
fn an_export_ends_at_the_first_body_that_is_not_what_its_row_names_and_a_check_tells_of_each() {
    let stores = Stores::of(&[vec![3, 70_000], vec![5]]);
    let faults = |stores: &Stores| {
        let mut faults = Vec::new();
        check_bodies(&Plain, &stores.kv, &stores.blobs, &mut |fault| faults.push(fault)).unwrap();
        faults
    };
    assert_eq!(faults(&stores), Vec::<String>::new());
    let mut loader = Loader::new(&stores.kv, &mut SeededIds::from_number(7));
    let longer = stores.blobs.put_small(Timestamp::EPOCH, "a body".into()).wait().unwrap();
    loader.put("\x01key".into(), named(&BlobStat { bytes: 7, ..longer }).into()).unwrap();
    loader.finish().unwrap();
    let body = hex::encode(longer.id.0);
    let told = format!("the body {body} of the row \\x01key: it has 6 bytes, and its row says 7");
    assert_eq!(faults(&stores), std::slice::from_ref(&told));
    let exported = |stores: &Stores| {
        let (mut out, mut ids) = (Vec::new(), SeededIds::from_number(3));
        export(&Plain, &stores.kv, &stores.blobs, &mut ids, &mut out, |_, _| ())
    };
    assert_eq!(exported(&stores).unwrap_err().to_string(), told);
    for stat in stores.blobs.list(None, 9).unwrap() {
        stores.blobs.delete(stat.id).wait().unwrap();
    }
    let gone = faults(&stores);
    assert!(gone.len() == 4 && gone.iter().all(|fault| fault.ends_with("it is gone")), "{gone:?}");
    assert!(exported(&stores).unwrap_err().to_string().ends_with("it is gone"));
}

#[test]
fn the_end_of_a_file_is_found_in_its_last_bytes() {
    let text = Stores::of(&[vec![3], vec![]]).export();
    let end = End::find(&text[text.len() - 120..]).unwrap();
    assert_eq!((end.rows, end.bodies), (2, Some(1)));
    for odd in [&text[..text.len() - 1], &text[..text.len() - 120], b"", b"\n", b"{}\n"] {
        assert_eq!(End::find(odd), None);
    }
}
