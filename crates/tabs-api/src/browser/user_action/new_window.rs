//! Tabs that their user moves into a window of their own.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::browser::strip::WindowPlacement;
use crate::browser::window::WindowKind;
use crate::error::Error;
use crate::id::TabId;

impl Browser {
    /// Moves tabs into a window of their own, which comes to the front with the first of them: all leave before the first arrives. Groups of which
    /// all tabs go stay groups, and whichever was active as it left its window is shown in the new one.
    pub(super) fn move_to_new_window(&mut self, tabs: &[TabId]) -> Result<Value, Error> {
        let Some(first) = tabs.first().copied() else { return Err(Error::NoTabsGiven) };
        let incognito = self.window(self.tab(first)?.window)?.incognito;
        let window = self.open_window(WindowKind::Normal, incognito, WindowPlacement::default())?;
        let carried = self.take_along(tabs)?;
        self.settle_in(carried, window)?;
        self.give_focus(window);
        Ok(json!({ "windowId": window.0 }))
    }
}
