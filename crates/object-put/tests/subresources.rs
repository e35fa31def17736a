//! Sub-resources and settings: which methods they take, which digests and framing their documents need, and what is asked of the wrong resource.

mod service;

use object_put::request::dialect::Dialect;
use service::{Draft, NOW, World};

#[tokio::test]
async fn documents_whose_loss_would_hurt_come_with_a_digest_and_others_need_none() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    const DELETE: &str = "<Delete><Object><Key>k</Key></Object></Delete>";
    const TAGS: &str = "<Tagging><TagSet/></Tagging>";
    for (method, target, document) in [
        ("POST", "/bkt?delete", DELETE),
        ("PUT", "/bkt?tagging", TAGS),
        ("PUT", "/bkt?cors", "<CORSConfiguration/>"),
        ("PUT", "/bkt?lifecycle", "<LifecycleConfiguration/>"),
        ("PUT", "/bkt?object-lock", "<ObjectLockConfiguration/>"),
        ("PUT", "/bkt/k?retention", "<Retention/>"),
        ("PUT", "/bkt/k?legal-hold", "<LegalHold/>"),
    ] {
        let answer = world.send(&Draft::new(method, target, document.as_bytes())).await;
        let message = answer.element("Message").unwrap_or_default();
        let expected = "Missing required header for this request: Content-MD5 OR x-amz-checksum-*";
        assert_eq!((answer.status, message.as_str()), (400, expected), "{target}");
    }
    let tags = Draft::new("PUT", "/bkt/k?tagging", TAGS.as_bytes());
    assert_eq!(world.send(&tags).await.status, 200);
    let tags = Draft::new("PUT", "/bkt?tagging", TAGS.as_bytes()).speaking(Dialect::Store);
    let answer = world.send(&tags).await;
    assert_eq!(answer.status, 204, "the specification asks for none: {}", answer.text());
    let versioning =
        "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>";
    let versioning = Draft::new("PUT", "/versioned?versioning", versioning.as_bytes());
    assert_eq!(world.send(&versioning).await.status, 200);
}

#[tokio::test]
async fn no_part_of_a_bucket_or_an_object_takes_a_head_and_its_methods_are_told() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    for (target, allowed) in [
        ("/bkt?location", "GET"),
        ("/bkt?uploads", "POST, GET"),
        ("/bkt?versioning", "GET, PUT"),
        ("/bkt?policy", "DELETE, GET, PUT"),
        ("/bkt?versions", "GET"),
        ("/nowhere?location", "GET"),
        ("/bkt/k?acl", "GET, PUT"),
        ("/bkt/k?tagging", "DELETE, GET, PUT"),
        ("/bkt/k?uploadId=abc", "DELETE, POST, GET"),
        ("/bkt/k?location", "GET"),
    ] {
        let answer = world.send(&Draft::new("HEAD", target, b"")).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allowed)), "{target}");
    }
    let both = world.send(&Draft::new("HEAD", "/bkt?acl&versioning", b"")).await;
    assert_eq!((both.status, both.header("allow")), (400, None));
    for target in ["/bkt?list-type=2", "/bkt/k?versionId=null", "/bkt/k?partNumber=1"] {
        let answer = world.send(&Draft::new("HEAD", target, b"")).await;
        assert!(matches!(answer.status, 200 | 206), "{target}: {}", answer.status);
    }
}

#[tokio::test]
async fn a_key_has_no_listings_of_its_bucket() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    for (query, expected) in [
        ("versions", "There is no such thing as the ?versions sub-resource for a key"),
        ("uploads", "Key is not expected for the GET method ?uploads subresource"),
    ] {
        let answer = world.fetch(&format!("/bkt/k?{query}")).await;
        let seen = (answer.status, answer.element("Message"));
        assert_eq!(seen, (400, Some(expected.to_owned())));
    }
}

