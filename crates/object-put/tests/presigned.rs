//! Presigned URLs whose query carries headers: each counts as the header, or the request is refused.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use object_put::auth::canonical;
use object_put::operation::Run;
use object_put::operation::put_headers::HEADERS;
use object_put::operation::table::{OPERATIONS, is_subresource, named};
use object_put::request::fields::Fields;
use object_put::request::location::Target;
use object_put::request::query::Query;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use service::{Answer, Draft, NOW, OWNER, World};
use sha1::Sha1;
use sha2::{Digest, Sha256};

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

/// The signer of a URL, and the service and the host that it signs for.
#[derive(Clone, Copy)]
struct Signer<'a> {
    key: (&'a str, &'a str),
    service: &'a str,
    host: &'a str,
}

const ON_BUCKETS: Signer<'_> = Signer { key: OWNER, service: "s3", host: "localhost" };

/// A URL of version 4 with these parameters, which signs the host and the headers of `signed`.
fn version_4(
    method: &str,
    path: &str,
    carried: &[(&str, &str)],
    signed: &[(&str, &str)],
) -> String {
    version_4_by(ON_BUCKETS, method, path, carried, signed)
}

fn version_4_by(
    signer: Signer<'_>,
    method: &str,
    path: &str,
    carried: &[(&str, &str)],
    signed: &[(&str, &str)],
) -> String {
    let time = "20261121T070626Z";
    let scope = format!("{}/us-east-1/{}/aws4_request", &time[..8], signer.service);
    let mut headers = vec![("host", signer.host)];
    headers.extend_from_slice(signed);
    headers.sort_unstable();
    let names = headers.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(";");
    let credential = format!("{}/{scope}", signer.key.0);
    let own = [
        ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
        ("X-Amz-Credential", credential.as_str()),
        ("X-Amz-Date", time),
        ("X-Amz-Expires", "900"),
        ("X-Amz-SignedHeaders", names.as_str()),
    ];
    let pairs = own.iter().chain(carried);
    let pairs: Vec<_> =
        pairs.map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    let query = pairs.join("&");
    let fields = Fields::of(headers.iter().map(|(name, value)| (*name, value.as_bytes())));
    let hash = signed.iter().find(|(name, _)| *name == "x-amz-content-sha256");
    let canonical = canonical::request(
        method,
        path,
        &canonical::query(&query, ""),
        &fields,
        &names,
        hash.map_or("UNSIGNED-PAYLOAD", |(_, hash)| hash),
    );
    let digest = hex::encode(Sha256::digest(canonical.as_bytes()));
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
    let secret = format!("AWS4{}", signer.key.1).into_bytes();
    let key = scope.split('/').fold(secret, |key, part| mac(&key, part.as_bytes()));
    format!("{path}?{query}&X-Amz-Signature={}", hex::encode(mac(&key, text.as_bytes())))
}

/// A URL of version 2, as stock clients make it: parameters of the service are signed like headers.
fn version_2(method: &str, path: &str, carried: &[(&str, &str)]) -> String {
    version_2_of(method, path, "", carried)
}

/// The same for a subresource, which the signature covers.
fn version_2_of(method: &str, path: &str, part: &str, carried: &[(&str, &str)]) -> String {
    let expires = NOW.seconds() + 900;
    let value = |wanted| {
        let found = carried.iter().find(|(name, _)| *name == wanted);
        found.map_or("", |(_, value)| *value)
    };
    let mut text =
        format!("{method}\n{}\n{}\n{expires}\n", value("content-md5"), value("content-type"));
    let mut own: Vec<_> = carried.iter().filter(|(name, _)| name.starts_with("x-amz-")).collect();
    own.sort_unstable();
    own.iter().for_each(|(name, value)| writeln!(text, "{name}:{value}").unwrap());
    text.push_str(path);
    text.push_str(if part.is_empty() { "" } else { "?" });
    text.push_str(part);
    let mut mac = Hmac::<Sha1>::new_from_slice(OWNER.1.as_bytes()).unwrap();
    mac.update(text.as_bytes());
    let signature = encoded(&STANDARD.encode(mac.finalize().into_bytes()));
    let mut target =
        format!("{path}?AWSAccessKeyId={}&Signature={signature}&Expires={expires}", OWNER.0);
    if !part.is_empty() {
        write!(target, "&{part}").unwrap();
    }
    carried
        .iter()
        .for_each(|(name, value)| write!(target, "&{}={}", encoded(name), encoded(value)).unwrap());
    target
}

