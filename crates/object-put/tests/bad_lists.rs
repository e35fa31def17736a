//! Lists of parts, contexts and keys that are wrong in one place or far too long: each is refused with its code, and nothing of it is stored.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use object_put::store::tables::UPLOAD_PARTS;
use service::{Answer, Draft, NOW, World};
use triptych_core::blobs::{Blobs as _, MemoryBlobs};
use triptych_core::id::SeededIds;
use triptych_core::kv::{self, KeyValue as _, Memory, Span};

/// The most parts of an object.
const PARTS: u32 = 10_000;
/// The most bytes of a list of parts.
const LIST_BYTES: usize = 2 * 1024 * 1024;
const PART: &[u8] = b"12345678";

struct Service {
    world: World,
    store: Arc<Memory>,
    blobs: Arc<MemoryBlobs>,
}

impl Service {
    async fn new() -> Self {
        let store = Arc::new(Memory::new());
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        let world = World::on(store.clone(), blobs.clone(), NOW).await;
        Self { world, store, blobs }
    }

    /// All that is stored: its rows, and how many bodies there are.
    fn stored(&self) -> (Vec<(bytes::Bytes, bytes::Bytes)>, usize) {
        let rows = self.store.scan(&Span::default(), usize::MAX).unwrap().rows;
        (rows, self.blobs.list(None, usize::MAX).unwrap().len())
    }

    async fn begin(&self, target: &str) -> String {
        let answer = self.world.send(&Draft::new("POST", &format!("{target}?uploads"), b"")).await;
        answer.element("UploadId").unwrap()
    }

    /// Gives an upload 10,000 parts that are all as its first.
    async fn fill(&self, target: &str) -> String {
        let upload = self.begin(target).await;
        let part = format!("{target}?partNumber=1&uploadId={upload}");
        self.world.store(&part, PART).await;
        let (place, value) = self.store.scan(&UPLOAD_PARTS.span(&()), 1).unwrap().rows.remove(0);
        let first = UPLOAD_PARTS.decode(&place, &value).unwrap();
        let (number, _) = UPLOAD_PARTS.read_key(&place).unwrap();
        let all: Vec<u32> = (2..=PARTS).collect();
        for some in all.chunks(500) {
            kv::run_blocking(&*self.store, &mut SeededIds::from_number(9), 1, |tx, _| {
                for part in some {
                    let mut row = first.clone();
                    row.listed.part.number = *part;
                    UPLOAD_PARTS.put(tx, &(number, *part), &row);
                }
                Ok::<_, kv::StoreError>(())
            })
            .unwrap();
        }
        upload
    }

    async fn complete(&self, target: &str, upload: &str, parts: &str) -> Answer {
        let document = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let target = format!("{target}?uploadId={upload}");
        self.world.send(&Draft::new("POST", &target, document.as_bytes())).await
    }
}

fn part(number: u32, tag: &str) -> String {
    format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
}

fn tag() -> String {
    hex::encode(Md5::digest(PART))
}

fn code(answer: &Answer) -> String {
    format!("{} {}", answer.status, answer.element("Code").unwrap_or_default())
}

