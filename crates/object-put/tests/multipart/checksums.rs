//! Checksums of parts and of the whole, as an upload agreed on them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use object_put::body::checksum::Algorithm;

use crate::service::{Draft, NOW, World};
use crate::{Upload, checksum, code, refused};

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
