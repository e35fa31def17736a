//! Playlist items, also of the special playlists: a like is an item of the likes, a play is one of the watch history.

pub mod open_playlist;
pub mod record;
pub mod rules;
pub mod system_playlist;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::api::call::Call;
use crate::api::error::Error;
use crate::api::id_list;
use crate::api::operation::{Filters, Operation, Part, READ, Run, WRITE};
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::parameter::{ID, IDS, MAX_RESULTS, OWNER, PAGE_TOKEN, PART, Param};

use crate::api::response::{Item, List, Paging, Reply};
use crate::record::id::{self, Special};
use crate::record::json_fields::Body;
use crate::record::tables::{ITEMS, ITEMS_OF_VIDEO, LISTED_ITEMS, VIDEOS};
use crate::resource::Resource;
use crate::resource::playlist_items::record::{ITEMS_MAX, Number, Order, PlaylistItem};
use crate::resource::playlist_items::system_playlist::{Entry, watch};
use crate::resource::videos::record as video;
use open_playlist::{Home, Place};

/// The resource.
pub static RESOURCE: Resource =
    Resource { operations: &[DELETE, INSERT, LIST, UPDATE], rules: rules::RULES };

/// The parts of a playlistItem.
const PLAYLIST_ITEM_PARTS: &[Part] = &[
    Part::written("id"),
    Part::written("snippet"),
    Part::written("contentDetails"),
    Part::written("status"),
];

/// `playlistItems.delete`.
const DELETE: Operation = Operation {
    doc: "Delete an item.",
    params: &[ID, OWNER],
    scopes: WRITE,
    ..Operation::delete("playlistItems.delete", "/playlistItems", Run::Call(delete))
};

/// `playlistItems.insert`.
const INSERT: Operation = Operation {
    doc: "Add a resource to a playlist.",
    params: &[PART, OWNER],
    parts: PLAYLIST_ITEM_PARTS,
    scopes: WRITE,
    request: Some("PlaylistItem"),
    response: Some("PlaylistItem"),
    ..Operation::insert("playlistItems.insert", "/playlistItems", Run::Call(insert))
};

/// `playlistItems.list`.
const LIST: Operation = Operation {
    doc: "All items of a playlist, or items by unique ids.",
    params: &[
        PART,
        IDS,
        MAX_RESULTS,
        OWNER,
        PAGE_TOKEN,
        Param::text("playlistId", "The id of a playlist."),
        Param::text("videoId", "The id of a video."),
    ],
    filters: Filters::One(&["id", "playlistId"]),
    parts: PLAYLIST_ITEM_PARTS,
    scopes: READ,
    response: Some("PlaylistItemListResponse"),
    ..Operation::list("playlistItems.list", "/playlistItems", Run::Call(list))
};

/// `playlistItems.update`.
const UPDATE: Operation = Operation {
    doc: "Modify an item (for example its position).",
    params: &[PART, OWNER],
    parts: PLAYLIST_ITEM_PARTS,
    scopes: WRITE,
    request: Some("PlaylistItem"),
    response: Some("PlaylistItem"),
    ..Operation::update("playlistItems.update", "/playlistItems", Run::Call(update))
};

/// A note has at most this many characters (facts: playlistItems.insert).
const NOTE_CHARS_MAX: usize = 280;

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let size = call.page_size(5);
    let mut list = List::of("playlistItemListResponse", call.form());
    if call.params.has("id") {
        let mut found = Vec::new();
        for id in call.params.list("id") {
            found.extend(by_id(call, tx, id)?);
        }
        let (page, paging) = id_list::page(call, found)?;
        page.iter().for_each(|item| list.push(item));
        return Ok(list.end(Some(&paging)));
    }
    let home = Home::open(call, tx, call.params.get("playlistId").unwrap_or_default())?;
    let video = call.params.get("videoId");
    let binding = Binding::of(&[call.operation.name, &home.id, video.unwrap_or_default()]);
    let token = call.page_token(binding)?;
    let paging = match (&home.place, video) {
        (Place::Ordered, None) => ordered(call, tx, &home, token.as_ref(), binding, &mut list)?,
        (Place::Ordered, Some(video)) => {
            of_video(call, tx, &home, video, token.as_ref(), binding, &mut list)?
        }
        (Place::Timed(special), None) => {
            let page = home.timed(call, *special).page(tx, token.as_ref(), size, binding)?;
            for (entry, position) in page.entries.iter().zip(page.position..) {
                let number = Number::Timed(&entry.number);
                list.push(&home.show(call, tx, number, position, &entry.item)?);
            }
            Paging { next: page.next, previous: page.previous, total: page.total, size }
        }
        (Place::Timed(special), Some(video)) => {
            let found = home.timed(call, *special).of_video(tx, video)?;
            let (page, paging) = id_list::slice(call, found, size, binding)?;
            for (position, entry) in &page {
                let number = Number::Timed(&entry.number);
                list.push(&home.show(call, tx, number, *position, &entry.item)?);
            }
            paging
        }
    };
    if let Some(video) = video.filter(|_| paging.total == 0) {
        // A video that the list does not hold is an empty list; one that is not there is a fault.
        video::visible(tx, video, call.caller)?.ok_or(&rules::FILTER_VIDEO_NOT_FOUND)?;
    }
    Ok(list.end(Some(&paging)))
}

