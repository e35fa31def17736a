//! The part of the interface that an extension has: the version of the browser, its manifest and the user's leave decide.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

use std::time::Duration;

use serde_json::{Value, json};
use tabs_api::browser::user_action::UserAction;
use tabs_api::browser::{Browser, Compat};
use tabs_api::extension::manifest::Manifest;
use tabs_api::extension::permission::{Access, Extension, Part};
use tabs_api::js_value::JsValue;
use tabs_api::operation::{Asked, Caller, Command, Context, OPERATIONS, Operation, Style};
use tabs_api::version::BrowserVersion;
use triptych_core::time::Timestamp;

const NOW: Timestamp = Timestamp::from_seconds(1_790_000_000);

/// A browser with one extension.
struct Bench {
    browser: Browser,
}

impl Bench {
    fn of(manifest: Value, is_let_incognito: bool) -> Self {
        let manifest = Manifest::read(&manifest).unwrap();
        let mut browser = Browser::with_blank_window(NOW, Compat::Spec);
        let extension = Extension::new("e".into(), &manifest, false);
        browser.install(extension.let_incognito(is_let_incognito));
        Self { browser }
    }

    fn new() -> Self {
        Self::of(json!({ "name": "e", "permissions": ["tabs"] }), false)
    }

    fn version(mut self, version: u16) -> Self {
        self.browser.set_version(BrowserVersion(version));
        self
    }

    fn styled(&mut self, style: Style, name: &str, arguments: Value) -> Result<Value, String> {
        let arguments: Vec<JsValue> = serde_json::from_value(arguments).unwrap();
        let caller = Caller { extension: "e".into(), context: Context::Worker };
        let command = self.browser.read(&caller, Asked { name, given: &arguments, style });
        let answer = command.and_then(|command| self.browser.apply(NOW, &caller, &command));
        answer.map(|answer| json!(answer)).map_err(|error| error.to_string())
    }

    fn call(&mut self, name: &str, arguments: Value) -> Result<Value, String> {
        self.styled(Style::AsGiven, name, arguments)
    }

    fn act(&mut self, action: Value) -> Value {
        let action: UserAction = serde_json::from_value(action).unwrap();
        self.browser.user_action(NOW, action).unwrap()
    }

    fn wait(&mut self, millis: u64) {
        let now = self.browser.time().plus(Duration::from_millis(millis));
        self.browser.tick(now);
    }

    /// The events that the extension is told.
    fn told(&mut self) -> Vec<&'static str> {
        let mut told = Vec::new();
        while let Some(event) = self.browser.poll_event() {
            let extension = self.browser.extension("e").unwrap();
            told.extend(self.browser.tells(extension, &event).then_some(event.name()));
        }
        told
    }
}

#[test]
fn an_older_browser_has_what_it_had_and_nothing_later() {
    let mut bench = Bench::new().version(60);
    let tab = bench.call("tabs.create", json!([{ "active": false }])).unwrap();
    let has = |name: &str| tab.get(name).is_some();
    assert!(has("autoDiscardable") && has("mutedInfo") && has("audible"));
    assert!(!has("groupId") && !has("pendingUrl") && !has("lastAccessed") && !has("frozen"));
    let refused = bench.call("tabs.group", json!([{ "tabIds": tab["id"] }])).unwrap_err();
    assert_eq!(refused, "chrome.tabs.group is not a function");
    let refused = bench.call("tabs.query", json!([{ "pinned": false, "groupId": 1 }])).unwrap_err();
    assert!(refused.ends_with("Unexpected property: 'groupId'."), "{refused}");
    assert!(bench.call("tabs.discard", json!([tab["id"]])).is_ok());
    let mut newest = Bench::new();
    assert!(
        newest.call("tabs.query", json!([{ "frozen": false }])).unwrap()[0]["groupId"].is_number()
    );
}

/// Arguments of an operation in which the parameter of this name is an object with one member that no schema takes.
fn with_member(operation: &Operation, parameter: &str, member: &str) -> Value {
    let at = operation.parameters.iter().position(|found| found.name == parameter).unwrap();
    let before = operation.parameters[..at].iter().filter(|found| !found.is_optional);
    let mut arguments: Vec<_> = before.map(|_| json!(5)).collect();
    arguments.push(json!({ member: { "no": "schema takes this" } }));
    json!(arguments)
}

