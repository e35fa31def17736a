//! The strip of tabs as the recorded browser drew it: a window's tabs have one width, behind the button that searches them.

use std::ops::Range;

use crate::browser::Browser;
use crate::browser::tab::Tab;
use crate::browser::window::{Bounds, Screen, Window};
use crate::id::TabId;

/// The screen of the recorded browser.
pub(super) const SCREEN: Screen = Screen {
    width: 1_400,
    height: 1_000,
    opens_at: Bounds { left: 10, top: 10, width: 1_000, height: 700 },
};
/// The left edge of the first tab, from that of the window.
pub(super) const STRIP_LEFT: i64 = 41;
/// The height of the strip.
pub(super) const STRIP_HEIGHT: i64 = 41;
/// A tab's width, as long as there is room for all.
const TAB_WIDTH: i64 = 238;
/// The least that tabs shrink to; no recording has so many.
const TAB_WIDTH_MIN: i64 = 42;
const PINNED_WIDTH: i64 = 46;
/// The part of the strip that is not for tabs: buttons at its end, and room to take hold of the window.
pub(super) const STRIP_RIGHT: i64 = 185;
/// The part of the strip at its right end that holds the buttons of the window, which are not followed here.
pub(super) const WINDOW_BUTTONS: i64 = 151;
/// The button that opens a new tab, by its distances from the right edge of the last one.
pub(super) const NEW_TAB_BUTTON: Range<i64> = 3..31;
/// The width of the header of a group without a title; a title makes it wider, by its letters, which is not followed here.
pub(super) const HEADER_WIDTH: i64 = 34;
/// The part of a tab that is drawn over its neighbours.
pub(super) const DRAWN_OVER: i64 = 18;

/// The left edge of the strip, from that of the window: the first tab is drawn over it.
pub(super) const STRIP_START: i64 = STRIP_LEFT - DRAWN_OVER / 2;

/// The widths of the tabs of a strip that are not pinned.
#[derive(Debug, Clone, Copy)]
pub(super) struct TabWidths {
    /// The width of each.
    common: i64,
    /// The number of them, from the first on, that are a pixel wider: no part of the room stays empty.
    wider: i64,
}

impl TabWidths {
    /// Those of a window's tabs as they share its room.
    pub(super) fn shared(browser: &Browser, window: &Window) -> Self {
        let count = |is_it: &dyn Fn(&Tab) -> bool| {
            let tabs = window.tabs.iter().filter_map(|id| browser.tab(*id).ok());
            i64::try_from(tabs.filter(|tab| is_it(tab)).count()).unwrap_or(0)
        };
        let pins = count(&|tab| tab.pinned);
        let others = count(&|tab| is_wide(browser, tab)).max(1);
        let groups = browser.strips().groups().filter(|group| group.window == window.id).count();
        let headers = i64::try_from(groups).unwrap_or(0) * HEADER_WIDTH;
        let room = window.bounds.width - STRIP_LEFT - STRIP_RIGHT - pins * PINNED_WIDTH - headers;
        let common = room / others;
        match (TAB_WIDTH_MIN..TAB_WIDTH).contains(&common) {
            true => Self { common, wider: room % others },
            false => Self { common: common.clamp(TAB_WIDTH_MIN, TAB_WIDTH), wider: 0 },
        }
    }

    /// The same widths once a tab is gone, whose room stays empty.
    pub(super) fn without(self, browser: &Browser, window: &Window, tab: TabId) -> Self {
        let before = window.tabs.iter().take_while(|own| **own != tab);
        let before = before.filter(|own| browser.tab(**own).is_ok_and(|own| is_wide(browser, own)));
        let is_wider = i64::try_from(before.count()).is_ok_and(|before| before < self.wider);
        Self { wider: self.wider - i64::from(is_wider), ..self }
    }

    /// The width of a tab; a pinned one is small.
    pub(super) fn of(self, browser: &Browser, tab: TabId) -> i64 {
        if browser.tab(tab).is_ok_and(|tab| tab.pinned) { PINNED_WIDTH } else { self.common }
    }

    /// The width at which a tab is drawn: none where its group hides it.
    pub(super) fn drawn(self, browser: &Browser, tab: TabId) -> i64 {
        let is_hidden = browser.tab(tab).is_ok_and(|tab| browser.strips().is_hidden(tab));
        if is_hidden { 0 } else { self.of(browser, tab) }
    }

    /// The left edges of the tabs of a window, from its own, and the right edge of the last one.
    pub(super) fn lefts(self, browser: &Browser, window: &Window) -> Vec<i64> {
        let spans = self.spans(browser, window);
        let end = spans.last().map_or(STRIP_LEFT, |span| span.end);
        spans.iter().map(|span| span.start).chain([end]).collect()
    }

    /// The places of the tabs of a window, from its left edge; the header of a group lies between two of them.
    pub(super) fn spans(self, browser: &Browser, window: &Window) -> Vec<Range<i64>> {
        let (mut wider, mut left, mut before) = (self.wider, STRIP_LEFT, None);
        let span = |id: &TabId| {
            let tab = browser.tab(*id).ok();
            let group = tab.and_then(|tab| tab.group);
            if group.is_some() && group != before {
                left += HEADER_WIDTH;
            }
            before = group;
            let start = left;
            left += self.drawn(browser, *id);
            if wider > 0 && tab.is_some_and(|tab| is_wide(browser, tab)) {
                (left, wider) = (left + 1, wider - 1);
            }
            start..left
        };
        window.tabs.iter().map(span).collect()
    }
}

/// True for a tab that shares the room of its strip: neither pinned nor hidden by its group.
fn is_wide(browser: &Browser, tab: &Tab) -> bool {
    !tab.pinned && !browser.strips().is_hidden(tab)
}

/// The part of a way that counts for a tab that was at an index: to the left, the header of a group that it was the first of lies between.
pub(super) fn over_header(browser: &Browser, window: &Window, from: usize, way: i64) -> i64 {
    let group = |index: usize| window.tabs.get(index).and_then(|tab| browser.tab(*tab).ok()?.group);
    let own = group(from);
    let is_first = own.is_some() && from.checked_sub(1).and_then(group) != own;
    if way < 0 && is_first { (way + HEADER_WIDTH).min(0) } else { way }
}

/// The index that a tab comes to: it changes places with a neighbour once it covers half of it.
pub(super) fn dragged_to(from: usize, way: i64, width: i64) -> usize {
    let width = width.unsigned_abs();
    let steps = way.unsigned_abs().saturating_add(width / 2) / width;
    let steps = usize::try_from(steps).unwrap_or(usize::MAX);
    if way < 0 { from.saturating_sub(steps) } else { from.saturating_add(steps) }
}
