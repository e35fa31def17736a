//! A clock that all instances of a store show: one sets it in the store, the others follow.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;

use crate::id::{Ids as _, SystemIds};
use crate::kv::{BEAT_EVERY, Batch, CLOCK, SharedKeyValue, StoreError};
use crate::time::SystemClock;

/// Time between two looks at what the store says.
const LOOK_EVERY: Duration = BEAT_EVERY;

/// Puts the offset of this instance's clock into the store, or takes it out where it is none.
///
/// # Errors
/// As [`KeyValue::commit`](crate::kv::KeyValue::commit).
pub(in crate::host) async fn share(
    store: &dyn SharedKeyValue,
    clock: &SystemClock,
) -> Result<(), StoreError> {
    let offset = Some(clock.offset_millis()).filter(|offset| *offset != 0);
    let value = offset.map(|offset| Bytes::copy_from_slice(&offset.to_be_bytes()));
    let mut batch = Batch { writes: vec![(Bytes::from_static(CLOCK), value)], ..Batch::default() };
    SystemIds.fill(&mut batch.id);
    store.commit(batch).await.map(drop)
}

/// Makes a clock follow what the store says, from now until the last handle of the clock is gone. A clock that was moved at this instance
/// alone stays so until the store says something else. Call it within a tokio runtime.
///
/// # Errors
/// As [`KeyValue::get`](crate::kv::KeyValue::get): the first look is made at once.
pub(super) fn follow(
    store: &Arc<dyn SharedKeyValue>,
    clock: &Arc<SystemClock>,
) -> Result<(), StoreError> {
    let (mut seen, (store, clock)) = (None, (Arc::clone(store), Arc::downgrade(clock)));
    look(&*store, &clock, &mut seen)?;
    tokio::spawn(async move {
        while clock.strong_count() > 0 {
            tokio::time::sleep(LOOK_EVERY).await;
            if let Err(error) = look(&*store, &clock, &mut seen) {
                tracing::warn!(%error, "it is not known whether the shared clock was moved");
            }
        }
    });
    Ok(())
}

/// Moves a clock to the offset in the store, where that is not the one that was `seen` last.
fn look(
    store: &dyn SharedKeyValue,
    clock: &Weak<SystemClock>,
    seen: &mut Option<i64>,
) -> Result<(), StoreError> {
    let found = store.get(CLOCK)?.value;
    let offset = found.and_then(|value| Some(i64::from_be_bytes(value[..].try_into().ok()?)));
    let offset = offset.unwrap_or_default();
    if let Some(clock) = clock.upgrade()
        && seen.replace(offset).unwrap_or_default() != offset
    {
        match offset {
            0 => clock.reset(),
            offset => clock.advance_millis(offset.saturating_sub(clock.offset_millis())),
        }
    }
    Ok(())
}
