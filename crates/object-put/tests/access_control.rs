//! ACLs, policies and conditions beside each other: the rights that each gives, and to whom.

mod service;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use service::{Answer, Draft, NOW, OWNER, PART_BYTES_MIN, World};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;

const OTHER: (&str, &str) = ("OTHER", "other");
const WRITER: (&str, &str) = ("WRITER", "writer");

fn by(key: (&'static str, &'static str), method: &'static str, target: &str) -> Draft {
    Draft { key, ..Draft::new(method, target, b"") }
}

async fn done(world: &World, draft: Draft) -> Answer {
    let answer = world.send(&draft).await;
    assert!(answer.status < 300, "{} {}: {}", draft.method, draft.target, answer.text());
    answer
}

async fn put_policy(world: &World, bucket: &str, statement: &str) {
    let document = format!(r#"{{"Version": "2012-10-17", "Statement": [{{{statement}}}]}}"#);
    done(world, Draft::document(&format!("/{bucket}?policy"), document.as_bytes())).await;
}

fn delete_objects(bucket: &str, body: &str) -> Draft {
    let sum = STANDARD.encode(crc32fast::hash(body.as_bytes()).to_be_bytes());
    Draft::new("POST", &format!("/{bucket}?delete"), body.as_bytes())
        .with("x-store-checksum-crc32", sum)
}

async fn anonymous(world: &World, method: &str, target: &str) -> u16 {
    world
        .exchange(format!("{method} {target} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes())
        .await
        .status
}

#[tokio::test]
async fn a_public_acl_that_is_ignored_lets_nobody_in_and_does_not_shut_its_owner_out() {
    let world = World::new(NOW).await;
    done(&world, Draft::put("/bkt/mine", b"1").with("x-store-acl", "public-read")).await;
    let put = Draft::put("/bkt/theirs", b"1").with("x-store-acl", "public-read");
    done(&world, Draft::document("/bkt?acl", b"").with("x-store-acl", "public-read-write")).await;
    done(&world, Draft { key: OTHER, ..put }).await;
    assert_eq!(anonymous(&world, "GET", "/bkt/mine").await, 200);
    let block = b"<PublicAccessBlockConfiguration><IgnorePublicAcls>true</IgnorePublicAcls></PublicAccessBlockConfiguration>";
    done(&world, Draft::document("/bkt?publicAccessBlock", block)).await;
    for (key, target, status) in [
        (OWNER, "/bkt/mine", 200),
        (OTHER, "/bkt/mine", 403),
        (OTHER, "/bkt/theirs", 200),
        (OWNER, "/bkt/theirs", 403),
        (OWNER, "/bkt", 200),
        (OTHER, "/bkt", 403),
    ] {
        assert_eq!(world.send(&by(key, "GET", target)).await.status, status, "{key:?} {target}");
    }
    assert_eq!(anonymous(&world, "GET", "/bkt/mine").await, 403);
}

#[tokio::test]
async fn a_restricted_bucket_whose_policy_is_public_is_for_its_account_alone_whatever_lets_others_in()
 {
    let world = World::new(NOW).await;
    done(&world, Draft::put("/bkt/mine", b"1").with("x-store-acl", "public-read")).await;
    done(&world, Draft::document("/bkt?acl", b"").with("x-store-acl", "public-read-write")).await;
    let theirs = Draft::put("/bkt/theirs", b"1").with("x-store-acl", "public-read");
    done(&world, Draft { key: OTHER, ..theirs }).await;
    let document = r#"{"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::bkt/public/*"},
        {"Effect": "Allow", "Principal": {"AWS": "444455556666"}, "Action": "s3:GetObjectTagging", "Resource": "arn:aws:s3:::bkt/*"}
    ]}"#;
    done(&world, Draft::document("/bkt?policy", document.as_bytes())).await;
    let reads = ["/bkt/mine", "/bkt/mine?tagging", "/bkt"];
    for (restricts, status) in [(false, 200), (true, 403), (false, 200)] {
        let block = format!(
            "<PublicAccessBlockConfiguration><RestrictPublicBuckets>{restricts}</RestrictPublicBuckets></PublicAccessBlockConfiguration>"
        );
        done(&world, Draft::document("/bkt?publicAccessBlock", block.as_bytes())).await;
        for target in reads {
            assert_eq!(world.send(&by(OTHER, "GET", target)).await.status, status, "{target}");
            done(&world, by(OWNER, "GET", target)).await;
        }
        let put = Draft::put("/bkt/theirs", b"2").with("x-store-acl", "public-read");
        let put = Draft { key: OTHER, ..put };
        assert_eq!(world.send(&put).await.status, status, "{restricts}");
        assert_eq!(anonymous(&world, "GET", "/bkt/mine").await, status, "{restricts}");
        assert_eq!(anonymous(&world, "GET", "/bkt/theirs").await, status, "{restricts}");
    }
}

#[tokio::test]
async fn a_policy_lets_nobody_read_what_another_account_owns_and_can_deny_it() {
    let world = World::new(NOW).await;
    let allow = r#""Effect": "Allow", "Principal": "*", "Action": ["s3:PutObject", "s3:GetObject", "s3:GetObjectAcl", "s3:PutObjectAcl"], "Resource": "arn:aws:s3:::bkt/*""#;
    put_policy(&world, "bkt", allow).await;
    done(&world, Draft::put("/bkt/mine", b"1")).await;
    done(&world, Draft { key: OTHER, ..Draft::put("/bkt/theirs", b"1") }).await;
    for (target, of_owner, of_other, of_anyone) in [
        ("/bkt/mine", 200, 200, 200),
        ("/bkt/mine?acl", 200, 200, 200),
        ("/bkt/theirs", 403, 200, 403),
        ("/bkt/theirs?acl", 403, 200, 403),
    ] {
        for (key, status) in [(OWNER, of_owner), (OTHER, of_other)] {
            let answer = world.send(&by(key, "GET", target)).await;
            assert_eq!(answer.status, status, "{key:?} {target}: {}", answer.text());
        }
        assert_eq!(anonymous(&world, "GET", target).await, of_anyone, "{target}");
    }
    let open = by(OWNER, "PUT", "/bkt/theirs?acl").with("x-store-acl", "public-read");
    assert_eq!(world.send(&open).await.status, 403);
    done(&world, Draft { key: OTHER, ..open }).await;
    assert_eq!(anonymous(&world, "GET", "/bkt/theirs").await, 200);
    put_policy(&world, "bkt", &allow.replace("Allow", "Deny")).await;
    assert_eq!(world.send(&by(OTHER, "GET", "/bkt/theirs")).await.status, 403);
}

#[tokio::test]
async fn who_may_read_a_bucket_by_its_acl_sees_its_uploads_too() {
    let world = World::new(NOW).await;
    for (list, status) in [("private", 403), ("public-read", 200)] {
        done(&world, Draft::document("/bkt?acl", b"").with("x-store-acl", list)).await;
        for query in ["uploads", "versions", "list-type=2"] {
            let target = format!("/bkt?{query}");
            assert_eq!(anonymous(&world, "GET", &target).await, status, "{list} {query}");
        }
    }
}

#[tokio::test]
async fn a_condition_on_an_entity_tag_is_for_whom_may_read_the_object() {
    let world = World::new(NOW).await;
    let both = |more: &str| {
        format!(
            r#""Effect": "Allow", "Principal": "*", "Action": ["s3:PutObject", "s3:DeleteObject"{more}], "Resource": "arn:aws:s3:::enforced/*""#
        )
    };
    let delete = |tag: &str| {
        let body = format!("<Delete><Object><Key>k</Key><ETag>{tag}</ETag></Object></Delete>");
        Draft { key: OTHER, ..delete_objects("enforced", &body) }
    };
    for (more, status, code) in
        [("", 403, "AccessDenied"), (r#", "s3:GetObject""#, 412, "PreconditionFailed")]
    {
        put_policy(&world, "enforced", &both(more)).await;
        done(&world, Draft::put("/enforced/k", b"1")).await;
        let copy = by(OTHER, "PUT", "/enforced/k").with("x-store-copy-source", "/open/k");
        done(&world, Draft::put("/open/k", b"1")).await;
        for draft in [by(OTHER, "PUT", "/enforced/k"), by(OTHER, "DELETE", "/enforced/k"), copy] {
            let method = draft.method;
            let answer = world.send(&draft.with("if-match", "\"0\"")).await;
            assert_eq!(answer.status, status, "{method} {more}: {}", answer.text());
        }
        let answer = world.send(&delete("0")).await;
        assert_eq!(answer.element("Code").as_deref(), Some(code), "{}", answer.text());
        // That there is an object is what a write without a condition tells too.
        let create = by(OTHER, "PUT", "/enforced/k").with("if-none-match", "*");
        assert_eq!(world.send(&create).await.status, 412);
        done(&world, by(OTHER, "DELETE", "/enforced/k").with("if-match", "*")).await;
    }
    done(&world, Draft::put("/enforced/k", b"1")).await;
    let draft = by(WRITER, "PUT", "/enforced/k").with("if-match", "\"0\"");
    assert_eq!(world.send(&draft).await.status, 403);
}

#[tokio::test]
async fn a_policy_that_asks_for_a_condition_of_deletes_sees_it_in_each_of_many_keys() {
    let world = World::new(NOW).await;
    let deny = r#""Effect": "Deny", "Principal": "*", "Action": "s3:DeleteObject", "Resource": "arn:aws:s3:::enforced/*", "Condition": {"Null": {"s3:if-match": "true"}}"#;
    put_policy(&world, "enforced", deny).await;
    let tag =
        done(&world, Draft::put("/enforced/k", b"1")).await.header("etag").unwrap().to_owned();
    done(&world, Draft::put("/enforced/l", b"1")).await;
    assert_eq!(world.send(&by(OWNER, "DELETE", "/enforced/k")).await.status, 403);
    let body = format!(
        "<Delete><Object><Key>k</Key><ETag>{tag}</ETag></Object><Object><Key>l</Key></Object></Delete>"
    );
    let answer = done(&world, delete_objects("enforced", &body)).await;
    assert_eq!(answer.text().matches("<Deleted>").count(), 1, "{}", answer.text());
    assert_eq!(answer.element("Code").as_deref(), Some("AccessDenied"), "{}", answer.text());
    assert_eq!(world.fetch("/enforced/k").await.status, 404);
    done(&world, by(OWNER, "DELETE", "/enforced/l").with("if-match", tag)).await;
}

#[tokio::test]
async fn a_policy_is_a_matter_of_the_account_that_owns_the_bucket() {
    let world = World::new(NOW).await;
    let allow = r#""Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "arn:aws:s3:::enforced""#;
    put_policy(&world, "enforced", allow).await;
    for (method, query, status) in [
        ("GET", "policy", 405),
        ("PUT", "policy", 405),
        ("DELETE", "policy", 405),
        ("GET", "policyStatus", 200),
        ("GET", "acl", 200),
    ] {
        let answer = world.send(&by(OTHER, method, &format!("/enforced?{query}"))).await;
        assert_eq!(answer.status, status, "{method} {query}: {}", answer.text());
    }
    done(&world, by(OWNER, "DELETE", "/enforced?policy")).await;
    assert_eq!(world.send(&by(OTHER, "PUT", "/enforced?policy")).await.status, 403);
}

#[tokio::test]
async fn a_policy_sees_the_tags_that_a_document_brings() {
    let world = World::new(NOW).await;
    done(&world, Draft::put("/enforced/k", b"1")).await;
    for (condition, of_good, of_bad) in [
        (r#""StringEquals": {"s3:RequestObjectTag/kind": "good"}"#, 200, 403),
        (r#""ForAllValues:StringEquals": {"s3:RequestObjectTagKeys": "kind"}"#, 200, 403),
        (r#""Null": {"s3:RequestObjectTagKeys": "true"}"#, 403, 403),
    ] {
        let allow = format!(
            r#""Effect": "Allow", "Principal": "*", "Action": "s3:PutObjectTagging", "Resource": "arn:aws:s3:::enforced/*", "Condition": {{{condition}}}"#
        );
        put_policy(&world, "enforced", &allow).await;
        for (key, value, status) in [("kind", "good", of_good), ("other", "bad", of_bad)] {
            let document = format!(
                "<Tagging><TagSet><Tag><Key>{key}</Key><Value>{value}</Value></Tag></TagSet></Tagging>"
            );
            let draft = Draft::document("/enforced/k?tagging", document.as_bytes());
            let answer = world.send(&Draft { key: OTHER, ..draft }).await;
            assert_eq!(answer.status, status, "{condition} {key}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn each_part_is_judged_by_the_encryption_that_its_upload_was_begun_with() {
    const MODE: &str = "x-store-server-side-encryption";
    const KEY: &str = "x-store-server-side-encryption-kms-key-id";
    let world = World::new(NOW).await;
    let begin = Draft::new("POST", "/enforced/k?uploads", b"");
    let id = "11111111-aaaa-4bbb-8ccc-000000000001";
    let begun = [
        done(&world, begin.clone()).await,
        done(&world, begin.clone().with(MODE, "aws:kms").with(KEY, id)).await,
    ];
    let [plain, sealed] = begun.map(|answer| answer.element("UploadId").unwrap());
    let deny = |condition: &str| {
        format!(
            r#""Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::enforced/*", "Condition": {{{condition}}}"#
        )
    };
    let arn = format!("arn:aws:kms:us-east-1:111122223333:key/{id}");
    for (condition, of_plain, of_sealed) in [
        (r#""Null": {"s3:x-amz-server-side-encryption": "true"}"#.to_owned(), 200, 200),
        (
            r#""StringNotEquals": {"s3:x-amz-server-side-encryption": "aws:kms"}"#.to_owned(),
            403,
            200,
        ),
        (
            format!(
                r#""StringNotEquals": {{"s3:x-amz-server-side-encryption-aws-kms-key-id": "{arn}"}}"#
            ),
            403,
            200,
        ),
        (r#""StringEquals": {"s3:x-amz-server-side-encryption": "AES256"}"#.to_owned(), 403, 200),
    ] {
        put_policy(&world, "enforced", &deny(&condition)).await;
        for (upload, status) in [(&plain, of_plain), (&sealed, of_sealed)] {
            let target = format!("/enforced/k?partNumber=1&uploadId={upload}");
            let part = Draft::put(&target, &[7; PART_BYTES_MIN as usize]);
            let answer = world.send(&part).await;
            assert_eq!(answer.status, status, "{condition}: {}", answer.text());
        }
    }
    let required = r#""Null": {"s3:x-amz-server-side-encryption": "true"}"#;
    put_policy(&world, "enforced", &deny(required)).await;
    assert_eq!(world.send(&begin).await.status, 403);
    let target = format!("/enforced/k?partNumber=1&uploadId={sealed}");
    let part = done(&world, Draft::put(&target, b"1")).await;
    let tag = part.header("etag").unwrap();
    let list = format!(
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{tag}</ETag></Part></CompleteMultipartUpload>"
    );
    let target = format!("/enforced/k?uploadId={sealed}");
    done(&world, Draft::new("POST", &target, list.as_bytes())).await;
}

#[tokio::test]
async fn nobody_unknown_begins_an_upload_where_everybody_may_write() {
    let world = World::new(NOW).await;
    let nobody = async |line: &str| {
        let request = format!("{line} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
        world.exchange(request.as_bytes()).await
    };
    let refused = nobody("POST /open/k?uploads").await;
    assert_eq!((refused.status, refused.element("Code").as_deref()), (403, Some("AccessDenied")));
    let said = refused.element("Message").unwrap();
    assert!(said.starts_with("Anonymous users cannot initiate multipart uploads."), "{said}");
    let begun = done(&world, Draft::new("POST", "/open/k?uploads", b"")).await;
    let upload = begun.element("UploadId").unwrap();
    // Who begins it is known; its parts are written as anything is.
    let part = nobody(&format!("PUT /open/k?partNumber=1&uploadId={upload}")).await;
    assert_eq!(part.status, 200, "{}", part.text());
}

#[tokio::test]
async fn whose_key_may_not_decrypt_lists_no_parts_of_an_upload() {
    let seed = service::SEED.replace("\"store:Put*\"", "\"store:Put*\", \"store:List*\"");
    let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
    let world = World::seeded(Arc::new(Memory::new()), blobs, &seed).await;
    let begin = Draft::new("POST", "/enforced/k?uploads", b"");
    for (mode, status) in [("AES256", 200), ("aws:kms", 403)] {
        let begin = begin.clone().with("x-store-server-side-encryption", mode);
        let upload = done(&world, begin).await.element("UploadId").unwrap();
        let target = format!("/enforced/k?uploadId={upload}");
        done(&world, by(OWNER, "GET", &target)).await;
        assert_eq!(world.send(&by(WRITER, "GET", &target)).await.status, status, "{mode}");
    }
}

#[tokio::test]
async fn a_part_cannot_choose_its_encryption() {
    let world = World::new(NOW).await;
    let answer = done(&world, Draft::new("POST", "/bkt/k?uploads", b"")).await;
    let upload = answer.element("UploadId").unwrap();
    let target = format!("/bkt/k?partNumber=1&uploadId={upload}");
    let part = Draft::put(&target, b"1").with("x-store-server-side-encryption", "AES256");
    let answer = world.send(&part).await;
    let code = answer.element("Code").unwrap();
    assert_eq!((answer.status, code.as_str()), (400, "InvalidArgument"), "{}", answer.text());
}

#[tokio::test]
async fn where_acls_count_for_nothing_all_belongs_to_the_owner_of_the_bucket() {
    let world = World::new(NOW).await;
    let (main, other) = ("main", "other");
    done(&world, Draft::document("/bkt?acl", b"").with("x-store-acl", "public-read-write")).await;
    let put = Draft::put("/bkt/k", b"1").with("x-store-acl", "public-read");
    done(&world, Draft { key: OTHER, ..put }).await;
    done(&world, by(OTHER, "POST", "/bkt/k?uploads")).await;
    done(&world, Draft::document("/bkt?acl", b"").with("x-store-acl", "private")).await;
    for (ownership, owner, of_owner, of_other, of_anyone) in [
        ("ObjectWriter", other, 403, 200, 200),
        ("BucketOwnerEnforced", main, 200, 403, 403),
        // The list and the owner were kept.
        ("BucketOwnerPreferred", other, 403, 200, 200),
    ] {
        let rule = format!(
            "<OwnershipControls><Rule><ObjectOwnership>{ownership}</ObjectOwnership></Rule></OwnershipControls>"
        );
        done(&world, Draft::document("/bkt?ownershipControls", rule.as_bytes())).await;
        let list = by(OWNER, "GET", "/bkt/k?acl");
        let answer = world.send(&list).await;
        assert_eq!(answer.status, of_owner, "{ownership}");
        assert_eq!(answer.text().matches("<Grant>").count(), usize::from(of_owner == 200));
        let answer = world.send(&Draft { key: OTHER, ..list }).await;
        assert_eq!(answer.status, of_other, "{ownership}");
        assert_eq!(anonymous(&world, "GET", "/bkt/k").await, of_anyone, "{ownership}");
        for query in ["list-type=2&fetch-owner=true", "versions", "uploads"] {
            let listing = done(&world, by(OWNER, "GET", &format!("/bkt?{query}"))).await;
            let owners = listing.element("Owner").unwrap();
            assert!(
                owners.contains(&format!("<DisplayName>{owner}")),
                "{ownership} {query}: {owners}"
            );
        }
    }
}

#[tokio::test]
async fn what_a_new_bucket_brings_along_has_permissions_of_its_own() {
    let tags = "<CreateBucketConfiguration><Tags><Tag><Key>a</Key><Value>1</Value></Tag></Tags></CreateBucketConfiguration>";
    let ownership = ("x-store-object-ownership", "ObjectWriter");
    for (headers, body, permissions) in [
        (&[][..], "", ""),
        (&[("x-store-acl", "private")], "", ""),
        (&[ownership], "", "PutBucketOwnershipControls"),
        (
            &[ownership, ("x-store-acl", "public-read")],
            "",
            "PutBucketOwnershipControls PutBucketAcl",
        ),
        (
            &[("x-store-bucket-object-lock-enabled", "true")],
            "",
            "PutBucketObjectLockConfiguration PutBucketVersioning",
        ),
        (&[], tags, "TagResource"),
    ] {
        let all: Vec<_> = permissions.split_whitespace().collect();
        // Each of them is needed, and no other.
        for lacking in 0..=all.len() {
            let mut allow: Vec<_> = vec!["\"store:CreateBucket\"".to_owned()];
            let held = all.iter().enumerate().filter(|(place, _)| *place != lacking);
            allow.extend(held.map(|(_, name)| format!("\"store:{name}\"")));
            let seed = format!(
                r#"{{"publicAccessBlock": false, "accounts": [{{"id": "111122223333", "displayName": "main", "keys": [
                    {{"accessKeyId": "MAKER", "secretAccessKey": "maker", "allow": [{}]}}]}}]}}"#,
                allow.join(", ")
            );
            let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
            let world = World::seeded(Arc::new(Memory::new()), blobs, &seed).await;
            let draft = Draft { key: ("MAKER", "maker"), ..Draft::put("/new", body.as_bytes()) };
            let draft = headers.iter().fold(draft, |draft, (name, value)| draft.with(name, *value));
            let answer = world.send(&draft).await;
            let status = if lacking == all.len() { 200 } else { 403 };
            assert_eq!(answer.status, status, "{allow:?}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn where_acls_are_disabled_none_is_taken_but_the_full_control_of_the_owner() {
    let world = World::new(NOW).await;
    done(&world, Draft::put("/enforced/k", b"1")).await;
    let shown = done(&world, by(OWNER, "GET", "/enforced?acl")).await;
    for target in ["/enforced?acl", "/enforced/k?acl", "/enforced/new"] {
        for (list, status) in [
            ("bucket-owner-full-control", 200),
            ("private", 400),
            ("bucket-owner-read", 400),
            ("public-read", 400),
        ] {
            let answer = world.send(&by(OWNER, "PUT", target).with("x-store-acl", list)).await;
            assert_eq!(answer.status, status, "{target} {list}");
            let code = answer.element("Code");
            let expected = (status == 400).then_some("AccessControlListNotSupported");
            assert_eq!(code.as_deref(), expected, "{target} {list}");
        }
        if target.ends_with("?acl") {
            done(&world, Draft::put(target, &shown.body)).await;
        }
    }
}
