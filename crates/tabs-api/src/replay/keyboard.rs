//! The user's keys: in a menu that is open, about what is asked, to what is dragged, and in the window that has the focus.

use std::time::Duration;

use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::user_action::{LinkPlace, MenuEntry, UserAction};
use crate::browser::window::Window;
use crate::error::Error;
use crate::id::{TabId, WINDOW_ID_NONE};
use crate::replay::EXTENSION;
use crate::replay::menu::is_asked;
use crate::replay::pointer::{Pointer, act};
use crate::url::{BLANK, NEW_TAB, NEW_TAB_PAGES};

/// The time for which the browser says that the key which closes a pinned tab has to be pressed again.
const PIN_WARNING: Duration = Duration::from_secs(6);

impl Pointer {
    /// Does what a key does: in a menu that is open, to what is dragged, or in the window that has the focus.
    pub(super) fn press_key(
        &mut self,
        browser: &mut Browser,
        at: Timestamp,
        key: &str,
    ) -> Option<Result<(), Error>> {
        if let Some(menu) = &mut self.menu {
            match key {
                "Down" => menu.go(1),
                "Up" => menu.go(-1),
                "Return" => {
                    let menu = self.menu.take()?;
                    let entry = menu.entry(browser);
                    return Some(entry.map_or(Ok(()), |it| self.choose(browser, menu.tab, it)));
                }
                _ => self.menu = None,
            }
            return Some(Ok(()));
        }
        if let Some(asked) = self.asked.take_if(|_| ["Return", "Escape"].contains(&key)) {
            return Some(Self::answer(browser, asked, key == "Return"));
        }
        let has_focus = |window: &Window| browser.focus().has(window.id);
        if !browser.focused_window().is_some_and(has_focus) {
            return Some(Ok(()));
        }
        if ["ctrl+w", "ctrl+F4"].contains(&key) {
            return self.press_close(browser, at);
        }
        self.pin_warning = None;
        if let Some(header) = self.header.take_if(|_| key == "Escape") {
            return Some(Self::give_up_header(browser, &header));
        }
        match self.grip.take_if(|_| key == "Escape") {
            Some(grip) => Some(Self::give_up(browser, &grip)),
            None => press_key(browser, key),
        }
    }

    /// Closes all highlighted tabs, as from the menu of one of them; pinned ones alone once the key is pressed again.
    fn press_close(&mut self, browser: &mut Browser, now: Timestamp) -> Option<Result<(), Error>> {
        let window = browser.focused_window()?;
        let active = window.active?;
        let is_pinned = |tab: &TabId| browser.tab(*tab).is_ok_and(|tab| tab.pinned);
        let are_pinned = window.highlighted.iter().all(is_pinned);
        let is_fresh = |at: &Timestamp| now.since(*at) < PIN_WARNING;
        let warned = self.pin_warning.take().filter(is_fresh);
        if are_pinned && warned.is_none() {
            self.pin_warning = Some(now);
            return Some(Ok(()));
        }
        Some(self.choose(browser, active, MenuEntry::Close))
    }

    /// Chooses an entry of a tab's menu, about which the browser may ask first.
    pub(super) fn choose(
        &mut self,
        browser: &mut Browser,
        tab: TabId,
        entry: MenuEntry,
    ) -> Result<(), Error> {
        if is_asked(browser, tab, entry) {
            return self.ask(browser, tab, entry);
        }
        choose(browser, tab, entry)
    }

    /// Asks the user in a window of its own, which has the focus until the answer.
    pub(super) fn ask(
        &mut self,
        browser: &mut Browser,
        tab: TabId,
        entry: MenuEntry,
    ) -> Result<(), Error> {
        self.asked = Some((tab, entry));
        act(browser, UserAction::Focus { window_id: WINDOW_ID_NONE })
    }

    /// Does what was asked about, or leaves it; the window has the focus again.
    fn answer(
        browser: &mut Browser,
        (tab, entry): (TabId, MenuEntry),
        agrees: bool,
    ) -> Result<(), Error> {
        let window_id = browser.tab(tab)?.window.0;
        act(browser, UserAction::Focus { window_id })?;
        if agrees { choose(browser, tab, entry) } else { Ok(()) }
    }
}

fn choose(browser: &mut Browser, tab: TabId, entry: MenuEntry) -> Result<(), Error> {
    act(browser, UserAction::ChooseFromMenu { tab_id: tab.0, entry })
}

