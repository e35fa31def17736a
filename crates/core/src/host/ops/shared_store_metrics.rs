//! The figures of a store on another machine, read when the metrics page is.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::host::launch::shared_store::SharedStore;

/// Figures of the store that instances share, as this one sees it.
#[derive(Debug)]
pub(in crate::host) struct SharedStoreMetrics(pub(in crate::host) SharedStore);

impl Collector for SharedStoreMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let stats = self.0.stats();
        let is_up = ConstGauge::new(i64::from(self.0.health().is_ok()));
        let metric = encoder.encode_descriptor(
            "store_up",
            "1 while the store is connected to",
            None,
            is_up.metric_type(),
        )?;
        is_up.encode(metric)?;
        for (name, help, count) in [
            ("store_round_trips", "Statements that were sent to the store", stats.round_trips),
            (
                "store_retries",
                "Attempts that the store undid because they met another",
                stats.retries,
            ),
            (
                "store_conflicts",
                "Batches that were refused for a row that had changed",
                stats.conflicts,
            ),
            (
                "store_connections_lost",
                "Connections to the store that were lost",
                stats.lost_connections,
            ),
            (
                "store_outcomes_asked",
                "Batches whose answer was lost and was asked for",
                stats.outcomes_asked,
            ),
            (
                "store_outcomes_unknown",
                "Those of them that nobody answered for",
                stats.outcomes_unknown,
            ),
        ] {
            let counter = ConstCounter::new(count);
            let metric = encoder.encode_descriptor(name, help, None, counter.metric_type())?;
            counter.encode(metric)?;
        }
        Ok(())
    }
}
