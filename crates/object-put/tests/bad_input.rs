//! Input that nobody sends by accident: tokens, offsets and hosts that are almost what they should be.

mod service;

use service::{Answer, Draft, NOW, Session, World};

const BUCKET: &str = "mybkt--use1-az4--x-s3.localhost";
const POINT: &str = "mine--use1-az4--xa-s3.localhost";

fn seen(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

async fn session(world: &World, host: &'static str) -> Session {
    world.session_of(&Draft { host, ..Draft::new("GET", "/?session", b"") }).await
}

fn put(host: &'static str, session: &Session, token: &str) -> Draft {
    let own = Session { key: session.key, token: token.to_owned() };
    Draft { host, ..Draft::put("/k", b"forged") }.within(&own)
}

#[tokio::test]
async fn a_token_with_one_byte_flipped_opens_nothing() {
    let world = World::new(NOW).await;
    for host in [BUCKET, POINT] {
        let own = session(&world, host).await;
        assert_eq!(world.send(&put(host, &own, &own.token)).await.status, 200);
        let before = world.send(&Draft::zonal("GET", "/k", b"")).await;
        for place in 0..own.token.len() {
            for flip in [0x01, 0x20] {
                let mut bytes = own.token.clone().into_bytes();
                bytes[place] ^= flip;
                // What no header can hold is no request.
                let Some(token) = String::from_utf8(bytes).ok().filter(|text| is_visible(text))
                else {
                    continue;
                };
                let answer = world.send(&put(host, &own, &token)).await;
                let expected = (400, "InvalidToken".to_owned());
                assert_eq!(seen(&answer), expected, "{place} {flip}: {}", answer.text());
            }
        }
        let after = world.send(&Draft::zonal("GET", "/k", b"")).await;
        assert_eq!(before.header("etag"), after.header("etag"), "something was written");
    }
}

fn is_visible(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[tokio::test]
async fn tokens_that_are_cut_joined_or_of_others_open_nothing() {
    let world = World::new(NOW).await;
    let (own, other) = (session(&world, BUCKET).await, session(&world, BUCKET).await);
    let half = own.token.len() / 2;
    let tokens = [
        String::new(),
        ".".to_owned(),
        own.token[..half].to_owned(),
        own.token[half..].to_owned(),
        own.token[..own.token.len() - 1].to_owned(),
        format!("{}=", own.token),
        format!("{}A", own.token),
        format!("A{}", own.token),
        format!("{0}{0}", own.token),
        format!("{0},{0}", own.token),
        format!("{}{}", &own.token[..half], &other.token[half..]),
        other.token.clone(),
        own.token.to_lowercase(),
        own.token.replace(['-', '_'], "/"),
        "A".repeat(6_000),
        "TESTSESSIONTOKEN".to_owned(),
    ];
    for token in tokens {
        if token == own.token {
            continue;
        }
        let answer = world.send(&put(BUCKET, &own, &token)).await;
        assert_eq!(seen(&answer), (400, "InvalidToken".to_owned()), "{token}");
        // Nor does it with the account's own key, or where sessions mean nothing.
        let bare = Draft { host: BUCKET, ..Draft::put("/k", b"forged") };
        let mine = bare.with("x-store-s3session-token", token.clone());
        let answer = world.send(&mine).await;
        assert!(answer.status == 400 || token.is_empty(), "{token}: {}", answer.text());
        let general = put("bkt.localhost", &own, &token);
        assert_eq!(seen(&world.send(&general).await).0, 400, "{token}");
    }
    let general = put("bkt.localhost", &own, &own.token);
    assert_eq!(seen(&world.send(&general).await), (400, "InvalidToken".to_owned()));
    let forged = Session { key: (own.key.0, "another secret"), token: own.token.clone() };
    let answer = world.send(&put(BUCKET, &forged, &own.token)).await;
    assert_eq!(seen(&answer), (403, "SignatureDoesNotMatch".to_owned()));
}

#[tokio::test]
async fn an_offset_that_is_no_size_changes_nothing() {
    let world = World::new(NOW).await;
    assert_eq!(world.send(&Draft::append("/held", 0, b"four")).await.status, 200);
    for host in [BUCKET, POINT] {
        for (offset, code) in [
            ("9223372036854775807", "InvalidWriteOffset"),
            ("9223372036854775808", "InvalidArgument"),
            ("18446744073709551615", "InvalidArgument"),
            ("18446744073709551620", "InvalidArgument"),
            ("340282366920938463463374607431768211460", "InvalidArgument"),
            ("-4", "InvalidArgument"),
            ("+4", "InvalidArgument"),
            ("4 4", "InvalidArgument"),
            ("4,4", "InvalidArgument"),
            ("0x4", "InvalidArgument"),
            ("4e0", "InvalidArgument"),
            ("4.0", "InvalidArgument"),
            ("\u{664}", "InvalidArgument"),
            ("", "InvalidArgument"),
        ] {
            for key in ["/held", "/none"] {
                let draft = Draft { host, ..Draft::put(key, b"more") };
                let answer = world.send(&draft.with("x-store-write-offset-bytes", offset)).await;
                assert_eq!(seen(&answer), (400, code.to_owned()), "{offset} {key}");
            }
        }
        let twice = Draft { host, ..Draft::put("/held", b"more") };
        let twice =
            twice.with("x-store-write-offset-bytes", "4").with("x-store-write-offset-bytes", "4");
        let answer = world.send(&twice).await;
        assert_eq!(seen(&answer), (400, "InvalidArgument".to_owned()), "{}", answer.text());
    }
    assert_eq!(world.send(&Draft::zonal("GET", "/none", b"")).await.status, 404);
}

#[tokio::test]
async fn hosts_that_look_like_access_points_lead_nowhere() {
    let world = World::new(NOW).await;
    world.store("/bkt/k", b"kept").await;
    world.send(&Draft::zonal("PUT", "/k", b"kept")).await;
    let account = "111122223333";
    let long = "a".repeat(3_000);
    for host in [
        format!("myap-{account}..localhost"),
        format!(".myap-{account}.localhost"),
        format!("myap.-{account}.localhost"),
        format!("myap--{account}.localhost"),
        format!("myap-{account}-.localhost"),
        format!("myap-{account}x.localhost"),
        format!("-{account}.localhost"),
        format!("myap-{account}.myap-{account}.localhost"),
        format!("shared-{account}.op-01234567890123456.localhost"),
        format!("outap-{account}.op-01234567890123456.op-01234567890123456.localhost"),
        format!("outap-{account}.op-0123456789012345.localhost"),
        format!("outap.op-01234567890123456-{account}.localhost"),
        "myap-11112222333.localhost".to_owned(),
        "myap-1111222233334.localhost".to_owned(),
        "myap-*.localhost".to_owned(),
        "*.localhost".to_owned(),
        "myap%2D111122223333.localhost".to_owned(),
        "myap-abc--s3alias-s3alias.localhost".to_owned(),
        "--s3alias.localhost".to_owned(),
        "mine--use1-az4--xa-s3--xa-s3.localhost".to_owned(),
        "mine--use1-az4--x-s3.localhost".to_owned(),
        "mybkt--use1-az4--xa-s3.localhost".to_owned(),
        "mine--use1-az4--xa-s3.mybkt--use1-az4--x-s3.localhost".to_owned(),
        "mybkt--use1-az4--x-s3.mine--use1-az4--xa-s3.localhost".to_owned(),
        "mine--use1-az4--xa-s3.s3-outposts.us-east-1.amazonaws.com".to_owned(),
        "mine--use1-az4--xa-s3.s3-accesspoint.us-east-1.amazonaws.com".to_owned(),
        "mine--use1-az4--xa-s3.web.example".to_owned(),
        format!("{long}-{account}.localhost"),
        format!("{long}--use1-az4--xa-s3.localhost"),
    ] {
        let host: &'static str = host.leak();
        for service in ["s3", "s3express", "s3-outposts"] {
            for (method, target) in [
                ("GET", "/k"),
                ("PUT", "/k"),
                ("DELETE", "/k"),
                ("GET", "/?session"),
                ("DELETE", "/"),
            ] {
                let draft = Draft { host, service, ..Draft::new(method, target, b"") };
                let answer = world.send(&draft).await;
                // No access point, but a bucket that its owner may still make, and has a session for: see session_ahead.rs.
                let is_ahead = (host, target) == ("mine--use1-az4--x-s3.localhost", "/?session")
                    && service != "s3-outposts";
                let expected = match is_ahead {
                    true => answer.status == 200,
                    false => (400..500).contains(&answer.status) || answer.status == 501,
                };
                assert!(
                    expected,
                    "{method} {host}{target} {service}: {} {}",
                    answer.status,
                    answer.text()
                );
            }
        }
    }
    assert_eq!(world.fetch("/bkt/k").await.body, b"kept");
    assert_eq!(world.send(&Draft::zonal("GET", "/k", b"")).await.body, b"kept");
}
