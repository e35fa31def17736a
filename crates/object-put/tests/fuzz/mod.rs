//! The fuzz targets of object-put on their bytes: nothing may panic, and these invariants hold.

#![expect(unreachable_pub, reason = "fuzz targets and tests include this file")]
#![expect(clippy::indexing_slicing, reason = "a target that meets the unexpected fails")]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use object_put::auth::account::Caller;
use object_put::auth::canonical;
use object_put::auth::credentials::Credentials;
use object_put::auth::key_pair::{KeyPair, takes_region};
use object_put::auth::payload::Payload;
use object_put::auth::policy::{Policy, PolicyRequest};
use object_put::auth::scope::ServiceScope;
use object_put::auth::session::{Session, SessionMode};
use object_put::auth::session_token::SessionKey;
use object_put::body::aws_chunked::{Decoder, Frame};
use object_put::body::object_key::SecretKey;
use object_put::error::Error;
use object_put::form::credentials::FormCredentials;
use object_put::form::fields::{Form, FormReader};
use object_put::form::framing::{Decoder as FormDecoder, Piece};
use object_put::form::policy::{NamedBucket, PostPolicy};
use object_put::kms::context::EncryptionContext;
use object_put::operation::multipart::part_document::PartDocument;
use object_put::operation::put_headers::{METADATA_BYTES_MAX, PutHeaders};
use object_put::request::arrival::Arrival;
use object_put::request::dialect::Dialect;
use object_put::request::fields::Fields;
use object_put::request::host::{HostKind, HostTable};
use object_put::request::location::Location;
use object_put::request::query::Query;
use object_put::request::xml::{Element, XmlWriter};
use object_put::store::access_point::{NamedPoint, is_directory_point_name, point_zone_of};
use object_put::store::bucket::{Bucket, check_name, is_directory_name};
use object_put::store::key::{KEY_BYTES_MAX, Key};
use object_put::store::lifecycle::Lifecycle;
use object_put::store::list::StartAfter;
use object_put::store::lock::{DefaultRetention, Retention};
use object_put::store::tagging::{TagTarget, Tags};
use triptych_core::id::SeededIds;
use triptych_core::time::Timestamp;

/// A request head: a target on the first line, `name: value` on the others.
fn head(data: &[u8]) -> (String, Vec<(String, Vec<u8>)>) {
    let mut lines = data.split(|byte| *byte == b'\n');
    let target = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let fields = lines
        .filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            let name = String::from_utf8_lossy(&line[..colon]).to_ascii_lowercase();
            Some((name, line[colon + 1..].to_vec()))
        })
        .take(100)
        .collect();
    (target, fields)
}

fn fields(entries: &[(String, Vec<u8>)]) -> Fields<'_> {
    Fields::of(entries.iter().map(|(name, value)| (name.as_str(), value.as_slice())))
}

/// The canonical forms of a request, and its claim.
pub fn signature(data: &[u8]) {
    let (target, entries) = head(data);
    let (path, raw_query) = target.split_once('?').unwrap_or((&target, ""));
    let once = canonical::path(path);
    assert_eq!(canonical::path(&once), once, "a canonical path is its own");
    let sorted = canonical::query(raw_query, "");
    assert_eq!(canonical::query(&sorted, ""), sorted, "a canonical query is its own");
    let Ok(query) = Query::parse(raw_query) else {
        return;
    };
    let fields = fields(&entries);
    let Ok(dialect) = Dialect::of(fields.iter(), query.names()) else {
        return;
    };
    let fields = fields.in_dialect(dialect.unwrap_or_default());
    let Ok(authorization) = fields.get("authorization") else {
        return;
    };
    for on_premises in [false, true] {
        let here = ServiceScope { region: "us-east-1", on_premises };
        let claim = Credentials::read(authorization.as_deref(), &fields, &query, &here);
        if let Ok(Credentials::Anonymous(payload)) = claim {
            assert!(!matches!(payload, Payload::Signed | Payload::SignedTrailer));
        }
    }
}

