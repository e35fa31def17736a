//! Listings: the parameters that each takes, and loops of "list a page, delete it, go on", after which nothing stays behind.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use service::{Draft, NOW, World};

/// The elements called `name` of a listing, each as its text.
fn elements<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let parts = text.split(open.as_str()).skip(1);
    parts.map(|part| part.split(close.as_str()).next().unwrap()).collect()
}

/// Lists pages of `most`, deletes each, and gives how many versions were deleted.
async fn empty(world: &World, bucket: &str, most: usize) -> usize {
    let mut marker = String::new();
    let mut deleted = 0;
    loop {
        let target = format!("/{bucket}?versions&max-keys={most}{marker}");
        let page = world.fetch(&target).await.text();
        for kind in ["Version", "DeleteMarker"] {
            for version in elements(&page, kind) {
                let (key, id) = (elements(version, "Key"), elements(version, "VersionId"));
                let target =
                    format!("/{bucket}/{}?versionId={}", key[0].replace(' ', "%20"), id[0]);
                let answer = world.send(&Draft::new("DELETE", &target, b"")).await;
                assert_eq!(answer.status, 204, "{}", answer.text());
                deleted += 1;
            }
        }
        let (key, version) =
            (elements(&page, "NextKeyMarker"), elements(&page, "NextVersionIdMarker"));
        let (Some(key), Some(version)) = (key.first(), version.first()) else {
            return deleted;
        };
        let key = key.replace(' ', "%20");
        marker = format!("&key-marker={key}&version-id-marker={version}");
    }
}

#[tokio::test]
async fn a_loop_that_deletes_each_page_that_it_lists_empties_a_bucket() {
    for bucket in ["versioned", "suspended"] {
        for most in 1..8 {
            let world = World::new(NOW).await;
            let mut written = 0;
            for key in ["a", "a%20", "b", "c"] {
                if bucket == "suspended" {
                    world.store(&format!("/{bucket}/{key}"), b"null").await;
                    written += 1;
                    let status = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
                    let draft = Draft::document(&format!("/{bucket}?versioning"), status);
                    assert_eq!(world.send(&draft).await.status, 200);
                }
                for number in 0..5_u8 {
                    world.store(&format!("/{bucket}/{key}"), &[number]).await;
                    written += 1;
                    if number % 2 == 0 {
                        world.send(&Draft::new("DELETE", &format!("/{bucket}/{key}"), b"")).await;
                        written += 1;
                    }
                }
                if bucket == "suspended" {
                    let status = b"<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>";
                    let draft = Draft::document(&format!("/{bucket}?versioning"), status);
                    assert_eq!(world.send(&draft).await.status, 200);
                }
            }
            assert_eq!(empty(&world, bucket, most).await, written, "{bucket}, {most} a page");
            let answer = world.send(&Draft::new("DELETE", &format!("/{bucket}"), b"")).await;
            assert_eq!(answer.status, 204, "{bucket}, {most} a page: {}", answer.text());
        }
    }
}

/// The reason and the argument of a refusal.
async fn refusal(world: &World, target: &str) -> (String, String, Option<String>) {
    let answer = world.fetch(target).await;
    assert_eq!(answer.status, 400, "{target}: {}", answer.text());
    let element = |name| answer.element(name).unwrap_or_default();
    (element("Message"), element("ArgumentName"), answer.element("ArgumentValue"))
}

#[tokio::test]
async fn a_list_is_of_the_first_form_unless_it_asks_for_the_second() {
    let world = World::new(NOW).await;
    for (query, is_second) in [
        ("list-type=2", true),
        ("list-type=2&list-type=1", true),
        ("list-type=1", false),
        ("list-type=1&list-type=2", false),
        ("list-type=bogus", false),
        ("list-type", false),
    ] {
        let answer = world.fetch(&format!("/bkt?{query}")).await;
        let seen = (answer.element("KeyCount").is_some(), answer.element("Marker").is_some());
        assert_eq!(seen, (is_second, !is_second), "{query}");
    }
}

#[tokio::test]
async fn a_parameter_of_the_other_form_of_a_list_is_refused_also_where_it_is_empty() {
    let world = World::new(NOW).await;
    let token = "continuation-token only supported in REST.GET.BUCKET with list-type=2";
    for (query, reason, name) in [
        ("continuation-token=x", token, "continuation-token"),
        ("start-after=a&continuation-token=", token, "continuation-token"),
        (
            "start-after=&encoding-type=x",
            "startAfter only supported in REST.GET.BUCKET with list-type=2",
            "start-after",
        ),
        ("list-type=2&marker=", "Marker unsupported with REST.GET.BUCKET in list-type=2", "marker"),
    ] {
        let seen = refusal(&world, &format!("/bkt?{query}")).await;
        assert_eq!(seen, (reason.to_owned(), name.to_owned(), None), "{query}");
    }
    let seen = refusal(&world, "/bkt?start-after=a&max-keys=x").await;
    assert_eq!(seen.1, "max-keys", "numbers are read first");
}

