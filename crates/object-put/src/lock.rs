//! Object lock: retention, legal hold, and the default of a bucket.

use serde::{Deserialize, Serialize};
use triptych_core::time::Timestamp;

/// How firm a retention is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Mode {
    /// Whoever has the permission may lift it.
    Governance,
    /// Nobody may.
    Compliance,
}

/// A mode and the moment until which it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// How firm.
    pub mode: Mode,
    /// How long.
    pub until: Timestamp,
}

/// What protects a version from being deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lock {
    /// A time, if one was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// A legal hold, if one was ever set: on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<bool>,
}

impl Lock {
    /// Whether nothing was ever set.
    #[must_use]
    pub const fn is_none(&self) -> bool {
        self.retention.is_none() && self.hold.is_none()
    }
}

/// The retention that a bucket gives to new versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultRetention {
    /// How firm.
    pub mode: Mode,
    /// How many days from the write; years are kept as they were given.
    pub days: Option<u32>,
    /// How many years from the write.
    pub years: Option<u32>,
}