/// Data and other frames of a chunked body, fed in pieces of `step` bytes.
fn decode(data: &[u8], signed: bool, step: usize) -> Result<(Vec<u8>, Vec<Frame>), Error> {
    let mut decoder = Decoder::new(signed, None);
    let (mut body, mut frames) = (Vec::new(), Vec::new());
    for piece in data.chunks(step) {
        decoder.feed(Bytes::copy_from_slice(piece));
        while let Some(frame) = decoder.frame()? {
            match frame {
                Frame::Data(bytes) => body.extend_from_slice(&bytes),
                other => frames.push(other),
            }
        }
    }
    frames.extend(decoder.finish()?);
    Ok((body, frames))
}

/// An aws-chunked body decodes the same however it is split.
pub fn chunked(data: &[u8]) {
    for signed in [false, true] {
        let whole = decode(data, signed, data.len().max(1));
        assert_eq!(decode(data, signed, 1), whole);
        assert_eq!(decode(data, signed, 7), whole);
        if let Ok((body, ..)) = whole {
            assert!(body.len() <= data.len());
        }
    }
}

/// The headers of a PutObject.
pub fn headers(data: &[u8]) {
    let (_, entries) = head(data);
    let now = Timestamp::from_seconds(1_795_244_786);
    let mut bucket = Bucket::new(1, "b".to_owned(), "1".to_owned(), "r".to_owned(), now);
    bucket.object_lock = true;
    for dialect in [Dialect::Store, Dialect::Amz] {
        let fields = fields(&entries).in_dialect(dialect);
        for payload in [Payload::Unsigned, Payload::SignedTrailer] {
            let Ok(head) = PutHeaders::read(&fields, &bucket, payload, now) else {
                continue;
            };
            let sizes = head.metadata.iter().map(|(name, value)| name.len() + value.len());
            assert!(sizes.sum::<usize>() <= METADATA_BYTES_MAX);
            let encoding = head.content.encoding.unwrap_or_default();
            assert!(
                !encoding.split(',').any(|name| name.trim().eq_ignore_ascii_case("aws-chunked"))
            );
            assert!(head.tags.0.len() <= 10);
        }
    }
}

/// The tags of a header: what was read can be written and read again.
pub fn tagging(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(tags) = Tags::from_header(text) else {
        return;
    };
    let document = tags.document("http://store/doc/2006-03-01/");
    assert_eq!(Tags::from_xml(document.as_bytes(), TagTarget::Object).as_ref(), Ok(&tags));
}

/// A key of a path: what was read has its length, and its own encoding names it again.
pub fn key(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(key) = Key::from_path(text) else {
        return;
    };
    assert!((1..=KEY_BYTES_MAX).contains(&key.as_bytes().len()));
    let encoded = canonical::path(text);
    assert_eq!(Key::from_path(&encoded), Ok(key));
}

/// The documents of request bodies.
pub fn xml(data: &[u8]) {
    let _ = Tags::from_xml(data, TagTarget::Bucket);
    let _ = DefaultRetention::from_xml(data);
    let _ = Retention::from_xml(data, Timestamp::EPOCH);
    for root in ["Tagging", "Delete", "CreateBucketConfiguration"] {
        let _ = Element::parse(data, root);
    }
}

/// Bucket policies: one that is taken is the same when it is read again, and what it denies it does not allow.
pub fn policy(data: &[u8]) {
    let Ok(policy) = Policy::parse(data, "b") else {
        return;
    };
    assert_eq!(Policy::parse(policy.document.as_bytes(), "b").as_ref(), Ok(&policy));
    let (fields, query) = (Fields::default(), Query::parse("prefix=a%2F").unwrap_or_default());
    for (permission, resource) in [("store:GetObject", "b/a/k"), ("store:ListBucket", "b")] {
        let _ = policy.evaluate(&PolicyRequest {
            caller: &Caller::Anonymous,
            permission,
            resource,
            fields: &fields,
            query: &query,
            version: None,
            etag: None,
            request_object: None,
            owner: "111122223333",
            arrival: Arrival {
                secure: true,
                address: "203.0.113.9".parse().ok(),
                now: Timestamp::EPOCH,
            },
            tags: None,
            upload: None,
            session_mode: None,
            point: None,
            region: "us-east-1",
        });
    }
    let _ = policy.is_public();
}

