//! Playlist items, also of the special playlists: a like is an item of the likes, a play is one of the watch history.

pub mod activity;
pub mod garbage;
mod open_playlist;
pub mod order;
mod pages;
mod patch;
mod plan;
pub mod record;
pub mod render;
pub mod rules;
mod seed;
pub mod series;
pub mod system_playlist;

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::api::error::Error;
use crate::api::id_list;
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, Operation, Part, READ, Run, WRITE};
use crate::api::paginate::Wanted;
use crate::api::parameter::{ID, IDS, MAX_RESULTS, OWNER, PAGE_TOKEN, PART, Param};
use crate::api::response::{Item, List, Paging, Reply};
use crate::record::id;
use crate::record::id::{PlaylistName, SystemPlaylist};
use crate::record::json_fields::Body;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::playlist_items::open_playlist::{OpenPlaylist, Place};
use crate::resource::playlist_items::order::Order;
use crate::resource::playlist_items::patch::ItemPatch;
use crate::resource::playlist_items::record::{ITEMS, PlaylistItem};
use crate::resource::playlist_items::render::Number;
use crate::resource::playlist_items::system_playlist::{Entry, watch};
use crate::resource::subscriptions::store as subscriptions;
use crate::resource::videos::record::VIDEOS;
use crate::resource::videos::{rating as ratings, record as videos, store};

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[DELETE, INSERT, LIST, UPDATE],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("history", &system_playlist::HISTORY, Form::Bytes),
        TableEntry::new("historyCount", &system_playlist::HISTORY_COUNT, Form::Json),
        TableEntry::new("order", &order::ORDER, Form::Json),
        TableEntry::new("chunks", &order::CHUNKS, Form::Bytes),
        TableEntry::new("items", &ITEMS, Form::Json),
        TableEntry::new("itemsOfVideo", &record::ITEMS_OF_VIDEO, Form::Bytes),
    ],
    seed: seed::SECTIONS,
};

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
    round_trips: RoundTrips::of(3, 1),
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
    round_trips: RoundTrips::of(5, 1),
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
    plan: open_playlist::plan_page,
    response: Some("PlaylistItemListResponse"),
    round_trips: RoundTrips::of(4, 0),
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
    round_trips: RoundTrips::of(3, 1),
    ..Operation::update("playlistItems.update", "/playlistItems", Run::Call(update))
};

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let size = call.page_size();
    let mut list = List::of("playlistItemListResponse", call.form());
    if call.params.has("id") {
        let (ids, mut found) = (call.params.list("id"), Vec::new());
        tx.plan(|rows| ids.iter().for_each(|id| plan::show(rows, id)))?;
        for (at, id) in ids.iter().enumerate() {
            found.extend(by_id(call, tx, id)?.map(|item| (id_list::rank_at(at), item)));
        }
        let (page, paging) = id_list::page(call, found)?;
        page.iter().for_each(|item| list.push(item));
        return Ok(list.end(Some(&paging)));
    }
    let opened = OpenPlaylist::open(call, tx, call.params.get("playlistId").unwrap_or_default())?;
    let video = call.params.get("videoId");
    let binding = opened.binding(call, video);
    let token = call.page_token(binding)?;
    let paging = match (&opened.place, video) {
        (Place::Ordered, None) => {
            pages::ordered(call, tx, &opened, token.as_ref(), binding, &mut list)?
        }
        (Place::Ordered, Some(video)) => {
            pages::of_video(call, tx, &opened, video, token.as_ref(), binding, &mut list)?
        }
        (Place::Timed(special), None) => {
            let wanted = Wanted { token: token.as_ref(), size, binding };
            let page = opened.timed(call, *special).page(tx, wanted)?;
            tx.plan(|plan| {
                page.entries.iter().for_each(|entry| drop(plan.row(&VIDEOS, &entry.item.video)));
            })?;
            for (entry, position) in page.entries.iter().zip(page.position..) {
                let number = Number::Timed(&entry.number);
                list.push(&opened.show(call, tx, number, Some(position), &entry.item)?);
            }
            Paging { next: page.next, previous: page.previous, total: page.total, size }
        }
        (Place::Timed(special), Some(video)) => {
            let timed = opened.timed(call, *special);
            let found = timed.of_video(tx, video)?.into_iter();
            let found = found.map(|found| (timed.rank(&found.1), found)).collect();
            let (page, paging) = id_list::slice(call, found, size, binding)?;
            for (position, entry) in &page {
                let number = Number::Timed(&entry.number);
                list.push(&opened.show(call, tx, number, *position, &entry.item)?);
            }
            paging
        }
    };
    if let Some(video) = video.filter(|_| paging.total == 0) {
        // A video that the list does not hold is an empty list; one that is not there is a fault.
        videos::visible(tx, video, call.caller)?.ok_or(&rules::FILTER_VIDEO_NOT_FOUND)?;
    }
    Ok(list.end(Some(&paging)))
}

