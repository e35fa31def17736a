//! The user's pointer and keys as they were recorded, turned into what they did in the browser.
//!
//! The places are those of the recorded browser's window.

use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::user_action::{MenuEntry, UserAction};
use crate::browser::window::Window;
use crate::error::Error;
use crate::id::{GroupId, TabId, WINDOW_ID_NONE, WindowId};
use crate::js_value::JsValue;
use crate::replay::grip::{Grip, HeaderGrip};
use crate::replay::menu::{OpenMenu, takes_whole_group};
use crate::replay::strip_layout::{
    HEADER_WIDTH, NEW_TAB_BUTTON, STRIP_HEIGHT, TabWidths, WINDOW_BUTTONS,
};

/// The button that closes a tab, by its distances from the tab's right edge.
const CLOSE_BUTTON: std::ops::Range<i64> = -27..-11;
/// The least width of a tab that has the button while it is not the active one.
const CLOSE_BUTTON_FROM: i64 = 90;
/// The words that begin something else than a key.
const COMMANDS: [&str; 6] = ["mousemove", "click", "mousedown", "mouseup", "keydown", "keyup"];

/// The widths that tabs keep where the pointer closed one before them, until it leaves their strip, or more tabs come, or other groups.
#[derive(Debug, Clone, Copy)]
struct KeptWidths {
    window: WindowId,
    widths: TabWidths,
    tabs: usize,
    groups: usize,
}

impl KeptWidths {
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
    kept_widths: Option<KeptWidths>,
    pub(super) grip: Option<Grip>,
    /// The tab whose close button is pressed.
    pub(super) closing: Option<TabId>,
    /// The header that is pressed.
    pub(super) header: Option<HeaderGrip>,
    pub(super) menu: Option<OpenMenu>,
    /// The entry that the browser asks about before it does it, and the tab.
    pub(super) asked: Option<(TabId, MenuEntry)>,
    /// The time at which the key was pressed that closes pinned tabs once it is pressed again.
    pub(super) pin_warning: Option<Timestamp>,
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
                    self.forget_widths(browser);
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
    pub(super) fn within(&self, window: &Window) -> (i64, i64) {
        let place = window.bounds;
        (self.x - place.left, self.y - place.top)
    }

