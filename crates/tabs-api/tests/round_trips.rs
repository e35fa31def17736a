//! The cost of each operation to a store on another machine: it is called, and the round trips are counted.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that meets the unexpected fails")]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tabs_api::http::TabsApi;
use tabs_api::operation::OPERATIONS;
use tabs_api::seed::Seed;
use tokio::net::TcpStream;
use triptych_core::host::Config;
use triptych_core::host::testing::Running;
use triptych_core::kv::{
    Batch, Counted, Found, KeyValue, Memory, Page, RoundTrips, Span, StoreError, Version,
};
use triptych_core::pending::Pending;
use triptych_core::time::{ManualClock, Timestamp};

const SEED: &str = r#"{"extensions": [{"token": "testing", "manifest": {"manifest_version": 3, "name": "Testing", "version": "1",
    "permissions": ["tabs", "tabGroups", "sessions", "scripting", "activeTab"], "host_permissions": ["<all_urls>"]}}]}"#;

/// A store that counts what is asked of the rows of profiles. Signs of life and claims come by the clock.
struct OfProfiles {
    store: Arc<Memory>,
    counted: Counted,
}

impl OfProfiles {
    fn new() -> Self {
        let store = Arc::new(Memory::new());
        Self { counted: Counted::new(Arc::<Memory>::clone(&store)), store }
    }

    /// The store for a request that begins with this key.
    fn at(&self, key: &[u8]) -> &dyn KeyValue {
        if key.first() == Some(&0xFF) { &*self.store } else { &self.counted }
    }
}

impl KeyValue for OfProfiles {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.at(key).get(key)
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Found>, StoreError> {
        self.at(keys.first().copied().unwrap_or_default()).get_many(keys)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        self.at(&span.prefix).scan(span, limit)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        let first = batch.writes.first().map(|(key, _)| key.clone()).unwrap_or_default();
        self.at(&first).commit(batch)
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.store.durable(seen)
    }

    fn is_local(&self) -> bool {
        false
    }
}

/// A service on such a store. Its time stands still unless it is moved.
struct Bench {
    server: Running,
    store: Arc<OfProfiles>,
    clock: Arc<ManualClock>,
}

impl Bench {
    async fn new() -> Self {
        let store = Arc::new(OfProfiles::new());
        let start = Timestamp::from_rfc3339("2026-05-01T12:00:00Z").unwrap();
        let clock = Arc::new(ManualClock::at(start));
        let seed = Seed::parse(SEED).unwrap();
        let service = TabsApi::builder().clock(clock.clone()).store(store.clone()).seed(seed);
        let server = Running::start(service.build().unwrap(), Config::default()).await.unwrap();
        Self { server, store, clock }
    }

    async fn call(&self, operation: &str, arguments: &Value) -> Value {
        call(self.server.address, operation, arguments).await
    }

    /// Lets a minute pass, in which every page is loaded.
    async fn settle(&self) {
        self.clock.advance(Duration::from_secs(60));
        self.call("tabs.query", &json!([{}])).await;
    }

    /// The cost of a call, while no other time passes than what its answer waits for.
    async fn cost(&self, operation: &'static str, arguments: &Value) -> RoundTrips {
        self.settle().await;
        self.store.counted.take();
        if !WAIT.contains(&operation) {
            self.call(operation, arguments).await;
            return self.store.counted.take();
        }
        let (address, arguments) = (self.server.address, arguments.clone());
        let call = tokio::spawn(async move { call(address, operation, &arguments).await });
        while !call.is_finished() {
            self.settle().await;
        }
        call.await.unwrap();
        self.store.counted.take()
    }
}

/// Operations whose answer comes from the page, which takes its time.
const WAIT: [&str; 4] = [
    "tabs.captureVisibleTab",
    "scripting.executeScript",
    "scripting.insertCSS",
    "scripting.removeCSS",
];

