//! Members of channels. Not built yet.

use crate::account::{Scope, Scopes};
use crate::api::operation::{Access, Operation, Part, Run};
use crate::api::parameter::{Kind, PAGE_TOKEN, PART, Param};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[LIST], ..Resource::EMPTY };

/// Parts of the resource.
const PARTS: &[Part] = &[Part::read("snippet")];

/// `members.list`.
const LIST: Operation = Operation {
    doc: "Members of a channel.",
    params: &[
        PART,
        Param::text("filterByMemberChannelId", "Only these members."),
        Param::text("hasAccessToLevel", "Only members of this level or above."),
        Param::of("maxResults", Kind::Unsigned(0, 1000), "How many items a page has at most.")
            .default("5"),
        Param::of(
            "mode",
            Kind::OneOf(&["listMembersModeUnknown", "updates", "all_current"]),
            "Which members.",
        )
        .default("all_current"),
        PAGE_TOKEN,
    ],
    parts: PARTS,
    access: Access::Token,
    scopes: Scopes::of(&[Scope::Memberships]),
    response: Some("MemberListResponse"),
    ..Operation::list("members.list", "/members", Run::NotImplemented)
};
