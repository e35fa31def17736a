//! Playlist items: rows that know their chunk, and the order of a playlist in chunks of item numbers.
//!
//! Positions are not stored. The position of an item is the sum of the chunks before its own and its place in that,
//! so positions are dense whatever happens, and a move touches two chunks and the directory.

use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Record, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::api::response::{Item, Object, string};
use crate::record::id;
use crate::record::render_cache::Listed;
use crate::record::stored::Stored;
use crate::record::tables::{CHUNKS, ITEMS, ITEMS_OF_VIDEO, ORDER, PLAYLIST_GARBAGE, PLAYLISTS};
use crate::resource::playlist_items::rules;
use crate::resource::videos::record::{Privacy, Video};
use crate::resource::videos::render::{ListedVideo, as_item};

/// A playlist has at most this many items.
pub const ITEMS_MAX: u32 = 5_000;
/// A chunk that grows beyond this is split in two.
const CHUNK_MAX: usize = 128;
/// How many rows one step of [`sweep`] removes.
const SWEEP_STEP: usize = 200;

/// One item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaylistItem {
    /// The video.
    pub video: String,
    /// When it was added.
    pub added: Timestamp,
    /// The chunk that names it.
    pub chunk: u32,
    /// The owner's note.
    pub note: Option<String>,
    /// When playing begins, as the owner wrote it.
    pub start_at: Option<String>,
    /// When playing ends, as the owner wrote it.
    pub end_at: Option<String>,
}

impl JsonRecord for PlaylistItem {}

/// Which chunks an order has.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Directory {
    /// Chunk and how many items it names, in order.
    pub chunks: Vec<(u32, u32)>,
    /// The number of the next new chunk.
    pub next: u32,
    /// The first item's video.
    pub first_video: Option<String>,
}

impl JsonRecord for Directory {}

impl Directory {
    /// How many items there are.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.chunks.iter().map(|(_, count)| count).sum()
    }

    /// How many items come before the chunk; `None` if it is none of this order.
    fn before(&self, chunk: u32) -> Option<u32> {
        let at = self.chunks.iter().position(|(id, _)| *id == chunk)?;
        Some(self.chunks.iter().take(at).map(|(_, count)| count).sum())
    }

    /// Which chunk holds `position`, and its place there; one past the end is the end of the last chunk.
    fn place(&self, position: u32) -> Option<(usize, usize)> {
        let mut rest = position;
        for (at, (_, count)) in self.chunks.iter().enumerate() {
            let is_last = at + 1 == self.chunks.len();
            if rest < *count || (is_last && rest == *count) {
                return Some((at, rest as usize));
            }
            rest -= count;
        }
        None
    }
}

/// Item numbers in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chunk(pub Vec<u64>);

impl Record for Chunk {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        for number in &self.0 {
            out.extend_from_slice(&number.to_be_bytes());
        }
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        let numbers = bytes.chunks(8).map(|piece| piece.try_into().ok().map(u64::from_be_bytes));
        (format == Self::FORMAT).then(|| numbers.collect()).flatten().map(Self)
    }
}

/// The order of one playlist, for a transaction that reads or changes it.
#[derive(Debug)]
pub struct Order {
    playlist: String,
    directory: Directory,
}

impl Order {
    /// The order of `playlist`; empty if it never had items.
    ///
    /// # Errors
    /// As the store.
    pub fn load(tx: &mut Tx<'_>, playlist: &str) -> Result<Self, Error> {
        let directory = ORDER.get(tx, &playlist.to_owned())?.unwrap_or_default();
        Ok(Self { playlist: playlist.to_owned(), directory })
    }

