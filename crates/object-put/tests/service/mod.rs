//! A service in memory behind a real HTTP connection, driven with raw bytes.

#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

use std::sync::Arc;

use object_put::http::ObjectPut;
use object_put::seed::Seed;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use triptych_core::blobs::{Blobs, MemoryBlobs};
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory};
use triptych_core::time::{ManualClock, Timestamp};

/// The keys and buckets of every test.
pub const SEED: &str = r#"{
    "accounts": [
        { "id": "111122223333", "displayName": "main", "email": "a@b.c", "keys": [
            { "accessKeyId": "AKIDEXAMPLE", "secretAccessKey": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" },
            { "accessKeyId": "ASIASESSIONKEY", "secretAccessKey": "sessionsecret", "sessionToken": "TESTSESSIONTOKEN" },
            { "accessKeyId": "READER", "secretAccessKey": "reader", "allow": ["store:Get*"] } ] },
        { "id": "444455556666", "displayName": "other", "keys": [
            { "accessKeyId": "OTHER", "secretAccessKey": "other" } ] } ],
    "buckets": [
        { "name": "bkt", "owner": "111122223333", "ownership": "ObjectWriter" },
        { "name": "locked", "owner": "111122223333", "versioning": "enabled", "objectLock": true },
        { "name": "enforced", "owner": "111122223333" },
        { "name": "versioned", "owner": "111122223333", "versioning": "enabled" },
        { "name": "suspended", "owner": "111122223333", "versioning": "suspended" },
        { "name": "open", "owner": "111122223333", "public": "read-write" } ] }"#;

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
    /// Whether a 100 Continue came first.
    pub continued: bool,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The text of an element of an error body.
    pub fn element(&self, name: &str) -> Option<String> {
        let text = self.text();
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>"))
            .map(|(value, _)| value.to_owned())
    }
}

impl World {
    pub async fn new(now: Timestamp) -> Self {
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        Self::on(Arc::new(Memory::new()), blobs, now).await
    }

    pub async fn on(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>, now: Timestamp) -> Self {
        let clock = Arc::new(ManualClock::default());
        clock.set(now);
        let service = ObjectPut::builder(store, blobs)
            .clock(clock.clone())
            .ids(Box::new(SeededIds::from_number(1)))
            .keyring(object_put::encryption::Keyring::new(&[9; 32]))
            .base_hosts(["s3.amazonaws.com".to_owned()])
            .seed(Seed::parse(SEED).unwrap())
            .build();
        service.fill().await.unwrap();
        Self { service, clock }
    }

    /// Sends `request` as it is, and reads the answer.
    pub async fn exchange(&self, request: &[u8]) -> Answer {
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
        read_answer(&raw)
    }
}

fn read_answer(mut raw: &[u8]) -> Answer {
    let mut continued = false;
    loop {
        let end = raw
            .windows(4)
            .position(|window| window == b"\r\n\r\n")
            .expect("a whole head");
        let head = String::from_utf8(raw[..end].to_vec()).unwrap();
        raw = &raw[end + 4..];
        let mut lines = head.split("\r\n");
        let status = lines
            .next()
            .unwrap()
            .split(' ')
            .nth(1)
            .unwrap()
            .parse()
            .unwrap();
        if status == 100 {
            continued = true;
            continue;
        }
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        return Answer {
            status,
            headers,
            body: raw.to_vec(),
            continued,
        };
    }
}
