//! The strip: where tabs stand, what is highlighted, active or discarded, and who has an opener.

use serde_json::{Value, json};
use tabs_api::browser::{Browser, Compat};
use tabs_api::extension::manifest::Manifest;
use tabs_api::extension::permission::Extension;
use tabs_api::js_value::JsValue;
use tabs_api::operation::{Caller, Command, Context, Style};

use crate::bench::{Bench, START, names};

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
fn active_counts_where_selected_says_otherwise() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.create", json!([{ "url": "about:blank", "active": false }]));
    let (_, events) =
        bench.step("tabs.update", json!([tab["id"], { "active": false, "selected": true }]));
    assert_eq!(names(&events), Vec::<&str>::new());
}

/// The tab that each window shows.
fn active(bench: &mut Bench) -> Vec<Value> {
    let tabs = bench.call("tabs.query", json!([{ "active": true }]));
    tabs.as_array().unwrap().iter().map(|tab| tab["id"].clone()).collect()
}

#[test]
fn what_a_tab_opened_counts_as_its_sibling_once_it_goes() {
    for leaves in ["tabs.remove", "tabs.move", "windows.create"] {
        let mut bench = Bench::new();
        let parent = bench.open("about:blank");
        bench.call("tabs.update", json!([parent, { "openerTabId": bench.first }]));
        let child = json!([{ "url": "about:blank", "active": false, "openerTabId": parent }]);
        let child = bench.call("tabs.create", child)["id"].clone();
        let other = bench.call("windows.create", json!([{ "url": "about:blank" }]));
        bench.call("tabs.update", json!([parent, { "active": true }]));
        let args = match leaves {
            "tabs.remove" => json!([parent]),
            "tabs.move" => json!([parent, { "windowId": other["id"], "index": -1 }]),
            _ => json!([{ "tabId": parent }]),
        };
        bench.call(leaves, args);
        assert_eq!(active(&mut bench)[0], child, "{leaves}");
    }
}

#[test]
fn an_active_tab_that_an_extension_unhighlights_hands_over_to_the_one_made_first_discarded_or_not()
{
    let mut bench = Bench::new();
    let last = [bench.open("about:blank"), bench.open("about:blank")][1];
    let first = bench.call("tabs.discard", json!([bench.first]))["id"].clone();
    bench.call("tabs.highlight", json!([{ "tabs": [2, 0, 1] }]));
    bench.call("tabs.update", json!([last, { "highlighted": false }]));
    assert_eq!(active(&mut bench), [first]);
}

