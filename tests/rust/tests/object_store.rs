//! `object_store`, unmodified: puts, conditional puts, ranges, lists and deletes.

use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, S3ConditionalPut};
use object_store::path::Path;
use object_store::{
    Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion,
};

fn store() -> AmazonS3 {
    // A second test of this process finds the provider installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let variable = |name: &str| std::env::var(format!("TRIPTYCH_OBJECT_{name}")).unwrap();
    AmazonS3Builder::new()
        .with_endpoint(variable("URL"))
        .with_allow_http(true)
        .with_region(variable("REGION"))
        .with_bucket_name("demo")
        .with_access_key_id(variable("ACCESS_KEY"))
        .with_secret_access_key(variable("SECRET_KEY"))
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .build()
        .unwrap()
}

fn text(text: &'static str) -> PutPayload {
    PutPayload::from_static(text.as_bytes())
}

async fn read(store: &AmazonS3, path: &Path) -> Vec<u8> {
    store.get(path).await.unwrap().bytes().await.unwrap().to_vec()
}

#[tokio::test]
async fn what_is_put_is_read_back_whole_and_in_ranges() {
    let (store, path) = (store(), Path::from("rust/whole"));
    let put = store.put(&path, text("0123456789")).await.unwrap();
    assert_eq!(read(&store, &path).await, b"0123456789");
    assert_eq!(&store.get_range(&path, 2..5).await.unwrap()[..], b"234");
    let head = store.head(&path).await.unwrap();
    assert_eq!((head.size, head.e_tag), (10, put.e_tag));
}

#[tokio::test]
async fn create_lets_one_writer_in() {
    let (store, path) = (store(), Path::from("rust/create"));
    let create = || PutOptions::from(PutMode::Create);
    store.put_opts(&path, text("first"), create()).await.unwrap();
    let second = store.put_opts(&path, text("second"), create()).await;
    assert!(matches!(second, Err(Error::AlreadyExists { .. })), "{second:?}");
    assert_eq!(read(&store, &path).await, b"first");
}

#[tokio::test]
async fn update_needs_the_version_that_is_there() {
    let (store, path) = (store(), Path::from("rust/update"));
    let update = |version: UpdateVersion| PutOptions::from(PutMode::Update(version));
    let first = store.put(&path, text("first")).await.unwrap();
    let second = store.put_opts(&path, text("second"), update(first.clone().into())).await.unwrap();
    let stale = store.put_opts(&path, text("stale"), update(first.into())).await;
    assert!(matches!(stale, Err(Error::Precondition { .. })), "{stale:?}");
    assert_eq!(read(&store, &path).await, b"second");
    assert_ne!(second.e_tag, None);
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let missing = store().get(&Path::from("rust/missing")).await;
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
}

#[tokio::test]
async fn a_prefix_is_listed_until_its_objects_are_deleted() {
    let (store, prefix) = (store(), Path::from("rust/list"));
    for name in ["a", "b/c", "b/d"] {
        store.put(&Path::from(format!("rust/list/{name}")), text("x")).await.unwrap();
    }
    let listed: Vec<_> = store.list(Some(&prefix)).try_collect().await.unwrap();
    assert_eq!(listed.len(), 3);
    let one_level = store.list_with_delimiter(Some(&prefix)).await.unwrap();
    assert_eq!((one_level.objects.len(), one_level.common_prefixes.len()), (1, 1));
    for object in listed {
        store.delete(&object.location).await.unwrap();
    }
    let left: Vec<_> = store.list(Some(&prefix)).try_collect().await.unwrap();
    assert!(left.is_empty());
}
