//! Frozen tabs: which tabs freeze, when, and what thaws them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::Bench;

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
