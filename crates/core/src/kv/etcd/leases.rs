//! The leases with which ids of batches end: etcd forgets an id by itself, an hour after its batch.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use super::failure::Failure;
use super::lane::Lane;

/// Time for which an id is kept: longer than anybody asks for it.
const KEPT: Duration = Duration::from_secs(60 * 60);
/// Time for which a lease is given to new ids. All ids of a lease end together, so this bounds how many the cluster forgets at once.
const USED: Duration = Duration::from_secs(10);

/// The lease of the ids that are written now.
#[derive(Default)]
pub(super) struct Leases(Mutex<Option<(i64, Instant)>>);

impl Leases {
    /// A lease that lasts long enough, granted on this connection where there is none yet.
    ///
    /// # Errors
    /// As [`Lane::grant`].
    pub(super) async fn current(&self, lane: &Lane) -> Result<i64, Failure> {
        let mut current = self.0.lock().await;
        if let Some((lease, granted)) = *current
            && granted.elapsed() < USED
        {
            return Ok(lease);
        }
        let granted = Instant::now();
        let lease = lane.grant(KEPT + USED).await?;
        *current = Some((lease, granted));
        Ok(lease)
    }

    /// Gives this lease to no id any more.
    pub(super) async fn give_up(&self, lease: i64) {
        let mut current = self.0.lock().await;
        if current.is_some_and(|(id, _)| id == lease) {
            *current = None;
        }
    }
}
