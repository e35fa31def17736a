//! Showcases of generated channels: sections of their page, and favourites among the videos of others.

use std::collections::VecDeque;

use triptych_core::id::SeededIds;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::discussion::{below, between, skewed};
use super::vocabulary::phrase;
use crate::api::error::Error;
use crate::record::id::SystemPlaylist;
use crate::resource::channel_sections::record::Section;
use crate::resource::channel_sections::{self, store};
use crate::resource::playlist_items::activity;
use crate::resource::playlist_items::order::Order;
use crate::resource::playlist_items::record::PlaylistItem;
use crate::resource::videos::record::{VIDEO_COUNTS, VideoCounts};

/// Videos among which favourites are drawn.
const KNOWN_MAX: usize = 64;
/// Other channels of a section of channels.
const CHANNELS_SHOWN: u64 = 3;

/// A video that others may come to like best.
#[derive(Debug, Clone)]
pub(super) struct KnownVideo {
    /// Its id.
    pub(super) id: String,
    /// The channel that it is on.
    pub(super) channel: u64,
    /// The time when it was published.
    pub(super) published: Timestamp,
    /// Its counts, which a favourite changes.
    pub(super) counts: VideoCounts,
}

/// The videos that were made last, of which others see each.
#[derive(Debug, Default)]
pub(super) struct KnownVideos(VecDeque<KnownVideo>);

impl KnownVideos {
    /// One more; the oldest is forgotten.
    pub(super) fn push(&mut self, video: KnownVideo) {
        if self.0.len() == KNOWN_MAX {
            self.0.pop_front();
        }
        self.0.push_back(video);
    }

    /// Gives a channel favourites, if it is one of the third that has any, and says how many: seldom many, each the video of another.
    pub(super) fn favourites(
        &mut self,
        tx: &mut Tx<'_>,
        ids: &mut SeededIds,
        (number, owner): (u64, &str),
        latest: Timestamp,
    ) -> Result<u32, Error> {
        if below(ids, 3) != 0 {
            return Ok(0);
        }
        let wanted = 1 + skewed(ids, 3, 2);
        let playlist = SystemPlaylist::Favorites.of(owner);
        let mut made = 0;
        let begin = usize::try_from(below(ids, KNOWN_MAX as u64)).unwrap_or(0);
        let (early, late) = (self.0.len().min(begin), self.0.len());
        for place in (early..late).chain(0..early) {
            let Some(known) = self.0.get_mut(place).filter(|known| known.channel != number) else {
                continue;
            };
            if u64::from(made) == wanted {
                break;
            }
            let item = PlaylistItem {
                video: known.id.clone(),
                added: between(ids, known.published, latest),
                chunk: 0,
                note: None,
                start_at: None,
                end_at: None,
            };
            // Its own channel's part is done: the counts are put as they were, for the favourite to change.
            VIDEO_COUNTS.put(tx, &known.id, &known.counts);
            let (item_number, _) =
                Order::load(tx, &playlist)?.insert(tx, ids, None, item.clone())?;
            activity::added(tx, &playlist, owner, item_number, &item)?;
            if let Some(counts) = VIDEO_COUNTS.get(tx, &known.id)? {
                known.counts = counts;
            }
            made += 1;
        }
        Ok(made)
    }
}

/// Gives a channel sections, if it is one of the half that shows any, and says how many things they name: what is new and popular, lists
/// of its own, and other channels, as `other` draws them. `ids` is where [`shows_sections`] finds it.
pub(super) fn sections(
    tx: &mut Tx<'_>,
    ids: &mut SeededIds,
    owner: &str,
    playlists: &[String],
    other: impl Fn(&mut SeededIds) -> String,
    latest: Timestamp,
) -> Result<u32, Error> {
    if !shows_sections(ids) {
        return Ok(0);
    }
    let titled = |ids: &mut SeededIds| Section { title: Some(phrase(ids)), ..Section::default() };
    let mut made = vec![("recentUploads", Section::default())];
    if below(ids, 2) == 0 {
        made.push(("popularUploads", Section::default()));
    }
    if let Some((first, several)) = playlists.split_first() {
        let playlists = vec![first.clone()];
        made.push(("singlePlaylist", Section { playlists, ..Section::default() }));
        if below(ids, 2) == 0 && !several.is_empty() {
            let playlists = several.to_vec();
            made.push(("multiplePlaylists", Section { playlists, ..titled(ids) }));
        }
    }
    if below(ids, 4) == 0 {
        let mut channels: Vec<_> = (0..CHANNELS_SHOWN).map(|_| other(ids)).collect();
        channels.sort_unstable();
        channels.dedup();
        channels.retain(|other| other != owner);
        if !channels.is_empty() {
            made.push(("multipleChannels", Section { channels, ..titled(ids) }));
        }
    }
    let mut named = 0;
    for (kind, section) in made {
        named += section.playlists.len() + section.channels.len();
        let section = Section { channel: owner.to_owned(), kind: kind.to_owned(), ..section };
        let id = channel_sections::new_id(tx, owner, ids)?;
        store::insert(tx, &id, &section, None, latest)?;
    }
    Ok(u32::try_from(named).unwrap_or(u32::MAX))
}

/// Tells whether a channel shows sections; `ids` is at the beginning of those of its sections.
pub(super) fn shows_sections(ids: &mut SeededIds) -> bool {
    below(ids, 2) == 0
}
