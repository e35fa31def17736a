//! A browser made again of the rows that were kept of it.

use std::sync::Arc;

use triptych_core::kv::Key;
use triptych_core::time::Timestamp;

use super::closed::ClosedRow;
use super::long_row::Pieces;
use super::{GroupRow, Meta, TabRow, Table, WindowRow, navigation};
use crate::browser::group::Group;
use crate::browser::tab::{HistoryEntry, MuteReason, MutedInfo, PendingNavigation, Status, Tab};
use crate::browser::window::{Bounds, Window, WindowKind};
use crate::browser::window_state::WindowState;
use crate::browser::{Browser, Compat, RestoredState};
use crate::id::{GroupId, TabId, WindowId};

/// A row of a browser that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the row {0:02x?} of a browser cannot be read")]
pub struct DamagedRow(pub Vec<u8>);

impl Browser {
    /// The browser that these rows describe, in the order of their keys; `None` if they describe no window. Tabs that were on their way set out again.
    ///
    /// # Errors
    /// The first row that cannot be read.
    pub fn restore(
        now: Timestamp,
        compat: Compat,
        rows: &[(Vec<u8>, Vec<u8>)],
    ) -> Result<Option<Self>, DamagedRow> {
        if rows.is_empty() {
            return Ok(None);
        }
        let mut read = ReadRows::default();
        for (key, value) in rows {
            read.row(key, value).ok_or_else(|| DamagedRow(key.clone()))?;
        }
        let pieces = std::mem::take(&mut read.pieces);
        let (long, counts) = pieces.join().ok_or_else(|| DamagedRow(vec![Table::Piece as u8]))?;
        for (key, value) in long {
            read.row(&key, &value).ok_or(DamagedRow(key))?;
        }
        let ReadRows { mut state, meta, .. } = read;
        let meta = meta.ok_or_else(|| DamagedRow(vec![Table::Meta as u8]))?;
        state.piece_counts = counts;
        state.counters = (meta.next_id, meta.next_number);
        state.focus = meta.focus_order.into_iter().map(WindowId).collect();
        Ok(Self::of_restored(now, compat, state))
    }
}

/// The rows that were read so far.
#[derive(Default)]
struct ReadRows {
    state: RestoredState,
    meta: Option<Meta>,
    pieces: Pieces,
}

impl ReadRows {
    fn row(&mut self, key: &[u8], value: &[u8]) -> Option<()> {
        let (table, mut rest) = key.split_first()?;
        let state = &mut self.state;
        match *table {
            table if table == Table::Meta as u8 => {
                self.meta = Some(serde_json::from_slice(value).ok()?);
            }
            table if table == Table::Window as u8 => {
                read_window(state, u64::read(&mut rest)?, value)?;
            }
            table if table == Table::Strip as u8 => {
                read_strip(state, u64::read(&mut rest)?, value)?;
            }
            table if table == Table::Tab as u8 => read_tab(state, u64::read(&mut rest)?, value)?,
            table if table == Table::Group as u8 => {
                read_group(state, u64::read(&mut rest)?, value)?;
            }
            table if table == Table::Zoom as u8 => {
                let factor = serde_json::from_slice(value).ok()?;
                state.zoom_levels.insert(String::read(&mut rest)?, factor);
            }
            table if table == Table::MutedSite as u8 => {
                state.muted_sites.insert(String::read(&mut rest)?);
            }
            table if table == Table::Closed as u8 => {
                let row: ClosedRow = serde_json::from_slice(value).ok()?;
                state.closed.insert(u64::read(&mut rest)?, row.entry());
            }
            table if table == Table::Piece as u8 => self.pieces.read(rest, value)?,
            _ => return None,
        }
        Some(())
    }
}

fn read_window(state: &mut RestoredState, id: u64, value: &[u8]) -> Option<()> {
    let row: WindowRow = serde_json::from_slice(value).ok()?;
    let id = WindowId(i64::try_from(id).ok()?);
    let kind = WindowKind::named(&row.kind).unwrap_or(WindowKind::Normal);
    let window = state.windows.entry(id).or_insert_with(|| Window::new(id, kind));
    window.kind = kind;
    window.active = row.active.map(TabId);
    window.highlighted = row.highlighted.into_iter().map(TabId).collect();
    window.state = WindowState::of_words(&row.state);
    window.bounds = Bounds { left: row.left, top: row.top, width: row.width, height: row.height };
    window.incognito = row.incognito;
    window.takes_groups = row.takes_groups || kind == WindowKind::Normal;
    Some(())
}

