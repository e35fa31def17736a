//! PutObject as its clients meet it: precedence of faults, forms of bodies, conditions, versions.

mod service;

use object_put::request::dialect::Dialect;
use service::{Answer, Draft, NOW, World};
use std::time::Duration;

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

fn is(answer: &Answer, status: u16, expected: &str) {
    assert_eq!(code(answer), (status, expected.to_owned()), "{}", answer.text());
}

/// Faults in the order in which they are reported: the header that brings each, and the answer to it.
const FAULTS: [(&str, &str, u16, &str); 14] = [
    ("x-store-expected-bucket-owner", "abcd", 400, "InvalidBucketOwnerAWSAccountID"),
    ("x-store-acl", "fake", 400, "InvalidArgument"),
    ("content-md5", "000", 400, "InvalidDigest"),
    ("x-store-sdk-checksum-algorithm", "CRC1", 400, "InvalidRequest"),
    ("x-store-checksum-crc32", "!!", 400, "InvalidRequest"),
    ("if-none-match", "\"tag\"", 501, "NotImplemented"),
    ("x-store-write-offset-bytes", "0", 501, "NotImplemented"),
    ("x-store-server-side-encryption", "odd", 400, "InvalidArgument"),
    ("x-store-storage-class", "FAKE", 400, "InvalidStorageClass"),
    ("x-store-website-redirect-location", "odd", 400, "InvalidRedirectLocation"),
    ("x-store-request-payer", "me", 400, "InvalidArgument"),
    ("x-store-tagging", "aws:a=b", 400, "InvalidTag"),
    ("x-store-object-lock-mode", "GOVERNANCE", 400, "InvalidArgument"),
    ("content-length", "5368709121", 400, "EntityTooLarge"),
];

#[tokio::test]
async fn of_several_faults_the_first_of_the_table_is_reported() {
    let world = World::new(NOW).await;
    for dialect in [Dialect::Store, Dialect::Amz] {
        for first in 0..FAULTS.len() {
            let mut draft = Draft::put("/bkt/k", b"").speaking(dialect);
            // The value of the header that holds a condition is refused; a wrong one waits until the end.
            for (name, value, ..) in &FAULTS[first..] {
                draft = draft.with(name, *value);
            }
            let (name, _, status, expected) = FAULTS[first];
            let answer = world.send(&draft).await;
            is(&answer, status, expected);
            if expected == "InvalidArgument" && first != 12 {
                assert_eq!(answer.element("ArgumentName").unwrap(), dialect.header(name));
            }
        }
    }
}

#[tokio::test]
async fn faults_of_the_sender_come_before_those_of_the_request() {
    let world = World::new(NOW).await;
    let draft = |time, key| Draft {
        time,
        key,
        ..Draft::put("/nowhere/k", b"").with("x-store-acl", "fake")
    };
    let late = NOW.minus(Duration::from_secs(901));
    is(&world.send(&draft(late, ("NOBODY", "x"))).await, 403, "InvalidAccessKeyId");
    is(&world.send(&draft(late, ("OTHER", "wrong"))).await, 403, "RequestTimeTooSkewed");
    is(&world.send(&draft(NOW, ("OTHER", "wrong"))).await, 403, "SignatureDoesNotMatch");
    is(&world.send(&draft(NOW, ("OTHER", "other"))).await, 404, "NoSuchBucket");
    let foreign = Draft { key: ("OTHER", "other"), ..Draft::put("/bkt/k", b"") };
    is(&world.send(&foreign).await, 403, "AccessDenied");
    let reader = Draft { key: ("READER", "reader"), ..Draft::put("/bkt/k", b"") };
    is(&world.send(&reader).await, 403, "AccessDenied");
}

#[tokio::test]
async fn a_clock_may_be_fifteen_minutes_off_and_no_more() {
    let world = World::new(NOW).await;
    for (seconds, status) in [(900, 200), (901, 403), (-900, 200), (-901, 403)] {
        let time = triptych_core::time::Timestamp::from_seconds(NOW.seconds() + seconds);
        let answer = world.send(&Draft { time, ..Draft::put("/bkt/k", b"x") }).await;
        assert_eq!(answer.status, status, "{seconds}");
    }
}

