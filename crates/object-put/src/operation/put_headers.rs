//! The header table of PutObject, and what a request's headers come to.
//!
//! One row a header: the kinds of bucket that it is for, and its grammar. The order of the rows is the order in which faults
//! are reported; rules that span several headers come after all rows. What is missing takes its default. A header that is
//! repeated counts as one whose values are joined with commas, as signatures see it, and then meets its grammar.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::auth::payload::Payload;
use crate::body::checksum::{ALGORITHMS, Algorithm, Checksum};
use crate::error::Error;
use crate::request::fields::Fields;
use crate::store::bucket::{Bucket, BucketKind};
use crate::store::lock::ObjectLock;
use crate::store::precondition::Precondition;
use crate::store::tagging::Tags;
use crate::store::version::{ContentHeaders, StorageClass};
use triptych_core::time::Timestamp;

/// The most bytes that names and values of all headers have together.
pub const HEADER_BYTES_MAX: usize = 8 * 1024;
/// The most bytes that names (without prefix) and values of user metadata have together.
pub const METADATA_BYTES_MAX: usize = 2 * 1024;
/// The most bytes of a body.
pub const BODY_BYTES_MAX: u64 = 5 * 1024 * 1024 * 1024;
/// The most bytes of a website redirect.
const REDIRECT_BYTES_MAX: usize = 2 * 1024;
/// The media type of a body without Content-Type.
pub const DEFAULT_MEDIA_TYPE: &str = "binary/octet-stream";

/// The kinds of bucket that a header is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppliesTo {
    /// All.
    All,
    /// General purpose buckets alone.
    GeneralPurpose,
    /// Directory buckets alone.
    Directory,
}

impl AppliesTo {
    const fn takes(self, kind: BucketKind) -> bool {
        matches!(
            (self, kind),
            (Self::All, _)
                | (Self::GeneralPurpose, BucketKind::GeneralPurpose)
                | (Self::Directory, BucketKind::Directory)
        )
    }
}

/// Checks a header's value: the fields, the header's name, and the value.
type Validator = fn(&Fields<'_>, &'static str, &str) -> Result<(), Error>;

/// One row of the header table.
#[derive(Debug)]
pub struct HeaderRule {
    /// The spec's name.
    pub name: &'static str,
    /// The kinds of bucket that it is for. On another it is refused with 501 `NotImplemented`, which names it.
    pub applies_to: AppliesTo,
    validate: Validator,
}

const fn rule(name: &'static str, applies_to: AppliesTo, validate: Validator) -> HeaderRule {
    HeaderRule { name, applies_to, validate }
}

