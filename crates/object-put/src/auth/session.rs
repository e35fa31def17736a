//! Sessions on directory buckets: what temporary credentials stand for, and what a request on such a bucket needs.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use triptych_core::time::Timestamp;

use crate::kms::key_name::KeyArn;

/// The time for which a session is good.
pub const SESSION_TIME: Duration = Duration::from_secs(5 * 60);

/// The mode of a session: what may be done in it. One that writes also reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SessionMode {
    /// Reads alone.
    ReadOnly,
    /// Everything.
    ReadWrite,
}

impl SessionMode {
    /// The mode with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::ReadOnly, Self::ReadWrite].into_iter().find(|own| own.name() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "ReadOnly",
            Self::ReadWrite => "ReadWrite",
        }
    }
}

/// A session, as its token says it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The access key that asked for it.
    pub access_key: String,
    /// A digest of that key's secret: a session ends when the key is removed, also where another gets its id.
    #[serde(with = "crate::body::base64_array")]
    pub key_check: [u8; 8],
    /// The number of the bucket; none of one that was not there yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<u64>,
    /// Its name.
    pub bucket_name: String,
    /// The access point that it was asked for through, by its ARN without what names the provider: it is good there alone, and one without
    /// at the bucket alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub point: Option<String>,
    /// Its mode.
    pub mode: SessionMode,
    /// The key-management key of new objects; keys that the service manages without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyArn>,
    /// The end of its time.
    pub expires: Timestamp,
}

/// The way in which an operation on a directory bucket is authorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryAccess {
    /// By a session of this mode, or by the right to have one.
    Zonal(SessionMode),
    /// By the right to have a session that writes, and by no session: copies have a source of their own.
    Copy,
    /// By that of creating a session, which no session has.
    CreateSession,
    /// By a permission of the owner's keys on the bucket; true if it changes something.
    Regional(&'static str, bool),
}