#[tokio::test]
async fn headers_of_the_service_must_be_signed() {
    let world = World::new(NOW).await;
    let signed = String::from_utf8(Draft::put("/bkt/k", b"x").bytes()).unwrap();
    let with = signed.replacen("\r\n", "\r\nx-amz-meta-wrong: 1\r\n", 1);
    let answer = world.exchange(with.as_bytes()).await;
    is(&answer, 403, "AccessDenied");
    assert_eq!(answer.element("HeadersNotSigned").unwrap(), "x-amz-meta-wrong");
    // A header that is none of the service's may come unsigned.
    let other = signed.replacen("\r\n", "\r\nx-forwarded-for: 1\r\n", 1);
    assert_eq!(world.exchange(other.as_bytes()).await.status, 200);
}

#[tokio::test]
async fn a_request_is_answered_in_its_dialect_and_may_not_mix_the_two() {
    let world = World::new(NOW).await;
    let store = world.send(&Draft::put("/bkt/k", b"x").speaking(Dialect::Store)).await;
    assert_eq!(store.status, 200, "{}", store.text());
    assert!(store.header("x-store-checksum-crc64nvme").is_some());
    assert!(store.header("x-amz-request-id").is_none());
    let amz = world.store("/bkt/k", b"x").await;
    assert!(amz.header("x-amz-checksum-crc64nvme").is_some());
    assert_eq!(amz.header("x-amz-server-side-encryption"), Some("AES256"));
    let mixed = Draft::put("/bkt/k", b"x");
    let mixed = Draft { headers: vec![("x-store-acl".to_owned(), "private".to_owned())], ..mixed };
    is(&world.send(&mixed).await, 400, "InvalidRequest");
}

#[tokio::test]
async fn where_the_two_dialects_differ_each_gets_its_answer() {
    let world = World::new(NOW).await;
    let on_absent =
        |dialect| Draft::put("/bkt/absent", b"x").speaking(dialect).with("if-match", "\"a\"");
    is(&world.send(&on_absent(Dialect::Store)).await, 412, "PreconditionFailed");
    is(&world.send(&on_absent(Dialect::Amz)).await, 404, "NoSuchKey");
    let other = |dialect| {
        Draft::put("/bkt/k", b"hello world\n")
            .speaking(dialect)
            .with("x-store-sdk-checksum-algorithm", "SHA1")
            .with("x-store-checksum-crc32", "rwg7LQ==")
    };
    is(&world.send(&other(Dialect::Store)).await, 400, "BadDigest");
    is(&world.send(&other(Dialect::Amz)).await, 400, "InvalidRequest");
}

#[tokio::test]
async fn a_refused_body_leaves_the_old_object_as_it_was() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"old").await;
    let put = || Draft::put("/bkt/k", b"hello world\n");
    for (draft, status, expected) in [
        (put().with("content-md5", "AAAAAAAAAAAAAAAAAAAAAA=="), 400, "BadDigest"),
        (put().with("x-store-checksum-crc32", "AAAAAA=="), 400, "BadDigest"),
        (put().with("x-store-content-sha256", "0".repeat(64)), 400, "XAmzContentSHA256Mismatch"),
        (
            put().with("x-store-checksum-crc32", "rwg7LQ==").with("x-store-checksum-sha1", "x"),
            400,
            "InvalidRequest",
        ),
        (put().with("x-store-checksum-foo", "AAAA"), 400, "InvalidRequest"),
        (put().with("content-length", "13"), 400, "IncompleteBody"),
        (put().with("transfer-encoding", "identity"), 400, ""),
        (put().with("if-none-match", "*"), 412, "PreconditionFailed"),
        (put().with("if-match", "\"other\""), 412, "PreconditionFailed"),
    ] {
        is(&world.send(&draft).await, status, expected);
        assert_eq!(world.fetch("/bkt/k").await.body, b"old");
    }
    let tag = world.fetch("/bkt/k").await.header("etag").unwrap().to_owned();
    let unquoted = tag.trim_matches('"').to_owned();
    assert_eq!(world.send(&put().with("if-match", unquoted)).await.status, 200);
    assert_eq!(world.fetch("/bkt/k").await.body, b"hello world\n");
}

