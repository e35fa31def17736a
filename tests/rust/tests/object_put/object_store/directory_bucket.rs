//! Directory buckets: sessions, which it asks for by itself, under the name that the real service has; and its own suite, on buckets of both
//! kinds.

use std::sync::atomic::Ordering;

use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, S3ConditionalPut, S3CopyIfNotExists};
use object_store::integration;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions};

use super::{PART, SESSIONS, in_path, make, read, text, zonal};

const BUCKET: &str = "rust--use1-az4--x-s3";

#[tokio::test]
async fn a_directory_bucket_is_written_read_listed_and_emptied_in_sessions() {
    make(BUCKET).await;
    let store = zonal(BUCKET).build().unwrap();
    let path = Path::from("a/b/whole");
    let put = store.put(&path, text("0123456789")).await.unwrap();
    assert_eq!(read(&store, &path).await, b"0123456789");
    assert_eq!(&store.get_range(&path, 2..5).await.unwrap()[..], b"234");
    let head = store.head(&path).await.unwrap();
    assert_eq!((head.size, head.e_tag), (10, put.e_tag));
    let create = PutOptions::from(PutMode::Create);
    let second = store.put_opts(&path, text("second"), create).await;
    assert!(matches!(second, Err(Error::AlreadyExists { .. })), "{second:?}");
    // A copy is signed with the account's own key.
    let copy = Path::from("a/copy");
    store.copy(&path, &copy).await.unwrap();
    let mut upload = store.put_multipart(&Path::from("parts")).await.unwrap();
    let parts = [vec![1; PART], vec![2; PART], vec![3; 7]];
    for part in &parts {
        upload.put_part(part.clone().into()).await.unwrap();
    }
    upload.complete().await.unwrap();
    assert!(read(&store, &Path::from("parts")).await == parts.concat());
    let level = store.list_with_delimiter(Some(&Path::from("a"))).await.unwrap();
    assert_eq!((level.objects.len(), level.common_prefixes), (1, vec![Path::from("a/b")]));
    let after: Vec<_> = store.list_with_offset(None, &copy).try_collect().await.unwrap();
    assert_eq!(after.iter().map(|own| own.location.as_ref()).collect::<Vec<_>>(), ["parts"]);
    let all = store.list(None).map_ok(|own| own.location).boxed();
    let deleted: Vec<_> = store.delete_stream(all).try_collect().await.unwrap();
    assert_eq!(deleted.len(), 3);
    assert!(matches!(store.head(&path).await, Err(Error::NotFound { .. })));
    assert!(SESSIONS.load(Ordering::Relaxed) > 0);
}

/// The suite by which `object_store` judges stores, in the order in which it judges its own client of S3.
async fn judge(store: &AmazonS3) {
    integration::put_get_delete_list(store).await;
    integration::list_with_offset_exclusivity(store).await;
    integration::get_opts(store).await;
    integration::list_uses_directories_correctly(store).await;
    integration::list_with_delimiter(store).await;
    integration::rename_and_copy(store).await;
    integration::stream_get(store).await;
    integration::multipart(store, store).await;
    integration::multipart_with_opts(store, store).await;
    integration::multipart_put_part_out_of_order(store, store).await;
    integration::multipart_race_condition(store, true).await;
    integration::multipart_out_of_order(store).await;
    integration::put_get_attributes(store).await;
    integration::put_opts(store, true).await;
    assert!(integration::get_nonexistent_object(store, None).await.is_err());
}

#[tokio::test]
async fn its_own_suite_holds_on_a_general_purpose_bucket() {
    make("rust-suite").await;
    let store = in_path("rust-suite")
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_copy_if_not_exists(S3CopyIfNotExists::Multipart);
    let store = store.build().unwrap();
    judge(&store).await;
    integration::list_paginated(&store, &store).await;
    // These copy parts, in a directory bucket within a session, which the real service takes no more than this one.
    integration::copy_if_not_exists(&store).await;
    integration::copy_rename_nonexistent_object(&store).await;
}

#[tokio::test]
async fn its_own_suite_holds_on_a_directory_bucket() {
    const OWN: &str = "suite--use1-az4--x-s3";
    make(OWN).await;
    let store = zonal(OWN).with_conditional_put(S3ConditionalPut::ETagMatch);
    judge(&store.build().unwrap()).await;
}
