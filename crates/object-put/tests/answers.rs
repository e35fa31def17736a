//! Answers that a client of the real service counts on, over the wire: status, code and what is named.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use object_put::maintenance::seed::Seed;
use object_put::request::dialect::Dialect;
use object_put::server::ObjectPut;
use service::{Answer, Draft, NOW, World};
use sha2::{Digest as _, Sha256};
use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;

fn refused(answer: &Answer, status: u16, code: &str) {
    let seen = (answer.status, answer.element("Code").unwrap_or_default());
    assert_eq!(seen, (status, code.to_owned()), "{}", answer.text());
}

/// A request without a signature: its lines, the host among them, and its body.
async fn raw(world: &World, head: &str, body: &str) -> Answer {
    let length = body.len();
    let text = format!("{head}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}");
    world.exchange(text.as_bytes()).await
}

#[tokio::test]
async fn documents_about_rights_have_each_element_once_and_no_other() {
    let world = World::new(NOW).await;
    let xsi = "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"CanonicalUser\"";
    let shown = world.fetch("/bkt?acl").await;
    let id = shown.element("ID").unwrap();
    let owner = format!("<Owner><ID>{id}</ID></Owner>");
    let grantee = format!("<Grantee {xsi}><ID>{id}</ID><DisplayName>any</DisplayName></Grantee>");
    let acl = |grant: &str, more: &str| {
        format!(
            "<AccessControlPolicy>{owner}<AccessControlList><Grant>{grantee}{grant}</Grant></AccessControlList>{more}</AccessControlPolicy>"
        )
    };
    let full = "<Permission>FULL_CONTROL</Permission>";
    let rule = "<Rule><ObjectOwnership>ObjectWriter</ObjectOwnership></Rule>";
    let owned = |rules: &str| format!("<OwnershipControls>{rules}</OwnershipControls>");
    let payer = |more: &str| {
        format!(
            "<RequestPaymentConfiguration><Payer>BucketOwner</Payer>{more}</RequestPaymentConfiguration>"
        )
    };
    let cors = |more: &str| {
        format!(
            "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>{more}</CORSRule></CORSConfiguration>"
        )
    };
    let twice = "<ObjectOwnership>ObjectWriter</ObjectOwnership>".repeat(2);
    for (query, taken, refused) in [
        (
            "ownershipControls",
            owned(rule),
            vec![
                owned(&rule.repeat(2)),
                owned(&format!("<Rule>{twice}</Rule>")),
                owned(&format!("{rule}<Other/>")),
            ],
        ),
        (
            "acl",
            acl(full, ""),
            vec![
                acl(&full.repeat(2), ""),
                acl(&format!("{full}{grantee}"), ""),
                acl(&format!("{full}<Other/>"), ""),
                acl(full, "<AccessControlList/>"),
                acl(full, &owner),
                acl(full, "<Other/>"),
            ],
        ),
        ("requestPayment", payer(""), vec![payer("<Payer>Requester</Payer>"), payer("<Other/>")]),
        (
            "cors",
            cors(""),
            vec![cors("<Other/>"), cors(&"<MaxAgeSeconds>5</MaxAgeSeconds>".repeat(2))],
        ),
    ] {
        for (document, status) in
            std::iter::once((taken, 200)).chain(refused.into_iter().map(|own| (own, 400)))
        {
            let answer =
                world.send(&Draft::document(&format!("/bkt?{query}"), document.as_bytes())).await;
            assert_eq!(answer.status, status, "{document}: {}", answer.text());
            let code = answer.element("Code").unwrap_or_default();
            assert_eq!(code.starts_with("Malformed"), status == 400, "{code}");
        }
    }
}

