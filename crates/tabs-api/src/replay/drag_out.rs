//! Tabs that the pointer has dragged out of their strip: over a strip they go into it, and given up to where they stood.

use crate::browser::Browser;
use crate::browser::strip::WindowPlacement;
use crate::browser::user_action::UserAction;
use crate::browser::window::{Bounds, Window, WindowKind};
use crate::error::Error;
use crate::id::{TabId, WindowId};
use crate::replay::grip::Grip;
use crate::replay::pointer::{Pointer, act};
use crate::replay::strip_layout::{STRIP_HEIGHT, STRIP_RIGHT, STRIP_START};

impl Pointer {
    /// Follows the pointer with tabs that have a window of their own: over the strip of another one they go into that.
    pub(super) fn drag_outside(&mut self, browser: &mut Browser) -> Result<(), Error> {
        let Some(mut grip) = self.grip.clone() else {
            return Ok(());
        };
        let own = browser.tab(grip.tab)?.window;
        let Some(target) = self.strip_here(browser, own) else {
            let size = browser.window(own)?.bounds;
            return carry(browser, own, (self.x, self.y), (size, grip.hold));
        };
        let window = browser.window(target)?;
        let replaced = window.active;
        grip.hold.0 = self.x - window.bounds.left;
        let held = browser.bring_in(&held(browser, &grip)?, target)?;
        let window = browser.window(target)?;
        let first = held.first().and_then(|first| window.index_of(*first)).unwrap_or_default();
        (grip.is_out, grip.from_x, grip.from_index) = (false, self.x, first);
        // They are drawn at the start of the strip before they go to the pointer from there.
        grip.drawn_left = self.lefts(browser, window).get(first).copied();
        (grip.former, grip.replaced) = (None, replaced);
        self.grip = Some(grip);
        self.drag_along(browser, &held)?;
        browser.drop_emptied_windows();
        browser.give_focus(target);
        Ok(())
    }

    /// Puts tabs back into the strip that they were dragged out of.
    pub(super) fn give_up_outside(browser: &mut Browser, grip: &Grip) -> Result<(), Error> {
        browser.drag_back(&grip.homes, grip.home)?;
        let (active, highlighted) = grip.selection.clone();
        browser.select(active, highlighted)?;
        browser.drop_emptied_windows();
        browser.give_focus(grip.home);
        act(browser, UserAction::DragEnd { tab_id: None, index: None })
    }

    /// The window, other than one, whose strip is under the pointer.
    pub(super) fn strip_here(&self, browser: &Browser, own: WindowId) -> Option<WindowId> {
        let windows = browser.focus().order().iter().filter(|window| **window != own);
        let mut windows = windows.filter_map(|window| browser.window(*window).ok());
        windows.find(|window| self.is_over_strip(window)).map(|window| window.id)
    }

    /// True if the strip of a window is under the pointer.
    fn is_over_strip(&self, window: &Window) -> bool {
        let place = window.bounds;
        let has_strip = window.kind == WindowKind::Normal && !window.is_minimized();
        has_strip
            && (place.left + STRIP_START..place.left + place.width - STRIP_RIGHT).contains(&self.x)
            && (place.top..place.top + STRIP_HEIGHT).contains(&self.y)
    }
}

/// The tabs that are dragged, which are all of their window; the one that is held first.
fn held(browser: &Browser, grip: &Grip) -> Result<Vec<TabId>, Error> {
    let window = browser.window(browser.tab(grip.tab)?.window)?;
    let others = window.tabs.iter().filter(|tab| **tab != grip.tab).copied();
    Ok(std::iter::once(grip.tab).chain(others).collect())
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
