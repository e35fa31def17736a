//! Uploads in parts that meet each other, deletes of their keys and buckets, and the end of their process.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use object_put::store::key::Key;
use object_put::store::tables::bucket_slot;
use service::{Answer, Draft, NOW, Stores, World};
use triptych_core::blobs::Directory;
use triptych_core::disk::SystemDisk;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Sled, SledConfig};

const MODE: &str = "x-store-server-side-encryption";
const CUSTOMER: &str = "x-store-server-side-encryption-customer-";

async fn begin(world: &World, target: &str, begun_with: impl Fn(Draft) -> Draft) -> String {
    let answer =
        world.send(&begun_with(Draft::new("POST", &format!("{target}?uploads"), b""))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.element("UploadId").unwrap()
}

fn part(target: &str, id: &str, number: u32, body: &[u8]) -> Draft {
    Draft::put(&format!("{target}?partNumber={number}&uploadId={id}"), body)
}

fn tag(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.header("etag").unwrap().to_owned()
}

fn completion(target: &str, id: &str, tags: &[String]) -> Draft {
    let parts = tags.iter().zip(1..).map(|(tag, number)| {
        format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
    });
    let parts: String = parts.collect();
    let text = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
    Draft::new("POST", &format!("{target}?uploadId={id}"), text.as_bytes())
}

fn abort(target: &str, id: &str) -> Draft {
    Draft::new("DELETE", &format!("{target}?uploadId={id}"), b"")
}

fn with_customers_key(draft: Draft) -> Draft {
    draft
        .with(&format!("{CUSTOMER}algorithm"), "AES256")
        .with(&format!("{CUSTOMER}key"), STANDARD.encode([7; 32]))
        .with(&format!("{CUSTOMER}key-md5"), STANDARD.encode(Md5::digest([7; 32])))
}

/// The headers of the beginning, and those of each part and read.
type Mode = (&'static str, fn(Draft) -> Draft, fn(Draft) -> Draft);

const MODES: [Mode; 5] = [
    ("service", |draft| draft, |draft| draft),
    ("kms", |draft| draft.with(MODE, "aws:kms"), |draft| draft),
    (
        "bucket-key",
        |draft| draft.with(MODE, "aws:kms").with(&format!("{MODE}-bucket-key-enabled"), "true"),
        |draft| draft,
    ),
    ("dual", |draft| draft.with(MODE, "aws:kms:dsse"), |draft| draft),
    ("customer", with_customers_key, with_customers_key),
];

async fn on_disk(path: &Path) -> World {
    let store: Arc<dyn KeyValue> = Arc::new(Sled::open(&SledConfig::new(path.join("kv"))).unwrap());
    let ids = SeededIds::from_number(3);
    let blobs = Directory::open(path.join("blobs"), Arc::new(SystemDisk), ids).unwrap();
    World::on(store, Arc::new(blobs), NOW).await
}

#[tokio::test]
async fn an_unfinished_upload_of_any_mode_goes_on_after_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let world = on_disk(directory.path()).await;
    let mut uploads = Vec::new();
    for (name, begun_with, each) in MODES {
        let target = format!("/bkt/{name}");
        let id = begin(&world, &target, begun_with).await;
        let first = tag(&world.send(&each(part(&target, &id, 1, b"first part "))).await);
        uploads.push((target, id, first, each));
    }
    drop(world);
    let world = on_disk(directory.path()).await;
    let listed = world.fetch("/bkt?uploads").await.text();
    for (target, id, first, each) in uploads {
        assert!(listed.contains(&id), "{target}: {listed}");
        let parts =
            world.send(&each(Draft::new("GET", &format!("{target}?uploadId={id}"), b""))).await;
        assert!(parts.text().contains(first.trim_matches('"')), "{target}: {}", parts.text());
        let second = tag(&world.send(&each(part(&target, &id, 2, b"and last"))).await);
        let done = world.send(&each(completion(&target, &id, &[first, second]))).await;
        assert_eq!(done.status, 200, "{target}: {}", done.text());
        let got = world.send(&each(Draft::new("GET", &target, b""))).await;
        assert_eq!(got.text(), "first part and last", "{target}");
    }
}

#[tokio::test]
async fn deletes_of_other_keys_do_not_fail_a_completion_and_one_of_its_own_does() {
    let world = World::new(NOW).await;
    let slot = |name: &str| bucket_slot(1, &Key::new(name.to_owned()).unwrap()).0;
    let id = begin(&world, "/bkt/k", |draft| draft).await;
    let second = begin(&world, "/bkt/k", |draft| draft).await;
    let tags = [tag(&world.send(&part("/bkt/k", &id, 1, b"body")).await)];
    // More keys that share the guard of this one's deletes than it remembers.
    let others = (0..).map(|number| format!("n{number}")).filter(|name| slot(name) == slot("k"));
    for other in others.take(40) {
        world.store(&format!("/bkt/{other}"), b"").await;
        let gone = world.send(&Draft::new("DELETE", &format!("/bkt/{other}"), b"")).await;
        assert_eq!(gone.status, 204);
    }
    let absent = |draft: Draft| draft.with("if-none-match", "*");
    let done = world.send(&absent(completion("/bkt/k", &id, &tags))).await;
    assert_eq!(done.status, 200, "{}", done.text());
    // The key came, and goes, while the second is under way.
    let tags = [tag(&world.send(&part("/bkt/k", &second, 1, b"body")).await)];
    assert_eq!(world.send(&Draft::new("DELETE", "/bkt/k", b"")).await.status, 204);
    let late = world.send(&absent(completion("/bkt/k", &second, &tags))).await;
    assert_eq!(
        (late.status, late.element("Code").as_deref()),
        (409, Some("ConditionalRequestConflict"))
    );
    assert_eq!(world.fetch("/bkt/k").await.status, 404);
}

/// Frees what nobody needs; gives the bodies that are left, and the rows of uploads but those of answers that are remembered.
fn left(stores: &Stores) -> (usize, usize) {
    stores.free(NOW.plus(Duration::from_secs(61)));
    (stores.bodies(), stores.rows(&[12, 13, 16, 17]))
}

/// Sends all of them at once; gives the status of each.
async fn at_once(world: &Arc<World>, drafts: Vec<Draft>) -> Vec<u16> {
    let sent = drafts.into_iter().map(|draft| {
        let world = Arc::clone(world);
        tokio::spawn(async move {
            let answer = world.send(&draft).await;
            let is_refused = answer.text().contains("<Error>");
            if answer.status == 200 && is_refused { 500 } else { answer.status }
        })
    });
    let mut all = Vec::new();
    for sent in sent.collect::<Vec<_>>() {
        all.push(sent.await.unwrap());
    }
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_completions_and_aborts_that_race_ends_an_upload() {
    let stores = Stores::new().await;
    let world = Arc::new(stores.world);
    let (mut completed, mut kept) = (0, 0);
    for round in 0..40 {
        let target = format!("/bkt/{round}");
        let id = begin(&world, &target, |draft| draft).await;
        let one = tag(&world.send(&part(&target, &id, 1, b"a body, ")).await);
        let two = tag(&world.send(&part(&target, &id, 2, b"two")).await);
        let both = [one.clone(), two];
        let drafts = vec![
            completion(&target, &id, &both),
            completion(&target, &id, &both),
            abort(&target, &id),
            completion(&target, &id, &[one]),
            abort(&target, &id),
            part(&target, &id, 2, b"two"),
            part(&target, &id, 3, b"late"),
        ];
        let statuses = at_once(&world, drafts).await;
        let got = world.fetch(&target).await;
        let ends = (statuses[0] == 200 || statuses[1] == 200, statuses[3] == 200);
        let aborts = [statuses[2], statuses[4]].iter().filter(|status| **status == 204).count();
        let told = format!("round {round}: {statuses:?}, then {} {:?}", got.status, got.text());
        match ends {
            (true, false) => {
                assert_eq!((got.text().as_str(), aborts), ("a body, two", 0), "{told}")
            }
            (false, true) => assert_eq!((got.text().as_str(), aborts), ("a body, ", 0), "{told}"),
            (false, false) => assert_eq!((got.status, aborts), (404, 1), "{told}"),
            (true, true) => panic!("{told}"),
        }
        // Two that name the same list are answered alike.
        assert!(statuses[0] == statuses[1], "{told}");
        for status in &statuses {
            assert!([200, 204, 404].contains(status), "{told}");
        }
        completed += usize::from(got.status == 200);
        kept += match ends {
            (true, _) => 2,
            (_, true) => 1,
            _ => 0,
        };
        let gone = world.send(&Draft::new("GET", &format!("{target}?uploadId={id}"), b"")).await;
        assert_eq!(gone.status, 404, "{told}");
    }
    assert!(completed > 0, "no completion won");
    let stores = Stores { world: Arc::into_inner(world).unwrap(), ..stores };
    assert_eq!(left(&stores), (kept, 0), "bodies of completed uploads alone are left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_bucket_is_deleted_or_an_upload_is_completed_in_it_and_never_both() {
    let stores = Stores::new().await;
    let world = Arc::new(stores.world);
    let mut kept = 0;
    for round in 0..40 {
        let bucket = format!("/race-{round}");
        assert_eq!(world.send(&Draft::new("PUT", &bucket, b"")).await.status, 200);
        let target = format!("{bucket}/k");
        let id = begin(&world, &target, |draft| draft).await;
        let tags = [tag(&world.send(&part(&target, &id, 1, b"body")).await)];
        let drafts = vec![
            Draft::new("DELETE", &bucket, b""),
            completion(&target, &id, &tags),
            Draft::new("POST", &format!("{bucket}/other?uploads"), b""),
            part(&target, &id, 2, b"late"),
        ];
        let statuses = at_once(&world, drafts).await;
        let got = world.fetch(&target).await;
        let told = format!("round {round}: {statuses:?}, then {} {:?}", got.status, got.text());
        match (statuses[0], statuses[1]) {
            // A completion meets the bucket while it is being deleted, or after that.
            (204, 404 | 409) => assert_eq!(got.status, 404, "{told}"),
            (409, 200) => {
                assert_eq!(got.text(), "body", "{told}");
                kept += 1;
            }
            // The bucket was closed while it was looked at, and opened again.
            (409, 404) => panic!("an empty bucket was not deleted: {told}"),
            _ => panic!("{told}"),
        }
        if statuses[0] == 204 {
            let head = world.send(&Draft::new("HEAD", &bucket, b"")).await;
            assert_eq!(head.status, 404, "{told}");
        } else if statuses[2] == 200 {
            let listed = world.fetch(&format!("{bucket}?uploads")).await.text();
            let other = listed.split("<UploadId>").nth(1).unwrap().split('<').next().unwrap();
            let ended = world.send(&abort(&format!("{bucket}/other"), other)).await;
            assert_eq!(ended.status, 204, "{told}: {listed}");
        }
    }
    let stores = Stores { world: Arc::into_inner(world).unwrap(), ..stores };
    assert_eq!(left(&stores), (kept, 0), "nothing is left of deleted buckets");
}