#[tokio::test]
async fn the_size_of_a_page_is_read_as_a_number_and_told_as_it_was_asked_for() {
    let world = World::new(NOW).await;
    for form in ["", "list-type=2&", "versions&"] {
        for (most, told) in [("05", "5"), ("-0", "0"), ("1001", "1001"), ("", "1000")] {
            let answer = world.fetch(&format!("/bkt?{form}max-keys={most}")).await;
            assert_eq!(answer.element("MaxKeys").as_deref(), Some(told), "{form}{most}");
        }
        for most in ["abc", "+5", "2147483648", "-2147483649"] {
            let target = format!("/bkt?{form}max-keys={}", most.replace('+', "%2B"));
            let reason = "Provided max-keys not an integer or within integer range".to_owned();
            let expected = (reason, "max-keys".to_owned(), Some(most.to_owned()));
            assert_eq!(refusal(&world, &target).await, expected, "{form}{most}");
        }
        let (reason, name, value) = match form {
            "versions&" => ("max-keys cannot be negative", "max-keys", None),
            _ => (
                "Argument maxKeys must be an integer between 0 and 2147483647",
                "maxKeys",
                Some("-1"),
            ),
        };
        let seen = refusal(&world, &format!("/bkt?{form}max-keys=-01")).await;
        let expected = (reason.to_owned(), name.to_owned(), value.map(str::to_owned));
        assert_eq!(seen, expected, "{form}");
    }
}

#[tokio::test]
async fn an_encoding_is_named_in_either_case_and_told_as_it_was_named() {
    let world = World::new(NOW).await;
    world.store("/bkt/a%20b~", b"x").await;
    for form in ["", "list-type=2&", "versions&"] {
        let answer = world.fetch(&format!("/bkt?{form}encoding-type=URL")).await;
        assert_eq!(answer.element("EncodingType").as_deref(), Some("URL"), "{form}");
        assert_eq!(answer.element("Key").as_deref(), Some("a+b%7E"), "{form}");
    }
    let uploads = world.fetch("/bkt?uploads&encoding-type=Url&delimiter=%20").await;
    assert_eq!(uploads.element("Delimiter").as_deref(), Some("+"));
    assert_eq!(uploads.element("NextKeyMarker").as_deref(), Some(""), "{}", uploads.text());
    assert_eq!(uploads.element("Prefix"), None);
}

#[tokio::test]
async fn what_was_sent_empty_is_told_empty_where_the_real_service_does() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    let second = world.fetch("/bkt?list-type=2&start-after=&delimiter=&fetch-owner=TRUE").await;
    assert_eq!(second.element("StartAfter").as_deref(), Some(""));
    assert_eq!(second.element("Delimiter"), None);
    assert!(second.element("Owner").is_some(), "{}", second.text());
    let versions = world.fetch("/bkt?versions&delimiter=").await;
    assert_eq!(versions.element("Delimiter").as_deref(), Some(""));
    for (query, reason) in [
        ("version-id-marker=", "A version-id marker cannot be specified without a key marker."),
        ("key-marker=k&version-id-marker=", "A version-id marker cannot be empty."),
    ] {
        let seen = refusal(&world, &format!("/bkt?versions&{query}")).await;
        let expected = ("version-id-marker".to_owned(), Some(String::new()));
        assert_eq!(seen, (reason.to_owned(), expected.0, expected.1));
    }
}

#[tokio::test]
async fn listings_of_a_directory_bucket_have_one_delimiter_and_prefixes_that_end_in_it() {
    let world = World::new(NOW).await;
    let session = world.session(NOW).await;
    for form in ["list-type=2", "uploads"] {
        for (more, status) in
            [("", 200), ("&prefix=a/&delimiter=/", 200), ("&prefix=a", 400), ("&delimiter=x", 400)]
        {
            let draft = Draft::zonal("GET", &format!("/?{form}{more}"), b"").within(&session);
            let answer = world.send(&draft).await;
            assert_eq!(answer.status, status, "{form}{more}: {}", answer.text());
        }
    }
}

/// The pages of a listing of the directory bucket, each asked for by what `go_on` reads in the one before.
async fn zonal_pages(
    world: &World,
    target: &str,
    go_on: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let session = world.session(NOW).await;
    let mut pages = Vec::new();
    let mut place = String::new();
    loop {
        let draft = Draft::zonal("GET", &format!("{target}{place}"), b"").within(&session);
        let answer = world.send(&draft).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        pages.push(answer.text());
        assert!(pages.len() < 20, "the pages do not end");
        match go_on(&answer.text()) {
            Some(next) => place = next,
            None => return pages,
        }
    }
}

/// Begins an upload to the directory bucket.
async fn begin_zonal(world: &World, key: &str) -> String {
    let session = world.session(NOW).await;
    let draft = Draft::zonal("POST", &format!("/{key}?uploads"), b"").within(&session);
    world.send(&draft).await.element("UploadId").unwrap()
}

