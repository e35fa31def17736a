//! `ListObjects` in both versions, and `ListObjectVersions`.

use triptych_core::kv::Tx;

use crate::auth::account::AccountDirectory;
use crate::auth::acl::user_fields;
use crate::body::checksum::ChecksumType;
use crate::error::Error;
use crate::operation::list_parameters::{
    ListEncoding, check_directory, out_of_range, whole, wrong_token,
};
use crate::operation::{ReadCall, Reply};
use crate::request::etag::quoted;
use crate::request::xml::XmlWriter;
use crate::store::bucket::BucketKind;
use crate::store::key::Key;
use crate::store::list::{ListEntry, ListPage, PAGE_MAX, PageRequest, StartAfter, page};
use crate::store::lookup::account_directory;
use crate::store::tables::{CURRENT, NULLS, object_key};
use crate::store::version::{ObjectVersion, VersionId};

/// The parameter that says how many entries a page has at most.
const MOST: &str = "max-keys";
/// The entries of a page that nobody limited.
const MOST_BY_DEFAULT: i32 = 1000;
/// Parameters of the second version of a list of objects alone.
const OF_SECOND: [(&str, &str); 2] = [
    ("continuation-token", "continuation-token only supported in REST.GET.BUCKET with list-type=2"),
    ("start-after", "startAfter only supported in REST.GET.BUCKET with list-type=2"),
];
/// Parameters of the first.
const OF_FIRST: [(&str, &str); 1] =
    [("marker", "Marker unsupported with REST.GET.BUCKET in list-type=2")];

/// The header that names attributes which a listing shows beside the others.
const ATTRIBUTES: &str = "x-store-optional-object-attributes";

/// The parameters that the three listings of keys have in common.
struct Listing<'c> {
    call: &'c ReadCall<'c>,
    bucket: u64,
    prefix: &'c str,
    delimiter: &'c str,
    /// The most entries as they were named: a page has a thousand at most.
    most: i32,
    encoding: ListEncoding<'c>,
    /// True if it shows of archived objects how far their restorations are.
    shows_restorations: bool,
}

impl<'c> Listing<'c> {
    /// Reads them; `of_others` are parameters of other listings, with the reason for which each is refused.
    fn read(
        call: &'c ReadCall<'c>,
        of_others: &[(&'static str, &'static str)],
    ) -> Result<Self, Error> {
        let most = whole(MOST, call.query.get(MOST))?.unwrap_or(MOST_BY_DEFAULT);
        if let Some((name, reason)) = of_others.iter().find(|(name, _)| call.query.has(name)) {
            return Err(Error::argument(*name, None, *reason));
        }
        let encoding = ListEncoding::read(call)?;
        Ok(Self {
            call,
            bucket: call.bucket()?.id,
            prefix: call.query.get("prefix").unwrap_or_default(),
            delimiter: call.query.get("delimiter").unwrap_or_default(),
            most,
            encoding,
            shows_restorations: shows_restorations(call)?,
        })
    }

    fn page(&self, tx: &mut Tx<'_>, after: StartAfter, versions: bool) -> Result<ListPage, Error> {
        page(
            tx,
            &PageRequest {
                bucket: self.bucket,
                prefix: self.prefix,
                delimiter: self.delimiter,
                after,
                most: self.entries(versions)?,
                versions,
                uploads: self.call.bucket()?.kind == BucketKind::Directory,
            },
        )
    }

    /// The most entries of the page. The real service has a sentence of its own for versions.
    fn entries(&self, versions: bool) -> Result<usize, Error> {
        let entries = usize::try_from(self.most).map(|most| most.min(PAGE_MAX));
        entries.map_err(|_| match versions {
            true => Error::argument(MOST, None, "max-keys cannot be negative"),
            false => {
                let (name, most) = ("maxKeys", self.most.to_string());
                Error::argument(name, Some(&most), out_of_range(name, 0, i32::MAX))
            }
        })
    }

    fn encoded(&self, text: &str) -> String {
        self.encoding.text(text)
    }

    /// The elements with which all listings start; `place` writes where the page stands, which each has its own way to say.
    fn start(
        &self,
        writer: &mut XmlWriter,
        is_truncated: bool,
        place: impl FnOnce(&mut XmlWriter),
    ) {
        writer.text("Name", self.call.bucket_name);
        writer.text("Prefix", self.encoded(self.prefix));
        place(writer);
        writer.text("MaxKeys", self.most);
        let shows_delimiter = match self.call.operation.name {
            "ListObjectVersions" => self.call.query.has("delimiter"),
            _ => !self.delimiter.is_empty(),
        };
        writer.text_if("Delimiter", shows_delimiter.then(|| self.encoded(self.delimiter)));
        self.encoding.write(writer);
        writer.text("IsTruncated", is_truncated);
    }

