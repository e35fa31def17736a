//! Access points: another way to a bucket, where two policies must let a request through.

mod service;

use std::sync::Arc;

use object_put::request::dialect::Dialect;
use service::{Answer, Draft, NOW, SEED, World};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{Counted, Memory};

const OTHER: (&str, &str) = ("OTHER", "other");
/// The ways to the access point `myap`: a host and the start of the path.
const WAYS: [(&str, &str); 4] = [
    ("myap-111122223333.localhost", ""),
    ("myap-111122223333.s3-accesspoint.us-east-1.amazonaws.com", ""),
    ("myap-abc--s3alias.localhost:7802", ""),
    ("localhost", "/myap-abc--s3alias"),
];

fn through(host: &'static str, method: &'static str, target: &str, body: &[u8]) -> Draft {
    Draft { host, ..Draft::new(method, target, body) }
}

fn on_premises(host: &'static str, method: &'static str, target: &str, body: &[u8]) -> Draft {
    Draft { service: "s3-outposts", ..through(host, method, target, body) }
}

fn seen(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

#[tokio::test]
async fn each_way_to_an_access_point_leads_to_its_bucket() {
    let world = World::new(NOW).await;
    for (host, start) in WAYS {
        let put = through(host, "PUT", &format!("{start}/dir/k"), host.as_bytes());
        let answer = world.send(&put).await;
        assert_eq!(answer.status, 200, "{host}: {}", answer.text());
        assert_eq!(world.fetch("/bkt/dir/k").await.body, host.as_bytes());
        let list = world.send(&through(host, "GET", &format!("{start}/?list-type=2"), b"")).await;
        assert!(list.text().contains("<Key>dir/k</Key>"), "{}", list.text());
        let owner = put.clone().with("x-store-expected-bucket-owner", "111122223333");
        assert_eq!(world.send(&owner).await.status, 200, "the owner is the bucket's");
        let delete = through(host, "DELETE", &format!("{start}/dir/k"), b"");
        assert_eq!(world.send(&delete).await.status, 204);
    }
}

#[tokio::test]
async fn an_access_point_that_another_instance_made_is_found_at_once() {
    // Counted stores pass for those of another machine, which instances share.
    let store = Arc::new(Counted::new(Arc::new(Memory::new())));
    let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
    let first = World::on(store.clone(), blobs.clone(), NOW).await;
    first.store("/bkt/k", b"1").await;
    let asked = async |expected: u16| {
        for (host, target) in [
            ("new-111122223333.s3-accesspoint.us-east-1.amazonaws.com", "/k"),
            ("new-111122223333.localhost", "/k"),
            ("localhost", "/new-s3alias/k"),
        ] {
            let answer = first.send(&through(host, "GET", target, b"")).await;
            assert_eq!(answer.status, expected, "{host}{target}: {}", answer.text());
        }
    };
    asked(404).await;
    let point = |bucket: &str| {
        let seed = SEED.replacen(
            "\"accessPoints\": [",
            &format!(
                r#""accessPoints": [ {{ "name": "new", "account": "111122223333", "bucket": "{bucket}", "alias": "new-s3alias" }},"#
            ),
            1,
        );
        assert_ne!(seed, SEED);
        seed
    };
    World::seeded(store.clone(), blobs.clone(), &point("bkt")).await;
    asked(200).await;
    // Another instance empties the store, and one with another file fills it.
    use triptych_core::host::Hosted as _;
    World::seeded(store.clone(), blobs, &point("enforced")).await.service.reset().await.unwrap();
    asked(404).await;
    first.store("/enforced/k", b"2").await;
    asked(200).await;
    store.take();
    let draft = through("new-111122223333.localhost", "GET", "/k", b"");
    assert_eq!(first.send(&draft).await.body, b"2");
    let trips = store.take();
    assert!(trips.reads <= 4, "an access point that is known costs one read more: {trips}");
}

#[tokio::test]
async fn a_bucket_that_is_not_there_costs_no_more_than_one_that_is() {
    // Counted stores pass for those of another machine, which instances share.
    let store = Arc::new(Counted::new(Arc::new(Memory::new())));
    let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
    let world = World::on(store.clone(), blobs, NOW).await;
    let anonymous = |target: &str| format!("GET {target} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    let refused =
        |target: &str| Draft { key: (service::OWNER.0, "wrong"), ..Draft::new("GET", target, b"") };
    let signed = |target: &str| Draft::new("GET", target, b"");
    let asked = async |target: &str| {
        let mut trips = Vec::new();
        for bytes in
            [signed(target).bytes(), refused(target).bytes(), anonymous(target).into_bytes()]
        {
            store.take();
            let answer = world.exchange(&bytes).await;
            assert!([403, 404].contains(&answer.status), "{target}: {}", answer.text());
            trips.push(store.take().reads);
        }
        trips
    };
    asked("/bkt/none").await;
    let there = asked("/bkt/none").await;
    for target in ["/none/k", "/none-s3alias/k"] {
        let none = asked(target).await;
        assert!(none.iter().zip(&there).all(|(none, there)| none <= there), "{none:?} {there:?}");
    }
}

#[tokio::test]
async fn rules_for_other_origins_are_those_of_the_place_that_the_request_was_led_to() {
    let world = World::new(NOW).await;
    const RULES: &[u8] = b"<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>";
    assert_eq!(world.send(&Draft::document("/enforced?cors", RULES)).await.status, 200);
    let host = "everybody-111122223333.localhost";
    let is_allowed = async |draft: Draft| {
        let answer = world.send(&draft.with("origin", "http://a")).await;
        answer.header("access-control-allow-origin").is_some()
    };
    let wrong = || Draft { key: (service::OWNER.0, "wrong"), ..through(host, "GET", "/k", b"") };
    assert!(is_allowed(through(host, "GET", "/k", b"")).await);
    assert!(is_allowed(wrong()).await, "what is refused comes from there too");
    // In a path no access point stands under its name and account.
    let in_path = || Draft::new("GET", "/everybody-111122223333/k", b"");
    assert!(!is_allowed(in_path()).await);
    let made = world.send(&Draft::put("/everybody-111122223333", b"")).await;
    assert_eq!(made.status, 200, "{}", made.text());
    // A bucket of the name comes before the access point.
    for draft in [through(host, "GET", "/k", b""), wrong(), in_path()] {
        assert!(!is_allowed(draft).await);
    }
}

#[tokio::test]
async fn an_access_point_neither_deletes_nor_configures_its_bucket() {
    let world = World::new(NOW).await;
    for (host, start) in WAYS {
        for (method, query) in [
            ("DELETE", ""),
            ("PUT", "?policy"),
            ("PUT", "?versioning"),
            ("PUT", ""),
            ("DELETE", "?cors"),
            ("GET", "?encryption"),
        ] {
            let answer = world.send(&through(host, method, &format!("{start}/{query}"), b"")).await;
            assert_eq!(
                seen(&answer),
                (405, "MethodNotAllowed".to_owned()),
                "{host} {method} {query}"
            );
        }
        let answer = world.send(&through(host, "GET", &format!("{start}/?location"), b"")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    assert_eq!(world.fetch("/bkt").await.status, 200);
}

#[tokio::test]
async fn who_looks_for_an_access_point_that_is_not_there_is_told() {
    let world = World::new(NOW).await;
    for (host, target, code) in [
        ("none-111122223333.s3-accesspoint.us-east-1.amazonaws.com", "/k", "NoSuchAccessPoint"),
        ("myap-444455556666.s3-accesspoint.us-east-1.amazonaws.com", "/k", "NoSuchAccessPoint"),
        ("bkt.s3-accesspoint.us-east-1.amazonaws.com", "/k", "NoSuchAccessPoint"),
        ("localhost", "/none-s3alias/k", "NoSuchAccessPoint"),
        ("none-111122223333.localhost", "/k", "NoSuchBucket"),
        ("localhost", "/myap-111122223333/k", "NoSuchBucket"),
    ] {
        let answer = world.send(&through(host, "GET", target, b"")).await;
        assert_eq!(seen(&answer), (404, code.to_owned()), "{host}{target}");
    }
}

#[tokio::test]
async fn both_policies_must_let_a_request_through() {
    let world = World::new(NOW).await;
    let shared = "shared-111122223333.localhost";
    let of_other =
        |method, target: &str| Draft { key: OTHER, ..through(shared, method, target, b"1") };
    world.store("/enforced/open/k", b"1").await;
    world.store("/enforced/public/k", b"1").await;
    // The access point alone does not do.
    assert_eq!(world.send(&of_other("GET", "/open/k")).await.status, 403);
    for condition in [
        r#"{"StringEquals": {"s3:DataAccessPointAccount": "111122223333"}}"#,
        r#"{"ArnLike": {"s3:DataAccessPointArn": "arn:aws:s3:us-east-1:111122223333:accesspoint/*"}}"#,
        r#"{"StringEquals": {"s3:DataAccessPointArn": "arn:aws:s3:us-east-1:111122223333:accesspoint/shared"}}"#,
    ] {
        let policy = format!(
            r#"{{"Statement": [{{"Effect": "Allow", "Principal": "*", "Action": "s3:*",
                "Resource": ["arn:aws:s3:::enforced", "arn:aws:s3:::enforced/*"], "Condition": {condition}}}]}}"#
        );
        let answer = world.send(&Draft::document("/enforced?policy", policy.as_bytes())).await;
        assert_eq!(answer.status, 204, "{}", answer.text());
        assert_eq!(world.send(&of_other("GET", "/open/k")).await.status, 200, "{condition}");
        assert_eq!(world.send(&of_other("PUT", "/open/k")).await.status, 200, "{condition}");
        // Not what the access point does not allow, nor what another allows everybody and keeps for its account.
        let everybody = "everybody-111122223333.localhost";
        let kept = Draft { key: OTHER, ..through(everybody, "GET", "/open/k", b"") };
        assert_eq!(world.send(&kept).await.status, 403, "{condition}");
        assert_eq!(
            world.send(&Draft { key: service::OWNER, ..kept }).await.status,
            200,
            "{condition}"
        );
        assert_eq!(world.send(&of_other("DELETE", "/open/k")).await.status, 403, "{condition}");
        assert_eq!(world.send(&of_other("GET", "/public/k")).await.status, 403, "{condition}");
        // Nor without the access point.
        let direct = Draft { key: OTHER, ..Draft::new("GET", "/enforced/open/k", b"") };
        assert_eq!(world.send(&direct).await.status, 403, "{condition}");
    }
}

