//! Objects: read back.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use super::{Call, Reply, ReplyBody};
use crate::commit::parts;
use crate::encryption::SERVICE_MANAGED;
use crate::error::Error;
use crate::etag::quoted;
use crate::head::DEFAULT_MEDIA_TYPE;
use crate::object::{ObjectVersion, StorageClass, Stored};
use crate::tables::{CURRENT, object_key};

/// `GetObject`.
///
/// # Errors
/// `NoSuchKey`.
pub fn get(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let (bucket, key) = (call.bucket()?, call.key()?);
    let missing = || Error::NoSuchKey {
        key: key.to_string(),
    };
    let object = CURRENT
        .peek(tx, &object_key(bucket.id, key))?
        .ok_or_else(missing)?;
    let stored = object.stored.as_deref().ok_or_else(missing)?;
    let mut reply = describe(Reply::empty(200), &object, stored)
        .with("content-length", stored.size.to_string())
        .with("accept-ranges", "bytes");
    reply.body = ReplyBody::Object {
        bucket: bucket.id,
        key: key.clone(),
        parts: parts(tx, &stored.parts)?,
        range: 0..stored.size,
        object: Box::new(object),
    };
    Ok(reply)
}

/// `HeadObject`: as GetObject, without the body.
///
/// # Errors
/// Those of [`get`].
pub fn head(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    Ok(Reply {
        body: ReplyBody::Empty,
        ..get(call, tx, ids)?
    })
}

/// Adds the headers that describe an object.
#[must_use]
pub fn describe(reply: Reply, object: &ObjectVersion, stored: &Stored) -> Reply {
    let content = &stored.content;
    let media_type = content.media_type.as_deref().unwrap_or(DEFAULT_MEDIA_TYPE);
    let class = (stored.class != StorageClass::Standard).then(|| stored.class.name());
    let mut reply = reply
        .with("etag", quoted(&stored.etag))
        .with("last-modified", object.modified.http_date())
        .with("content-type", media_type)
        .with_some("cache-control", content.cache_control.as_deref())
        .with_some("content-disposition", content.disposition.as_deref())
        .with_some("content-encoding", content.encoding.as_deref())
        .with_some("content-language", content.language.as_deref())
        .with_some("expires", content.expires.as_deref())
        .with_some("x-store-storage-class", class)
        .with_some(
            "x-store-website-redirect-location",
            stored.redirect.as_deref(),
        )
        .with("x-store-server-side-encryption", SERVICE_MANAGED);
    if !object.version.null {
        reply = reply.with("x-store-version-id", object.version.to_string());
    }
    for (name, value) in &stored.metadata {
        reply = reply.with(format!("x-store-meta-{name}"), value.clone());
    }
    reply
}