/// The headers of PutObject (spec §4), in the order in which their faults are reported.
pub static HEADERS: [HeaderRule; 38] = [
    // The six of the ACL are read with the bucket's ownership and the accounts: see `crate::auth::object_owner::of_put`.
    rule("x-store-acl", AppliesTo::GeneralPurpose, any),
    rule("x-store-grant-full-control", AppliesTo::GeneralPurpose, any),
    rule("x-store-grant-read", AppliesTo::GeneralPurpose, any),
    rule("x-store-grant-read-acp", AppliesTo::GeneralPurpose, any),
    rule("x-store-grant-write-acp", AppliesTo::GeneralPurpose, any),
    rule("x-store-grant-write", AppliesTo::GeneralPurpose, any),
    rule("cache-control", AppliesTo::All, any),
    rule("content-disposition", AppliesTo::All, any),
    rule("content-encoding", AppliesTo::All, any),
    rule("content-language", AppliesTo::All, any),
    rule("content-type", AppliesTo::All, any),
    rule("expires", AppliesTo::All, any),
    rule("content-length", AppliesTo::All, length),
    rule("content-md5", AppliesTo::GeneralPurpose, md5),
    rule("x-store-sdk-checksum-algorithm", AppliesTo::All, algorithm),
    rule("x-store-checksum-crc32", AppliesTo::All, checksum),
    rule("x-store-checksum-crc32c", AppliesTo::All, checksum),
    rule("x-store-checksum-crc64nvme", AppliesTo::All, checksum),
    rule("x-store-checksum-sha1", AppliesTo::All, checksum),
    rule("x-store-checksum-sha256", AppliesTo::All, checksum),
    rule("if-match", AppliesTo::All, condition),
    rule("if-none-match", AppliesTo::All, condition),
    rule("x-store-write-offset-bytes", AppliesTo::Directory, offset),
    rule("x-store-server-side-encryption", AppliesTo::All, encryption),
    rule("x-store-server-side-encryption-kms-key-id", AppliesTo::All, key_management),
    rule("x-store-server-side-encryption-context", AppliesTo::All, key_management),
    rule("x-store-server-side-encryption-bucket-key-enabled", AppliesTo::All, boolean),
    rule(
        "x-store-server-side-encryption-customer-algorithm",
        AppliesTo::GeneralPurpose,
        customer_key,
    ),
    rule("x-store-server-side-encryption-customer-key", AppliesTo::GeneralPurpose, customer_key),
    rule(
        "x-store-server-side-encryption-customer-key-md5",
        AppliesTo::GeneralPurpose,
        customer_key,
    ),
    rule("x-store-storage-class", AppliesTo::All, class),
    rule("x-store-website-redirect-location", AppliesTo::GeneralPurpose, redirect),
    rule("x-store-request-payer", AppliesTo::GeneralPurpose, payer),
    rule("x-store-tagging", AppliesTo::GeneralPurpose, tagging),
    // The three of the lock are read with the bucket: see `ObjectLock::from_headers`.
    rule("x-store-object-lock-mode", AppliesTo::GeneralPurpose, any),
    rule("x-store-object-lock-retain-until-date", AppliesTo::GeneralPurpose, any),
    rule("x-store-object-lock-legal-hold", AppliesTo::GeneralPurpose, any),
    // Checked with the bucket, before all others: see `crate::auth::authorize`.
    rule("x-store-expected-bucket-owner", AppliesTo::All, any),
];

fn any(_: &Fields<'_>, _: &'static str, _: &str) -> Result<(), Error> {
    Ok(())
}

fn tagging(_: &Fields<'_>, _: &'static str, value: &str) -> Result<(), Error> {
    Tags::from_header(value).map(drop)
}

fn length(_: &Fields<'_>, name: &'static str, value: &str) -> Result<(), Error> {
    number(name, value).map(drop)
}

fn number(name: &'static str, value: &str) -> Result<u64, Error> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.then(|| value.parse().ok()).flatten();
    number.ok_or_else(|| Error::argument(name, Some(value), "The value is no number of bytes"))
}

fn md5(_: &Fields<'_>, _: &'static str, value: &str) -> Result<(), Error> {
    read_md5(value).map(drop)
}

fn read_md5(value: &str) -> Result<[u8; 16], Error> {
    let bytes = STANDARD.decode(value).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or_else(|| Error::InvalidDigest { value: value.to_owned() })
}

fn invalid(name: &str) -> Error {
    Error::request(format!("Value for {name} header is invalid."))
}

fn algorithm(_: &Fields<'_>, name: &'static str, value: &str) -> Result<(), Error> {
    Algorithm::parse(value).map(drop).ok_or_else(|| invalid(name))
}

fn checksum(_: &Fields<'_>, name: &'static str, value: &str) -> Result<(), Error> {
    let row = ALGORITHMS.iter().find(|row| row.header == name);
    row.and_then(|row| row.algorithm.read(value)).map(drop).ok_or_else(|| invalid(name))
}

fn condition(fields: &Fields<'_>, _: &'static str, _: &str) -> Result<(), Error> {
    Precondition::read(fields).map(drop)
}

fn offset(_: &Fields<'_>, name: &'static str, value: &str) -> Result<(), Error> {
    number(name, value).map(drop)
}

const fn not_there(header: &'static str) -> Error {
    Error::HeaderNotImplemented { header, reason: None }
}