#[tokio::test]
async fn a_denial_of_the_access_point_counts_for_its_owner_too_and_answers_are_not_mixed_up() {
    let world = World::new(NOW).await;
    let shut = "shut-alias.localhost";
    assert_eq!(world.send(&through(shut, "PUT", "/no/k", b"1")).await.status, 403);
    assert_eq!(world.send(&through(shut, "PUT", "/yes/k", b"1")).await.status, 200);
    assert_eq!(
        world.send(&through("myap-111122223333.localhost", "PUT", "/no/k", b"1")).await.status,
        200
    );
    assert_eq!(world.send(&through(shut, "GET", "/no/k", b"")).await.status, 200);
}

#[tokio::test]
async fn who_asks_for_a_bucket_by_an_alias_is_told_so() {
    let world = World::new(NOW).await;
    // Turn about: what was answered on one way is none of another's.
    for _ in 0..2 {
        for (host, target, aliased) in [
            ("shut-alias.localhost", "/", "true"),
            ("localhost", "/shut-alias", "true"),
            ("myap-111122223333.localhost", "/", "false"),
            ("bkt.localhost", "/", "false"),
            ("localhost", "/bkt", "false"),
        ] {
            let answer = world.send(&through(host, "HEAD", target, b"")).await;
            assert_eq!(answer.status, 200, "{host}{target}");
            let told = answer.header("x-amz-access-point-alias");
            assert_eq!(told, Some(aliased), "{host}{target}");
        }
    }
}

