//! The row of a navigation that is on its way: after a restart it begins again as what it was.

use serde::{Deserialize, Serialize};

use crate::browser::tab::PendingNavigation;
use crate::engine::NavigationKind;

/// The part of a navigation that is kept beside its address.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NavigationRow {
    /// Its effect on the history, with a place among the pages that are kept.
    effect: NavigationKind,
    is_shown: bool,
    is_refused: bool,
}

/// The row of a navigation of a tab whose first `skipped` pages are not kept.
pub(super) fn row(navigation: &PendingNavigation, skipped: usize) -> NavigationRow {
    let &PendingNavigation { kind, is_shown, is_refused, .. } = navigation;
    let effect = match kind {
        // The document that made the entry does not outlive the browser, so that a step in it becomes a way to another one.
        NavigationKind::Traverse(at) | NavigationKind::Step(at) => {
            at.checked_sub(skipped).map_or(NavigationKind::Push, NavigationKind::Traverse)
        }
        other => other,
    };
    NavigationRow { effect, is_shown, is_refused }
}

/// The navigation of a row, in a history of so many pages. Rows of before all of it was kept have the address alone.
pub(super) fn read(url: &str, row: Option<NavigationRow>, pages: usize) -> PendingNavigation {
    let plain = NavigationRow { effect: NavigationKind::Push, is_shown: true, is_refused: false };
    let NavigationRow { effect, is_shown, is_refused } = row.unwrap_or(plain);
    let kind = match effect {
        NavigationKind::Traverse(at) | NavigationKind::Step(at) if at >= pages => {
            NavigationKind::Push
        }
        other => other,
    };
    PendingNavigation { is_shown, is_refused, ..PendingNavigation::new(url, kind) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use serde_json::{Value, json};
    use triptych_core::time::Timestamp;

    use crate::browser::{Browser, Compat};
    use crate::engine::fixtures::Pages;
    use crate::engine::simulated::SimEngine;
    use crate::extension::manifest::Manifest;
    use crate::extension::permission::{Access, Extension};
    use crate::id::TabId;
    use crate::js_value::JsValue;
    use crate::operation::{Caller, Command, Context, Style};
    use crate::session::Session;

    const BEGIN: Timestamp = Timestamp::from_seconds(1_790_000_000);
    /// The time in which every page has loaded.
    const LOADED: Duration = Duration::from_secs(60);
    /// The tab that the tests are about.
    const TAB: i64 = 1_000_004;

    /// A browser and the rows that are kept of it.
    struct Bench {
        session: Session,
        now: Timestamp,
        kept: BTreeMap<Vec<u8>, Vec<u8>>,
    }

    impl Bench {
        fn of(browser: Browser, now: Timestamp) -> Self {
            let session = Session::new(browser, Box::new(SimEngine::new(Pages::default())));
            Self { session, now, kept: BTreeMap::new() }
        }

        /// Changes the browser, and keeps what has to be kept before the answer goes out.
        fn change<T>(&mut self, change: impl FnOnce(&mut Browser) -> T) -> T {
            let outcome = self.session.change(self.now, change);
            self.keep();
            outcome
        }

        /// Calls an operation, and keeps as much.
        fn call(&mut self, name: &str, arguments: &Value) {
            let caller = Caller { extension: "ext".into(), context: Context::Worker };
            let given: Vec<JsValue> = serde_json::from_value(arguments.clone()).unwrap();
            let command = Command::read(name, &given, Style::Promise).unwrap();
            let outcome = self.session.apply(self.now, &caller, &command);
            assert!(outcome.is_ok(), "{name} {arguments}: {outcome:?}");
            self.keep();
        }

        fn keep(&mut self) {
            for (key, value) in self.session.take_changes() {
                match value {
                    Some(value) => self.kept.insert(key, value),
                    None => self.kept.remove(&key),
                };
            }
        }

        fn load(&mut self) {
            self.now = self.now.plus(LOADED);
            self.session.advance(self.now);
            self.keep();
        }

        /// The browser after a kill at this moment.
        fn killed(&self) -> Self {
            let rows: Vec<_> = self.kept.clone().into_iter().collect();
            let mut browser = Browser::restore(self.now, Compat::Browser, &rows).unwrap().unwrap();
            browser.install(extension());
            let mut after = Self::of(browser, self.now);
            // What begins with the start goes to the engine.
            after.change(|_| ());
            after
        }

        /// All tabs as clients see them, with their zoom.
        fn tabs(&self) -> Vec<Value> {
            let browser = self.session.browser();
            let windows = json!(browser.all_windows(&Access::Full));
            let windows = windows.as_array().unwrap().iter();
            let tabs = windows.flat_map(|window| window["tabs"].as_array().unwrap().clone());
            let without_moments = |mut tab: Value| {
                let shown = tab.as_object_mut().unwrap();
                shown.retain(|name, _| name != "frozen" && name != "lastAccessed");
                let id = shown["id"].as_i64().map(TabId);
                let zoom = browser.factor_of(browser.strips().tab(id.unwrap()).unwrap());
                shown.insert("zoom".into(), zoom.into());
                tab
            };
            tabs.map(without_moments).collect()
        }

        /// The tab as clients see it, with its history.
        fn shown(&self) -> Value {
            let tab = self.session.browser().strips().tab(TabId(TAB)).unwrap();
            let pages = tab.history.iter();
            let pages =
                pages.map(|entry| json!([&*entry.url, &*entry.title, entry.icon.as_deref()]));
            let history = json!({"pages": pages.collect::<Vec<_>>(), "at": tab.history_at});
            let shown = self.tabs().into_iter().find(|tab| tab["id"] == TAB);
            json!({"tab": shown, "history": history})
        }
    }

    fn extension() -> Extension {
        let permissions = vec!["tabs".into(), "sessions".into()];
        Extension::new("ext".into(), &Manifest { permissions, ..Manifest::default() }, true)
    }

    /// A browser with a tab on the second of its three pages, of which the user used all.
    fn on_second_page() -> Bench {
        let mut browser = Browser::with_blank_window(BEGIN, Compat::Browser);
        browser.install(extension());
        let mut bench = Bench::of(browser, BEGIN);
        bench.call("tabs.create", &json!([{"url": "http://a.test/1"}]));
        bench.load();
        for url in ["http://a.test/2", "http://a.test/3"] {
            let now = bench.now;
            bench.change(|browser| browser.gesture(now, TabId(TAB), None)).unwrap();
            bench.call("tabs.update", &json!([TAB, {"url": url}]));
            bench.load();
        }
        bench.call("tabs.goBack", &json!([TAB]));
        bench.load();
        bench
    }

    #[test]
    fn a_navigation_that_a_kill_meets_on_its_way_begins_again_as_what_it_was() {
        for (name, arguments) in [
            ("tabs.update", json!([TAB, {"url": "http://b.test/"}])),
            ("tabs.update", json!([TAB, {"url": "http://a.test/2#part"}])),
            // Where only the user may go, no page comes.
            ("tabs.update", json!([TAB, {"url": "data:text/plain,text"}])),
            ("tabs.reload", json!([TAB])),
            ("tabs.goBack", json!([TAB])),
            ("tabs.goForward", json!([TAB])),
        ] {
            let mut before = on_second_page();
            before.call(name, &arguments);
            let mut after = before.killed();
            assert_eq!(after.shown(), before.shown(), "right after {name} {arguments}");
            before.load();
            after.load();
            assert_eq!(after.shown(), before.shown(), "after {name} {arguments}");
        }
    }

    #[test]
    fn a_page_without_a_title_is_named_by_the_fragment_that_a_kill_met_it_on_its_way_to() {
        let mut before = on_second_page();
        before.call("tabs.update", &json!([TAB, {"url": "about:blank"}]));
        before.load();
        before.call("tabs.update", &json!([TAB, {"url": "about:blank#part"}]));
        let mut after = before.killed();
        before.load();
        after.load();
        assert_eq!(after.shown()["tab"]["title"], "about:blank#part");
        assert_eq!(after.shown(), before.shown());
    }

    #[test]
    fn a_page_that_the_user_did_something_on_is_one_to_go_back_to_after_a_kill_too() {
        let mut before = on_second_page();
        let now = before.now;
        before.change(|browser| browser.gesture(now, TabId(TAB), None)).unwrap();
        let mut after = before.killed();
        after.call("tabs.update", &json!([TAB, {"url": "http://b.test/"}]));
        after.load();
        after.call("tabs.goBack", &json!([TAB]));
        after.load();
        assert_eq!(after.shown()["tab"]["url"], "http://a.test/2");
    }

    #[test]
    fn a_tab_that_a_page_opened_where_no_page_leads_stays_empty_after_a_kill() {
        let mut before = on_second_page();
        let now = before.now;
        let script = "window.open(\"data:text/plain,text\")&&0".to_owned();
        before.change(|browser| browser.gesture(now, TabId(TAB), Some(script))).unwrap();
        before.now = before.now.plus(Duration::from_millis(1));
        before.change(|_| ());
        let mut after = before.killed();
        before.load();
        after.load();
        let (before, after) = (before.tabs(), after.tabs());
        assert_eq!(before.len(), 3, "{before:?}");
        assert_eq!(after, before);
    }

    #[test]
    fn a_copy_in_a_window_behind_is_after_a_kill_what_it_was_with_and_without_the_page_that_it_is_of()
     {
        for is_source_closed in [false, true] {
            let mut before = on_second_page();
            before.call("tabs.setZoom", &json!([TAB, 2]));
            before.call("windows.create", &json!([{"url": "http://b.test/"}]));
            before.load();
            before.call("tabs.duplicate", &json!([TAB]));
            before.load();
            if is_source_closed {
                before.call("tabs.remove", &json!([TAB]));
            }
            let mut after = before.killed();
            assert_eq!(after.tabs(), before.tabs());
            for bench in [&mut before, &mut after] {
                bench.load();
            }
            assert_eq!(after.tabs(), before.tabs());
            let is_unloaded = |tab: &Value| tab["status"] == "unloaded";
            assert_eq!(after.tabs().iter().any(is_unloaded), is_source_closed);
            // It comes once its window is in front.
            let window = before.tabs()[0]["windowId"].clone();
            for bench in [&mut before, &mut after] {
                bench.call("windows.update", &json!([window, {"focused": true}]));
                bench.load();
            }
            assert_eq!(after.tabs(), before.tabs());
            assert!(!after.tabs().iter().any(is_unloaded));
        }
    }

    #[test]
    fn a_page_of_an_error_comes_back_with_the_zoom_of_errors() {
        let mut before = on_second_page();
        // A host with spaces does not resolve.
        for host in ["a b", "c d"] {
            before.call("tabs.update", &json!([TAB, {"url": format!("http://{host}/")}]));
            before.load();
            if host == "a b" {
                before.call("tabs.setZoom", &json!([TAB, 2]));
            }
        }
        let shown = before.killed().shown();
        assert_eq!(shown["tab"]["zoom"].as_f64().map(f64::round), Some(2.0), "{shown}");
    }

    #[test]
    fn pages_of_the_history_have_their_icons_after_a_kill_too() {
        let mut before = on_second_page();
        for url in ["chrome://version/", "http://b.test/"] {
            before.call("tabs.update", &json!([TAB, {"url": url}]));
            before.load();
        }
        let (shown, restored) = (before.shown(), before.killed().shown());
        assert_eq!(restored["history"], shown["history"]);
        assert!(shown["history"]["pages"][2][2].is_string(), "{shown}");
    }

    #[test]
    fn pages_of_a_window_that_was_brought_back_take_their_turns_after_a_kill_too() {
        let mut before = on_second_page();
        let pages = ["http://b.test/1", "http://b.test/2", "http://b.test/3"];
        before.call("windows.create", &json!([{"url": pages}]));
        before.load();
        let is_of_it = |tab: &Value| pages.iter().any(|page| tab["url"] == *page);
        let window = before.tabs().into_iter().find(is_of_it).unwrap()["windowId"].clone();
        before.call("windows.remove", &json!([window]));
        before.call("sessions.restore", &json!([]));
        let mut after = before.killed();
        let waiting = |bench: &Bench| {
            let tabs = bench.tabs();
            tabs.iter().filter(|tab| tab["status"] == "unloaded").count()
        };
        assert_eq!((waiting(&before), waiting(&after)), (2, 2));
        before.load();
        after.load();
        assert_eq!((waiting(&before), waiting(&after)), (0, 0));
        assert_eq!(after.tabs(), before.tabs());
    }
}
