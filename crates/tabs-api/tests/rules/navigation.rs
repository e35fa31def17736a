//! Ways to an address: the history that each leaves.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::{Bench, GESTURE, names};

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
fn a_tab_that_is_made_for_an_address_that_is_too_long_stays_empty_and_an_older_one_where_it_is() {
    let mut bench = Bench::new();
    let url = format!("http://a.test/{}", "a".repeat(2 * 1024 * 1024));
    let old = bench.open("http://a.test/a.html");
    let refusal = bench.refused("tabs.update", json!([old, { "url": url }]));
    assert_eq!(refusal, "Navigation rejected.");
    let (reply, events) = bench.step("tabs.create", json!([{ "url": url }]));
    assert_eq!(names(&events), ["tabs.onCreated", "tabs.onActivated", "tabs.onHighlighted"]);
    let window = bench.call("windows.create", json!([{ "url": [url] }]));
    for tab in [&reply["result"], &window["tabs"][0]] {
        assert_eq!((&tab["url"], &tab["title"]), (&json!(""), &json!("")), "{tab}");
        assert_eq!((&tab["status"], tab.get("pendingUrl")), (&json!("complete"), None), "{tab}");
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

/// Calls, and lets nothing settle: the clock stays where it is.
fn call_at_once(bench: &mut Bench, op: &str, args: &Value) -> Value {
    let call = serde_json::from_value(json!({ "op": op, "args": args })).unwrap();
    bench.lab.call(bench.now, call)
}

#[test]
fn the_same_navigation_by_a_call_again_within_three_seconds_is_refused_and_the_first_goes_on_unseen()
 {
    let mut bench = Bench::new();
    let tab = bench.open("http://a.test/a.html");
    bench.wait(Duration::from_secs(60));
    let update = json!([tab, { "url": "http://a.test/hang.html", "muted": true }]);
    let begun = call_at_once(&mut bench, "tabs.update", &update);
    assert_eq!(begun["result"]["pendingUrl"], "http://a.test/hang.html", "{begun}");
    call_at_once(&mut bench, "tabs.update", &json!([tab, { "muted": false }]));
    bench.wait(Duration::from_millis(2400));
    let again = call_at_once(&mut bench, "tabs.update", &update);
    assert_eq!(again["error"]["message"], "Navigation rejected.", "{again}");
    let state = call_at_once(&mut bench, "tabs.get", &json!([tab]))["result"].clone();
    assert_eq!((&state["status"], state.get("pendingUrl")), (&json!("loading"), None), "{state}");
    assert_eq!(state["mutedInfo"]["muted"], true, "{state}");
    bench.wait(Duration::from_millis(900));
    let later = call_at_once(&mut bench, "tabs.update", &update);
    assert_eq!(later["result"]["pendingUrl"], "http://a.test/hang.html", "{later}");
}

#[test]
fn a_navigation_is_not_the_same_where_another_came_between_or_the_tab_has_no_page() {
    let mut bench = Bench::new();
    let hangs = |tab: i64| json!([tab, { "url": "http://a.test/hang.html" }]);
    for between in ["http://b.test/hang.html", "http://a.test/hang.html#x"] {
        let tab = bench.open("http://a.test/a.html");
        bench.wait(Duration::from_secs(60));
        for given in [hangs(tab), json!([tab, { "url": between }]), hangs(tab)] {
            let reply = call_at_once(&mut bench, "tabs.update", &given);
            assert!(reply.get("error").is_none(), "{given}: {reply}");
        }
    }
    let given = json!([{ "url": "http://a.test/hang.html" }]);
    let empty = call_at_once(&mut bench, "tabs.create", &given);
    let empty = empty["result"]["id"].as_i64().unwrap();
    for _ in 0..2 {
        let reply = call_at_once(&mut bench, "tabs.update", &hangs(empty));
        assert!(reply.get("error").is_none(), "{reply}");
    }
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
fn a_tab_that_is_made_for_an_order_stays_empty() {
    for url in ["chrome://gpuclean", "chrome:GPUclean", "about:gpuclean", "view-source:chrome:kill"]
    {
        let mut bench = Bench::new();
        let tab = json!([bench.open(url)]);
        let shown = bench.call("tabs.get", tab);
        assert_eq!((&shown["url"], &shown["title"]), (&json!(""), &json!("")), "{url}");
        assert_eq!(shown["status"], "complete", "{url}");
        assert_eq!(shown.get("pendingUrl"), None, "{url}");
        let args = json!([bench.first, { "url": url }]);
        assert_eq!(bench.refused("tabs.update", args), "Navigation rejected.", "{url}");
    }
}

/// True if a step told that a page froze, as one that was kept and comes back does.
fn comes_back_kept(bench: &mut Bench, op: &str, tab: i64) -> bool {
    let (reply, events) = bench.step(op, json!([tab]));
    assert!(reply.get("error").is_none(), "{op}: {reply}");
    events.iter().any(|(_, args)| args.get(1).is_some_and(|change| change["frozen"] == true))
}

#[test]
fn only_pages_of_the_web_that_were_there_are_kept_for_going_back_to_them() {
    for (first, second, is_kept) in [
        ("http://a.test/a.html", "http://b.test/b.html", [true, true]),
        ("http://a.test/a.html", "http://nowhere.invalid/", [true, false]),
        ("http://a.test/a.html#x", "http://a.test/a.html", [false, false]),
        ("about:blank", "http://b.test/b.html", [false, false]),
    ] {
        let mut bench = Bench::new();
        let tab = bench.open(first);
        bench.call(GESTURE, json!([tab, "1"]));
        bench.call("tabs.update", json!([tab, { "url": second }]));
        let came = ["tabs.goBack", "tabs.goForward"].map(|op| comes_back_kept(&mut bench, op, tab));
        assert_eq!(came, is_kept, "{first} {second}");
    }
}

#[test]
fn pages_are_kept_neither_by_a_tab_that_was_discarded_nor_by_one_that_was_closed() {
    for (ends, ways) in [("tabs.discard", [false, false]), ("tabs.remove", [false, true])] {
        let mut bench = Bench::new();
        let mut tab = bench.open("http://a.test/a.html");
        bench.call(GESTURE, json!([tab, "1"]));
        bench.call("tabs.update", json!([tab, { "url": "http://b.test/b.html" }]));
        let ended = bench.call(ends, json!([tab]));
        let back = if ended.is_null() {
            bench.call("sessions.restore", json!([]))["tab"]["id"].clone()
        } else {
            ended["id"].clone()
        };
        tab = back.as_i64().unwrap();
        let came = ["tabs.goBack", "tabs.goForward"].map(|op| comes_back_kept(&mut bench, op, tab));
        assert_eq!(came, ways, "{ends}");
    }
}

/// Changes that a step tells of a tab's page: the first member of each change, and whether an icon is shown with it.
fn told_with_icons(bench: &mut Bench, op: &str, args: Value) -> Vec<(String, bool)> {
    let (_, events) = bench.step(op, args);
    let of_page = |(name, args): (String, Value)| {
        let change = args[1].as_object().filter(|_| name == "tabs.onUpdated")?;
        let member =
            ["frozen", "favIconUrl", "status"].iter().find(|m| change.contains_key(**m))?;
        let said = if *member == "status" { args[1]["status"].as_str()? } else { member };
        (said != "frozen").then(|| (said.to_owned(), args[2].get("favIconUrl").is_some()))
    };
    events.into_iter().filter_map(of_page).collect()
}

#[test]
fn a_page_of_the_history_shows_its_icon_at_once_and_one_of_the_browsers_own_not_as_it_is_complete()
{
    for (page, shown) in [
        ("http://a.test/icon.html", [true, true, true]),
        ("chrome://version/", [true, false, true]),
    ] {
        let mut bench = Bench::new();
        let tab = bench.open("http://b.test/b.html");
        bench.call(GESTURE, json!([tab, "1"]));
        bench.call("tabs.update", json!([tab, { "url": page }]));
        bench.call("tabs.goBack", json!([tab]));
        let told = told_with_icons(&mut bench, "tabs.goForward", json!([tab]));
        let names = ["loading", "complete", "favIconUrl"].map(str::to_owned);
        assert_eq!(told, names.into_iter().zip(shown).collect::<Vec<_>>(), "{page}");
    }
}

#[test]
fn the_icon_of_a_page_is_told_anew_with_each_address_within_it() {
    for (page, tells) in [("http://a.test/icon.html", true), ("http://a.test/a.html", false)] {
        let mut bench = Bench::new();
        let tab = bench.open(page);
        bench.call(GESTURE, json!([tab, "1"]));
        for (op, args) in [
            ("tabs.update", json!([tab, { "url": format!("{page}#f") }])),
            ("tabs.goBack", json!([tab])),
            (GESTURE, json!([tab, "history.pushState({}, '', '?p')"])),
        ] {
            let told = told_with_icons(&mut bench, op, args);
            let last = told.last().cloned();
            let expected = if tells { ("favIconUrl", true) } else { ("complete", false) };
            assert_eq!(last, Some((expected.0.to_owned(), expected.1)), "{page} {op}: {told:?}");
        }
    }
}

#[test]
fn a_discarded_tab_that_goes_elsewhere_in_its_history_shows_the_icon_of_that_page() {
    let mut bench = Bench::new();
    let tab = bench.open("http://b.test/b.html");
    bench.call(GESTURE, json!([tab, "1"]));
    bench.call("tabs.update", json!([tab, { "url": "http://a.test/icon.html" }]));
    bench.call("tabs.update", json!([bench.first, { "active": true }]));
    let tab = bench.call("tabs.discard", json!([tab]))["id"].clone();
    let told = told_with_icons(&mut bench, "tabs.goBack", json!([tab]));
    let all_without = ["loading", "loading", "complete"].map(|name| (name.to_owned(), false));
    assert_eq!(told, all_without);
}

#[test]
fn a_step_within_the_document_ends_what_the_user_did_there_unless_the_page_takes_it() {
    for (step, is_passed_over) in [("goBack", true), ("history.back()", false)] {
        let mut bench = Bench::new();
        let tab = bench.open("http://a.test/a.html");
        bench.call(GESTURE, json!([tab, "history.pushState({},'','/p1')"]));
        if step == "goBack" {
            bench.call("tabs.goBack", json!([tab]));
        } else {
            bench.call(GESTURE, json!([tab, step]));
        }
        bench.call("tabs.update", json!([tab, { "url": "http://b.test/b.html" }]));
        let refusal = bench.refused("tabs.goBack", json!([tab]));
        assert_eq!(!refusal.is_empty(), is_passed_over, "{step}: {refusal}");
    }
}
