//! Putting and removing playlists with their index rows and search documents.

use triptych_core::kv::{Plan, Tx};

use crate::api::error::Error;
use crate::index;
use crate::index::Kind;
use crate::record::cascade::{self, Cascade};
use crate::record::counter;
use crate::record::key_order::latest_first;
use crate::record::privacy::Privacy;
use crate::record::stored::Stored;
use crate::resource::channels::record::{CHANNELS, Id};
use crate::resource::playlist_items::order::{Directory, ORDER};
use crate::resource::playlists::record::{
    CHANNEL_PLAYLISTS, PLAYLIST_COUNT, PLAYLIST_GARBAGE, PLAYLISTS, Playlist,
};
use crate::resource::playlists::search_document;

/// Stores a new playlist and its indexes.
///
/// # Errors
/// As the store.
pub fn insert(tx: &mut Tx<'_>, id: &str, playlist: &Stored<Playlist>) -> Result<(), Error> {
    PLAYLISTS.put(tx, &id.to_owned(), playlist);
    ORDER.put(tx, &id.to_owned(), &Directory::default());
    index_rows(tx, id, &playlist.head, true)?;
    search_document::put(tx, id, playlist)
}

/// Replaces a playlist.
///
/// # Errors
/// As the store.
pub fn replace(
    tx: &mut Tx<'_>,
    id: &str,
    old: &Stored<Playlist>,
    new: &Stored<Playlist>,
) -> Result<(), Error> {
    if old != new {
        index_rows(tx, id, &old.head, false)?;
        PLAYLISTS.put(tx, &id.to_owned(), new);
        index_rows(tx, id, &new.head, true)?;
        search_document::put(tx, id, new)?;
    }
    Ok(())
}

/// Removes a playlist. Its items are gone at once for everyone; their rows, and its place in sections, go in steps afterwards.
///
/// # Errors
/// As the store.
pub fn remove(tx: &mut Tx<'_>, id: &str, playlist: &Stored<Playlist>) -> Result<(), Error> {
    index_rows(tx, id, &playlist.head, false)?;
    PLAYLISTS.delete(tx, &id.to_owned());
    PLAYLIST_GARBAGE.put(tx, &id.to_owned(), &Id(playlist.head.channel.clone()));
    index::remove(tx, Kind::Playlist, id)?;
    cascade::begin(tx, Cascade::Playlist, id);
    Ok(())
}

/// Plans what a change of a playlist of this channel reads.
pub fn plan(plan: &mut Plan<'_>, id: &str, channel: &str) {
    plan.row(&PLAYLISTS, &id.to_owned());
    plan.row(&ORDER, &id.to_owned());
    plan.row(&CHANNELS, &channel.to_owned());
    for audience in 0..=1 {
        plan.row(&PLAYLIST_COUNT, &(channel.to_owned(), audience));
    }
    index::plan(plan, Kind::Playlist, id);
}

fn index_rows(tx: &mut Tx<'_>, id: &str, head: &Playlist, more: bool) -> Result<(), Error> {
    let time = latest_first(head.published.micros());
    for audience in [0, 1] {
        if audience == 0 && head.privacy != Privacy::Public {
            continue;
        }
        let row = (head.channel.clone(), audience, time, id.to_owned());
        if more {
            CHANNEL_PLAYLISTS.put(tx, &row, &());
        } else {
            CHANNEL_PLAYLISTS.delete(tx, &row);
        }
        counter::change(tx, &PLAYLIST_COUNT, &(head.channel.clone(), audience), more)?;
    }
    Ok(())
}
