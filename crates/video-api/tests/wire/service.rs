//! A service on stores of its own, with a few things in it, and a short way to ask it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use triptych_core::blobs::{Blobs, MemoryBlobs};
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory};
use triptych_core::time::{ManualClock, Timestamp};
use video_api::caption::translation::Translator;
use video_api::http::VideoApi;
use video_api::seed::{Seed, SeedError};

/// Alice has everything, Bob is somebody else, Carol has no channel, and two more tokens are Alice's with less in them.
pub(crate) const SEED: &str = r#"{
    "projects": [{"id": "demo", "apiKeys": ["KEY", "LOCALKEY", "K"]}, {"id": "poor", "apiKeys": ["POOR"], "quota": "buckets"}],
    "accounts": [
        {"id": "alice", "tokens": [
            {"token": "ALICE", "scopes": ["youtube", "youtube.force-ssl", "youtube.channel-memberships.creator"]},
            {"token": "TOKEN", "scopes": ["youtube", "youtube.force-ssl"]},
            {"token": "NOTHING", "scopes": []}],
         "channel": {"id": "UCx", "title": "Alice", "handle": "@alice", "username": "alice"}},
        {"id": "bob", "tokens": [{"token": "BOB", "scopes": ["youtube", "youtube.force-ssl", "youtube.channel-memberships.creator"]}],
         "channel": {"id": "UCbob", "title": "Bob"}},
        {"id": "carol", "tokens": [{"token": "CAROL", "scopes": ["youtube"]}]}],
    "videos": [
        {"id": "v", "owner": "alice", "snippet": {"title": "First", "categoryId": "22", "description": "d", "tags": ["t"]}},
        {"id": "w", "owner": "alice", "snippet": {"title": "Second", "categoryId": "10"}},
        {"id": "p", "owner": "alice", "snippet": {"title": "Private", "categoryId": "22"}, "status": {"privacyStatus": "private"}}],
    "playlists": [
        {"id": "PLx", "owner": "alice", "snippet": {"title": "List"}, "items": ["v", "w"]},
        {"id": "PL", "owner": "alice", "snippet": {"title": "Short"}}],
    "channelSections": [{"id": "shelf", "owner": "alice", "snippet": {"type": "popularUploads"}}],
    "subscriptions": [{"id": "s", "subscriber": "bob", "channel": "alice"}],
    "membershipsLevels": [{"id": "tin", "channel": "alice", "displayName": "Tin", "priceMicros": 1000000}],
    "members": [{"creator": "alice", "member": "bob", "level": "tin", "since": "2026-01-01T00:00:00Z"}],
    "captions": [{"id": "c", "video": "v", "language": "en", "name": "Seeded", "text": "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n"}],
    "comments": [{"id": "c", "author": "bob", "video": "v", "textOriginal": "Hello <b>", "likes": ["alice"],
        "replies": [{"id": "r", "author": "alice", "textOriginal": "Welcome"}]}]
}"#;

/// A service and its clock.
pub(crate) struct Service {
    pub(crate) api: VideoApi,
    pub(crate) clock: Arc<ManualClock>,
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn reason(&self) -> String {
        self.json()["error"]["errors"][0]["reason"].as_str().unwrap_or_default().to_owned()
    }
}

impl Service {
    pub(crate) async fn new() -> Self {
        let blobs = MemoryBlobs::new(SeededIds::from_number(1));
        Self::on(Arc::new(Memory::new()), Arc::new(blobs), 0).await
    }

    /// With other things in it.
    pub(crate) async fn seeded(seed: &str) -> Self {
        let blobs = MemoryBlobs::new(SeededIds::from_number(1));
        Self::filled(Arc::new(Memory::new()), Arc::new(blobs), 0, seed).await
    }

    /// On stores of an earlier run, `run` is another number than that one's: no two runs draw the same ids.
    pub(crate) async fn on(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>, run: u64) -> Self {
        Self::filled(store, blobs, run, SEED).await
    }

    pub(crate) async fn filled(
        store: Arc<dyn KeyValue>,
        blobs: Arc<dyn Blobs>,
        run: u64,
        seed: &str,
    ) -> Self {
        Self::started(store, blobs, run, seed).await.unwrap()
    }

    /// One that may not start, since its disk fails.
    pub(crate) async fn started(
        store: Arc<dyn KeyValue>,
        blobs: Arc<dyn Blobs>,
        run: u64,
        seed: &str,
    ) -> Result<Self, SeedError> {
        let clock =
            Arc::new(ManualClock::at(Timestamp::from_rfc3339("2026-05-01T12:00:00Z").unwrap()));
        let api = VideoApi::builder(store, blobs)
            .clock(clock.clone())
            .ids(Box::new(SeededIds::from_number(7 + run)))
            .seed(Seed::parse(seed).unwrap())
            .build();
        api.apply_seed().await?;
        Ok(Self { api, clock })
    }

    /// With a translator of captions, and the time that it has for a track.
    pub(crate) async fn translated(translator: Arc<dyn Translator>, time: Duration) -> Self {
        let clock =
            Arc::new(ManualClock::at(Timestamp::from_rfc3339("2026-05-01T12:00:00Z").unwrap()));
        let blobs = MemoryBlobs::new(SeededIds::from_number(1));
        let api = VideoApi::builder(Arc::new(Memory::new()), Arc::new(blobs))
            .clock(clock.clone())
            .translator(Some(translator))
            .translation_time(time)
            .seed(Seed::parse(SEED).unwrap())
            .build();
        api.apply_seed().await.unwrap();
        Self { api, clock }
    }

    pub(crate) fn later(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Sends one request. `token` is a bearer token, or none if empty.
    pub(crate) async fn ask(&self, method: &str, target: &str, token: &str, body: &str) -> Answer {
        self.ask_with(method, target, token, &[], body.as_bytes()).await
    }

    pub(crate) async fn ask_with(
        &self,
        method: &str,
        target: &str,
        token: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut request =
            Request::builder().method(method).uri(target).header("host", "127.0.0.1:7801");
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if !headers.iter().any(|(name, _)| *name == "content-type") {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        let (head, body) = self.api.answer(request).await.into_parts();
        // A body that breaks off is a failure, whatever its head said.
        let (status, body) = match body.collect().await {
            Ok(body) => (head.status.as_u16(), body.to_bytes()),
            Err(_) => (500, Bytes::new()),
        };
        Answer { status, headers: head.headers, body }
    }

    /// Sends a request to a control path.
    pub(crate) async fn control(&self, method: &str, target: &str, body: &str) -> Answer {
        let body = Full::new(Bytes::copy_from_slice(body.as_bytes()));
        let request = Request::builder().method(method).uri(target).header("host", "h");
        let answer = self.api.answer_control(request.body(body).unwrap()).await;
        let answer = answer.unwrap_or_else(|_| panic!("{target} is a control path"));
        let (head, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: head.status.as_u16(), headers: head.headers, body }
    }

    /// Reads a list as Alice, or panics with the error.
    pub(crate) async fn list(&self, target: &str) -> Value {
        let answer = self.ask("GET", &format!("/youtube/v3{target}"), "ALICE", "").await;
        assert_eq!(answer.status, 200, "{target}: {}", answer.json());
        answer.json()
    }
}

/// Status and body of a request to the interface; no body where it is null.
pub(crate) async fn ask(
    service: &Service,
    who: &str,
    method: &str,
    target: &str,
    body: Value,
) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = service.ask(method, &format!("/youtube/v3{target}"), who, &body).await;
    (answer.status, answer.json())
}
