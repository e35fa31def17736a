//! The header table of PutObject, and the parse of a request's headers by it.
//!
//! One row a header: the kinds of bucket that it is for, and its parser. The order of the rows is the order in which faults
//! are reported; rules that span several headers come after all rows. What is missing takes its default. A header that is
//! repeated counts as one whose values are joined with commas, as signatures see it, and then meets its parser.

use triptych_core::time::Timestamp;

use crate::auth::payload::{Payload, is_framing};
use crate::body::body_headers::{self, BodyHeaders, BodyValues, ChecksumPlan, number};
use crate::error::Error;
use crate::operation::encryption::EncryptionRequest;
use crate::request::encoded_word;
use crate::request::fields::Fields;
use crate::store::bucket::{Bucket, BucketKind, ZoneKind};
use crate::store::lock::{ObjectLock, missing_digest};
use crate::store::precondition::{Precondition, check_of_uploads, check_of_writes};
use crate::store::tagging::Tags;
use crate::store::version::{ContentHeaders, StorageClass};

/// The most bytes that names (without prefix) and values of user metadata have together.
pub const METADATA_BYTES_MAX: usize = 2 * 1024;
/// The most bytes of a body.
pub const BODY_BYTES_MAX: u64 = 5 * 1024 * 1024 * 1024;
/// The greatest offset that is a number to clients.
const OFFSET_MAX: u64 = i64::MAX.unsigned_abs();
const OFFSET: &str = "x-store-write-offset-bytes";
/// The most bytes of a website redirect.
const REDIRECT_BYTES_MAX: usize = 2 * 1024;

/// The kinds of bucket that a header is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppliesTo {
    /// All.
    All,
    /// General purpose buckets alone.
    GeneralPurpose,
    /// Directory buckets alone.
    Directory,
    /// All but directory buckets.
    NotDirectory,
    /// All but those on premises.
    NotOnPremises,
    /// None: what it asks for is not there, and must not be passed over.
    None,
}

impl AppliesTo {
    /// Tells whether it is for buckets of a kind.
    #[must_use]
    pub const fn takes(self, kind: BucketKind) -> bool {
        matches!(
            (self, kind),
            (Self::All, _)
                | (Self::GeneralPurpose, BucketKind::GeneralPurpose)
                | (Self::Directory, BucketKind::Directory)
                | (Self::NotDirectory, BucketKind::GeneralPurpose | BucketKind::OnPremises)
                | (Self::NotOnPremises, BucketKind::GeneralPurpose | BucketKind::Directory)
        )
    }
}

/// A header that is being parsed: its name, its value, and the fields that it stands among.
struct Header<'h> {
    name: &'static str,
    value: &'h str,
    fields: &'h Fields<'h>,
}

