//! Pages of a playlist that has an order of its own.

use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::response::{List, Paging};
use crate::resource::playlist_items::open_playlist::OpenPlaylist;
use crate::resource::playlist_items::order::Order;
use crate::resource::playlist_items::record::{ITEMS, ITEMS_MAX, ITEMS_OF_VIDEO};
use crate::resource::playlist_items::render::{LISTED_ITEMS, Number};

/// A page of an order. The token names the items on both sides of where the page begins; if both are gone, its position counts.
pub(super) fn ordered(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    opened: &OpenPlaylist,
    token: Option<&PageToken>,
    binding: Binding,
    list: &mut List,
) -> Result<Paging, Error> {
    let size = call.page_size();
    let order = Order::load(tx, &opened.id)?;
    let mut place = PagePlace { start: 0, items: size };
    if let Some(token) = token {
        place =
            place_of(token, size, |number| match ITEMS.get(tx, &(opened.id.clone(), number))? {
                Some(item) => order.position(tx, number, &item),
                None => Ok(None),
            })?;
    }
    // One more: where the next page begins.
    let numbers = order.slice(tx, place.start, place.items.saturating_add(1))?;
    let mut key = (opened.id.clone(), 0);
    for (number, position) in numbers.iter().take(place.items as usize).zip(place.start..) {
        key.1 = *number;
        if let Some(listed) = LISTED_ITEMS.peek_shared(tx, &key)? {
            list.push(&*opened.list(call, tx, *number, position, &listed)?);
        }
    }
    Ok(place.paging(&numbers, order.total(), size, binding))
}

/// The items of a page.
#[derive(Debug, Clone, Copy)]
struct PagePlace {
    /// The position of the first one.
    start: u32,
    /// Their number at most.
    items: u32,
}

/// The place of the page of a token: after the item before it, or, once that is gone, at the one that was to begin it, for a client that
/// deletes what it was shown and goes on would else leave out as much. A previous page ends where the page after it began, whatever its size.
fn place_of(
    token: &PageToken,
    size: u32,
    mut position: impl FnMut(u64) -> Result<Option<u32>, Error>,
) -> Result<PagePlace, Error> {
    let (numbers, rest) = token.key.as_chunks::<8>();
    let mut numbers = numbers.iter().map(|number| u64::from_be_bytes(*number));
    let (first, second) = (numbers.next(), numbers.next());
    let (Some(first), true) = (first, rest.is_empty()) else {
        return Err(Error::InvalidPageToken);
    };
    let here = position(first)?;
    if token.direction == Direction::Previous {
        let end = here.unwrap_or(token.position);
        let start = end.saturating_sub(size);
        return Ok(PagePlace { start, items: end - start });
    }
    if let Some(before) = here {
        return Ok(PagePlace { start: before + 1, items: size });
    }
    let here = second.map(position).transpose()?.flatten();
    Ok(PagePlace { start: here.unwrap_or(token.position), items: size })
}

impl PagePlace {
    /// The words of the envelope about a page of `total` items. `numbers` are its own, and the next one if there is any.
    fn paging(self, numbers: &[u64], total: u32, size: u32, binding: Binding) -> Paging {
        let Self { start, items } = self;
        let next = match numbers.get((items as usize).saturating_sub(1)..) {
            Some([last, next, ..]) if items > 0 => Some([last.to_be_bytes(), next.to_be_bytes()]),
            _ => None,
        };
        let previous = numbers.first().filter(|_| start > 0 && items > 0);
        let print =
            |direction, position, key: &[u8]| PageToken::print(direction, position, key, binding);
        Paging {
            next: next.map(|key| print(Direction::Next, start + items, key.as_flattened())),
            previous: previous.map(|first| print(Direction::Previous, start, &first.to_be_bytes())),
            total: total.into(),
            size,
        }
    }
}

/// A page of the items of an order that are this video. It costs what all of them do, and they are few.
pub(super) fn of_video(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    opened: &OpenPlaylist,
    video: &str,
    token: Option<&PageToken>,
    binding: Binding,
    list: &mut List,
) -> Result<Paging, Error> {
    let size = call.page_size();
    let order = Order::load(tx, &opened.id)?;
    let mut found = Vec::new();
    for number in items_of_video(tx, &opened.id, video)? {
        if let Some(item) = ITEMS.get(tx, &(opened.id.clone(), number))? {
            let position = order.position(tx, number, &item)?.unwrap_or_default();
            found.push((position, number, item));
        }
    }
    found.sort_by_key(|(position, ..)| *position);
    let mut place = PagePlace { start: 0, items: size };
    if let Some(token) = token {
        place = place_of(token, size, |number| {
            let here = found.iter().position(|(_, known, _)| *known == number);
            Ok(here.and_then(|at| u32::try_from(at).ok()))
        })?;
    }
    let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let PagePlace { start, items } = place;
    let page: Vec<_> = found.into_iter().skip(start as usize).take(items as usize + 1).collect();
    for (position, number, item) in page.iter().take(items as usize) {
        list.push(&opened.show(call, tx, Number::Ordered(*number), Some(*position), item)?);
    }
    let numbers: Vec<_> = page.iter().map(|(_, number, _)| *number).collect();
    Ok(place.paging(&numbers, total, size, binding))
}

/// The numbers of the items of a playlist that are this video.
pub(super) fn items_of_video(
    tx: &mut Tx<'_>,
    playlist: &str,
    video: &str,
) -> Result<Vec<u64>, Error> {
    let span = ITEMS_OF_VIDEO.span(&(playlist.to_owned(), video.to_owned()));
    let (rows, _) = ITEMS_OF_VIDEO.scan(tx, &span, ITEMS_MAX as usize)?;
    Ok(rows.into_iter().map(|((_, _, number), ())| number).collect())
}
