//! Access control lists: grantees, permissions, canned lists and grant headers.

use serde::{Deserialize, Serialize};

/// Groups of users that a grant can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Group {
    /// Anyone, anonymous or not.
    AllUsers,
    /// Anyone who signs.
    AuthenticatedUsers,
    /// The writers of access logs.
    LogDelivery,
}

/// Who a grant is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grantee {
    /// An account, by its canonical id.
    User(String),
    /// A group.
    Group(Group),
}

/// What a grant allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Permission {
    /// Everything.
    FullControl,
    /// Read data and metadata, or list a bucket.
    Read,
    /// Write into a bucket.
    Write,
    /// Read the list.
    ReadAcp,
    /// Write the list.
    WriteAcp,
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// For whom.
    pub grantee: Grantee,
    /// What.
    pub permission: Permission,
}

/// An access control list. An empty one means the default: the owner has full control.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Acl {
    /// The entries, in the order they were given.
    pub grants: Vec<Grant>,
}

impl Acl {
    /// Whether it is the default list.
    #[must_use]
    pub const fn is_default(&self) -> bool {
        self.grants.is_empty()
    }
}
