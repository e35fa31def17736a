//! Tabs and groups on their way from one window to another, as the user takes them there.

use std::collections::BTreeSet;

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::tab::TabView;
use crate::browser::tab_group::TakenGroup;
use crate::error::Error;
use crate::id::{TabId, WindowId};

/// A tab or a group that goes from one window to another.
pub(super) enum Carried {
    /// A tab, and how it was if it was pinned: its pin goes along.
    Tab(TabId, Option<Box<TabView>>),
    /// A group with all its tabs.
    Group(TakenGroup),
}

impl Browser {
    /// Takes tabs out of their strip: one by one, but for groups of which all tabs go, which go as one.
    pub(super) fn take_along(&mut self, tabs: &[TabId]) -> Result<Vec<Carried>, Error> {
        let (mut carried, mut gone) = (Vec::new(), Vec::new());
        for tab in tabs {
            if gone.contains(tab) {
                continue;
            }
            let group = self.tab(*tab)?.group;
            let group = group.filter(|group| self.strips().all_among(*group, tabs));
            carried.push(match group {
                Some(group) => {
                    let group = self.group(group.0)?.clone();
                    gone.extend(self.strips().members(group.id));
                    Carried::Group(self.take_out_group(&group)?)
                }
                None => {
                    let pinned = self.view(*tab).filter(|view| view.pinned).map(Box::new);
                    self.take_out_one_by_one(&[*tab])?;
                    Carried::Tab(*tab, pinned)
                }
            });
        }
        Ok(carried)
    }

    /// Puts what stands nowhere at the start of a strip, behind what is pinned there. A window without tabs shows the first that comes, and any the one that
    /// was active of a group.
    pub(super) fn settle_in(&mut self, all: Vec<Carried>, target: WindowId) -> Result<(), Error> {
        let mut index = self.strips().pinned_count(self.window(target)?);
        for one in all {
            index += match one {
                Carried::Group(group) => {
                    let count = group.len();
                    self.settle_group(group, target, index)?;
                    count
                }
                Carried::Tab(tab, pinned) => {
                    let is_first = self.window(target)?.active.is_none();
                    if let Some(view) = pinned {
                        self.pin_again(*view, index)?;
                    }
                    self.attach(tab, target, Some(index))?;
                    if is_first {
                        self.select(tab, BTreeSet::from([tab]))?;
                    }
                    1
                }
            };
        }
        Ok(())
    }

    pub(super) fn take_out_one_by_one(&mut self, tabs: &[TabId]) -> Result<(), Error> {
        for tab in tabs {
            let left = self.take_out(*tab)?;
            self.settle_left_window(&[left])?;
        }
        Ok(())
    }

    /// Pins a tab that was pinned where it comes from, and tells so while it is still of that window, at the index that it comes to.
    pub(super) fn pin_again(&mut self, view: TabView, index: usize) -> Result<(), Error> {
        self.tab_mut(TabId(view.id))?.pinned = true;
        let change = Change { pinned: Some(true), ..Change::default() };
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let tab = TabView { index, active: false, highlighted: false, opener: None, ..view };
        self.emit(Event::TabUpdated { change, tab });
        Ok(())
    }
}