#[tokio::test]
async fn a_scheme_that_nobody_knows_is_named_and_the_old_one_is_no_longer_taken() {
    let world = World::new(NOW).await;
    for scheme in ["Basic dTpw", "Bearer x", "AWS4-HMAC-SHA1 x", "aws x:y", "AWS5 x"] {
        let head = format!("GET /bkt HTTP/1.1\r\nx-amz-acl: private\r\nauthorization: {scheme}");
        let answer = raw(&world, &head, "").await;
        refused(&answer, 400, "InvalidArgument");
        assert_eq!(answer.element("Message").unwrap(), "Unsupported Authorization Type");
        assert_eq!(answer.element("ArgumentName").unwrap(), "Authorization");
        assert_eq!(answer.element("ArgumentValue").unwrap(), scheme);
    }
    refused(
        &raw(&world, "GET /bkt HTTP/1.1\r\nauthorization: AWS a:b", "").await,
        400,
        "InvalidRequest",
    );
    let twice = "GET /bkt HTTP/1.1\r\nauthorization: AWS4-HMAC-SHA256 a\r\nauthorization: b";
    assert_eq!(raw(&world, twice, "").await.status, 400);
}

#[tokio::test]
async fn an_answer_without_a_body_tells_the_region_of_a_bucket_too() {
    let world = World::new(NOW).await;
    let told =
        |answer: &Answer| (answer.status, answer.header("x-amz-bucket-region").map(str::to_owned));
    let region = Some("us-east-1".to_owned());
    let other = "authorization: AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261121/eu-west-1/s3/aws4_request, SignedHeaders=host, Signature=a";
    for target in ["/bkt", "/bkt/k"] {
        let head = format!("HEAD {target} HTTP/1.1\r\n{other}");
        assert_eq!(told(&raw(&world, &head, "").await), (400, region.clone()), "{target}");
    }
    // Who may not look into a bucket.
    let nobody = |target: &str| format!("HEAD {target} HTTP/1.1\r\nx-amz-request-payer: none");
    assert_eq!(told(&raw(&world, &nobody("/bkt"), "").await), (403, region));
    assert_eq!(told(&raw(&world, &nobody("/bkt/k"), "").await), (403, None));
    assert_eq!(told(&raw(&world, &nobody("/nowhere"), "").await), (404, None));
}

#[tokio::test]
async fn a_question_across_origins_without_an_origin_is_a_bad_request_whoever_signs_it() {
    let world = World::new(NOW).await;
    for target in [
        "/bkt",
        "/bkt/k",
        "/bkt/k?X-Amz-Signature=1&X-Amz-Algorithm=AWS4-HMAC-SHA256",
        "/bkt/k?AWSAccessKeyId=A&Signature=b&Expires=1",
    ] {
        let answer = raw(&world, &format!("OPTIONS {target} HTTP/1.1"), "").await;
        refused(&answer, 400, "BadRequest");
        let answer =
            raw(&world, &format!("OPTIONS {target} HTTP/1.1\r\norigin: http://a"), "").await;
        refused(&answer, 403, "AccessForbidden");
    }
}

