//! Routes: the operation, upload or document at a path, and the methods that each takes.

use std::sync::LazyLock;

use crate::api::discovery;
use crate::api::error::Error;
use crate::api::operation::{Operation, VERSION_PATH};
use crate::api::response::Reply;
use crate::http::request::{ALLOW_POSTS, ALLOW_READS, ALLOW_UPLOADS, ApiRequest};
use crate::http::response::ApiResponse;
use crate::http::{oauth, pictures, player};
use crate::resource::OPERATIONS;
use crate::resource::route::{self, Route};

/// Paths of the discovery document.
pub(super) const DISCOVERY_PATHS: &[&str] =
    &["/$discovery/rest", "/discovery/v1/apis/youtube/v3/rest"];
/// The discovery document, made once.
static DISCOVERY: LazyLock<Vec<u8>> = LazyLock::new(|| discovery::text(OPERATIONS));
/// Paths of batches.
pub(super) const BATCH_PATHS: &[&str] = &["/batch", "/batch/youtube/v3"];
/// A row, and the values of its path.
pub(super) type Routed = (&'static Operation, Vec<(String, String)>);

/// The row of `method` at `path`, which starts with [`VERSION_PATH`].
pub(super) fn operation_at(method: &str, path: &str) -> Result<Routed, Error> {
    let rest = path.strip_prefix(VERSION_PATH).ok_or(Error::UnknownPath)?;
    match route::find(method, rest) {
        Route::Operation(operation, values) => Ok((operation, values)),
        Route::OtherMethod(served) => {
            Err(Error::MethodNotAllowed { method: method.to_owned(), allowed: allowed(&served) })
        }
        Route::None => Err(Error::UnknownPath),
    }
}

/// The path behind what the paths of uploads start with.
pub(super) fn under_upload(path: &str) -> Option<&str> {
    path.strip_prefix("/upload")
        .or_else(|| path.strip_prefix("/resumable/upload"))
        .filter(|rest| rest.starts_with('/'))
}

/// The row of `method` at `path`, which may stand behind what the paths of downloads start with (facts: `useMediaDownloadService`).
///
/// # Errors
/// [`Error::NotDownload`] for an operation that gives no media; else as [`operation_at`].
pub(super) fn served_at(method: &str, path: &str) -> Result<Routed, Error> {
    let Some(rest) = path.strip_prefix("/download").filter(|rest| rest.starts_with('/')) else {
        return operation_at(method, path);
    };
    let routed = operation_at(method, rest)?;
    if routed.0.download { Ok(routed) } else { Err(Error::NotDownload) }
}

/// The row of `method` that takes media at `path`, which is behind what the paths of uploads start with.
pub(super) fn upload_at(method: &str, path: &str) -> Result<&'static Operation, Error> {
    let rest = path.strip_prefix(VERSION_PATH).ok_or(Error::UnknownPath)?;
    let uploads: Vec<_> = OPERATIONS
        .iter()
        .filter(|operation| operation.path == rest && operation.upload.is_some())
        .collect();
    if let Some(operation) = uploads.iter().find(|operation| operation.method.name() == method) {
        return Ok(operation);
    }
    if uploads.is_empty() {
        return Err(match operation_at(method, path) {
            Err(Error::UnknownPath) => Error::UnknownPath,
            _ => Error::NotUpload,
        });
    }
    let served: Vec<_> = uploads.iter().map(|operation| operation.method.name()).collect();
    Err(Error::MethodNotAllowed { method: method.to_owned(), allowed: allowed(&served) })
}

/// The methods that a path takes, as `Allow` names them; `None` where nothing is served.
pub(super) fn methods_of(path: &str) -> Option<String> {
    if player::is_player(path) {
        let posts = path.ends_with("/play");
        return Some(if posts { ALLOW_POSTS } else { ALLOW_READS }.to_owned());
    }
    if pictures::is_picture(path) || DISCOVERY_PATHS.contains(&path) {
        return Some(ALLOW_READS.to_owned());
    }
    if BATCH_PATHS.contains(&path) {
        return Some(ALLOW_POSTS.to_owned());
    }
    if oauth::is_issuer(path) {
        return Some(allowed(&["GET", "POST"]));
    }
    match under_upload(path) {
        Some(rest) => match upload_at("", rest) {
            Err(Error::MethodNotAllowed { .. }) => Some(ALLOW_UPLOADS.to_owned()),
            _ => None,
        },
        None => match served_at("", path) {
            Err(Error::MethodNotAllowed { allowed, .. }) => Some(allowed),
            _ => None,
        },
    }
}

/// A list of methods, with those that come with every other one.
fn allowed(served: &[&str]) -> String {
    let mut all = served.to_vec();
    if served.contains(&"GET") {
        all.push("HEAD");
    }
    all.push("OPTIONS");
    all.join(", ")
}

/// The discovery document.
pub(super) fn discover(request: &ApiRequest) -> ApiResponse {
    if request.method != "GET" {
        return request.refuse(&request.not_allowed(ALLOW_READS), "discovery");
    }
    if request.value("version").is_some_and(|version| version != "v3") {
        return request.refuse(&Error::UnknownPath, "discovery");
    }
    request.respond(Reply { json: Some(DISCOVERY.clone()), ..Reply::default() }, "discovery")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_names_the_methods_that_it_takes() {
        for (path, methods) in [
            ("/youtube/v3/search", Some("GET, HEAD, OPTIONS")),
            ("/youtube/v3/videos/rate", Some("POST, OPTIONS")),
            ("/youtube/v3/playlists", Some("DELETE, GET, POST, PUT, HEAD, OPTIONS")),
            ("/upload/youtube/v3/videos", Some("POST, PUT, DELETE, OPTIONS")),
            ("/upload/youtube/v3/search", None),
            ("/batch", Some("POST, OPTIONS")),
            ("/download/youtube/v3/captions/x", Some("GET, HEAD, OPTIONS")),
            ("/vi/x/default.jpg", Some("GET, HEAD, OPTIONS")),
            ("/youtube/v3/nothing", None),
        ] {
            assert_eq!(methods_of(path).as_deref(), methods, "{path}");
        }
    }

    #[test]
    fn a_download_path_serves_what_gives_media_alone() {
        let at = |method, path| served_at(method, path).map(|(operation, _)| operation.name);
        assert_eq!(at("GET", "/download/youtube/v3/captions/x"), Ok("captions.download"));
        assert_eq!(at("GET", "/download/youtube/v3/videos"), Err(Error::NotDownload));
        assert_eq!(at("GET", "/download/youtube/v3/nothing"), Err(Error::UnknownPath));
        assert_eq!(at("GET", "/downloads/youtube/v3/videos"), Err(Error::UnknownPath));
        assert_eq!(at("GET", "/youtube/v3/videos"), Ok("videos.list"));
    }

    #[test]
    fn an_upload_path_serves_what_takes_media_alone() {
        let at = |method, path| upload_at(method, path).map(|operation| operation.name);
        assert_eq!(at("POST", "/youtube/v3/videos"), Ok("videos.insert"));
        assert_eq!(at("PUT", "/youtube/v3/captions"), Ok("captions.update"));
        assert!(matches!(at("GET", "/youtube/v3/videos"), Err(Error::MethodNotAllowed { .. })));
        assert_eq!(at("GET", "/youtube/v3/search"), Err(Error::NotUpload));
        assert_eq!(at("GET", "/youtube/v3/nothing"), Err(Error::UnknownPath));
    }
}
