//! Windows: their states, places, focus and names.

use serde_json::{Value, json};

use crate::bench::{Bench, names};

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
        (json!({ "width": 0, "height": 0 }), true),
        (json!({ "left": -1, "top": 10, "width": 1, "height": 1 }), true),
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
fn a_worker_opens_no_window_that_is_to_know_its_opener() {
    let mut bench = Bench::new();
    let made = json!([{ "url": "about:blank", "setSelfAsOpener": true }]);
    let refusal = bench.refused("windows.create", made);
    assert_eq!(refusal, "Cannot specify setSelfAsOpener Service Worker extension.");
}

#[test]
fn a_window_that_is_made_of_a_tab_and_pages_shows_the_pages_before_it() {
    let mut bench = Bench::new();
    let tab = bench.open("about:blank");
    let made = json!([{ "tabId": tab, "url": ["http://a.test/a.html", "about:blank"] }]);
    let made = bench.call("windows.create", made);
    let tabs = made["tabs"].as_array().unwrap();
    assert_eq!(tabs.len(), 3);
    assert_eq!((&tabs[0]["active"], &tabs[2]["id"]), (&json!(true), &json!(tab)));
    // A popup with a page takes no tab.
    let popup = json!([{ "tabId": tab, "url": "http://a.test/a.html", "type": "popup" }]);
    let popup = bench.call("windows.create", popup);
    assert_eq!(popup["tabs"].as_array().map(Vec::len), Some(1));
    assert_eq!(bench.call("tabs.get", json!([tab]))["windowId"], made["id"]);
}

#[test]
fn what_a_new_window_may_not_be_is_refused_in_the_order_of_the_browser() {
    let mut bench = Bench::new();
    let state = "Invalid value for state";
    for (data, sentence) in [
        (
            json!({ "url": "http://", "state": "minimized", "focused": true }),
            "Invalid url: \"http://\".",
        ),
        (json!({ "tabId": 1, "state": "minimized", "focused": true }), state),
        (json!({ "tabId": 1, "state": "locked-fullscreen" }), "No tab with id: 1."),
        (json!({ "state": "locked-fullscreen", "focused": false }), state),
    ] {
        assert_eq!(bench.refused("windows.create", json!([data])), sentence, "{data}");
    }
    let locked = bench.refused("windows.create", json!([{ "state": "locked-fullscreen" }]));
    assert!(locked.starts_with("Cannot lock window to fullscreen"), "{locked}");
}

#[test]
fn an_incognito_tab_is_sent_to_no_page_of_the_user_however_its_address_is_written() {
    let mut bench = Bench::new();
    bench.lab.reset(bench.now, "spanning");
    let made = json!([{ "url": "http://a.test/a.html", "incognito": true }]);
    let tab = bench.call("windows.create", made)["tabs"][0]["id"].clone();
    for url in ["chrome://settings", "chrome:settings", "chrome:///Settings", "CHROME:/settings/x"]
    {
        let refusal = bench.refused("tabs.update", json!([tab, { "url": url }]));
        assert_eq!(refusal, format!("Cannot open URL \"{url}\" in an incognito window."));
    }
}

#[test]
fn a_minimized_window_that_is_to_fill_the_screen_has_the_focus_and_stays_minimized() {
    let mut bench = Bench::new();
    let window = bench.call("windows.create", json!([{ "url": "about:blank" }]))["id"].clone();
    let mut update = |state: &str| {
        let was = bench.call("windows.update", json!([window, { "state": state }]));
        let is = bench.call("windows.get", json!([window]));
        [was["state"].clone(), is["state"].clone(), is["focused"].clone()]
    };
    assert_eq!(update("minimized"), [json!("normal"), json!("minimized"), json!(false)]);
    assert_eq!(update("fullscreen"), [json!("minimized"), json!("minimized"), json!(true)]);
    assert_eq!(update("maximized"), [json!("minimized"), json!("maximized"), json!(true)]);
    assert_eq!(update("fullscreen"), [json!("fullscreen"), json!("fullscreen"), json!(true)]);
    assert_eq!(update("normal"), [json!("maximized"), json!("maximized"), json!(true)]);
}

#[test]
fn a_window_comes_back_as_its_last_tab_only_where_that_closed_it() {
    let mut bench = Bench::new();
    for (op, comes_back) in [("windows.remove", "window"), ("tabs.remove", "tab")] {
        let made = bench.call("windows.create", json!([{ "url": "http://a.test/a.html" }]));
        let closed = if op == "tabs.remove" { &made["tabs"][0]["id"] } else { &made["id"] };
        bench.call(op, json!([closed]));
        let restored = bench.call("sessions.restore", json!([]));
        assert!(restored.get(comes_back).is_some(), "{op}: {restored}");
    }
}

#[test]
fn a_window_whose_tabs_were_all_in_groups_comes_back_untold() {
    let mut bench = Bench::new();
    let made = bench.call("windows.create", json!([{ "url": "http://a.test/a.html" }]));
    bench.call("tabs.group", json!([{ "tabIds": made["tabs"][0]["id"] }]));
    bench.call("windows.remove", json!([made["id"]]));
    assert_eq!(bench.refused("sessions.restore", json!([])), "No active tab.");
    assert_eq!(bench.call("tabGroups.query", json!([{}])).as_array().map(Vec::len), Some(1));
}

#[test]
fn a_window_behind_comes_to_the_front_as_it_is_restored_or_fills_the_screen() {
    let mut bench = Bench::new();
    let first = bench.window;
    for (data, is_in_front) in [
        (json!({ "state": "maximized" }), false),
        (json!({ "state": "normal", "focused": false }), false),
        (json!({ "state": "normal" }), true),
        (json!({ "state": "fullscreen" }), true),
    ] {
        bench.call("windows.create", json!([{ "url": "about:blank" }]));
        bench.call("windows.update", json!([first, data]));
        assert_eq!(bench.call("windows.get", json!([first]))["focused"], is_in_front, "{data}");
    }
}

#[test]
fn a_press_beside_all_windows_takes_the_focus_and_keys_go_nowhere_then() {
    let mut bench = Bench::new();
    bench.step("harness.control", json!(["xdotool", "mousemove", 1200, 900, "mousedown", 1]));
    bench.step("harness.control", json!(["xdotool", "mouseup", 1]));
    assert_eq!(bench.call("windows.get", json!([bench.window]))["focused"], false);
    let (_, events) = bench.step("harness.control", json!(["xdotool", "key", "ctrl+t"]));
    assert_eq!(names(&events), [""; 0]);
}

#[test]
fn windows_that_close_are_told_before_a_page_that_is_asked() {
    let mut bench = Bench::new();
    let behind = bench.call("windows.create", json!([{ "url": "about:blank", "focused": false }]));
    let front = bench.call("windows.create", json!([]));
    let ids = json!([[front["tabs"][0]["id"], behind["tabs"][0]["id"]]]);
    let (_, events) = bench.step("tabs.remove", ids);
    let closed: Vec<_> = events
        .iter()
        .filter(|(name, _)| name.ends_with("onRemoved"))
        .map(|(_, it)| &it[0])
        .collect();
    assert_eq!(
        closed,
        [&behind["tabs"][0]["id"], &behind["id"], &front["tabs"][0]["id"], &front["id"]]
    );
}
