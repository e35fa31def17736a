//! Permissions of versions, and policies that could not count.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use object_put::operation::table::OPERATIONS;
use object_put::operation::{Operation, Run};
use object_put::request::location::Target;
use service::{Answer, Draft, NOW, World};

const OTHER: (&str, &str) = ("OTHER", "other");
const READER: (&str, &str) = ("READER", "reader");

async fn put_policy(world: &World, bucket: &str, document: &str) -> Answer {
    world.send(&Draft::document(&format!("/{bucket}?policy"), document.as_bytes())).await
}

/// A policy of one statement on the objects of `bucket`, for everybody.
fn statement(effect: &str, action: &str, bucket: &str) -> String {
    format!(
        r#"{{"Version": "2012-10-17", "Statement": [{{"Effect": "{effect}", "Principal": "*",
            "Action": "{action}", "Resource": "arn:aws:s3:::{bucket}/*"}}]}}"#
    )
}

async fn world_of(effect: &str, action: &str, bucket: &str) -> World {
    let world = World::new(NOW).await;
    let answer = put_policy(&world, bucket, &statement(effect, action, bucket)).await;
    assert_eq!(answer.status, 204, "{action}: {}", answer.text());
    world
}

async fn version_of(world: &World, target: &str) -> String {
    world.store(target, b"old").await.header("x-amz-version-id").unwrap().to_owned()
}

/// The operations on a version: what a policy must name for each, and what the plain form of it is called.
const OF_VERSIONS: [(&str, &str, &str, &str); 9] = [
    ("GET", "", "GetObjectVersion", "GetObject"),
    ("HEAD", "", "GetObjectVersion", "GetObject"),
    ("GET", "acl&", "GetObjectVersionAcl", "GetObjectAcl"),
    ("GET", "tagging&", "GetObjectVersionTagging", "GetObjectTagging"),
    ("PUT", "tagging&", "PutObjectVersionTagging", "PutObjectTagging"),
    ("DELETE", "tagging&", "DeleteObjectVersionTagging", "DeleteObjectTagging"),
    ("GET", "attributes&", "GetObjectVersionAttributes", "GetObjectAttributes"),
    ("GET", "attributes&", "GetObjectVersion", "GetObject"),
    ("DELETE", "", "DeleteObjectVersion", "DeleteObject"),
];

#[tokio::test]
async fn a_denied_permission_of_versions_denies_and_that_of_objects_does_not() {
    for (method, query, of_version, of_object) in OF_VERSIONS {
        for (action, is_denied) in [(of_version, true), (of_object, false)] {
            let world = world_of("Deny", &format!("s3:{action}"), "versioned").await;
            let id = version_of(&world, "/versioned/k").await;
            let body = b"<Tagging><TagSet></TagSet></Tagging>";
            let body = if method == "PUT" { &body[..] } else { b"" };
            let draft = Draft::new(method, &format!("/versioned/k?{query}versionId={id}"), body)
                .with("x-store-object-attributes", "ETag");
            let answer = world.send(&draft).await;
            let seen = format!("{method} {query} {action}: {}", answer.text());
            assert_eq!(answer.status == 403, is_denied, "{seen}");
        }
    }
}

#[tokio::test]
async fn who_may_get_objects_alone_reads_no_old_version() {
    for (action, of_current, of_version) in
        [("s3:GetObject", 200, 403), ("s3:getobjectversion", 403, 200)]
    {
        let world = world_of("Allow", action, "versioned").await;
        let id = version_of(&world, "/versioned/k").await;
        let get = |target: &str| Draft { key: OTHER, ..Draft::new("GET", target, b"") };
        assert_eq!(world.send(&get("/versioned/k")).await.status, of_current, "{action}");
        let old = get(&format!("/versioned/k?versionId={id}"));
        assert_eq!(world.send(&old).await.status, of_version, "{action}");
    }
}

