//! The tab that becomes active when the active one goes, alone or with others that stand beside it.

use std::ops::Range;

use super::Strips;
use crate::browser::tab::Tab;
use crate::browser::window::Window;
use crate::id::{GroupId, TabId};

impl Strips {
    /// The tab that becomes active when those in `leaving` go, the active one among them: those of a whole group, or a single member of `group`.
    pub(in crate::browser) fn successor(
        &self,
        window: &Window,
        leaving: Range<usize>,
        group: Option<GroupId>,
    ) -> Option<TabId> {
        let tab_at = |index: usize| self.tab_at(window, index);
        let is_open = |tab: &&Tab| !self.is_hidden(tab);
        let outward = || {
            let right = leaving.end..window.tabs.len();
            right.chain((0..leaving.start).rev()).filter_map(tab_at)
        };
        let going: Vec<_> = leaving.clone().filter_map(tab_at).collect();
        let ids: Vec<_> = going.iter().map(|tab| tab.id).collect();
        let openers: Vec<_> = going.iter().filter_map(|tab| tab.opener).collect();
        let opened_by = |openers: &[TabId]| {
            let is_child = |tab: &&Tab| tab.opener.is_some_and(|id| openers.contains(&id));
            outward().filter(is_child).find(is_open)
        };
        let stays_here = |tab: &&Tab| tab.window == window.id && !ids.contains(&tab.id);
        let parent = || {
            let parents = openers.iter().filter_map(|id| self.tab(*id));
            parents.filter(stays_here).find(is_open)
        };
        // One of the same group is taken even where that is hidden: it is shown then.
        let before = leaving.start.checked_sub(1);
        let beside = || tab_at(leaving.end).into_iter().chain(before.and_then(tab_at));
        let mate = || beside().find(|tab| tab.group.is_some() && tab.group == group);
        let next = opened_by(&ids).or_else(|| opened_by(&openers)).or_else(parent).or_else(mate);
        let next = next.or_else(|| outward().find(is_open)).or_else(|| beside().next());
        next.map(|tab| tab.id)
    }
}
