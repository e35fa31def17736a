//! The states that kills and power cuts leave of the service, on a simulated disk: a kill takes nothing that a client was told, a power cut the
//! end of it at the most, and neither leaves a part of anything.
//!
//! `cargo xtask crash --states N --workload tabs` looks at more of them than the test does by itself.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use tabs_api::browser::Compat;
use tabs_api::http::TabsApi;
use tabs_api::seed::Seed;
use tokio::runtime::Runtime;
use triptych_core::disk::simulated::SimulatedDisk;
use triptych_core::explorer::{Seen, Stores, Subject, explore_service, inject_service};
use triptych_core::id::{Ids as _, SeededIds};
use triptych_core::kv::Durability;
use triptych_core::time::{ManualClock, Timestamp};

const CONTROL: &str = "control";
/// The first moment of the first run of the machine, and the seconds between two runs.
const BEGIN: i64 = 1_790_000_000;
const RUN_SECONDS: i64 = 1_000_000;
/// The time in which every page has loaded.
const LOADED: Duration = Duration::from_secs(60);
/// The time in which all pages of a window that was brought back have had their turns to load.
const TURNS: Duration = Duration::from_secs(4 * MANY_TABS);
/// Profiles and extensions that come and go.
const NAMES: [&str; 3] = ["one", "two", "three"];
/// Operations that a browser refuses where there is no page to go to or that may be zoomed, nothing to discard any more or nothing to bring back.
const REFUSED_AT_TIMES: [&str; 5] =
    ["tabs.goBack", "tabs.goForward", "tabs.discard", "tabs.setZoom", "sessions.restore"];
/// Tabs of a window, and bytes of a page, of which no batch holds all.
const MANY_TABS: u64 = 1_001;
const LONG_PAGE: usize = 1_200_000;
/// Bytes of an address of which no row holds all, and of one that no key holds.
const LONG_ADDRESS: usize = 150_000;
const LONG_NAME: usize = 5_000;

/// The service and its clock.
struct Browsers {
    runtime: Runtime,
    api: TabsApi,
    clock: Arc<ManualClock>,
}

fn extension(token: &str) -> Value {
    json!({"token": token, "manifest": {"manifest_version": 3, "name": token, "version": "1",
        "permissions": ["tabs", "tabGroups", "sessions"], "host_permissions": ["<all_urls>"]}})
}

impl Browsers {
    /// The status of an answer and its body.
    fn ask(&self, method: &str, path: &str, token: &str, body: &Value) -> (u16, Value) {
        let request = Request::builder().method(method).uri(format!("/v1/{path}"));
        let request = request.header("host", "localhost");
        let request = request.header("authorization", format!("Bearer {token}"));
        let request = request.body(Full::new(Bytes::from(body.to_string()))).unwrap();
        self.runtime.block_on(async {
            let (head, body) = self.api.answer(request).await.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            (head.status.as_u16(), serde_json::from_slice(&body).unwrap_or_default())
        })
    }

    /// Asks for what has to be done.
    fn done(&self, method: &str, path: &str, token: &str, body: &Value) -> Result<Value, String> {
        match self.ask(method, path, token, body) {
            (200..300, answer) => Ok(answer),
            (status, answer) => Err(format!("{method} {path}: {status} {answer}")),
        }
    }

    fn control(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        self.done(method, &format!("control{path}"), CONTROL, body)
    }

    fn call(&self, token: &str, operation: &str, arguments: &Value) -> Result<Value, String> {
        let path = operation.replace('.', "/");
        Ok(self.done("POST", &path, token, arguments)?["result"].take())
    }

    fn profiles(&self) -> Result<Vec<String>, String> {
        let profiles = self.control("GET", "/profiles", &Value::Null)?;
        let names = profiles["profiles"].as_array().cloned().unwrap_or_default();
        Ok(names.iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect())
    }

    /// The first profile's tabs.
    fn tabs(&self) -> Result<Vec<i64>, String> {
        let tabs = self.call("first", "tabs.query", &json!([{}]))?;
        let tabs = tabs.as_array().cloned().unwrap_or_default();
        Ok(tabs.iter().filter_map(|tab| tab["id"].as_i64()).collect())
    }

    /// A profile is made, or goes.
    fn change_profiles(&self, chance: &mut SeededIds) -> Result<(), String> {
        let name = NAMES[chance.next() as usize % NAMES.len()];
        if self.profiles()?.iter().any(|known| known == name) {
            return self.control("DELETE", &format!("/profiles/{name}"), &Value::Null).map(drop);
        }
        let words = chance.next();
        let mut profile = json!({
            "name": name,
            "extensions": [extension(&format!("of profile {name}"))],
            "windows": [{"tabs": [{"url": format!("http://a.test/{words}")}, {"url": "about:blank", "pinned": true}]}],
        });
        if words.is_multiple_of(4) {
            profile["pages"] = json!({"http://a.test/": {"title": "x".repeat(LONG_PAGE)}});
        }
        self.control("POST", "/profiles", &profile).map(drop)
    }

