//! Reasons for which a video can be reported. Not built yet.

use crate::account::{Scope, Scopes};
use crate::api::operation::{Operation, Part, Run};
use crate::api::parameter::{HL, PART};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[LIST], ..Resource::EMPTY };

/// Parts of the resource.
const PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `videoAbuseReportReasons.list`.
const LIST: Operation = Operation {
    doc: "Reasons usable to report abuse.",
    params: &[PART, HL.default("en-US")],
    parts: PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly]),
    response: Some("VideoAbuseReportReasonListResponse"),
    ..Operation::list(
        "videoAbuseReportReasons.list",
        "/videoAbuseReportReasons",
        Run::NotImplemented,
    )
};