/// A page of an order. The token names the items on both sides of where the page begins; if both are gone, its position counts.
fn ordered(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    home: &Home,
    token: Option<&PageToken>,
    binding: Binding,
    list: &mut List,
) -> Result<Paging, Error> {
    let size = call.page_size(5);
    let order = Order::load(tx, &home.id)?;
    let mut start = 0;
    if let Some(token) = token {
        start =
            start_of(token, size, |number| match ITEMS.get(tx, &(home.id.clone(), number))? {
                Some(item) => order.position(tx, number, &item),
                None => Ok(None),
            })?;
    }
    // One more: where the next page begins.
    let numbers = order.slice(tx, start, size.saturating_add(1))?;
    let mut key = (home.id.clone(), 0);
    for (number, position) in numbers.iter().take(size as usize).zip(start..) {
        key.1 = *number;
        if let Some(listed) = LISTED_ITEMS.peek_shared(tx, &key)? {
            list.push(&*home.list(call, tx, *number, position, &listed)?);
        }
    }
    Ok(paging(&numbers, start, order.total(), size, binding))
}

/// Where the page of a token starts: after the item before it, or, once that is gone, at the one that was to begin it, for a client that
/// deletes what it was shown and goes on would else leave out as much.
fn start_of(
    token: &PageToken,
    size: u32,
    mut position: impl FnMut(u64) -> Result<Option<u32>, Error>,
) -> Result<u32, Error> {
    let (numbers, rest) = token.key.as_chunks::<8>();
    let mut numbers = numbers.iter().map(|number| u64::from_be_bytes(*number));
    let (first, second) = (numbers.next(), numbers.next());
    let (Some(first), true) = (first, rest.is_empty()) else {
        return Err(Error::InvalidPageToken);
    };
    let here = position(first)?;
    if token.direction == Direction::Previous {
        return Ok(here.unwrap_or(token.position).saturating_sub(size));
    }
    if let Some(before) = here {
        return Ok(before + 1);
    }
    let here = second.map(position).transpose()?.flatten();
    Ok(here.unwrap_or(token.position))
}

/// What the envelope says of a page that starts at `start` of `total`. `numbers` are its own, and the next one if there is any.
fn paging(numbers: &[u64], start: u32, total: u32, size: u32, binding: Binding) -> Paging {
    let next = match numbers.get((size as usize).saturating_sub(1)..) {
        Some([last, next, ..]) if size > 0 => Some([last.to_be_bytes(), next.to_be_bytes()]),
        _ => None,
    };
    let previous = numbers.first().filter(|_| start > 0 && size > 0);
    let print =
        |direction, position, key: &[u8]| PageToken::print(direction, position, key, binding);
    Paging {
        next: next.map(|key| print(Direction::Next, start + size, key.as_flattened())),
        previous: previous.map(|first| print(Direction::Previous, start, &first.to_be_bytes())),
        total: total.into(),
        size,
    }
}

