//! Zoom: levels that belong to hosts, and settings that belong to a tab until it navigates.

use serde_json::json;

use crate::address::host;
use crate::browser::{Answer, Browser, Call, Compat};
use crate::error::Error;
use crate::event::{Event, number, zoom_settings};
use crate::js::Js;
use crate::tab::{Tab, TabId, ZoomMode, ZoomState};

/// The factor of a page that nobody zoomed.
const DEFAULT: f64 = 1.0;

impl Browser {
    /// The factor at which a tab shows its page.
    pub(crate) fn factor_of(&self, tab: &Tab) -> f64 {
        match tab.zoom.mode {
            _ if tab.discarded => DEFAULT,
            ZoomMode::Disabled => DEFAULT,
            _ => tab
                .zoom
                .own_factor
                .unwrap_or_else(|| self.host_factor(&tab.url)),
        }
    }

    fn host_factor(&self, url: &str) -> f64 {
        self.zoom_levels.get(&host(url)).copied().unwrap_or(DEFAULT)
    }

    /// `tabs.getZoom`.
    pub(crate) fn get_zoom(&self, call: &Call<'_>) -> Result<Answer, Error> {
        let tab = self.tab(self.named_tab(call, 0)?)?;
        Ok(Answer::Value(number(self.factor_of(tab))))
    }

    /// `tabs.getZoomSettings`.
    pub(crate) fn get_zoom_settings(&self, call: &Call<'_>) -> Result<Answer, Error> {
        let tab = self.tab(self.named_tab(call, 0)?)?;
        let mut settings = zoom_settings(&tab.zoom);
        if let Some(members) = settings.as_object_mut() {
            members.insert("defaultZoomFactor".into(), json!(1));
        }
        Ok(Answer::Value(settings))
    }

    fn check_zoomable(&self, id: TabId) -> Result<(), Error> {
        let url = &self.tab(id)?.url;
        if url.starts_with("chrome:") {
            Err(Error::BrowserPage)
        } else {
            Ok(())
        }
    }

    /// `tabs.setZoom`: 0, and anything below, is the default.
    pub(crate) fn set_zoom(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = self.named_tab(call, 0)?;
        self.check_zoomable(id)?;
        let factor = match call.arguments.at(1) {
            Some(Js::Number(factor)) if *factor > 0.0 => *factor,
            _ => DEFAULT,
        };
        let tab = self.tab(id)?;
        if tab.zoom.mode == ZoomMode::Disabled || tab.discarded {
            // The specification lets it pass without effect; the browser says so.
            return if self.compat == Compat::Browser {
                Err(Error::ZoomDisabled)
            } else {
                Ok(Answer::Undefined)
            };
        }
        self.zoom_to(id, factor)?;
        Ok(Answer::Undefined)
    }

    /// Zooms a tab, and with it every tab of its host where the factor is the host's.
    pub(crate) fn zoom_to(&mut self, id: TabId, factor: f64) -> Result<(), Error> {
        let tab = self.tab(id)?;
        if !tab.zoom.is_per_origin {
            let (zoom, old) = (tab.zoom, self.factor_of(tab));
            self.tab_mut(id)?.zoom.own_factor = Some(factor);
            self.emit(Event::TabZoomed {
                tab: id.0,
                old,
                new: factor,
                zoom,
            });
            return Ok(());
        }
        let name = host(&tab.url);
        let old = self.host_factor(&tab.url);
        self.set_host_factor(id, name, factor, old);
        Ok(())
    }

    /// Changes the level of a host. Only the tab that asked is told of a change; the others of the host hear of the new level.
    fn set_host_factor(&mut self, asking: TabId, name: String, factor: f64, old: f64) {
        let sharing: Vec<_> = self
            .windows
            .values()
            .flat_map(|window| &window.tabs)
            .filter_map(|id| self.tabs.get(id))
            .filter(|tab| tab.zoom.is_per_origin && host(&tab.url) == name && !tab.discarded)
            .map(|tab| (tab.id, tab.zoom))
            .collect();
        self.dirty.note_host(&name);
        if (factor - DEFAULT).abs() < f64::EPSILON {
            self.zoom_levels.remove(&name);
        } else {
            self.zoom_levels.insert(name, factor);
        }
        for (tab, zoom) in sharing {
            let old = if tab == asking { old } else { factor };
            self.emit(Event::TabZoomed {
                tab: tab.0,
                old,
                new: factor,
                zoom,
            });
        }
    }

    /// `tabs.setZoomSettings`.
    pub(crate) fn set_zoom_settings(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = self.named_tab(call, 0)?;
        self.check_zoomable(id)?;
        let mode = match call.text(1, "mode") {
            Some("manual") => ZoomMode::Manual,
            Some("disabled") => ZoomMode::Disabled,
            _ => ZoomMode::Automatic,
        };
        let scope = call.text(1, "scope");
        if scope == Some("per-origin")
            && mode != ZoomMode::Automatic
            && self.compat == Compat::Browser
        {
            return Err(Error::PerOriginScope);
        }
        let is_per_origin = mode == ZoomMode::Automatic && scope != Some("per-tab");
        let tab = self.tab(id)?;
        let (before, old) = (tab.zoom, self.factor_of(tab));
        if before.mode == mode && before.is_per_origin == is_per_origin {
            return Ok(Answer::Undefined);
        }
        let own_factor = (!is_per_origin && mode != ZoomMode::Disabled).then_some(old);
        self.tab_mut(id)?.zoom = ZoomState {
            mode,
            is_per_origin,
            own_factor,
        };
        if before.mode == ZoomMode::Manual && is_per_origin {
            // What the extension scaled to becomes the host's own level.
            let name = host(&self.tab(id)?.url);
            let factor = before.own_factor.unwrap_or(old);
            self.set_host_factor(id, name, factor, factor);
            return Ok(Answer::Undefined);
        }
        let tab = self.tab(id)?;
        let (zoom, new) = (tab.zoom, self.factor_of(tab));
        self.emit(Event::TabZoomed {
            tab: id.0,
            old,
            new,
            zoom,
        });
        if mode == ZoomMode::Manual {
            // Taking over scaling touches the host's level, which its other tabs hear of.
            let (name, factor) = (
                host(&self.tab(id)?.url),
                self.host_factor(&self.tab(id)?.url),
            );
            self.set_host_factor(id, name, factor, factor);
        }
        Ok(Answer::Undefined)
    }
}
