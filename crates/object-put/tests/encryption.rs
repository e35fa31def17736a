//! Encryption as clients choose it, and as it holds against who changes what is stored.

mod service;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use object_put::request::dialect::Dialect;
use service::{Answer, Draft, NOW, World};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue as _, Memory, Span};

const OWN: &str = "x-store-server-side-encryption-customer-";
const SOURCE: &str = "x-store-copy-source-server-side-encryption-customer-";

/// A request with the customer's key that is all of one byte.
fn with_key(draft: Draft, prefix: &str, byte: u8) -> Draft {
    let key = [byte; 32];
    draft
        .with(&format!("{prefix}algorithm"), "AES256")
        .with(&format!("{prefix}key"), STANDARD.encode(key))
        .with(&format!("{prefix}key-md5"), STANDARD.encode(Md5::digest(key)))
}

fn put(target: &str, body: &[u8], byte: u8) -> Draft {
    with_key(Draft::put(target, body), OWN, byte)
}

fn get(target: &str, byte: u8) -> Draft {
    get_in(Dialect::Amz, target, byte)
}

fn get_in(dialect: Dialect, target: &str, byte: u8) -> Draft {
    with_key(Draft::new("GET", target, b"").speaking(dialect), OWN, byte)
}

fn is(answer: &Answer, status: u16, code: &str, says: &str) {
    let own = (answer.status, answer.element("Code").unwrap_or_default());
    assert_eq!(own, (status, code.to_owned()), "{}", answer.text());
    assert!(answer.text().contains(says), "{}", answer.text());
}

#[tokio::test]
async fn a_customers_object_is_read_with_its_key_alone() {
    let world = World::new(NOW).await;
    let body: Vec<u8> = (0..200_000_u32).map(|place| (place % 251) as u8).collect();
    for dialect in [Dialect::Store, Dialect::Amz] {
        let stored =
            world.send(&with_key(Draft::put("/bkt/k", &body).speaking(dialect), OWN, 1)).await;
        assert_eq!(stored.status, 200, "{}", stored.text());
        let header =
            |answer: &Answer, name: &str| answer.header(&dialect.header(name)).map(str::to_owned);
        assert_eq!(header(&stored, &format!("{OWN}algorithm")).unwrap(), "AES256");
        assert_eq!(
            header(&stored, &format!("{OWN}key-md5")).unwrap(),
            STANDARD.encode(Md5::digest([1; 32]))
        );
        assert_eq!(header(&stored, "x-store-server-side-encryption"), None);
        assert!(header(&stored, "x-store-checksum-crc64nvme").is_some());
        let tag = stored.header("etag").unwrap().to_owned();
        assert!(!tag.contains(&hex::encode(Md5::digest(&body))), "{tag}");
        for method in ["GET", "HEAD"] {
            let mut right = get_in(dialect, "/bkt/k", 1);
            right.method = method;
            let read = world.send(&right).await;
            assert_eq!((read.status, read.header("etag")), (200, Some(tag.as_str())));
            assert_eq!(header(&read, &format!("{OWN}algorithm")).unwrap(), "AES256");
            assert!(method == "HEAD" || read.body == body);
        }
        let range = world.send(&get("/bkt/k", 1).with("range", "bytes=65530-131080")).await;
        assert_eq!((range.status, &range.body[..]), (206, &body[65_530..=131_080]));
        is(
            &world.send(&get_in(dialect, "/bkt/k", 2)).await,
            403,
            "AccessDenied",
            "must provide the correct secret key",
        );
        is(
            &world.send(&Draft::new("GET", "/bkt/k", b"").speaking(dialect)).await,
            400,
            "InvalidRequest",
            "The correct parameters must be provided",
        );
        let attributes = |draft: Draft| draft.with("x-store-object-attributes", "ETag");
        let read = world.send(&attributes(get("/bkt/k?attributes", 1))).await;
        assert_eq!(read.status, 200, "{}", read.text());
        for (draft, status) in
            [(Draft::new("GET", "/bkt/k?attributes", b""), 400), (get("/bkt/k?attributes", 2), 403)]
        {
            assert_eq!(world.send(&attributes(draft)).await.status, status);
        }
    }
}

#[tokio::test]
async fn both_sides_of_a_copy_have_keys_of_their_own() {
    let world = World::new(NOW).await;
    assert_eq!(world.send(&put("/bkt/from", b"body", 1)).await.status, 200);
    let copy = |to: &str| Draft::put(to, b"").with("x-store-copy-source", "bkt/from");
    let sourced = |to: &str, byte| with_key(copy(to), SOURCE, byte);
    is(&world.send(&copy("/bkt/to")).await, 400, "InvalidRequest", "The correct parameters");
    is(&world.send(&sourced("/bkt/to", 2)).await, 403, "AccessDenied", "correct secret key");
    // Into the clear, to another key, and onto itself with another key.
    assert_eq!(world.send(&sourced("/bkt/plain", 1)).await.status, 200);
    assert_eq!(world.fetch("/bkt/plain").await.body, b"body");
    for to in ["/bkt/to", "/bkt/from"] {
        let copied = world.send(&with_key(sourced(to, 1), OWN, 3)).await;
        assert_eq!(copied.status, 200, "{}", copied.text());
        assert_eq!(world.send(&get(to, 3)).await.body, b"body");
        assert_eq!(world.send(&get(to, 1)).await.status, 403);
    }
    is(
        &world
            .send(&with_key(
                Draft::put("/bkt/no", b"").with("x-store-copy-source", "bkt/plain"),
                SOURCE,
                1,
            ))
            .await,
        400,
        "InvalidRequest",
        "",
    );
}

#[tokio::test]
async fn a_strict_service_takes_no_key_over_plain_http() {
    let world = World::strict(NOW).await;
    for draft in [put("/bkt/k", b"body", 1), get("/bkt/k", 1)] {
        is(&world.send(&draft).await, 400, "InvalidRequest", "secure connection");
    }
    let source =
        with_key(Draft::put("/bkt/k", b""), SOURCE, 1).with("x-store-copy-source", "bkt/a");
    is(&world.send(&source).await, 400, "InvalidRequest", "secure connection");
}

#[tokio::test]
async fn no_refusal_and_no_record_shows_a_customers_key() {
    let (store, blobs) = (Arc::new(Memory::new()), MemoryBlobs::new(SeededIds::from_number(2)));
    let world = World::on(store.clone(), Arc::new(blobs), NOW).await;
    let key = [0x6B; 32];
    let secrets = [STANDARD.encode(key), STANDARD.encode(Md5::digest(key)), hex::encode(key)];
    let hidden = |text: &str| secrets.iter().all(|secret| !text.contains(secret.as_str()));
    assert_eq!(world.send(&put("/bkt/k", b"body", 0x6B)).await.status, 200);
    for dialect in [Dialect::Amz, Dialect::Store] {
        let own = get_in(dialect, "/bkt/k", 0x6B);
        let refused = world.send(&Draft { key: ("AKIDEXAMPLE", "wrong"), ..own }).await;
        is(&refused, 403, "SignatureDoesNotMatch", "customer-key:...");
        assert!(hidden(&refused.text()), "{}", refused.text());
        let bytes = hex::encode(STANDARD.encode(key));
        let shown = refused.element("CanonicalRequestBytes").unwrap().replace(' ', "");
        assert!(!shown.contains(&bytes));
    }
    for (name, value) in store.scan(&Span::default(), usize::MAX).unwrap().rows {
        let texts =
            [&name[..], &value[..]].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert!(texts.iter().all(|text| hidden(text)), "{texts:?}");
    }
}