    /// How many items there are.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.directory.total()
    }

    fn chunk(&self, tx: &mut Tx<'_>, chunk: u32) -> Result<Chunk, Error> {
        Ok(CHUNKS.get(tx, &(self.playlist.clone(), chunk))?.unwrap_or_default())
    }

    /// Where an item is.
    ///
    /// # Errors
    /// As the store.
    pub fn position(
        &self,
        tx: &mut Tx<'_>,
        number: u64,
        item: &PlaylistItem,
    ) -> Result<Option<u32>, Error> {
        let Some(before) = self.directory.before(item.chunk) else {
            return Ok(None);
        };
        let chunk = CHUNKS.peek(tx, &(self.playlist.clone(), item.chunk))?.unwrap_or_default();
        let at = chunk.0.iter().position(|known| *known == number);
        Ok(at.map(|at| before + u32::try_from(at).unwrap_or(u32::MAX)))
    }

    /// The numbers of at most `size` items from `position` on.
    ///
    /// # Errors
    /// As the store.
    pub fn slice(&self, tx: &mut Tx<'_>, position: u32, size: u32) -> Result<Vec<u64>, Error> {
        let mut numbers = Vec::new();
        let mut skip = position as usize;
        for (chunk, count) in &self.directory.chunks {
            if numbers.len() >= size as usize {
                break;
            }
            if skip >= *count as usize {
                skip -= *count as usize;
                continue;
            }
            let chunk = CHUNKS.peek(tx, &(self.playlist.clone(), *chunk))?.unwrap_or_default();
            numbers.extend(chunk.0.into_iter().skip(skip).take(size as usize - numbers.len()));
            skip = 0;
        }
        Ok(numbers)
    }

    /// Puts a new item at `position`, or at the end.
    ///
    /// # Errors
    /// [`rules::PLAYLIST_FULL`], [`rules::POSITION_INVALID`].
    pub fn insert(
        &mut self,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
        position: Option<u64>,
        mut item: PlaylistItem,
    ) -> Result<(u64, u32), Error> {
        let total = self.total();
        if total >= ITEMS_MAX {
            return Err(Error::Rule(&rules::PLAYLIST_FULL));
        }
        let position = match position {
            None => total,
            Some(position) => u32::try_from(position)
                .ok()
                .filter(|at| *at <= total)
                .ok_or(&rules::POSITION_INVALID)?,
        };
        let number = loop {
            let number = ids.next();
            if ITEMS.get(tx, &(self.playlist.clone(), number))?.is_none() {
                break number;
            }
        };
        self.put(tx, position, number, &mut item)?;
        ITEMS_OF_VIDEO.put(tx, &(self.playlist.clone(), item.video.clone(), number), &());
        self.save(tx)?;
        Ok((number, position))
    }

    /// Moves an item to `position`, counted without it.
    ///
    /// # Errors
    /// [`rules::POSITION_INVALID`].
    pub fn shift(
        &mut self,
        tx: &mut Tx<'_>,
        number: u64,
        item: &mut PlaylistItem,
        position: u64,
    ) -> Result<u32, Error> {
        let position = u32::try_from(position)
            .ok()
            .filter(|at| *at < self.total())
            .ok_or(&rules::POSITION_INVALID)?;
        self.take(tx, number, item)?;
        self.put(tx, position, number, item)?;
        self.save(tx)?;
        Ok(position)
    }

    /// Removes an item.
    ///
    /// # Errors
    /// As the store.
    pub fn remove(
        &mut self,
        tx: &mut Tx<'_>,
        number: u64,
        item: &PlaylistItem,
    ) -> Result<(), Error> {
        self.take(tx, number, item)?;
        ITEMS.delete(tx, &(self.playlist.clone(), number));
        ITEMS_OF_VIDEO.delete(tx, &(self.playlist.clone(), item.video.clone(), number));
        self.save(tx)
    }

    fn take(&mut self, tx: &mut Tx<'_>, number: u64, item: &PlaylistItem) -> Result<(), Error> {
        let mut chunk = self.chunk(tx, item.chunk)?;
        chunk.0.retain(|known| *known != number);
        self.put_chunk(tx, item.chunk, chunk);
        Ok(())
    }

    fn put(
        &mut self,
        tx: &mut Tx<'_>,
        position: u32,
        number: u64,
        item: &mut PlaylistItem,
    ) -> Result<(), Error> {
        if self.directory.chunks.is_empty() {
            let new = self.new_chunk();
            self.directory.chunks.push((new, 0));
        }
        let (at, place) = self.directory.place(position).ok_or(&rules::POSITION_INVALID)?;
        let (id, _) = self.directory.chunks.get(at).copied().ok_or(&rules::POSITION_INVALID)?;
        let mut chunk = self.chunk(tx, id)?;
        chunk.0.insert(place.min(chunk.0.len()), number);
        item.chunk = id;
        ITEMS.put(tx, &(self.playlist.clone(), number), item);
        if chunk.0.len() > CHUNK_MAX {
            let upper = chunk.0.split_off(CHUNK_MAX / 2);
            let new = self.new_chunk();
            for number in &upper {
                let key = (self.playlist.clone(), *number);
                if let Some(mut moved) = ITEMS.get(tx, &key)? {
                    moved.chunk = new;
                    ITEMS.put(tx, &key, &moved);
                }
            }
            if upper.contains(&number) {
                item.chunk = new;
            }
            self.directory.chunks.insert(at + 1, (new, 0));
            self.put_chunk(tx, new, Chunk(upper));
        }
        self.put_chunk(tx, id, chunk);
        Ok(())
    }

    const fn new_chunk(&mut self) -> u32 {
        let new = self.directory.next;
        self.directory.next += 1;
        new
    }

    fn put_chunk(&mut self, tx: &mut Tx<'_>, id: u32, chunk: Chunk) {
        let key = (self.playlist.clone(), id);
        if chunk.0.is_empty() {
            self.directory.chunks.retain(|(known, _)| *known != id);
            CHUNKS.delete(tx, &key);
            return;
        }
        let count = u32::try_from(chunk.0.len()).unwrap_or(u32::MAX);
        if let Some(entry) = self.directory.chunks.iter_mut().find(|(known, _)| *known == id) {
            entry.1 = count;
        }
        CHUNKS.put(tx, &key, &chunk);
    }

    fn save(&mut self, tx: &mut Tx<'_>) -> Result<(), Error> {
        self.directory.first_video = match self.slice(tx, 0, 1)?.first() {
            None => None,
            Some(number) => {
                ITEMS.get(tx, &(self.playlist.clone(), *number))?.map(|item| item.video)
            }
        };
        ORDER.put(tx, &self.playlist, &self.directory);
        Ok(())
    }
}

