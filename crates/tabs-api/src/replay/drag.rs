//! A drag of tabs along their strip: how it begins, what it moves, and how it ends.

use crate::browser::Browser;
use crate::browser::user_action::UserAction;
use crate::browser::window::Bounds;
use crate::error::Error;
use crate::id::TabId;
use crate::replay::drag_out::carry;
use crate::replay::dragged_tab::DraggedTabs;
use crate::replay::grip::Grip;
use crate::replay::pointer::{Pointer, act, press_desktop};
use crate::replay::strip_layout::{STRIP_HEIGHT, STRIP_LEFT, STRIP_START, dragged_to, over_header};

/// The height of the part below the strip in which a tab that is dragged stays in it.
const STRIP_MARGIN: i64 = 15;
/// The distance that the pointer goes before it drags.
const DRAG_FROM: i64 = 10;

impl Pointer {
    pub(super) fn press(&mut self, browser: &mut Browser) -> Result<(), Error> {
        let Some(window) = self.window_here(browser) else {
            return press_desktop(browser);
        };
        let window_id = window.id.0;
        if let Some(group) = self.header_here(browser) {
            self.header = self.header_grip(browser, group);
            return act(browser, UserAction::Focus { window_id });
        }
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
            from_x: self.x,
            from_index: index,
            offset: self.within(window).0 - left,
            width: self.widths(browser, window).of(browser, tab),
            drawn_left: None,
            home_group: browser.tab(tab)?.group,
            hold: self.within(window),
            selection: (window.active.unwrap_or(tab), window.highlighted.clone()),
            homes: Vec::new(),
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
    pub(super) fn drag(&mut self, browser: &mut Browser) -> Result<(), Error> {
        let (x, y) = (self.x, self.y);
        if let Some(mut header) = self.header.take() {
            self.drag_header(browser, &mut header)?;
            self.header = Some(header);
            return Ok(());
        }
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
        let begins = !std::mem::replace(&mut grip.is_dragging, true);
        if begins {
            let strip = window.tabs.iter().enumerate().filter(|(_, tab)| held.contains(tab));
            let home = |(index, tab): (usize, &TabId)| {
                (*tab, index, browser.tab(*tab).ok().and_then(|tab| tab.group))
            };
            grip.homes = strip.map(home).collect();
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
        let is_out = !self.is_near_strip(place);
        // They go along the strip before they can leave it.
        if begins || !is_out {
            self.drag_along(browser, &held)?;
        }
        let Some(grip) = &mut self.grip else {
            return Ok(());
        };
        if is_out {
            grip.is_out = true;
            let mut tabs = vec![grip.tab];
            tabs.extend(held.into_iter().filter(|tab| *tab != grip.tab));
            let target = browser.drag_held_out(&tabs, grip.former, grip.replaced)?;
            return carry(browser, target, (x, y), (place, hold));
        }
        grip.hold.0 = x - place.left;
        Ok(())
    }

    /// True where what is dragged stays in the strip of a window at that place.
    pub(super) fn is_near_strip(&self, place: Bounds) -> bool {
        self.x - place.left >= STRIP_START && self.y - place.top <= STRIP_HEIGHT + STRIP_MARGIN
    }

    /// Follows the pointer along the strip with the tabs that are held.
    pub(super) fn drag_along(
        &mut self,
        browser: &mut Browser,
        held: &[TabId],
    ) -> Result<(), Error> {
        let Some(grip) = &self.grip else {
            return Ok(());
        };
        let window = browser.window(browser.tab(grip.tab)?.window)?;
        let widths = self.widths(browser, window);
        let width = widths.of(browser, grip.tab);
        let before = held.iter().take_while(|tab| **tab != grip.tab).count();
        let dragged = DraggedTabs::of(browser, (window, widths), held, grip.home_group);
        let Some(dragged) = dragged.filter(|dragged| held.len() == 1 || !dragged.has_pinned())
        else {
            let way = self.x - grip.from_x;
            let way_over = over_header(browser, window, grip.from_index, way);
            let to = dragged_to(grip.from_index, way_over, width);
            return browser.drag_together(held, to.saturating_sub(before));
        };
        let left = self.x - window.bounds.left - grip.offset_at(width) - dragged.way_to(grip.tab);
        let left = left.max(STRIP_LEFT);
        // The browser asks for the group before it draws them where they are now, but for the first time.
        let drawn_left = grip.drawn_left.unwrap_or(left);
        let index = dragged.index(left, drawn_left);
        let group = dragged.group(index, drawn_left);
        if let Some(grip) = &mut self.grip {
            grip.drawn_left = Some(left);
        }
        browser.drag_within(held, index, group)
    }

    /// Puts back what was dragged along its strip, and what was active before.
    pub(super) fn give_up(browser: &mut Browser, grip: &Grip) -> Result<(), Error> {
        if browser.tab(grip.tab)?.window != grip.home {
            return Self::give_up_outside(browser, grip);
        }
        if !grip.is_dragging {
            return Ok(());
        }
        if grip.is_out {
            return act(browser, UserAction::DragEnd { tab_id: None, index: None });
        }
        for (place, (tab, home, group)) in grip.homes.iter().enumerate() {
            // From before its place it goes there over those that are still to go.
            let index = browser.window(grip.home)?.index_of(*tab).unwrap_or_default();
            let over = if index < *home { grip.homes.len() - place - 1 } else { 0 };
            let group = group.filter(|group| browser.strips().group(*group).is_some());
            browser.drag_within(&[*tab], home + over, group)?;
        }
        act(browser, UserAction::DragEnd { tab_id: None, index: None })?;
        match grip.former.filter(|_| !grip.is_mate) {
            Some(former) => act(browser, UserAction::Activate { tab_id: former.0 }),
            None => Ok(()),
        }
    }

    pub(super) fn release(&mut self, browser: &mut Browser) -> Result<(), Error> {
        if let Some(tab) = self.closing.take() {
            let is_still = self.tab_here(browser).is_some_and(|(here, _)| here == tab);
            return match is_still && self.is_on_close_button(browser) {
                true => self.close(browser, tab),
                false => Ok(()),
            };
        }
        if let Some(header) = self.header.take() {
            return Self::release_header(browser, &header);
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
