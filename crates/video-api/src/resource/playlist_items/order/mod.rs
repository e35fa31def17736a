//! The order of a playlist: chunks of item numbers, and rows of items that know their chunk.
//!
//! Positions are not stored. The position of an item is the sum of the chunks before its own and its place in that,
//! so positions are dense whatever happens, and a move touches two chunks and the directory.

pub mod plan;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Record, Table, Tx};

use crate::api::error::Error;
use crate::resource::playlist_items::record::{ITEMS, ITEMS_MAX, ITEMS_OF_VIDEO, PlaylistItem};
use crate::resource::playlist_items::rules;

/// The chunks of a playlist's order.
pub const ORDER: Table<String, Directory> = Table::new(0x33);

/// Chunks of item ids.
pub const CHUNKS: Table<(String, u32), Chunk> = Table::new(0x34);

/// A chunk that grows beyond this is split in two.
const CHUNK_MAX: usize = 128;

/// The chunks of an order.
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
    /// Number of items.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.chunks.iter().map(|(_, count)| count).sum()
    }

    /// Number of items that come before the chunk; `None` if it is none of this order.
    fn before(&self, chunk: u32) -> Option<u32> {
        let at = self.chunks.iter().position(|(id, _)| *id == chunk)?;
        Some(self.chunks.iter().take(at).map(|(_, count)| count).sum())
    }

    /// The chunk that holds `position`, and its place there; one past the end is the end of the last chunk.
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

    /// Number of items.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.directory.total()
    }

    fn chunk(&self, tx: &mut Tx<'_>, chunk: u32) -> Result<Chunk, Error> {
        Ok(CHUNKS.get(tx, &(self.playlist.clone(), chunk))?.unwrap_or_default())
    }

    /// The position of an item.
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

#[cfg(test)]
mod tests;
