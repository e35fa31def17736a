//! Acts of a scenario in pages, as a user's gesture.

use std::time::Duration;

use serde_json::{Value, json};
use triptych_core::time::Timestamp;

use super::{EXTENSION, Replay};
use crate::browser::tab::TabView;
use crate::extension::permission::Access;
use crate::id::TabId;
use crate::js_value::JsValue;

/// The time that the recorder takes for an act, in which the page has done what it does at once.
const ACTING: Duration = Duration::from_millis(1);
/// The time in which a page that closes itself is gone.
const CLOSING: Duration = Duration::from_millis(2);
/// The time that the recorder waits for a page that does not run.
const PATIENCE: Duration = Duration::from_secs(4);
/// The time that the recorder takes for a page, before it goes on to the next.
const EACH_PAGE: Duration = Duration::from_millis(22);

impl Replay {
    /// Acts in a tab's page alone; the result is how many pages that were.
    pub(super) fn act(&mut self, now: Timestamp, args: &[JsValue]) -> Value {
        let tab = args.first().and_then(JsValue::integer).map(TabId);
        // Where there is no such tab, or the call failed that was to open it, there is no page to act on.
        let is_there = tab.is_some_and(|tab| self.act_in(now, tab, args.get(1)));
        self.skipped += ACTING;
        self.session.advance(self.now(now));
        json!({ "result": i64::from(is_there) })
    }

    /// Acts in each page of a tab's address, by which the contract's recorder knows pages, from the tab's own on around; the result is how many there were.
    pub(super) fn gesture(&mut self, now: Timestamp, args: &[JsValue]) -> Option<Value> {
        let tab = TabId(args.first()?.integer()?);
        let pages = self.pages_of_address(tab);
        for (number, page) in pages.iter().enumerate() {
            if number > 0 {
                self.skipped += EACH_PAGE;
            }
            if !self.runs(*page) {
                self.skipped += PATIENCE;
                return Some(failed("Error: cdp timeout Runtime.evaluate"));
            }
            self.act_in(now, *page, args.get(1));
            self.skipped += CLOSING;
            self.session.advance(self.now(now));
            if self.view(*page).is_none() {
                // The recorder's session ended with the page, and it goes no further.
                return Some(failed("Error: No session with given id"));
            }
        }
        Some(json!({ "result": pages.len() }))
    }

    fn act_in(&mut self, now: Timestamp, tab: TabId, script: Option<&JsValue>) -> bool {
        let script = script.and_then(JsValue::text).map(str::to_owned);
        let at = self.now(now);
        self.session.change(at, |browser| browser.gesture(at, tab, script)).is_ok()
    }

    fn view(&self, tab: TabId) -> Option<TabView> {
        let windows = self.session.browser().all_windows(&Access::Full);
        windows
            .into_iter()
            .flat_map(|window| window.tabs.into_iter().flatten())
            .find(|one| one.id == tab.0)
    }

    fn runs(&self, tab: TabId) -> bool {
        self.view(tab).is_some_and(|tab| !tab.discarded)
    }

    /// The tabs that show the address which the recorded extension sees in this one; none where it sees no address.
    fn pages_of_address(&self, named: TabId) -> Vec<TabId> {
        let browser = self.session.browser();
        let Some(extension) = browser.extension(EXTENSION) else { return Vec::new() };
        let seen = browser.all_windows(&Access::Of(extension));
        let mut seen = seen.iter().flat_map(|window| window.tabs.iter().flatten());
        let Some(address) = seen.find(|tab| tab.id == named.0).and_then(|tab| tab.url.clone())
        else {
            return Vec::new();
        };
        let shown = browser.all_windows(&Access::Full);
        let shown = shown.iter().flat_map(|window| window.tabs.iter().flatten());
        let same = shown.filter(|tab| tab.url.as_deref() == Some(&*address));
        let mut pages: Vec<_> = same.map(|tab| TabId(tab.id)).collect();
        let first = pages.iter().position(|page| *page == named).unwrap_or(0);
        pages.rotate_left(first);
        pages
    }
}

/// The answer of the recorder where its own tools failed.
fn failed(message: &str) -> Value {
    json!({ "error": { "kind": "harness", "message": message } })
}
