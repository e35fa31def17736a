//! Remains of uploads in parts: nothing of one that was aborted, completed, or deleted with its bucket; all of one that goes on.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::time::Duration;

use object_put::body::encryption::Keyring;
use object_put::maintenance::garbage::{self, SweepOutcome};
use object_put::maintenance::lifecycle_worker::LifecycleWorker;
use object_put::maintenance::verify::verify;
use service::{Draft, NOW, Stores};
use triptych_core::blobs::{Blobs, Swept};
use triptych_core::id::SeededIds;

const DAY: Duration = Duration::from_secs(86_400);

/// Uploads against a service, and what is left of them.
struct Uploads(Stores);

impl std::ops::Deref for Uploads {
    type Target = Stores;

    fn deref(&self) -> &Stores {
        &self.0
    }
}

impl Uploads {
    async fn new() -> Self {
        Self(Stores::new().await)
    }

    async fn begin(&self, target: &str) -> String {
        let answer = self.world.send(&Draft::new("POST", &format!("{target}?uploads"), b"")).await;
        answer.element("UploadId").unwrap()
    }

    async fn put(
        &self,
        target: &str,
        id: &str,
        numbers: std::ops::RangeInclusive<u32>,
    ) -> Vec<String> {
        let mut tags = Vec::new();
        for number in numbers {
            let body = format!("part {number:06}");
            let target = format!("{target}?partNumber={number}&uploadId={id}");
            let answer = self.world.store(&target, body.as_bytes()).await;
            tags.push(answer.header("etag").unwrap().to_owned());
        }
        tags
    }

    async fn complete(&self, target: &str, id: &str, tags: &[String]) {
        let parts = tags.iter().enumerate().map(|(place, tag)| {
            format!("<Part><PartNumber>{}</PartNumber><ETag>{tag}</ETag></Part>", place + 1)
        });
        let parts: String = parts.collect();
        let text = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let target = format!("{target}?uploadId={id}");
        let answer = self.world.send(&Draft::new("POST", &target, text.as_bytes())).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }

    /// Rows of the tables of uploads.
    fn rows(&self) -> usize {
        self.0.rows(&[12, 13, 14, 15, 16, 17])
    }

    fn faults(&self) -> u64 {
        let ring = Keyring::new(&[9; 32]);
        verify(&*self.store, &*self.blobs, Some(&ring), &mut |_| {}).unwrap().faults
    }
}

#[tokio::test]
async fn an_aborted_upload_leaves_neither_rows_nor_bodies() {
    let stores = Uploads::new().await;
    let id = stores.begin("/bkt/k").await;
    stores.put("/bkt/k", &id, 1..=450).await;
    stores.put("/bkt/k", &id, 3..=3).await;
    assert_eq!((stores.bodies(), stores.faults()), (451, 0));
    let target = format!("/bkt/k?uploadId={id}");
    assert_eq!(stores.world.send(&Draft::new("DELETE", &target, b"")).await.status, 204);
    stores.free(NOW.plus(Duration::from_secs(61)));
    assert_eq!((stores.bodies(), stores.rows()), (0, 0));
}

#[tokio::test]
async fn a_completed_upload_leaves_its_object_alone_and_its_answer_for_a_day() {
    let stores = Uploads::new().await;
    let id = stores.begin("/bkt/k").await;
    let tags = stores.put("/bkt/k", &id, 1..=300).await;
    stores.put("/bkt/k", &id, 301..=310).await;
    stores.complete("/bkt/k", &id, &tags).await;
    stores.free(NOW.plus(Duration::from_secs(61)));
    assert_eq!((stores.bodies(), stores.rows(), stores.faults()), (300, 2, 0));
    stores.complete("/bkt/k", &id, &tags).await;
    stores.free(NOW.plus(DAY));
    assert_eq!((stores.bodies(), stores.rows()), (300, 0));
    let got = stores.world.fetch("/bkt/k").await;
    assert_eq!(got.body.len(), 300 * 11);
    stores.world.store("/bkt/k", b"replaced").await;
    stores.free(NOW.plus(DAY));
    assert_eq!((stores.bodies(), stores.faults()), (1, 0));
}

