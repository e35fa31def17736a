//! Uploads of clients that speak in `X-Goog-Upload-*` headers: what their requests say, and what their responses have to say.

use std::borrow::Cow;

use http::header::HeaderName;

use super::request::ApiRequest;
use crate::api::error::Error;
use crate::upload::session::{Command, SessionError};
use crate::upload::{PIECE_BYTES_MULTIPLE, file_name};

/// A header of a response.
type Header = (HeaderName, Cow<'static, str>);

/// Names the protocol, as `uploadType` does.
const PROTOCOL: &str = "x-goog-upload-protocol";
/// The header that says what is asked of a session.
const COMMAND: &str = "x-goog-upload-command";
/// The header that says where the bytes of a request begin.
const OFFSET: &str = "x-goog-upload-offset";
/// The header that says whether a session goes on.
const STATUS: HeaderName = HeaderName::from_static("x-goog-upload-status");
/// The header that says how many bytes have arrived.
const SIZE_RECEIVED: HeaderName = HeaderName::from_static("x-goog-upload-size-received");

/// The facts that a request states of its media beside the media.
#[derive(Debug, Clone, Copy)]
pub(super) enum Declared {
    /// The type.
    ContentType,
    /// The length.
    ContentLength,
}

/// The name that a request says the file of its media has.
pub(super) fn file_name(request: &ApiRequest) -> Option<String> {
    let named = |name: &str| request.headers.get(name);
    let value = named("x-goog-upload-file-name").or_else(|| named("slug"))?;
    Some(file_name::of_slug(value.as_bytes()))
}

/// The value that a request states of the media in either vocabulary; that of the commands has two names for it.
pub(super) fn declared(request: &ApiRequest, what: Declared) -> Option<&str> {
    let names = match what {
        Declared::ContentType => [
            "x-goog-upload-header-content-type",
            "x-goog-upload-content-type",
            "x-upload-content-type",
        ],
        Declared::ContentLength => [
            "x-goog-upload-header-content-length",
            "x-goog-upload-content-length",
            "x-upload-content-length",
        ],
    };
    let stated = names.into_iter().find_map(|name| request.header(name));
    match what {
        Declared::ContentType => stated,
        // The fetcher of Apple's systems says so of a stream whose length it does not know.
        Declared::ContentLength => stated.filter(|value| *value != "-1"),
    }
}

/// The protocol that a request names in a header.
pub(super) fn protocol(request: &ApiRequest) -> Option<&str> {
    request.header(PROTOCOL)
}

/// Returns whether a request speaks in these headers.
pub(super) fn is_spoken(request: &ApiRequest) -> bool {
    request.header(PROTOCOL).or_else(|| request.header(COMMAND)).is_some()
}

/// The command of a request to a session, if it names one.
///
/// # Errors
/// [`SessionError::Command`], [`SessionError::Offset`].
pub(super) fn read(request: &ApiRequest) -> Result<Option<Command>, SessionError> {
    let command = request.header(COMMAND);
    command.map(|command| Command::read(command, request.header(OFFSET))).transpose()
}

/// The headers of a session that was opened at `location`.
pub(super) fn opened(location: String) -> Vec<Header> {
    vec![
        (HeaderName::from_static("x-goog-upload-control-url"), location.clone().into()),
        (HeaderName::from_static("x-goog-upload-url"), location.into()),
        (
            HeaderName::from_static("x-goog-upload-chunk-granularity"),
            PIECE_BYTES_MULTIPLE.to_string().into(),
        ),
        (STATUS, "active".into()),
    ]
}

/// The headers of a session that goes on.
pub(super) fn active(received: u64) -> Vec<Header> {
    vec![(STATUS, "active".into()), (SIZE_RECEIVED, received.to_string().into())]
}

/// The headers of a session that was ended.
pub(super) fn cancelled() -> Vec<Header> {
    vec![(STATUS, "cancelled".into())]
}

/// Completes the headers of an answer to a request that speaks so: what does not say that the session goes on is its end.
pub(super) fn complete(request: &ApiRequest, headers: &mut Vec<Header>, refusal: Option<&Error>) {
    if !is_spoken(request) || headers.iter().any(|(name, _)| *name == STATUS) {
        return;
    }
    let status = if refusal.is_some_and(goes_on) { "active" } else { "final" };
    headers.push((STATUS, status.into()));
    if let Some(Error::Session(SessionError::OffsetMismatch { received, .. })) = refusal {
        headers.push((SIZE_RECEIVED, received.to_string().into()));
    }
}

/// Returns whether a session still takes bytes after a request to it was refused so.
const fn goes_on(refusal: &Error) -> bool {
    match refusal {
        Error::Session(error) => {
            !matches!(error, SessionError::Absent | SessionError::TooLarge { .. })
        }
        Error::BodyBroken | Error::Contended | Error::Backend(_) => true,
        _ => false,
    }
}
