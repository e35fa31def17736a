//! Reads of rows by their keys that go in one statement: those of requests that are answered at the same time.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;

use super::connection::{Lane, Role};
use super::failure::Failure;
use super::pool::Pool;
use crate::kv::shared::Companions;
use crate::kv::{BATCH_OPERATIONS_MAX, Found};

/// Keys that are asked for.
pub(super) type Asked = Arc<[Bytes]>;
/// The rows that a statement found, among them those that others asked for.
pub(super) type Rows = Result<Arc<HashMap<Bytes, Found>>, Failure>;

/// Keys that go together: no more than one may ask for alone.
#[derive(Debug, Default)]
pub(super) struct Few {
    keys: usize,
}

impl Companions<Asked> for Few {
    fn take(&mut self, asked: &Asked) -> bool {
        let keys = self.keys + asked.len();
        if self.keys > 0 && keys > BATCH_OPERATIONS_MAX {
            return false;
        }
        self.keys = keys;
        true
    }
}

impl Pool {
    /// A connection for a read, which is counted.
    pub(super) async fn reader(&self) -> Result<Arc<Lane>, Failure> {
        let lane = self.lane(Role::Reader).await?;
        self.link.count_round_trip();
        Ok(lane)
    }

    /// The rows of keys, read with those that others ask for meanwhile.
    pub(super) async fn read_keys(&self, asked: Asked) -> Rows {
        let Some(group) = &self.reads else {
            return self.read_rows(&[asked]).await;
        };
        let send = |asked| self.read_together(asked);
        let stopped = || Failure::Lost("who sent it was stopped".to_owned());
        group.ask::<Few, _>(asked, send).await.ok_or_else(stopped)?
    }

    /// The rows of several who ask, of one moment.
    async fn read_together(&self, asked: Vec<Asked>) -> Vec<Rows> {
        let found = self.read_rows(&asked).await;
        vec![found; asked.len()]
    }

    async fn read_rows(&self, asked: &[Asked]) -> Rows {
        let lane = self.reader().await?;
        let keys: BTreeSet<&[u8]> =
            asked.iter().flat_map(|keys| keys.iter()).map(AsRef::as_ref).collect();
        let rows = lane.get(&keys.into_iter().collect::<Vec<_>>()).await?;
        let found = rows
            .into_iter()
            .map(|row| (row.key, Found { value: Some(row.value), seen: row.version }));
        Ok(Arc::new(found.collect()))
    }
}