/// Parses a header's value into its place in `values`.
type Parser = fn(&mut Values, &Header<'_>) -> Result<(), Error>;

/// Values of single headers.
#[derive(Default)]
struct Values {
    body: BodyValues,
    content: ContentHeaders,
    precondition: Precondition,
    encryption: EncryptionRequest,
    class: Option<StorageClass>,
    offset: Option<u64>,
    redirect: Option<String>,
    tags: Tags,
}

/// One row of the header table.
#[derive(Debug)]
pub struct HeaderRule {
    /// The spec's name.
    pub name: &'static str,
    /// The kinds of bucket that it is for. On another it is refused with 501 `NotImplemented`, which names it.
    pub applies_to: AppliesTo,
    parse: Parser,
}

const fn rule(name: &'static str, applies_to: AppliesTo, parse: Parser) -> HeaderRule {
    HeaderRule { name, applies_to, parse }
}

/// The headers of PutObject (spec §4), in the order in which their faults are reported.
#[rustfmt::skip] // A table: one header a line.
pub static HEADERS: [HeaderRule; 42] = [
    // The six of the ACL are read with the bucket's ownership and the accounts: see `crate::auth::object_owner::of_put`.
    rule("x-store-acl", AppliesTo::GeneralPurpose, elsewhere),
    rule("x-store-grant-full-control", AppliesTo::GeneralPurpose, elsewhere),
    rule("x-store-grant-read", AppliesTo::GeneralPurpose, elsewhere),
    rule("x-store-grant-read-acp", AppliesTo::GeneralPurpose, elsewhere),
    rule("x-store-grant-write-acp", AppliesTo::GeneralPurpose, elsewhere),
    rule("x-store-grant-write", AppliesTo::GeneralPurpose, elsewhere),
    rule("cache-control", AppliesTo::All, cache_control),
    rule("content-disposition", AppliesTo::All, disposition),
    rule("content-encoding", AppliesTo::All, encoding),
    rule("content-language", AppliesTo::All, language),
    rule("content-type", AppliesTo::All, media_type),
    rule("expires", AppliesTo::All, expires),
    rule("x-robots-tag", AppliesTo::All, robots),
    rule("content-length", AppliesTo::All, length),
    rule("content-md5", AppliesTo::NotDirectory, content_md5),
    rule("x-store-sdk-checksum-algorithm", AppliesTo::All, algorithm),
    rule("x-store-checksum-crc32", AppliesTo::All, checksum),
    rule("x-store-checksum-crc32c", AppliesTo::All, checksum),
    rule("x-store-checksum-crc64nvme", AppliesTo::All, checksum),
    rule("x-store-checksum-sha1", AppliesTo::All, checksum),
    rule("x-store-checksum-sha256", AppliesTo::All, checksum),
    rule("if-match", AppliesTo::All, precondition),
    rule("if-none-match", AppliesTo::NotOnPremises, precondition),
    rule(OFFSET, AppliesTo::Directory, offset),
    rule("x-store-server-side-encryption", AppliesTo::All, encryption),
    rule("x-store-server-side-encryption-kms-key-id", AppliesTo::All, encryption),
    rule("x-store-server-side-encryption-context", AppliesTo::All, encryption),
    rule("x-store-server-side-encryption-bucket-key-enabled", AppliesTo::All, encryption),
    rule("x-store-server-side-encryption-customer-algorithm", AppliesTo::NotDirectory, encryption),
    rule("x-store-server-side-encryption-customer-key", AppliesTo::NotDirectory, encryption),
    rule("x-store-server-side-encryption-customer-key-md5", AppliesTo::NotDirectory, encryption),
    rule("x-store-storage-class", AppliesTo::All, class),
    rule("x-store-website-redirect-location", AppliesTo::NotDirectory, redirect),
    rule("x-store-request-payer", AppliesTo::NotDirectory, payer),
    rule("x-store-tagging", AppliesTo::NotDirectory, tagging),
    // The three of the lock are read with the bucket: see `ObjectLock::from_headers`.
    rule("x-store-object-lock-mode", AppliesTo::NotDirectory, elsewhere),
    rule("x-store-object-lock-retain-until-date", AppliesTo::NotDirectory, elsewhere),
    rule("x-store-object-lock-legal-hold", AppliesTo::NotDirectory, elsewhere),
    rule("x-store-object-lock-event-hold", AppliesTo::None, elsewhere),
    rule("x-store-object-lock-event-hold-duration-days", AppliesTo::None, elsewhere),
    rule("x-store-object-lock-event-hold-duration-years", AppliesTo::None, elsewhere),
    // Checked with the bucket, before all others: see `crate::auth::authorize`.
    rule("x-store-expected-bucket-owner", AppliesTo::All, elsewhere),
];

fn elsewhere(_: &mut Values, _: &Header<'_>) -> Result<(), Error> {
    Ok(())
}

/// A value that is kept; an empty one is none.
fn kept(header: &Header<'_>) -> Option<String> {
    (!header.value.is_empty()).then(|| header.value.to_owned())
}

fn cache_control(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.content.cache_control = kept(header);
    Ok(())
}

fn disposition(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.content.disposition = kept(header);
    Ok(())
}

fn encoding(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.content.encoding = kept(header);
    Ok(())
}

fn language(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.content.language = kept(header);
    Ok(())
}

fn media_type(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.content.media_type = kept(header);
    Ok(())
}

fn expires(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.content.expires = kept(header);
    Ok(())
}

fn robots(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.content.robots = kept(header);
    Ok(())
}

fn length(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.body.length = Some(number(header.name, header.value)?);
    Ok(())
}

fn content_md5(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.body.md5 = Some(body_headers::md5(header.value)?);
    Ok(())
}

fn algorithm(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    // An empty one is none, as in the real service.
    if !header.value.is_empty() {
        values.body.algorithm = Some(body_headers::algorithm(header.name, header.value)?);
    }
    Ok(())
}

fn checksum(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    body_headers::check_single(header.fields)?;
    values.body.checksums.push(body_headers::checksum(header.name, header.value)?);
    Ok(())
}

fn precondition(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.precondition = Precondition::read(header.fields)?;
    Ok(())
}

fn offset(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    let offset = number(header.name, header.value)?;
    if offset > OFFSET_MAX {
        let reason = "The value is greater than any size that an object has";
        return Err(Error::argument(header.name, Some(header.value), reason));
    }
    values.offset = Some(offset);
    Ok(())
}

const fn not_implemented(header: &'static str) -> Error {
    Error::HeaderNotImplemented { header, reason: None }
}

/// Encryption: its headers belong together, so the first reads all.
fn encryption(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.encryption = EncryptionRequest::read(header.fields)?;
    Ok(())
}

fn class(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    let class = StorageClass::parse(header.value);
    let unknown = || Error::InvalidStorageClass { class: header.value.to_owned() };
    values.class = Some(class.ok_or_else(unknown)?);
    Ok(())
}

fn redirect(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    let mut starts = ["/", "http://", "https://"].iter();
    if !starts.any(|start| header.value.starts_with(start))
        || header.value.len() > REDIRECT_BYTES_MAX
    {
        return Err(Error::InvalidRedirectLocation);
    }
    values.redirect = kept(header);
    Ok(())
}

fn payer(_: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    if header.value == "requester" {
        return Ok(());
    }
    Err(Error::argument(header.name, Some(header.value), "The only value is requester"))
}

fn tagging(values: &mut Values, header: &Header<'_>) -> Result<(), Error> {
    values.tags = Tags::from_header(header.value)?;
    Ok(())
}

/// The headers of a PutObject, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutHeaders {
    /// Those about the body.
    pub body: BodyHeaders,
    /// HTTP headers that are kept.
    pub content: ContentHeaders,
    /// User metadata.
    pub metadata: Vec<(String, String)>,
    /// The condition that the key must meet.
    pub precondition: Precondition,
    /// The place in the object at which the body is to stand.
    pub offset: Option<u64>,
    /// The encryption that they ask for.
    pub encryption: EncryptionRequest,
    /// Storage class.
    pub class: StorageClass,
    /// Website redirect.
    pub redirect: Option<String>,
    /// Tags.
    pub tags: Tags,
    /// Retention and legal hold: the headers', or the bucket's default.
    pub lock: ObjectLock,
}