    /// An extension of the first profile is installed, or goes.
    fn change_extensions(&self, chance: &mut SeededIds) -> Result<(), String> {
        let token = NAMES[chance.next() as usize % NAMES.len()];
        let installed = self.ask("POST", "tabs/query", token, &json!([{}])).0 == 200;
        if !installed {
            return self.control("POST", "/extensions", &extension(token)).map(drop);
        }
        let again = self.control("POST", "/extensions", &extension(token))?;
        let id = again["id"].as_str().unwrap_or_default();
        self.control("DELETE", &format!("/extensions/{id}"), &Value::Null).map(drop)
    }

    /// A call of the first profile's extension.
    fn change_tabs(&self, chance: &mut SeededIds) -> Result<(), String> {
        let url = match chance.next() % 8 {
            0 => format!("http://b.test/?{}", "x".repeat(LONG_ADDRESS)),
            1 => format!("data:text/plain,{}", "x".repeat(LONG_NAME)),
            _ => format!("http://b.test/{}", chance.next() % 1_000),
        };
        let tabs = self.tabs()?;
        let at = chance.next() as usize % tabs.len().max(1);
        let tab = tabs.get(at).ok_or("no tab is left")?;
        let address = |tab: i64| -> Result<String, String> {
            let shown = self.call("first", "tabs.get", &json!([tab]))?;
            let url = shown["url"].as_str().unwrap_or_default();
            Ok(url.split('#').next().unwrap_or_default().to_owned())
        };
        // The browser goes back to pages alone that the user did something on.
        if chance.next().is_multiple_of(4) {
            let gesture = json!({"type": "gesture", "tabId": tab});
            self.control("POST", "", &gesture)?;
        }
        let (operation, arguments) = match chance.next() % 16 {
            0 | 1 => ("tabs.create", json!([{"url": url}])),
            2 => ("windows.create", json!([{"url": [url, "http://c.test/"]}])),
            3 => ("tabs.update", json!([tab, {"url": url}])),
            4 => ("tabs.update", json!([tab, {"pinned": chance.next().is_multiple_of(2)}])),
            5 => ("tabs.move", json!([tab, {"index": -1}])),
            6 => ("tabs.group", json!([{"tabIds": [tab]}])),
            7 => ("tabs.setZoom", json!([tab, 1.5])),
            8 => ("tabs.reload", json!([tab])),
            9 => ("tabs.goBack", json!([tab])),
            10 => ("tabs.goForward", json!([tab])),
            11 => ("tabs.discard", json!([tab])),
            12 => ("tabs.duplicate", json!([tab])),
            13 => ("sessions.restore", json!([])),
            14 => ("tabs.update", json!([tab, {"url": format!("{}#part", address(*tab)?)}])),
            _ if tabs.len() > 3 => ("tabs.remove", json!([tab])),
            _ => ("tabs.create", json!([{"active": false}])),
        };
        // What a browser refuses changes nothing.
        let path = operation.replace('.', "/");
        match self.ask("POST", &path, "first", &arguments) {
            (200 | 400, _) => Ok(()),
            (422, _) if REFUSED_AT_TIMES.contains(&operation) => Ok(()),
            (status, answer) => Err(format!("{operation} {arguments}: {status} {answer}")),
        }
    }

    /// A window of many tabs is opened, or one goes.
    fn change_many_tabs(&self, chance: &mut SeededIds) -> Result<(), String> {
        let windows = self.call("first", "windows.getAll", &json!([{"populate": true}]))?;
        let windows = windows.as_array().cloned().unwrap_or_default();
        let is_long = |window: &&Value| {
            window["tabs"].as_array().is_some_and(|tabs| tabs.len() as u64 >= MANY_TABS)
        };
        if let Some(long) = windows.iter().find(is_long) {
            return self.call("first", "windows.remove", &json!([long["id"]])).map(drop);
        }
        let words = chance.next();
        let urls: Vec<_> =
            (0..MANY_TABS).map(|number| format!("http://d.test/{words}/{number}")).collect();
        self.call("first", "windows.create", &json!([{"url": urls}])).map(drop)
    }
}