#[test]
fn while_the_user_drags_a_tab_each_call_is_refused_in_the_order_of_the_browser() {
    let mut bench = Bench::new();
    let (window, first) = (bench.window, bench.first);
    let place = json!({ "left": 10, "top": 10, "width": 1000, "height": 700 });
    bench.call("windows.update", json!([window, place]));
    let pages = ["http://a.test/a.html", "http://a.test/b.html"];
    let [held, last] = pages.map(|url| bench.call("tabs.create", json!([{ "url": url }])));
    let (held, last) = (&held["id"], &last["id"]);
    let group = bench.call("tabs.group", json!([{ "tabIds": [first] }]));
    bench.call("harness.control", json!(["xdotool", "mousemove", 500, 30, "mousedown", 1]));
    for left in [516, 546, 566] {
        bench.call("harness.control", json!(["xdotool", "mousemove", left, 31]));
    }
    let drags = "Tabs cannot be edited right now (user may be dragging a tab).";
    let (no_tab, no_window) = ("No tab with id: 2000000001.", "No window with id: 2000000001.");
    let (no_group, nobody) = ("No group with id: 99.", 2_000_000_001_i64);
    let let_through = "";
    for (op, args, sentence) in [
        ("tabs.update", json!([held, { "pinned": false }]), let_through),
        ("tabs.update", json!([held, { "pinned": true }]), drags),
        ("tabs.update", json!([first, { "highlighted": false }]), let_through),
        ("tabs.update", json!([first, { "highlighted": true }]), drags),
        ("tabs.update", json!([held, { "highlighted": true }]), let_through),
        ("tabs.update", json!([first, { "active": false }]), let_through),
        ("tabs.update", json!([first, { "active": true }]), drags),
        ("tabs.update", json!([held, { "active": true }]), drags),
        ("tabs.update", json!([nobody, { "active": true }]), no_tab),
        ("tabs.update", json!([{ "autoDiscardable": true }]), drags),
        ("tabs.update", json!([first, { "autoDiscardable": true }]), let_through),
        ("tabs.update", json!([first, { "url": "http://a.test/c.html" }]), let_through),
        ("tabs.detectLanguage", json!([held]), let_through),
        ("tabs.detectLanguage", json!([]), drags),
        ("tabs.captureVisibleTab", json!([]), drags),
        ("tabs.captureVisibleTab", json!([nobody]), no_window),
        ("tabs.move", json!([last, { "index": 0 }]), drags),
        ("tabs.move", json!([nobody, { "index": 0 }]), no_tab),
        ("tabs.move", json!([first, { "index": 0, "windowId": nobody }]), drags),
        ("tabs.group", json!([{ "tabIds": [first], "groupId": group }]), drags),
        ("tabs.group", json!([{ "tabIds": [nobody] }]), drags),
        ("tabs.group", json!([{ "tabIds": [first], "groupId": 99 }]), no_group),
        ("tabs.ungroup", json!([first]), drags),
        ("tabs.ungroup", json!([last]), drags),
        ("tabs.ungroup", json!([nobody]), no_tab),
        ("tabs.highlight", json!([{ "tabs": [99] }]), drags),
        ("tabs.highlight", json!([{ "tabs": [0], "windowId": nobody }]), no_window),
        ("tabs.duplicate", json!([first]), drags),
        ("tabs.duplicate", json!([nobody]), no_tab),
        ("tabs.getZoom", json!([]), let_through),
        ("tabGroups.update", json!([group, { "title": "x" }]), drags),
        ("tabGroups.update", json!([group, { "collapsed": false }]), drags),
        ("tabGroups.update", json!([group, { "collapsed": true }]), drags),
        ("tabGroups.update", json!([99, { "title": "x" }]), no_group),
        ("tabGroups.move", json!([group, { "index": 0 }]), drags),
        ("tabGroups.move", json!([99, { "index": 0 }]), no_group),
        ("windows.create", json!([{ "tabId": first }]), drags),
        ("windows.create", json!([{ "tabId": nobody }]), no_tab),
        ("windows.update", json!([window, { "drawAttention": true }]), let_through),
        ("windows.remove", json!([window]), drags),
        ("windows.remove", json!([nobody]), no_window),
    ] {
        assert_eq!(bench.refused(op, args.clone()), sentence, "{op} {args}");
    }
    bench.call("harness.control", json!(["xdotool", "mouseup", 1]));
    bench.call("tabs.move", json!([last, { "index": 0 }]));
}

#[test]
fn a_new_tab_closes_behind_the_others_of_a_call_only_while_its_page_is_on_the_screen() {
    for (is_active, first) in [(true, 1), (false, 0)] {
        let mut bench = Bench::new();
        let new = bench.call("tabs.create", json!([{ "active": is_active }]))["id"].clone();
        let page = json!([{ "url": "http://a.test/a.html", "active": false }]);
        let ids = [new, bench.call("tabs.create", page)["id"].clone()];
        let (_, events) = bench.step("tabs.remove", json!([ids]));
        assert_eq!(events[0].1[0], ids[first], "{is_active}");
    }
}

#[test]
fn a_range_that_is_extended_to_what_it_is_tells_nothing() {
    let mut bench = Bench::new();
    for _ in 0..2 {
        bench.call("tabs.create", json!([{ "url": "about:blank", "active": false }]));
    }
    let extend =
        json!(["xdotool", "mousemove", 600, 30, "keydown", "shift", "click", 1, "keyup", "shift"]);
    let (_, events) = bench.step("harness.control", extend.clone());
    assert_eq!(names(&events).last(), Some(&"tabs.onHighlighted"));
    let (_, events) = bench.step("harness.control", extend);
    assert_eq!(names(&events), [""; 0]);
}
