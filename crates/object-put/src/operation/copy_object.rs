//! CopyObject without its transport: the source is found and its conditions are checked, and the parts that the copy keeps of it are chosen.

use std::sync::Arc;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::authorize::{self, AccessRequest};
use crate::auth::payload::Payload;
use crate::auth::session::{DirectoryAccess, SessionMode};
use crate::body::body_headers::{BodyHeaders, ChecksumPlan};
use crate::body::checksum::Algorithm;
use crate::error::Error;
use crate::operation::bucket_config;
use crate::operation::encryption::EncryptedObject;
use crate::operation::get_object::hidden;
use crate::operation::put_headers::BODY_BYTES_MAX;
use crate::operation::put_object::Admission;
use crate::operation::request_payer;
use crate::operation::{Call, Reply};
use crate::request::dialect::{ALIAS_SUFFIX, Dialect, without_point_arn_prefix};
use crate::request::etag::{self, quoted};
use crate::request::host::HostTable;
use crate::request::location::Target;
use crate::request::percent::decoded_query;
use crate::request::query::Query;
use crate::request::xml::XmlWriter;
use crate::store::access_point::{AccessPoint, NamedPoint, is_directory_point_name};
use crate::store::access_point_directory::AccessPointDirectory;
use crate::store::bucket::{Bucket, BucketKind, Versioning, check_name};
use crate::store::key::Key;
use crate::store::lookup::locate;
use crate::store::object_encryption::KeyOpening;
use crate::store::part_list::ObjectRange;
use crate::store::tables::{ACCESS_POINTS, BUCKETS};
use crate::store::version::{ObjectData, ObjectVersion, encryption_context};

/// The header that names what is copied.
pub(super) const SOURCE: &str = "x-store-copy-source";

/// A copy that may go on.
#[derive(Debug, Clone)]
pub struct CopyAdmission {
    /// The PUT that it comes to.
    pub admission: Admission,
    /// The object that is copied.
    pub source: CopiedObject,
}

/// The object that a request copies.
#[derive(Debug, Clone)]
pub struct CopiedObject {
    source: CopySource,
    /// Its bucket.
    from: Arc<Bucket>,
    object: Arc<ObjectVersion>,
    data: ObjectData,
    /// The way to the key that opens it.
    body_key: KeyOpening,
    /// True if the sender of the request pays for reading it.
    pub charged: bool,
}

