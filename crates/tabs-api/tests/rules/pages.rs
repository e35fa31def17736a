//! Pages, and what is told between them.

use std::time::Duration;

use serde_json::{Value, json};
use tabs_api::browser::{Answer, Browser, Compat};
use tabs_api::engine::simulated::SimEngine;
use tabs_api::extension::manifest::Manifest;
use tabs_api::extension::permission::Extension;
use tabs_api::js_value::JsValue;
use tabs_api::operation::{Caller, Command, Context, Style};
use tabs_api::session::{Output, Session};

use crate::bench::{Bench, GESTURE, START, pages};

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
fn a_query_finds_a_tab_by_the_address_that_it_is_on_its_way_to_as_well() {
    let mut bench = Bench::new();
    bench.call("tabs.create", json!([{ "url": "http://a.test/204" }]));
    let found = |bench: &mut Bench, url: &str| {
        let tabs = bench.call("tabs.query", json!([{ "url": url }]));
        tabs.as_array().map(Vec::len)
    };
    assert_eq!(found(&mut bench, "http://a.test/*"), Some(1));
    assert_eq!(found(&mut bench, "http://b.test/*"), Some(0));
}

#[test]
fn who_waits_for_the_language_of_a_page_has_an_empty_one_as_that_page_goes() {
    for (op, rest) in [
        ("tabs.update", vec![json!({ "url": "http://a.test/fr.html" })]),
        ("tabs.update", vec![json!({ "url": "http://a.test/de.html#x" })]),
        ("tabs.reload", vec![]),
        ("tabs.discard", vec![]),
        ("tabs.remove", vec![]),
    ] {
        let mut bench = Bench::new();
        let hidden = json!(bench.open("http://a.test/de.html"));
        let args = [vec![hidden.clone()], rest].concat();
        let both = json!([[{ "op": "tabs.detectLanguage", "args": [hidden] }, { "op": op, "args": args }]]);
        let (reply, _) = bench.step("harness.parallel", both);
        assert_eq!(reply["result"][0]["result"], "", "{op} {args:?}: {reply}");
    }
    let mut bench = Bench::new();
    let hidden = bench.open("http://a.test/de.html");
    let both = json!([[
        { "op": "tabs.detectLanguage", "args": [hidden] },
        { "op": "tabs.update", "args": [hidden, { "url": "http://a.test/204" }] }
    ]]);
    let (reply, _) = bench.step("harness.parallel", both);
    assert_eq!(reply["result"][0]["error"]["kind"], "pending", "it stays where it is");
}

#[test]
fn the_language_of_an_error_or_of_a_source_is_never_read() {
    for url in ["http://nowhere.invalid/", "view-source:http://a.test/de.html"] {
        let mut bench = Bench::new();
        let tab = bench.call("tabs.create", json!([{ "url": url }]))["id"].clone();
        let (reply, _) = bench.step("tabs.detectLanguage", json!([tab]));
        assert_eq!(reply["error"]["kind"], "pending", "{url}");
    }
}

#[test]
fn all_errors_share_one_zoom_and_a_source_has_that_of_its_page() {
    let mut bench = Bench::new();
    let errors = ["http://nowhere.invalid/", "http://other.invalid/"].map(|url| bench.open(url));
    let page = bench.open("http://a.test/a.html");
    let source = bench.open("view-source:http://a.test/b.html");
    bench.call("tabs.setZoom", json!([errors[0], 1.5]));
    bench.call("tabs.setZoom", json!([page, 2]));
    let factors = [errors[1], source].map(|tab| bench.call("tabs.getZoom", json!([tab])));
    assert_eq!(factors.map(|factor| factor.as_f64().unwrap().round()), [2.0, 2.0]);
    assert!(bench.call("tabs.getZoom", json!([errors[1]])).as_f64() < Some(1.6));
}