#[tokio::test]
async fn metadata_comes_back_as_a_header_can_carry_it() {
    let world = World::new(NOW).await;
    for (sent, shown) in [
        ("plain", "plain"),
        ("=?UTF-8?B?aGVsbG8=?=", "hello"),
        ("caf\u{e9} au lait", "=?UTF-8?Q?caf=C3=A9_au_lait?="),
        ("=?UTF-8?B?w6k=?=", "=?UTF-8?B?w6k=?="),
    ] {
        let answer = world.send(&Draft::put("/bkt/k", b"x").with("x-store-meta-a", sent)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        for method in ["GET", "HEAD"] {
            let answer = world.send(&Draft::new(method, "/bkt/k", b"")).await;
            assert_eq!(answer.header("x-amz-meta-a"), Some(shown), "{sent}");
        }
    }
}

#[tokio::test]
async fn content_encoding_loses_the_framing_of_the_body_alone() {
    let world = World::new(NOW).await;
    for (sent, shown) in [
        ("gzip, br", Some("gzip, br")),
        ("gzip,aws-chunked", Some("gzip")),
        ("aws-chunked, gzip,  br", Some("gzip,  br")),
        ("AWS-Chunked", None),
        ("aws-chunked , aws-chunked", None),
    ] {
        let framed = Draft::put("/bkt/k", b"1\r\nx\r\n0\r\n\r\n")
            .with("x-store-content-sha256", "STREAMING-UNSIGNED-PAYLOAD-TRAILER")
            .with("x-store-decoded-content-length", "1");
        // A body that came plain keeps whatever it is said to be.
        let plain = Draft::put("/bkt/k", b"x")
            .with("x-store-content-sha256", hex::encode(Sha256::digest(b"x")));
        for (draft, shown) in [(framed, shown), (plain, Some(sent))] {
            let answer = world.send(&draft.with("content-encoding", sent)).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            let answer = world.fetch("/bkt/k").await;
            assert_eq!(answer.header("content-encoding"), shown, "{sent}");
        }
    }
}

#[tokio::test]
async fn a_condition_on_a_time_to_come_is_passed_over() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    let with = |method, name: &str, value: &str| {
        Draft::new(method, "/bkt/k", b"").with(name, value.to_owned())
    };
    let (past, future) = (NOW.http_date(), "Fri, 01 Jan 2100 00:00:00 GMT");
    for method in ["GET", "HEAD"] {
        for (date, status) in [(past.as_str(), 304), (future, 200), (past.as_str(), 304)] {
            let answer = world.send(&with(method, "if-modified-since", date)).await;
            assert_eq!(answer.status, status, "{method} {date}");
        }
    }
    for (date, status) in [(past.as_str(), 412), (future, 200)] {
        let draft = Draft::put("/bkt/copy", b"")
            .with("x-store-copy-source", "bkt/k")
            .with("x-store-copy-source-if-modified-since", date);
        assert_eq!(world.send(&draft).await.status, status, "{date}");
    }
}

#[tokio::test]
async fn a_list_of_buckets_has_bounds_whole_seconds_and_arns() {
    let world = World::new(NOW).await;
    for (most, reason) in [
        ("0", "Argument max-buckets must be an integer between 1 and 10000"),
        ("-01", "Argument max-buckets must be an integer between 1 and 10000"),
        ("10001", "Argument max-buckets must be an integer between 1 and 10000"),
        ("x", "Provided max-buckets not an integer or within integer range"),
    ] {
        let answer = world.fetch(&format!("/?max-buckets={most}")).await;
        refused(&answer, 400, "InvalidArgument");
        assert_eq!(answer.element("Message").as_deref(), Some(reason), "{most}");
    }
    let answer = world.fetch("/?continuation-token=&max-buckets=10000").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.element("BucketArn").as_deref(), Some("arn:aws:s3:::bkt"));
    assert!(answer.element("CreationDate").unwrap().ends_with(".000Z"), "{}", answer.text());
}

#[tokio::test]
async fn a_list_of_buckets_tells_regions_to_who_asks_for_a_page_and_lists_those_of_its_own() {
    let world = World::new(NOW).await;
    for (query, expected) in [
        ("", None),
        ("max-buckets=", Some("us-east-1")),
        ("prefix=", Some("us-east-1")),
        ("bucket-region=US-EAST-1", Some("us-east-1")),
    ] {
        let answer = world.fetch(&format!("/?{query}")).await;
        assert_eq!(answer.element("BucketRegion").as_deref(), expected, "{query}");
    }
    for (region, reason) in [
        (
            "us-west-2",
            "Requests with bucket-region specified must be made to the corresponding regional endpoint",
        ),
        ("us-east-9", "Argument value us-east-9 is not a valid AWS Region"),
    ] {
        let answer = world.fetch(&format!("/?bucket-region={region}")).await;
        refused(&answer, 400, "InvalidArgument");
        assert_eq!(answer.element("Message").as_deref(), Some(reason));
    }
}

