//! CompleteMultipartUpload without its transport: the list against the parts that are there, the chunks of the object's part list, and the
//! commit that names them.

use std::sync::Arc;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::body::body_headers::{
    MORE_THAN_ONE, check_algorithms, checksum, invalid_header, number,
};
use crate::body::checksum::{ALGORITHMS, AlgorithmRow, ChecksumType};
use crate::body::customer_key;
use crate::body::part_digests::{PartDigests, WholeDigests};
use crate::error::Error;
use crate::operation::encryption;
use crate::operation::multipart::encrypted;
use crate::operation::multipart::part_document::{NamedPart, PartDocument};
use crate::operation::put_object::random_tag;
use crate::operation::request_payer;
use crate::operation::subresource::UPLOAD;
use crate::operation::{Call, Reply};
use crate::request::etag::quoted;
use crate::request::xml::XmlWriter;
use crate::store::bucket::{Bucket, BucketKind, Versioning};
use crate::store::commit::{NewVersion, commit};
use crate::store::key::Key;
use crate::store::lifecycle::{self, DAY_SECONDS, Lifecycle};
use crate::store::object_encryption::ObjectEncryption;
use crate::store::open_upload;
use crate::store::part_list::{ListedPart, PARTS_PER_CHUNK, PartListChunk, Parts};
use crate::store::precondition::Precondition;
use crate::store::tables::{
    COMPLETED_UPLOADS, CURRENT, DRAFT_LISTS, NONCURRENT, PARTS, UPLOAD_ENDS, UPLOAD_PARTS,
    object_key, version_place,
};
use crate::store::upload::{
    CompletedUpload, DraftList, Upload, UploadChecksum, UploadEnd, UploadId, due,
};
use crate::store::version::{ObjectData, VersionId};

/// Chunks that the commit itself writes; the others are written before it.
const CHUNKS_WITH_COMMIT: usize = 4;
/// Chunks of one batch: each has at most 64 KiB.
const CHUNKS_PER_BATCH: usize = 12;
/// Parts that are read at once.
const PARTS_PER_PAGE: usize = 1_000;
/// Time for which a completion is remembered.
const REMEMBERED: std::time::Duration = std::time::Duration::from_secs(DAY_SECONDS.unsigned_abs());
const SIZE: &str = "x-store-mp-object-size";

/// The outcome of the look at a completion.
#[derive(Debug, Clone)]
pub enum Decision {
    /// It was completed with this list before.
    Answered(Reply),
    /// It may be completed.
    Complete(Box<Completion>),
}

/// A completion that may go on.
#[derive(Debug, Clone)]
pub struct Completion {
    /// The bucket as the start saw it.
    bucket: Bucket,
    key: Key,
    upload: Arc<Upload>,
    parts: Vec<ListedPart>,
    whole: WholeDigests,
    precondition: Precondition,
    /// The digest of the document.
    list: [u8; 32],
    lifecycle: Option<Lifecycle>,
}

impl Completion {
    /// Looks at the upload, the conditions and the list, and refuses what can be refused.
    ///
    /// # Errors
    /// `NoSuchUpload`; `CustomerKeysBlocked`; those of the conditions; the fault of the `document`; `InvalidPartOrder`; `InvalidRequest` for another type of checksum
    /// than the upload's; of each part `InvalidPart`, `InvalidRequest` for a checksum that is missing, `DigestMismatch`; `EntityTooSmall`;
    /// `InvalidRequest` for another size, `DigestMismatch` for another checksum of the whole.
    pub fn decide(
        call: &Call<'_>,
        document: &Result<PartDocument, Error>,
        tx: &mut Tx<'_>,
    ) -> Result<Decision, Error> {
        let (bucket, key) = (call.bucket()?, call.key()?);
        let name = call.query.get(UPLOAD).unwrap_or_default();
        let upload = match open_upload::find(tx, bucket.id, key, name) {
            Err(missing @ Error::NoSuchUpload { .. }) => {
                let answered = answered_before(call, name, document, tx)?;
                return answered.map(Decision::Answered).ok_or(missing);
            }
            found => found?,
        };
        encryption::check_upload_not_blocked(call, tx)?;
        if !leaves_key_out(call, &upload) {
            encrypted(call, &upload)?.open_upload(call)?;
        }
        let precondition = Precondition::read(call.fields)?;
        let current = CURRENT.get_shared(tx, &object_key(bucket.id, key))?;
        precondition.check_at_start(call.dialect(), key, current.as_deref())?;
        let document = document.as_ref().map_err(Error::clone)?;
        document.check_order(name)?;
        if bucket.kind == BucketKind::Directory {
            document.check_without_gaps(name)?;
        }
        check_type(call, upload.checksum)?;
        let check = PartCheck { name, upload: &upload, least: call.settings.part_bytes_min };
        let (parts, whole) = check.parts(document, tx)?;
        check_whole(call, &upload, &whole)?;
        Ok(Decision::Complete(Box::new(Self {
            bucket: bucket.clone(),
            key: key.clone(),
            upload,
            parts,
            whole,
            precondition,
            list: document.digest(),
            lifecycle: lifecycle::of_bucket(tx, bucket.id)?,
        })))
    }

