//! Zoom: levels that belong to hosts, and settings that belong to a tab until it navigates.

use serde_json::json;

use crate::browser::event::{Event, number, zoom_settings};
use crate::browser::tab::{Tab, TabId, ZoomMode, ZoomState};
use crate::browser::{Answer, Browser, Compat};
use crate::error::Error;
use crate::js_value::Js;
use crate::operation::call::Call;
use crate::url::host;

/// The factor of a page that nobody zoomed.
const DEFAULT: f64 = 1.0;
/// The factors that the user's keys go through.
const STEPS: [f64; 17] = [
    0.25,
    1.0 / 3.0,
    0.5,
    2.0 / 3.0,
    0.75,
    0.8,
    0.9,
    1.0,
    1.1,
    1.25,
    1.5,
    1.75,
    2.0,
    2.5,
    3.0,
    4.0,
    5.0,
];
/// Factors closer than this are the same step.
const NEAR: f64 = 0.001;

impl Browser {
    /// The factor at which a tab shows its page.
    pub(crate) fn factor_of(&self, tab: &Tab) -> f64 {
        match tab.zoom.mode {
            _ if tab.discarded => DEFAULT,
            ZoomMode::Disabled => DEFAULT,
            _ => tab.zoom.own_factor.unwrap_or_else(|| self.host_factor(&tab.url)),
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
        if url.starts_with("chrome:") { Err(Error::BrowserPage) } else { Ok(()) }
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
        let (old, name, zoom) = (self.factor_of(tab), host(&tab.url), tab.zoom);
        if zoom.is_per_origin {
            self.keep_host_factor(name, factor);
        } else {
            self.tab_mut(id)?.zoom.own_factor = Some(factor);
        }
        // Who scales by itself touches nothing that others share.
        self.tell_zoom(id, old, factor, zoom.mode != ZoomMode::Manual);
        Ok(())
    }

    /// Zooms a tab as the user's keys do: to the next factor of the browser's list, or to the default.
    pub(crate) fn zoom_step(&mut self, id: TabId, step: i64) -> Result<(), Error> {
        let tab = self.tab(id)?;
        if tab.zoom.mode == ZoomMode::Disabled || tab.discarded {
            return Ok(());
        }
        let now = self.factor_of(tab);
        let next = match step.signum() {
            1 => STEPS.iter().find(|step| **step > now + NEAR),
            -1 => STEPS.iter().rev().find(|step| **step < now - NEAR),
            _ => Some(&DEFAULT),
        };
        match next {
            Some(factor) => self.zoom_to(id, *factor),
            None => Ok(()),
        }
    }

    fn keep_host_factor(&mut self, name: String, factor: f64) {
        self.dirty.note_host(&name);
        if (factor - DEFAULT).abs() < f64::EPSILON {
            self.zoom_levels.remove(&name);
        } else {
            self.zoom_levels.insert(name, factor);
        }
    }

    /// Tells a tab's change, and how the other tabs of its host stand, oldest tab first.
    fn tell_zoom(&mut self, asking: TabId, old: f64, new: f64, tells_others: bool) {
        let Some(name) = self.tabs.get(&asking).map(|tab| host(&tab.url)) else {
            return;
        };
        let mut told: Vec<_> = self
            .tabs
            .values()
            .filter(|tab| {
                let is_mate = !tab.discarded && !tab.url.is_empty() && host(&tab.url) == name;
                tab.id == asking || tells_others && is_mate
            })
            .map(|tab| (tab.id, self.factor_of(tab), tab.zoom))
            .collect();
        told.sort_by_key(|(tab, ..)| *tab);
        for (tab, factor, zoom) in told {
            let (old, new) = if tab == asking { (old, new) } else { (factor, factor) };
            self.emit(Event::TabZoomed { tab: tab.0, old, new, zoom });
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
        let url = self.tab(id)?.url.clone();
        let new = if mode == ZoomMode::Disabled {
            DEFAULT
        } else if is_per_origin {
            // A host without a level of its own takes over the tab's.
            let kept = self.zoom_levels.get(&host(&url)).copied();
            if kept.is_none() {
                self.keep_host_factor(host(&url), old);
            }
            kept.unwrap_or(old)
        } else {
            old
        };
        self.tab_mut(id)?.zoom = ZoomState {
            mode,
            is_per_origin,
            own_factor: (!is_per_origin && mode != ZoomMode::Disabled).then_some(new),
        };
        let is_quiet = before.mode == ZoomMode::Disabled && !is_per_origin;
        self.tell_zoom(id, old, new, !is_quiet);
        Ok(Answer::Undefined)
    }
}
