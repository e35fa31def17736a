//! Requests that are sent again: the answer is that of a service that never answered before, whatever happened in between.

mod service;

use std::sync::Arc;

use object_put::request::dialect::Dialect;
use service::{Answer, Draft, NOW, World};
use triptych_core::blobs::{Blobs, Directory, MemoryBlobs};
use triptych_core::disk::SystemDisk;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory};

const OTHER: (&str, &str) = ("OTHER", "other");
const READER: (&str, &str) = ("READER", "reader");
const WRITER: (&str, &str) = ("WRITER", "writer");
const KEY: &str = "/bkt/key";

/// A service that has answered before, and the stores under it.
struct Bench {
    world: World,
    store: Arc<dyn KeyValue>,
    blobs: Arc<dyn Blobs>,
}

impl Bench {
    async fn new() -> Self {
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        let bench = Self::on(Arc::new(Memory::new()), blobs).await;
        let draft = Draft::put(KEY, b"first").with("x-store-acl", "public-read");
        bench.done(draft).await;
        bench
    }

    async fn on(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>) -> Self {
        let world = World::on(store.clone(), blobs.clone(), NOW).await;
        Self { world, store, blobs }
    }

    async fn done(&self, draft: Draft) {
        let answer = self.world.send(&draft).await;
        assert!(answer.status < 300, "{}", answer.text());
    }

    /// Every request, three times: from the second on it may be answered as before.
    async fn check(&self, reads: &[Draft], after: &str) -> Vec<u16> {
        let mut statuses = Vec::new();
        for (place, read) in reads.iter().enumerate() {
            let fresh = World::on(self.store.clone(), self.blobs.clone(), NOW).await;
            let expected = fresh.send(read).await;
            for time in 0..3 {
                let answer = self.world.send(read).await;
                let seen = format!("{place} after {after}, time {time}");
                assert_eq!(of_object(&answer), of_object(&expected), "{seen}");
            }
            statuses.push(expected.status);
        }
        statuses
    }
}

/// The headers in which an answer speaks of the object, not of itself.
fn of_object(answer: &Answer) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let own = ["x-amz-request-id", "x-amz-id-2", "x-store-request-id", "x-store-id-2"];
    let headers = answer.headers.iter().cloned();
    let headers = headers.filter(|(name, _)| !own.contains(&name.as_str()));
    // An error body names its request.
    let body = match answer.status < 400 {
        true => answer.body.clone(),
        false => answer.element("Code").unwrap_or_default().into(),
    };
    (
        answer.status,
        headers.filter(|(name, _)| name != "content-length" || answer.status < 400).collect(),
        body,
    )
}

/// Requests for one object that differ in who asks and how.
fn reads() -> Vec<Draft> {
    let get = || Draft::new("GET", KEY, b"");
    let by = |key| Draft { key, ..get() };
    let mut reads = vec![
        get(),
        by(READER),
        by(WRITER),
        by(OTHER),
        get().speaking(Dialect::Store),
        Draft::new("HEAD", KEY, b""),
        Draft::new("GET", &format!("{KEY}?response-content-type=a%2Fb"), b""),
        Draft::new("GET", &format!("{KEY}?versionId=null"), b""),
        Draft::new("GET", &format!("{KEY}?tagging"), b""),
        Draft::new("GET", &format!("{KEY}?acl"), b""),
        Draft::new("GET", "/bkt?acl", b""),
        Draft::new("GET", "/bkt?list-type=2", b""),
        Draft::new("HEAD", "/bkt", b""),
        Draft::new("GET", "/bkt/other", b""),
    ];
    for (name, value) in [
        ("range", "bytes=1-2"),
        ("range", "bytes=90-"),
        ("x-store-checksum-mode", "ENABLED"),
        ("x-store-expected-bucket-owner", "999999999999"),
        ("if-none-match", "\"8b04d5e3775d298e78455efc5ca404d5\""),
        ("if-match", "\"stale\""),
        ("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT"),
    ] {
        reads.push(get().with(name, value));
    }
    reads
}

