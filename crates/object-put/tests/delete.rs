//! Deletes under conditions, and documents and headers that ask for a protection that is not there: nothing is passed over.

mod service;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use service::{Answer, Draft, NOW, World};

const DIRECTORY: &str = "mybkt--use1-az4--x-s3.localhost";

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

fn is(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

fn zonal(method: &'static str, target: &str, body: &[u8]) -> Draft {
    Draft { host: DIRECTORY, service: "s3express", ..Draft::new(method, target, body) }
}

/// A DeleteObjects with these elements within its one `Object`.
fn document(inner: &str) -> String {
    format!("<Delete><Object>{inner}</Object></Delete>")
}

fn delete_objects(document: &str) -> Draft {
    let digest = STANDARD.encode(Md5::digest(document.as_bytes()));
    Draft::new("POST", "/bkt?delete", document.as_bytes()).with("content-md5", digest)
}

fn zonal_delete_objects(document: &str) -> Draft {
    let sum = STANDARD.encode(crc32fast::hash(document.as_bytes()).to_be_bytes());
    zonal("POST", "/?delete", document.as_bytes()).with("x-store-checksum-crc32", sum)
}

#[tokio::test]
async fn what_is_named_twice_is_deleted_and_answered_once() {
    let world = World::new(NOW).await;
    let document = "<Delete><Object><Key>k</Key></Object><Object><Key>k</Key></Object><Object><Key>l</Key></Object><Object><Key>k</Key><VersionId>null</VersionId></Object></Delete>";
    let digest = STANDARD.encode(Md5::digest(document.as_bytes()));
    let draft = Draft::new("POST", "/versioned?delete", document.as_bytes());
    let answer = world.send(&draft.with("content-md5", digest)).await;
    assert_eq!(answer.text().matches("<Deleted>").count(), 3, "{}", answer.text());
    let versions = world.fetch("/versioned?versions").await.text();
    assert_eq!(versions.matches("<DeleteMarker>").count(), 2, "{versions}");
}

#[tokio::test]
async fn a_source_of_a_copy_that_a_delete_marker_hides_tells_of_it() {
    let world = World::new(NOW).await;
    world.store("/versioned/k", b"1").await;
    let marker = world.send(&Draft::new("DELETE", "/versioned/k", b"")).await;
    let marker = marker.header("x-amz-version-id").unwrap();
    let begun = world.send(&Draft::new("POST", "/versioned/m?uploads", b"")).await;
    let part = format!("/versioned/m?partNumber=1&uploadId={}", begun.element("UploadId").unwrap());
    for target in ["/versioned/l", &part] {
        let copy = async |source: &str| {
            let source = format!("/versioned/k{source}");
            world.send(&Draft::put(target, b"").with("x-store-copy-source", source)).await
        };
        let hidden = copy("").await;
        assert_eq!(code(&hidden), is(404, "NoSuchKey"), "{target}");
        assert_eq!(hidden.header("x-amz-delete-marker"), Some("true"), "{target}");
        assert_eq!(hidden.header("x-amz-version-id"), Some(marker), "{target}");
        let named = copy(&format!("?versionId={marker}")).await;
        assert_eq!(code(&named), is(400, "InvalidRequest"), "{target}");
        for id in ["", "abc"] {
            let wrong = copy(&format!("?versionId={id}")).await;
            assert_eq!(code(&wrong), is(400, "InvalidArgument"), "{target} {id}");
            assert_eq!(wrong.element("ArgumentName").as_deref(), Some("x-amz-copy-source"));
            assert_eq!(wrong.element("ArgumentValue").as_deref(), Some(id));
        }
    }
}

#[tokio::test]
async fn a_directory_bucket_deletes_what_has_the_size_and_the_time_that_were_named() {
    let world = World::new(NOW).await;
    let (right, wrong) = (NOW.http_date(), "Sat, 01 Jan 2000 00:00:00 GMT");
    let put = async || {
        let answer = world.send(&zonal("PUT", "/k", b"12345")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    };
    let (time, size) = ("x-store-if-match-last-modified-time", "x-store-if-match-size");
    for (headers, expected) in [
        (&[(size, "6")][..], is(412, "PreconditionFailed")),
        (&[(size, "x")], is(400, "InvalidArgument")),
        (&[(time, wrong)], is(412, "PreconditionFailed")),
        (&[(time, "yesterday")], is(400, "InvalidArgument")),
        (&[(time, &right), (size, "4")], is(412, "PreconditionFailed")),
        (&[(time, &right), (size, "5")], is(204, "")),
        (&[(size, "5")], is(204, "")),
    ] {
        put().await;
        let mut draft = zonal("DELETE", "/k", b"");
        for (name, value) in headers {
            draft = draft.with(name, *value);
        }
        assert_eq!(code(&world.send(&draft).await), expected, "{headers:?}");
        let left = world.send(&zonal("GET", "/k", b"")).await.status;
        assert_eq!(left, if expected.0 == 204 { 404 } else { 200 }, "{headers:?}");
    }
    for (inner, status) in [
        ("<Size>6</Size>".to_owned(), 200),
        (format!("<LastModifiedTime>{wrong}</LastModifiedTime>"), 200),
        ("<ETag>none</ETag>".to_owned(), 200),
        (format!("<LastModifiedTime>{right}</LastModifiedTime><Size>5</Size>"), 404),
        (format!("<LastModifiedTime>{}</LastModifiedTime>", NOW.rfc3339()), 404),
    ] {
        put().await;
        let asked = document(&format!("<Key>k</Key>{inner}"));
        let answer = world.send(&zonal_delete_objects(&asked)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let refused = answer.text().contains("<Code>412 Precondition Failed</Code>");
        assert_eq!(refused, status == 200, "{inner}: {}", answer.text());
        assert_eq!(world.send(&zonal("GET", "/k", b"")).await.status, status, "{inner}");
    }
}

#[tokio::test]
async fn a_delete_of_a_version_takes_no_entity_tag_and_deletes_nothing() {
    let world = World::new(NOW).await;
    for bucket in ["versioned", "bkt"] {
        let put = world.store(&format!("/{bucket}/k"), b"1").await;
        let tag = put.header("etag").unwrap();
        let version = put.header("x-amz-version-id").unwrap_or("null");
        let target = format!("/{bucket}/k?versionId={version}");
        for value in [tag, "\"other\"", "*"] {
            let answer =
                world.send(&Draft::new("DELETE", &target, b"").with("if-match", value)).await;
            assert_eq!(code(&answer), is(501, "NotImplemented"), "{bucket} {value}");
            assert_eq!(answer.element("Header").as_deref(), Some("If-Match"));
            let sentence = "A header you provided implies functionality that is not implemented";
            assert_eq!(answer.element("Message").as_deref(), Some(sentence));
            assert_eq!(world.fetch(&target).await.status, 200, "{bucket} {value}");
        }
        // The current version has no name.
        let current = Draft::new("DELETE", &format!("/{bucket}/k"), b"").with("if-match", tag);
        assert_eq!(world.send(&current).await.status, 204, "{bucket}");
    }
    // In a directory bucket `null` is the object.
    let put = world.send(&zonal("PUT", "/k", b"1")).await;
    let delete = zonal("DELETE", "/k?versionId=null", b"");
    let delete = delete.with("if-match", put.header("etag").unwrap());
    assert_eq!(code(&world.send(&delete).await), is(204, ""));
}

#[tokio::test]
async fn an_absent_key_of_a_directory_bucket_has_any_size_and_time_but_no_entity_tag() {
    let world = World::new(NOW).await;
    let (time, size) = ("x-store-if-match-last-modified-time", "x-store-if-match-size");
    let past = "Sat, 01 Jan 2000 00:00:00 GMT";
    for (headers, expected) in [
        (&[(size, "5")][..], is(204, "")),
        (&[(time, past)], is(204, "")),
        (&[(size, "5"), (time, past)], is(204, "")),
        (&[("if-match", "*")], is(404, "NoSuchKey")),
        (&[("if-match", "\"0\""), (size, "5")], is(404, "NoSuchKey")),
    ] {
        let draft = zonal("DELETE", "/none", b"");
        let draft = headers.iter().fold(draft, |draft, (name, value)| draft.with(name, *value));
        assert_eq!(code(&world.send(&draft).await), expected, "{headers:?}");
    }
    for (inner, expected) in [
        ("<Size>5</Size>".to_owned(), "<Deleted><Key>none</Key></Deleted>"),
        (format!("<LastModifiedTime>{past}</LastModifiedTime>"), "<Deleted><Key>none</Key>"),
        ("<ETag>0</ETag>".to_owned(), "<Code>NoSuchKey</Code>"),
        ("<ETag>0</ETag><Size>5</Size>".to_owned(), "<Code>NoSuchKey</Code>"),
    ] {
        let asked = document(&format!("<Key>none</Key>{inner}"));
        let answer = world.send(&zonal_delete_objects(&asked)).await;
        assert!(answer.text().contains(expected), "{inner}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_condition_of_one_key_of_many_fails_with_the_code_of_its_kind_of_bucket() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"12345").await;
    assert_eq!(world.send(&zonal("PUT", "/k", b"12345")).await.status, 200);
    let past = "Sat, 01 Jan 2000 00:00:00 GMT";
    let sentence =
        "<Message>At least one of the pre-conditions you specified did not hold</Message>";
    for inner in [
        "<ETag>none</ETag>".to_owned(),
        "<Size>6</Size>".to_owned(),
        format!("<LastModifiedTime>{past}</LastModifiedTime>"),
    ] {
        let asked = document(&format!("<Key>k</Key>{inner}"));
        let text = world.send(&zonal_delete_objects(&asked)).await.text();
        let expected = format!("<Code>412 Precondition Failed</Code>{sentence}");
        assert!(text.contains(&expected), "{inner}: {text}");
    }
    let asked = document("<Key>k</Key><ETag>none</ETag>");
    let text = world.send(&delete_objects(&asked)).await.text();
    assert!(text.contains(&format!("<Code>PreconditionFailed</Code>{sentence}")), "{text}");
    // One key by itself has the code of all operations.
    let alone = zonal("DELETE", "/k", b"").with("if-match", "\"none\"");
    assert_eq!(code(&world.send(&alone).await), is(412, "PreconditionFailed"));
}

#[tokio::test]
async fn a_delete_of_many_keys_passes_over_nothing_that_spares_one() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"12345").await;
    for (inner, expected) in [
        ("<Key>k</Key><Size>5</Size>", is(400, "MalformedXML")),
        (
            "<Key>k</Key><LastModifiedTime>Sat, 01 Jan 2000 00:00:00 GMT</LastModifiedTime>",
            is(400, "MalformedXML"),
        ),
        ("<Key>k</Key><Size>many</Size>", is(400, "MalformedXML")),
        ("<Key>k</Key><Key>j</Key>", is(400, "MalformedXML")),
        ("<Key>k</Key><IfOlderThan>5</IfOlderThan>", is(400, "MalformedXML")),
        ("<Key>k</Key><ETag>a</ETag><ETag>b</ETag>", is(400, "MalformedXML")),
    ] {
        // A key before it is not deleted either.
        let asked = document(&format!("<Key>k</Key></Object><Object>{inner}"));
        assert_eq!(code(&world.send(&delete_objects(&asked)).await), expected, "{inner}");
        assert_eq!(world.fetch("/bkt/k").await.status, 200, "{inner}");
    }
    let answer = world.send(&delete_objects(&document("<Key>k</Key>"))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(world.fetch("/bkt/k").await.status, 404);
}

#[tokio::test]
async fn a_hold_or_a_lock_that_is_not_there_is_refused_by_name() {
    let world = World::new(NOW).await;
    for draft in [
        Draft::put("/bkt/k", b"body"),
        Draft::new("POST", "/bkt/k?uploads", b""),
        Draft::put("/bkt/k", b"").with("x-store-copy-source", "/bkt/source"),
    ] {
        world.store("/bkt/source", b"source").await;
        for header in [
            "object-lock-event-hold",
            "object-lock-event-hold-duration-days",
            "object-lock-event-hold-duration-years",
        ] {
            let answer = world.send(&draft.clone().with(&format!("x-store-{header}"), "ON")).await;
            assert_eq!(code(&answer), is(501, "NotImplemented"), "{header}");
            assert_eq!(answer.element("Header"), Some(format!("x-amz-{header}")));
        }
    }
    assert_eq!(world.fetch("/bkt/k").await.status, 404);
    let locked = "x-store-bucket-object-lock-enabled";
    for (header, value, expected) in [
        (locked, "yes", is(400, "InvalidArgument")),
        (locked, "1", is(400, "InvalidArgument")),
        ("x-store-bucket-namespace", "account-regional", is(501, "NotImplemented")),
        ("x-store-bucket-namespace", "global", is(200, "")),
        (locked, "True", is(409, "BucketAlreadyOwnedByYou")),
    ] {
        let answer = world.send(&Draft::put("/new-bucket", b"").with(header, value)).await;
        let own = code(&answer);
        // In the oldest region one's own bucket may be made again.
        let made = own == is(200, "") && expected.0 == 409;
        assert!(own == expected || made, "{header}: {value}: {own:?}");
    }
    world.send(&Draft::put("/locked", b"").with(locked, "true")).await;
    world.store("/locked/k", b"kept").await;
    for (target, document, expected) in [
        (
            "/locked/k?retention",
            "<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>2030-01-01T00:00:00Z</RetainUntilDate><EventHold>ON</EventHold></Retention>",
            is(501, "NotImplemented"),
        ),
        ("/locked/k?retention", "<Retention><Hold>ON</Hold></Retention>", is(400, "MalformedXML")),
        (
            "/locked/k?legal-hold",
            "<LegalHold><Status>OFF</Status><Status>ON</Status></LegalHold>",
            is(400, "MalformedXML"),
        ),
        (
            "/locked?object-lock",
            "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days><DefaultEventHold><Days>1</Days></DefaultEventHold></DefaultRetention></Rule></ObjectLockConfiguration>",
            is(501, "NotImplemented"),
        ),
        (
            "/locked?versioning",
            "<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Enabled</MfaDelete></VersioningConfiguration>",
            is(501, "NotImplemented"),
        ),
        (
            "/locked?versioning",
            "<VersioningConfiguration><Status>Enabled</Status><MfaDelete>Disabled</MfaDelete></VersioningConfiguration>",
            is(200, ""),
        ),
        (
            "/locked?encryption",
            "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BlockedEncryptionTypes><EncryptionType>SSE-S3</EncryptionType></BlockedEncryptionTypes></Rule></ServerSideEncryptionConfiguration>",
            is(400, "MalformedXML"),
        ),
        (
            "/locked?encryption",
            "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault><BlockedEncryptionTypes><EncryptionType>NONE</EncryptionType></BlockedEncryptionTypes></Rule></ServerSideEncryptionConfiguration>",
            is(200, ""),
        ),
        (
            "/locked?publicAccessBlock",
            "<PublicAccessBlockConfiguration><BlockPublicAccess>true</BlockPublicAccess></PublicAccessBlockConfiguration>",
            is(400, "MalformedXML"),
        ),
    ] {
        let answer = world.send(&Draft::document(target, document.as_bytes())).await;
        assert_eq!(code(&answer), expected, "{document}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_condition_that_a_write_does_not_know_is_refused_and_nothing_is_done() {
    let world = World::new(NOW).await;
    let past = "Sat, 01 Jan 2000 00:00:00 GMT";
    let tag = world.store("/bkt/k", b"old").await.header("etag").unwrap().to_owned();
    for (method, header, value) in [
        ("DELETE", "if-none-match", "*"),
        ("DELETE", "if-none-match", &*tag),
        ("DELETE", "if-modified-since", past),
        ("DELETE", "if-unmodified-since", past),
        ("PUT", "if-modified-since", past),
        ("PUT", "if-unmodified-since", past),
    ] {
        let answer = world.send(&Draft::new(method, "/bkt/k", b"new").with(header, value)).await;
        assert_eq!(code(&answer), is(501, "NotImplemented"), "{method} {header}");
        let named = answer.element("Header").unwrap();
        assert!(named.eq_ignore_ascii_case(header), "{named}");
    }
    let read = Draft::new("GET", "/bkt/k", b"").with("if-unmodified-since", past);
    assert_eq!(world.send(&read).await.status, 412);
    assert_eq!(world.send(&Draft::new("GET", "/bkt/k", b"")).await.body, b"old");
}

#[tokio::test]
async fn a_list_of_keys_with_an_empty_one_deletes_nothing() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    let keys = "<Delete><Object><Key>k</Key></Object><Object><Key></Key></Object></Delete>";
    let draft = Draft { method: "POST", ..Draft::document("/bkt?delete", keys.as_bytes()) };
    let answer = world.send(&draft).await;
    let seen = (answer.status, answer.element("Code").unwrap_or_default());
    assert_eq!(seen, (400, "UserKeyMustBeSpecified".to_owned()), "{}", answer.text());
    assert_eq!(world.fetch("/bkt/k").await.status, 200);
}