    /// The number of batches that [`Completion::draft`] writes before the commit.
    #[must_use]
    pub fn drafts(&self) -> usize {
        let chunks = self.parts.len().div_ceil(PARTS_PER_CHUNK);
        chunks.saturating_sub(CHUNKS_WITH_COMMIT).div_ceil(CHUNKS_PER_BATCH)
    }

    /// Writes one batch of chunks of the list, beside the row that says that no object names it yet.
    ///
    /// # Errors
    /// As reads of the store.
    pub fn draft(
        &self,
        tx: &mut Tx<'_>,
        list: u64,
        batch: usize,
        now: Timestamp,
    ) -> Result<(), Error> {
        if batch == 0 {
            DRAFT_LISTS.put(tx, &list, &DraftList { since: now, dead: false });
        } else if DRAFT_LISTS.get(tx, &list)?.is_none_or(|draft| draft.dead) {
            return Err(Error::Internal);
        }
        let first = CHUNKS_WITH_COMMIT + batch * CHUNKS_PER_BATCH;
        self.put_chunks(tx, list, first, CHUNKS_PER_BATCH)
    }

    fn put_chunks(
        &self,
        tx: &mut Tx<'_>,
        list: u64,
        first: usize,
        count: usize,
    ) -> Result<(), Error> {
        let chunks = self.parts.chunks(PARTS_PER_CHUNK).enumerate();
        for (number, parts) in chunks.skip(first).take(count) {
            let number = u32::try_from(number).map_err(|_| Error::Internal)?;
            PARTS.put(tx, &(list, number), &PartListChunk(parts.to_vec()));
        }
        Ok(())
    }

    /// A new entity tag for the object, where its bucket gives random ones.
    pub fn new_tag(&self, ids: &mut dyn Ids) -> Option<[u8; 16]> {
        random_tag(&self.bucket, ids)
    }

    /// Makes the object visible, with `tag` for its entity tag where there is one, and ends the upload. `None` where a part was uploaded again since the look: it is to be made anew.
    ///
    /// # Errors
    /// `NoSuchUpload` where another completion or an abort was first; those of [`commit`].
    pub fn commit(
        &self,
        call: &Call<'_>,
        tx: &mut Tx<'_>,
        list: u64,
        tag: Option<[u8; 16]>,
        now: Timestamp,
    ) -> Result<Option<Reply>, Error> {
        let name = self.upload.id.text(self.bucket.id, &self.key);
        let upload = open_upload::find(tx, self.bucket.id, &self.key, &name)?;
        if upload.replaced != self.upload.replaced {
            return Ok(None);
        }
        if self.drafts() > 0 {
            if DRAFT_LISTS.get(tx, &list)?.is_none_or(|draft| draft.dead) {
                return Ok(None);
            }
            DRAFT_LISTS.delete(tx, &list);
        }
        self.put_chunks(tx, list, 0, CHUNKS_WITH_COMMIT)?;
        let new = NewVersion {
            bucket: &self.bucket,
            key: &self.key,
            owner: &upload.owner,
            random: upload.id.random,
            precondition: &self.precondition,
            snapshot: &upload.snapshot,
            now,
        };
        let mut data = self.object_data(&upload, list, now)?;
        data.etag = tag.map_or(data.etag, hex::encode);
        let object = commit(tx, &new, data)?;
        let kept = self.parts.iter().map(|listed| listed.part.number).collect();
        open_upload::end(tx, self.bucket.id, &self.key, &upload, kept, now)?;
        let data = object.data.as_deref().ok_or(Error::Internal)?;
        let rules = self.lifecycle.as_ref();
        let expiration = match self.bucket.kind {
            BucketKind::GeneralPurpose | BucketKind::OnPremises => {
                rules.and_then(|rules| rules.header(&self.key, &object, data))
            }
            BucketKind::Directory => Some(lifecycle::NOT_SHOWN.to_owned()),
        };
        let completed = CompletedUpload {
            id: upload.id,
            list: self.list,
            version: object.version,
            etag: data.etag.clone(),
            checksum: data.checksum.clone(),
            checksum_text: data.shown_checksum().map(|(_, value)| value).unwrap_or_default(),
            checksum_type: data.checksum_type,
            encryption: data.encryption.clone(),
            expiration,
        };
        let place = upload.place(self.bucket.id, &self.key);
        COMPLETED_UPLOADS.put(tx, &place, &completed);
        let until = (due(now.plus(REMEMBERED)), upload.number);
        UPLOAD_ENDS.put(tx, &until, &UploadEnd::Answer(place));
        Ok(Some(reply(call, &completed)?))
    }