/// Tells whether a browser of this version has an item of the table of versions, by what it does.
fn shows(version: u16, item: &str) -> Option<bool> {
    let mut bench = Bench::new();
    let parts: Vec<_> = item.split('.').collect();
    Some(match parts[..] {
        ["Tab", member] => {
            bench.call("tabs.create", json!([{ "url": "http://a.test/" }])).unwrap();
            let mut bench = bench.version(version);
            let tabs = bench.call("tabs.query", json!([{ "active": true }])).unwrap();
            tabs[0].get(member).is_some()
        }
        ["tabs", "onUpdated", "changeInfo", member] => {
            let tab = bench.call("tabs.query", json!([{}])).unwrap()[0]["id"].clone();
            bench.told();
            let mut bench = bench.version(version);
            let change = match member {
                "audible" => json!({ "type": "audible", "tabId": tab, "audible": true }),
                "frozen" => json!({ "type": "freeze", "tabId": tab, "frozen": true }),
                "mutedInfo" => json!({ "type": "capture", "tabId": tab, "captured": true }),
                // The others are changes of calls that came no earlier, or of pages.
                _ => return None,
            };
            bench.act(change);
            bench.wait(1_000);
            bench.told().contains(&"tabs.onUpdated")
        }
        [_, _, parameter, member] => {
            let operation = Operation::find(&format!("{}.{}", parts[0], parts[1])).unwrap();
            let given = with_member(operation, parameter, member);
            let refused = bench.version(version).call(operation.name, given).unwrap_err();
            assert!(refused.contains("Error at parameter") || refused.ends_with("not a function"));
            let unexpected = format!("Unexpected property: '{member}'");
            !refused.contains(&unexpected) && !refused.ends_with("not a function")
        }
        [_, _] if Operation::find(item).is_some() => {
            // No operation takes this: what is not there is not there, whatever it is given.
            let given = json!(["a", "b", "c", "d", "e"]);
            let refused = bench.version(version).call(item, given).unwrap_err();
            assert!(refused.contains("Error in invocation") || refused.ends_with("not a function"));
            !refused.ends_with("not a function")
        }
        _ => return None,
    })
}

#[test]
fn every_item_is_there_from_its_version_on_and_not_before() {
    let mut walked = 0;
    for (item, since) in BrowserVersion::table() {
        let since = u16::try_from(since.as_u64().unwrap()).unwrap();
        for (version, has) in
            [(since - 1, false), (since, true), (since + 1, true), (BrowserVersion::LATEST.0, true)]
        {
            let Some(shown) = shows(version, &item) else { continue };
            assert_eq!(shown, has, "{item} in {version}");
            walked += 1;
        }
    }
    assert_eq!(walked % 4, 0);
    assert!(walked >= 4 * 35, "{walked}");
}

#[test]
fn a_browser_that_does_not_tell_the_quota_of_captures_has_none() {
    let manifest = json!({ "name": "e", "host_permissions": ["<all_urls>"] });
    for (version, is_refused) in [(91, false), (92, true)] {
        let mut bench = Bench::of(manifest.clone(), false).version(version);
        let mut capture = || bench.call("tabs.captureVisibleTab", json!([]));
        let asked: Vec<_> = (0..5).map(|_| capture()).collect();
        let refused = asked.iter().filter(|answer| {
            answer.as_ref().is_err_and(|error| error.contains("_CALLS_PER_SECOND quota"))
        });
        assert_eq!(refused.count(), if is_refused { 3 } else { 0 }, "{version}: {asked:?}");
    }
}

