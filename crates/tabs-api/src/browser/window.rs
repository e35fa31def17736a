//! A window: which tabs it holds, which of them is active, and where it is.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::browser::tab::TabView;
use crate::browser::window_state::WindowState;
use crate::id::{TabId, WindowId};

/// The type of a window (Spec tabs-api §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowKind {
    /// A browser window with a strip of tabs.
    Normal,
    /// A window of one page.
    Popup,
    /// A window of an extension, beside all others.
    Panel,
    /// A window of an application.
    App,
    /// A window of the developer tools.
    Devtools,
}

impl WindowKind {
    /// The type of this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let all = [Self::Normal, Self::Popup, Self::Panel, Self::App, Self::Devtools];
        all.into_iter().find(|kind| kind.word() == word)
    }

    /// True if its tabs have ids and events; those of applications and of the developer tools have neither.
    #[must_use]
    pub const fn lists_tabs(self) -> bool {
        matches!(self, Self::Normal | Self::Popup | Self::Panel)
    }

    /// The word of the interface.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Popup => "popup",
            Self::Panel => "panel",
            Self::App => "app",
            Self::Devtools => "devtools",
        }
    }
}

/// Place and size on the screen, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// From the left.
    pub left: i64,
    /// From the top.
    pub top: i64,
    /// Across.
    pub width: i64,
    /// Down.
    pub height: i64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { left: 22, top: 22, width: 1_200, height: 800 }
    }
}

/// The screen that windows are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Its size across, in pixels.
    pub width: i64,
    /// Its size down.
    pub height: i64,
    /// The place at which a window opens that nobody places.
    pub opens_at: Bounds,
}

impl Default for Screen {
    fn default() -> Self {
        Self { width: 1_920, height: 1_080, opens_at: Bounds::default() }
    }
}

impl Screen {
    /// True if at least half of a window at this place is to be seen.
    #[must_use]
    pub fn shows(&self, place: Bounds) -> bool {
        let across = overlap(place.left, place.width, self.width);
        let down = overlap(place.top, place.height, self.height);
        // The browser counts areas with 32 bits, and shows none that is larger.
        let area = place.width.checked_mul(place.height);
        let area = area.filter(|area| (1..=i64::from(i32::MAX)).contains(area));
        area.is_some_and(|area| 2 * across * down >= area)
    }

    /// The place nearest to this one that is wholly on the screen, for a window that is no larger than it.
    #[must_use]
    pub fn fitted(&self, place: Bounds) -> Bounds {
        let (left, width) = fit(place.left, place.width, self.width);
        let (top, height) = fit(place.top, place.height, self.height);
        Bounds { left, top, width, height }
    }
}

/// The length of a line of a length from a start that lies between 0 and an end.
fn overlap(start: i64, length: i64, end: i64) -> i64 {
    (start.saturating_add(length).min(end) - start.max(0)).max(0)
}

/// The start and the length of a line that is made to lie between 0 and an end.
fn fit(start: i64, length: i64, end: i64) -> (i64, i64) {
    let length = length.min(end);
    (start.clamp(0, end - length), length)
}

/// A window.
#[derive(Debug, Clone)]
pub struct Window {
    /// Its id in this session.
    pub id: WindowId,
    /// Its type.
    pub kind: WindowKind,
    /// Its strip: pinned tabs first.
    pub tabs: Vec<TabId>,
    /// The active tab; `None` only while the window is being filled or emptied.
    pub active: Option<TabId>,
    /// The highlighted tabs, the active one among them.
    pub highlighted: BTreeSet<TabId>,
    /// The tab that the user's next extension of the selection begins at; without one, the active tab.
    pub anchor: Option<TabId>,
    /// Its state.
    pub state: WindowState,
    /// Its place on the screen.
    pub bounds: Bounds,
    /// True if it keeps no traces.
    pub incognito: bool,
    /// True if its tabs can be grouped: those of normal windows, and of popups that a page of such a window opened.
    pub takes_groups: bool,
}

impl Window {
    /// A window without tabs.
    #[must_use]
    pub fn new(id: WindowId, kind: WindowKind) -> Self {
        Self {
            id,
            kind,
            tabs: Vec::new(),
            active: None,
            highlighted: BTreeSet::new(),
            anchor: None,
            state: WindowState::default(),
            bounds: Bounds::default(),
            incognito: false,
            takes_groups: kind == WindowKind::Normal,
        }
    }

