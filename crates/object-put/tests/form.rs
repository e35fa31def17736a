//! Uploads by form: what a browser is answered, and what is refused.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use md5::{Digest as _, Md5};
use service::{Answer, Draft, NOW, OWNER, World};
use sha1::Sha1;
use sha2::Sha256;

const DAY: &str = "20261121";
const TIME: &str = "20261121T070626Z";
const BOUNDARY: &str = "----form";

fn mac<M: Mac + KeyInit>(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac = <M as KeyInit>::new_from_slice(key).unwrap();
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

/// A form: fields in their order, then the file and its name.
fn body(fields: &[(String, String)], file: Option<(&str, &[u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        out.extend_from_slice(
            format!(
                "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            )
            .as_bytes(),
        );
    }
    if let Some((name, bytes)) = file {
        out.extend_from_slice(
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n").as_bytes(),
        );
        out.extend_from_slice(bytes);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    out
}

async fn post_to(world: &World, target: &str, host: &str, body: &[u8]) -> Answer {
    post_with(world, target, &format!("host: {host}\r\n"), body).await
}

/// The same with these lines in its head.
async fn post_with(world: &World, target: &str, lines: &str, body: &[u8]) -> Answer {
    let head = format!(
        "POST {target} HTTP/1.1\r\n{lines}content-type: multipart/form-data; boundary={BOUNDARY}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    world.exchange(&[head.as_bytes(), body].concat()).await
}

async fn post(world: &World, fields: &[(String, String)], file: &[u8]) -> Answer {
    post_to(world, "/bkt", "localhost", &body(fields, Some(("a.txt", file)))).await
}

fn pairs(fields: &[(&str, &str)]) -> Vec<(String, String)> {
    fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Fields of a form that is signed with version 4, whose policy has these conditions beside those of the signature.
fn signed(fields: &[(&str, &str)], conditions: &str) -> Vec<(String, String)> {
    signed_for("s3", "bkt", fields, conditions)
}

/// The same for this service, with a policy that names the bucket so.
fn signed_for(
    service: &str,
    bucket: &str,
    fields: &[(&str, &str)],
    conditions: &str,
) -> Vec<(String, String)> {
    let scope = format!("{DAY}/us-east-1/{service}/aws4_request");
    let credential = format!("{}/{scope}", OWNER.0);
    let policy = format!(
        r#"{{"expiration": "2027-01-01T00:00:00Z", "conditions": [{{"bucket": "{bucket}"}}, {{"x-amz-algorithm": "AWS4-HMAC-SHA256"}},
            {{"x-amz-credential": "{credential}"}}, {{"x-amz-date": "{TIME}"}}, {conditions}]}}"#
    );
    let policy = STANDARD.encode(policy);
    let mut key = format!("AWS4{}", OWNER.1).into_bytes();
    for part in scope.split('/') {
        key = mac::<Hmac<Sha256>>(&key, part.as_bytes());
    }
    let signature = hex::encode(mac::<Hmac<Sha256>>(&key, policy.as_bytes()));
    let mut all = pairs(fields);
    all.extend(pairs(&[
        ("x-amz-algorithm", "AWS4-HMAC-SHA256"),
        ("x-amz-credential", &credential),
        ("x-amz-date", TIME),
        ("policy", &policy),
        ("x-amz-signature", &signature),
    ]));
    all
}

/// The same, signed with version 2.
fn signed_v2(fields: &[(&str, &str)], conditions: &str) -> Vec<(String, String)> {
    let policy = format!(
        r#"{{"expiration": "2027-01-01T00:00:00Z", "conditions": [{{"bucket": "bkt"}}, {conditions}]}}"#
    );
    let policy = STANDARD.encode(policy);
    let signature = STANDARD.encode(mac::<Hmac<Sha1>>(OWNER.1.as_bytes(), policy.as_bytes()));
    let mut all = pairs(fields);
    all.extend(pairs(&[
        ("AWSAccessKeyId", OWNER.0),
        ("policy", &policy),
        ("signature", &signature),
    ]));
    all
}

const KEY: &str = r#"["starts-with", "$key", ""]"#;

#[tokio::test]
async fn a_form_of_either_version_stores_its_file_with_what_it_says_of_it() {
    let world = World::new(NOW).await;
    let large = vec![7; 300 * 1024];
    for file in [&b""[..], b"hello", &large] {
        let more = r#"["eq", "$Content-Type", "text/css"], {"x-amz-meta-a": "b"}, ["starts-with", "$tagging", ""], {"acl": "private"}"#;
        let tags = "<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>";
        let fields = [
            ("key", "up/${filename}"),
            ("Content-Type", "text/css"),
            ("x-amz-meta-a", "b"),
            ("tagging", tags),
            ("acl", "private"),
        ];
        let conditions = format!("{KEY}, {more}");
        for fields in [signed(&fields, &conditions), signed_v2(&fields, &conditions)] {
            let answer = post(&world, &fields, file).await;
            assert_eq!(answer.status, 204, "{}", answer.text());
            assert!(answer.body.is_empty());
            assert_eq!(answer.header("location"), Some("http://localhost/bkt/up%2Fa.txt"));
            let got = world.fetch("/bkt/up/a.txt").await;
            assert_eq!((got.status, got.body.as_slice()), (200, file));
            assert_eq!(got.header("etag"), answer.header("etag"));
            assert_eq!(got.header("content-type"), Some("text/css"));
            assert_eq!(got.header("x-amz-meta-a"), Some("b"));
            assert_eq!(got.header("x-amz-tagging-count"), Some("1"));
        }
    }
}

#[tokio::test]
async fn a_form_says_how_it_is_answered() {
    let world = World::new(NOW).await;
    let conditions = format!(
        r#"{KEY}, ["starts-with", "$success_action_status", ""], ["starts-with", "$success_action_redirect", ""]"#
    );
    for (status, redirect, expected) in [
        ("200", "", 200),
        ("201", "", 201),
        ("404", "", 204),
        ("201", "https://page.example/a?b=c", 303),
    ] {
        let fields = [
            ("key", "k k"),
            ("success_action_status", status),
            ("success_action_redirect", redirect),
        ];
        let fields = signed(&fields, &conditions);
        let answer =
            post_to(&world, "/", "bkt.localhost:80", &body(&fields, Some(("a", b"1")))).await;
        assert_eq!(answer.status, expected, "{}", answer.text());
        match expected {
            303 => {
                let etag = answer.header("etag").unwrap().replace('"', "%22");
                let place = format!("https://page.example/a?b=c&bucket=bkt&key=k%20k&etag={etag}");
                assert_eq!(answer.header("location"), Some(place.as_str()));
            }
            201 => {
                assert_eq!(
                    answer.element("Location").as_deref(),
                    Some("http://bkt.localhost:80/k%20k")
                );
                assert_eq!(answer.element("Key").as_deref(), Some("k k"));
                assert_eq!(answer.element("Bucket").as_deref(), Some("bkt"));
            }
            _ => assert!(answer.body.is_empty()),
        }
    }
}

#[tokio::test]
async fn a_file_has_as_many_bytes_as_the_policy_says() {
    let world = World::new(NOW).await;
    let conditions = format!(r#"{KEY}, ["content-length-range", 5, 10]"#);
    let fields = signed(&[("key", "sized")], &conditions);
    for (length, code) in [
        (4, "EntityTooSmall"),
        (5, ""),
        (10, ""),
        (12, "EntityTooLarge"),
        (200_000, "EntityTooLarge"),
    ] {
        let answer = post(&world, &fields, &vec![1; length]).await;
        assert_eq!(answer.element("Code").unwrap_or_default(), code, "{length}: {}", answer.text());
        if !code.is_empty() {
            assert_eq!(answer.status, 400);
            assert_eq!(answer.element("ProposedSize"), Some(length.to_string()));
        }
    }
    assert_eq!(world.fetch("/bkt/sized").await.body, vec![1; 10], "nothing else was stored");
}

#[tokio::test]
async fn a_form_names_the_access_point_that_it_is_sent_to_by_alias_or_arn() {
    let world = World::new(NOW).await;
    let arn = "arn:aws:s3:us-east-1:111122223333:accesspoint/myap";
    let alias = "myap-abc--s3alias";
    let send = async |host: &str, target: &str, service: &str, bucket: &str| {
        let form = body(
            &signed_for(service, bucket, &[("key", "${filename}")], KEY),
            Some((bucket, b"by form")),
        );
        let answer = post_to(&world, target, host, &form).await;
        (answer.status, answer.element("Code").unwrap_or_default())
    };
    let taken = (204, String::new());
    let refused = (403, "AccessDenied".to_owned());
    for (host, target) in [
        ("myap-abc--s3alias.localhost", "/"),
        ("localhost", "/myap-abc--s3alias"),
        ("myap-111122223333.s3-accesspoint.us-east-1.amazonaws.com", "/"),
    ] {
        for bucket in [alias, arn, "bkt"] {
            assert_eq!(send(host, target, "s3", bucket).await, taken, "{host} {bucket}");
        }
        for other in ["open", "shut-alias", "arn:aws:s3:us-east-1:111122223333:accesspoint/shut"] {
            assert_eq!(send(host, target, "s3", other).await, refused, "{host} {other}");
        }
    }
    // To the bucket itself a form that names an access point does not go.
    for bucket in [alias, arn] {
        assert_eq!(send("localhost", "/bkt", "s3", bucket).await, refused, "{bucket}");
    }
}

#[tokio::test]
async fn a_form_on_premises_is_signed_for_its_service_and_stores_in_its_class() {
    let world = World::new(NOW).await;
    let host = "outap-111122223333.op-01234567890123456.s3-outposts.us-east-1.amazonaws.com";
    let arn =
        "arn:aws:s3-outposts:us-east-1:111122223333:outpost/op-01234567890123456/accesspoint/outap";
    let send = async |service: &str, fields: &[(&str, &str)], conditions: &str| {
        let conditions = format!("{KEY}, {conditions}");
        let fields = [&[("key", "k")], fields].concat();
        let form = body(
            &signed_for(service, arn, &fields, conditions.trim_end_matches([',', ' '])),
            Some(("a.txt", b"by form")),
        );
        post_to(&world, "/", host, &form).await
    };
    let code = |answer: &Answer| (answer.status, answer.element("Code").unwrap_or_default());
    assert_eq!(code(&send("s3", &[], "").await), (400, "InvalidArgument".to_owned()));
    for (name, value, status, refusal) in [
        ("x-amz-storage-class", "STANDARD", 400, "InvalidStorageClass"),
        ("acl", "public-read", 501, "NotImplemented"),
    ] {
        let condition = format!(r#"{{"{name}": "{value}"}}"#);
        let answer = send("s3-outposts", &[(name, value)], &condition).await;
        assert_eq!(code(&answer), (status, refusal.to_owned()), "{name}");
    }
    let stored = send("s3-outposts", &[], "").await;
    assert_eq!(code(&stored), (204, String::new()), "{}", stored.text());
    let read = Draft { host, service: "s3-outposts", ..Draft::new("GET", "/k", b"") };
    let read = world.send(&read).await;
    assert_eq!((read.status, read.body.as_slice()), (200, &b"by form"[..]), "{}", read.text());
    assert_eq!(read.header("x-amz-storage-class"), Some("OUTPOSTS"));
}

#[tokio::test]
async fn a_checksum_of_the_file_is_checked() {
    let world = World::new(NOW).await;
    let conditions = format!(r#"{KEY}, ["starts-with", "$x-amz-checksum-crc32", ""]"#);
    let sum = STANDARD.encode(crc32fast::hash(b"hello").to_be_bytes());
    let fields = signed(&[("key", "k"), ("x-amz-checksum-crc32", &sum)], &conditions);
    let answer = post(&world, &fields, b"hello").await;
    assert_eq!((answer.status, answer.header("x-amz-checksum-crc32")), (204, Some(sum.as_str())));
    let answer = post(&world, &fields, b"other").await;
    assert_eq!((answer.status, answer.element("Code").as_deref()), (400, Some("BadDigest")));
    assert_eq!(world.fetch("/bkt/k").await.body, b"hello");
}

#[tokio::test]
async fn a_form_that_nobody_signed_is_taken_where_everybody_may_write() {
    let world = World::new(NOW).await;
    let form = body(&pairs(&[("key", "k")]), Some(("a", b"1")));
    assert_eq!(post_to(&world, "/open", "localhost", &form).await.status, 204);
    let answer = post_to(&world, "/bkt", "localhost", &form).await;
    assert_eq!((answer.status, answer.element("Code").as_deref()), (403, Some("AccessDenied")));
    let answer = post_to(&world, "/nowhere-at-all", "localhost", &form).await;
    assert_eq!((answer.status, answer.element("Code").as_deref()), (404, Some("NoSuchBucket")));
}

#[tokio::test]
async fn a_customers_key_in_a_form_passes_where_nobody_listens_alone() {
    let key = [5; 32];
    let prefix = "x-amz-server-side-encryption-customer";
    let all = [
        (format!("{prefix}-algorithm"), "AES256".to_owned()),
        (format!("{prefix}-key"), STANDARD.encode(key)),
        (format!("{prefix}-key-MD5"), STANDARD.encode(Md5::digest(key))),
        ("key".to_owned(), "k".to_owned()),
    ];
    let form = body(&all, Some(("a", b"secret")));
    let strict = World::strict(NOW).await;
    // One of the three is enough: it may be the key.
    for form in [&form, &body(&all[1..], Some(("a", b"secret")))] {
        let answer = post_to(&strict, "/open", "localhost", form).await;
        assert_eq!(
            (answer.status, answer.element("Code").as_deref()),
            (400, Some("InvalidRequest"))
        );
        assert!(answer.text().contains("over a secure connection"), "{}", answer.text());
    }
    assert_eq!(strict.fetch("/open/k").await.status, 404, "nothing was stored");
    let own = World::new(NOW).await;
    let answer = post_to(&own, "/open", "localhost", &form).await;
    assert_eq!(answer.status, 204, "{}", answer.text());
    assert_eq!(own.fetch("/open/k").await.status, 400, "a read without the key");
}

#[tokio::test]
async fn no_refusal_of_a_form_shows_what_its_policy_holds_of_a_customers_key() {
    let world = World::new(NOW).await;
    let name = "x-amz-server-side-encryption-customer-key";
    let condition = format!(r#"{KEY}, {{"{name}": "c2VjcmV0"}}"#);
    for (sign, field) in [
        (signed as fn(&[(&str, &str)], &str) -> Vec<(String, String)>, "x-amz-signature"),
        (signed_v2, "signature"),
    ] {
        let mut form = sign(&[("key", "k")], &condition);
        let failed = post(&world, &form, b"1").await;
        assert_eq!(failed.status, 403, "{}", failed.text());
        assert!(failed.text().contains(name) && !failed.text().contains("c2VjcmV0"));
        let policy = form.iter().find(|(name, _)| name == "policy").unwrap().1.clone();
        for (own, text) in &mut form {
            if own == field {
                "00".clone_into(text);
            }
        }
        let refused = post(&world, &form, b"1").await;
        assert_eq!(refused.element("Code").as_deref(), Some("SignatureDoesNotMatch"));
        assert_eq!(refused.element("SignatureProvided").as_deref(), Some("00"));
        assert!(!refused.text().contains(&policy) && !refused.text().contains("StringToSign"));
    }
    // What holds no secret is shown, as by the real service.
    let mut form = signed(&[("key", "k")], KEY);
    let policy = form.iter().find(|(name, _)| name == "policy").unwrap().1.clone();
    form.iter_mut()
        .filter(|(name, _)| name == "x-amz-signature")
        .for_each(|(_, text)| "00".clone_into(text));
    let refused = post(&world, &form, b"1").await;
    assert_eq!(refused.element("StringToSign"), Some(policy));
}

#[tokio::test]
async fn a_condition_beside_a_form_is_refused_and_overwrites_nothing() {
    let world = World::new(NOW).await;
    world.store("/open/k", b"old").await;
    let form = body(&pairs(&[("key", "k")]), Some(("a", b"new")));
    for (header, value) in [
        ("If-Match", "\"other\""),
        ("If-None-Match", "*"),
        ("If-Modified-Since", "Sat, 21 Nov 2026 07:06:26 GMT"),
        ("If-Unmodified-Since", "Sat, 21 Nov 2020 07:06:26 GMT"),
    ] {
        let lines = format!("host: localhost\r\n{header}: {value}\r\n");
        let answer = post_with(&world, "/open", &lines, &form).await;
        assert_eq!((answer.status, answer.element("Header").as_deref()), (501, Some(header)));
    }
    assert_eq!(world.fetch("/open/k").await.text(), "old");
    assert_eq!(post_to(&world, "/open", "localhost", &form).await.status, 204);
}

#[tokio::test]
async fn what_a_form_says_of_its_upload_is_checked_as_that_of_a_head() {
    let strict = World::strict(NOW).await;
    let world = World::new(NOW).await;
    let form =
        |name: &str, value: &str| body(&pairs(&[("key", "k"), (name, value)]), Some(("a", b"1")));
    for name in ["x-amz-alc", "X-Amz-Copy", "x-amz-meta"] {
        let answer = post_to(&strict, "/open", "localhost", &form(name, "1")).await;
        assert_eq!(answer.element("Code").as_deref(), Some("InvalidRequest"), "{name}");
        assert!(answer.text().contains(name), "{}", answer.text());
        assert_eq!(post_to(&world, "/open", "localhost", &form(name, "1")).await.status, 204);
    }
    let signed = signed(
        &[("key", "k"), ("x-amz-meta-a", "b")],
        &format!(r#"{KEY}, {{"x-amz-meta-a": "b"}}"#),
    );
    assert_eq!(post(&strict, &signed, b"1").await.status, 204, "fields of a signature are known");
    let long =
        post_to(&world, "/open", "localhost", &form("cache-control", &"a".repeat(8 * 1024))).await;
    let code = long.element("Code");
    assert_eq!((long.status, code.as_deref()), (400, Some("RequestHeaderSectionTooLarge")));
    // The owner whom the sender expects, in the form and beside it.
    let (named, others) = ("x-amz-expected-bucket-owner", "444455556666");
    let plain = body(&pairs(&[("key", "k")]), Some(("a", b"1")));
    for (owner, status) in [("111122223333", 204), (others, 403)] {
        let within = post_to(&world, "/open", "localhost", &form(named, owner)).await;
        let lines = format!("host: localhost\r\n{named}: {owner}\r\n");
        let beside = post_with(&world, "/open", &lines, &plain).await;
        assert_eq!((within.status, beside.status), (status, status), "{owner}");
    }
    let mixed = post_to(
        &world,
        "/open",
        "localhost",
        &body(
            &pairs(&[("key", "k"), ("x-amz-meta-a", "1"), ("x-store-meta-b", "2")]),
            Some(("a", b"1")),
        ),
    )
    .await;
    assert_eq!((mixed.status, mixed.element("Code").as_deref()), (400, Some("InvalidRequest")));
}

#[tokio::test]
async fn a_field_that_is_missing_is_named_as_recorded() {
    let world = World::new(NOW).await;
    let v4 = signed(&[("key", "k")], KEY);
    let v2 = signed_v2(&[("key", "k")], KEY);
    for (fields, without, named) in [
        (&v4, "x-amz-signature", "X-Amz-Signature"),
        (&v4, "x-amz-algorithm", "X-Amz-Algorithm"),
        (&v4, "x-amz-credential", "X-Amz-Credential"),
        (&v4, "x-amz-date", "X-Amz-Date"),
        (&v4, "policy", "policy"),
        (&v4, "key", "key"),
        (&v2, "signature", "Signature"),
        (&v2, "AWSAccessKeyId", "AWSAccessKeyId"),
        (&v2, "policy", "policy"),
    ] {
        let left: Vec<_> = fields.iter().filter(|(name, _)| name != without).cloned().collect();
        // The policy is checked before the key is looked for.
        let sent = match without {
            "key" => signed(&[], r#"["content-length-range", 0, 9]"#),
            _ => left,
        };
        let answer = post(&world, &sent, b"1").await;
        assert_eq!(answer.status, 400, "{without}: {}", answer.text());
        assert_eq!(answer.element("Code").as_deref(), Some("InvalidArgument"), "{without}");
        assert_eq!(answer.element("ArgumentName").as_deref(), Some(named));
        let sentence = format!(
            "Bucket POST must contain a field named '{named}'.  If it is specified, please check the order of the fields."
        );
        assert_eq!(answer.element("Message"), Some(sentence));
    }
}

#[tokio::test]
async fn a_field_of_a_signature_that_is_none_is_named_with_its_fault() {
    let world = World::new(NOW).await;
    let good = signed(&[("key", "k")], KEY);
    const FORM: &str = "the Credential is mal-formed; expecting \"<YOUR-AKID>/YYYYMMDD/REGION/SERVICE/aws4_request\".";
    const REGION: &str = "the region 'us-west-2' is wrong; expecting 'us-east-1'";
    const DAY_OF_SCOPE: &str = "incorrect date format \"today\". This date in the credential must be in the format \"yyyyMMdd\".";
    for (field, named, value, reason) in [
        ("x-amz-algorithm", "X-Amz-Algorithm", "md5", "Only AWS4-HMAC-SHA256 is supported"),
        ("x-amz-credential", "X-Amz-Credential", "no-slashes", FORM),
        ("x-amz-credential", "X-Amz-Credential", "AK/20261121/us-west-2/s3/aws4_request", REGION),
        (
            "x-amz-credential",
            "X-Amz-Credential",
            "AK/today/us-east-1/s3/aws4_request",
            DAY_OF_SCOPE,
        ),
        (
            "x-amz-date",
            "X-Amz-Date",
            "yesterday",
            "X-Amz-Date must be formated via ISO8601 Long format",
        ),
        (
            "x-amz-date",
            "X-Amz-Date",
            "20261120T070626Z",
            "X-Amz-Date must be on the day that X-Amz-Credential names",
        ),
    ] {
        let mut fields = good.clone();
        for (_, text) in fields.iter_mut().filter(|(own, _)| own == field) {
            value.clone_into(text);
        }
        let answer = post(&world, &fields, b"1").await;
        let plain =
            |text: String| text.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
        let element = |name| plain(answer.element(name).unwrap_or_default());
        let seen = ["Code", "Message", "ArgumentName", "ArgumentValue"].map(element);
        assert_eq!(
            (answer.status, seen),
            (400, ["InvalidArgument", reason, named, value].map(str::to_owned))
        );
        // Who signs for another region is told which one is right.
        let region = (reason == REGION).then_some("us-east-1");
        assert_eq!(answer.element("Region").as_deref(), region);
        assert_eq!(answer.header("x-amz-bucket-region"), region);
    }
}

#[tokio::test]
async fn bad_forms_are_refused_and_store_nothing() {
    let world = World::new(NOW).await;
    let good = signed(&[("key", "bad")], KEY);
    let file = Some(("a", &b"1"[..]));
    let wrong = |name: &str, value: &str| {
        let mut fields = good.clone();
        for (own, text) in &mut fields {
            if own == name {
                value.clone_into(text);
            }
        }
        body(&fields, file)
    };
    let many: Vec<_> = (0..1_000).map(|number| (format!("f{number}"), "v".to_owned())).collect();
    let long = pairs(&[("key", &"k".repeat(1_025))]);
    let cut = body(&good, file);
    let two = [&body(&good, file)[..cut.len() - BOUNDARY.len() - 6], &body(&[], file)].concat();
    let past = STANDARD.encode(r#"{"expiration": "2020-01-01T00:00:00Z", "conditions": []}"#);
    let past_signature = STANDARD.encode(mac::<Hmac<Sha1>>(OWNER.1.as_bytes(), past.as_bytes()));
    let past = pairs(&[
        ("key", "bad"),
        ("AWSAccessKeyId", OWNER.0),
        ("policy", &past),
        ("signature", &past_signature),
    ]);
    let mut first = body(&[], file);
    first.truncate(first.len() - BOUNDARY.len() - 6);
    let first = [first, body(&good, None)].concat();
    for (form, status, code) in [
        (body(&many, file), 400, "MaxPostPreDataLengthExceededError"),
        (body(&good, None), 400, "InvalidArgument"),
        (first, 400, "InvalidArgument"),
        (body(&past, file), 403, "AccessDenied"),
        (wrong("x-amz-signature", "00"), 403, "SignatureDoesNotMatch"),
        (
            wrong("x-amz-credential", "NOBODY/20261121/us-east-1/s3/aws4_request"),
            403,
            "InvalidAccessKeyId",
        ),
        (wrong("x-amz-date", "yesterday"), 400, "InvalidArgument"),
        (
            body(&signed(&[("key", "bad")], r#"["content-length-range", -1, 10]"#), file),
            400,
            "InvalidPolicyDocument",
        ),
        (body(&signed(&[("key", "bad"), ("x-amz-meta-b", "1")], KEY), file), 403, "AccessDenied"),
        (body(&signed(&[("key", "bad")], r#"{"key": "good"}"#), file), 403, "AccessDenied"),
        (
            body(
                &signed(
                    &[("key", "bad"), ("x-amz-storage-class", "FakeClass")],
                    &format!(r#"{KEY}, ["starts-with", "$x-amz-storage-class", ""]"#),
                ),
                file,
            ),
            400,
            "InvalidStorageClass",
        ),
        (
            body(
                &signed(
                    &[("key", "bad"), ("tagging", "not xml")],
                    &format!(r#"{KEY}, ["starts-with", "$tagging", ""]"#),
                ),
                file,
            ),
            400,
            "MalformedXML",
        ),
        (body(&long, file), 400, "KeyTooLongError"),
        (cut[..cut.len() - 8].to_vec(), 400, "MalformedPOSTRequest"),
        (cut[..200].to_vec(), 400, "MalformedPOSTRequest"),
        (Vec::new(), 400, "MalformedPOSTRequest"),
        (two, 400, "InvalidArgument"),
    ] {
        let answer = post_to(&world, "/bkt", "localhost", &form).await;
        let seen = (answer.status, answer.element("Code").unwrap_or_default());
        assert_eq!(seen, (status, code.to_owned()), "{}", answer.text());
    }
    let plain = b"POST /bkt HTTP/1.1\r\nhost: localhost\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\nx";
    let answer = world.exchange(plain).await;
    assert_eq!(
        (answer.status, answer.element("Code").as_deref()),
        (412, Some("PreconditionFailed"))
    );
    let listed = world.fetch("/bkt").await;
    assert!(!listed.text().contains("<Key>"), "{}", listed.text());
}
