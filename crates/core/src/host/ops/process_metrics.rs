//! The figures of the process itself, read when the metrics page is.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;

/// Memory of this process, where the system says it (Linux).
#[derive(Debug)]
pub(super) struct ProcessMetrics;

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        for (field, name, help) in [
            ("VmRSS:", "process_resident_memory_bytes", "Memory of the process"),
            ("VmHWM:", "process_peak_memory_bytes", "The most that it ever had"),
        ] {
            if let Some(bytes) = bytes_of(&status, field) {
                let gauge = ConstGauge::new(bytes);
                let metric = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
                gauge.encode(metric)?;
            }
        }
        Ok(())
    }
}

/// A field of `/proc/self/status` that is given in KiB.
fn bytes_of(status: &str, field: &str) -> Option<i64> {
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let number: i64 = line.split_whitespace().next()?.parse().ok()?;
    Some(number * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_in_bytes_and_what_is_not_said_is_left_out() {
        let status = "Name:\tservice\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n";
        assert_eq!(bytes_of(status, "VmRSS:"), Some(1024 * 1024));
        assert_eq!(bytes_of("", "VmRSS:"), None);
    }
}