#[tokio::test]
async fn a_list_of_ten_thousand_parts_with_one_wrong_completes_nothing_and_the_right_one_does() {
    let service = Service::new().await;
    let upload = service.fill("/bkt/k").await;
    let other = service.begin("/bkt/other").await;
    service.world.store(&format!("/bkt/other?partNumber=1&uploadId={other}"), b"87654321").await;
    let before = service.stored();
    let own = tag();
    let others = hex::encode(Md5::digest(b"87654321"));
    let list = |wrong: u32, instead: String| -> String {
        (1..=PARTS).map(|n| if n == wrong { instead.clone() } else { part(n, &own) }).collect()
    };
    for (parts, wanted) in [
        (list(1, part(1, &others)), "400 InvalidPart"),
        (list(5_000, part(5_000, &"0".repeat(32))), "400 InvalidPart"),
        (list(PARTS, part(PARTS, "")), "400 InvalidPart"),
        (list(5_000, part(4_999, &own)), "400 InvalidPartOrder"),
        (list(1, part(PARTS, &own)), "400 InvalidPartOrder"),
        (list(7, part(10_001, &own)), "400 InvalidArgument"),
        (list(7, "<Part/>".to_owned()), "400 MalformedXML"),
        (list(7, part(7, &own) + &part(7, &own)), "400 MalformedXML"),
        (list(0, String::new()) + &part(PARTS, &own), "400 MalformedXML"),
        (list(0, String::new()) + &" ".repeat(LIST_BYTES), "400 EntityTooLarge"),
        ("x".repeat(LIST_BYTES), "400 EntityTooLarge"),
        ("<Part>".repeat(LIST_BYTES / 8), "400 MalformedXML"),
    ] {
        let answer = service.complete("/bkt/k", &upload, &parts).await;
        assert_eq!(code(&answer), wanted, "{:.80}", parts);
        assert!(service.stored() == before, "{wanted}: something is stored");
    }
    // The list of another upload, and an upload of another key.
    let answer = service.complete("/bkt/other", &other, &list(0, String::new())).await;
    assert_eq!(code(&answer), "400 InvalidPart");
    let answer = service.complete("/bkt/other", &upload, &part(1, &own)).await;
    assert_eq!(code(&answer), "404 NoSuchUpload");
    assert!(service.stored() == before);
    let answer = service.complete("/bkt/k", &upload, &list(0, String::new())).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(!answer.text().contains("<Error>"), "{}", answer.text());
    let size = service.world.send(&Draft::new("HEAD", "/bkt/k", b"")).await;
    assert_eq!(size.header("content-length"), Some("80000"));
}

const ENCRYPTION: &str = "x-store-server-side-encryption";

/// Headers of a request, and the codes that they may be refused by.
type Refused = (Vec<(String, String)>, &'static [&'static str]);

/// Headers that are wrong.
fn wrong_headers() -> Vec<Refused> {
    let kms = |name: &str, value: String| {
        vec![(ENCRYPTION.to_owned(), "aws:kms".to_owned()), (format!("{ENCRYPTION}-{name}"), value)]
    };
    let context = |json: &str| kms("context", STANDARD.encode(json));
    let key = |name: &str| kms("kms-key-id", name.to_owned());
    let customer = |bytes: usize| {
        let (key, md5) = (vec![1; bytes], Md5::digest(vec![1; bytes]));
        [
            ("algorithm", "AES256".to_owned()),
            ("key", STANDARD.encode(key)),
            ("key-md5", STANDARD.encode(md5)),
        ]
        .map(|(name, value)| (format!("{ENCRYPTION}-customer-{name}"), value))
        .to_vec()
    };
    let argument: &[&str] = &["400 InvalidArgument"];
    let unknown: &[&str] = &["400 KMS.NotFoundException"];
    // Longer than a head may be altogether.
    let long: &[&str] = &["400 RequestHeaderSectionTooLarge", "431 "];
    vec![
        (kms("context", "no base64!".to_owned()), argument),
        (context("no json"), argument),
        (context(r#"{"a": {"b": "c"}}"#), argument),
        (context(r#"{"a": ["b"]}"#), argument),
        (context(&format!(r#"{{"a": "{}"}}"#, "x".repeat(10 * 1024))), long),
        (key("a/b/c"), unknown),
        (key("/"), unknown),
        (key("arn:aws:s3:::bkt"), unknown),
        (key("arn:aws:iam::111122223333:user/u"), unknown),
        (key(&"k".repeat(100_000)), long),
        (customer(31), argument),
        (customer(33), argument),
        (customer(0), argument),
    ]
}

#[tokio::test]
async fn contexts_and_keys_that_are_none_are_refused_and_nothing_is_stored() {
    let service = Service::new().await;
    let before = service.stored();
    for (headers, wanted) in wrong_headers() {
        for draft in [Draft::put("/bkt/k", b"body"), Draft::new("POST", "/bkt/k?uploads", b"")] {
            let draft =
                headers.iter().fold(draft, |draft, (name, value)| draft.with(name, value.as_str()));
            let answer = service.world.send(&draft).await;
            let shown: String =
                headers.iter().map(|(name, value)| format!("{name}: {value:.60} ")).collect();
            assert!(
                wanted.contains(&&*code(&answer)),
                "{shown}: {} {}",
                code(&answer),
                answer.text()
            );
            assert!(answer.body.len() < 8_192, "{shown}");
            assert!(service.stored() == before, "{shown}: something is stored");
        }
    }
}
