//! Subscriptions: what is stored of one, and the orders in which both sides are listed.

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Table};
use triptych_core::time::Timestamp;

use crate::record::counter::Count;

/// Subscriptions by the channel that subscribes and the one that it subscribes to.
pub const SUBSCRIPTIONS: Table<(String, String), Subscription> = Table::new(0x70);

/// Subscriptions by their id.
pub const SUBSCRIPTION_IDS: Table<String, Parties> = Table::new(0x71);

/// Channels that a channel subscribes to, latest first.
pub const PUBLISHERS_BY_TIME: Table<(String, u64, String), ()> = Table::new(0x72);

/// The same by their titles.
pub const PUBLISHERS_BY_TITLE: Table<(String, String, String), ()> = Table::new(0x73);

/// Number of channels that a channel subscribes to.
pub const PUBLISHER_COUNT: Table<String, Count> = Table::new(0x74);

/// Channels that subscribe to a channel and do not keep it private, latest first.
pub const SUBSCRIBERS_BY_TIME: Table<(String, u64, String), ()> = Table::new(0x75);

/// The same by their titles.
pub const SUBSCRIBERS_BY_TITLE: Table<(String, String, String), ()> = Table::new(0x76);

/// Number of those channels.
pub const SUBSCRIBER_COUNT: Table<String, Count> = Table::new(0x77);

/// Channels that subscribe to a channel and keep it private: its owner is not shown them.
pub const PRIVATE_SUBSCRIBERS: Table<(String, String), ()> = Table::new(0x78);

/// A subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// Its id.
    pub id: String,
    /// The time when it was made.
    pub since: Timestamp,
    /// The time when the subscriber watched the channel last, or subscribed.
    pub watched: Timestamp,
    /// True if uploads alone are of interest.
    pub uploads_only: bool,
    /// True if the channel's owner is not told who it is.
    pub is_private: bool,
}

impl JsonRecord for Subscription {}

/// The two sides of a subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parties {
    /// The channel that subscribes.
    pub subscriber: String,
    /// The channel that it subscribes to.
    pub publisher: String,
}

impl JsonRecord for Parties {}

impl Parties {
    /// The key of the subscription.
    #[must_use]
    pub fn key(&self) -> (String, String) {
        (self.subscriber.clone(), self.publisher.clone())
    }
}
