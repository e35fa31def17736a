//! Objects read back: `GetObject`, `HeadObject` and `GetObjectAttributes`; and how a version is found.

use std::borrow::Cow;

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::authorize;
use crate::body::body_headers::invalid_header;
use crate::body::checksum::ChecksumType;
use crate::error::Error;
use crate::operation::encryption::{self, EncryptedObject};
use crate::operation::list_parameters::limited;
use crate::operation::wanted_bytes::WantedBytes;
use crate::operation::{ReadCall, Reply, ReplyBody};
use crate::request::encoded_word;
use crate::request::etag::{self, quoted};
use crate::request::xml::XmlWriter;
use crate::store::bucket::{BucketKind, Versioning};
use crate::store::key::Key;
use crate::store::lifecycle;
use crate::store::list::PAGE_MAX;
use crate::store::lock::hold_word;
use crate::store::lookup::{FoundVersion, locate};
use crate::store::object_encryption::ObjectEncryption;
use crate::store::part_cursor::listed_after;
use crate::store::part_list::{ListedPart, ObjectRange, PARTS_MAX, Parts};
use crate::store::tables::{NONCURRENT, object_key};
use crate::store::version::{
    DEFAULT_MEDIA_TYPE, ObjectData, ObjectVersion, StorageClass, VersionId, encryption_context,
};

/// The headers of a reply that a query parameter of a GET replaces.
const OVERRIDES: [(&str, &str); 6] = [
    ("response-content-type", "content-type"),
    ("response-content-language", "content-language"),
    ("response-expires", "expires"),
    ("response-cache-control", "cache-control"),
    ("response-content-disposition", "content-disposition"),
    ("response-content-encoding", "content-encoding"),
];

