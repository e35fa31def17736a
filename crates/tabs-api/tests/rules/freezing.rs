//! Frozen tabs: which tabs freeze, when, and what thaws them; pages that do nothing, for that or for an alert.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::{Bench, names};

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
fn a_tab_that_joins_a_collapsed_group_freezes_once_that_collapses_again() {
    let mut bench = Bench::new();
    let (member, joins) = (bench.open("http://a.test/a.html"), bench.open("http://b.test/b.html"));
    let group = bench.call("tabs.group", json!([{ "tabIds": member }]));
    bench.wait(Duration::from_secs(10));
    bench.step("tabGroups.update", json!([group, { "collapsed": true }]));
    bench.call("tabs.group", json!([{ "groupId": group, "tabIds": joins }]));
    bench.call("tabs.reload", json!([joins]));
    let inside = json!([{ "index": 2, "url": "about:blank", "active": false }]);
    let made = bench.call("tabs.create", inside);
    assert_eq!(made["groupId"], group);
    bench.wait(Duration::from_secs(10));
    let (_, events) = bench.step("tabs.query", json!([{}]));
    assert_eq!(frozen(&events), []);
    bench.step("tabGroups.update", json!([group, { "collapsed": false }]));
    let (_, events) = bench.step("tabGroups.update", json!([group, { "collapsed": true }]));
    let made = made["id"].as_i64().unwrap();
    assert_eq!(frozen(&events), [(member, true), (made, true), (joins, true)]);
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

#[test]
fn a_frozen_tab_that_is_discarded_is_told_of_as_one_that_runs_again() {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    let group = bench.call("tabs.group", json!([{ "tabIds": tab }]));
    bench.wait(Duration::from_secs(10));
    bench.step("tabGroups.update", json!([group, { "collapsed": true }]));
    let (reply, events) = bench.step("tabs.discard", json!([tab]));
    let discarded = reply["result"]["id"].as_i64().unwrap();
    assert_eq!(frozen(&events), [(discarded, false)]);
}

/// A frozen tab of a page in which a content script listens, and its group.
fn freeze_listening(bench: &mut Bench) -> (i64, Value) {
    let tab = bench.open("http://cs.test/a.html");
    let group = bench.call("tabs.group", json!([{ "tabIds": tab }]));
    bench.wait(Duration::from_secs(10));
    bench.step("tabGroups.update", json!([group, { "collapsed": true }]));
    assert_eq!(bench.call("tabs.get", json!([tab]))["frozen"], true);
    (tab, group)
}

/// The outcomes of two calls at once.
fn both(bench: &mut Bench, calls: [(&str, Value); 2]) -> Value {
    let calls = calls.map(|(op, args)| json!({ "op": op, "args": args }));
    bench.call("harness.parallel", json!([calls]))
}

#[test]
fn a_frozen_page_hears_of_a_port_once_it_runs_again_and_before_its_tab_shows_that() {
    let mut bench = Bench::new();
    let (tab, group) = freeze_listening(&mut bench);
    let (_, events) = bench.step("tabs.connect", json!([tab, { "name": "p" }]));
    assert_eq!(names(&events), [""; 0]);
    let (_, events) = bench.step("tabGroups.update", json!([group, { "collapsed": false }]));
    assert_eq!(names(&events), ["tabGroups.onUpdated", "port.onMessage", "tabs.onUpdated"]);
}

#[test]
fn a_message_to_a_frozen_page_is_answered_once_it_runs_again() {
    let mut bench = Bench::new();
    let (tab, group) = freeze_listening(&mut bench);
    let (reply, _) = bench.step("tabs.sendMessage", json!([tab, { "cmd": "echo" }]));
    assert_eq!(reply["error"]["kind"], "pending", "{reply}");
    let message = ("tabs.sendMessage", json!([tab, { "cmd": "echo" }]));
    let expands = ("tabGroups.update", json!([group, { "collapsed": false }]));
    let answers = both(&mut bench, [message, expands]);
    assert_eq!(answers[0]["result"]["echo"]["cmd"], "echo", "{answers}");
}

#[test]
fn a_message_to_a_frozen_page_that_closes_was_heard_by_nobody() {
    let mut bench = Bench::new();
    let (tab, _) = freeze_listening(&mut bench);
    let message = ("tabs.sendMessage", json!([tab, { "cmd": "echo" }]));
    let answers = both(&mut bench, [message, ("tabs.remove", json!([tab]))]);
    let text = "Could not establish connection. Receiving end does not exist.";
    assert_eq!(answers[0]["error"]["message"], text, "{answers}");
}

#[test]
fn a_script_waits_for_a_frozen_page_to_run_or_to_go() {
    let mut bench = Bench::new();
    let (tab, group) = freeze_listening(&mut bench);
    let script = || {
        (
            "scripting.executeScript",
            json!([{ "target": { "tabId": tab }, "files": ["content.js"] }]),
        )
    };
    let (reply, _) = bench.step(script().0, script().1);
    assert_eq!(reply["error"]["kind"], "pending", "{reply}");
    let expands = ("tabGroups.update", json!([group, { "collapsed": false }]));
    let answers = both(&mut bench, [script(), expands]);
    assert_eq!(answers[0]["result"][0]["frameId"], 0, "{answers}");
    let (tab, _) = freeze_listening(&mut bench);
    let script = json!([{ "target": { "tabId": tab }, "files": ["content.js"] }]);
    let closes = ("tabs.remove", json!([tab]));
    let answers = both(&mut bench, [("scripting.executeScript", script), closes]);
    assert_eq!(answers[0]["error"]["message"], "Frame with ID 0 was removed.", "{answers}");
}

#[test]
fn a_navigation_within_the_document_leaves_a_page_frozen() {
    let mut bench = Bench::new();
    let (tab, _) = freeze_listening(&mut bench);
    let (_, events) = bench.step("tabs.update", json!([tab, { "url": "http://cs.test/a.html#x" }]));
    assert_eq!((names(&events), frozen(&events)), (vec!["tabs.onUpdated"; 2], vec![]));
    let (_, events) = bench.step("tabs.reload", json!([tab]));
    assert_eq!(frozen(&events), [(tab, false)]);
}

#[test]
fn behind_an_alert_a_style_sheet_waits_too_and_a_port_is_never_opened() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.create", json!([{ "url": "http://cs.test/a.html" }]));
    let tab = tab["id"].as_i64().unwrap();
    bench.step("harness.gesture", json!([tab, "setTimeout(()=>{alert(1)},0)&&0"]));
    let style_sheet = json!([{ "target": { "tabId": tab }, "css": "p{}" }]);
    let (reply, _) = bench.step("scripting.insertCSS", style_sheet);
    assert_eq!(reply["error"]["kind"], "pending", "{reply}");
    bench.step("tabs.connect", json!([tab, { "name": "p" }]));
    let (_, events) = bench.step("tabs.remove", json!([tab]));
    let (name, args) = &events[0];
    let text = "Could not establish connection. Receiving end does not exist.";
    assert_eq!((name.as_str(), args[1].as_str()), ("port.onDisconnect", Some(text)));
}
