//! The keys of objects: made and opened with the key service, and kept for a bounded time where a bucket key serves many.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;
use triptych_core::id::Ids;
use triptych_core::time::Clock;

use crate::body::encryption::Keyring;
use crate::body::object_key::{BodyKey, ObjectKey, SecretKey};
use crate::error::Error;
use crate::kms::bucket_key::KeyCache;
use crate::kms::context::EncryptionContext;
use crate::kms::key_manager::{GeneratedKey, KeyManager, KeyServiceKind};
use crate::kms::key_name::KeyName;
use crate::operation::encryption::{EncryptionChoice, KmsChoice, NewObjectKey};
use crate::store::object_encryption::{
    KeyOpening, KmsSeal, ObjectEncryption, SealedKey, whole_context,
};

/// The purpose that a bucket key is made for: the key, who asks, and the whole context.
type SealingKey = (KeyName, String, EncryptionContext);
/// The outcome of a call that is made once for all who wait for it, as soon as there is one.
type Shared<T> = watch::Receiver<Option<Result<T, Error>>>;

/// A bucket key that was opened.
#[derive(Debug, Clone)]
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
                    key: made.by.arn,
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

    /// Counts a call, and gives who answers it.
    fn asked(&self) -> Arc<dyn KeyManager> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Arc::clone(&self.manager)
    }

    async fn generate(
        &self,
        own: &KmsChoice,
        context: &EncryptionContext,
    ) -> Result<GeneratedKey, Error> {
        self.asked().generate_data_key(&own.key, context, &own.account).await
    }

    async fn decrypt(&self, own: &SealedKey) -> Result<SecretKey, Error> {
        decrypt(&*self.asked(), own).await
    }

    /// The key that serves many objects of a bucket: it is made once for a while, also where many ask for it at once.
    async fn bucket_key(
        &self,
        own: &KmsChoice,
        context: &EncryptionContext,
    ) -> Result<GeneratedKey, Error> {
        let key = (own.key.clone(), own.account.clone(), context.clone());
        let call = || {
            let (manager, (name, account, context)) = (self.asked(), key.clone());
            async move { manager.generate_data_key(&name, &context, &account).await }
        };
        let (made, is_new) = self.once(&self.sealing, &key, call).await?;
        if !is_new && self.manager.kind() == KeyServiceKind::Embedded {
            let now = self.manager.describe(&own.key, &own.account).await?;
            // An alias that points to another key by now, or a key that was made anew under its id.
            if now != made.by {
                self.sealing.lock().remove(&key);
                return self.generate(own, context).await;
            }
        }
        Ok(made)
    }

    async fn open_bucket_key(&self, own: &SealedKey) -> Result<SecretKey, Error> {
        let call = || {
            let (manager, own) = (self.asked(), own.clone());
            async move {
                let sealed_by = KeyName::Arn(own.seal.key.clone());
                Ok(OpenedKey { key: decrypt(&*manager, &own).await?, sealed_by })
            }
        };
        let (opened, is_new) = self.once(&self.opening, own, call).await?;
        if !is_new && self.manager.kind() == KeyServiceKind::Embedded {
            self.manager.describe(&opened.sealed_by, &own.account).await?;
        }
        Ok(opened.key)
    }

    /// The outcome of the call under `key`, which is made unless it is under way or done, and whether it was still to come. All who wait for it
    /// have its outcome, also where whoever was first has left; a failure is told to nobody who comes later.
    async fn once<K, T, F>(
        &self,
        cache: &Mutex<KeyCache<K, Shared<T>>>,
        key: &K,
        call: impl FnOnce() -> F,
    ) -> Result<(T, bool), Error>
    where
        K: Eq + Hash + Clone,
        T: Clone + Send + Sync + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
    {
        let now = self.clock.now();
        let mut shared = {
            let mut cache = cache.lock();
            cache.get(key, now).filter(is_worth_waiting_for).unwrap_or_else(|| {
                let (done, shared) = watch::channel(None);
                cache.insert(key.clone(), shared.clone(), now);
                let call = call();
                tokio::spawn(async move { done.send_replace(Some(call.await)) });
                shared
            })
        };
        let is_new = shared.borrow().is_none();
        let outcome = shared.wait_for(Option::is_some).await;
        let outcome = outcome.ok().and_then(|outcome| outcome.clone());
        outcome.unwrap_or(Err(Error::Internal)).map(|made| (made, is_new))
    }
}

/// Tells whether a call succeeded, or is under way.
fn is_worth_waiting_for<T>(call: &Shared<T>) -> bool {
    match &*call.borrow() {
        Some(outcome) => outcome.is_ok(),
        None => call.has_changed().is_ok(),
    }
}

