//! ListMultipartUploads: the uploads of a bucket that are not finished.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::operation::list_parameters::{ListEncoding, check_directory, number};
use crate::operation::multipart::write_accounts;
use crate::operation::{ReadCall, Reply};
use crate::request::xml::XmlWriter;
use crate::store::key::Key;
use crate::store::list::{PAGE_MAX, common_prefix};
use crate::store::lookup::account_directory;
use crate::store::upload::{Upload, UploadId};
use crate::store::upload_list::{UploadsAfter, UploadsEntry, UploadsPage, UploadsRequest, page};

const KEY_MARKER: &str = "key-marker";
const ID_MARKER: &str = "upload-id-marker";

/// `ListMultipartUploads`.
///
/// # Errors
/// `InvalidArgument` for a parameter that is none, and for the id of an upload of another key than the marker's.
pub fn uploads(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let encoding = ListEncoding::read(call)?;
    let own = call.bucket()?;
    let bucket = own.id;
    let prefix = call.query.get("prefix").unwrap_or_default();
    let delimiter = call.query.get("delimiter").unwrap_or_default();
    check_directory(call, prefix, delimiter)?;
    let most = number(call, "max-uploads", PAGE_MAX)?;
    let after = after(call, prefix, delimiter)?;
    let page = page(tx, &UploadsRequest { bucket, prefix, delimiter, after, most })?;
    let directory = account_directory(tx)?;
    let encoded = |text: &str| encoding.text(text);
    let key_marker = call.query.get(KEY_MARKER).unwrap_or_default();
    let id_marker = call.query.get(ID_MARKER).filter(|_| !key_marker.is_empty());
    let namespace = call.dialect().names().namespace;
    let text = XmlWriter::document("ListMultipartUploadsResult", namespace, |writer| {
        writer.text("Bucket", call.bucket_name);
        writer.text("KeyMarker", encoded(key_marker));
        writer.text("UploadIdMarker", id_marker.unwrap_or_default());
        write_next(writer, &page, bucket, &encoded);
        writer.text_if("Delimiter", (!delimiter.is_empty()).then(|| encoded(delimiter)));
        writer.text_if("Prefix", (!prefix.is_empty()).then(|| encoded(prefix)));
        writer.text("MaxUploads", most);
        encoding.write(writer);
        writer.text("IsTruncated", page.more);
        for (key, upload) in page.uploads() {
            let initiated = Timestamp::from_seconds(upload.initiated.seconds());
            writer.element("Upload", |writer| {
                writer.text("Key", encoded(key));
                writer.text("UploadId", name(bucket, key, upload));
                write_accounts(writer, own, upload, &directory);
                writer.text("StorageClass", upload.class.name());
                writer.text("Initiated", initiated.rfc3339_millis());
                if let Some(begun) = upload.checksum {
                    writer.text("ChecksumAlgorithm", begun.algorithm.row().name);
                    writer.text("ChecksumType", begun.checksum_type.name());
                }
            });
        }
        for entry in &page.entries {
            if let UploadsEntry::Prefix(prefix) = entry {
                writer.element("CommonPrefixes", |writer| writer.text("Prefix", encoded(prefix)));
            }
        }
    });
    Ok(Reply::xml(text))
}

/// Writes where the next page starts; the elements are there without one too, as in the real service.
fn write_next(
    writer: &mut XmlWriter,
    page: &UploadsPage,
    bucket: u64,
    encoded: &dyn Fn(&str) -> String,
) {
    let (key, id) = match page.entries.last() {
        Some(UploadsEntry::Upload(key, upload)) => (encoded(key), name(bucket, key, upload)),
        Some(UploadsEntry::Prefix(prefix)) if page.more => (encoded(prefix), String::new()),
        _ => (String::new(), String::new()),
    };
    writer.text("NextKeyMarker", key);
    writer.text("NextUploadIdMarker", id);
}

fn name(bucket: u64, key: &str, upload: &Upload) -> String {
    // A key that is stored is one.
    Key::new(key.to_owned()).map_or_else(|_| String::new(), |key| upload.id.text(bucket, &key))
}

/// The place that the markers name: it stays valid whether the upload is still there or not.
fn after(call: &ReadCall<'_>, prefix: &str, delimiter: &str) -> Result<UploadsAfter, Error> {
    let Some(key) = call.query.get(KEY_MARKER).filter(|key| !key.is_empty()) else {
        return Ok(UploadsAfter::Start);
    };
    if let Some(group) = common_prefix(key, prefix, delimiter) {
        return Ok(UploadsAfter::Prefix(group.to_owned()));
    }
    let Some(id) = call.query.get(ID_MARKER).filter(|id| !id.is_empty()) else {
        return Ok(UploadsAfter::Key(key.to_owned()));
    };
    let named = Key::new(key.to_owned()).ok();
    let upload = named.and_then(|named| UploadId::parse(id, call.bucket().ok()?.id, &named));
    let upload =
        upload.ok_or_else(|| Error::argument(ID_MARKER, Some(id), "Invalid uploadId marker"))?;
    Ok(UploadsAfter::Upload(key.to_owned(), upload.sequence))
}
