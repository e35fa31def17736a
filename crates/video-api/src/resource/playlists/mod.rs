//! Playlists: made, listed, changed and removed by their owner.

pub mod patch;
pub mod record;
pub mod render;
pub mod rules;
pub mod search_document;
mod seed;
pub mod store;

use triptych_core::id::Ids;
use triptych_core::kv::{Plan, RoundTrips, Tx};

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, Operation, Part, READ, Run, WRITE};
use crate::api::page_token::Binding;
use crate::api::paginate::Wanted;
use crate::api::parameter::{
    HL, ID, IDS, Kind, MAX_RESULTS, OWNER, OWNER_CHANNEL, PAGE_TOKEN, PART, Param,
};
use crate::api::response::{Item, List, Reply};
use crate::api::{id_list, paginate};
use crate::record::id::PlaylistName;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::record::table_entry::{Form, TableEntry};
use crate::record::{counter, id};
use crate::resource::Resource;
use crate::resource::channels::record as channels;
use crate::resource::channels::record::CHANNELS;
use crate::resource::playlist_items::order::ORDER;
use crate::resource::playlist_items::system_playlist::TimeOrderedPlaylist;
use crate::resource::playlists::record::{CHANNEL_PLAYLISTS, PLAYLIST_COUNT, PLAYLISTS, Playlist};
use crate::resource::playlists::render::Contents;
use crate::resource::videos::record::VIDEOS;

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[DELETE, LIST, INSERT, UPDATE],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("playlists", &PLAYLISTS, Form::Stored),
        TableEntry::new("channelPlaylists", &CHANNEL_PLAYLISTS, Form::Bytes),
        TableEntry::new("playlistCount", &PLAYLIST_COUNT, Form::Json),
        TableEntry::new("playlistGarbage", &record::PLAYLIST_GARBAGE, Form::Json),
    ],
    seed: seed::SECTIONS,
};

/// The parts of a playlist.
const PLAYLIST_PARTS: &[Part] = &[
    Part::written("id"),
    Part::written("snippet"),
    Part::read("contentDetails"),
    Part::written("localizations"),
    Part::read("player"),
    Part::written("status"),
];

/// `playlists.delete`.
const DELETE: Operation = Operation {
    doc: "Delete a playlist.",
    params: &[ID, OWNER],
    scopes: WRITE,
    round_trips: RoundTrips::of(2, 1),
    ..Operation::delete("playlists.delete", "/playlists", Run::Call(delete))
};

/// `playlists.list`.
const LIST: Operation = Operation {
    doc: "Playlists owned by the authenticated user, or by unique ids.",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        HL,
        IDS,
        MAX_RESULTS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        OWNER,
        OWNER_CHANNEL,
        PAGE_TOKEN,
    ],
    filters: Filters::One(&["channelId", "id", "mine"]),
    parts: PLAYLIST_PARTS,
    scopes: READ,
    response: Some("PlaylistListResponse"),
    round_trips: RoundTrips::of(5, 0),
    ..Operation::list("playlists.list", "/playlists", Run::Call(list))
};

/// `playlists.insert`.
const INSERT: Operation = Operation {
    doc: "Create a playlist.",
    params: &[PART, OWNER, OWNER_CHANNEL],
    parts: PLAYLIST_PARTS,
    scopes: WRITE,
    request: Some("Playlist"),
    response: Some("Playlist"),
    round_trips: RoundTrips::of(4, 1),
    ..Operation::insert("playlists.insert", "/playlists", Run::Call(insert))
};

/// `playlists.update`.
const UPDATE: Operation = Operation {
    doc: "Modify title, description, privacy status, etc.",
    params: &[PART, OWNER],
    parts: PLAYLIST_PARTS,
    scopes: WRITE,
    request: Some("Playlist"),
    response: Some("Playlist"),
    round_trips: RoundTrips::of(3, 1),
    ..Operation::update("playlists.update", "/playlists", Run::Call(update))
};

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let mut list = List::new("playlistListResponse");
    let size = call.page_size();
    let language = call.language();
    if call.params.has("id") {
        let (ids, mut found) = (call.params.list("id"), Vec::new());
        tx.plan(|plan| ids.iter().for_each(|id| plan_made(plan, id)))?;
        for (at, id) in ids.iter().enumerate() {
            found.extend(visible(call, tx, id)?.map(|item| (id_list::rank_at(at), item)));
        }
        let (page, paging) = id_list::page(call, found)?;
        page.iter().for_each(|item| list.push(item));
        return Ok(list.end(Some(&paging)));
    }
    let (owner, audience) = match call.params.get("channelId") {
        Some(channel) => {
            channels::named(tx, channel, &rules::CHANNEL_NOT_FOUND)?;
            (channel.to_owned(), 0)
        }
        None => (call.caller.channel()?.to_owned(), 1_u8),
    };
    let binding = Binding::of(&[
        call.operation.name,
        &owner,
        if audience == 1 { "owner" } else { "everyone" },
    ]);
    let token = call.page_token(binding)?;
    let wanted = Wanted { token: token.as_ref(), size, binding };
    let rows = paginate::read(tx, &CHANNEL_PLAYLISTS, &(owner.clone(), audience), wanted)?;
    let paging = rows.paging(counter::of(tx, &PLAYLIST_COUNT, &(owner, audience))?, size);
    tx.plan(|plan| {
        for (_, _, _, id) in &rows.keys {
            plan.row(&PLAYLISTS, id);
            plan.row(&ORDER, id);
        }
    })?;
    if call.wants("snippet") {
        render::plan_pictures(tx, rows.keys.iter().map(|(_, _, _, id)| id))?;
    }
    for (_, _, _, id) in &rows.keys {
        if let Some(found) = PLAYLISTS.peek(tx, id)? {
            list.push(&render::render(tx, id, &found, &call.parts, language, call.caller)?);
        }
    }
    Ok(list.end(Some(&paging)))
}