impl CopiedObject {
    /// Finds the source of a copy, lets the caller in to it, and checks the conditions on it.
    ///
    /// # Errors
    /// `InvalidArgument` for a source that is none; those of the way to it: `NoSuchBucket`, `AccessDenied`, `NoSuchKey`, `NoSuchVersion`;
    /// `InvalidRequest` for a delete marker; those of [`EncryptedObject::open_source`]; `PreconditionFailed`; `InvalidObjectState`.
    pub fn find(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<Self, Error> {
        let header = call.fields.get(SOURCE)?.unwrap_or_default();
        let host = call.fields.get("host")?.unwrap_or_default();
        let hosts = &call.settings.hosts;
        let source = match CopySource::of_access_point(&header, call.dialect(), tx)? {
            Some(source) => source,
            None => CopySource::read(&header, call.dialect(), &host, hosts)?.through_alias(tx)?,
        };
        let from = authorize_source(call, &source, tx)?;
        request_payer::check(call.operation, call.fields, call.caller, &from)?;
        let named = source.query.get("versionId");
        let object = match locate(tx, from.id, &source.key, named) {
            Err(error) => return Err(source.refusal(error, &from, tx)?),
            Ok(found) => found.version,
        };
        let Some(data) = object.data.as_deref().cloned() else {
            return Err(Error::request(
                "The source of a copy request may not specifically refer to a delete marker by version id.",
            ));
        };
        let encrypted = EncryptedObject {
            bucket: &source.bucket,
            key: source.key.as_str(),
            encryption: &data.encryption,
        };
        let body_key = encrypted.open_source(call)?;
        check_source_preconditions(call, &object, &data)?;
        if !data.is_readable(call.now) {
            return Err(Error::InvalidObjectState { class: data.class.name().to_owned() });
        }
        let charged = request_payer::pays(call.caller, &from);
        Ok(Self { source, from, object, data, body_key, charged })
    }

    /// All its bytes.
    #[must_use]
    pub fn bytes(&self) -> ObjectRange {
        let random = self.object.version.random;
        let context = encryption_context(self.from.id, &self.source.key, random);
        let (key, parts) = (self.body_key.clone(), self.data.parts.clone());
        ObjectRange { context, key, parts, size: self.data.size, bytes: 0..self.data.size }
    }

    /// Its version id, as answers to a copy show it.
    #[must_use]
    pub fn shown_version(&self) -> Option<String> {
        (!self.object.version.null).then(|| self.object.version.to_string())
    }

    /// True if the request names its version.
    fn names_version(&self) -> bool {
        self.source.query.has("versionId")
    }

    /// Checks that the caller may read its tags, and set them on the object that the copy makes.
    fn check_tags(&self, call: &Call<'_>, tx: &mut Tx<'_>) -> Result<(), Error> {
        authorize::check_tags_of_source(&access_to(call, &self.source), &self.from, tx)?;
        authorize::check_copied_tags(&call.access(call.key()?, None), call.bucket()?, tx)
    }
}

/// The source that the header names.
#[derive(Debug, Clone)]
struct CopySource {
    bucket: String,
    key: Key,
    query: Query,
    /// The access point that it is read through.
    point: Option<Arc<AccessPoint>>,
}

impl CopySource {
    /// Reads the ARN of an object in an access point; `None` for what is no ARN.
    ///
    /// # Errors
    /// `InvalidArgument` for an ARN of something else, `NoSuchAccessPoint`; those of the store.
    fn of_access_point(
        header: &str,
        dialect: Dialect,
        tx: &mut Tx<'_>,
    ) -> Result<Option<Self>, Error> {
        let invalid = |reason| Error::argument(SOURCE, Some(&dialect.header(SOURCE)), reason);
        let (arn, query) = match split_version(header) {
            Some((arn, version)) => (arn, format!("versionId={version}")),
            None => (header, String::new()),
        };
        let arn = decoded_query(arn).ok_or_else(|| invalid("Invalid copy source encoding."))?;
        let arn = arn.strip_prefix('/').unwrap_or(&arn);
        if !arn.starts_with("arn:") {
            return Ok(None);
        }
        let named = without_point_arn_prefix(arn).and_then(NamedPoint::of_bare_arn);
        let Some(NamedPoint { account, resource, name, key: Some(key) }) = named else {
            return Err(invalid("Invalid copy source ARN."));
        };
        let point = ACCESS_POINTS.get(tx, &(account.to_owned(), resource.to_owned()))?;
        let point = point.ok_or_else(|| Error::NoSuchAccessPoint { name: name.to_owned() })?;
        Ok(Some(Self {
            bucket: point.bucket.clone(),
            key: Key::new(key.to_owned()).map_err(|_| invalid("Invalid copy source object key"))?,
            query: Query::parse(&query)?,
            point: Some(Arc::new(point)),
        }))
    }