    fn object_data(&self, upload: &Upload, list: u64, now: Timestamp) -> Result<ObjectData, Error> {
        let mut starts = Vec::new();
        let mut size = 0;
        for chunk in self.parts.chunks(PARTS_PER_CHUNK) {
            starts.push(size);
            size += chunk.iter().map(|listed| listed.part.bytes).sum::<u64>();
        }
        let count = u32::try_from(self.parts.len()).map_err(|_| Error::Internal)?;
        let default = self.bucket.default_retention.filter(|_| self.bucket.object_lock);
        let mut lock = upload.lock;
        lock.retention = lock.retention.or_else(|| default.map(|default| default.from(now)));
        Ok(ObjectData {
            size,
            etag: self.whole.etag.clone(),
            checksum: self.whole.checksum.clone(),
            checksum_type: self.whole.checksum_type,
            parts: Parts::Chunks { list, count, starts, bytes: Some(size) },
            encryption: upload.encryption.clone(),
            content: upload.content.clone(),
            metadata: upload.metadata.clone(),
            class: upload.class,
            redirect: upload.redirect.clone(),
            tags: upload.tags.clone(),
            acl: upload.acl.clone(),
            lock,
            restored_from: None,
            restored_until: None,
        })
    }
}

/// Tells whether a completion rightly comes without the customer's key that its upload was begun with: the real service asks for it again only
/// where the upload has checksums.
fn leaves_key_out(call: &Call<'_>, upload: &Upload) -> bool {
    let is_customers = matches!(upload.encryption, ObjectEncryption::Customer(_));
    is_customers && upload.checksum.is_none() && !customer_key::OWN.are_named(call.fields)
}

/// The answer to a completion that was made before with the same list.
fn answered_before(
    call: &Call<'_>,
    name: &str,
    document: &Result<PartDocument, Error>,
    tx: &mut Tx<'_>,
) -> Result<Option<Reply>, Error> {
    let (bucket, key) = (call.bucket()?.id, call.key()?);
    let (Some(id), Ok(document)) = (UploadId::parse(name, bucket, key), document) else {
        return Ok(None);
    };
    let place = (bucket, key.as_bytes().to_vec(), id.sequence);
    let completed = COMPLETED_UPLOADS.get(tx, &place)?;
    let same =
        |completed: &CompletedUpload| completed.id == id && completed.list == document.digest();
    match completed.filter(same) {
        Some(completed) if is_there(tx, bucket, key, completed.version)? => {
            reply(call, &completed).map(Some)
        }
        _ => Ok(None),
    }
}

/// Tells whether a key has the version, or another object in its place: who deleted it has ended its upload too, as in the real service.
fn is_there(tx: &mut Tx<'_>, bucket: u64, key: &Key, version: VersionId) -> Result<bool, Error> {
    let place = object_key(bucket, key);
    let current = CURRENT.get_shared(tx, &place)?;
    if current.is_some_and(|current| current.data.is_some()) {
        return Ok(true);
    }
    let at = (bucket, place.1, version_place(version.sequence));
    let older = NONCURRENT.get_shared(tx, &at)?;
    Ok(older.is_some_and(|older| older.version == version))
}

/// The type of checksum that the completion names is the upload's.
fn check_type(call: &Call<'_>, begun: Option<UploadChecksum>) -> Result<(), Error> {
    let Some(named) = call.fields.get("x-store-checksum-type")? else {
        return Ok(());
    };
    let own = begun.map_or("null", |begun| begun.checksum_type.name());
    match named.eq_ignore_ascii_case(own) {
        true => Ok(()),
        false if ChecksumType::parse(&named.to_ascii_uppercase()).is_none() => {
            Err(invalid_header("x-store-checksum-type"))
        }
        false => Err(Error::request(format!(
            "The upload was created using the {own} checksum mode. The complete request must use the same checksum mode."
        ))),
    }
}

