//! The user's pointer and keys as they were recorded, turned into what they did in the browser.
//!
//! The places are those of the recorded browser's window.

use std::collections::BTreeSet;
use std::time::Duration;

use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::strip::WindowPlacement;
use crate::browser::user_action::{LinkPlace, MenuEntry, UserAction};
use crate::browser::window::{Bounds, Window};
use crate::error::Error;
use crate::id::{GroupId, TabId, WINDOW_ID_NONE, WindowId};
use crate::js_value::JsValue;
use crate::replay::EXTENSION;
use crate::replay::dragged_tab::DraggedTabs;
use crate::replay::menu::{OpenMenu, is_asked, takes_whole_group};
use crate::replay::strip_layout::{
    HEADER_WIDTH, NEW_TAB_WIDTH, STRIP_HEIGHT, STRIP_LEFT, STRIP_RIGHT, common_width, dragged_to,
    lefts, lefts_of_width, over_header, tab_width,
};
use crate::url::{BLANK, NEW_TAB, NEW_TAB_PAGES};

/// The button that closes a tab, by its distances from the tab's right edge.
const CLOSE_BUTTON: std::ops::Range<i64> = -24..-8;
/// The height of the part below the strip in which a tab that is dragged stays in it.
const STRIP_MARGIN: i64 = 15;
/// The distance that the pointer goes before it drags.
const DRAG_FROM: i64 = 10;
/// The time for which the browser says that the key which closes a pinned tab has to be pressed again.
const PIN_WARNING: Duration = Duration::from_secs(6);
/// The words that begin something else than a key.
const COMMANDS: [&str; 6] = ["mousemove", "click", "mousedown", "mouseup", "keydown", "keyup"];

/// A tab under a pressed button.
#[derive(Debug, Clone)]
pub(super) struct Grip {
    pub(super) tab: TabId,
    /// The window that it was taken hold of in, and its index there.
    pub(super) home: WindowId,
    pub(super) home_index: usize,
    pub(super) from_x: i64,
    pub(super) from_index: usize,
    /// The distance of the pointer from its left edge, and its width, as it was taken hold of.
    pub(super) offset: i64,
    pub(super) width: i64,
    /// The left edge at which the first of what is dragged was drawn last.
    pub(super) drawn_left: Option<i64>,
    /// The group that it was of.
    home_group: Option<GroupId>,
    /// The place of the pointer in the window, which it keeps in one of the tab's own.
    pub(super) hold: (i64, i64),
    /// The active tab and the highlighted ones of that window before it was taken hold of.
    pub(super) selection: (TabId, BTreeSet<TabId>),
    /// The tab that was active before it was taken hold of.
    pub(super) former: Option<TabId>,
    /// The tab that was active in the window that it was dragged into.
    pub(super) replaced: Option<TabId>,
    /// True if it is one of several that are highlighted, which stay so while they are dragged.
    is_mate: bool,
    is_dragging: bool,
    /// True if it has left the strip.
    pub(super) is_out: bool,
}

impl Grip {
    /// The distance of the pointer from the left edge of the tab at another width: it keeps to its part of the tab.
    pub(super) fn offset_at(&self, width: i64) -> i64 {
        self.offset * width / self.width.max(1)
    }
}

/// The width that tabs keep where the pointer closed one before them, until it leaves their strip, or more tabs come, or other groups.
#[derive(Debug, Clone, Copy)]
struct KeptWidth {
    window: WindowId,
    width: i64,
    tabs: usize,
    groups: usize,
}

impl KeptWidth {
    fn is_of(&self, browser: &Browser, window: &Window) -> bool {
        self.window == window.id
            && window.tabs.len() <= self.tabs
            && group_count(browser, window) == self.groups
    }
}

fn group_count(browser: &Browser, window: &Window) -> usize {
    browser.strips().groups().filter(|group| group.window == window.id).count()
}

