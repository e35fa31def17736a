//! Counters by operation and status, in the Prometheus text form.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    operation: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByOperation {
    operation: &'static str,
}

/// What the host counts. A service may add its own to [`Metrics::registry`] before it starts.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter<u64, AtomicU64>>,
    seconds: Family<ByOperation, Histogram, fn() -> Histogram>,
    running: Gauge<i64, AtomicI64>,
    connections: Gauge<i64, AtomicI64>,
    panics: Counter<u64, AtomicU64>,
}

/// Bounds in seconds, from half a millisecond to ten seconds.
fn latency() -> Histogram {
    Histogram::new([
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
    ])
}

impl Metrics {
    /// Counters at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let requests = Family::default();
        let seconds = Family::new_with_constructor(latency as fn() -> Histogram);
        let (running, connections, panics) =
            (Gauge::default(), Gauge::default(), Counter::default());
        registry.register(
            "http_requests",
            "Answered requests by operation and status",
            requests.clone(),
        );
        registry.register(
            "http_request_seconds",
            "Time until the head of the answer, by operation",
            seconds.clone(),
        );
        registry.register(
            "http_requests_running",
            "Requests being answered",
            running.clone(),
        );
        registry.register("http_connections", "Open connections", connections.clone());
        registry.register("http_panics", "Handlers that panicked", panics.clone());
        Self {
            registry,
            requests,
            seconds,
            running,
            connections,
            panics,
        }
    }

    /// Where a service registers counters of its own.
    pub const fn registry(&mut self) -> &mut Registry {
        &mut self.registry
    }

    pub(super) fn begin(&self) {
        self.running.inc();
    }

    pub(super) fn end(&self, operation: &'static str, status: u16, took: Duration) {
        self.running.dec();
        self.requests
            .get_or_create(&Answered { operation, status })
            .inc();
        self.seconds
            .get_or_create(&ByOperation { operation })
            .observe(took.as_secs_f64());
    }

    pub(super) fn connected(&self, by: i64) {
        self.connections.inc_by(by);
    }

    pub(super) fn panicked(&self) {
        self.panics.inc();
    }

    /// The text that a scraper reads.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string fails for no metric.
        let _ = text::encode(&mut out, &self.registry);
        out
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}