/// The object that a request is about, by key and `versionId`: a version that is no delete marker.
///
/// # Errors
/// Those of [`locate`]; `Deleted` where a delete marker hides the key, `IsDeleteMarker` for one that is named.
pub fn find(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<FoundVersion, Error> {
    let (bucket, key) = (call.bucket()?, call.key()?);
    let found = match locate(tx, bucket.id, key, call.query.get("versionId")) {
        Err(error @ Error::NoSuchKey { .. }) if bucket.versioning != Versioning::Off => {
            return Err(hidden(tx, bucket.id, key)?.unwrap_or(error));
        }
        found => found?,
    };
    match found.version.data {
        Some(_) => Ok(found),
        None => Err(Error::IsDeleteMarker {
            method: call.operation.method,
            marker: found.version.version.to_string(),
            modified: found.version.modified.http_date(),
        }),
    }
}

/// The refusal for a key without a current object, if a delete marker hides it.
pub(super) fn hidden(tx: &mut Tx<'_>, bucket: u64, key: &Key) -> Result<Option<Error>, Error> {
    let span = NONCURRENT.span(&object_key(bucket, key));
    let (rows, _) = NONCURRENT.scan(tx, &span, 1)?;
    Ok(rows.first().map(|(_, newest)| Error::Deleted {
        key: key.to_string(),
        marker: newest.version.to_string(),
        modified: newest.modified.http_date(),
    }))
}

/// As [`find`], for what changes an object without its bytes and for its tags: there the real service names the delete marker
/// that hides the key, as if the request had.
///
/// # Errors
/// Those of [`find`], with `IsDeleteMarker` in place of `Deleted`.
pub fn find_unhidden(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<FoundVersion, Error> {
    find(call, tx).map_err(|error| match error {
        Error::Deleted { marker, modified, .. } => {
            Error::IsDeleteMarker { method: call.operation.method, marker, modified }
        }
        other => other,
    })
}

/// The version id that a reply shows: none in a bucket that never kept versions.
#[must_use]
pub fn shown_version(versioning: Versioning, version: &VersionId) -> Option<String> {
    (versioning != Versioning::Off).then(|| version.to_string())
}

/// The outcome of the conditions of a GET.
enum Freshness {
    Modified,
    NotModified,
}

/// Checks the conditions of a GET (RFC 9110 §13.2.2).
fn check_preconditions(
    call: &ReadCall<'_>,
    object: &ObjectVersion,
    data: &ObjectData,
) -> Result<Freshness, Error> {
    let failed = |condition| Err(Error::PreconditionFailed { condition });
    let date = |name: &str| -> Result<Option<Timestamp>, Error> {
        let value = call.fields.get(name)?;
        Ok(value.and_then(|value| Timestamp::from_http_date(&value)))
    };
    let modified = object.modified.seconds();
    match call.fields.get("if-match")? {
        Some(tags) if !etag::listed_strongly(&tags, &data.etag) => return failed("If-Match"),
        Some(_) => {}
        None => {
            let unmodified = date("if-unmodified-since")?;
            if unmodified.is_some_and(|since| modified > since.seconds()) {
                return failed("If-Unmodified-Since");
            }
        }
    }
    let changed = match call.fields.get("if-none-match")? {
        Some(tags) => !etag::listed_weakly(&tags, &data.etag),
        None => date("if-modified-since")?.is_none_or(|since| modified > since.seconds()),
    };
    Ok(if changed { Freshness::Modified } else { Freshness::NotModified })
}

/// `GetObject`.
///
/// # Errors
/// Those of [`WantedBytes::check`] and of [`find`]; `InvalidRequest`, `InvalidArgument` for parameters; `PreconditionFailed`; `InvalidObjectState` for
/// an archived object; `InvalidRange`, `InvalidPartNumber`.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    WantedBytes::check(call)?;
    let wants_checksum = wants_checksum(call)?;
    let found = find(call, tx)?;
    let (object, data) = (&found.version, found.data()?);
    let mut reply = answer(call, tx, object, data, wants_checksum)?;
    if reply.status == 304 {
        return Ok(reply);
    }
    if !data.is_readable(call.now) {
        return Err(Error::InvalidObjectState { class: data.class.name().to_owned() });
    }
    let key = encrypted(call, data)?.open(call)?;
    let bytes = WantedBytes::read(call, tx, object, data)?.bytes;
    let context = encryption_context(call.bucket()?.id, call.key()?, object.version.random);
    reply.body = ReplyBody::Object(Box::new(ObjectRange {
        context,
        key,
        parts: data.parts.clone(),
        size: data.size,
        bytes,
    }));
    Ok(reply)
}

/// `HeadObject`: as GetObject, without the body. Archived objects have a head.
///
/// # Errors
/// Those of [`WantedBytes::check`], of [`find`] and of the conditions; `InvalidRequest` for a checksum mode that is none.
pub fn head(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    WantedBytes::check(call)?;
    let wants_checksum = wants_checksum(call)?;
    let found = find(call, tx)?;
    answer(call, tx, &found.version, found.data()?, wants_checksum)
}

/// Tells whether a request asks for the checksum.
fn wants_checksum(call: &ReadCall<'_>) -> Result<bool, Error> {
    const MODE: &str = "x-store-checksum-mode";
    match call.fields.get(MODE)? {
        Some(mode) if !mode.eq_ignore_ascii_case("ENABLED") => Err(invalid_header(MODE)),
        mode => Ok(mode.is_some()),
    }
}

/// The object that a request is about, as encryption sees it.
fn encrypted<'a>(
    call: &'a ReadCall<'_>,
    data: &'a ObjectData,
) -> Result<EncryptedObject<'a>, Error> {
    Ok(EncryptedObject {
        bucket: call.bucket_name,
        key: call.key()?.as_str(),
        encryption: &data.encryption,
    })
}