    /// Reads `/bucket/key` or a whole URL of this service; `host` is the one that the request itself was sent to.
    fn read(header: &str, dialect: Dialect, host: &str, hosts: &HostTable) -> Result<Self, Error> {
        // The real service names the header where its value would stand.
        let invalid = |reason| Error::argument(SOURCE, Some(&dialect.header(SOURCE)), reason);
        let (path, query) = match split_version(header) {
            Some((path, version)) => (path, format!("versionId={version}")),
            None => (header, String::new()),
        };
        let path = match path_of_url(path, host, hosts) {
            Some(path) => path,
            None if path.contains("://") => {
                return Err(invalid("The copy source is no URL of this service."));
            }
            None => path.to_owned(),
        };
        let path = decoded_query(&path).ok_or_else(|| invalid("Invalid copy source encoding."))?;
        let path = path.strip_prefix('/').unwrap_or(&path);
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        if !bucket.ends_with(ALIAS_SUFFIX) && !is_directory_point_name(bucket) {
            check_name(bucket).map_err(|_| invalid("Invalid copy source bucket name"))?;
        }
        Ok(Self {
            bucket: bucket.to_owned(),
            key: Key::new(key.to_owned()).map_err(|_| invalid("Invalid copy source object key"))?,
            query: Query::parse(&query)?,
            point: None,
        })
    }
}

impl CopySource {
    /// The refusal of a source that `error` did not find: a version is named in the header, and a delete marker that hides the key tells of
    /// itself.
    ///
    /// # Errors
    /// As reads of the store.
    fn refusal(&self, error: Error, from: &Bucket, tx: &mut Tx<'_>) -> Result<Error, Error> {
        Ok(match error {
            Error::InvalidArgument { value, reason, .. } => {
                Error::InvalidArgument { argument: SOURCE.into(), value, reason }
            }
            missing @ Error::NoSuchKey { .. } if from.versioning != Versioning::Off => {
                hidden(tx, from.id, &self.key)?.unwrap_or(missing)
            }
            other => other,
        })
    }

    /// The same, read through the access point whose alias, or name where it is one to a directory bucket, stands where no bucket has the
    /// name.
    ///
    /// # Errors
    /// `NoSuchAccessPoint` for a name that no bucket can have; those of the store.
    fn through_alias(mut self, tx: &mut Tx<'_>) -> Result<Self, Error> {
        if BUCKETS.peek(tx, &self.bucket)?.is_some() {
            return Ok(self);
        }
        let points = AccessPointDirectory::load(tx)?;
        let named = || points.by_label(&self.bucket).filter(|point| point.is_directory());
        match points.by_alias(&self.bucket).or_else(named) {
            Some(point) => {
                point.bucket.clone_into(&mut self.bucket);
                self.point = Some(point);
                Ok(self)
            }
            None if is_directory_point_name(&self.bucket) => {
                Err(Error::NoSuchAccessPoint { name: self.bucket })
            }
            None => Ok(self),
        }
    }
}

/// The path and the version id of a source: the question mark between them may be encoded too.
fn split_version(header: &str) -> Option<(&str, &str)> {
    ["?versionId=", "%3FversionId=", "%3fversionId="]
        .iter()
        .find_map(|mark| header.split_once(mark))
}

/// The path of a URL whose host is this service, path style; `None` for what is no such URL.
fn path_of_url(url: &str, own_host: &str, hosts: &HostTable) -> Option<String> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
    let (host, path) = rest.split_once('/')?;
    if let Some(named) = hosts.find(host) {
        return Some(format!("{}/{path}", named.label));
    }
    let is_own = host.eq_ignore_ascii_case(own_host) || hosts.is_own(host);
    is_own.then(|| path.to_owned())
}

/// Reads a directive: a copy gets one of the things that an object has from its source, or from the request.
fn replaces(call: &Call<'_>, header: &'static str, unknown: &'static str) -> Result<bool, Error> {
    match call.fields.get(header)?.as_deref() {
        None | Some("COPY") => Ok(false),
        Some("REPLACE") => Ok(true),
        Some(other) => Err(Error::argument(header, Some(other), unknown)),
    }
}