fn encryption(fields: &Fields<'_>, name: &'static str, value: &str) -> Result<(), Error> {
    let words = fields.dialect().words();
    match value {
        crate::body::encryption::SERVICE_MANAGED => Ok(()),
        _ if value == words.kms || value == words.kms_dual => Err(not_there(name)),
        _ => {
            let reason = "The encryption method specified is not supported";
            Err(Error::argument(name, Some(value), reason))
        }
    }
}

/// Refuses headers of key-management keys: they mean nothing without that mode, which is refused by its own row.
fn key_management(_: &Fields<'_>, name: &'static str, value: &str) -> Result<(), Error> {
    let reason = "The header is only valid with key-management encryption.";
    Err(Error::argument(name, Some(value), reason))
}

fn customer_key(_: &Fields<'_>, name: &'static str, _: &str) -> Result<(), Error> {
    Err(not_there(name))
}

fn boolean(_: &Fields<'_>, name: &'static str, value: &str) -> Result<(), Error> {
    if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false") {
        return Ok(());
    }
    Err(Error::argument(name, Some(value), "The value is neither true nor false"))
}

fn class(_: &Fields<'_>, _: &'static str, value: &str) -> Result<(), Error> {
    StorageClass::parse(value)
        .map(drop)
        .ok_or_else(|| Error::InvalidStorageClass { class: value.to_owned() })
}

fn redirect(_: &Fields<'_>, _: &'static str, value: &str) -> Result<(), Error> {
    let start = ["/", "http://", "https://"].iter().any(|start| value.starts_with(start));
    if start && value.len() <= REDIRECT_BYTES_MAX {
        return Ok(());
    }
    Err(Error::InvalidRedirectLocation)
}

fn payer(_: &Fields<'_>, name: &'static str, value: &str) -> Result<(), Error> {
    if value == "requester" {
        return Ok(());
    }
    Err(Error::argument(name, Some(value), "The only value is requester"))
}

/// The checksum that a body brings, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChecksumPlan {
    /// None: the default algorithm is computed.
    Default,
    /// A header has it.
    Header(Checksum),
    /// The trailer will have it.
    Trailer(Algorithm),
}

impl ChecksumPlan {
    /// The algorithm to compute.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Default => Algorithm::default(),
            Self::Header(checksum) => checksum.algorithm,
            Self::Trailer(algorithm) => *algorithm,
        }
    }
}

/// The length of the body, as far as the head tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// Bytes of the body, without framing.
    pub body: u64,
}

/// The headers about the body itself: they are the same for every operation that takes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyHeaders {
    /// The framing of the body, and what its signature covers.
    pub payload: Payload,
    /// Its length; `None` where an operation other than PutObject leaves it open.
    pub length: Option<Length>,
    /// The MD5 that it must have.
    pub md5: Option<[u8; 16]>,
    /// The checksum that it must have.
    pub checksum: ChecksumPlan,
}

impl BodyHeaders {
    /// Reads the headers about the body.
    ///
    /// # Errors
    /// `InvalidDigest`, `InvalidRequest`, `ChecksumOfAnotherAlgorithm`, `MalformedTrailer`, `InvalidArgument`.
    pub fn read(fields: &Fields<'_>, payload: Payload) -> Result<Self, Error> {
        let md5 = fields.get("content-md5")?;
        Ok(Self {
            payload,
            md5: md5.map(|value| read_md5(&value)).transpose()?,
            checksum: checksum_plan(fields, payload)?,
            length: body_length(fields, payload)?,
        })
    }
}

fn body_length(fields: &Fields<'_>, payload: Payload) -> Result<Option<Length>, Error> {
    let name =
        if payload.is_chunked() { "x-store-decoded-content-length" } else { "content-length" };
    let value = fields.get(name)?;
    let body = value.map(|value| number(name, &value)).transpose()?;
    Ok(body.map(|body| Length { body }))
}