    /// True if it is not to be seen.
    #[must_use]
    pub const fn is_minimized(&self) -> bool {
        self.state.minimized
    }

    /// Makes another tab active in place of one that leaves: of those that were highlighted with it the leftmost, else a successor.
    pub fn hand_over(&mut self, successor: Option<TabId>) {
        self.active = self.first_highlighted().or(successor);
        self.highlighted.extend(self.active);
        self.anchor = None;
    }

    /// The leftmost of its highlighted tabs.
    #[must_use]
    pub fn first_highlighted(&self) -> Option<TabId> {
        self.tabs.iter().find(|tab| self.highlighted.contains(tab)).copied()
    }

    /// The index of a tab.
    #[must_use]
    pub fn index_of(&self, tab: TabId) -> Option<usize> {
        self.tabs.iter().position(|other| *other == tab)
    }

    /// The window without some of its tabs.
    #[must_use]
    pub fn without(&self, tabs: &[TabId]) -> Self {
        let mut without = self.clone();
        without.tabs.retain(|tab| !tabs.contains(tab));
        without
    }

    /// Puts a tab of its strip at another index, and returns the one that it stood at.
    pub fn reposition(&mut self, tab: TabId, index: usize) -> Option<usize> {
        let from = self.index_of(tab)?;
        self.tabs.remove(from);
        self.tabs.insert(index.min(self.tabs.len()), tab);
        Some(from)
    }

    /// The places of its highlighted tabs, of the active one and of that at which a range begins: as long as they are the same, no event tells of the
    /// selection, whichever tabs stand there.
    #[must_use]
    pub fn selected_places(&self) -> (BTreeSet<usize>, [Option<usize>; 2]) {
        let highlighted = self.highlighted.iter();
        let places = highlighted.filter_map(|tab| self.index_of(*tab));
        let place = |tab: Option<TabId>| tab.and_then(|tab| self.index_of(tab));
        (places.collect(), [self.active, self.anchor].map(place))
    }

    /// The window as the interface shows it, with these tabs if any are asked for.
    #[must_use]
    pub fn view(&self, focused: bool, tabs: Option<Vec<TabView>>) -> WindowView {
        WindowView {
            always_on_top: false,
            focused,
            height: self.bounds.height,
            id: self.id.0,
            incognito: self.incognito,
            left: self.bounds.left,
            state: self.state.word(),
            tabs,
            top: self.bounds.top,
            kind: self.kind.word(),
            width: self.bounds.width,
        }
    }
}

/// A window as it was at one moment; serializes to the `Window` of the interface.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each field is the field of its name")]
pub struct WindowView {
    pub always_on_top: bool,
    pub focused: bool,
    pub height: i64,
    pub id: i64,
    pub incognito: bool,
    pub left: i64,
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tabs: Option<Vec<TabView>>,
    pub top: i64,
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub width: i64,
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn place(left: i64, top: i64, width: i64, height: i64) -> Bounds {
        Bounds { left, top, width, height }
    }

    #[test]
    fn a_window_is_shown_where_half_of_it_is_on_the_screen() {
        let screen = Screen { width: 1_400, height: 1_000, ..Screen::default() };
        for (place, is_shown) in [
            (place(10, 10, 1_000, 700), true),
            (place(-400, 0, 800, 700), true),
            (place(-401, 0, 800, 700), false),
            (place(0, 650, 1_000, 700), true),
            (place(0, 651, 1_000, 700), false),
            (place(0, 0, 2_800, 700), true),
            (place(0, 0, 2_802, 700), false),
            (place(10, 10, 0, 0), false),
            (place(-1, 10, 1, 1), false),
            (place(0, 0, i64::from(i32::MAX), 2), false),
        ] {
            assert_eq!(screen.shows(place), is_shown, "{place:?}");
        }
    }

    #[test]
    fn a_window_of_a_size_alone_is_made_to_fit() {
        let screen = Screen { width: 1_400, height: 1_000, ..Screen::default() };
        assert_eq!(screen.fitted(place(10, 10, 5_000, 700)), place(0, 10, 1_400, 700));
        assert_eq!(screen.fitted(place(800, 900, 700, 200)), place(700, 800, 700, 200));
    }
}