#[test]
fn a_later_property_is_unexpected_at_its_place_whatever_it_holds() {
    let mut bench = Bench::new().version(100);
    let fault = "Error in invocation of tabs.query(object queryInfo, optional function callback): Error at parameter 'queryInfo': ";
    for (given, reason) in [
        (r#"{"frozen": 5}"#, "Unexpected property: 'frozen'."),
        (r#"{"frozen": null}"#, "Unexpected property: 'frozen'."),
        (r#"{"frozen": true, "nothing": 1}"#, "Unexpected property: 'frozen'."),
        (r#"{"nothing": 1, "frozen": true}"#, "Unexpected property: 'nothing'."),
    ] {
        let given: Vec<JsValue> = serde_json::from_str(&format!("[{given}]")).unwrap();
        let caller = Caller { extension: "e".into(), context: Context::Worker };
        let asked = Asked { name: "tabs.query", given: &given, style: Style::Promise };
        let refused = bench.browser.read(&caller, asked).unwrap_err().to_string();
        assert_eq!(refused, format!("{fault}{reason}"));
    }
    assert!(bench.call("tabs.query", json!([{ "discarded": false }])).is_ok());
}

#[test]
fn a_later_operation_is_no_function_whatever_it_is_given() {
    let mut bench = Bench::new().version(60);
    for given in [json!([]), json!([{}]), json!([5]), json!([{ "tabIds": [] }, 1, 2])] {
        let refused = bench.call("tabs.group", given).unwrap_err();
        assert_eq!(refused, "chrome.tabs.group is not a function");
    }
}

#[test]
fn manifest_2_shows_the_signature_in_which_a_question_needs_its_callback() {
    for (manifest_version, version, callback) in [
        (2, 156, "function callback"),
        (3, 87, "function callback"),
        (3, 88, "optional function callback"),
    ] {
        let manifest = json!({ "name": "e", "manifest_version": manifest_version });
        let mut bench = Bench::of(manifest, false).version(version);
        let refused = bench.call("tabs.get", json!(["a"])).unwrap_err();
        let wanted = format!("Error in invocation of tabs.get(integer tabId, {callback}): ");
        assert_eq!(refused, format!("{wanted}No matching signature."));
        // What a call does besides answering needs nobody who listens.
        let refused = bench.call("tabs.reload", json!(["a"])).unwrap_err();
        assert!(refused.contains("optional function callback): "), "{refused}");
    }
    assert!(OPERATIONS.iter().any(|operation| operation.is_question));
}

#[test]
fn only_what_a_version_knows_is_told() {
    let mut bench = Bench::new().version(44);
    bench.call("tabs.create", json!([{ "active": false }])).unwrap();
    bench.told();
    let tab = bench.call("tabs.query", json!([{ "active": true }])).unwrap()[0]["id"].clone();
    bench.act(json!({ "type": "audible", "tabId": tab, "audible": true }));
    bench.wait(5_000);
    assert_eq!(bench.told(), [""; 0]);
    bench.browser.set_version(BrowserVersion(45));
    bench.act(json!({ "type": "audible", "tabId": tab, "audible": false }));
    bench.wait(5_000);
    assert_eq!(bench.told(), ["tabs.onUpdated"]);
}

#[test]
fn a_tab_is_audible_a_moment_after_it_began_to_sound_and_for_seconds_after_it_fell_silent() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.query", json!([{}])).unwrap()[0]["id"].clone();
    let sound = |sounds: bool| json!({ "type": "audible", "tabId": tab, "audible": sounds });
    let audible = |bench: &mut Bench, millis| {
        bench.wait(millis);
        bench.call("tabs.get", json!([tab])).unwrap()["audible"] == true
    };
    bench.act(sound(true));
    assert!(!audible(&mut bench, 0));
    assert!(audible(&mut bench, 1_000));
    bench.act(sound(false));
    assert!(audible(&mut bench, 2_000), "it sounded in the past couple of seconds");
    bench.act(sound(true));
    bench.told();
    assert!(audible(&mut bench, 5_000), "it sounds again");
    assert_eq!(bench.told(), [""; 0], "and was audible all the time");
    bench.act(sound(false));
    assert!(!audible(&mut bench, 3_000));
    assert_eq!(bench.told(), ["tabs.onUpdated"]);
}

#[test]
fn as_long_as_a_tab_is_being_captured_it_is_muted_and_nobody_changes_that() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.query", json!([{}])).unwrap()[0]["id"].clone();
    let capture = |captured: bool| json!({ "type": "capture", "tabId": tab, "captured": captured });
    let muted =
        |bench: &mut Bench| bench.call("tabs.get", json!([tab])).unwrap()["mutedInfo"].clone();
    bench.act(capture(true));
    assert_eq!(bench.told(), ["tabs.onUpdated"]);
    assert_eq!(muted(&mut bench), json!({ "muted": true, "reason": "capture" }));
    for value in [true, false] {
        let refused = bench.call("tabs.update", json!([tab, { "muted": value }])).unwrap_err();
        let wanted = format!(
            "Cannot update mute state for tab {tab}, tab has audio or video currently being captured"
        );
        assert_eq!(refused, wanted);
    }
    bench.act(json!({ "type": "muteSite", "tabId": tab, "muted": false }));
    assert!(bench.call("tabs.update", json!([tab, { "autoDiscardable": false }])).is_ok());
    assert_eq!(muted(&mut bench), json!({ "muted": true, "reason": "capture" }));
    bench.told();
    bench.act(capture(false));
    assert_eq!(bench.told(), ["tabs.onUpdated"]);
    assert_eq!(muted(&mut bench), json!({ "muted": false, "reason": "capture" }));
    let own = json!({ "extensionId": "e", "muted": true, "reason": "extension" });
    bench.call("tabs.update", json!([tab, { "muted": true }])).unwrap();
    bench.told();
    bench.act(capture(true));
    bench.act(capture(false));
    assert_eq!(muted(&mut bench), own, "what was muted before stays so");
    assert_eq!(bench.told(), [""; 0]);
}

#[test]
fn calls_give_promises_from_manifest_3_and_version_88_on() {
    let manifest = |version: u8| json!({ "name": "e", "manifest_version": version });
    for (manifest_version, version, gives) in [(3, 156, true), (3, 87, false), (2, 156, false)] {
        let mut bench = Bench::of(manifest(manifest_version), false).version(version);
        let asked = bench.styled(Style::Promise, "tabs.query", json!([{}]));
        match asked {
            Ok(_) => assert!(gives),
            Err(refused) => {
                assert!(!gives);
                assert_eq!(
                    refused,
                    "Error in invocation of tabs.query(object queryInfo, function callback): No matching signature."
                );
            }
        }
        let created = bench.styled(Style::Promise, "tabs.create", json!([{}])).unwrap();
        assert_eq!(created.is_null(), !gives, "it is done, and nobody is told");
        for style in [Style::Callback, Style::AsGiven] {
            assert!(bench.styled(style, "tabs.query", json!([{}])).unwrap().is_array());
        }
    }
}

#[test]
fn a_callback_is_told_instead_of_the_caller() {
    let mut bench = Bench::new();
    let arguments = vec![JsValue::Number(5.0), JsValue::Function];
    let caller = Caller { extension: "e".into(), context: Context::Worker };
    let command = Command::read("tabs.get", &arguments, Style::Promise).unwrap();
    assert!(json!(bench.browser.apply(NOW, &caller, &command).unwrap()).is_null());
}

#[test]
fn incognito_windows_are_there_for_whom_the_user_lets_in() {
    for (mode, is_let, sees) in [
        ("spanning", true, true),
        ("spanning", false, false),
        ("split", true, false),
        ("not_allowed", true, false),
    ] {
        let manifest = json!({ "name": "e", "permissions": ["tabs"], "incognito": mode });
        let mut bench = Bench::of(manifest, is_let);
        let made = bench.call("windows.create", json!([{ "incognito": true }])).unwrap();
        assert_eq!(made.is_object(), sees, "{mode}");
        assert_eq!(bench.told().contains(&"tabs.onCreated"), sees, "{mode}");
        let windows = bench.call("windows.getAll", json!([{ "populate": true }])).unwrap();
        let is_incognito = |window: &&Value| window["incognito"] == true;
        let found = windows.as_array().unwrap().iter().filter(is_incognito).count();
        assert_eq!(found, usize::from(sees), "{mode}");
        let current = bench.call("windows.getCurrent", json!([])).unwrap();
        assert_eq!(current["incognito"], sees, "{mode}");
    }
}

#[test]
fn the_focus_of_a_window_that_is_not_seen_is_told_as_nobodys() {
    for (is_let, wanted) in [(true, false), (false, true)] {
        let mut bench = Bench::of(json!({ "name": "e" }), is_let);
        bench.act(json!({ "type": "newWindow", "incognito": true }));
        let mut focused = Vec::new();
        while let Some(event) = bench.browser.poll_event() {
            let extension = bench.browser.extension("e").unwrap();
            if let Some(event) = bench.browser.told(extension, Part::Main, &event)
                && event.name() == "windows.onFocusChanged"
            {
                focused.push(json!(event.shown(&Access::Of(extension))));
            }
        }
        assert_eq!(focused.len(), 1, "{focused:?}");
        assert_eq!(focused[0] == json!([-1]), wanted, "{focused:?}");
    }
}

#[test]
fn a_tab_of_an_incognito_window_is_not_sent_to_pages_of_the_user() {
    let mut bench = Bench::of(json!({ "name": "e" }), true);
    let window = bench.call("windows.create", json!([{ "incognito": true }])).unwrap();
    let tab = window["tabs"][0]["id"].clone();
    for page in ["settings", "extensions", "history"] {
        let url = format!("chrome://{page}/");
        let refused = bench.call("tabs.update", json!([tab, { "url": url }])).unwrap_err();
        assert_eq!(refused, format!("Cannot open URL \"{url}\" in an incognito window."));
    }
    for url in ["chrome://version/", "page.html", "http://a.test/"] {
        bench.call("tabs.update", json!([tab, { "url": url }])).unwrap();
    }
}

#[test]
fn an_extension_without_a_permission_has_no_function_of_its_namespace_whatever_it_is_given() {
    let mut bench = Bench { browser: Browser::with_blank_window(NOW, Compat::Browser) };
    let manifest = Manifest::read(&json!({ "name": "e" })).unwrap();
    bench.browser.install(Extension::new("e".into(), &manifest, false));
    for given in [json!([]), json!([{ "origin": 5 }])] {
        let refused = bench.call("scripting.insertCSS", given).unwrap_err();
        assert_eq!(refused, "chrome.scripting.insertCSS is not a function");
    }
}

#[test]
fn ids_of_a_window_that_is_not_seen_are_ids_of_nothing() {
    let mut bench = Bench::new();
    let url = "http://a.test/";
    let opened =
        bench.act(json!({ "type": "openWindow", "kind": "normal", "url": url, "incognito": true }));
    let window = opened["windowId"].as_i64().unwrap();
    let refused = bench.call("windows.get", json!([window])).unwrap_err();
    assert_eq!(refused, format!("No window with id: {window}."));
    let refused = bench.call("tabs.create", json!([{ "windowId": window }])).unwrap_err();
    assert_eq!(refused, format!("No window with id: {window}."));
    assert_eq!(bench.call("tabs.query", json!([{ "windowId": window }])).unwrap(), json!([]));
}

#[test]
fn tabs_do_not_cross_between_incognito_windows_and_others() {
    let manifest = json!({ "name": "e", "permissions": ["tabs"] });
    let mut bench = Bench::of(manifest, true);
    let window = bench.call("windows.create", json!([{ "incognito": true }])).unwrap();
    let tabs = bench.call("tabs.query", json!([{}])).unwrap();
    let normal = tabs.as_array().unwrap().iter().find(|tab| tab["incognito"] == false).unwrap();
    let to = json!({ "windowId": window["id"], "index": -1 });
    for refused in [
        bench.call("tabs.move", json!([normal["id"], to])),
        bench.call("tabs.group", json!([{ "tabIds": normal["id"] }])),
        bench.call("windows.create", json!([{ "tabId": normal["id"], "incognito": true }])),
    ] {
        let wanted = "Tabs can only be moved between windows in the same profile.";
        assert_eq!(refused.unwrap_err(), wanted);
    }
}

#[test]
fn tabs_of_applications_and_developer_tools_have_no_id_and_are_found_by_type_alone() {
    let mut bench = Bench::new();
    for kind in ["app", "devtools", "panel"] {
        let url = "http://a.test/";
        bench.act(json!({ "type": "openWindow", "kind": kind, "url": url }));
    }
    assert_eq!(bench.call("tabs.query", json!([{}])).unwrap().as_array().unwrap().len(), 2);
    for (kind, has_id) in [("app", false), ("devtools", false), ("panel", true)] {
        let found = bench.call("tabs.query", json!([{ "windowType": kind }])).unwrap();
        assert_eq!(found.as_array().unwrap().len(), 1, "{kind}");
        assert_eq!(found[0]["id"] != -1, has_id, "{kind}");
        let windows = bench.call("windows.getAll", json!([{ "windowTypes": [kind] }])).unwrap();
        assert_eq!(windows[0]["type"], kind);
    }
}

#[test]
fn an_extension_goes_to_pages_of_files_where_the_user_lets_it_read_them() {
    let mut bench = Bench::new();
    let tab = bench.call("tabs.query", json!([{}])).unwrap()[0]["id"].clone();
    let url = "file:///tmp/x.html";
    let source = format!("view-source:{url}");
    let calls = [
        ("tabs.create", json!([{ "url": url }])),
        ("tabs.update", json!([tab, { "url": source }])),
        ("windows.create", json!([{ "url": ["http://a.test/", url] }])),
    ];
    for (name, arguments) in &calls {
        let refused = bench.call(name, arguments.clone()).unwrap_err();
        assert_eq!(refused, "Cannot navigate to a file URL without local file access.", "{name}");
    }
    assert_eq!(bench.told(), [""; 0]);
    let manifest = Manifest::read(&json!({ "name": "e" })).unwrap();
    bench.browser.install(Extension::new("e".into(), &manifest, true));
    for (name, arguments) in calls {
        assert!(bench.call(name, arguments).is_ok(), "{name}");
    }
}

#[test]
fn pages_of_another_device_have_a_session_and_no_id_and_open_here() {
    let mut bench = Bench::of(json!({ "name": "e", "permissions": ["tabs"] }), false);
    let pages = json!([{ "url": "http://a.test/", "title": "A" }, { "url": "http://b.test/" }]);
    bench.act(json!({ "type": "syncDevice", "name": "phone", "pages": pages }));
    let devices = bench.call("sessions.getDevices", json!([])).unwrap();
    assert_eq!(devices[0]["deviceName"], "phone");
    let window = &devices[0]["sessions"][0]["window"];
    let tab = &window["tabs"][1];
    assert!(tab["sessionId"].is_string() && tab.get("id").is_none());
    assert_eq!((&tab["url"], &tab["index"]), (&json!("http://b.test/"), &json!(1)));
    let restored = bench.call("sessions.restore", json!([tab["sessionId"]])).unwrap();
    assert_eq!(restored["tab"]["pendingUrl"], "http://b.test/");
    assert!(restored["tab"]["id"].is_number());
    let restored = bench.call("sessions.restore", json!([window["sessionId"]])).unwrap();
    assert_eq!(restored["window"]["tabs"].as_array().map(Vec::len), Some(2));
    let none = bench.call("sessions.getDevices", json!([{ "maxResults": 0 }])).unwrap();
    assert_eq!(none[0]["sessions"], json!([]));
    let mut other = Bench::of(json!({ "name": "e" }), false);
    other.act(json!({ "type": "syncDevice", "name": "phone", "pages": pages }));
    let devices = other.call("sessions.getDevices", json!([])).unwrap();
    let tab = &devices[0]["sessions"][0]["window"]["tabs"][0];
    assert!(tab.get("url").is_none() && tab["sessionId"].is_string());
    other.act(json!({ "type": "syncDevice", "name": "phone", "pages": [] }));
    assert_eq!(other.call("sessions.getDevices", json!([])).unwrap(), json!([]));
}

#[test]
fn a_script_goes_only_where_the_extension_may_read() {
    let manifest = json!({ "name": "e", "host_permissions": ["http://a.test/*"] });
    let mut bench = Bench::of(manifest, false);
    let blank = bench.call("tabs.query", json!([{}])).unwrap()[0]["id"].clone();
    let script = |tab: &Value| json!([{ "target": { "tabId": tab }, "files": ["a.js"] }]);
    let access = "Cannot access contents of the page. Extension manifest must request permission to access the respective host.";
    assert_eq!(bench.call("scripting.executeScript", script(&blank)).unwrap_err(), access);
    assert_eq!(
        bench.call("scripting.executeScript", script(&json!(7))).unwrap_err(),
        "No tab with id: 7"
    );
    let sheet = json!([{ "target": { "tabId": blank }, "css": "p {}", "files": ["a.css"] }]);
    assert_eq!(
        bench.call("scripting.insertCSS", sheet).unwrap_err(),
        "Exactly one of 'css' and 'files' must be specified."
    );
}