#[tokio::test]
async fn a_refusal_comes_before_100_continue_and_an_acceptance_after_it() {
    let world = World::new(NOW).await;
    let put = |target: &str| Draft::put(target, b"hello").with("expect", "100-continue");
    assert!(world.send(&put("/bkt/k")).await.continued);
    for draft in [
        put("/nowhere/k"),
        put("/bkt/k").with("if-none-match", "*"),
        put("/bkt/k").with("x-store-storage-class", "FAKE"),
        Draft { key: ("OTHER", "other"), ..put("/bkt/k") },
    ] {
        let answer = world.send(&draft).await;
        assert!(answer.status >= 400 && !answer.continued, "{}", answer.text());
    }
}

fn chunked(payload: &str, length: usize, body: &[u8]) -> Draft {
    Draft::put("/bkt/k", body)
        .with("x-store-content-sha256", payload)
        .with("content-encoding", "gzip, aws-chunked")
        .with("x-store-decoded-content-length", length.to_string())
}

#[tokio::test]
async fn chunked_bodies_with_trailers_are_checked_and_their_framing_is_not_stored() {
    let world = World::new(NOW).await;
    const MODE: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    let framed = b"c\r\nhello world\n\r\n0\r\nx-amz-checksum-crc32:rwg7LQ==\r\n\r\n";
    let with_trailer =
        |length, body| chunked(MODE, length, body).with("x-store-trailer", "x-amz-checksum-crc32");
    let answer = world.send(&with_trailer(12, framed)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("x-amz-checksum-crc32"), Some("rwg7LQ=="));
    let stored = world.fetch("/bkt/k").await;
    assert_eq!(stored.body, b"hello world\n");
    assert_eq!(stored.header("content-encoding"), Some("gzip"));
    // The same through a second framing, without a length.
    let outer = [format!("{:x}\r\n", framed.len()).as_bytes(), framed, b"\r\n0\r\n\r\n"].concat();
    let double = with_trailer(12, &outer).with("transfer-encoding", "chunked");
    assert_eq!(world.send(&double).await.status, 200);
    // A trailer is not required.
    let bare = b"5\r\nhello\r\n0\r\n\r\n";
    let answer = world.send(&chunked(MODE, 5, bare)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.header("x-amz-checksum-crc64nvme").is_some());
    let wrong = b"5\r\nhello\r\n0\r\nx-amz-checksum-crc32:rwg7LQ==\r\n\r\n";
    for (draft, expected) in [
        (with_trailer(5, wrong), "BadDigest"),
        (with_trailer(13, framed), "IncompleteBody"),
        (with_trailer(11, framed), "IncompleteBody"),
        (with_trailer(5, bare), "MalformedTrailerError"),
        (chunked(MODE, 12, framed), "MalformedTrailerError"),
        (chunked(MODE, 5, &bare[..10]), "IncompleteBody"),
        (chunked(MODE, 5, bare).with("x-store-trailer", "x-amz-meta-a"), "InvalidRequest"),
        (with_trailer(12, framed).with("x-store-checksum-crc32", "rwg7LQ=="), "InvalidRequest"),
    ] {
        let answer = world.send(&draft).await;
        assert_eq!(code(&answer), (400, expected.to_owned()), "{}", answer.text());
    }
}