/// Does what a key does to the window that has the focus; `None` for one that does nothing known.
fn press_key(browser: &mut Browser, key: &str) -> Option<Result<(), Error>> {
    let window = browser.focused_window()?;
    let active = window.active?;
    let (tab_id, count) = (active.0, window.tabs.len());
    let at = window.index_of(active)?;
    // Tabs that their group hides are passed over, and have no number.
    let is_seen = |index: &usize| {
        let tab = window.tabs.get(*index).and_then(|tab| browser.tab(*tab).ok());
        tab.is_some_and(|tab| !browser.strips().is_hidden(tab))
    };
    let seen: Vec<_> = (0..count).filter(is_seen).collect();
    let next = |step: usize| {
        let mut indices = (1..=count).map(|number| (at + number * step) % count);
        indices.find(is_seen).unwrap_or(at)
    };
    let show = |index: usize| {
        let tab = window.tabs.get(index)?;
        Some(UserAction::Activate { tab_id: tab.0 })
    };
    let action = match key {
        "Return" | "Escape" => {
            browser.answer_key(active, key == "Return");
            return Some(Ok(()));
        }
        "ctrl+n" | "ctrl+shift+n" => UserAction::NewWindow { incognito: key == "ctrl+shift+n" },
        "ctrl+shift+w" => UserAction::CloseWindow { window_id: window.id.0 },
        "ctrl+t" => UserAction::NewTab { window_id: window.id.0 },
        "ctrl+h" | "ctrl+j" => {
            let url = if key == "ctrl+h" { "chrome://history/" } else { "chrome://downloads/" };
            let is_it = |tab: &&TabId| browser.tab(**tab).is_ok_and(|tab| *tab.url == *url);
            let is_empty = |url: &str| url == BLANK || url.starts_with(NEW_TAB_PAGES);
            match window.tabs.iter().find(is_it) {
                Some(tab) => UserAction::Activate { tab_id: tab.0 },
                None if browser.tab(active).is_ok_and(|tab| is_empty(&tab.url)) => {
                    UserAction::Navigate { tab_id, url: url.into() }
                }
                None => UserAction::OpenLink { tab_id, url: url.into(), place: LinkPlace::Front },
            }
        }
        "alt+Home" => UserAction::Navigate { tab_id, url: NEW_TAB.to_owned() },
        "ctrl+shift+k" => return Some(Ok(())),
        // It is done to all highlighted tabs, as from the menu of one of them.
        "F5" | "ctrl+r" | "ctrl+F5" | "ctrl+shift+r" | "shift+F5" => {
            UserAction::ChooseFromMenu { tab_id, entry: MenuEntry::Reload }
        }
        "ctrl+shift+t" => UserAction::RestoreTab { window_id: window.id.0 },
        "ctrl+Tab" | "ctrl+Page_Down" => show(next(1))?,
        "ctrl+shift+Tab" | "ctrl+Page_Up" => show(next(count - 1))?,
        "ctrl+shift+Page_Down" | "ctrl+shift+Page_Up" => {
            UserAction::MoveBy { tab_id, forward: key == "ctrl+shift+Page_Down" }
        }
        // The key that the manifest of a recorded extension names.
        "ctrl+shift+y" => UserAction::Invoke { tab_id, extension_id: EXTENSION.to_owned() },
        "ctrl+9" | "alt+9" => show(seen.last().copied().unwrap_or(at))?,
        "alt+Left" | "alt+Right" => UserAction::Traverse { tab_id, forward: key == "alt+Right" },
        "ctrl+plus" | "ctrl+equal" => UserAction::ZoomStep { tab_id, step: 1 },
        "ctrl+minus" => UserAction::ZoomStep { tab_id, step: -1 },
        "ctrl+0" => UserAction::ZoomStep { tab_id, step: 0 },
        number => {
            let number = number.strip_prefix("ctrl+").or_else(|| number.strip_prefix("alt+"))?;
            let number: usize = number.parse().ok()?;
            // A number that no tab has does nothing.
            let index = number.checked_sub(1).and_then(|place| seen.get(place)).copied();
            match index.and_then(show) {
                Some(action) => action,
                None => return Some(Ok(())),
            }
        }
    };
    Some(act(browser, action))
}
