//! The commit of an append: one more part of an object, which costs the same however many it has.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::body::checksum::{Checksum, ChecksumType};
use crate::body::crc::CombinedCrc;
use crate::error::Error;
use crate::store::bucket::Bucket;
use crate::store::commit::{next_sequence, same_bucket};
use crate::store::key::Key;
use crate::store::part_cursor::PartCursor;
use crate::store::part_list::{
    ListedPart, PARTS_PER_CHUNK, PARTS_PER_TAIL, PartListChunk, Parts, tail_row,
};
use crate::store::tables::{CURRENT, PARTS, object_key};
use crate::store::version::{ObjectData, ObjectVersion, VersionId};

/// A part whose body is on disk, to be appended to an object.
#[derive(Debug, Clone)]
pub struct NewPart<'a> {
    /// The bucket as the start saw it.
    pub bucket: &'a Bucket,
    /// The key.
    pub key: &'a Key,
    /// The version of the object that the start saw: no write may have come in between.
    pub seen: VersionId,
    /// The place of the part, which is the end of that object.
    pub offset: u64,
    /// The part.
    pub part: &'a ListedPart,
    /// The entity tag that the object gets.
    pub etag: String,
    /// The number of a list, for an object that had one part.
    pub list: u64,
    /// The time of the commit.
    pub now: Timestamp,
}

/// Appends a part to an object.
///
/// # Errors
/// `NoSuchBucket` if the bucket went away; `InvalidWriteOffset` where the object is no longer as long;
/// `ConditionalRequestConflict` where it is as long and another; those of the part list.
pub fn append(tx: &mut Tx<'_>, new: &NewPart<'_>) -> Result<ObjectVersion, Error> {
    let bucket = same_bucket(tx, new.bucket)?;
    let place = object_key(bucket.id, new.key);
    let mut object = CURRENT.get(tx, &place)?.ok_or(Error::InvalidWriteOffset)?;
    let data = object.data.as_deref_mut().ok_or(Error::InvalidWriteOffset)?;
    if data.size != new.offset {
        return Err(Error::InvalidWriteOffset);
    }
    if object.version != new.seen {
        return Err(Error::ConditionalRequestConflict {
            condition: "x-store-write-offset-bytes",
            key: new.key.to_string(),
        });
    }
    let before = data.checksum.clone();
    extend_checksum(tx, data, new.part)?;
    extend_parts(tx, data, new, before)?;
    data.size = data.size.checked_add(new.part.part.bytes).ok_or(Error::InvalidWriteOffset)?;
    data.etag.clone_from(&new.etag);
    // What the parts are encrypted for stays; the sequence tells one state of the object from the next.
    object.version.sequence = next_sequence(Some(object.version.sequence), new.now);
    object.modified = new.now;
    CURRENT.put(tx, &place, &object);
    Ok(object)
}

/// Checks that no object came since the start of a PUT that creates one by the offset 0.
///
/// # Errors
/// `InvalidWriteOffset`; as reads of the store.
pub fn check_absent(tx: &mut Tx<'_>, bucket: u64, key: &Key) -> Result<(), Error> {
    match CURRENT.get_shared(tx, &object_key(bucket, key))? {
        None => Ok(()),
        Some(_) => Err(Error::InvalidWriteOffset),
    }
}

/// The checksum of the object with one more part: put together where the values of its algorithm can be, not known any more where not.
fn extend_checksum(tx: &mut Tx<'_>, data: &mut ObjectData, new: &ListedPart) -> Result<(), Error> {
    let algorithm = data.checksum.algorithm;
    let Some(mut combined) = CombinedCrc::new(algorithm) else {
        data.checksum_type = ChecksumType::Unknown;
        return Ok(());
    };
    if data.checksum_type.is_full_object() {
        combined.append(&data.checksum.value, data.size);
    } else {
        // A checksum of checksums becomes one of all bytes, once: each part has its own.
        let mut parts = PartCursor::new(data.parts.clone(), data.size, 0);
        while let Some(listed) = parts.next_with_digests(tx)? {
            combined.append(&listed.checksum.value, listed.part.bytes);
        }
        data.checksum_type = ChecksumType::FullObject;
    }
    combined.append(&new.checksum.value, new.part.bytes);
    data.checksum = Checksum { algorithm, value: combined.finish() };
    Ok(())
}

