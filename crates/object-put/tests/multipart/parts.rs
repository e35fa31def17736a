//! Parts that are put, copied, listed and read, and who may.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::service::{Draft, NOW, World};
use crate::{Upload, code, md5, refused};

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

/// An object of these parts, whose upload asked for CRC32 of this type.
async fn put_with_checksums(world: &World, kind: &str, bodies: &[&[u8]]) {
    let asked = [("x-amz-checksum-algorithm", "CRC32"), ("x-amz-checksum-type", kind)];
    let upload = Upload::begin(world, "/bkt/k", &asked).await;
    let mut parts = String::new();
    for (number, body) in (1..).zip(bodies) {
        let draft = upload.part(&format!("{number}"), body);
        let put = world.send(&draft.with("x-amz-checksum-crc32", crc32(body))).await;
        let tag = put.header("etag").unwrap().replace('"', "&quot;");
        parts += &format!(
            "<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag><ChecksumCRC32>{}</ChecksumCRC32></Part>",
            crc32(body)
        );
    }
    assert_eq!(upload.complete_with(parts).await.status, 200);
}

fn crc32(body: &[u8]) -> String {
    STANDARD.encode(crc32fast::hash(body).to_be_bytes())
}

/// The checksum that a read of a part tells, and its type.
async fn told_of_part(world: &World, number: u32) -> (Option<String>, Option<String>) {
    let target = format!("/bkt/k?partNumber={number}");
    let head = Draft::new("HEAD", &target, b"").with("x-amz-checksum-mode", "ENABLED");
    let told = world.send(&head).await;
    let header = |name| told.header(name).map(str::to_owned);
    (header("x-amz-checksum-crc32"), header("x-amz-checksum-type"))
}

#[tokio::test]
async fn a_part_brings_its_checksum_where_that_of_the_object_is_made_of_them() {
    let world = World::new(NOW).await;
    let bodies: [&[u8]; 2] = [b"12345678", b"9"];
    put_with_checksums(&world, "COMPOSITE", &bodies).await;
    for (number, body) in (1..).zip(bodies) {
        let told = told_of_part(&world, number).await;
        assert_eq!(told, (Some(crc32(body)), Some("COMPOSITE".to_owned())), "{number}");
        let silent = world.fetch(&format!("/bkt/k?partNumber={number}")).await;
        assert_eq!(silent.header("x-amz-checksum-crc32"), None);
    }
    put_with_checksums(&world, "FULL_OBJECT", &bodies).await;
    for number in [1, 2] {
        assert_eq!(told_of_part(&world, number).await, (None, None), "{number}");
    }
    // An upload that asked for none has one of the whole alone.
    let upload = Upload::begin(&world, "/bkt/k", &[]).await;
    let (one, two) = (upload.put(1, bodies[0]).await, upload.put(2, bodies[1]).await);
    assert_eq!(upload.complete(&[(1, &*one), (2, &*two)]).await.status, 200);
    assert_eq!(told_of_part(&world, 1).await, (None, None));
}

#[tokio::test]
async fn a_part_that_is_all_of_its_object_brings_the_checksum_of_the_object() {
    let world = World::new(NOW).await;
    put_with_checksums(&world, "FULL_OBJECT", &[b"123456789"]).await;
    let whole = (Some("y/Q5Jg==".to_owned()), Some("FULL_OBJECT".to_owned()));
    assert_eq!(told_of_part(&world, 1).await, whole);
    put_with_checksums(&world, "COMPOSITE", &[b"123456789"]).await;
    let part = (Some("y/Q5Jg==".to_owned()), Some("COMPOSITE".to_owned()));
    assert_eq!(told_of_part(&world, 1).await, part);
}

#[tokio::test]
async fn attributes_list_parts_where_the_checksum_of_the_object_is_made_of_theirs() {
    let world = World::new(NOW).await;
    for (kind, is_listed) in [("COMPOSITE", true), ("FULL_OBJECT", false)] {
        put_with_checksums(&world, kind, &[b"12345678", b"9"]).await;
        let asked = Draft::new("GET", "/bkt/k?attributes", b"")
            .with("x-amz-object-attributes", "ObjectParts");
        let text = world.send(&asked).await.text();
        assert!(text.contains("<ObjectParts><PartsCount>2</PartsCount>"), "{text}");
        for shown in ["<PartNumberMarker>", "<MaxParts>", "<IsTruncated>", "<Part>"] {
            assert_eq!(text.contains(shown), is_listed, "{kind}: {text}");
        }
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
        let mut draft = Draft::document(&format!("/bkt/k?uploadId={}", upload.id), b"");
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
    let put = |text: String| Draft::document("/enforced?policy", text.as_bytes());
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
