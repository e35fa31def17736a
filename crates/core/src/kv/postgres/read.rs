//! Reads: those of rows by their keys go together with others that wait.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::connection::{Lane, Role};
use super::failure::Failure;
use super::group_read::{Asked, Few, Rows};
use super::pool::Pool;
use crate::kv::Found;

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
        group.ask::<Few, _>(asked, send).await.ok_or_else(Failure::of_stopped_sender)?
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
