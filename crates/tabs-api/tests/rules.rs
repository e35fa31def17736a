//! Rules of the browser that no recorded scenario shows alone, each driven through the lab as a scenario would be.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tabs_api::browser::{Browser, Compat};
use tabs_api::engine::fixtures::Pages;
use tabs_api::extension::manifest::Manifest;
use tabs_api::extension::permission::Extension;
use tabs_api::js_value::JsValue;
use tabs_api::operation::{Caller, Command, Context, Style};
use tabs_api::replay::Replay;
use triptych_core::time::Timestamp;

const START: Timestamp = Timestamp::from_seconds(1_790_000_000);

/// A lab, and how many of its events were read.
struct Bench {
    lab: Replay,
    now: Timestamp,
    seen: usize,
    window: i64,
    first: i64,
}

impl Bench {
    fn new() -> Self {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/tabs/fixtures.json");
        let pages = Pages::read(&std::fs::read_to_string(file).unwrap()).unwrap();
        let now = Timestamp::from_seconds(1_790_000_000);
        let mut lab = Replay::new(pages, now);
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
    fn step(&mut self, op: &str, args: Value) -> (Value, Vec<(String, Value)>) {
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

    fn call(&mut self, op: &str, args: Value) -> Value {
        let (reply, _) = self.step(op, args);
        assert!(reply.get("error").is_none(), "{op}: {reply}");
        reply["result"].clone()
    }

    fn refused(&mut self, op: &str, args: Value) -> String {
        let (reply, _) = self.step(op, args);
        reply["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    fn open(&mut self, url: &str) -> i64 {
        let tab = self.call("tabs.create", json!([{ "url": url, "active": false }]));
        tab["id"].as_i64().unwrap()
    }

    fn wait(&mut self, time: Duration) {
        self.now = self.now.plus(time);
    }
}

/// The tabs that events told to be frozen or not.
fn frozen(events: &[(String, Value)]) -> Vec<(i64, bool)> {
    let told = events.iter().filter_map(|(name, args)| {
        let state = args[1].get("frozen").filter(|_| name == "tabs.onUpdated")?;
        Some((args[0].as_i64()?, state.as_bool()?))
    });
    told.collect()
}

#[test]
fn a_tab_whose_page_has_been_quiet_freezes_as_soon_as_its_group_collapses() {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    let group = bench.call("tabs.group", json!([{ "tabIds": tab }]));
    bench.wait(Duration::from_secs(10));
    let (_, events) = bench.step("tabGroups.update", json!([group, { "collapsed": true }]));
    assert_eq!(frozen(&events), [(tab, true)]);
}

#[test]
fn a_tab_whose_page_has_just_come_freezes_later() {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    let group = bench.call("tabs.group", json!([{ "tabIds": tab }]));
    let (_, events) = bench.step("tabGroups.update", json!([group, { "collapsed": true }]));
    assert_eq!(frozen(&events), []);
    bench.wait(Duration::from_secs(5));
    let (_, events) = bench.step("tabs.get", json!([tab]));
    assert_eq!(frozen(&events), [(tab, true)]);
}

#[test]
fn a_tab_that_leaves_a_collapsed_group_stays_frozen_until_it_is_shown() {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    let group = bench.call("tabs.group", json!([{ "tabIds": tab }]));
    bench.wait(Duration::from_secs(10));
    bench.step("tabGroups.update", json!([group, { "collapsed": true }]));
    let (_, events) = bench.step("tabs.ungroup", json!([tab]));
    assert_eq!(frozen(&events), []);
    bench.step("tabs.update", json!([bench.first, { "active": true }]));
    let (_, events) = bench.step("tabs.update", json!([tab, { "active": true }]));
    assert_eq!(frozen(&events), [(tab, false)]);
}

#[test]
fn whatever_makes_a_hidden_tab_active_shows_its_group_first() {
    for (op, by_index) in [("tabs.highlight", true), ("tabs.update", false)] {
        let mut bench = Bench::new();
        let tab = bench.open("http://a.test/a.html");
        let group = bench.call("tabs.group", json!([{ "tabIds": tab }]));
        bench.call("tabGroups.update", json!([group, { "collapsed": true }]));
        let args = if by_index { json!([{ "tabs": 1 }]) } else { json!([tab, { "active": true }]) };
        let (_, events) = bench.step(op, args);
        let names: Vec<_> = events.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names[..3],
            ["tabGroups.onUpdated", "tabs.onActivated", "tabs.onHighlighted"],
            "{op}"
        );
        assert_eq!(events[0].1[0]["collapsed"], false);
    }
}

#[test]
fn a_tab_made_for_an_address_of_another_program_goes_and_an_older_one_stays() {
    let mut bench = Bench::new();
    let old = bench.open("http://a.test/a.html");
    let (reply, events) = bench.step("tabs.create", json!([{ "url": "mailto:x@y" }]));
    let made = reply["result"]["id"].clone();
    let is_gone = |(name, args): &(String, Value)| name == "tabs.onRemoved" && args[0] == made;
    assert!(events.iter().any(is_gone), "{events:?}");
    let (_, events) = bench.step("tabs.update", json!([old, { "url": "mailto:x@y" }]));
    assert_eq!(events, []);
    let tab = bench.call("tabs.get", json!([old]));
    assert_eq!(tab["status"], "complete");
    assert_eq!(tab.get("pendingUrl"), None);
}

#[test]
fn a_state_that_size_or_focus_contradicts_is_refused() {
    let mut bench = Bench::new();
    let window = bench.window;
    for data in [
        json!({ "state": "minimized", "focused": true }),
        json!({ "state": "minimized", "width": 500 }),
        json!({ "state": "maximized", "focused": false }),
        json!({ "state": "fullscreen", "left": 0 }),
    ] {
        for (op, args) in
            [("windows.create", json!([data])), ("windows.update", json!([window, data]))]
        {
            assert_eq!(bench.refused(op, args), "Invalid value for state", "{op} {data}");
        }
    }
    let windows = bench.call("windows.getAll", json!([]));
    assert_eq!(windows.as_array().map(Vec::len), Some(1));
}

#[test]
fn the_language_of_a_discarded_tab_waits_for_its_page() {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    let tab = bench.call("tabs.discard", json!([tab]))["id"].clone();
    let (reply, _) = bench.step("tabs.detectLanguage", json!([tab]));
    assert_eq!(reply["error"]["kind"], "pending");
}

#[test]
fn once_the_page_of_the_users_new_tab_comes_nobody_has_an_opener() {
    let mut bench = Bench::new();
    let first = bench.first;
    let tab =
        bench.call("tabs.create", json!([{ "url": "http://a.test/a.html", "openerTabId": first }]));
    assert_eq!(tab["openerTabId"], first);
    let (_, events) = bench.step("harness.control", json!(["xdotool", "key", "ctrl+t"]));
    assert_eq!(events[0].1[0]["openerTabId"], tab["id"], "it has one until then");
    let tabs = bench.call("tabs.query", json!([{}]));
    for tab in tabs.as_array().unwrap() {
        assert_eq!(tab.get("openerTabId"), None, "{tab}");
    }
}

#[test]
fn the_users_zoom_keys_stop_at_the_ends() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.create", json!([{ "url": "http://a.test/a.html" }]))["id"].clone();
    for (key, end) in [("ctrl+plus", 5.0), ("ctrl+minus", 0.25)] {
        for _ in 0..20 {
            bench.step("harness.control", json!(["xdotool", "key", key]));
        }
        let factor = bench.call("tabs.getZoom", json!([tab]));
        assert_eq!(factor.as_f64(), Some(end), "{key}");
    }
}

#[test]
fn a_click_with_shift_highlights_everything_between() {
    let mut bench = Bench::new();
    let last = bench.open("http://a.test/a.html");
    let mut all = vec![bench.first, last];
    let args =
        json!(["xdotool", "mousemove", 340, 40, "keydown", "shift", "click", 1, "keyup", "shift"]);
    let (_, events) = bench.step("harness.control", args);
    let (_, args) = events.iter().find(|(name, _)| name == "tabs.onHighlighted").unwrap();
    all.sort_unstable();
    assert_eq!(args[0]["tabIds"], json!(all));
}

#[test]
fn a_negative_index_is_the_beginning_of_the_strip_unless_the_browser_is_asked() {
    let arguments: Vec<JsValue> = serde_json::from_value(json!([{ "index": -3 }])).unwrap();
    let command = Command::read("tabs.create", &arguments, Style::Promise).unwrap();
    let answers = [Compat::Spec, Compat::Browser].map(|compat| {
        let mut browser = Browser::with_blank_window(START, compat);
        browser.install(Extension::new("e".into(), &Manifest::default(), false));
        let caller = Caller { extension: "e".into(), context: Context::Worker };
        browser.apply(START, &caller, &command)
    });
    let [by_specification, by_browser] = answers;
    assert_eq!(json!(by_specification.unwrap())["index"], 0);
    let refusal = by_browser.unwrap_err().to_string();
    assert!(refusal.ends_with("Error at property 'index': Value must be at least 0."), "{refusal}");
}

#[test]
fn a_new_group_takes_the_highlight_from_each_tab_but_the_active_one() {
    let mut bench = Bench::new();
    let tabs = [1, 2, 3].map(|_| bench.open("about:blank"));
    bench.call("tabs.highlight", json!([{ "tabs": [0, 1, 2] }]));
    let (_, events) = bench.step("tabs.group", json!([{ "tabIds": [tabs[0], tabs[2]] }]));
    let left = events.iter().rfind(|(name, _)| name == "tabs.onHighlighted").unwrap();
    assert_eq!(left.1[0]["tabIds"], json!([bench.first, tabs[1]]));
}

#[test]
fn a_page_that_names_the_window_it_opens_comes_back_to_it() {
    let mut bench = Bench::new();
    let page = bench.open("http://a.test/a.html");
    let open = json!([page, "window.open(\"/b.html\", \"side\", \"width=300\")&&0"]);
    let (_, events) = bench.step("harness.gesture", open.clone());
    assert_eq!(events[0].0, "windows.onCreated");
    assert_eq!(events[0].1[0]["type"], "popup");
    let (_, events) = bench.step("harness.gesture", open);
    assert!(events.iter().all(|(name, _)| !name.ends_with("onCreated")), "{events:?}");
    let other = bench.open("http://b.test/b.html");
    let open = json!([other, "window.open(\"/b.html\", \"side\", \"width=300\")&&0"]);
    let (_, events) = bench.step("harness.gesture", open);
    assert_eq!(events[0].0, "windows.onCreated", "a name is known to the page's relatives alone");
}

/// The names of events with their first argument, where that is an id.
fn names(events: &[(String, Value)]) -> Vec<&str> {
    let told = events.iter().map(|(name, _)| name.as_str());
    told.filter(|name| !name.starts_with("windows.onFocus") && *name != "tabs.onZoomChange")
        .collect()
}

#[test]
fn going_to_the_same_address_is_an_entry_of_the_history_for_extensions_alone() {
    let mut bench = Bench::new();
    let url = "http://a.test/a.html";
    let tab = bench.open(url);
    bench.call("harness.gesture", json!([tab, "1"]));
    bench.call("tabs.update", json!([tab, { "url": url }]));
    bench.call("tabs.goBack", json!([tab]));
    assert!(bench.refused("tabs.goBack", json!([tab])).contains("history"));
    let other = bench.open(url);
    bench.call("harness.gesture", json!([other, "location.href=\"/a.html\";0"]));
    assert!(bench.refused("tabs.goBack", json!([other])).contains("history"));
}

#[test]
fn a_tab_that_is_made_inside_of_a_group_is_born_in_it() {
    let mut bench = Bench::new();
    let (first, second) = (bench.first, bench.open("about:blank"));
    let group = bench.call("tabs.group", json!([{ "tabIds": [first, second] }]));
    let made = json!([{ "url": "about:blank", "active": false, "index": 1 }]);
    let (reply, events) = bench.step("tabs.create", made);
    assert_eq!(reply["result"]["groupId"], group);
    assert!(events.iter().all(|(_, args)| args[1].get("groupId").is_none()));
}

#[test]
fn the_focus_of_a_minimized_window_goes_to_the_next_that_is_to_be_seen() {
    let mut bench = Bench::new();
    let made = bench.call("windows.create", json!([{ "url": "about:blank" }]));
    bench.call("windows.update", json!([made["id"], { "state": "minimized" }]));
    let last = bench.call("windows.getLastFocused", json!([]));
    assert_eq!((&last["id"], &last["focused"]), (&json!(bench.window), &json!(true)));
    bench.call("windows.update", json!([bench.window, { "state": "minimized" }]));
    let last = bench.call("windows.getLastFocused", json!([]));
    assert_eq!((&last["id"], &last["focused"]), (&json!(bench.window), &json!(false)));
    bench.call("windows.update", json!([made["id"], { "state": "normal" }]));
    let last = bench.call("windows.getLastFocused", json!([]));
    assert_eq!((&last["id"], &last["focused"]), (&made["id"], &json!(true)));
}

#[test]
fn a_window_that_closes_has_no_focus_to_pass_on_where_another_one_gave_it_up() {
    let mut bench = Bench::new();
    let behind = bench.call("windows.create", json!([{ "url": "about:blank" }]));
    let front = bench.call("windows.create", json!([{ "url": "about:blank" }]));
    bench.call("windows.update", json!([front["id"], { "focused": false }]));
    bench.call("windows.remove", json!([behind["id"]]));
    let is_focused = |window: &Value| window["focused"] == true;
    let all = bench.call("windows.getAll", json!([]));
    assert!(!all.as_array().unwrap().iter().any(is_focused), "{all}");
    bench.call("windows.remove", json!([front["id"]]));
    assert_eq!(bench.call("windows.get", json!([bench.window]))["focused"], true);
}

#[test]
fn the_focus_of_a_window_whose_last_tab_leaves_passes_by_the_window_that_is_made_of_it() {
    let mut bench = Bench::new();
    let former = bench.call("windows.create", json!([{ "url": "about:blank" }]));
    let front = bench.call("windows.create", json!([{ "url": "about:blank" }]));
    let of_tab = json!([{ "tabId": front["tabs"][0]["id"], "focused": false }]);
    let made = bench.call("windows.create", of_tab);
    assert_eq!(bench.call("windows.get", json!([former["id"]]))["focused"], true);
    bench.call("windows.remove", json!([former["id"]]));
    assert_eq!(bench.call("windows.get", json!([made["id"]]))["focused"], true);
}

#[test]
fn what_the_user_shows_next_makes_a_window_forget_its_openers_unless_it_belongs_to_what_was_shown()
{
    let mut bench = Bench::new();
    let (child, other) = (bench.open("about:blank"), bench.open("about:blank"));
    bench.call("tabs.update", json!([child, { "openerTabId": bench.first }]));
    let opener_after = |bench: &mut Bench, key: &str| {
        bench.call("harness.control", json!(["xdotool", "key", key]));
        bench.call("tabs.get", json!([child])).get("openerTabId").cloned()
    };
    let kept = Some(json!(bench.first));
    // Two without openers, a tab and its opener, and back.
    for key in ["ctrl+3", "ctrl+1", "ctrl+2", "ctrl+1"] {
        assert_eq!(opener_after(&mut bench, key), kept, "{key}");
    }
    bench.call("tabs.update", json!([other, { "active": true }]));
    assert_eq!(opener_after(&mut bench, "ctrl+2"), None);
}

#[test]
fn what_is_to_be_taken_out_of_frames_is_looked_at_after_the_frames() {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    let both = json!({ "tabId": tab, "frameIds": [0], "documentIds": ["x"] });
    let injection = json!([{ "target": both, "files": ["x"] }]);
    let removal = bench.refused("scripting.removeCSS", injection.clone());
    assert_eq!(removal, "Cannot specify both 'frameIds' and 'documentIds'.");
    assert!(bench.refused("scripting.insertCSS", injection).starts_with("Could not load file"));
}

#[test]
fn the_tab_of_a_popup_may_get_a_window_of_its_own() {
    let mut bench = Bench::new();
    let made = json!([{ "url": "about:blank", "type": "popup", "focused": false }]);
    let popup = bench.call("windows.create", made);
    let (reply, events) =
        bench.step("windows.create", json!([{ "tabId": popup["tabs"][0]["id"] }]));
    assert_eq!(reply["result"]["type"], "normal");
    assert_eq!(
        names(&events),
        [
            "windows.onCreated",
            "tabs.onDetached",
            "tabs.onAttached",
            "tabs.onActivated",
            "tabs.onHighlighted",
            "windows.onRemoved",
        ]
    );
}

#[test]
fn a_hidden_page_of_a_restored_window_loads_once_it_is_shown() {
    let mut bench = Bench::new();
    let urls = ["http://a.test/a.html", "http://a.test/de.html"];
    let made = bench.call("windows.create", json!([{ "url": urls }]));
    bench.call("windows.remove", json!([made["id"]]));
    let restored = bench.call("sessions.restore", json!([]));
    let tabs = &restored["window"]["tabs"];
    assert_eq!((&tabs[0]["status"], &tabs[1]["status"]), (&json!("loading"), &json!("unloaded")));
    let hidden = tabs[1]["id"].clone();
    assert_eq!(
        bench.refused("tabs.detectLanguage", json!([hidden])),
        "Cannot determine language: tab not loaded"
    );
    bench.call("tabs.update", json!([hidden, { "active": true }]));
    assert_eq!(bench.call("tabs.detectLanguage", json!([hidden])), "de");
}

#[test]
fn hidden_pages_of_a_restored_window_load_one_after_the_other() {
    let mut bench = Bench::new();
    let urls = ["http://a.test/a.html", "http://a.test/b.html", "http://a.test/c.html"];
    let made = bench.call("windows.create", json!([{ "url": urls }]));
    bench.call("windows.remove", json!([made["id"]]));
    let restored = bench.call("sessions.restore", json!([]));
    let tabs = restored["window"]["tabs"].as_array().unwrap().clone();
    let mut shown = Vec::new();
    for _ in 0..3 {
        let states = tabs.iter().map(|tab| bench.call("tabs.get", json!([tab["id"]])));
        let states: Vec<_> = states.map(|tab| tab["status"].as_str().unwrap().to_owned()).collect();
        shown.push(states);
        bench.wait(Duration::from_secs(4));
    }
    assert_eq!(
        shown,
        [
            ["complete", "unloaded", "unloaded"],
            ["complete", "complete", "unloaded"],
            ["complete", "complete", "complete"],
        ]
    );
}

#[test]
fn discard_takes_what_had_the_focus_longest_ago_active_or_not() {
    let mut bench = Bench::new();
    let hidden = bench.open("http://a.test/a.html");
    let other = bench.call("windows.create", json!([{ "url": "http://a.test/b.html" }]));
    let late = bench.open("http://a.test/c.html");
    let taken: Vec<_> = (0..5)
        .map(|_| bench.step("tabs.discard", json!([])))
        .map(|(reply, events)| {
            let replaced = events.iter().find(|(name, _)| name == "tabs.onReplaced");
            replaced.map_or(reply["error"]["message"].clone(), |(_, args)| args[1].clone())
        })
        .collect();
    let nothing = json!("Cannot find a tab to discard.");
    let active = other["tabs"][0]["id"].clone();
    assert_eq!(taken, [json!(hidden), json!(bench.first), json!(late), active, nothing]);
}

#[test]
fn a_window_goes_only_where_most_of_it_is_to_be_seen() {
    let mut bench = Bench::new();
    let sentence =
        "Invalid value for bounds. Bounds must be at least 50% within visible screen space.";
    for (place, is_refused) in [
        (json!({ "left": -2000 }), true),
        (json!({ "left": -400, "top": 0, "width": 800, "height": 700 }), false),
        (json!({ "left": -401, "top": 0, "width": 800, "height": 700 }), true),
        (json!({ "width": 5000 }), false),
        (json!({ "left": 0, "width": 2801 }), true),
    ] {
        let (made, _) = bench.step("windows.create", json!([place]));
        let refused = made["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(refused, if is_refused { sentence } else { "" }, "{place}");
    }
    let window = bench.window;
    assert_eq!(bench.refused("windows.update", json!([window, { "left": 901 }])), sentence);
    bench.call("windows.update", json!([window, { "left": 900 }]));
}

#[test]
fn ports_of_a_page_that_is_left_close_in_the_order_in_which_they_were_opened() {
    let mut bench = Bench::new();
    let page = bench.open("http://a.test/a.html");
    let opened: Vec<_> = (0..120).map(|number| format!("port {number}")).collect();
    for port in &opened {
        let call = json!({ "op": "tabs.connect", "args": [page], "port": port });
        bench.lab.call(bench.now, serde_json::from_value(call).unwrap());
    }
    let (_, events) = bench.step("tabs.update", json!([page, { "url": "http://b.test/a.html" }]));
    let ends = events.iter().filter(|(name, _)| name == "port.onDisconnect");
    assert_eq!(ends.map(|(_, args)| args[0].as_str().unwrap()).collect::<Vec<_>>(), opened);
}

const GESTURE: &str = "harness.act";

#[test]
fn what_the_user_did_on_a_page_counts_for_all_entries_of_its_document_and_ends_with_a_reload() {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    bench.call("tabs.update", json!([tab, { "url": "http://a.test/a.html#x" }]));
    bench.call(GESTURE, json!([tab, "0"]));
    bench.call("tabs.update", json!([tab, { "url": "http://b.test/d.html" }]));
    bench.call("tabs.goBack", json!([tab]));
    bench.call("tabs.goBack", json!([tab]));
    assert_eq!(bench.call("tabs.get", json!([tab]))["url"], "http://a.test/a.html");
    bench.call(GESTURE, json!([tab, "0"]));
    bench.call("tabs.reload", json!([tab]));
    bench.call("tabs.update", json!([tab, { "url": "http://b.test/e.html" }]));
    let refusal = bench.refused("tabs.goBack", json!([tab]));
    assert_eq!(refusal, "Cannot find a next page in history.");
}

#[test]
fn active_counts_where_selected_says_otherwise() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.create", json!([{ "url": "about:blank", "active": false }]));
    let (_, events) =
        bench.step("tabs.update", json!([tab["id"], { "active": false, "selected": true }]));
    assert_eq!(names(&events), Vec::<&str>::new());
}

#[test]
fn what_a_page_tells_or_asks_that_is_not_in_front_waits_for_nobody() {
    let mut bench = Bench::new();
    let tab =
        bench.call("tabs.create", json!([{ "url": "http://a.test/a.html", "active": false }]));
    let tab = tab["id"].as_i64().unwrap();
    let tells = "setTimeout(()=>{alert(1);document.title=\"after\"},60);0";
    let asks = "setTimeout(()=>{document.title=String(confirm(1))},60);0";
    for (code, title) in [(tells, "after"), (asks, "false")] {
        bench.call(GESTURE, json!([tab, code]));
        bench.wait(Duration::from_secs(1));
        assert_eq!(bench.call("tabs.get", json!([tab]))["title"], title);
    }
    bench.call("tabs.update", json!([tab, { "active": true }]));
    bench.call(GESTURE, json!([tab, tells]));
    bench.wait(Duration::from_secs(1));
    assert_eq!(bench.call("tabs.get", json!([tab]))["title"], "false");
}

#[test]
fn a_blank_page_on_its_way_comes_before_the_page_that_overtakes_it() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.create", json!([{ "url": "about:blank", "active": false }]));
    let discarded = bench.call("tabs.discard", json!([tab["id"]]))["id"].clone();
    let sent = json!({ "highlighted": true, "url": "http://a.test/notitle.html" });
    let (_, events) = bench.step("tabs.update", json!([discarded, sent]));
    let came: Vec<_> =
        events.iter().filter_map(|(_, args)| args[1]["url"].as_str().map(str::to_owned)).collect();
    assert_eq!(came, ["about:blank", "http://a.test/notitle.html"]);
}

