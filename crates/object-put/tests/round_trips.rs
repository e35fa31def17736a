//! The cost of each operation to a store on another machine: its normal request is sent, and the round trips are counted.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest as _, Md5};
use object_put::operation::Run;
use object_put::operation::additions::{ADDITIONS, Addition};
use object_put::operation::table::OPERATIONS;
use object_put::store::tables::{
    BUCKETS, CURRENT, NONCURRENT, UPLOAD_PARTS, UPLOADS, version_place,
};
use service::{Draft, NOW, World};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{Counted, KeyValue as _, Memory, RoundTrips, Tx};

/// Folders of which each has more keys than are read at once at first, and keys of each.
const FOLDERS: usize = 1_000;
const KEYS_EACH: usize = 17;

/// A key of one of the folders.
fn key(number: usize) -> String {
    format!("folders-{:04}/{:02}", number % FOLDERS, number / FOLDERS)
}

/// Bytes of a form with one file, and their boundary.
const FORM: &[u8] = b"--form\r\nContent-Disposition: form-data; name=\"key\"\r\n\r\nposted\r\n--form\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\nx\r\n--form--\r\n";

/// The round trips that stand beside an operation.
fn budget(operation: &str) -> RoundTrips {
    OPERATIONS.iter().find(|row| row.name == operation).unwrap().round_trips
}

/// A service on a store that counts, and the greatest cost of each operation so far.
struct Bench {
    world: World,
    store: Arc<Counted>,
    costs: BTreeMap<&'static str, RoundTrips>,
    /// Requests that cost more than stands in the table.
    over: Vec<String>,
    /// Buckets that the service was asked for.
    met: BTreeSet<String>,
}

impl Bench {
    async fn new() -> Self {
        let store = Arc::new(Counted::new(Arc::new(Memory::new())));
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        let world = World::on(store.clone(), blobs, NOW).await;
        Self { world, store, costs: BTreeMap::new(), over: Vec::new(), met: BTreeSet::new() }
    }

    /// Sends a request that must be done, or tell that it never was set; gives an element of the answer.
    async fn send(&mut self, operation: &'static str, draft: Draft, element: &str) -> String {
        self.exchange(operation, &draft.bytes(), element).await
    }

    /// Asks for the bucket of a request, which costs more the first time.
    async fn meet(&mut self, bytes: &[u8]) {
        let line = String::from_utf8_lossy(bytes);
        let bucket = line.split(['/', '?', ' ']).nth(2).unwrap_or_default();
        if !bucket.is_empty() && self.met.insert(bucket.to_owned()) {
            self.world.send(&Draft::new("HEAD", &format!("/{bucket}"), b"")).await;
        }
    }

    async fn exchange(&mut self, operation: &'static str, bytes: &[u8], element: &str) -> String {
        if operation != "CreateBucket" {
            self.meet(bytes).await;
        }
        self.store.take();
        let answer = self.world.exchange(bytes).await;
        let cost = self.store.take();
        let is_built = |name| {
            let mut rows = OPERATIONS.iter().filter(|row| row.name == name);
            rows.any(|row| !matches!(row.run, Run::NotImplemented))
        };
        let is_done = answer.status < 300 || (answer.status == 404 && operation.contains("Bucket"));
        assert_eq!(is_done, is_built(operation), "{operation}: {}", answer.text());
        let before = self.costs.entry(operation).or_default();
        before.reads = before.reads.max(cost.reads);
        before.commits = before.commits.max(cost.commits);
        let told = budget(operation);
        if cost.reads > told.reads || cost.commits > told.commits {
            let line = String::from_utf8_lossy(bytes);
            let line = line.lines().next().unwrap_or_default().to_owned();
            self.over.push(format!("{operation} {cost}, not {told}: {line}"));
        }
        answer.element(element).unwrap_or_default()
    }

    async fn get(&mut self, operation: &'static str, target: &str) {
        self.send(operation, Draft::new("GET", target, b""), "").await;
    }

    async fn put(&mut self, operation: &'static str, target: &str, body: &str) {
        self.send(operation, Draft::put(target, body.as_bytes()), "").await;
    }

