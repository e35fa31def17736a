//! Threads of comments. Not built yet.

use crate::account::{Scope, Scopes};
use crate::api::operation::{Filters, Operation, Part, Run};
use crate::api::parameter::{IDS, Kind, PAGE_TOKEN, PART, Param};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[LIST, INSERT], ..Resource::EMPTY };

/// Parts of the resource.
const PARTS: &[Part] = &[Part::written("id"), Part::written("snippet"), Part::read("replies")];

/// `commentThreads.list`.
const LIST: Operation = Operation {
    doc: "Threads matching parameters.",
    params: &[
        PART,
        Param::text("allThreadsRelatedToChannelId", "Threads about the channel and its videos."),
        Param::text("channelId", "The id of a channel."),
        IDS,
        Param::of("maxResults", Kind::Unsigned(1, 100), "Narrows the answer: maxResults.")
            .default("20"),
        Param::of(
            "moderationStatus",
            Kind::OneOf(&["published", "heldForReview", "likelySpam", "rejected"]),
            "The moderation status.",
        )
        .default("published"),
        Param::of(
            "order",
            Kind::OneOf(&["orderUnspecified", "time", "relevance"]),
            "The order of the answer.",
        )
        .default("time"),
        PAGE_TOKEN,
        Param::text("searchTerms", "Words that the text holds."),
        Param::of(
            "textFormat",
            Kind::OneOf(&["textFormatUnspecified", "html", "plainText"]),
            "The form of texts.",
        )
        .default("html"),
        Param::text("videoId", "The id of a video."),
    ],
    filters: Filters::One(&["allThreadsRelatedToChannelId", "channelId", "id", "videoId"]),
    parts: PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    response: Some("CommentThreadListResponse"),
    ..Operation::list("commentThreads.list", "/commentThreads", Run::NotImplemented)
};

/// `commentThreads.insert`.
const INSERT: Operation = Operation {
    doc: "Create a top-level comment (replies use comments.insert).",
    params: &[PART],
    parts: PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    request: Some("CommentThread"),
    response: Some("CommentThread"),
    ..Operation::insert("commentThreads.insert", "/commentThreads", Run::NotImplemented)
};