#[tokio::test]
async fn a_copy_may_come_from_an_access_point() {
    let world = World::new(NOW).await;
    world.store("/bkt/a%20b", b"source").await;
    let copy = |source: &str| Draft::put("/versioned/k", b"").with("x-store-copy-source", source);
    for source in [
        "arn:aws:s3:us-east-1:111122223333:accesspoint/myap/object/a b",
        "arn%3Aaws%3As3%3Aus-east-1%3A111122223333%3Aaccesspoint%2Fmyap%2Fobject%2Fa%20b",
    ] {
        let answer = world.send(&copy(source)).await;
        assert_eq!(answer.status, 200, "{source}: {}", answer.text());
        assert_eq!(world.fetch("/versioned/k").await.body, b"source");
    }
    for (source, code) in [
        ("arn:aws:s3:us-east-1:111122223333:accesspoint/none/object/k", "NoSuchAccessPoint"),
        ("arn:aws:s3:us-east-1:111122223333:accesspoint/myap/object/none", "NoSuchKey"),
        ("arn:aws:s3:us-east-1:111122223333:accesspoint/myap", "InvalidArgument"),
        ("arn:aws:s3:us-east-1:111122223333:accesspoint/myap/object/", "InvalidArgument"),
        ("arn:aws:s3:::bkt/k", "InvalidArgument"),
    ] {
        let answer = world.send(&copy(source)).await;
        assert_eq!(answer.element("Code").as_deref(), Some(code), "{source}: {}", answer.text());
    }
}

