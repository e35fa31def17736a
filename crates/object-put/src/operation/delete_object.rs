//! `DeleteObject`, and `DeleteObjects` in steps that one batch holds.

use std::collections::HashSet;

use triptych_core::error::Coded as _;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::authorize::{AccessRequest, check_condition, check_delete, check_permission};
use crate::body::body_headers::number;
use crate::error::Error;
use crate::operation::{Call, Progress, Reply, StepOutcome};
use crate::request::xml::{Element, XmlWriter};
use crate::store::bucket::BucketKind;
use crate::store::bucket_plan;
use crate::store::delete::{
    DeleteConditions, DeleteOutcome, DeleteRequest, IF_MODIFIED_AT, IF_SIZE, delete,
};
use crate::store::key::Key;
use crate::store::precondition::{check_of_deletes, check_of_version_deletes};
use crate::store::tables::BUCKETS;

const BYPASS: &str = "x-store-bypass-governance-retention";
/// The most keys of a `DeleteObjects`.
const KEYS_MAX: usize = 1000;
/// Keys that one step deletes: each writes some ten rows at the most.
const KEYS_PER_STEP: usize = 50;

/// Tells whether the request lifts governance retention. In a bucket without object lock there is none to lift.
///
/// # Errors
/// `AccessDenied` for who may not.
pub fn bypass(call: &Call<'_>, access: &AccessRequest<'_>, tx: &mut Tx<'_>) -> Result<bool, Error> {
    let value = call.fields.get(BYPASS)?;
    let bucket = call.bucket()?;
    if !bucket.object_lock || !value.is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(false);
    }
    check_permission(access, "store:BypassGovernanceRetention", bucket, tx)?;
    Ok(true)
}

/// Refuses a bypass where there is nothing to pass by.
fn check_bypass(call: &Call<'_>) -> Result<(), Error> {
    if call.fields.has(BYPASS) && !call.bucket()?.object_lock {
        return Err(Error::argument(
            BYPASS,
            None,
            "x-store-bypass-governance-retention is only applicable to Object Lock enabled buckets.",
        ));
    }
    Ok(())
}

/// `DeleteObject`.
///
/// # Errors
/// `HeaderNotImplemented` for conditions that no delete knows, and for those that its kind of bucket does not; `InvalidArgument`, `AccessDenied` for a bypass; those of [`delete`].
pub fn object(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    check_of_deletes(call.fields)?;
    check_conditions(call)?;
    check_bypass(call)?;
    let tag = call.fields.get("if-match")?;
    let (modified, size) = (call.fields.get(IF_MODIFIED_AT)?, call.fields.get(IF_SIZE)?);
    let conditions = DeleteConditions {
        tag: tag.as_deref(),
        modified: modified.map(|text| time(&text)).transpose()?,
        size: size.map(|text| number(IF_SIZE, &text)).transpose()?,
    };
    let version = call.query.get("versionId");
    let bypass = bypass(call, &call.access(call.key()?, version), tx)?;
    let outcome = delete(
        tx,
        &DeleteRequest {
            bucket: call.bucket()?,
            key: call.key()?,
            version,
            conditions,
            bypass,
            now: call.now,
        },
        ids,
    )?;
    let marker = outcome.is_marker.then_some("true");
    let has_versions = call.bucket()?.kind != BucketKind::Directory;
    Ok(Reply::empty(204)
        .with_some("x-store-delete-marker", marker)
        .with_some("x-store-version-id", outcome.version.filter(|_| has_versions)))
}

/// One key of a `DeleteObjects`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Wanted<'d> {
    key: &'d str,
    version: Option<&'d str>,
    conditions: DeleteConditions<'d>,
}

impl<'d> Wanted<'d> {
    /// The key that an `Object` element names. What else stands in it may say what is spared, so nothing is passed over.
    fn of(object: &'d Element) -> Result<Self, Error> {
        object.has_only(&["Key", "VersionId", "ETag", MODIFIED_AT, SIZE], &[])?;
        let size = object.text_of(SIZE).map(str::parse).transpose();
        Ok(Self {
            key: object.child("Key").ok_or(Error::MalformedXml)?.text.as_str(),
            version: object.text_of("VersionId").filter(|text| !text.is_empty()),
            conditions: DeleteConditions {
                tag: object.text_of("ETag"),
                modified: object.text_of(MODIFIED_AT).map(time).transpose()?,
                size: size.map_err(|_| Error::MalformedXml)?,
            },
        })
    }
}

/// The conditions of one key of a `DeleteObjects`, as headers have them too.
const MODIFIED_AT: &str = "LastModifiedTime";
const SIZE: &str = "Size";

/// Refuses conditions on time and size, and on a version that is named, but in directory buckets, which alone have the first and have no
/// versions: without them more would be deleted.
fn check_conditions(call: &Call<'_>) -> Result<(), Error> {
    if call.bucket()?.kind == BucketKind::Directory {
        return Ok(());
    }
    if call.query.has("versionId") {
        check_of_version_deletes(call.fields)?;
    }
    match [IF_MODIFIED_AT, IF_SIZE].into_iter().find(|header| call.fields.has(header)) {
        Some(header) => Err(Error::HeaderNotImplemented { header, reason: None }),
        None => Ok(()),
    }
}

