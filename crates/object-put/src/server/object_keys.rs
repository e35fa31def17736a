//! The keys of objects: made and opened with the key service, and kept for a bounded time where a bucket key serves many.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::OnceCell;
use triptych_core::id::Ids;
use triptych_core::time::Clock;

use crate::body::encryption::Keyring;
use crate::body::object_key::{BodyKey, ObjectKey, SecretKey};
use crate::error::Error;
use crate::kms::bucket_key::KeyCache;
use crate::kms::context::EncryptionContext;
use crate::kms::key_manager::{GeneratedKey, KeyManager};
use crate::kms::key_name::KeyName;
use crate::operation::encryption::{EncryptionChoice, KmsChoice, NewObjectKey};
use crate::store::object_encryption::{
    KeyOpening, KmsSeal, ObjectEncryption, SealedKey, whole_context,
};

/// The purpose that a bucket key is made for: the key, who asks, and the whole context.
type SealingKey = (KeyName, String, EncryptionContext);
/// A call that is made once for all who wait for it.
type Shared<T> = Arc<OnceCell<T>>;

/// A bucket key that was opened.
struct OpenedKey {
    key: SecretKey,
    /// The name of the key that sealed it, whose state is asked for each time.
    sealed_by: KeyName,
}

/// The keys of objects.
pub(super) struct ObjectKeys {
    manager: Arc<dyn KeyManager>,
    roots: Keyring,
    clock: Arc<dyn Clock>,
    sealing: Mutex<KeyCache<SealingKey, Shared<GeneratedKey>>>,
    /// By all that a request says of one: objects of a bucket with one bucket key have the same.
    opening: Mutex<KeyCache<SealedKey, Shared<OpenedKey>>>,
    calls: AtomicU64,
}

impl ObjectKeys {
    /// The keys that `manager` gives; `roots` wrap those of second layers.
    pub(super) fn new(manager: Arc<dyn KeyManager>, roots: Keyring, clock: Arc<dyn Clock>) -> Self {
        Self {
            manager,
            roots,
            clock,
            sealing: Mutex::default(),
            opening: Mutex::default(),
            calls: AtomicU64::new(0),
        }
    }

    /// The number of data keys that the key service was asked for or to open, since the start.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Forgets the keys that are kept.
    pub(super) fn clear(&self) {
        self.sealing.lock().clear();
        self.opening.lock().clear();
    }

    /// The key of a new object, and what its record says of it. `bucket` and `key` are their names.
    ///
    /// # Errors
    /// Those of the key service.
    pub(super) async fn new_key(
        &self,
        choice: &EncryptionChoice,
        bucket: &str,
        key: &str,
        ids: &mut dyn Ids,
    ) -> Result<NewObjectKey, Error> {
        match choice {
            EncryptionChoice::ServiceManaged => Ok(NewObjectKey {
                encryption: ObjectEncryption::ServiceManaged,
                key: BodyKey::Service,
            }),
            EncryptionChoice::Customer(customer) => {
                let (key, seal) = customer.seal(ids);
                let encryption = ObjectEncryption::Customer(seal);
                Ok(NewObjectKey { encryption, key: BodyKey::Object(key) })
            }
            EncryptionChoice::KeyManagement(own) => {
                let context = whole_context(&own.context, bucket, (!own.bucket_key).then_some(key));
                let made = match own.bucket_key {
                    true => self.bucket_key(own, &context).await?,
                    false => self.generate(own, &context).await?,
                };
                let outer = own.dual.then(|| SecretKey::draw(ids));
                let mut seal = KmsSeal {
                    key: made.arn,
                    sealed: made.sealed,
                    context: own.context.clone(),
                    bucket_key: own.bucket_key,
                    outer: None,
                };
                if let Some(outer) = &outer {
                    seal.keep_outer_key(outer, &self.roots, &context, ids);
                }
                Ok(NewObjectKey {
                    encryption: ObjectEncryption::KeyManagement(Box::new(seal)),
                    key: BodyKey::Object(ObjectKey::new(made.key, outer)),
                })
            }
        }
    }

    /// The key that opens a body.
    ///
    /// # Errors
    /// Those of the key service; [`Error::Damaged`].
    pub(super) async fn open(&self, opening: &KeyOpening) -> Result<BodyKey, Error> {
        let own = match opening {
            KeyOpening::Known(key) => return Ok(key.clone()),
            KeyOpening::Sealed(own) => own,
        };
        let key = match own.seal.bucket_key {
            true => self.open_bucket_key(own).await?,
            false => self.decrypt(own).await?,
        };
        let outer = own.seal.outer_key(&self.roots, &own.context);
        let outer = outer.map_err(|_| Error::Damaged)?;
        Ok(BodyKey::Object(ObjectKey::new(key, outer)))
    }

    async fn generate(
        &self,
        own: &KmsChoice,
        context: &EncryptionContext,
    ) -> Result<GeneratedKey, Error> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.manager.generate_data_key(&own.key, context, &own.account).await
    }

    async fn decrypt(&self, own: &SealedKey) -> Result<SecretKey, Error> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let SealedKey { seal, context, account } = own;
        self.manager.decrypt(&seal.key, &seal.sealed, context, account).await
    }

    /// The key that serves many objects of a bucket: it is made once for a while, also where many ask for it at once.
    async fn bucket_key(
        &self,
        own: &KmsChoice,
        context: &EncryptionContext,
    ) -> Result<GeneratedKey, Error> {
        let key = (own.key.clone(), own.account.clone(), context.clone());
        let cell = self.shared(&self.sealing, &key);
        let is_new = cell.get().is_none();
        let made = cell.get_or_try_init(|| self.generate(own, context)).await?.clone();
        if !is_new && !self.manager.is_remote() {
            let arn = self.manager.describe(&own.key, &own.account).await?;
            // An alias that points to another key by now.
            if arn != made.arn {
                self.sealing.lock().remove(&key);
                return self.generate(own, context).await;
            }
        }
        Ok(made)
    }

    async fn open_bucket_key(&self, own: &SealedKey) -> Result<SecretKey, Error> {
        let cell = self.shared(&self.opening, own);
        let is_new = cell.get().is_none();
        let open = || async {
            let sealed_by = KeyName::Arn(own.seal.key.clone());
            Ok::<_, Error>(OpenedKey { key: self.decrypt(own).await?, sealed_by })
        };
        let opened = cell.get_or_try_init(open).await?;
        if !is_new && !self.manager.is_remote() {
            self.manager.describe(&opened.sealed_by, &own.account).await?;
        }
        Ok(opened.key.clone())
    }

    /// The call under `key` that is under way or done, or a new one.
    fn shared<K: Eq + std::hash::Hash + Clone, T>(
        &self,
        cache: &Mutex<KeyCache<K, Shared<T>>>,
        key: &K,
    ) -> Shared<T> {
        let now = self.clock.now();
        let mut cache = cache.lock();
        cache.get(key, now).unwrap_or_else(|| {
            let cell = Shared::default();
            cache.insert(key.clone(), Arc::clone(&cell), now);
            cell
        })
    }
}