#[tokio::test]
async fn a_list_that_one_batch_does_not_hold_is_written_before_the_commit_that_names_it() {
    let stores = Uploads::new().await;
    let id = stores.begin("/bkt/k").await;
    let tags = stores.put("/bkt/k", &id, 1..=1_300).await;
    stores.complete("/bkt/k", &id, &tags).await;
    stores.free(NOW.plus(Duration::from_secs(3_601)));
    assert_eq!((stores.bodies(), stores.rows(), stores.faults()), (1_300, 2, 0));
    let got = stores.world.fetch("/bkt/k").await;
    let whole: String = (1..=1_300).map(|number| format!("part {number:06}")).collect();
    assert_eq!(got.text(), whole);
    let last = Draft::new("GET", "/bkt/k", b"").with("range", "bytes=-11");
    assert_eq!(stores.world.send(&last).await.text(), "part 001300");
    assert_eq!(stores.world.send(&Draft::new("DELETE", "/bkt/k", b"")).await.status, 204);
    stores.free(NOW.plus(DAY * 2));
    assert_eq!((stores.bodies(), stores.rows()), (0, 0));
}

#[tokio::test]
async fn an_upload_goes_with_its_bucket() {
    let stores = Uploads::new().await;
    stores.world.send(&Draft::new("PUT", "/made-here", b"")).await;
    for key in 0..250 {
        let target = format!("/made-here/{key}");
        let id = stores.begin(&target).await;
        stores.put(&target, &id, 1..=1).await;
    }
    let id = stores.begin("/made-here/late").await;
    let gone = stores.world.send(&Draft::new("DELETE", "/made-here", b"")).await;
    assert_eq!(gone.status, 204, "{}", gone.text());
    let late = Draft::put(&format!("/made-here/late?partNumber=1&uploadId={id}"), b"late");
    assert_eq!(stores.world.send(&late).await.status, 404);
    stores.free(NOW.plus(Duration::from_secs(61)));
    assert_eq!((stores.bodies(), stores.rows()), (0, 0));
}

#[tokio::test]
async fn a_rule_ends_an_upload_at_the_midnight_after_its_days() {
    let stores = Uploads::new().await;
    let rules = b"<LifecycleConfiguration><Rule><ID>r</ID><Filter><Prefix>a/</Prefix></Filter><Status>Enabled</Status><AbortIncompleteMultipartUpload><DaysAfterInitiation>2</DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule></LifecycleConfiguration>";
    let put = Draft::document("/bkt?lifecycle", rules);
    assert_eq!(stores.world.send(&put).await.status, 200);
    let begun = stores.world.send(&Draft::new("POST", "/bkt/a/k?uploads", b"")).await;
    assert_eq!(begun.header("x-amz-abort-rule-id"), Some("r"));
    assert!(begun.header("x-amz-abort-date").unwrap().ends_with("00:00:00 GMT"));
    let id = begun.element("UploadId").unwrap();
    stores.put("/bkt/a/k", &id, 1..=2).await;
    let other = stores.begin("/bkt/b/k").await;
    stores.put("/bkt/b/k", &other, 1..=1).await;
    let mut ids = SeededIds::from_number(4);
    for (days, uploads) in [(1, 0), (3, 1)] {
        let now = NOW.plus(DAY * days);
        let ended = LifecycleWorker::default().pass(&*stores.store, &mut ids, now).unwrap();
        assert_eq!(ended.uploads, uploads, "after {days} days");
    }
    stores.free(NOW.plus(DAY * 4));
    assert_eq!(stores.bodies(), 1);
    let left = stores.world.fetch("/bkt?uploads").await.text();
    assert!(left.contains(&other) && !left.contains(&id), "{left}");
}

#[tokio::test]
async fn no_sweep_takes_a_part_and_verify_tells_of_one_that_is_gone() {
    let stores = Uploads::new().await;
    let id = stores.begin("/bkt/k").await;
    stores.put("/bkt/k", &id, 1..=40).await;
    let later = NOW.plus(DAY * 30);
    let swept =
        garbage::sweep_orphans(&*stores.store, &*stores.blobs, later, true, &|| true).unwrap();
    assert!(matches!(swept, SweepOutcome::Done(Swept { orphans: 0, .. })), "{swept:?}");
    assert_eq!(stores.bodies(), 40);
    let first = stores.blobs.list(None, 1).unwrap();
    stores.blobs.delete(first.first().unwrap().id).wait().unwrap();
    assert_eq!(stores.faults(), 1);
}
