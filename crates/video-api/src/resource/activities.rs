//! Activities of channels. Not built yet; `activities.insert` was withdrawn from the interface (Spec §9).

use crate::account::{Scope, Scopes};
use crate::api::operation::{Filters, Operation, Part, Run};
use crate::api::parameter::{Kind, MAX_RESULTS, PAGE_TOKEN, PART, Param};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[LIST, INSERT], ..Resource::EMPTY };

/// Parts of the resource.
const PARTS: &[Part] =
    &[Part::written("id"), Part::written("snippet"), Part::written("contentDetails")];

/// `activities.list`.
const LIST: Operation = Operation {
    doc: "Channel activity events matching criteria (a channel's or the user's own).",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        Param::of("home", Kind::Boolean, "Activities for the home page.").private().deprecated(),
        MAX_RESULTS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        PAGE_TOKEN,
        Param::of(
            "publishedAfter",
            Kind::Moment,
            "Only what was published at or after this moment.",
        ),
        Param::of("publishedBefore", Kind::Moment, "Only what was published before this moment."),
        Param::text("regionCode", "A country (i18nRegions.list)."),
    ],
    filters: Filters::One(&["channelId", "home", "mine"]),
    parts: PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly]),
    response: Some("ActivityListResponse"),
    ..Operation::list("activities.list", "/activities", Run::NotImplemented)
};

/// `activities.insert`.
const INSERT: Operation = Operation {
    doc: "Deprecated, unsupported.",
    params: &[PART],
    parts: PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl]),
    request: Some("Activity"),
    response: Some("Activity"),
    ..Operation::insert("activities.insert", "/activities", Run::Withdrawn)
};
