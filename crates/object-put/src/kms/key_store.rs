//! The embedded key service: keys that stand in the store, wrapped by root keys, and the data keys that they give.

use std::sync::Arc;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::body::encryption::{Keyring, WrappedKey};
use crate::body::object_key::SecretKey;
use crate::error::{Error, KmsFault};
use crate::kms::context::EncryptionContext;
use crate::kms::key::{KeyId, KeyState, KeyUsage, KmsKey};
use crate::kms::key_manager::GeneratedKey;
use crate::kms::key_name::{KeyArn, KeyName, is_uuid};
use crate::request::dialect::Dialect;
use crate::store::tables::{KMS_ALIASES, KMS_KEYS};

/// Bytes of the number of a generation before what it sealed.
const GENERATION_BYTES: usize = 2;

/// The embedded key service at one moment.
#[derive(Debug, Clone, Copy)]
pub struct KeyStore<'a> {
    /// The root keys that wrap its keys.
    pub roots: &'a Keyring,
    /// The region that its keys are in.
    pub region: &'a str,
    /// The time.
    pub now: Timestamp,
}

fn not_found(reason: String) -> Error {
    Error::kms(KmsFault::NotFound, reason)
}

impl<'a> KeyStore<'a> {
    /// One that only opens what its keys sealed.
    #[must_use]
    pub const fn opener(roots: &'a Keyring) -> Self {
        Self { roots, region: "", now: Timestamp::EPOCH }
    }
}

