//! Rows of a browser that survive a restart: windows, strips, tabs with their history, groups, zoom levels, what was closed last, and the ids that were given.
//!
//! After each command [`Browser::take_changes`] gives the rows that differ from what was kept; whoever
//! keeps them commits them before the answer goes out, with `Durability::Process`: a click needs no fsync.

pub mod archive;
mod closed;
mod long_row;
mod navigation;
mod restore;
mod restored_tab;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use triptych_core::kv::Key;

use self::closed::closed_row;
use self::navigation::NavigationRow;
pub use self::restore::DamagedRow;
use crate::browser::group::Group;
use crate::browser::tab::{HistoryEntry, MuteReason, Tab};
use crate::browser::window::Window;
use crate::browser::{Browser, KeptStrip};
use crate::id::{GroupId, WindowId};

/// A row to keep: its key, and its value or `None` to forget it.
pub type Row = (Vec<u8>, Option<Vec<u8>>);

/// The number of tab ids that one row of a strip names; longer strips have several rows, in tests already those of a few tabs.
const STRIP_CHUNK: usize = if cfg!(test) { 3 } else { 2_000 };
/// The number of pages of a tab's history that are kept.
const HISTORY_KEPT: usize = 50;

/// Start of the keys of the records of profiles. No profile's own rows have it, nor those that follow: no name of one has this sign.
pub const PROFILES: &[u8] = b"!profiles/";
/// Start of the keys of rows that were set down, by the id of their write.
pub const ASIDE: &[u8] = b"!aside/";
/// Start of the keys of the marks of writes that were set down whole.
pub const WHOLE: &[u8] = b"!whole/";

/// Rows are told apart by the first byte of their key.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
enum Table {
    Meta = 1,
    Window = 2,
    Strip = 3,
    Tab = 4,
    Group = 5,
    Zoom = 6,
    /// A piece of a row of another table.
    Piece = 7,
    MutedSite = 8,
    Closed = 9,
}

impl Table {
    /// Returns whether there is a table of this number; each but the last is below it.
    const fn is_number(number: u8) -> bool {
        Self::Meta as u8 <= number && number <= Self::Closed as u8
    }
}

#[derive(Serialize, Deserialize)]
struct Meta {
    next_id: i64,
    next_number: u64,
    focus_order: Vec<i64>,
}

#[derive(Serialize, Deserialize)]
struct WindowRow {
    kind: String,
    active: Option<i64>,
    highlighted: Vec<i64>,
    state: String,
    left: i64,
    top: i64,
    width: i64,
    height: i64,
    incognito: bool,
    /// Rows of before this was told have none; then normal windows alone do.
    #[serde(default)]
    takes_groups: bool,
}

#[derive(Serialize, Deserialize)]
struct GroupRow {
    window: i64,
    color: String,
    title: String,
    collapsed: bool,
}

#[derive(Serialize, Deserialize)]
struct TabRow {
    stable_id: u64,
    window: i64,
    pinned: bool,
    group: Option<i64>,
    opener: Option<i64>,
    url: String,
    title: String,
    icon: Option<String>,
    /// The address that it was going to: it sets out again after a restart.
    pending: Option<String>,
    /// The rest of that navigation. Rows of earlier releases have neither this nor what stands behind it, up to `is_used`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    navigation: Option<NavigationRow>,
    /// True if it shows the empty page that pages open others with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    starts_empty: bool,
    /// True if its page waits for its turn to load, behind others of a window that was brought back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    waits_for_turn: bool,
    /// True if it is a copy that waits to load until it is shown in a window in front.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    waits_to_load: bool,
    /// True if it is a copy that has nothing to load.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_empty_copy: bool,
    /// Its browsing context group, where it shares that with other tabs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context_group: Option<i64>,
    /// The address that it was first sent to, where it is at another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first_url: Option<String>,
    /// True if it has an address, but nothing was committed since it was copied or brought back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_fresh: bool,
    /// True if the user did something on its page since it came.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_used: bool,
    discarded: bool,
    auto_discardable: bool,
    muted: bool,
    mute_reason: Option<String>,
    last_accessed: i64,
    was_shown: bool,
    history: Vec<(String, String, bool)>,
    /// The icons of these pages, by their places among them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    history_icons: BTreeMap<u64, String>,
    history_at: usize,
    language: Option<String>,
    /// True if it shows the browser's own page in place of one that could not be loaded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    shows_error: bool,
}