/// Writes the part behind the last one: into the tail of the last chunk, a short row, so that the whole of it is not written again.
fn extend_parts(
    tx: &mut Tx<'_>,
    data: &mut ObjectData,
    new: &NewPart<'_>,
    before: Checksum,
) -> Result<(), Error> {
    let size = data.size;
    let longer = size.checked_add(new.part.part.bytes);
    if let Parts::One(first) = &data.parts {
        let first = ListedPart { part: first.clone(), tag: tag_of(&data.etag), checksum: before };
        PARTS.put(tx, &(new.list, tail_row(0, 0)), &PartListChunk(vec![first, new.part.clone()]));
        data.parts = Parts::Chunks { list: new.list, count: 2, starts: vec![0], bytes: longer };
        return Ok(());
    }
    let Parts::Chunks { list, count, starts, bytes } = &mut data.parts else {
        return Err(Error::Internal);
    };
    let held = usize::try_from(*count).map_err(|_| Error::Internal)?;
    let (chunk, within) = (held / PARTS_PER_CHUNK, held % PARTS_PER_CHUNK);
    let number = u32::try_from(chunk).map_err(|_| Error::Internal)?;
    let whole = match within {
        0 => None,
        _ => PARTS.peek_shared(tx, &(*list, number))?,
    };
    let in_tail = within - whole.map_or(0, |whole| whole.0.len()).min(within);
    let tail = u32::try_from(in_tail / PARTS_PER_TAIL).map_err(|_| Error::Internal)?;
    let row = (*list, tail_row(number, tail));
    let mut parts = match in_tail % PARTS_PER_TAIL {
        0 => PartListChunk::default(),
        _ => PARTS.get(tx, &row)?.ok_or(Error::Damaged)?,
    };
    parts.0.push(new.part.clone());
    PARTS.put(tx, &row, &parts);
    if within == 0 {
        starts.push(size);
    }
    *count += 1;
    *bytes = longer;
    Ok(())
}

