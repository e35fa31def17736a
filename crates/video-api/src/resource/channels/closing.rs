//! Closing an account: its channel goes at once, with everything on it in steps, and its tokens are worth nothing from then on.
//!
//! What it wrote on other channels stays there, without a word of whose it was, as the real service shows it.

use serde::Deserialize;
use triptych_core::kv::{Key, Record, Table, Tx};
use triptych_core::time::Timestamp;

use crate::account::{self, ACCOUNTS};
use crate::api::error::Error;
use crate::picture;
use crate::record::cascade::{self, Cascade};
use crate::record::closing as closing_channels;
use crate::record::id::SystemPlaylist;
use crate::resource::activities::record::{ACTIVITIES, ACTIVITY_COUNTS, ACTIVITY_TIMES};
use crate::resource::channel_sections::{contents, store as sections};
use crate::resource::channels::record::{CHANNEL_COUNTS, CHANNELS, CLOSED_CHANNELS, Id};
use crate::resource::channels::{rules, store};
use crate::resource::comments::record::{BANNED, list_of_all, list_of_channel, list_of_public};
use crate::resource::comments::{leftover, tally};
use crate::resource::members::record::{
    MEMBER_COUNT, MEMBER_UPDATES, MEMBERS, MEMBERS_BY_LEVEL, UPDATE_COUNT,
};
use crate::resource::memberships_levels::LEVELS;
use crate::resource::playlist_items::system_playlist::{HISTORY, HISTORY_COUNT};
use crate::resource::playlists::record::{
    CHANNEL_PLAYLISTS, PLAYLIST_COUNT, PLAYLIST_GARBAGE, PLAYLISTS,
};
use crate::resource::playlists::store as playlists;
use crate::resource::subscriptions::record::{PUBLISHER_COUNT, SUBSCRIBER_COUNT};
use crate::resource::subscriptions::store as subscriptions;
use crate::resource::videos::rating::{self, HIDDEN_COUNT, RATED, RATED_COUNT};
use crate::resource::videos::record::{UPLOADS, VIDEOS};
use crate::resource::videos::store as videos;
use crate::resource::watermarks::WATERMARKS;

/// Videos that one step removes, each with a few dozen rows.
const VIDEOS_STEP: usize = 4;
/// Playlists or ratings that one step removes.
const THINGS_STEP: usize = 20;
/// Plain rows that one step removes.
const ROWS_STEP: usize = 100;

/// The account that is closed by `POST /_ops/accounts/close`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closing {
    /// The account.
    pub account: String,
}

/// Closes an account. One that is closed stays so.
///
/// # Errors
/// [`NOT_FOUND`](rules::NOT_FOUND) for an account that is none.
pub fn close(tx: &mut Tx<'_>, closing: &Closing) -> Result<(), Error> {
    let mut row = ACCOUNTS.get(tx, &closing.account)?.ok_or(&rules::NOT_FOUND)?;
    row.closed = true;
    let channel = row.channel.take();
    account::put(tx, &row)?;
    let Some(id) = channel else {
        return Ok(());
    };
    if let Some(found) = CHANNELS.get(tx, &id)? {
        store::remove(tx, &id, &found.head)?;
        CLOSED_CHANNELS.put(tx, &id, &());
        picture::unset(tx, &format!("watermark/{id}"))?;
        WATERMARKS.delete(tx, &id);
        for list in [list_of_channel(&id), list_of_all(&id), list_of_public(&id)] {
            tally::take(tx, &list)?;
        }
        for special in [SystemPlaylist::Later, SystemPlaylist::Favorites] {
            PLAYLIST_GARBAGE.put(tx, &special.of(&id), &Id(id.clone()));
        }
        closing_channels::begin(tx, &id)?;
        cascade::begin_knowing(tx, Cascade::Channel, &id, &found.head.title);
        cascade::begin(tx, Cascade::Promotion, &id);
    }
    Ok(())
}

