//! A service in memory behind a real HTTP connection, driven with raw bytes.

#![expect(dead_code, unreachable_pub, reason = "each test uses its part")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

pub mod data_directory;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hex::encode as hex;
use hmac::{Hmac, KeyInit, Mac};
use object_put::auth::canonical;
use object_put::maintenance::ended_uploads;
use object_put::maintenance::garbage::{self, GRACE, Pass};
use object_put::maintenance::seed::Seed;
use object_put::request::dialect::Dialect;
use object_put::request::fields::Fields;
use object_put::server::{Builder, ObjectPut};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use triptych_core::blobs::{Blobs, MemoryBlobs};
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Span};
use triptych_core::time::{ManualClock, Timestamp};

/// The keys and buckets of every test.
pub const SEED: &str = r#"{
    "publicAccessBlock": false,
    "accounts": [
        { "id": "111122223333", "displayName": "main", "email": "a@b.c", "keys": [
            { "accessKeyId": "AKIDEXAMPLE", "secretAccessKey": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" },
            { "accessKeyId": "ASIASESSIONKEY", "secretAccessKey": "sessionsecret", "sessionToken": "TESTSESSIONTOKEN" },
            { "accessKeyId": "READER", "secretAccessKey": "reader", "allow": ["store:Get*"] },
            { "accessKeyId": "WRITER", "secretAccessKey": "writer", "allow": ["store:Put*"] } ] },
        { "id": "444455556666", "displayName": "other", "keys": [
            { "accessKeyId": "OTHER", "secretAccessKey": "other" } ] } ],
    "buckets": [
        { "name": "bkt", "owner": "111122223333", "ownership": "ObjectWriter" },
        { "name": "locked", "owner": "111122223333", "versioning": "enabled", "objectLock": true },
        { "name": "enforced", "owner": "111122223333" },
        { "name": "versioned", "owner": "111122223333", "versioning": "enabled" },
        { "name": "suspended", "owner": "111122223333", "versioning": "suspended" },
        { "name": "open", "owner": "111122223333", "public": "read-write" },
        { "name": "mybkt--use1-az4--x-s3", "owner": "111122223333", "kind": "directory", "zone": "use1-az4" },
        { "name": "onprem", "owner": "111122223333", "kind": "on-premises", "deployment": "op-01234567890123456" } ],
    "accessPoints": [
        { "name": "mine--use1-az4--xa-s3", "account": "111122223333", "bucket": "mybkt--use1-az4--x-s3" },
        { "name": "theirs--use1-az4--xa-store", "account": "444455556666", "bucket": "mybkt--use1-az4--x-s3" },
        { "name": "every--use1-az4--xa-s3", "account": "111122223333", "bucket": "mybkt--use1-az4--x-s3", "policy": { "Statement": [
            { "Effect": "Allow", "Principal": "*", "Action": "s3express:CreateSession", "Resource": "arn:aws:s3express:us-east-1:111122223333:accesspoint/every--use1-az4--xa-s3" } ] } },
        { "name": "read--use1-az4--xa-s3", "account": "111122223333", "bucket": "mybkt--use1-az4--x-s3", "policy": { "Statement": [
            { "Effect": "Allow", "Principal": { "AWS": "444455556666" }, "Action": "s3express:CreateSession",
              "Resource": "arn:aws:s3express:us-east-1:111122223333:accesspoint/read--use1-az4--xa-s3",
              "Condition": { "StringEquals": { "s3express:SessionMode": "ReadOnly" } } } ] } },
        { "name": "shut--use1-az4--xa-s3", "account": "111122223333", "bucket": "mybkt--use1-az4--x-s3", "policy": { "Statement": [
            { "Effect": "Deny", "Principal": "*", "Action": "express:CreateSession",
              "Resource": "arn:store:express:us-east-1:111122223333:accesspoint/shut--use1-az4--xa-s3",
              "Condition": { "StringEquals": { "express:SessionMode": "ReadWrite" } } } ] } },
        { "name": "myap", "account": "111122223333", "bucket": "bkt", "alias": "myap-abc--s3alias" },
        { "name": "outap", "account": "111122223333", "bucket": "onprem", "alias": "outap-alias" },
        { "name": "myap", "account": "111122223333", "bucket": "onprem" },
        { "name": "shut", "account": "111122223333", "bucket": "bkt", "alias": "shut-alias", "policy": { "Statement": [
            { "Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "arn:aws:s3:us-east-1:111122223333:accesspoint/shut/object/no/*" },
            { "Effect": "Deny", "Principal": "*", "Action": "s3:PutObjectTagging", "Resource": "arn:aws:s3:us-east-1:111122223333:accesspoint/shut/object/bare/*" } ] } },
        { "name": "shared", "account": "111122223333", "bucket": "enforced", "publicAccessBlock": {
            "blockPublicAcls": true, "ignorePublicAcls": true, "blockPublicPolicy": true, "restrictPublicBuckets": true }, "policy": { "Statement": [
            { "Effect": "Allow", "Principal": { "AWS": "444455556666" }, "Action": ["s3:GetObject", "s3:PutObject"], "Resource": "arn:aws:s3:us-east-1:111122223333:accesspoint/shared/object/open/*" } ] } },
        { "name": "everybody", "account": "111122223333", "bucket": "enforced", "policy": { "Statement": [
            { "Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:us-east-1:111122223333:accesspoint/everybody/object/*" } ] } } ],
    "kmsKeys": [
        { "id": "11111111-aaaa-4bbb-8ccc-000000000001", "alias": "alias/demo", "account": "111122223333" },
        { "id": "11111111-aaaa-4bbb-8ccc-000000000002", "account": "111122223333", "state": "disabled" },
        { "id": "11111111-aaaa-4bbb-8ccc-000000000003", "account": "111122223333", "state": "pendingDeletion" },
        { "id": "11111111-aaaa-4bbb-8ccc-000000000004", "account": "111122223333", "usage": "SIGN_VERIFY" },
        { "id": "11111111-aaaa-4bbb-8ccc-000000000005", "account": "444455556666", "sharedWith": ["111122223333"] },
        { "id": "11111111-aaaa-4bbb-8ccc-000000000006", "account": "444455556666" } ] }"#;

/// The least bytes of a part that is not the last of its object.
pub const PART_BYTES_MIN: u64 = 8;

/// A service and its clock.
pub struct World {
    pub service: ObjectPut,
    pub clock: Arc<ManualClock>,
}

/// A response as it was read from the connection.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// True if a 100 Continue came first.
    pub continued: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The text of an element of an error body.
    pub fn element(&self, name: &str) -> Option<String> {
        let text = self.text();
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(value, _)| value.to_owned())
    }
}

/// A service, and the stores in memory below it.
pub struct Stores {
    pub world: World,
    pub store: Arc<Memory>,
    pub blobs: Arc<MemoryBlobs>,
}

impl Stores {
    pub async fn new() -> Self {
        let store = Arc::new(Memory::new());
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        let world = World::on(store.clone(), blobs.clone(), NOW).await;
        Self { world, store, blobs }
    }

    /// A pass of all that is freed in the background.
    pub fn free(&self, now: Timestamp) {
        let mut ids = SeededIds::from_number(9);
        ended_uploads::collect(&*self.store, &*self.blobs, &mut ids, now, &|| true).unwrap();
        let (goes_on, is_open) = (|| true, |_| false);
        let (store, blobs) = (&*self.store, &*self.blobs);
        let pass = Pass { store, blobs, now, grace: GRACE, goes_on: &goes_on, is_open: &is_open };
        garbage::collect(&pass, &mut ids).unwrap();
    }

    pub fn bodies(&self) -> usize {
        self.blobs.list(None, 100_000).unwrap().len()
    }

    /// Rows of some tables.
    pub fn rows(&self, tables: &[u8]) -> usize {
        let rows = self.store.scan(&Span::default(), 100_000).unwrap().rows;
        rows.iter()
            .filter(|(key, _)| key.first().is_some_and(|table| tables.contains(table)))
            .count()
    }
}

impl World {
    pub async fn new(now: Timestamp) -> Self {
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        Self::on(Arc::new(Memory::new()), blobs, now).await
    }

    pub async fn on(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>, now: Timestamp) -> Self {
        Self::started(store, blobs, now).await.unwrap()
    }

    /// A service that may not start, since its disk fails.
    pub async fn started(
        store: Arc<dyn KeyValue>,
        blobs: Arc<dyn Blobs>,
        now: Timestamp,
    ) -> Result<Self, String> {
        Self::built(store, blobs, now, false, SEED).await
    }

    /// An instance that is started with a seed file of its own.
    pub async fn seeded(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>, seed: &str) -> Self {
        Self::built(store, blobs, NOW, false, seed).await.unwrap()
    }

    /// A service that refuses what it does not know.
    pub async fn strict(now: Timestamp) -> Self {
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        Self::built(Arc::new(Memory::new()), blobs, now, true, SEED).await.unwrap()
    }

    async fn built(
        store: Arc<dyn KeyValue>,
        blobs: Arc<dyn Blobs>,
        now: Timestamp,
        strict: bool,
        seed: &str,
    ) -> Result<Self, String> {
        let seed = Seed::parse(seed).unwrap();
        Self::of(|builder| builder.strict(strict).seed(seed), store, blobs, now).await
    }

    /// A service that is built as `more` says.
    pub async fn of(
        more: impl FnOnce(Builder) -> Builder,
        store: Arc<dyn KeyValue>,
        blobs: Arc<dyn Blobs>,
        now: Timestamp,
    ) -> Result<Self, String> {
        let clock = Arc::new(ManualClock::default());
        clock.set(now);
        let builder = ObjectPut::builder(store, blobs)
            .clock(clock.clone())
            // A service that starts again draws other ids than before.
            .ids(Box::new(SeededIds::from_number(now.seconds().unsigned_abs())))
            .keyring(object_put::body::encryption::Keyring::new(&[9; 32]))
            .base_hosts(["s3.amazonaws.com".to_owned()])
            .zonal_hosts(["s3express-use1-az4.us-east-1.amazonaws.com".to_owned()])
            .access_point_hosts(["s3-accesspoint.us-east-1.amazonaws.com".to_owned()])
            .on_premises_hosts(["s3-outposts.us-east-1.amazonaws.com".to_owned()])
            .website_hosts(["web.example".to_owned()])
            .seed(Seed::parse(SEED).unwrap())
            .part_bytes_min(PART_BYTES_MIN);
        let service = more(builder).build();
        service.apply_seed().await.map_err(|error| error.to_string())?;
        Ok(Self { service, clock })
    }

    /// Sends `request` as it is, and reads the answer.
    pub async fn exchange(&self, request: &[u8]) -> Answer {
        read_answer(&self.exchange_raw(request).await)
    }

    /// Sends `request` as it is; gives what came before the connection ended.
    pub async fn exchange_raw(&self, request: &[u8]) -> Vec<u8> {
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let service = self.service.clone();
        let serving = tokio::spawn(async move {
            let io = hyper_util::rt::TokioIo::new(server);
            let connection = hyper::server::conn::http1::Builder::new()
                .keep_alive(false)
                .half_close(true)
                .serve_connection(io, service);
            let _ = connection.await;
        });
        let (mut reader, mut writer) = tokio::io::split(&mut client);
        let mut raw = Vec::new();
        let sending = async {
            // A server that refuses early closes before all is written.
            let _ = writer.write_all(request).await;
            let _ = writer.shutdown().await;
        };
        let reading = async {
            let _ = reader.read_to_end(&mut raw).await;
        };
        tokio::join!(sending, reading);
        serving.await.unwrap();
        raw
    }
}

/// The answer in what came over a connection.
pub fn read_answer(mut raw: &[u8]) -> Answer {
    let mut continued = false;
    loop {
        let end = raw.windows(4).position(|window| window == b"\r\n\r\n").expect("a whole head");
        let head = String::from_utf8(raw[..end].to_vec()).unwrap();
        raw = &raw[end + 4..];
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        if status == 100 {
            continued = true;
            continue;
        }
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        return Answer { status, headers, body: raw.to_vec(), continued };
    }
}

/// The credentials of a session on the directory bucket.
#[derive(Debug, Clone)]
pub struct Session {
    pub key: (&'static str, &'static str),
    pub token: String,
}

impl World {
    /// A new session, asked for at `time`.
    pub async fn session(&self, time: Timestamp) -> Session {
        self.session_of(&Draft { time, ..Draft::zonal("GET", "/?session", b"") }).await
    }

    /// The session that a request for one gets.
    pub async fn session_of(&self, asked: &Draft) -> Session {
        let answer = self.send(&Draft { service: "s3express", ..asked.clone() }).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        // Drafts hold names that live as long as the test.
        let text = |name: &str| -> &'static str { answer.element(name).unwrap().leak() };
        let key = (text("AccessKeyId"), text("SecretAccessKey"));
        Session { key, token: answer.element("SessionToken").unwrap() }
    }
}

/// A request to be signed: what a client with a key would send.
#[derive(Debug, Clone)]
pub struct Draft {
    pub method: &'static str,
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub key: (&'static str, &'static str),
    pub dialect: Dialect,
    pub time: Timestamp,
    /// The service that the signature is scoped to.
    pub service: &'static str,
    pub host: &'static str,
}

/// The key of the account that owns the buckets.
pub const OWNER: (&str, &str) = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
/// The time at which most tests happen.
pub const NOW: Timestamp = Timestamp::from_seconds(1_795_244_786);

/// The value of Content-MD5 for a body.
fn md5_of(bytes: &[u8]) -> String {
    STANDARD.encode(md5::Md5::digest(bytes))
}

impl Draft {
    pub fn new(method: &'static str, target: &str, body: &[u8]) -> Self {
        Self {
            method,
            target: target.to_owned(),
            headers: Vec::new(),
            body: body.to_vec(),
            key: OWNER,
            dialect: Dialect::Amz,
            time: NOW,
            service: "s3",
            host: "localhost",
        }
    }

    pub fn put(target: &str, body: &[u8]) -> Self {
        Self::new("PUT", target, body)
    }

    /// A PUT of a document with a digest of it, as stock clients send it.
    pub fn document(target: &str, body: &[u8]) -> Self {
        Self::put(target, body).with("content-md5", md5_of(body))
    }

    /// A request on the directory bucket, by its own host.
    pub fn zonal(method: &'static str, target: &str, body: &[u8]) -> Self {
        Self::new(method, target, body).with("host", "mybkt--use1-az4--x-s3.localhost")
    }

    /// An append to an object of the directory bucket.
    pub fn append(target: &str, offset: usize, body: &[u8]) -> Self {
        Self::zonal("PUT", target, body).with("x-store-write-offset-bytes", offset.to_string())
    }

    /// The same, signed with a session.
    pub fn within(mut self, session: &Session) -> Self {
        self.key = session.key;
        self.service = "s3express";
        self.with("x-store-s3session-token", session.token.clone())
    }

    /// The same with one more header, under the spec's name.
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        let name = self.dialect.header(name).into_owned();
        self.headers.push((name, value.into()));
        self
    }

    pub fn speaking(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    fn time_text(&self) -> String {
        self.time.rfc3339().chars().filter(|char| !matches!(char, '-' | ':')).collect()
    }

    /// The bytes of the request, signed with its key.
    pub fn bytes(&self) -> Vec<u8> {
        let dialect = self.dialect.names();
        let time = self.time_text();
        let mut headers = self.headers.clone();
        if !headers.iter().any(|(name, _)| name == "host") {
            headers.push(("host".to_owned(), self.host.to_owned()));
        }
        headers.push((format!("{}date", dialect.header_prefix), time.clone()));
        let hash = format!("{}content-sha256", dialect.header_prefix);
        let payload = match headers.iter().find(|(name, _)| *name == hash) {
            Some((_, value)) => value.clone(),
            None => {
                headers.push((hash, "UNSIGNED-PAYLOAD".to_owned()));
                "UNSIGNED-PAYLOAD".to_owned()
            }
        };
        let mut names: Vec<String> = headers.iter().map(|(name, _)| name.clone()).collect();
        names.sort();
        names.dedup();
        let fields =
            Fields::of(headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())));
        let (path, query) = self.target.split_once('?').unwrap_or((&self.target, ""));
        let request = canonical::request(
            self.method,
            &canonical::path(path),
            &canonical::query(query, ""),
            &fields,
            &names.join(";"),
            &payload,
        );
        let scope = format!("{}/us-east-1/{}/{}", &time[..8], self.service, dialect.scope_end);
        let digest = hex(Sha256::digest(request.as_bytes()));
        let text = format!("{}\n{time}\n{scope}\n{digest}", dialect.algorithm);
        let mut signing = format!("{}{}", dialect.key_prefix, self.key.1).into_bytes();
        for part in scope.split('/') {
            signing = mac(&signing, part.as_bytes());
        }
        let signature = hex(mac(&signing, text.as_bytes()));
        let mut out = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &headers {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
        let is_sized =
            headers.iter().any(|(name, _)| name == "content-length" || name == "transfer-encoding");
        if !is_sized {
            out.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        out.push_str(&format!(
            "authorization: {} Credential={}/{scope}, SignedHeaders={}, Signature={signature}\r\n\r\n",
            dialect.algorithm,
            self.key.0,
            names.join(";")
        ));
        [out.as_bytes(), &self.body].concat()
    }
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

impl World {
    /// Sends a draft and reads the answer.
    pub async fn send(&self, draft: &Draft) -> Answer {
        self.exchange(&draft.bytes()).await
    }

    /// Puts `body` and expects it to be taken.
    pub async fn store(&self, target: &str, body: &[u8]) -> Answer {
        let answer = self.send(&Draft::put(target, body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer
    }

    /// Gets what is stored.
    pub async fn fetch(&self, target: &str) -> Answer {
        self.send(&Draft::new("GET", target, b"")).await
    }
}

impl World {
    /// Sends `share` hundredths of a request, lets the service take `turns` turns at it, and ends it there, wherever it is: what
    /// a kill leaves of a request.
    pub async fn cut(&self, request: &[u8], share: usize, turns: usize) {
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let service = self.service.clone();
        let serving = tokio::spawn(async move {
            let io = hyper_util::rt::TokioIo::new(server);
            let builder = hyper::server::conn::http1::Builder::new();
            let _ = builder.serve_connection(io, service).await;
        });
        let sent = request.len() * share.min(100) / 100;
        let _ = client.write_all(&request[..sent]).await;
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        serving.abort();
        let _ = serving.await;
    }
}

/// A request whose body is still to come.
pub struct Started {
    client: tokio::io::DuplexStream,
    serving: tokio::task::JoinHandle<()>,
}

impl World {
    /// Sends the head of `draft`, which must expect 100 Continue, and waits until the body is asked for.
    pub async fn start(&self, draft: &Draft) -> Started {
        let (mut client, server) = tokio::io::duplex(64 * 1024);
        let service = self.service.clone();
        let serving = tokio::spawn(async move {
            let io = hyper_util::rt::TokioIo::new(server);
            let mut builder = hyper::server::conn::http1::Builder::new();
            let _ = builder.keep_alive(false).half_close(true).serve_connection(io, service).await;
        });
        let bytes = draft.bytes();
        client.write_all(&bytes[..bytes.len() - draft.body.len()]).await.unwrap();
        let mut line = vec![0; b"HTTP/1.1 100 Continue\r\n\r\n".len()];
        client.read_exact(&mut line).await.unwrap();
        assert!(line.starts_with(b"HTTP/1.1 100"), "{}", String::from_utf8_lossy(&line));
        Started { client, serving }
    }
}

impl Started {
    /// Sends the body and reads the answer.
    pub async fn finish(mut self, body: &[u8]) -> Answer {
        self.client.write_all(body).await.unwrap();
        self.client.shutdown().await.unwrap();
        let mut raw = Vec::new();
        self.client.read_to_end(&mut raw).await.unwrap();
        self.serving.await.unwrap();
        read_answer(&raw)
    }

    /// Sends a part of the body and breaks the connection.
    pub async fn abandon(mut self, part: &[u8]) {
        self.client.write_all(part).await.unwrap();
        drop(self.client);
        self.serving.await.unwrap();
    }
}
