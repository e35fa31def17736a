//! The rows that a page of an order is made of, named as far as they are known.

use triptych_core::kv::Plan;

use crate::api::page_token::{Direction, PageToken};
use crate::resource::playlist_items::order::{CHUNKS, Directory, ORDER};
use crate::resource::playlist_items::record::ITEMS;
use crate::resource::videos::record::VIDEOS;

/// The chunk that a playlist begins with, and nearly all keep alone.
const FIRST_CHUNK: u32 = 0;

/// Plans at most `size` items of the order of `playlist`, from the place of a token on, and their videos.
pub fn page(plan: &mut Plan<'_>, playlist: &str, token: Option<&PageToken>, size: u32) {
    let playlist = playlist.to_owned();
    plan.row(&CHUNKS, &(playlist.clone(), FIRST_CHUNK));
    let directory = plan.row(&ORDER, &playlist);
    let place = token.map(|token| place_of(plan, &playlist, token, size));
    let (Some(directory), Some(start)) = (directory, place.unwrap_or(Some(0))) else {
        return;
    };
    for number in numbers(plan, &playlist, &directory, start, size) {
        if let Some(item) = plan.row(&ITEMS, &(playlist.clone(), number)) {
            plan.row(&VIDEOS, &item.video);
        }
    }
}

/// Plans what a change at a position reads, which is the end where none is given: the chunk that is there, and the first item, whose video is the
/// playlist's picture.
pub fn change(plan: &mut Plan<'_>, playlist: &str, position: Option<u64>) {
    chunk(plan, playlist, FIRST_CHUNK);
    let Some(directory) = plan.row(&ORDER, &playlist.to_owned()) else {
        return;
    };
    let position = position.and_then(|at| u32::try_from(at).ok());
    let end = directory.total();
    let here = directory.place(position.unwrap_or(end).min(end));
    let here = here.and_then(|(at, _)| directory.chunks.get(at));
    here.into_iter().for_each(|(id, _)| chunk(plan, playlist, *id));
    for number in numbers(plan, playlist, &directory, 0, 2) {
        plan.row(&ITEMS, &(playlist.to_owned(), number));
    }
}

/// Plans a chunk of an order.
pub fn chunk(plan: &mut Plan<'_>, playlist: &str, chunk: u32) {
    plan.row(&CHUNKS, &(playlist.to_owned(), chunk));
}

/// The position at which the page of a token begins, about: its item may have moved. `None` until the item is known.
fn place_of(plan: &mut Plan<'_>, playlist: &str, token: &PageToken, size: u32) -> Option<u32> {
    // The items on both sides of where it begins.
    let (numbers, _) = token.key.as_chunks::<8>();
    let known = numbers
        .iter()
        .filter_map(|number| plan.row(&ITEMS, &(playlist.to_owned(), u64::from_be_bytes(*number))));
    let is_known = known.count() > 0;
    let back = if token.direction == Direction::Previous { size } else { 0 };
    is_known.then(|| token.position.saturating_sub(back))
}

/// The numbers of the items at these positions, as far as their chunks are known.
fn numbers(
    plan: &mut Plan<'_>,
    playlist: &str,
    directory: &Directory,
    start: u32,
    size: u32,
) -> Vec<u64> {
    let (mut skip, size) = (start as usize, size as usize);
    let mut numbers = Vec::new();
    for (chunk, count) in &directory.chunks {
        let count = *count as usize;
        if numbers.len() >= size {
            break;
        }
        if skip >= count {
            skip -= count;
            continue;
        }
        let known = plan.row(&CHUNKS, &(playlist.to_owned(), *chunk)).unwrap_or_default();
        numbers.extend(known.0.into_iter().skip(skip).take(size - numbers.len()));
        skip = 0;
    }
    numbers
}
