//! The series of videos that a playlist is to a player: one after another, without those that it may not play.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::paginate::Wanted;
use crate::record::id::{self, PlaylistName, SystemPlaylist};
use crate::record::stored::Stored;
use crate::resource::channels::record::CHANNELS;
use crate::resource::playlist_items::order::Order;
use crate::resource::playlist_items::record::{ITEMS, ITEMS_MAX};
use crate::resource::playlist_items::rules;
use crate::resource::playlist_items::system_playlist::TimeOrderedPlaylist;
use crate::resource::playlists::record::PLAYLISTS;
use crate::resource::videos::player;
use crate::resource::videos::record::{VIDEOS, Video};
use crate::resource::videos::rules as videos;

/// Items that are looked through for the one to play and the one after it.
const LOOKED_THROUGH_MAX: u32 = 500;

/// The video of a series whose turn it is.
#[derive(Debug)]
pub struct Turn {
    /// Its id.
    pub id: String,
    /// The video.
    pub video: Stored<Video>,
    /// The position of the one after it, if there is any.
    pub next: Option<u32>,
}

/// The first video of a playlist, from a position on, that a page may play. The playlist is one that everybody may read; of uploads, the
/// latest 5,000 are its items.
///
/// # Errors
/// [`rules::PLAYLIST_NOT_FOUND`], [`videos::NOT_FOUND`] if nothing is left to play.
pub fn turn(tx: &mut Tx<'_>, playlist: &str, from: u32, now: Timestamp) -> Result<Turn, Error> {
    let mut found = None;
    for (id, position) in items(tx, playlist, from)?.into_iter().zip(from..) {
        let video = match player::playable(tx, &id, None, now) {
            Ok(video) => video,
            Err(Error::Rule(_)) => continue,
            Err(error) => return Err(error),
        };
        if let Some((id, video)) = found {
            return Ok(Turn { id, video, next: Some(position) });
        }
        found = Some((id, video));
    }
    let (id, video) = found.ok_or(&videos::NOT_FOUND)?;
    Ok(Turn { id, video, next: None })
}

/// The videos of a playlist from a position on.
fn items(tx: &mut Tx<'_>, playlist: &str, from: u32) -> Result<Vec<String>, Error> {
    let caller = Caller::nobody(tx)?;
    let name = id::playlist_name(playlist, None);
    let owner = match &name {
        PlaylistName::Made(id) => {
            let found = PLAYLISTS.peek(tx, id)?.filter(|found| found.head.is_visible(&caller));
            found.map(|found| found.head.channel.clone())
        }
        PlaylistName::Special(special, owner) => special.is_public().then(|| owner.clone()),
    };
    let owner = owner.filter(|owner| !caller.closing.holds(owner));
    let owner = owner.ok_or(&rules::PLAYLIST_NOT_FOUND)?;
    CHANNELS.peek(tx, &owner)?.ok_or(&rules::PLAYLIST_NOT_FOUND)?;
    match name {
        PlaylistName::Special(special @ SystemPlaylist::Uploads, _) => {
            let uploads = TimeOrderedPlaylist { special, channel: &owner, caller: &caller };
            let end = from.saturating_add(LOOKED_THROUGH_MAX).min(ITEMS_MAX);
            let latest = uploads.page(tx, Wanted::latest(end))?.entries.into_iter();
            Ok(latest.skip(from as usize).map(|entry| entry.item.video).collect())
        }
        PlaylistName::Special(special, _) => ordered(tx, &special.of(&owner), from),
        PlaylistName::Made(id) => ordered(tx, &id, from),
    }
}

/// The same of a playlist that has an order of its own.
fn ordered(tx: &mut Tx<'_>, playlist: &str, from: u32) -> Result<Vec<String>, Error> {
    let numbers = Order::load(tx, playlist)?.slice(tx, from, LOOKED_THROUGH_MAX)?;
    let keys: Vec<_> = numbers.into_iter().map(|number| (playlist.to_owned(), number)).collect();
    tx.plan(|plan| {
        for key in &keys {
            if let Some(item) = plan.row(&ITEMS, key) {
                plan.row(&VIDEOS, &item.video);
            }
        }
    })?;
    let mut videos = Vec::new();
    for key in &keys {
        // An item that went meanwhile leaves its position to a video that nobody finds.
        let item = ITEMS.peek(tx, key)?;
        videos.push(item.map(|item| item.video.clone()).unwrap_or_default());
    }
    Ok(videos)
}
