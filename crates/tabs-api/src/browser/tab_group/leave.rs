//! A tab leaves its group.

use crate::browser::Browser;
use crate::browser::event::Change;
use crate::error::Error;
use crate::id::{GROUP_ID_NONE, TabId};

impl Browser {
    /// Takes a tab out of its group; from the middle it goes behind the group.
    pub(crate) fn leave_group(&mut self, id: TabId) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let Some(group) = tab.group else {
            return Ok(());
        };
        let members = self.strips.members(group);
        let state = self.window(tab.window)?;
        let from = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        // It goes to the edge that is nearer, to the right one from the very middle.
        let first = members.first().and_then(|tab| state.index_of(*tab));
        let first = first.unwrap_or(from);
        let to = if from < first + members.len() / 2 { first } else { first + members.len() - 1 };
        self.tab_mut(id)?.group = None;
        let change = Change { group: Some(GROUP_ID_NONE), ..Change::default() };
        self.emit_updated_as_at(id, to, change)?;
        self.move_to_index(id, to, &[(id, Some(group))])?;
        self.drop_group_if_empty(group);
        Ok(())
    }
}