/// The head of the answer to a GET or HEAD.
fn answer(
    call: &ReadCall<'_>,
    tx: &mut Tx<'_>,
    object: &ObjectVersion,
    data: &ObjectData,
    wants_checksum: bool,
) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    encryption::refuse_choice(call.fields)?;
    encrypted(call, data)?.check_head(call)?;
    let overrides = overrides(call)?;
    if let Freshness::NotModified = check_preconditions(call, object, data)? {
        let reply = Reply::empty(304)
            .with("etag", quoted(&data.etag))
            .with("last-modified", object.modified.http_date())
            .with_some("cache-control", data.content.cache_control.clone())
            .with_some("expires", data.content.expires.clone())
            .with_some("x-store-version-id", shown_version(bucket.versioning, &object.version));
        return Ok(reply);
    }
    // Who names a version asks for what never ends that way, as in the real service.
    let expiration = match call.query.has("versionId") {
        _ if bucket.kind == BucketKind::Directory => Some(lifecycle::NOT_SHOWN.to_owned()),
        true => None,
        false => lifecycle::expiration(tx, bucket.id, call.key()?, object, data)?,
    };
    let wanted = WantedBytes::read(call, tx, object, data)?;
    let status = if wanted.is_range { 206 } else { 200 };
    let mut reply = describe(Reply::empty(status), object, data);
    let has = |name: &str| reply.headers.iter().any(|(own, _)| own == name);
    let access = call.access(call.key()?, call.query.get("versionId"));
    let hidden = authorize::hidden_headers(&access, bucket, has, tx)?;
    reply.headers.retain(|(name, _)| !hidden.contains(&&**name));
    // Once it was restored, an object looks different from one moment to the next.
    let reply = if data.restored_until.is_some() { reply.at_this_time() } else { reply };
    let mut reply = encryption::describe(reply, call.fields, &data.encryption)?
        .with("accept-ranges", "bytes")
        .with("content-length", wanted.length().to_string())
        .with_some("x-store-version-id", shown_version(bucket.versioning, &object.version))
        .with_some("x-store-expiration", expiration)
        .with_some("x-store-restore", data.restoration(call.now));
    if let Parts::Chunks { count, .. } = &data.parts
        && call.query.has("partNumber")
    {
        reply = reply.with("x-store-mp-parts-count", count.to_string());
    }
    if wanted.is_range {
        let text = format!("bytes {}-{}/{}", wanted.bytes.start, wanted.bytes.end - 1, data.size);
        reply = reply.with("content-range", text);
    }
    if wants_checksum && matches!(data.encryption, ObjectEncryption::KeyManagement(_)) {
        encryption::check_kms(call.caller, &["kms:Decrypt"])?;
    }
    if wants_checksum {
        reply = match &wanted.part {
            Some(part) if tells_of_parts(data) => with_checksum_of_part(reply, data, part),
            // A client would compare the checksum of the whole with the bytes of a range.
            _ if wanted.length() == data.size => with_checksum(reply, data),
            _ => reply,
        };
    }
    for (name, value) in overrides {
        reply.headers.retain(|(own, _)| own != name);
        reply = reply.with(name, value);
    }
    Ok(reply)
}

/// Adds the headers of an object's checksum, where it is known.
#[must_use]
pub fn with_checksum(reply: Reply, data: &ObjectData) -> Reply {
    match data.shown_checksum() {
        Some((row, value)) => {
            reply.with(row.header, value).with("x-store-checksum-type", data.checksum_type.name())
        }
        None => reply,
    }
}

/// Tells whether the checksums of parts are told: as in the real service only where that of the object is made of them.
fn tells_of_parts(data: &ObjectData) -> bool {
    data.checksum_type == ChecksumType::Composite
}

/// Adds the headers of the checksum of a part.
fn with_checksum_of_part(reply: Reply, data: &ObjectData, part: &ListedPart) -> Reply {
    let header = part.checksum.algorithm.row().header;
    reply
        .with(header, part.checksum.base64())
        .with("x-store-checksum-type", data.checksum_type.name())
}

