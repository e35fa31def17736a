//! Tabs and windows that come back, and the pages that they load once they are shown.

use std::time::Duration;

use serde_json::json;

use crate::bench::Bench;

#[test]
fn the_language_of_a_discarded_tab_waits_for_its_page() {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    let tab = bench.call("tabs.discard", json!([tab]))["id"].clone();
    let (reply, _) = bench.step("tabs.detectLanguage", json!([tab]));
    assert_eq!(reply["error"]["kind"], "pending");
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
fn a_closed_tab_is_listed_as_one_that_is_not_active_and_a_closed_popup_as_a_normal_window() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.create", json!([{ "url": "http://a.test/a.html" }]));
    bench.call("tabs.remove", json!([tab["id"]]));
    let popup = json!([{ "url": "http://a.test/b.html", "type": "popup" }]);
    let popup = bench.call("windows.create", popup);
    bench.call("windows.remove", json!([popup["id"]]));
    let closed = bench.call("sessions.getRecentlyClosed", json!([]));
    assert_eq!(closed[0]["window"]["type"], "normal");
    assert_eq!(closed[0]["window"]["tabs"][0]["active"], true);
    assert_eq!(closed[1]["tab"]["active"], false);
}

#[test]
fn what_was_closed_comes_back_by_its_session() {
    let mut bench = Bench::new();
    let url = json!(["http://a.test/a.html", "http://b.test/b.html"]);
    let window = bench.call("windows.create", json!([{ "url": url }]));
    bench.call("windows.remove", json!([window["id"]]));
    let closed = bench.call("sessions.getRecentlyClosed", json!([]));
    let tabs = &closed[0]["window"]["tabs"];
    assert!(tabs[1].get("id").is_none());
    let session = tabs[1]["sessionId"].clone();
    let back = bench.call("sessions.restore", json!([session]));
    assert!(back["tab"]["id"].is_number());
    let refused = bench.refused("sessions.restore", json!([session]));
    assert_eq!(refused, format!("Invalid session id: {session}."));
    let back = bench.call("sessions.restore", json!([]));
    assert_eq!(back["window"]["tabs"].as_array().unwrap().len(), 1);
    assert_eq!(bench.call("sessions.getDevices", json!([])), json!([]));
}

#[test]
fn a_tab_to_which_no_page_came_is_not_remembered() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.create", json!([{ "url": "http://a.test/204" }]));
    bench.call("tabs.remove", json!([tab["id"]]));
    assert_eq!(bench.call("sessions.getRecentlyClosed", json!([])), json!([]));
}