    async fn delete(&mut self, operation: &'static str, target: &str) {
        self.send(operation, Draft::new("DELETE", target, b""), "").await;
    }

    async fn settings(&mut self) {
        for (get, put, delete, query, body) in SETTINGS {
            let target = format!("/enforced?{query}");
            let target = if *query == "object-lock" { "/locked?object-lock" } else { &target };
            if !put.is_empty() {
                let mut draft = Draft::document(target, body.as_bytes());
                if *query == "acl" {
                    draft = draft.with("x-store-acl", "private");
                }
                self.send(put, draft, "").await;
            }
            self.get(get, target).await;
            if !delete.is_empty() {
                self.delete(delete, target).await;
            }
        }
        self.get("GetBucketPolicyStatus", "/enforced?policyStatus").await;
    }

    async fn features(&mut self) {
        for (get, put, delete, query) in FEATURES {
            let target = format!("/bkt?{query}");
            self.get(get, &target).await;
            if !put.is_empty() {
                self.put(
                    put,
                    &target,
                    SWITCHED_OFF.iter().find(|own| own.0 == *query).map_or("", |own| own.1),
                )
                .await;
            }
            if !delete.is_empty() {
                self.delete(delete, &target).await;
            }
        }
    }

    async fn objects(&mut self) {
        for bucket in ["bkt", "versioned", "suspended"] {
            for body in [b"first".as_slice(), b"second"] {
                self.send("PutObject", Draft::put(&format!("/{bucket}/key"), body), "").await;
            }
        }
        for number in 0..60 {
            self.send("PutObject", Draft::put(&format!("/bkt/many/{number}"), b"x"), "").await;
        }
        for target in ["/bkt/key", "/versioned/key", "/locked/key"] {
            if target.starts_with("/locked") {
                let digest = STANDARD.encode(Md5::digest(b"x"));
                let draft = Draft::put(target, b"x").with("content-md5", digest);
                self.send("PutObject", draft, "").await;
            }
            self.get("GetObject", target).await;
            self.send("HeadObject", Draft::new("HEAD", target, b""), "").await;
            self.get("GetObjectAcl", &format!("{target}?acl")).await;
            self.get("GetObjectTagging", &format!("{target}?tagging")).await;
            let attributes = Draft::new("GET", &format!("{target}?attributes"), b"")
                .with("x-store-object-attributes", "ETag,ObjectSize");
            self.send("GetObjectAttributes", attributes, "").await;
        }
        let acl = Draft::document("/bkt/key?acl", b"").with("x-store-acl", "private");
        self.send("PutObjectAcl", acl, "").await;
        let tags = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
        self.put("PutObjectTagging", "/bkt/key?tagging", tags).await;
        self.delete("DeleteObjectTagging", "/bkt/key?tagging").await;
        for (get, put, query, body) in [
            (
                "GetObjectRetention",
                "PutObjectRetention",
                "retention",
                "<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>2030-01-01T00:00:00Z</RetainUntilDate></Retention>",
            ),
            (
                "GetObjectLegalHold",
                "PutObjectLegalHold",
                "legal-hold",
                "<LegalHold><Status>OFF</Status></LegalHold>",
            ),
        ] {
            let target = format!("/locked/key?{query}");
            let digest = STANDARD.encode(Md5::digest(body));
            let draft = Draft::put(&target, body.as_bytes()).with("content-md5", digest);
            self.send(put, draft, "").await;
            self.get(get, &target).await;
        }
        let copy = Draft::put("/bkt/copy", b"").with("x-store-copy-source", "bkt/key");
        self.send("CopyObject", copy, "").await;
        let cold = Draft::put("/bkt/cold", b"x").with("x-store-storage-class", "GLACIER");
        self.send("PutObject", cold, "").await;
        let body = b"<RestoreRequest><Days>1</Days></RestoreRequest>";
        self.send("RestoreObject", Draft::new("POST", "/bkt/cold?restore", body), "").await;
        self.post("/open").await;
        self.get("ListObjectsV2", "/bkt?list-type=2").await;
        self.get("ListObjectsV2", "/bkt?list-type=2&prefix=many/&max-keys=20").await;
        self.get("ListObjects", "/bkt").await;
        self.get("ListObjectVersions", "/versioned?versions").await;
        for target in ["/bkt/copy", "/versioned/key", "/suspended/key"] {
            self.delete("DeleteObject", target).await;
        }
        let keys = (0..40).map(|number| format!("<Object><Key>many/{number}</Key></Object>"));
        let body = format!("<Delete>{}</Delete>", keys.collect::<String>());
        let digest = STANDARD.encode(Md5::digest(&body));
        let many = Draft::new("POST", "/bkt?delete", body.as_bytes()).with("content-md5", digest);
        self.send("DeleteObjects", many, "").await;
    }

