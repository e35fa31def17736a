//! Sessions for directory buckets that are still to be made: stock clients that are given an endpoint ask for one first.

mod service;

use service::{Answer, Draft, NOW, Session, World};

const HOST: &str = "ahead--use1-az4--x-s3.localhost";
const OTHER: (&str, &str) = ("OTHER", "other");
const READER: (&str, &str) = ("READER", "reader");
const CONFIGURATION: &[u8] =
    b"<CreateBucketConfiguration><Location><Name>use1-az4</Name><Type>AvailabilityZone</Type></Location>\
      <Bucket><DataRedundancy>SingleAvailabilityZone</DataRedundancy><Type>Directory</Type></Bucket></CreateBucketConfiguration>";

fn at(method: &'static str, target: &str, body: &[u8]) -> Draft {
    Draft { host: HOST, service: "s3express", ..Draft::new(method, target, body) }
}

fn ask() -> Draft {
    at("GET", "/?session", b"")
}

fn seen(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

fn refusal(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

async fn session(world: &World, draft: Draft) -> Session {
    world.session_of(&draft).await
}

#[tokio::test]
async fn a_bucket_is_made_used_deleted_and_made_again_in_one_session() {
    let world = World::new(NOW).await;
    let own = session(&world, ask()).await;
    for (method, target, body, status) in [
        ("GET", "/?list-type=2", &b""[..], 404),
        ("HEAD", "/", b"", 404),
        ("PUT", "/k", b"one", 404),
        ("PUT", "/", CONFIGURATION, 200),
        ("PUT", "/", CONFIGURATION, 409),
        ("PUT", "/k", b"one", 200),
        ("GET", "/k", b"", 200),
        ("DELETE", "/", b"", 409),
        ("DELETE", "/k", b"", 204),
        ("DELETE", "/", b"", 204),
        ("GET", "/k", b"", 404),
        ("PUT", "/", CONFIGURATION, 200),
        ("PUT", "/k", b"two", 200),
    ] {
        let answer = world.send(&at(method, target, body).within(&own)).await;
        assert_eq!(answer.status, status, "{method} {target}: {}", answer.text());
    }
    assert_eq!(world.send(&at("GET", "/k", b"").within(&own)).await.body, b"two");
}

#[tokio::test]
async fn a_session_ahead_is_good_for_its_name_its_mode_and_its_account_alone() {
    let world = World::new(NOW).await;
    let own = session(&world, ask()).await;
    for host in ["other--use1-az4--x-s3.localhost", "plain.localhost", "localhost"] {
        let target = if host == "localhost" { "/other--use1-az4--x-s3" } else { "/" };
        let make = Draft { host, ..at("PUT", target, CONFIGURATION) };
        let answer = world.send(&make.within(&own)).await;
        assert_eq!(seen(&answer), refusal(400, "InvalidToken"), "{host}");
    }
    let again = world.send(&ask().within(&own)).await;
    assert_eq!(seen(&again), refusal(404, "NoSuchBucket"));
    let reader = session(&world, ask().with("x-store-create-session-mode", "ReadOnly")).await;
    let answer = world.send(&at("PUT", "/", CONFIGURATION).within(&reader)).await;
    assert_eq!(seen(&answer), refusal(403, "AccessDenied"));
    // Of two accounts that ask ahead, that which makes the bucket has it.
    let theirs = session(&world, Draft { key: OTHER, ..ask() }).await;
    assert_eq!(world.send(&at("PUT", "/", CONFIGURATION).within(&own)).await.status, 200);
    let answer = world.send(&at("PUT", "/", CONFIGURATION).within(&theirs)).await;
    assert_eq!(seen(&answer), refusal(409, "BucketAlreadyExists"));
    for (method, target) in [("GET", "/?list-type=2"), ("PUT", "/k"), ("DELETE", "/")] {
        let answer = world.send(&at(method, target, b"").within(&theirs)).await;
        assert_eq!(seen(&answer), refusal(400, "InvalidToken"), "{method} {target}");
    }
    let answer = world.send(&at("PUT", "/k", b"1").within(&reader)).await;
    assert_eq!(seen(&answer), refusal(403, "AccessDenied"));
    let time = NOW.plus(std::time::Duration::from_secs(300));
    world.clock.set(time);
    let late = Draft { time, ..at("PUT", "/k", b"1").within(&own) };
    assert_eq!(seen(&world.send(&late).await), refusal(400, "ExpiredToken"));
}

#[tokio::test]
async fn who_may_not_make_a_bucket_is_told_that_it_is_not_there() {
    let world = World::new(NOW).await;
    let absent = refusal(404, "NoSuchBucket");
    assert_eq!(seen(&world.send(&Draft { key: READER, ..ask() }).await), absent);
    let nobody = format!("GET /?session HTTP/1.1\r\nhost: {HOST}\r\n\r\n");
    assert_eq!(world.exchange(nobody.as_bytes()).await.status, 404);
    let mode = "x-store-server-side-encryption";
    for host in ["dot.ted--use1-az4--x-s3.localhost", "no-zone--x-s3.localhost"] {
        assert_eq!(seen(&world.send(&Draft { host, ..ask() }).await), absent, "{host}");
    }
    for kms in ["aws:kms", "aws:kms:dsse"] {
        assert_eq!(seen(&world.send(&ask().with(mode, kms)).await), absent, "{kms}");
    }
    assert_eq!(world.send(&ask().with(mode, "AES256")).await.status, 200);
    let neither = ask().with("x-store-create-session-mode", "Both");
    assert_eq!(seen(&world.send(&neither).await), refusal(400, "InvalidArgument"));
}

#[tokio::test]
async fn a_session_ahead_does_not_settle_how_objects_are_encrypted() {
    let world = World::new(NOW).await;
    let own = session(&world, ask()).await;
    assert_eq!(world.send(&at("PUT", "/", CONFIGURATION).within(&own)).await.status, 200);
    let mode = "x-amz-server-side-encryption";
    let put = at("PUT", "/k", b"1").within(&own);
    assert_eq!(world.send(&put).await.header(mode), Some("AES256"));
    let rule = b"<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms</SSEAlgorithm>\
        <KMSMasterKeyID>11111111-aaaa-4bbb-8ccc-000000000001</KMSMasterKeyID></ApplyServerSideEncryptionByDefault>\
        </Rule></ServerSideEncryptionConfiguration>";
    let answer = world.send(&at("PUT", "/?encryption", rule).within(&own)).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let answer = world.send(&put).await;
    assert_eq!(answer.header(mode), Some("aws:kms"), "{}", answer.text());
    // A session of the bucket that was asked for before keeps what it said.
    assert_eq!(world.send(&at("GET", "/k", b"").within(&own)).await.body, b"1");
}