#[tokio::test]
async fn whatever_is_changed_in_between_the_answer_is_that_of_a_service_which_never_answered() {
    let bench = Bench::new().await;
    let reads = reads();
    let lifecycle = "<LifecycleConfiguration><Rule><ID>r</ID><Status>Enabled</Status><Filter><Prefix></Prefix></Filter>\
                     <Expiration><Days>3</Days></Expiration></Rule></LifecycleConfiguration>";
    let tags = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
    let block = "<PublicAccessBlockConfiguration><IgnorePublicAcls>true</IgnorePublicAcls></PublicAccessBlockConfiguration>";
    let versioning = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
    let put = |target: &str, body: &str| Draft::put(target, body.as_bytes());
    let delete = |target: &str| Draft::new("DELETE", target, b"");
    let changes = [
        ("nothing", None),
        ("an overwrite", Some(put(KEY, "second").with("x-store-acl", "public-read"))),
        ("tags", Some(put("/bkt/key?tagging", tags))),
        ("rules", Some(Draft::document("/bkt?lifecycle", lifecycle.as_bytes()))),
        ("their end", Some(delete("/bkt?lifecycle"))),
        ("a block", Some(put("/bkt?publicAccessBlock", block))),
        ("its end", Some(delete("/bkt?publicAccessBlock"))),
        ("a private list", Some(put("/bkt/key?acl", "").with("x-store-acl", "private"))),
        ("versions", Some(put("/bkt?versioning", versioning))),
        ("another key", Some(put("/bkt/other", "other"))),
        ("a deletion", Some(delete(KEY))),
        ("a new one", Some(put(KEY, "third"))),
    ];
    let mut seen = std::collections::BTreeSet::new();
    for (name, change) in changes {
        if let Some(change) = change {
            bench.done(change).await;
        }
        seen.extend(bench.check(&reads, name).await);
    }
    assert!(
        [200, 206, 304, 403, 404, 412, 416].iter().all(|status| seen.contains(status)),
        "{seen:?}"
    );
}

#[tokio::test]
async fn a_policy_that_looks_at_what_passes_is_asked_each_time() {
    let bench = Bench::new().await;
    let policy = r#"{"Version": "2012-10-17", "Statement": [{"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject",
        "Resource": "arn:aws:s3:::bkt/*", "Condition": {"StringEquals": {"aws:UserAgent": "bad"}}}]}"#;
    let by = |agent: &str| Draft::new("GET", KEY, b"").with("user-agent", agent);
    let reads = [by("good"), by("bad"), by("good")];
    assert_eq!(bench.check(&reads, "nothing").await, [200, 200, 200]);
    bench.done(Draft::document("/bkt?policy", policy.as_bytes())).await;
    assert_eq!(bench.check(&reads, "a policy").await, [200, 403, 200]);
    bench.done(Draft::new("DELETE", "/bkt?policy", b"")).await;
    assert_eq!(bench.check(&reads, "its end").await, [200, 200, 200]);
}

#[tokio::test]
async fn a_signature_is_proven_each_time() {
    let bench = Bench::new().await;
    let read = Draft::new("GET", KEY, b"");
    assert_eq!(bench.check(std::slice::from_ref(&read), "nothing").await, [200]);
    let bytes = String::from_utf8(read.bytes()).unwrap();
    let (head, signature) = bytes.split_once("Signature=").unwrap();
    let first = if signature.starts_with('0') { "1" } else { "0" };
    let forged = [head, "Signature=", first, &signature[1..]].concat();
    for _ in 0..3 {
        assert_eq!(bench.world.exchange(forged.as_bytes()).await.status, 403);
    }
}

#[tokio::test]
async fn a_bit_that_flips_on_disk_is_found_though_the_head_was_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("blobs");
    let ids = SeededIds::from_number(3);
    let blobs = Directory::open(&path, Arc::new(SystemDisk), ids).unwrap();
    let bench = Bench::on(Arc::new(Memory::new()), Arc::new(blobs)).await;
    bench.done(Draft::put(KEY, b"a body of some length")).await;
    let read = Draft::new("GET", KEY, b"");
    assert_eq!(bench.check(std::slice::from_ref(&read), "nothing").await, [200]);
    let mut files = vec![path];
    let pack = loop {
        let next = files.pop().unwrap();
        if next.is_dir() {
            files.extend(std::fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let bytes = std::fs::read(&next).unwrap();
        if let Some(last) = bytes.iter().rposition(|byte| *byte != 0) {
            break (next, bytes, last);
        }
    };
    let (pack, mut bytes, last) = pack;
    bytes[last] ^= 1;
    std::fs::write(pack, bytes).unwrap();
    let raw = bench.world.exchange_raw(&read.bytes()).await;
    let shown = String::from_utf8_lossy(&raw);
    assert!(!shown.contains("of some length"), "{shown}");
}
