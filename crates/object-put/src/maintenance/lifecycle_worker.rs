//! The lifecycle worker: passes over the buckets that have rules find what the rules end, and delete it as a client would.
//!
//! Every end falls on a midnight, so a bucket is looked through once a day, and again when its rules change. A pass that
//! a stop cuts short is made again: what it deleted is met no more.

use std::collections::HashMap;

use triptych_core::id::Ids;
use triptych_core::kv::{KeyValue, Span, StoreError, Tx, run_blocking, text_prefix};
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::maintenance::garbage::for_each_row;
use crate::store::bucket::Bucket;
use crate::store::delete::{DeleteConditions, DeleteRequest, delete};
use crate::store::key::Key;
use crate::store::lifecycle::{self, DAY_SECONDS, Lifecycle};
use crate::store::lookup::locate;
use crate::store::open_upload;
use crate::store::tables::{BUCKETS, CURRENT, NONCURRENT, UPLOADS};
use crate::store::upload::PartNumbers;
use crate::store::version::{ObjectVersion, VersionId};

/// Rows of one page.
const PAGE: usize = 200;
/// Versions that one transaction deletes: each writes some ten rows at the most.
const PER_STEP: usize = 50;
/// Attempts of a transaction while others win.
const ATTEMPTS_MAX: u32 = 64;

/// The number of objects and versions that passes deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ExpiredCounts {
    /// Current objects: gone, or under a delete marker where the bucket keeps versions.
    pub objects: u64,
    /// Versions that were not current, and delete markers with nothing below them.
    pub versions: u64,
    /// Uploads in parts that were not finished.
    pub uploads: u64,
}

/// Remembers which buckets were looked through today, and by which rules.
#[derive(Debug, Default)]
pub struct LifecycleWorker {
    done: HashMap<u64, BucketDone>,
}

#[derive(Debug, PartialEq, Eq)]
struct BucketDone {
    day: i64,
    rules: Lifecycle,
}

impl LifecycleWorker {
    /// Deletes what rules have ended by `now`. A bucket that was looked through on this day, with the rules that it has,
    /// costs two reads. It blocks.
    ///
    /// # Errors
    /// The error of the first bucket that failed; the others are looked through all the same.
    pub fn pass(
        &mut self,
        store: &dyn KeyValue,
        ids: &mut dyn Ids,
        now: Timestamp,
    ) -> Result<ExpiredCounts, Error> {
        let mut buckets = Vec::new();
        for_each_row(store, BUCKETS.span(&()), |key, value| {
            buckets.push(BUCKETS.decode(key, &value)?);
            Ok(())
        })?;
        let mut expired = ExpiredCounts::default();
        let mut outcome = Ok(());
        for bucket in &buckets {
            match self.bucket(store, bucket, ids, now, &mut expired) {
                // It was deleted meanwhile.
                Ok(()) | Err(Error::NoSuchBucket { .. }) => {}
                Err(error) => outcome = outcome.and(Err(error)),
            }
        }
        outcome.map(|()| expired)
    }

    fn bucket(
        &mut self,
        store: &dyn KeyValue,
        bucket: &Bucket,
        ids: &mut dyn Ids,
        now: Timestamp,
        expired: &mut ExpiredCounts,
    ) -> Result<(), Error> {
        let rules = lifecycle::of_bucket(&mut Tx::new(store), bucket.id)?;
        let Some(rules) = rules else {
            self.done.remove(&bucket.id);
            return Ok(());
        };
        let day = now.seconds().div_euclid(DAY_SECONDS);
        let done = BucketDone { day, rules };
        if self.done.get(&bucket.id) == Some(&done) {
            return Ok(());
        }
        let sweep = BucketPass { store, bucket, rules: &done.rules, now };
        for prefix in done.rules.scopes() {
            expired.objects += sweep.objects(prefix, ids)?;
            expired.versions += sweep.versions(prefix, ids)?;
        }
        if done.rules.ends_uploads() {
            expired.uploads += sweep.uploads(ids)?;
        }
        self.done.insert(bucket.id, done);
        Ok(())
    }
}

