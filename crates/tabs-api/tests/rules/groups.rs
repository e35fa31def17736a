//! Groups: what joins, leaves, shows and makes one.

use serde_json::{Value, json};

use crate::bench::Bench;

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
fn a_new_group_takes_the_highlight_from_each_tab_but_the_active_one() {
    let mut bench = Bench::new();
    let tabs = [1, 2, 3].map(|_| bench.open("about:blank"));
    bench.call("tabs.highlight", json!([{ "tabs": [0, 1, 2] }]));
    let (_, events) = bench.step("tabs.group", json!([{ "tabIds": [tabs[0], tabs[2]] }]));
    let left = events.iter().rfind(|(name, _)| name == "tabs.onHighlighted").unwrap();
    assert_eq!(left.1[0]["tabIds"], json!([bench.first, tabs[1]]));
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
fn a_group_that_goes_to_another_window_leaves_its_own_to_what_one_of_its_tabs_opened() {
    for (opener, next) in [(1, 4), (2, 4), (4, 3)] {
        let mut bench = Bench::new();
        let others: Vec<_> = (0..4).map(|_| bench.open("about:blank")).collect();
        let tabs = [vec![bench.first], others].concat();
        bench.call("tabs.update", json!([tabs[4], { "openerTabId": tabs[opener % 4] }]));
        bench.call("tabs.update", json!([tabs[1], { "active": true }]));
        let group = bench.call("tabs.group", json!([{ "tabIds": [tabs[1], tabs[2]] }]));
        let other = bench.call("windows.create", json!([{ "url": "about:blank" }]));
        bench.call("tabGroups.move", json!([group, { "windowId": other["id"], "index": -1 }]));
        let shown = bench.call("tabs.query", json!([{ "active": true }]));
        assert_eq!(shown[0]["id"], tabs[next], "opened by the tab at {opener}");
    }
}

#[test]
fn tabs_of_a_window_without_groups_leave_none() {
    let mut bench = Bench::new();
    let made = json!([{ "url": "about:blank", "type": "popup", "focused": false }]);
    let popup = bench.call("windows.create", made);
    let refusal = bench.refused("tabs.ungroup", json!([popup["tabs"][0]["id"]]));
    assert_eq!(refusal, "Grouping is not supported by tabs in this window.");
}

/// The names of what a step tells of groups and of the selection.
fn told(bench: &mut Bench, op: &str, args: Value) -> Vec<String> {
    let (reply, events) = bench.step(op, args);
    assert!(reply.get("error").is_none(), "{op}: {reply}");
    let names = events.into_iter().map(|(name, _)| name);
    let is_of_frames = |name: &String| name == "tabs.onUpdated" || name.ends_with("ZoomChange");
    names.filter(|name| !is_of_frames(name)).collect()
}

/// Five tabs, the second and the third in a group, and the group's id.
fn five_with_a_group(bench: &mut Bench) -> (Vec<i64>, Value) {
    let others: Vec<_> = (0..4).map(|_| bench.open("about:blank")).collect();
    let tabs = [vec![bench.first], others].concat();
    let group = bench.call("tabs.group", json!([{ "tabIds": [tabs[1], tabs[2]] }]));
    (tabs, group)
}

#[test]
fn whatever_changes_which_tabs_are_highlighted_or_where_they_stand_shows_the_groups_that_hide_one()
{
    let shows = "tabGroups.onUpdated";
    let highlighted = "tabs.onHighlighted";
    type Arguments = fn(&[i64]) -> Value;
    let steps: [(&str, Arguments, &[&str]); 6] = [
        ("tabs.highlight", |_| json!([{ "tabs": [0, 1] }]), &[shows, highlighted]),
        ("tabs.highlight", |_| json!([{ "tabs": [0, 1, 3, 4] }]), &[shows, highlighted]),
        ("tabs.highlight", |_| json!([{ "tabs": [0, 4, 1] }]), &[]),
        ("tabs.update", |tabs| json!([tabs[4], { "highlighted": false }]), &[shows, highlighted]),
        ("tabs.remove", |tabs| json!([tabs[4]]), &[shows, "tabs.onRemoved", highlighted]),
        (
            "tabs.move",
            |tabs| json!([tabs[3], { "index": 0 }]),
            &[shows, "tabs.onMoved", highlighted],
        ),
    ];
    for (op, args, names) in steps {
        let mut bench = Bench::new();
        let (tabs, group) = five_with_a_group(&mut bench);
        bench.call("tabs.highlight", json!([{ "tabs": [0, 1, 4] }]));
        bench.call("tabGroups.update", json!([group, { "collapsed": true }]));
        let args = args(&tabs);
        assert_eq!(told(&mut bench, op, args.clone()), names, "{op} {args}");
    }
}

#[test]
fn an_active_tab_that_comes_into_a_group_shows_it_once_it_is_there() {
    for (op, has_moved) in [("tabs.create", false), ("tabs.move", true)] {
        let mut bench = Bench::new();
        let (tabs, group) = five_with_a_group(&mut bench);
        bench.call("tabGroups.update", json!([group, { "collapsed": true }]));
        let args = if has_moved {
            json!([tabs[0], { "index": 1 }])
        } else {
            json!([{ "url": "about:blank", "index": 2 }])
        };
        let names = told(&mut bench, op, args);
        assert_eq!(names[names.len() - 2..], ["tabs.onHighlighted", "tabGroups.onUpdated"], "{op}");
    }
}

#[test]
fn a_highlighted_tab_that_comes_into_a_group_and_is_not_the_active_one_leaves_it_collapsed() {
    let mut bench = Bench::new();
    let (tabs, group) = five_with_a_group(&mut bench);
    bench.call("tabGroups.update", json!([group, { "collapsed": true }]));
    bench.call("tabs.highlight", json!([{ "tabs": [0, 4] }]));
    let names = told(&mut bench, "tabs.move", json!([tabs[4], { "index": 2 }]));
    assert_eq!(names, ["tabs.onMoved", "tabs.onHighlighted"]);
}
