//! Access points to directory buckets: names of their own, sessions of their own, and two policies that judge who gets one.

mod service;

use service::{Answer, Draft, NOW, Session, World};

const OTHER: (&str, &str) = ("OTHER", "other");
const MINE: &str = "mine--use1-az4--xa-s3.localhost";
const BUCKET: &str = "/mybkt--use1-az4--x-s3";
/// The hosts of one access point.
const HOSTS: [&str; 3] = [
    MINE,
    "mine--use1-az4--xa-s3.s3express-use1-az4.us-east-1.amazonaws.com",
    "MINE--use1-az4--xa-s3.localhost:7802",
];

fn at(host: &'static str, method: &'static str, target: &str, body: &[u8]) -> Draft {
    Draft { host, service: "s3express", ..Draft::new(method, target, body) }
}

fn seen(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

async fn session(world: &World, host: &'static str) -> Session {
    world.session_of(&at(host, "GET", "/?session", b"")).await
}

/// Puts a policy of the bucket that lets another account have sessions, with a condition.
async fn let_other_in(world: &World, condition: &str) {
    let policy = format!(
        r#"{{"Statement": [{{"Effect": "Allow", "Principal": {{"AWS": "444455556666"}}, "Action": "s3express:CreateSession",
            "Resource": "arn:aws:s3express:us-east-1:111122223333:bucket{BUCKET}", "Condition": {condition}}}]}}"#
    );
    let answer = world.send(&Draft::document(&format!("{BUCKET}?policy"), policy.as_bytes())).await;
    assert_eq!(answer.status, 204, "{}", answer.text());
}

#[tokio::test]
async fn a_session_of_an_access_point_does_all_that_one_of_its_bucket_does() {
    let world = World::new(NOW).await;
    for host in HOSTS {
        let own = session(&world, host).await;
        let within =
            |method, target: &str, body: &[u8]| at(host, method, target, body).within(&own);
        for (request, status) in [
            (within("PUT", "/k", b"one"), 200),
            (within("PUT", "/k", b"two").with("x-store-write-offset-bytes", "3"), 200),
            (within("HEAD", "/k", b""), 200),
            (within("HEAD", "/", b""), 200),
            (within("POST", "/parts?uploads", b""), 200),
            (within("GET", "/?uploads", b""), 200),
            (within("GET", "/none", b""), 404),
        ] {
            let answer = world.send(&request).await;
            assert_eq!(answer.status, status, "{request:?}: {}", answer.text());
        }
        assert_eq!(world.send(&within("GET", "/k", b"")).await.body, b"onetwo");
        assert_eq!(world.send(&Draft::zonal("GET", "/k", b"")).await.body, b"onetwo");
        let list = world.send(&within("GET", "/?list-type=2", b"")).await;
        assert!(list.text().contains("<Key>k</Key>"), "{}", list.text());
        let keys = b"<Delete><Object><Key>k</Key></Object></Delete>";
        let digest = "5DKh5iefM5MSKvRILIuFwQ==";
        let delete = within("POST", "/?delete", keys).with("content-md5", digest);
        let answer = world.send(&delete).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(answer.text().contains("<Deleted><Key>k</Key>"), "{}", answer.text());
        assert_eq!(world.send(&Draft::zonal("GET", "/k", b"")).await.status, 404);
    }
}

