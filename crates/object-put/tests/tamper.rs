//! Stored bytes that somebody changed: no read gives wrong bytes, and each gives an answer.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use md5::{Digest as _, Md5};
use object_put::store::tables::{CURRENT, KMS_KEYS, PARTS, UPLOAD_PARTS};
use parking_lot::Mutex;
use serde_json::Value;
use service::{Answer, Draft, NOW, World};
use sha2::Sha256;
use triptych_core::blobs::{
    BlobError, BlobId, BlobReader, BlobStat, BlobWriter, Blobs, MemoryBlobs,
};
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Span, Tx, without_checksum};
use triptych_core::pending::Pending;
use triptych_core::time::Timestamp;

/// Blobs of which some were changed.
struct ChangedBlobs {
    own: MemoryBlobs,
    changed: Mutex<HashMap<BlobId, Bytes>>,
}

struct ChangedReader(Bytes);

impl BlobReader for ChangedReader {
    fn next(&mut self) -> Pending<Result<Option<Bytes>, BlobError>> {
        let piece = std::mem::take(&mut self.0);
        Pending::ready(Ok((!piece.is_empty()).then_some(piece)))
    }

    fn next_pieces(&mut self, _: usize, _: usize) -> Pending<Result<Vec<Bytes>, BlobError>> {
        let piece = std::mem::take(&mut self.0);
        Pending::ready(Ok((!piece.is_empty()).then_some(piece).into_iter().collect()))
    }
}

impl Blobs for ChangedBlobs {
    fn create(&self, now: Timestamp, size_hint: Option<u64>) -> Box<dyn BlobWriter> {
        self.own.create(now, size_hint)
    }

    fn open(&self, id: BlobId, range: Range<u64>) -> Result<Box<dyn BlobReader>, BlobError> {
        let Some(changed) = self.changed.lock().get(&id).cloned() else {
            return self.own.open(id, range);
        };
        let (start, end) = (range.start as usize, range.end as usize);
        if start > end || end > changed.len() {
            return Err(BlobError::OutOfRange);
        }
        Ok(Box::new(ChangedReader(changed.slice(start..end))))
    }

    fn delete(&self, id: BlobId) -> Pending<Result<(), BlobError>> {
        self.own.delete(id)
    }

    fn stat(&self, id: BlobId) -> Result<BlobStat, BlobError> {
        match self.changed.lock().get(&id) {
            Some(changed) => Ok(BlobStat { id, bytes: changed.len() as u64 }),
            None => self.own.stat(id),
        }
    }

    fn list(&self, after: Option<BlobId>, limit: usize) -> Result<Vec<BlobStat>, BlobError> {
        self.own.list(after, limit)
    }
}

/// The encryption of an object.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Service,
    Kms,
    BucketKey,
    Dual,
    Customer,
}

const MODES: [Mode; 5] = [Mode::Service, Mode::Kms, Mode::BucketKey, Mode::Dual, Mode::Customer];
const OWN: &str = "x-store-server-side-encryption-customer-";
const SOURCE: &str = "x-store-copy-source-server-side-encryption-customer-";