#[tokio::test]
async fn a_head_of_a_bucket_tells_its_arn() {
    let world = World::new(NOW).await;
    let answer = world.send(&Draft::new("HEAD", "/bkt", b"")).await;
    assert_eq!(answer.header("x-amz-bucket-arn"), Some("arn:aws:s3:::bkt"));
}

#[tokio::test]
async fn a_checksum_is_asked_for_by_one_word_alone() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    for (mode, status) in [("ENABLED", 200), ("enabled", 200), ("DISABLED", 400), ("", 400)] {
        for method in ["GET", "HEAD"] {
            let draft = Draft::new(method, "/bkt/k", b"").with("x-store-checksum-mode", mode);
            assert_eq!(world.send(&draft).await.status, status, "{method} {mode}");
        }
    }
    let draft = Draft::new("GET", "/bkt/absent", b"").with("x-store-checksum-mode", "DISABLED");
    refused(&world.send(&draft).await, 400, "InvalidRequest");
    let draft = Draft { method: "HEAD", ..draft };
    assert_eq!(world.send(&draft).await.status, 400, "before anything is looked for");
}

#[tokio::test]
async fn an_attribute_that_is_none_is_named_and_so_is_nothing_between_two_commas() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    for (names, expected) in [
        ("ETag,", None),
        ("ETag, ObjectSize,,", None),
        ("ETag,Foo,Bar", Some("Foo")),
        (",ETag", Some("")),
        ("ETag, ,ObjectSize", Some("")),
        ("", Some("")),
    ] {
        let draft = Draft::new("GET", "/bkt/k?attributes", b"");
        let answer = world.send(&draft.with("x-store-object-attributes", names)).await;
        match expected {
            None => assert_eq!(answer.status, 200, "{names}: {}", answer.text()),
            Some(named) => {
                refused(&answer, 400, "InvalidArgument");
                assert_eq!(answer.element("ArgumentValue").as_deref(), Some(named), "{names}");
            }
        }
    }
    let none = Draft::new("GET", "/bkt/k?attributes", b"");
    refused(
        &world.send(&none.with("x-store-object-attributes", ",,")).await,
        400,
        "InvalidRequest",
    );
}

#[tokio::test]
async fn a_header_that_a_parameter_replaces_can_hold_the_value_or_is_refused() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    for value in ["a%0Ab", "a%00", "%7F", "%E2%82%AC"] {
        let answer = world.fetch(&format!("/bkt/k?response-content-type={value}")).await;
        refused(&answer, 400, "InvalidArgument");
        assert_eq!(answer.element("ArgumentName").as_deref(), Some("response-content-type"));
    }
    for value in ["a%09b", "caf%C3%A9"] {
        let answer = world.fetch(&format!("/bkt/k?response-content-type={value}")).await;
        assert_eq!(answer.status, 200, "{value}");
    }
}

#[tokio::test]
async fn an_algorithm_and_a_trailer_that_are_empty_are_none() {
    let world = World::new(NOW).await;
    let draft = Draft::put("/bkt/k", b"x").with("x-store-sdk-checksum-algorithm", "");
    assert_eq!(world.send(&draft).await.status, 200);
    let digest = STANDARD.encode(Sha256::digest(b"x"));
    let draft = draft.with("x-store-trailer", "").with("x-store-checksum-sha256", digest);
    assert_eq!(world.send(&draft).await.status, 200);
    let draft = Draft::put("/bkt/k", b"x").with("x-store-trailer", "");
    assert_eq!(world.send(&draft).await.status, 200);
    refused(
        &world.send(&draft.with("x-store-sdk-checksum-algorithm", "SHA256")).await,
        400,
        "InvalidRequest",
    );
    let tags =
        Draft::put("/bkt?tagging", b"<Tagging><TagSet/></Tagging>").with("x-store-trailer", "");
    refused(&world.send(&tags).await, 400, "InvalidRequest");
}

