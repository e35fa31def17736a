//! A tab made again of its row: one that is open, or that was closed.

use std::sync::Arc;

use triptych_core::time::Timestamp;

use super::{TabRow, navigation};
use crate::browser::tab::{HistoryEntry, MuteReason, MutedInfo, PendingNavigation, Status, Tab};
use crate::id::{GroupId, TabId, WindowId};

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