/// The place of the pointer, and what is held.
#[derive(Debug, Default)]
pub(crate) struct Pointer {
    pub(super) x: i64,
    pub(super) y: i64,
    held: Vec<String>,
    kept_width: Option<KeptWidth>,
    pub(super) grip: Option<Grip>,
    /// The tab whose close button is pressed.
    closing: Option<TabId>,
    menu: Option<OpenMenu>,
    /// The entry that the browser asks about before it does it, and the tab.
    asked: Option<(TabId, MenuEntry)>,
    /// The time at which the key was pressed that closes pinned tabs once it is pressed again.
    pin_warning: Option<Timestamp>,
}

impl Pointer {
    /// Does what a line of `xdotool` did; `None` for what is not known here.
    ///
    /// # Errors
    /// The refusal of the browser.
    pub(crate) fn apply(
        &mut self,
        browser: &mut Browser,
        at: Timestamp,
        line: &[JsValue],
    ) -> Option<Result<(), Error>> {
        let mut words = line.iter().peekable();
        if words.next().and_then(JsValue::text) != Some("xdotool") {
            return None;
        }
        while let Some(word) = words.next() {
            let outcome = match word.text()? {
                "mousemove" => {
                    self.x = words.next()?.integer()?;
                    self.y = words.next()?.integer()?;
                    self.forget_width(browser);
                    self.drag(browser)
                }
                "click" => self.click(browser, words.next()?.integer()?)?,
                "mousedown" => {
                    words.next()?.integer().filter(|button| *button == 1)?;
                    self.press(browser)
                }
                "mouseup" => {
                    words.next()?.integer().filter(|button| *button == 1)?;
                    self.release(browser)
                }
                "keydown" => {
                    self.held.push(words.next()?.text()?.to_owned());
                    Ok(())
                }
                "keyup" => {
                    let key = words.next()?.text()?;
                    self.held.retain(|held| held != key);
                    Ok(())
                }
                "key" => {
                    while let Some(key) = words.next_if(|word| !is_command(word)) {
                        match key.text()? {
                            "--delay" => drop(words.next()),
                            key => {
                                if let Err(error) = self.press_key(browser, at, key)? {
                                    return Some(Err(error));
                                }
                            }
                        }
                    }
                    Ok(())
                }
                _ => return None,
            };
            if outcome.is_err() {
                return Some(outcome);
            }
        }
        Some(Ok(()))
    }

    fn holds(&self, key: &str) -> bool {
        self.held.iter().any(|held| held == key)
    }

    /// The place of the pointer, from the corner of a window.
    fn within(&self, window: &Window) -> (i64, i64) {
        let place = window.bounds;
        (self.x - place.left, self.y - place.top)
    }

