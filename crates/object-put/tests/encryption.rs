//! Encryption as clients choose it, and as it holds against who changes what is stored.

mod service;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use object_put::kms::key::{KeyState, KmsKey};
use object_put::request::dialect::Dialect;
use object_put::store::tables::KMS_KEYS;
use service::{Answer, Draft, NOW, World};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::host::Hosted as _;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue as _, Memory, Span, StoreError, run_blocking};
use triptych_core::time::Timestamp;

const OWN: &str = "x-store-server-side-encryption-customer-";
const SOURCE: &str = "x-store-copy-source-server-side-encryption-customer-";

/// A request with the customer's key that is all of one byte.
fn with_key(draft: Draft, prefix: &str, byte: u8) -> Draft {
    let key = [byte; 32];
    draft
        .with(&format!("{prefix}algorithm"), "AES256")
        .with(&format!("{prefix}key"), STANDARD.encode(key))
        .with(&format!("{prefix}key-md5"), STANDARD.encode(Md5::digest(key)))
}

fn put(target: &str, body: &[u8], byte: u8) -> Draft {
    with_key(Draft::put(target, body), OWN, byte)
}

fn get(target: &str, byte: u8) -> Draft {
    get_in(Dialect::Amz, target, byte)
}

fn get_in(dialect: Dialect, target: &str, byte: u8) -> Draft {
    with_key(Draft::new("GET", target, b"").speaking(dialect), OWN, byte)
}

fn is(answer: &Answer, status: u16, code: &str, says: &str) {
    let own = (answer.status, answer.element("Code").unwrap_or_default());
    assert_eq!(own, (status, code.to_owned()), "{}", answer.text());
    assert!(answer.text().contains(says), "{}", answer.text());
}

#[tokio::test]
async fn a_customers_object_is_read_with_its_key_alone() {
    let world = World::new(NOW).await;
    let body: Vec<u8> = (0..200_000_u32).map(|place| (place % 251) as u8).collect();
    for dialect in [Dialect::Store, Dialect::Amz] {
        let stored =
            world.send(&with_key(Draft::put("/bkt/k", &body).speaking(dialect), OWN, 1)).await;
        assert_eq!(stored.status, 200, "{}", stored.text());
        let header =
            |answer: &Answer, name: &str| answer.header(&dialect.header(name)).map(str::to_owned);
        assert_eq!(header(&stored, &format!("{OWN}algorithm")).unwrap(), "AES256");
        assert_eq!(
            header(&stored, &format!("{OWN}key-md5")).unwrap(),
            STANDARD.encode(Md5::digest([1; 32]))
        );
        assert_eq!(header(&stored, "x-store-server-side-encryption"), None);
        assert!(header(&stored, "x-store-checksum-crc64nvme").is_some());
        let tag = stored.header("etag").unwrap().to_owned();
        assert!(!tag.contains(&hex::encode(Md5::digest(&body))), "{tag}");
        for method in ["GET", "HEAD"] {
            let mut right = get_in(dialect, "/bkt/k", 1);
            right.method = method;
            let read = world.send(&right).await;
            assert_eq!((read.status, read.header("etag")), (200, Some(tag.as_str())));
            assert_eq!(header(&read, &format!("{OWN}algorithm")).unwrap(), "AES256");
            assert!(method == "HEAD" || read.body == body);
        }
        let range = world.send(&get("/bkt/k", 1).with("range", "bytes=65530-131080")).await;
        assert_eq!((range.status, &range.body[..]), (206, &body[65_530..=131_080]));
        is(
            &world.send(&get_in(dialect, "/bkt/k", 2)).await,
            403,
            "AccessDenied",
            "must provide the correct secret key",
        );
        is(
            &world.send(&Draft::new("GET", "/bkt/k", b"").speaking(dialect)).await,
            400,
            "InvalidRequest",
            "The correct parameters must be provided",
        );
        let attributes = |draft: Draft| draft.with("x-store-object-attributes", "ETag");
        let read = world.send(&attributes(get("/bkt/k?attributes", 1))).await;
        assert_eq!(read.status, 200, "{}", read.text());
        for (draft, status) in
            [(Draft::new("GET", "/bkt/k?attributes", b""), 400), (get("/bkt/k?attributes", 2), 403)]
        {
            assert_eq!(world.send(&attributes(draft)).await.status, status);
        }
    }
}

