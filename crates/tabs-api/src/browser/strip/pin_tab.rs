//! Pinning: a pinned tab goes to the end of the pinned block, and leaves its group.

use crate::browser::Browser;
use crate::browser::event::Change;
use crate::error::Error;
use crate::id::{GROUP_ID_NONE, TabId};

impl Browser {
    /// Pins a tab to the end of the pinned block, or unpins it to the front of the others.
    pub(crate) fn set_pinned(&mut self, id: TabId, pinned: bool) -> Result<(), Error> {
        let tab = self.tab(id)?;
        if tab.pinned == pinned {
            return Ok(());
        }
        let (window, own) = (self.window(tab.window)?, tab.group);
        let group = own.filter(|_| pinned);
        let border = self.strips.clamped(&window.without(&[id]), true, usize::MAX);
        self.tab_mut(id)?.pinned = pinned;
        // One change is told after the other: as it is pinned, it is still in its group.
        self.emit_updated_as_at(id, border, Change { pinned: Some(pinned), ..Change::default() })?;
        if group.is_some() {
            self.tab_mut(id)?.group = None;
            let leaving = Change { group: Some(GROUP_ID_NONE), ..Change::default() };
            self.emit_updated_as_at(id, border, leaving)?;
        }
        self.move_to_index(id, border, &[(id, own)])?;
        if let Some(group) = group {
            self.drop_group_if_empty(group);
        }
        Ok(())
    }
}
