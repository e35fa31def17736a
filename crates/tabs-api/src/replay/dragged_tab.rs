//! Tabs that the pointer drags along their strip: where they come to stand, and in which group, as the browser finds both from where it draws
//! them.

use crate::browser::Browser;
use crate::browser::window::Window;
use crate::id::{GroupId, TabId};
use crate::replay::strip_layout::{DRAWN_OVER, HEADER_WIDTH, STRIP_LEFT, TabWidths};

/// Tabs that stand side by side and are held, over the others of their strip.
#[derive(Debug)]
pub(super) struct DraggedTabs<'b> {
    browser: &'b Browser,
    /// The window without them.
    others: Window,
    tabs: &'b [TabId],
    widths: TabWidths,
    /// The index of the first of them.
    from: usize,
    /// The right edges of the others, as they stand without them.
    rights: Vec<i64>,
    /// The group that the first of them is of, and whether no others are.
    own: Option<GroupId>,
    is_whole: bool,
    /// True if they joined that group on the way.
    has_joined: bool,
    /// True if they are a group that is dragged by its header.
    is_by_header: bool,
    /// True if they go into no group: one that is held by its header, or goes along with other tabs.
    stays_outside: bool,
    /// The part of a tab's width by which it leans over a group that it joins.
    lean: i64,
}

impl<'b> DraggedTabs<'b> {
    /// The tabs of a window that are dragged, in the order of the strip, whose tabs have these widths.
    /// `home_group` is the group that they came from.
    pub(super) fn of(
        browser: &'b Browser,
        (window, widths): (&Window, TabWidths),
        tabs: &'b [TabId],
        home_group: Option<GroupId>,
    ) -> Option<Self> {
        let first = *tabs.first()?;
        let from = window.index_of(first)?;
        let own = browser.tab(first).ok()?.group;
        let (mut right, mut before) = (STRIP_LEFT, None);
        let spans = window.tabs.iter().zip(widths.spans(browser, window));
        let others = spans.filter(|(tab, _)| !tabs.contains(tab));
        // Groups that they are all tabs of go with their headers, and the others draw together.
        let rights = others.map(|(tab, span)| {
            let group = browser.tab(*tab).ok().and_then(|tab| tab.group);
            let has_header = group.is_some() && group != std::mem::replace(&mut before, group);
            right += span.end - span.start + if has_header { HEADER_WIDTH } else { 0 };
            right
        });
        let rights = rights.collect();
        let lean = (widths.of(browser, first) + DRAWN_OVER) / 4;
        let others = window.without(tabs);
        let is_whole = own.is_some_and(|own| browser.strips().members(own) == tabs);
        let has_joined = own != home_group;
        let is_by_header = false;
        let begins_group = |tab: &TabId| begins_whole_group(browser, tabs, *tab);
        let stays_outside = !is_whole && tabs.iter().any(begins_group);
        Some(Self {
            browser,
            others,
            tabs,
            widths,
            from,
            rights,
            own,
            is_whole,
            has_joined,
            is_by_header,
            stays_outside,
            lean,
        })
    }

    /// The same tabs where the header of their group is what the pointer holds.
    pub(super) fn by_header(self) -> Self {
        Self { is_by_header: true, stays_outside: true, ..self }
    }

    /// The way from the left edge of the first of them to that of another one, over the headers of groups that go with them.
    pub(super) fn way_to(&self, tab: TabId) -> i64 {
        let (mut way, mut tabs) = (0, self.tabs.iter());
        while let Some(before) = tabs.next().filter(|before| **before != tab) {
            let next = tabs.as_slice().first();
            let has_header = |next: &TabId| begins_whole_group(self.browser, self.tabs, *next);
            way += self.widths.drawn(self.browser, *before);
            way += if next.is_some_and(has_header) { HEADER_WIDTH } else { 0 };
        }
        way
    }

