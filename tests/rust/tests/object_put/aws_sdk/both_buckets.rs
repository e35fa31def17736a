//! Buckets of both kinds: objects, uploads in parts, conditions, checksums, signed addresses and appends. It knows directory buckets by their
//! names, and asks for their sessions by itself.

use std::sync::atomic::Ordering;
use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::error::ProvideErrorMetadata;
use aws_sdk_s3::operation::get_object::GetObjectError;
use aws_sdk_s3::operation::put_object::PutObjectError;
use aws_sdk_s3::presigning::PresigningConfig;
use aws_sdk_s3::primitives::ByteStream;
use aws_sdk_s3::types::{
    ChecksumAlgorithm, ChecksumMode, CompletedMultipartUpload, CompletedPart, Delete,
    ObjectIdentifier,
};

use super::{SESSIONS, in_path, make, zonal};
use crate::http;

const GENERAL: &str = "rust-sdk";
const DIRECTORY: &str = "sdk--use1-az4--x-s3";
const PART: usize = 5 * 1024 * 1024;
const APPENDS: usize = 100;

/// The two clients and their buckets, which are there then.
async fn both() -> [(Client, &'static str); 2] {
    let own = [(in_path(), GENERAL), (zonal(), DIRECTORY)];
    for (client, bucket) in &own {
        make(client, bucket).await;
    }
    own
}

async fn put(client: &Client, bucket: &str, key: &str, body: impl Into<ByteStream>) -> String {
    let put = client.put_object().bucket(bucket).key(key).body(body.into()).send().await;
    put.unwrap().e_tag.unwrap()
}

async fn read(client: &Client, bucket: &str, key: &str) -> Vec<u8> {
    let found = client.get_object().bucket(bucket).key(key).send().await.unwrap();
    found.body.collect().await.unwrap().to_vec()
}

fn text(text: &'static str) -> ByteStream {
    ByteStream::from_static(text.as_bytes())
}

#[tokio::test]
async fn an_object_is_put_read_listed_and_deleted_in_both_kinds_of_bucket() {
    for (client, bucket) in both().await {
        for name in ["a", "b/c", "b/d"] {
            put(&client, bucket, &format!("whole/{name}"), text("0123456789")).await;
        }
        let tag = put(&client, bucket, "whole/a", text("9876543210")).await;
        assert_eq!(read(&client, bucket, "whole/a").await, b"9876543210");
        let get = client.get_object().bucket(bucket).key("whole/a").range("bytes=2-4");
        let range = get.send().await.unwrap();
        assert_eq!(range.content_range.as_deref(), Some("bytes 2-4/10"));
        assert_eq!(range.body.collect().await.unwrap().to_vec(), b"765");
        let head = client.head_object().bucket(bucket).key("whole/a").send().await.unwrap();
        assert_eq!((head.content_length, head.e_tag), (Some(10), Some(tag)));
        let pages =
            client.list_objects_v2().bucket(bucket).prefix("whole/").into_paginator().page_size(2);
        let pages = pages.send().try_collect().await.unwrap();
        let mut listed: Vec<_> =
            pages.iter().flat_map(|page| page.contents()).filter_map(|own| own.key()).collect();
        listed.sort_unstable();
        assert_eq!((pages.len(), &listed[..]), (2, &["whole/a", "whole/b/c", "whole/b/d"][..]));
        let list = client.list_objects_v2().bucket(bucket).prefix("whole/").delimiter("/");
        let level = list.send().await.unwrap();
        assert_eq!((level.contents().len(), level.common_prefixes().len()), (1, 1));
        let named = listed.iter().map(|key| ObjectIdentifier::builder().key(*key).build().unwrap());
        let delete = Delete::builder().set_objects(Some(named.collect())).build().unwrap();
        let deleted = client.delete_objects().bucket(bucket).delete(delete).send().await.unwrap();
        assert_eq!((deleted.deleted().len(), deleted.errors().len()), (3, 0));
        let gone = client.get_object().bucket(bucket).key("whole/a").send().await;
        let gone = gone.unwrap_err().into_service_error();
        assert!(matches!(gone, GetObjectError::NoSuchKey(_)), "{gone:?}");
        let gone = client.head_object().bucket(bucket).key("whole/a").send().await;
        assert!(gone.unwrap_err().into_service_error().is_not_found());
    }
    assert!(SESSIONS.load(Ordering::Relaxed) > 0);
}

#[tokio::test]
async fn an_upload_in_parts_is_there_when_it_is_completed_and_each_part_is_read_by_its_number() {
    for (client, bucket) in both().await {
        let _ = client.delete_object().bucket(bucket).key("parts").send().await;
        let begin = client.create_multipart_upload().bucket(bucket).key("parts");
        let begun = begin.checksum_algorithm(ChecksumAlgorithm::Crc32).send().await;
        let id = begun.unwrap().upload_id.unwrap();
        let bodies = [vec![1; PART], vec![2; PART], vec![3; 7]];
        let mut parts = Vec::new();
        for (number, body) in (1..).zip(&bodies) {
            let part = client.upload_part().bucket(bucket).key("parts").upload_id(&id);
            let sent = part.part_number(number).body(body.clone().into()).send().await.unwrap();
            let part = CompletedPart::builder().part_number(number).set_e_tag(sent.e_tag);
            parts.push(part.set_checksum_crc32(sent.checksum_crc32).build());
        }
        let listed = client.list_parts().bucket(bucket).key("parts").upload_id(&id).send().await;
        assert_eq!(listed.unwrap().parts().len(), 3);
        let head = client.head_object().bucket(bucket).key("parts").send().await;
        assert!(head.unwrap_err().into_service_error().is_not_found());
        let all = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let complete = client.complete_multipart_upload().bucket(bucket).key("parts");
        complete.upload_id(&id).multipart_upload(all).send().await.unwrap();
        assert!(read(&client, bucket, "parts").await == bodies.concat());
        let get = client.get_object().bucket(bucket).key("parts").part_number(3);
        let last = get.send().await.unwrap();
        assert_eq!(last.parts_count, Some(3));
        assert_eq!(last.body.collect().await.unwrap().to_vec(), bodies[2]);
    }
}

#[tokio::test]
async fn a_write_whose_condition_does_not_hold_is_refused_with_its_code() {
    for (client, bucket) in both().await {
        let _ = client.delete_object().bucket(bucket).key("condition").send().await;
        let create = || {
            client.put_object().bucket(bucket).key("condition").if_none_match("*").body(text("x"))
        };
        let first = create().send().await.unwrap().e_tag.unwrap();
        let second = create().send().await.unwrap_err();
        assert_eq!(second.raw_response().unwrap().status().as_u16(), 412);
        assert_eq!(second.code(), Some("PreconditionFailed"));
        let update = |tag: &str| {
            let put = client.put_object().bucket(bucket).key("condition");
            put.if_match(tag).body(text("y")).send()
        };
        update(&first).await.unwrap();
        assert_eq!(update(&first).await.unwrap_err().code(), Some("PreconditionFailed"));
        assert_eq!(read(&client, bucket, "condition").await, b"y");
    }
}

#[tokio::test]
async fn each_checksum_is_kept_told_and_checked() {
    for (client, bucket) in both().await {
        for algorithm in [
            ChecksumAlgorithm::Crc32,
            ChecksumAlgorithm::Crc32C,
            ChecksumAlgorithm::Crc64Nvme,
            ChecksumAlgorithm::Sha1,
            ChecksumAlgorithm::Sha256,
        ] {
            let put = client.put_object().bucket(bucket).key("sum").body(text("0123456789"));
            let put = put.checksum_algorithm(algorithm.clone()).send().await.unwrap();
            let get = client.get_object().bucket(bucket).key("sum");
            let found = get.checksum_mode(ChecksumMode::Enabled).send().await.unwrap();
            let told = |of_put: Option<&str>, of_get: Option<&str>| {
                assert!(of_put.is_some() && of_put == of_get, "{algorithm}: {of_put:?} {of_get:?}");
            };
            match algorithm {
                ChecksumAlgorithm::Crc32 => told(put.checksum_crc32(), found.checksum_crc32()),
                ChecksumAlgorithm::Crc32C => told(put.checksum_crc32_c(), found.checksum_crc32_c()),
                ChecksumAlgorithm::Sha1 => told(put.checksum_sha1(), found.checksum_sha1()),
                ChecksumAlgorithm::Sha256 => told(put.checksum_sha256(), found.checksum_sha256()),
                _ => told(put.checksum_crc64_nvme(), found.checksum_crc64_nvme()),
            }
            // The client compares it with the bytes.
            assert_eq!(found.body.collect().await.unwrap().to_vec(), b"0123456789");
        }
        let put = client.put_object().bucket(bucket).key("sum").body(text("0123456789"));
        let refused =
            put.checksum_sha256("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").send().await;
        assert_eq!(refused.unwrap_err().code(), Some("BadDigest"));
    }
}

#[tokio::test]
async fn a_signed_address_brings_metadata_to_whoever_has_it() {
    let client = in_path();
    make(&client, GENERAL).await;
    let minute = PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
    let put = client.put_object().bucket(GENERAL).key("signed ü").metadata("own", "kept");
    let put = put.content_type("text/x-own").presigned(minute.clone()).await.unwrap();
    let http = http();
    let mut sent = http.put(put.uri()).body("by address");
    for (name, value) in put.headers() {
        sent = sent.header(name, value);
    }
    assert_eq!(sent.send().await.unwrap().status(), 200);
    let get = client.get_object().bucket(GENERAL).key("signed ü").presigned(minute).await.unwrap();
    let found = http.get(get.uri()).send().await.unwrap();
    assert_eq!(found.headers()["x-amz-meta-own"], "kept");
    assert_eq!(found.headers()["content-type"], "text/x-own");
    assert_eq!(found.bytes().await.unwrap(), "by address");
    assert_eq!(http.delete(get.uri()).send().await.unwrap().status(), 403);
}

#[tokio::test]
async fn an_object_of_a_directory_bucket_grows_where_the_offset_is_its_size() {
    let client = zonal();
    make(&client, DIRECTORY).await;
    let key = "grown";
    let _ = client.delete_object().bucket(DIRECTORY).key(key).send().await;
    let append = |offset: usize, body: Vec<u8>| {
        let put = client.put_object().bucket(DIRECTORY).key(key);
        put.write_offset_bytes(offset as i64).body(body.into()).send()
    };
    let mut all = Vec::new();
    for number in 0..APPENDS {
        let body = vec![u8::try_from(number).unwrap(); 1_000 + number];
        let put = append(all.len(), body.clone()).await.unwrap();
        all.extend(body);
        let told = put.size.map(|size| usize::try_from(size).unwrap());
        // The answer to the creation does not say it.
        assert_eq!(told, (number > 0).then_some(all.len()));
    }
    assert!(read(&client, DIRECTORY, key).await == all);
    let get = client.get_object().bucket(DIRECTORY).key(key).part_number(7);
    let seventh = get.send().await.unwrap();
    assert_eq!(seventh.parts_count.and_then(|count| usize::try_from(count).ok()), Some(APPENDS));
    assert_eq!(seventh.body.collect().await.unwrap().to_vec(), vec![6; 1_006]);
    for offset in [0, all.len() - 1, all.len() + 1] {
        let refused = append(offset, vec![1]).await.unwrap_err().into_service_error();
        assert!(matches!(refused, PutObjectError::InvalidWriteOffset(_)), "{refused:?}");
    }
    assert!(read(&client, DIRECTORY, key).await == all);
    client.delete_object().bucket(DIRECTORY).key(key).send().await.unwrap();
    let head = client.head_object().bucket(DIRECTORY).key(key).send().await;
    assert!(head.unwrap_err().into_service_error().is_not_found());
}