#[tokio::test]
async fn a_denial_holds_for_each_key_of_many() {
    let world = world_of("Deny", "s3:DeleteObjectVersion", "versioned").await;
    let id = version_of(&world, "/versioned/k").await;
    let body = format!(
        "<Delete><Object><Key>k</Key><VersionId>{id}</VersionId></Object><Object><Key>k</Key></Object></Delete>"
    );
    let draft = Draft::new("POST", "/versioned?delete", body.as_bytes())
        .with("x-store-checksum-crc32", crc32(body.as_bytes()));
    let answer = world.send(&draft).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.element("Code").as_deref(), Some("AccessDenied"), "{}", answer.text());
    assert_eq!(answer.element("DeleteMarker").as_deref(), Some("true"), "{}", answer.text());
    assert_eq!(world.fetch(&format!("/versioned/k?versionId={id}")).await.body, b"old");
}

fn crc32(body: &[u8]) -> String {
    use base64::Engine as _;
    let sum = crc32fast::hash(body).to_be_bytes();
    base64::engine::general_purpose::STANDARD.encode(sum)
}

#[tokio::test]
async fn a_denied_bypass_of_governance_is_denied() {
    for (effect, status) in [("Deny", 403), ("Allow", 204)] {
        let world = world_of(effect, "s3:BypassGovernanceRetention", "locked").await;
        let put = Draft::put("/locked/k", b"held")
            .with("x-store-object-lock-mode", "GOVERNANCE")
            .with("x-store-object-lock-retain-until-date", "2027-01-01T00:00:00Z")
            .with("x-store-sdk-checksum-algorithm", "CRC32")
            .with("x-store-checksum-crc32", crc32(b"held"));
        let answer = world.send(&put).await;
        let id = answer.header("x-amz-version-id").unwrap().to_owned();
        let delete = Draft::new("DELETE", &format!("/locked/k?versionId={id}"), b"")
            .with("x-store-bypass-governance-retention", "true");
        assert_eq!(world.send(&delete).await.status, status, "{effect}");
    }
}