    /// Requests of the sizes at which an operation does its work in steps, or passes over most of the rows that it lists.
    async fn large(&mut self) {
        self.fill().await;
        for (operation, target, marker) in [
            ("ListObjectsV2", "/bkt?list-type=2&delimiter=/&prefix=folders-", "start-after"),
            ("ListObjects", "/bkt?delimiter=/&prefix=folders-", "marker"),
            ("ListMultipartUploads", "/bkt?uploads&delimiter=/&prefix=folders-", "key-marker"),
            ("ListObjectVersions", "/bkt?versions&delimiter=/&prefix=folders-", "key-marker"),
        ] {
            let whole = self.world.fetch(target).await.text();
            assert_eq!(whole.matches("<CommonPrefixes>").count(), FOLDERS, "{operation}");
            self.get(operation, target).await;
            // A page in the middle of it.
            self.get(operation, &format!("{target}&{marker}=folders-0500/")).await;
        }
        let first = self.world.fetch("/versioned?versions&max-keys=1").await;
        let [key_marker, version] =
            ["NextKeyMarker", "NextVersionIdMarker"].map(|name| first.element(name).unwrap());
        let marker = format!("key-marker={key_marker}&version-id-marker={version}");
        self.get("ListObjectVersions", &format!("/versioned?versions&{marker}")).await;
        let keys = (0..1_000).map(|number| format!("<Object><Key>{}</Key></Object>", key(number)));
        let body = format!("<Delete>{}</Delete>", keys.collect::<String>());
        let digest = STANDARD.encode(Md5::digest(&body));
        let many = Draft::new("POST", "/bkt?delete", body.as_bytes()).with("content-md5", digest);
        self.largest("DeleteObjects", many).await;
        let id = self.begun_with_parts(10_000).await;
        let tag = hex::encode(Md5::digest(b"12345678"));
        let parts = (1..=10_000).map(|number| {
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
        });
        let body = format!(
            "<CompleteMultipartUpload>{}</CompleteMultipartUpload>",
            parts.collect::<String>()
        );
        let target = format!("/bkt/large?uploadId={id}");
        let complete = Draft::new("POST", &target, body.as_bytes());
        self.largest("CompleteMultipartUpload", complete).await;
    }

    /// Sends the largest request of an operation, which costs what stands in the table for it.
    async fn largest(&mut self, operation: &str, draft: Draft) {
        self.store.take();
        let answer = self.world.send(&draft).await;
        assert!(answer.status == 200 && !answer.text().contains("<Error>"), "{}", answer.text());
        let row = OPERATIONS.iter().find(|row| row.name == operation).unwrap();
        assert_eq!(Some(self.store.take()), row.largest.map(|(trips, _)| trips), "{operation}");
    }

    /// Folders of objects, of older versions and of uploads, as copies of rows that requests made.
    async fn fill(&mut self) {
        self.world.store("/bkt/copied", b"x").await;
        let begin = Draft::new("POST", "/bkt/copied?uploads", b"");
        assert_eq!(self.world.send(&begin).await.status, 200);
        let mut tx = Tx::new(&*self.store);
        let bucket = BUCKETS.get(&mut tx, &"bkt".to_owned()).unwrap().unwrap().id;
        let place = (bucket, b"copied".to_vec());
        let object = CURRENT.get(&mut tx, &place).unwrap().unwrap();
        let (uploads, _) = UPLOADS.scan(&mut tx, &UPLOADS.span(&place), 1).unwrap();
        for numbers in (0..FOLDERS * KEYS_EACH).collect::<Vec<_>>().chunks(300) {
            let mut tx = Tx::new(&*self.store);
            for number in numbers {
                let (key, older) = (key(*number).into_bytes(), version_place(*number as u64));
                CURRENT.put(&mut tx, &(bucket, key.clone()), &object);
                NONCURRENT.put(&mut tx, &(bucket, key.clone(), older), &object);
                UPLOADS.put(&mut tx, &(bucket, key, *number as u64), &uploads[0].1);
            }
            self.commit(tx);
        }
    }