/// Removes rows of playlists that are gone, at most one step; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn sweep(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let (gone, _) = PLAYLIST_GARBAGE.scan(tx, &PLAYLIST_GARBAGE.span(&()), 1)?;
    let Some((playlist, ())) = gone.into_iter().next() else {
        return Ok(false);
    };
    let (items, more) = ITEMS.scan(tx, &ITEMS.span(&playlist), SWEEP_STEP)?;
    for ((_, number), item) in &items {
        ITEMS.delete(tx, &(playlist.clone(), *number));
        ITEMS_OF_VIDEO.delete(tx, &(playlist.clone(), item.video.clone(), *number));
    }
    if !more {
        let (chunks, _) = CHUNKS.scan(tx, &CHUNKS.span(&playlist), ITEMS_MAX as usize)?;
        for (key, _) in &chunks {
            CHUNKS.delete(tx, key);
        }
        ORDER.delete(tx, &playlist);
        PLAYLIST_GARBAGE.delete(tx, &playlist);
        // A playlist that was made again under this id would have been found by its own rows.
        debug_assert!(
            PLAYLISTS.peek(tx, &playlist)?.is_none(),
            "a playlist that is gone is not there"
        );
    }
    Ok(true)
}

/// An item as lists read it.
pub type ListedItem = Listed<PlaylistItem, With>;

/// What a resource follows from beside its item and the playlist.
#[derive(Debug)]
pub struct With {
    title: String,
    position: u32,
    video: Option<Arc<ListedVideo>>,
    visible: bool,
    parts: Vec<&'static str>,
}

impl With {
    fn is(&self, shown: &Shown<'_>, video: Option<&Arc<ListedVideo>>, parts: &[&str]) -> bool {
        let same_video = match (&self.video, video) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (before, now) => before.is_none() && now.is_none(),
        };
        same_video
            && (self.position, self.visible) == (shown.position, shown.visible)
            && self.title == shown.owner.1
            && self.parts == parts
    }
}

/// The resource of an item that is `shown` so, as it was shown before where nothing of it is another now.
#[must_use]
pub fn list(
    listed: &ListedItem,
    shown: &Shown<'_>,
    video: Option<&Arc<ListedVideo>>,
    parts: &[&'static str],
) -> Arc<Item> {
    let show = || {
        let with = With {
            title: shown.owner.1.to_owned(),
            position: shown.position,
            video: video.map(Arc::clone),
            visible: shown.visible,
            parts: parts.to_owned(),
        };
        (with, render(shown, parts))
    };
    listed.show(|with| with.is(shown, video, parts), show)
}

/// How an item is shown.
#[derive(Debug)]
pub struct Shown<'s> {
    /// The id of the playlist as the client knows it.
    pub playlist: &'s str,
    /// The channel that owns the playlist, and its title.
    pub owner: (&'s str, &'s str),
    /// The item's own part of its id.
    pub number: Number<'s>,
    /// Where it is.
    pub position: u32,
    /// The item.
    pub item: &'s PlaylistItem,
    /// Its video, if it is still there.
    pub video: Option<&'s Stored<Video>>,
    /// Whether the caller may see the video.
    pub visible: bool,
}

