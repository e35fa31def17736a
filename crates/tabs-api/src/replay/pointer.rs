//! The user's pointer and keys as they were recorded, turned into what they did in the browser.
//!
//! The places are those of the recorded browser's window: a strip on top, tabs of one width behind the button that searches them.

use crate::browser::Browser;
use crate::browser::user_action::UserAction;
use crate::browser::window::Window;
use crate::error::Error;
use crate::id::TabId;
use crate::js_value::JsValue;

/// The left edge of the first tab, from that of the window.
const STRIP_LEFT: i64 = 40;
/// The height of the strip.
const STRIP_HEIGHT: i64 = 41;
/// A tab's width, as long as there is room for all.
const TAB_WIDTH: i64 = 240;
const PINNED_WIDTH: i64 = 42;
/// The part of the strip that is not for tabs: buttons at its end.
const STRIP_RIGHT: i64 = 110;
/// The distance that the pointer goes before it drags.
const DRAG_FROM: i64 = 10;
/// The entries of a tab's menu that are known, by their distance below the pointer that opened it.
const MENU: &[(i64, Entry)] = &[(151, Entry::Reload), (209, Entry::Pin), (238, Entry::MuteSite)];
const MENU_ROW: i64 = 29;

/// An entry of a tab's menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Reload,
    Pin,
    MuteSite,
}

/// A tab under a pressed button.
#[derive(Debug, Clone, Copy)]
struct Grip {
    tab: TabId,
    from_x: i64,
    from_index: usize,
    is_dragging: bool,
}

/// The place of the pointer, and what is held.
#[derive(Debug, Default)]
pub(crate) struct Pointer {
    x: i64,
    y: i64,
    held: Vec<String>,
    grip: Option<Grip>,
    /// The tab whose menu is open, and how far down it begins.
    menu: Option<(TabId, i64)>,
}