#[tokio::test]
async fn a_part_of_a_bucket_or_an_object_that_does_not_take_a_method_says_which_it_takes() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    for (method, target, resource, allowed) in [
        ("PUT", "/bkt?location", "LOCATION", "GET"),
        ("DELETE", "/bkt?acl", "ACL", "GET, PUT"),
        ("POST", "/bkt?policy", "BUCKETPOLICY", "DELETE, GET, PUT"),
        ("GET", "/bkt?delete", "MULTI_OBJECT_DELETE", "POST"),
        ("GET", "/nowhere?restore", "RESTORE", "POST"),
        ("PUT", "/bkt?uploadId=u", "UPLOAD", "DELETE, POST, GET"),
        ("GET", "/bkt/k?delete", "MULTI_OBJECT_DELETE", "POST"),
        ("GET", "/bkt/k?restore", "RESTORE", "POST"),
        ("GET", "/bkt/k?select", "SELECT", "POST"),
        ("GET", "/bkt/k?encryption", "OBJECT_ENCRYPTION", "PUT"),
        ("GET", "/bkt/k?uploadId=u&partNumber=1", "PART", "PUT"),
        ("DELETE", "/bkt/k?uploadId=u&partNumber=1", "PART", "PUT"),
        ("DELETE", "/bkt/k?retention", "OBJECT_LOCK_RETENTION", "GET, PUT"),
        ("PUT", "/bkt/k?attributes", "OBJECT_ATTRIBUTES", "GET"),
        ("POST", "/bkt/k?tagging", "OBJECT_TAGGING", "DELETE, GET, PUT"),
        ("POST", "/bkt/k?location", "LOCATION", "GET"),
        ("PATCH", "/bkt/k?acl", "ACL", "GET, PUT"),
        ("PATCH", "/bkt/k", "OBJECT", "HEAD, DELETE, GET, PUT"),
        ("PATCH", "/bkt", "BUCKET", "HEAD, DELETE, POST, GET, PUT"),
        ("POST", "/", "SERVICE", "GET"),
    ] {
        let answer = world.send(&Draft::new(method, target, b"")).await;
        assert_eq!(answer.status, 405, "{method} {target}: {}", answer.text());
        let told = ["Method", "ResourceType"].map(|name| answer.element(name).unwrap_or_default());
        assert_eq!(told, [method, resource], "{method} {target}");
        assert_eq!(answer.header("allow"), Some(allowed), "{method} {target}");
    }
    assert_eq!(world.fetch("/bkt/k").await.body, b"x");
}

#[tokio::test]
async fn what_is_the_buckets_alone_is_read_behind_a_key_too_and_changed_behind_none() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    for part in ["location", "versioning", "policy", "cors", "lifecycle", "website", "notification"]
    {
        let expected = world.fetch(&format!("/bkt?{part}")).await;
        for key in ["k", "absent"] {
            let answer = world.fetch(&format!("/bkt/{key}?{part}")).await;
            let seen = (answer.status, answer.element("Code"));
            assert_eq!(seen, (expected.status, expected.element("Code")), "{part}");
            assert_ne!(answer.body, b"x", "{part}");
        }
        let absent = world.fetch(&format!("/nowhere/k?{part}")).await;
        assert_eq!(absent.element("Code").as_deref(), Some("NoSuchBucket"), "{part}");
    }
    let log = world.fetch("/bkt/k?logging").await;
    assert_eq!(log.element("Code").as_deref(), Some("NoLoggingStatusForKey"));
    // What real requests of a key pass over is passed over.
    for part in ["object-lock", "publicAccessBlock", "analytics"] {
        assert_eq!(world.fetch(&format!("/bkt/k?{part}")).await.body, b"x", "{part}");
    }
    let status = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
    for (method, target) in
        [("PUT", "/bkt/k?versioning"), ("DELETE", "/bkt/k?cors"), ("POST", "/bkt/k?delete")]
    {
        let answer = world.send(&Draft::new(method, target, status)).await;
        assert_eq!(answer.status, 501, "{method} {target}: {}", answer.text());
    }
    assert_eq!(world.fetch("/bkt?versioning").await.element("Status"), None);
    assert_eq!(world.fetch("/bkt/k").await.body, b"x");
}

#[tokio::test]
async fn what_is_done_to_an_object_needs_its_key() {
    let world = World::new(NOW).await;
    for (method, target, code, reason) in [
        ("GET", "/bkt?partNumber=1", "InvalidRequest", "Object must have a valid key name."),
        ("PUT", "/bkt?partNumber=x", "InvalidRequest", "Object must have a valid key name."),
        ("GET", "/bkt?uploadId=u", "InvalidRequest", "A key must be specified"),
        ("DELETE", "/bkt?uploadId=u", "InvalidRequest", "A key must be specified"),
        ("POST", "/bkt?restore", "UserKeyMustBeSpecified", "User key must be specified."),
        (
            "GET",
            "/bkt?versionId=null",
            "InvalidArgument",
            "This operation does not accept a version-id.",
        ),
        (
            "GET",
            "/bkt?policy&versionId=x",
            "InvalidArgument",
            "This operation does not accept a version-id.",
        ),
        ("GET", "/bkt?website=1", "InvalidArgument", "The website parameter must not have a value"),
        (
            "GET",
            "/bkt/k?tagging&partNumber=1",
            "InvalidArgument",
            "Conflicting query string parameters: partNumber, tagging",
        ),
    ] {
        let answer = world.send(&Draft::new(method, target, b"")).await;
        let told = ["Code", "Message"].map(|name| answer.element(name).unwrap_or_default());
        assert_eq!((answer.status, told), (400, [code.to_owned(), reason.to_owned()]), "{target}");
    }
}

#[tokio::test]
async fn a_header_that_no_parameter_replaces_is_named() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    let answer = world.fetch("/bkt/k?response-content-md5=abc").await;
    assert_eq!((answer.status, answer.element("Code").as_deref()), (400, Some("InvalidArgument")));
    let named = ["ArgumentName", "ArgumentValue"].map(|name| answer.element(name).unwrap());
    assert_eq!(named, ["response-content-md5", "abc"]);
    assert_eq!(world.fetch("/bkt/k?response-content-md5=").await.status, 200);
}

