//! AbortMultipartUpload: an upload ends without an object, and its parts are freed.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::operation::multipart::named_upload;
use crate::operation::{Call, Reply};
use crate::store::open_upload;
use crate::store::upload::PartNumbers;

const INITIATED: &str = "x-store-if-match-initiated-time";

/// `AbortMultipartUpload`.
///
/// # Errors
/// `NoSuchUpload`; `PreconditionFailed` where it began at another time than the request names.
pub fn abort(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let upload = named_upload(call, tx)?;
    if let Some(date) = call.fields.get(INITIATED)? {
        let date = Timestamp::from_http_date(&date).or_else(|| Timestamp::from_rfc3339(&date));
        if date.is_none_or(|date| date.seconds() != upload.initiated.seconds()) {
            return Err(Error::PreconditionFailed { condition: INITIATED });
        }
    }
    let kept = PartNumbers::default();
    open_upload::end(tx, call.bucket()?.id, call.key()?, &upload, kept, call.now)?;
    Ok(Reply::empty(204))
}
