//! Tabs join a group, a new one or one that exists. Each is told of what it is then as it is put into its place; once all stand
//! there, their moves are told, and with the move of each the group that it leaves empty or begins.

use std::collections::BTreeSet;

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::group::{COLORS, Group};
use crate::browser::window::{Window, WindowKind};
use crate::error::Error;
use crate::id::{GroupId, TabId, WindowId};

/// The place of the first of the tabs that join a group; each of the others comes behind the one before it.
#[derive(Debug, Clone, Copy)]
enum Edge {
    /// A new group, at this index of a strip without these tabs.
    At(usize),
    /// In front of the first member.
    Before(TabId),
    /// Behind the last member.
    Behind(TabId),
}

/// A tab that joins a group, while that is being told.
#[derive(Debug, Clone, Copy)]
struct Joining {
    tab: TabId,
    /// The group that it was in.
    left: Option<GroupId>,
    /// The index at which it stands in the end.
    to: usize,
}

impl Browser {
    /// Puts tabs of any window into a group of a window, a new group unless one is named. Those of other windows come first, each to the end of the
    /// strip and as often as it is named; those before one that may not come are there.
    pub(crate) fn group_tabs(
        &mut self,
        tabs: &[TabId],
        window: WindowId,
        group: Option<GroupId>,
    ) -> Result<GroupId, Error> {
        let is_normal = self.window(window)?.kind == WindowKind::Normal;
        let is_foreign = |id: &TabId| self.tab(*id).is_ok_and(|tab| tab.window != window);
        let foreign: Vec<_> = tabs.iter().copied().filter(is_foreign).collect();
        for id in foreign {
            self.check_same_profile(id, window)?;
            if !is_normal {
                return Err(Error::NotNormalWindow);
            }
            self.transfer(id, window, None)?;
        }
        let chosen: BTreeSet<_> = tabs.iter().copied().collect();
        let strip = &self.window(window)?.tabs;
        let ordered: Vec<_> = strip.iter().filter(|id| chosen.contains(id)).copied().collect();
        match group {
            Some(group) => self.join_group(group, &ordered),
            None => self.create_group(window, &ordered),
        }
    }

    /// Makes a new group of tabs in strip order, at the place of the first of them.
    fn create_group(&mut self, window: WindowId, tabs: &[TabId]) -> Result<GroupId, Error> {
        let id = GroupId(self.next_id());
        let color = self.least_used_color(window).to_owned();
        let edge = Edge::At(self.place_of_new_group(self.window(window)?, tabs));
        self.strips.add_group(Group { id, window, color, title: String::new(), collapsed: false });
        self.gather(id, tabs, edge)?;
        self.unhighlight_inactive(window, tabs)?;
        Ok(id)
    }

