//! Zoom: levels that belong to hosts, and settings that belong to a tab until it navigates.

use std::collections::BTreeMap;

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::tab::{Tab, ZoomMode, ZoomState};
use crate::error::Error;
use crate::id::TabId;
use crate::url::host;

/// The factor of a page that nobody zoomed.
pub(crate) const DEFAULT: f64 = 1.0;
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
/// The browser counts zoom in levels, each of which is this factor.
const LEVEL: f64 = 1.2;
/// Levels closer to the default than this are the default.
const NEAR_LEVEL: f64 = 0.001;
/// Factors closer than this are the same step.
const NEAR: f64 = 0.001;

/// A factor as it is after the browser kept it as a level.
pub(crate) fn as_kept(factor: f64) -> f64 {
    LEVEL.powf(factor.ln() / LEVEL.ln())
}

/// The tabs that hear of a change of zoom beside the one that was asked for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mates {
    None,
    /// Those that show pages of its address's host.
    OfHost,
    /// Those that show pages of the host that its page has. A discarded tab has no page: the browser takes every tab for its mate, others without one too.
    OfPage,
}

/// Zoom factors by host; a host without one shows its pages at the default.
#[derive(Debug, Default)]
pub(crate) struct ZoomLevels(BTreeMap<String, f64>);

impl ZoomLevels {
    /// The factors of these hosts.
    pub(crate) const fn of(factors: BTreeMap<String, f64>) -> Self {
        Self(factors)
    }

    /// The factor of a host that somebody zoomed.
    pub(crate) fn get(&self, host: &str) -> Option<f64> {
        self.0.get(host).copied()
    }

    /// Hosts that somebody zoomed.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    fn set(&mut self, host: String, factor: f64) {
        if factor.log(LEVEL).abs() < NEAR_LEVEL {
            self.0.remove(&host);
        } else {
            self.0.insert(host, factor);
        }
    }
}

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
        self.zoom_levels.get(&host(url)).unwrap_or(DEFAULT)
    }

    /// Zooms a tab, and with it every tab of its host where the factor is the host's.
    pub(crate) fn zoom_to(&mut self, id: TabId, factor: f64) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (old, name, zoom) = (self.factor_of(tab), host(&tab.url), tab.zoom);
        if zoom.is_per_origin {
            self.set_host_factor(name, factor);
        } else {
            self.tab_mut(id)?.zoom.own_factor = Some(factor);
        }
        // Who scales by itself touches nothing that others share.
        let mates = if zoom.mode == ZoomMode::Manual { Mates::None } else { Mates::OfPage };
        self.emit_zoom(id, old, factor, mates);
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
            // The key does nothing where nothing is zoomed.
            _ => Some(&DEFAULT).filter(|factor| (**factor - now).abs() > NEAR),
        };
        match next {
            Some(factor) => self.zoom_to(id, *factor),
            None => Ok(()),
        }
    }

    fn set_host_factor(&mut self, host: String, factor: f64) {
        self.dirty.note_host(&host);
        self.zoom_levels.set(host, factor);
    }

    /// Tells a tab's change, and how the other tabs of its host stand, oldest tab first.
    fn emit_zoom(&mut self, asking: TabId, old: f64, new: f64, mates: Mates) {
        let Some(tab) = self.strips.tab(asking) else {
            return;
        };
        let (name, is_mate_of_all) = (host(&tab.url), tab.discarded && mates == Mates::OfPage);
        let mut zoomed: Vec<_> = self
            .strips
            .tabs()
            .filter(|tab| {
                let is_loaded = !tab.discarded && !tab.url.is_empty();
                let is_mate = is_mate_of_all || is_loaded && host(&tab.url) == name;
                tab.id == asking || mates != Mates::None && is_mate
            })
            .map(|tab| (tab.id, self.factor_of(tab), tab.zoom))
            .collect();
        zoomed.sort_by_key(|(tab, ..)| *tab);
        for (tab, factor, zoom) in zoomed {
            let (old, new) = if tab == asking { (old, new) } else { (factor, factor) };
            self.emit(Event::TabZoomed { tab: tab.0, old, new, zoom });
        }
    }

    /// Tells the zoom of a tab that committed a page: the same factor twice.
    pub(super) fn emit_zoom_unchanged(&mut self, id: TabId) {
        let Some(tab) = self.strips.tab(id) else {
            return;
        };
        let (zoom, factor) = (tab.zoom, self.factor_of(tab));
        debug_assert!(
            zoom.mode != ZoomMode::Disabled || (factor - 1.0).abs() < f64::EPSILON,
            "a tab that does not zoom shows 1"
        );
        self.emit(Event::TabZoomed { tab: id.0, old: factor, new: factor, zoom });
    }

    /// Sets who scales a tab and whether the factor is its host's, until it navigates.
    pub(crate) fn set_zoom_mode(
        &mut self,
        id: TabId,
        mode: ZoomMode,
        is_per_origin: bool,
    ) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (before, old, host) = (tab.zoom, self.factor_of(tab), host(&tab.url));
        if before.mode == mode && before.is_per_origin == is_per_origin {
            return Ok(());
        }
        let is_quiet = before.mode == ZoomMode::Disabled && !is_per_origin;
        let mut mates = if is_quiet { Mates::None } else { Mates::OfPage };
        let new = if mode == ZoomMode::Disabled {
            DEFAULT
        } else if is_per_origin {
            // A host without a level of its own takes over the tab's.
            let known = self.zoom_levels.get(&host);
            if known.is_none() {
                self.set_host_factor(host, old);
                mates = Mates::OfHost;
            }
            known.unwrap_or(old)
        } else {
            old
        };
        self.tab_mut(id)?.zoom = ZoomState {
            mode,
            is_per_origin,
            own_factor: (!is_per_origin && mode != ZoomMode::Disabled).then_some(new),
        };
        self.emit_zoom(id, old, new, mates);
        Ok(())
    }
}
