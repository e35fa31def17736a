//! The `windows` operations, as far as tabs need them.

use crate::browser::event::Event;
use crate::browser::tab::TabId;
use crate::browser::window::{Window, WindowId, WindowKind, WindowView};
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::extension::permission::Access;
use crate::js_value::Js;
use crate::operation::call::Call;
use crate::url::{NEW_TAB, resolve};

impl Browser {
    /// A window as somebody with this access sees it, with its tabs if they are asked for.
    pub(crate) fn window_view(
        &self,
        window: &Window,
        populate: bool,
        access: &Access<'_>,
    ) -> WindowView {
        let is_focused = self.has_focus && self.focus_order.first() == Some(&window.id);
        let tabs = window.tabs.iter().enumerate().filter_map(|(index, id)| {
            let tab = self.tabs.get(id)?;
            Some(self.view_at(tab, window, index).seen_by(access))
        });
        window.view(is_focused, populate.then(|| tabs.collect()))
    }

    fn window_answer(
        &self,
        call: &Call<'_>,
        window: WindowId,
        options: usize,
    ) -> Result<Answer, Error> {
        let populate = call.boolean(options, "populate").unwrap_or(false);
        let window = self.window(window)?;
        let view = self.window_view(window, populate, &self.access_of(call));
        Ok(Answer::Window(Box::new(view)))
    }

    /// `windows.get`.
    pub(crate) fn window_get(&self, call: &Call<'_>) -> Result<Answer, Error> {
        self.window_answer(call, self.named_window(call, call.arguments.integer(0))?, 1)
    }

    /// `windows.getCurrent`.
    pub(crate) fn window_get_current(&self, call: &Call<'_>) -> Result<Answer, Error> {
        self.window_answer(call, self.current_window(call)?, 0)
    }

    /// `windows.getLastFocused`.
    pub(crate) fn window_get_last_focused(&self, call: &Call<'_>) -> Result<Answer, Error> {
        self.window_answer(
            call,
            self.focus_order.first().copied().ok_or(Error::NoCurrentWindow)?,
            0,
        )
    }

    /// `windows.getAll`.
    pub(crate) fn window_get_all(&self, call: &Call<'_>) -> Result<Answer, Error> {
        let populate = call.boolean(0, "populate").unwrap_or(false);
        let kinds = match call.property(0, "windowTypes") {
            Some(Js::Array(items)) => Some(items.iter().filter_map(Js::text).collect::<Vec<_>>()),
            _ => None,
        };
        let wanted = |window: &&Window| {
            kinds
                .as_ref()
                .map_or(matches!(window.kind, WindowKind::Normal | WindowKind::Popup), |kinds| {
                    kinds.contains(&window.kind.word())
                })
        };
        let access = self.access_of(call);
        let windows = self.windows.values().filter(wanted);
        let views = windows.map(|window| self.window_view(window, populate, &access));
        Ok(Answer::Windows(views.collect()))
    }

    /// `windows.create`: a new tab, one for each URL, or a tab that exists.
    pub(crate) fn window_create(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        check_state(call, 0)?;
        let texts: Vec<_> = match call.property(0, "url") {
            Some(Js::Array(items)) => items.iter().filter_map(Js::text).collect(),
            Some(one) => one.text().into_iter().collect(),
            None => Vec::new(),
        };
        let urls = texts
            .into_iter()
            .map(|text| resolve(text, &call.caller.extension))
            .collect::<Result<Vec<_>, _>>()?;
        let moved =
            call.number(0, "tabId").map(|id| self.tab(TabId(id)).map(|tab| tab.id)).transpose()?;
        if let Some(tab) = moved {
            self.check_not_dragging()?;
            if self.window(self.tab(tab)?.window)?.kind != WindowKind::Normal {
                return Err(Error::NotNormalWindow);
            }
        }
        let kind = if matches!(call.text(0, "type"), Some("popup" | "panel")) {
            WindowKind::Popup
        } else {
            WindowKind::Normal
        };
        let window = self.add_window(kind);
        self.set_bounds(call, 0, window)?;
        let view = self.window(window)?.view(false, None);
        self.emit(Event::WindowCreated(view));
        match moved {
            Some(tab) => self.fill_with(window, tab)?,
            None => self.fill(window, &urls)?,
        }
        // As recorded: the new window has not got the focus yet when it is given back.
        let shown = self.window(window)?;
        let mut answer = self.window_view(shown, true, &self.access_of(call));
        answer.focused = false;
        let is_minimized = call.text(0, "state") == Some("minimized");
        if call.boolean(0, "focused").unwrap_or(!is_minimized) {
            self.focus(window);
        }
        Ok(Answer::Window(Box::new(answer)))
    }

