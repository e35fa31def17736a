//! The embedded key service: its keys stand in the store of this service.

use std::sync::Arc;

use triptych_core::id::SharedIds;
use triptych_core::kv::{KeyValue, Tx, run};
use triptych_core::time::Clock;

use crate::body::encryption::Keyring;
use crate::body::object_key::SecretKey;
use crate::kms::context::EncryptionContext;
use crate::kms::key_manager::{GeneratedKey, KeyFuture, KeyIdentity, KeyManager, KeyServiceKind};
use crate::kms::key_name::{KeyArn, KeyName};
use crate::kms::key_store::KeyStore;

/// Attempts of a transaction while others win.
const ATTEMPTS_MAX: u32 = 64;

/// The embedded key service.
pub(super) struct EmbeddedKeys {
    pub(super) store: Arc<dyn KeyValue>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) ids: SharedIds,
    pub(super) roots: Keyring,
    pub(super) region: String,
}

impl EmbeddedKeys {
    /// The keys as they are now.
    pub(super) fn now(&self) -> KeyStore<'_> {
        KeyStore { roots: &self.roots, region: &self.region, now: self.clock.now() }
    }
}

impl KeyManager for EmbeddedKeys {
    fn describe<'a>(&'a self, name: &'a KeyName, account: &'a str) -> KeyFuture<'a, KeyIdentity> {
        let mut tx = Tx::new(&*self.store);
        let found = self.now().usable(&mut tx, name, account, "DescribeKey");
        Box::pin(std::future::ready(found.map(|key| key.identity())))
    }

    fn generate_data_key<'a>(
        &'a self,
        name: &'a KeyName,
        context: &'a EncryptionContext,
        account: &'a str,
    ) -> KeyFuture<'a, GeneratedKey> {
        Box::pin(async move {
            let mut ids = self.ids.clone();
            // A look, as of any use of a key; the one that the provider manages may still have to be made.
            let found = self.now().for_data_key(&mut Tx::new(&*self.store), name, account)?;
            let key = match found {
                Some(key) => key,
                None => {
                    run(&*self.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
                        self.now().managed(tx, account, ids)
                    })
                    .await?
                }
            };
            self.now().generate_data_key(&key, context, &mut ids)
        })
    }

    fn decrypt<'a>(
        &'a self,
        key: &'a KeyArn,
        sealed: &'a [u8],
        context: &'a EncryptionContext,
        account: &'a str,
    ) -> KeyFuture<'a, SecretKey> {
        let (now, mut tx) = (self.now(), Tx::new(&*self.store));
        let found = now.usable(&mut tx, &KeyName::Arn(key.clone()), account, "Decrypt");
        let opened = found.and_then(|key| now.decrypt(&key, sealed, context));
        Box::pin(std::future::ready(opened))
    }

    fn kind(&self) -> KeyServiceKind {
        KeyServiceKind::Embedded
    }
}