/// The headers that query parameters replace, and their values.
fn overrides(call: &ReadCall<'_>) -> Result<Vec<(&'static str, String)>, Error> {
    let is_other = |name: &str| {
        name.starts_with("response-") && !OVERRIDES.iter().any(|(own, _)| *own == name)
    };
    let mut others = call.query.iter().filter(|(name, value)| is_other(name) && !value.is_empty());
    if let Some((name, value)) = others.next() {
        let reason = format!(
            "{name} is not in the set of overridable response headers. Please refer to the S3 API documentation for a complete list of overridable response headers."
        );
        return Err(Error::argument(name.to_owned(), Some(value), reason));
    }
    let mut replaced = Vec::new();
    for (parameter, header) in OVERRIDES {
        let Some(value) = call.query.get(parameter).filter(|value| !value.is_empty()) else {
            continue;
        };
        if call.caller.account().is_none() {
            return Err(Error::request(
                "Request specific response headers cannot be used for anonymous GET requests.",
            ));
        }
        // No header holds control characters either: left out, the answer would have none where one was asked for.
        let is_held = |character: char| {
            character == '\t' || (u32::from(character) <= 0xFF && !character.is_ascii_control())
        };
        if !value.chars().all(is_held) {
            return Err(Error::argument(
                parameter,
                Some(value),
                "Header value cannot be represented using ISO-8859-1.",
            ));
        }
        replaced.push((header, value.to_owned()));
    }
    Ok(replaced)
}

/// Adds the headers that describe an object, but those of its encryption.
#[must_use]
pub fn describe(reply: Reply, object: &ObjectVersion, data: &ObjectData) -> Reply {
    let content = &data.content;
    let media_type = content.media_type.clone().map_or(DEFAULT_MEDIA_TYPE.into(), Cow::Owned);
    let class = (data.class != StorageClass::Standard).then(|| data.class.name());
    let tags = (!data.tags.0.is_empty()).then(|| data.tags.0.len().to_string());
    let mut reply = reply
        .with("etag", quoted(&data.etag))
        .with("last-modified", object.modified.http_date())
        .with("content-type", media_type)
        .with_some("cache-control", content.cache_control.clone())
        .with_some("content-disposition", content.disposition.clone())
        .with_some("content-encoding", content.encoding.clone())
        .with_some("content-language", content.language.clone())
        .with_some("expires", content.expires.clone())
        .with_some("x-robots-tag", content.robots.clone())
        .with_some("x-store-storage-class", class)
        .with_some("x-store-website-redirect-location", data.redirect.clone())
        .with_some("x-store-tagging-count", tags);
    if let Some(retention) = data.lock.retention {
        reply = reply
            .with("x-store-object-lock-mode", retention.mode.name())
            .with("x-store-object-lock-retain-until-date", retention.until.rfc3339_millis());
    }
    if let Some(hold) = data.lock.hold {
        reply = reply.with("x-store-object-lock-legal-hold", hold_word(hold));
    }
    for (name, value) in &data.metadata {
        let value = encoded_word::encode(value).into_owned();
        reply = reply.with(format!("x-store-meta-{name}"), value);
    }
    reply
}

