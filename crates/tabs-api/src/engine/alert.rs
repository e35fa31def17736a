//! Alerts of simulated pages: the script that goes on once one is taken away.

use std::collections::BTreeMap;

use super::script::Script;
use crate::id::TabId;

/// An alert, and what goes on once it is taken away.
#[derive(Debug)]
pub(super) struct Alert {
    /// The address of the page.
    pub(super) url: String,
    /// The script behind it: where the user accepts, and where not.
    pub(super) accepted: Option<Box<Script>>,
    pub(super) refused: Option<Box<Script>>,
}

/// The alerts of tabs.
pub(super) type Alerts = BTreeMap<TabId, Alert>;