fn checksum_plan(fields: &Fields<'_>, payload: Payload) -> Result<ChecksumPlan, Error> {
    let mut given = Vec::new();
    for row in &ALGORITHMS {
        if let Some(value) = fields.get(row.header)? {
            given.push(row.algorithm.read(&value).ok_or_else(|| invalid(row.header))?);
        }
    }
    // Names that look like a checksum's but belong to something else.
    let other = ["algorithm", "type", "mode"];
    let unknown = fields
        .starting_with("x-store-checksum-")
        .any(|(name, _)| Algorithm::parse(name).is_none() && !other.contains(&name));
    if unknown && given.is_empty() {
        return Err(Error::request(
            "The algorithm type you specified in x-store-checksum- header is invalid.",
        ));
    }
    if given.len() > 1 {
        return Err(Error::request(
            "Expecting a single x-store-checksum- header. Multiple checksum Types are not allowed.",
        ));
    }
    let trailer = trailer_algorithm(fields, payload)?;
    let plan = match (given.pop(), trailer) {
        (Some(_), Some(_)) => {
            return Err(Error::request("Expecting a single x-store-checksum- header"));
        }
        (Some(checksum), None) => ChecksumPlan::Header(checksum),
        (None, Some(algorithm)) => ChecksumPlan::Trailer(algorithm),
        (None, None) => ChecksumPlan::Default,
    };
    check_named_algorithm(fields, &plan)?;
    Ok(plan)
}

fn trailer_algorithm(fields: &Fields<'_>, payload: Payload) -> Result<Option<Algorithm>, Error> {
    let Some(names) = fields.get("x-store-trailer")? else {
        return Ok(None);
    };
    let mut names = names.split(',').map(|name| name.trim().to_ascii_lowercase());
    let row = names.next().and_then(|name| {
        ALGORITHMS.iter().find(|row| fields.dialect().is_header(&name, row.header))
    });
    match (row, names.next()) {
        (Some(_), Some(_)) => Err(Error::request(
            "Expecting a single x-store-checksum- header. Multiple checksum Types are not allowed.",
        )),
        (None, _) => Err(Error::request(
            "The value specified in the x-store-trailer header is not supported",
        )),
        (Some(_), None)
            if !matches!(payload, Payload::UnsignedTrailer | Payload::SignedTrailer) =>
        {
            Err(Error::MalformedTrailer)
        }
        (Some(row), None) => Ok(Some(row.algorithm)),
    }
}

/// The algorithm that `x-store-sdk-checksum-algorithm` names must be the one that a checksum comes with.
fn check_named_algorithm(fields: &Fields<'_>, plan: &ChecksumPlan) -> Result<(), Error> {
    const NAME: &str = "x-store-sdk-checksum-algorithm";
    let Some(named) = fields.get(NAME)? else {
        return Ok(());
    };
    let named = Algorithm::parse(&named).ok_or_else(|| invalid(NAME))?;
    if *plan == ChecksumPlan::Default {
        return Err(Error::request(
            "x-store-sdk-checksum-algorithm specified, but no corresponding x-store-checksum-* or x-store-trailer headers were found.",
        ));
    }
    match plan.algorithm() == named {
        true => Ok(()),
        false if fields.dialect().words().other_algorithm_is_bad_digest => {
            Err(Error::ChecksumOfAnotherAlgorithm)
        }
        false => Err(invalid(NAME)),
    }
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
    pub condition: Precondition,
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
    /// The first fault in the order of [`HEADERS`]; then those of [`BodyHeaders::read`]; `InvalidStorageClass` for a class of another
    /// kind of bucket, `MetadataTooLarge`, those of [`ObjectLock::from_headers`], `MissingContentLength`, `EntityTooLarge`.
    pub fn read(
        fields: &Fields<'_>,
        bucket: &Bucket,
        payload: Payload,
        now: Timestamp,
    ) -> Result<Self, Error> {
        for rule in &HEADERS {
            let Some(value) = fields.get(rule.name)? else {
                continue;
            };
            if !rule.applies_to.takes(bucket.kind) {
                return Err(not_there(rule.name));
            }
            (rule.validate)(fields, rule.name, &value)?;
        }
        let body = BodyHeaders::read(fields, payload)?;
        // A copy has no body of its own that a digest could cover.
        let has_digest = body.md5.is_some()
            || body.checksum != ChecksumPlan::Default
            || fields.has("x-store-copy-source");
        let tags = fields.get("x-store-tagging")?;
        let head = Self {
            content: content(fields)?,
            class: storage_class(fields, bucket.kind)?,
            metadata: metadata(fields)?,
            condition: Precondition::read(fields)?,
            redirect: owned(fields, "x-store-website-redirect-location")?,
            tags: tags.map(|tags| Tags::from_header(&tags)).transpose()?.unwrap_or_default(),
            lock: ObjectLock::from_headers(fields, bucket, has_digest, now)?,
            body,
        };
        if fields.has("x-store-copy-source") {
            return Ok(head);
        }
        let length = head.body.length.ok_or(Error::MissingContentLength)?;
        if length.body > BODY_BYTES_MAX {
            return Err(Error::EntityTooLarge { proposed: length.body, most: BODY_BYTES_MAX });
        }
        Ok(head)
    }
}