#[tokio::test]
async fn a_listing_that_goes_on_by_token_does_not_repeat_where_it_began() {
    let world = World::new(NOW).await;
    for key in ["a", "b", "c"] {
        world.store(&format!("/bkt/{key}"), b"x").await;
    }
    let first = world.fetch("/bkt?list-type=2&start-after=a&max-keys=1").await;
    assert_eq!(first.element("StartAfter").as_deref(), Some("a"));
    let token = first.element("NextContinuationToken").unwrap();
    let next =
        world.fetch(&format!("/bkt?list-type=2&start-after=a&continuation-token={token}")).await;
    assert_eq!(next.element("StartAfter"), None);
    assert_eq!(next.element("Key").as_deref(), Some("c"));
}

#[tokio::test]
async fn the_grammar_of_a_list_is_judged_before_the_ownership_of_the_bucket() {
    let world = World::new(NOW).await;
    world.store("/enforced/k", b"x").await;
    for (header, value, code) in [
        ("x-store-acl", "fake", "InvalidArgument"),
        ("x-store-grant-read", "id=none", "InvalidArgument"),
        ("x-store-grant-read", "uri=none", "InvalidArgument"),
        ("x-store-grant-read", "name=none", "InvalidArgument"),
        ("x-store-grant-read", "emailAddress=no@b.c", "UnresolvableGrantByEmailAddress"),
        ("x-store-acl", "public-read", "AccessControlListNotSupported"),
    ] {
        for target in ["/enforced?acl", "/enforced/k?acl", "/enforced/k"] {
            let answer = world.send(&Draft::put(target, b"").with(header, value)).await;
            refused(&answer, 400, code);
        }
    }
    let both = Draft::document("/enforced?acl", b"")
        .with("x-store-acl", "private")
        .with("x-store-grant-read", "id=1");
    refused(&world.send(&both).await, 400, "InvalidRequest");
    let malformed = Draft::document("/enforced?acl", b"<AccessControlPolicy/>");
    refused(&world.send(&malformed).await, 400, "MalformedACLError");
}

#[tokio::test]
async fn a_lock_without_content_is_malformed_before_the_bucket_is_looked_at() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    for target in ["/bkt/k?retention", "/bkt/k?legal-hold"] {
        refused(&world.send(&Draft::document(target, b"")).await, 400, "MalformedXML");
    }
    refused(
        &world.send(&Draft::document("/bkt/k?legal-hold", b"<LegalHold/>")).await,
        400,
        "MalformedXML",
    );
    let hold = Draft::document("/bkt/k?legal-hold", b"<LegalHold><Status>ON</Status></LegalHold>");
    refused(&world.send(&hold).await, 400, "InvalidRequest");
    let bypass =
        Draft::new("POST", "/bkt?delete", b"<Delete><Object><Key>k</Key></Object></Delete>")
            .with("content-md5", "cnXqc7pMRMq5VZAbKmkNkA==")
            .with("x-store-bypass-governance-retention", "true");
    let answer = world.send(&bypass).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    assert_eq!(world.fetch("/bkt/k").await.status, 200);
}

#[tokio::test]
async fn a_body_that_the_default_of_a_bucket_locks_comes_with_a_digest_as_any_that_is_locked() {
    let world = World::new(NOW).await;
    let default = b"<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>";
    let begun = world.send(&Draft::new("POST", "/locked/m?uploads", b"")).await;
    let hold =
        Draft::new("POST", "/locked/h?uploads", b"").with("x-store-object-lock-legal-hold", "ON");
    let held = world.send(&hold).await;
    let [begun, held] = [(begun, "m"), (held, "h")].map(|(answer, key)| {
        format!("/locked/{key}?partNumber=1&uploadId={}", answer.element("UploadId").unwrap())
    });
    let statuses = async |targets: [&str; 3]| {
        let mut statuses = Vec::new();
        for target in targets {
            let put = Draft::put(target, b"abc");
            let bare = world.send(&put).await;
            let md5 =
                world.send(&put.clone().with("content-md5", "kAFQmDzST7DWlj99KOF/cg==")).await;
            let sum = world.send(&put.with("x-store-checksum-crc32", "NSRBwg==")).await;
            let message = bare.element("Message").unwrap_or_default();
            let kind = if target.contains('?') { "Put Part" } else { "Put Object" };
            assert!(bare.status == 200 || message.contains(kind), "{target}: {message}");
            statuses.push((bare.status, md5.status, sum.status));
        }
        statuses
    };
    let (free, asked) = ((200, 200, 200), (400, 200, 200));
    assert_eq!(statuses(["/locked/k", &begun, &held]).await, [free, free, asked]);
    assert_eq!(world.send(&Draft::document("/locked?object-lock", default)).await.status, 200);
    assert_eq!(statuses(["/locked/k", &begun, &held]).await, [asked, asked, asked]);
    for target in ["/locked/copy", &begun] {
        let copy = Draft::put(target, b"").with("x-store-copy-source", "/locked/k");
        assert_eq!(world.send(&copy).await.status, 200, "{target}");
    }
}

