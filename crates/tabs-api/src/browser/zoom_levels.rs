//! Zoom factors by host: incognito windows begin with those of the others, and have their own for as long as one of them is open.

use std::collections::BTreeMap;

use crate::browser::zoom::LEVEL;
use crate::id::{TabId, WindowId};

/// Levels closer to the default than this are the default.
const NEAR_LEVEL: f64 = 0.001;

/// Zoom factors by host; a host without one shows its pages at the default.
#[derive(Debug, Default)]
pub(crate) struct ZoomLevels {
    kept: BTreeMap<String, f64>,
    incognito: Option<IncognitoLevels>,
}

/// The factors of incognito windows.
#[derive(Debug)]
struct IncognitoLevels {
    /// The window that opened while there was no other one.
    first: WindowId,
    factors: BTreeMap<String, f64>,
}

impl ZoomLevels {
    /// The factors of these hosts, without incognito windows.
    pub(crate) const fn of(factors: BTreeMap<String, f64>) -> Self {
        Self { kept: factors, incognito: None }
    }

    /// The factor of a host that somebody zoomed.
    pub(crate) fn factor(&self, host: &str, is_incognito: bool) -> Option<f64> {
        let own = self.incognito.as_ref().filter(|_| is_incognito);
        own.map_or(&self.kept, |levels| &levels.factors).get(host).copied()
    }

    /// Hosts that somebody zoomed in windows that are not incognito.
    pub(super) fn hosts(&self) -> impl Iterator<Item = &String> {
        self.kept.keys()
    }

    /// The order in which tabs hear of a change: their age, and for incognito ones that of their first window before it.
    pub(super) fn place(&self, tab: TabId, is_incognito: bool) -> (i64, i64) {
        let own = self.incognito.as_ref().filter(|_| is_incognito);
        own.map_or((tab.0, 0), |levels| (levels.first.0, tab.0))
    }

    /// Sets the factor of a host; what is set for all holds in incognito windows too.
    pub(super) fn set(&mut self, host: String, factor: f64, is_incognito: bool) {
        if let Some(levels) = &mut self.incognito {
            set_in(&mut levels.factors, host.clone(), factor);
        }
        if !is_incognito {
            set_in(&mut self.kept, host, factor);
        }
    }

    /// Notes that an incognito window opened: the first one takes over the factors that are there.
    pub(super) fn begin_incognito(&mut self, window: WindowId) {
        if self.incognito.is_none() {
            self.incognito = Some(IncognitoLevels { first: window, factors: self.kept.clone() });
        }
    }

    /// Forgets the factors of incognito windows, of which none is left.
    pub(super) fn end_incognito(&mut self) {
        self.incognito = None;
    }
}

fn set_in(factors: &mut BTreeMap<String, f64>, host: String, factor: f64) {
    if factor.log(LEVEL).abs() < NEAR_LEVEL {
        factors.remove(&host);
    } else {
        factors.insert(host, factor);
    }
}