/// `GetObjectAttributes`.
///
/// # Errors
/// `InvalidRequest` without attributes, `InvalidArgument` for those that are none; those of [`find`] and of
/// [`EncryptedObject::check_head`].
pub fn attributes(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    const NAME: &str = "x-store-object-attributes";
    const KNOWN: [&str; 5] = ["ETag", "Checksum", "ObjectParts", "StorageClass", "ObjectSize"];
    const NO_NAMES: &str = "The x-store-object-attributes header specifying the attributes to be retrieved is either missing or empty";
    let sent = call.fields.get(NAME)?.filter(|sent| !is_commas(sent));
    let sent = sent.ok_or_else(|| Error::request(NO_NAMES))?;
    // As the real service reads it: nothing between two commas is a name, nothing behind the last one is none.
    let names: Vec<_> = sent.trim_end_matches(',').split(',').map(str::trim).collect();
    if let Some(name) = names.iter().find(|name| !KNOWN.contains(name)) {
        return Err(Error::argument(NAME, Some(name), "Invalid attribute name specified."));
    }
    let found = find(call, tx)?;
    let (object, data) = (&found.version, found.data()?);
    encrypted(call, data)?.check_head(call)?;
    let wants = |name| names.contains(&name);
    if wants("Checksum") && matches!(data.encryption, ObjectEncryption::KeyManagement(_)) {
        encryption::check_kms(call.caller, &["kms:Decrypt"])?;
    }
    let parts = match wants("ObjectParts") {
        true => PartsPage::read(call, tx, data)?,
        false => None,
    };
    let namespace = call.dialect().names().namespace;
    let text = XmlWriter::document("GetObjectAttributesResponse", namespace, |writer| {
        writer.text_if("ETag", wants("ETag").then_some(&data.etag));
        let is_known = data.checksum_type != ChecksumType::Unknown;
        if wants("Checksum") && is_known {
            let row = data.checksum.algorithm.row();
            writer.element("Checksum", |writer| {
                writer.text(&format!("Checksum{}", row.name), data.checksum.base64());
                writer.text("ChecksumType", data.checksum_type.name());
            });
        }
        if let Some(parts) = &parts {
            parts.write(writer, data);
        }
        writer.text_if("StorageClass", wants("StorageClass").then(|| data.class.name()));
        writer.text_if("ObjectSize", wants("ObjectSize").then_some(data.size));
    });
    Ok(Reply::xml(text)
        .with("last-modified", object.modified.http_date())
        .with_some("x-store-version-id", shown_version(call.bucket()?.versioning, &object.version)))
}

fn is_commas(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte == b',')
}

/// A page of the parts of an object.
struct PartsPage {
    /// False where their number alone is told.
    is_listed: bool,
    marker: u32,
    most: usize,
    /// Each with its place among all, from 1.
    parts: Vec<(u32, ListedPart)>,
    more: bool,
}

impl PartsPage {
    /// That of an object which was put in parts; `None` of one that was put whole.
    fn read(
        call: &ReadCall<'_>,
        tx: &mut Tx<'_>,
        data: &ObjectData,
    ) -> Result<Option<Self>, Error> {
        const MARKER: &str = "x-store-part-number-marker";
        const MOST: &str = "x-store-max-parts";
        // As in the real service, what is no number is none.
        let most = limited(MOST, call.fields.get(MOST)?.as_deref(), PAGE_MAX, PAGE_MAX)
            .unwrap_or(PAGE_MAX);
        let marker = limited(MARKER, call.fields.get(MARKER)?.as_deref(), 0, usize::MAX)?;
        let marker = u32::try_from(marker).unwrap_or(PARTS_MAX);
        if let Parts::One(_) = data.parts {
            return Ok(None);
        }
        // As the real service documents it, those of directory buckets are listed whatever their checksum is of.
        let is_listed = tells_of_parts(data) || call.bucket()?.kind == BucketKind::Directory;
        let (parts, more) = match is_listed && most > 0 {
            true => listed_after(tx, &data.parts, data.size, marker, most)?,
            false => (Vec::new(), false),
        };
        Ok(Some(Self { is_listed, marker, most, parts, more }))
    }

    fn write(&self, writer: &mut XmlWriter, data: &ObjectData) {
        writer.element("ObjectParts", |writer| {
            writer.text("PartsCount", data.parts.count());
            if !self.is_listed {
                return;
            }
            let next = self.parts.last().map_or(0, |(place, _)| *place);
            writer.text("PartNumberMarker", self.marker);
            writer.text("NextPartNumberMarker", next);
            writer.text("MaxParts", self.most);
            writer.text("IsTruncated", self.more);
            for (place, listed) in &self.parts {
                let name = listed.checksum.algorithm.row().name;
                writer.element("Part", |writer| {
                    writer.text("PartNumber", place);
                    writer.text("Size", listed.part.bytes);
                    writer.text(&format!("Checksum{name}"), listed.checksum.base64());
                });
            }
        });
    }
}
