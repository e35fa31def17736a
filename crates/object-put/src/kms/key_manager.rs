//! The way to a key service, wherever it is: in this process, or another on the network.

use std::future::Future;
use std::pin::Pin;

use crate::body::object_key::SecretKey;
use crate::error::Error;
use crate::kms::context::EncryptionContext;
use crate::kms::key_name::{KeyArn, KeyName};

/// An answer of a key service, still to come.
pub type KeyFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// The kinds of key service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyServiceKind {
    /// The embedded one, whose keys are those of accounts here.
    #[default]
    Embedded,
    /// One on the network: its keys are those of the account whose credentials sign the calls, whoever asks here.
    Remote,
}

impl KeyServiceKind {
    /// Tells whether two ARNs are of one key, where the account of either may have been made up from an id.
    #[must_use]
    pub fn is_same(self, one: &KeyArn, other: &KeyArn) -> bool {
        // The keys of several regions may share an id.
        one == other
            || (self == Self::Remote && (&one.region, &one.id) == (&other.region, &other.id))
    }
}

/// A key as its service knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyIdentity {
    /// Its ARN.
    pub arn: KeyArn,
    /// A digest of what it was made with, where another key may get the same ARN once this one is gone, as a reset of the store does.
    pub origin: Option<[u8; 32]>,
}

/// A data key that was made now: as it is, and as only the key service can open it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedKey {
    /// The key that sealed it.
    pub by: KeyIdentity,
    /// The data key.
    pub key: SecretKey,
    /// The data key, sealed.
    pub sealed: Vec<u8>,
}

/// A key service. `account` is the one that asks.
pub trait KeyManager: Send + Sync {
    /// The key that a name means, if it can be used now.
    ///
    /// # Errors
    /// `Kms`, `AccessDenied`, `KeyServiceFailed`; those of the store.
    fn describe<'a>(&'a self, name: &'a KeyName, account: &'a str) -> KeyFuture<'a, KeyIdentity>;

    /// A new data key that is bound to `context`.
    ///
    /// # Errors
    /// As [`KeyManager::describe`].
    fn generate_data_key<'a>(
        &'a self,
        name: &'a KeyName,
        context: &'a EncryptionContext,
        account: &'a str,
    ) -> KeyFuture<'a, GeneratedKey>;

    /// The data key that `key` sealed, bound to `context`.
    ///
    /// # Errors
    /// As [`KeyManager::describe`]; `Damaged` for one that does not open.
    fn decrypt<'a>(
        &'a self,
        key: &'a KeyArn,
        sealed: &'a [u8],
        context: &'a EncryptionContext,
        account: &'a str,
    ) -> KeyFuture<'a, SecretKey>;

    /// Its kind. Asking a remote one costs a call over the network, so that the state of a key is not asked for where a bucket key is at hand.
    fn kind(&self) -> KeyServiceKind;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_account_of_a_key_that_is_known_by_its_id_is_made_up() {
        let key = |region: &str, account: &str, id: &str| KeyArn {
            region: region.to_owned(),
            account: account.to_owned(),
            id: id.to_owned(),
        };
        let own = key("us-east-1", "111122223333", "mrk-1");
        for (other, embedded, remote) in [
            (own.clone(), true, true),
            (key("us-east-1", "444455556666", "mrk-1"), false, true),
            (key("us-east-1", "111122223333", "mrk-2"), false, false),
            (key("eu-west-1", "111122223333", "mrk-1"), false, false),
        ] {
            assert_eq!(KeyServiceKind::Embedded.is_same(&own, &other), embedded, "{other}");
            assert_eq!(KeyServiceKind::Remote.is_same(&own, &other), remote, "{other}");
        }
    }
}