/// The item that an id names.
enum Named {
    Ordered(u64, PlaylistItem),
    Timed(SystemPlaylist, Entry),
}

/// The item with this id and its playlist, if `open` lets the caller in.
fn find(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    id: &str,
    open: fn(&Call<'_>, &mut Tx<'_>, &str) -> Result<OpenPlaylist, Error>,
) -> Result<Option<(OpenPlaylist, Named)>, Error> {
    let Some((playlist, number)) = id::parse_item(id) else {
        return Ok(None);
    };
    let opened = match open(call, tx, &playlist) {
        Err(Error::Rule(rule)) if *rule == rules::PLAYLIST_NOT_FOUND => return Ok(None),
        opened => opened?,
    };
    let named = match opened.place {
        Place::Timed(special) => {
            opened.timed(call, special).find(tx, &number)?.map(|entry| Named::Timed(special, entry))
        }
        Place::Ordered => match u64::from_str_radix(&number, 16) {
            Err(_) => None,
            Ok(number) => ITEMS
                .get(tx, &(opened.id.clone(), number))?
                .map(|item| Named::Ordered(number, item)),
        },
    };
    Ok(named.map(|named| (opened, named)))
}

fn by_id(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Option<Item>, Error> {
    let found = match find(call, tx, id, OpenPlaylist::open) {
        Err(Error::Rule(rule)) if rule.status == 403 => None,
        found => found?,
    };
    let Some((opened, named)) = found else {
        return Ok(None);
    };
    let item = match &named {
        Named::Timed(special, entry) => {
            let position = opened.timed(call, *special).position(tx, &entry.number)?;
            opened.show(call, tx, Number::Timed(&entry.number), position, &entry.item)?
        }
        Named::Ordered(number, item) => {
            let position = Order::load(tx, &opened.id)?.position(tx, *number, item)?;
            opened.show(call, tx, Number::Ordered(*number), position, item)?
        }
    };
    Ok(Some(item))
}

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let written = ItemPatch::read(call)?;
    let playlist = written.playlist.as_deref().ok_or(&rules::PLAYLIST_ID_REQUIRED)?;
    let video = written.video.ok_or(&rules::RESOURCE_ID_REQUIRED)?;
    tx.plan(|plan| plan::insert(plan, call, playlist, &video, written.position))?;
    let opened = OpenPlaylist::open_own(call, tx, playlist)?;
    let found = patch::video_to_add(call, tx, &video)?;
    if let Place::Timed(special) = opened.place {
        if written.position.is_some_and(|position| position != 0) {
            return Err(Error::Rule(&rules::MANUAL_SORT_REQUIRED));
        }
        if special == SystemPlaylist::Uploads && found.head.channel != opened.owner {
            return Err(Error::Rule(&rules::OPERATION_UNSUPPORTED));
        }
        if special == SystemPlaylist::History {
            let channel = call.caller.channel()?;
            subscriptions::watched(tx, channel, &found.head.channel, call.now)?;
        }
        return insert_timed(call, tx, ids, &opened, special, &video);
    }
    let mut order = Order::load(tx, &opened.id)?;
    if opened.holds_once() && !pages::items_of_video(tx, &opened.id, &video)?.is_empty() {
        return Err(Error::Rule(&rules::ALREADY_IN_PLAYLIST));
    }
    let mut item = PlaylistItem {
        video,
        added: call.now,
        chunk: 0,
        note: written.note,
        start_at: written.start_at,
        end_at: written.end_at,
    };
    let (number, position) = order.insert(tx, ids, written.position, item.clone())?;
    tx.plan(|plan| activity::plan(plan, &opened.id, &opened.owner, number, &item.video))?;
    activity::added(tx, &opened.id, &opened.owner, number, &item)?;
    item = ITEMS.get(tx, &(opened.id.clone(), number))?.unwrap_or(item);
    let number = Number::Ordered(number);
    Ok(Reply::resource(&opened.show(call, tx, number, Some(position), &item)?))
}

