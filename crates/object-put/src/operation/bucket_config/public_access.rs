//! The public access block of a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::auth::policy::PublicAccessBlock;
use crate::error::Error;
use crate::operation::bucket_config::{delete_config, not_configured, xml_reply};
use crate::operation::{Call, ReadCall, Reply};
use crate::store::tables::BUCKET_CONFIGS;

/// `GetPublicAccessBlock`.
///
/// # Errors
/// `NotConfigured`.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let key = (call.bucket()?.id, PublicAccessBlock::CONFIG_NAME.to_owned());
    if BUCKET_CONFIGS.peek(tx, &key)?.is_none() {
        return Err(not_configured(
            call,
            "NoSuchPublicAccessBlockConfiguration",
            "The public access block configuration was not found",
        ));
    }
    let block = PublicAccessBlock::of_bucket(tx, key.0)?;
    Ok(xml_reply(call, "PublicAccessBlockConfiguration", |writer| {
        for (name, value) in block.fields() {
            writer.text(name, value);
        }
    }))
}

/// `PutPublicAccessBlock`.
///
/// # Errors
/// `MalformedXml`.
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let block = PublicAccessBlock::from_xml(call.body)?;
    block.put(tx, call.bucket()?.id);
    Ok(Reply::empty(200))
}

/// `DeletePublicAccessBlock`.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, PublicAccessBlock::CONFIG_NAME)
}