/// The time of a condition, in a form of HTTP or of XML.
fn time(text: &str) -> Result<Timestamp, Error> {
    let time = Timestamp::from_http_date(text).or_else(|| Timestamp::from_rfc3339(text));
    time.ok_or_else(|| Error::argument(IF_MODIFIED_AT, Some(text), "The value is no time"))
}

/// `DeleteObjects`: some keys a step. A key that cannot be deleted stands in the answer with its error.
///
/// # Errors
/// `InvalidArgument` for a bypass in a bucket without object lock; `MalformedXml`; `UserKeyMustBeSpecified` for an empty key.
pub fn objects(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    progress: &Progress,
) -> Result<StepOutcome, Error> {
    check_bypass(call)?;
    let document = Element::parse(call.body, "Delete")?;
    document.has_only(&["Quiet"], &["Object"])?;
    let quiet = document.text_of("Quiet") == Some("true");
    let mut wanted = document.all("Object").map(Wanted::of).collect::<Result<Vec<_>, Error>>()?;
    if wanted.is_empty() || wanted.len() > KEYS_MAX {
        return Err(Error::MalformedXml);
    }
    if wanted.iter().any(|wanted| wanted.key.is_empty()) {
        return Err(Error::UserKeyMustBeSpecified);
    }
    // What is named twice is deleted once, and answered once, as in the real service.
    let mut seen = HashSet::new();
    wanted.retain(|wanted| seen.insert(*wanted));
    let is_directory = call.bucket()?.kind == BucketKind::Directory;
    let is_of_directories = |wanted: &Wanted<'_>| {
        wanted.conditions.size.is_some() || wanted.conditions.modified.is_some()
    };
    // Before any of them is deleted. In the real service the documents of other buckets have no such elements.
    if !is_directory && wanted.iter().any(is_of_directories) {
        return Err(Error::MalformedXml);
    }
    let of_step = || wanted.iter().skip(progress.done).take(KEYS_PER_STEP);
    let bucket = call.bucket()?;
    tx.plan(|plan| {
        plan.row(&BUCKETS, &bucket.name);
        bucket_plan::settings(plan, bucket.id);
        let keys = of_step().filter_map(|wanted| Key::new(wanted.key.to_owned()).ok());
        keys.for_each(|key| bucket_plan::object(plan, bucket.id, &key));
    })?;
    let mut text = progress.text.clone();
    for wanted in of_step() {
        let deleted = one(call, tx, ids, wanted);
        text.push_str(&element_of(call, wanted, deleted, quiet)?);
    }
    let done = progress.done + KEYS_PER_STEP;
    if done < wanted.len() {
        return Ok(StepOutcome::Continue(Progress { done, text }));
    }
    let namespace = call.dialect().names().namespace;
    let whole = XmlWriter::document("DeleteResult", namespace, |writer| writer.raw(&text));
    Ok(StepOutcome::Done(Reply::xml(whole)))
}

fn one(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    wanted: &Wanted<'_>,
) -> Result<DeleteOutcome, Error> {
    let key = Key::new(wanted.key.to_owned())?;
    let is_directory = call.bucket()?.kind == BucketKind::Directory;
    let etag = wanted.conditions.tag;
    let access = AccessRequest { etag, ..call.access(&key, wanted.version) };
    check_delete(&access, call.bucket()?, tx)?;
    check_condition(&access, etag, call.bucket()?, tx)?;
    let bypass = bypass(call, &access, tx)?;
    let outcome = delete(
        tx,
        &DeleteRequest {
            bucket: call.bucket()?,
            key: &key,
            version: wanted.version,
            conditions: wanted.conditions,
            bypass,
            now: call.now,
        },
        ids,
    );
    outcome.map_err(|error| match (error, wanted.version) {
        // Among many keys a version id that was never given is one that is not there.
        (Error::InvalidArgument { argument, .. }, Some(version)) if argument == "versionId" => {
            Error::NoSuchVersion { key: wanted.key.to_owned(), version: version.to_owned() }
        }
        (Error::PreconditionFailed { .. }, _) if is_directory => Error::KeyPreconditionFailed,
        (error, _) => error,
    })
}

/// The element of the answer for one key; errors of the service itself end the whole request.
fn element_of(
    call: &Call<'_>,
    wanted: &Wanted<'_>,
    deleted: Result<DeleteOutcome, Error>,
    quiet: bool,
) -> Result<String, Error> {
    let mut writer = XmlWriter::fragment();
    match deleted {
        Ok(_) if quiet => {}
        Ok(outcome) => writer.element("Deleted", |writer| {
            writer.text("Key", wanted.key);
            writer.text_if("VersionId", wanted.version);
            if outcome.is_marker {
                writer.text("DeleteMarker", true);
                writer.text_if("DeleteMarkerVersionId", outcome.version);
            }
        }),
        Err(error) if error.row().status >= 500 => return Err(error),
        Err(error) => writer.element("Error", |writer| {
            writer.text("Key", wanted.key);
            writer.text_if("VersionId", wanted.version);
            writer.text("Code", error.row().code);
            writer.text("Message", error.message(call.dialect()));
        }),
    }
    Ok(writer.into_text())
}
