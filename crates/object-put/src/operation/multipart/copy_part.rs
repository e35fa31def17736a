//! UploadPartCopy without its transport: a part whose body is another object's, or a range of it.

use std::ops::Range;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::payload::Payload;
use crate::body::body_headers::{BodyHeaders, ChecksumPlan};
use crate::body::checksum::Digested;
use crate::error::Error;
use crate::operation::copy_object::{CopiedObject, check_size};
use crate::operation::multipart::part_number;
use crate::operation::multipart::put_part::PartAdmission;
use crate::operation::{Call, Reply};
use crate::request::etag::quoted;
use crate::request::fields::Fields;
use crate::request::xml::XmlWriter;
use crate::store::part_list::ObjectRange;
use crate::store::upload::UploadPart;

const RANGE: &str = "x-store-copy-source-range";

/// A copy of a part that may go on.
#[derive(Debug, Clone)]
pub struct PartCopyAdmission {
    /// The part that it comes to.
    pub admission: PartAdmission,
    /// The bytes of the source.
    pub bytes: ObjectRange,
    source_version: Option<String>,
}

impl PartCopyAdmission {
    /// Looks at the source, the request and the upload, and refuses what can be refused before a byte is read.
    ///
    /// # Errors
    /// `InvalidArgument` for the number; those of [`CopiedObject::find`]; `NoSuchUpload`; `InvalidArgument` for a range that is none or ends outside the
    /// source; `InvalidRequest` for one that begins there, and for more than 5 GiB.
    pub fn decide(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Self, Error> {
        part_number(call.query.get("partNumber"))?;
        let source = CopiedObject::find(call, tx)?;
        let (upload, number) = PartAdmission::named(call, tx)?;
        let mut bytes = source.bytes();
        if let Some(header) = call.fields.get(RANGE)? {
            bytes.bytes = range(&header, bytes.bytes.end)?;
        }
        let length = bytes.bytes.end - bytes.bytes.start;
        check_size(length)?;
        let algorithm = upload.checksum_of_object().algorithm;
        let body = BodyHeaders {
            payload: Payload::Unsigned,
            length: Some(length),
            md5: None,
            checksum: ChecksumPlan::Computed(algorithm),
        };
        let mut admission = PartAdmission::new(call, upload, number, body, ids)?;
        admission.charged |= source.charged;
        Ok(Self { admission, bytes, source_version: source.shown_version() })
    }

    /// The answer to a `part` that was stored.
    ///
    /// # Errors
    /// Those of [`PartAdmission::with_headers`].
    pub fn reply(
        &self,
        fields: &Fields<'_>,
        digested: &Digested,
        part: &UploadPart,
    ) -> Result<Reply, Error> {
        let modified = Timestamp::from_seconds(part.modified.seconds());
        let namespace = fields.dialect().names().namespace;
        let text = XmlWriter::document("CopyPartResult", namespace, |writer| {
            writer.text("LastModified", modified.rfc3339_millis());
            writer.text("ETag", quoted(&part.listed.etag()));
            if self.admission.upload.checksum.is_some() {
                let row = digested.checksum.algorithm.row();
                writer.text(&format!("Checksum{}", row.name), digested.checksum.base64());
            }
        });
        let reply = self.admission.with_headers(Reply::xml(text), fields)?;
        Ok(reply.with_some("x-store-copy-source-version-id", self.source_version.clone()))
    }
}

/// The bytes that a header of the form `bytes=first-last` names of a source of `size` bytes.
fn range(header: &str, size: u64) -> Result<Range<u64>, Error> {
    let malformed = || {
        let reason = "The x-store-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy";
        Error::argument(RANGE, Some(header), reason)
    };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse::<u64>().unwrap_or(u64::MAX - 1)).ok_or_else(malformed)
    };
    let (first, last) = header
        .strip_prefix("bytes=")
        .and_then(|range| range.split_once('-'))
        .ok_or_else(malformed)?;
    let (first, last) = (number(first)?, number(last)?);
    if first > last {
        return Err(malformed());
    }
    if first >= size {
        return Err(Error::request(
            "The specified copy range is invalid for the source object size",
        ));
    }
    if last >= size {
        let reason = format!("Range specified is not valid for source object of size: {size}");
        return Err(Error::argument(RANGE, Some(header), reason));
    }
    Ok(first..last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_answered_as_it_was_recorded() {
        assert_eq!(range("bytes=0-9", 10), Ok(0..10));
        assert_eq!(range("bytes=3-3", 10), Ok(3..4));
        for malformed in [
            "0-8",
            "bytes=1-0",
            "bytes=-1-",
            "bytes=0--1",
            "bytes=0-1,3-4,7-9",
            "bytes=-",
            "bytes=-0",
            "bytes=1-",
            "bytes=-2",
            "bytes=-15",
        ] {
            let refused = range(malformed, 10);
            assert!(
                matches!(&refused, Err(Error::InvalidArgument { reason, .. }) if reason.starts_with("The x-store")),
                "{malformed}: {refused:?}"
            );
        }
        assert!(matches!(range("bytes=0-100", 10), Err(Error::InvalidArgument { .. })));
        assert!(matches!(range("bytes=100-200", 10), Err(Error::InvalidRequest { .. })));
    }
}
