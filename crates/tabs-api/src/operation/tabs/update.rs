//! `tabs.update`: properties in a fixed order; what comes before the one that fails stays changed.

use crate::browser::event::Change;
use crate::browser::tab::{Kind, MuteReason, MutedInfo, TabId};
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::operation::call::Call;
use crate::url::resolve;

impl Browser {
    /// `tabs.update`.
    pub(crate) fn update(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = self.named_tab(call, 0)?;
        self.update_selection(call, id)?;
        if let Some(muted) = call.boolean(1, "muted") {
            self.set_muted(
                id,
                muted,
                MuteReason::Extension(call.caller.extension.as_str().into()),
            )?;
        }
        if let Some(opener) = call.number(1, "openerTabId") {
            self.set_opener(id, TabId(opener))?;
        }
        if let Some(value) = call.boolean(1, "autoDiscardable") {
            let tab = self.tab_mut(id)?;
            if tab.auto_discardable != value {
                tab.auto_discardable = value;
                self.updated(id, Change { auto_discardable: Some(value), ..Change::default() });
            }
        }
        if let Some(pinned) = call.boolean(1, "pinned") {
            self.check_not_dragging()?;
            self.set_pinned(id, pinned)?;
        }
        if let Some(url) = call.text(1, "url") {
            let url = resolve(url, &call.caller.extension)?;
            self.navigate(id, &url, Kind::Push);
        }
        self.shown(call, id)
    }

    fn update_selection(&mut self, call: &Call<'_>, id: TabId) -> Result<(), Error> {
        let wants = ["active", "selected"].into_iter().filter_map(|name| call.boolean(1, name));
        let wants: Vec<_> = wants.collect();
        let highlighted = call.boolean(1, "highlighted");
        if wants.contains(&true) || highlighted.is_some() {
            self.check_not_dragging()?;
        }
        if wants.contains(&true) && self.window(self.tab(id)?.window)?.active != Some(id) {
            self.activate(id)?;
        }
        let window = self.window(self.tab(id)?.window)?;
        let mut set = window.highlighted.clone();
        let active = window.active;
        match highlighted {
            Some(true) if !set.contains(&id) => {
                set.insert(id);
                self.select(id, set)
            }
            Some(false) if set.contains(&id) => {
                set.remove(&id);
                let next = active.filter(|active| *active != id).or_else(|| set.first().copied());
                self.select(next.ok_or(Error::UnhighlightAll)?, set)
            }
            _ => Ok(()),
        }
    }

    /// Mutes a tab, or lets it sound, in somebody's name.
    pub(crate) fn set_muted(
        &mut self,
        id: TabId,
        muted: bool,
        reason: MuteReason,
    ) -> Result<(), Error> {
        let tab = self.tab_mut(id)?;
        if tab.captured && !matches!(reason, MuteReason::Capture) {
            return Err(Error::Unsupported(format!(
                "Cannot update mute state for tab {}, tab has audio or video currently being captured",
                id.0
            )));
        }
        let is_change = tab.muted.muted != muted;
        tab.muted = MutedInfo { muted, reason: Some(reason) };
        let info = tab.muted.clone();
        self.dirty.note_tab(id);
        if is_change {
            self.updated(id, Change { muted: Some(info), ..Change::default() });
        }
        Ok(())
    }

    fn set_opener(&mut self, id: TabId, opener: TabId) -> Result<(), Error> {
        if opener == id {
            return Err(Error::OwnOpener);
        }
        let window = self.tab(opener)?.window;
        if window != self.tab(id)?.window {
            return Err(Error::OpenerInOtherWindow);
        }
        self.check_not_dragging()?;
        self.tab_mut(id)?.opener = Some(opener);
        self.dirty.note_tab(id);
        Ok(())
    }

    /// Pins a tab to the end of the pinned block, or unpins it to the front of the others.
    pub(crate) fn set_pinned(&mut self, id: TabId, pinned: bool) -> Result<(), Error> {
        let tab = self.tab(id)?;
        if tab.pinned == pinned {
            return Ok(());
        }
        let (window, group) = (tab.window, tab.group);
        let state = self.window(window)?;
        let from = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        let mut without = state.clone();
        without.tabs.remove(from);
        let border = self.clamped(&without, true, usize::MAX);
        let strip = &mut self.window_mut(window)?.tabs;
        strip.remove(from);
        strip.insert(border, id);
        let tab = self.tab_mut(id)?;
        tab.pinned = pinned;
        if pinned {
            tab.group = None;
        }
        self.updated(id, Change { pinned: Some(pinned), ..Change::default() });
        if pinned && group.is_some() {
            self.updated(
                id,
                Change { group: Some(crate::browser::group::GROUP_ID_NONE), ..Change::default() },
            );
        }
        // Both are told with the tab in its new place; the move itself comes after.
        let strip = &mut self.window_mut(window)?.tabs;
        strip.remove(border);
        strip.insert(from, id);
        self.shift(id, border)?;
        if let Some(group) = group.filter(|_| pinned) {
            self.drop_group_if_empty(group);
        }
        Ok(())
    }
}