fn owned(fields: &Fields<'_>, name: &str) -> Result<Option<String>, Error> {
    Ok(fields.get(name)?.map(std::borrow::Cow::into_owned).filter(|value| !value.is_empty()))
}

/// The HTTP headers that are kept with an object. `aws-chunked` describes the transfer, not the object.
///
/// # Errors
/// [`Error::InvalidArgument`] for a value that is no text.
pub fn content(fields: &Fields<'_>) -> Result<ContentHeaders, Error> {
    let encoding = owned(fields, "content-encoding")?.and_then(|value| {
        let kept: Vec<_> = value
            .split(',')
            .map(str::trim)
            .filter(|name| !name.eq_ignore_ascii_case("aws-chunked"))
            .collect();
        (!kept.is_empty()).then(|| kept.join(","))
    });
    Ok(ContentHeaders {
        media_type: owned(fields, "content-type")?,
        cache_control: owned(fields, "cache-control")?,
        disposition: owned(fields, "content-disposition")?,
        encoding,
        language: owned(fields, "content-language")?,
        expires: owned(fields, "expires")?,
    })
}

/// The storage class that the headers name.
///
/// # Errors
/// [`Error::InvalidStorageClass`] for one that is none, or not one of this kind of bucket.
pub fn storage_class(fields: &Fields<'_>, kind: BucketKind) -> Result<StorageClass, Error> {
    let Some(name) = fields.get("x-store-storage-class")? else {
        return Ok(match kind {
            BucketKind::GeneralPurpose => StorageClass::Standard,
            BucketKind::Directory => StorageClass::ExpressOnezone,
        });
    };
    let fits = |class: &StorageClass| match kind {
        BucketKind::GeneralPurpose => {
            !matches!(class, StorageClass::Outposts | StorageClass::ExpressOnezone)
        }
        BucketKind::Directory => {
            matches!(class, StorageClass::ExpressOnezone | StorageClass::OnezoneIa)
        }
    };
    StorageClass::parse(&name)
        .filter(fits)
        .ok_or_else(|| Error::InvalidStorageClass { class: name.into_owned() })
}

/// The user metadata of a request: lower-case names without prefix, repeated ones joined with commas.
///
/// # Errors
/// [`Error::MetadataTooLarge`].
pub fn metadata(fields: &Fields<'_>) -> Result<Vec<(String, String)>, Error> {
    let mut metadata: Vec<(String, String)> = Vec::new();
    for (name, value) in fields.starting_with("x-store-meta-") {
        // Header bytes beyond ASCII are Latin-1 where they are no UTF-8.
        let value = std::str::from_utf8(value).map_or_else(
            |_| value.iter().map(|byte| char::from(*byte)).collect(),
            |value| value.trim().to_owned(),
        );
        match metadata.iter_mut().find(|(own, _)| own == name) {
            Some((_, joined)) => *joined = format!("{joined},{value}"),
            None => metadata.push((name.to_owned(), value)),
        }
    }
    let size: usize = metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
    if size > METADATA_BYTES_MAX {
        return Err(Error::MetadataTooLarge { size });
    }
    Ok(metadata)
}
