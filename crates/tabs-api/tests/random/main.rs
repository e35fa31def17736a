//! Long random sequences of calls and of what users, pages and the machine do: after each step what must hold of strips, groups and windows is
//! checked by the engine itself, the same seed gives the same events, whoever listens can follow the strips by events alone, and each of
//! several extensions is told what it may see.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod odd_arguments;
mod strip_model;

use proptest::prelude::*;
use serde_json::{Value, json};
use tabs_api::browser::event::Event;
use tabs_api::browser::{Browser, Compat};
use tabs_api::engine::fixtures::Pages;
use tabs_api::engine::simulated::SimEngine;
use tabs_api::error::Error;
use tabs_api::extension::manifest::Manifest;
use tabs_api::extension::permission::{Access, Extension};
use tabs_api::js_value::JsValue;
use tabs_api::operation::{Asked, Caller, Command, Context, Style};
use tabs_api::session::{Output, Session};
use triptych_core::time::Timestamp;

use crate::strip_model::{StripModel, is_part};

const EXTENSION: &str = "abcdefghijklmnopabcdefghijklmnop";

/// A call or an action on tabs, windows and groups that are named by their place among those that exist.
#[derive(Debug, Clone)]
struct Step {
    operation: &'static str,
    tab: usize,
    other: usize,
    window: usize,
    number: i64,
    flag: bool,
}

const OPERATIONS: &[&str] = &[
    "tabs.create",
    "tabs.duplicate",
    "tabs.move",
    "tabs.remove",
    "tabs.group",
    "tabs.ungroup",
    "tabs.highlight",
    "tabs.update",
    "tabs.discard",
    "tabs.reload",
    "tabs.goBack",
    "tabs.goForward",
    "tabs.setZoom",
    "tabs.setZoomSettings",
    "windows.create",
    "windows.remove",
    "windows.update",
    "tabGroups.move",
    "tabGroups.update",
    "sessions.restore",
];

/// Actions of the user, of a page and of the machine.
const ACTIONS: &[&str] = &[
    "activate",
    "toggle",
    "extend",
    "moveBy",
    "newTab",
    "restoreTab",
    "traverse",
    "close",
    "pin",
    "muteSite",
    "zoomStep",
    "drag",
    "dragOut",
    "dragGroup",
    "toggleGroup",
    "chooseFromMenu",
    "openLink",
    "gesture",
    "capture",
    "freeze",
    "memoryPressure",
    "replace",
    "openWindow",
    "focus",
    "closeWindow",
];

/// Code that pages run.
const SCRIPTS: &[&str] = &[
    "window.open(\"/b.html\")&&0",
    "window.open(\"/c.html\",\"named\")&&0",
    "window.open(\"/d.html\",\"\",\"popup\")&&0",
    "window.close();0",
    "location.href=\"/e.html\";0",
    "location.hash=\"f\";0",
    "history.back();0",
    "opener&&(opener.location=\"/g.html\");0",
];

/// Entries of a tab's menu.
const ENTRIES: &[&str] = &[
    "newTab",
    "newGroup",
    "newWindow",
    "reload",
    "duplicate",
    "pin",
    "close",
    "closeOthers",
    "closeRight",
];

fn step() -> impl Strategy<Value = Step> {
    let fields = (
        prop::sample::select([OPERATIONS, ACTIONS].concat()),
        0..12_usize,
        0..12_usize,
        0..4_usize,
        -1..9_i64,
        any::<bool>(),
    );
    fields.prop_map(|(operation, tab, other, window, number, flag)| Step {
        operation,
        tab,
        other,
        window,
        number,
        flag,
    })
}

struct World {
    session: Session,
    now: Timestamp,
    log: Vec<String>,
    model: StripModel,
}

/// Extensions that only listen: their ids, permissions, host permissions, and whether the user lets them into incognito windows.
const LISTENERS: &[(&str, &[&str], &[&str], bool)] = &[
    ("bbcdefghijklmnopabcdefghijklmnop", &["tabs", "tabGroups"], &[], true),
    ("cbcdefghijklmnopabcdefghijklmnop", &["tabs"], &[], false),
    ("dbcdefghijklmnopabcdefghijklmnop", &[], &["http://h1.test/*"], true),
    ("ebcdefghijklmnopabcdefghijklmnop", &[], &[], false),
];

impl World {
    fn new(compat: Compat) -> Self {
        let now = Timestamp::from_seconds(1_000_000);
        let mut browser = Browser::with_blank_window(now, compat);
        let manifest = Manifest {
            permissions: vec!["tabs".into(), "tabGroups".into()],
            ..Manifest::default()
        };
        browser.install(Extension::new(EXTENSION.into(), &manifest, false));
        for (id, permissions, hosts, is_let) in LISTENERS {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            let manifest = Manifest {
                permissions: owned(permissions),
                host_permissions: owned(hosts),
                ..Manifest::default()
            };
            let extension = Extension::new((*id).to_owned(), &manifest, false);
            browser.install(extension.let_incognito(*is_let));
        }
        let engine = SimEngine::new(Pages::default());
        let session = Session::new(browser, Box::new(engine));
        let model = StripModel::of(&json!(session.browser().all_windows(&Access::Full)));
        Self { session, now, log: Vec::new(), model }
    }

