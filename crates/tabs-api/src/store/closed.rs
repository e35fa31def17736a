//! Rows of what was closed: each entry of the list that the user brings tabs and windows back from.

use serde::{Deserialize, Serialize};
use triptych_core::time::Timestamp;

use super::restored_tab::tab_of;
use super::{GroupRow, TabRow, group_of, group_row, tab_row};
use crate::browser::closed::{Closed, ClosedEntry, ClosedTab, ClosedWindow};
use crate::browser::window::{Bounds, WindowKind};
use crate::id::{GroupId, TabId, WindowId};

/// An entry of the list. Its key is the number of its session.
#[derive(Serialize, Deserialize)]
pub(super) struct ClosedRow {
    at: i64,
    what: What,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum What {
    Tab(Box<ClosedTabRow>),
    Window(ClosedWindowRow),
}

#[derive(Serialize, Deserialize)]
struct ClosedTabRow {
    session: u64,
    id: i64,
    tab: TabRow,
    group: Option<(i64, GroupRow)>,
    place: usize,
    index: usize,
    was_active: bool,
}

#[derive(Serialize, Deserialize)]
struct ClosedWindowRow {
    session: u64,
    id: i64,
    kind: String,
    closed_with_tab: bool,
    left: i64,
    top: i64,
    width: i64,
    height: i64,
    tabs: Vec<ClosedTabRow>,
}

/// The row of an entry.
pub(super) fn closed_row((at, closed): &ClosedEntry) -> ClosedRow {
    let what = match closed {
        Closed::Tab(tab) => What::Tab(Box::new(of_tab(tab))),
        Closed::Window(window) => What::Window(of_window(window)),
    };
    ClosedRow { at: at.micros(), what }
}

fn of_tab(closed: &ClosedTab) -> ClosedTabRow {
    ClosedTabRow {
        session: closed.session,
        id: closed.tab.id.0,
        tab: tab_row(&closed.tab),
        group: closed.group.as_ref().map(|group| (group.id.0, group_row(group))),
        place: closed.place,
        index: closed.index,
        was_active: closed.was_active,
    }
}

fn of_window(window: &ClosedWindow) -> ClosedWindowRow {
    ClosedWindowRow {
        session: window.session,
        id: window.id.0,
        kind: window.kind.word().to_owned(),
        closed_with_tab: window.closed_with_tab,
        left: window.bounds.left,
        top: window.bounds.top,
        width: window.bounds.width,
        height: window.bounds.height,
        tabs: window.tabs.iter().map(of_tab).collect(),
    }
}

impl ClosedRow {
    /// The entry of a row.
    pub(super) fn entry(self) -> ClosedEntry {
        let closed = match self.what {
            What::Tab(tab) => Closed::Tab(Box::new(tab.closed())),
            What::Window(window) => Closed::Window(window.closed()),
        };
        (Timestamp::from_micros(self.at), closed)
    }
}

impl ClosedTabRow {
    fn closed(self) -> ClosedTab {
        ClosedTab {
            session: self.session,
            // What it was on its way to when it closed is nobody's any more.
            tab: tab_of(TabId(self.id), self.tab).0,
            group: self.group.map(|(id, row)| group_of(GroupId(id), row)),
            place: self.place,
            index: self.index,
            was_active: self.was_active,
        }
    }
}

impl ClosedWindowRow {
    fn closed(self) -> ClosedWindow {
        let Self { left, top, width, height, .. } = self;
        ClosedWindow {
            session: self.session,
            id: WindowId(self.id),
            kind: WindowKind::named(&self.kind).unwrap_or(WindowKind::Normal),
            closed_with_tab: self.closed_with_tab,
            bounds: Bounds { left, top, width, height },
            tabs: self.tabs.into_iter().map(ClosedTabRow::closed).collect(),
        }
    }
}