#[test]
fn a_tab_whose_page_has_not_come_is_not_zoomed() {
    let disabled = "Cannot zoom a tab in disabled mode.";
    for url in ["http://a.test/a.html", "http://nowhere.invalid/"] {
        for come_back in ["tabs.reload", "tabs.update"] {
            let mut bench = Bench::new();
            let page = bench.open(url);
            bench.call("tabs.setZoom", json!([page, 1.5]));
            let discarded = bench.call("tabs.discard", json!([page]))["id"].clone();
            let args = match come_back {
                "tabs.reload" => json!([discarded]),
                _ => json!([discarded, { "active": true }]),
            };
            let at_once = json!([[
                { "op": come_back, "args": args },
                { "op": "tabs.getZoom", "args": [discarded] },
                { "op": "tabs.setZoom", "args": [discarded, 2] }
            ]]);
            let (reply, _) = bench.step("harness.parallel", at_once);
            assert_eq!(reply["result"][1]["result"], 1, "{come_back} {url}: {reply}");
            assert_eq!(reply["result"][2]["error"]["message"], disabled, "{url}: {reply}");
            let factor = bench.call("tabs.getZoom", json!([discarded]));
            assert_eq!(factor.as_f64().map(|factor| factor > 1.4), Some(true), "{url}: {factor}");
        }
    }
}

#[test]
fn a_copy_has_the_zoom_of_its_source_once_its_page_comes() {
    for url in ["http://a.test/a.html", "http://nowhere.invalid/"] {
        let mut bench = Bench::new();
        let page = bench.open(url);
        bench.call("tabs.setZoom", json!([page, 1.5]));
        let at_once = json!([[
            { "op": "tabs.duplicate", "args": [page] },
            { "op": "tabs.getZoom", "args": [] }
        ]]);
        let (reply, _) = bench.step("harness.parallel", at_once);
        assert_eq!(reply["result"][1]["result"], 1, "{url}: {reply}");
        assert_ne!(bench.call("tabs.getZoom", json!([])), 1, "{url}");
        // In a window behind it waits.
        bench.call("windows.create", json!([{ "url": "about:blank" }]));
        let copy = bench.call("tabs.duplicate", json!([page]))["id"].clone();
        assert_eq!(bench.call("tabs.getZoom", json!([copy])), 1, "{url}");
        bench.call("windows.update", json!([bench.window, { "focused": true }]));
        assert_ne!(bench.call("tabs.getZoom", json!([copy])), 1, "{url}");
    }
}

/// The answer under the specification to who asks for the language of a hidden page, and then does something else with its tab.
fn language_by_specification(calls: &[(&str, Vec<Value>)]) -> Option<Value> {
    let mut browser = Browser::with_blank_window(START, Compat::Spec);
    browser.install(Extension::new("e".into(), &Manifest::default(), false));
    let mut session = Session::new(browser, Box::new(SimEngine::new(pages())));
    let caller = Caller { extension: "e".into(), context: Context::Worker };
    let mut now = START;
    let mut call = |op: &str, args: &Value| {
        let args: Vec<JsValue> = serde_json::from_value(args.clone()).unwrap();
        let command = Command::read(op, &args, Style::Promise).unwrap();
        let answer = session.apply(now, &caller, &command).unwrap();
        now = now.plus(Duration::from_secs(60));
        session.advance(now);
        answer
    };
    let made = json!([{ "url": "http://a.test/de.html", "active": false }]);
    let tab = json!(call("tabs.create", &made))["id"].clone();
    let asked = match call("tabs.detectLanguage", &json!([tab])) {
        Answer::Later(request) => Some(request),
        _ => None,
    };
    for (op, rest) in calls {
        call(op, &json!([vec![tab.clone()], rest.clone()].concat()));
    }
    assert!(asked.is_some(), "its page was never shown");
    std::iter::from_fn(|| session.poll()).find_map(|output| match output {
        Output::Answer(request, answer) if Some(request) == asked => Some(json!(answer.unwrap())),
        _ => None,
    })
}

