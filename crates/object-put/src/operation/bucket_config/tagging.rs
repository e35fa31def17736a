//! The tags of a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::{delete_config, not_configured, put_config};
use crate::operation::{Call, ReadCall, Reply};
use crate::store::bucket_setting;
use crate::store::tagging::{TagTarget, Tags};

/// The name under which the tags of a bucket are kept.
pub const TAGS: &str = "tagging";

/// `GetBucketTagging`.
///
/// # Errors
/// `NotConfigured`.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let row = bucket_setting::read(tx, call.bucket()?.id, TAGS)?
        .ok_or_else(|| not_configured(call, "NoSuchTagSet", "The TagSet does not exist"))?;
    let tags: Tags = serde_json::from_slice(&row).map_err(|_| Error::Damaged)?;
    Ok(Reply::xml(tags.document(call.dialect().names().namespace)))
}

/// `PutBucketTagging`: no tags are as good as none ever put.
///
/// # Errors
/// Those of [`Tags::from_xml`].
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let tags = Tags::from_xml(call.body, TagTarget::Bucket)?;
    if tags.0.is_empty() {
        return delete_config(call, tx, TAGS);
    }
    put_config(call, tx, TAGS, &tags)?;
    Ok(Reply::empty(204))
}

/// `DeleteBucketTagging`.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, TAGS)
}
