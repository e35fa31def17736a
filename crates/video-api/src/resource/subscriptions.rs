//! Subscriptions to channels. Not built yet.

use crate::api::operation::{Filters, Operation, Part, READ, Run, WRITE};
use crate::api::parameter::{
    ID, IDS, Kind, MAX_RESULTS, OWNER, OWNER_CHANNEL, PAGE_TOKEN, PART, Param,
};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[DELETE, INSERT, LIST], ..Resource::EMPTY };

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
    ..Operation::delete("subscriptions.delete", "/subscriptions", Run::NotImplemented)
};

/// `subscriptions.insert`.
const INSERT: Operation = Operation {
    doc: "Add a subscription for the authenticated user's channel.",
    params: &[PART],
    parts: PARTS,
    scopes: WRITE,
    request: Some("Subscription"),
    response: Some("Subscription"),
    ..Operation::insert("subscriptions.insert", "/subscriptions", Run::NotImplemented)
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
    ..Operation::list("subscriptions.list", "/subscriptions", Run::NotImplemented)
};
