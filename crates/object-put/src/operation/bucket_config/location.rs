//! The region of a bucket.

use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::xml_reply;
use crate::operation::{ReadCall, Reply};

/// `GetBucketLocation`.
///
/// # Errors
/// Those of the way to it alone.
pub fn get(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let region = &call.bucket()?.region;
    // The oldest region is named by an empty element, and clients know that.
    let shown = if region == "us-east-1" { "" } else { region };
    Ok(xml_reply(call, "LocationConstraint", |writer| {
        let mut text = String::new();
        crate::request::xml::escape(shown, &mut text);
        writer.raw(&text);
    }))
}
