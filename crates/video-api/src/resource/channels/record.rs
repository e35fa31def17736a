//! Channels: what is stored of one, and what is counted.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Plan, Table, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::{Error, Rule};
use crate::index;
use crate::index::Kind;
use crate::record::counter::Count;
use crate::record::stored::Stored;
use crate::resource::channels::rules;

/// Channels by their id.
pub const CHANNELS: Table<String, Stored<Channel>> = Table::new(0x10);

/// Counters of a channel.
pub const CHANNEL_COUNTS: Table<String, ChannelCounts> = Table::new(0x11);

/// Channels by their handle, in lower case and without @.
pub const HANDLES: Table<String, Id> = Table::new(0x12);

/// Channels by the user name of old.
pub const USERNAMES: Table<String, Id> = Table::new(0x13);

/// Channels by guide category.
pub const CATEGORY_CHANNELS: Table<(String, String), ()> = Table::new(0x14);

/// Number of channels of a guide category.
pub const CATEGORY_CHANNEL_COUNT: Table<String, Count> = Table::new(0x17);

/// Ids of channels whose account was closed. They stay, so that a request that names one is told.
pub const CLOSED_CHANNELS: Table<String, ()> = Table::new(0x18);

/// The head of a channel: all that rules need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The account that owns it.
    pub account: String,
    /// Its title; the interface cannot change it.
    pub title: String,
    /// Its handle, with @.
    pub handle: Option<String>,
    /// The time when it was made.
    pub published: Timestamp,
    /// The language of title and description.
    pub language: Option<String>,
    /// True if the number of subscribers is hidden.
    pub hides_subscribers: bool,
    /// True if it keeps private whom it subscribes to. The seed file says it, as no operation does.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hides_subscriptions: bool,
    /// True if its sections are visible: they are in browse view alone (Spec §3).
    pub browse_view: bool,
}

/// Counters of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChannelCounts {
    /// Number of times that its videos were watched.
    pub views: u64,
    /// Number of channels that subscribe to it.
    pub subscribers: u64,
    /// Number of its videos that everyone sees listed.
    pub videos: u64,
    /// Number of its videos in its list of uploads, as it sees that itself.
    pub uploads: u64,
    /// Number of its videos in its list of uploads, as everyone sees that.
    pub listed_uploads: u64,
}

impl JsonRecord for ChannelCounts {}

/// Changes what is counted of a channel.
///
/// # Errors
/// As the store.
pub fn count(
    tx: &mut Tx<'_>,
    channel: &str,
    change: impl FnOnce(&mut ChannelCounts),
) -> Result<(), Error> {
    let key = channel.to_owned();
    let mut counts = CHANNEL_COUNTS.get(tx, &key)?.unwrap_or_default();
    change(&mut counts);
    CHANNEL_COUNTS.put(tx, &key, &counts);
    index::update_facets(tx, Kind::Channel, channel, |facets| {
        (facets.views, facets.videos) = (counts.views, counts.videos);
    })?;
    Ok(())
}

/// Plans what a change of a channel's counts reads, and the channel itself.
pub fn plan(plan: &mut Plan<'_>, channel: &str) {
    let key = channel.to_owned();
    plan.row(&CHANNELS, &key);
    plan.row(&CHANNEL_COUNTS, &key);
    index::plan(plan, Kind::Channel, channel);
}

/// The form under which a handle is looked up.
#[must_use]
pub fn handle_key(handle: &str) -> String {
    handle.trim_start_matches('@').to_lowercase()
}

/// The id of a channel, as an index names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Id(pub String);

impl JsonRecord for Id {}

/// The channel that a request names.
///
/// # Errors
/// [`rules::CLOSED`] if its account was closed, `absent` if there never was one; else as the store.
pub fn named(
    tx: &mut Tx<'_>,
    id: &str,
    absent: &'static Rule,
) -> Result<Arc<Stored<Channel>>, Error> {
    named_or(tx, id, absent, &rules::CLOSED)
}

/// The channel that a request names, where one that is not there has reasons of its own.
///
/// # Errors
/// `closed` if its account was closed, `absent` if there never was one; else as the store.
pub fn named_or(
    tx: &mut Tx<'_>,
    id: &str,
    absent: &'static Rule,
    closed: &'static Rule,
) -> Result<Arc<Stored<Channel>>, Error> {
    known_or(tx, id, closed)?.ok_or(Error::Rule(absent))
}

/// The channel that a request names, where one that never was is no fault.
///
/// # Errors
/// [`rules::CLOSED`] if its account was closed; else as the store.
pub fn known(tx: &mut Tx<'_>, id: &str) -> Result<Option<Arc<Stored<Channel>>>, Error> {
    known_or(tx, id, &rules::CLOSED)
}

fn known_or(
    tx: &mut Tx<'_>,
    id: &str,
    closed: &'static Rule,
) -> Result<Option<Arc<Stored<Channel>>>, Error> {
    let id = id.to_owned();
    if let Some(found) = CHANNELS.peek_shared(tx, &id)? {
        return Ok(Some(found));
    }
    let was_closed = CLOSED_CHANNELS.peek(tx, &id)?.is_some();
    if was_closed { Err(Error::Rule(closed)) } else { Ok(None) }
}

/// The title of a channel.
///
/// # Errors
/// [`Error::NoChannel`] if there is none; else as the store.
pub fn title(tx: &mut Tx<'_>, id: &str) -> Result<String, Error> {
    let channel = CHANNELS.peek(tx, &id.to_owned())?.ok_or(Error::NoChannel)?;
    Ok(channel.head.title.clone())
}
