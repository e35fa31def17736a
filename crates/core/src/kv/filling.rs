//! The mark of a store that an import fills while others could use it: no instance starts on it until the import is whole.

use bytes::Bytes;

use super::claim::{FILLING, Guard};
use super::{Batch, KeyValue, Span, StoreError, rows_of_service};
use crate::id::Ids;

/// Returns whether a store is being filled, or that was interrupted.
///
/// # Errors
/// As [`KeyValue::get`].
pub fn is_filling(store: &dyn KeyValue) -> Result<bool, StoreError> {
    Ok(store.get(FILLING)?.value.is_some())
}

/// Returns whether a store has no row of a service.
///
/// # Errors
/// As [`KeyValue::scan`].
pub fn is_empty(store: &dyn KeyValue) -> Result<bool, StoreError> {
    Ok(store.scan(&rows_of_service(Span::default()), 1)?.rows.is_empty())
}

/// Marks a store as being filled. Whoever filled it until now writes nothing more under the guard that it was given.
///
/// # Errors
/// As [`KeyValue::get`] and [`KeyValue::commit`].
pub fn begin_filling(store: &dyn KeyValue, ids: &mut dyn Ids) -> Result<Guard, StoreError> {
    let key = Bytes::from_static(FILLING);
    let found = store.get(&key)?;
    let mark = Bytes::copy_from_slice(&ids.next().to_be_bytes());
    let mut batch = Batch {
        expectations: vec![(key.clone(), found.version())],
        writes: vec![(key.clone(), Some(mark))],
        ..Batch::default()
    };
    ids.fill(&mut batch.id);
    let version = store.commit(batch).wait()?;
    Ok(Guard { key, version, epoch: 0 })
}

/// Takes the mark away: the store is whole, or empty again.
///
/// # Errors
/// As [`KeyValue::commit`].
pub fn end_filling(store: &dyn KeyValue, ids: &mut dyn Ids) -> Result<(), StoreError> {
    let mut batch = Batch { writes: vec![(Bytes::from_static(FILLING), None)], ..Batch::default() };
    ids.fill(&mut batch.id);
    store.commit(batch).wait().map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::id::SeededIds;
    use crate::kv::{Guarded, Memory};

    #[test]
    fn who_filled_a_store_before_writes_nothing_more() {
        let (store, mut ids) = (Arc::new(Memory::new()), SeededIds::from_number(1));
        let row = || {
            let writes = vec![(Bytes::from_static(b"row"), Some(Bytes::from_static(b"value")))];
            Batch { writes, ..Batch::default() }
        };
        let first = Guarded::new(store.clone(), begin_filling(&*store, &mut ids).unwrap());
        assert!(is_filling(&*store).unwrap());
        let second = Guarded::new(store.clone(), begin_filling(&*store, &mut ids).unwrap());
        assert!(matches!(first.commit(row()).wait(), Err(StoreError::Conflict)));
        assert!(is_empty(&*store).unwrap(), "a mark is no row of a service");
        second.commit(row()).wait().unwrap();
        assert!(!is_empty(&*store).unwrap());
        end_filling(&second, &mut ids).unwrap();
        assert!(!is_filling(&*store).unwrap());
        assert!(matches!(second.commit(row()).wait(), Err(StoreError::Conflict)));
    }
}
