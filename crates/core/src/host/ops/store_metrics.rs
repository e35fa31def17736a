//! The figures of the stores on disk, read when the metrics page is.

use std::fmt;
use std::sync::Weak;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::blobs::Directory;
use crate::kv::Sled;

/// Figures of a service's stores, as long as the service holds them.
pub(in crate::host) struct StoreMetrics {
    pub(in crate::host) kv: Weak<Sled>,
    pub(in crate::host) blobs: Weak<Directory>,
}

impl Collector for StoreMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(kv) = self.kv.upgrade().map(|kv| kv.stats()) else {
            return Ok(());
        };
        let counted = |count| ConstCounter::new(count);
        let measured = |bytes: u64| ConstGauge::new(i64::try_from(bytes).unwrap_or(i64::MAX));
        let (syncs, disk) = (counted(kv.syncs), measured(kv.disk_bytes));
        let last = ConstGauge::new(kv.last_sync.as_secs_f64());
        let mut write = |name, help, metric: &dyn Encoded| metric.write(&mut encoder, name, help);
        write("kv_syncs", "Groups of commits that reached the disk", &syncs)?;
        write("kv_last_sync_seconds", "How long the last one took", &last)?;
        write("kv_disk_bytes", "Bytes of the records on disk", &disk)?;
        // Bodies that are elsewhere have none of these figures; a directory that cannot be read now shows none, and the rest of the page stands.
        let Some(Ok(blobs)) = self.blobs.upgrade().map(|blobs| blobs.stats()) else {
            return Ok(());
        };
        write("blobs_packs", "Pack files of small bodies", &measured(blobs.packs))?;
        write("blobs_pack_bytes", "Their bytes on disk", &measured(blobs.pack_bytes))?;
        write(
            "blobs_pack_dead_bytes",
            "Those of them that belong to deleted bodies and wait for a compaction",
            &measured(blobs.dead_bytes),
        )?;
        write(
            "blobs_orphans_swept",
            "Bodies without a record that were deleted",
            &counted(blobs.orphans),
        )?;
        write("blobs_orphan_bytes_swept", "Their bytes", &counted(blobs.orphan_bytes))
    }
}

/// A figure of any kind under its name.
trait Encoded {
    fn write(&self, encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str) -> fmt::Result;
}

impl<M: EncodeMetric> Encoded for M {
    fn write(&self, encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str) -> fmt::Result {
        let metric = encoder.encode_descriptor(name, help, None, self.metric_type())?;
        self.encode(metric)
    }
}

impl fmt::Debug for StoreMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreMetrics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::blobs::{Blobs, sweep};
    use crate::disk::SystemDisk;
    use crate::host::Metrics;
    use crate::id::SeededIds;
    use crate::kv::SledConfig;
    use crate::time::Timestamp;

    #[test]
    fn the_metrics_page_shows_the_stores_as_long_as_they_are_open() {
        let folder = tempfile::tempdir().unwrap();
        let kv = Arc::new(Sled::open(&SledConfig::new(folder.path().join("kv"))).unwrap());
        let disk = Arc::new(SystemDisk);
        let blobs = folder.path().join("blobs");
        let blobs = Arc::new(Directory::open(blobs, disk, SeededIds::from_seed([1; 32])).unwrap());
        let metrics = Metrics::new();
        metrics.collect(StoreMetrics { kv: Arc::downgrade(&kv), blobs: Arc::downgrade(&blobs) });
        let made = Timestamp::from_millis(1_000);
        let mut writer = blobs.create(made, None);
        writer.write(b"orphan".as_slice().into()).wait().unwrap();
        writer.finish().wait().unwrap();
        sweep(&*blobs, Timestamp::from_millis(2_000), |_| false, &|| true).unwrap();
        let page = metrics.text();
        for line in [
            "kv_syncs_total 0",
            "kv_last_sync_seconds 0.0",
            "blobs_packs 1",
            "blobs_orphans_swept_total 1",
            "blobs_orphan_bytes_swept_total 6",
        ] {
            assert!(page.lines().any(|found| found == line), "{line}: {page}");
        }
        drop(kv);
        assert!(!metrics.text().contains("kv_syncs"));
    }
}
