//! The lab that the rules are driven through.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tabs_api::engine::fixtures::Pages;
use tabs_api::replay::Replay;
use triptych_core::time::Timestamp;

/// The moment at which labs begin.
pub(crate) const START: Timestamp = Timestamp::from_seconds(1_790_000_000);

/// A lab, and how many of its events were read.
pub(crate) struct Bench {
    pub(crate) lab: Replay,
    pub(crate) now: Timestamp,
    seen: usize,
    pub(crate) window: i64,
    pub(crate) first: i64,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let now = START;
        let mut lab = Replay::new(pages(), now);
        let start = lab.reset(now, "full");
        Self {
            lab,
            now,
            seen: 0,
            window: start["W1"].as_i64().unwrap(),
            first: start["T1"].as_i64().unwrap(),
        }
    }

    /// Calls, lets everything settle, and gives the reply and the events with their first argument but one.
    pub(crate) fn step(&mut self, op: &str, args: Value) -> (Value, Vec<(String, Value)>) {
        let call = serde_json::from_value(json!({ "op": op, "args": args })).unwrap();
        let reply = self.lab.call(self.now, call);
        let events = self.lab.events(self.now, self.seen, "full");
        let events = events["events"].as_array().unwrap().clone();
        self.seen += events.len();
        let events = events.into_iter().map(|event| {
            let name = event["name"].as_str().unwrap().to_owned();
            (name, event["args"].clone())
        });
        (reply, events.collect())
    }

    pub(crate) fn call(&mut self, op: &str, args: Value) -> Value {
        let (reply, _) = self.step(op, args);
        assert!(reply.get("error").is_none(), "{op}: {reply}");
        reply["result"].clone()
    }

    pub(crate) fn refused(&mut self, op: &str, args: Value) -> String {
        let (reply, _) = self.step(op, args);
        reply["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn open(&mut self, url: &str) -> i64 {
        let tab = self.call("tabs.create", json!([{ "url": url, "active": false }]));
        tab["id"].as_i64().unwrap()
    }

    pub(crate) fn wait(&mut self, time: Duration) {
        self.now = self.now.plus(time);
    }
}

/// The pages of the lab.
pub(crate) fn pages() -> Pages {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/tabs/fixtures.json");
    Pages::read(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// The names of events, but for those of focus and zoom.
pub(crate) fn names(events: &[(String, Value)]) -> Vec<&str> {
    let told = events.iter().map(|(name, _)| name.as_str());
    told.filter(|name| !name.starts_with("windows.onFocus") && *name != "tabs.onZoomChange")
        .collect()
}

/// The action of a user on a page.
pub(crate) const GESTURE: &str = "harness.act";