#[tokio::test]
async fn tags_without_a_set_are_none() {
    let world = World::new(NOW).await;
    world.send(&Draft::put("/bkt/k", b"x").with("x-store-tagging", "a=1")).await;
    assert_eq!(world.send(&Draft::document("/bkt/k?tagging", b"<Tagging/>")).await.status, 200);
    assert_eq!(world.fetch("/bkt/k").await.header("x-amz-tagging-count"), None);
}

#[tokio::test]
async fn attributes_that_nobody_asks_for_are_an_invalid_request() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"x").await;
    refused(&world.fetch("/bkt/k?attributes").await, 400, "InvalidRequest");
    let wrong =
        Draft::new("GET", "/bkt/k?attributes", b"").with("x-store-object-attributes", "Own");
    refused(&world.send(&wrong).await, 400, "InvalidArgument");
}

#[tokio::test]
async fn the_least_size_of_transitions_is_kept() {
    let world = World::new(NOW).await;
    const NAME: &str = "x-store-transition-default-minimum-object-size";
    let rules = b"<LifecycleConfiguration><Rule><ID>a</ID><Filter/><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>";
    for (value, shown) in [
        (None, "all_storage_classes_128K"),
        (Some("varies_by_storage_class"), "varies_by_storage_class"),
    ] {
        let mut draft = Draft::document("/bkt?lifecycle", rules)
            .with("x-store-sdk-checksum-algorithm", "CRC32");
        draft = draft.with("x-store-checksum-crc32", crc32(rules));
        if let Some(value) = value {
            draft = draft.with(NAME, value);
        }
        let answer = world.send(&draft).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let answer = world.fetch("/bkt?lifecycle").await;
        assert_eq!(answer.header("x-amz-transition-default-minimum-object-size"), Some(shown));
    }
    refused(
        &world.send(&Draft::document("/bkt?lifecycle", rules).with(NAME, "other")).await,
        400,
        "InvalidRequest",
    );
}

fn crc32(body: &[u8]) -> String {
    STANDARD.encode(crc32fast::hash(body).to_be_bytes())
}

