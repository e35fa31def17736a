//! The playlist that items live in, opened for a caller.

use std::sync::Arc;

use triptych_core::kv::{Plan, Tx};

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Asked, Operation};
use crate::api::page_token::{Binding, PageToken};
use crate::api::response::Item;
use crate::record::id;
use crate::record::id::{PlaylistName, SystemPlaylist};
use crate::record::stored::Stored;
use crate::resource::channels::record as channels;
use crate::resource::channels::record::CHANNELS;
use crate::resource::playlist_items::record::PlaylistItem;
use crate::resource::playlist_items::render::{ListedItem, Number, Shown};
use crate::resource::playlist_items::system_playlist::TimeOrderedPlaylist;
use crate::resource::playlist_items::{order, render, rules};
use crate::resource::playlists::record::PLAYLISTS;
use crate::resource::videos::record::Video;
use crate::resource::videos::render::LISTED_VIDEOS;

/// The bond of the tokens of a list of items: the items of an order are the same for everybody who reads it.
fn binding(operation: &Operation, playlist: &str, video: Option<&str>, audience: &str) -> Binding {
    Binding::of(&[operation.name, playlist, video.unwrap_or_default(), audience])
}

/// The audience of an order.
const EVERYBODY: &str = "everybody";

/// Plans the rows of a page of a playlist.
pub(super) fn plan_page(asked: &Asked<'_>, plan: &mut Plan<'_>) {
    let Some(id) = asked.get("playlistId") else {
        return;
    };
    let (id, is_ordered) = match id::playlist_name(id, asked.channel) {
        PlaylistName::Made(id) => {
            if let Some(found) = plan.row(&PLAYLISTS, &id) {
                plan.row(&CHANNELS, &found.head.channel);
            }
            (id, true)
        }
        PlaylistName::Special(special, owner) => {
            plan.row(&CHANNELS, &owner);
            (special.of(&owner), special.is_ordered())
        }
    };
    let video = asked.get("videoId");
    if is_ordered && video.is_none() {
        let binding = binding(asked.operation, &id, video, EVERYBODY);
        let token = asked.get("pageToken").and_then(|text| PageToken::parse(text, binding).ok());
        order::plan::page(plan, &id, token.as_ref(), asked.page_size().saturating_add(1));
    }
}

/// A playlist whose items are read or written: in an order of their own, or in a list by time.
pub(super) enum Place {
    Ordered,
    Timed(SystemPlaylist),
}

/// A playlist that the caller may read.
pub(super) struct OpenPlaylist {
    /// Its id, in full.
    pub(super) id: String,
    pub(super) owner: String,
    title: String,
    pub(super) place: Place,
}

impl OpenPlaylist {
    /// The playlist with this id, if the caller may see its items.
    pub(super) fn open(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Self, Error> {
        let caller = call.caller.account.as_ref().and_then(|account| account.channel.as_deref());
        let (id, owner, place) = match id::playlist_name(id, caller) {
            PlaylistName::Made(id) => {
                let found = PLAYLISTS.get(tx, &id)?;
                let found = found.filter(|found| !call.caller.closing.holds(&found.head.channel));
                let found = found.ok_or(&rules::PLAYLIST_NOT_FOUND)?;
                if !found.head.is_visible(call.caller) {
                    return Err(Error::Rule(&rules::NOT_ACCESSIBLE));
                }
                (id, found.head.channel.clone(), Place::Ordered)
            }
            PlaylistName::Special(special, owner) => {
                CHANNELS.peek(tx, &owner)?.ok_or(&rules::PLAYLIST_NOT_FOUND)?;
                if !special.is_public() && !call.caller.owns(&owner) {
                    return Err(Error::Rule(&rules::NOT_ACCESSIBLE));
                }
                let place =
                    if special.is_ordered() { Place::Ordered } else { Place::Timed(special) };
                (special.of(&owner), owner, place)
            }
        };
        let title = channels::title(tx, &owner)?;
        Ok(Self { id, owner, title, place })
    }

    /// The bond of the tokens of its list; a list by time has other items for its owner than for others.
    pub(super) fn binding(&self, call: &Call<'_>, video: Option<&str>) -> Binding {
        let audience = match self.place {
            Place::Timed(_) if call.caller.owns(&self.owner) => "owner",
            _ => EVERYBODY,
        };
        binding(call.operation, &self.id, video, audience)
    }

    /// The same, if the caller may change its items.
    pub(super) fn open_own(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Self, Error> {
        let opened = Self::open(call, tx, id)?;
        if !call.caller.owns(&opened.owner) {
            return Err(Error::Rule(&rules::NOT_ACCESSIBLE));
        }
        Ok(opened)
    }

    /// Returns whether a video is in it once at most, as it is among favourites.
    pub(super) fn holds_once(&self) -> bool {
        matches!(
            id::playlist_name(&self.id, None),
            PlaylistName::Special(SystemPlaylist::Favorites, _)
        )
    }

    pub(super) fn timed<'s>(
        &'s self,
        call: &Call<'s>,
        special: SystemPlaylist,
    ) -> TimeOrderedPlaylist<'s> {
        TimeOrderedPlaylist { special, channel: &self.owner, caller: call.caller }
    }

    pub(super) fn show(
        &self,
        call: &Call<'_>,
        tx: &mut Tx<'_>,
        number: Number<'_>,
        position: Option<u32>,
        item: &PlaylistItem,
    ) -> Result<Item, Error> {
        let video = LISTED_VIDEOS.peek_shared(tx, &item.video)?;
        let video = video.filter(|video| !call.caller.closing.holds(&video.record.head.channel));
        let shown =
            self.shown(call, number, position, item, video.as_ref().map(|video| &video.record));
        Ok(render::render(&shown, &call.parts))
    }

    /// The same of an item of an order, for lists, which show it again and again.
    pub(super) fn list(
        &self,
        call: &Call<'_>,
        tx: &mut Tx<'_>,
        number: u64,
        position: u32,
        listed: &ListedItem,
    ) -> Result<Arc<Item>, Error> {
        let video = LISTED_VIDEOS.peek_shared(tx, &listed.record.video)?;
        let video = video.filter(|video| !call.caller.closing.holds(&video.record.head.channel));
        let number = Number::Ordered(number);
        let found = video.as_ref().map(|video| &video.record);
        let shown = self.shown(call, number, Some(position), &listed.record, found);
        Ok(render::list(listed, &shown, video.as_ref(), &call.parts))
    }

    fn shown<'s>(
        &'s self,
        call: &Call<'_>,
        number: Number<'s>,
        position: Option<u32>,
        item: &'s PlaylistItem,
        video: Option<&'s Stored<Video>>,
    ) -> Shown<'s> {
        Shown {
            playlist: &self.id,
            owner: (&self.owner, &self.title),
            number,
            position,
            item,
            video,
            visible: video.is_some_and(|video| video.head.is_visible(call.caller)),
        }
    }
}