fn tag_of(etag: &str) -> [u8; 16] {
    let mut tag = [0; 16];
    match hex::decode_to_slice(etag, &mut tag) {
        Ok(()) => tag,
        Err(_) => [0; 16],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use triptych_core::blobs::BlobId;
    use triptych_core::kv::{KeyValue as _, Memory};

    use super::*;
    use crate::body::checksum::{Algorithm, Hasher};
    use crate::body::encryption::WrappedKey;
    use crate::store::bucket::BucketKind;
    use crate::store::part_cursor::{last_part, listed_after, part_at};
    use crate::store::part_list::Part;
    use crate::store::tables::BUCKETS;
    use crate::store::version::{ContentHeaders, StorageClass};

    fn listed(number: u32, bytes: u64) -> ListedPart {
        let mut hasher = Hasher::new(Algorithm::Crc32);
        hasher.feed(&vec![number.to_le_bytes()[0]; usize::try_from(bytes).unwrap()]);
        ListedPart {
            part: Part {
                number,
                blob: BlobId([7; BlobId::BYTES]),
                bytes,
                wrapped_key: WrappedKey { root_id: String::new(), wrapped: Vec::new() },
            },
            tag: [0; 16],
            checksum: hasher.finish(),
        }
    }

    /// An object of these parts: one that was put whole, or an upload with the chunks of a list.
    fn object(store: &Memory, parts: &[ListedPart]) -> (Bucket, Key, ObjectVersion) {
        let text = str::to_owned;
        let bucket = Bucket {
            kind: BucketKind::Directory,
            ..Bucket::new(1, text("b--a-b--x-store"), text("o"), text("r"), Timestamp::EPOCH)
        };
        let mut tx = Tx::new(store);
        BUCKETS.put(&mut tx, &bucket.name, &bucket);
        let mut sum = CombinedCrc::new(Algorithm::Crc32).unwrap();
        for part in parts {
            sum.append(&part.checksum.value, part.part.bytes);
        }
        let placed = match parts {
            [one] => Parts::One(Part { number: 0, ..one.part.clone() }),
            many => {
                let mut starts = Vec::new();
                let mut size = 0;
                for (number, chunk) in many.chunks(PARTS_PER_CHUNK).enumerate() {
                    starts.push(size);
                    size += chunk.iter().map(|part| part.part.bytes).sum::<u64>();
                    let row = (9, u32::try_from(number).unwrap());
                    PARTS.put(&mut tx, &row, &PartListChunk(chunk.to_vec()));
                }
                let count = u32::try_from(many.len()).unwrap();
                Parts::Chunks { list: 9, count, starts, bytes: Some(size) }
            }
        };
        let object = ObjectVersion {
            version: VersionId { sequence: 1, random: [1; 12], null: true },
            modified: Timestamp::EPOCH,
            owner: text("o"),
            data: Some(Box::new(ObjectData {
                size: parts.iter().map(|part| part.part.bytes).sum(),
                etag: "00".repeat(16),
                checksum: Checksum { algorithm: Algorithm::Crc32, value: sum.finish() },
                checksum_type: ChecksumType::FullObject,
                parts: placed,
                encryption: crate::store::object_encryption::ObjectEncryption::ServiceManaged,
                content: ContentHeaders::default(),
                metadata: Vec::new(),
                class: StorageClass::ExpressOnezone,
                redirect: None,
                tags: crate::store::tagging::Tags::default(),
                acl: crate::auth::acl::Acl::default(),
                lock: crate::store::lock::ObjectLock::default(),
                restored_from: None,
                restored_until: None,
            })),
        };
        let key = Key::new(text("k")).unwrap();
        CURRENT.put(&mut tx, &object_key(bucket.id, &key), &object);
        store.commit(tx.into_batch([1; 16])).wait().unwrap();
        (bucket, key, object)
    }

    /// Numbers and bytes of the parts that a body has, as a reader meets them.
    fn read(store: &Memory, parts: &Parts) -> Vec<(u32, u64)> {
        let mut tx = Tx::new(store);
        let size = match parts {
            Parts::One(part) => part.bytes,
            Parts::Chunks { bytes, .. } => bytes.unwrap(),
        };
        let mut cursor = PartCursor::new(parts.clone(), size, 0);
        let mut met = Vec::new();
        while let Some(placed) = cursor.next(&mut tx).unwrap() {
            met.push((placed.part.shown_number(), placed.place.end - placed.place.start));
        }
        met
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn an_object_that_grows_is_what_a_plain_list_would_be(
            base in prop_oneof![Just(1_usize), 2_usize..40, 240_usize..260, 490_usize..510],
            pieces in prop::collection::vec(1_u64..9, 1..300),
        ) {
            let store = Memory::new();
            let mut model: Vec<ListedPart> =
                (1..=base).map(|number| listed(u32::try_from(number).unwrap(), 3)).collect();
            let (bucket, key, mut object) = object(&store, &model);
            let mut older = Vec::new();
            for (step, bytes) in pieces.iter().enumerate() {
                let data = object.data.as_deref().unwrap();
                if step % 37 == 0 {
                    older.push((data.parts.clone(), model.len()));
                }
                let mut tx = Tx::new(&store);
                let number = last_part(&mut tx, &data.parts).unwrap().shown_number() + 1;
                let part = listed(number, *bytes);
                object = append(&mut tx, &NewPart {
                    bucket: &bucket,
                    key: &key,
                    seen: object.version,
                    offset: data.size,
                    part: &part,
                    etag: "11".repeat(16),
                    list: 77,
                    now: Timestamp::EPOCH,
                }).unwrap();
                model.push(part);
                let id = u128::try_from(step + 2).unwrap().to_be_bytes();
                store.commit(tx.into_batch(id)).wait().unwrap();
            }
            let shown = |count: usize| -> Vec<(u32, u64)> {
                model.iter().take(count).map(|own| (own.part.number, own.part.bytes)).collect()
            };
            let data = object.data.as_deref().unwrap();
            prop_assert_eq!(read(&store, &data.parts), shown(model.len()));
            // Who read the object earlier still sees what it was then.
            for (parts, count) in older {
                prop_assert_eq!(read(&store, &parts), shown(count));
            }
            let mut tx = Tx::new(&store);
            let mut sum = CombinedCrc::new(Algorithm::Crc32).unwrap();
            for own in &model {
                sum.append(&own.checksum.value, own.part.bytes);
            }
            prop_assert_eq!(&data.checksum.value, &sum.finish());
            for number in [1, 2, base, base + 1, model.len(), model.len() + 1] {
                let number = u32::try_from(number).unwrap();
                let found = part_at(&mut tx, &data.parts, data.size, number).unwrap();
                let expected = model.iter().find(|own| own.part.number == number);
                prop_assert_eq!(
                    found.map(|(_, place)| place.end - place.start),
                    expected.map(|own| own.part.bytes)
                );
            }
            let (page, more) = listed_after(&mut tx, &data.parts, data.size, 1, 1000).unwrap();
            prop_assert!(!more);
            let page: Vec<_> = page.iter().map(|(place, _)| *place).collect();
            let expected: Vec<_> = model.iter().skip(1).map(|own| own.part.number).collect();
            prop_assert_eq!(page, expected);
        }
    }

    #[test]
    fn an_object_that_changed_meanwhile_is_left_as_it_is() {
        let store = Memory::new();
        let (bucket, key, object) = object(&store, &[listed(1, 3)]);
        let part = listed(2, 5);
        let at = |offset, seen| {
            let new = NewPart {
                bucket: &bucket,
                key: &key,
                seen,
                offset,
                part: &part,
                etag: String::new(),
                list: 77,
                now: Timestamp::EPOCH,
            };
            append(&mut Tx::new(&store), &new)
        };
        let other = VersionId { sequence: 2, ..object.version };
        assert_eq!(at(4, object.version), Err(Error::InvalidWriteOffset));
        assert!(matches!(at(3, other), Err(Error::ConditionalRequestConflict { .. })));
        assert_eq!(at(3, object.version).unwrap().version.sequence, 2);
    }

    #[test]
    fn a_digest_that_cannot_be_put_together_is_not_known_any_more() {
        let store = Memory::new();
        let (_, _, mut object) = object(&store, &[listed(1, 3)]);
        let data = object.data.as_deref_mut().unwrap();
        data.checksum = Hasher::new(Algorithm::Sha256).finish();
        extend_checksum(&mut Tx::new(&store), data, &listed(2, 5)).unwrap();
        assert!(data.shown_checksum().is_none(), "{:?}", data.checksum_type);
    }
}