/// The size and the checksum of the whole are those that the completion names.
fn check_whole(call: &Call<'_>, upload: &Upload, whole: &WholeDigests) -> Result<(), Error> {
    if let Some(value) = call.fields.get(SIZE)? {
        let fault = match value.parse::<i64>() {
            Ok(..0) => "less than zero",
            _ => "invalid",
        };
        let size = number(SIZE, &value).map_err(|_| {
            Error::request(format!("Value for {SIZE} header is {fault}: '{value}'"))
        })?;
        if size != whole.size {
            return Err(Error::request(format!(
                "The provided '{SIZE}' header value {size} does not match what was computed: {}",
                whole.size
            )));
        }
    }
    check_algorithms(call.fields)?;
    if ALGORITHMS.iter().filter(|row| call.fields.has(row.header)).count() > 1 {
        return Err(Error::request(MORE_THAN_ONE));
    }
    ALGORITHMS.iter().try_for_each(|row| match call.fields.get(row.header)? {
        Some(value) => check_checksum(row, &value, upload, whole),
        None => Ok(()),
    })
}

/// A checksum that the completion names is that of the whole. One of another algorithm cannot be compared: who began with an algorithm is told
/// so, who began without one named none that would be kept.
fn check_checksum(
    row: &AlgorithmRow,
    value: &str,
    upload: &Upload,
    whole: &WholeDigests,
) -> Result<(), Error> {
    let own = whole.checksum.algorithm.row();
    if row.header != own.header {
        let [expected, actual] = [own, row].map(|row| row.name.to_ascii_lowercase());
        return match upload.checksum {
            None => Ok(()),
            Some(_) => Err(Error::request(format!(
                "Checksum Type mismatch occurred, expected checksum Type: {expected}, actual checksum Type: {actual}"
            ))),
        };
    }
    // One of the checksums of parts is shown with their number, which those who computed it may leave out.
    let of_parts = value.rsplit_once('-').filter(|_| !whole.checksum_type.is_full_object());
    let of_parts = of_parts.and_then(|(sum, parts)| Some((sum, parts.parse::<u32>().ok()?)));
    let (sum, parts) = of_parts.unwrap_or((value, whole.parts));
    if checksum(row.header, sum)? == whole.checksum && parts == whole.parts {
        return Ok(());
    }
    Err(Error::DigestMismatch {
        reason: format!(
            "The {} you specified did not match the calculated checksum.",
            own.name.to_ascii_lowercase()
        ),
    })
}

/// The check of a list against the parts that are there.
struct PartCheck<'a> {
    name: &'a str,
    upload: &'a Upload,
    least: u64,
}

impl PartCheck<'_> {
    /// The parts that the document names, and what they come to. Both lists ascend, so one walk over the rows finds all. That each is there
    /// counts before its size.
    fn parts(
        &self,
        document: &PartDocument,
        tx: &mut Tx<'_>,
    ) -> Result<(Vec<ListedPart>, WholeDigests), Error> {
        let of_object = self.upload.checksum_of_object();
        let mut digests = PartDigests::new(of_object.algorithm, of_object.checksum_type);
        let mut found = Vec::with_capacity(document.0.len());
        let mut rows = PartRows::new(self.upload.number, document.0.len());
        let last = document.0.last().map(|named| named.number);
        let mut too_small = None;
        for named in &document.0 {
            let listed = rows.find(tx, named.number)?;
            let listed = listed.ok_or_else(|| self.invalid(named))?;
            self.check(named, &listed)?;
            let is_small = listed.part.bytes < self.least && Some(named.number) != last;
            if is_small && too_small.is_none() {
                too_small = Some(Error::EntityTooSmall {
                    number: named.number,
                    etag: listed.etag(),
                    proposed: listed.part.bytes,
                    least: self.least,
                });
            }
            digests.append(&listed.tag, &listed.checksum.value, listed.part.bytes);
            found.push(listed);
        }
        too_small.map_or_else(|| Ok((found, digests.finish())), Err)
    }

    fn invalid(&self, named: &NamedPart) -> Error {
        Error::InvalidPart {
            upload: self.name.to_owned(),
            number: named.number,
            etag: named.etag.clone(),
        }
    }

    /// The digests that the document names are the part's.
    fn check(&self, named: &NamedPart, listed: &ListedPart) -> Result<(), Error> {
        if listed.etag() != named.etag {
            return Err(self.invalid(named));
        }
        let Some(begun) = self.upload.checksum else {
            // Who began without a checksum has none to name.
            return if named.checksum.is_none() { Ok(()) } else { Err(self.invalid(named)) };
        };
        match &named.checksum {
            Some(own) if *own == listed.checksum => Ok(()),
            Some(own) if own.algorithm == begun.algorithm => Err(self.invalid(named)),
            Some(other) => Err(Error::DigestMismatch {
                reason: format!(
                    "The {} you specified for part {} did not match what we received.",
                    other.algorithm.row().name.to_ascii_lowercase(),
                    named.number
                ),
            }),
            None if begun.checksum_type.is_full_object() => Ok(()),
            None => Err(Error::request(format!(
                "The upload was created using a {} checksum. The complete request must include the checksum for each part. It was missing for part {} in the request.",
                begun.algorithm.row().name.to_ascii_lowercase(),
                named.number
            ))),
        }
    }
}

