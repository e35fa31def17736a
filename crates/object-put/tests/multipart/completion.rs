//! Completions: the lists that are taken and refused, their conditions, and who wins of several.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use object_put::body::checksum::Algorithm;

use crate::service::{Draft, NOW, World};
use crate::{Upload, checksum, code, md5, refused, tag_of};

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