/// A page of the items of an order that are this video. It costs what all of them do, and they are few.
fn of_video(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    home: &Home,
    video: &str,
    token: Option<&PageToken>,
    binding: Binding,
    list: &mut List,
) -> Result<Paging, Error> {
    let size = call.page_size(5);
    let order = Order::load(tx, &home.id)?;
    let span = ITEMS_OF_VIDEO.span(&(home.id.clone(), video.to_owned()));
    let (rows, _) = ITEMS_OF_VIDEO.scan(tx, &span, ITEMS_MAX as usize)?;
    let mut found = Vec::new();
    for ((_, _, number), ()) in rows {
        if let Some(item) = ITEMS.get(tx, &(home.id.clone(), number))? {
            let position = order.position(tx, number, &item)?.unwrap_or_default();
            found.push((position, number, item));
        }
    }
    found.sort_by_key(|(position, ..)| *position);
    let mut start = 0;
    if let Some(token) = token {
        start = start_of(token, size, |number| {
            let here = found.iter().position(|(_, known, _)| *known == number);
            Ok(here.and_then(|at| u32::try_from(at).ok()))
        })?;
    }
    let total = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let page: Vec<_> = found.into_iter().skip(start as usize).take(size as usize + 1).collect();
    for (position, number, item) in page.iter().take(size as usize) {
        list.push(&home.show(call, tx, Number::Ordered(*number), *position, item)?);
    }
    let numbers: Vec<_> = page.iter().map(|(_, number, _)| *number).collect();
    Ok(paging(&numbers, start, total, size, binding))
}

/// What an item's id names.
enum Named {
    Ordered(u64, PlaylistItem),
    Timed(Special, Entry),
}

/// The item with this id and its playlist, if `open` lets the caller in.
fn find(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    id: &str,
    open: fn(&Call<'_>, &mut Tx<'_>, &str) -> Result<Home, Error>,
) -> Result<Option<(Home, Named)>, Error> {
    let Some((playlist, number)) = id::parse_item(id) else {
        return Ok(None);
    };
    let home = match open(call, tx, &playlist) {
        Err(Error::Rule(rule)) if *rule == rules::PLAYLIST_NOT_FOUND => return Ok(None),
        home => home?,
    };
    let named = match home.place {
        Place::Timed(special) => {
            home.timed(call, special).find(tx, &number)?.map(|entry| Named::Timed(special, entry))
        }
        Place::Ordered => match u64::from_str_radix(&number, 16) {
            Err(_) => None,
            Ok(number) => {
                ITEMS.get(tx, &(home.id.clone(), number))?.map(|item| Named::Ordered(number, item))
            }
        },
    };
    Ok(named.map(|named| (home, named)))
}

fn by_id(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Option<Item>, Error> {
    let found = match find(call, tx, id, Home::open) {
        Err(Error::Rule(rule)) if rule.status == 403 => None,
        found => found?,
    };
    let Some((home, named)) = found else {
        return Ok(None);
    };
    let item = match &named {
        Named::Timed(special, entry) => {
            let position = home.timed(call, *special).position(tx, &entry.number)?;
            home.show(call, tx, Number::Timed(&entry.number), position, &entry.item)?
        }
        Named::Ordered(number, item) => {
            let position = Order::load(tx, &home.id)?.position(tx, *number, item)?;
            home.show(call, tx, Number::Ordered(*number), position.unwrap_or_default(), item)?
        }
    };
    Ok(Some(item))
}

/// What a client writes of an item.
struct Written {
    playlist: Option<String>,
    video: Option<String>,
    position: Option<u64>,
    note: Option<String>,
    start_at: Option<String>,
    end_at: Option<String>,
}

impl Written {
    fn read(call: &Call<'_>) -> Result<Self, Error> {
        let body = Body::of(call.body);
        let snippet = body.object("snippet", "snippet")?;
        let text =
            |name| snippet.map(|snippet| snippet.text(name)).transpose().map(Option::flatten);
        let resource = snippet
            .map(|snippet| snippet.object("resourceId", "snippet.resourceId"))
            .transpose()?
            .flatten();
        let video = match resource {
            None => None,
            Some(resource) => {
                if resource.text("kind")?.is_some_and(|kind| kind != "youtube#video") {
                    return Err(Error::Rule(&rules::RESOURCE_TYPE_INVALID));
                }
                resource.text("videoId")?
            }
        };
        let position = match snippet.map(|snippet| snippet.number("position")).transpose() {
            Err(_) => return Err(Error::Rule(&rules::POSITION_INVALID)),
            Ok(position) => position.flatten(),
        };
        let details = body.object("contentDetails", "contentDetails")?;
        let detail =
            |name| details.map(|details| details.text(name)).transpose().map(Option::flatten);
        let note = detail("note")?;
        if note.as_ref().is_some_and(|note| note.chars().count() > NOTE_CHARS_MAX) {
            return Err(Error::Rule(&rules::CONTENT_DETAILS_INVALID));
        }
        Ok(Self {
            playlist: text("playlistId")?,
            video,
            position,
            note,
            start_at: detail("startAt")?,
            end_at: detail("endAt")?,
        })
    }
}

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let written = Written::read(call)?;
    let playlist = written.playlist.as_deref().ok_or(&rules::PLAYLIST_ID_REQUIRED)?;
    let video = written.video.ok_or(&rules::RESOURCE_ID_REQUIRED)?;
    let home = Home::open_own(call, tx, playlist)?;
    let found = VIDEOS.get(tx, &video)?.filter(|found| found.head.is_visible(call.caller));
    if found.is_none() {
        return Err(Error::Rule(&rules::VIDEO_NOT_FOUND));
    }
    if let Place::Timed(special) = home.place {
        if written.position.is_some_and(|position| position != 0) {
            return Err(Error::Rule(&rules::MANUAL_SORT_REQUIRED));
        }
        let channel = call.caller.channel()?;
        let entry = if special == Special::Likes {
            video::rate(tx, channel, &video, Some(true), call.now)?;
            home.timed(call, special).find(tx, &video)?.ok_or(&rules::NOT_FOUND)?
        } else {
            watch(tx, ids, channel, &video, call.now)?
        };
        return Ok(Reply::resource(&home.show(
            call,
            tx,
            Number::Timed(&entry.number),
            0,
            &entry.item,
        )?));
    }
    let mut order = Order::load(tx, &home.id)?;
    let mut item = PlaylistItem {
        video,
        added: call.now,
        chunk: 0,
        note: written.note,
        start_at: written.start_at,
        end_at: written.end_at,
    };
    let (number, position) = order.insert(tx, ids, written.position, item.clone())?;
    item = ITEMS.get(tx, &(home.id.clone(), number))?.unwrap_or(item);
    Ok(Reply::resource(&home.show(call, tx, Number::Ordered(number), position, &item)?))
}