/// Tokens of sessions: none opens but the one that was sealed, and that gives what was sealed.
pub fn session(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut ids = SeededIds::from_number(1);
    let key = SessionKey::new(SecretKey::draw(&mut ids));
    let session = Session {
        access_key: "AK".to_owned(),
        key_check: [7; 8],
        bucket: Some(5),
        bucket_name: "b".to_owned(),
        point: Some("us-east-1:111122223333:accesspoint/ap--use1-az4--xa-s3".to_owned()),
        mode: SessionMode::ReadWrite,
        key: None,
        expires: Timestamp::from_seconds(300),
    };
    let Some(made) = key.seal(&session, &mut ids) else {
        return;
    };
    // Half a token that is good lets the fuzzer reach what comes after the framing.
    for token in [text.to_owned(), format!("{}{text}", &made.token[..made.token.len() / 2])] {
        let opened = key.open(&token);
        assert_eq!(opened.is_some(), token == made.token);
        assert!(opened.is_none_or(|(own, credentials)| own == session && credentials == made));
    }
}

/// Tokens of listings: one that is read goes on where it says.
pub fn listing(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(after) = StartAfter::from_token(text) {
        assert_eq!(StartAfter::from_token(&after.token()), Some(after));
    }
    if let Some((key, rest)) = text.split_once('\n') {
        let (prefix, delimiter) = rest.split_once('\n').unwrap_or((rest, "/"));
        let after = StartAfter::entry(key.to_owned(), prefix, delimiter);
        assert_eq!(StartAfter::from_token(&after.token()), Some(after));
    }
    let lifecycle = Lifecycle::from_xml(data, || "id".to_owned());
    if let Ok(lifecycle) = lifecycle {
        let shown = lifecycle.shown("http://store/doc/2006-03-01/");
        assert!(Lifecycle::from_xml(shown.as_bytes(), || "id".to_owned()).is_ok());
    }
}

/// Encryption contexts: one that is read is read again from its own words, and no pair more or less has its bytes.
pub fn encryption_context(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = EncryptionContext::from_header(text);
    }
    let Ok(context) = EncryptionContext::from_header(&STANDARD.encode(data)) else {
        return;
    };
    let text = serde_json::to_vec(&context).unwrap_or_default();
    assert_eq!(EncryptionContext::from_header(&STANDARD.encode(&text)).as_ref(), Ok(&context));
    assert!(
        context.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() <= text.len()
    );
    for resource in ["arn:aws:s3:::b", "arn:aws:s3:::b/k"] {
        let whole = context.with_resource(resource);
        let more = whole.iter().count() - context.iter().count();
        assert_eq!(whole.canonical() == context.canonical(), more == 0);
        assert_eq!(whole.with_resource("another"), whole, "a resource is named once");
    }
}

/// Lists of parts of a completion: what is read keeps its bounds, is read again from its own words, and is known by its digest.
pub fn part_list(data: &[u8]) {
    let Ok(document) = PartDocument::parse(data) else {
        return;
    };
    let parts = &document.0;
    assert!(!parts.is_empty() && parts.len() <= 10_000);
    assert!(parts.iter().all(|part| (1..=10_000).contains(&part.number)));
    let ascends = parts.windows(2).all(|pair| pair[0].number < pair[1].number);
    assert_eq!(document.check_order("id").is_ok(), ascends);
    let text = XmlWriter::document("CompleteMultipartUpload", "", |writer| {
        for part in parts {
            writer.element("Part", |writer| {
                writer.text("PartNumber", part.number);
                writer.text("ETag", &part.etag);
            });
        }
    });
    if let Ok(again) = PartDocument::parse(text.as_bytes()) {
        assert_eq!(again.0.len(), parts.len());
        let same = again.0.iter().zip(parts).all(|(one, other)| one.etag == other.etag);
        assert_eq!(again.digest() == document.digest(), same);
    }
}

