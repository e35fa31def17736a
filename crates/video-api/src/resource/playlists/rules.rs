//! Rules of playlists: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};

rules! {
    /// The channel whose playlists are asked for.
    CHANNEL_NOT_FOUND = Rule::new(404, "youtube.playlist", "channelNotFound", Place::parameter("channelId"), "Channel not found.");
    /// A playlist by its id.
    NOT_FOUND = Rule::new(404, "youtube.playlist", "playlistNotFound", Place::parameter("id"), "The playlist identified with the request's <code>id</code> parameter cannot be found.");
    /// A playlist of somebody else.
    FORBIDDEN = Rule::new(403, "youtube.playlist", "playlistForbidden", Place::parameter("id"), "This operation is forbidden or the request might not be properly authorized.");
    /// A title that is missing.
    TITLE_REQUIRED = Rule::new(400, "youtube.playlist", "playlistTitleRequired", Place::body("snippet.title"), "The request must specify a playlist title.");
    /// A snippet with a value that cannot be.
    SNIPPET_INVALID = Rule::new(400, "youtube.playlist", "invalidPlaylistSnippet", Place::body("snippet"), "The request provides an invalid playlist snippet: the title has at most 150 characters, the description at most 5000 bytes, and neither has < or >.");
    /// A privacy that is none. Ours.
    PRIVACY_INVALID = Rule::new(400, "youtube.playlist", "invalidPlaylistPrivacy", Place::body("status.privacyStatus"), "The request sets an invalid privacy status: public, unlisted or private.");
    /// Localizations without a default language.
    DEFAULT_LANGUAGE_NOT_SET = Rule::new(400, "youtube.playlist", "defaultLanguageNotSetError", Place::body("snippet.defaultLanguage"), "Set default language to updating localizations.");
    /// Localizations that are none.
    LOCALIZATIONS_INVALID = Rule::new(400, "youtube.playlist", "localizationValidationError", Place::body("localizations"), "One of the values in the localizations object failed validation.");
    /// A playlist that the service makes: it cannot be changed itself.
    OPERATION_UNSUPPORTED = Rule::new(400, "youtube.playlist", "playlistOperationUnsupported", Place::parameter("id"), "This playlist is made by the service and cannot be changed or deleted.");
}
