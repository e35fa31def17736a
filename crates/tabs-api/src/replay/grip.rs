//! Grips of a pressed button, on a tab or on the header of a group, and what it is dragged by.

use std::collections::BTreeSet;

use crate::id::{GroupId, TabId, WindowId};

/// The distance up to which a header that is moved is let go as one that was clicked.
const CLICK_WITHIN: i64 = 10;

/// A tab under a pressed button.
#[derive(Debug, Clone)]
pub(super) struct Grip {
    pub(super) tab: TabId,
    /// The window that it was taken hold of in.
    pub(super) home: WindowId,
    pub(super) from_x: i64,
    pub(super) from_index: usize,
    /// The distance of the pointer from its left edge, and its width, as it was taken hold of.
    pub(super) offset: i64,
    pub(super) width: i64,
    /// The left edge at which the first of what is dragged was drawn last.
    pub(super) drawn_left: Option<i64>,
    /// The group that it was of.
    pub(super) home_group: Option<GroupId>,
    /// The place of the pointer in the window, which it keeps in one of the tab's own.
    pub(super) hold: (i64, i64),
    /// The active tab and the highlighted ones of that window before it was taken hold of.
    pub(super) selection: (TabId, BTreeSet<TabId>),
    /// The tabs that are dragged with it, their indices and groups before.
    pub(super) homes: Vec<(TabId, usize, Option<GroupId>)>,
    /// The tab that was active before it was taken hold of.
    pub(super) former: Option<TabId>,
    /// The tab that was active in the window that it was dragged into.
    pub(super) replaced: Option<TabId>,
    /// True if it is one of several that are highlighted, which stay so while they are dragged.
    pub(super) is_mate: bool,
    pub(super) is_dragging: bool,
    /// True if it has left the strip.
    pub(super) is_out: bool,
}

impl Grip {
    /// The distance of the pointer from the left edge of the tab at another width: it keeps to its part of the tab.
    pub(super) fn offset_at(&self, width: i64) -> i64 {
        let own = self.width.max(1);
        (2 * self.offset * width + own).div_euclid(2 * own)
    }
}

/// A header under a pressed button.
#[derive(Debug, Clone)]
pub(super) struct HeaderGrip {
    pub(super) group: GroupId,
    /// The place of the pointer as the button was pressed.
    pub(super) from: (i64, i64),
    /// Its distance from the left edge of the header.
    pub(super) offset: i64,
    /// The window then, and the index of the first tab of the group there.
    pub(super) home: (WindowId, usize),
    /// The active tab of the window then, and its index.
    pub(super) former: (TabId, usize),
    /// The highlighted tabs of the window then.
    pub(super) highlighted: BTreeSet<TabId>,
    /// True if the group hid its tabs before it was taken hold of.
    pub(super) was_collapsed: bool,
    pub(super) is_dragging: bool,
    /// The place of the pointer in the window, which it keeps in one of the group's own.
    pub(super) hold: (i64, i64),
    /// True while the group has a window of its own.
    pub(super) is_out: bool,
}

impl HeaderGrip {
    /// True if letting go of it at a place would be a click.
    pub(super) fn is_click_at(&self, (x, y): (i64, i64)) -> bool {
        (x - self.from.0).abs() <= CLICK_WITHIN && (y - self.from.1).abs() <= CLICK_WITHIN
    }
}
