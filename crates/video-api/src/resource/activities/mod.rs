//! Activities of channels: what they did, and what the channels that somebody subscribes to published. `activities.insert` was withdrawn from
//! the interface (Spec §9).

pub mod announcement;
mod pages;
pub mod record;
mod render;
pub mod rules;
mod seed;

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, Operation, Part, Run};
use crate::api::parameter::{Kind, MAX_RESULTS, PAGE_TOKEN, PART, Param, REGION_CODE};
use crate::api::response::{List, Reply};
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::activities::pages::Source;
use crate::resource::channels::record as channels;

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[LIST, INSERT],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("activities", &record::ACTIVITIES, Form::Json),
        TableEntry::new("activityTimes", &record::ACTIVITY_TIMES, Form::Bytes),
        TableEntry::new("activityCounts", &record::ACTIVITY_COUNTS, Form::Json),
    ],
    seed: seed::SECTIONS,
};

/// Parts of the resource.
const PARTS: &[Part] =
    &[Part::written("id"), Part::written("snippet"), Part::written("contentDetails")];

/// `activities.list`.
const LIST: Operation = Operation {
    doc: "Channel activity events matching criteria (a channel's or the user's own).",
    params: &[
        PART,
        Param::text("channelId", "What everybody may see of this channel's."),
        Param::of(
            "home",
            Kind::Boolean,
            "What the channels that the caller subscribes to published.",
        )
        .private()
        .deprecated(),
        MAX_RESULTS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        PAGE_TOKEN,
        Param::of(
            "publishedAfter",
            Kind::DayOrMoment,
            "Only what was published at or after this moment, or on this day or later.",
        ),
        Param::of(
            "publishedBefore",
            Kind::DayOrMoment,
            "Only what was published before this moment, or before this day.",
        ),
        REGION_CODE,
    ],
    filters: Filters::One(&["channelId", "home", "mine"]),
    parts: PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly]),
    response: Some("ActivityListResponse"),
    round_trips: RoundTrips::of(8, 0),
    ..Operation::list("activities.list", "/activities", Run::Call(list))
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

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let mut list = List::new("activityListResponse");
    let paging = if let Some(channel) = call.params.get("channelId") {
        channels::named(tx, channel, &rules::CHANNEL_NOT_FOUND)?;
        let sources = Source::of_channel(channel, false);
        pages::write(call, tx, &sources, false, &["channel", channel], &mut list)?
    } else {
        let channel = call.caller.channel()?.to_owned();
        let is_own = call.params.flag("mine");
        let sources = if is_own {
            Source::of_channel(&channel, true)
        } else {
            Source::of_subscriptions(tx, &channel)?
        };
        let list_name = if is_own { "mine" } else { "home" };
        pages::write(call, tx, &sources, is_own, &[list_name, &channel], &mut list)?
    };
    Ok(list.end(Some(&paging)))
}
