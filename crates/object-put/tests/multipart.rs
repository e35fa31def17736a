//! Uploads in parts over HTTP: what each operation answers, and what it refuses.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use object_put::body::checksum::{Algorithm, Hasher};
use service::{Answer, Draft, NOW, World};

/// An upload of the key that its target names.
struct Upload<'w> {
    world: &'w World,
    target: String,
    id: String,
}

impl<'w> Upload<'w> {
    async fn begin(world: &'w World, target: &str, headers: &[(&str, &str)]) -> Upload<'w> {
        let mut draft = Draft::new("POST", &format!("{target}?uploads"), b"");
        for (name, value) in headers {
            draft = draft.with(name, *value);
        }
        let answer = world.send(&draft).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let id = answer.element("UploadId").unwrap();
        Upload { world, target: target.to_owned(), id }
    }

    fn part(&self, number: &str, body: &[u8]) -> Draft {
        Draft::put(&format!("{}?partNumber={number}&uploadId={}", self.target, self.id), body)
    }

    /// Puts a part that is taken; gives its entity tag.
    async fn put(&self, number: u32, body: &[u8]) -> String {
        let answer = self.world.send(&self.part(&number.to_string(), body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.header("etag").unwrap().trim_matches('"').to_owned()
    }

    fn completion(&self, parts: &[(u32, &str)]) -> Draft {
        let parts = parts.iter().map(|(number, tag)| {
            format!("<Part><PartNumber>{number}</PartNumber><ETag>&quot;{tag}&quot;</ETag></Part>")
        });
        self.completion_of(&parts.collect::<String>())
    }

    fn completion_of(&self, parts: &str) -> Draft {
        let document = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let target = format!("{}?uploadId={}", self.target, self.id);
        Draft::new("POST", &target, document.as_bytes())
    }

    async fn complete(&self, parts: &[(u32, &str)]) -> Answer {
        self.world.send(&self.completion(parts)).await
    }

    async fn complete_with(&self, parts: String) -> Answer {
        self.world.send(&self.completion_of(&parts)).await
    }

    async fn abort(&self) -> Answer {
        let target = format!("{}?uploadId={}", self.target, self.id);
        self.world.send(&Draft::new("DELETE", &target, b"")).await
    }
}

fn md5(bytes: &[u8]) -> String {
    hex::encode(Md5::digest(bytes))
}

fn tag_of(parts: &[&[u8]]) -> String {
    let all: Vec<u8> = parts.iter().flat_map(Md5::digest).collect();
    format!("{}-{}", md5(&all), parts.len())
}

fn checksum(algorithm: Algorithm, bytes: &[u8]) -> Vec<u8> {
    let mut hasher = Hasher::new(algorithm);
    hasher.feed(bytes);
    hasher.finish().value
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

fn refused(answer: &Answer, status: u16, code: &str, message: &str) {
    let own = (answer.status, answer.element("Code"), answer.element("Message"));
    assert_eq!(own, (status, Some(code.to_owned()), Some(message.to_owned())));
}

#[tokio::test]
async fn a_completion_names_one_checksum_at_the_most() {
    let world = World::new(NOW).await;
    let upload = Upload::begin(&world, "/bkt/k", &[("x-store-checksum-algorithm", "SHA1")]).await;
    let [sha1, crc32] =
        [Algorithm::Sha1, Algorithm::Crc32].map(|own| STANDARD.encode(checksum(own, b"part")));
    let part = upload.part("1", b"part").with("x-store-checksum-sha1", &*sha1);
    let tag = world.send(&part).await.header("etag").unwrap().to_owned();
    let list = format!(
        "<Part><PartNumber>1</PartNumber><ETag>{tag}</ETag><ChecksumSHA1>{sha1}</ChecksumSHA1></Part>"
    );
    let whole = STANDARD.encode(checksum(Algorithm::Sha1, &checksum(Algorithm::Sha1, b"part")));
    let completion = || upload.completion_of(&list).with("x-store-checksum-sha1", &*whole);
    let both = world.send(&completion().with("x-store-checksum-crc32", &*crc32)).await;
    let message =
        "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.";
    refused(&both, 400, "InvalidRequest", message);
    assert_eq!(world.send(&completion()).await.status, 200);
}

#[tokio::test]
async fn only_the_completion_of_an_upload_makes_conditions() {
    let world = World::new(NOW).await;
    let begun = Upload::begin(&world, "/bkt/key", &[]).await;
    let requests = || {
        let copied = begun.part("2", b"").with("x-store-copy-source", "/bkt/other");
        [Draft::new("POST", "/bkt/key?uploads", b""), begun.part("1", b"part"), copied]
    };
    world.store("/bkt/other", b"copied").await;
    for (header, value) in [
        ("if-match", "\"0123\""),
        ("if-none-match", "*"),
        ("if-modified-since", "Sat, 01 Jan 2022 00:00:00 GMT"),
        ("if-unmodified-since", "Sat, 01 Jan 2022 00:00:00 GMT"),
    ] {
        for request in requests() {
            let answer = world.send(&request.with(header, value)).await;
            assert_eq!(code(&answer), (501, "NotImplemented".to_owned()), "{header}");
            let named = answer.element("Header").unwrap();
            assert_eq!(named.to_ascii_lowercase(), header);
        }
    }
    for request in requests() {
        assert_eq!(world.send(&request).await.status, 200);
    }
}

#[tokio::test]
async fn an_object_has_the_parts_that_the_list_names_and_nothing_else() {
    let world = World::new(NOW).await;
    let headers = [
        ("content-type", "text/x-parts"),
        ("x-store-meta-own", "kept"),
        ("x-store-tagging", "a=b"),
        ("x-store-storage-class", "STANDARD_IA"),
    ];
    let upload = Upload::begin(&world, "/bkt/k", &headers).await;
    let first = upload.put(1, b"first part ").await;
    upload.put(2, b"left out").await;
    let replaced = upload.put(5, b"replaced").await;
    let last = upload.put(5, b"end").await;
    assert_eq!(world.fetch("/bkt/k").await.status, 404);
    let stale = upload.complete(&[(1, &first), (5, &replaced)]).await;
    assert_eq!(code(&stale), (400, "InvalidPart".to_owned()));
    let done = upload.complete(&[(1, &first), (5, &last)]).await;
    let tag = tag_of(&[b"first part ", b"end"]);
    assert_eq!(done.status, 200, "{}", done.text());
    assert_eq!(done.element("ETag").unwrap(), format!("&quot;{tag}&quot;"));
    assert_eq!(done.element("Location").unwrap(), "http://localhost/bkt/k");
    assert_eq!(done.element("ChecksumType").unwrap(), "FULL_OBJECT");
    let whole = STANDARD.encode(checksum(Algorithm::Crc64nvme, b"first part end"));
    assert_eq!(done.element("ChecksumCRC64NVME").unwrap(), whole);
    let got = world.fetch("/bkt/k").await;
    assert_eq!(got.text(), "first part end");
    assert_eq!(got.header("etag"), Some(&*format!("\"{tag}\"")));
    for (name, value) in [
        ("content-type", "text/x-parts"),
        ("x-amz-meta-own", "kept"),
        ("x-amz-tagging-count", "1"),
        ("x-amz-storage-class", "STANDARD_IA"),
    ] {
        assert_eq!(got.header(name), Some(value), "{name}");
    }
    let again = upload.complete(&[(1, &first), (5, &last)]).await;
    assert_eq!((again.status, again.text()), (200, done.text()), "the same list, the same answer");
    let other = upload.complete(&[(1, &first)]).await;
    assert_eq!(code(&other), (404, "NoSuchUpload".to_owned()));
    assert_eq!(code(&upload.abort().await), (404, "NoSuchUpload".to_owned()));
    let late = world.send(&upload.part("1", b"x")).await;
    assert_eq!(code(&late), (404, "NoSuchUpload".to_owned()));
    world.store("/bkt/k", b"another").await;
    assert_eq!(upload.complete(&[(1, &first), (5, &last)]).await.text(), done.text());
}

#[tokio::test]
async fn a_completion_is_not_answered_again_once_its_object_is_deleted() {
    let world = World::new(NOW).await;
    for bucket in ["bkt", "versioned"] {
        let target = format!("/{bucket}/gone");
        let upload = Upload::begin(&world, &target, &[]).await;
        let part = upload.put(1, b"part").await;
        let done = upload.complete(&[(1, &*part)]).await;
        let version = done.header("x-amz-version-id").map(str::to_owned);
        assert_eq!(world.send(&Draft::new("DELETE", &target, b"")).await.status, 204);
        let again = upload.complete(&[(1, &*part)]).await;
        let Some(version) = version else {
            assert_eq!(code(&again), (404, "NoSuchUpload".to_owned()), "{bucket}");
            continue;
        };
        // Its version is still there, below the marker.
        assert_eq!(again.text(), done.text());
        let named = format!("{target}?versionId={version}");
        assert_eq!(world.send(&Draft::new("DELETE", &named, b"")).await.status, 204);
        let last = upload.complete(&[(1, &*part)]).await;
        assert_eq!(code(&last), (404, "NoSuchUpload".to_owned()), "{bucket}");
    }
}

#[tokio::test]
async fn any_range_and_any_part_reads_what_was_put() {
    let world = World::new(NOW).await;
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    // More than one chunk of the part list.
    let parts: Vec<(u32, Vec<u8>)> =
        (0..600_u32).map(|n| (n * 3 + 1, format!("part {n:07}!").into_bytes())).collect();
    let mut tags = Vec::new();
    for (number, body) in &parts {
        tags.push((*number, upload.put(*number, body).await));
    }
    let list: Vec<_> = tags.iter().map(|(number, tag)| (*number, tag.as_str())).collect();
    let done = upload.complete(&list).await;
    assert_eq!(done.status, 200, "{}", done.text());
    let whole: Vec<u8> = parts.iter().flat_map(|(_, body)| body.clone()).collect();
    assert_eq!(world.fetch("/bkt/k").await.body, whole);
    for (from, to) in
        [(0, 0), (0, 12), (12, 13), (3_250, 3_249 + 26), (3_240, 6_600), (7_799, 7_799)]
    {
        let draft = Draft::new("GET", "/bkt/k", b"").with("range", format!("bytes={from}-{to}"));
        let answer = world.send(&draft).await;
        assert_eq!(answer.status, 206);
        assert_eq!(answer.body, &whole[from..=to], "{from}-{to}");
    }
    for place in [0, 1, 249, 250, 499, 500, 599_usize] {
        // Readers count the parts: the numbers of their upload are gone.
        let body = &parts[place].1;
        let answer = world.fetch(&format!("/bkt/k?partNumber={}", place + 1)).await;
        assert_eq!((answer.status, &answer.body), (206, body), "{place}");
        assert_eq!(answer.header("x-amz-mp-parts-count"), Some("600"));
        let start = place * 13;
        let range = format!("bytes {start}-{}/{}", start + 12, whole.len());
        assert_eq!(answer.header("content-range"), Some(&*range));
    }
    let absent = world.fetch("/bkt/k?partNumber=601").await;
    assert_eq!(code(&absent), (416, "InvalidPartNumber".to_owned()));
    let both = Draft::new("GET", "/bkt/k?partNumber=1", b"").with("range", "bytes=0-1");
    assert_eq!(world.send(&both).await.status, 400);
    let head = world.send(&Draft::new("HEAD", "/bkt/k?partNumber=4", b"")).await;
    assert_eq!((head.status, head.header("content-length")), (206, Some("13")));
    let copy = Draft::put("/bkt/copy", b"").with("x-store-copy-source", "/bkt/k");
    assert_eq!(world.send(&copy).await.status, 200);
    let copied = world.fetch("/bkt/copy").await;
    assert_eq!(copied.body, whole);
    assert_eq!(copied.header("etag"), Some(&*format!("\"{}\"", md5(&whole))));
}

#[tokio::test]
async fn a_last_part_without_bytes_is_read_as_nothing() {
    let world = World::new(NOW).await;
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    let (one, two) = (upload.put(1, b"12345678").await, upload.put(2, b"").await);
    assert_eq!(upload.complete(&[(1, &*one), (2, &*two)]).await.status, 200);
    let whole = world.fetch("/bkt/k?partNumber=1").await;
    assert_eq!((whole.status, &*whole.body), (206, &b"12345678"[..]));
    for method in ["GET", "HEAD"] {
        let empty = world.send(&Draft::new(method, "/bkt/k?partNumber=2", b"")).await;
        assert_eq!((empty.status, empty.header("content-length")), (200, Some("0")), "{method}");
        assert_eq!(empty.body, b"");
        assert_eq!(empty.header("content-range"), None);
        assert_eq!(empty.header("x-amz-mp-parts-count"), Some("2"));
    }
}

#[tokio::test]
async fn a_part_that_is_read_by_its_number_brings_its_own_checksum() {
    let world = World::new(NOW).await;
    let bodies: [&[u8]; 2] = [b"12345678", b"9"];
    let sum = |body: &[u8]| STANDARD.encode(crc32fast::hash(body).to_be_bytes());
    for kind in ["COMPOSITE", "FULL_OBJECT"] {
        let asked = [("x-amz-checksum-algorithm", "CRC32"), ("x-amz-checksum-type", kind)];
        let upload = Upload::begin(&world, "/bkt/k", &asked).await;
        let mut parts = String::new();
        for (number, body) in (1..).zip(bodies) {
            let draft = upload.part(&format!("{number}"), body);
            let put = world.send(&draft.with("x-amz-checksum-crc32", sum(body))).await;
            let tag = put.header("etag").unwrap().replace('"', "&quot;");
            parts += &format!(
                "<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag><ChecksumCRC32>{}</ChecksumCRC32></Part>",
                sum(body)
            );
        }
        assert_eq!(upload.complete_with(parts).await.status, 200);
        for (number, body) in (1..).zip(bodies) {
            let target = format!("/bkt/k?partNumber={number}");
            let told = Draft::new("HEAD", &target, b"").with("x-amz-checksum-mode", "ENABLED");
            let told = world.send(&told).await;
            assert_eq!(told.header("x-amz-checksum-crc32"), Some(&*sum(body)), "{kind} {number}");
            assert_eq!(told.header("x-amz-checksum-type"), Some(kind));
            let silent = world.fetch(&target).await;
            assert_eq!(silent.header("x-amz-checksum-crc32"), None);
        }
    }
    // An upload that asked for none has one of the whole alone.
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    let (one, two) = (upload.put(1, bodies[0]).await, upload.put(2, bodies[1]).await);
    assert_eq!(upload.complete(&[(1, &*one), (2, &*two)]).await.status, 200);
    let part =
        Draft::new("HEAD", "/bkt/k?partNumber=1", b"").with("x-amz-checksum-mode", "ENABLED");
    assert_eq!(world.send(&part).await.header("x-amz-checksum-type"), None);
}

#[tokio::test]
async fn a_list_that_is_wrong_is_refused_as_recorded_and_the_upload_stays() {
    let world = World::new(NOW).await;
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    let (one, two) = (upload.put(1, b"12345678").await, upload.put(2, b"1234567").await);
    let three = upload.put(3, b"3").await;
    let order =
        "The list of parts was not in ascending order. Parts must be ordered by part number.";
    let invalid = "One or more of the specified parts could not be found.  The part may not have been uploaded, or the specified entity tag may not match the part's entity tag.";
    let part = |number: &str, tag: &str| {
        format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
    };
    let send = |parts: String| upload.complete_with(parts);
    let answer = send(part("2", &two) + &part("1", &one)).await;
    refused(&answer, 400, "InvalidPartOrder", order);
    assert_eq!(answer.element("UploadId").unwrap(), upload.id);
    refused(&send(part("1", &one) + &part("1", &one)).await, 400, "InvalidPartOrder", order);
    let answer = send(part("1", &one) + &part("4", &one)).await;
    refused(&answer, 400, "InvalidPart", invalid);
    assert_eq!(answer.element("PartNumber").unwrap(), "4");
    refused(&send(part("1", &two)).await, 400, "InvalidPart", invalid);
    refused(
        &send(String::new()).await,
        400,
        "InvalidRequest",
        "You must specify at least one part",
    );
    let answer = send(part("1", &one) + &part("2", &two) + &part("3", &three)).await;
    let small = "Your proposed upload is smaller than the minimum allowed size";
    refused(&answer, 400, "EntityTooSmall", small);
    for (name, value) in [("ProposedSize", "7"), ("MinSizeAllowed", "8"), ("PartNumber", "2")] {
        assert_eq!(answer.element(name).unwrap(), value);
    }
    // A part that is not there counts before one that is too small, wherever it stands.
    let answer = send(part("2", &two) + &part("3", &three) + &part("4", &one)).await;
    refused(&answer, 400, "InvalidPart", invalid);
    assert_eq!(answer.element("PartNumber").unwrap(), "4");
    assert_eq!(code(&send("<Part/>".to_owned()).await), (400, "MalformedXML".to_owned()));
    let number = "Part number must be an integer between 1 and 10000, inclusive";
    refused(&send(part("10001", &one)).await, 400, "InvalidArgument", number);
    refused(&world.send(&upload.part("-1", b"x")).await, 400, "InvalidArgument", number);
    refused(&send(part("0", &one)).await, 400, "InvalidArgument", "PartNumber must be &gt;= 1");
    for (size, message) in [
        (
            "9",
            "The provided 'x-amz-mp-object-size' header value 9 does not match what was computed: 8",
        ),
        ("x", "Value for x-amz-mp-object-size header is invalid: 'x'"),
        ("-1", "Value for x-amz-mp-object-size header is less than zero: '-1'"),
    ] {
        let draft = upload.completion(&[(1, &one)]).with("x-store-mp-object-size", size);
        refused(&world.send(&draft).await, 400, "InvalidRequest", message);
    }
    let draft = upload.completion(&[(1, &one), (2, &two)]).with("x-store-mp-object-size", "15");
    assert_eq!(world.send(&draft).await.status, 200);
}

#[tokio::test]
async fn checksums_of_parts_and_of_the_whole_are_checked_as_recorded() {
    let world = World::new(NOW).await;
    let create = |headers: &[(&str, &str)]| {
        let mut draft = Draft::new("POST", "/bkt/k?uploads", b"");
        for (name, value) in headers {
            draft = draft.with(name, *value);
        }
        draft
    };
    let (algorithm, of_type) = ("x-store-checksum-algorithm", "x-store-checksum-type");
    for (headers, message) in [
        (
            &[(of_type, "COMPOSITE")][..],
            "The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.",
        ),
        (
            &[(algorithm, "TEST")],
            "Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]",
        ),
        (
            &[(algorithm, "SHA1"), (of_type, "FULL_OBJECT")],
            "The FULL_OBJECT checksum type cannot be used with the sha1 checksum algorithm.",
        ),
        (
            &[(algorithm, "CRC64NVME"), (of_type, "COMPOSITE")],
            "The COMPOSITE checksum type cannot be used with the crc64nvme checksum algorithm.",
        ),
    ] {
        refused(&world.send(&create(headers)).await, 400, "InvalidRequest", message);
    }
    let upload = Upload::begin(&world, "/bkt/k", &[(algorithm, "SHA256")]).await;
    let other = upload.part("1", b"12345678").with("x-store-checksum-crc32", "mgKH1A==");
    let wrong = "Checksum Type mismatch occurred, expected checksum Type: sha256, actual checksum Type: crc32";
    refused(&world.send(&other).await, 400, "InvalidRequest", wrong);
    let value = |bytes: &[u8]| STANDARD.encode(checksum(Algorithm::Sha256, bytes));
    let mut tags = Vec::new();
    for (number, body) in [("1", b"12345678"), ("2", b"abcdefgh")] {
        let draft = upload.part(number, body).with("x-store-checksum-sha256", value(body));
        let answer = world.send(&draft).await;
        assert_eq!(answer.header("x-amz-checksum-sha256"), Some(&*value(body)));
        tags.push(answer.header("etag").unwrap().to_owned());
    }
    let missing = "The upload was created using a sha256 checksum. The complete request must include the checksum for each part. It was missing for part 1 in the request.";
    let part = |number: usize, more: &str| {
        format!(
            "<Part><PartNumber>{number}</PartNumber><ETag>{}</ETag>{more}</Part>",
            tags[number - 1]
        )
    };
    let send = |parts: String| upload.complete_with(parts);
    refused(&send(part(1, "")).await, 400, "InvalidRequest", missing);
    let foreign = send(part(1, "<ChecksumCRC32>mgKH1A==</ChecksumCRC32>")).await;
    refused(
        &foreign,
        400,
        "BadDigest",
        "The crc32 you specified for part 1 did not match what we received.",
    );
    let named = |body: &[u8]| format!("<ChecksumSHA256>{}</ChecksumSHA256>", value(body));
    let swapped = send(part(1, &named(b"abcdefgh"))).await;
    assert_eq!(code(&swapped), (400, "InvalidPart".to_owned()));
    let all = part(1, &named(b"12345678")) + &part(2, &named(b"abcdefgh"));
    let mode = upload.completion_of(&all).with(of_type, "FULL_OBJECT");
    refused(
        &world.send(&mode).await,
        400,
        "InvalidRequest",
        "The upload was created using the COMPOSITE checksum mode. The complete request must use the same checksum mode.",
    );
    let done = send(all).await;
    let digests =
        [checksum(Algorithm::Sha256, b"12345678"), checksum(Algorithm::Sha256, b"abcdefgh")];
    let composite = format!("{}-2", value(&digests.concat()));
    assert_eq!(done.element("ChecksumSHA256").as_deref(), Some(&*composite), "{}", done.text());
    assert_eq!(done.element("ChecksumType").unwrap(), "COMPOSITE");
    let head = Draft::new("HEAD", "/bkt/k", b"").with("x-store-checksum-mode", "ENABLED");
    let head = world.send(&head).await;
    assert_eq!(head.header("x-amz-checksum-sha256"), Some(&*composite));
    assert_eq!(head.header("x-amz-checksum-type"), Some("COMPOSITE"));
    let attributes = Draft::new("GET", "/bkt/k?attributes", b"")
        .with("x-store-object-attributes", "ObjectParts,Checksum")
        .with("x-store-max-parts", "1");
    let text = world.send(&attributes).await.text();
    let all = Draft::new("GET", "/bkt/k?attributes", b"")
        .with("x-store-object-attributes", "ObjectParts")
        .with("x-store-max-parts", "-3");
    assert!(world.send(&all).await.text().contains("<MaxParts>1000</MaxParts>"));
    for shown in [
        "<PartsCount>2</PartsCount>",
        "<IsTruncated>true</IsTruncated>",
        "<NextPartNumberMarker>1</NextPartNumberMarker>",
        "<Part><PartNumber>1</PartNumber><Size>8</Size><ChecksumSHA256>",
    ] {
        assert!(text.contains(shown), "{text}");
    }
    let upload =
        Upload::begin(&world, "/bkt/k", &[(algorithm, "CRC32C"), (of_type, "FULL_OBJECT")]).await;
    let (one, two) = (upload.put(1, b"12345678").await, upload.put(2, b"abcdefgh").await);
    let whole = STANDARD.encode(checksum(Algorithm::Crc32c, b"12345678abcdefgh"));
    let list = [(1, one.as_str()), (2, two.as_str())];
    let wrong = upload.completion(&list).with("x-store-checksum-crc32c", "AAAAAA==");
    refused(
        &world.send(&wrong).await,
        400,
        "BadDigest",
        "The crc32c you specified did not match the calculated checksum.",
    );
    let right = upload.completion(&list).with("x-store-checksum-crc32c", whole.clone());
    let done = world.send(&right).await;
    assert_eq!(done.element("ChecksumCRC32C"), Some(whole), "{}", done.text());
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    let part = upload.part("1", b"123456789").with("x-store-checksum-crc32", "y/Q5Jg==");
    let answer = world.send(&part).await;
    assert_eq!(answer.header("x-amz-checksum-crc32"), Some("y/Q5Jg=="), "{}", answer.text());
    let list = [(1, answer.header("etag").unwrap().trim_matches('"'))];
    let unknown = upload.completion(&list).with(of_type, "OF_PARTS");
    let reason = "Value for x-amz-checksum-type header is invalid.";
    refused(&world.send(&unknown).await, 400, "InvalidRequest", reason);
    let null = upload.completion(&list).with(of_type, "FULL_OBJECT");
    refused(
        &world.send(&null).await,
        400,
        "InvalidRequest",
        "The upload was created using the null checksum mode. The complete request must use the same checksum mode.",
    );
    // The checksum that such an upload gets is compared too.
    let header = "x-store-checksum-crc64nvme";
    let wrong = upload.completion(&list).with(header, "AAAAAAAAAAA=");
    let reason = "The crc64nvme you specified did not match the calculated checksum.";
    refused(&world.send(&wrong).await, 400, "BadDigest", reason);
    let malformed = upload.completion(&list).with(header, "x");
    let reason = "Value for x-amz-checksum-crc64nvme header is invalid.";
    refused(&world.send(&malformed).await, 400, "InvalidRequest", reason);
    let whole = STANDARD.encode(checksum(Algorithm::Crc64nvme, b"123456789"));
    let done = world.send(&upload.completion(&list).with(header, whole.clone())).await;
    assert_eq!(done.element("ChecksumCRC64NVME"), Some(whole), "{}", done.text());
}

#[tokio::test]
async fn a_part_of_a_list_has_one_checksum_of_the_uploads_algorithm() {
    let world = World::new(NOW).await;
    let (right, sha1) = ("<ChecksumCRC32>y/Q5Jg==</ChecksumCRC32>", "98O8HYCOBHMq32eZZczDTKeuNEE=");
    let sha1 = format!("<ChecksumSHA1>{sha1}</ChecksumSHA1>");
    let algorithm = ("x-store-checksum-algorithm", "CRC32");
    for headers in [
        vec![],
        vec![algorithm, ("x-store-checksum-type", "COMPOSITE")],
        vec![algorithm, ("x-store-checksum-type", "FULL_OBJECT")],
    ] {
        let upload = Upload::begin(&world, "/bkt/k", &headers).await;
        let part = upload.part("1", b"123456789").with("x-store-checksum-crc32", "y/Q5Jg==");
        let tag = world.send(&part).await.header("etag").unwrap().to_owned();
        let send = |sums: &str| {
            let list = format!("<Part><PartNumber>1</PartNumber><ETag>{tag}</ETag>{sums}</Part>");
            upload.complete_with(list)
        };
        for (sums, shown) in [
            ("<ChecksumCRC32>y/Q5Jh==</ChecksumCRC32>", "CRC32:y/Q5Jh==;"),
            (&*format!("{sha1}{right}"), "CRC32:y/Q5Jg==;SHA1:98O8HYCOBHMq32eZZczDTKeuNEE=;"),
        ] {
            let answer = send(sums).await;
            let message = "Invalid Base64 or multiple checksums present in request";
            refused(&answer, 400, "InvalidArgument", message);
            assert_eq!(answer.element("ArgumentName").unwrap(), "Checksum");
            assert_eq!(answer.element("ArgumentValue").unwrap(), shown);
        }
        let has_algorithm = !headers.is_empty();
        let foreign = code(&send(&sha1).await).1;
        assert_eq!(foreign, if has_algorithm { "BadDigest" } else { "InvalidPart" });
        let wrong = send("<ChecksumCRC32>z/Q5Jg==</ChecksumCRC32>").await;
        assert_eq!(code(&wrong), (400, "InvalidPart".to_owned()));
        let done = send(if has_algorithm { right } else { "" }).await;
        assert_eq!(done.status, 200, "{}", done.text());
    }
}

#[tokio::test]
async fn the_number_of_a_part_counts_before_what_it_is_of() {
    let world = World::new(NOW).await;
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    let reason = "Part number must be an integer between 1 and 10000, inclusive";
    let target = |number: u32| format!("/bkt/absent?partNumber={number}");
    for number in [0, 10_001] {
        let part = format!("{}&uploadId=none", target(number));
        let copied = Draft::put(&part, b"").with("x-store-copy-source", "/bkt/absent");
        for draft in [Draft::put(&part, b"part"), copied, Draft::new("GET", &target(number), b"")] {
            refused(&world.send(&draft).await, 400, "InvalidArgument", reason);
        }
        let head = world.send(&Draft::new("HEAD", &target(number), b"")).await;
        assert_eq!(head.status, 400);
    }
    let both = Draft::new("GET", &target(0), b"").with("range", "bytes=0-1");
    let reason = "Cannot specify both Range header and partNumber query parameter";
    refused(&world.send(&both).await, 400, "InvalidRequest", reason);
    assert_eq!(code(&world.fetch(&target(1)).await), (404, "NoSuchKey".to_owned()));
    // One without the upload, the upload without one.
    for draft in [
        Draft::put("/bkt/k?partNumber=1", b"part"),
        Draft::put("/bkt/k?partNumber=1", b"").with("x-store-copy-source", "/bkt/absent"),
    ] {
        let answer = world.send(&draft).await;
        let reason = "This operation does not accept partNumber without uploadId";
        refused(&answer, 400, "InvalidArgument", reason);
        assert_eq!(answer.element("ArgumentValue").unwrap(), "partNumber");
    }
    for copies in [false, true] {
        let mut draft = Draft::put(&format!("/bkt/k?uploadId={}", upload.id), b"");
        if copies {
            draft = draft.with("x-store-copy-source", "/bkt/absent");
        }
        let answer = world.send(&draft).await;
        assert_eq!(code(&answer), (405, "MethodNotAllowed".to_owned()));
        assert_eq!(answer.element("ResourceType").unwrap(), "UPLOAD");
        assert_eq!(answer.header("allow"), Some("DELETE, POST, GET"));
    }
}

#[tokio::test]
async fn a_completion_names_the_composite_checksum_of_its_upload_or_none() {
    let world = World::new(NOW).await;
    let sums = [b"12345678", b"abcdefgh"].map(|part| checksum(Algorithm::Crc32, part));
    let whole = STANDARD.encode(checksum(Algorithm::Crc32, &sums.concat()));
    let header = "x-store-checksum-crc32";
    let other = ("x-store-checksum-sha1", "qUqP5cyxm6YcTAhz05Hph5gvu9M=".to_owned());
    for (named, code) in [
        ((header, "AAAAAA==".to_owned()), "BadDigest"),
        ((header, "AAAAAA==-2".to_owned()), "BadDigest"),
        ((header, format!("{whole}-3")), "BadDigest"),
        ((header, format!("{whole}-a")), "InvalidRequest"),
        ((header, "-2".to_owned()), "InvalidRequest"),
        (other, "InvalidRequest"),
        (("x-store-checksum-sha512", "AAAA".to_owned()), "InvalidRequest"),
        ((header, whole.clone()), ""),
        ((header, format!("{whole}-2")), ""),
    ] {
        let begun = [("x-store-checksum-algorithm", "CRC32")];
        let upload = Upload::begin(&world, "/bkt/k", &begun).await;
        let mut parts = String::new();
        for (number, body) in [b"12345678", b"abcdefgh"].into_iter().enumerate() {
            let (number, sum) = (number + 1, STANDARD.encode(&sums[number]));
            let part = upload.part(&number.to_string(), body).with(header, sum.clone());
            let tag = world.send(&part).await.header("etag").unwrap().to_owned();
            parts.push_str(&format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag><ChecksumCRC32>{sum}</ChecksumCRC32></Part>"));
        }
        let completion = upload.completion_of(&parts).with(named.0, named.1.clone());
        let answer = world.send(&completion).await;
        assert_eq!(
            answer.element("Code").unwrap_or_default(),
            code,
            "{named:?}: {}",
            answer.text()
        );
    }
}

#[tokio::test]
async fn a_condition_looks_back_to_the_beginning_of_the_upload() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"old").await;
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    let tag = upload.put(1, b"new").await;
    let create = upload.completion(&[(1, &tag)]).with("if-none-match", "*");
    assert_eq!(code(&world.send(&create).await), (412, "PreconditionFailed".to_owned()));
    world.send(&Draft::new("DELETE", "/bkt/k", b"")).await;
    let answer = world.send(&create).await;
    assert_eq!(code(&answer), (409, "ConditionalRequestConflict".to_owned()));
    assert_eq!(answer.element("Condition").as_deref(), Some("If-None-Match"));
    let replace = |tag_of_object: &str| {
        upload.completion(&[(1, &tag)]).with("if-match", tag_of_object.to_owned())
    };
    assert_eq!(code(&world.send(&replace(&md5(b"old"))).await), (404, "NoSuchKey".to_owned()));
    world.store("/bkt/k", b"between").await;
    assert_eq!(code(&world.send(&replace("x")).await), (412, "PreconditionFailed".to_owned()));
    let between = world.send(&replace(&md5(b"between"))).await;
    assert_eq!(code(&between), (409, "ConditionalRequestConflict".to_owned()));
    assert_eq!(world.fetch("/bkt/k").await.text(), "between");
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    let tag = upload.put(1, b"new").await;
    let matched = upload.completion(&[(1, &tag)]).with("if-match", md5(b"between"));
    assert_eq!(world.send(&matched).await.status, 200);
}

#[tokio::test]
async fn parts_are_copied_from_ranges_of_objects() {
    let world = World::new(NOW).await;
    world.store("/bkt/source", b"0123456789").await;
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    let copy = |number: &str, range: &str| {
        let draft = upload.part(number, b"").with("x-store-copy-source", "/bkt/source");
        if range.is_empty() { draft } else { draft.with("x-store-copy-source-range", range) }
    };
    let whole = world.send(&copy("1", "")).await;
    assert_eq!(whole.element("ETag").unwrap(), format!("&quot;{}&quot;", md5(b"0123456789")));
    let part = world.send(&copy("2", "bytes=3-5")).await;
    assert_eq!(part.status, 200, "{}", part.text());
    let form = "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy";
    refused(&world.send(&copy("3", "0-8")).await, 400, "InvalidArgument", form);
    let outside = "Range specified is not valid for source object of size: 10";
    refused(&world.send(&copy("3", "bytes=0-100")).await, 400, "InvalidArgument", outside);
    let beyond = "The specified copy range is invalid for the source object size";
    refused(&world.send(&copy("3", "bytes=100-200")).await, 400, "InvalidRequest", beyond);
    let stale = copy("3", "").with("x-store-copy-source-if-match", "x");
    assert_eq!(world.send(&stale).await.status, 412);
    let list = [(1, md5(b"0123456789")), (2, md5(b"345"))];
    let list: Vec<_> = list.iter().map(|(number, tag)| (*number, tag.as_str())).collect();
    assert_eq!(upload.complete(&list).await.status, 200);
    assert_eq!(world.fetch("/bkt/k").await.text(), "0123456789345");
}

#[tokio::test]
async fn uploads_and_their_parts_are_listed_page_by_page() {
    let world = World::new(NOW).await;
    let mut ids = Vec::new();
    for key in ["a/1", "a/2", "b", "b", "c"] {
        ids.push(Upload::begin(&world, &format!("/bkt/{key}"), &[]).await.id);
    }
    let elements = |text: &str, name: &str| -> Vec<String> {
        let start = format!("<{name}>");
        let parts = text.split(&start).skip(1);
        parts.map(|part| part.split('<').next().unwrap().to_owned()).collect()
    };
    let all = world.fetch("/bkt?uploads").await.text();
    assert_eq!(elements(&all, "Key"), ["a/1", "a/2", "b", "b", "c"]);
    assert_eq!(elements(&all, "UploadId"), ids);
    let grouped = world.fetch("/bkt?uploads&delimiter=/&max-uploads=2").await.text();
    assert_eq!(elements(&grouped, "Key"), ["b"]);
    assert!(grouped.contains("<CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"), "{grouped}");
    assert!(grouped.contains("<IsTruncated>true</IsTruncated>"));
    assert_eq!(
        elements(&world.fetch("/bkt?uploads&prefix=a/").await.text(), "Key"),
        ["a/1", "a/2"]
    );
    let mut shown = Vec::new();
    let mut target = "/bkt?uploads&max-uploads=1".to_owned();
    loop {
        let text = world.fetch(&target).await.text();
        shown.extend(elements(&text, "UploadId"));
        if text.contains("<IsTruncated>false") {
            break;
        }
        let (key, id) =
            (&elements(&text, "NextKeyMarker")[0], &elements(&text, "NextUploadIdMarker")[0]);
        // What is listed is aborted: a marker is a place, and not a row.
        let aborted =
            world.send(&Draft::new("DELETE", &format!("/bkt/{key}?uploadId={id}"), b"")).await;
        assert_eq!(aborted.status, 204);
        target = format!("/bkt?uploads&max-uploads=1&key-marker={key}&upload-id-marker={id}");
    }
    assert_eq!(shown, ids);
    let foreign =
        world.fetch(&format!("/bkt?uploads&key-marker=a/1&upload-id-marker={}", ids[4])).await;
    refused(&foreign, 400, "InvalidArgument", "Invalid uploadId marker");
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    for number in [1, 2, 7, 10_000] {
        upload.put(number, b"part").await;
    }
    let page = |query: &str| format!("/bkt/k?uploadId={}{query}", upload.id);
    let text = world.fetch(&page("&max-parts=2")).await.text();
    assert_eq!(elements(&text, "PartNumber"), ["1", "2"]);
    assert!(
        text.contains("<NextPartNumberMarker>2<") && text.contains("<IsTruncated>true<"),
        "{text}"
    );
    let text = world.fetch(&page("&part-number-marker=2")).await.text();
    assert_eq!(elements(&text, "PartNumber"), ["7", "10000"]);
    assert!(text.contains("<IsTruncated>false<"));
    assert_eq!(upload.abort().await.status, 204);
    assert_eq!(code(&world.fetch(&page("")).await), (404, "NoSuchUpload".to_owned()));
}

#[tokio::test]
async fn who_began_an_upload_may_list_and_abort_it_and_a_policy_may_deny_that() {
    const OTHER: (&str, &str) = ("OTHER", "other");
    let world = World::new(NOW).await;
    let policy = |effect: &str, actions: &str| {
        format!(
            r#"{{"Version": "2012-10-17", "Statement": [
                {{"Effect": "Allow", "Principal": "*", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::enforced/*"}},
                {{"Effect": "{effect}", "Principal": "*", "Action": {actions}, "Resource": "arn:aws:s3:::enforced/*"}}]}}"#
        )
    };
    let put = |text: String| Draft::put("/enforced?policy", text.as_bytes());
    let as_other = |mut draft: Draft| {
        draft.key = OTHER;
        draft
    };
    assert_eq!(world.send(&put(policy("Allow", r#""s3:PutObject""#))).await.status, 204);
    let begin = || as_other(Draft::new("POST", "/enforced/k?uploads", b""));
    let id = world.send(&begin()).await.element("UploadId").unwrap();
    let foreign = Upload::begin(&world, "/enforced/k", &[]).await.id;
    let target = |id: &str| format!("/enforced/k?uploadId={id}");
    for (method, own) in [("GET", 200), ("DELETE", 204)] {
        let denied = world.send(&as_other(Draft::new(method, &target(&foreign), b""))).await;
        assert_eq!(code(&denied), (403, "AccessDenied".to_owned()), "{method}");
        let allowed = world.send(&as_other(Draft::new(method, &target(&id), b""))).await;
        assert_eq!(allowed.status, own, "{method}: {}", allowed.text());
    }
    let id = world.send(&begin()).await.element("UploadId").unwrap();
    let both = r#"["s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]"#;
    assert_eq!(world.send(&put(policy("Deny", both))).await.status, 204);
    for method in ["GET", "DELETE"] {
        let denied = world.send(&as_other(Draft::new(method, &target(&id), b""))).await;
        assert_eq!(denied.status, 403, "{method}");
        assert_eq!(world.send(&Draft::new(method, &target(&id), b"")).await.status, 403);
    }
    let deny = policy("Deny", r#""s3:PutObject""#);
    assert_eq!(world.send(&put(deny)).await.status, 204);
    let part = Draft::put(&format!("/enforced/k?partNumber=1&uploadId={id}"), b"x");
    for draft in [begin(), part, Draft::new("POST", &target(&id), b"<x/>")] {
        assert_eq!(world.send(&draft).await.status, 403, "{}", draft.target);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exactly_one_of_racing_completions_and_aborts_wins() {
    let world = std::sync::Arc::new(World::new(NOW).await);
    for round in 0..30 {
        let target = format!("/bkt/{round}");
        let upload = Upload::begin(&world, &target, &[]).await;
        let (one, two) = (upload.put(1, b"the first part").await, upload.put(2, b"second").await);
        let drafts = vec![
            upload.completion(&[(1, &one)]),
            upload.completion(&[(1, &one), (2, &two)]),
            upload.completion(&[(1, &one), (2, &two)]),
            Draft::new("DELETE", &format!("{target}?uploadId={}", upload.id), b""),
            upload.part("1", b"another first part"),
            upload.part("2", b"another second"),
        ];
        let racing = drafts.into_iter().map(|draft| {
            let world = world.clone();
            tokio::spawn(async move { world.send(&draft).await })
        });
        let mut answers = Vec::new();
        for racer in racing.collect::<Vec<_>>() {
            answers.push(racer.await.unwrap());
        }
        let status: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
        let [first, second, third, abort, ..] = status[..] else { panic!("{status:?}") };
        // Equal lists get equal answers: both lose, or both win.
        let winners = usize::from(first == 200)
            + usize::from(second == 200 || third == 200)
            + usize::from(abort == 204);
        assert!(winners <= 1, "{status:?}");
        let got = world.fetch(&target).await;
        match (first, second.min(third), abort) {
            (200, ..) => assert_eq!(got.text(), "the first part"),
            (_, 200, _) => assert_eq!(got.text(), "the first partsecond"),
            _ => assert_eq!(got.status, 404, "{status:?}"),
        }
        for answer in answers.iter().filter(|answer| answer.status >= 400) {
            let known = ["NoSuchUpload", "InvalidPart"];
            assert!(known.contains(&&*code(answer).1), "{}", answer.text());
        }
    }
}