    /// The index that the first of them comes to with its left edge at a place: the one at which it would stand nearest to that.
    /// The browser drew it at `drawn_left` before.
    pub(super) fn index(&self, left: i64, drawn_left: i64) -> usize {
        let strips = self.browser.strips();
        let is_pinned = self.is_pinned();
        let may_stand = |index: &usize| {
            let around = strips.group_around(&self.others, *index);
            let hides = around.and_then(|group| strips.group(group));
            strips.clamped(&self.others, is_pinned, *index) == *index
                && !hides.is_some_and(|group| self.stays_outside || group.collapsed)
        };
        let indices = (0..=self.others.tabs.len()).filter(may_stand);
        // Half way between two places tabs go on, and a header does not.
        let distance = |index: &usize| {
            let way = (self.place(*index, drawn_left) - left).abs();
            (way, (*index == self.from) != self.is_by_header)
        };
        indices.min_by_key(distance).unwrap_or(self.from)
    }

    /// The left edge of the first of them at an index: behind the header of a group that they become the first of there, and of their own, but not where
    /// they were so from the start.
    fn place(&self, index: usize, drawn_left: i64) -> i64 {
        let first = self.tabs.first().copied();
        let (before, behind) = (self.left_group(index), self.right_group(index));
        let becomes_first = || match behind {
            None => false,
            _ if behind == before => false,
            _ if behind == self.own => index != self.from || self.has_joined,
            _ => index != self.from && self.group(index, drawn_left) == behind,
        };
        let brings_header = |first| begins_whole_group(self.browser, self.tabs, first);
        let is_first = first.is_some_and(brings_header) || becomes_first();
        self.edge(index) + if is_first { HEADER_WIDTH } else { 0 }
    }

    /// The right edge of the tab before an index.
    fn edge(&self, index: usize) -> i64 {
        let before = index.checked_sub(1).and_then(|before| self.rights.get(before));
        before.copied().unwrap_or(STRIP_LEFT)
    }

    fn left_group(&self, index: usize) -> Option<GroupId> {
        self.browser.strips().group_at(&self.others, index.checked_sub(1)?)
    }

    fn right_group(&self, index: usize) -> Option<GroupId> {
        self.browser.strips().group_at(&self.others, index)
    }

    /// The group that they are of at an index, with the left edge of the first of them at a place: between two tabs of one it is theirs. At the edge
    /// of one they join that once they lean over it by a quarter of a tab's width, and stay in it until they no longer touch it, but not where they are
    /// all of a group, which goes with them.
    pub(super) fn group(&self, index: usize, left: i64) -> Option<GroupId> {
        let strips = self.browser.strips();
        if self.is_pinned() || self.stays_outside {
            return None;
        }
        let whole = self.own.filter(|_| self.is_whole);
        let (before, behind) = (self.left_group(index), self.right_group(index));
        if before == behind {
            return before.or(whole);
        }
        if whole.is_some() {
            return whole;
        }
        let edge = self.edge(index);
        let is_own = |group: Option<GroupId>| group.is_some() && group == self.own;
        let joins = edge - if is_own(before) { 0 } else { self.lean };
        // At the start of the strip there is nothing that they could go over to.
        let keeps = is_own(behind) && edge > STRIP_LEFT;
        let is_open = |group: &GroupId| strips.group(*group).is_some_and(|group| !group.collapsed);
        let of_left = before.filter(|group| is_open(group) && left <= joins);
        let joins = edge + if keeps { 0 } else { self.lean };
        let of_right = behind.filter(|group| is_open(group) && left >= joins);
        of_left.or(of_right)
    }

    /// True if the first of them is pinned, as they all are then.
    fn is_pinned(&self) -> bool {
        let first = self.tabs.first().and_then(|tab| self.browser.tab(*tab).ok());
        first.is_some_and(|tab| tab.pinned)
    }

    /// True if pinned tabs are among them.
    pub(super) fn has_pinned(&self) -> bool {
        self.tabs.iter().any(|tab| self.browser.tab(*tab).is_ok_and(|tab| tab.pinned))
    }
}

/// True for the first tab of a group whose tabs are all among these.
fn begins_whole_group(browser: &Browser, tabs: &[TabId], tab: TabId) -> bool {
    let strips = browser.strips();
    let group = browser.tab(tab).ok().and_then(|tab| tab.group);
    group.is_some_and(|group| {
        strips.members(group).first() == Some(&tab) && strips.all_among(group, tabs)
    })
}
