//! The parts of a browser that changed since its rows were taken last.

use std::collections::{BTreeMap, BTreeSet};

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::id::{GroupId, TabId, WindowId};

/// The number of pieces of each long row that is kept, by its key.
pub(crate) type PieceCounts = BTreeMap<Vec<u8>, u32>;

/// Tabs, windows, groups and hosts whose rows are no longer true.
#[derive(Debug, Default)]
pub(crate) struct DirtySet {
    pub(crate) tabs: BTreeSet<TabId>,
    pub(crate) windows: BTreeSet<WindowId>,
    pub(crate) groups: BTreeSet<GroupId>,
    pub(crate) hosts: BTreeSet<String>,
    /// Sites that were muted, or sound again.
    pub(crate) sites: BTreeSet<String>,
    /// The strips as their rows were taken last.
    pub(crate) kept_strips: BTreeMap<WindowId, KeptStrip>,
    /// The number of pieces that each long row had.
    pub(crate) piece_counts: PieceCounts,
}

/// A strip whose rows were taken.
#[derive(Debug, Default)]
pub(crate) struct KeptStrip {
    /// The number of its rows.
    pub(crate) rows: usize,
    /// Its tabs in these rows; none where they are all to be taken anew.
    pub(crate) tabs: Vec<TabId>,
}

impl DirtySet {
    /// Notes what an event says to have changed.
    pub(super) fn note(&mut self, event: &Event) {
        let mut tab = |id: i64| self.tabs.insert(TabId(id));
        match event {
            Event::TabCreated(view) | Event::TabUpdated { tab: view, .. } => {
                tab(view.id);
                self.windows.insert(WindowId(view.window));
            }
            Event::TabMoved { tab: id, window, .. }
            | Event::TabActivated { tab: id, window }
            | Event::TabDetached { tab: id, window, .. }
            | Event::TabAttached { tab: id, window, .. }
            | Event::TabRemoved { tab: id, window, .. } => {
                tab(*id);
                self.windows.insert(WindowId(*window));
            }
            Event::TabReplaced { added, removed } => {
                tab(*added);
                tab(*removed);
            }
            Event::TabZoomed { tab: id, .. } => {
                tab(*id);
            }
            Event::TabHighlighted { window, .. }
            | Event::WindowRemoved { window, .. }
            | Event::WindowFocused { window, .. } => {
                self.windows.insert(WindowId(*window));
            }
            Event::WindowCreated(view) | Event::WindowPlaced(view) => {
                self.windows.insert(WindowId(view.id));
            }
            Event::GroupCreated(group)
            | Event::GroupUpdated(group)
            | Event::GroupMoved(group)
            | Event::GroupRemoved(group) => {
                self.groups.insert(group.id);
            }
            // What was closed notes by itself which of its rows changed.
            Event::ClosedChanged
            | Event::PortMessage { .. }
            | Event::PortDisconnected { .. }
            | Event::Script { .. } => {}
        }
    }

    /// Notes a change of a tab that no event tells.
    pub(super) fn note_tab(&mut self, id: TabId) {
        self.tabs.insert(id);
    }

    pub(super) fn note_window(&mut self, id: WindowId) {
        self.windows.insert(id);
    }

    pub(super) fn note_host(&mut self, host: &str) {
        self.hosts.insert(host.to_owned());
    }

    pub(super) fn note_site(&mut self, site: &str) {
        self.sites.insert(site.to_owned());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.tabs.is_empty()
            && self.windows.is_empty()
            && self.groups.is_empty()
            && self.hosts.is_empty()
            && self.sites.is_empty()
    }
}

impl Browser {
    /// Returns what changed, for whoever keeps rows of it.
    pub(crate) const fn dirty_mut(&mut self) -> &mut DirtySet {
        &mut self.dirty
    }

    /// Marks everything as changed, so that the next rows are the whole browser.
    pub fn touch_all(&mut self) {
        self.dirty.tabs.extend(self.strips.tabs().map(|tab| tab.id));
        self.dirty.windows.extend(self.strips.windows().map(|window| window.id));
        self.dirty.groups.extend(self.strips.groups().map(|group| group.id));
        self.dirty.hosts.extend(self.zoom_levels.hosts().cloned());
        self.closed_tabs.touch_all();
        self.dirty.sites.extend(self.muted_sites.sites().cloned());
        self.dirty.kept_strips.values_mut().for_each(|strip| strip.tabs.clear());
    }
}