#[tokio::test]
async fn ends_of_chunked_bodies_are_read_as_the_real_service_does() {
    let world = World::new(NOW).await;
    const NAME: &str = "x-amz-checksum-crc32";
    const GOOD: &str = "x-amz-checksum-crc32:NhCmhg==\r\n";
    const BAD: &str = "x-amz-checksum-crc32:AAAAAA==\r\n";
    let send = async |announced: &str, tail: &str| {
        let body = format!("5\r\nhello\r\n0\r\n{tail}");
        let draft = chunked("STREAMING-UNSIGNED-PAYLOAD-TRAILER", 5, body.as_bytes());
        world.send(&draft.with("x-store-trailer", announced.to_owned())).await
    };
    for (announced, tail) in [
        (NAME, GOOD.to_owned()),
        (NAME, format!("{GOOD}\r\n")),
        (NAME, format!("{GOOD}\r\n\r\n")),
        (NAME, format!("{GOOD}\r\nother: field\r\n")),
        (NAME, format!("{GOOD}\r\nno field")),
        (NAME, format!("{BAD}{GOOD}")),
        ("x-amz-checksum-crc32,", GOOD.to_owned()),
        ("x-amz-checksum-crc32,,", GOOD.to_owned()),
    ] {
        let answer = send(announced, &tail).await;
        assert_eq!(answer.status, 200, "{announced} {tail:?}: {}", answer.text());
        assert_eq!(world.fetch("/bkt/k").await.body, b"hello");
    }
    let unsupported = "The value specified in the x-amz-trailer header is not supported";
    let ended = "The request body terminated unexpectedly";
    for (announced, tail, expected, says) in [
        (NAME, format!("{GOOD}{BAD}"), "BadDigest", "CRC32"),
        (NAME, format!("{GOOD}other: field\r\n"), "MalformedTrailerError", ""),
        (NAME, "x-amz-checksum-crc32c:mnG7TA==\r\n".to_owned(), "MalformedTrailerError", ""),
        (NAME, String::new(), "MalformedTrailerError", ""),
        (
            NAME,
            "x-amz-checksum-crc32:no\r\n".to_owned(),
            "InvalidRequest",
            "Value for x-amz-checksum-crc32 trailing header is invalid.",
        ),
        (NAME, GOOD.replace('\r', ""), "IncompleteBody", ended),
        (NAME, GOOD.replace('\n', ""), "IncompleteBody", ended),
        (NAME, GOOD.trim_end().to_owned(), "IncompleteBody", ended),
        ("x-amz-checksum-crc32, ,", GOOD.to_owned(), "InvalidRequest", unsupported),
        (",x-amz-checksum-crc32", GOOD.to_owned(), "InvalidRequest", unsupported),
        ("x-amz-checksum-crc32, x-amz-foo", GOOD.to_owned(), "InvalidRequest", unsupported),
    ] {
        let answer = send(announced, &tail).await;
        assert_eq!(code(&answer), (400, expected.to_owned()), "{announced} {tail:?}");
        assert!(answer.text().contains(says), "{announced} {tail:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn bytes_that_are_too_few_or_too_many_are_counted() {
    let world = World::new(NOW).await;
    const MODE: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    for (length, body, provided) in [
        (5, &b"a\r\nhellohello\r\n0\r\n\r\n"[..], "10"),
        (5, b"3\r\nhel\r\n0\r\n\r\n", "3"),
        // What follows the end is no part of the body.
        (5, b"3\r\nhel\r\n0\r\n\r\n2\r\nlo\r\n0\r\n\r\n", "3"),
    ] {
        let answer = world.send(&chunked(MODE, length, body)).await;
        is(&answer, 400, "IncompleteBody");
        assert_eq!(answer.element("NumberBytesExpected").as_deref(), Some("5"));
        assert_eq!(answer.element("NumberBytesProvided").as_deref(), Some(provided));
    }
}

#[tokio::test]
async fn checksums_are_counted_before_they_are_read() {
    let world = World::new(NOW).await;
    let put = || Draft::put("/bkt/k", b"hello").with("x-store-checksum-crc32", "NhCmhg==");
    let many =
        "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.";
    let single = "Expecting a single x-amz-checksum- header</Message>";
    for (draft, says) in [
        (put().with("x-store-checksum-sha256", "no hash"), many),
        (put().with("x-store-trailer", "x-store-checksum-crc32"), single),
        (put().with("x-store-trailer", "x-store-checksum-sha1"), single),
        (put().with("x-store-trailer", "x-store-checksum-crc32, x-store-checksum-crc32"), many),
    ] {
        let answer = world.send(&draft).await;
        is(&answer, 400, "InvalidRequest");
        assert!(answer.text().contains(says), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_body_whose_end_its_transfer_coding_alone_tells_is_not_implemented() {
    let world = World::new(NOW).await;
    let begun = world.send(&Draft::new("POST", "/bkt/k?uploads", b"")).await;
    let id = begun.element("UploadId").unwrap();
    let whole = b"5\r\nhello\r\n0\r\n\r\n";
    for target in ["/bkt/k", &format!("/bkt/k?partNumber=1&uploadId={id}")] {
        let draft = Draft::put(target, whole).with("transfer-encoding", "chunked");
        let refused = world.send(&draft).await;
        is(&refused, 501, "NotImplemented");
        assert_eq!(refused.element("Header").as_deref(), Some("Transfer-Encoding"));
    }
    // A framing of the service's own lacks a length of its own.
    let framed = Draft::put("/bkt/k", whole)
        .with("x-store-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
        .with("transfer-encoding", "chunked");
    is(&world.send(&framed).await, 411, "MissingContentLength");
}

#[tokio::test]
async fn a_body_that_is_a_range_of_the_object_replaces_nothing() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"0123456789").await;
    let piece = Draft::put("/bkt/k", b"ab").with("content-range", "bytes 2-3/10");
    let refused = world.send(&piece).await;
    is(&refused, 501, "NotImplemented");
    assert_eq!(refused.element("Header").as_deref(), Some("Content-Range"));
    assert_eq!(world.send(&Draft::new("GET", "/bkt/k", b"")).await.body, b"0123456789");
}

#[tokio::test]
async fn versions_are_kept_where_the_bucket_keeps_them() {
    let world = World::new(NOW).await;
    let first = world.store("/versioned/k", b"one").await;
    let second = world.store("/versioned/k", b"two").await;
    let id = |answer: &Answer| answer.header("x-amz-version-id").map(str::to_owned);
    assert_ne!(id(&first).unwrap(), id(&second).unwrap());
    assert_eq!(world.fetch("/versioned/k").await.body, b"two");
    let suspended = world.store("/suspended/k", b"one").await;
    assert_eq!(id(&suspended), None, "the null version has no id in its answer");
    assert_eq!(id(&world.store("/bkt/k", b"one").await), None);
}

#[tokio::test]
async fn large_bodies_come_back_as_they_were_in_every_size_around_a_record() {
    let world = World::new(NOW).await;
    for size in [0_usize, 1, 65_536, 131_071, 131_072, 131_073, 1_000_000] {
        let body: Vec<u8> = (0..size).map(|place| (place % 251) as u8).collect();
        world.store("/bkt/large", &body).await;
        let back = world.fetch("/bkt/large").await;
        assert!(back.body == body, "{size}");
        assert_eq!(back.header("content-length").unwrap(), size.to_string());
    }
}

#[tokio::test]
async fn keys_are_decoded_once_and_are_no_paths() {
    let world = World::new(NOW).await;
    let keys = [
        "a",
        "a/b",
        "a/",
        "a/..",
        "a/%2e%2e",
        "//",
        "a//b/./../c",
        "%2541",
        "a%20b",
        "%F0%9F%98%80",
    ];
    for key in keys {
        world.store(&format!("/bkt/{key}"), key.as_bytes()).await;
    }
    // `..` and `%2e%2e` are the same bytes once decoded: the later one stands.
    for key in keys.iter().filter(|key| **key != "a/..") {
        assert_eq!(world.fetch(&format!("/bkt/{key}")).await.body, key.as_bytes(), "{key}");
    }
    is(&world.send(&Draft::put("/bkt/a%00b", b"")).await, 400, "InvalidURI");
    let long = "k".repeat(1025);
    is(&world.send(&Draft::put(&format!("/bkt/{long}"), b"")).await, 400, "KeyTooLongError");
    world.store(&format!("/bkt/{}", &long[..1024]), b"").await;
}

#[tokio::test]
async fn the_date_header_serves_where_the_own_one_is_absent() {
    let world = World::new(NOW).await;
    let text = String::from_utf8(Draft::put("/open/k", b"x").bytes()).unwrap();
    // Anonymous requests need no date at all where the bucket is open.
    let anonymous: String = text
        .split("\r\n")
        .filter(|line| !line.starts_with("authorization") && !line.starts_with("x-amz-"))
        .collect::<Vec<_>>()
        .join("\r\n");
    assert_eq!(world.exchange(anonymous.as_bytes()).await.status, 200);
    let undated: String = text
        .split("\r\n")
        .filter(|line| !line.starts_with("x-amz-date"))
        .collect::<Vec<_>>()
        .join("\r\n");
    is(&world.exchange(undated.as_bytes()).await, 403, "AccessDenied");
    let dated = undated.replacen("\r\n", &format!("\r\ndate: {}\r\n", NOW.http_date()), 1);
    // It is read, and then the signature, which was made for another header, does not hold.
    is(&world.exchange(dated.as_bytes()).await, 403, "SignatureDoesNotMatch");
}
