//! The encryption of an object, as its record says: the mode, and what is needed to find its key again.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;

use crate::body::customer_key::CustomerSeal;
use crate::body::encryption::{DecryptError, Keyring, WrappedKey};
use crate::body::object_key::{BodyKey, SecretKey};
use crate::kms::context::EncryptionContext;
use crate::kms::key_name::KeyArn;
use crate::request::dialect::resource_arn;

/// The encryption of an object.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ObjectEncryption {
    /// Root keys wrap the data keys of its parts.
    #[default]
    ServiceManaged,
    /// A key service has its key.
    KeyManagement(Box<KmsSeal>),
    /// A customer brings its key with each request.
    Customer(CustomerSeal),
}

/// The key of an object, sealed by a key-management key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KmsSeal {
    /// The key that sealed it.
    pub key: KeyArn,
    /// The object's key, sealed.
    #[serde(with = "crate::body::base64_array")]
    pub sealed: Vec<u8>,
    /// The context that the request brought.
    #[serde(default, skip_serializing_if = "EncryptionContext::is_empty")]
    pub context: EncryptionContext,
    /// True if the sealed key is that of a bucket key: it is bound to the bucket alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bucket_key: bool,
    /// The key of the second layer, where there is one: a root key wraps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outer: Option<WrappedKey>,
}

impl KmsSeal {
    /// The whole context that the sealed key is bound to: that of the request, and the object, or its bucket.
    #[must_use]
    pub fn whole_context(&self, bucket: &str, key: &str) -> EncryptionContext {
        whole_context(&self.context, bucket, (!self.bucket_key).then_some(key))
    }

    /// Keeps the key of the second layer, wrapped by a root key and bound to the first; `context` is the whole one.
    pub fn keep_outer_key(
        &mut self,
        key: &SecretKey,
        roots: &Keyring,
        context: &EncryptionContext,
        ids: &mut dyn Ids,
    ) {
        self.outer = Some(roots.wrap(key.reveal(), &self.outer_bound(context), ids));
    }

    /// The key of the second layer, where there is one.
    ///
    /// # Errors
    /// [`DecryptError`] if its root key is not there, or it is not this object's.
    pub fn outer_key(
        &self,
        roots: &Keyring,
        context: &EncryptionContext,
    ) -> Result<Option<SecretKey>, DecryptError> {
        let Some(wrapped) = &self.outer else {
            return Ok(None);
        };
        roots.unwrap(wrapped, &self.outer_bound(context)).map(|key| Some(SecretKey::new(key)))
    }

    fn outer_bound(&self, context: &EncryptionContext) -> Vec<u8> {
        let mut bound = b"outer key\0".to_vec();
        bound.extend(context.canonical());
        bound.extend_from_slice(&self.sealed);
        bound
    }
}

/// The whole context of a data key for an object, or for all objects of a bucket.
#[must_use]
pub fn whole_context(
    context: &EncryptionContext,
    bucket: &str,
    key: Option<&str>,
) -> EncryptionContext {
    context.with_resource(&match key {
        Some(key) => resource_arn(&format!("{bucket}/{key}")),
        None => resource_arn(bucket),
    })
}

impl ObjectEncryption {
    /// Tells whether it is the mode of an object that asks for none.
    #[must_use]
    pub fn is_service_managed(&self) -> bool {
        *self == Self::ServiceManaged
    }

    /// The number of layers in which bodies are encrypted.
    #[must_use]
    pub fn layers(&self) -> usize {
        match self {
            Self::KeyManagement(seal) if seal.outer.is_some() => 2,
            _ => 1,
        }
    }
}

/// The way to the key that opens a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyOpening {
    /// It is known.
    Known(BodyKey),
    /// A key service opens it.
    Sealed(Box<SealedKey>),
}

impl KeyOpening {
    /// Tells whether the key that it leads to serves many objects: that of the service, or a bucket key.
    #[must_use]
    pub fn serves_many(&self) -> bool {
        match self {
            Self::Known(key) => *key == BodyKey::Service,
            Self::Sealed(own) => own.seal.bucket_key,
        }
    }
}

/// A key that a key service opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedKey {
    /// The key, sealed.
    pub seal: KmsSeal,
    /// The whole context that it is bound to.
    pub context: EncryptionContext,
    /// The account that asks.
    pub account: String,
}

/// The hash of the sealed key alone: no two that a key service sealed are the same.
impl Hash for SealedKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.seal.sealed.hash(state);
    }
}