#[tokio::test]
async fn a_bucket_that_is_made_again_with_tags_is_refused() {
    let world = World::new(NOW).await;
    let tags = b"<CreateBucketConfiguration><Tags><Tag><Key>a</Key><Value>1</Value></Tag></Tags></CreateBucketConfiguration>";
    assert_eq!(world.send(&Draft::put("/bkt", b"")).await.status, 200);
    refused(&world.send(&Draft::put("/bkt", tags)).await, 409, "BucketAlreadyOwnedByYou");
    let region = b"<CreateBucketConfiguration><LocationConstraint>us-east-1</LocationConstraint></CreateBucketConfiguration>";
    refused(&world.send(&Draft::put("/new-one", region)).await, 400, "InvalidLocationConstraint");
    refused(&world.send(&Draft::put("/base--use1-az4--x-s3", b"")).await, 400, "InvalidRequest");
    refused(&world.send(&Draft::put("/sthree-one", b"")).await, 400, "InvalidBucketName");
    let text = world.fetch("/bkt?location").await.text();
    assert!(
        text.ends_with("<LocationConstraint xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"/>"),
        "{text}"
    );
}

#[tokio::test]
async fn a_request_that_names_no_vendor_is_answered_in_the_dialect_of_the_service() {
    for (dialect, prefix) in [(Dialect::Store, "x-store-"), (Dialect::Amz, "x-amz-")] {
        let world = world_of(|builder| builder.dialect(dialect), service::SEED).await;
        world.send(&Draft::put("/open/k", b"x").with("x-store-meta-a", "1")).await;
        for head in ["GET /open/k HTTP/1.1", "GET /open/none HTTP/1.1", "GET /open/%zz HTTP/1.1"] {
            let answer = raw(&world, head, "").await;
            assert!(answer.header(&format!("{prefix}request-id")).is_some(), "{head} {answer:?}");
        }
        let answer = raw(&world, "GET /open/k HTTP/1.1", "").await;
        assert_eq!(answer.header(&format!("{prefix}meta-a")), Some("1"));
        // Who says it gets it.
        let answer = raw(&world, "GET /open/k HTTP/1.1\r\nx-store-own: 1", "").await;
        assert_eq!(answer.header("x-store-meta-a"), Some("1"));
    }
    let seed = service::SEED.replacen('{', r#"{ "dialect": "amz", "#, 1);
    let world = world_of(|builder| builder, &seed).await;
    let answer = raw(&world, "GET /open HTTP/1.1", "").await;
    assert!(answer.header("x-amz-request-id").is_some());
}

/// A service whose builder `build` finishes.
async fn world_of(
    build: impl FnOnce(object_put::server::Builder) -> object_put::server::Builder,
    seed: &str,
) -> World {
    let clock = std::sync::Arc::new(triptych_core::time::ManualClock::default());
    clock.set(NOW);
    let blobs = triptych_core::blobs::MemoryBlobs::new(SeededIds::from_number(2));
    let store = std::sync::Arc::new(Memory::new());
    let builder = ObjectPut::builder(store, std::sync::Arc::new(blobs)).clock(clock.clone());
    let service = build(builder).seed(Seed::parse(seed).unwrap()).build();
    service.apply_seed().await.unwrap();
    World { service, clock }
}

#[tokio::test]
async fn new_buckets_block_public_access_unless_they_are_told_otherwise() {
    const POLICY: &[u8] = br#"{"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::bkt/*"}}"#;
    let blocking = service::SEED.replace("\"publicAccessBlock\": false,", "");
    let world = world_of(|builder| builder, &blocking).await;
    refused(
        &world.send(&Draft::document("/bkt?acl", b"").with("x-store-acl", "public-read")).await,
        403,
        "AccessDenied",
    );
    refused(&world.send(&Draft::document("/bkt?policy", POLICY)).await, 403, "AccessDenied");
    let block = world.fetch("/bkt?publicAccessBlock").await;
    assert_eq!(block.element("RestrictPublicBuckets").as_deref(), Some("true"), "{}", block.text());
    // What the seed file calls public is.
    refused(
        &world.fetch("/open?publicAccessBlock").await,
        404,
        "NoSuchPublicAccessBlockConfiguration",
    );
    let new = Draft::put("/new-one", b"").with("x-store-object-ownership", "ObjectWriter");
    let public = new.clone().with("x-store-acl", "public-read");
    refused(&world.send(&public).await, 400, "InvalidBucketAclWithBlockPublicAccessError");
    assert_eq!(world.send(&new).await.status, 200);
    assert_eq!(world.fetch("/new-one?publicAccessBlock").await.status, 200);
    // The block goes, and the bucket may become public.
    assert_eq!(world.send(&Draft::new("DELETE", "/bkt?publicAccessBlock", b"")).await.status, 204);
    assert_eq!(world.send(&Draft::document("/bkt?policy", POLICY)).await.status, 204);
    for world in [
        world_of(|builder| builder.public_access_block(false), &blocking).await,
        world_of(|builder| builder, service::SEED).await,
    ] {
        assert_eq!(world.send(&Draft::document("/bkt?policy", POLICY)).await.status, 204);
        assert_eq!(world.send(&public).await.status, 200);
    }
}

#[tokio::test]
async fn rules_of_a_bucket_let_pages_of_other_origins_read_every_answer() {
    let world = World::new(NOW).await;
    const RULES: &[u8] = b"<CORSConfiguration><CORSRule><AllowedOrigin>http://a.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod><AllowedHeader>x-amz-*</AllowedHeader><ExposeHeader>ETag</ExposeHeader></CORSRule></CORSConfiguration>";
    world.store("/open/k", b"x").await;
    refused(&world.fetch("/open?cors").await, 404, "NoSuchCORSConfiguration");
    assert_eq!(world.send(&Draft::document("/open?cors", RULES)).await.status, 200);
    assert_eq!(
        world.fetch("/open?cors").await.element("AllowedOrigin").as_deref(),
        Some("http://a.example")
    );
    let ask = |origin: &str, method: &str, headers: &str| {
        format!(
            "OPTIONS /open/k HTTP/1.1\r\norigin: {origin}\r\naccess-control-request-method: {method}\r\naccess-control-request-headers: {headers}"
        )
    };
    let answer = raw(&world, &ask("http://a.example", "PUT", "X-Amz-Date"), "").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("access-control-allow-headers"), Some("x-amz-date"));
    assert_eq!(answer.header("access-control-allow-methods"), Some("GET, PUT"));
    for (origin, method, headers) in [
        ("http://b.example", "PUT", ""),
        ("http://a.example", "DELETE", ""),
        ("http://a.example", "PUT", "range"),
    ] {
        let answer = raw(&world, &ask(origin, method, headers), "").await;
        refused(&answer, 403, "AccessForbidden");
        assert_eq!(answer.element("ResourceType").as_deref(), Some("OBJECT"));
    }
    for (head, named) in [
        (ask("http://a.example", "get", ""), "Invalid Access-Control-Request-Method: get"),
        (ask("http://a.example", "", ""), "Invalid Access-Control-Request-Method: null"),
        (
            "OPTIONS /open/k HTTP/1.1\r\norigin: http://a.example".to_owned(),
            "Invalid Access-Control-Request-Method: null",
        ),
    ] {
        let answer = raw(&world, &head, "").await;
        refused(&answer, 400, "BadRequest");
        assert_eq!(answer.element("Message").as_deref(), Some(named));
    }
    let etag = world.fetch("/open/k").await.header("etag").unwrap().to_owned();
    for (head, status) in [
        ("GET /open/k HTTP/1.1".to_owned(), 200),
        (format!("GET /open/k HTTP/1.1\r\nif-none-match: {etag}"), 304),
        ("GET /open/none HTTP/1.1".to_owned(), 404),
        ("GET /open/k?X-Amz-Signature=1&X-Amz-Algorithm=a HTTP/1.1".to_owned(), 400),
        ("GET /open/%zz HTTP/1.1".to_owned(), 400),
    ] {
        for (origin, allowed) in
            [("http://a.example", Some("http://a.example")), ("http://b.example", None)]
        {
            let answer = raw(&world, &format!("{head}\r\norigin: {origin}"), "").await;
            assert_eq!(answer.status, status, "{head}: {}", answer.text());
            let seen = answer.header("access-control-allow-origin");
            // A path that names no key names no bucket either.
            let allowed = allowed.filter(|_| !head.contains("%zz"));
            assert_eq!(seen, allowed, "{head} {origin}");
        }
    }
    assert_eq!(world.send(&Draft::new("DELETE", "/open?cors", b"")).await.status, 204);
    let answer = raw(&world, "GET /open/k HTTP/1.1\r\norigin: http://a.example", "").await;
    assert_eq!(answer.header("access-control-allow-origin"), None);
}