    fn prefixes(&self, writer: &mut XmlWriter, page: &ListPage) {
        for entry in &page.entries {
            if let ListEntry::Prefix(prefix) = entry {
                writer.element("CommonPrefixes", |writer| {
                    writer.text("Prefix", self.encoded(prefix));
                });
            }
        }
    }

    fn contents(&self, writer: &mut XmlWriter, page: &ListPage, owners: Option<&AccountDirectory>) {
        for entry in &page.entries {
            let ListEntry::Version { key, version, .. } = entry else {
                continue;
            };
            writer.element("Contents", |writer| {
                writer.text("Key", self.encoded(key));
                self.describe(writer, version, owners);
                self.restoration(writer, version);
            });
        }
    }

    /// The elements by which a listing describes an object, after its key.
    fn describe(
        &self,
        writer: &mut XmlWriter,
        version: &ObjectVersion,
        owners: Option<&AccountDirectory>,
    ) {
        writer.text("LastModified", version.written());
        if let Some(data) = &version.data {
            writer.text("ETag", quoted(&data.etag));
            if data.checksum_type != ChecksumType::Unknown {
                writer.text("ChecksumAlgorithm", data.checksum.algorithm.row().name);
                writer.text("ChecksumType", data.checksum_type.name());
            }
            writer.text("Size", data.size);
        }
        if let Some(directory) = owners {
            let own =
                self.call.bucket.map_or(&*version.owner, |bucket| bucket.owner_of(&version.owner));
            writer.element("Owner", |writer| {
                user_fields(writer, directory.canonical(own), directory);
            });
        }
        if let Some(data) = &version.data {
            writer.text("StorageClass", data.class.name());
        }
    }

    /// The element that shows a restoration, where it was asked for and there is one.
    fn restoration(&self, writer: &mut XmlWriter, version: &ObjectVersion) {
        let now = self.call.now;
        let data = version.data.as_ref().filter(|_| self.shows_restorations);
        let Some((data, until)) = data.and_then(|data| data.restored_until.map(|end| (data, end)))
        else {
            return;
        };
        if until <= now {
            return;
        }
        let is_going_on = data.is_being_restored(now);
        writer.element("RestoreStatus", |writer| {
            writer.text("IsRestoreInProgress", is_going_on);
            writer.text_if("RestoreExpiryDate", (!is_going_on).then(|| until.rfc3339_millis()));
        });
    }

    fn answer(&self, root: &str, fill: impl FnOnce(&mut XmlWriter)) -> Reply {
        let namespace = self.call.dialect().names().namespace;
        let reply = Reply::xml(XmlWriter::document(root, namespace, fill));
        let reply = if self.shows_restorations { reply.at_this_time() } else { reply };
        let region = self.call.bucket.map(|bucket| bucket.region.clone());
        reply.with_some("x-store-bucket-region", region)
    }
}

/// Tells whether a request asks for restorations: they are the one attribute that is not shown to everybody.
///
/// # Errors
/// `InvalidArgument` for an attribute that is none.
fn shows_restorations(call: &ReadCall<'_>) -> Result<bool, Error> {
    let Some(names) = call.fields.get(ATTRIBUTES)? else {
        return Ok(false);
    };
    match names.split(',').all(|name| name.trim() == "RestoreStatus") {
        true => Ok(true),
        false => Err(Error::argument(ATTRIBUTES, Some(&names), "Invalid attribute name specified")),
    }
}

/// `ListObjects`, the first version.
///
/// # Errors
/// `InvalidArgument` for a parameter that is none.
pub fn objects(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let listing = Listing::read(call, &OF_SECOND)?;
    let marker = call.query.get("marker").unwrap_or_default();
    let after = if marker.is_empty() {
        StartAfter::Start
    } else {
        StartAfter::entry(marker.to_owned(), listing.prefix, listing.delimiter)
    };
    let page = listing.page(tx, after, false)?;
    // Who is not known learns nothing of owners.
    let directory = match call.caller.account() {
        Some(_) => Some(account_directory(tx)?),
        None => None,
    };
    // Without a delimiter the last key shown is where the next page starts, and clients know that.
    let next = page.next.as_ref().filter(|_| !listing.delimiter.is_empty());
    Ok(listing.answer("ListBucketResult", |writer| {
        listing.start(writer, page.next.is_some(), |writer| {
            writer.text("Marker", listing.encoded(marker));
            if let Some(StartAfter::Key(text) | StartAfter::Prefix(text)) = next {
                writer.text("NextMarker", listing.encoded(text));
            }
        });
        listing.contents(writer, &page, directory.as_ref());
        listing.prefixes(writer, &page);
    }))
}