fn update(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let written = Written::read(call)?;
    let id = Body::of(call.body).id()?.ok_or(&rules::ID_REQUIRED)?;
    if call.wants("snippet") {
        written.playlist.as_ref().ok_or(&rules::PLAYLIST_ID_REQUIRED)?;
        written.video.as_ref().ok_or(&rules::RESOURCE_ID_REQUIRED)?;
    }
    let (home, named) = find(call, tx, &id, Home::open_own)?.ok_or(&rules::NOT_FOUND)?;
    let Named::Ordered(number, mut item) = named else {
        return Err(Error::Rule(&rules::MANUAL_SORT_REQUIRED));
    };
    let mut order = Order::load(tx, &home.id)?;
    let mut position = order.position(tx, number, &item)?.ok_or(&rules::NOT_FOUND)?;
    call.expect(&home.show(call, tx, Number::Ordered(number), position, &item)?.etag)?;
    let names_other = written
        .playlist
        .as_ref()
        .is_some_and(|playlist| *playlist != home.id && !is_alias(playlist, &home.id))
        || written.video.as_ref().is_some_and(|video| *video != item.video);
    if names_other {
        return Err(Error::Rule(&rules::SNIPPET_INVALID));
    }
    if call.wants("contentDetails") {
        (item.note, item.start_at, item.end_at) = (written.note, written.start_at, written.end_at);
        ITEMS.put(tx, &(home.id.clone(), number), &item);
    }
    if let Some(wanted) = written.position.filter(|_| call.wants("snippet")) {
        position = order.shift(tx, number, &mut item, wanted)?;
    }
    Ok(Reply::resource(&home.show(call, tx, Number::Ordered(number), position, &item)?))
}

/// Whether a short name stands for the playlist: `WL` for the caller's own.
fn is_alias(short: &str, id: &str) -> bool {
    short.len() == 2 && id.starts_with(short)
}

fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default();
    let (home, named) = find(call, tx, id, Home::open_own)?.ok_or(&rules::NOT_FOUND)?;
    match named {
        Named::Timed(special, entry) => {
            let timed = home.timed(call, special);
            if call.if_match.is_some() {
                // Its place in the list is part of its etag, and counted for nobody else.
                let position = timed.position(tx, &entry.number)?;
                let number = Number::Timed(&entry.number);
                call.expect(&home.show(call, tx, number, position, &entry.item)?.etag)?;
            }
            timed.remove(tx, &entry, call.now)?;
        }
        Named::Ordered(number, item) => {
            let mut order = Order::load(tx, &home.id)?;
            let position = order.position(tx, number, &item)?.unwrap_or_default();
            call.expect(&home.show(call, tx, Number::Ordered(number), position, &item)?.etag)?;
            order.remove(tx, number, &item)?;
        }
    }
    Ok(Reply::empty())
}