/// Calls an operation; gives its result, or null where it has none.
async fn call(address: SocketAddr, operation: &str, arguments: &Value) -> Value {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::post(format!("/v1/{}", operation.replace('.', "/")))
        .header("host", "localhost")
        .header("authorization", "Bearer testing")
        .body(Full::<bytes::Bytes>::from(arguments.to_string()))
        .unwrap();
    let answer = tokio::time::timeout(Duration::from_secs(120), sender.send_request(request)).await;
    let answer = answer.unwrap_or_else(|_| panic!("{operation} {arguments} is not answered"));
    let response = answer.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let reply: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    // What the browser cannot do now is an answer too.
    assert!([200, 400, 422].contains(&status), "{operation} {arguments}: {status} {reply}");
    reply.get("result").cloned().unwrap_or_default()
}

#[tokio::test]
async fn every_operation_costs_the_round_trips_that_stand_beside_it() {
    let bench = Bench::new().await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        let made = bench.call("tabs.create", &json!([{ "url": "http://a.test/" }])).await;
        bench.settle().await;
        ids.push(made["id"].clone());
    }
    let [one, two, three, four] = ids.as_slice() else { panic!("{ids:?}") };
    let group = bench.call("tabs.group", &json!([{ "tabIds": [one] }])).await;
    let window = bench.call("windows.create", &json!([{ "url": "http://b.test/" }])).await;
    let window = &window["id"];
    let style = json!([{ "target": { "tabId": one }, "css": "p {}" }]);
    let calls = [
        ("tabs.captureVisibleTab", json!([])),
        ("tabs.connect", json!([one])),
        ("tabs.create", json!([{ "url": "http://c.test/" }])),
        ("tabs.detectLanguage", json!([one])),
        ("tabs.duplicate", json!([one])),
        ("tabs.get", json!([one])),
        ("tabs.getCurrent", json!([])),
        ("tabs.getZoom", json!([one])),
        ("tabs.getZoomSettings", json!([one])),
        ("tabs.update", json!([one, { "url": "http://d.test/" }])),
        ("tabs.goBack", json!([one])),
        ("tabs.goForward", json!([one])),
        ("tabs.group", json!([{ "tabIds": [two] }])),
        ("tabs.highlight", json!([{ "tabs": [0, 1] }])),
        ("tabs.move", json!([[one, two], { "index": -1 }])),
        ("tabs.query", json!([{}])),
        ("tabs.reload", json!([one])),
        ("tabs.sendMessage", json!([one, "text"])),
        ("tabs.setZoom", json!([one, 2])),
        ("tabs.setZoomSettings", json!([one, { "mode": "manual" }])),
        ("tabs.ungroup", json!([two])),
        ("tabs.discard", json!([three])),
        ("tabs.remove", json!([four])),
        ("windows.get", json!([window, { "populate": true }])),
        ("windows.getCurrent", json!([])),
        ("windows.getLastFocused", json!([])),
        ("windows.getAll", json!([{ "populate": true }])),
        ("windows.create", json!([{}])),
        ("windows.update", json!([window, { "focused": true }])),
        ("tabGroups.get", json!([group])),
        ("tabGroups.query", json!([{}])),
        ("tabGroups.update", json!([group, { "title": "a" }])),
        ("tabGroups.move", json!([group, { "index": -1 }])),
        ("windows.remove", json!([window])),
        ("sessions.getRecentlyClosed", json!([])),
        ("sessions.getDevices", json!([])),
        ("sessions.restore", json!([])),
        ("scripting.executeScript", json!([{ "target": { "tabId": one }, "files": ["a.js"] }])),
        ("scripting.insertCSS", style.clone()),
        ("scripting.removeCSS", style),
    ];
    let mut wrong = Vec::new();
    for (name, arguments) in &calls {
        let cost = bench.cost(name, arguments).await;
        let told = OPERATIONS.iter().find(|row| row.name == *name).unwrap().round_trips;
        if cost != told {
            wrong.push(format!("{name} {arguments}: {cost}, not {told}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let called: BTreeSet<_> = calls.iter().map(|(name, _)| *name).collect();
    let known: BTreeSet<_> = OPERATIONS.iter().map(|row| row.name).collect();
    assert_eq!(called, known, "an operation was not called");
}