    /// The colour that the fewest groups of a window have, the first of several.
    pub(in crate::browser) fn least_used_color(&self, window: WindowId) -> &'static str {
        let here = |group: &&Group| group.window == window;
        let uses = |color: &&&str| {
            self.strips.groups().filter(here).filter(|group| group.color == **color).count()
        };
        COLORS.iter().min_by_key(uses).copied().unwrap_or("grey")
    }

    /// Adds tabs to a group: those that stand left of it at its left edge, the others at its right one.
    fn join_group(&mut self, group: GroupId, tabs: &[TabId]) -> Result<GroupId, Error> {
        let window = self.group(group.0)?.window;
        let members = self.strips.members(group);
        let (Some(first), Some(last)) = (members.first(), members.last()) else {
            return Err(Error::NoGroup(group.0));
        };
        let state = self.window(window)?;
        let edge = state.index_of(*first).unwrap_or_default();
        let joining = tabs.iter().filter(|tab| !members.contains(tab)).copied();
        let (left, right): (Vec<_>, Vec<_>) =
            joining.partition(|tab| state.index_of(*tab).is_some_and(|index| index < edge));
        self.gather(group, &left, Edge::Before(*first))?;
        self.gather(group, &right, Edge::Behind(*last))?;
        Ok(group)
    }

    /// The place of a new group in a strip without its tabs: where the first one stands, behind pinned tabs and the group that it leaves.
    fn place_of_new_group(&self, state: &Window, tabs: &[TabId]) -> usize {
        let first = tabs.first().and_then(|tab| state.index_of(*tab)).unwrap_or_default();
        let group = |index: usize| self.strips.group_at(state, index);
        let (own, border) = (group(first), self.strips.clamped(state, true, usize::MAX));
        let is_free =
            |index: &usize| *index >= border && (group(*index).is_none() || group(*index) != own);
        let mut indices = first + 1..state.tabs.len();
        let end = indices.find(is_free).unwrap_or(state.tabs.len());
        let is_left = |tab: &&TabId| state.index_of(**tab).is_some_and(|index| index < end);
        end - tabs.iter().filter(is_left).count()
    }

    /// Brings tabs, which stand in this order, side by side to the edge of a group as its members.
    fn gather(&mut self, group: GroupId, tabs: &[TabId], edge: Edge) -> Result<(), Error> {
        if tabs.is_empty() {
            return Ok(());
        }
        let window = self.group(group.0)?.window;
        let before = self.window(window)?.tabs.clone();
        let first = self.index_at_edge(&self.window(window)?.without(tabs), edge);
        let places = (first..).zip(tabs);
        let joining: Vec<_> =
            places.map(|(to, tab)| Joining { tab: *tab, left: self.group_of(*tab), to }).collect();
        for Joining { tab, to, .. } in &joining {
            if before.get(*to) != Some(tab) {
                self.pass_on_openers(*tab);
            }
        }
        self.put_into_group(group, tabs, edge)?;
        // What follows tells of each move from the order that the strip had until then.
        self.window_mut(window)?.tabs.clone_from(&before);
        let goes_right =
            |joining: &Joining| before.iter().take(joining.to).any(|tab| *tab == joining.tab);
        let (rightward, leftward): (Vec<_>, Vec<_>) = joining.into_iter().partition(goes_right);
        // From the far end inwards, so that no tab pushes one that has its place already.
        let told: Vec<_> = rightward.into_iter().rev().chain(leftward).collect();
        let moving: Vec<_> = told.iter().map(|joining| (joining.tab, joining.left)).collect();
        for (place, Joining { tab, left, to }) in told.iter().enumerate() {
            self.move_to_index(*tab, *to, moving.get(place..).unwrap_or_default())?;
            let others = told.iter().skip(place + 1);
            if let Some(left) =
                left.filter(|left| others.clone().all(|other| other.left != Some(*left)))
            {
                self.drop_group_if_empty(left);
            }
            if place == 0 && matches!(edge, Edge::At(_)) {
                let created = self.group(group.0)?.clone();
                self.emit(Event::GroupCreated(created.clone()));
                self.emit(Event::GroupUpdated(created));
            }
            if self.is_active(*tab) {
                self.expand_around(*tab)?;
            }
        }
        Ok(())
    }

    fn group_of(&self, tab: TabId) -> Option<GroupId> {
        self.strips.tab(tab)?.group
    }

    /// The index of an edge in a strip that the tab to come is not in.
    fn index_at_edge(&self, without: &Window, edge: Edge) -> usize {
        match edge {
            Edge::At(index) => {
                let index = self.strips.clamped(without, false, index);
                self.strips.behind_group(without, index)
            }
            Edge::Before(tab) => without.index_of(tab).unwrap_or_default(),
            Edge::Behind(tab) => {
                without.index_of(tab).map_or(without.tabs.len(), |index| index + 1)
            }
        }
    }

    /// Makes one tab after the other a member of a group at its edge, and tells each as it stands at that moment.
    fn put_into_group(&mut self, group: GroupId, tabs: &[TabId], edge: Edge) -> Result<(), Error> {
        let window = self.group(group.0)?.window;
        let mut edge = edge;
        for id in tabs {
            let mut strip = self.window(window)?.without(&[*id]);
            let index = self.index_at_edge(&strip, edge);
            strip.tabs.insert(index.min(strip.tabs.len()), *id);
            self.window_mut(window)?.tabs = strip.tabs;
            if self.tab(*id)?.pinned {
                self.tab_mut(*id)?.pinned = false;
                self.emit_updated(*id, Change { pinned: Some(false), ..Change::default() });
            }
            self.tab_mut(*id)?.group = Some(group);
            self.emit_updated(*id, Change { group: Some(group.0), ..Change::default() });
            edge = Edge::Behind(*id);
        }
        Ok(())
    }
}
