//! The control plane under `/_ops/`: health, clock, faults, the latest requests, and metrics; and the page at `/_ui/` that shows it.

pub(super) mod control;
mod exposition;
pub(super) mod faults;
mod live;
mod metrics;
pub(super) mod page;
mod process_metrics;
pub(super) mod request_log;
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
pub(super) mod shared_store_metrics;
#[cfg(feature = "sled")]
pub(super) mod store_metrics;

pub use control::is_own_name;
pub use metrics::{CallMetrics, Metrics};
pub use page::{Page, PageFile};