    /// The window under the pointer: of several there the one that had the focus last.
    pub(super) fn window_here<'b>(&self, browser: &'b Browser) -> Option<&'b Window> {
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
    pub(super) fn tab_here(&self, browser: &Browser) -> Option<(TabId, usize)> {
        let window = self.window_here(browser)?;
        let (x, y) = self.within(window);
        let spans = self.widths(browser, window).spans(browser, window);
        let index = spans.iter().position(|span| span.contains(&x))?;
        let tab = *window.tabs.get(index)?;
        (0..STRIP_HEIGHT).contains(&y).then_some((tab, index))
    }

    /// The group whose header is under the pointer: it stands before the first of its tabs.
    pub(super) fn header_here(&self, browser: &Browser) -> Option<GroupId> {
        let window = self.window_here(browser)?;
        let (x, y) = self.within(window);
        let spans = self.widths(browser, window).spans(browser, window);
        let mut before = None;
        let mut headers = window.tabs.iter().zip(spans).filter_map(|(tab, span)| {
            let own = browser.tab(*tab).ok()?.group;
            let first = own.filter(|_| own != std::mem::replace(&mut before, own))?;
            Some((first, span.start - HEADER_WIDTH..span.start))
        });
        let here = headers.find(|(_, header)| header.contains(&x));
        here.map(|(group, _)| group).filter(|_| (0..STRIP_HEIGHT).contains(&y))
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

    /// True if the button is under the pointer that closes a tab; pinned tabs have none, nor have narrow ones but for the active one.
    pub(super) fn is_on_close_button(&self, browser: &Browser) -> bool {
        let tab = self.tab_here(browser).zip(self.window_here(browser));
        tab.is_some_and(|((tab, index), window)| {
            let spans = self.widths(browser, window).spans(browser, window);
            let is_pinned = browser.tab(tab).is_ok_and(|tab| tab.pinned);
            let is_active = window.active == Some(tab);
            spans.get(index).is_some_and(|span| {
                let is_wide = is_active || span.end - span.start >= CLOSE_BUTTON_FROM;
                !is_pinned && is_wide && CLOSE_BUTTON.contains(&(self.within(window).0 - span.end))
            })
        })
    }

    /// The widths of the tabs of a window.
    pub(super) fn widths(&self, browser: &Browser, window: &Window) -> TabWidths {
        let kept = self.kept_widths.filter(|kept| kept.is_of(browser, window));
        kept.map_or_else(|| TabWidths::shared(browser, window), |kept| kept.widths)
    }

    /// The left edges of the tabs of a window, and the right edge of the last one.
    pub(super) fn lefts(&self, browser: &Browser, window: &Window) -> Vec<i64> {
        self.widths(browser, window).lefts(browser, window)
    }

    /// Closes a tab. Those behind it come to where it was, as wide as they are, so that one after the other can be closed.
    pub(super) fn close(&mut self, browser: &mut Browser, tab: TabId) -> Result<(), Error> {
        if takes_whole_group(browser, &[tab]) {
            return self.ask(browser, tab, MenuEntry::Close);
        }
        let window = browser.window(browser.tab(tab)?.window)?;
        let widths = self.widths(browser, window).without(browser, window, tab);
        let (is_last, tabs) = (window.tabs.last() == Some(&tab), window.tabs.len() - 1);
        let groups = group_count(browser, window);
        let kept = KeptWidths { window: window.id, widths, tabs, groups };
        self.kept_widths = Some(kept).filter(|_| !is_last);
        act(browser, UserAction::Close { tab_id: tab.0 })
    }

    /// Lets tabs be as wide as there is room once the pointer is not over their strip.
    fn forget_widths(&mut self, browser: &Browser) {
        let is_over = |window: &Window| (0..STRIP_HEIGHT).contains(&self.within(window).1);
        let of = self.window_here(browser).filter(|window| is_over(window)).map(|window| window.id);
        self.kept_widths = self.kept_widths.filter(|kept| Some(kept.window) == of);
    }

    /// Clicks on what lies behind the last tab of the strip: the button for a new tab, and nothing; `None` beside that.
    fn click_behind_tabs(&self, browser: &mut Browser, button: i64) -> Option<Result<(), Error>> {
        let Some(window) = self.window_here(browser) else {
            return (button == 1).then(|| press_desktop(browser));
        };
        let (x, y) = self.within(window);
        let behind = x - self.lefts(browser, window).last()?;
        let window_id = window.id.0;
        let is_in_strip =
            (0..STRIP_HEIGHT).contains(&y) && x < window.bounds.width - WINDOW_BUTTONS;
        match button {
            1 if (0..STRIP_HEIGHT).contains(&y) && NEW_TAB_BUTTON.contains(&behind) => {
                Some(act(browser, UserAction::NewTab { window_id }))
            }
            1 if is_in_strip && behind >= 0 => Some(Ok(())),
            2 if is_in_strip => Some(Ok(())),
            _ => None,
        }
    }
}

fn is_command(word: &JsValue) -> bool {
    word.text().is_some_and(|word| COMMANDS.contains(&word))
}

/// Does what the user does, at the time that the browser has come to.
pub(super) fn act(browser: &mut Browser, action: UserAction) -> Result<(), Error> {
    browser.user_action(browser.time(), action).map(drop)
}

/// Presses where no window is: the one that has the focus loses it.
pub(super) fn press_desktop(browser: &mut Browser) -> Result<(), Error> {
    act(browser, UserAction::Focus { window_id: WINDOW_ID_NONE })
}
