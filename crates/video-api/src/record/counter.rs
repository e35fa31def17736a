//! Counters that are rows: changed in the transaction that changes what they count, so that they are right after any sequence.

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Key, Table, Tx};

use crate::api::error::Error;

/// A count of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Count(pub u64);

impl JsonRecord for Count {}

/// One more, or one less.
///
/// # Errors
/// As the store.
pub fn change<K: Key>(
    tx: &mut Tx<'_>,
    table: &Table<K, Count>,
    key: &K,
    more: bool,
) -> Result<(), Error> {
    let Count(count) = table.get(tx, key)?.unwrap_or_default();
    table.put(
        tx,
        key,
        &Count(if more { count.saturating_add(1) } else { count.saturating_sub(1) }),
    );
    Ok(())
}

/// Reads the count, for showing.
///
/// # Errors
/// As the store.
pub fn of<K: Key>(tx: &mut Tx<'_>, table: &Table<K, Count>, key: &K) -> Result<u64, Error> {
    Ok(table.peek(tx, key)?.unwrap_or_default().0)
}