#[tokio::test]
async fn uploads_of_a_directory_bucket_are_paged_by_the_key_marker_alone() {
    let world = World::new(NOW).await;
    let mut ids = Vec::new();
    for key in ["a", "k", "k", "k", "k", "k", "l/1"] {
        ids.push(begin_zonal(&world, key).await);
    }
    let next = |text: &str| {
        let is_last = text.contains("<IsTruncated>false<");
        (!is_last).then(|| elements(text, "NextKeyMarker")[0].to_owned())
    };
    // What a client sends that knows of one kind of buckets is passed over.
    for more in ["", "&upload-id-marker=none", "&encoding-type=url"] {
        for most in 1..4 {
            let target = format!("/?uploads&max-uploads={most}");
            let marker = |text: &str| Some(format!("&key-marker={}{more}", next(text)?));
            let pages = zonal_pages(&world, &target, marker).await;
            let shown: Vec<_> = pages.iter().flat_map(|page| elements(page, "UploadId")).collect();
            assert_eq!(shown, ids, "{most} a page{more}");
            for page in &pages {
                assert!(!page.contains("UploadIdMarker"), "{page}");
                assert!(page.contains("<KeyMarker>"), "{page}");
            }
        }
    }
    let marker = |text: &str| Some(format!("&key-marker={}", next(text)?));
    let pages = zonal_pages(&world, "/?uploads&delimiter=/&max-uploads=1", marker).await.concat();
    assert_eq!(elements(&pages, "UploadId"), ids[..6]);
    assert_eq!(pages.matches("<CommonPrefixes><Prefix>l/</Prefix></CommonPrefixes>").count(), 1);
    for (marker, left) in [("a", &ids[1..]), ("k", &ids[6..]), ("l/", &ids[6..])] {
        let target = format!("/?uploads&key-marker={marker}");
        let page = zonal_pages(&world, &target, |_| None).await.concat();
        assert_eq!(elements(&page, "UploadId"), left, "a key is a marker too: {marker}");
    }
}

#[tokio::test]
async fn a_directory_bucket_lists_the_common_prefixes_that_unfinished_uploads_alone_have() {
    let world = World::new(NOW).await;
    let session = world.session(NOW).await;
    for key in ["a", "b/1", "o", "q/1", "q/2"] {
        let put = Draft::zonal("PUT", &format!("/{key}"), b"x").within(&session);
        assert_eq!(world.send(&put).await.status, 200);
        world.store(&format!("/bkt/{key}"), b"x").await;
    }
    let mut last = String::new();
    // `u` and `pend/u` lie in the folder itself, and `q/` has objects too.
    for key in ["0/z", "pend/q/z", "pend/q/z", "pend/u", "q/0", "u", "z/z/z"] {
        last = begin_zonal(&world, key).await;
        let begin = Draft::new("POST", &format!("/bkt/{key}?uploads"), b"");
        assert_eq!(world.send(&begin).await.status, 200);
    }
    let shown = |pages: &[String]| -> Vec<String> {
        let entries = pages.iter().map(|page| {
            let mut own = [elements(page, "Key"), elements(page, "Prefix")[1..].to_vec()].concat();
            own.sort_unstable();
            assert_eq!(elements(page, "KeyCount"), [own.len().to_string()], "{page}");
            own.into_iter().map(str::to_owned).collect()
        });
        entries.collect::<Vec<Vec<String>>>().concat()
    };
    let next = |text: &str| {
        let token = elements(text, "NextContinuationToken");
        token.first().map(|token| format!("&continuation-token={token}"))
    };
    for most in 1..10 {
        let target = format!("/?list-type=2&max-keys={most}");
        for (more, expected) in [
            ("&delimiter=/", &["0/", "a", "b/", "o", "pend/", "q/", "z/"][..]),
            ("&delimiter=/&prefix=pend/", &["pend/q/"]),
            ("&delimiter=/&prefix=pend/q/", &[]),
            ("&delimiter=/&prefix=q/", &["q/1", "q/2"]),
            ("", &["a", "b/1", "o", "q/1", "q/2"]),
        ] {
            let pages = zonal_pages(&world, &format!("{target}{more}"), next).await;
            assert_eq!(shown(&pages), expected, "{most} a page{more}");
            assert_eq!(pages.len(), expected.len().div_ceil(most).max(1), "{most} a page{more}");
        }
    }
    let general = world.fetch("/bkt?list-type=2&delimiter=/").await.text();
    assert_eq!(shown(&[general]), ["a", "b/", "o", "q/"]);
    let abort = Draft::zonal("DELETE", &format!("/z/z/z?uploadId={last}"), b"").within(&session);
    assert_eq!(world.send(&abort).await.status, 204);
    let pages = zonal_pages(&world, "/?list-type=2&delimiter=/", |_| None).await;
    assert!(!pages.concat().contains("z/"), "an upload that ended has no prefix");
}