fn read_strip(state: &mut RestoredState, id: u64, value: &[u8]) -> Option<()> {
    let id = WindowId(i64::try_from(id).ok()?);
    let ids: Vec<i64> = serde_json::from_slice(value).ok()?;
    let window = state.windows.entry(id).or_insert_with(|| Window::new(id, WindowKind::Normal));
    window.tabs.extend(ids.into_iter().map(TabId));
    state.kept_strips.entry(id).or_default().rows += 1;
    Some(())
}

fn read_group(state: &mut RestoredState, id: u64, value: &[u8]) -> Option<()> {
    let row: GroupRow = serde_json::from_slice(value).ok()?;
    let id = GroupId(i64::try_from(id).ok()?);
    let group = Group {
        id,
        window: WindowId(row.window),
        color: row.color,
        title: row.title,
        collapsed: row.collapsed,
    };
    state.groups.insert(id, group);
    Some(())
}

fn read_tab(state: &mut RestoredState, id: u64, value: &[u8]) -> Option<()> {
    let row: TabRow = serde_json::from_slice(value).ok()?;
    let id = TabId(i64::try_from(id).ok()?);
    let (tab, pending) = tab_of(id, row);
    state.tabs.insert(id, tab);
    state.pending.extend(pending.map(|pending| (id, pending)));
    Some(())
}

/// The tab of a row, and the navigation that it was on its way with.
pub(super) fn tab_of(id: TabId, row: TabRow) -> (Tab, Option<PendingNavigation>) {
    let mut tab = Tab::new(
        id,
        row.stable_id,
        WindowId(row.window),
        Timestamp::from_micros(row.last_accessed),
    );
    tab.pinned = row.pinned;
    tab.group = row.group.map(GroupId);
    tab.opener = row.opener.map(TabId);
    tab.is_fresh = row.is_fresh || row.url.is_empty() || row.discarded;
    tab.starts_empty = row.starts_empty;
    tab.is_used = row.is_used;
    (tab.waits_to_load, tab.is_empty_copy) = (row.waits_to_load, row.is_empty_copy);
    if let Some(group) = row.context_group {
        (tab.context_group, tab.is_related) = (TabId(group), true);
    }
    tab.url = row.url.into();
    tab.first_url = row.first_url.map_or_else(|| Arc::clone(&tab.url), Arc::from);
    tab.title = row.title.into();
    // A page without a title of its own is named by its address, also once that is another one.
    tab.title_is_address = *tab.title == crate::url::title(&tab.url);
    tab.icon = row.icon.map(Arc::from);
    tab.discarded = row.discarded;
    let is_loaded = !row.discarded && !row.waits_for_turn;
    tab.status = if is_loaded { Status::Complete } else { Status::Unloaded };
    tab.auto_discardable = row.auto_discardable;
    let reason = row.mute_reason.as_deref().map(mute_reason);
    // A capture does not outlive the browser.
    let muted = row.muted && reason != Some(MuteReason::Capture);
    tab.muted = MutedInfo { muted, reason };
    tab.was_shown = row.was_shown;
    let mut icons = row.history_icons;
    let group = tab.context_group;
    let entry = |(document, (url, title, was_used)): (u64, (String, String, bool))| HistoryEntry {
        url: url.into(),
        title: title.into(),
        icon: icons.remove(&document).map(Arc::from),
        document,
        was_used,
        kept: None,
        is_of_frame: false,
        left_with: 0,
        context_group: group,
        origin: None,
        knows_language: false,
        own_factor: None,
    };
    tab.history = (0..).zip(row.history).map(entry).collect();
    tab.history_at = row.history_at.min(tab.history.len().saturating_sub(1));
    (tab.language, tab.shows_error) = (row.language.map(Into::into), row.shows_error);
    let pages = tab.history.len();
    let pending = row.pending.map(|url| navigation::read(&url, row.navigation, pages));
    (tab, pending)
}

fn mute_reason(text: &str) -> MuteReason {
    match text {
        "user" => MuteReason::User,
        "browser page" => MuteReason::BrowserPage,
        "capture" => MuteReason::Capture,
        extension => MuteReason::Extension(extension.into()),
    }
}
