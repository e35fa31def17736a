//! The payer of requests to a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::{update_bucket, xml_reply};
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::Element;
use crate::store::bucket::RequestPayment;

/// `GetBucketRequestPayment`.
///
/// # Errors
/// Those of the way to it alone.
pub fn get(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let payer = call.bucket()?.request_payment.name();
    Ok(xml_reply(call, "RequestPaymentConfiguration", |writer| {
        writer.text("Payer", payer);
    }))
}

/// `PutBucketRequestPayment`.
///
/// # Errors
/// `MalformedXml`.
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let root = Element::parse(call.body, "RequestPaymentConfiguration")?;
    root.has_only(&["Payer"], &[])?;
    let payer = RequestPayment::parse(root.required("Payer")?).ok_or(Error::MalformedXml)?;
    update_bucket(call, tx, |bucket| bucket.request_payment = payer)?;
    Ok(Reply::empty(200))
}