#[tokio::test]
async fn both_sides_of_a_copy_have_keys_of_their_own() {
    let world = World::new(NOW).await;
    assert_eq!(world.send(&put("/bkt/from", b"body", 1)).await.status, 200);
    let copy = |to: &str| Draft::put(to, b"").with("x-store-copy-source", "bkt/from");
    let sourced = |to: &str, byte| with_key(copy(to), SOURCE, byte);
    is(&world.send(&copy("/bkt/to")).await, 400, "InvalidRequest", "The correct parameters");
    is(&world.send(&sourced("/bkt/to", 2)).await, 403, "AccessDenied", "correct secret key");
    // Into the clear, to another key, and onto itself with another key.
    assert_eq!(world.send(&sourced("/bkt/plain", 1)).await.status, 200);
    assert_eq!(world.fetch("/bkt/plain").await.body, b"body");
    for to in ["/bkt/to", "/bkt/from"] {
        let copied = world.send(&with_key(sourced(to, 1), OWN, 3)).await;
        assert_eq!(copied.status, 200, "{}", copied.text());
        assert_eq!(world.send(&get(to, 3)).await.body, b"body");
        assert_eq!(world.send(&get(to, 1)).await.status, 403);
    }
    is(
        &world
            .send(&with_key(
                Draft::put("/bkt/no", b"").with("x-store-copy-source", "bkt/plain"),
                SOURCE,
                1,
            ))
            .await,
        400,
        "InvalidRequest",
        "",
    );
}

#[tokio::test]
async fn a_completion_needs_the_customers_key_where_its_upload_has_checksums_alone() {
    let world = World::new(NOW).await;
    for (algorithm, checksum) in [(None, ""), (Some("CRC32"), "26gLsg==")] {
        let mut begin = with_key(Draft::new("POST", "/bkt/k?uploads", b""), OWN, 1);
        if let Some(algorithm) = algorithm {
            begin = begin.with("x-store-checksum-algorithm", algorithm);
        }
        let id = world.send(&begin).await.element("UploadId").unwrap();
        let mut part = put(&format!("/bkt/k?partNumber=1&uploadId={id}"), b"body", 1);
        if algorithm.is_some() {
            part = part.with("x-store-checksum-crc32", checksum);
        }
        let part = world.send(&part).await;
        let tag = part.header("etag").unwrap_or_else(|| panic!("{}", part.text())).to_owned();
        let sum = algorithm.map(|name| format!("<Checksum{name}>{checksum}</Checksum{name}>"));
        let list = format!(
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{tag}</ETag>{}</Part></CompleteMultipartUpload>",
            sum.unwrap_or_default()
        );
        let complete = || Draft::new("POST", &format!("/bkt/k?uploadId={id}"), list.as_bytes());
        let other = world.send(&with_key(complete(), OWN, 2)).await;
        is(&other, 400, "InvalidRequest", "did not match the ones used originally");
        // The second one is answered as the first one was.
        for _ in 0..2 {
            let bare = world.send(&complete()).await;
            if algorithm.is_some() {
                is(&bare, 400, "InvalidRequest", "appropriate encryption parameters");
            } else {
                assert_eq!(bare.status, 200, "{}", bare.text());
                assert_eq!(bare.header(&format!("{OWN}algorithm").replace("store", "amz")), None);
            }
        }
        let whole = world.send(&with_key(complete(), OWN, 1)).await;
        assert_eq!(whole.status, 200, "{}", whole.text());
        assert_eq!(world.send(&get("/bkt/k", 1)).await.body, b"body");
    }
}

/// Puts an encryption of `/bkt` whose rule has these elements.
async fn put_encryption(world: &World, rule: &str) -> u16 {
    let document = format!(
        "<ServerSideEncryptionConfiguration><Rule>{rule}</Rule></ServerSideEncryptionConfiguration>"
    );
    world.send(&Draft::document("/bkt?encryption", document.as_bytes())).await.status
}

fn blocked(word: &str) -> String {
    format!(
        "<BlockedEncryptionTypes><EncryptionType>{word}</EncryptionType></BlockedEncryptionTypes>"
    )
}

