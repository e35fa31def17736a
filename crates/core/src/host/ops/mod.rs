//! The control plane under `/_ops/`: health, clock, faults, the latest requests, and metrics.

pub(super) mod control;
pub(super) mod faults;
mod metrics;
pub(super) mod request_log;
#[cfg(feature = "sled")]
pub(super) mod store_metrics;

pub use control::is_own_name;
pub use metrics::Metrics;
