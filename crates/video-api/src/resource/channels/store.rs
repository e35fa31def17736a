//! Putting a channel with its index rows and its search document.

use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::index::{self, Kind};
use crate::record::counter;
use crate::record::stored::Stored;
use crate::resource::channels::record::{
    CATEGORY_CHANNEL_COUNT, CATEGORY_CHANNELS, CHANNEL_COUNTS, CHANNELS, Channel, ChannelCounts,
    HANDLES, Id, USERNAMES,
};
use crate::resource::channels::{patch, record, search_document};
use crate::resource::guide_categories;

/// Stores a new channel with its indexes.
///
/// # Errors
/// As the store.
pub fn insert(
    tx: &mut Tx<'_>,
    id: &str,
    username: Option<&str>,
    channel: &mut Stored<Channel>,
) -> Result<(), Error> {
    patch::refresh(id, channel);
    CHANNELS.put(tx, &id.to_owned(), channel);
    CHANNEL_COUNTS.put(tx, &id.to_owned(), &ChannelCounts::default());
    if let Some(handle) = &channel.head.handle {
        HANDLES.put(tx, &record::handle_key(handle), &Id(id.to_owned()));
    }
    if let Some(username) = username {
        USERNAMES.put(tx, &username.to_lowercase(), &Id(id.to_owned()));
    }
    put_category(tx, id)?;
    search_document::put(tx, id, channel)
}

/// Lists a channel under its guide category, and counts it there.
fn put_category(tx: &mut Tx<'_>, id: &str) -> Result<(), Error> {
    let category = guide_categories::of_channel(id).to_owned();
    CATEGORY_CHANNELS.put(tx, &(category.clone(), id.to_owned()), &());
    counter::change(tx, &CATEGORY_CHANNEL_COUNT, &category, true)
}

/// Removes a channel and its indexes; what is on it goes in steps ([`closing`](crate::resource::channels::closing)).
///
/// # Errors
/// As the store.
pub fn remove(tx: &mut Tx<'_>, id: &str, channel: &Channel) -> Result<(), Error> {
    CHANNELS.delete(tx, &id.to_owned());
    if let Some(handle) = &channel.handle {
        HANDLES.delete(tx, &record::handle_key(handle));
    }
    remove_category(tx, id)?;
    Ok(index::remove(tx, Kind::Channel, id)?)
}

/// Takes a channel that goes from its guide category.
fn remove_category(tx: &mut Tx<'_>, id: &str) -> Result<(), Error> {
    let category = guide_categories::of_channel(id).to_owned();
    CATEGORY_CHANNELS.delete(tx, &(category.clone(), id.to_owned()));
    counter::change(tx, &CATEGORY_CHANNEL_COUNT, &category, false)
}
