//! The header table by kind of bucket, walked over the wire: each header on each kind is taken, or refused by its name.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use object_put::operation::put_headers::HEADERS;
use object_put::request::dialect::Dialect;
use object_put::store::bucket::BucketKind;
use object_put::store::version::StorageClass;
use service::{Draft, NOW, World};
use sha1::Digest as _;

const BODY: &[u8] = b"walked";

/// A way to a bucket: host, start of the path, and the service that requests are signed for.
struct Way {
    kind: BucketKind,
    host: &'static str,
    start: &'static str,
    service: &'static str,
}

const WAYS: [Way; 5] = [
    Way { kind: BucketKind::GeneralPurpose, host: "localhost", start: "/bkt", service: "s3" },
    // An access point takes what its bucket takes.
    Way {
        kind: BucketKind::GeneralPurpose,
        host: "myap-111122223333.localhost",
        start: "",
        service: "s3",
    },
    Way {
        kind: BucketKind::Directory,
        host: "mybkt--use1-az4--x-s3.localhost",
        start: "",
        service: "s3express",
    },
    Way {
        kind: BucketKind::Directory,
        host: "mine--use1-az4--xa-s3.localhost",
        start: "",
        service: "s3express",
    },
    Way {
        kind: BucketKind::OnPremises,
        host: "outap-111122223333.op-01234567890123456.localhost",
        start: "",
        service: "s3-outposts",
    },
];

impl Way {
    fn put(&self, dialect: Dialect, key: &str) -> Draft {
        let target = format!("{}/{key}", self.start);
        let draft = Draft { host: self.host, service: self.service, ..Draft::put(&target, BODY) };
        draft.speaking(dialect)
    }

    const fn class(&self) -> &'static str {
        match self.kind {
            BucketKind::GeneralPurpose => "STANDARD_IA",
            BucketKind::Directory => "EXPRESS_ONEZONE",
            BucketKind::OnPremises => "OUTPOSTS",
        }
    }
}

/// The digests of the body by the headers that carry them.
fn digests() -> HashMap<&'static str, String> {
    let crc64 = {
        let mut digest = crc64fast_nvme::Digest::new();
        digest.write(BODY);
        digest.sum64()
    };
    HashMap::from([
        ("content-md5", STANDARD.encode(md5::Md5::digest(BODY))),
        ("x-store-checksum-crc32", STANDARD.encode(crc32fast::hash(BODY).to_be_bytes())),
        ("x-store-checksum-crc32c", STANDARD.encode(crc32c::crc32c(BODY).to_be_bytes())),
        ("x-store-checksum-crc64nvme", STANDARD.encode(crc64.to_be_bytes())),
        ("x-store-checksum-sha1", STANDARD.encode(sha1::Sha1::digest(BODY))),
        ("x-store-checksum-sha256", STANDARD.encode(sha2::Sha256::digest(BODY))),
    ])
}

/// A header with a value that it can have on this way, and those without which it means nothing.
fn sample(name: &'static str, way: &Way, etag: &str) -> Vec<(&'static str, String)> {
    let owner = hex::encode(sha2::Sha256::digest(b"111122223333"));
    let key_id = "11111111-aaaa-4bbb-8ccc-000000000001".to_owned();
    let mode = ("x-store-server-side-encryption", "store:kms".to_owned());
    let own = |value: &str| vec![(name, value.to_owned())];
    let digest = digests();
    match name {
        "x-store-acl" => own("private"),
        name if name.starts_with("x-store-grant-") => own(&format!("id={owner}")),
        "cache-control" => own("no-store"),
        "content-disposition" => own("attachment"),
        "content-encoding" => own("gzip"),
        "content-language" => own("en"),
        "content-type" => own("text/plain"),
        "expires" => own("Thu, 01 Dec 2033 16:00:00 GMT"),
        "x-robots-tag" => own("noindex"),
        "content-length" => own(&BODY.len().to_string()),
        "x-store-sdk-checksum-algorithm" => {
            let sum = "x-store-checksum-crc32";
            vec![(name, "CRC32".to_owned()), (sum, digest[sum].clone())]
        }
        name if digest.contains_key(name) => own(&digest[name]),
        "if-match" => own(etag),
        "if-none-match" => own("*"),
        "x-store-write-offset-bytes" => own("0"),
        "x-store-server-side-encryption" => own("AES256"),
        "x-store-server-side-encryption-kms-key-id" => vec![(name, key_id), mode],
        "x-store-server-side-encryption-context" => {
            vec![(name, STANDARD.encode("{\"a\":\"b\"}")), mode]
        }
        "x-store-server-side-encryption-bucket-key-enabled" => {
            vec![(name, "true".to_owned()), mode]
        }
        name if name.contains("-customer-") => {
            let start = "x-store-server-side-encryption-customer-";
            assert!(name.starts_with(start));
            let md5 = STANDARD.encode(md5::Md5::digest([7; 32]));
            vec![
                ("x-store-server-side-encryption-customer-algorithm", "AES256".to_owned()),
                ("x-store-server-side-encryption-customer-key", STANDARD.encode([7; 32])),
                ("x-store-server-side-encryption-customer-key-md5", md5),
            ]
        }
        "x-store-storage-class" => own(way.class()),
        "x-store-website-redirect-location" => own("/elsewhere"),
        "x-store-request-payer" => own("requester"),
        "x-store-tagging" => own("a=b"),
        "x-store-object-lock-mode" | "x-store-object-lock-retain-until-date" => vec![
            ("x-store-object-lock-mode", "GOVERNANCE".to_owned()),
            ("x-store-object-lock-retain-until-date", "2033-12-01T16:00:00Z".to_owned()),
        ],
        "x-store-object-lock-legal-hold" | "x-store-object-lock-event-hold" => own("ON"),
        name if name.starts_with("x-store-object-lock-event-hold-duration-") => own("1"),
        "x-store-expected-bucket-owner" => own("111122223333"),
        other => panic!("the walk has no sample of {other}"),
    }
}