async fn decrypt(manager: &dyn KeyManager, own: &SealedKey) -> Result<SecretKey, Error> {
    let SealedKey { seal, context, account } = own;
    manager.decrypt(&seal.key, &seal.sealed, context, account).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kms::key_manager::{KeyFuture, KeyIdentity};
    use crate::kms::key_name::KeyArn;
    use std::future::pending;
    use tokio::sync::Semaphore;
    use tokio::task::JoinSet;
    use triptych_core::id::SeededIds;
    use triptych_core::time::ManualClock;

    const WAITERS: usize = 8;

    /// A key service that answers a call when it may, and fails the first.
    struct Service {
        may_answer: Semaphore,
        asked: AtomicU64,
    }

    impl Service {
        async fn answer<T>(&self, made: T) -> Result<T, Error> {
            let number = self.asked.fetch_add(1, Ordering::Relaxed);
            self.may_answer.acquire().await.unwrap().forget();
            let reason = "it does not answer in time";
            if number == 0 { Err(Error::KeyServiceFailed { reason }) } else { Ok(made) }
        }
    }

    fn arn() -> KeyArn {
        KeyArn::parse("arn:aws:kms:us-east-1:111122223333:key/k").unwrap()
    }

    fn secret() -> SecretKey {
        SecretKey::draw(&mut SeededIds::from_number(1))
    }

    impl KeyManager for Service {
        fn describe<'a>(&'a self, _: &'a KeyName, _: &'a str) -> KeyFuture<'a, KeyIdentity> {
            Box::pin(pending())
        }

        fn generate_data_key<'a>(
            &'a self,
            _: &'a KeyName,
            _: &'a EncryptionContext,
            _: &'a str,
        ) -> KeyFuture<'a, GeneratedKey> {
            let by = KeyIdentity { arn: arn(), origin: None };
            Box::pin(self.answer(GeneratedKey { by, key: secret(), sealed: vec![1] }))
        }

        fn decrypt<'a>(
            &'a self,
            _: &'a KeyArn,
            _: &'a [u8],
            _: &'a EncryptionContext,
            _: &'a str,
        ) -> KeyFuture<'a, SecretKey> {
            Box::pin(self.answer(secret()))
        }

        fn kind(&self) -> KeyServiceKind {
            KeyServiceKind::Remote
        }
    }

    fn keys() -> (Arc<Service>, Arc<ObjectKeys>) {
        let service =
            Arc::new(Service { may_answer: Semaphore::new(0), asked: AtomicU64::default() });
        let clock = Arc::new(ManualClock::default());
        let keys = ObjectKeys::new(service.clone(), Keyring::new(&[1; 32]), clock);
        (service, Arc::new(keys))
    }

    fn choice() -> EncryptionChoice {
        EncryptionChoice::KeyManagement(KmsChoice {
            key: KeyName::Arn(arn()),
            account: "111122223333".to_owned(),
            context: EncryptionContext::default(),
            bucket_key: true,
            dual: false,
        })
    }

    async fn make(keys: &ObjectKeys) -> Result<(), Error> {
        keys.new_key(&choice(), "b", "k", &mut SeededIds::from_number(2)).await.map(drop)
    }

    async fn open(keys: &ObjectKeys) -> Result<(), Error> {
        let seal = KmsSeal {
            key: arn(),
            sealed: vec![1],
            context: EncryptionContext::default(),
            bucket_key: true,
            outer: None,
        };
        let context = seal.whole_context("b", "k");
        let account = "111122223333".to_owned();
        let sealed = KeyOpening::Sealed(Box::new(SealedKey { seal, context, account }));
        keys.open(&sealed).await.map(drop)
    }

    #[tokio::test]
    async fn a_call_for_a_bucket_key_is_made_once_for_all_who_wait_and_so_is_its_failure() {
        for opens in [false, true] {
            let (service, keys) = keys();
            let ask = || {
                let keys = Arc::clone(&keys);
                async move { if opens { open(&keys).await } else { make(&keys).await } }
            };
            let waiting: JoinSet<_> = (0..WAITERS).map(|_| ask()).collect();
            while service.asked.load(Ordering::Relaxed) == 0 {
                tokio::task::yield_now().await;
            }
            service.may_answer.add_permits(WAITERS);
            let outcomes = waiting.join_all().await;
            assert!(outcomes.iter().all(Result::is_err), "{outcomes:?}");
            assert_eq!(service.asked.load(Ordering::Relaxed), 1, "opens: {opens}");
            assert_eq!((ask().await, ask().await), (Ok(()), Ok(())), "a failure is not kept");
            assert_eq!((service.asked.load(Ordering::Relaxed), keys.calls()), (2, 2));
        }
    }

    #[tokio::test]
    async fn a_call_goes_on_for_who_waits_when_whoever_was_first_leaves() {
        let (service, keys) = keys();
        let first = tokio::spawn({
            let keys = Arc::clone(&keys);
            async move { make(&keys).await }
        });
        while service.asked.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        first.abort();
        assert!(first.await.is_err());
        let (outcome, ()) = tokio::join!(make(&keys), async { service.may_answer.add_permits(1) });
        assert!(outcome.is_err(), "that of the call that was under way");
        assert_eq!(service.asked.load(Ordering::Relaxed), 1);
    }
}