async fn send(world: &World, method: &str, target: &str, headers: &str, body: &str) -> Answer {
    send_to("localhost", world, method, target, headers, body).await
}

async fn send_to(
    host: &str,
    world: &World,
    method: &str,
    target: &str,
    headers: &str,
    body: &str,
) -> Answer {
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nhost: {host}\r\n{headers}content-length: {length}\r\n\r\n{body}"
    );
    world.exchange(request.as_bytes()).await
}

async fn put(world: &World, carried: &[(&str, &str)]) -> Answer {
    send(world, "PUT", &version_4("PUT", "/bkt/key", carried, &[]), "", "body").await
}

const CARRIED: [(&str, &str); 6] = [
    ("content-type", "text/x-own"),
    ("x-amz-acl", "public-read"),
    ("x-amz-meta-colour", "deep blue"),
    ("x-amz-storage-class", "STANDARD_IA"),
    ("x-amz-tagging", "a=1&b=2"),
    ("x-robots-tag", "noindex"),
];

async fn check_carried(world: &World) {
    let head = world.send(&Draft::new("HEAD", "/bkt/key", b"")).await;
    assert_eq!(head.header("content-type"), Some("text/x-own"));
    assert_eq!(head.header("x-robots-tag"), Some("noindex"));
    assert_eq!(head.header("x-amz-meta-colour"), Some("deep blue"));
    assert_eq!(head.header("x-amz-storage-class"), Some("STANDARD_IA"));
    assert_eq!(world.fetch("/bkt/key").await.header("x-amz-tagging-count"), Some("2"));
    let acl = world.fetch("/bkt/key?acl").await.text();
    assert!(acl.contains("AllUsers"), "{acl}");
}

#[tokio::test]
async fn headers_in_the_query_of_a_presigned_url_are_those_of_the_request_in_both_versions() {
    for strict in [false, true] {
        for version in [2, 4] {
            let world = if strict { World::strict(NOW).await } else { World::new(NOW).await };
            let target = match version {
                2 => version_2("PUT", "/bkt/key", &CARRIED),
                _ => version_4("PUT", "/bkt/key", &CARRIED, &[]),
            };
            let answer = send(&world, "PUT", &target, "", "body").await;
            assert_eq!(answer.status, 200, "version {version}: {}", answer.text());
            check_carried(&world).await;
        }
    }
}

#[test]
fn every_header_of_a_put_is_one_as_a_parameter_of_a_presigned_url_too() {
    for rule in &HEADERS {
        // How long a body is no URL says.
        if rule.name == "content-length" {
            continue;
        }
        let name = rule.name.replace("x-store-", "x-amz-");
        let raw = format!("{name}=1&X-Amz-Signature=1&X-Amz-SignedHeaders=host;{name}");
        let query = Query::parse(&raw).unwrap();
        assert_eq!(query.headers().collect::<Vec<_>>(), [(name.as_str(), "1")]);
    }
}