impl KeyStore<'_> {
    /// The key that a name means to `account`, in whichever state it is.
    ///
    /// # Errors
    /// [`KmsFault::NotFound`]; [`Error::AccessDenied`] for a key of another account that does not let this one use it.
    pub fn find(
        &self,
        tx: &mut Tx<'_>,
        name: &KeyName,
        account: &str,
    ) -> Result<Arc<KmsKey>, Error> {
        let owner = name.account().unwrap_or(account);
        let region = match name {
            KeyName::Arn(arn) => &arn.region,
            KeyName::AliasArn(region, ..) => region,
            _ => self.region,
        };
        if region != self.region {
            return Err(not_found(format!("Invalid arn {region}")));
        }
        let prefix = Dialect::Store.names().kms_arn_prefix;
        let missing_alias = || match name {
            KeyName::Alias(alias) | KeyName::AliasArn(_, _, alias) => {
                not_found(format!("Alias {prefix}{region}:{owner}:{alias} is not found."))
            }
            _ => not_found(format!("Alias {} is not found.", managed_alias(owner).1)),
        };
        let id = match name {
            KeyName::Id(id) => id.clone(),
            KeyName::Arn(arn) => arn.id.clone(),
            KeyName::Alias(alias) | KeyName::AliasArn(_, _, alias) => {
                let place = (owner.to_owned(), alias.clone());
                KMS_ALIASES.get(tx, &place)?.ok_or_else(missing_alias)?.0
            }
            KeyName::Managed(_) => {
                KMS_ALIASES.get(tx, &managed_alias(owner))?.ok_or_else(missing_alias)?.0
            }
        };
        let found = KMS_KEYS.get_shared(tx, &id)?;
        let key = found.filter(|key| key.arn.account == owner && !self.is_gone(key));
        let key = key.ok_or_else(|| match name {
            // An alias goes with its key.
            KeyName::Alias(_) | KeyName::AliasArn(..) | KeyName::Managed(_) => missing_alias(),
            KeyName::Id(id) if !is_uuid(id) => not_found(format!("Invalid keyId '{id}'")),
            _ => not_found(format!("Key '{prefix}{region}:{owner}:key/{id}' does not exist")),
        })?;
        let may = key.arn.account == account || key.accounts.iter().any(|own| own == account);
        if may { Ok(key) } else { Err(Error::AccessDenied) }
    }

    /// Tells whether a key's time is over: it is as if it had never been.
    pub(super) fn is_gone(&self, key: &KmsKey) -> bool {
        matches!(key.state, KeyState::PendingDeletion { until } if until <= self.now)
    }

    /// The key that a name means to `account`, if it can be used for `operation` now.
    ///
    /// # Errors
    /// Those of [`KeyStore::find`]; [`KmsFault::Disabled`], [`KmsFault::InvalidState`], [`KmsFault::InvalidKeyUsage`].
    pub fn usable(
        &self,
        tx: &mut Tx<'_>,
        name: &KeyName,
        account: &str,
        operation: &str,
    ) -> Result<Arc<KmsKey>, Error> {
        let key = self.find(tx, name, account)?;
        let arn = &key.arn;
        match key.state {
            KeyState::Enabled if key.usage == KeyUsage::EncryptDecrypt => Ok(key),
            KeyState::Enabled => {
                let usage = key.usage.name();
                let reason =
                    format!("{arn} key usage is {usage} which is not valid for {operation}.");
                Err(Error::kms(KmsFault::InvalidKeyUsage, reason))
            }
            KeyState::Disabled => {
                Err(Error::kms(KmsFault::Disabled, format!("{arn} is disabled.")))
            }
            KeyState::PendingDeletion { .. } => {
                Err(Error::kms(KmsFault::InvalidState, format!("{arn} is pending deletion.")))
            }
        }
    }

    /// As [`KeyStore::usable`] for a new data key; `None` for the key that the provider manages where it is still to be made.
    ///
    /// # Errors
    /// Those of [`KeyStore::usable`].
    pub fn for_data_key(
        &self,
        tx: &mut Tx<'_>,
        name: &KeyName,
        account: &str,
    ) -> Result<Option<Arc<KmsKey>>, Error> {
        if let KeyName::Managed(owner) = name {
            // Nobody but its account uses it.
            if owner != account {
                return Err(Error::AccessDenied);
            }
            if KMS_ALIASES.get(tx, &managed_alias(owner))?.is_none() {
                return Ok(None);
            }
        }
        self.usable(tx, name, account, "GenerateDataKey").map(Some)
    }

    /// The key that the provider manages for `account`, which is made where it is missing.
    ///
    /// # Errors
    /// Those of [`KeyStore::usable`].
    pub fn managed(
        &self,
        tx: &mut Tx<'_>,
        account: &str,
        ids: &mut dyn Ids,
    ) -> Result<Arc<KmsKey>, Error> {
        let name = KeyName::Managed(account.to_owned());
        if let Some(key) = self.for_data_key(tx, &name, account)? {
            return Ok(key);
        }
        let key = KmsKey { managed: true, ..self.new_key(account, ids) };
        KMS_KEYS.put(tx, &key.arn.id, &key);
        KMS_ALIASES.put(tx, &managed_alias(account), &KeyId(key.arn.id.clone()));
        Ok(Arc::new(key))
    }

    /// A new key of `account`, not yet in the store.
    pub fn new_key(&self, account: &str, ids: &mut dyn Ids) -> KmsKey {
        let arn = KeyArn {
            region: self.region.to_owned(),
            account: account.to_owned(),
            id: new_uuid(ids),
        };
        self.key_of(arn, ids)
    }

    /// A new key with this ARN, not yet in the store.
    pub fn key_of(&self, arn: KeyArn, ids: &mut dyn Ids) -> KmsKey {
        let first = self.new_generation(&arn, 0, ids);
        KmsKey {
            arn,
            created: self.now,
            state: KeyState::Enabled,
            usage: KeyUsage::EncryptDecrypt,
            accounts: Vec::new(),
            managed: false,
            generations: vec![first],
        }
    }

    /// A new generation of a key, the `number`-th.
    pub fn new_generation(&self, arn: &KeyArn, number: usize, ids: &mut dyn Ids) -> WrappedKey {
        let key = SecretKey::draw(ids);
        self.roots.wrap(key.reveal(), &generation_context(arn, number), ids)
    }

    /// A new data key that `key` seals, bound to `context`.
    ///
    /// # Errors
    /// [`Error::Damaged`] for a key whose root key is not there.
    pub fn generate_data_key(
        &self,
        key: &KmsKey,
        context: &EncryptionContext,
        ids: &mut dyn Ids,
    ) -> Result<GeneratedKey, Error> {
        let number = key.generations.len().saturating_sub(1);
        let ring = self.generation(key, number)?;
        let data_key = SecretKey::draw(ids);
        let bound = sealed_context(&key.arn, context);
        let mut sealed = u16::try_from(number).map_err(|_| Error::Damaged)?.to_be_bytes().to_vec();
        sealed.extend(ring.wrap(data_key.reveal(), &bound, ids).wrapped);
        Ok(GeneratedKey { by: key.identity(), key: data_key, sealed })
    }

    /// The data key that `key` sealed, bound to `context`.
    ///
    /// # Errors
    /// [`Error::Damaged`] for one that does not open.
    pub fn decrypt(
        &self,
        key: &KmsKey,
        sealed: &[u8],
        context: &EncryptionContext,
    ) -> Result<SecretKey, Error> {
        let (number, wrapped) =
            sealed.split_first_chunk::<GENERATION_BYTES>().ok_or(Error::Damaged)?;
        let ring = self.generation(key, usize::from(u16::from_be_bytes(*number)))?;
        let wrapped =
            WrappedKey { root_id: ring.current_id().to_owned(), wrapped: wrapped.to_vec() };
        let opened = ring.unwrap(&wrapped, &sealed_context(&key.arn, context));
        opened.map(SecretKey::new).map_err(|_| Error::Damaged)
    }

    /// A keyring of one generation of a key.
    fn generation(&self, key: &KmsKey, number: usize) -> Result<Keyring, Error> {
        let wrapped = key.generations.get(number).ok_or(Error::Damaged)?;
        let opened = self.roots.unwrap(wrapped, &generation_context(&key.arn, number));
        opened.map(|own| Keyring::new(&own)).map_err(|_| Error::Damaged)
    }
}