    /// An upload whose parts are copies of its first one.
    async fn begun_with_parts(&mut self, count: u32) -> String {
        let begin = Draft::new("POST", "/bkt/large?uploads", b"");
        let id = self.world.send(&begin).await.element("UploadId").unwrap();
        let target = format!("/bkt/large?partNumber=1&uploadId={id}");
        self.world.store(&target, b"12345678").await;
        let mut tx = Tx::new(&*self.store);
        let bucket = BUCKETS.get(&mut tx, &"bkt".to_owned()).unwrap().unwrap().id;
        let uploads = UPLOADS.span(&(bucket, b"large".to_vec()));
        let upload = UPLOADS.scan(&mut tx, &uploads, 1).unwrap().0[0].1.number;
        let mut part = UPLOAD_PARTS.get(&mut tx, &(upload, 1)).unwrap().unwrap();
        for numbers in (1..=count).collect::<Vec<_>>().chunks(900) {
            let mut tx = Tx::new(&*self.store);
            for number in numbers {
                part.listed.part.number = *number;
                UPLOAD_PARTS.put(&mut tx, &(upload, *number), &part);
            }
            self.commit(tx);
        }
        id
    }

    fn commit(&self, tx: Tx<'_>) {
        self.store.commit(tx.into_batch([0; 16])).wait().unwrap();
    }

    async fn post(&mut self, target: &str) {
        let head = format!(
            "POST {target} HTTP/1.1\r\nhost: localhost\r\ncontent-type: multipart/form-data; boundary=form\r\ncontent-length: {}\r\n\r\n",
            FORM.len()
        );
        self.exchange("PostObject", &[head.as_bytes(), FORM].concat(), "").await;
    }

    async fn uploads(&mut self) {
        let begin = || Draft::new("POST", "/bkt/large?uploads", b"");
        let id = self.send("CreateMultipartUpload", begin(), "UploadId").await;
        let target = |query: &str| format!("/bkt/large?{query}uploadId={id}");
        self.put("UploadPart", &target("partNumber=1&"), "12345678").await;
        let copy = Draft::put(&target("partNumber=2&"), b"").with("x-store-copy-source", "bkt/key");
        let tag = self.send("UploadPartCopy", copy, "ETag").await;
        self.get("ListParts", &target("")).await;
        self.get("ListMultipartUploads", "/bkt?uploads").await;
        let first = hex::encode(Md5::digest(b"12345678"));
        let second = tag.replace("&quot;", "");
        let parts = [(1, first.as_str()), (2, second.trim_matches('"'))].map(|(number, tag)| {
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
        });
        let body = format!("<CompleteMultipartUpload>{}</CompleteMultipartUpload>", parts.concat());
        let complete = Draft::new("POST", &target(""), body.as_bytes());
        self.send("CompleteMultipartUpload", complete, "").await;
        self.get("GetObject", "/bkt/large").await;
        let id = self.send("CreateMultipartUpload", begin(), "UploadId").await;
        self.delete("AbortMultipartUpload", &format!("/bkt/large?uploadId={id}")).await;
    }

    async fn buckets(&mut self) {
        self.put("CreateBucket", "/made-here", "").await;
        self.send("HeadBucket", Draft::new("HEAD", "/made-here", b""), "").await;
        self.get("ListBuckets", "/").await;
        self.delete("DeleteBucket", "/made-here").await;
        let directories = Draft { service: "s3express", ..Draft::new("GET", "/", b"") };
        self.send("ListDirectoryBuckets", directories, "").await;
        let session = Draft { service: "s3express", ..Draft::zonal("GET", "/?session", b"") };
        self.send("CreateSession", session, "").await;
        let session = self.world.session(NOW).await;
        // The first request of a session opens its token, and what that leads to; here it is one that the instance knows.
        let key = || Draft::zonal("PUT", "/key", b"x").within(&session);
        self.world.send(&key()).await;
        let put = key();
        self.send("PutObject", put, "").await;
        let rules = "<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>";
        self.send("PutBucketCors", Draft::document("/open?cors", rules.as_bytes()), "").await;
        let head = b"OPTIONS /open/k HTTP/1.1\r\nhost: localhost\r\norigin: http://a\r\naccess-control-request-method: GET\r\n\r\n";
        self.exchange("Preflight", head, "").await;
    }

