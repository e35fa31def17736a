//! ListMultipartUploads: the uploads of a bucket that are not finished.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::operation::list_parameters::{ListEncoding, check_directory, number};
use crate::operation::multipart::write_accounts;
use crate::operation::{ReadCall, Reply};
use crate::request::xml::XmlWriter;
use crate::store::bucket::{Bucket, BucketKind};
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
    let id_marker = has_id_markers(own).then_some(id_marker.unwrap_or_default());
    let namespace = call.dialect().names().namespace;
    let text = XmlWriter::document("ListMultipartUploadsResult", namespace, |writer| {
        writer.text("Bucket", call.bucket_name);
        writer.text("KeyMarker", encoded(key_marker));
        writer.text_if("UploadIdMarker", id_marker);
        write_next(writer, &page, own, &encoded);
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
    bucket: &Bucket,
    encoded: &dyn Fn(&str) -> String,
) {
    let (key, id) = match page.entries.last() {
        Some(UploadsEntry::Upload(key, upload)) => (key.as_str(), name(bucket.id, key, upload)),
        Some(UploadsEntry::Prefix(prefix)) if page.more => (prefix.as_str(), String::new()),
        _ => ("", String::new()),
    };
    if has_id_markers(bucket) {
        writer.text("NextKeyMarker", encoded(key));
        writer.text("NextUploadIdMarker", id);
    } else {
        let is_prefix = id.is_empty();
        writer.text("NextKeyMarker", if is_prefix { encoded(key) } else { marker(key, &id) });
    }
}

/// Tells whether the key and the id of an upload are a marker each. In a directory bucket one says both.
fn has_id_markers(bucket: &Bucket) -> bool {
    bucket.kind != BucketKind::Directory
}

/// The marker of an upload where it is one.
fn marker(key: &str, id: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{id}{key}"))
}

/// Reads what [`marker`] gave; `None` for anything else, since the id says of which key it is.
fn read_marker(marker: &str, bucket: u64) -> Option<(String, UploadId)> {
    let text = String::from_utf8(URL_SAFE_NO_PAD.decode(marker).ok()?).ok()?;
    let (id, key) = text.split_at_checked(UploadId::CHARS)?;
    let id = UploadId::parse(id, bucket, &Key::new(key.to_owned()).ok()?)?;
    Some((key.to_owned(), id))
}

fn name(bucket: u64, key: &str, upload: &Upload) -> String {
    // A key that is stored is one.
    Key::new(key.to_owned()).map_or_else(|_| String::new(), |key| upload.id.text(bucket, &key))
}

/// The place that the markers name: it stays valid whether the upload is still there or not. In a directory bucket a key is a marker too, behind
/// all its uploads.
fn after(call: &ReadCall<'_>, prefix: &str, delimiter: &str) -> Result<UploadsAfter, Error> {
    let Some(marker) = call.query.get(KEY_MARKER).filter(|marker| !marker.is_empty()) else {
        return Ok(UploadsAfter::Start);
    };
    let bucket = call.bucket()?;
    let has_id_marker = has_id_markers(bucket);
    let place = if has_id_marker { None } else { read_marker(marker, bucket.id) };
    let key = place.as_ref().map_or(marker, |(key, _)| key);
    if let Some(group) = common_prefix(key, prefix, delimiter) {
        return Ok(UploadsAfter::Prefix(group.to_owned()));
    }
    if let Some((key, id)) = &place {
        return Ok(UploadsAfter::Upload(key.clone(), id.sequence));
    }
    let Some(id) = call.query.get(ID_MARKER).filter(|id| has_id_marker && !id.is_empty()) else {
        return Ok(UploadsAfter::Key(key.to_owned()));
    };
    let named = Key::new(key.to_owned()).ok();
    let upload = named.and_then(|named| UploadId::parse(id, bucket.id, &named));
    let upload =
        upload.ok_or_else(|| Error::argument(ID_MARKER, Some(id), "Invalid uploadId marker"))?;
    Ok(UploadsAfter::Upload(key.to_owned(), upload.sequence))
}
