//! Pages of other origins: they may call the interface, as they may call the real one. Nothing here rests on who is asked by which
//! browser: a page has what its key or its token allows, and no cookie is read. The page that asks users for their consent is left out.

use std::borrow::Cow;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::api::error::Error;
use crate::http::response::{Answer, Body};
use crate::http::{Asked, oauth, router};

/// Headers of answers that scripts may read beside those that they always may.
const EXPOSED: &str =
    "Date, ETag, Location, Range, WWW-Authenticate, X-GUploader-UploadID, X-Request-ID";
/// How long a browser may remember what it was told, in seconds.
const REMEMBERED_SECONDS: &str = "3600";

/// A page that calls.
pub(super) struct Page {
    origin: HeaderValue,
}

impl Page {
    /// The page that sends a request, where it may read the answer.
    pub(super) fn of(asked: &Asked) -> Option<Self> {
        if oauth::asks_users(&asked.path) {
            return None;
        }
        let origin = asked.headers.get(header::ORIGIN)?.clone();
        Some(Self { origin })
    }

    /// Lets the page read an answer.
    pub(super) fn let_read(&self, headers: &mut HeaderMap) {
        let exposed = HeaderValue::from_static(EXPOSED);
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        if !headers.contains_key(header::VARY) {
            headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        }
    }
}

/// Which methods a path takes, and, to a page that asks before it calls, that it may.
pub(super) fn options(asked: &Asked) -> Answer {
    let Some(methods) = router::methods_of(&asked.path) else {
        return asked.refuse(&Error::UnknownPath, "options");
    };
    let mut headers: Vec<(HeaderName, Cow<'static, str>)> = Vec::new();
    if Page::of(asked).is_some() {
        headers.push((header::ACCESS_CONTROL_ALLOW_METHODS, methods.clone().into()));
        headers.push((header::ACCESS_CONTROL_MAX_AGE, REMEMBERED_SECONDS.into()));
        if let Some(wanted) = asked.header("access-control-request-headers") {
            headers.push((header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.to_owned().into()));
        }
    }
    headers.push((header::ALLOW, methods.into()));
    Answer { status: 200, headers, body: Body::Empty, operation: "options" }
}
