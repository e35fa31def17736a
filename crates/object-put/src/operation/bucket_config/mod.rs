//! Configurations of a bucket, each in a file of its own.

pub mod acl;
pub mod cors;
pub mod encryption;
pub mod lifecycle;
pub mod location;
pub mod object_lock;
pub mod ownership;
pub mod policy;
pub mod public_access;
pub mod request_payment;
pub mod tagging;
pub mod versioning;
pub mod website;

use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::XmlWriter;
use crate::store::bucket::Bucket;
use crate::store::bucket_setting;
use crate::store::tables::BUCKETS;

pub(super) fn xml_reply(
    call: &ReadCall<'_>,
    root: &str,
    fill: impl FnOnce(&mut XmlWriter),
) -> Reply {
    let namespace = call.dialect().names().namespace;
    Reply::xml(XmlWriter::document(root, namespace, fill))
}

pub(super) fn not_configured(
    call: &ReadCall<'_>,
    code: &'static str,
    reason: &'static str,
) -> Error {
    Error::NotConfigured { code, bucket: Some(call.bucket_name.to_owned()), reason }
}

fn put_config(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    name: &str,
    value: &impl serde::Serialize,
) -> Result<(), Error> {
    let bytes = serde_json::to_vec(value).map_err(|_| Error::Internal)?;
    // The bucket's row is read by this transaction: a bucket that is being deleted gets no new configuration.
    bucket_setting::put(tx, call.bucket()?.id, name, bytes)
}

fn delete_config(call: &Call<'_>, tx: &mut Tx<'_>, name: &str) -> Result<Reply, Error> {
    bucket_setting::delete(tx, call.bucket()?.id, name);
    Ok(Reply::empty(204))
}

fn update_bucket(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    edit: impl FnOnce(&mut Bucket),
) -> Result<(), Error> {
    let mut bucket = call.bucket()?.clone();
    edit(&mut bucket);
    BUCKETS.put(tx, &bucket.name, &bucket);
    Ok(())
}