/// A form, in pieces of every size: the same fields and the same file; then its policy and its head.
pub fn form(data: &[u8]) {
    let whole = read_form(data, data.len().max(1));
    for step in [1, 2, 3, 7, 64] {
        assert_eq!(read_form(data, step), whole, "pieces of {step}");
    }
    let Some((form, _)) = whole else {
        return;
    };
    for dialect in [Dialect::Store, Dialect::Amz] {
        if let Ok(head) = form.head(dialect) {
            assert!(head.iter().all(|(_, value)| !value.contains(['\r', '\n'])));
        }
        let here = ServiceScope { region: "us-east-1", on_premises: false };
        let _ = FormCredentials::read(&form, dialect, &here);
    }
    if let Ok(key) = form.key() {
        assert!(key.as_bytes().len() <= KEY_BYTES_MAX);
    }
    if let Some(policy) = form.get("policy")
        && let Ok(policy) = PostPolicy::parse(policy)
    {
        let bucket = NamedBucket { name: "b", point: None, region: "us-east-1" };
        let _ = policy.check(&form, &bucket, Timestamp::EPOCH, "x-amz-signature");
    }
}

/// The form, and the bytes of its file up to a fault.
fn read_form(data: &[u8], step: usize) -> Option<(Form, Vec<u8>)> {
    let mut decoder = FormDecoder::of_content_type(Some("multipart/form-data; boundary=b")).ok()?;
    let mut reader = FormReader::default();
    let mut found: Option<(Form, Vec<u8>)> = None;
    for piece in data.chunks(step) {
        decoder.feed(Bytes::copy_from_slice(piece));
        while let Some(piece) = decoder.piece().ok()? {
            match (&mut found, piece) {
                (Some((_, file)), Piece::Data(bytes)) => file.extend_from_slice(&bytes),
                (Some(_), Piece::PartEnd) => return found,
                (Some(_), _) => {}
                (None, piece) => {
                    found = reader.take(piece, 0).ok()?.map(|form| (form, Vec::new()));
                }
            }
        }
    }
    None
}

/// A host and a path: a place, or a refusal.
pub fn host(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (host, path) = text.split_once('\n').unwrap_or((&text, "/"));
    let mut names = HostTable::default();
    names.add(HostKind::Website, ["web.example:80".to_owned()]);
    names.add(HostKind::AccessPoint, ["s3-accesspoint.example".to_owned()]);
    names.add(HostKind::Zonal, ["zone.example".to_owned()]);
    if let Some(found) = names.find(host) {
        assert!(!found.label.is_empty() && found.label == found.label.to_ascii_lowercase());
    }
    if let Ok(location) = Location::of(host, path, &names) {
        assert!(location.bucket.is_none_or(|bucket| !bucket.is_empty()));
        assert!(location.key.is_none_or(|key| key.as_bytes().len() <= KEY_BYTES_MAX));
    }
    let _ = NamedPoint::of_bare_arn(host);
    // A name that ends as those of access points to directory buckets is nothing else.
    if is_directory_point_name(host) {
        assert!(!is_directory_name(host) && check_name(host).is_err());
    }
    assert!(point_zone_of(host).is_none_or(|zone| host.contains(&format!("--{zone}--xa-"))));
}

/// A set of regions on the first line, and a signature with a key pair.
pub fn region_set(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (set, signature) = text.split_once('\n').unwrap_or((&text, ""));
    if takes_region(set, "us-east-1") {
        assert!(set.contains('*') || set.contains("us-east-1"));
    }
    let pair = KeyPair::derive(Dialect::Amz, "AKIDEXAMPLE", "secret");
    assert!(pair.is_some_and(|pair| !pair.verifies(b"text", signature)));
}