#[tokio::test]
async fn a_session_is_good_on_the_way_that_it_was_asked_for_alone() {
    let world = World::new(NOW).await;
    let bucket = "mybkt--use1-az4--x-s3.localhost";
    let shut = "shut--use1-az4--xa-s3.localhost";
    world.send(&Draft::zonal("PUT", "/k", b"1")).await;
    for own in [bucket, MINE, shut] {
        let session = session(&world, own).await;
        for way in [bucket, MINE, shut] {
            for (method, target) in [("GET", "/k"), ("GET", "/?list-type=2"), ("HEAD", "/k")] {
                let answer = world.send(&at(way, method, target, b"").within(&session)).await;
                let expected = if way == own { 200 } else { 400 };
                assert_eq!(answer.status, expected, "{own} {way}: {}", answer.text());
                if expected == 400 && method == "GET" {
                    assert_eq!(seen(&answer).1, "InvalidToken", "{own} {way}");
                }
            }
        }
        // No session makes another, and none copies.
        let again = world.send(&at(own, "GET", "/?session", b"").within(&session)).await;
        assert_eq!(seen(&again), (403, "AccessDenied".to_owned()), "{own}");
    }
    let late = session(&world, MINE).await;
    let time = NOW.plus(std::time::Duration::from_secs(300));
    world.clock.set(time);
    let answer = world.send(&Draft { time, ..at(MINE, "GET", "/k", b"").within(&late) }).await;
    assert_eq!(seen(&answer), (400, "ExpiredToken".to_owned()));
}

#[tokio::test]
async fn an_access_point_neither_deletes_nor_configures_its_directory_bucket() {
    let world = World::new(NOW).await;
    let own = session(&world, MINE).await;
    for (method, query, status, code) in [
        ("DELETE", "", 405, "MethodNotAllowed"),
        ("PUT", "", 405, "MethodNotAllowed"),
        ("PUT", "?policy", 405, "MethodNotAllowed"),
        ("GET", "?policy", 405, "MethodNotAllowed"),
        ("DELETE", "?policy", 405, "MethodNotAllowed"),
        ("PUT", "?encryption", 405, "MethodNotAllowed"),
        ("GET", "?encryption", 405, "MethodNotAllowed"),
        ("PUT", "?lifecycle", 405, "MethodNotAllowed"),
        ("PUT", "?versioning", 501, "NotImplemented"),
        ("GET", "?location", 501, "NotImplemented"),
        ("GET", "?acl", 501, "NotImplemented"),
    ] {
        let target = format!("/{query}");
        let in_path = format!("/mine--use1-az4--xa-s3/{query}");
        for request in [
            at(MINE, method, &target, b""),
            at(MINE, method, &target, b"").within(&own),
            at("localhost", method, &in_path, b""),
        ] {
            let answer = world.send(&request).await;
            assert_eq!(seen(&answer), (status, code.to_owned()), "{request:?}");
        }
    }
    assert_eq!(world.send(&Draft::zonal("HEAD", "/", b"")).await.status, 200);
}

#[tokio::test]
async fn names_of_access_points_that_are_none_are_told() {
    let world = World::new(NOW).await;
    for (host, method, target, status, code) in [
        ("none--use1-az4--xa-s3.localhost", "GET", "/k", 404, "NoSuchAccessPoint"),
        ("none--use1-az4--xa-store.localhost", "GET", "/?session", 404, "NoSuchAccessPoint"),
        ("mine--use1-az4--xa-store.localhost", "GET", "/k", 404, "NoSuchAccessPoint"),
        ("mine--use1-az5--xa-s3.localhost", "GET", "/k", 404, "NoSuchAccessPoint"),
        ("mine--xa-s3.localhost", "GET", "/k", 404, "NoSuchAccessPoint"),
        ("--xa-s3.localhost", "GET", "/k", 404, "NoSuchAccessPoint"),
        ("a.mine--use1-az4--xa-s3.localhost", "GET", "/k", 404, "NoSuchAccessPoint"),
        ("none--use1-az4--xa-s3.localhost", "DELETE", "/", 404, "NoSuchAccessPoint"),
        ("mine--use1-az4--xa-s3-111122223333.localhost", "GET", "/k", 404, "NoSuchBucket"),
        // Each host has its own kind.
        (
            "mine--use1-az4--xa-s3.s3-accesspoint.us-east-1.amazonaws.com",
            "GET",
            "/k",
            404,
            "NoSuchAccessPoint",
        ),
        (
            "myap-111122223333.s3express-use1-az4.us-east-1.amazonaws.com",
            "GET",
            "/k",
            404,
            "NoSuchBucket",
        ),
        (
            "none--use1-az4--xa-s3.s3express-use1-az4.us-east-1.amazonaws.com",
            "PUT",
            "/",
            404,
            "NoSuchAccessPoint",
        ),
        // No bucket has such a name, and objects are addressed virtual-hosted.
        ("localhost", "PUT", "/none--use1-az4--xa-s3", 400, "InvalidBucketName"),
        ("localhost", "PUT", "/none-s3alias", 400, "InvalidBucketName"),
        ("localhost", "GET", "/mine--use1-az4--xa-s3/k", 501, "NotImplemented"),
        ("localhost", "GET", "/mine--use1-az4--xa-s3?session", 501, "NotImplemented"),
    ] {
        let answer = world.send(&at(host, method, target, b"")).await;
        assert_eq!(seen(&answer), (status, code.to_owned()), "{method} {host}{target}");
    }
    let version = world.send(&at(MINE, "GET", "/k?versionId=1", b"")).await;
    assert_eq!(seen(&version), (501, "NotImplemented".to_owned()));
}