/// The row of the alias of the key that the provider manages for `account`.
fn managed_alias(account: &str) -> (String, String) {
    (account.to_owned(), Dialect::Store.names().managed_alias.to_owned())
}

fn generation_context(arn: &KeyArn, number: usize) -> Vec<u8> {
    format!("generation {number} of {arn}").into_bytes()
}

fn sealed_context(arn: &KeyArn, context: &EncryptionContext) -> Vec<u8> {
    let mut bound = format!("data key of {arn}\0").into_bytes();
    bound.extend(context.canonical());
    bound
}

/// A random id, as keys have it.
fn new_uuid(ids: &mut dyn Ids) -> String {
    let mut bytes = [0; 16];
    ids.fill(&mut bytes);
    let number = u128::from_be_bytes(bytes);
    // Version 4, variant 1 (RFC 9562).
    let number = (number & !(0xF << 76)) | (0x4 << 76);
    let number = (number & !(0x3 << 62)) | (0x2 << 62);
    let digits = format!("{number:032x}");
    let mut rest = digits.as_str();
    let mut parts = Vec::new();
    for length in [8, 4, 4, 4, 12] {
        let (part, after) = rest.split_at(length);
        parts.push(part);
        rest = after;
    }
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::Memory;

    const OWN: &str = "111122223333";
    const OTHER: &str = "444455556666";

    fn store(roots: &Keyring) -> KeyStore<'_> {
        KeyStore { roots, region: "us-east-1", now: Timestamp::from_seconds(1_000) }
    }

    fn context(value: &str) -> EncryptionContext {
        EncryptionContext::default().with_resource(value)
    }

    fn fault(refused: Result<Arc<KmsKey>, Error>) -> String {
        match refused.unwrap_err() {
            Error::Kms { fault, reason } => format!("{fault:?} {reason}"),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_data_key_opens_with_its_key_and_context_alone() {
        let (roots, mut ids) = (Keyring::new(&[7; 32]), SeededIds::from_number(1));
        let keys = store(&roots);
        let key = keys.new_key(OWN, &mut ids);
        let made = keys.generate_data_key(&key, &context("a"), &mut ids).unwrap();
        assert_eq!(keys.decrypt(&key, &made.sealed, &context("a")), Ok(made.key.clone()));
        assert_eq!(keys.decrypt(&key, &made.sealed, &context("b")), Err(Error::Damaged));
        let another = keys.new_key(OWN, &mut ids);
        assert_eq!(keys.decrypt(&another, &made.sealed, &context("a")), Err(Error::Damaged));
        for place in 0..made.sealed.len() {
            let mut flipped = made.sealed.clone();
            if let Some(byte) = flipped.get_mut(place) {
                *byte ^= 1;
            }
            assert_eq!(keys.decrypt(&key, &flipped, &context("a")), Err(Error::Damaged));
        }
        let lost = Keyring::new(&[8; 32]);
        assert_eq!(store(&lost).decrypt(&key, &made.sealed, &context("a")), Err(Error::Damaged));
    }

    #[test]
    fn a_rotated_key_opens_what_it_sealed_before() {
        let (roots, mut ids) = (Keyring::new(&[7; 32]), SeededIds::from_number(1));
        let keys = store(&roots);
        let mut key = keys.new_key(OWN, &mut ids);
        let before = keys.generate_data_key(&key, &context("a"), &mut ids).unwrap();
        key.generations.push(keys.new_generation(&key.arn, 1, &mut ids));
        let after = keys.generate_data_key(&key, &context("a"), &mut ids).unwrap();
        assert_ne!(before.sealed.first_chunk::<2>(), after.sealed.first_chunk::<2>());
        for made in [before, after] {
            assert_eq!(keys.decrypt(&key, &made.sealed, &context("a")), Ok(made.key));
        }
    }

    #[test]
    fn names_find_what_the_real_service_finds() {
        let (roots, mut ids, memory) =
            (Keyring::new(&[7; 32]), SeededIds::from_number(1), Memory::new());
        let (keys, mut tx) = (store(&roots), Tx::new(&memory));
        let mut key = keys.new_key(OWN, &mut ids);
        KMS_KEYS.put(&mut tx, &key.arn.id, &key);
        let alias = (OWN.to_owned(), "alias/demo".to_owned());
        KMS_ALIASES.put(&mut tx, &alias, &KeyId(key.arn.id.clone()));
        let id = key.arn.id.clone();
        let arn = |region: &str, account: &str, rest: &str| {
            format!("arn:aws:kms:{region}:{account}:{rest}")
        };
        let find = |tx: &mut Tx<'_>, text: &str, account: &str| {
            KeyName::parse(text, account)
                .and_then(|name| keys.usable(tx, &name, account, "Decrypt"))
        };
        for text in [
            &id,
            "alias/demo",
            &arn("us-east-1", OWN, &format!("key/{id}")),
            &arn("us-east-1", OWN, "alias/demo"),
        ] {
            assert_eq!(*find(&mut tx, text, OWN).unwrap(), key, "{text}");
        }
        let whole = arn("us-east-1", OWN, &format!("key/{id}"));
        for (text, account, expected) in [
            ("fake-key-id", OWN, "NotFound Invalid keyId 'fake-key-id'".to_owned()),
            (
                &*id,
                OTHER,
                format!("NotFound Key 'arn:store:kms:us-east-1:{OTHER}:key/{id}' does not exist"),
            ),
            (
                "alias/demo",
                OTHER,
                format!("NotFound Alias arn:store:kms:us-east-1:{OTHER}:alias/demo is not found."),
            ),
            (
                &*arn("us-west-2", OWN, &format!("key/{id}")),
                OWN,
                "NotFound Invalid arn us-west-2".to_owned(),
            ),
            (
                &*arn("us-east-1", OTHER, &format!("key/{id}")),
                OWN,
                format!("NotFound Key 'arn:store:kms:us-east-1:{OTHER}:key/{id}' does not exist"),
            ),
            (&*whole, OTHER, "AccessDenied".to_owned()),
        ] {
            assert_eq!(fault(find(&mut tx, text, account)), expected);
        }
        key.accounts.push(OTHER.to_owned());
        KMS_KEYS.put(&mut tx, &id, &key);
        assert!(find(&mut tx, &whole, OTHER).is_ok());
        assert!(find(&mut tx, &id, OTHER).is_err(), "by its full ARN alone");
        let until = |seconds| KeyState::PendingDeletion { until: Timestamp::from_seconds(seconds) };
        for (state, usage, expected) in [
            (KeyState::Disabled, KeyUsage::EncryptDecrypt, "Disabled arn:store:kms"),
            (until(1_001), KeyUsage::EncryptDecrypt, "InvalidState arn:store:kms"),
            (until(1_000), KeyUsage::EncryptDecrypt, "NotFound Key"),
            (KeyState::Enabled, KeyUsage::SignVerify, "InvalidKeyUsage arn:store:kms"),
        ] {
            KMS_KEYS.put(&mut tx, &id, &KmsKey { state, usage, ..key.clone() });
            let refused = fault(find(&mut tx, &id, OWN));
            assert!(refused.starts_with(expected), "{refused}");
        }
    }

    #[test]
    fn the_key_that_the_provider_manages_is_made_once_and_is_its_accounts_own() {
        let (roots, mut ids, memory) =
            (Keyring::new(&[7; 32]), SeededIds::from_number(1), Memory::new());
        let (keys, mut tx) = (store(&roots), Tx::new(&memory));
        let name = KeyName::Managed(OWN.to_owned());
        assert!(keys.usable(&mut tx, &name, OWN, "Decrypt").is_err());
        assert_eq!(keys.for_data_key(&mut tx, &name, OWN), Ok(None));
        let denied = Err(Error::AccessDenied);
        assert_eq!(keys.for_data_key(&mut tx, &name, OTHER), denied);
        let made = keys.managed(&mut tx, OWN, &mut ids).unwrap();
        assert!(made.managed && is_uuid(&made.arn.id), "{made:?}");
        assert_eq!(keys.managed(&mut tx, OWN, &mut ids), Ok(Arc::clone(&made)));
        assert_eq!(keys.for_data_key(&mut tx, &name, OWN), Ok(Some(made)));
        assert_eq!(keys.for_data_key(&mut tx, &name, OTHER), denied);
    }
}
