//! ListParts: the parts that an upload has so far, a page at a time.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::operation::encryption::check_kms;
use crate::operation::list_parameters::{limited, number};
use crate::operation::multipart::create::with_abort;
use crate::operation::multipart::{named_upload, write_accounts};
use crate::operation::subresource::UPLOAD;
use crate::operation::{ReadCall, Reply};
use crate::request::etag::quoted;
use crate::request::xml::XmlWriter;
use crate::store::list::PAGE_MAX;
use crate::store::lookup::account_directory;
use crate::store::object_encryption::ObjectEncryption;
use crate::store::part_list::PARTS_MAX;
use crate::store::tables::UPLOAD_PARTS;

const MARKER: &str = "part-number-marker";

/// `ListParts`.
///
/// # Errors
/// `NoSuchUpload`; those of [`check_kms`] for one with a key of a key service, as in the real service; `InvalidArgument` for a parameter that
/// is none.
pub fn parts(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let upload = named_upload(call, tx)?;
    if matches!(upload.encryption, ObjectEncryption::KeyManagement(_)) {
        check_kms(call.caller, &["kms:Decrypt"])?;
    }
    let most = number(call, "max-parts", PAGE_MAX)?;
    let marker = limited(MARKER, call.query.get(MARKER), 0, usize::MAX)?;
    let marker = u32::try_from(marker).unwrap_or(PARTS_MAX).min(PARTS_MAX);
    let mut span = UPLOAD_PARTS.span(&upload.number);
    span.from = Some(UPLOAD_PARTS.key(&(upload.number, marker)).to_vec());
    let (rows, more) = match most {
        0 => (Vec::new(), false),
        most => UPLOAD_PARTS.scan(tx, &span, most)?,
    };
    let directory = account_directory(tx)?;
    let bucket = call.bucket()?;
    let next = rows.last().map_or(0, |((_, number), _)| *number);
    let namespace = call.dialect().names().namespace;
    let text = XmlWriter::document("ListPartsResult", namespace, |writer| {
        writer.text("Bucket", call.bucket_name);
        writer.text_if("Key", call.key);
        writer.text("UploadId", call.query.get(UPLOAD).unwrap_or_default());
        write_accounts(writer, bucket, &upload, &directory);
        writer.text("StorageClass", upload.class.name());
        writer.text("PartNumberMarker", marker);
        writer.text("NextPartNumberMarker", next);
        writer.text("MaxParts", most);
        writer.text("IsTruncated", more);
        if let Some(begun) = upload.checksum {
            writer.text("ChecksumAlgorithm", begun.algorithm.row().name);
            writer.text("ChecksumType", begun.checksum_type.name());
        }
        for (_, part) in &rows {
            let listed = &part.listed;
            let modified = Timestamp::from_seconds(part.modified.seconds());
            writer.element("Part", |writer| {
                writer.text("PartNumber", listed.part.number);
                writer.text("LastModified", modified.rfc3339_millis());
                writer.text("ETag", quoted(&listed.etag()));
                writer.text("Size", listed.part.bytes);
                if let Some(begun) = upload.checksum {
                    let name = begun.algorithm.row().name;
                    writer.text(&format!("Checksum{name}"), listed.checksum.base64());
                }
            });
        }
    });
    with_abort(call, tx, &upload, Reply::xml(text))
}