/// The answer to a header that a kind takes, where it is not 200: these buckets have no locks, and the directory bucket has no key.
fn refusal(name: &str, kind: BucketKind) -> Option<(u16, &'static str)> {
    match kind {
        _ if name.starts_with("x-store-object-lock-") => Some((400, "InvalidRequest")),
        BucketKind::Directory if name.ends_with("-context") => Some((400, "InvalidArgument")),
        BucketKind::Directory if name.ends_with("-bucket-key-enabled") => {
            Some((400, "InvalidRequest"))
        }
        BucketKind::Directory if name.ends_with("-kms-key-id") => Some((400, "InvalidRequest")),
        _ => None,
    }
}

#[tokio::test]
async fn every_header_is_taken_or_refused_by_its_name_on_every_kind_of_bucket() {
    let world = World::new(NOW).await;
    for (place, way) in WAYS.iter().enumerate() {
        for dialect in [Dialect::Amz, Dialect::Store] {
            for rule in &HEADERS {
                let key = format!("{place}-{dialect:?}-{}", rule.name);
                let mut etag = String::new();
                if rule.name == "if-match" {
                    let first = world.send(&way.put(dialect, &key)).await;
                    assert_eq!(first.status, 200, "{}", first.text());
                    first.header("etag").unwrap_or_default().clone_into(&mut etag);
                }
                let mut put = way.put(dialect, &key);
                for (name, value) in sample(rule.name, way, &etag) {
                    let value = match value.as_str() {
                        "store:kms" => dialect.names().kms.to_owned(),
                        _ => value,
                    };
                    put = put.with(name, value);
                }
                let answer = world.send(&put).await;
                let seen = (answer.status, answer.element("Code").unwrap_or_default());
                let place = format!("{key}: {}", answer.text());
                if !rule.applies_to.takes(way.kind) {
                    assert_eq!(seen, (501, "NotImplemented".to_owned()), "{place}");
                    let named = answer.element("Header").unwrap_or_default();
                    let group = rule.name.trim_end_matches("-md5").trim_end_matches("-algorithm");
                    let group = group.trim_end_matches("-key").trim_end_matches("-mode");
                    let group = group.trim_end_matches("-retain-until-date");
                    let own = dialect.header(group).into_owned();
                    assert!(named.to_lowercase().starts_with(&own), "{named} {own} {place}");
                    let get = Draft { method: "GET", body: Vec::new(), ..way.put(dialect, &key) };
                    assert_eq!(world.send(&get).await.status, 404, "{place}");
                } else if let Some((status, code)) = refusal(rule.name, way.kind) {
                    assert_eq!(seen, (status, code.to_owned()), "{place}");
                } else {
                    assert_eq!(seen.0, 200, "{place}");
                }
            }
        }
    }
}

#[tokio::test]
async fn every_class_is_taken_or_refused_on_every_kind_of_bucket() {
    let world = World::new(NOW).await;
    for way in &WAYS {
        for (class, name) in StorageClass::ALL {
            let answer =
                world.send(&way.put(Dialect::Amz, name).with("x-store-storage-class", name)).await;
            let takes = match way.kind {
                BucketKind::GeneralPurpose => {
                    !matches!(class, StorageClass::Outposts | StorageClass::ExpressOnezone)
                }
                _ => name == way.class(),
            };
            let code = answer.element("Code").unwrap_or_default();
            let expected = if takes { (200, "") } else { (400, "InvalidStorageClass") };
            assert_eq!((answer.status, code.as_str()), expected, "{} {name}", way.host);
        }
        for wrong in ["", "standard", "STANDARD ", "FAST"] {
            let put = way.put(Dialect::Store, "wrong").with("x-store-storage-class", wrong);
            let answer = world.send(&put).await;
            let is_trimmed = wrong.trim() == "STANDARD" && way.kind == BucketKind::GeneralPurpose;
            assert_eq!(answer.status, if is_trimmed { 200 } else { 400 }, "{} {wrong}", way.host);
        }
    }
}
