//! The object as a request would have it, as policies look at it: tags and lock, in a document or in headers.

use crate::auth::policy::PolicyRequest;
use crate::store::lock::{ObjectLock, hold_word};
use crate::store::tagging::Tags;

const DAY_SECONDS: i64 = 86_400;

/// The tags and the lock that the document of a request sets on an object: policies look at them as at those of headers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RequestObject {
    /// The tags, where it is a document of tags.
    pub tags: Option<Tags>,
    /// The retention or the legal hold.
    pub lock: ObjectLock,
}

/// A part of the lock that a request sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockPart {
    Mode,
    Until,
    /// The days from now to its end; one that has begun counts.
    RemainingDays,
    Hold,
}

/// The tags that a request brings: in its document, or in a header.
pub(super) fn tags(request: &PolicyRequest<'_>) -> Option<Tags> {
    if let Some(object) = request.request_object {
        return object.tags.clone();
    }
    Tags::from_header(&request.fields.get("x-store-tagging").ok().flatten()?).ok()
}

/// A part of the lock that a request brings: in its document, or in headers. The default of the bucket is none that it brings.
pub(super) fn lock(request: &PolicyRequest<'_>, part: LockPart) -> Option<String> {
    let lock = match request.request_object {
        Some(object) => object.lock,
        None => ObjectLock::named(request.fields),
    };
    match part {
        LockPart::Mode => Some(lock.retention?.mode.name().to_owned()),
        LockPart::Until => Some(lock.retention?.until.rfc3339()),
        LockPart::RemainingDays => {
            let until = lock.retention?.until.seconds();
            let seconds = until.saturating_sub(request.arrival.now.seconds());
            let days = seconds.saturating_add(DAY_SECONDS - 1).div_euclid(DAY_SECONDS);
            Some(days.to_string())
        }
        LockPart::Hold => lock.hold.map(|hold| hold_word(hold).to_owned()),
    }
}
