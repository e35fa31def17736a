//! A drag of a group by its header: along its strip, out of it, and into that of another window.

use crate::browser::Browser;
use crate::browser::user_action::UserAction;
use crate::error::Error;
use crate::id::GroupId;
use crate::replay::drag_out::carry;
use crate::replay::dragged_tab::DraggedTabs;
use crate::replay::grip::HeaderGrip;
use crate::replay::pointer::{Pointer, act};
use crate::replay::strip_layout::HEADER_WIDTH;

impl Pointer {
    /// The header of a group, which is under the pointer, as it is taken hold of.
    pub(super) fn header_grip(&self, browser: &Browser, group: GroupId) -> Option<HeaderGrip> {
        let window = self.window_here(browser)?;
        let home_index = window.index_of(*browser.strips().members(group).first()?)?;
        let left = *self.lefts(browser, window).get(home_index)? - HEADER_WIDTH;
        Some(HeaderGrip {
            group,
            from: (self.x, self.y),
            offset: self.within(window).0 - left,
            home: (window.id, home_index),
            former: (window.active?, window.index_of(window.active?)?),
            highlighted: window.highlighted.clone(),
            was_collapsed: browser.strips().group(group)?.collapsed,
            is_dragging: false,
            hold: self.within(window),
            is_out: false,
        })
    }

    /// Follows the pointer with a group that is held by its header: along the strip, where it stands nearest to the pointer.
    pub(super) fn drag_header(
        &mut self,
        browser: &mut Browser,
        grip: &mut HeaderGrip,
    ) -> Result<(), Error> {
        let begins = !grip.is_dragging;
        if begins {
            if grip.is_click_at((self.x, self.y)) {
                return Ok(());
            }
            act(browser, UserAction::DragBegin {})?;
            browser.hold_group(grip.group)?;
            grip.is_dragging = true;
        }
        let window = browser.window(browser.group(grip.group.0)?.window)?;
        let (place, own) = (window.bounds, window.id);
        // With all its tabs the window itself moves.
        grip.is_out |= window.tabs == browser.strips().members(grip.group);
        if grip.is_out {
            let Some(target) = self.strip_here(browser, own) else {
                return carry(browser, own, (self.x, self.y), (place, grip.hold));
            };
            grip.is_out = false;
            browser.bring_group_in(grip.group, target)?;
            self.drag_header_along(browser, grip)?;
            browser.drop_emptied_windows();
            browser.give_focus(target);
            return Ok(());
        }
        let is_out = !self.is_near_strip(place);
        // It goes along the strip before it can leave that.
        if begins || !is_out {
            self.drag_header_along(browser, grip)?;
        }
        if is_out {
            grip.is_out = true;
            let members = browser.strips().members(grip.group).into_iter().collect();
            let former = (grip.highlighted != members).then_some(grip.former);
            let own = browser.drag_group_out(grip.group, former)?;
            return carry(browser, own, (self.x, self.y), (place, grip.hold));
        }
        Ok(())
    }

    fn drag_header_along(&self, browser: &mut Browser, grip: &mut HeaderGrip) -> Result<(), Error> {
        let group = browser.group(grip.group.0)?.clone();
        let members = browser.strips().members(grip.group);
        let window = browser.window(group.window)?;
        if self.is_near_strip(window.bounds) {
            grip.hold.0 = self.within(window).0;
        }
        let widths = self.widths(browser, window);
        let left = self.within(window).0 - grip.offset + HEADER_WIDTH;
        let Some(dragged) = DraggedTabs::of(browser, (window, widths), &members, Some(group.id))
        else {
            return Ok(());
        };
        let index = dragged.by_header().index(left, left);
        browser.move_group(&group, group.window, index).map(drop)
    }

    /// Lets go of a header: one that was not dragged was clicked.
    pub(super) fn release_header(browser: &mut Browser, grip: &HeaderGrip) -> Result<(), Error> {
        if !grip.is_dragging {
            return act(browser, UserAction::ToggleGroup { group_id: grip.group.0 });
        }
        act(browser, UserAction::DragEnd { tab_id: None, index: None })?;
        browser.let_go_of_group(grip.group, grip.was_collapsed)
    }

    /// Puts back a group that is dragged, and what was active before.
    pub(super) fn give_up_header(browser: &mut Browser, grip: &HeaderGrip) -> Result<(), Error> {
        if !grip.is_dragging {
            return Ok(());
        }
        let group = browser.group(grip.group.0)?.clone();
        let ((home, index), (active, _)) = (grip.home, grip.former);
        let highlighted = grip.highlighted.clone();
        act(browser, UserAction::DragEnd { tab_id: None, index: None })?;
        if group.window != home {
            browser.give_group_back(grip.group, grip.home, grip.was_collapsed)?;
            browser.select(active, highlighted)?;
            browser.drop_emptied_windows();
            browser.give_focus(home);
            return Ok(());
        }
        browser.move_group(&group, home, index)?;
        browser.put_group_down(grip.group, grip.was_collapsed);
        browser.select(active, highlighted)
    }
}