impl CopyAdmission {
    /// Looks at the source and the request, and refuses what can be refused before a byte is read.
    ///
    /// # Errors
    /// Those of [`CopiedObject::find`]; `InvalidArgument` for a directive that is unknown; `InvalidRequest` for a copy onto itself that
    /// changes nothing; those of [`Admission::decide`]; `HeaderNotImplemented` for tags in a directory bucket; `AccessDenied` for tags that
    /// the caller may not read or not set.
    pub fn decide(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Self, Error> {
        let source = CopiedObject::find(call, tx)?;
        let data = &source.data;
        let replaces_metadata =
            replaces(call, "x-store-metadata-directive", "Unknown metadata directive.")?;
        let replaces_tags =
            replaces(call, "x-store-tagging-directive", "Unknown tagging directive.")?;
        let onto_itself =
            source.from.id == call.bucket()?.id && source.source.key == *call.key()?;
        let changes = [
            "x-store-storage-class",
            "x-store-website-redirect-location",
            "x-store-server-side-encryption",
            "x-store-server-side-encryption-customer-algorithm",
            "x-store-copy-source-server-side-encryption-customer-algorithm",
        ];
        let changes = replaces_metadata
            || changes.iter().any(|name| call.fields.has(name))
            || bucket_config::encryption::is_set(tx, call.bucket()?.id)?;
        if onto_itself && !source.names_version() && !changes {
            return Err(Error::request(
                "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
            ));
        }
        let mut admission = Admission::decide(call, Payload::Unsigned, tx, ids)?;
        admission.charged |= source.charged;
        let headers = &mut admission.headers;
        headers.body = body_headers(call, data)?;
        if !replaces_metadata {
            headers.content = data.content.clone();
            headers.metadata = data.metadata.clone();
        }
        if call.bucket()?.kind == BucketKind::Directory && !replaces_tags && !data.tags.0.is_empty()
        {
            let reason = "Objects in directory buckets have no tags";
            return Err(Error::HeaderNotImplemented {
                header: "x-store-tagging-directive",
                reason: Some(reason),
            });
        }
        if !replaces_tags {
            if !data.tags.0.is_empty() {
                source.check_tags(call, tx)?;
            }
            headers.tags = data.tags.clone();
        }
        Ok(Self { admission, source })
    }

    /// The answer to a copy whose PUT was answered with `put`.
    #[must_use]
    pub fn reply(&self, call: &Call<'_>, object: &ObjectVersion, put: Reply) -> Reply {
        let namespace = call.dialect().names().namespace;
        let text = XmlWriter::document("CopyObjectResult", namespace, |writer| {
            writer.text("LastModified", object.written());
            if let Some(data) = &object.data {
                writer.text("ETag", quoted(&data.etag));
                if let Some((row, value)) = data.shown_checksum() {
                    writer.text(&format!("Checksum{}", row.name), value);
                    writer.text("ChecksumType", data.checksum_type.name());
                }
            }
        });
        // The body has what the headers of a PUT would have.
        let kept = put
            .headers
            .into_iter()
            .filter(|(name, _)| name != "etag" && !name.starts_with("x-store-checksum-"));
        let mut reply = Reply::xml(text);
        reply.headers.extend(kept);
        // Other than a PUT, a copy is told that it is the null version.
        let suspended = |bucket: &Bucket| bucket.versioning == Versioning::Suspended;
        let null = call.bucket.filter(|bucket| suspended(bucket)).map(|_| "null");
        reply
            .with_some("x-store-version-id", null)
            .with_some("x-store-copy-source-version-id", self.source.shown_version())
    }
}

/// Lets the caller in to the source.
fn authorize_source(
    call: &Call<'_>,
    source: &CopySource,
    tx: &mut Tx<'_>,
) -> Result<Arc<Bucket>, Error> {
    authorize::authorize_source(&access_to(call, source), tx)
}

/// The access to the source.
fn access_to<'a>(call: &'a Call<'_>, source: &'a CopySource) -> AccessRequest<'a> {
    AccessRequest {
        permission: "store:GetObject",
        target: Target::Object,
        writes_object: false,
        bucket: &source.bucket,
        key: Some(&source.key),
        fields: call.fields,
        query: &source.query,
        version: source.query.get("versionId"),
        etag: None,
        request_object: None,
        caller: call.caller,
        arrival: call.arrival,
        directory: Some(DirectoryAccess::Zonal(SessionMode::ReadOnly)),
        point: source.point.as_deref(),
    }
}

