//! The tab that becomes active when the active one goes.

use super::Strips;
use crate::browser::tab::Tab;
use crate::browser::window::Window;
use crate::id::{GroupId, TabId};

impl Strips {
    /// The tab that becomes active when the active one at `index` goes, which was a member of `group`.
    pub(super) fn successor(
        &self,
        window: &Window,
        index: usize,
        group: Option<GroupId>,
    ) -> Option<TabId> {
        let tab_at = |index: usize| self.tab_at(window, index);
        let is_open = |tab: &Tab| !self.is_hidden(tab);
        let going = tab_at(index)?;
        if let Some(opener) = going.opener {
            let mut outward = (index + 1..window.tabs.len()).chain((0..index).rev());
            let sibling =
                outward.find_map(|index| tab_at(index).filter(|tab| tab.opener == Some(opener)));
            if let Some(sibling) = sibling.filter(|tab| is_open(tab)) {
                return Some(sibling.id);
            }
            if let Some(parent) =
                self.tab(opener).filter(|tab| tab.window == window.id && is_open(tab))
            {
                return Some(parent.id);
            }
        }
        // One of the same group is taken even where that is hidden: it is shown then.
        let mates = |tab: &&Tab| tab.group.is_some() && tab.group == group;
        if let Some(mate) =
            tab_at(index + 1).filter(mates).or_else(|| tab_at(index.checked_sub(1)?).filter(mates))
        {
            return Some(mate.id);
        }
        let right = (index + 1..window.tabs.len()).filter_map(tab_at).find(|tab| is_open(tab));
        let left = (0..index).rev().filter_map(tab_at).find(|tab| is_open(tab));
        let any = tab_at(index + 1).or_else(|| tab_at(index.checked_sub(1)?));
        right.or(left).or(any).map(|tab| tab.id)
    }
}