impl Mode {
    /// The headers with which it is asked for.
    fn asked(self, draft: Draft) -> Draft {
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
    fn opened(self, draft: Draft) -> Draft {
        self.keyed(draft, OWN)
    }

    fn keyed(self, draft: Draft, prefix: &str) -> Draft {
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
struct Case {
    mode: Mode,
    world: World,
    store: Arc<Memory>,
    blobs: Arc<ChangedBlobs>,
}

/// Bytes in the middle of a body, from one record or part to the next.
fn middle(key: &str) -> Range<usize> {
    if key.contains("long") { 65_530..65_550 } else { FIRST - 10..FIRST + 10 }
}

const KEYS: [&str; 2] = ["/bkt/whole", "/bkt/parts"];
const OTHERS: [&str; 2] = ["/bkt/whole-2", "/bkt/parts-2"];

/// A whole object of two records.
const LONG: [&str; 2] = ["/bkt/long", "/bkt/long-2"];

fn body(key: &str) -> Vec<u8> {
    let bytes = if key.contains("long") { 65_700 } else { FIRST + 20 };
    let seed = key.len();
    (0..bytes).map(|place| ((place * 7 + seed * 31) % 251) as u8).collect()
}

/// Bytes of the first part.
const FIRST: usize = 200;

impl Case {
    async fn new(mode: Mode) -> Self {
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

    async fn begin(&self, key: &str) -> String {
        let draft = self.mode.asked(Draft::new("POST", &format!("{key}?uploads"), b""));
        let draft = draft.with("x-store-checksum-algorithm", "SHA256");
        let answer = self.world.send(&draft).await;
        answer.element("UploadId").unwrap()
    }

    async fn put_parts(&self, key: &str, id: &str) -> Vec<(String, String)> {
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

    async fn complete(&self, key: &str, id: &str, tags: &[(String, String)]) -> Answer {
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
    async fn send(&self, draft: &Draft) -> Answer {
        let answer = tokio::time::timeout(Duration::from_secs(30), self.world.send(draft)).await;
        answer.unwrap()
    }

    /// Looks at an object in every way. `true` if each look saw what was put.
    async fn look(&self, key: &str, what: &str) -> bool {
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

    fn check(
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

    async fn look_at_attributes(&self, key: &str, what: &str) -> bool {
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

    async fn look_at_copies(&self, key: &str, what: &str) -> bool {
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

    async fn look_at_list(&self, key: &str, what: &str) -> bool {
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

    fn rows(&self, span: &Span) -> Vec<(Bytes, Bytes)> {
        self.store.scan(span, 1_000).unwrap().rows
    }

    fn put_row(&self, place: &Bytes, value: &[u8]) {
        let mut tx = Tx::new(&*self.store);
        tx.put(place.clone(), value.to_vec());
        assert!(self.store.commit(tx.into_batch([0; 16])).wait().is_ok());
    }

    /// The row of an object, and its members.
    fn record(&self, key: &str) -> (Bytes, Value) {
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
    fn put_record(&self, place: &Bytes, json: &Value) {
        let mut bytes = vec![1];
        bytes.extend(serde_json::to_vec(json).unwrap());
        self.put_row(place, &bytes);
    }

    /// Looks at an object while `change` holds, and again after it.
    async fn look_while(
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
fn refused(answer: &Answer, method: &str, told: &str) {
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

/// All that may become of a record: each text with a sign changed, cut and emptied, each number one more and none, each switch turned, each
/// member left out.
fn changes(json: &Value) -> Vec<Value> {
    match json {
        Value::String(text) => {
            let flipped = |place: usize| {
                let sign = |(at, sign): (usize, char)| match (at == place, sign) {
                    (true, 'A') => 'B',
                    (true, _) => 'A',
                    (false, own) => own,
                };
                Value::String(text.chars().enumerate().map(sign).collect())
            };
            let count = text.chars().count();
            let cut = text.chars().take(count.saturating_sub(4)).collect();
            vec![
                Value::String(cut),
                flipped(0),
                flipped(count / 2),
                flipped(count.saturating_sub(2)),
            ]
        }
        Value::Number(number) => number.as_u64().map_or(Vec::new(), |own| {
            [own + 1, own.saturating_sub(1), 0, own.saturating_mul(2), u64::MAX]
                .map(Value::from)
                .to_vec()
        }),
        Value::Bool(own) => vec![Value::Bool(!own)],
        Value::Array(list) => {
            let mut all = vec![Value::Array(Vec::new())];
            for (at, own) in list.iter().enumerate() {
                for new in changes(own) {
                    let mut list = list.clone();
                    list[at] = new;
                    all.push(Value::Array(list));
                }
            }
            let mut longer = list.clone();
            longer.extend(list.last().cloned());
            all.push(Value::Array(longer));
            all
        }
        Value::Object(members) => {
            let mut all = Vec::new();
            for (name, own) in members {
                let mut without = members.clone();
                without.remove(name);
                all.push(Value::Object(without));
                for new in changes(own) {
                    let mut members = members.clone();
                    members.insert(name.clone(), new);
                    all.push(Value::Object(members));
                }
            }
            all
        }
        Value::Null => Vec::new(),
    }
}

/// `json` with each of its members in the place of that of `other`, at every depth.
fn exchanges(json: &Value, other: &Value) -> Vec<Value> {
    let (Value::Object(own), Value::Object(others)) = (json, other) else {
        return vec![other.clone()];
    };
    let mut all = vec![other.clone()];
    for (name, member) in own {
        let Some(other) = others.get(name).filter(|other| *other != member) else {
            continue;
        };
        for new in exchanges(member, other) {
            let mut members = own.clone();
            members.insert(name.clone(), new);
            all.push(Value::Object(members));
        }
    }
    all
}

/// All that may become of bytes: bits turned all over them, an end that is cut off, bytes more.
fn turned(bytes: &[u8], step: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..bytes.len())
        .step_by(step)
        .chain([bytes.len() - 1])
        .map(|place| {
            let mut bytes = bytes.to_vec();
            bytes[place] ^= 0x10;
            bytes
        })
        .collect();
    all.push(bytes[..bytes.len() - 1].to_vec());
    all.push(Vec::new());
    all.push([bytes, &[0]].concat());
    all
}

#[tokio::test]
async fn no_change_of_a_record_makes_a_read_give_other_bytes() {
    for mode in MODES {
        let case = Case::new(mode).await;
        for (key, other) in KEYS.into_iter().zip(OTHERS) {
            assert!(case.look(key, "nothing").await, "{mode:?} {key}");
            let (place, json) = case.record(key);
            let (_, others) = case.record(other);
            let all = changes(&json).into_iter().chain(exchanges(&json, &others));
            for changed in all.filter(|changed| *changed != json) {
                case.put_record(&place, &changed);
                case.look(key, &changed.to_string()).await;
            }
            case.put_record(&place, &json);
            assert!(case.look(key, "nothing more").await, "{mode:?} {key}");
        }
    }
}

#[tokio::test]
async fn no_change_of_a_list_of_parts_makes_a_read_give_other_bytes() {
    for mode in MODES {
        let case = Case::new(mode).await;
        let rows = case.rows(&PARTS.span(&()));
        let list = |key: &str| {
            let (_, json) = case.record(key);
            let number = json["stored"]["parts"]["chunks"]["list"].as_u64().unwrap();
            let place = PARTS.key(&(number, 0));
            let (_, row) = rows.iter().find(|(own, _)| *own == place).unwrap();
            (place.clone(), without_checksum(&place, row).unwrap())
        };
        let ((place, own), (_, other)) = (list(KEYS[1]), list(OTHERS[1]));
        let row = (&place, &own[..]);
        // Every byte of the list, of which none but those of digests may be another one unseen.
        let mut unseen = 0;
        for changed in turned(&own, 1) {
            unseen += u32::from(case.look_while(KEYS[1], "a turned bit", row, &changed).await);
        }
        assert!(unseen <= 2 * (16 + 1 + 2 + 32), "{mode:?}: {unseen} bytes are not looked at");
        for place in 1..own.len() {
            // The end of a list with the start of another's.
            let changed = [&other[..place], &own[place..]].concat();
            case.look_while(KEYS[1], "another's start", row, &changed).await;
        }
        assert!(!case.look_while(KEYS[1], "another's list", row, &other).await);
        assert!(case.look(KEYS[1], "nothing more").await, "{mode:?}");
    }
}

#[tokio::test]
async fn no_change_of_a_record_is_shown_in_a_list_or_a_head() {
    let case = Case::new(Mode::Service).await;
    for (key, other) in KEYS.into_iter().zip(OTHERS) {
        let (place, json) = case.record(key);
        let (other_place, others) = case.record(other);
        let row = |place: &Bytes| {
            case.rows(&CURRENT.span(&())).into_iter().find(|(own, _)| own == place).unwrap().1
        };
        let own = row(&place);
        // Size and bytes together, which fit each other.
        let mut grown = json.clone();
        grown["stored"]["size"] = 221.into();
        for bytes in ["/stored/parts/one/bytes", "/stored/parts/chunks/bytes"] {
            if let Some(bytes) = grown.pointer_mut(bytes) {
                *bytes = 221.into();
            }
        }
        let all = changes(&json).into_iter().chain(exchanges(&json, &others)).chain([grown]);
        let records = all.filter(|changed| *changed != json).map(|changed| {
            // Behind the checksum of what was there.
            [&own[..own.len() - json.to_string().len()], changed.to_string().as_bytes()].concat()
        });
        // The row of another object says what is right there, and not here.
        for changed in records.chain([row(&other_place).to_vec()]).chain(turned(&own, 1)) {
            case.put_row(&place, &changed);
            let told = String::from_utf8_lossy(&changed).into_owned();
            let list = case.send(&Draft::new("GET", "/bkt?list-type=2", b"")).await;
            assert_eq!(list.status, 500, "{told}: {}", list.text());
            assert_eq!(case.send(&Draft::new("HEAD", key, b"")).await.status, 500, "{told}");
        }
        case.put_row(&place, &own);
        assert!(case.look(key, "nothing more").await);
    }
}

#[tokio::test]
async fn no_change_of_a_checked_list_of_parts_goes_unseen() {
    let case = Case::new(Mode::Service).await;
    let (_, json) = case.record(KEYS[1]);
    let number = json["stored"]["parts"]["chunks"]["list"].as_u64().unwrap();
    let place = PARTS.key(&(number, 0));
    let rows = case.rows(&PARTS.span(&()));
    let (_, own) = rows.iter().find(|(own, _)| *own == place).unwrap();
    for changed in turned(own, 1) {
        assert!(!case.look_while(KEYS[1], "a turned bit", (&place, own), &changed).await);
    }
    assert!(case.look(KEYS[1], "nothing more").await);
}

#[tokio::test]
async fn no_change_of_a_body_makes_a_read_give_other_bytes() {
    for mode in MODES {
        let case = Case::new(mode).await;
        for key in LONG {
            let answer = case.world.send(&mode.asked(Draft::put(key, &body(key)))).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        let layers = if mode == Mode::Dual { 2 } else { 1 };
        let stats: Vec<BlobStat> = case.blobs.own.list(None, 100).unwrap();
        // Of each length there are two bodies.
        let of = |size: usize| {
            let bytes = size + size.div_ceil(65_536) * layers * 16;
            let of_length = stats.iter().filter(|stat| stat.bytes == bytes as u64);
            let read = |stat: &BlobStat| {
                (stat.id, case.blobs.own.read_small(stat.id, stat.bytes).unwrap())
            };
            let all: Vec<_> = of_length.map(read).collect();
            assert_eq!(all.len(), 2, "{mode:?} {size}");
            all
        };
        for (key, other, size) in [
            (KEYS[0], OTHERS[0], FIRST + 20),
            (KEYS[1], OTHERS[1], FIRST),
            (KEYS[1], OTHERS[1], 20),
            (LONG[0], LONG[1], body(LONG[0]).len()),
        ] {
            let all = of(size);
            let ((id, own), (_, other_body)) = (&all[0], &all[1]);
            let step = if key == LONG[0] { 65_700 } else { 23 };
            let mut changed = turned(own, step);
            if key == LONG[0] {
                // The end of the first record, records in another order, and one alone.
                let record = 65_536 + layers * 16;
                let mut bytes = own.to_vec();
                bytes[record - 1] ^= 1;
                changed.extend([bytes, own[..record].to_vec()]);
                changed.push([&own[record..], &own[..record]].concat());
            }
            changed.push(other_body.to_vec());
            for changed in changed {
                let is_longer = changed.len() > own.len();
                case.blobs.changed.lock().insert(*id, changed.into());
                // Whichever of the two objects it is the body of. What stands behind a whole body is never read.
                let is_seen = !case.look(key, "a body").await || !case.look(other, "a body").await;
                assert!(is_seen || is_longer, "{mode:?} {key}: nothing was seen");
            }
            case.blobs.changed.lock().clear();
            assert!(case.look(key, "nothing more").await, "{mode:?} {key}");
        }
    }
}

#[tokio::test]
async fn no_change_of_a_key_of_the_embedded_key_service_makes_a_read_give_other_bytes() {
    for mode in [Mode::Kms, Mode::BucketKey, Mode::Dual] {
        let case = Case::new(mode).await;
        let (_, json) = case.record(KEYS[0]);
        let arn = json["stored"]["encryption"]["keyManagement"]["key"].to_string();
        let rows = case.rows(&KMS_KEYS.span(&()));
        for (place, value) in &rows {
            let json: Value = serde_json::from_slice(&value[1..]).unwrap();
            let is_own = arn.contains(json["arn"]["id"].as_str().unwrap_or("-"))
                || arn.contains(&json["id"].to_string().replace('"', ""));
            for (other, others) in &rows {
                let others: Value = serde_json::from_slice(&others[1..]).unwrap();
                let all = if other == place { changes(&json) } else { exchanges(&json, &others) };
                for changed in all.into_iter().filter(|_| is_own) {
                    case.put_record(place, &changed);
                    case.look(KEYS[0], &format!("key {changed}")).await;
                }
            }
            case.put_row(place, value);
        }
        assert!(case.look(KEYS[0], "nothing more").await, "{mode:?}");
    }
}

#[tokio::test]
async fn no_change_of_a_part_of_an_upload_makes_its_object_give_other_bytes() {
    for mode in MODES {
        let case = Case::new(mode).await;
        let key = "/bkt/parts-3";
        for turn in 0.. {
            let id = case.begin(key).await;
            let tags = case.put_parts(key, &id).await;
            let (place, own) = case.rows(&UPLOAD_PARTS.span(&()))[0].clone();
            let Some(changed) = turned(&own, 3).get(turn).cloned() else {
                break;
            };
            case.put_row(&place, &changed);
            let answer = case.complete(key, &id, &tags).await;
            let target = format!("{key}?uploadId={id}");
            if answer.status == 200 {
                // The object is as long as the record of its part says, and its bytes are those that were put.
                for (query, place) in [("", 0..FIRST + 20), ("?partNumber=1", 0..FIRST)] {
                    let draft = Draft::new("GET", &format!("{key}{query}"), b"");
                    let answer = case.send(&mode.opened(draft)).await;
                    let told = format!("{mode:?}: byte {} of a part, {query}", turn * 3);
                    if matches!(answer.status, 200 | 206) {
                        assert!(answer.body == body(key)[place], "{told}: wrong bytes");
                    } else {
                        refused(&answer, "GET", &told);
                    }
                }
            } else {
                refused(&answer, "POST", &format!("{mode:?}: byte {}", turn * 3));
            }
            case.put_row(&place, &own);
            case.world.send(&Draft::new("DELETE", &target, b"")).await;
            // What is left of the upload is freed later: the next one's is to be the first row.
            let mut tx = Tx::new(&*case.store);
            case.rows(&UPLOAD_PARTS.span(&())).into_iter().for_each(|(place, _)| tx.delete(place));
            assert!(case.store.commit(tx.into_batch([0; 16])).wait().is_ok());
        }
    }
}

#[tokio::test]
async fn an_empty_body_that_is_gone_is_no_empty_object() {
    for mode in MODES {
        let case = Case::new(mode).await;
        assert_eq!(case.world.send(&mode.asked(Draft::put("/bkt/empty", b""))).await.status, 200);
        let get = mode.opened(Draft::new("GET", "/bkt/empty", b""));
        let read = case.send(&get).await;
        assert_eq!((read.status, read.body.len()), (200, 0), "{mode:?}");
        let (place, json) = case.record("/bkt/empty");
        // A whole object that says it is empty, and is as it was but for that.
        let (_, mut others) = case.record(KEYS[0]);
        others["stored"]["size"] = 0.into();
        others["stored"]["parts"]["one"]["bytes"] = 0.into();
        let (other_place, other) = case.record(KEYS[0]);
        case.put_record(&other_place, &others);
        let answer = case.send(&mode.opened(Draft::new("GET", KEYS[0], b""))).await;
        assert_eq!(answer.status, 500, "{mode:?}: {}", answer.text());
        case.put_record(&other_place, &other);
        let ids = case.blobs.own.list(None, 100).unwrap();
        for stat in ids.iter().filter(|stat| stat.bytes <= 32) {
            let _ = case.blobs.own.delete(stat.id).wait();
        }
        case.put_record(&place, &json);
        let answer = case.send(&get).await;
        assert_eq!(
            (answer.status, answer.element("Code").as_deref()),
            (500, Some("InternalError"))
        );
    }
}