/// The conditions on the source.
fn check_source_preconditions(
    call: &Call<'_>,
    object: &ObjectVersion,
    data: &ObjectData,
) -> Result<(), Error> {
    let modified = object.modified.seconds();
    let holds = |name: &'static str, value: &str| {
        let date = || Timestamp::from_http_date(value).map(Timestamp::seconds);
        match name {
            "x-store-copy-source-If-Match" => etag::listed_strongly(value, &data.etag),
            "x-store-copy-source-If-None-Match" => !etag::listed_weakly(value, &data.etag),
            "x-store-copy-source-If-Unmodified-Since" => {
                date().is_none_or(|since| modified <= since)
            }
            _ => date().is_none_or(|since| modified > since),
        }
    };
    // A tag counts before a date of the same sense.
    let pairs = [
        ("x-store-copy-source-If-Match", "x-store-copy-source-If-Unmodified-Since"),
        ("x-store-copy-source-If-None-Match", "x-store-copy-source-If-Modified-Since"),
    ];
    for (tag, date) in pairs {
        for condition in [tag, date] {
            let Some(value) = call.fields.get(&condition.to_ascii_lowercase())? else {
                continue;
            };
            if !holds(condition, &value) {
                return Err(Error::PreconditionFailed { condition });
            }
            break;
        }
    }
    Ok(())
}

/// Checks the bytes that are to be copied at once.
///
/// # Errors
/// `InvalidRequest` for more than a body may have.
pub(super) fn check_size(bytes: u64) -> Result<(), Error> {
    match bytes > BODY_BYTES_MAX {
        true => Err(Error::request(format!(
            "The specified copy source is larger than the maximum allowable size for a copy source: {BODY_BYTES_MAX}"
        ))),
        false => Ok(()),
    }
}

/// The headers that the copied body must match: as long as the source, with the checksum that is asked for or that the source has.
fn body_headers(call: &Call<'_>, data: &ObjectData) -> Result<BodyHeaders, Error> {
    const NAME: &str = "x-store-checksum-algorithm";
    let algorithm = match call.fields.get(NAME)? {
        None => data.checksum.algorithm,
        Some(name) => Algorithm::parse(&name).ok_or_else(|| {
            Error::request(
                "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]",
            )
        })?,
    };
    check_size(data.size)?;
    // The copy must have the source's own checksum where the algorithm stays: a damaged source is found here.
    let is_own = algorithm == data.checksum.algorithm && data.checksum_type.is_full_object();
    let checksum = match is_own {
        true => ChecksumPlan::Header(data.checksum.clone()),
        false => ChecksumPlan::Computed(algorithm),
    };
    Ok(BodyHeaders { payload: Payload::Unsigned, length: Some(data.size), md5: None, checksum })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::host::HostKind;

    fn read(header: &str) -> Result<(String, String, Option<String>), Error> {
        let mut hosts = HostTable::default();
        hosts.add(HostKind::Base, ["store.example".to_owned()]);
        let source = CopySource::read(header, Dialect::Amz, "10.0.0.1:7802", &hosts)?;
        let version = source.query.get("versionId").map(str::to_owned);
        Ok((source.bucket, source.key.to_string(), version))
    }

    #[test]
    fn a_source_that_is_too_large_for_one_copy_is_an_invalid_request() {
        assert_eq!(check_size(BODY_BYTES_MAX), Ok(()));
        assert!(matches!(check_size(BODY_BYTES_MAX + 1), Err(Error::InvalidRequest { .. })));
    }

    #[test]
    fn a_source_is_a_path_or_a_url_of_this_service() {
        let expected = |key: &str, version: Option<&str>| {
            Ok(("abc".to_owned(), key.to_owned(), version.map(str::to_owned)))
        };
        for header in [
            "abc/a+b",
            "/abc/a%20b",
            "http://10.0.0.1:7802/abc/a+b",
            "https://store.example/abc/a+b",
            "http://abc.store.example/a+b",
            "http://abc.localhost:7802/a+b",
            "http://localhost:7802/abc/a+b",
        ] {
            assert_eq!(read(header), expected("a b", None), "{header}");
        }
        for header in ["abc/k?versionId=1", "abc/k%3FversionId=1", "abc/k%3fversionId=1"] {
            assert_eq!(read(header), expected("k", Some("1")), "{header}");
        }
        assert_eq!(read("abc/a%2Bb"), expected("a+b", None));
        for header in ["abc", "abc/", "http://other.example/abc/k", "abc/%zz", ""] {
            assert!(matches!(read(header), Err(Error::InvalidArgument { .. })), "{header}");
        }
    }
}