#[tokio::test]
async fn a_bucket_that_blocks_customers_keys_takes_nothing_that_is_written_with_one() {
    let world = World::new(NOW).await;
    assert_eq!(world.send(&put("/bkt/old", b"old", 1)).await.status, 200);
    let begin = || with_key(Draft::new("POST", "/bkt/parts?uploads", b""), OWN, 1);
    let id = world.send(&begin()).await.element("UploadId").unwrap();
    let part = put(&format!("/bkt/parts?partNumber=1&uploadId={id}"), b"part", 1);
    let tag = world.send(&part).await.header("etag").unwrap().to_owned();
    let list = format!(
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{tag}</ETag></Part></CompleteMultipartUpload>"
    );
    let complete = Draft::new("POST", &format!("/bkt/parts?uploadId={id}"), list.as_bytes());
    let copy = Draft::put("/bkt/copy", b"").with("x-store-copy-source", "bkt/old");
    let writes = [
        put("/bkt/new", b"new", 1),
        with_key(with_key(copy.clone(), SOURCE, 1), OWN, 1),
        begin(),
        part,
        with_key(complete, OWN, 1),
    ];
    assert_eq!(put_encryption(&world, &blocked("SSE-C")).await, 200);
    // A rule for the default alone leaves the block, and so does its end.
    let default = "<ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>";
    assert_eq!(put_encryption(&world, default).await, 200);
    assert_eq!(world.send(&Draft::new("DELETE", "/bkt?encryption", b"")).await.status, 204);
    for draft in &writes {
        is(&world.send(draft).await, 403, "AccessDenied", "blocked upload requests");
    }
    assert_eq!(world.fetch("/bkt?encryption").await.element("EncryptionType").unwrap(), "SSE-C");
    // What is there is read with its key, and copied to another encryption.
    assert_eq!(world.send(&get("/bkt/old", 1)).await.body, b"old");
    assert_eq!(world.send(&with_key(copy, SOURCE, 1)).await.status, 200);
    world.store("/bkt/plain", b"plain").await;
    assert_eq!(put_encryption(&world, &blocked("NONE")).await, 200);
    assert_eq!(world.fetch("/bkt?encryption").await.element("EncryptionType").unwrap(), "NONE");
    for draft in &writes {
        let answer = world.send(draft).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

#[tokio::test]
async fn a_rule_that_blocks_types_leaves_the_default_of_its_bucket() {
    let world = World::new(NOW).await;
    let default = "<ApplyServerSideEncryptionByDefault><SSEAlgorithm>aws:kms</SSEAlgorithm></ApplyServerSideEncryptionByDefault>";
    assert_eq!(put_encryption(&world, default).await, 200);
    for rule in [
        blocked("SSE-S3"),
        blocked("SSE-C</EncryptionType><EncryptionType>NONE"),
        format!("{}<BucketKeyEnabled>true</BucketKeyEnabled>", blocked("SSE-C")),
        "<BlockedEncryptionTypes/>".to_owned(),
        String::new(),
    ] {
        assert_eq!(put_encryption(&world, &rule).await, 400, "{rule}");
    }
    assert_eq!(world.fetch("/bkt?encryption").await.element("EncryptionType"), None);
    assert_eq!(put_encryption(&world, &blocked("SSE-C")).await, 200);
    let kept = world.fetch("/bkt?encryption").await;
    assert_eq!(kept.element("SSEAlgorithm").unwrap(), "aws:kms");
}

#[tokio::test]
async fn a_strict_service_takes_no_key_over_plain_http() {
    let world = World::strict(NOW).await;
    for draft in [put("/bkt/k", b"body", 1), get("/bkt/k", 1)] {
        is(&world.send(&draft).await, 400, "InvalidRequest", "secure connection");
    }
    let source =
        with_key(Draft::put("/bkt/k", b""), SOURCE, 1).with("x-store-copy-source", "bkt/a");
    is(&world.send(&source).await, 400, "InvalidRequest", "secure connection");
}

#[tokio::test]
async fn no_refusal_and_no_record_shows_a_customers_key() {
    let (store, blobs) = (Arc::new(Memory::new()), MemoryBlobs::new(SeededIds::from_number(2)));
    let world = World::on(store.clone(), Arc::new(blobs), NOW).await;
    let key = [0x6B; 32];
    let secrets = [STANDARD.encode(key), STANDARD.encode(Md5::digest(key)), hex::encode(key)];
    let hidden = |text: &str| secrets.iter().all(|secret| !text.contains(secret.as_str()));
    assert_eq!(world.send(&put("/bkt/k", b"body", 0x6B)).await.status, 200);
    for dialect in [Dialect::Amz, Dialect::Store] {
        let own = get_in(dialect, "/bkt/k", 0x6B);
        let refused = world.send(&Draft { key: ("AKIDEXAMPLE", "wrong"), ..own }).await;
        is(&refused, 403, "SignatureDoesNotMatch", "customer-key:...");
        assert!(hidden(&refused.text()), "{}", refused.text());
        let bytes = hex::encode(STANDARD.encode(key));
        let shown = refused.element("CanonicalRequestBytes").unwrap().replace(' ', "");
        assert!(!shown.contains(&bytes));
    }
    for (name, value) in store.scan(&Span::default(), usize::MAX).unwrap().rows {
        let texts =
            [&name[..], &value[..]].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert!(texts.iter().all(|text| hidden(text)), "{texts:?}");
    }
}

const MODE: &str = "x-store-server-side-encryption";
const KEY: &str = "x-store-server-side-encryption-kms-key-id";
const CONTEXT: &str = "x-store-server-side-encryption-context";
const BUCKET_KEY: &str = "x-store-server-side-encryption-bucket-key-enabled";

/// The ARN of the `number`-th key of the seed.
fn arn(dialect: Dialect, account: &str, number: u32) -> String {
    let prefix = dialect.names().kms_arn_prefix;
    format!("{prefix}us-east-1:{account}:key/11111111-aaaa-4bbb-8ccc-00000000000{number}")
}

fn kms(target: &str, body: &[u8], dialect: Dialect) -> Draft {
    Draft::put(target, body).speaking(dialect).with(MODE, dialect.names().kms)
}

#[tokio::test]
async fn every_mode_reads_back_in_either_dialect_and_names_its_key_by_arn() {
    let world = World::new(NOW).await;
    let body: Vec<u8> = (0..200_000_u32).map(|place| (place % 251) as u8).collect();
    for dialect in [Dialect::Store, Dialect::Amz] {
        let names = dialect.names();
        let own = arn(dialect, "111122223333", 1);
        let context = STANDARD.encode(r#"{"a": "1"}"#);
        let mut drafts = vec![
            (Draft::put("/bkt/k", &body).speaking(dialect).with(MODE, "AES256"), "AES256"),
            (kms("/bkt/k", &body, dialect), names.kms),
            (kms("/bkt/k", &body, dialect).with(CONTEXT, context.clone()), names.kms),
            (
                Draft::put("/bkt/k", &body).speaking(dialect).with(MODE, names.kms_dual),
                names.kms_dual,
            ),
            (
                Draft::put("/bkt/k", &body)
                    .speaking(dialect)
                    .with(MODE, names.kms_dual)
                    .with(KEY, own.clone()),
                names.kms_dual,
            ),
        ];
        for key in [&own[own.len() - 36..], &own, "alias/demo"] {
            drafts.push((kms("/bkt/k", &body, dialect).with(KEY, key), names.kms));
            let draft = kms("/bkt/k", &body, dialect).with(KEY, key).with(BUCKET_KEY, "true");
            drafts.push((draft, names.kms));
        }
        for (draft, mode) in drafts {
            let header = |answer: &Answer, name: &str| {
                answer.header(&dialect.header(name)).map(str::to_owned)
            };
            let put = world.send(&draft).await;
            assert_eq!(put.status, 200, "{}", put.text());
            let sent = |name: &str| {
                let name = dialect.header(name).into_owned();
                draft.headers.iter().find(|(own, _)| *own == name).map(|(_, value)| value.clone())
            };
            assert_eq!(header(&put, CONTEXT), sent(CONTEXT));
            let got = world.send(&Draft::new("GET", "/bkt/k", b"").speaking(dialect)).await;
            assert!(got.status == 200 && got.body == body, "{}", got.text());
            let ranged = Draft::new("GET", "/bkt/k", b"").speaking(dialect);
            let ranged = world.send(&ranged.with("range", "bytes=65000-140000")).await;
            assert!(ranged.body == body[65_000..=140_000]);
            assert_eq!(header(&got, CONTEXT), None);
            for answer in [&put, &got] {
                assert_eq!(header(answer, MODE).as_deref(), Some(mode));
                assert_eq!(header(answer, BUCKET_KEY), sent(BUCKET_KEY));
                match (mode, sent(KEY)) {
                    ("AES256", _) => assert_eq!(header(answer, KEY), None),
                    (_, Some(_)) => assert_eq!(header(answer, KEY).as_ref(), Some(&own)),
                    (_, None) => {
                        let managed = header(answer, KEY).unwrap();
                        let start = format!("{}us-east-1:111122223333:key/", names.kms_arn_prefix);
                        assert!(managed.starts_with(&start) && managed != own, "{managed}");
                    }
                }
            }
            let md5 = format!("\"{}\"", hex::encode(Md5::digest(&body)));
            assert_eq!(put.header("etag") == Some(&*md5), mode == "AES256");
            assert_eq!(put.header("etag"), got.header("etag"));
        }
    }
}

#[tokio::test]
async fn keys_that_cannot_be_used_are_refused_as_the_real_service_does() {
    let world = World::new(NOW).await;
    let own = |number| arn(Dialect::Amz, "111122223333", number);
    let other = |number| arn(Dialect::Amz, "444455556666", number);
    for (key, status, code, says) in [
        ("fake-key-id".to_owned(), 400, "KMS.NotFoundException", "Invalid keyId 'fake-key-id'"),
        (own(9), 400, "KMS.NotFoundException", &*format!("Key '{}' does not exist", own(9))),
        (
            own(1).replace("us-east-1", "us-west-2"),
            400,
            "KMS.NotFoundException",
            "Invalid arn us-west-2",
        ),
        ("alias/none".to_owned(), 400, "KMS.NotFoundException", "is not found"),
        ("arn:aws:s3:::bkt".to_owned(), 400, "KMS.NotFoundException", "Invalid arn"),
        ("a/b/c".to_owned(), 400, "KMS.NotFoundException", "Invalid keyId"),
        (own(2), 400, "KMS.DisabledException", &*format!("{} is disabled.", own(2))),
        (own(3), 400, "KMS.KMSInvalidStateException", &*format!("{} is pending deletion.", own(3))),
        (own(4), 400, "KMS.InvalidKeyUsageException", "SIGN_VERIFY"),
        (other(6), 403, "AccessDenied", ""),
        (other(5)[other(5).len() - 36..].to_owned(), 400, "KMS.NotFoundException", ""),
    ] {
        let refused = world.send(&kms("/bkt/k", b"body", Dialect::Amz).with(KEY, key)).await;
        is(&refused, status, code, says);
    }
    let shared = world.send(&kms("/bkt/k", b"body", Dialect::Amz).with(KEY, other(5))).await;
    assert_eq!(shared.status, 200, "{}", shared.text());
    assert_eq!(world.fetch("/bkt/k").await.body, b"body");
    assert_eq!(world.fetch("/bkt/none").await.status, 404, "nothing was stored");
}

#[tokio::test]
async fn an_answer_that_is_given_again_asks_for_the_state_of_its_key_each_time() {
    let store = Arc::new(Memory::new());
    let blobs = MemoryBlobs::new(SeededIds::from_number(2));
    let world = World::on(store.clone(), Arc::new(blobs), NOW).await;
    let own = arn(Dialect::Amz, "111122223333", 1);
    let id = own[own.len() - 36..].to_owned();
    for (mode, bucket_key) in [("aws:kms", "true"), ("aws:kms", "false"), ("aws:kms:dsse", "false")]
    {
        let put = Draft::put("/bkt/k", b"body").speaking(Dialect::Amz).with(MODE, mode);
        let put = put.with(KEY, own.clone()).with(BUCKET_KEY, bucket_key);
        assert_eq!(world.send(&put).await.status, 200);
        for state in [KeyState::Enabled, KeyState::Disabled, KeyState::Enabled] {
            run_blocking(&*store, &mut SeededIds::from_number(1), 3, |tx, _| {
                let key = KMS_KEYS.get(tx, &id)?.unwrap();
                KMS_KEYS.put(tx, &id, &KmsKey { state, ..key });
                Ok::<_, StoreError>(())
            })
            .unwrap();
            for _ in 0..3 {
                let got = world.fetch("/bkt/k").await;
                match state {
                    KeyState::Enabled => assert_eq!(got.body, b"body", "{mode} {bucket_key}"),
                    _ => is(&got, 400, "KMS.DisabledException", "is disabled."),
                }
            }
        }
    }
}

#[tokio::test]
async fn headers_of_encryption_that_do_not_go_together_are_refused() {
    let world = World::new(NOW).await;
    let context = STANDARD.encode(r#"{"a": "1"}"#);
    let put = || Draft::put("/bkt/k", b"body");
    for draft in [
        put().with(KEY, "alias/demo"),
        put().with(CONTEXT, context.clone()),
        put().with(MODE, "AES256").with(KEY, "alias/demo"),
        put().with(MODE, "AES256").with(CONTEXT, context.clone()),
        put().with(MODE, "aws:kms:dsse").with(BUCKET_KEY, "true"),
        put().with(MODE, "aws:kms").with(BUCKET_KEY, "yes"),
        put().with(MODE, "aws:kms").with(CONTEXT, "no base64!"),
        put().with(MODE, "aws:kms").with(CONTEXT, STANDARD.encode(r#"{"a": {"b": "c"}}"#)),
        put().with(MODE, "store:kms"),
        with_key(put().with(MODE, "aws:kms"), OWN, 1),
        with_key(put().with(KEY, "alias/demo"), OWN, 1),
        with_key(put().with(CONTEXT, context), OWN, 1),
    ] {
        is(&world.send(&draft).await, 400, "InvalidArgument", "");
    }
    assert_eq!(world.fetch("/bkt/k").await.status, 404);
}

#[tokio::test]
async fn a_key_needs_the_permissions_of_the_key_service_too() {
    let world = World::new(NOW).await;
    assert_eq!(world.send(&kms("/open/k", b"body", Dialect::Amz)).await.status, 200);
    let reader = Draft { key: ("READER", "reader"), ..Draft::new("GET", "/open/k", b"") };
    is(&world.send(&reader).await, 403, "AccessDenied", "");
    let head = Draft { method: "HEAD", ..reader.clone() };
    assert_eq!(world.send(&head).await.status, 200, "a head opens nothing");
    assert_eq!(world.send(&head.with("x-store-checksum-mode", "ENABLED")).await.status, 403);
    let writer = Draft { key: ("WRITER", "writer"), ..kms("/open/w", b"body", Dialect::Amz) };
    is(&world.send(&writer).await, 403, "AccessDenied", "");
    let anonymous = b"GET /open/k HTTP/1.1\r\nhost: localhost\r\n\r\n";
    is(&world.exchange(anonymous).await, 400, "InvalidArgument", "");
    let other = Draft { key: ("OTHER", "other"), ..Draft::new("GET", "/open/k", b"") };
    is(&world.send(&other).await, 403, "AccessDenied", "");
}

#[tokio::test]
async fn the_default_of_a_bucket_takes_what_asks_for_nothing() {
    let world = World::new(NOW).await;
    let set = |mode: &str, key: &str, flag: &str| {
        let text = format!(
            "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>{mode}</SSEAlgorithm>{key}</ApplyServerSideEncryptionByDefault><BucketKeyEnabled>{flag}</BucketKeyEnabled></Rule></ServerSideEncryptionConfiguration>"
        );
        Draft::document("/bkt?encryption", text.as_bytes())
    };
    let named = "<KMSMasterKeyID>alias/demo</KMSMasterKeyID>";
    is(&world.send(&set("AES256", named, "false")).await, 400, "InvalidArgument", "");
    is(&world.send(&set("aws:kms:dsse", named, "true")).await, 400, "InvalidArgument", "");
    is(&world.send(&set("odd", "", "false")).await, 400, "MalformedXML", "");
    assert_eq!(world.send(&set("aws:kms", named, "true")).await.status, 200);
    let shown = world.fetch("/bkt?encryption").await.text();
    for part in ["<SSEAlgorithm>aws:kms</SSEAlgorithm>", named, "<BucketKeyEnabled>true<"] {
        assert!(shown.contains(part), "{shown}");
    }
    let mode = |answer: &Answer| {
        let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
        (
            header("x-amz-server-side-encryption"),
            header("x-amz-server-side-encryption-aws-kms-key-id"),
        )
    };
    let own = arn(Dialect::Amz, "111122223333", 1);
    let plain = world.store("/bkt/k", b"body").await;
    assert_eq!(mode(&plain), ("aws:kms".to_owned(), own.clone()));
    assert_eq!(plain.header("x-amz-server-side-encryption-bucket-key-enabled"), Some("true"));
    let copied =
        world.send(&Draft::put("/bkt/copy", b"").with("x-store-copy-source", "open/k")).await;
    assert_eq!(copied.status, 404);
    let stated = world.send(&Draft::put("/bkt/s", b"body").with(MODE, "AES256")).await;
    assert_eq!(mode(&stated), ("AES256".to_owned(), String::new()));
    let copy = Draft::put("/bkt/copy", b"").with("x-store-copy-source", "bkt/s");
    assert_eq!(mode(&world.send(&copy).await), ("aws:kms".to_owned(), own));
    assert_eq!(world.fetch("/bkt/copy").await.body, b"body");
}

#[tokio::test]
async fn a_policy_can_demand_a_mode_in_either_vocabulary() {
    let world = World::new(NOW).await;
    for (demand, key) in [
        ("aws:kms", "s3:x-amz-server-side-encryption"),
        ("store:kms", "store:x-store-server-side-encryption"),
    ] {
        let policy = format!(
            r#"{{"Version": "2012-10-17", "Statement": [{{"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::bkt/*",
                "Condition": {{"StringNotEquals": {{"{key}": "{demand}"}}}}}}]}}"#
        );
        let put = world.send(&Draft::document("/bkt?policy", policy.as_bytes())).await;
        assert_eq!(put.status, 204, "{}", put.text());
        for dialect in [Dialect::Amz, Dialect::Store] {
            assert_eq!(world.send(&kms("/bkt/k", b"", dialect)).await.status, 200);
            let plain = Draft::put("/bkt/k", b"").speaking(dialect);
            is(&world.send(&plain).await, 403, "AccessDenied", "");
        }
    }
    let own = arn(Dialect::Amz, "111122223333", 1);
    let policy = format!(
        r#"{{"Version": "2012-10-17", "Statement": [{{"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "arn:aws:s3:::bkt/*",
            "Condition": {{"StringNotEquals": {{"s3:x-amz-server-side-encryption-aws-kms-key-id": "{own}"}}}}}}]}}"#
    );
    assert_eq!(world.send(&Draft::document("/bkt?policy", policy.as_bytes())).await.status, 204);
    for dialect in [Dialect::Amz, Dialect::Store] {
        let named = kms("/bkt/k", b"", dialect).with(KEY, arn(dialect, "111122223333", 1));
        assert_eq!(world.send(&named).await.status, 200);
        assert_eq!(world.send(&kms("/bkt/k", b"", dialect)).await.status, 403);
    }
}

#[tokio::test]
async fn an_instance_seals_nothing_with_a_bucket_key_from_before_another_s_reset() {
    let store = Arc::new(Memory::new());
    let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
    let instance = async |number: i64| {
        // Each draws ids of its own.
        let now = Timestamp::from_seconds(NOW.seconds() + number);
        World::on(store.clone(), blobs.clone(), now).await
    };
    let (one, two) = (instance(0).await, instance(1).await);
    let put = Draft::put("/bkt/k", b"body")
        .with("x-store-server-side-encryption", "aws:kms")
        .with(KEY, "11111111-aaaa-4bbb-8ccc-000000000001")
        .with(BUCKET_KEY, "true");
    assert_eq!(two.send(&put).await.status, 200);
    one.service.reset().await.unwrap();
    assert_eq!(two.send(&put).await.status, 200);
    for reader in [one, instance(2).await, two] {
        let read = reader.fetch("/bkt/k").await;
        assert_eq!((read.status, read.body.as_slice()), (200, &b"body"[..]), "{}", read.text());
    }
}
