//! Consequences of adding a video to a playlist, beside its item: an activity of the owner, and for the favourites a count of the video.

use triptych_core::kv::{Plan, Tx};

use crate::api::error::Error;
use crate::record::id::{self, PlaylistName, SystemPlaylist};
use crate::resource::activities::record::{self as activities, Event};
use crate::resource::playlist_items::record::PlaylistItem;
use crate::resource::videos::record::VIDEO_COUNTS;

/// Records that `owner` added an item to a playlist that is in an order of its own.
///
/// # Errors
/// As the store.
pub fn added(
    tx: &mut Tx<'_>,
    playlist: &str,
    owner: &str,
    number: u64,
    item: &PlaylistItem,
) -> Result<(), Error> {
    let Some(event) = event(playlist, number, &item.video) else {
        return Ok(());
    };
    if matches!(event, Event::Favorite(_)) {
        count_favorite(tx, &item.video, true)?;
    }
    activities::note(tx, owner, item.added, event, true)
}

/// Takes it back.
///
/// # Errors
/// As the store.
pub fn removed(
    tx: &mut Tx<'_>,
    playlist: &str,
    owner: &str,
    number: u64,
    item: &PlaylistItem,
) -> Result<(), Error> {
    let Some(event) = event(playlist, number, &item.video) else {
        return Ok(());
    };
    if matches!(event, Event::Favorite(_)) {
        count_favorite(tx, &item.video, false)?;
    }
    activities::forget(tx, owner, &event)
}

/// Plans what [`added`] and [`removed`] read.
pub fn plan(plan: &mut Plan<'_>, playlist: &str, owner: &str, number: u64, video: &str) {
    if let Some(event) = event(playlist, number, video) {
        plan.row(&VIDEO_COUNTS, &video.to_owned());
        activities::plan(plan, owner, &event);
    }
}

/// The activity that adding a video to a playlist is to others: none where the list is the owner's alone.
fn event(playlist: &str, number: u64, video: &str) -> Option<Event> {
    let video = video.to_owned();
    match id::playlist_name(playlist, None) {
        PlaylistName::Made(playlist) => Some(Event::PlaylistItem { playlist, number, video }),
        PlaylistName::Special(SystemPlaylist::Favorites, _) => Some(Event::Favorite(video)),
        PlaylistName::Special(..) => None,
    }
}

fn count_favorite(tx: &mut Tx<'_>, video: &str, more: bool) -> Result<(), Error> {
    let key = video.to_owned();
    if let Some(mut counts) = VIDEO_COUNTS.get(tx, &key)? {
        let count = counts.favorites;
        counts.favorites = if more { count.saturating_add(1) } else { count.saturating_sub(1) };
        VIDEO_COUNTS.put(tx, &key, &counts);
    }
    Ok(())
}
