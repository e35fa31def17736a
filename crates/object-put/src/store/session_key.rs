//! The key that tokens of sessions are sealed with: one of the store, wrapped by a root key, so that sessions outlive a restart and are opened
//! by whoever has the store and its root keys.

use triptych_core::id::Ids;
use triptych_core::kv::{Plan, StoreError, Tx};

use crate::auth::session_token::SessionKey;
use crate::body::encryption::{Keyring, WrappedKey};
use crate::body::object_key::SecretKey;
use crate::store::tables::SESSION_KEYS;

/// The context that the key is wrapped for.
const CONTEXT: &[u8] = b"key of session tokens";
/// The name of the key that is used now.
const CURRENT: &str = "current";

/// Makes the key where there is none, or none that `keyring` opens: sessions of one that is lost end.
///
/// # Errors
/// As reads of the store.
pub fn ensure(tx: &mut Tx<'_>, keyring: &Keyring, ids: &mut dyn Ids) -> Result<(), StoreError> {
    if load(tx, keyring)?.is_none() {
        let key = SecretKey::draw(ids);
        let wrapped = keyring.wrap(key.reveal(), CONTEXT, ids);
        let stored = serde_json::to_vec(&wrapped).unwrap_or_default();
        SESSION_KEYS.put(tx, &CURRENT.to_owned(), &stored.into());
    }
    Ok(())
}

/// Plans the row of the key.
pub fn plan(plan: &mut Plan<'_>) {
    plan.row(&SESSION_KEYS, &CURRENT.to_owned());
}

/// The key of the store; `None` where there is none that `keyring` opens.
///
/// # Errors
/// As reads of the store.
pub fn load(tx: &mut Tx<'_>, keyring: &Keyring) -> Result<Option<SessionKey>, StoreError> {
    let stored = SESSION_KEYS.peek(tx, &CURRENT.to_owned())?;
    let wrapped = stored.and_then(|stored| serde_json::from_slice::<WrappedKey>(&stored).ok());
    let opened = wrapped.and_then(|wrapped| keyring.unwrap(&wrapped, CONTEXT).ok());
    Ok(opened.map(|key| SessionKey::new(SecretKey::new(key))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::{Memory, run_blocking};

    #[test]
    fn the_key_is_made_once_and_anew_where_its_root_key_is_lost() {
        let store = Memory::new();
        let made = |root: u8, number: u64| {
            let ring = Keyring::new(&[root; 32]);
            let mut ids = SeededIds::from_number(number);
            run_blocking(&store, &mut ids, 3, |tx, ids| ensure(tx, &ring, ids)).unwrap();
            load(&mut Tx::new(&store), &ring).unwrap().unwrap()
        };
        let first = made(1, 1);
        assert_eq!(made(1, 2), first);
        let other = made(2, 3);
        assert_ne!(other, first);
        assert_eq!(made(2, 4), other);
    }
}