#[test]
fn return_goes_to_the_address_again_until_the_page_has_the_keys() {
    let mut bench = Bench::new();
    let press = |bench: &mut Bench, key: &str| {
        names(&bench.step("harness.control", json!(["xdotool", "key", key])).1).len()
    };
    assert_eq!((press(&mut bench, "Return"), press(&mut bench, "Return")), (2, 0));
    bench.call("tabs.create", json!([{ "url": "about:blank" }]));
    assert_eq!((press(&mut bench, "Escape"), press(&mut bench, "Return")), (0, 0));
    bench.call("tabs.create", json!([{ "url": "http://a.test/a.html" }]));
    assert_eq!(press(&mut bench, "Return"), 0);
    bench.step("harness.control", json!(["xdotool", "key", "ctrl+t"]));
    assert_eq!(press(&mut bench, "Return"), 0);
}

#[test]
fn a_closed_tab_comes_back_to_a_window_behind_before_its_page() {
    let mut bench = Bench::new();
    let made = bench.call("windows.create", json!([{ "url": "about:blank", "focused": false }]));
    let tab = json!([{ "url": "about:blank", "windowId": made["id"], "active": false }]);
    let tab = bench.call("tabs.create", tab);
    bench.call("tabs.remove", json!([tab["id"]]));
    let (_, events) = bench.step("sessions.restore", json!([]));
    let created = events.iter().find(|(name, _)| name == "tabs.onCreated").unwrap();
    assert_eq!(created.1[0]["status"], "unloaded");
}

