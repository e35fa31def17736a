//! Configurations that no bucket has here. Tools that show, copy or empty a bucket ask for all of them: reads answer as for a bucket on which
//! they were never set, deletes find nothing to do, and a request that would set one is 501 and names itself.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::{not_configured, xml_reply};
use crate::operation::{Call, ReadCall, Reply};
use crate::store::tables::BUCKETS;

/// `GetBucketCors`.
///
/// # Errors
/// `NotConfigured`, always.
pub fn cors(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    Err(not_configured(call, "NoSuchCORSConfiguration", "The CORS configuration does not exist"))
}

/// `GetBucketWebsite`.
///
/// # Errors
/// `NotConfigured`, always.
pub fn website(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    Err(not_configured(
        call,
        "NoSuchWebsiteConfiguration",
        "The specified bucket does not have a website configuration",
    ))
}

/// `GetBucketReplication`.
///
/// # Errors
/// `NotConfigured`, always.
pub fn replication(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    Err(not_configured(
        call,
        "ReplicationConfigurationNotFoundError",
        "The replication configuration was not found",
    ))
}

/// `GetBucketAccelerateConfiguration`.
///
/// # Errors
/// None of its own, as of all that follow.
pub fn acceleration(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    Ok(xml_reply(call, "AccelerateConfiguration", |_| {}))
}

/// `GetBucketLogging`.
///
/// # Errors
/// As [`acceleration`].
pub fn logging(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    Ok(xml_reply(call, "BucketLoggingStatus", |_| {}))
}

/// `GetBucketNotificationConfiguration`.
///
/// # Errors
/// As [`acceleration`].
pub fn notification(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    Ok(xml_reply(call, "NotificationConfiguration", |_| {}))
}

/// `ListMultipartUploads`: none can be begun.
///
/// # Errors
/// As [`acceleration`].
pub fn uploads(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    Ok(xml_reply(call, "ListMultipartUploadsResult", |writer| {
        writer.text("Bucket", call.bucket_name);
        for (element, parameter) in [
            ("KeyMarker", "key-marker"),
            ("UploadIdMarker", "upload-id-marker"),
            ("Prefix", "prefix"),
            ("Delimiter", "delimiter"),
        ] {
            writer.text(element, call.query.get(parameter).unwrap_or_default());
        }
        writer.text("MaxUploads", 1000);
        writer.text("IsTruncated", false);
    }))
}

/// The question of a browser before a page of another origin may send a request. No bucket has rules that let any.
///
/// # Errors
/// `MissingOrigin`; `CrossOrigin`.
pub fn preflight(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    if !call.fields.has("origin") {
        return Err(Error::MissingOrigin);
    }
    let method = call.fields.get("access-control-request-method")?;
    let method = method.unwrap_or(call.operation.method.into()).into_owned();
    let is_there = BUCKETS.peek(tx, &call.bucket_name.to_owned())?.is_some();
    let reason = match is_there {
        true => "CORS is not enabled for this bucket.",
        false => "Bucket not found",
    };
    Err(Error::CrossOrigin { method, reason })
}

/// Deletes what no bucket has.
///
/// # Errors
/// As [`acceleration`].
pub fn delete(_call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    Ok(Reply::empty(204))
}
