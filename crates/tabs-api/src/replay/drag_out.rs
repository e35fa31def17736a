//! Tabs that the pointer has dragged out of their strip: over a strip they go into it, and given up to where they stood.

use crate::browser::Browser;
use crate::browser::user_action::UserAction;
use crate::browser::window::{Window, WindowKind};
use crate::error::Error;
use crate::id::TabId;
use crate::replay::drag::carry;
use crate::replay::grip::Grip;
use crate::replay::pointer::{Pointer, act};
use crate::replay::strip_layout::{STRIP_HEIGHT, STRIP_RIGHT, TabWidths};

impl Pointer {
    /// Follows the pointer with tabs that have a window of their own: over the strip of another one they go into that.
    pub(super) fn drag_outside(&mut self, browser: &mut Browser) -> Result<(), Error> {
        let Some(mut grip) = self.grip.clone() else {
            return Ok(());
        };
        let own = browser.tab(grip.tab)?.window;
        let windows = browser.focus().order().iter().filter(|window| **window != own);
        let mut windows = windows.filter_map(|window| browser.window(*window).ok());
        let Some(window) = windows.find(|window| self.is_over_strip(window)) else {
            let size = browser.window(own)?.bounds;
            return carry(browser, own, (self.x, self.y), (size, grip.hold));
        };
        let (target, replaced) = (window.id, window.active);
        let held = held(browser, &grip)?;
        let more = i64::try_from(held.len()).unwrap_or(0);
        let x = self.x - window.bounds.left;
        let widths = TabWidths::shared(browser, window, more);
        let left = x - grip.offset_at(widths.of(browser, grip.tab));
        let edges = widths.lefts(browser, window).into_iter().enumerate();
        let nearest = edges.min_by_key(|(_, edge)| (edge - left).abs());
        let index = nearest.map_or(0, |(index, _)| index);
        browser.drag_into(&held, target, index)?;
        (grip.is_out, grip.from_x, grip.from_index) = (false, self.x, index);
        grip.drawn_left = Some(left);
        (grip.former, grip.replaced, grip.hold.0) = (None, replaced, x);
        self.grip = Some(grip);
        Ok(())
    }

    /// Puts tabs back into the strip that they were dragged out of.
    pub(super) fn give_up_outside(browser: &mut Browser, grip: &Grip) -> Result<(), Error> {
        let window = browser.window(browser.tab(grip.tab)?.window)?;
        let mut tabs = held(browser, grip)?;
        // In the strip of another window they are those that are highlighted.
        tabs.retain(|tab| grip.is_out || window.highlighted.contains(tab));
        let strip = window.tabs.iter().filter(|tab| tabs.contains(tab));
        let before = strip.take_while(|tab| **tab != grip.tab).count();
        browser.drag_back(&tabs, grip.home, grip.home_index.saturating_sub(before))?;
        let (active, highlighted) = grip.selection.clone();
        browser.select(active, highlighted)?;
        browser.drop_emptied_windows();
        browser.give_focus(grip.home);
        act(browser, UserAction::DragEnd { tab_id: None, index: None })
    }

    /// True if the strip of a window is under the pointer.
    fn is_over_strip(&self, window: &Window) -> bool {
        let place = window.bounds;
        let has_strip = window.kind == WindowKind::Normal && !window.is_minimized();
        has_strip
            && (place.left..place.left + place.width - STRIP_RIGHT).contains(&self.x)
            && (place.top..place.top + STRIP_HEIGHT).contains(&self.y)
    }
}

/// The tabs that are dragged, which are all of their window; the one that is held first.
fn held(browser: &Browser, grip: &Grip) -> Result<Vec<TabId>, Error> {
    let window = browser.window(browser.tab(grip.tab)?.window)?;
    let others = window.tabs.iter().filter(|tab| **tab != grip.tab).copied();
    Ok(std::iter::once(grip.tab).chain(others).collect())
}
