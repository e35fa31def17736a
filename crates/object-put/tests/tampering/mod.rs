//! A service whose stored bytes somebody changes, and every look at what it has.

#![expect(dead_code, unreachable_pub, reason = "each test uses its part")]

pub mod change;
mod changed_blobs;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use changed_blobs::ChangedBlobs;
use md5::{Digest as _, Md5};
use object_put::store::tables::CURRENT;
use parking_lot::Mutex;
use serde_json::Value;
use sha2::Sha256;
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue as _, Memory, Span, Tx, without_checksum};

use crate::service::{Answer, Draft, NOW, World};

/// The encryption of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Mode {
    Service,
    Kms,
    BucketKey,
    Dual,
    Customer,
}

pub const MODES: [Mode; 5] =
    [Mode::Service, Mode::Kms, Mode::BucketKey, Mode::Dual, Mode::Customer];
pub const OWN: &str = "x-store-server-side-encryption-customer-";
pub const SOURCE: &str = "x-store-copy-source-server-side-encryption-customer-";

impl Mode {
    /// The headers with which it is asked for.
    pub fn asked(self, draft: Draft) -> Draft {
        const MODE: &str = "x-store-server-side-encryption";
        const CONTEXT: &str = "x-store-server-side-encryption-context";
        let context = STANDARD.encode(r#"{"a": "1"}"#);
        match self {
            Self::Service => draft,
            Self::Kms => draft
                .with(MODE, "aws:kms")
                .with(&format!("{MODE}-aws-kms-key-id"), "alias/demo")
                .with(CONTEXT, context),
            Self::BucketKey => {
                draft.with(MODE, "aws:kms").with(&format!("{MODE}-bucket-key-enabled"), "true")
            }
            Self::Dual => draft.with(MODE, "aws:kms:dsse").with(CONTEXT, context),
            Self::Customer => self.opened(draft),
        }
    }

    /// The headers with which it is read.
    pub fn opened(self, draft: Draft) -> Draft {
        self.keyed(draft, OWN)
    }

    pub fn keyed(self, draft: Draft, prefix: &str) -> Draft {
        if self != Self::Customer {
            return draft;
        }
        draft
            .with(&format!("{prefix}algorithm"), "AES256")
            .with(&format!("{prefix}key"), STANDARD.encode([7; 32]))
            .with(&format!("{prefix}key-md5"), STANDARD.encode(Md5::digest([7; 32])))
    }
}

/// A service with objects of one mode: two that are whole, two in two parts.
pub struct Case {
    pub mode: Mode,
    pub world: World,
    pub store: Arc<Memory>,
    pub blobs: Arc<ChangedBlobs>,
}

/// Bytes in the middle of a body, from one record or part to the next.
pub fn middle(key: &str) -> Range<usize> {
    if key.contains("long") { 65_530..65_550 } else { FIRST - 10..FIRST + 10 }
}

pub const KEYS: [&str; 2] = ["/bkt/whole", "/bkt/parts"];
pub const OTHERS: [&str; 2] = ["/bkt/whole-2", "/bkt/parts-2"];

/// A whole object of two records.
pub const LONG: [&str; 2] = ["/bkt/long", "/bkt/long-2"];

pub fn body(key: &str) -> Vec<u8> {
    let bytes = if key.contains("long") { 65_700 } else { FIRST + 20 };
    let seed = key.len();
    (0..bytes).map(|place| ((place * 7 + seed * 31) % 251) as u8).collect()
}

/// Bytes of the first part.
pub const FIRST: usize = 200;

impl Case {
    pub async fn new(mode: Mode) -> Self {
        let store = Arc::new(Memory::new());
        let own = MemoryBlobs::new(SeededIds::from_number(2));
        let blobs = Arc::new(ChangedBlobs { own, changed: Mutex::default() });
        let world = World::on(store.clone(), blobs.clone(), NOW).await;
        let case = Self { mode, world, store, blobs };
        for key in [KEYS[0], OTHERS[0]] {
            let answer = case.world.send(&mode.asked(Draft::put(key, &body(key)))).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        for key in [KEYS[1], OTHERS[1]] {
            let id = case.begin(key).await;
            let tags = case.put_parts(key, &id).await;
            let answer = case.complete(key, &id, &tags).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        case
    }

    pub async fn begin(&self, key: &str) -> String {
        let draft = self.mode.asked(Draft::new("POST", &format!("{key}?uploads"), b""));
        let draft = draft.with("x-store-checksum-algorithm", "SHA256");
        let answer = self.world.send(&draft).await;
        answer.element("UploadId").unwrap()
    }

    pub async fn put_parts(&self, key: &str, id: &str) -> Vec<(String, String)> {
        let body = body(key);
        let mut tags = Vec::new();
        for (number, bytes) in [(1, &body[..FIRST]), (2, &body[FIRST..])] {
            let target = format!("{key}?partNumber={number}&uploadId={id}");
            let sum = STANDARD.encode(Sha256::digest(bytes));
            let draft = Draft::put(&target, bytes).with("x-store-checksum-sha256", sum.as_str());
            let answer = self.world.send(&self.mode.opened(draft)).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            tags.push((answer.header("etag").unwrap().trim_matches('"').to_owned(), sum));
        }
        tags
    }

    pub async fn complete(&self, key: &str, id: &str, tags: &[(String, String)]) -> Answer {
        let parts = tags.iter().zip(1..).map(|((tag, sum), number)| {
            format!(
                "<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag><ChecksumSHA256>{sum}</ChecksumSHA256></Part>"
            )
        });
        let parts: String = parts.collect();
        let document = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let draft = Draft::new("POST", &format!("{key}?uploadId={id}"), document.as_bytes());
        self.send(&self.mode.opened(draft)).await
    }

    /// The answer, which comes whatever is stored.
    pub async fn send(&self, draft: &Draft) -> Answer {
        let answer = tokio::time::timeout(Duration::from_secs(60), self.world.send(draft)).await;
        answer.unwrap()
    }

    /// Looks at an object in every way. `true` if each look saw what was put.
    pub async fn look(&self, key: &str, what: &str) -> bool {
        let whole = body(key);
        let size = whole.len();
        let first = if key.contains("parts") { FIRST } else { size };
        let middle = middle(key);
        let looks = [
            ("GET", "", None, 0..size),
            ("HEAD", "", None, 0..size),
            ("GET", "", Some("bytes=0-9".to_owned()), 0..10),
            ("GET", "", Some(format!("bytes={}-{}", middle.start, middle.end - 1)), middle),
            ("HEAD", "", Some("bytes=-5".to_owned()), size - 5..size),
            ("GET", "", Some("bytes=-5".to_owned()), size - 5..size),
            ("GET", "?partNumber=1", None, 0..first),
            ("GET", "?partNumber=2", None, first..size),
            ("HEAD", "?partNumber=2", None, first..size),
        ];
        let mut is_right = true;
        for (method, query, range, place) in looks {
            if !place.is_empty() {
                let mut draft = Draft::new(method, &format!("{key}{query}"), b"");
                if let Some(range) = &range {
                    draft = draft.with("range", range.as_str());
                }
                let answer = self.send(&self.mode.opened(draft)).await;
                let told = format!("{:?} {what}: {method} {key}{query} {range:?}", self.mode);
                is_right &= self.check(&answer, method, &whole, place.clone(), &told);
            }
        }
        is_right &= self.look_at_attributes(key, what).await;
        is_right &= self.look_at_copies(key, what).await;
        is_right && self.look_at_list(key, what).await
    }

    pub fn check(
        &self,
        answer: &Answer,
        method: &str,
        whole: &[u8],
        place: Range<usize>,
        told: &str,
    ) -> bool {
        if !matches!(answer.status, 200 | 206) {
            refused(answer, method, told);
            return false;
        }
        let length = place.len().to_string();
        assert_eq!(answer.header("content-length"), Some(&*length), "{told}");
        if answer.status == 206 {
            let shown = format!("bytes {}-{}/{}", place.start, place.end - 1, whole.len());
            assert_eq!(answer.header("content-range"), Some(&*shown), "{told}");
        }
        assert!(method == "HEAD" || answer.body == whole[place], "{told}: wrong bytes");
        true
    }

    pub async fn look_at_attributes(&self, key: &str, what: &str) -> bool {
        let draft = Draft::new("GET", &format!("{key}?attributes"), b"")
            .with("x-store-object-attributes", "ObjectSize,ObjectParts");
        let answer = self.send(&self.mode.opened(draft)).await;
        let told = format!("{:?} {what}: attributes of {key}", self.mode);
        if answer.status != 200 {
            refused(&answer, "GET", &told);
            return false;
        }
        let text = answer.text();
        assert_eq!(answer.element("ObjectSize"), Some(body(key).len().to_string()), "{told}");
        for part in text.split("<Part>").skip(1) {
            let size = if part.contains("<PartNumber>1<") { "<Size>200<" } else { "<Size>20<" };
            assert!(part.contains(size), "{told}: {text}");
        }
        true
    }

    pub async fn look_at_copies(&self, key: &str, what: &str) -> bool {
        let told = format!("{:?} {what}: copy of {key}", self.mode);
        let copy = Draft::put("/bkt/copy", b"").with("x-store-copy-source", &key[1..]);
        let answer = self.send(&self.mode.keyed(copy, SOURCE)).await;
        let is_copied = answer.status == 200 && !answer.text().contains("<Error>");
        if is_copied {
            assert!(self.world.fetch("/bkt/copy").await.body == body(key), "{told}: wrong bytes");
        } else {
            refused(&answer, "PUT", &told);
        }
        let begun = self.world.send(&Draft::new("POST", "/bkt/copy?uploads", b"")).await;
        let id = begun.element("UploadId").unwrap();
        let place = middle(key);
        let range = format!("bytes={}-{}", place.start, place.end - 1);
        let part = Draft::put(&format!("/bkt/copy?partNumber=1&uploadId={id}"), b"")
            .with("x-store-copy-source", &key[1..])
            .with("x-store-copy-source-range", range);
        let answer = self.send(&self.mode.keyed(part, SOURCE)).await;
        let Some(tag) = answer.element("ETag").filter(|_| answer.status == 200) else {
            refused(&answer, "PUT", &told);
            return false;
        };
        let expected = hex::encode(Md5::digest(&body(key)[place]));
        assert_eq!(tag, format!("&quot;{expected}&quot;"), "{told}: wrong bytes");
        is_copied
    }

    pub async fn look_at_list(&self, key: &str, what: &str) -> bool {
        let name = &key["/bkt/".len()..];
        let answer = self.send(&Draft::new("GET", "/bkt?list-type=2&prefix=", b"")).await;
        let told = format!("{:?} {what}: list with {key}", self.mode);
        if answer.status != 200 {
            refused(&answer, "GET", &told);
            return false;
        }
        let text = answer.text();
        let row = text.split("<Contents>").find(|row| row.contains(&format!("<Key>{name}</Key>")));
        let size = format!("<Size>{}</Size>", body(key).len());
        assert!(row.is_none_or(|row| row.contains(&size)), "{told}: {row:?}");
        true
    }

    pub fn rows(&self, span: &Span) -> Vec<(Bytes, Bytes)> {
        self.store.scan(span, 1_000).unwrap().rows
    }

    pub fn put_row(&self, place: &Bytes, value: &[u8]) {
        let mut tx = Tx::new(&*self.store);
        tx.put(place.clone(), value.to_vec());
        assert!(self.store.commit(tx.into_batch([0; 16])).wait().is_ok());
    }

    /// The row of an object, and its members.
    pub fn record(&self, key: &str) -> (Bytes, Value) {
        let name = &key["/bkt/".len()..];
        let found = self.rows(&CURRENT.span(&())).into_iter().find(|(place, _)| {
            // A key ends with two bytes of its own.
            place.strip_suffix(&[0, 1]).is_some_and(|place| place.ends_with(name.as_bytes()))
        });
        let (place, value) = found.unwrap();
        let value = without_checksum(&place, &value).unwrap();
        (place, serde_json::from_slice(&value[1..]).unwrap())
    }

    /// Writes a record as releases did whose records had no checksum: what it says has to be seen by itself.
    pub fn put_record(&self, place: &Bytes, json: &Value) {
        let mut bytes = vec![1];
        bytes.extend(serde_json::to_vec(json).unwrap());
        self.put_row(place, &bytes);
    }

    /// Looks at an object while `change` holds, and again after it.
    pub async fn look_while(
        &self,
        key: &str,
        what: &str,
        row: (&Bytes, &[u8]),
        changed: &[u8],
    ) -> bool {
        self.put_row(row.0, changed);
        let is_right = self.look(key, what).await;
        self.put_row(row.0, row.1);
        is_right
    }
}

/// A refusal that says what it is: a fault of what is stored, or of the key that it names now.
pub fn refused(answer: &Answer, method: &str, told: &str) {
    if method == "HEAD" {
        assert!(
            matches!(answer.status, 400 | 403 | 404 | 405 | 416 | 500),
            "{told}: {}",
            answer.status
        );
        return;
    }
    let own = (answer.status, answer.element("Code").unwrap_or_default());
    let known = match (own.0, own.1.as_str()) {
        (500, "InternalError") => true,
        // Another key, another part, an archived object, no object.
        (400, "InvalidRequest" | "InvalidPart" | "EntityTooSmall") => true,
        (400, code) => code.starts_with("KMS."),
        (403, "AccessDenied" | "InvalidObjectState") | (404, "NoSuchKey") => true,
        // A delete marker; a part that the list does not name.
        (405, "MethodNotAllowed") | (416, "InvalidPartNumber") => true,
        _ => false,
    };
    assert!(known, "{told}: {own:?} {}", answer.text());
}