    fn all(&self) -> Value {
        json!(self.session.browser().all_windows(&Access::Full))
    }

    /// The ids of this kind, in the order of windows and strips.
    fn ids(&self, pointer: &str) -> Vec<i64> {
        let windows = self.all();
        let windows = windows.as_array().cloned().unwrap_or_default();
        if pointer == "window" {
            return windows.iter().filter_map(|window| window["id"].as_i64()).collect();
        }
        let tabs = windows.iter().filter_map(|window| window["tabs"].as_array()).flatten();
        let ids = tabs.filter_map(|tab| tab[pointer].as_i64());
        ids.filter(|id| *id > 0).collect()
    }

    /// Names what a step is about: a tab, another one, a window, a group.
    fn targets(&self, step: &Step) -> [i64; 4] {
        let pick =
            |ids: &[i64], place: usize| ids.get(place % ids.len().max(1)).copied().unwrap_or(999);
        let (tabs, windows, groups) = (self.ids("id"), self.ids("window"), self.ids("groupId"));
        [
            pick(&tabs, step.tab),
            pick(&tabs, step.other),
            pick(&windows, step.window),
            pick(&groups, step.other),
        ]
    }

    fn run(&mut self, step: &Step) {
        let answer =
            if ACTIONS.contains(&step.operation) { self.act(step) } else { self.call(step) };
        self.settle();
        self.log.push(answer);
    }

    /// Lets a moment pass, and follows what is told of it.
    fn settle(&mut self) {
        self.now = Timestamp::from_micros(self.now.micros() + 25_000);
        self.session.advance(self.now);
        self.session.browser().assert_invariants();
        while let Some(output) = self.session.poll() {
            if let Output::Event(event) = output {
                let full = json!(event.shown(&Access::Full));
                self.log.push(format!("{} {full}", event.name()));
                self.model.follow(event.name(), &full);
                self.check_listeners(&event, &full);
            }
        }
        self.check_views();
        self.model.check(&self.all());
    }

    /// Checks what each extension is told of an event.
    fn check_listeners(&self, event: &Event, full: &Value) {
        let browser = self.session.browser();
        for (id, permissions, hosts, is_let) in LISTENERS {
            let extension = browser.extension(id).unwrap();
            let space = event.name().split('.').next().unwrap_or_default();
            let is_permitted =
                !["tabGroups", "sessions"].contains(&space) || permissions.contains(&space);
            if !is_permitted {
                assert!(!browser.tells(extension, event), "{} needs a permission", event.name());
            }
            if !browser.tells(extension, event) {
                assert!(!is_permitted || !is_let, "{} {full} is told to {id}", event.name());
                continue;
            }
            let shown = json!(event.shown(&Access::Of(extension)));
            assert!(is_part(&shown, full), "{shown} is of {full}");
            match (permissions.contains(&"tabs"), hosts.is_empty()) {
                (true, _) => assert_eq!(&shown, full, "{id} sees everything"),
                (false, true) => assert!(!shown.to_string().contains("\"url\""), "{shown}"),
                (false, false) => {}
            }
            let is_incognito = full.pointer("/0/incognito") == Some(&json!(true));
            assert!(*is_let || !is_incognito, "{id} sees no incognito tab: {full}");
        }
    }

    fn act(&mut self, step: &Step) -> String {
        let [tab, other, window, group] = self.targets(step);
        let (index, flag) = (step.number.unsigned_abs(), step.flag);
        let one_of = |words: &'static [&str]| words.get(step.other % words.len());
        let mut action = match step.operation {
            "moveBy" | "traverse" => json!({ "tabId": tab, "forward": flag }),
            "newTab" | "restoreTab" | "focus" | "closeWindow" => json!({ "windowId": window }),
            "pin" => json!({ "tabId": tab, "pinned": flag }),
            "muteSite" => json!({ "tabId": tab, "muted": flag }),
            "zoomStep" => json!({ "tabId": tab, "step": step.number.signum() }),
            "drag" if flag => json!({ "tabIds": [tab], "windowId": window, "index": index }),
            "drag" => json!({ "tabIds": [tab, other], "index": index }),
            "dragOut" => json!({ "tabIds": [tab] }),
            "dragGroup" => json!({ "groupId": group, "index": index }),
            "toggleGroup" => json!({ "groupId": group }),
            "chooseFromMenu" => json!({ "tabId": tab, "entry": one_of(ENTRIES) }),
            "openLink" => {
                let place = if flag { "front" } else { "background" };
                json!({ "tabId": tab, "url": "http://h1.test/", "place": place })
            }
            "gesture" => json!({ "tabId": tab, "script": one_of(SCRIPTS) }),
            "capture" => json!({ "tabId": tab, "captured": flag }),
            "freeze" => json!({ "tabId": tab, "frozen": flag }),
            "memoryPressure" => json!({}),
            "replace" => json!({ "tabId": tab, "url": "http://h2.test/" }),
            "openWindow" => {
                let kind = if index > 5 { "popup" } else { "normal" };
                json!({ "kind": kind, "url": "http://h3.test/", "incognito": flag })
            }
            _ => json!({ "tabId": tab }),
        };
        action.as_object_mut().unwrap().insert("type".to_owned(), step.operation.into());
        let action = serde_json::from_value(action).unwrap();
        let now = self.now;
        format!("{:?}", self.session.change(now, |browser| browser.user_action(now, action)))
    }

