//! Zoom: levels that belong to hosts, and settings that belong to a tab until it navigates.

use crate::browser::event::Event;
use crate::browser::tab::{DEFAULT_FACTOR, Tab, ZoomMode, ZoomState};
use crate::browser::{Browser, Compat};
use crate::error::Error;
use crate::id::TabId;
use crate::url::{host, page_of_source};

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
pub(super) const LEVEL: f64 = 1.2;
/// The host of the browser's own pages in place of those that could not be loaded.
const ERROR_HOST: &str = "chromewebdata";
/// Factors closer than this are the same step.
const NEAR: f64 = 0.001;

/// A factor as it is after the browser kept it as a level.
pub(crate) fn as_kept(factor: f64) -> f64 {
    LEVEL.powf(factor.ln() / LEVEL.ln())
}

/// The host whose zoom a tab's page has: all pages of errors share one, and the source of a page has that of the page.
fn zoomed_host(tab: &Tab) -> String {
    if tab.shows_error { ERROR_HOST.to_owned() } else { host(page_of_source(&tab.url)) }
}

/// The tabs that hear of a change of zoom beside the one that was asked for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// None.
    Tab,
    /// Those of the same windows, incognito or not, that show pages of the host that its page has. A discarded tab has no page: the browser takes every
    /// tab of them for its mate, others without one too.
    Profile,
    /// Those that show pages of its address's host; incognito windows follow the others.
    Host,
}

impl Browser {
    /// The factor at which a tab shows its page; without one it is the default.
    pub(crate) fn factor_of(&self, tab: &Tab) -> f64 {
        match tab.zoom.mode {
            _ if tab.is_fresh => DEFAULT_FACTOR,
            ZoomMode::Manual => tab.zoom.manual_factor,
            _ => tab.zoom.own_factor.unwrap_or_else(|| self.host_factor(tab)),
        }
    }

    fn host_factor(&self, tab: &Tab) -> f64 {
        let is_incognito = self.is_incognito(tab);
        self.zoom_levels.factor(&zoomed_host(tab), is_incognito).unwrap_or(DEFAULT_FACTOR)
    }