fn key(table: Table, part: &impl Key) -> Vec<u8> {
    let mut key = vec![table as u8];
    part.write(&mut key);
    key
}

fn id_key(table: Table, id: i64) -> Vec<u8> {
    key(table, &id.unsigned_abs())
}

/// The row of something, or the end of its row where it is gone.
fn row_or_none(key: Vec<u8>, value: Option<&impl Serialize>) -> Row {
    match value {
        Some(value) => row(key, value),
        None => (key, None),
    }
}

fn row(key: Vec<u8>, value: &impl Serialize) -> Row {
    // Records of text and numbers always serialize.
    (key, serde_json::to_vec(value).ok())
}

impl Browser {
    /// The rows that differ from those taken before, everything the first time.
    pub fn take_changes(&mut self) -> Vec<Row> {
        if self.dirty_mut().is_empty() {
            return Vec::new();
        }
        let mut dirty = std::mem::take(self.dirty_mut());
        let mut rows = vec![row(key(Table::Meta, &()), &self.meta())];
        for id in dirty.tabs.into_iter().filter(|id| id.0 > 0) {
            // Of incognito windows nothing is kept.
            let is_kept = |tab: &&Tab| self.is_kept(tab.window);
            let tab = self.strips().tab(id).filter(is_kept).map(tab_row);
            rows.push(row_or_none(id_key(Table::Tab, id.0), tab.as_ref()));
        }
        for id in dirty.windows {
            self.window_changes(id, &mut dirty.kept_strips, &mut rows);
        }
        for id in dirty.groups {
            let is_kept = |group: &&Group| self.is_kept(group.window);
            let group = self.strips().group(id).filter(is_kept).map(group_row);
            rows.push(row_or_none(id_key(Table::Group, id.0), group.as_ref()));
        }
        for host in dirty.hosts {
            let factor = self.zoom_levels().factor(&host, false);
            rows.push(row_or_none(key(Table::Zoom, &host), factor.as_ref()));
        }
        for site in dirty.sites {
            let muted = self.muted_sites().contains(&site, false).then_some(true);
            rows.push(row_or_none(key(Table::MutedSite, &site), muted.as_ref()));
        }
        for session in self.closed_tabs_mut().take_changed() {
            let closed = self.closed_tabs().entry(session).map(closed_row);
            rows.push(row_or_none(key(Table::Closed, &session), closed.as_ref()));
        }
        let rows = long_row::cut(rows, &mut dirty.piece_counts);
        self.dirty_mut().kept_strips = dirty.kept_strips;
        self.dirty_mut().piece_counts = dirty.piece_counts;
        rows
    }

    fn is_kept(&self, window: WindowId) -> bool {
        self.strips().window(window).is_some_and(is_kept)
    }

    fn meta(&self) -> Meta {
        let (next_id, next_number) = self.counters().values();
        Meta {
            next_id,
            next_number,
            focus_order: self.focus().order().iter().map(|window| window.0).collect(),
        }
    }

    /// Rows of a window, and those of its strip that are not what they were: nearly every change is of a window, and few are of where thousands of tabs
    /// stand.
    fn window_changes(
        &self,
        id: WindowId,
        kept_strips: &mut BTreeMap<WindowId, KeptStrip>,
        rows: &mut Vec<Row>,
    ) {
        let window = self.strips().window(id).filter(|window| is_kept(window));
        let strip = window.map(|window| window.tabs.as_slice()).unwrap_or_default();
        rows.push(row_or_none(id_key(Table::Window, id.0), window.map(window_row).as_ref()));
        if !strip.is_empty() && kept_strips.get(&id).is_some_and(|kept| kept.tabs == strip) {
            return;
        }
        let kept = kept_strips.remove(&id).unwrap_or_default();
        let (count, had) = (strip.len().div_ceil(STRIP_CHUNK), kept.rows);
        let (mut chunks, mut known) = (strip.chunks(STRIP_CHUNK), kept.tabs.chunks(STRIP_CHUNK));
        for number in 0..count.max(had) {
            let (chunk, known) = (chunks.next(), known.next());
            if chunk.is_some() && chunk == known {
                continue;
            }
            let part = (id.0.unsigned_abs(), u32::try_from(number).unwrap_or(u32::MAX));
            let ids = chunk.map(|chunk| chunk.iter().map(|tab| tab.0).collect::<Vec<_>>());
            rows.push(row_or_none(key(Table::Strip, &part), ids.as_ref()));
        }
        if count > 0 {
            let mut tabs = kept.tabs;
            tabs.clear();
            tabs.extend_from_slice(strip);
            kept_strips.insert(id, KeptStrip { rows: count, tabs });
        }
    }
}

