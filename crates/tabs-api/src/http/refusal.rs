//! Refusals of requests before any engine sees them.

use http::{HeaderValue, Response, StatusCode, header};
use serde::Serialize;
use serde_json::json;
use triptych_core::error::{Coded, Row};
use triptych_core::host::ReplyBody;

/// A refusal, in the order of the checks.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error(
        "this host name is not served here; use the address that the server printed, or add the name with --base-host"
    )]
    ForeignHost,
    #[error("web pages of this origin may not use this server; allow it with --allow-origin")]
    ForeignOrigin,
    #[error("there is nothing at this path; /v1/schema lists the operations")]
    NoSuchPath,
    #[error("this path takes {0} alone")]
    MethodNotAllowed(&'static str),
    #[error("send the token of an extension as Authorization: Bearer")]
    Unauthorized,
    #[error("send the control token as Authorization: Bearer; an extension's own does not do")]
    ControlTokenRequired,
    #[error("the query parameter {0} is {1}")]
    BadParameter(&'static str, &'static str),
    #[error("the request body is larger than {0} bytes")]
    BodyTooLarge(usize),
    #[error("the request body cannot be read: {0}")]
    BadBody(String),
    #[error(
        "a port belongs to a WebSocket: open it with a frame of the type port.open, which names it"
    )]
    NeedsPortOpen,
    #[error("this path speaks WebSocket, and the request does not: {0}")]
    NotWebSocket(String),
    #[error(
        "a profile's name has 1 to 64 letters, digits, dots, dashes and underscores, and is neither . nor .."
    )]
    BadName,
    #[error("there is no profile of this name")]
    NoSuchProfile,
    #[error("there is no extension of this id in this profile")]
    NoSuchExtension,
    #[error("a profile of this name exists already")]
    ProfileExists,
    #[error(
        "the profile runs at another instance of those that share the store: ask {0}. It goes on elsewhere some seconds after that one has ended"
    )]
    RunsElsewhere(String),
    #[error("the profile is being made or is on its way to another instance: ask again")]
    ProfileNotReady,
    #[error("this token is another extension's already")]
    TokenTaken,
    #[error("the profile's state cannot be kept: {0}")]
    Store(#[from] triptych_core::kv::StoreError),
    #[error("{0}")]
    Seed(#[from] crate::seed::SeedError),
}

impl Coded for Refusal {
    fn row(&self) -> Row {
        match self {
            Self::ForeignHost => Row::of(403, "ForeignHost"),
            Self::ForeignOrigin => Row::of(403, "ForeignOrigin"),
            Self::NoSuchPath => Row::of(404, "NoSuchPath"),
            Self::MethodNotAllowed(_) => Row::of(405, "MethodNotAllowed"),
            Self::Unauthorized => Row::of(401, "Unauthorized"),
            Self::ControlTokenRequired => Row::of(401, "ControlTokenRequired"),
            Self::BadParameter(..) => Row::of(400, "BadParameter"),
            Self::BodyTooLarge(_) => Row::of(413, "BodyTooLarge"),
            Self::BadBody(_) => Row::of(400, "BadBody"),
            Self::NeedsPortOpen => Row::of(400, "NeedsPortOpen"),
            Self::NotWebSocket(_) => Row::of(426, "NotWebSocket"),
            Self::BadName => Row::of(400, "BadName"),
            Self::NoSuchProfile => Row::of(404, "NoSuchProfile"),
            Self::NoSuchExtension => Row::of(404, "NoSuchExtension"),
            Self::ProfileExists => Row::of(409, "ProfileExists"),
            Self::RunsElsewhere(_) => Row::of(421, "RunsElsewhere"),
            Self::ProfileNotReady => Row::of(503, "ProfileNotReady"),
            Self::TokenTaken => Row::of(409, "TokenTaken"),
            Self::Store(_) => Row::of(503, "Unavailable"),
            Self::Seed(_) => Row::of(400, "BadSeed"),
        }
    }
}

impl Refusal {
    /// The reply that says so.
    pub(super) fn reply(&self) -> Response<ReplyBody> {
        let mut response = refused(self, &self.to_string());
        if let Self::MethodNotAllowed(methods) = self {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
        }
        response
    }
}

/// A reply of JSON.
pub(super) fn json_reply(status: u16, value: &impl Serialize) -> Response<ReplyBody> {
    // Texts, numbers and views of the browser always serialize.
    let body = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(ReplyBody::whole(body));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The error body of every refusal: a name for programs, a sentence for people.
pub(super) fn refused(error: &impl Coded, message: &str) -> Response<ReplyBody> {
    let row = error.row();
    let mut response =
        json_reply(row.status, &json!({ "error": { "name": row.code, "message": message } }));
    if row.status == 401 {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_a_path_does_not_take_is_answered_with_those_that_it_does() {
        let reply = Refusal::MethodNotAllowed("GET, POST").reply();
        assert_eq!(
            (reply.status().as_u16(), &reply.headers()[header::ALLOW]),
            (405, &HeaderValue::from_static("GET, POST"))
        );
    }
}
