//! Opening windows, and their place on the screen.

use crate::browser::Browser;
use crate::browser::event::Event;
#[cfg(feature = "replay")]
use crate::browser::window::Bounds;
use crate::browser::window::{Window, WindowKind};
use crate::error::Error;
use crate::id::WindowId;

/// The place of a window, as far as a call names it.
#[derive(Debug, Clone, Default)]
pub(crate) struct WindowPlacement {
    pub(crate) left: Option<i64>,
    pub(crate) top: Option<i64>,
    pub(crate) width: Option<i64>,
    pub(crate) height: Option<i64>,
    /// `normal`, `minimized`, `maximized`, `fullscreen`.
    pub(crate) state: Option<String>,
}

impl WindowPlacement {
    fn apply(self, window: &mut Window) {
        let bounds = &mut window.bounds;
        bounds.left = self.left.unwrap_or(bounds.left);
        bounds.top = self.top.unwrap_or(bounds.top);
        bounds.width = self.width.unwrap_or(bounds.width);
        bounds.height = self.height.unwrap_or(bounds.height);
        if let Some(state) = self.state {
            window.state = state;
        }
    }
}

impl Browser {
    /// Opens a window, which has no tabs yet.
    pub(crate) fn open_window(
        &mut self,
        kind: WindowKind,
        incognito: bool,
        placement: WindowPlacement,
    ) -> Result<WindowId, Error> {
        let id = self.add_window(kind, incognito);
        let window = self.window_mut(id)?;
        placement.apply(window);
        let view = window.view(false, None);
        self.emit(Event::WindowCreated(view));
        Ok(id)
    }

    /// Changes the place of a window.
    pub(crate) fn place_window(
        &mut self,
        id: WindowId,
        placement: WindowPlacement,
    ) -> Result<(), Error> {
        placement.apply(self.window_mut(id)?);
        self.dirty.note_window(id);
        Ok(())
    }

    /// Puts a window where one opens that nobody places.
    #[cfg(feature = "replay")] // The recorded browser did so with each.
    pub(crate) fn place_window_anew(&mut self, id: WindowId) -> Result<(), Error> {
        self.window_mut(id)?.bounds = Bounds::default();
        self.dirty.note_window(id);
        Ok(())
    }

    /// The window itself, or, where it holds no strip of tabs, a normal one: the last that had the focus.
    pub(crate) fn normal_window(&mut self, window: WindowId) -> Result<WindowId, Error> {
        let state = self.window(window)?;
        if state.kind == WindowKind::Normal {
            return Ok(window);
        }
        let incognito = state.incognito;
        let is_normal = |id: &&WindowId| {
            let state = self.strips.window(**id);
            state.is_some_and(|window| {
                window.kind == WindowKind::Normal && window.incognito == incognito
            })
        };
        match self.focus.order().iter().find(is_normal) {
            Some(normal) => Ok(*normal),
            None => self.open_window(WindowKind::Normal, incognito, WindowPlacement::default()),
        }
    }
}