/// True for a window that comes back after a restart.
const fn is_kept(window: &Window) -> bool {
    !window.incognito && window.kind.lists_tabs()
}

fn window_row(window: &Window) -> WindowRow {
    WindowRow {
        kind: window.kind.word().to_owned(),
        active: window.active.map(|tab| tab.0),
        highlighted: window.highlighted.iter().map(|tab| tab.0).collect(),
        state: window.state.words().collect::<Vec<_>>().join(" "),
        left: window.bounds.left,
        top: window.bounds.top,
        width: window.bounds.width,
        height: window.bounds.height,
        incognito: window.incognito,
        takes_groups: window.takes_groups,
    }
}

fn group_row(group: &Group) -> GroupRow {
    GroupRow {
        window: group.window.0,
        color: group.color.clone(),
        title: group.title.clone(),
        collapsed: group.collapsed,
    }
}

fn group_of(id: GroupId, row: GroupRow) -> Group {
    Group {
        id,
        window: WindowId(row.window),
        color: row.color,
        title: row.title,
        collapsed: row.collapsed,
    }
}

fn tab_row(tab: &Tab) -> TabRow {
    // The oldest pages go first: a click writes all that are kept.
    let skipped = tab.history.len().saturating_sub(HISTORY_KEPT).min(tab.history_at);
    let kept = tab.history.iter().skip(skipped).take(HISTORY_KEPT);
    let icon =
        |(place, entry): (u64, &HistoryEntry)| Some((place, entry.icon.as_ref()?.to_string()));
    let history_icons = (0..).zip(kept.clone()).filter_map(icon).collect();
    TabRow {
        stable_id: tab.stable_id,
        window: tab.window.0,
        pinned: tab.pinned,
        group: tab.group.map(|group| group.0),
        opener: tab.opener.map(|opener| opener.0),
        url: tab.url.to_string(),
        title: tab.title.to_string(),
        icon: tab.icon.as_deref().map(str::to_owned),
        pending: tab.pending.as_ref().map(|pending| pending.url.to_string()),
        navigation: tab.pending.as_ref().map(|pending| navigation::row(pending, skipped)),
        starts_empty: tab.starts_empty && tab.url.is_empty(),
        waits_for_turn: tab.waits_for_turn(),
        waits_to_load: tab.waits_to_load,
        is_empty_copy: tab.is_empty_copy,
        context_group: tab.is_related.then_some(tab.context_group.0),
        first_url: (tab.first_url != tab.url).then(|| tab.first_url.to_string()),
        is_fresh: tab.is_fresh && !tab.url.is_empty() && !tab.discarded,
        is_used: tab.is_used,
        discarded: tab.discarded,
        auto_discardable: tab.auto_discardable,
        muted: tab.muted.muted,
        mute_reason: tab.muted.reason.as_ref().map(|reason| match reason {
            MuteReason::User => "user".to_owned(),
            MuteReason::BrowserPage => "browser page".to_owned(),
            MuteReason::Capture => "capture".to_owned(),
            MuteReason::Extension(id) => id.to_string(),
        }),
        last_accessed: tab.last_accessed.micros(),
        was_shown: tab.was_shown,
        history: kept
            .map(|entry| (entry.url.to_string(), entry.title.to_string(), entry.was_used))
            .collect(),
        history_icons,
        history_at: tab.history_at - skipped,
        language: tab.language.as_deref().map(str::to_owned),
        shows_error: tab.shows_error,
    }
}

#[cfg(test)]
mod tests {
    use triptych_core::time::Timestamp;

    use super::*;
    use crate::browser::Compat;
    use crate::engine::fixtures::Pages;
    use crate::engine::simulated::SimEngine;
    use crate::extension::manifest::Manifest;
    use crate::extension::permission::{Access, Extension};
    use crate::js_value::JsValue;
    use crate::operation::{Caller, Command, Context, Style};
    use crate::session::Session;

    const NOW: Timestamp = Timestamp::from_seconds(1_790_000_000);

    fn keep(rows: Vec<Row>, kept: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
        for (key, value) in rows {
            match value {
                Some(value) => kept.insert(key, value),
                None => kept.remove(&key),
            };
        }
    }