#[tokio::test]
async fn what_is_on_premises_is_reached_through_its_access_points_alone_and_has_one_class() {
    let world = World::new(NOW).await;
    for host in [
        "outap-111122223333.op-01234567890123456.localhost",
        "outap-111122223333.op-01234567890123456.s3-outposts.us-east-1.amazonaws.com",
    ] {
        let put = on_premises(host, "PUT", "/k", b"here");
        let answer = world.send(&put).await;
        assert_eq!(answer.status, 200, "{host}: {}", answer.text());
        let get = world.send(&on_premises(host, "GET", "/k", b"")).await;
        assert_eq!(
            (get.body.as_slice(), get.header("x-amz-storage-class")),
            (&b"here"[..], Some("OUTPOSTS"))
        );
        for (header, value, status, code) in [
            ("x-store-storage-class", "OUTPOSTS", 200, ""),
            ("x-store-storage-class", "STANDARD", 400, "InvalidStorageClass"),
            ("x-store-acl", "private", 501, "NotImplemented"),
            ("x-store-grant-read", "id=1", 501, "NotImplemented"),
            ("if-none-match", "*", 501, "NotImplemented"),
            ("x-store-tagging", "a=b", 200, ""),
            ("content-md5", "XrY7u+Ae7tCTyyK7j1rNww==", 400, "BadDigest"),
        ] {
            let answer = world.send(&put.clone().with(header, value)).await;
            assert_eq!(seen(&answer), (status, code.to_owned()), "{header}: {value}");
        }
        let acl = world.send(&on_premises(host, "GET", "/k?acl", b"")).await;
        assert_eq!(acl.status, 501, "{}", acl.text());
        let source = "arn:aws:s3-outposts:us-east-1:111122223333:outpost/op-01234567890123456/accesspoint/outap/object/k";
        let copy = Draft::put("/bkt/copy", b"").with("x-store-copy-source", source);
        let answer = world.send(&copy).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let alias = world.send(&on_premises("outap-alias.localhost", "GET", "/k", b"")).await;
    assert_eq!(alias.status, 200);
    for (host, target) in [
        ("onprem.localhost", "/k"),
        ("localhost", "/onprem/k"),
        ("outap-111122223333.localhost", "/k"),
        ("outap-111122223333.op-9.localhost", "/k"),
    ] {
        let answer = world.send(&through(host, "GET", target, b"")).await;
        assert_eq!(seen(&answer), (404, "NoSuchBucket".to_owned()), "{host}{target}");
    }
    let host = "outap-111122223333.op-9.s3-outposts.us-east-1.amazonaws.com";
    let other = world.send(&on_premises(host, "GET", "/k", b"")).await;
    assert_eq!(seen(&other), (404, "NoSuchAccessPoint".to_owned()));
    let class = Draft::put("/bkt/k", b"").with("x-store-storage-class", "OUTPOSTS");
    assert_eq!(seen(&world.send(&class).await), (400, "InvalidStorageClass".to_owned()));
}

#[tokio::test]
async fn what_is_on_premises_is_signed_for_a_service_of_its_own_and_nothing_else_is() {
    let world = World::new(NOW).await;
    let general = ["localhost", "s3.amazonaws.com"];
    for (host, target, on_premises) in [
        ("outap-111122223333.op-01234567890123456.localhost", "/k", true),
        ("outap-111122223333.op-01234567890123456.s3-outposts.us-east-1.amazonaws.com", "/k", true),
        ("outap-alias.localhost", "/k", true),
        ("localhost", "/outap-alias/k", true),
        ("none-111122223333.op-1.s3-outposts.us-east-1.amazonaws.com", "/k", true),
        (general[0], "/bkt/k", false),
        (general[1], "/bkt/k", false),
        ("bkt.localhost", "/k", false),
        ("localhost", "/", false),
        ("localhost", "/onprem/k", false),
        ("myap-111122223333.localhost", "/k", false),
        ("localhost", "/myap-abc--s3alias/k", false),
        ("mybkt--use1-az4--x-s3.localhost", "/k", false),
        ("mine--use1-az4--xa-s3.localhost", "/k", false),
    ] {
        for dialect in [Dialect::Amz, Dialect::Store] {
            for service in ["s3", "store", "s3express", "s3-outposts", "store-outposts"] {
                let is_known = service.starts_with("s3") || dialect == Dialect::Store;
                let fits = is_known && service.ends_with("-outposts") == on_premises;
                let draft = Draft { service, ..through(host, "GET", target, b"") };
                let answer = world.send(&draft.speaking(dialect)).await;
                let is_refused =
                    answer.element("Code").as_deref() == Some("AuthorizationHeaderMalformed");
                assert_eq!(is_refused, !fits, "{host}{target} {service}: {}", answer.text());
                if is_refused {
                    let own = if on_premises { "s3-outposts" } else { "s3" };
                    let reason = format!(
                        "incorrect service &quot;{service}&quot;. This endpoint belongs to &quot;{own}&quot;."
                    );
                    let text = answer.text().replace('"', "&quot;");
                    assert!(answer.status == 400 && text.contains(&reason), "{text}");
                }
            }
        }
    }
}

#[tokio::test]
async fn what_a_write_brings_along_passes_the_policy_of_the_access_point_too() {
    let world = World::new(NOW).await;
    let tagged = |target: &str| Draft::put(target, b"1").with("x-store-tagging", "a=1");
    assert_eq!(world.send(&tagged("/bkt/tagged")).await.status, 200);
    let copy = |target: &str| Draft::put(target, b"").with("x-store-copy-source", "bkt/tagged");
    for (draft, status) in [
        (tagged("/shut-alias/bare/k"), 403),
        (tagged("/shut-alias/other/k"), 200),
        (Draft::put("/shut-alias/bare/k", b"1"), 200),
        (copy("/shut-alias/bare/copy"), 403),
        (copy("/shut-alias/bare/copy").with("x-store-tagging-directive", "REPLACE"), 200),
        (copy("/shut-alias/other/copy"), 200),
    ] {
        let answer = world.send(&draft).await;
        assert_eq!(answer.status, status, "{draft:?}: {}", answer.text());
    }
}