/// Adds a video to a list that time orders.
fn insert_timed(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    opened: &OpenPlaylist,
    special: SystemPlaylist,
    video: &str,
) -> Result<Reply, Error> {
    let channel = call.caller.channel()?;
    let timed = opened.timed(call, special);
    let entry = match special {
        SystemPlaylist::History | SystemPlaylist::Later | SystemPlaylist::Favorites => {
            watch(tx, ids, channel, video, call.now)?
        }
        SystemPlaylist::Likes => {
            ratings::set(tx, channel, video, Some(true), call.now)?;
            timed.find(tx, video)?.ok_or(&rules::NOT_FOUND)?
        }
        SystemPlaylist::Uploads => {
            store::set_in_uploads(tx, video, true)?;
            timed.find(tx, video)?.ok_or(&rules::NOT_FOUND)?
        }
    };
    // A video that was liked before stays where it is, and an upload stands where its time puts it.
    let position = timed.position_of_added(tx, &entry.number)?;
    let number = Number::Timed(&entry.number);
    Ok(Reply::resource(&opened.show(call, tx, number, position, &entry.item)?))
}

fn update(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let written = ItemPatch::read(call)?;
    let id = Body::of(call.body).id()?.ok_or(&rules::ID_REQUIRED)?;
    if call.wants("snippet") {
        written.playlist.as_ref().ok_or(&rules::PLAYLIST_ID_REQUIRED)?;
        written.video.as_ref().ok_or(&rules::RESOURCE_ID_REQUIRED)?;
    }
    tx.plan(|plan| plan::change(plan, call, &id, written.position))?;
    let (opened, named) = find(call, tx, &id, OpenPlaylist::open_own)?.ok_or(&rules::NOT_FOUND)?;
    let Named::Ordered(number, mut item) = named else {
        let moves = call.wants("snippet") && written.position.is_some();
        let rule = if moves { &rules::MANUAL_SORT_REQUIRED } else { &rules::UPDATE_UNSUPPORTED };
        return Err(Error::Rule(rule));
    };
    let mut order = Order::load(tx, &opened.id)?;
    let mut position = order.position(tx, number, &item)?.ok_or(&rules::NOT_FOUND)?;
    let shown = Number::Ordered(number);
    call.expect(&opened.show(call, tx, shown, Some(position), &item)?.etag)?;
    if written.playlist.as_ref().is_some_and(|named| full_id(named, &opened.owner) != opened.id) {
        return Err(Error::Rule(&rules::SNIPPET_INVALID));
    }
    if written.video.as_ref().is_some_and(|video| *video != item.video) {
        return Err(Error::Rule(&rules::VIDEO_FIXED));
    }
    if call.wants("contentDetails") {
        (item.note, item.start_at, item.end_at) = (written.note, written.start_at, written.end_at);
        ITEMS.put(tx, &(opened.id.clone(), number), &item);
    }
    if let Some(wanted) = written.position.filter(|_| call.wants("snippet")) {
        position = order.shift(tx, number, &mut item, wanted)?;
    }
    Ok(Reply::resource(&opened.show(call, tx, shown, Some(position), &item)?))
}

/// The id of a playlist that an owner of special ones names, also by a short name: `WL`, `FL`.
fn full_id(named: &str, owner: &str) -> String {
    match id::playlist_name(named, Some(owner)) {
        PlaylistName::Made(id) => id,
        PlaylistName::Special(special, owner) => special.of(&owner),
    }
}

fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default();
    tx.plan(|plan| plan::change(plan, call, id, None))?;
    let (opened, named) = find(call, tx, id, OpenPlaylist::open_own)?.ok_or(&rules::NOT_FOUND)?;
    match named {
        Named::Timed(special, entry) => {
            let timed = opened.timed(call, special);
            let number = Number::Timed(&entry.number);
            call.expect(&opened.show(call, tx, number, None, &entry.item)?.etag)?;
            timed.remove(tx, &entry, call.now)?;
        }
        Named::Ordered(number, item) => {
            let mut order = Order::load(tx, &opened.id)?;
            let position = order.position(tx, number, &item)?;
            call.expect(&opened.show(call, tx, Number::Ordered(number), position, &item)?.etag)?;
            order.remove(tx, number, &item)?;
            activity::removed(tx, &opened.id, &opened.owner, number, &item)?;
        }
    }
    Ok(Reply::empty())
}
