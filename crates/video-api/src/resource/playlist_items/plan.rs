//! The rows that a change of a playlist's items reads, named as far as they are known.

use triptych_core::kv::Plan;

use crate::api::operation::call::Call;
use crate::record::id::{self, PlaylistName, SystemPlaylist};
use crate::resource::channels::record::{self as channels, CHANNELS};
use crate::resource::playlist_items::order::ORDER;
use crate::resource::playlist_items::record::ITEMS;
use crate::resource::playlist_items::{activity, order};
use crate::resource::playlists::record::PLAYLISTS;
use crate::resource::videos::rating;
use crate::resource::videos::record::VIDEOS;
use crate::resource::videos::store as videos;

/// Plans what adding a video to a playlist of the caller's reads.
pub(super) fn insert(
    plan: &mut Plan<'_>,
    call: &Call<'_>,
    playlist: &str,
    video: &str,
    position: Option<u64>,
) {
    plan.row(&VIDEOS, &video.to_owned());
    let Ok(own) = call.caller.channel() else {
        return;
    };
    let playlist = match id::playlist_name(playlist, Some(own)) {
        PlaylistName::Special(SystemPlaylist::Likes, _) => return rating::plan(plan, own, video),
        PlaylistName::Special(SystemPlaylist::Uploads, _) => return videos::plan(plan, video, own),
        PlaylistName::Special(special, owner) => special.of(&owner),
        PlaylistName::Made(id) => id,
    };
    open(plan, &playlist, own);
    order::plan::change(plan, &playlist, position);
}

/// Plans what showing the item with this id reads.
pub(super) fn show(plan: &mut Plan<'_>, id: &str) {
    let Some((playlist, number)) = id::parse_item(id) else {
        return;
    };
    if let Some(found) = plan.row(&PLAYLISTS, &playlist) {
        plan.row(&CHANNELS, &found.head.channel);
    }
    let Ok(number) = u64::from_str_radix(&number, 16) else {
        return;
    };
    plan.row(&ORDER, &playlist);
    if let Some(item) = plan.row(&ITEMS, &(playlist.clone(), number)) {
        order::plan::chunk(plan, &playlist, item.chunk);
        plan.row(&VIDEOS, &item.video);
    }
}

/// Plans what a change of an item reads that is to come to a position.
pub(super) fn change(plan: &mut Plan<'_>, call: &Call<'_>, id: &str, position: Option<u64>) {
    let (Ok(own), Some((playlist, number))) = (call.caller.channel(), id::parse_item(id)) else {
        return;
    };
    open(plan, &playlist, own);
    let Ok(number) = u64::from_str_radix(&number, 16) else {
        return;
    };
    order::plan::change(plan, &playlist, position);
    order::plan::change(plan, &playlist, Some(0));
    if let Some(item) = plan.row(&ITEMS, &(playlist.clone(), number)) {
        order::plan::chunk(plan, &playlist, item.chunk);
        plan.row(&VIDEOS, &item.video);
        activity::plan(plan, &playlist, own, number, &item.video);
    }
}

fn open(plan: &mut Plan<'_>, playlist: &str, own: &str) {
    plan.row(&PLAYLISTS, &playlist.to_owned());
    channels::plan(plan, own);
}