#[test]
fn pages_of_new_tabs_close_behind_the_others_of_a_call() {
    let mut bench = Bench::new();
    let first = bench.call("tabs.create", json!([{}]))["id"].clone();
    let second = bench.call("tabs.create", json!([{ "url": "about:blank" }]))["id"].clone();
    let (_, events) = bench.step("tabs.remove", json!([[first, second]]));
    let gone = events.iter().filter(|(name, _)| name == "tabs.onRemoved");
    assert_eq!(gone.map(|(_, args)| args[0].clone()).collect::<Vec<_>>(), [second, first]);
}

#[test]
fn a_tab_at_the_end_of_the_strip_leaves_its_group_by_keys_unless_it_is_alone_there() {
    for (others, groups) in [(1, -1), (0, 1)] {
        let mut bench = Bench::new();
        let mut tabs = vec![json!(bench.first)];
        for _ in 0..others {
            let tab = json!([{ "url": "about:blank", "active": false }]);
            tabs.push(bench.call("tabs.create", tab)["id"].clone());
        }
        bench.call("tabs.group", json!([{ "tabIds": tabs }]));
        bench.step("harness.control", json!(["xdotool", "key", "ctrl+shift+Page_Up"]));
        let group = bench.call("tabs.get", json!([bench.first]))["groupId"].as_i64().unwrap();
        assert_eq!(group.signum(), groups);
    }
}

#[test]
fn a_worker_opens_no_window_that_is_to_know_its_opener() {
    let mut bench = Bench::new();
    let made = json!([{ "url": "about:blank", "setSelfAsOpener": true }]);
    let refusal = bench.refused("windows.create", made);
    assert_eq!(refusal, "Cannot specify setSelfAsOpener Service Worker extension.");
}

#[test]
fn a_frozen_tab_that_goes_to_another_window_runs_again() {
    let mut bench = Bench::new();
    let tab = json!([{ "url": "about:blank", "active": false }]);
    let tab = bench.call("tabs.create", tab)["id"].as_i64().unwrap();
    let group = bench.call("tabs.group", json!([{ "tabIds": tab }]));
    bench.step("tabGroups.update", json!([group, { "collapsed": true }]));
    bench.wait(Duration::from_secs(10));
    assert_eq!(bench.call("tabs.get", json!([tab]))["frozen"], true);
    let made = bench.call("windows.create", json!([{ "url": "about:blank", "focused": false }]));
    let (_, events) =
        bench.step("tabs.move", json!([tab, { "windowId": made["id"], "index": -1 }]));
    assert_eq!(frozen(&events), [(tab, false)]);
}
