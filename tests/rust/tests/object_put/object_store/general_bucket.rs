//! General purpose buckets: puts, conditional puts and reads, ranges, lists, copies, uploads in parts, races and signed addresses.

use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt};
use object_store::aws::{AmazonS3, S3ConditionalPut, S3CopyIfNotExists};
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::multipart::MultipartStore;
use object_store::path::Path;
use object_store::signer::Signer;
use object_store::{
    Attribute, Attributes, Error, GetOptions, GetRange, ObjectStore, ObjectStoreExt, PutMode,
    PutMultipartOptions, PutOptions, TagSet, UpdateVersion,
};
use tokio::task::JoinSet;

use super::{PART, in_path, read, text};
use crate::http;

fn store() -> AmazonS3 {
    in_path("demo")
        .with_conditional_put(S3ConditionalPut::ETagMatch)
        .with_copy_if_not_exists(S3CopyIfNotExists::Multipart)
        .build()
        .unwrap()
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

#[tokio::test]
async fn an_upload_in_parts_is_there_when_it_is_completed_and_not_before() {
    let (store, path) = (store(), Path::from("rust/parts"));
    let mut upload = store.put_multipart(&path).await.unwrap();
    let parts = [vec![1; PART], vec![2; PART], vec![3; 7]];
    let sent: Vec<_> = parts.iter().map(|part| upload.put_part(part.clone().into())).collect();
    for part in sent.into_iter().rev() {
        part.await.unwrap();
    }
    assert!(matches!(store.head(&path).await, Err(Error::NotFound { .. })));
    let put = upload.complete().await.unwrap();
    assert!(read(&store, &path).await == parts.concat());
    assert_eq!(store.head(&path).await.unwrap().e_tag, put.e_tag);
    let aborted = Path::from("rust/aborted");
    let mut upload = store.put_multipart(&aborted).await.unwrap();
    upload.put_part(text("part")).await.unwrap();
    upload.abort().await.unwrap();
    assert!(upload.complete().await.is_err());
    assert!(matches!(store.head(&aborted).await, Err(Error::NotFound { .. })));
}

#[tokio::test]
async fn racing_uploads_of_one_key_leave_the_bytes_of_one() {
    let (store, path) = (store(), Path::from("rust/racing"));
    let mut racers = JoinSet::new();
    for racer in 0..4_u8 {
        let (store, path) = (store.clone(), path.clone());
        racers.spawn(async move {
            let id = store.create_multipart(&path).await.unwrap();
            // The last part first: numbers say the order.
            let end = store.put_part(&path, &id, 1, vec![racer; 9].into()).await.unwrap();
            let start = store.put_part(&path, &id, 0, vec![racer; PART].into()).await.unwrap();
            store.complete_multipart(&path, &id, vec![start, end]).await.unwrap();
        });
    }
    racers.join_all().await;
    let found = read(&store, &path).await;
    let first = found[0];
    assert_eq!((found.len(), found.iter().all(|byte| *byte == first)), (PART + 9, true));
}

#[tokio::test]
async fn of_racing_creates_one_gets_in_and_no_update_is_lost() {
    let (store, path) = (store(), Path::from("rust/counter"));
    let mut racers = JoinSet::new();
    for _ in 0..8 {
        let (store, path) = (store.clone(), path.clone());
        racers.spawn(async move {
            store.put_opts(&path, text("0"), PutMode::Create.into()).await.is_ok()
        });
    }
    assert_eq!(racers.join_all().await.into_iter().filter(|created| *created).count(), 1);
    let mut counters = JoinSet::new();
    for _ in 0..4 {
        let (store, path) = (store.clone(), path.clone());
        counters.spawn(async move {
            for _ in 0..8 {
                count_up(&store, &path).await;
            }
        });
    }
    counters.join_all().await;
    assert_eq!(read(&store, &path).await, b"32");
}

/// Adds one, and looks again where another was quicker.
async fn count_up(store: &AmazonS3, path: &Path) {
    loop {
        let found = store.get(path).await.unwrap();
        let version = UpdateVersion { e_tag: found.meta.e_tag.clone(), version: None };
        let number = String::from_utf8(found.bytes().await.unwrap().to_vec()).unwrap();
        let next = (number.parse::<u32>().unwrap() + 1).to_string();
        match store.put_opts(path, next.into(), PutMode::Update(version).into()).await {
            Ok(_) => return,
            Err(Error::Precondition { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn a_read_has_conditions_and_ranges_of_every_form() {
    let (store, path) = (store(), Path::from("rust/conditions"));
    let tag = store.put(&path, text("0123456789")).await.unwrap().e_tag;
    let modified = store.head(&path).await.unwrap().last_modified;
    let options = GetOptions::new;
    for (asked, fits) in [
        (options().with_if_match(tag.clone()), true),
        (options().with_if_match(Some("\"other\"")), false),
        (options().with_if_none_match(Some("\"other\"")), true),
        (options().with_if_unmodified_since(Some(modified)), true),
        (options().with_if_unmodified_since(Some(modified - Duration::from_secs(60))), false),
        (options().with_if_modified_since(Some(modified - Duration::from_secs(60))), true),
    ] {
        let found = store.get_opts(&path, asked.clone()).await.map(|_| ());
        let is_refused = matches!(found, Err(Error::Precondition { .. }));
        assert_eq!((found.is_ok(), is_refused), (fits, !fits), "{asked:?}");
    }
    for same in
        [options().with_if_none_match(tag), options().with_if_modified_since(Some(modified))]
    {
        let found = store.get_opts(&path, same).await;
        assert!(matches!(found, Err(Error::NotModified { .. })), "{found:?}");
    }
    for (range, bytes, place) in [
        (GetRange::Bounded(2..5), "234", 2..5),
        (GetRange::Offset(7), "789", 7..10),
        (GetRange::Suffix(4), "6789", 6..10),
        (GetRange::Bounded(8..100), "89", 8..10),
    ] {
        let found = store.get_opts(&path, options().with_range(Some(range))).await.unwrap();
        assert_eq!((found.range.clone(), found.meta.size), (place, 10));
        assert_eq!(found.bytes().await.unwrap(), bytes);
    }
    let pieces = store.get_ranges(&path, &[0..2, 9..10, 3..4]).await.unwrap();
    assert_eq!(pieces, ["01", "9", "3"]);
    assert!(store.get_range(&path, 10..12).await.is_err());
}

#[tokio::test]
async fn attributes_and_tags_are_kept_by_puts_and_by_uploads_in_parts() {
    let store = store();
    let attributes = Attributes::from_iter([
        (Attribute::ContentType, "text/x-own"),
        (Attribute::CacheControl, "max-age=604800"),
        (Attribute::ContentDisposition, "attachment; filename=\"a.html\""),
        (Attribute::ContentEncoding, "identity"),
        (Attribute::ContentLanguage, "en-US"),
        (Attribute::Metadata("own".into()), "kept"),
    ]);
    let mut tags = TagSet::default();
    tags.push("a b", "c/d=e");
    let (put, parts) = (Path::from("rust/attributes/put"), Path::from("rust/attributes/parts"));
    let options = PutOptions { attributes: attributes.clone(), tags, ..PutOptions::default() };
    store.put_opts(&put, text("x"), options.clone()).await.unwrap();
    let PutOptions { attributes: of_parts, tags, .. } = options;
    let of_parts =
        PutMultipartOptions { attributes: of_parts, tags, ..PutMultipartOptions::default() };
    let mut upload = store.put_multipart_opts(&parts, of_parts).await.unwrap();
    upload.put_part(text("x")).await.unwrap();
    upload.complete().await.unwrap();
    for path in [put, parts] {
        assert_eq!(store.get(&path).await.unwrap().attributes, attributes, "{path}");
    }
}

#[tokio::test]
async fn odd_paths_are_listed_as_they_were_put_and_deleted_at_once() {
    let (store, prefix) = (store(), Path::from("rust/odd"));
    let names = [
        "a b",
        "plus+",
        "percent%20",
        "ü/日本",
        "hash#",
        "star*",
        "q?=&",
        "~tilde",
        "back\\slash",
        "[x]{y}",
        "'\"",
        "e\u{301}",
    ];
    let mut paths: Vec<_> =
        names.iter().map(|name| Path::from(format!("rust/odd/{name}"))).collect();
    paths.sort();
    for path in &paths {
        store.put(path, path.to_string().into()).await.unwrap();
    }
    let mut listed: Vec<_> =
        store.list(Some(&prefix)).map_ok(|meta| meta.location).try_collect().await.unwrap();
    listed.sort();
    assert_eq!(listed, paths);
    for path in &paths {
        assert_eq!(read(&store, path).await, path.to_string().as_bytes());
    }
    let absent = Path::from("rust/odd/absent");
    let all = futures_util::stream::iter(paths.clone().into_iter().chain([absent]).map(Ok)).boxed();
    let deleted: Vec<_> = store.delete_stream(all).try_collect().await.unwrap();
    assert_eq!(deleted.len(), paths.len() + 1);
    assert_eq!(store.list(Some(&prefix)).count().await, 0);
}

#[tokio::test]
async fn an_object_is_copied_and_renamed_and_a_copy_can_ask_for_a_free_place() {
    let store = store();
    let [from, to, free, moved] =
        ["from ü", "to", "free", "moved"].map(|name| Path::from(format!("rust/copies/{name}")));
    store.put(&from, text("first")).await.unwrap();
    store.put(&to, text("second")).await.unwrap();
    let refused = store.copy_if_not_exists(&from, &to).await;
    assert!(matches!(refused, Err(Error::AlreadyExists { .. })), "{refused:?}");
    assert_eq!(read(&store, &to).await, b"second");
    store.copy_if_not_exists(&from, &free).await.unwrap();
    store.copy(&from, &to).await.unwrap();
    store.rename(&from, &moved).await.unwrap();
    for path in [&to, &free, &moved] {
        assert_eq!(read(&store, path).await, b"first");
    }
    for gone in [store.head(&from).await.map(|_| ()), store.copy(&from, &to).await] {
        assert!(matches!(gone, Err(Error::NotFound { .. })), "{gone:?}");
    }
}

#[tokio::test]
async fn pages_go_on_where_the_last_ended_and_an_offset_is_left_out() {
    let (store, prefix) = (store(), Path::from("rust/pages"));
    let names: Vec<_> = (0..7).map(|number| Path::from(format!("rust/pages/{number}"))).collect();
    for name in names.iter().chain(&[Path::from("rust/pages/folder/x")]) {
        store.put(name, text("x")).await.unwrap();
    }
    let after = |at: usize| store.list_with_offset(Some(&prefix), &names[at]).count();
    assert_eq!((after(0).await, after(6).await), (7, 1));
    let (mut found, mut folders, mut token) = (Vec::new(), Vec::new(), None);
    loop {
        let options = PaginatedListOptions {
            delimiter: Some("/".into()),
            max_keys: Some(3),
            page_token: token,
            ..PaginatedListOptions::default()
        };
        let page = store.list_paginated(Some("rust/pages/"), options).await.unwrap();
        assert!(page.result.objects.len() + page.result.common_prefixes.len() <= 3);
        found.extend(page.result.objects.into_iter().map(|meta| meta.location));
        folders.extend(page.result.common_prefixes);
        token = page.page_token;
        if token.is_none() {
            break;
        }
    }
    assert_eq!((found, folders), (names.clone(), vec![Path::from("rust/pages/folder")]));
}

#[tokio::test]
async fn a_signed_address_lets_whoever_has_it_put_and_get() {
    let (store, path) = (store(), Path::from("rust/signed ü"));
    let minute = Duration::from_secs(60);
    let put = store.signed_url(reqwest::Method::PUT, &path, minute).await.unwrap();
    let get = store.signed_url(reqwest::Method::GET, &path, minute).await.unwrap();
    let client = http();
    assert_eq!(client.put(put).body("by address").send().await.unwrap().status(), 200);
    let found = client.get(get.clone()).send().await.unwrap();
    assert_eq!(found.bytes().await.unwrap(), "by address");
    assert_eq!(client.delete(get).send().await.unwrap().status(), 403);
}
