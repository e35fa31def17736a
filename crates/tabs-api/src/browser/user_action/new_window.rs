//! Tabs that their user moves into a window of their own.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::browser::strip::WindowPlacement;
use crate::browser::tab::TabView;
use crate::browser::tab_group::TakenGroup;
use crate::browser::window::WindowKind;
use crate::error::Error;
use crate::id::TabId;

/// A tab or a group that goes from one window to another.
enum Moved {
    /// A tab, and how it was if it was pinned: its pin goes along.
    Tab(TabId, Option<Box<TabView>>),
    /// A group with all its tabs.
    Group(TakenGroup),
}

impl Browser {
    /// Moves tabs into a window of their own, which comes to the front with the first of them: all leave before the first arrives. Groups of which
    /// all tabs go stay groups, and whichever was active as it left its window is shown in the new one.
    pub(super) fn move_to_new_window(&mut self, tabs: &[TabId]) -> Result<Value, Error> {
        let Some(first) = tabs.first().copied() else { return Err(Error::NoTabsGiven) };
        let incognito = self.window(self.tab(first)?.window)?.incognito;
        let window = self.open_window(WindowKind::Normal, incognito, WindowPlacement::default())?;
        let (mut moved, mut gone) = (Vec::new(), Vec::new());
        for tab in tabs {
            if gone.contains(tab) {
                continue;
            }
            let group = self.tab(*tab)?.group.filter(|group| {
                self.strips().members(*group).iter().all(|member| tabs.contains(member))
            });
            moved.push(match group {
                Some(group) => {
                    let group = self.group(group.0)?.clone();
                    gone.extend(self.strips().members(group.id));
                    Moved::Group(self.take_out_group(&group)?)
                }
                None => {
                    let pinned = self.view(*tab).filter(|view| view.pinned).map(Box::new);
                    self.take_out_one_by_one(&[*tab])?;
                    Moved::Tab(*tab, pinned)
                }
            });
        }
        let mut index = 0;
        for moved in moved {
            index += match moved {
                Moved::Group(group) => {
                    let count = group.len();
                    self.settle_group(group, window, index)?;
                    count
                }
                Moved::Tab(tab, pinned) => {
                    if let Some(view) = pinned {
                        self.pin_again(*view, index)?;
                    }
                    self.attach(tab, window, Some(index))?;
                    1
                }
            };
            if self.window(window)?.active.is_none() {
                self.activate(first)?;
            }
        }
        self.give_focus(window);
        Ok(json!({ "windowId": window.0 }))
    }
}
