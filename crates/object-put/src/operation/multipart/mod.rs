//! Uploads in parts: begun, given parts, listed, completed and aborted.

pub mod abort;
pub mod complete;
pub mod copy_part;
pub mod create;
pub mod list_parts;
pub mod list_uploads;
pub mod part_document;
pub mod put_part;

use std::sync::Arc;

use triptych_core::kv::Tx;

use crate::auth::account::AccountDirectory;
use crate::auth::acl::user_fields;
use crate::error::Error;
use crate::operation::ReadCall;
use crate::operation::encryption::EncryptedObject;
use crate::operation::subresource::UPLOAD;
use crate::request::xml::XmlWriter;
use crate::store::bucket::Bucket;
use crate::store::open_upload;
use crate::store::part_list::PARTS_MAX;
use crate::store::upload::Upload;

/// The upload that a request names.
///
/// # Errors
/// `NoSuchUpload`.
fn named_upload(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Arc<Upload>, Error> {
    let name = call.query.get(UPLOAD).unwrap_or_default();
    open_upload::find(tx, call.bucket()?.id, call.key()?, name)
}

/// The object that an upload of the key of a request will be, as far as its encryption goes.
fn encrypted<'a>(call: &'a ReadCall<'_>, upload: &'a Upload) -> Result<EncryptedObject<'a>, Error> {
    Ok(EncryptedObject {
        bucket: call.bucket_name,
        key: call.key()?.as_str(),
        encryption: &upload.encryption,
    })
}

/// The number of a part, where it stands in a request or in a document.
///
/// # Errors
/// `InvalidArgument` for what is no number from 1 to 10,000.
pub fn part_number(text: Option<&str>) -> Result<u32, Error> {
    let number = text.and_then(|text| text.parse().ok());
    number.filter(|number| (1..=PARTS_MAX).contains(number)).ok_or_else(|| {
        let reason = "Part number must be an integer between 1 and 10000, inclusive";
        Error::argument("partNumber", text, reason)
    })
}

/// Writes who began an upload to `bucket`, and who will own its object.
fn write_accounts(
    writer: &mut XmlWriter,
    bucket: &Bucket,
    upload: &Upload,
    directory: &AccountDirectory,
) {
    let owner = bucket.owner_of(&upload.owner);
    let initiator = upload.initiator.as_deref().unwrap_or(owner);
    for (element, account) in [("Initiator", initiator), ("Owner", owner)] {
        writer.element(element, |writer| {
            user_fields(writer, directory.canonical(account), directory);
        });
    }
}
