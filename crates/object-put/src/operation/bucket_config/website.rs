//! The website of a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::{delete_config, not_configured, put_config};
use crate::operation::{Call, ReadCall, Reply};
use crate::website::{CONFIG_NAME, Website};

/// The code of a bucket without a website.
pub const MISSING: (&str, &str) =
    ("NoSuchWebsiteConfiguration", "The specified bucket does not have a website configuration");

/// `GetBucketWebsite`.
///
/// # Errors
/// `NotConfigured`.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let missing = || not_configured(call, MISSING.0, MISSING.1);
    let website = Website::of_bucket(tx, call.bucket()?.id)?.ok_or_else(missing)?;
    Ok(Reply::xml(website.document(call.dialect().names().namespace)))
}

/// `PutBucketWebsite`.
///
/// # Errors
/// Those of [`Website::from_xml`].
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let website = Website::from_xml(call.body)?;
    put_config(call, tx, CONFIG_NAME, &website)?;
    Ok(Reply::empty(200))
}

/// `DeleteBucketWebsite`.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, CONFIG_NAME)
}
