//! Groups of tabs: they are made, tabs join and leave them, they move, collapse and go.

mod collapse;
mod join;
mod leave;
mod move_group;

pub(in crate::browser) use self::move_group::TakenGroup;
use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::group::Group;
use crate::error::Error;
use crate::id::GroupId;

/// Properties of a group to change, as `tabGroups.update` names them.
#[derive(Debug, Clone, Default)]
pub(crate) struct GroupChange {
    pub(crate) collapsed: Option<bool>,
    pub(crate) color: Option<String>,
    pub(crate) title: Option<String>,
}

impl Browser {
    pub(crate) fn group(&self, id: i64) -> Result<&Group, Error> {
        self.strips.group(GroupId(id)).ok_or(Error::NoGroup(id))
    }

    /// Changes a group, and tells so, even if nothing of it is new.
    pub(crate) fn update_group(&mut self, id: i64, change: GroupChange) -> Result<Group, Error> {
        let group = self.strips.group_mut(GroupId(id)).ok_or(Error::NoGroup(id))?;
        let was_collapsed = group.collapsed;
        group.collapsed = change.collapsed.unwrap_or(group.collapsed);
        if let Some(color) = change.color {
            group.color = color;
        }
        if let Some(title) = change.title {
            group.title = title;
        }
        let after = group.clone();
        self.emit(Event::GroupUpdated(after.clone()));
        if was_collapsed != after.collapsed {
            self.set_collapsed(after.id, after.collapsed);
        }
        Ok(after)
    }

    /// Deletes a group that has no tabs left, and tells so.
    pub(in crate::browser) fn drop_group_if_empty(&mut self, id: GroupId) {
        if self.strips.tabs().any(|tab| tab.group == Some(id)) {
            return;
        }
        if let Some(group) = self.strips.remove_group(id) {
            self.emit(Event::GroupRemoved(group));
        }
    }
}