/// Plans what showing the playlist with this id reads, if somebody made it.
fn plan_made(plan: &mut Plan<'_>, id: &str) {
    if let PlaylistName::Made(id) = id::playlist_name(id, None) {
        plan.row(&PLAYLISTS, &id);
        let first = plan.row(&ORDER, &id).and_then(|order| order.first_video);
        first.iter().for_each(|video| drop(plan.row(&VIDEOS, video)));
    }
}

/// The playlist with this id as the caller sees it; the special ones are resources too.
fn visible(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Option<Item>, Error> {
    let caller = call.caller.account.as_ref().and_then(|account| account.channel.as_deref());
    match id::playlist_name(id, caller) {
        PlaylistName::Made(id) => {
            let Some(found) =
                PLAYLISTS.peek(tx, &id)?.filter(|found| found.head.is_visible(call.caller))
            else {
                return Ok(None);
            };
            render::render(tx, &id, &found, &call.parts, call.language(), call.caller).map(Some)
        }
        PlaylistName::Special(special, owner) => {
            let is_owner = call.caller.owns(&owner);
            let Some(channel) =
                CHANNELS.peek(tx, &owner)?.filter(|_| is_owner || special.is_public())
            else {
                return Ok(None);
            };
            let body = serde_json::json!({
                "snippet": {"title": special.title()},
                "status": {"privacyStatus": if special.is_public() { "public" } else { "private" }},
            });
            let list = TimeOrderedPlaylist { special, channel: &owner, caller: call.caller };
            let id = special.of(&owner);
            let mut made = Stored::made(owner.clone(), channel.head.published);
            let empty = serde_json::Map::new();
            let body = Body::of(body.as_object().unwrap_or(&empty));
            patch::write(&mut made, &channel.head.title, body, &["snippet", "status"])?;
            if special.is_ordered() {
                return render::render(tx, &id, &made, &call.parts, None, call.caller).map(Some);
            }
            let page = list.page(tx, Wanted::latest(1))?;
            let first = page.entries.first().map(|entry| entry.item.video.as_str());
            let picture = render::picture(tx, first, call.caller)?;
            let contents = Contents { total: page.total, picture };
            Ok(Some(render::show(&id, &made, &contents, &call.parts, None)))
        }
    }
}

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let owner = call.caller.channel()?.to_owned();
    tx.plan(|plan| drop(plan.row(&CHANNELS, &owner)))?;
    let title = channels::title(tx, &owner)?;
    let body = Body::of(call.body);
    let mut new = Stored::made(owner, call.now);
    // A playlist has a title, whichever parts are named.
    let mut parts = call.parts.clone();
    if !parts.contains(&"snippet") {
        parts.push("snippet");
    }
    patch::write(&mut new, &title, body, &parts)?;
    // A new playlist that is to have localizations has a default language, as with the real service, also where it brings none of them.
    if call.wants("localizations") && new.head.language.is_none() {
        return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
    }
    let id = loop {
        let id = id::playlist(ids);
        if PLAYLISTS.get(tx, &id)?.is_none() {
            break id;
        }
    };
    tx.plan(|plan| store::plan(plan, &id, &new.head.channel))?;
    store::insert(tx, &id, &new)?;
    Ok(Reply::resource(&render::render(tx, &id, &new, &call.parts, None, call.caller)?))
}

/// The playlist that the caller may change.
fn owned(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Stored<Playlist>, Error> {
    if matches!(id::playlist_name(id, call.caller.channel().ok()), PlaylistName::Special(..)) {
        return Err(Error::Rule(&rules::OPERATION_UNSUPPORTED));
    }
    if let Ok(channel) = call.caller.channel() {
        tx.plan(|plan| store::plan(plan, id, channel))?;
    }
    let found =
        PLAYLISTS.get(tx, &id.to_owned())?.filter(|found| found.head.is_visible(call.caller));
    let found = found.ok_or(&rules::NOT_FOUND)?;
    if !call.caller.owns(&found.head.channel) {
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    call.expect(&found.etag())?;
    Ok(found)
}

fn update(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let body = Body::of(call.body);
    let id = body.id()?.ok_or(Error::RequiredField("id"))?;
    let old = owned(call, tx, &id)?;
    let title = channels::title(tx, &old.head.channel)?;
    let mut new = old.clone();
    patch::write(&mut new, &title, body, &call.parts)?;
    store::replace(tx, &id, &old, &new)?;
    Ok(Reply::resource(&render::render(tx, &id, &new, &call.parts, None, call.caller)?))
}

fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default();
    let found = owned(call, tx, id)?;
    store::remove(tx, id, &found)?;
    Ok(Reply::empty())
}
