//! The key of one object, from which the data keys of its parts are derived: that of a key service, or of a customer.
//!
//! What the store keeps of a data key is a salt: whoever has the records and the bodies has nothing that opens them.

use subtle::ConstantTimeEq as _;
use triptych_core::id::Ids;
use zeroize::Zeroizing;

use crate::auth::digest::hmac_sha256;
use crate::body::encryption::{DataKey, DecryptError, KEY_BYTES, Keyring, WrappedKey};

/// Bytes of the salt of a data key.
const SALT_BYTES: usize = 32;

/// A secret of 32 bytes, which is overwritten when it is dropped and never shows itself.
#[derive(Clone)]
pub struct SecretKey(Zeroizing<[u8; KEY_BYTES]>);

impl SecretKey {
    /// Keeps a key secret.
    #[must_use]
    pub const fn new(key: Zeroizing<[u8; KEY_BYTES]>) -> Self {
        Self(key)
    }

    /// A key that is drawn now.
    pub fn draw(ids: &mut dyn Ids) -> Self {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        ids.fill(&mut *key);
        Self(key)
    }

    /// The key of these bytes; `None` for another length than 32.
    #[must_use]
    pub fn of_slice(bytes: &[u8]) -> Option<Self> {
        <[u8; KEY_BYTES]>::try_from(bytes).ok().map(|key| Self(Zeroizing::new(key)))
    }

    /// The key itself.
    #[must_use]
    pub fn reveal(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }

    /// A key that follows from this one, a purpose and what it is bound to.
    #[must_use]
    pub fn derive(&self, purpose: &str, bound: &[&[u8]]) -> Self {
        let length = purpose.len().to_be_bytes();
        let parts = [&length[..], purpose.as_bytes()].into_iter().chain(bound.iter().copied());
        Self(Zeroizing::new(hmac_sha256(&*self.0, parts)))
    }
}

impl PartialEq for SecretKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&*other.0).into()
    }
}

impl Eq for SecretKey {}

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

/// The key of one object; that of a second layer, where it has two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectKey {
    key: SecretKey,
    outer: Option<SecretKey>,
}

impl ObjectKey {
    /// The key of an object; `outer` is that of its second layer, and independent of the first.
    #[must_use]
    pub const fn new(key: SecretKey, outer: Option<SecretKey>) -> Self {
        Self { key, outer }
    }

    /// A new data key for a body that is bound to `context`, and how it is kept.
    pub fn new_data_key(&self, context: &[u8], ids: &mut dyn Ids) -> (DataKey, WrappedKey) {
        let mut salt = vec![0; SALT_BYTES];
        ids.fill(&mut salt);
        let key = self.derived(&salt, context);
        (key, WrappedKey { root_id: String::new(), wrapped: salt })
    }

    /// The data key that `kept` stands for, of a body that is bound to `context`. One that is kept otherwise than it was, or for another
    /// context, gives a key that opens nothing.
    ///
    /// # Errors
    /// [`DecryptError`] for a key that is not derived.
    pub fn data_key(&self, kept: &WrappedKey, context: &[u8]) -> Result<DataKey, DecryptError> {
        if !kept.root_id.is_empty() || kept.wrapped.len() != SALT_BYTES {
            return Err(DecryptError);
        }
        Ok(self.derived(&kept.wrapped, context))
    }

    fn derived(&self, salt: &[u8], context: &[u8]) -> DataKey {
        let key = self.key.derive("data key", &[salt, context]);
        let outer =
            self.outer.as_ref().map(|outer| outer.derive("outer data key", &[salt, context]));
        DataKey::new(key.reveal(), outer.as_ref().map(SecretKey::reveal), context)
    }

    /// The entity tag of a body with this MD5, bound to `context`: it tells nothing about the body to who has not the key.
    #[must_use]
    pub fn entity_tag(&self, context: &[u8], md5: [u8; 16]) -> [u8; 16] {
        let tag = self.key.derive("entity tag", &[&md5, context]);
        tag.reveal().first_chunk().copied().unwrap_or_default()
    }
}

/// The key that opens the parts of a body: each part's own, wrapped by a root key, or all derived from that of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyKey {
    /// Root keys wrap the data key of each part: service-managed encryption.
    Service,
    /// The data keys of all parts follow from this one.
    Object(ObjectKey),
}

impl BodyKey {
    /// A new data key for a body that is bound to `context`, and how it is kept.
    pub fn new_data_key(
        &self,
        roots: &Keyring,
        context: &[u8],
        ids: &mut dyn Ids,
    ) -> (DataKey, WrappedKey) {
        match self {
            Self::Service => roots.new_data_key(context, ids),
            Self::Object(key) => key.new_data_key(context, ids),
        }
    }

    /// The data key that `kept` stands for, of a body that is bound to `context`.
    ///
    /// # Errors
    /// [`DecryptError`].
    pub fn data_key(
        &self,
        roots: &Keyring,
        kept: &WrappedKey,
        context: &[u8],
    ) -> Result<DataKey, DecryptError> {
        match self {
            Self::Service => roots.unwrap_data_key(kept, context),
            Self::Object(key) => key.data_key(kept, context),
        }
    }