/// A version whose end has come.
struct ExpiredVersion {
    key: Key,
    version: VersionId,
    role: Role,
}

/// The place of a version when it was looked at; it is deleted only while it still is there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Current,
    Noncurrent,
    /// A delete marker that is the newest of its key, and the only one.
    LoneMarker,
}

/// The walk down the versions of a key, newest first.
#[derive(Default)]
struct KeyVersions {
    key: Vec<u8>,
    /// The time at which the version above was written: since then the next one is not current.
    since: Timestamp,
    /// The number of versions above that are not current.
    newer: u32,
    /// The marker that this key begins with, due if nothing follows.
    lone: Option<ExpiredVersion>,
}

struct BucketPass<'a> {
    store: &'a dyn KeyValue,
    bucket: &'a Bucket,
    rules: &'a Lifecycle,
    now: Timestamp,
}

impl BucketPass<'_> {
    /// The current objects whose keys start with `prefix`.
    fn objects(&self, prefix: &str, ids: &mut dyn Ids) -> Result<u64, Error> {
        let mut span = self.span(CURRENT.span(&self.bucket.id), prefix);
        let mut deleted = 0;
        loop {
            let (rows, more) = CURRENT.scan(&mut Tx::new(self.store), &span, PAGE)?;
            span.from = rows.last().map(|(key, _)| CURRENT.key(key).to_vec());
            let mut due = Vec::new();
            for ((_, key), object) in rows {
                let key = key_of(key)?;
                if self.is_over(&key, &object) {
                    due.push(ExpiredVersion { key, version: object.version, role: Role::Current });
                }
            }
            deleted += self.delete(&due, ids)?;
            if !more {
                return Ok(deleted);
            }
        }
    }

    /// The versions that are not current, and the markers with nothing below them.
    fn versions(&self, prefix: &str, ids: &mut dyn Ids) -> Result<u64, Error> {
        let mut span = self.span(NONCURRENT.span(&self.bucket.id), prefix);
        let mut chain = KeyVersions::default();
        let mut deleted = 0;
        loop {
            let (rows, more) = NONCURRENT.scan(&mut Tx::new(self.store), &span, PAGE)?;
            span.from = rows.last().map(|(key, _)| NONCURRENT.key(key).to_vec());
            let mut due = Vec::new();
            for ((_, key, _), version) in rows {
                self.descend(&mut chain, key, &version, &mut due)?;
            }
            if !more {
                due.extend(chain.lone.take());
            }
            deleted += self.delete(&due, ids)?;
            if !more {
                return Ok(deleted);
            }
        }
    }

    /// The uploads in parts that are not finished.
    fn uploads(&self, ids: &mut dyn Ids) -> Result<u64, Error> {
        let mut span = UPLOADS.span(&self.bucket.id);
        let mut aborted = 0;
        loop {
            let (rows, more) = UPLOADS.scan(&mut Tx::new(self.store), &span, PAGE)?;
            span.from = rows.last().map(|(key, _)| UPLOADS.key(key).to_vec());
            for ((_, key, _), upload) in rows {
                let key = key_of(key)?;
                let end = self.rules.end_of_upload(&key, upload.initiated);
                if end.is_none_or(|(end, _)| end > self.now) {
                    continue;
                }
                let name = upload.id.text(self.bucket.id, &key);
                let outcome = run_blocking(self.store, ids, ATTEMPTS_MAX, |tx, _| {
                    let upload = open_upload::find(tx, self.bucket.id, &key, &name)?;
                    let kept = PartNumbers::default();
                    open_upload::end(tx, self.bucket.id, &key, &upload, kept, self.now)
                });
                match outcome {
                    Ok(()) => aborted += 1,
                    // It was completed or aborted meanwhile.
                    Err(Error::NoSuchUpload { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            if !more {
                return Ok(aborted);
            }
        }
    }

    /// Goes one version down, in the same key or to the newest one of the next.
    fn descend(
        &self,
        chain: &mut KeyVersions,
        name: Vec<u8>,
        version: &ObjectVersion,
        due: &mut Vec<ExpiredVersion>,
    ) -> Result<(), Error> {
        let key = key_of(name.clone())?;
        let of_role = |role| ExpiredVersion { key: key.clone(), version: version.version, role };
        if chain.key != name {
            due.extend(chain.lone.take());
            let place = (self.bucket.id, name.clone());
            let current = CURRENT.peek(&mut Tx::new(self.store), &place)?;
            *chain = KeyVersions {
                key: name,
                since: current.as_ref().map_or(version.modified, |top| top.modified),
                newer: 0,
                lone: None,
            };
            if current.is_none() {
                let ends = self.rules.ends_marker(&key, version, self.now);
                chain.lone = ends.then(|| of_role(Role::LoneMarker));
                return Ok(());
            }
        }
        chain.lone = None;
        let (since, newer) = (chain.since, chain.newer);
        if self.rules.ends_noncurrent(&key, version, since, newer, self.now) {
            due.push(of_role(Role::Noncurrent));
        }
        chain.since = version.modified;
        chain.newer += 1;
        Ok(())
    }

    fn span(&self, bucket: Span, prefix: &str) -> Span {
        let mut start = bucket.prefix;
        text_prefix(prefix.as_bytes(), &mut start);
        Span { prefix: start, ..Span::default() }
    }

    fn is_over(&self, key: &Key, object: &ObjectVersion) -> bool {
        let end = object.data.as_ref().and_then(|data| self.rules.end_of(key, object, data));
        end.is_some_and(|(end, _)| end <= self.now)
    }

    fn delete(&self, due: &[ExpiredVersion], ids: &mut dyn Ids) -> Result<u64, Error> {
        let mut deleted = 0;
        for step in due.chunks(PER_STEP) {
            deleted += run_blocking(self.store, ids, ATTEMPTS_MAX, |tx, ids| {
                let mut deleted = 0;
                for due in step {
                    deleted += u64::from(self.delete_one(tx, due, ids)?);
                }
                Ok::<_, Error>(deleted)
            })?;
        }
        Ok(deleted)
    }

    /// Deletes a version, if it still is what it was, and no lock holds it; whether it did.
    fn delete_one(
        &self,
        tx: &mut Tx<'_>,
        due: &ExpiredVersion,
        ids: &mut dyn Ids,
    ) -> Result<bool, Error> {
        let name = (due.role != Role::Current).then(|| due.version.to_string());
        let found = match locate(tx, self.bucket.id, &due.key, name.as_deref()) {
            Ok(found) => found,
            Err(Error::NoSuchKey { .. } | Error::NoSuchVersion { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let stays = match due.role {
            // Its tags may be others by now.
            Role::Current => !self.is_over(&due.key, &found.version),
            Role::Noncurrent => found.is_current,
            Role::LoneMarker => {
                let place = (self.bucket.id, due.key.as_bytes().to_vec());
                CURRENT.get(tx, &place)?.is_some()
            }
        };
        if stays || found.version.version != due.version {
            return Ok(false);
        }
        let request = DeleteRequest {
            bucket: self.bucket,
            key: &due.key,
            version: name.as_deref(),
            conditions: DeleteConditions::default(),
            bypass: false,
            now: self.now,
        };
        match delete(tx, &request, ids) {
            Ok(_) => Ok(true),
            Err(Error::ObjectLocked) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn key_of(bytes: Vec<u8>) -> Result<Key, Error> {
    let text = String::from_utf8(bytes)
        .map_err(|_| StoreError::Corrupt("a key is not UTF-8".to_owned()))?;
    Key::new(text)
}
