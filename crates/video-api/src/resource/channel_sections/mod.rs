//! Sections of channels: arranged by their owner, and seen by others while the channel shows its browse view.

pub mod contents;
pub mod patch;
pub mod record;
mod render;
pub mod rules;
mod seed;
pub mod store;

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, Operation, Part, READ, Run, WRITE};
use crate::api::parameter::{HL, ID, IDS, Kind, OWNER, OWNER_CHANNEL, PART, Param};
use crate::api::response::{Item, List, Reply};
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::channels::record as channels;
use crate::resource::channels::record::CHANNELS;
use record::{SECTION_ORDER, SECTIONS, Section};
use render::RenderOptions;

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[DELETE, INSERT, LIST, UPDATE],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("channelSections", &SECTIONS, Form::Json),
        TableEntry::new("channelSectionOrder", &SECTION_ORDER, Form::Json),
        TableEntry::new("sectionsNaming", &record::SECTIONS_NAMING, Form::Bytes),
    ],
    seed: seed::SEED_SECTIONS,
};

/// Parts of the resource.
const PARTS: &[Part] = &[
    Part::written("id"),
    Part::written("snippet"),
    Part::written("contentDetails"),
    Part::written("localizations"),
    Part::written("targeting"),
];

/// `channelSections.delete`.
const DELETE: Operation = Operation {
    doc: "Delete a section.",
    params: &[ID, OWNER],
    scopes: WRITE,
    round_trips: RoundTrips::of(2, 1),
    ..Operation::delete("channelSections.delete", "/channelSections", Run::Call(delete))
};

/// `channelSections.insert`.
const INSERT: Operation = Operation {
    doc: "Add a section to the authenticated user's channel.",
    params: &[PART, OWNER, OWNER_CHANNEL],
    parts: PARTS,
    scopes: WRITE,
    request: Some("ChannelSection"),
    response: Some("ChannelSection"),
    round_trips: RoundTrips::of(3, 1),
    ..Operation::insert("channelSections.insert", "/channelSections", Run::Call(insert))
};

/// `channelSections.list`.
const LIST: Operation = Operation {
    doc: "Sections matching criteria.",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        HL.deprecated(),
        IDS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        OWNER,
    ],
    filters: Filters::One(&["channelId", "id", "mine"]),
    parts: PARTS,
    scopes: READ,
    response: Some("ChannelSectionListResponse"),
    round_trips: RoundTrips::of(4, 0),
    ..Operation::list("channelSections.list", "/channelSections", Run::Call(list))
};

/// `channelSections.update`.
const UPDATE: Operation = Operation {
    doc: "Update a section.",
    params: &[PART, OWNER],
    parts: PARTS,
    scopes: WRITE,
    request: Some("ChannelSection"),
    response: Some("ChannelSection"),
    round_trips: RoundTrips::of(2, 1),
    ..Operation::update("channelSections.update", "/channelSections", Run::Call(update))
};

/// Returns whether the caller sees the sections of a channel, which are visible in browse view alone (Spec §3).
fn is_visible(call: &Call<'_>, tx: &mut Tx<'_>, channel: &str) -> Result<bool, Error> {
    let found = CHANNELS.peek_shared(tx, &channel.to_owned())?;
    Ok(found.is_some_and(|found| found.head.browse_view || call.caller.owns(channel)))
}

fn show(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    id: &str,
    section: &Section,
    position: usize,
) -> Result<Item, Error> {
    let options =
        RenderOptions { parts: &call.parts, language: call.language(), caller: call.caller };
    render::render(tx, id, section, position, &options)
}

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let ids = if call.params.has("id") {
        call.params.list("id").to_vec()
    } else {
        let channel = match call.params.get("channelId") {
            Some(id) => {
                channels::named(tx, id, &rules::CHANNEL_NOT_FOUND)?;
                id.to_owned()
            }
            None => call.caller.channel()?.to_owned(),
        };
        SECTION_ORDER.peek(tx, &channel)?.unwrap_or_default().0
    };
    tx.plan(|plan| ids.iter().for_each(|id| drop(plan.row(&SECTIONS, id))))?;
    let mut list = List::of("channelSectionListResponse", call.form());
    for id in &ids {
        let Some(section) = SECTIONS.peek(tx, id)? else {
            continue;
        };
        if is_visible(call, tx, &section.channel)? {
            let position = store::position(tx, id, &section)?;
            list.push(&show(call, tx, id, &section, position)?);
        }
    }
    Ok(list.end(None))
}

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let channel = call.caller.channel()?.to_owned();
    let mut made = Section { channel, ..Section::default() };
    let position = patch::write(tx, &mut made, Body::of(call.body), &call.parts)?;
    let id = new_id(tx, &made.channel, ids)?;
    let position = store::insert(tx, &id, &made, position, call.now)?;
    Ok(Reply::resource(&show(call, tx, &id, &made, position)?))
}

/// A new id that no section has: the channel's, and a part of its own.
///
/// # Errors
/// As the store.
pub(crate) fn new_id(tx: &mut Tx<'_>, channel: &str, ids: &mut dyn Ids) -> Result<String, Error> {
    loop {
        let id = format!("{channel}.{}", id::video(ids));
        if SECTIONS.get(tx, &id)?.is_none() {
            return Ok(id);
        }
    }
}

/// The section that the caller may change.
fn owned(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Section, Error> {
    tx.plan(|plan| {
        plan.row(&SECTIONS, &id.to_owned());
        if let Ok(channel) = call.caller.channel() {
            plan.row(&CHANNELS, &channel.to_owned());
            plan.row(&SECTION_ORDER, &channel.to_owned());
        }
    })?;
    let section = SECTIONS.get(tx, &id.to_owned())?.ok_or(&rules::NOT_FOUND)?;
    if !is_visible(call, tx, &section.channel)? {
        return Err(Error::Rule(&rules::NOT_FOUND));
    }
    if !call.caller.owns(&section.channel) {
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    let position = store::position(tx, id, &section)?;
    call.expect(&render::shown(tx, &section, call.caller)?.etag(position))?;
    Ok(section)
}

fn update(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let body = Body::of(call.body);
    let id = body.id()?.ok_or(Error::RequiredField("id"))?;
    let old = owned(call, tx, &id)?;
    let mut new = old.clone();
    let position = patch::write(tx, &mut new, body, &call.parts)?;
    let position = store::replace(tx, &id, &old, &new, position, call.now)?;
    Ok(Reply::resource(&show(call, tx, &id, &new, position)?))
}

fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default();
    let section = owned(call, tx, id)?;
    store::remove(tx, id, &section)?;
    Ok(Reply::empty())
}
