//! Pages that do something as they are left, and the tabs, calls and windows that wait for that.

use serde_json::{Value, json};

use crate::bench::{Bench, GESTURE, names};

/// A tab behind with a page that listens for being left.
fn listening(bench: &mut Bench, url: &str) -> i64 {
    let tab = bench.open(url);
    bench.call(GESTURE, json!([tab, "addEventListener('pagehide',()=>{})"]));
    tab
}

/// A window with a tab for each of these addresses.
fn window(bench: &mut Bench, urls: [&str; 2]) -> (i64, [i64; 2]) {
    let made = bench.call("windows.create", json!([{ "url": urls }]));
    let window = made["id"].as_i64().unwrap();
    let tabs = bench.call("tabs.query", json!([{ "windowId": window }]));
    (window, [0, 1].map(|at: usize| tabs[at]["id"].as_i64().unwrap()))
}

fn removed(events: &[(String, Value)]) -> Vec<(i64, bool)> {
    let removed = events.iter().filter(|(name, _)| name == "tabs.onRemoved");
    let read = |(_, args): &(String, Value)| {
        (args[0].as_i64().unwrap(), args[1]["isWindowClosing"] == true)
    };
    removed.map(read).collect()
}

fn parallel(bench: &mut Bench, calls: &[(&str, Value)]) -> (Value, Vec<(String, Value)>) {
    let calls: Vec<_> = calls.iter().map(|(op, args)| json!({ "op": op, "args": args })).collect();
    let (reply, events) = bench.step("harness.parallel", json!([calls]));
    (reply["result"].clone(), events)
}

#[test]
fn a_tab_that_waits_for_its_page_is_there_until_that_is_done_and_closes_once() {
    let mut bench = Bench::new();
    let tab = listening(&mut bench, "http://a.test/a.html");
    let calls = [
        ("tabs.remove", json!([tab])),
        ("tabs.update", json!([tab, { "pinned": true }])),
        ("tabs.remove", json!([tab])),
    ];
    let (replies, events) = parallel(&mut bench, &calls);
    assert_eq!([&replies[0], &replies[2]], [&json!({ "result": null, "undef": true }); 2]);
    assert_eq!(replies[1]["result"]["pinned"], true);
    assert_eq!(removed(&events), [(tab, false)]);
    assert_eq!(bench.refused("tabs.remove", json!([tab])), format!("No tab with id: {tab}."));
}

#[test]
fn a_call_is_answered_where_its_tab_is_discarded_before_its_page_is_done() {
    let mut bench = Bench::new();
    let tab = listening(&mut bench, "http://a.test/a.html");
    let calls = [("tabs.remove", json!([tab])), ("tabs.discard", json!([tab]))];
    let (replies, events) = parallel(&mut bench, &calls);
    assert_eq!(replies[0], json!({ "result": null, "undef": true }));
    assert_eq!(replies[1]["result"]["discarded"], true);
    assert_eq!(removed(&events), []);
}

#[test]
fn a_tab_that_leaves_a_closing_window_before_its_page_is_done_closes_where_it_is() {
    let mut bench = Bench::new();
    let (window, [first, other]) =
        window(&mut bench, ["http://a.test/a.html", "http://b.test/b.html"]);
    bench.call(GESTURE, json!([first, "window.onunload=()=>{}"]));
    let here = bench.window;
    let calls = [
        ("windows.remove", json!([window])),
        ("tabs.move", json!([first, { "windowId": here, "index": 0 }])),
    ];
    let (_, events) = parallel(&mut bench, &calls);
    assert_eq!(removed(&events), [(first, false), (other, true)]);
    assert!(names(&events).contains(&"windows.onRemoved"));
}

#[test]
fn of_tabs_that_the_user_closes_together_those_whose_pages_do_something_close_last() {
    let mut bench = Bench::new();
    let late = listening(&mut bench, "http://a.test/a.html");
    let [one, other] = ["http://b.test/b.html", "http://cs.test/a.html"].map(|url| bench.open(url));
    bench.call("tabs.highlight", json!([{ "tabs": [1, 2, 3] }]));
    let (_, events) = bench.step("harness.control", json!(["xdotool", "key", "ctrl+w"]));
    assert_eq!(removed(&events), [(other, false), (one, false), (late, false)]);
}

#[test]
fn the_process_of_a_page_that_does_something_outlives_the_tabs_of_all_that_run_in_it() {
    let mut bench = Bench::new();
    let page =
        bench.call("tabs.create", json!([{ "url": "http://a.test/a.html", "pinned": true }]));
    let copy = bench.call("tabs.duplicate", json!([page["id"]]));
    let window = bench.window;
    let other = bench.call("windows.create", json!([{ "url": "about:blank" }]));
    bench.call("windows.update", json!([other["id"], { "focused": true }]));
    bench.call(GESTURE, json!([copy["id"], "addEventListener('unload',()=>{})"]));
    let (_, events) = bench.step("windows.remove", json!([window]));
    let states = events.iter().filter(|(name, _)| name == "tabs.onUpdated");
    let states: Vec<_> = states.map(|(_, args)| args[2]["status"].clone()).collect();
    assert_eq!(states, ["complete", "complete"]);
}

#[test]
fn what_a_page_listens_for_ends_with_its_document() {
    let mut bench = Bench::new();
    let gone = listening(&mut bench, "http://a.test/a.html");
    let other = bench.open("http://b.test/b.html");
    bench.call("tabs.update", json!([gone, { "url": "http://a.test/b.html" }]));
    let (_, events) = bench.step("tabs.remove", json!([[gone, other]]));
    assert_eq!(removed(&events), [(gone, false), (other, false)]);
}
