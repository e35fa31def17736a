//! The versioning state of a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::{update_bucket, xml_reply};
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::Element;
use crate::store::bucket::Versioning;

/// `GetBucketVersioning`.
///
/// # Errors
/// Those of the way to it alone.
pub fn get(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let status = match call.bucket()?.versioning {
        Versioning::Off => None,
        Versioning::Enabled => Some("Enabled"),
        Versioning::Suspended => Some("Suspended"),
    };
    Ok(xml_reply(call, "VersioningConfiguration", |writer| {
        writer.text_if("Status", status);
    }))
}

const MFA_DELETE: &str = "MfaDelete";

/// `PutBucketVersioning`.
///
/// # Errors
/// `MalformedXml`; `OperationNotImplemented` for deletes that want a second factor; `NoVersioningState`; `InvalidBucketState` for a bucket with object lock.
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let root = Element::parse(call.body, "VersioningConfiguration")?;
    root.has_only(&["Status", MFA_DELETE], &[])?;
    if root.text_of(MFA_DELETE).is_some_and(|state| state != "Disabled") {
        return Err(Error::OperationNotImplemented {
            operation: "PutBucketVersioning with MfaDelete",
        });
    }
    let versioning = match root.text_of("Status") {
        None | Some("") => return Err(Error::NoVersioningState),
        Some("Enabled") => Versioning::Enabled,
        Some("Suspended") => Versioning::Suspended,
        Some(_) => return Err(Error::MalformedXml),
    };
    if call.bucket()?.object_lock && versioning == Versioning::Suspended {
        return Err(Error::InvalidBucketState {
            reason: "An Object Lock configuration is present on this bucket, so the versioning state cannot be changed.",
        });
    }
    update_bucket(call, tx, |bucket| bucket.versioning = versioning)?;
    Ok(Reply::empty(200))
}