#[tokio::test]
async fn bucket_and_access_point_must_both_let_a_session_be() {
    let world = World::new(NOW).await;
    world.send(&Draft::zonal("PUT", "/k", b"1")).await;
    let every = "every--use1-az4--xa-s3.localhost";
    let read = "read--use1-az4--xa-s3.localhost";
    let theirs = "theirs--use1-az4--xa-store.localhost";
    let ask = |host, key| Draft { key, ..at(host, "GET", "/?session", b"") };
    // The access point alone does not do, nor the bucket alone.
    for host in [MINE, every, read, theirs] {
        let answer = world.send(&ask(host, OTHER)).await;
        assert_eq!(seen(&answer), (403, "AccessDenied".to_owned()), "{host}");
    }
    for condition in [
        r#"{"StringEquals": {"s3express:DataAccessPointAccount": ["111122223333", "444455556666"]}}"#,
        r#"{"ArnLike": {"s3express:DataAccessPointArn": "arn:aws:s3express:us-east-1:*:accesspoint/*"}}"#,
        r#"{"StringEquals": {"express:AccessPointNetworkOrigin": "Internet"}}"#,
    ] {
        let_other_in(&world, condition).await;
        let bucket = "mybkt--use1-az4--x-s3.localhost";
        assert_eq!(world.send(&ask(bucket, OTHER)).await.status, 403, "{condition}");
        assert_eq!(world.send(&ask(MINE, OTHER)).await.status, 403, "{condition}");
        // One that lets everybody in is kept to its account.
        assert_eq!(world.send(&ask(every, OTHER)).await.status, 403, "{condition}");
        assert_eq!(world.send(&ask(every, service::OWNER)).await.status, 200, "{condition}");
        // Another account's is its own, and not the bucket's owner's.
        assert_eq!(world.send(&ask(theirs, OTHER)).await.status, 200, "{condition}");
        assert_eq!(world.send(&ask(theirs, service::OWNER)).await.status, 403, "{condition}");
        // Of the modes the most that both let.
        let session = world.session_of(&ask(read, OTHER)).await;
        let own = |method, body: &[u8]| at(read, method, "/k", body).within(&session);
        assert_eq!(world.send(&own("GET", b"")).await.status, 200, "{condition}");
        assert_eq!(world.send(&own("PUT", b"2")).await.status, 403, "{condition}");
        let writes = ask(read, OTHER).with("x-store-create-session-mode", "ReadWrite");
        assert_eq!(world.send(&writes).await.status, 403, "{condition}");
    }
    // Without a session each request is judged as if it asked for one.
    let plain = |host, method, key| Draft { key, ..at(host, method, "/k", b"3") };
    for (host, method, key, status) in [
        (read, "GET", OTHER, 200),
        (read, "PUT", OTHER, 403),
        (theirs, "PUT", OTHER, 200),
        (MINE, "GET", OTHER, 403),
        (MINE, "PUT", service::OWNER, 200),
        ("shut--use1-az4--xa-s3.localhost", "PUT", service::OWNER, 403),
        ("shut--use1-az4--xa-s3.localhost", "GET", service::OWNER, 200),
    ] {
        let answer = world.send(&plain(host, method, key)).await;
        assert_eq!(answer.status, status, "{host} {method}: {}", answer.text());
    }
    let anonymous = format!("GET /k HTTP/1.1\r\nhost: {MINE}\r\n\r\n");
    assert_eq!(world.exchange(anonymous.as_bytes()).await.status, 403);
}