#[tokio::test]
async fn chunks_that_nobody_signed_are_those_of_objects_alone() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    let tags = b"<Tagging><TagSet/></Tagging>";
    let framed = format!("{:x}\r\n{}\r\n0\r\n\r\n", tags.len(), String::from_utf8_lossy(tags));
    for (method, target, body) in [
        ("PUT", "/bkt/k?tagging", framed.as_bytes()),
        ("GET", "/bkt/k", b""),
        ("DELETE", "/bkt/k", b""),
    ] {
        let draft = Draft::new(method, target, body)
            .with("x-store-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
            .with("x-store-decoded-content-length", tags.len().to_string());
        let answer = world.send(&draft).await;
        let expected = "The value of x-amz-content-sha256 header is invalid.";
        let seen = (answer.status, answer.element("Message"));
        assert_eq!(seen, (400, Some(expected.to_owned())), "{method} {target}");
    }
    assert_eq!(world.fetch("/bkt/k").await.status, 200);
}

#[tokio::test]
async fn a_question_of_a_browser_about_no_bucket_is_answered_as_about_one_that_is_not_there() {
    let world = World::new(NOW).await;
    for (target, origin, method, expected) in [
        ("/", "http://a", "PUT", (403, "CORSResponse: Bucket not found", Some("PUT"))),
        ("/nowhere/k", "http://a", "", (403, "CORSResponse: Bucket not found", Some("OPTIONS"))),
        ("/", "", "PUT", (400, "Insufficient information. Origin request header needed.", None)),
    ] {
        let head = format!(
            "OPTIONS {target} HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\naccess-control-request-method: {method}\r\n\r\n"
        );
        let answer = world.exchange(head.as_bytes()).await;
        let told = ["Message", "Method"].map(|name| answer.element(name));
        let (status, reason, named) = expected;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(told, [Some(reason.to_owned()), named.map(str::to_owned)], "{target}");
    }
}

#[tokio::test]
async fn a_source_of_what_is_no_copy_is_refused_before_anything_is_done() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    let begun = world.send(&Draft::new("POST", "/bkt/k?uploads", b"")).await;
    let id = begun.element("UploadId").unwrap_or_default();
    let completion = format!("/bkt/k?uploadId={id}");
    for dialect in [Dialect::Store, Dialect::Amz] {
        let header = dialect.header("x-store-copy-source").into_owned();
        for (method, target) in [
            ("GET", "/bkt"),
            ("DELETE", "/bkt"),
            ("PUT", "/new"),
            ("POST", "/bkt?delete"),
            ("POST", "/bkt?uploadId=something"),
            ("GET", "/bkt/k"),
            ("DELETE", "/bkt/k"),
            ("PUT", "/bkt/k?tagging"),
            ("POST", "/bkt/k?uploads"),
            ("POST", &completion),
            ("DELETE", &completion),
            ("GET", "/nowhere/k"),
        ] {
            let draft = Draft::new(method, target, b"").speaking(dialect);
            let answer = world.send(&draft.with("x-store-copy-source", "/bkt/k")).await;
            let text = answer.text();
            assert_eq!(answer.status, 400, "{method} {target}: {text}");
            assert_eq!(answer.element("Code").as_deref(), Some("InvalidArgument"), "{text}");
            assert_eq!(answer.element("ArgumentName").as_ref(), Some(&header), "{text}");
            assert_eq!(answer.element("ArgumentValue").as_deref(), Some("/bkt/k"));
            let reason = "You can only specify a copy source header for copy requests.";
            assert_eq!(answer.element("Message").as_deref(), Some(reason));
        }
        let head = Draft::new("HEAD", "/bkt/k", b"").speaking(dialect);
        let head = world.send(&head.with("x-store-copy-source", "/bkt/k")).await;
        assert_eq!(head.status, 400);
    }
    assert_eq!(world.fetch("/bkt/k").await.body, b"x");
    for target in ["/bkt/copy", &format!("{completion}&partNumber=1")] {
        let copy = Draft::put(target, b"").with("x-store-copy-source", "/bkt/k");
        assert_eq!(world.send(&copy).await.status, 200, "{target}");
    }
    // Where nothing is done anyway, the method is what is wrong.
    for (method, target) in [("POST", "/bkt/k"), ("PUT", &*completion)] {
        let wrong = Draft::new(method, target, b"").with("x-store-copy-source", "/bkt/k");
        assert_eq!(world.send(&wrong).await.status, 405, "{method} {target}");
    }
    let question = b"OPTIONS /bkt/k?x-amz-copy-source=%2Fbkt%2Fk HTTP/1.1\r\nhost: localhost\r\norigin: http://a\r\naccess-control-request-method: PUT\r\n\r\n";
    assert_eq!(world.exchange(question).await.status, 403, "a bucket without rules");
}