impl Subject for Browsers {
    fn start(stores: Stores, run_of_machine: u64) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let begin = BEGIN + RUN_SECONDS * run_of_machine as i64;
        let clock = Arc::new(ManualClock::at(Timestamp::from_seconds(begin)));
        let seed = json!({"extensions": [extension("first")]}).to_string();
        let api = runtime.block_on(async {
            TabsApi::builder()
                .clock(Arc::clone(&clock) as _)
                .ids(Box::new(SeededIds::from_number(run_of_machine)))
                .compat(Compat::Browser)
                .control_token(CONTROL)
                .seed(Seed::parse(&seed).unwrap())
                .store(Arc::new(stores.kv))
                .build()
        });
        Ok(Self { runtime, api: api.map_err(|error| error.to_string())?, clock })
    }

    fn step(&mut self, chance: &mut SeededIds) -> Result<Durability, String> {
        self.clock.advance(Duration::from_secs(1));
        match chance.next() % 24 {
            0..4 => self.change_profiles(chance)?,
            4..8 => self.change_extensions(chance)?,
            8 => self.change_many_tabs(chance)?,
            _ => self.change_tabs(chance)?,
        }
        Ok(Durability::Process)
    }

    fn seen(&mut self) -> Result<Seen, String> {
        let of_profiles = NAMES.map(|name| format!("of profile {name}"));
        let tokens = ["first"].into_iter().chain(NAMES).map(str::to_owned).chain(of_profiles);
        let tokens: Vec<_> = tokens.collect();
        let ask = |token: &String| {
            self.clock.advance(LOADED);
            match self.ask("POST", "tabs/query", token, &json!([{"pinned": true}])) {
                (500.., answer) => Err(format!("{token} asks: {answer}")),
                (status, _) => Ok(status.to_string()),
            }
        };
        self.clock.advance(TURNS);
        // A page that was on its way before a kill sets out again with the first look, and has arrived at the next.
        tokens.iter().try_for_each(|token| ask(token).map(drop))?;
        let mut seen = Seen::new();
        for name in self.profiles()? {
            let target = format!("/extensions?profile={name}");
            seen.insert(target.clone(), self.control("GET", &target, &Value::Null)?.to_string());
            let target = format!("/windows?profile={name}");
            let mut shown = self.control("GET", &target, &Value::Null)?;
            without_moments(&mut shown);
            for mut window in shown["windows"].as_array().cloned().unwrap_or_default() {
                let place = format!("{name}, window {}", window["id"]);
                for tab in window["tabs"].take().as_array().cloned().unwrap_or_default() {
                    seen.insert(format!("{place}, tab {}", tab["id"]), tab.to_string());
                }
                seen.insert(place, window.to_string());
            }
        }
        for token in &tokens {
            seen.insert(format!("{token} asks"), ask(token)?);
        }
        Ok(seen)
    }
}

/// Takes away what is of this run of the service alone.
fn without_moments(shown: &mut Value) {
    match shown {
        Value::Object(members) => {
            members.retain(|name, _| name != "lastAccessed" && name != "frozen");
            members.values_mut().for_each(without_moments);
        }
        Value::Array(items) => items.iter_mut().for_each(without_moments),
        _ => {}
    }
}

#[test]
fn tabs_with_long_addresses_and_long_histories_and_their_zoom_are_there_after_a_kill() {
    const PAGES: usize = 50;
    let disk = SimulatedDisk::new();
    let mut before = Browsers::start(Stores::open(&disk, 1).unwrap(), 1).unwrap();
    let open = |url: &str| {
        let tab = before.call("first", "tabs.create", &json!([{"url": url}])).unwrap();
        before.clock.advance(LOADED);
        tab["id"].as_i64().unwrap()
    };
    let page = |number: usize| format!("http://b.test/{number}?{}", "x".repeat(3_000));
    open(&format!("http://a.test/?{}", "x".repeat(LONG_ADDRESS)));
    let zoomed = open(&format!("data:text/plain,{}", "x".repeat(LONG_NAME)));
    before.call("first", "tabs.setZoom", &json!([zoomed, 1.5])).unwrap();
    let travelled = open(&page(0));
    // The browser goes back to pages alone that the user did something on.
    before.control("POST", "", &json!({"type": "gesture", "tabId": travelled})).unwrap();
    for number in 1..PAGES {
        let arguments = json!([travelled, {"url": page(number)}]);
        before.call("first", "tabs.update", &arguments).unwrap();
        before.clock.advance(LOADED);
        before.call("first", "tabs.get", &json!([travelled])).unwrap();
    }
    let seen = before.seen().unwrap();
    let killed = disk.picture().same_uptime();
    drop(before);
    let mut after = Browsers::start(Stores::open(&killed, 1).unwrap(), 1).unwrap();
    assert!(after.seen().unwrap() == seen, "another state is seen");
    let zoom = after.call("first", "tabs.getZoom", &json!([zoomed])).unwrap();
    assert!((zoom.as_f64().unwrap() - 1.5).abs() < 0.01, "{zoom}");
    for number in (0..PAGES - 1).rev() {
        after.call("first", "tabs.goBack", &json!([travelled])).unwrap();
        after.clock.advance(LOADED);
        let tab = after.call("first", "tabs.get", &json!([travelled])).unwrap();
        assert_eq!(tab["url"], page(number));
    }
}

#[test]
fn no_kill_takes_what_a_client_was_told_and_no_cut_leaves_a_part_of_it() {
    #[expect(clippy::disallowed_methods, reason = "a test has no flags")]
    let explored = explore_service::<Browsers>(24, 30, |name| std::env::var(name).ok());
    println!("{}", explored.unwrap_or_else(|finding| panic!("{finding}")));
}

#[test]
fn no_call_of_the_disk_that_fails_takes_what_a_client_was_told_or_shows_a_part_of_something() {
    #[expect(clippy::disallowed_methods, reason = "a test has no flags")]
    let report = inject_service::<Browsers>(3, 71, |name| std::env::var(name).ok());
    let report = report.unwrap_or_else(|finding| panic!("{finding}"));
    assert!(report.at_run > 0 && report.at_start > 0, "{report:?}");
    println!("{report}");
}