#[tokio::test]
async fn a_hash_that_a_url_signs_is_compared_with_the_body_whatever_it_is() {
    let world = World::new(NOW).await;
    let own = hex::encode(Sha256::digest(b"body"));
    let send = async |method: &str, hash: &str, length: &str| {
        let mut signed = vec![("x-amz-content-sha256", hash)];
        signed.extend((!length.is_empty()).then_some(("x-amz-decoded-content-length", length)));
        let target = version_4(method, "/bkt/key", &[], &signed);
        let headers: String =
            signed.iter().map(|(name, text)| format!("{name}: {text}\r\n")).collect();
        let body = if method == "PUT" { "body" } else { "" };
        send(&world, method, &target, &headers, body).await
    };
    for hash in [own.as_str(), &own.to_uppercase(), "UNSIGNED-PAYLOAD"] {
        assert_eq!(send("PUT", hash, "").await.status, 200, "{hash}");
    }
    let other = "0".repeat(64);
    const STREAMING: &str = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    for length in ["", "no number"] {
        assert_eq!(send("PUT", STREAMING, length).await.status, 411, "{length:?}");
    }
    let no_hash = [("any", ""), ("unsigned-payload", ""), (STREAMING, "4"), (&*other, "")];
    for (hash, length) in no_hash {
        let answer = send("PUT", hash, length).await;
        let told = |name: &str| answer.element(name);
        assert_eq!(told("Code").as_deref(), Some("XAmzContentSHA256Mismatch"), "{hash}");
        assert_eq!(told("ClientComputedContentSHA256").as_deref(), Some(hash));
        assert_eq!(told("S3ComputedContentSHA256").as_ref(), Some(&own));
        // Reads have no body that it could be of.
        assert_eq!(send("GET", hash, "").await.status, 200, "{hash}");
        assert_eq!(send("HEAD", hash, "").await.status, 200, "{hash}");
    }
    let other_length = send("PUT", STREAMING, "9").await;
    assert_eq!(other_length.element("Code").as_deref(), Some("IncompleteBody"));
    assert_eq!(other_length.element("NumberBytesExpected").as_deref(), Some("9"));
    assert_eq!(other_length.element("NumberBytesProvided").as_deref(), Some("4"));
}

#[tokio::test]
async fn conditions_owners_and_modes_in_the_query_of_a_presigned_url_count() {
    let world = World::new(NOW).await;
    assert_eq!(put(&world, &[("if-none-match", "*")]).await.status, 200);
    assert_eq!(put(&world, &[("if-none-match", "*")]).await.status, 412);
    assert_eq!(put(&world, &[("If-Match", "\"0\"")]).await.status, 412);
    assert_eq!(put(&world, &[("x-amz-expected-bucket-owner", "999999999999")]).await.status, 403);
    let kms = [("x-amz-server-side-encryption", "aws:kms:dsse")];
    assert_ne!(put(&world, &kms).await.header("x-amz-server-side-encryption"), Some("AES256"));
    assert_eq!(put(&world, &[("x-amz-object-lock-legal-hold", "ON")]).await.status, 400);
}

#[tokio::test]
async fn a_copy_whose_source_is_in_the_query_copies() {
    let world = World::new(NOW).await;
    world.store("/bkt/source", b"bytes").await;
    let target = version_4("PUT", "/bkt/copy", &[("x-amz-copy-source", "bkt/source")], &[]);
    let answer = send(&world, "PUT", &target, "", "").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(world.fetch("/bkt/copy").await.body, b"bytes");
}

#[tokio::test]
async fn a_parameter_that_the_signature_names_as_a_header_stands_among_the_signed_headers() {
    let world = World::new(NOW).await;
    let own = ("x-amz-meta-a", "1");
    let target = version_4("PUT", "/bkt/key", &[own], &[own]);
    let answer = send(&world, "PUT", &target, "", "body").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let other = version_4("PUT", "/bkt/key", &[own], &[("x-amz-meta-a", "2")]);
    assert_eq!(send(&world, "PUT", &other, "", "body").await.status, 403);
}

#[tokio::test]
async fn only_a_checksum_that_the_signature_does_not_name_is_passed_over() {
    let world = World::new(NOW).await;
    let empty = ("x-amz-checksum-crc32", "AAAAAA==");
    let answer = put(&world, &[empty, ("x-amz-sdk-checksum-algorithm", "CRC32")]).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let target = version_4("PUT", "/bkt/key", &[empty], &[empty]);
    let answer = send(&world, "PUT", &target, "", "body").await;
    assert_eq!(answer.element("Code").as_deref(), Some("BadDigest"), "{}", answer.text());
}

