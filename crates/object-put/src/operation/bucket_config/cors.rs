//! The cross-origin rules of a bucket, and the question of a browser whether a page may send a request.

use std::borrow::Cow;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::cors::{CONFIG_NAME, Cors, CorsRequest};
use crate::error::Error;
use crate::operation::bucket_config::{delete_config, not_configured, put_config};
use crate::operation::{Call, ReadCall, Reply};
use crate::store::tables::BUCKETS;

/// `GetBucketCors`.
///
/// # Errors
/// `NotConfigured`.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let missing =
        || not_configured(call, "NoSuchCORSConfiguration", "The CORS configuration does not exist");
    let cors = Cors::of_bucket(tx, call.bucket()?.id)?.ok_or_else(missing)?;
    Ok(Reply::xml(cors.document(call.dialect().names().namespace)))
}

/// `PutBucketCors`.
///
/// # Errors
/// Those of [`Cors::from_xml`].
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let cors = Cors::from_xml(call.body)?;
    put_config(call, tx, CONFIG_NAME, &cors)?;
    Ok(Reply::empty(200))
}

/// `DeleteBucketCors`.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, CONFIG_NAME)
}

/// The question of a browser before a page of another origin may send a request. Nobody signs it.
///
/// # Errors
/// `MissingOrigin`, `InvalidPreflight`; `CrossOrigin` where no rule of the bucket allows the request.
pub fn preflight(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let is_named = |text: &Cow<'_, str>| !text.is_empty();
    let origin = call.fields.get("origin")?.filter(is_named).ok_or(Error::MissingOrigin)?;
    let method = call.fields.get("access-control-request-method")?.filter(is_named);
    let headers = call.fields.get("access-control-request-headers")?.unwrap_or_default();
    let request = CorsRequest {
        origin: &origin,
        method: method.as_deref().unwrap_or_default(),
        headers: &headers,
    };
    request.check()?;
    let refused = |reason, resource| {
        let method = method.clone().unwrap_or(call.operation.method.into()).into_owned();
        Err(Error::CrossOrigin { method, resource, reason })
    };
    let bucket = BUCKETS.peek(tx, &call.bucket_name.to_owned())?;
    let Some(bucket) = bucket else {
        return refused("Bucket not found", "BUCKET");
    };
    let Some(cors) = Cors::of_bucket(tx, bucket.id)? else {
        return refused("CORS is not enabled for this bucket.", "BUCKET");
    };
    if request.method.is_empty() {
        return Err(CorsRequest::names_no_method("null"));
    }
    match cors.headers(&request) {
        Some(headers) => Ok(headers
            .into_iter()
            .fold(Reply::empty(200), |reply, (name, value)| reply.with(name, value))),
        None => refused(
            "This CORS request is not allowed. This is usually because the evalution of Origin, request method / Access-Control-Request-Method or Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.",
            call.operation.target.name(),
        ),
    }
}