    fn shown(browser: &Browser) -> serde_json::Value {
        let mut all = serde_json::json!(browser.all_windows(&Access::Full));
        for tab in all
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .flat_map(|window| window["tabs"].as_array_mut().unwrap())
        {
            tab.as_object_mut()
                .unwrap()
                .retain(|name, _| name != "frozen" && name != "lastAccessed");
        }
        all
    }

    #[test]
    fn rows_taken_after_each_call_restore_the_browser_as_it_is_shown() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        browser.install(Extension::new(
            "ext".into(),
            &Manifest {
                permissions: vec!["tabs".into(), "sessions".into()],
                ..Manifest::default()
            },
            true,
        ));
        let mut session = Session::new(browser, Box::new(SimEngine::new(Pages::default())));
        let caller = Caller { extension: "ext".into(), context: Context::Worker };
        let mut most_closed = 0;
        let mut kept = BTreeMap::new();
        keep(session.change(NOW, Browser::take_changes), &mut kept);
        let mut now = NOW;
        for (name, arguments) in [
            ("tabs.create", r#"[{"url": "http://a.test/1", "active": false}]"#),
            ("tabs.create", r#"[{"url": "http://a.test/2", "pinned": true}]"#),
            ("tabs.create", r#"[{"url": "http://b.test/3"}]"#),
            ("windows.create", r#"[{"url": ["http://c.test/4", "http://c.test/5"]}]"#),
            ("tabs.setZoom", "[1.5]"),
            ("tabs.update", r#"[{"muted": true, "autoDiscardable": false}]"#),
            ("tabs.group", r#"[{"tabIds": [1000002]}]"#),
            ("tabs.update", r#"[1000002, {"url": "http://a.test/6"}]"#),
            ("tabs.discard", "[1000004]"),
            ("tabs.move", r#"[1000006, {"index": -1}]"#),
            ("tabs.remove", "[1000005]"),
            ("tabs.remove", "[1000002]"),
            ("tabs.remove", "[1000003]"),
            ("windows.create", r#"[{"url": ["http://d.test/", "http://e.test/"]}]"#),
            ("windows.remove", "[LAST]"),
            ("sessions.restore", "[]"),
            ("tabs.remove", "[1000004]"),
            ("sessions.restore", "[]"),
            ("sessions.restore", "[]"),
        ] {
            now = now.plus(std::time::Duration::from_secs(1));
            let last = session.browser().strips().windows().last().unwrap().id.0;
            let arguments = arguments.replace("LAST", &last.to_string());
            let given: Vec<JsValue> = serde_json::from_str(&arguments).unwrap();
            let command = Command::read(name, &given, Style::Promise).unwrap();
            // Some of these name ids that another order of ids would give; what counts is the state after.
            let _ = session.apply(now, &caller, &command);
            now = now.plus(std::time::Duration::from_secs(1));
            session.advance(now);
            keep(session.change(now, Browser::take_changes), &mut kept);
            let rows: Vec<_> = kept.clone().into_iter().collect();
            let restored = Browser::restore(now, Compat::Browser, &rows).unwrap().unwrap();
            restored.assert_invariants();
            assert_eq!(shown(&restored), shown(session.browser()), "after {name} {arguments}");
            let closed = |browser: &Browser| browser.recently_closed(usize::MAX, &Access::Full);
            assert_eq!(closed(&restored), closed(session.browser()), "after {name} {arguments}");
            most_closed = most_closed.max(closed(&restored).len());
        }
        assert!(most_closed > 2);
    }

    #[test]
    fn a_group_that_closed_with_its_last_tab_comes_back_after_a_kill_too() {
        let manifest = Manifest {
            permissions: ["tabs", "sessions", "tabGroups"].map(String::from).into(),
            ..Manifest::default()
        };
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        browser.install(Extension::new("ext".into(), &manifest, true));
        let mut session = Session::new(browser, Box::new(SimEngine::new(Pages::default())));
        let caller = Caller { extension: "ext".into(), context: Context::Worker };
        let mut now = NOW;
        let mut call = |session: &mut Session, name: &str, arguments: serde_json::Value| {
            let given: Vec<JsValue> = serde_json::from_value(arguments).unwrap();
            let command = Command::read(name, &given, Style::Promise).unwrap();
            let answer = session.apply(now, &caller, &command).unwrap();
            now = now.plus(std::time::Duration::from_secs(1));
            session.advance(now);
            serde_json::to_value(answer).unwrap()
        };
        let tab =
            call(&mut session, "tabs.create", serde_json::json!([{ "url": "http://a.test/" }]));
        let id = tab["id"].clone();
        let group = call(&mut session, "tabs.group", serde_json::json!([{ "tabIds": [id] }]));
        let named = serde_json::json!([group, { "title": "Mine", "color": "pink" }]);
        call(&mut session, "tabGroups.update", named);
        call(&mut session, "tabs.remove", serde_json::json!([id]));
        let mut kept = BTreeMap::new();
        keep(session.change(NOW, Browser::take_changes), &mut kept);
        let rows: Vec<_> = kept.into_iter().collect();
        let mut browser = Browser::restore(NOW, Compat::Browser, &rows).unwrap().unwrap();
        browser.install(Extension::new("ext".into(), &manifest, true));
        let mut session = Session::new(browser, Box::new(SimEngine::new(Pages::default())));
        let back = call(&mut session, "sessions.restore", serde_json::json!([]));
        assert_eq!(back["tab"]["url"], "http://a.test/");
        let group = session.browser().strips().groups().next().unwrap();
        assert_eq!((&*group.title, &*group.color), ("Mine", "pink"));
    }

    /// The keys of the rows of strips that a call changes.
    fn strip_rows_of(session: &mut Session, name: &str, arguments: &str) -> Vec<Vec<u8>> {
        let caller = Caller { extension: "ext".into(), context: Context::Worker };
        let given: Vec<JsValue> = serde_json::from_str(arguments).unwrap();
        let command = Command::read(name, &given, Style::Promise).unwrap();
        session.apply(NOW, &caller, &command).unwrap();
        let rows = session.change(NOW, Browser::take_changes).into_iter();
        let is_of_strip = |key: &Vec<u8>| key.first() == Some(&(Table::Strip as u8));
        rows.map(|(key, _)| key).filter(is_of_strip).collect()
    }

    #[test]
    fn a_change_of_a_tab_takes_no_row_of_its_strip_and_a_move_those_that_it_changes() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        let manifest = Manifest { permissions: vec!["tabs".into()], ..Manifest::default() };
        browser.install(Extension::new("ext".into(), &manifest, true));
        let mut session = Session::new(browser, Box::new(SimEngine::new(Pages::default())));
        let create = r#"[{"url": "http://a.test/", "active": false}]"#;
        for _ in 1..3 * STRIP_CHUNK {
            strip_rows_of(&mut session, "tabs.create", create);
        }
        let windows = session.browser().strips().windows();
        let tabs: Vec<_> = windows.flat_map(|window| window.tabs.iter().map(|tab| tab.0)).collect();
        let first = tabs.first().unwrap();
        let mut rows = |name, arguments: &str| strip_rows_of(&mut session, name, arguments).len();
        assert_eq!(rows("tabs.update", r#"[{"autoDiscardable": false}]"#), 0);
        assert_eq!(rows("tabs.create", create), 1, "one more row");
        assert_eq!(rows("tabs.move", &format!(r#"[{first}, {{"index": 1}}]"#)), 1);
        assert_eq!(rows("tabs.move", &format!(r#"[{first}, {{"index": {STRIP_CHUNK}}}]"#)), 2);
        assert_eq!(rows("tabs.remove", &format!("[{first}]")), 3, "the last row goes");
        session.change(NOW, Browser::touch_all);
        let update = r#"[{"autoDiscardable": true}]"#;
        assert_eq!(strip_rows_of(&mut session, "tabs.update", update).len(), 3, "all anew");
    }

    #[test]
    fn nothing_changed_is_no_row() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        assert!(!browser.take_changes().is_empty());
        assert_eq!(browser.take_changes(), []);
    }

    #[test]
    fn rows_that_cannot_be_read_are_damaged_and_no_rows_are_no_browser() {
        assert!(Browser::restore(NOW, Compat::Browser, &[]).unwrap().is_none());
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        let rows: Vec<_> = browser.take_changes();
        let rows: Vec<_> =
            rows.into_iter().filter_map(|(key, value)| Some((key, value?))).collect();
        for odd in [(vec![], vec![]), (vec![9], vec![]), (vec![2, 1], b"x".to_vec())] {
            let key = odd.0.clone();
            let rows = [rows.clone(), vec![odd]].concat();
            let damaged = Browser::restore(NOW, Compat::Browser, &rows).err();
            assert_eq!(damaged, Some(DamagedRow(key)));
        }
        let without_meta = rows.get(1..).unwrap();
        assert!(Browser::restore(NOW, Compat::Browser, without_meta).is_err());
    }
}
