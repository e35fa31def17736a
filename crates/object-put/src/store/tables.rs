//! Every key layout of the service. Each table's number stands here once.
//!
//! A key's current object stands in `CURRENT`; what it replaced, and delete markers, stand in `NONCURRENT`, newest
//! first. So a listing of objects reads what it shows, however many versions and markers lie beside it.
//! A change of a key's rows writes its row of `CURRENT`, or the guard of its slot in `DELETE_GUARDS`, or both:
//! a transaction that reads both sees every other.
//!
//! Every row is checked: one that was damaged, or that stands in another's place, is none.

use std::ops::RangeInclusive;

use bytes::Bytes;
use sha2::{Digest, Sha256};
use triptych_core::kv::{self, Record, Table};

use crate::auth::account::{AccessKey, Account};
use crate::kms::key::{KeyId, KmsKey};
use crate::store::access_point::{AccessPoint, AccessPointStamp};
use crate::store::bucket::Bucket;
use crate::store::delete_guard::DeleteGuard;
use crate::store::key::Key;
use crate::store::part_list::PartListChunk;
use crate::store::upload::{
    CompletedUpload, DraftList, Upload, UploadEnd, UploadKey, UploadPart, UploadedKey,
};
use crate::store::version::{ObjectVersion, VersionId};

/// A bucket's number, and the bytes of a key.
pub type ObjectKey = (u64, Vec<u8>);
/// A bucket's number, the bytes of a key, and a version's place: see [`version_place`].
pub type VersionKey = (u64, Vec<u8>, u64);

/// The numbers that tables have: a row of another is none of this service.
pub const NUMBERS: RangeInclusive<u8> = 1..=29;

/// The table of this number, which is one of [`NUMBERS`]; its rows are checked.
const fn table<K: kv::Key, V: Record>(number: u8) -> Table<K, V> {
    assert!(*NUMBERS.start() <= number && number <= *NUMBERS.end(), "a number of no table");
    Table::new(number).checked()
}

/// Buckets by name.
pub const BUCKETS: Table<String, Bucket> = table(1);
/// The object that a plain GET of the key finds.
pub const CURRENT: Table<ObjectKey, ObjectVersion> = table(2);
/// Versions that are not current, and all delete markers, newest first within a key.
pub const NONCURRENT: Table<VersionKey, ObjectVersion> = table(3);
/// The `null` version of a key, while it stands in `NONCURRENT`.
pub const NULLS: Table<ObjectKey, VersionId> = table(4);
/// Guards of deletes, by slots of a bucket's keys: they tell a key that was never there from one that came and went.
pub const DELETE_GUARDS: Table<(u64, u16), DeleteGuard> = table(5);
/// Part lists by number, in chunks.
pub const PARTS: Table<(u64, u32), PartListChunk> = table(6);
/// Blobs that no record names any more: when that began (milliseconds), the blob's name.
pub const GARBAGE: Table<(u64, [u8; 32]), ()> = table(7);
/// Accounts by id.
pub const ACCOUNTS: Table<String, Account> = table(8);
/// Access keys by id.
pub const ACCESS_KEYS: Table<String, AccessKey> = table(9);
/// Configurations of a bucket (lifecycle, policy, ...) by bucket number and name, as they were put.
pub const BUCKET_CONFIGS: Table<(u64, String), Bytes> = table(10);

/// Part lists that no record names any more: when that began (milliseconds), the number of the list. A pass frees their
/// bodies chunk by chunk, so that whoever discards an object of 10,000 parts writes one row.
pub const DISCARDED_LISTS: Table<(u64, u64), ()> = table(11);
/// Uploads in parts that are not finished, in the order in which those of a key began.
pub const UPLOADS: Table<UploadKey, Upload> = table(12);
/// Parts of uploads that are not finished: the number of the upload, that of the part.
pub const UPLOAD_PARTS: Table<(u64, u32), UploadPart> = table(13);
/// Uploads that were completed a short time ago.
pub const COMPLETED_UPLOADS: Table<UploadKey, CompletedUpload> = table(14);
/// Remains of uploads that ended: when it is due (milliseconds), and a number that says of which. A pass frees it in steps.
pub const UPLOAD_ENDS: Table<(u64, u64), UploadEnd> = table(15);
/// Part lists that no object names yet, by number.
pub const DRAFT_LISTS: Table<u64, DraftList> = table(16);
/// Keys that have unfinished uploads.
pub const UPLOADED_KEYS: Table<ObjectKey, UploadedKey> = table(17);
/// Ids of the root keys that bodies of the store are sealed with.
pub const ROOT_KEYS: Table<String, ()> = table(24);

/// Key-management keys of the embedded key service by id.
pub const KMS_KEYS: Table<String, KmsKey> = table(25);
/// Their aliases: the account and the alias.
pub const KMS_ALIASES: Table<(String, String), KeyId> = table(26);

/// Keys that tokens of sessions are sealed with, by name, each wrapped by a root key.
pub const SESSION_KEYS: Table<String, Bytes> = table(27);
/// Access points: the account, and the name with the deployment that it is in.
pub const ACCESS_POINTS: Table<(String, String), AccessPoint> = table(28);
/// Their stamp. It stands behind them, so that it is there as long as any of them while a store is emptied.
pub const ACCESS_POINT_STAMP: Table<(), AccessPointStamp> = table(29);

/// The row of a key in `CURRENT` and `NULLS`.
#[must_use]
pub fn object_key(bucket: u64, key: &Key) -> ObjectKey {
    (bucket, key.as_bytes().to_vec())
}

/// The place of a version in `NONCURRENT`: later sequences come first.
#[must_use]
pub const fn version_place(sequence: u64) -> u64 {
    u64::MAX - sequence
}

/// Slots that the keys of a bucket are spread over.
const SLOTS: u16 = 4096;

/// The row of a key in `DELETE_GUARDS`, and the mark by which it is remembered there.
#[must_use]
pub fn bucket_slot(bucket: u64, key: &Key) -> ((u64, u16), u64) {
    let digest = Sha256::digest(key.as_bytes());
    let (slot, rest) = digest.split_at(2);
    let slot = slot.iter().fold(0, |sum: u16, byte| (sum << 8) | u16::from(*byte)) % SLOTS;
    let key_hash = rest.iter().take(8).fold(0, |sum: u64, byte| (sum << 8) | u64::from(*byte));
    ((bucket, slot), key_hash)
}