    /// The entity tag of a body with this MD5 that is bound to `context`: the MD5 itself where the service manages the keys.
    #[must_use]
    pub fn entity_tag(&self, context: &[u8], md5: [u8; 16]) -> [u8; 16] {
        match self {
            Self::Service => md5,
            Self::Object(key) => key.entity_tag(context, md5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use triptych_core::id::SeededIds;

    use crate::body::encryption::{Decryptor, EncryptedRange, Encryptor, encrypted_size};

    fn key(byte: u8) -> SecretKey {
        SecretKey::new(Zeroizing::new([byte; KEY_BYTES]))
    }

    fn dual() -> ObjectKey {
        ObjectKey::new(key(1), Some(key(2)))
    }

    fn sealed(own: &ObjectKey, body: &[u8]) -> (WrappedKey, Vec<u8>) {
        let (data_key, kept) = own.new_data_key(b"here", &mut SeededIds::from_number(1));
        let mut encryptor = Encryptor::new(data_key, Some(body.len() as u64));
        let mut out = Vec::new();
        let taken = encryptor.feed(body, |bytes| {
            out.extend_from_slice(&bytes);
            Ok::<_, ()>(())
        });
        assert_eq!(taken, Ok(()));
        out.extend_from_slice(&encryptor.finish());
        (kept, out)
    }

    fn opened(
        own: &ObjectKey,
        kept: &WrappedKey,
        context: &[u8],
        size: usize,
        bytes: &[u8],
    ) -> Result<Vec<u8>, DecryptError> {
        let data_key = own.data_key(kept, context)?;
        let range = EncryptedRange::of(&(0..size as u64), size as u64, data_key.layers());
        let mut decryptor = Decryptor::new(data_key, &range);
        decryptor.feed(Bytes::copy_from_slice(bytes));
        let mut out = Vec::new();
        while let Some(opened) = decryptor.decrypt_next()? {
            out.extend_from_slice(&opened);
        }
        if decryptor.is_done() { Ok(out) } else { Err(DecryptError) }
    }

    #[test]
    fn two_layers_read_back_and_are_as_long_as_they_say() {
        for size in [0, 1, 65_536, 65_537, 200_000] {
            let body: Vec<u8> = (0..size).map(|place| (place * 7 % 251) as u8).collect();
            let (kept, bytes) = sealed(&dual(), &body);
            assert_eq!(bytes.len() as u64, encrypted_size(size as u64, 2), "{size}");
            assert_eq!(opened(&dual(), &kept, b"here", size, &bytes), Ok(body), "{size}");
        }
    }

    #[test]
    fn either_layer_alone_finds_a_flipped_bit() {
        let body = [7; 300];
        let (kept, bytes) = sealed(&dual(), &body);
        // A peer that has the key of one layer can forge what lies beneath it, and no more: the other still finds it.
        let outer_known = ObjectKey::new(key(9), Some(key(2)));
        let inner_known = ObjectKey::new(key(1), Some(key(9)));
        for own in [&outer_known, &inner_known] {
            assert_eq!(opened(own, &kept, b"here", 300, &bytes), Err(DecryptError));
        }
        for place in 0..bytes.len() {
            let mut flipped = bytes.clone();
            if let Some(byte) = flipped.get_mut(place) {
                *byte ^= 0x10;
            }
            assert_eq!(opened(&dual(), &kept, b"here", 300, &flipped), Err(DecryptError));
        }
    }

    #[test]
    fn a_body_opens_with_its_own_key_salt_and_context_alone() {
        let own = ObjectKey::new(key(1), None);
        let (kept, bytes) = sealed(&own, b"body");
        assert_eq!(opened(&own, &kept, b"here", 4, &bytes), Ok(b"body".to_vec()));
        let (other, _) = sealed(&ObjectKey::new(key(3), None), b"body");
        let salted = WrappedKey { wrapped: vec![5; SALT_BYTES], ..kept.clone() };
        let rooted = WrappedKey { root_id: "00".to_owned(), ..kept.clone() };
        assert_eq!(other, kept, "the salt follows from the ids alone");
        for (own, kept, context) in [
            (&ObjectKey::new(key(3), None), &kept, &b"here"[..]),
            (&own, &salted, b"here"),
            (&own, &rooted, b"here"),
            (&own, &kept, b"there"),
        ] {
            assert_eq!(opened(own, kept, context, 4, &bytes), Err(DecryptError));
        }
    }

    #[test]
    fn an_entity_tag_is_the_md5_only_where_the_service_manages_the_keys() {
        let md5 = [3; 16];
        assert_eq!(BodyKey::Service.entity_tag(b"here", md5), md5);
        let own = BodyKey::Object(ObjectKey::new(key(1), None));
        let tag = own.entity_tag(b"here", md5);
        assert_eq!(tag.len(), 16);
        assert_ne!(tag, md5);
        assert_ne!(tag, own.entity_tag(b"here", [4; 16]));
        assert_ne!(tag, own.entity_tag(b"there", md5), "equal bodies do not show that they are");
    }

    #[test]
    fn a_key_does_not_show_itself() {
        let shown = format!("{:?}", dual());
        assert!(!shown.contains('1') && !shown.contains('2'), "{shown}");
    }
}
