//! Sections of channels. Not built yet.

use crate::api::operation::{Filters, Operation, Part, READ, Run, WRITE};
use crate::api::parameter::{ID, IDS, Kind, OWNER, OWNER_CHANNEL, PART, Param};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource =
    Resource { operations: &[DELETE, INSERT, LIST, UPDATE], ..Resource::EMPTY };

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
    ..Operation::delete("channelSections.delete", "/channelSections", Run::NotImplemented)
};

/// `channelSections.insert`.
const INSERT: Operation = Operation {
    doc: "Add a section to the authenticated user's channel.",
    params: &[PART, OWNER, OWNER_CHANNEL],
    parts: PARTS,
    scopes: WRITE,
    request: Some("ChannelSection"),
    response: Some("ChannelSection"),
    ..Operation::insert("channelSections.insert", "/channelSections", Run::NotImplemented)
};

/// `channelSections.list`.
const LIST: Operation = Operation {
    doc: "Sections matching criteria.",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        Param::text("hl", "The language of localized texts.").deprecated(),
        IDS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        OWNER,
    ],
    filters: Filters::One(&["channelId", "id", "mine"]),
    parts: PARTS,
    scopes: READ,
    response: Some("ChannelSectionListResponse"),
    ..Operation::list("channelSections.list", "/channelSections", Run::NotImplemented)
};

/// `channelSections.update`.
const UPDATE: Operation = Operation {
    doc: "Update a section.",
    params: &[PART, OWNER],
    parts: PARTS,
    scopes: WRITE,
    request: Some("ChannelSection"),
    response: Some("ChannelSection"),
    ..Operation::update("channelSections.update", "/channelSections", Run::NotImplemented)
};