    fn fill_with(&mut self, window: WindowId, tab: TabId) -> Result<(), Error> {
        let pinned = self.tab(tab)?.pinned;
        self.carry(tab, window, Some(0))?;
        self.tab_mut(tab)?.pinned = pinned;
        self.activate(tab)
    }

    /// Opens pages in a new window; the first stays active, and is the opener of the others.
    fn fill(&mut self, window: WindowId, urls: &[String]) -> Result<(), Error> {
        let blank = [NEW_TAB.to_owned()];
        let urls = if urls.is_empty() { &blank[..] } else { urls };
        // A popup has no strip: only the first page is shown.
        let is_popup = self.window(window)?.kind == WindowKind::Popup;
        let mut first = None;
        for url in urls.iter().take(if is_popup { 1 } else { urls.len() }) {
            let id = self.new_tab(window);
            self.start(id, url);
            let end = self.window(window)?.tabs.len();
            self.place(id, window, end)?;
            self.tab_mut(id)?.opener = first;
            self.create_and_activate(id)?;
            first.get_or_insert(id);
        }
        match first {
            Some(first) if urls.len() > 1 && !is_popup => self.activate(first),
            _ => Ok(()),
        }
    }

    fn set_bounds(&mut self, call: &Call<'_>, place: usize, window: WindowId) -> Result<(), Error> {
        let values = ["left", "top", "width", "height"].map(|name| call.number(place, name));
        let state = call.text(place, "state").map(str::to_owned);
        let window = self.window_mut(window)?;
        let [left, top, width, height] = values;
        window.bounds.left = left.unwrap_or(window.bounds.left);
        window.bounds.top = top.unwrap_or(window.bounds.top);
        window.bounds.width = width.unwrap_or(window.bounds.width);
        window.bounds.height = height.unwrap_or(window.bounds.height);
        if let Some(state) = state {
            window.state = state;
        }
        Ok(())
    }

    /// `windows.update`.
    pub(crate) fn window_update(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let window = self.named_window(call, call.arguments.integer(0))?;
        check_state(call, 1)?;
        // The window manager acts later: what is given back is how the window was.
        let before = self.window_view(self.window(window)?, false, &self.access_of(call));
        self.set_bounds(call, 1, window)?;
        self.dirty.note_window(window);
        match call.boolean(1, "focused") {
            Some(true) => self.focus(window),
            Some(false) if self.focus_order.first() == Some(&window) => {
                self.focus_order.rotate_left(1);
                if let Some(next) = self.focus_order.first().copied() {
                    self.emit(Event::WindowFocused(next.0));
                }
            }
            _ => {}
        }
        Ok(Answer::Window(Box::new(before)))
    }

    /// `windows.remove`.
    pub(crate) fn window_remove(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let window = self.named_window(call, call.arguments.integer(0))?;
        self.check_not_dragging()?;
        self.close_window(window)?;
        Ok(Answer::Undefined)
    }
}

/// A window that fills the screen or is put away has no size or place of its own; one is focused, the other is not.
fn check_state(call: &Call<'_>, place: usize) -> Result<(), Error> {
    let contradicts = match call.text(place, "state") {
        Some("minimized") => Some(true),
        Some("maximized" | "fullscreen" | "locked-fullscreen") => Some(false),
        _ => return Ok(()),
    };
    let names = ["left", "top", "width", "height"];
    let has_bounds = names.iter().any(|name| call.number(place, name).is_some());
    if has_bounds || call.boolean(place, "focused") == contradicts {
        return Err(Error::InvalidWindowState);
    }
    Ok(())
}
