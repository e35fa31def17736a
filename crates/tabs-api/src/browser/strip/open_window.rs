//! Opening windows, and their place on the screen.

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::window::{Bounds, Screen, Window, WindowKind};
use crate::error::Error;
use crate::extension::permission::Access;
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

/// The pixels by which a new window stands further to the right and further down than the last one.
const NEXT_FURTHER: i64 = 10;

/// The size below which no window of a type goes (measured): one with a strip has room for it.
const fn least_size(kind: WindowKind) -> (i64, i64) {
    match kind {
        WindowKind::Normal => (508, 92),
        _ => (1, 1),
    }
}

impl WindowPlacement {
    /// A place and a size, in whichever state.
    const fn at(place: Bounds) -> Self {
        let Bounds { left, top, width, height } = place;
        Self {
            left: Some(left),
            top: Some(top),
            width: Some(width),
            height: Some(height),
            state: None,
        }
    }

    pub(crate) const fn has_place(&self) -> bool {
        self.left.is_some() || self.top.is_some()
    }

    pub(crate) const fn has_size(&self) -> bool {
        self.width.is_some() || self.height.is_some()
    }

    /// The place that a window comes to which is at another one.
    fn place_from(&self, from: Bounds) -> Bounds {
        Bounds {
            left: self.left.unwrap_or(from.left),
            top: self.top.unwrap_or(from.top),
            width: self.width.unwrap_or(from.width),
            height: self.height.unwrap_or(from.height),
        }
    }

    fn apply(self, window: &mut Window) {
        let Bounds { left, top, width, height } = self.place_from(window.bounds);
        let (least_across, least_down) = least_size(window.kind);
        window.bounds =
            Bounds { left, top, width: width.max(least_across), height: height.max(least_down) };
        if let Some(asked) = self.state {
            window.state = window.state.changed_to(&asked);
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

    /// Puts the browser on another screen: its windows go to where windows open there.
    pub fn set_screen(&mut self, screen: Screen) {
        self.screen = screen;
        for window in self.strips.windows_mut() {
            window.bounds = screen.opens_at;
        }
        self.touch_all();
    }

    /// The place that is asked for a new window. One of a size alone is made to fit on the screen; another one must be there for the most part.
    pub(crate) fn placement_on_screen(
        &self,
        asked: WindowPlacement,
    ) -> Result<WindowPlacement, Error> {
        let place = asked.place_from(self.place_of_next());
        if !asked.has_place() && !asked.has_size() {
            return Ok(asked);
        }
        let place = if asked.has_place() { place } else { self.screen.fitted(place) };
        if !self.screen.shows(place) {
            return Err(Error::OffScreen);
        }
        Ok(WindowPlacement { state: asked.state, ..WindowPlacement::at(place) })
    }

    /// The place that a new window has where a call names a part of it: that of the window that had the focus last, a little further.
    fn place_of_next(&self) -> Bounds {
        let last = self.focused_window().map(|last| last.bounds);
        last.map_or(self.screen.opens_at, |last| Bounds {
            left: last.left.saturating_add(NEXT_FURTHER),
            top: last.top.saturating_add(NEXT_FURTHER),
            ..last
        })
    }

    /// The place of a window as it is to be seen: one that fills the screen, or is as large as it can be, is all over it.
    fn place_now(&self, window: &Window) -> Bounds {
        let state = window.state;
        if !state.fullscreen && !state.maximized {
            return window.bounds;
        }
        Bounds { left: 0, top: 0, width: self.screen.width, height: self.screen.height }
    }

    /// Refuses to put a window where most of it is not on the screen.
    pub(crate) fn check_on_screen(
        &self,
        window: WindowId,
        asked: &WindowPlacement,
    ) -> Result<(), Error> {
        let place = asked.place_from(self.place_now(self.window(window)?));
        let is_asked = asked.has_place() || asked.has_size();
        if is_asked && !self.screen.shows(place) { Err(Error::OffScreen) } else { Ok(()) }
    }

    /// Changes the place of a window, and tells so where it is to be seen at another one.
    pub(crate) fn place_window(
        &mut self,
        id: WindowId,
        placement: WindowPlacement,
    ) -> Result<(), Error> {
        let place = self.place_now(self.window(id)?);
        let window = self.window_mut(id)?;
        let restored = window.bounds;
        if placement.has_place() || placement.has_size() {
            window.bounds = place;
        }
        placement.apply(window);
        if window.state.maximized {
            // One that is as large as it can be keeps the place that it has when it no longer is.
            window.bounds = restored;
        }
        self.dirty.note_window(id);
        let window = self.window(id)?;
        if self.place_now(window) != place {
            let view = self.window_view(window, false, &Access::Full);
            self.emit(Event::WindowPlaced(view));
        }
        Ok(())
    }

    /// Puts a window where one opens that nobody places.
    #[cfg(feature = "replay")] // The recorded browser did so with each.
    pub(crate) fn place_window_anew(&mut self, id: WindowId) -> Result<(), Error> {
        let place = self.screen.opens_at;
        self.window_mut(id)?.bounds = place;
        self.dirty.note_window(id);
        Ok(())
    }

    /// The window itself, or, where it holds no strip of tabs and has its page, a normal one: the last that had the focus.
    pub(crate) fn normal_window(&mut self, window: WindowId) -> Result<WindowId, Error> {
        let state = self.window(window)?;
        if state.kind == WindowKind::Normal || state.tabs.is_empty() {
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