    /// Requests of what is not built: their markers alone say so.
    async fn not_built(&mut self) {
        for row in OPERATIONS.iter().filter(|row| matches!(row.run, Run::NotImplemented)) {
            let target = match row.target.name() {
                "BUCKET" => "/bkt",
                _ => "/bkt/key",
            };
            let (headers, query): (Vec<_>, Vec<_>) =
                row.markers().partition(|marker| marker.starts_with("x-store-"));
            let query: Vec<_> = query.into_iter().map(|name| format!("{name}=1")).collect();
            let draft = Draft::new(row.method, &format!("{target}?{}", query.join("&")), b"");
            let draft = headers.into_iter().fold(draft, |draft, name| draft.with(name, "1"));
            self.send(row.name, draft, "").await;
        }
    }
}

/// Settings of a bucket: the operations that read, put and delete one, its parameter, and its document.
const SETTINGS: &[(&str, &str, &str, &str, &str)] = &[
    ("GetBucketLocation", "", "", "location", ""),
    (
        "GetBucketVersioning",
        "PutBucketVersioning",
        "",
        "versioning",
        "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>",
    ),
    (
        "GetBucketOwnershipControls",
        "PutBucketOwnershipControls",
        "DeleteBucketOwnershipControls",
        "ownershipControls",
        "<OwnershipControls><Rule><ObjectOwnership>BucketOwnerPreferred</ObjectOwnership></Rule></OwnershipControls>",
    ),
    ("GetBucketAcl", "PutBucketAcl", "", "acl", ""),
    (
        "GetObjectLockConfiguration",
        "PutObjectLockConfiguration",
        "",
        "object-lock",
        "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>",
    ),
    (
        "GetBucketLifecycleConfiguration",
        "PutBucketLifecycleConfiguration",
        "DeleteBucketLifecycle",
        "lifecycle",
        "<LifecycleConfiguration><Rule><ID>r</ID><Filter><Prefix>x/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>1</Days></Expiration></Rule></LifecycleConfiguration>",
    ),
    (
        "GetBucketEncryption",
        "PutBucketEncryption",
        "DeleteBucketEncryption",
        "encryption",
        "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault><SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>",
    ),
    (
        "GetBucketPolicy",
        "PutBucketPolicy",
        "DeleteBucketPolicy",
        "policy",
        r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::enforced/*"}]}"#,
    ),
    (
        "GetPublicAccessBlock",
        "PutPublicAccessBlock",
        "DeletePublicAccessBlock",
        "publicAccessBlock",
        "<PublicAccessBlockConfiguration><BlockPublicAcls>false</BlockPublicAcls></PublicAccessBlockConfiguration>",
    ),
    (
        "GetBucketCors",
        "PutBucketCors",
        "DeleteBucketCors",
        "cors",
        "<CORSConfiguration><CORSRule><AllowedMethod>GET</AllowedMethod><AllowedOrigin>*</AllowedOrigin></CORSRule></CORSConfiguration>",
    ),
    (
        "GetBucketRequestPayment",
        "PutBucketRequestPayment",
        "",
        "requestPayment",
        "<RequestPaymentConfiguration><Payer>BucketOwner</Payer></RequestPaymentConfiguration>",
    ),
    (
        "GetBucketTagging",
        "PutBucketTagging",
        "DeleteBucketTagging",
        "tagging",
        "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>",
    ),
    (
        "GetBucketWebsite",
        "PutBucketWebsite",
        "DeleteBucketWebsite",
        "website",
        "<WebsiteConfiguration><IndexDocument><Suffix>i.html</Suffix></IndexDocument></WebsiteConfiguration>",
    ),
];

/// Features that no bucket has: the operations that read it, switch it off and delete it, and its parameter.
const FEATURES: &[(&str, &str, &str, &str)] = &[
    ("GetBucketAbac", "PutBucketAbac", "", "abac"),
    ("GetBucketAccelerateConfiguration", "PutBucketAccelerateConfiguration", "", "accelerate"),
    ("GetBucketAnalyticsConfiguration", "", "DeleteBucketAnalyticsConfiguration", "analytics&id=a"),
    (
        "GetBucketIntelligentTieringConfiguration",
        "",
        "DeleteBucketIntelligentTieringConfiguration",
        "intelligent-tiering&id=a",
    ),
    ("GetBucketInventoryConfiguration", "", "DeleteBucketInventoryConfiguration", "inventory&id=a"),
    ("GetBucketMetricsConfiguration", "", "DeleteBucketMetricsConfiguration", "metrics&id=a"),
    ("ListBucketAnalyticsConfigurations", "", "", "analytics"),
    ("ListBucketIntelligentTieringConfigurations", "", "", "intelligent-tiering"),
    ("ListBucketInventoryConfigurations", "", "", "inventory"),
    ("ListBucketMetricsConfigurations", "", "", "metrics"),
    ("GetBucketLogging", "PutBucketLogging", "", "logging"),
    ("GetBucketMetadataConfiguration", "", "", "metadataConfiguration"),
    ("GetBucketMetadataTableConfiguration", "", "", "metadataTable"),
    (
        "GetBucketNotificationConfiguration",
        "PutBucketNotificationConfiguration",
        "",
        "notification",
    ),
    ("GetBucketReplication", "", "DeleteBucketReplication", "replication"),
];

/// Documents that switch a feature off.
const SWITCHED_OFF: &[(&str, &str)] = &[
    ("abac", "<AbacStatus><Status>Disabled</Status></AbacStatus>"),
    ("accelerate", "<AccelerateConfiguration><Status>Suspended</Status></AccelerateConfiguration>"),
    ("logging", "<BucketLoggingStatus/>"),
    ("notification", "<NotificationConfiguration/>"),
];

#[tokio::test]
async fn every_operation_costs_the_round_trips_that_stand_beside_it() {
    let mut bench = Bench::new().await;
    bench.buckets().await;
    bench.settings().await;
    bench.features().await;
    bench.objects().await;
    bench.uploads().await;
    bench.large().await;
    bench.not_built().await;
    assert!(bench.over.is_empty(), "{}", bench.over.join("\n"));
    let names: BTreeSet<_> = OPERATIONS.iter().map(|row| row.name).collect();
    assert!(names.iter().eq(bench.costs.keys()), "an operation was not asked for");
    let cheaper = bench.costs.iter().filter(|(name, cost)| **cost != budget(name));
    let cheaper: Vec<_> = cheaper.map(|(name, cost)| format!("{name} {cost}")).collect();
    assert!(cheaper.is_empty(), "less than stands in the table: {}", cheaper.join("\n"));
    assert_eq!(budget("PutObject"), RoundTrips::of(1, 1), "what was promised of a PUT");
}

const MODE: &str = "x-store-server-side-encryption";
const KEY: &str = "x-store-server-side-encryption-kms-key-id";
const ID: &str = "11111111-aaaa-4bbb-8ccc-000000000001";

/// A PUT of an object whose key the embedded key service gives.
fn sealed(target: &str, key: Option<&str>) -> Draft {
    let put = Draft::put(target, b"x").with(MODE, "aws:kms");
    key.into_iter().fold(put, |put, key| put.with(KEY, key))
}

impl Bench {
    /// The cost of a request that is done.
    async fn cost(&self, draft: Draft) -> RoundTrips {
        self.store.take();
        let answer = self.world.send(&draft).await;
        assert!(answer.status < 300, "{}", answer.text());
        self.store.take()
    }
}

#[tokio::test]
async fn what_a_request_brings_along_or_meets_costs_the_round_trips_that_stand_in_their_table() {
    let bench = Bench::new().await;
    let get = |target: &str| Draft::new("GET", target, b"");
    let delete = |target: &str| Draft::new("DELETE", target, b"");
    let put = |target: &str| Draft::put(target, b"x");
    let mut seen = Vec::new();
    // The same requests without.
    bench.cost(put("/bkt/plain")).await;
    let (written, read) =
        (bench.cost(put("/bkt/plain")).await, bench.cost(get("/bkt/plain")).await);
    let deleted = bench.cost(delete("/bkt/plain")).await;
    let mut note = |addition: Addition, plain: RoundTrips, cost: RoundTrips| {
        let added = RoundTrips::of(cost.reads - plain.reads, cost.commits - plain.commits);
        seen.push((addition, added));
    };
    note(Addition::FirstManagedKey, written, bench.cost(sealed("/bkt/k", None)).await);
    let arn = format!("arn:aws:kms:us-east-1:111122223333:key/{ID}");
    for (addition, key) in [
        (Addition::KeyById, Some(ID)),
        (Addition::KeyById, Some(&*arn)),
        (Addition::KeyByAlias, Some("alias/demo")),
        (Addition::KeyByAlias, None),
    ] {
        for mode in ["aws:kms", "aws:kms:dsse"] {
            let put = Draft { headers: Vec::new(), ..sealed("/bkt/k", None) }.with(MODE, mode);
            let put = key.into_iter().fold(put, |put, key| put.with(KEY, key));
            note(addition, written, bench.cost(put).await);
            note(Addition::ReadWithKey, read, bench.cost(get("/bkt/k")).await);
        }
        let with_bucket_key = || {
            sealed("/bkt/k", key).with("x-store-server-side-encryption-bucket-key-enabled", "true")
        };
        // The state of its key is asked for each time.
        for _ in 0..2 {
            note(addition, written, bench.cost(with_bucket_key()).await);
            note(Addition::ReadWithKey, read, bench.cost(get("/bkt/k")).await);
        }
    }
    for (name, value) in
        [("x-store-acl", "public-read"), ("x-store-grant-read", "emailAddress=\"a@b.c\"")]
    {
        note(Addition::Grants, written, bench.cost(put("/bkt/acl").with(name, value)).await);
    }
    note(Addition::Origin, written, bench.cost(put("/bkt/o").with("origin", "http://a")).await);
    let shown = bench.cost(get("/bkt/o").with("origin", "http://a")).await;
    assert_eq!(shown, read, "the rules are read with the rest");
    for (bucket, addition) in
        [("versioned", Addition::MarkerOverVersions), ("suspended", Addition::MarkerInSuspended)]
    {
        let target = format!("/{bucket}/gone");
        bench.cost(put(&target)).await;
        bench.cost(delete(&target)).await;
        note(addition, written, bench.cost(put(&target)).await);
        bench.cost(delete(&target)).await;
        note(addition, deleted, bench.cost(delete(&target)).await);
    }
    let session = bench.world.session(NOW).await;
    let list =
        |more: &str| Draft::zonal("GET", &format!("/?list-type=2{more}"), b"").within(&session);
    bench.cost(list("")).await;
    let listed = bench.cost(list("")).await;
    note(Addition::UploadPrefixes, listed, bench.cost(list("&delimiter=/")).await);
    let make = || Draft::put("/made-here", b"");
    bench.cost(make()).await;
    // The second bucket has the name that led to the first.
    for _ in 0..2 {
        note(Addition::UncachedName, written, bench.cost(put("/made-here/k")).await);
        assert_eq!(bench.cost(put("/made-here/k")).await, written);
        bench.cost(delete("/made-here/k")).await;
        bench.cost(delete("/made-here")).await;
        bench.cost(make()).await;
    }
    let gone = bench.world.send(&get("/made-here/k")).await;
    assert_eq!(gone.status, 404);
    for row in ADDITIONS {
        let mut own = seen.iter().filter(|(addition, _)| *addition == row.addition).peekable();
        assert!(own.peek().is_some(), "{:?} was not seen", row.addition);
        for (_, added) in own {
            assert_eq!(*added, row.round_trips, "{:?}", row.addition);
        }
    }
    let named: BTreeSet<_> = ADDITIONS.iter().map(|row| row.addition).collect();
    assert!(seen.iter().all(|(addition, _)| named.contains(addition)));
}
