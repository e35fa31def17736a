//! Tabs that the pointer has dragged out of their strip: over it again they go back into it, and given up to where they stood.

use crate::browser::Browser;
use crate::browser::user_action::UserAction;
use crate::browser::window::Window;
use crate::error::Error;
use crate::id::TabId;
use crate::replay::pointer::{Grip, Pointer, act, carry};
use crate::replay::strip_layout::{STRIP_HEIGHT, lefts, place_of};

impl Pointer {
    /// Follows the pointer with tabs that have a window of their own: over the strip that they come from they go into it again.
    pub(super) fn drag_outside(&mut self, browser: &mut Browser) -> Result<(), Error> {
        let Some(mut grip) = self.grip else {
            return Ok(());
        };
        let target = grip.home;
        let Some(window) = browser.window(target).ok().filter(|home| self.is_over_strip(home))
        else {
            let own = browser.window(browser.tab(grip.tab)?.window)?;
            let (own, size) = (own.id, place_of(own));
            return carry(browser, own, (self.x, self.y), (size, grip.hold));
        };
        let left = self.x - place_of(window).left - grip.offset;
        let edges = lefts(browser, window).into_iter().enumerate();
        let nearest = edges.min_by_key(|(_, edge)| (edge - left).abs());
        let index = nearest.map_or(0, |(index, _)| index);
        browser.drag_into(&held(browser, &grip)?, target, index)?;
        (grip.is_out, grip.from_x, grip.from_index) = (false, self.x, index);
        grip.hold.0 = self.x - place_of(browser.window(target)?).left;
        self.grip = Some(grip);
        Ok(())
    }

    /// Puts tabs back into the strip that they were dragged out of.
    pub(super) fn give_up_outside(browser: &mut Browser, grip: &Grip) -> Result<(), Error> {
        let tabs = held(browser, grip)?;
        let window = browser.window(browser.tab(grip.tab)?.window)?;
        let before = window.tabs.iter().take_while(|tab| **tab != grip.tab).count();
        browser.drag_back(&tabs, grip.home, grip.home_index.saturating_sub(before))?;
        act(browser, UserAction::DragEnd { tab_id: None, index: None })
    }

    /// True if the strip of a window is under the pointer.
    fn is_over_strip(&self, window: &Window) -> bool {
        let place = place_of(window);
        (place.left..place.left + place.width).contains(&self.x)
            && (place.top..place.top + STRIP_HEIGHT).contains(&self.y)
    }
}

/// The tabs that are dragged, which are all of their window; the one that is held first.
fn held(browser: &Browser, grip: &Grip) -> Result<Vec<TabId>, Error> {
    let window = browser.window(browser.tab(grip.tab)?.window)?;
    let others = window.tabs.iter().filter(|tab| **tab != grip.tab).copied();
    Ok(std::iter::once(grip.tab).chain(others).collect())
}