    /// The window under the pointer: of several there the one that had the focus last.
    fn window_here<'b>(&self, browser: &'b Browser) -> Option<&'b Window> {
        let windows = browser.focus().order().iter();
        let mut windows = windows.filter_map(|window| browser.window(*window).ok());
        windows.find(|window| {
            let ((x, y), place) = (self.within(window), window.bounds);
            !window.is_minimized()
                && (0..place.width).contains(&x)
                && (0..place.height).contains(&y)
        })
    }

    /// The tab under the pointer.
    fn tab_here(&self, browser: &Browser) -> Option<(TabId, usize)> {
        let window = self.window_here(browser)?;
        let (x, y) = self.within(window);
        let lefts = self.lefts(browser, window);
        let index = lefts.windows(2).position(|pair| match pair {
            [left, right] => (*left..*right).contains(&x),
            _ => false,
        })?;
        let tab = *window.tabs.get(index)?;
        (0..STRIP_HEIGHT).contains(&y).then_some((tab, index))
    }

    /// The group whose header is under the pointer: it stands before the first of its tabs.
    fn header_here(&self, browser: &Browser) -> Option<GroupId> {
        let window = self.window_here(browser)?;
        let (x, y) = self.within(window);
        let lefts = self.lefts(browser, window);
        let is_under = |left: &i64| (*left - HEADER_WIDTH..*left).contains(&x);
        let mut before = None;
        let headers = window.tabs.iter().zip(lefts).filter_map(|(tab, left)| {
            let own = browser.tab(*tab).ok()?.group;
            let is_first = own.is_some() && own != std::mem::replace(&mut before, own);
            own.filter(|_| is_first && is_under(&left))
        });
        headers.last().filter(|_| (0..STRIP_HEIGHT).contains(&y))
    }

    fn click(&mut self, browser: &mut Browser, button: i64) -> Option<Result<(), Error>> {
        if let Some(menu) = self.menu.take() {
            return Some(self.choose(browser, menu.tab, menu.entry_under(self.y)?));
        }
        if let Some(group) = self.header_here(browser).filter(|_| button == 1) {
            return Some(act(browser, UserAction::ToggleGroup { group_id: group.0 }));
        }
        let Some((tab, _)) = self.tab_here(browser) else {
            return self.click_behind_tabs(browser, button);
        };
        Some(match button {
            1 if self.is_on_close_button(browser) => self.close(browser, tab),
            1 if self.holds("shift") => {
                let adds = self.holds("ctrl");
                act(browser, UserAction::Extend { tab_id: tab.0, adds })
            }
            1 if self.holds("ctrl") => act(browser, UserAction::Toggle { tab_id: tab.0 }),
            1 => act(browser, UserAction::Activate { tab_id: tab.0 }),
            2 => self.close(browser, tab),
            3 => {
                self.menu = Some(OpenMenu::of(tab, self.y));
                Ok(())
            }
            _ => return None,
        })
    }

    /// True if the button is under the pointer that closes a tab; pinned tabs have none, and a click with a key is one on the tab.
    fn is_on_close_button(&self, browser: &Browser) -> bool {
        if self.holds("shift") || self.holds("ctrl") {
            return false;
        }
        let tab = self.tab_here(browser).zip(self.window_here(browser));
        tab.is_some_and(|((tab, index), window)| {
            let right = self.lefts(browser, window).get(index + 1).copied().unwrap_or_default();
            let is_pinned = browser.tab(tab).is_ok_and(|tab| tab.pinned);
            !is_pinned && CLOSE_BUTTON.contains(&(self.within(window).0 - right))
        })
    }

    /// The left edges of the tabs of a window, and the right edge of the last one.
    fn lefts(&self, browser: &Browser, window: &Window) -> Vec<i64> {
        match self.kept_width.filter(|kept| kept.is_of(browser, window)) {
            Some(kept) => lefts_of_width(browser, window, kept.width),
            None => lefts(browser, window),
        }
    }

    /// Closes a tab. Those behind it come to where it was, as wide as they are, so that one after the other can be closed.
    fn close(&mut self, browser: &mut Browser, tab: TabId) -> Result<(), Error> {
        if takes_whole_group(browser, &[tab]) {
            return self.ask(browser, tab, MenuEntry::Close);
        }
        let window = browser.window(browser.tab(tab)?.window)?;
        let kept = self.kept_width.filter(|kept| kept.is_of(browser, window));
        let width = kept.map_or_else(|| common_width(browser, window, 0), |kept| kept.width);
        let (is_last, tabs) = (window.tabs.last() == Some(&tab), window.tabs.len() - 1);
        let groups = group_count(browser, window);
        let kept = KeptWidth { window: window.id, width, tabs, groups };
        self.kept_width = Some(kept).filter(|_| !is_last);
        act(browser, UserAction::Close { tab_id: tab.0 })
    }

    /// Lets tabs be as wide as there is room once the pointer is not over their strip.
    fn forget_width(&mut self, browser: &Browser) {
        let is_over = |window: &Window| (0..STRIP_HEIGHT).contains(&self.within(window).1);
        let of = self.window_here(browser).filter(|window| is_over(window)).map(|window| window.id);
        self.kept_width = self.kept_width.filter(|kept| Some(kept.window) == of);
    }

    /// Clicks on what lies behind the last tab of the strip: the button for a new tab, and nothing; `None` beside that.
    fn click_behind_tabs(&self, browser: &mut Browser, button: i64) -> Option<Result<(), Error>> {
        let Some(window) = self.window_here(browser) else {
            return (button == 1).then(|| press_desktop(browser));
        };
        let (x, y) = self.within(window);
        let behind = x - self.lefts(browser, window).last()?;
        let window_id = window.id.0;
        let is_in_strip = (0..STRIP_HEIGHT).contains(&y) && x < window.bounds.width - STRIP_RIGHT;
        match button {
            1 if (0..STRIP_HEIGHT).contains(&y) && (0..NEW_TAB_WIDTH).contains(&behind) => {
                Some(act(browser, UserAction::NewTab { window_id }))
            }
            1 | 2 if is_in_strip && behind >= 0 => Some(Ok(())),
            _ => None,
        }
    }

    fn press(&mut self, browser: &mut Browser) -> Result<(), Error> {
        let Some(window) = self.window_here(browser) else {
            return press_desktop(browser);
        };
        let window_id = window.id.0;
        let Some((tab, index)) = self.tab_here(browser) else {
            return act(browser, UserAction::Focus { window_id });
        };
        if self.is_on_close_button(browser) {
            self.closing = Some(tab);
            return act(browser, UserAction::Focus { window_id });
        }
        let former = window.active.filter(|active| *active != tab);
        let is_mate = window.highlighted.len() > 1 && window.highlighted.contains(&tab);
        let left = self.lefts(browser, window).get(index).copied().unwrap_or_default();
        self.grip = Some(Grip {
            tab,
            home: window.id,
            home_index: index,
            from_x: self.x,
            from_index: index,
            offset: self.within(window).0 - left,
            width: tab_width(browser, window, tab),
            drawn_left: None,
            home_group: browser.tab(tab)?.group,
            hold: self.within(window),
            selection: (window.active.unwrap_or(tab), window.highlighted.clone()),
            former,
            replaced: None,
            is_mate,
            is_dragging: false,
            is_out: false,
        });
        // One of several that are highlighted is shown as it is dragged, with the others, or let go, alone.
        if is_mate {
            return act(browser, UserAction::Focus { window_id });
        }
        act(browser, UserAction::Activate { tab_id: tab.0 })
    }

    /// Follows the pointer with what is held: along the strip, or out of it.
    fn drag(&mut self, browser: &mut Browser) -> Result<(), Error> {
        let (x, y) = (self.x, self.y);
        let Some(grip) = &mut self.grip else {
            return Ok(());
        };
        let way = x - grip.from_x;
        if grip.is_out {
            return self.drag_outside(browser);
        }
        if !grip.is_dragging && way.abs() < DRAG_FROM {
            return Ok(());
        }
        let window = browser.window(browser.tab(grip.tab)?.window)?;
        let held: Vec<_> =
            window.tabs.iter().filter(|tab| window.highlighted.contains(tab)).copied().collect();
        if !std::mem::replace(&mut grip.is_dragging, true) {
            act(browser, UserAction::DragBegin {})?;
            browser.select(grip.tab, held.iter().copied().collect())?;
        }
        let window = browser.window(browser.tab(grip.tab)?.window)?;
        let (place, hold) = (window.bounds, grip.hold);
        // With all its tabs the window itself moves, and they are out of its strip from the start.
        if held.len() == window.tabs.len() {
            grip.is_out = true;
            return self.drag_outside(browser);
        }
        if y - place.top > STRIP_HEIGHT + STRIP_MARGIN {
            grip.is_out = true;
            let mut tabs = vec![grip.tab];
            tabs.extend(held.into_iter().filter(|tab| *tab != grip.tab));
            let target = browser.drag_held_out(&tabs, grip.former, grip.replaced)?;
            return carry(browser, target, (x, y), (place, hold));
        }
        grip.hold.0 = x - place.left;
        let dragged = DraggedTabs::of(browser, window, &held, grip.home_group);
        let Some(dragged) = dragged.filter(|dragged| held.len() == 1 || !dragged.is_mixed(window))
        else {
            let way_over = over_header(browser, window, grip.from_index, way);
            let to = dragged_to(grip.from_index, way_over, tab_width(browser, window, grip.tab));
            let before = held.iter().take_while(|tab| **tab != grip.tab).count();
            return browser.drag_together(&held, to.saturating_sub(before));
        };
        let before = held.iter().take_while(|tab| **tab != grip.tab).count();
        let width = tab_width(browser, window, grip.tab);
        let widths = width * i64::try_from(before).unwrap_or(0);
        let left = (x - place.left - grip.offset_at(width) - widths).max(STRIP_LEFT);
        let index = dragged.index(left);
        // The browser asks for the group before it draws them where they are now, but for the first time.
        let group = dragged.group(index, grip.drawn_left.replace(left).unwrap_or(left));
        browser.drag_within(&held, index, group)
    }

    /// Does what a key does: in a menu that is open, to what is dragged, or in the window that has the focus.
    fn press_key(
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
    fn choose(&mut self, browser: &mut Browser, tab: TabId, entry: MenuEntry) -> Result<(), Error> {
        if is_asked(browser, tab, entry) {
            return self.ask(browser, tab, entry);
        }
        choose(browser, tab, entry)
    }

    /// Asks the user in a window of its own, which has the focus until the answer.
    fn ask(&mut self, browser: &mut Browser, tab: TabId, entry: MenuEntry) -> Result<(), Error> {
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

    /// Puts back what was dragged along its strip, and what was active before.
    fn give_up(browser: &mut Browser, grip: &Grip) -> Result<(), Error> {
        if browser.tab(grip.tab)?.window != grip.home {
            return Self::give_up_outside(browser, grip);
        }
        if !grip.is_dragging {
            return Ok(());
        }
        if grip.is_out {
            return act(browser, UserAction::DragEnd { tab_id: None, index: None });
        }
        if grip.is_mate {
            browser.move_within(grip.tab, Some(grip.from_index))?;
        } else {
            browser.drag_within(&[grip.tab], grip.from_index, grip.home_group)?;
        }
        act(browser, UserAction::DragEnd { tab_id: None, index: None })?;
        match grip.former.filter(|_| !grip.is_mate) {
            Some(former) => act(browser, UserAction::Activate { tab_id: former.0 }),
            None => Ok(()),
        }
    }

    fn release(&mut self, browser: &mut Browser) -> Result<(), Error> {
        if let Some(tab) = self.closing.take() {
            let is_still = self.tab_here(browser).is_some_and(|(here, _)| here == tab);
            return match is_still && self.is_on_close_button(browser) {
                true => self.close(browser, tab),
                false => Ok(()),
            };
        }
        match self.grip.take() {
            Some(grip) if grip.is_dragging => {
                let action = UserAction::DragEnd { tab_id: None, index: None };
                act(browser, action)
            }
            Some(grip) if grip.is_mate => act(browser, UserAction::Activate { tab_id: grip.tab.0 }),
            _ => Ok(()),
        }
    }
}

/// Puts a window that is dragged where the pointer, which is at a place, keeps its hold in it; it is as large as that which it comes from.
pub(super) fn carry(
    browser: &mut Browser,
    window: WindowId,
    (x, y): (i64, i64),
    (size, hold): (Bounds, (i64, i64)),
) -> Result<(), Error> {
    let placement = WindowPlacement {
        left: Some(x - hold.0),
        top: Some(y - hold.1),
        width: Some(size.width),
        height: Some(size.height),
        state: None,
    };
    browser.place_window(window, placement)
}

fn is_command(word: &JsValue) -> bool {
    word.text().is_some_and(|word| COMMANDS.contains(&word))
}

/// Does what the user does, at the time that the browser has come to.
pub(super) fn act(browser: &mut Browser, action: UserAction) -> Result<(), Error> {
    browser.user_action(browser.time(), action).map(drop)
}

/// Presses where no window is: the one that has the focus loses it.
fn press_desktop(browser: &mut Browser) -> Result<(), Error> {
    act(browser, UserAction::Focus { window_id: WINDOW_ID_NONE })
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
