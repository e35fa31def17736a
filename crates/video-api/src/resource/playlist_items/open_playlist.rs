//! The playlist that items live in, opened for a caller.

use std::sync::Arc;

use triptych_core::kv::Tx;

use crate::api::call::Call;
use crate::api::error::Error;
use crate::api::response::Item;
use crate::record::id::{self, PlaylistName, Special};
use crate::record::stored::Stored;
use crate::record::tables::{CHANNELS, LISTED_VIDEOS, PLAYLISTS};
use crate::resource::channels::record as channel;
use crate::resource::playlist_items::record::{
    self as playlist_item, ListedItem, Number, PlaylistItem, Shown,
};
use crate::resource::playlist_items::rules;
use crate::resource::playlist_items::system_playlist::TimeList;
use crate::resource::videos::record::Video;

/// Where items live: in an order of their own, or in a list by time.
pub(super) enum Place {
    Ordered,
    Timed(Special),
}

/// A playlist that the caller may read.
pub(super) struct Home {
    /// Its id, in full.
    pub(super) id: String,
    pub(super) owner: String,
    title: String,
    pub(super) place: Place,
}

impl Home {
    /// The playlist with this id, if the caller may see its items.
    pub(super) fn open(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Self, Error> {
        let caller = call.caller.account.as_ref().and_then(|account| account.channel.as_deref());
        let (id, owner, place) = match id::playlist_name(id, caller) {
            PlaylistName::Made(id) => {
                let found = PLAYLISTS.get(tx, &id)?.ok_or(&rules::PLAYLIST_NOT_FOUND)?;
                if !found.head.is_visible(call.caller) {
                    return Err(Error::Rule(&rules::NOT_ACCESSIBLE));
                }
                (id, found.head.channel.clone(), Place::Ordered)
            }
            PlaylistName::Special(special, owner) => {
                CHANNELS.peek(tx, &owner)?.ok_or(&rules::PLAYLIST_NOT_FOUND)?;
                if special != Special::Uploads && !call.caller.owns(&owner) {
                    return Err(Error::Rule(&rules::NOT_ACCESSIBLE));
                }
                let place =
                    if special == Special::Later { Place::Ordered } else { Place::Timed(special) };
                (special.of(&owner), owner, place)
            }
        };
        let title = channel::title(tx, &owner)?;
        Ok(Self { id, owner, title, place })
    }

    /// The same, if the caller may change its items.
    pub(super) fn open_own(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Self, Error> {
        let home = Self::open(call, tx, id)?;
        if !call.caller.owns(&home.owner) {
            return Err(Error::Rule(&rules::NOT_ACCESSIBLE));
        }
        if matches!(home.place, Place::Timed(Special::Uploads)) {
            return Err(Error::Rule(&rules::OPERATION_UNSUPPORTED));
        }
        Ok(home)
    }

    pub(super) fn timed(&self, call: &Call<'_>, special: Special) -> TimeList<'_> {
        TimeList { special, channel: &self.owner, owner: call.caller.owns(&self.owner) }
    }

    pub(super) fn show(
        &self,
        call: &Call<'_>,
        tx: &mut Tx<'_>,
        number: Number<'_>,
        position: u32,
        item: &PlaylistItem,
    ) -> Result<Item, Error> {
        let video = LISTED_VIDEOS.peek_shared(tx, &item.video)?;
        let shown =
            self.shown(call, number, position, item, video.as_ref().map(|video| &video.record));
        Ok(playlist_item::render(&shown, &call.parts))
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
        let number = Number::Ordered(number);
        let found = video.as_ref().map(|video| &video.record);
        let shown = self.shown(call, number, position, &listed.record, found);
        Ok(playlist_item::list(listed, &shown, video.as_ref(), &call.parts))
    }

    fn shown<'s>(
        &'s self,
        call: &Call<'_>,
        number: Number<'s>,
        position: u32,
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
