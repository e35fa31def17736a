//! The menu of a tab as the recorded browser showed it, and what it asks its user before a whole group goes.

use crate::browser::Browser;
use crate::browser::user_action::MenuEntry;
use crate::id::TabId;

/// The entries that are known, by their distance below the pointer that opened the menu.
const ROWS: &[(i64, MenuEntry)] =
    &[(151, MenuEntry::Reload), (209, MenuEntry::Pin), (238, MenuEntry::MuteSite)];
const ROW_HEIGHT: i64 = 29;
/// The entries from the first one down, as keys go through them; the second one makes a split view.
const FROM_TOP: &[Option<MenuEntry>] = &[
    Some(MenuEntry::NewTab),
    None,
    Some(MenuEntry::NewGroup),
    Some(MenuEntry::RemoveFromGroup),
    Some(MenuEntry::NewWindow),
    Some(MenuEntry::Reload),
    Some(MenuEntry::Duplicate),
    Some(MenuEntry::Pin),
    Some(MenuEntry::MuteSite),
];
/// The number of tabs that fit a split view.
const SPLIT: usize = 2;
/// The entries from the last one up.
const FROM_BOTTOM: &[Option<MenuEntry>] =
    &[Some(MenuEntry::CloseRight), Some(MenuEntry::CloseOthers), Some(MenuEntry::Close)];

/// A menu that is open.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenMenu {
    pub(super) tab: TabId,
    /// The height at which it begins.
    top: i64,
    /// The entry that keys came to: from the top, or, below 0, from the bottom.
    at: i64,
}

impl OpenMenu {
    pub(super) const fn of(tab: TabId, top: i64) -> Self {
        Self { tab, top, at: 0 }
    }

    /// Goes down by so many entries.
    pub(super) const fn go(&mut self, steps: i64) {
        self.at += steps;
    }

    /// The entry under a pointer at a height.
    pub(super) fn entry_under(&self, y: i64) -> Option<MenuEntry> {
        let below = y - self.top;
        let row = ROWS.iter().find(|(place, _)| (below - place).abs() * 2 <= ROW_HEIGHT);
        row.map(|(_, entry)| *entry)
    }

    /// The entry that keys came to: they pass those that can do nothing.
    pub(super) fn entry(&self, browser: &Browser) -> Option<MenuEntry> {
        let place = usize::try_from(self.at.unsigned_abs()).ok()?.checked_sub(1)?;
        let rows = if self.at < 0 { FROM_BOTTOM } else { FROM_TOP };
        let can_do = |entry: &&Option<MenuEntry>| self.can_do(browser, **entry);
        let entry = rows.iter().filter(can_do).nth(place)?.as_ref().copied();
        // Beside other groups it opens the list of them.
        let lists_groups = entry == Some(MenuEntry::NewGroup) && has_other_group(browser, self.tab);
        entry.filter(|_| !lists_groups)
    }

    fn can_do(&self, browser: &Browser, entry: Option<MenuEntry>) -> bool {
        let tabs = browser.chosen_in_menu(self.tab);
        let window = browser.tab(self.tab).and_then(|tab| browser.window(tab.window)).ok();
        let strip = window.map(|window| window.tabs.as_slice()).unwrap_or_default();
        let is_grouped = |tab: &TabId| browser.tab(*tab).is_ok_and(|tab| tab.group.is_some());
        let is_other =
            |tab: &&TabId| !tabs.contains(tab) && browser.tab(**tab).is_ok_and(|tab| !tab.pinned);
        match entry {
            None => tabs.len() <= SPLIT,
            Some(MenuEntry::RemoveFromGroup) => tabs.iter().any(is_grouped),
            Some(MenuEntry::NewWindow) => tabs.len() < strip.len(),
            Some(MenuEntry::CloseOthers) => strip.iter().any(|tab| is_other(&tab)),
            Some(MenuEntry::CloseRight) => {
                strip.iter().skip_while(|tab| **tab != self.tab).any(|tab| is_other(&tab))
            }
            Some(_) => true,
        }
    }
}

/// True if there is a group beside that of a tab.
fn has_other_group(browser: &Browser, tab: TabId) -> bool {
    let own = browser.tab(tab).ok().and_then(|tab| tab.group);
    browser.strips().groups().any(|group| Some(group.id) != own)
}

/// True if the browser asks its user before an entry is done, as a group would lose all its tabs.
pub(super) fn is_asked(browser: &Browser, tab: TabId, entry: MenuEntry) -> bool {
    let takes_away = match entry {
        MenuEntry::Close | MenuEntry::NewGroup | MenuEntry::RemoveFromGroup => true,
        MenuEntry::Pin => {
            let is_unpinned = |tab: &TabId| browser.tab(*tab).is_ok_and(|tab| !tab.pinned);
            browser.chosen_in_menu(tab).iter().any(is_unpinned)
        }
        _ => false,
    };
    takes_away && takes_whole_group(browser, &browser.chosen_in_menu(tab))
}

/// True if all tabs of a group are among these.
pub(super) fn takes_whole_group(browser: &Browser, tabs: &[TabId]) -> bool {
    let mut groups = tabs.iter().filter_map(|tab| browser.tab(*tab).ok()?.group);
    groups.any(|group| browser.strips().all_among(group, tabs))
}