impl PutHeaders {
    /// Reads the headers of a PutObject into `bucket`, but those of its ACL: see [`crate::auth::object_owner::of_put`].
    ///
    /// # Errors
    /// The first fault in the order of [`HEADERS`]; then those of [`BodyHeaders::of_values`]; `InvalidStorageClass` for a class of
    /// another kind of bucket, `MetadataTooLarge`, those of [`ObjectLock::from_headers`], `HeaderNotImplemented` for a body
    /// that is said to be a range of the object (RFC 9110 §14.5), those of [`BodyHeaders::told_length`], `EntityTooLarge`.
    pub fn read(
        fields: &Fields<'_>,
        bucket: &Bucket,
        payload: Payload,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let mut values = Values::read(fields, bucket)?;
        // A body that came as it is keeps whatever it is said to be.
        if payload.is_chunked() {
            values.leave_framing();
        }
        let body = BodyHeaders::of_values(fields, payload, std::mem::take(&mut values.body))?;
        let is_copy = fields.has("x-store-copy-source");
        // A copy has no body of its own that a digest could cover.
        let has_digest = body.md5.is_some() || body.checksum != ChecksumPlan::Default || is_copy;
        let class = class_in(bucket, values.class)?;
        if values.offset.is_some() && (class != StorageClass::ExpressOnezone || is_copy) {
            return Err(not_implemented(OFFSET));
        }
        let metadata = metadata(fields)?;
        let default = bucket.default_retention;
        let lock = ObjectLock::from_headers(fields, bucket.object_lock, default, has_digest, now)?;
        // The bucket's default locks it too; of a form, whose sender may not know of it, nothing is asked.
        if !lock.is_none() && !has_digest && payload != Payload::File {
            return Err(missing_digest("Put Object"));
        }
        if !is_copy && payload != Payload::File {
            if fields.has("content-range") {
                let reason =
                    "A body replaces the whole object. A part of one is sent by UploadPart";
                let header = "Content-Range";
                return Err(Error::HeaderNotImplemented { header, reason: Some(reason) });
            }
            let proposed = body.told_length(fields)?;
            if proposed > BODY_BYTES_MAX {
                return Err(Error::EntityTooLarge { proposed, most: BODY_BYTES_MAX });
            }
        }
        Ok(values.into_headers(body, class, metadata, lock))
    }