/// `ListObjectsV2`.
///
/// # Errors
/// `InvalidArgument` for a parameter that is none.
pub fn objects_v2(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let listing = Listing::read(call, &OF_FIRST)?;
    check_directory(call, listing.prefix, listing.delimiter)?;
    let start = call.query.get("start-after");
    let token = call.query.get("continuation-token");
    let after = match (token, start) {
        (Some(token), _) => StartAfter::from_token(token).ok_or_else(wrong_token)?,
        (None, Some(start)) if !start.is_empty() => StartAfter::Key(start.to_owned()),
        (None, _) => StartAfter::Start,
    };
    let owners = call.query.get("fetch-owner").is_some_and(|own| own.eq_ignore_ascii_case("true"));
    let page = listing.page(tx, after, false)?;
    let directory = owners.then(|| account_directory(tx)).transpose()?;
    Ok(listing.answer("ListBucketResult", |writer| {
        listing.start(writer, page.next.is_some(), |writer| {
            let start = start.filter(|_| token.is_none());
            writer.text_if("StartAfter", start.map(|start| listing.encoded(start)));
            writer.text_if("ContinuationToken", token);
            let next = page.next.as_ref().map(StartAfter::token);
            writer.text_if("NextContinuationToken", next);
            writer.text("KeyCount", page.entries.len());
        });
        listing.contents(writer, &page, directory.as_ref());
        listing.prefixes(writer, &page);
    }))
}

/// `ListObjectVersions`.
///
/// # Errors
/// `InvalidArgument` for a parameter that is none, and for a version marker without a key marker.
pub fn versions(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let listing = Listing::read(call, &[])?;
    let key_marker = call.query.get("key-marker").unwrap_or_default();
    let version_marker = call.query.get("version-id-marker");
    let after = version_after(call, &listing, tx)?;
    let page = listing.page(tx, after, true)?;
    let directory = account_directory(tx)?;
    let next_version = page.entries.last().and_then(|entry| match entry {
        ListEntry::Version { version, .. } => Some(version.version.to_string()),
        ListEntry::Prefix(_) => None,
    });
    Ok(listing.answer("ListVersionsResult", |writer| {
        listing.start(writer, page.next.is_some(), |writer| {
            writer.text("KeyMarker", listing.encoded(key_marker));
            writer.text("VersionIdMarker", version_marker.unwrap_or_default());
            let next = page.next.as_ref();
            if let Some(
                StartAfter::Version(text, _) | StartAfter::Prefix(text) | StartAfter::Key(text),
            ) = next
            {
                writer.text("NextKeyMarker", listing.encoded(text));
                writer.text_if("NextVersionIdMarker", next_version);
            }
        });
        for entry in &page.entries {
            let ListEntry::Version { key, version, is_latest } = entry else {
                continue;
            };
            let name = match version.data {
                Some(_) => "Version",
                None => "DeleteMarker",
            };
            writer.element(name, |writer| {
                writer.text("Key", listing.encoded(key));
                writer.text("VersionId", version.version);
                writer.text("IsLatest", is_latest);
                listing.describe(writer, version, Some(&directory));
                listing.restoration(writer, version);
            });
        }
        listing.prefixes(writer, &page);
    }))
}

fn version_after(
    call: &ReadCall<'_>,
    listing: &Listing<'_>,
    tx: &mut Tx<'_>,
) -> Result<StartAfter, Error> {
    const WITHOUT_KEY: &str = "A version-id marker cannot be specified without a key marker.";
    let key = call.query.get("key-marker").unwrap_or_default();
    let version = call.query.get("version-id-marker");
    let refused = |value, reason| Error::argument("version-id-marker", Some(value), reason);
    let id = match version.filter(|text| *text != "null") {
        Some(text) if !call.query.has("key-marker") => return Err(refused(text, WITHOUT_KEY)),
        Some("") => return Err(refused("", "A version-id marker cannot be empty.")),
        Some(text) => {
            let id = VersionId::parse(text);
            Some(id.ok_or_else(|| refused(text, "Invalid version id specified"))?)
        }
        None => None,
    };
    match (key, version) {
        ("", None) => Ok(StartAfter::Start),
        ("", Some(version)) => Err(refused(version, WITHOUT_KEY)),
        (key, None) => Ok(StartAfter::entry(key.to_owned(), listing.prefix, listing.delimiter)),
        (key, Some(_)) => {
            if let Some(id) = id {
                return Ok(StartAfter::Version(key.to_owned(), id.sequence));
            }
            let place = object_key(listing.bucket, &Key::new(key.to_owned())?);
            let current = CURRENT.peek(tx, &place)?.map(|object| object.version);
            let null = match current.filter(|version| version.null) {
                Some(version) => Some(version),
                None => NULLS.peek(tx, &place)?,
            };
            Ok(match null {
                Some(version) => StartAfter::Version(key.to_owned(), version.sequence),
                // Its place went with it: the key's versions are shown from the first.
                None => StartAfter::Version(key.to_owned(), u64::MAX),
            })
        }
    }
}
