//! Comments. Not built yet; `comments.markAsSpam` was withdrawn from the interface (Spec §9).

use crate::account::{Scope, Scopes};
use crate::api::operation::{Filters, Operation, Part, Run};
use crate::api::parameter::{ID, IDS, Kind, PAGE_TOKEN, PART, Param};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[LIST, SET_MODERATION_STATUS, INSERT, MARK_AS_SPAM, DELETE, UPDATE],
    ..Resource::EMPTY
};

/// Parts of the resource.
const PARTS: &[Part] = &[Part::written("id"), Part::written("snippet")];

/// `comments.list`.
const LIST: Operation = Operation {
    doc: "Comments matching parameters.",
    params: &[
        PART,
        IDS,
        Param::of("maxResults", Kind::Unsigned(1, 100), "Narrows the answer: maxResults.")
            .default("20"),
        PAGE_TOKEN,
        Param::text("parentId", "The comment whose replies are asked for."),
        Param::of(
            "textFormat",
            Kind::OneOf(&["textFormatUnspecified", "html", "plainText"]),
            "The form of texts.",
        )
        .default("html"),
    ],
    filters: Filters::One(&["id", "parentId"]),
    parts: PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    response: Some("CommentListResponse"),
    ..Operation::list("comments.list", "/comments", Run::NotImplemented)
};

/// `comments.setModerationStatus`.
const SET_MODERATION_STATUS: Operation = Operation {
    doc: "Set moderation status of one or more comments.",
    params: &[
        IDS.required(),
        Param::of(
            "moderationStatus",
            Kind::OneOf(&["published", "heldForReview", "likelySpam", "rejected"]),
            "The moderation status.",
        )
        .required(),
        Param::of("banAuthor", Kind::Boolean, "Whether the author is banned as well.")
            .default("false"),
    ],
    scopes: Scopes::of(&[Scope::ForceSsl]),
    ..Operation::insert(
        "comments.setModerationStatus",
        "/comments/setModerationStatus",
        Run::NotImplemented,
    )
};

/// `comments.insert`.
const INSERT: Operation = Operation {
    doc: "Create a reply to an existing comment.",
    params: &[PART],
    parts: PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    request: Some("Comment"),
    response: Some("Comment"),
    ..Operation::insert("comments.insert", "/comments", Run::NotImplemented)
};

/// `comments.markAsSpam`.
const MARK_AS_SPAM: Operation = Operation {
    doc: "Deprecated, unsupported.",
    params: &[IDS.required()],
    scopes: Scopes::of(&[Scope::ForceSsl]),
    ..Operation::insert("comments.markAsSpam", "/comments/markAsSpam", Run::Withdrawn)
};

/// `comments.delete`.
const DELETE: Operation = Operation {
    doc: "Delete a comment.",
    params: &[ID],
    scopes: Scopes::of(&[Scope::ForceSsl]),
    ..Operation::delete("comments.delete", "/comments", Run::NotImplemented)
};

/// `comments.update`.
const UPDATE: Operation = Operation {
    doc: "Modify a comment.",
    params: &[PART],
    parts: PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    request: Some("Comment"),
    response: Some("Comment"),
    ..Operation::update("comments.update", "/comments", Run::NotImplemented)
};
