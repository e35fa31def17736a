//! A browser made again of the rows that were kept of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use triptych_core::kv::Key;
use triptych_core::time::Timestamp;

use super::{GroupRow, Meta, TabRow, Table, WindowRow};
use crate::browser::group::{Group, GroupId};
use crate::browser::tab::{Entry, Kind, MuteReason, MutedInfo, Status, Tab, TabId};
use crate::browser::window::{Bounds, Window, WindowId, WindowKind};
use crate::browser::{Browser, Compat};

impl Browser {
    /// The browser that these rows describe; `None` if they describe none. Tabs that were on their way set out again.
    #[must_use]
    pub fn restore(now: Timestamp, compat: Compat, rows: &[(Vec<u8>, Vec<u8>)]) -> Option<Self> {
        let mut browser = Self::new(now, compat);
        let mut meta: Option<Meta> = None;
        for (key, value) in rows {
            let (table, mut rest) = key.split_first()?;
            match *table {
                table if table == Table::Meta as u8 => meta = serde_json::from_slice(value).ok(),
                table if table == Table::Window as u8 => {
                    browser.restore_window(u64::read(&mut rest)?, value)?
                }
                table if table == Table::Strip as u8 => {
                    browser.restore_strip(u64::read(&mut rest)?, value)?
                }
                table if table == Table::Tab as u8 => {
                    browser.restore_tab(u64::read(&mut rest)?, value)?
                }
                table if table == Table::Group as u8 => {
                    browser.restore_group(u64::read(&mut rest)?, value)?
                }
                table if table == Table::Zoom as u8 => {
                    browser
                        .zoom_levels
                        .insert(String::read(&mut rest)?, serde_json::from_slice(value).ok()?);
                }
                _ => return None,
            }
        }
        let meta = meta?;
        browser.set_counters(meta.next_id, meta.next_number);
        browser.focus_order = meta
            .focus_order
            .into_iter()
            .map(WindowId)
            .filter(|id| browser.windows.contains_key(id))
            .collect();
        browser.settle_restored();
        (!browser.windows.is_empty()).then_some(browser)
    }

    fn restore_window(&mut self, id: u64, value: &[u8]) -> Option<()> {
        let row: WindowRow = serde_json::from_slice(value).ok()?;
        let id = WindowId(i64::try_from(id).ok()?);
        let kind = match row.kind.as_str() {
            "popup" => WindowKind::Popup,
            "app" => WindowKind::App,
            "devtools" => WindowKind::Devtools,
            _ => WindowKind::Normal,
        };
        let window = self.windows.entry(id).or_insert_with(|| Window::new(id, kind));
        window.kind = kind;
        window.active = row.active.map(TabId);
        window.highlighted = row.highlighted.into_iter().map(TabId).collect();
        window.state = row.state;
        window.bounds =
            Bounds { left: row.left, top: row.top, width: row.width, height: row.height };
        window.incognito = row.incognito;
        Some(())
    }

    fn restore_strip(&mut self, id: u64, value: &[u8]) -> Option<()> {
        let id = WindowId(i64::try_from(id).ok()?);
        let ids: Vec<i64> = serde_json::from_slice(value).ok()?;
        let window = self.windows.entry(id).or_insert_with(|| Window::new(id, WindowKind::Normal));
        window.tabs.extend(ids.into_iter().map(TabId));
        *self.dirty.strips.entry(id).or_default() += 1;
        Some(())
    }

    fn restore_group(&mut self, id: u64, value: &[u8]) -> Option<()> {
        let row: GroupRow = serde_json::from_slice(value).ok()?;
        let id = GroupId(i64::try_from(id).ok()?);
        let group = Group {
            id,
            window: WindowId(row.window),
            color: row.color,
            title: row.title,
            collapsed: row.collapsed,
        };
        self.groups.insert(id, group);
        Some(())
    }

    fn restore_tab(&mut self, id: u64, value: &[u8]) -> Option<()> {
        let row: TabRow = serde_json::from_slice(value).ok()?;
        let id = TabId(i64::try_from(id).ok()?);
        let mut tab = Tab::new(
            id,
            row.stable_id,
            WindowId(row.window),
            Timestamp::from_micros(row.last_accessed),
        );
        tab.pinned = row.pinned;
        tab.group = row.group.map(GroupId);
        tab.opener = row.opener.map(TabId);
        tab.is_fresh = row.url.is_empty() || row.discarded;
        tab.url = row.url.into();
        tab.title = row.title.into();
        tab.icon = row.icon.map(Arc::from);
        tab.discarded = row.discarded;
        tab.status = if row.discarded { Status::Unloaded } else { Status::Complete };
        tab.auto_discardable = row.auto_discardable;
        tab.muted =
            MutedInfo { muted: row.muted, reason: row.mute_reason.as_deref().map(mute_reason) };
        tab.was_shown = row.was_shown;
        let entry = |(url, title, was_used): (String, String, bool)| Entry {
            url: url.into(),
            title: title.into(),
            was_used,
            is_cached: false,
        };
        tab.history = row.history.into_iter().map(entry).collect();
        tab.history_at = row.history_at.min(tab.history.len().saturating_sub(1));
        tab.language = row.language;
        self.tabs.insert(id, tab);
        if let Some(url) = row.pending {
            self.navigate(id, &url, Kind::Push);
        }
        Some(())
    }

    /// Puts right what a batch that was cut off may have left: tabs without a window, windows without tabs, groups without members.
    fn settle_restored(&mut self) {
        let tabs = &mut self.tabs;
        for window in self.windows.values_mut() {
            window.tabs.retain(|id| tabs.get(id).is_some_and(|tab| tab.window == window.id));
            window.highlighted.retain(|id| window.tabs.contains(id));
            let active = window.active.filter(|active| window.tabs.contains(active));
            window.active = active.or_else(|| window.tabs.first().copied());
            window.highlighted.extend(window.active);
        }
        self.windows.retain(|_, window| !window.tabs.is_empty());
        let held: BTreeSet<_> =
            self.windows.values().flat_map(|window| window.tabs.iter().copied()).collect();
        self.tabs.retain(|id, _| held.contains(id));
        let groups: BTreeSet<_> = self.tabs.values().filter_map(|tab| tab.group).collect();
        self.groups.retain(|id, _| groups.contains(id));
        for tab in self.tabs.values_mut() {
            tab.group = tab.group.filter(|group| self.groups.contains_key(group));
        }
        for id in self.windows.keys() {
            if !self.focus_order.contains(id) {
                self.focus_order.push(*id);
            }
        }
    }
}

fn mute_reason(text: &str) -> MuteReason {
    match text {
        "user" => MuteReason::User,
        "capture" => MuteReason::Capture,
        extension => MuteReason::Extension(extension.into()),
    }
}
