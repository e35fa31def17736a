//! Counters by operation and status, as OpenMetrics.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use super::process_metrics::ProcessMetrics;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    operation: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    operation: &'static str,
    outcome: &'static str,
}

/// Calls to another service: their number by operation and outcome, and the time that they took. Clones count together.
#[derive(Debug, Clone)]
pub struct CallMetrics {
    calls: Family<CallLabels, Counter<u64, AtomicU64>>,
    seconds: Family<OperationLabels, Histogram, fn() -> Histogram>,
}

impl CallMetrics {
    /// Counts a call that ended.
    pub fn count(&self, operation: &'static str, outcome: &'static str, took: Duration) {
        self.calls.get_or_create(&CallLabels { operation, outcome }).inc();
        self.seconds.get_or_create(&OperationLabels { operation }).observe(took.as_secs_f64());
    }
}

impl Default for CallMetrics {
    fn default() -> Self {
        let seconds = Family::new_with_constructor(latency as fn() -> Histogram);
        Self { calls: Family::default(), seconds }
    }
}

/// Counters of the host. Clones count together; a service may [`Metrics::register`] its own.
#[derive(Debug, Clone)]
pub struct Metrics {
    registry: Arc<Mutex<Registry>>,
    requests: Family<RequestLabels, Counter<u64, AtomicU64>>,
    seconds: Family<OperationLabels, Histogram, fn() -> Histogram>,
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
        registry.register("http_requests_running", "Requests being answered", running.clone());
        registry.register("http_connections", "Open connections", connections.clone());
        registry.register("http_panics", "Handlers that panicked", panics.clone());
        registry.register_collector(Box::new(ProcessMetrics));
        Self {
            registry: Arc::new(Mutex::new(registry)),
            requests,
            seconds,
            running,
            connections,
            panics,
        }
    }

    /// Adds a counter or gauge of a service's own to the page; `help` is a sentence without its full stop.
    pub fn register(&self, name: &str, help: &str, metric: impl Metric) {
        self.registry.lock().register(name, help, metric);
    }

    /// Adds counters of the calls to another service, such as `key_service_calls` and `key_service_call_seconds`.
    #[must_use]
    pub fn calls_to(&self, service: &str) -> CallMetrics {
        let metrics = CallMetrics::default();
        let name = |what: &str| [service, what].join("_");
        self.register(&name("calls"), "Calls by operation and outcome", metrics.calls.clone());
        let seconds = "Time until the answer of a call, by operation";
        self.register(&name("call_seconds"), seconds, metrics.seconds.clone());
        metrics
    }

    /// Adds figures that are read when the page is.
    pub fn collect(&self, collector: impl Collector) {
        self.registry.lock().register_collector(Box::new(collector));
    }

    pub(in crate::host) fn begin(&self) {
        self.running.inc();
    }

    pub(in crate::host) fn end(&self, operation: &'static str, status: u16, took: Duration) {
        self.running.dec();
        self.requests.get_or_create(&RequestLabels { operation, status }).inc();
        self.seconds.get_or_create(&OperationLabels { operation }).observe(took.as_secs_f64());
    }

    pub(in crate::host) fn connected(&self, by: i64) {
        self.connections.inc_by(by);
    }

    pub(in crate::host) fn panicked(&self) {
        self.panics.inc();
    }

    /// The text that a scraper reads, as OpenMetrics.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a string fails for no metric.
        let _ = text::encode(&mut out, &self.registry.lock());
        out
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}