#[tokio::test]
async fn a_header_beside_a_parameter_of_its_name_must_say_the_same() {
    let world = World::new(NOW).await;
    let target = version_4("PUT", "/bkt/key", &[("x-amz-meta-a", "1")], &[]);
    for (header, status) in [("x-amz-meta-a: 1\r\n", 200), ("x-amz-meta-a: 2\r\n", 400)] {
        let answer = send(&world, "PUT", &target, header, "body").await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
}

fn code(answer: &Answer) -> String {
    format!("{} {}", answer.status, answer.element("Code").unwrap_or_default())
}

const REFUSED: &str = "400 InvalidToken";
const TOKEN: (&str, &str) = ("X-Amz-Security-Token", "TESTSESSIONTOKEN");

#[tokio::test]
async fn a_url_of_a_temporary_key_needs_its_own_token_and_no_other() {
    let world = World::new(NOW).await;
    world.store("/bkt/key", b"bytes").await;
    let temporary = Signer { key: ("ASIASESSIONKEY", "sessionsecret"), ..ON_BUCKETS };
    let of_session = ("X-Amz-S3session-Token", TOKEN.1);
    for (signer, carried, expected) in [
        (temporary, vec![TOKEN], "200 "),
        (temporary, vec![], REFUSED),
        (temporary, vec![(TOKEN.0, "")], REFUSED),
        (temporary, vec![(TOKEN.0, "TESTSESSIONTOKE")], REFUSED),
        (temporary, vec![TOKEN, of_session], REFUSED),
        (ON_BUCKETS, vec![], "200 "),
        (ON_BUCKETS, vec![TOKEN], REFUSED),
        (ON_BUCKETS, vec![of_session], REFUSED),
    ] {
        let target = version_4_by(signer, "GET", "/bkt/key", &carried, &[]);
        let answer = send(&world, "GET", &target, "", "").await;
        assert_eq!(code(&answer), expected, "{} {carried:?}", signer.key.0);
    }
    let target = version_4_by(temporary, "GET", "/bkt/key", &[TOKEN], &[]);
    for (changed, expected) in [
        (target.replace(TOKEN.1, "OTHER"), REFUSED),
        (format!("{target}&{}={}", TOKEN.0, TOKEN.1), "403 SignatureDoesNotMatch"),
    ] {
        assert_eq!(code(&send(&world, "GET", &changed, "", "").await), expected, "{changed}");
    }
}

#[tokio::test]
async fn a_token_beside_a_url_of_version_2_counts_as_that_of_a_url_of_version_4() {
    let world = World::new(NOW).await;
    world.store("/bkt/key", b"bytes").await;
    let header = "x-amz-security-token: OTHER\r\n";
    for target in [version_2("GET", "/bkt/key", &[]), version_4("GET", "/bkt/key", &[], &[])] {
        assert_eq!(code(&send(&world, "GET", &target, "", "").await), "200 ", "{target}");
        assert_eq!(code(&send(&world, "GET", &target, header, "").await), REFUSED, "{target}");
    }
}

#[tokio::test]
async fn a_url_of_a_session_needs_its_token_by_its_own_name_and_no_other() {
    let world = World::new(NOW).await;
    let (session, other) = (world.session(NOW).await, world.session(NOW).await);
    let put = Draft::zonal("PUT", "/key", b"bytes").within(&session);
    assert_eq!(world.send(&put).await.status, 200);
    let host = "mybkt--use1-az4--x-s3.localhost";
    let own = Signer { key: session.key, service: "s3express", host };
    let name = "X-Amz-S3session-Token";
    let token = session.token.as_str();
    for (signer, carried, expected) in [
        (own, vec![(name, token)], "200 "),
        (own, vec![], REFUSED),
        (own, vec![(name, &token[1..])], REFUSED),
        (own, vec![(name, other.token.as_str())], REFUSED),
        (own, vec![(TOKEN.0, token)], REFUSED),
        (own, vec![(name, token), TOKEN], REFUSED),
        (own, vec![(name, token), (TOKEN.0, token)], REFUSED),
        // So object_store signs.
        (Signer { service: "s3", ..own }, vec![(name, token)], "200 "),
        (Signer { key: OWNER, ..own }, vec![(name, token)], REFUSED),
    ] {
        let target = version_4_by(signer, "GET", "/key", &carried, &[]);
        let answer = send_to(host, &world, "GET", &target, "", "").await;
        assert_eq!(code(&answer), expected, "{target}");
    }
    let get = Draft::zonal("GET", "/key", b"").within(&session);
    assert_eq!(code(&world.send(&get).await), "200 ");
    let with_another = get.with("x-store-security-token", TOKEN.1);
    assert_eq!(code(&world.send(&with_another).await), REFUSED);
}

#[tokio::test]
async fn nothing_that_names_another_operation_can_be_added_to_a_url_of_version_2() {
    let world = World::new(NOW).await;
    world.store("/bkt/key", b"body").await;
    let built = OPERATIONS.iter().filter(|row| !matches!(row.run, Run::NotImplemented));
    let markers = built.flat_map(|row| row.markers().map(move |marker| (row, marker)));
    let beside = ["versionId", "partNumber", "response-content-type"];
    let beside = beside.into_iter().map(|name| (named("GetObject").unwrap(), name));
    let mut tried = 0;
    for (row, name) in markers.chain(beside) {
        let path = match row.target {
            Target::Bucket => "/bkt/",
            Target::Object => "/bkt/key",
            Target::Service => continue,
        };
        if !(is_subresource(name) || row.name == "GetObject") || row.method == "OPTIONS" {
            continue;
        }
        let name = &*name.replace("x-store-", "x-amz-");
        let value = match name {
            "website" => "", // It takes none.
            name if name.starts_with("x-amz-") => "/bkt/key",
            _ => "1",
        };
        let signed = version_2(row.method, path, &[]);
        let (first, rest) = name.split_at(1);
        let written = format!("%{:02X}{rest}", first.bytes().next().unwrap());
        for name in [name, &written] {
            let target = format!("{signed}&{name}={value}");
            let answer = send(&world, row.method, &target, "", "").await;
            let code = answer.element("Code").unwrap_or_default();
            // A part of what names an operation, and what other kinds of bucket have, are refused before it is looked at who sends them.
            let is_refused =
                ["SignatureDoesNotMatch", "NotImplemented", "MethodNotAllowed"].contains(&&*code);
            assert!(is_refused, "{} {name}: {} {}", row.name, answer.status, answer.text());
            tried += 1;
        }
    }
    assert!(tried > 60, "{tried}");
    assert_eq!(world.fetch("/bkt/key").await.body, b"body");
    for (part, status) in [("object-lock", 200), ("encryption", 200), ("policy", 404)] {
        let target = version_2_of("GET", "/locked/", part, &[]);
        let answer = send(&world, "GET", &target, "", "").await;
        assert_eq!(answer.status, status, "{part}: {}", answer.text());
    }
    let listed = format!("{}&list-type=2", version_2("GET", "/bkt/", &[]));
    assert_eq!(send(&world, "GET", &listed, "", "").await.status, 200);
}

#[tokio::test]
async fn a_url_of_another_algorithm_or_region_is_told_which_there_is() {
    let world = World::new(NOW).await;
    const ALGORITHM: &str =
        "X-Amz-Algorithm only supports &quot;AWS4-HMAC-SHA256 and AWS4-ECDSA-P256-SHA256&quot;";
    const REGION: &str = "Error parsing the X-Amz-Credential parameter; the region 'us-west-2' is wrong; expecting 'us-east-1'";
    for (algorithm, reason, region) in
        [("md5", ALGORITHM, None), ("AWS4-HMAC-SHA256", REGION, Some("us-east-1"))]
    {
        let request = format!(
            "GET /bkt/k?X-Amz-Algorithm={algorithm}&X-Amz-Credential=AK/20261121/us-west-2/s3/aws4_request&X-Amz-Date=20261121T070626Z&X-Amz-SignedHeaders=host&X-Amz-Expires=60&X-Amz-Signature=00 HTTP/1.1\r\nhost: localhost\r\n\r\n"
        );
        let answer = world.exchange(request.as_bytes()).await;
        assert_eq!(answer.status, 400);
        let code = answer.element("Code");
        assert_eq!(code.as_deref(), Some("AuthorizationQueryParametersError"));
        assert_eq!(answer.element("Message").as_deref(), Some(reason));
        assert_eq!(answer.element("Region").as_deref(), region);
        assert_eq!(answer.header("x-amz-bucket-region"), region);
    }
}