/// A step of removing what was on a channel of this title that is gone, and what it said of others; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn step(tx: &mut Tx<'_>, channel: &str, title: &str) -> Result<bool, Error> {
    let id = channel.to_owned();
    if sections::remove_of_closed(tx, &id)? {
        return Ok(true);
    }
    for name in [id.clone(), SystemPlaylist::Uploads.of(&id)] {
        if contents::remove(tx, &name)? {
            return Ok(true);
        }
    }
    if remove_videos(tx, &id)? || remove_playlists(tx, &id)? || remove_ratings(tx, &id)? {
        return Ok(true);
    }
    if leftover::of_list(tx, &list_of_channel(&id), THINGS_STEP)? {
        return Ok(true);
    }
    if subscriptions::remove_of_closed(tx, &id, title, THINGS_STEP)? {
        return Ok(true);
    }
    if rows(tx, &HISTORY, &id)?
        || rows(tx, &ACTIVITY_TIMES, &id)?
        || rows(tx, &ACTIVITIES, &id)?
        || rows(tx, &ACTIVITY_COUNTS, &id)?
        || rows(tx, &BANNED, &id)?
        || rows(tx, &RATED_COUNT, &id)?
        || rows(tx, &HIDDEN_COUNT, &id)?
        || rows(tx, &PLAYLIST_COUNT, &id)?
        || rows(tx, &MEMBERS, &id)?
        || rows(tx, &MEMBERS_BY_LEVEL, &id)?
        || rows(tx, &MEMBER_COUNT, &id)?
        || rows(tx, &MEMBER_UPDATES, &id)?
        || rows(tx, &LEVELS, &id)?
    {
        return Ok(true);
    }
    UPDATE_COUNT.delete(tx, &id);
    HISTORY_COUNT.delete(tx, &id);
    PUBLISHER_COUNT.delete(tx, &id);
    SUBSCRIBER_COUNT.delete(tx, &id);
    CHANNEL_COUNTS.delete(tx, &id);
    // Its videos took themselves out of the tallies that were gone already.
    for list in [list_of_all(&id), list_of_public(&id)] {
        tally::take(tx, &list)?;
    }
    closing_channels::end(tx, &id)?;
    Ok(false)
}

fn remove_videos(tx: &mut Tx<'_>, channel: &String) -> Result<bool, Error> {
    let (uploads, _) = UPLOADS.scan(tx, &UPLOADS.span(channel), VIDEOS_STEP)?;
    for (row, ()) in &uploads {
        match VIDEOS.get(tx, &row.3)? {
            Some(video) => videos::remove(tx, &row.3, &video)?,
            None => UPLOADS.delete(tx, row),
        }
    }
    Ok(!uploads.is_empty())
}

fn remove_playlists(tx: &mut Tx<'_>, channel: &str) -> Result<bool, Error> {
    let span = CHANNEL_PLAYLISTS.span(&(channel.to_owned(), 1_u8));
    let (lists, _) = CHANNEL_PLAYLISTS.scan(tx, &span, THINGS_STEP)?;
    for (row, ()) in &lists {
        match PLAYLISTS.get(tx, &row.3)? {
            Some(playlist) => playlists::remove(tx, &row.3, &playlist)?,
            None => CHANNEL_PLAYLISTS.delete(tx, row),
        }
    }
    Ok(!lists.is_empty())
}

fn remove_ratings(tx: &mut Tx<'_>, channel: &String) -> Result<bool, Error> {
    let (rated, _) = RATED.scan(tx, &RATED.span(channel), THINGS_STEP)?;
    for (row, ()) in &rated {
        rating::set(tx, channel, &row.3, None, Timestamp::EPOCH)?;
    }
    Ok(!rated.is_empty())
}

/// Removes a step of the rows of a channel in a table whose keys begin with it.
fn rows<K: Key, V: Record>(
    tx: &mut Tx<'_>,
    table: &Table<K, V>,
    channel: &String,
) -> Result<bool, Error> {
    let page = tx.scan(&table.span(channel), ROWS_STEP)?;
    let any = !page.rows.is_empty();
    page.rows.into_iter().for_each(|(key, _)| tx.delete(key));
    Ok(any)
}