    /// Zooms a tab, and with it every tab of its host where the factor is the host's.
    pub(crate) fn zoom_to(&mut self, id: TabId, factor: f64) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (old, name, is_incognito) =
            (self.factor_of(tab), zoomed_host(tab), self.is_incognito(tab));
        let zoom = &mut self.tab_mut(id)?.zoom;
        let reach = if zoom.mode == ZoomMode::Manual {
            if (zoom.manual_factor - factor).abs() < NEAR {
                return Ok(());
            }
            // Who scales by itself touches nothing that others share.
            zoom.manual_factor = factor;
            Reach::Tab
        } else if zoom.is_per_origin && zoom.own_factor.is_none() {
            self.set_host_factor(name, factor, is_incognito);
            Reach::Host
        } else {
            zoom.own_factor = Some(factor);
            Reach::Profile
        };
        self.emit_zoom(id, old, factor, reach);
        Ok(())
    }

    /// Zooms a tab as the user's keys do: to the next factor of the browser's list, or to the default.
    pub(crate) fn zoom_step(&mut self, id: TabId, step: i64) -> Result<(), Error> {
        let tab = self.tab(id)?;
        if tab.zoom.mode == ZoomMode::Disabled || tab.is_fresh {
            return Ok(());
        }
        let now = self.factor_of(tab);
        let next = match step.signum() {
            1 => STEPS.iter().find(|step| **step > now + NEAR),
            -1 => STEPS.iter().rev().find(|step| **step < now - NEAR),
            // The key does nothing where nothing is zoomed.
            _ => Some(&DEFAULT_FACTOR).filter(|factor| (**factor - now).abs() > NEAR),
        };
        match next {
            Some(factor) => self.zoom_to(id, *factor),
            None => Ok(()),
        }
    }

    fn set_host_factor(&mut self, host: String, factor: f64, is_incognito: bool) {
        if !is_incognito {
            self.dirty.note_host(&host);
        }
        self.zoom_levels.set(host, factor, is_incognito);
    }

    /// Tells a tab's change, and how the tabs stand that it reaches: oldest tab first, and incognito ones where the first of their windows stands.
    fn emit_zoom(&mut self, asking: TabId, old: f64, new: f64, reach: Reach) {
        let Some(tab) = self.strips.tab(asking) else {
            return;
        };
        let (name, is_incognito) = (zoomed_host(tab), self.is_incognito(tab));
        let is_mate_of_all = tab.discarded && reach == Reach::Profile;
        let is_reached = |tab: &&Tab| {
            let is_mate = is_mate_of_all || !tab.is_fresh && zoomed_host(tab) == name;
            let is_near = self.is_incognito(tab) == is_incognito;
            let follows = reach == Reach::Host && !is_incognito;
            tab.id == asking || reach != Reach::Tab && is_mate && (is_near || follows)
        };
        let tabs = self.strips.tabs().filter(is_reached);
        let mut zoomed: Vec<_> = tabs
            .map(|tab| {
                let place = self.zoom_levels.place(tab.id, self.is_incognito(tab));
                (place, tab.id, self.factor_of(tab), tab.zoom)
            })
            .collect();
        zoomed.sort_by_key(|(place, ..)| *place);
        for (_, tab, factor, zoom) in zoomed {
            let (old, new) = if tab == asking { (old, new) } else { (factor, factor) };
            self.emit(Event::TabZoomed { tab: tab.0, old, new, zoom });
        }
    }

    /// Gives a tab the zoom of a document that it arrives at, which may come back with a factor of its own: settings that last for a page end. The
    /// factor that the document came with, if these took it along.
    pub(super) fn renew_zoom(&mut self, id: TabId, own_factor: Option<f64>) -> Option<f64> {
        let is_browser = self.compat == Compat::Browser;
        let zoom = &mut self.strips.tab_mut(id)?.zoom;
        let own_factor = own_factor.filter(|_| is_browser);
        // The browser keeps a tab unzoomable where it goes, at the host's factor; the specification restores the defaults.
        let lasts = zoom.is_per_origin || is_browser && zoom.mode == ZoomMode::Disabled;
        if lasts {
            zoom.own_factor = own_factor;
            return None;
        }
        *zoom = ZoomState::default();
        own_factor
    }

    /// Tells the zoom of a tab that committed a page: the same factor twice, unless the page came with another one.
    pub(super) fn emit_zoom_of_page(&mut self, id: TabId, came_with: Option<f64>) {
        let Some(tab) = self.strips.tab(id) else {
            return;
        };
        let (zoom, factor) = (tab.zoom, self.factor_of(tab));
        self.emit(Event::TabZoomed {
            tab: id.0,
            old: came_with.unwrap_or(factor),
            new: factor,
            zoom,
        });
    }

    /// Sets who scales a tab and whether the factor is its host's, until it navigates.
    pub(crate) fn set_zoom_mode(
        &mut self,
        id: TabId,
        mode: ZoomMode,
        is_per_origin: bool,
    ) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (before, old, host) = (tab.zoom, self.factor_of(tab), zoomed_host(tab));
        let (is_discarded, is_incognito) = (tab.discarded, self.is_incognito(tab));
        if before.mode == mode && before.is_per_origin == is_per_origin {
            return Ok(());
        }
        let mut zoom = ZoomState { mode, is_per_origin, ..before };
        let (new, reach) = if mode == ZoomMode::Disabled {
            zoom.own_factor = Some(DEFAULT_FACTOR);
            (DEFAULT_FACTOR, Reach::Profile)
        } else if is_per_origin {
            zoom.own_factor = None;
            match self.zoom_levels.factor(&host, is_incognito) {
                // It has no page that could show the host's.
                _ if is_discarded => (old, Reach::Tab),
                Some(known) => (known, Reach::Profile),
                // A host without a level of its own takes over the tab's.
                None => {
                    self.set_host_factor(host, old, is_incognito);
                    (old, Reach::Host)
                }
            }
        } else if before.mode == ZoomMode::Disabled {
            // The page goes on as it is, at the host's factor too.
            (old, Reach::Tab)
        } else {
            let is_manual = mode == ZoomMode::Manual;
            zoom.own_factor = Some(if is_manual { DEFAULT_FACTOR } else { old });
            zoom.manual_factor = if is_manual { old } else { before.manual_factor };
            (old, Reach::Profile)
        };
        self.tab_mut(id)?.zoom = zoom;
        self.emit_zoom(id, old, new, reach);
        Ok(())
    }
}
