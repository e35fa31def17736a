//! Levels of membership. Not built yet.

use crate::account::{Scope, Scopes};
use crate::api::operation::{Access, Operation, Part, Run};
use crate::api::parameter::PART;
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[LIST], ..Resource::EMPTY };

/// Parts of the resource.
const PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `membershipsLevels.list`.
const LIST: Operation = Operation {
    doc: "Levels owned by the authorizing channel, in implicit display order.",
    params: &[PART],
    parts: PARTS,
    access: Access::Token,
    scopes: Scopes::of(&[Scope::Memberships]),
    response: Some("MembershipsLevelListResponse"),
    ..Operation::list("membershipsLevels.list", "/membershipsLevels", Run::NotImplemented)
};
