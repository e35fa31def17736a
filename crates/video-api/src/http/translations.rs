//! Turns of translations: a track is in memory for as long as its translator takes, so that not all that are asked for may go on at once.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, timeout_at};
use triptych_core::kv::StoreError;

use crate::api::error::Error;

/// Time that a translation has, with the wait for its turn.
pub(super) const TIME: Duration = Duration::from_secs(120);
/// Bytes of the files that are translated at once; a larger one goes alone.
const BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Bytes that a file counts at the least: each has a connection to the translator.
const FILE_BYTES_MIN: u64 = 512 * 1024;
/// Bytes of one permit.
const PERMIT_BYTES: u64 = 1024;

/// The translations that go on.
pub(super) struct Translations {
    permits: Semaphore,
    time: Duration,
}

/// The number of permits that so many bytes are.
fn permits(bytes: u64) -> u32 {
    let permits = bytes.clamp(FILE_BYTES_MIN, BYTES_MAX) / PERMIT_BYTES;
    u32::try_from(permits).unwrap_or(u32::MAX)
}

impl Translations {
    /// None yet; each will have this time.
    pub(super) fn new(time: Duration) -> Self {
        Self { permits: Semaphore::new(permits(BYTES_MAX) as usize), time }
    }

    /// The end of a translation that begins now.
    pub(super) fn end(&self) -> Instant {
        Instant::now() + self.time
    }

    /// The turn of a file of so many bytes, which ends when it is dropped.
    ///
    /// # Errors
    /// [`Error::Backend`] if it did not come until `end`.
    pub(super) async fn turn(
        &self,
        bytes: u64,
        end: Instant,
    ) -> Result<SemaphorePermit<'_>, Error> {
        let turn = timeout_at(end, self.permits.acquire_many(permits(bytes))).await;
        turn.ok().and_then(Result::ok).ok_or_else(|| {
            Error::Backend(StoreError::Unavailable("too many captions are being translated".into()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn files_wait_for_their_turns_by_their_size_and_not_for_ever() {
        let translations = Translations::new(Duration::ZERO);
        let end = translations.end();
        let large = translations.turn(u64::MAX, end).await.unwrap();
        let refused = translations.turn(1, end).await.unwrap_err();
        assert_eq!(refused.detail().row.status, 503);
        drop(large);
        let most = BYTES_MAX / FILE_BYTES_MIN;
        let mut small = Vec::new();
        for _ in 0..most {
            small.push(translations.turn(1, end).await.unwrap());
        }
        assert!(translations.turn(1, end).await.is_err());
        small.pop();
        assert!(translations.turn(FILE_BYTES_MIN + PERMIT_BYTES, end).await.is_err());
        assert!(translations.turn(FILE_BYTES_MIN, end).await.is_ok());
    }
}