#[tokio::test]
async fn a_policy_that_could_not_count_is_malformed() {
    let world = World::new(NOW).await;
    let with = |version: &str, principal: &str, action: &str, resource: &str| {
        format!(
            r#"{{"Version": "{version}", "Statement": [{{"Effect": "Allow", "Principal": {principal},
                "Action": {action}, "Resource": "{resource}"}}]}}"#
        )
    };
    let (version, everybody) = ("2012-10-17", r#""*""#);
    let (action, object) = (r#""s3:GetObject""#, "arn:aws:s3:::enforced/*");
    for good in [
        with(version, everybody, action, object),
        with("2008-10-17", r#"{"AWS": "444455556666"}"#, r#""s3:*""#, "arn:aws:s3:::enforced"),
        with(version, r#"{"AWS": ["arn:aws:iam::444455556666:root"]}"#, r#""s3:Get*""#, object),
    ] {
        assert_eq!(put_policy(&world, "enforced", &good).await.status, 204, "{good}");
    }
    for bad in [
        with("2012-10-18", everybody, action, object),
        with(version, everybody, r#""s3:GetObjekt""#, object),
        with(version, everybody, r#""s3:Frob*""#, object),
        with(version, everybody, r#""ec2:RunInstances""#, object),
        with(version, everybody, r#""s3:ListBucket""#, object),
        with(version, everybody, r#"["s3:GetObject", "s3:ListBucket"]"#, object),
        with(version, everybody, action, "arn:aws:s3:::enforced"),
        with(version, everybody, action, "arn:aws:s3:::other/*"),
        with(version, everybody, action, "arn:aws:sqs:::enforced/*"),
        with(version, everybody, action, "enforced/*"),
        with(version, everybody, action, "*"),
        with(version, r#""""#, action, object),
        with(version, r#"{"AWS": []}"#, action, object),
        with(version, r#"{"AWS": ""}"#, action, object),
        with(version, r#"{"AWS": "999999999999"}"#, action, object),
        with(version, r#"{"AWS": "arn:aws:iam::999999999999:root"}"#, action, object),
        with(version, r#"{"CanonicalUser": "abc"}"#, action, object),
    ] {
        let answer = put_policy(&world, "enforced", &bad).await;
        assert_eq!(answer.element("Code").as_deref(), Some("MalformedPolicy"), "{bad}");
        assert_eq!(answer.status, 400, "{bad}");
    }
}

#[tokio::test]
async fn who_may_read_but_not_list_is_not_told_that_a_key_is_absent() {
    let world = world_of("Allow", "s3:GetObject*", "enforced").await;
    for (key, status) in [(OTHER, 403), (READER, 403), (service::OWNER, 404)] {
        for method in ["GET", "HEAD"] {
            let draft = Draft { key, ..Draft::new(method, "/enforced/absent", b"") };
            assert_eq!(world.send(&draft).await.status, status, "{method} {key:?}");
        }
    }
    world.store("/enforced/there", b"1").await;
    let draft = Draft { key: OTHER, ..Draft::new("GET", "/enforced/there", b"") };
    assert_eq!(world.send(&draft).await.status, 200);
    // Whom the policy lets list is told.
    let lists = r#"{"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::enforced/*"},
        {"Effect": "Allow", "Principal": "*", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::enforced"}]}"#;
    assert_eq!(put_policy(&world, "enforced", lists).await.status, 204);
    let draft = Draft { key: OTHER, ..Draft::new("GET", "/enforced/absent", b"") };
    assert_eq!(world.send(&draft).await.status, 404);
    // A key's own list counts where no policy does.
    let draft = Draft { key: READER, ..Draft::new("GET", "/versioned/absent", b"") };
    assert_eq!(world.send(&draft).await.status, 403);
}

/// A request for an operation on a bucket or on an object that is there.
fn request_of(row: &'static Operation) -> Draft {
    let path = match row.target {
        Target::Object => "/versioned/k",
        Target::Bucket | Target::Service => "/versioned",
    };
    let (headers, parameters): (Vec<_>, Vec<_>) =
        row.markers().partition(|marker| marker.starts_with("x-store-"));
    let parameters: Vec<_> = parameters
        .into_iter()
        .map(|name| match name {
            "list-type" => "list-type=2".to_owned(),
            "website" => "website".to_owned(), // It takes no value.
            "uploadId" if row.method == "PUT" => "uploadId=1&partNumber=1".to_owned(),
            name => format!("{name}=1"),
        })
        .collect();
    let target = format!("{path}?{}", parameters.join("&"));
    if matches!(row.run, Run::Form) {
        let form = "--b\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nk\r\n--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n1\r\n--b--";
        return Draft::new(row.method, path, form.as_bytes())
            .with("content-type", "multipart/form-data; boundary=b");
    }
    let draft = Draft::new(row.method, &target, b"");
    headers.into_iter().fold(draft, |draft, name| draft.with(name, "versioned/k"))
}

/// A policy of one statement for everybody, on the bucket and its objects alike.
fn policy_of(effect: &str, actions: &[&str]) -> String {
    let actions: Vec<_> = actions.iter().map(|action| format!("\"s3:{action}\"")).collect();
    format!(
        r#"{{"Statement": [{{"Effect": "{effect}", "Principal": "*", "Action": [{}],
            "Resource": ["arn:aws:s3:::versioned", "arn:aws:s3:::versioned/*"]}}]}}"#,
        actions.join(", ")
    )
}

/// Rights that operations need of another thing than the one that they are about: the source of a copy, the object of its attributes.
const BESIDE: [&str; 2] = ["GetObject", "ListBucket"];

/// Rights of the owner that no policy takes away.
const NEVER_DENIED: [&str; 3] = ["GetBucketPolicy", "PutBucketPolicy", "DeleteBucketPolicy"];

async fn world_with(policy: &str) -> World {
    let world = World::new(NOW).await;
    world.store("/versioned/k", b"old").await;
    let answer = put_policy(&world, "versioned", policy).await;
    assert_eq!(answer.status, 204, "{policy}: {}", answer.text());
    world
}

#[tokio::test]
async fn the_permission_of_every_operation_counts_as_denied_and_as_allowed() {
    let rows = OPERATIONS.iter().filter(|row| {
        row.needs_bucket && !row.permission.is_empty() && !matches!(row.run, Run::NotImplemented)
    });
    let mut count = 0;
    for row in rows {
        let action = row.permission.strip_prefix("store:").unwrap();
        let (own, other) = (request_of(row), Draft { key: OTHER, ..request_of(row) });
        let world = world_with(&policy_of("Deny", &[action])).await;
        let seen = world.send(&own).await;
        let never = NEVER_DENIED.contains(&action);
        assert_eq!(seen.status == 403, !never, "{} is denied its owner: {}", row.name, seen.text());
        if !BESIDE.contains(&action) {
            let world = world_with(&policy_of("Allow", &BESIDE)).await;
            let seen = world.send(&other).await;
            assert_eq!(seen.status, 403, "{} without its permission: {}", row.name, seen.text());
        }
        let world = world_with(&policy_of("Allow", &[action, BESIDE[0], BESIDE[1]])).await;
        let seen = world.send(&other).await;
        assert_ne!(seen.status, 403, "{} with its permission: {}", row.name, seen.text());
        count += 1;
    }
    assert!(count > 50, "{count} operations");
}

#[tokio::test]
async fn a_policy_that_denies_everything_can_be_taken_back_by_the_account_that_owns_the_bucket() {
    let all = r#"{"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "s3:*",
        "Resource": ["arn:aws:s3:::versioned", "arn:aws:s3:::versioned/*"]}]}"#;
    let world = world_with(all).await;
    for (key, expected) in [(service::OWNER, 200), (READER, 403), (OTHER, 403)] {
        let draft = Draft { key, ..Draft::new("GET", "/versioned?policy", b"") };
        assert_eq!(world.send(&draft).await.status, expected, "{key:?}");
    }
    assert_eq!(world.send(&Draft::new("GET", "/versioned/k", b"")).await.status, 403);
    assert_eq!(world.send(&Draft::new("DELETE", "/versioned?policy", b"")).await.status, 204);
    assert_eq!(world.send(&Draft::new("GET", "/versioned/k", b"")).await.status, 200);
}

#[tokio::test]
async fn conditions_of_a_policy_look_at_the_signature_and_the_time() {
    let denied = |condition: &str| {
        format!(
            r#"{{"Statement": [{{"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject",
                "Resource": "arn:aws:s3:::versioned/*", "Condition": {condition}}}]}}"#
        )
    };
    for (condition, status) in [
        (r#"{"StringNotEquals": {"s3:authType": "REST-HEADER"}}"#, 200),
        (r#"{"StringEquals": {"s3:authType": "REST-HEADER"}}"#, 403),
        (r#"{"StringEquals": {"s3:signatureversion": "AWS"}}"#, 200),
        (r#"{"StringNotLike": {"s3:signatureversion": "*4-HMAC-SHA256"}}"#, 200),
        (r#"{"NumericGreaterThan": {"s3:signatureAge": "600000"}}"#, 200),
        (r#"{"NumericLessThan": {"s3:signatureAge": 600000}}"#, 403),
        (r#"{"DateGreaterThan": {"aws:CurrentTime": "2099-01-01T00:00:00Z"}}"#, 200),
        (r#"{"DateLessThan": {"aws:CurrentTime": "2099-01-01T00:00:00Z"}}"#, 403),
        (r#"{"ArnNotLike": {"aws:PrincipalArn": "arn:aws:iam::111122223333:*"}}"#, 200),
        (r#"{"StringEquals": {"aws:PrincipalAccount": "111122223333"}}"#, 403),
    ] {
        let world = world_with(&denied(condition)).await;
        let answer = world.send(&Draft::new("GET", "/versioned/k", b"")).await;
        assert_eq!(answer.status, status, "{condition}");
    }
}

#[tokio::test]
async fn a_policy_can_ask_for_conditional_writes() {
    let policy = r#"{"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::versioned/*",
        "Condition": {"Null": {"s3:if-none-match": "true"}, "Bool": {"s3:ObjectCreationOperation": "true"}}}]}"#;
    let world = world_with(policy).await;
    assert_eq!(world.send(&Draft::put("/versioned/new", b"1")).await.status, 403);
    let create = Draft::put("/versioned/new", b"1").with("if-none-match", "*");
    assert_eq!(world.send(&create).await.status, 200);
    // What makes no object yet needs no condition.
    let begin = Draft::new("POST", "/versioned/parts?uploads", b"");
    assert_eq!(world.send(&begin).await.status, 200);
}

#[tokio::test]
async fn a_copy_takes_tags_along_only_where_they_may_be_read_and_set() {
    const COPY: &[(&str, &str)] = &[];
    const REPLACE: &[(&str, &str)] = &[("x-store-tagging-directive", "REPLACE")];
    const ANEW: &[(&str, &str)] =
        &[("x-store-tagging-directive", "REPLACE"), ("x-store-tagging", "b=2")];
    for (denied, of_version, headers, status) in [
        ("GetObjectTagging", false, COPY, 403),
        ("GetObjectTagging", true, COPY, 200),
        ("GetObjectVersionTagging", true, COPY, 403),
        ("GetObjectVersionTagging", false, COPY, 200),
        ("PutObjectTagging", false, COPY, 403),
        ("GetObjectTagging", false, REPLACE, 200),
        ("PutObjectTagging", false, REPLACE, 200),
        ("PutObjectTagging", false, ANEW, 403),
    ] {
        let world = World::new(NOW).await;
        let put = Draft::put("/versioned/tagged", b"1").with("x-store-tagging", "a=1");
        let stored = world.send(&put).await;
        let id = stored.header("x-amz-version-id").unwrap();
        let answer = put_policy(&world, "versioned", &policy_of("Deny", &[denied])).await;
        assert_eq!(answer.status, 204, "{}", answer.text());
        let query = if of_version { format!("?versionId={id}") } else { String::new() };
        let copy = Draft::put("/versioned/copy", b"")
            .with("x-store-copy-source", format!("versioned/tagged{query}"));
        let copy = headers.iter().fold(copy, |copy, (name, value)| copy.with(name, *value));
        let answer = world.send(&copy).await;
        assert_eq!(answer.status, status, "{denied} {query} {headers:?}: {}", answer.text());
    }
    // What has no tags is copied by whoever may read it.
    let world = world_with(&policy_of("Deny", &["GetObjectTagging", "PutObjectTagging"])).await;
    let copy = Draft::put("/versioned/copy", b"").with("x-store-copy-source", "versioned/k");
    assert_eq!(world.send(&copy).await.status, 200);
    // A key that may get objects and nothing else sees no tags by way of a copy.
    let world = World::new(NOW).await;
    let put = Draft::put("/enforced/tagged", b"1").with("x-store-tagging", "a=1");
    assert_eq!(world.send(&put).await.status, 200);
    let allow = statement("Allow", "s3:GetObject", "enforced");
    assert_eq!(put_policy(&world, "enforced", &allow).await.status, 204);
    let own = Draft { key: OTHER, ..Draft::put("/theirs", b"") };
    assert_eq!(world.send(&own).await.status, 200);
    for (headers, status) in [(COPY, 403), (REPLACE, 200)] {
        let copy = Draft { key: OTHER, ..Draft::put("/theirs/copy", b"") };
        let copy = copy.with("x-store-copy-source", "enforced/tagged");
        let copy = headers.iter().fold(copy, |copy, (name, value)| copy.with(name, *value));
        let answer = world.send(&copy).await;
        assert_eq!(answer.status, status, "{headers:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn whom_a_policy_lets_write_needs_its_word_for_tags_and_locks() {
    const ALLOWED: &str = "PutObject";
    let until = "2027-01-01T00:00:00Z";
    let tags: &[(&str, &str)] = &[("x-store-tagging", "a=1")];
    let hold: &[(&str, &str)] = &[("x-store-object-lock-legal-hold", "ON")];
    let retention: &[(&str, &str)] = &[
        ("x-store-object-lock-mode", "GOVERNANCE"),
        ("x-store-object-lock-retain-until-date", until),
    ];
    let list: &[(&str, &str)] = &[("x-store-acl", "bucket-owner-full-control")];
    for (actions, headers, status) in [
        (&[ALLOWED][..], &[][..], 200),
        (&[ALLOWED], tags, 403),
        (&[ALLOWED, "PutObjectTagging"], tags, 200),
        (&[ALLOWED], hold, 403),
        (&[ALLOWED, "PutObjectLegalHold"], hold, 200),
        (&[ALLOWED], retention, 403),
        (&[ALLOWED, "PutObjectRetention"], retention, 200),
        // A list goes with the right to write.
        (&[ALLOWED], list, 200),
    ] {
        let world = World::new(NOW).await;
        let policy = policy_of("Allow", actions).replace(":versioned", ":locked");
        assert_eq!(put_policy(&world, "locked", &policy).await.status, 204);
        for draft in [
            Draft::put("/locked/k", b"1").with("x-store-checksum-crc32", crc32(b"1")),
            Draft::new("POST", "/locked/k?uploads", b""),
        ] {
            let draft = Draft { key: OTHER, ..draft };
            let draft = headers.iter().fold(draft, |draft, (name, value)| draft.with(name, *value));
            let answer = world.send(&draft).await;
            assert_eq!(answer.status, status, "{actions:?} {draft:?}: {}", answer.text());
        }
    }
    // Where everybody may write, no policy has let them.
    let world = World::new(NOW).await;
    let put = Draft { key: OTHER, ..Draft::put("/open/k", b"1") };
    assert_eq!(world.send(&put.with("x-store-tagging", "a=1")).await.status, 200);
}

#[tokio::test]
async fn who_may_not_set_locks_sets_none_with_an_object() {
    const RETENTION: &[(&str, &str)] = &[
        ("x-store-object-lock-mode", "GOVERNANCE"),
        ("x-store-object-lock-retain-until-date", "2027-01-01T00:00:00Z"),
    ];
    const HOLD: &[(&str, &str)] = &[("x-store-object-lock-legal-hold", "ON")];
    for (denied, headers, status) in [
        ("PutObjectRetention", RETENTION, 403),
        ("PutObjectRetention", HOLD, 200),
        ("PutObjectLegalHold", HOLD, 403),
        ("PutObjectLegalHold", RETENTION, 200),
        ("PutObjectRetention", &[], 200),
    ] {
        let world = world_of("Deny", &format!("s3:{denied}"), "locked").await;
        world.store("/locked/k", b"1").await;
        let copy = Draft::put("/locked/copy", b"").with("x-store-copy-source", "locked/k");
        for draft in [
            Draft::put("/locked/k", b"held").with("x-store-checksum-crc32", crc32(b"held")),
            Draft::new("POST", "/locked/k?uploads", b""),
            copy,
        ] {
            let draft = headers.iter().fold(draft, |draft, (name, value)| draft.with(name, *value));
            let answer = world.send(&draft).await;
            assert_eq!(answer.status, status, "{denied} {draft:?}: {}", answer.text());
        }
    }
}

/// A write that sets a lock: with an object, or on one that is there.
fn lock_of(mode: &str, until: &str, hold: &str) -> Vec<Draft> {
    let retention = format!(
        "<Retention><Mode>{mode}</Mode><RetainUntilDate>{until}</RetainUntilDate></Retention>"
    );
    let held = format!("<LegalHold><Status>{hold}</Status></LegalHold>");
    let with = |draft: Draft| {
        draft
            .with("x-store-object-lock-mode", mode)
            .with("x-store-object-lock-retain-until-date", until)
            .with("x-store-object-lock-legal-hold", hold)
    };
    vec![
        with(Draft::put("/locked/new", b"1").with("x-store-checksum-crc32", crc32(b"1"))),
        with(Draft::new("POST", "/locked/new?uploads", b"")),
        with(Draft::put("/locked/copy", b"").with("x-store-copy-source", "locked/k")),
        Draft::document("/locked/k?retention", retention.as_bytes()),
        Draft::document("/locked/k?legal-hold", held.as_bytes()),
    ]
}

#[tokio::test]
async fn a_policy_looks_at_the_lock_that_a_document_sets_as_at_that_of_headers() {
    // It is 2026-11-21: the end is 11 days away, the last of which has begun.
    let until = "2026-12-01T12:00:00Z";
    for (condition, of_retention, of_hold) in [
        (r#""StringEquals": {"s3:object-lock-mode": "GOVERNANCE"}"#, true, false),
        (r#""StringEquals": {"s3:object-lock-mode": "COMPLIANCE"}"#, false, false),
        (r#""NumericGreaterThan": {"s3:object-lock-remaining-retention-days": "10"}"#, true, false),
        (
            r#""NumericGreaterThan": {"s3:object-lock-remaining-retention-days": "11"}"#,
            false,
            false,
        ),
        (r#""DateGreaterThan": {"s3:object-lock-retain-until-date": "2026-12-01"}"#, true, false),
        (r#""DateGreaterThan": {"s3:object-lock-retain-until-date": "2026-12-02"}"#, false, false),
        (r#""StringEquals": {"s3:object-lock-legal-hold": "ON"}"#, false, true),
        (r#""StringEquals": {"s3:object-lock-legal-hold": "OFF"}"#, false, false),
    ] {
        for (place, draft) in lock_of("GOVERNANCE", until, "ON").into_iter().enumerate() {
            let world = World::new(NOW).await;
            world.store("/locked/k", b"1").await;
            let policy = policy_of("Deny", &["PutObjectRetention", "PutObjectLegalHold"])
                .replace(":versioned", ":locked")
                .replace(r#""Effect""#, &format!(r#""Condition": {{{condition}}}, "Effect""#));
            assert_eq!(put_policy(&world, "locked", &policy).await.status, 204, "{policy}");
            let is_denied = match place {
                // With an object comes all of it.
                0..=2 => of_retention || of_hold,
                3 => of_retention,
                _ => of_hold,
            };
            let answer = world.send(&draft).await;
            let status = if is_denied { 403 } else { 200 };
            assert_eq!(answer.status, status, "{condition} {draft:?}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn a_head_shows_what_may_be_seen_of_tags_and_locks() {
    const SHOWN: [(&str, &str); 4] = [
        ("GetObjectTagging", "x-amz-tagging-count"),
        ("GetObjectRetention", "x-amz-object-lock-mode"),
        ("GetObjectRetention", "x-amz-object-lock-retain-until-date"),
        ("GetObjectLegalHold", "x-amz-object-lock-legal-hold"),
    ];
    for denied in ["", "GetObjectTagging", "GetObjectRetention", "GetObjectLegalHold"] {
        let world = World::new(NOW).await;
        let put = Draft::put("/locked/k", b"held")
            .with("x-store-tagging", "a=1")
            .with("x-store-object-lock-mode", "GOVERNANCE")
            .with("x-store-object-lock-retain-until-date", "2027-01-01T00:00:00Z")
            .with("x-store-object-lock-legal-hold", "ON")
            .with("x-store-checksum-crc32", crc32(b"held"));
        assert_eq!(world.send(&put).await.status, 200);
        if !denied.is_empty() {
            let policy = statement("Deny", &format!("s3:{denied}"), "locked");
            assert_eq!(put_policy(&world, "locked", &policy).await.status, 204);
        }
        for method in ["HEAD", "GET"] {
            let answer = world.send(&Draft::new(method, "/locked/k", b"")).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            for (permission, header) in SHOWN {
                let is_shown = answer.header(header).is_some();
                assert_eq!(is_shown, permission != denied, "{method} {denied} {header}");
            }
        }
        // Who may get it alone sees its bytes alone.
        let get = Draft { key: READER, ..Draft::new("GET", "/locked/k", b"") };
        assert_eq!(world.send(&get).await.header(SHOWN[0].1).is_some(), denied != SHOWN[0].0);
    }
    let world = world_of("Allow", "s3:GetObject", "locked").await;
    let put = Draft::put("/locked/k", b"1").with("x-store-tagging", "a=1");
    assert_eq!(world.send(&put).await.status, 200);
    let answer = world.send(&Draft { key: OTHER, ..Draft::new("GET", "/locked/k", b"") }).await;
    assert_eq!((answer.status, answer.header(SHOWN[0].1)), (200, None));
}
