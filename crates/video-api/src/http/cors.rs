//! Pages of other origins: they may call the interface, as they may call the real one. Nothing here rests on who is asked by which
//! browser: a page has what its key or its token allows, and no cookie is read. The page that asks users for their consent is left out.

use std::borrow::Cow;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};

use crate::api::error::Error;
use crate::http::response::{ApiResponse, Body};
use crate::http::{ApiRequest, oauth, router};

/// Headers of responses that scripts may read beside those that they always may: each by which a client goes on.
const EXPOSED: &str = "Accept-Ranges, Allow, Content-Range, Date, ETag, Location, Range, Retry-After, WWW-Authenticate, \
    X-Goog-Upload-Chunk-Granularity, X-Goog-Upload-Control-URL, X-Goog-Upload-Size-Received, X-Goog-Upload-Status, \
    X-Goog-Upload-URL, X-GUploader-UploadID, X-HTTP-Status-Code-Override, X-Request-ID";
/// Seconds for which a browser may remember a preflight.
const MAX_AGE_SECONDS: &str = "3600";

/// A page of another origin that calls.
#[derive(Debug)]
pub(super) struct CrossOrigin {
    origin: HeaderValue,
}

impl CrossOrigin {
    /// The page that sends a request, where it may read the response.
    pub(super) fn of(request: &ApiRequest) -> Option<Self> {
        if oauth::is_consent_page(&request.path) {
            return None;
        }
        let origin = request.headers.get(header::ORIGIN)?.clone();
        Some(Self { origin })
    }

    /// Adds the headers that let the page read a response.
    pub(super) fn expose(&self, headers: &mut HeaderMap) {
        let exposed = HeaderValue::from_static(EXPOSED);
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        if !headers.contains_key(header::VARY) {
            headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        }
    }
}

/// Answers `OPTIONS`: the methods of a path, and, to a page that asks before it calls, that it may.
pub(super) fn preflight(request: &ApiRequest) -> ApiResponse {
    let Some(methods) = router::methods_of(&request.path) else {
        return request.refuse(&Error::UnknownPath, "options");
    };
    let mut headers: Vec<(HeaderName, Cow<'static, str>)> = Vec::new();
    if CrossOrigin::of(request).is_some() {
        headers.push((header::ACCESS_CONTROL_ALLOW_METHODS, methods.clone().into()));
        headers.push((header::ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS.into()));
        if let Some(wanted) = request.header("access-control-request-headers") {
            headers.push((header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.to_owned().into()));
        }
    }
    headers.push((header::ALLOW, methods.into()));
    ApiResponse { status: 200, headers, body: Body::Empty, operation: "options" }
}