/// An item's own part of its id.
#[derive(Debug, Clone, Copy)]
pub enum Number<'s> {
    /// In an order.
    Ordered(u64),
    /// In a list by time.
    Timed(&'s str),
}

fn number_text(number: u64) -> String {
    format!("{number:016X}")
}

/// The resource.
#[must_use]
pub fn render(shown: &Shown<'_>, parts: &[&'static str]) -> Item {
    let id = match shown.number {
        Number::Ordered(number) => id::item(shown.playlist, &number_text(number)),
        Number::Timed(number) => id::item(shown.playlist, number),
    };
    let etag = crate::api::response::etag(&version(shown, &id));
    let mut item = Item::begin("playlistItem", &etag, Some(&id));
    for part in parts {
        match *part {
            "id" => {}
            "snippet" => snippet(shown, &mut item),
            "contentDetails" => item.part(part, &content_details(shown)),
            _ => {
                let mut status = Object::new();
                status.text("privacyStatus", privacy(shown));
                item.part(part, &status.end());
            }
        }
    }
    item.end().sealed((shown.owner, shown.video.map(Stored::etag), shown.visible))
}

/// The version of an item is all that can be written of it and where it is.
fn version(shown: &Shown<'_>, id: &str) -> Vec<u8> {
    let item = shown.item;
    let mut out = Vec::with_capacity(160);
    out.extend_from_slice(&shown.position.to_be_bytes());
    out.extend_from_slice(&item.added.micros().to_be_bytes());
    let written = [&item.note, &item.start_at, &item.end_at].map(Option::as_deref);
    for text in [Some(id), Some(&item.video)].into_iter().chain(written) {
        // No text holds this byte, so that no two versions are the same bytes.
        let text = text.map_or([0xFF].as_slice(), str::as_bytes);
        out.extend_from_slice(text);
        out.push(0xFE);
    }
    out
}

fn privacy(shown: &Shown<'_>) -> &'static str {
    shown.video.map_or("privacyStatusUnspecified", |video| video.head.privacy.name())
}

fn snippet(shown: &Shown<'_>, item: &mut Item) {
    let mut text = Object::new();
    text.text("publishedAt", &shown.item.added.rfc3339());
    text.text("channelId", shown.owner.0);
    text.text("channelTitle", shown.owner.1);
    text.text("playlistId", shown.playlist);
    let video = shown.video.filter(|_| shown.visible);
    if video.is_none() {
        let (title, description) = match shown.video {
            None => ("Deleted video", "This video is unavailable."),
            Some(_) => ("Private video", "This video is private."),
        };
        text.text("title", title);
        text.text("description", description);
        text.value("thumbnails", &Map::<String, Value>::new());
    }
    item.begin_part("snippet");
    item.open(&text);
    if let Some(video) = video {
        item.text.push(b',');
        item.served(&as_item(video));
    }
    item.text.extend_from_slice(b",\"position\":");
    item.text.extend_from_slice(shown.position.to_string().as_bytes());
    item.text.extend_from_slice(b",\"resourceId\":{\"kind\":\"youtube#video\",\"videoId\":");
    string(&mut item.text, &shown.item.video);
    item.text.extend_from_slice(b"}}");
}

fn content_details(shown: &Shown<'_>) -> Bytes {
    let item = shown.item;
    let published = shown
        .video
        .filter(|video| shown.visible && video.head.privacy != Privacy::Private)
        .map(|video| video.head.published.rfc3339());
    let mut out = Object::new();
    for (name, value) in [
        ("endAt", item.end_at.as_ref()),
        ("note", item.note.as_ref()),
        ("startAt", item.start_at.as_ref()),
        ("videoId", Some(&item.video)),
        ("videoPublishedAt", published.as_ref()),
    ] {
        if let Some(value) = value {
            out.text(name, value);
        }
    }
    out.end()
}

#[cfg(test)]
mod tests;