    /// Reads the headers of an upload in parts: those of a PutObject but for what is about its body. A default retention counts from the
    /// completion.
    ///
    /// # Errors
    /// As [`PutHeaders::read`].
    pub fn of_upload(fields: &Fields<'_>, bucket: &Bucket, now: Timestamp) -> Result<Self, Error> {
        check_of_uploads(fields)?;
        let mut values = Values::read(fields, bucket)?;
        // The framing that clients name here is that of the parts.
        values.leave_framing();
        if values.offset.is_some() {
            return Err(not_implemented(OFFSET));
        }
        let class = class_in(bucket, values.class)?;
        let metadata = metadata(fields)?;
        let lock = ObjectLock::from_headers(fields, bucket.object_lock, None, true, now)?;
        let body = BodyHeaders {
            payload: Payload::Unsigned,
            length: None,
            md5: None,
            checksum: ChecksumPlan::Default,
        };
        Ok(values.into_headers(body, class, metadata, lock))
    }
}

impl Values {
    /// Reads the headers of the table, one by one.
    fn read(fields: &Fields<'_>, bucket: &Bucket) -> Result<Self, Error> {
        let mut values = Self::default();
        for rule in &HEADERS {
            let Some(value) = fields.get(rule.name)? else {
                continue;
            };
            if !rule.applies_to.takes(bucket.kind) {
                return Err(not_implemented(rule.name));
            }
            (rule.parse)(&mut values, &Header { name: rule.name, value: &value, fields })?;
        }
        check_of_writes(fields)?;
        Ok(values)
    }

    /// Takes the framing in which a body came from the encodings of the object, which it does not describe.
    fn leave_framing(&mut self) {
        let encodings = self.content.encoding.take().unwrap_or_default();
        let of_object: Vec<_> = encodings.split(',').filter(|name| !is_framing(name)).collect();
        let of_object = of_object.join(",");
        self.content.encoding = Some(of_object.trim().to_owned()).filter(|text| !text.is_empty());
    }

    /// The headers, with what several of them or the bucket decide together.
    fn into_headers(
        self,
        body: BodyHeaders,
        class: StorageClass,
        metadata: Vec<(String, String)>,
        lock: ObjectLock,
    ) -> PutHeaders {
        let Self { content, precondition, offset, encryption, redirect, tags, .. } = self;
        PutHeaders {
            body,
            content,
            metadata,
            precondition,
            offset,
            encryption,
            class,
            redirect,
            tags,
            lock,
        }
    }
}

/// The class of objects in a bucket of this kind that name none.
const fn default_class(kind: BucketKind, zone: ZoneKind) -> StorageClass {
    match (kind, zone) {
        (BucketKind::GeneralPurpose, _) => StorageClass::Standard,
        (BucketKind::Directory, ZoneKind::Availability) => StorageClass::ExpressOnezone,
        (BucketKind::Directory, ZoneKind::Local) => StorageClass::OnezoneIa,
        (BucketKind::OnPremises, _) => StorageClass::Outposts,
    }
}

/// Tells whether objects in a bucket of this kind can be of a class.
#[must_use]
pub fn takes_class(kind: BucketKind, zone: ZoneKind, class: StorageClass) -> bool {
    match kind {
        BucketKind::GeneralPurpose => {
            !matches!(class, StorageClass::Outposts | StorageClass::ExpressOnezone)
        }
        BucketKind::Directory | BucketKind::OnPremises => class == default_class(kind, zone),
    }
}

/// The storage class of an object in a bucket of this kind.
fn class_in(bucket: &Bucket, named: Option<StorageClass>) -> Result<StorageClass, Error> {
    let Some(class) = named else {
        return Ok(default_class(bucket.kind, bucket.zone_kind));
    };
    let fits = takes_class(bucket.kind, bucket.zone_kind, class);
    let refused = || Error::InvalidStorageClass { class: class.name().to_owned() };
    fits.then_some(class).ok_or_else(refused)
}

/// The user metadata of a request: lower-case names without prefix, repeated ones joined with commas.
///
/// # Errors
/// [`Error::MetadataTooLarge`].
fn metadata(fields: &Fields<'_>) -> Result<Vec<(String, String)>, Error> {
    let mut metadata: Vec<(String, String)> = Vec::new();
    for (name, value) in fields.starting_with("x-store-meta-") {
        // Header bytes beyond ASCII are Latin-1 where they are no UTF-8.
        let value = std::str::from_utf8(value).map_or_else(
            |_| value.iter().map(|byte| char::from(*byte)).collect(),
            |value| value.trim().to_owned(),
        );
        let value = encoded_word::decode_ascii(&value).into_owned();
        match metadata.iter_mut().find(|(own, _)| own == name) {
            Some((_, joined)) => *joined = format!("{joined},{value}"),
            None => metadata.push((name.to_owned(), value)),
        }
    }
    let size: usize = metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > METADATA_BYTES_MAX {
        return Err(Error::MetadataTooLarge { size, most: METADATA_BYTES_MAX });
    }
    Ok(metadata)
}
