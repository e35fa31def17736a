//! Subscriptions to channels: made and ended by the channel that subscribes, listed from both sides.

pub mod list;
pub mod record;
mod render;
pub mod rules;
mod seed;
mod side;
pub mod store;
mod unread;

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, Operation, Part, READ, Run, WRITE};
use crate::api::parameter::{
    ID, IDS, Kind, MAX_RESULTS, OWNER, OWNER_CHANNEL, PAGE_TOKEN, PART, Param,
};
use crate::api::response::{List, Reply};
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::channels::record as channels;
use crate::resource::channels::record::{CHANNEL_COUNTS, CHANNELS};
use record::{Parties, SUBSCRIPTION_IDS, SUBSCRIPTIONS, Subscription};

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[DELETE, INSERT, LIST],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("subscriptions", &SUBSCRIPTIONS, Form::Json),
        TableEntry::new("subscriptionIds", &SUBSCRIPTION_IDS, Form::Json),
        TableEntry::new("publishersByTime", &record::PUBLISHERS_BY_TIME, Form::Bytes),
        TableEntry::new("publishersByTitle", &record::PUBLISHERS_BY_TITLE, Form::Bytes),
        TableEntry::new("publisherCount", &record::PUBLISHER_COUNT, Form::Json),
        TableEntry::new("subscribersByTime", &record::SUBSCRIBERS_BY_TIME, Form::Bytes),
        TableEntry::new("subscribersByTitle", &record::SUBSCRIBERS_BY_TITLE, Form::Bytes),
        TableEntry::new("subscriberCount", &record::SUBSCRIBER_COUNT, Form::Json),
        TableEntry::new("privateSubscribers", &record::PRIVATE_SUBSCRIBERS, Form::Bytes),
    ],
    seed: seed::SECTIONS,
};

/// Parts of the resource.
const PARTS: &[Part] = &[
    Part::written("id"),
    Part::written("snippet"),
    Part::read("contentDetails"),
    Part::read("subscriberSnippet"),
];

/// `subscriptions.delete`.
const DELETE: Operation = Operation {
    doc: "Delete a subscription.",
    params: &[ID],
    scopes: WRITE,
    round_trips: RoundTrips::of(3, 1),
    ..Operation::delete("subscriptions.delete", "/subscriptions", Run::Call(delete))
};

/// `subscriptions.insert`.
const INSERT: Operation = Operation {
    doc: "Add a subscription for the authenticated user's channel.",
    params: &[PART],
    parts: PARTS,
    scopes: WRITE,
    request: Some("Subscription"),
    response: Some("Subscription"),
    round_trips: RoundTrips::of(2, 1),
    ..Operation::insert("subscriptions.insert", "/subscriptions", Run::Call(insert))
};

/// `subscriptions.list`.
const LIST: Operation = Operation {
    doc: "Subscriptions matching criteria.",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        Param::text("forChannelId", "Only subscriptions to these channels."),
        IDS,
        MAX_RESULTS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        Param::of(
            "myRecentSubscribers",
            Kind::Boolean,
            "Channels that subscribed to the caller's of late.",
        )
        .private(),
        Param::of("mySubscribers", Kind::Boolean, "Channels that subscribe to the caller's.")
            .private(),
        OWNER,
        OWNER_CHANNEL,
        Param::of(
            "order",
            Kind::OneOf(&["subscriptionOrderUnspecified", "relevance", "unread", "alphabetical"]),
            "The order of the answer.",
        )
        .default("relevance"),
        PAGE_TOKEN,
    ],
    filters: Filters::One(&["channelId", "id", "mine", "myRecentSubscribers", "mySubscribers"]),
    parts: PARTS,
    scopes: READ,
    response: Some("SubscriptionListResponse"),
    round_trips: RoundTrips::of(7, 0),
    ..Operation::list("subscriptions.list", "/subscriptions", Run::Call(list_subscriptions))
};

fn list_subscriptions(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    _ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let (found, paging) = list::page(call, tx)?;
    let mut list = List::new("subscriptionListResponse");
    let closing = &call.caller.closing;
    tx.plan(|plan| {
        for parties in &found {
            plan.row(&SUBSCRIPTIONS, &parties.key());
            plan.row(&CHANNELS, &parties.publisher);
            plan.row(&CHANNELS, &parties.subscriber);
            plan.row(&CHANNEL_COUNTS, &parties.publisher);
        }
    })?;
    let mut shown = Vec::new();
    for parties in found {
        if closing.holds(&parties.publisher) || closing.holds(&parties.subscriber) {
            continue;
        }
        if let Some(subscription) = SUBSCRIPTIONS.peek(tx, &parties.key())? {
            shown.push((parties, subscription));
        }
    }
    let new = render::new_items(tx, &shown, &call.parts)?;
    for ((parties, subscription), new) in shown.iter().zip(new) {
        list.push(&render::render(tx, parties, subscription, new, &call.parts)?);
    }
    Ok(list.end(Some(&paging)))
}

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let subscriber = call.caller.channel()?.to_owned();
    let body = Body::of(call.body);
    let publisher = publisher(body)?.ok_or(&rules::PUBLISHER_REQUIRED)?;
    let parties = Parties { subscriber, publisher };
    tx.plan(|plan| store::plan(plan, &parties))?;
    channels::named(tx, &parties.publisher, &rules::PUBLISHER_NOT_FOUND)?;
    if parties.publisher == parties.subscriber {
        return Err(Error::Rule(&rules::OWN_CHANNEL));
    }
    let own = CHANNELS.peek(tx, &parties.subscriber)?.ok_or(Error::NoChannel)?;
    let made = Subscription {
        id: id::subscription(ids),
        since: call.now,
        watched: call.now,
        uploads_only: false,
        is_private: own.head.hides_subscriptions,
    };
    store::insert(tx, &parties, &made)?;
    let shown = [(parties, made)];
    let new = render::new_items(tx, &shown, &call.parts)?.pop().unwrap_or_default();
    let [(parties, made)] = &shown;
    Ok(Reply::resource(&render::render(tx, parties, made, new, &call.parts)?))
}

/// The channel that a body names.
fn publisher(body: Body<'_>) -> Result<Option<String>, Error> {
    let Some(snippet) = body.object("snippet", "snippet")? else {
        return Ok(None);
    };
    let Some(resource) = snippet.object("resourceId", "snippet.resourceId")? else {
        return Ok(None);
    };
    if resource.filled_text("kind")?.is_some_and(|kind| kind != "youtube#channel") {
        return Ok(None);
    }
    resource.filled_text("channelId")
}

fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default().to_owned();
    tx.plan(|plan| {
        let parties = plan.row(&SUBSCRIPTION_IDS, &id);
        parties.iter().for_each(|parties| store::plan(plan, parties));
    })?;
    let parties = SUBSCRIPTION_IDS.get(tx, &id)?.ok_or(&rules::NOT_FOUND)?;
    if !call.caller.owns(&parties.subscriber) {
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    let found = SUBSCRIPTIONS.get(tx, &parties.key())?.ok_or(&rules::NOT_FOUND)?;
    let shown = render::render(tx, &parties, &found, 0, &[])?;
    call.expect(&shown.etag)?;
    store::remove(tx, &parties, &found)?;
    Ok(Reply::empty())
}
