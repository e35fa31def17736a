//! The record of a key-management key that the embedded keyring holds.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use triptych_core::kv::JsonRecord;
use triptych_core::time::Timestamp;

use crate::auth::digest::sha256;
use crate::body::encryption::WrappedKey;
use crate::kms::key_manager::KeyIdentity;
use crate::kms::key_name::KeyArn;

/// The most generations of a key: its record stays short.
pub const GENERATIONS_MAX: usize = 250;

/// The time that a key waits for its deletion, unless another is asked for.
pub const DELETION_WAIT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The state of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum KeyState {
    /// It may be used.
    #[default]
    Enabled,
    /// It may not.
    Disabled,
    /// It is gone at this time, unless that is cancelled.
    PendingDeletion {
        /// The time.
        until: Timestamp,
    },
}

/// The purpose of a key: data keys come from those that encrypt alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are those of key services and say all")]
pub enum KeyUsage {
    #[default]
    EncryptDecrypt,
    SignVerify,
    GenerateVerifyMac,
}

impl KeyUsage {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EncryptDecrypt => "ENCRYPT_DECRYPT",
            Self::SignVerify => "SIGN_VERIFY",
            Self::GenerateVerifyMac => "GENERATE_VERIFY_MAC",
        }
    }
}

/// A key-management key, as stored under its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KmsKey {
    /// Its ARN.
    pub arn: KeyArn,
    /// The time at which it was made.
    pub created: Timestamp,
    /// Its state.
    #[serde(default)]
    pub state: KeyState,
    /// Its purpose.
    #[serde(default)]
    pub usage: KeyUsage,
    /// Other accounts that may use it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<String>,
    /// True if the provider made it for its account: nobody but that uses it, and nobody changes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub managed: bool,
    /// Its generations, wrapped by root keys, the newest last: that one seals, and each opens what it sealed.
    pub generations: Vec<WrappedKey>,
}

impl JsonRecord for KmsKey {}

impl KmsKey {
    /// The key, told apart from any other that ever had its ARN: each begins with a generation of its own.
    #[must_use]
    pub fn identity(&self) -> KeyIdentity {
        let origin = self.generations.first().map(|first| sha256(&first.wrapped));
        KeyIdentity { arn: self.arn.clone(), origin }
    }
}

/// The id of a key, as stored under an alias.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(pub String);

impl JsonRecord for KeyId {}
