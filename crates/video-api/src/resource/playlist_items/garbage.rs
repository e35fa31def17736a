//! Rows of playlists that are gone, removed step by step.

use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::resource::playlist_items::activity;
use crate::resource::playlist_items::order::{CHUNKS, ORDER};
use crate::resource::playlist_items::record::{ITEMS, ITEMS_MAX, ITEMS_OF_VIDEO};
use crate::resource::playlists::record::{PLAYLIST_GARBAGE, PLAYLISTS};

/// Number of rows that one step of [`sweep`] removes.
const SWEEP_STEP: usize = 60;

/// The most playlists that [`pending`] counts.
const PENDING_MAX: usize = 1_000;

/// Number of playlists that are gone and whose rows are not, the first ones of many.
///
/// # Errors
/// As the store.
pub fn pending(tx: &mut Tx<'_>) -> Result<usize, Error> {
    let (gone, _) = PLAYLIST_GARBAGE.scan(tx, &PLAYLIST_GARBAGE.span(&()), PENDING_MAX)?;
    Ok(gone.len())
}

/// Removes rows of playlists that are gone, at most one step; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn sweep(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let (gone, _) = PLAYLIST_GARBAGE.scan(tx, &PLAYLIST_GARBAGE.span(&()), 1)?;
    let Some((playlist, owner)) = gone.into_iter().next() else {
        return Ok(false);
    };
    let (items, more) = ITEMS.scan(tx, &ITEMS.span(&playlist), SWEEP_STEP)?;
    for ((_, number), item) in &items {
        activity::removed(tx, &playlist, &owner.0, *number, item)?;
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