    fn call(&mut self, step: &Step) -> String {
        let [tab, other, window, group] = self.targets(step);
        let url = format!("http://h{}.test/", step.number.abs());
        let arguments = match step.operation {
            "tabs.create" => {
                json!([{ "url": url, "index": step.number.abs(), "active": step.flag, "windowId": window, "pinned": step.number > 6 }])
            }
            "tabs.move" if step.flag => {
                json!([[tab, other], { "index": step.number, "windowId": window }])
            }
            "tabs.move" => json!([tab, { "index": step.number }]),
            "tabs.remove" | "tabs.ungroup" => json!([[tab]]),
            "tabs.group" if step.flag => json!([{ "tabIds": [tab, other] }]),
            "tabs.group" => json!([{ "tabIds": [tab, other], "groupId": group }]),
            "tabs.highlight" => json!([{ "tabs": [step.number, step.tab], "windowId": window }]),
            "tabs.update" => {
                json!([tab, { "active": step.flag, "pinned": step.number % 2 == 0, "highlighted": step.number > 2, "openerTabId": other }])
            }
            "tabs.setZoom" => json!([tab, step.number]),
            "tabs.setZoomSettings" => {
                let modes = ["automatic", "manual", "disabled"];
                json!([tab, { "mode": modes.get(step.other % 3) }])
            }
            "windows.create" if step.flag => json!([{ "tabId": tab }]),
            "windows.create" if step.number < 2 => json!([{ "url": url, "incognito": true }]),
            "windows.create" => {
                json!([{ "url": url, "type": if step.number > 4 { "popup" } else { "normal" } }])
            }
            "windows.remove" => json!([window]),
            "windows.update" => json!([window, { "focused": step.flag }]),
            "tabGroups.move" => json!([group, { "index": step.number, "windowId": window }]),
            "tabGroups.update" => json!([group, { "collapsed": step.flag }]),
            "sessions.restore" => json!([]),
            _ => json!([tab]),
        };
        let arguments: Vec<JsValue> = serde_json::from_value(arguments).unwrap();
        let caller = Caller { extension: EXTENSION.into(), context: Context::Worker };
        let command = Command::read(step.operation, &arguments, Style::Promise);
        let answer = command.and_then(|command| self.session.apply(self.now, &caller, &command));
        format!("{answer:?}")
    }

    /// Checks that extensions see a consistent browser: dense indices, one active tab a window, openers that exist.
    fn check_views(&self) {
        let windows = self.all();
        let ids = self.ids("id");
        for window in windows.as_array().unwrap() {
            let tabs = window["tabs"].as_array().unwrap();
            let active = tabs.iter().filter(|tab| tab["active"] == true).count();
            assert_eq!(active, 1, "one tab of a window is active");
            for (index, tab) in tabs.iter().enumerate() {
                assert_eq!(tab["index"], json!(index), "indices are dense");
                let opener = tab.get("openerTabId").and_then(Value::as_i64);
                assert!(opener.is_none_or(|opener| ids.contains(&opener)), "openers exist");
                assert!(opener.is_none_or(|opener| Some(opener) != tab["id"].as_i64()));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_called_the_strips_stay_whole(steps in prop::collection::vec(step(), 1..80), is_browser: bool) {
        let mut world = World::new(if is_browser { Compat::Browser } else { Compat::Spec });
        for step in &steps {
            world.run(step);
        }
    }

    #[test]
    fn whatever_is_given_is_answered_and_what_does_not_fit_changes_nothing(calls in prop::collection::vec(odd_arguments::call(), 1..60), is_browser: bool) {
        let mut world = World::new(if is_browser { Compat::Browser } else { Compat::Spec });
        for (name, given) in &calls {
            let before = world.all();
            let caller = Caller { extension: EXTENSION.into(), context: Context::Worker };
            let asked = Asked { name, given, style: Style::AsGiven };
            let now = world.now;
            let answer = world.session.call(now, &caller, asked);
            let is_unfit = matches!(answer, Err(Error::Arguments { .. } | Error::NoSuchOperation(_)));
            if is_unfit {
                prop_assert_eq!(&world.all(), &before, "{} {:?}", name, given);
            }
            world.settle();
            if world.all().as_array().is_none_or(Vec::is_empty) {
                break;
            }
        }
    }

    #[test]
    fn the_same_calls_give_the_same_events(steps in prop::collection::vec(step(), 1..40)) {
        let logs = [0, 1].map(|_| {
            let mut world = World::new(Compat::Browser);
            steps.iter().for_each(|step| world.run(step));
            world.log
        });
        prop_assert_eq!(&logs[0], &logs[1]);
    }
}
