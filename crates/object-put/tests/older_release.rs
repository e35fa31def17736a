//! A data directory as the release before wrote it, whose rows of buckets, uploads and keys have no checksum, is taken over at its first start.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use object_put::body::encryption::Keyring;
use object_put::maintenance::verify::verify;
use object_put::store::tables::{CURRENT, NONCURRENT, PARTS};
use service::Draft;
use service::data_directory::{open, world};
use triptych_core::kv::{KeyValue, Span, Tx, without_checksum};

/// Takes the checksums from the rows that had none in the release before.
fn uncheck(store: &dyn KeyValue) {
    let checked = [CURRENT.span(&()), NONCURRENT.span(&()), PARTS.span(&())];
    let mut tx = Tx::new(store);
    for (place, value) in store.scan(&Span::default(), 10_000).unwrap().rows {
        if !checked.iter().any(|span| span.holds(&place)) {
            let plain = without_checksum(&place, &value).unwrap();
            tx.put(place, plain.to_vec());
        }
    }
    store.commit(tx.into_batch([0; 16])).wait().unwrap();
}

#[tokio::test]
async fn a_directory_of_the_release_before_is_read_and_says_from_then_on_that_its_rows_are_checked()
{
    let directory = tempfile::tempdir().unwrap();
    let (data, part) = (directory.path(), vec![5; 70_000]);
    let stores = open(data).unwrap();
    let first = world(&stores).await;
    first.store("/bkt/key", b"body").await;
    first.store("/versioned/k", b"old").await;
    first.store("/versioned/k", b"new").await;
    let begun = first.send(&Draft::new("POST", "/bkt/parts?uploads", b"")).await;
    let upload = begun.element("UploadId").unwrap();
    let target = format!("/bkt/parts?uploadId={upload}");
    let put = first.store(&format!("{target}&partNumber=1"), &part).await;
    let tag = put.header("etag").unwrap().to_owned();
    drop(first);
    uncheck(&*stores.kv);
    drop(stores);
    let mark = data.join("kv/format");
    std::fs::write(&mark, "3\n").unwrap();

    let stores = open(data).unwrap();
    assert_eq!(std::fs::read_to_string(&mark).unwrap(), "6\n");
    let second = world(&stores).await;
    assert_eq!(second.fetch("/bkt/key").await.body, b"body");
    assert_eq!(second.fetch("/versioned/k").await.body, b"new");
    let document = format!(
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{tag}</ETag></Part></CompleteMultipartUpload>"
    );
    let done = second.send(&Draft::new("POST", &target, document.as_bytes())).await;
    assert_eq!(done.status, 200, "{}", done.text());
    assert_eq!(second.fetch("/bkt/parts").await.body, part);
    let ring = Keyring::new(&[9; 32]);
    let report = verify(&*stores.kv, &*stores.blobs, Some(&ring), &mut |_| {}).unwrap();
    assert_eq!((report.faults, report.versions), (0, 4));
}
