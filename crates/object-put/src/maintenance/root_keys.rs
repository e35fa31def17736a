//! The root keys that the bodies of a store need, by their ids: a store remembers them, so that it is not opened without one of them.

use std::collections::BTreeSet;

use triptych_core::kv::{KeyValue, StoreError, Tx};

use crate::body::encryption::Keyring;
use crate::maintenance::garbage::for_each_row;
use crate::store::part_list::{Part, Parts};
use crate::store::tables::{CURRENT, NONCURRENT, PARTS, ROOT_KEYS};
use crate::store::version::ObjectVersion;

/// The most root keys that a store remembers.
const ROOT_KEYS_MAX: usize = 10_000;

/// Remembers that bodies are sealed with the current key of `keyring` from now on.
///
/// # Errors
/// As reads of the store.
pub fn remember(tx: &mut Tx<'_>, keyring: &Keyring) -> Result<(), StoreError> {
    let id = keyring.current_id().to_owned();
    if ROOT_KEYS.peek(tx, &id)?.is_none() {
        ROOT_KEYS.put(tx, &id, &());
    }
    Ok(())
}

/// The ids of the root keys that bodies need. A store of an older release remembers none: its records are read.
///
/// # Errors
/// As reads of the store.
pub fn needed(store: &dyn KeyValue) -> Result<BTreeSet<String>, StoreError> {
    let remembered = ROOT_KEYS.all(&mut Tx::new(store), &(), ROOT_KEYS_MAX)?;
    if !remembered.is_empty() {
        return Ok(remembered.into_iter().map(|(id, ())| id).collect());
    }
    let mut named = BTreeSet::new();
    let mut note = |part: &Part| {
        // A part with the key of a customer or a key service names none.
        if !part.wrapped_key.root_id.is_empty() && !named.contains(&part.wrapped_key.root_id) {
            named.insert(part.wrapped_key.root_id.clone());
        }
    };
    let mut of_version = |version: &ObjectVersion| {
        if let Some(Parts::One(part)) = version.data.as_deref().map(|data| &data.parts) {
            note(part);
        }
    };
    for_each_row(store, CURRENT.span(&()), |key, value| {
        of_version(&CURRENT.decode(key, &value)?);
        Ok(())
    })?;
    for_each_row(store, NONCURRENT.span(&()), |key, value| {
        of_version(&NONCURRENT.decode(key, &value)?);
        Ok(())
    })?;
    for_each_row(store, PARTS.span(&()), |key, value| {
        PARTS.decode(key, &value)?.0.iter().for_each(|listed| note(&listed.part));
        Ok(())
    })?;
    Ok(named)
}