/// The rows of the parts of an upload, read a page at a time.
struct PartRows {
    upload: u64,
    page: std::vec::IntoIter<((u64, u32), crate::store::upload::UploadPart)>,
    limit: usize,
    read: u32,
    more: bool,
}

impl PartRows {
    fn new(upload: u64, parts: usize) -> Self {
        let limit = parts.min(PARTS_PER_PAGE);
        Self { upload, page: Vec::new().into_iter(), limit, read: 0, more: true }
    }

    /// The part with this number, which is greater than the one before.
    fn find(&mut self, tx: &mut Tx<'_>, number: u32) -> Result<Option<ListedPart>, Error> {
        loop {
            while let Some(((_, own), part)) =
                self.page.as_slice().first().map(|(key, part)| (*key, part))
            {
                if own > number {
                    return Ok(None);
                }
                let listed = (own == number).then(|| part.listed.clone());
                self.page.next();
                if listed.is_some() {
                    return Ok(listed);
                }
            }
            if !self.more {
                return Ok(None);
            }
            let mut span = UPLOAD_PARTS.span(&self.upload);
            let from = self.read.max(number.saturating_sub(1));
            span.from = Some(UPLOAD_PARTS.key(&(self.upload, from)).to_vec());
            let (rows, more) = UPLOAD_PARTS.scan(tx, &span, self.limit)?;
            self.read = rows.last().map_or(self.read, |((_, last), _)| *last);
            self.more = more;
            self.page = rows.into_iter();
        }
    }
}

/// The answer to a completion.
fn reply(call: &Call<'_>, completed: &CompletedUpload) -> Result<Reply, Error> {
    let namespace = call.dialect().names().namespace;
    let location = location(call)?;
    let text = XmlWriter::document("CompleteMultipartUploadResult", namespace, |writer| {
        writer.text("Location", location);
        writer.text("Bucket", call.bucket_name);
        writer.text("Key", call.key.map(Key::as_str).unwrap_or_default());
        writer.text("ETag", quoted(&completed.etag));
        let row = ALGORITHMS.iter().find(|row| row.algorithm == completed.checksum.algorithm);
        if let Some(row) = row {
            writer.text(&format!("Checksum{}", row.name), &completed.checksum_text);
            writer.text("ChecksumType", completed.checksum_type.name());
        }
    });
    let bucket = call.bucket()?;
    let reply = match completed.encryption {
        // The headers of a customer's key repeat what the request brought.
        ObjectEncryption::Customer(_) if !customer_key::OWN.are_named(call.fields) => {
            Reply::xml(text)
        }
        _ => encryption::describe(Reply::xml(text), call.fields, &completed.encryption)?,
    };
    Ok(reply
        .with_some("x-store-version-id", shown_version(bucket.versioning, &completed.version))
        .with_some("x-store-expiration", completed.expiration.clone())
        .with_some(
            request_payer::CHARGED,
            request_payer::pays(call.caller, bucket).then_some(request_payer::REQUESTER),
        ))
}

/// The version id that the answer shows: other than a PUT, a completion is told that it is the null version.
fn shown_version(versioning: Versioning, version: &VersionId) -> Option<String> {
    (versioning != Versioning::Off).then(|| version.to_string())
}

/// The characters that stand in a path as they are.
const OF_PATHS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'*').remove(b'/');

/// The URL of the object, under the name by which the service was reached.
fn location(call: &Call<'_>) -> Result<String, Error> {
    let scheme = if call.arrival.secure { "https" } else { "http" };
    let host = call.fields.get("host")?.unwrap_or_default().into_owned();
    let key = utf8_percent_encode(call.key()?.as_str(), OF_PATHS);
    let is_virtual = host.strip_prefix(call.bucket_name).is_some_and(|rest| rest.starts_with('.'));
    Ok(match is_virtual {
        true => format!("{scheme}://{host}/{key}"),
        false => format!("{scheme}://{host}/{}/{key}", call.bucket_name),
    })
}