impl Pointer {
    /// Does what a line of `xdotool` did; `None` for what is not known here.
    ///
    /// # Errors
    /// The refusal of the browser.
    pub(crate) fn apply(
        &mut self,
        browser: &mut Browser,
        line: &[JsValue],
    ) -> Option<Result<(), Error>> {
        let mut words = line.iter();
        if words.next().and_then(JsValue::text) != Some("xdotool") {
            return None;
        }
        while let Some(word) = words.next() {
            let outcome = match word.text()? {
                "mousemove" => {
                    self.x = words.next()?.integer()?;
                    self.y = words.next()?.integer()?;
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
                "key" => press_key(browser, words.next()?.text()?)?,
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

    /// The tab under the pointer, in the window that has the focus.
    fn tab_here(&self, browser: &Browser) -> Option<(TabId, usize)> {
        let window = browser.focused_window()?;
        let (x, y) = (self.x - window.bounds.left, self.y - window.bounds.top);
        let lefts = lefts(browser, window);
        let index = lefts.windows(2).position(|pair| match pair {
            [left, right] => (*left..*right).contains(&x),
            _ => false,
        })?;
        let tab = *window.tabs.get(index)?;
        (0..STRIP_HEIGHT).contains(&y).then_some((tab, index))
    }

    fn click(&mut self, browser: &mut Browser, button: i64) -> Option<Result<(), Error>> {
        if let Some((tab, top)) = self.menu.take() {
            let below = self.y - top;
            let row = MENU.iter().find(|(place, _)| (below - place).abs() * 2 <= MENU_ROW);
            return Some(choose(browser, tab, row?.1));
        }
        let (tab, _) = self.tab_here(browser)?;
        Some(match button {
            1 if self.holds("ctrl") => act(browser, UserAction::Toggle { tab_id: tab.0 }),
            1 if self.holds("shift") => act(browser, UserAction::Extend { tab_id: tab.0 }),
            1 => act(browser, UserAction::Activate { tab_id: tab.0 }),
            2 => act(browser, UserAction::Close { tab_id: tab.0 }),
            3 => {
                self.menu = Some((tab, self.y));
                Ok(())
            }
            _ => return None,
        })
    }

    fn press(&mut self, browser: &mut Browser) -> Result<(), Error> {
        let Some((tab, index)) = self.tab_here(browser) else {
            return Ok(());
        };
        self.grip = Some(Grip { tab, from_x: self.x, from_index: index, is_dragging: false });
        let action = UserAction::Activate { tab_id: tab.0 };
        act(browser, action)
    }

    /// Follows the pointer with the tab that is held: it changes places with a neighbour once it covers half of it.
    fn drag(&mut self, browser: &mut Browser) -> Result<(), Error> {
        let Some(grip) = &mut self.grip else {
            return Ok(());
        };
        let way = self.x - grip.from_x;
        if !grip.is_dragging && way.abs() < DRAG_FROM {
            return Ok(());
        }
        if !std::mem::replace(&mut grip.is_dragging, true) {
            act(browser, UserAction::DragBegin {})?;
        }
        let steps = way.unsigned_abs().saturating_add(TAB_WIDTH.unsigned_abs() / 2)
            / TAB_WIDTH.unsigned_abs();
        let steps = usize::try_from(steps).unwrap_or(usize::MAX);
        let to = if way < 0 {
            grip.from_index.saturating_sub(steps)
        } else {
            grip.from_index.saturating_add(steps)
        };
        browser.move_within(grip.tab, Some(to))
    }

    fn release(&mut self, browser: &mut Browser) -> Result<(), Error> {
        match self.grip.take() {
            Some(grip) if grip.is_dragging => {
                let action = UserAction::DragEnd { tab_id: None, index: None };
                act(browser, action)
            }
            _ => Ok(()),
        }
    }
}

/// Does what the user does, at the time that the browser has come to.
fn act(browser: &mut Browser, action: UserAction) -> Result<(), Error> {
    browser.user_action(browser.time(), action).map(drop)
}

/// The left edges of the tabs of a window, from its own, and the right edge of the last one.
fn lefts(browser: &Browser, window: &Window) -> Vec<i64> {
    let pinned = |id: &&TabId| browser.tab(**id).is_ok_and(|tab| tab.pinned);
    let pins = i64::try_from(window.tabs.iter().filter(pinned).count()).unwrap_or(0);
    let others = i64::try_from(window.tabs.len()).unwrap_or(0) - pins;
    let room = window.bounds.width - STRIP_LEFT - STRIP_RIGHT - pins * PINNED_WIDTH;
    let width = TAB_WIDTH.min(room / others.max(1)).max(PINNED_WIDTH);
    let mut left = STRIP_LEFT;
    let mut lefts = vec![left];
    for id in &window.tabs {
        left += if pinned(&id) { PINNED_WIDTH } else { width };
        lefts.push(left);
    }
    lefts
}

fn choose(browser: &mut Browser, tab: TabId, entry: Entry) -> Result<(), Error> {
    let state = browser.tab(tab)?;
    let action = match entry {
        Entry::Reload => UserAction::Reload { tab_id: tab.0 },
        Entry::Pin => UserAction::Pin { tab_id: tab.0, pinned: !state.pinned },
        Entry::MuteSite => UserAction::MuteSite { tab_id: tab.0, muted: !state.muted.muted },
    };
    act(browser, action)
}

/// Does what a key does to the window that has the focus; `None` for one that does nothing known.
fn press_key(browser: &mut Browser, key: &str) -> Option<Result<(), Error>> {
    let window = browser.focused_window()?;
    let active = window.active?;
    let (tab_id, count) = (active.0, window.tabs.len());
    let at = window.index_of(active)?;
    let show = |index: usize| {
        let tab = window.tabs.get(index)?;
        Some(UserAction::Activate { tab_id: tab.0 })
    };
    let action = match key {
        "ctrl+t" => UserAction::NewTab { window_id: window.id.0 },
        "ctrl+w" | "ctrl+F4" => UserAction::Close { tab_id },
        "ctrl+shift+t" => UserAction::RestoreTab { window_id: window.id.0 },
        "ctrl+Tab" | "ctrl+Page_Down" => show((at + 1) % count.max(1))?,
        "ctrl+shift+Tab" | "ctrl+Page_Up" => show((at + count - 1) % count.max(1))?,
        "ctrl+shift+Page_Down" | "ctrl+shift+Page_Up" => {
            UserAction::MoveBy { tab_id, forward: key == "ctrl+shift+Page_Down" }
        }
        "ctrl+9" => show(count.checked_sub(1)?)?,
        "alt+Left" | "alt+Right" => UserAction::Traverse { tab_id, forward: key == "alt+Right" },
        "F5" | "ctrl+r" | "ctrl+F5" | "ctrl+shift+r" => UserAction::Reload { tab_id },
        "ctrl+plus" | "ctrl+equal" => UserAction::ZoomStep { tab_id, step: 1 },
        "ctrl+minus" => UserAction::ZoomStep { tab_id, step: -1 },
        "ctrl+0" => UserAction::ZoomStep { tab_id, step: 0 },
        number => {
            let number: usize = number.strip_prefix("ctrl+")?.parse().ok()?;
            // A number that no tab has does nothing.
            match number.checked_sub(1).and_then(show) {
                Some(action) => action,
                None => return Some(Ok(())),
            }
        }
    };
    Some(act(browser, action))
}