#[test]
fn under_the_specification_who_waits_for_a_language_has_that_of_the_next_page_and_none_of_a_tab_that_goes()
 {
    let show = ("tabs.update", vec![json!({ "active": true })]);
    let leave = ("tabs.update", vec![json!({ "url": "http://a.test/fr.html" })]);
    let (reload, discard, remove) =
        (("tabs.reload", vec![]), ("tabs.discard", vec![]), ("tabs.remove", vec![]));
    for (calls, language) in [
        (vec![], None),
        (vec![leave.clone()], None),
        (vec![show.clone()], Some("de")),
        (vec![reload, show.clone()], Some("de")),
        (vec![leave, show], Some("fr")),
        (vec![discard], Some("und")),
        (vec![remove], Some("und")),
    ] {
        let answer = language_by_specification(&calls);
        assert_eq!(answer, language.map(Value::from), "{calls:?}");
    }
}

#[test]
fn a_copy_that_waits_to_load_has_nobody_who_listens() {
    let mut bench = Bench::new();
    let made = json!([{ "url": "http://cs.test/a.html", "focused": false }]);
    let behind = bench.call("windows.create", made);
    let copy = bench.call("tabs.duplicate", json!([behind["tabs"][0]["id"]]))["id"].clone();
    let nobody = "Could not establish connection. Receiving end does not exist.";
    assert_eq!(bench.refused("tabs.sendMessage", json!([copy, { "cmd": "echo" }])), nobody);
    bench.call("windows.update", json!([behind["id"], { "focused": true }]));
    assert_eq!(bench.refused("tabs.sendMessage", json!([copy, { "cmd": "echo" }])), "");
}

#[test]
fn a_frame_with_an_error_takes_no_script_and_no_style_sheet() {
    let mut bench = Bench::new();
    let tab = bench.open("http://nowhere.invalid/");
    for (op, what) in [
        ("scripting.executeScript", json!({ "files": ["content.js"] })),
        ("scripting.insertCSS", json!({ "css": "a{}" })),
        ("scripting.removeCSS", json!({ "css": "a{}" })),
    ] {
        let mut injection = what;
        injection["target"] = json!({ "tabId": tab });
        let refusal = bench.refused(op, json!([injection]));
        assert_eq!(refusal, "Frame with ID 0 is showing error page", "{op}");
    }
}

/// The first event of a step that is of a tab's end or of a port's.
fn first_end(bench: &mut Bench, op: &str, args: Value) -> String {
    let (reply, events) = bench.step(op, args);
    assert!(reply.get("error").is_none(), "{op}: {reply}");
    let ends = ["port.onDisconnect", "tabs.onRemoved", "tabs.onReplaced"];
    let mut names = events.into_iter().map(|(name, _)| name);
    names.find(|name| ends.contains(&name.as_str())).unwrap()
}

#[test]
fn a_port_ends_before_its_tab_where_the_process_of_the_page_does_and_else_behind_it() {
    for (op, has_copy, first) in [
        ("tabs.remove", false, "port.onDisconnect"),
        ("tabs.remove", true, "tabs.onRemoved"),
        ("tabs.discard", false, "port.onDisconnect"),
        ("tabs.discard", true, "tabs.onReplaced"),
    ] {
        let mut bench = Bench::new();
        let tab = bench.open("http://cs.test/a.html");
        if has_copy {
            bench.call("tabs.duplicate", json!([tab]));
        }
        bench.call("tabs.connect", json!([tab]));
        assert_eq!(first_end(&mut bench, op, json!([tab])), first, "{op}");
    }
}

/// A message of a listener to a tab, as `[result, message of the error]`.
fn told_by(bench: &mut Bench, variant: &str, tab: i64) -> Value {
    let call = json!({ "op": "tabs.sendMessage", "args": [tab, "ping"], "by": variant });
    let reply = bench.lab.call(bench.now, serde_json::from_value(call).unwrap());
    json!([reply["result"]["got"], reply["error"]["message"]])
}

#[test]
fn declared_scripts_run_in_no_page_that_was_there_before_their_extension() {
    let mut bench = Bench::new();
    let tab = bench.open("http://cs.test/a.html");
    bench.lab.listen(bench.now, "none");
    let nobody = json!([null, "Could not establish connection. Receiving end does not exist."]);
    assert_eq!(told_by(&mut bench, "none", tab), nobody);
    bench.call("tabs.reload", json!([tab]));
    assert_eq!(told_by(&mut bench, "none", tab), json!(["ping", null]));
}
