//! Requests that real clients sent, replayed byte by byte, with the clock at the time they were made.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::path::{Path, PathBuf};

use service::World;
use triptych_core::time::Timestamp;

/// A recorded request: its place under `recorded/`, and its bytes.
struct Recorded {
    name: String,
    bytes: Vec<u8>,
}

fn recorded() -> Vec<Recorded> {
    fn walk(directory: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let mut found = Vec::new();
    walk(&root, &mut found);
    found.sort();
    let read = |path: PathBuf| Recorded {
        name: path.strip_prefix(&root).unwrap().display().to_string(),
        bytes: std::fs::read(path).unwrap(),
    };
    found.into_iter().map(read).collect()
}

impl Recorded {
    fn head(&self) -> String {
        let end = self.bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        String::from_utf8_lossy(&self.bytes[..end]).into_owned()
    }

    fn header(&self, name: &str) -> Option<String> {
        self.head().split("\r\n").filter_map(|line| line.split_once(':')).find_map(
            |(own, value)| own.eq_ignore_ascii_case(name).then(|| value.trim().to_owned()),
        )
    }

    fn method(&self) -> String {
        self.head().split(' ').next().unwrap().to_owned()
    }

    /// The time at which it was made.
    fn time(&self) -> Timestamp {
        let head = self.head();
        let presigned = head.split_once("X-Amz-Date=").map(|(_, rest)| rest[..16].to_owned());
        let text = self.header("x-amz-date").or(presigned);
        let text = text.unwrap_or_else(|| "20261121T070500Z".to_owned());
        let (date, time) = text.split_once('T').unwrap();
        let iso = format!(
            "{}-{}-{}T{}:{}:{}Z",
            &date[..4],
            &date[4..6],
            &date[6..8],
            &time[..2],
            &time[2..4],
            &time[4..6]
        );
        Timestamp::from_rfc3339(&iso).unwrap()
    }

    /// Status and code that it gets; a PUT gets 200 unless this says otherwise.
    fn expected(&self) -> (u16, &'static str) {
        let of = |part: &str| self.name.contains(part);
        match () {
            // Nobody may write without a signature here.
            () if of("nosign") || of("curl-plain") || of("curl-stdin") => (403, "AccessDenied"),
            // This client leaves out the payload hash, which the service requires.
            () if of("curl-sigv4") => (400, "InvalidRequest"),
            // Its signature covers headers that its sender then left out.
            () if of("presigned-put-v4-ct") => (403, "SignatureDoesNotMatch"),
            // It was told no location, and made one up.
            () if of("s3cmd-putonly") => (400, "AuthorizationHeaderMalformed"),
            // Algorithms beyond the five of the specification.
            () if of("SHA512") || of("XXHASH") => (400, "InvalidRequest"),
            () if of("put-ifmatch") || of("put-update") => (404, "NoSuchKey"),
            () if of("put-lock") => (400, "InvalidRequest"),
            () if of("put-grants") => (400, "InvalidArgument"),
            // The key that it names is none of this service.
            () if of("ssekms") => (400, "KMS.NotFoundException"),
            () if of("http/boto3-put-writeoffset") => (501, "NotImplemented"),
            // It appends to what no recorded request put.
            () if of("dirbucket-append") => (400, "InvalidWriteOffset"),
            () => (200, ""),
        }
    }
}

#[tokio::test]
async fn recorded_puts_get_the_answers_of_the_real_service() {
    let mut replayed = 0;
    for request in recorded() {
        if request.method() != "PUT" || request.head().starts_with("PUT /bkt HTTP") {
            continue;
        }
        let world = World::new(request.time()).await;
        let answer = world.exchange(&request.bytes).await;
        let code = answer.element("Code").unwrap_or_default();
        let found = (answer.status, code.as_str());
        assert_eq!(found, request.expected(), "{}: {}", request.name, answer.text());
        if answer.status == 200 {
            let hash = request.header("x-amz-content-sha256").unwrap_or_default();
            let small = request.bytes.len() < 10_000;
            if small && hash.starts_with("a948904f") && !request.name.contains("ssec") {
                assert_eq!(answer.header("etag"), Some("\"6f5902ac237024bdd0c176cb93063dc4\""));
            }
            let expects = request.header("expect").is_some();
            assert_eq!(answer.continued, expects, "{}", request.name);
            assert_eq!(answer.header("x-amz-checksum-type"), Some("FULL_OBJECT"));
        }
        replayed += 1;
    }
    assert!(replayed > 90, "only {replayed} requests were found");
}

/// The requests of a client beside its PUTs: status, and a piece of the answer's body.
fn expected_beside(request: &Recorded, is_put: bool) -> (u16, &'static str) {
    let head = request.head();
    let line = head.lines().next().unwrap_or_default();
    match request.method().as_str() {
        "HEAD" if is_put => (200, ""),
        "HEAD" => (404, ""),
        "PUT" => (200, ""),
        _ if line.contains("?session") => (200, "<CreateSessionResult xmlns"),
        // It was told no location, and signs for one that it made up.
        _ if line.contains("location") => (200, "<LocationConstraint"),
        _ => (200, "<IsTruncated>false</IsTruncated>"),
    }
}

#[tokio::test]
async fn the_whole_way_of_each_client_is_answered() {
    let mut beside = 0;
    let mut way = (String::new(), None, false);
    for request in recorded() {
        let client = request.name.rsplit_once('/').unwrap().0.to_owned();
        if way.0 != client {
            way = (client, Some(World::new(request.time()).await), false);
        }
        let world = way.1.as_ref().unwrap();
        world.clock.set(request.time());
        let answer = world.exchange(&request.bytes).await;
        let is_of_object =
            request.method() == "PUT" && !request.head().starts_with("PUT /bkt HTTP");
        if is_of_object {
            assert_eq!(answer.status, request.expected().0, "{}", request.name);
            way.2 |= answer.status == 200;
            continue;
        }
        let (status, piece) = expected_beside(&request, way.2);
        let text = answer.text();
        assert_eq!(answer.status, status, "{}: {text}", request.name);
        assert!(text.contains(piece), "{}: {text}", request.name);
        if request.method() == "HEAD" && status == 200 {
            assert!(answer.header("etag").is_some_and(|tag| tag.len() == 34));
            assert_eq!(answer.header("content-length"), Some("12"));
        }
        beside += 1;
    }
    assert!(beside > 20, "only {beside} requests were found");
}

/// The places of a request's bytes that its signature or its digests cover.
fn covered(request: &Recorded) -> Vec<usize> {
    let head = request.head();
    let signed = head
        .split_once("SignedHeaders=")
        .and_then(|(_, rest)| rest.split([',', '&']).next())
        .map(|names| names.replace("%3B", ";"))
        .unwrap_or_default();
    let signed: Vec<_> = signed.split(';').collect();
    let mut places = Vec::new();
    let mut start = 0;
    for (number, line) in head.split("\r\n").enumerate() {
        let end = start + line.len();
        let name = line.split(':').next().unwrap_or_default().to_ascii_lowercase();
        if number == 0 {
            places.extend(start + 4..end - " HTTP/1.1".len());
        } else if name == "authorization" || signed.contains(&name.as_str()) {
            places.extend(start + name.len() + 2..end);
        }
        start = end + 2;
    }
    let hash = request.header("x-amz-content-sha256").unwrap_or_default();
    if hash.len() == 64 || request.header("x-amz-trailer").is_some() {
        places.extend(head.len() + 4..request.bytes.len());
    }
    places
}

/// One request of each way to sign and to frame: these are flipped at every byte that anything covers.
const FLIPPED_WHOLE: [&str; 5] = [
    "http/boto3-put-meta/",
    "http/boto3-presigned-put-v4/",
    "http/minio-js-put/002",
    "http/aws-sdk-rust-put-crc64/",
    "https/boto3-put-bytes-https/",
];

#[tokio::test]
async fn one_flipped_byte_anywhere_is_refused() {
    let (mut flipped, mut whole) = (0, 0);
    for (number, request) in recorded().iter().enumerate() {
        if request.expected().0 != 200 || request.bytes.len() > 10_000 {
            continue;
        }
        let world = World::new(request.time()).await;
        let is_whole = FLIPPED_WHOLE.iter().any(|name| request.name.contains(name));
        // The others are flipped at every 11th place, and each at other places.
        let (first, step) = if is_whole { (0, 1) } else { (number % 11, 11) };
        whole += usize::from(is_whole);
        for place in covered(request).into_iter().skip(first).step_by(step) {
            let mut bytes = request.bytes.clone();
            bytes[place] ^= 1;
            let answer = world.exchange(&bytes).await;
            let shown = String::from_utf8_lossy(&bytes[place.saturating_sub(30)..=place]);
            assert!(answer.status >= 400, "{} at {place}: ...{shown}", request.name);
            flipped += 1;
        }
    }
    assert!(flipped > 5_000, "only {flipped} bytes were flipped");
    assert_eq!(whole, FLIPPED_WHOLE.len(), "a request of each kind is flipped whole");
}

#[tokio::test]
async fn one_flipped_byte_of_a_signed_chunk_is_refused() {
    let all = recorded();
    let request =
        all.iter().find(|request| request.name.contains("aws-sdk-rust-put-file")).unwrap();
    let world = World::new(request.time()).await;
    let body = request.head().len() + 4;
    let places = (body..request.bytes.len()).step_by(9_973);
    // The heads of chunks and the trailer, too.
    for place in places.chain(body..body + 90).chain(request.bytes.len() - 140..request.bytes.len())
    {
        let mut bytes = request.bytes.clone();
        bytes[place] ^= 1;
        let answer = world.exchange(&bytes).await;
        assert!(answer.status >= 400, "byte {} of the body", place - body);
    }
    assert_eq!(world.exchange(&request.bytes).await.status, 200);
}