#[tokio::test]
async fn copies_go_into_and_out_of_an_access_point_to_a_directory_bucket() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"general").await;
    let copy = |host, target: &str, source: &str| {
        let start = Draft { host, ..Draft::put(target, b"") };
        start.with("x-store-copy-source", source.to_owned())
    };
    let answer = world.send(&copy(MINE, "/in", "/bkt/k")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(world.send(&Draft::zonal("GET", "/in", b"")).await.body, b"general");
    for source in [
        "mine--use1-az4--xa-s3/in",
        "/mine--use1-az4--xa-s3/in",
        "arn:aws:s3express:us-east-1:111122223333:accesspoint/mine--use1-az4--xa-s3/object/in",
    ] {
        let answer = world.send(&copy("localhost", "/bkt/out", source)).await;
        assert_eq!(answer.status, 200, "{source}: {}", answer.text());
    }
    for (source, key, code) in [
        ("none--use1-az4--xa-s3/in", service::OWNER, "NoSuchAccessPoint"),
        (
            "arn:aws:s3express:us-east-1:444455556666:accesspoint/mine--use1-az4--xa-s3/object/in",
            service::OWNER,
            "NoSuchAccessPoint",
        ),
        ("theirs--use1-az4--xa-store/in", service::OWNER, "AccessDenied"),
        ("mine--use1-az4--xa-s3/in", OTHER, "AccessDenied"),
    ] {
        let request = Draft { key, ..copy("localhost", "/open/out", source) };
        let answer = world.send(&request).await;
        assert_eq!(answer.element("Code").as_deref(), Some(code), "{source}: {}", answer.text());
    }
    let own = session(&world, MINE).await;
    let within = copy(MINE, "/again", "/bkt/k").within(&own);
    assert_eq!(seen(&world.send(&within).await), (403, "AccessDenied".to_owned()));
}

#[tokio::test]
async fn headers_that_no_directory_bucket_takes_are_refused_on_its_access_points_by_name() {
    let world = World::new(NOW).await;
    let own = session(&world, MINE).await;
    for (header, value) in [
        ("x-store-acl", "private"),
        ("x-store-tagging", "a=b"),
        ("x-store-request-payer", "requester"),
        ("content-md5", "xMpCOKC5I4INzFCab3WEmw=="),
        ("x-store-object-lock-legal-hold", "ON"),
    ] {
        let put = at(MINE, "PUT", "/k", b"1").within(&own).with(header, value);
        let answer = world.send(&put).await;
        assert_eq!(seen(&answer), (501, "NotImplemented".to_owned()), "{header}");
        assert!(answer.text().contains("<Header>"), "{header}: {}", answer.text());
    }
    let owner = at(MINE, "PUT", "/k", b"1").within(&own);
    let wrong = owner.clone().with("x-store-expected-bucket-owner", "444455556666");
    assert_eq!(world.send(&wrong).await.status, 403);
    let right = owner.with("x-store-expected-bucket-owner", "111122223333");
    let answer = world.send(&right).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.header("x-amz-expiration"), Some("NotImplemented"));
}
