//! Rules of captions: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};

rules! {
    /// A track without its file; for an update, with nothing to write at all.
    CONTENT_REQUIRED = Rule::new(400, "youtube.caption", "contentRequired", Place::None, "The request does not contain the caption track contents.");
    /// A track without a video, or a language that is none.
    METADATA_INVALID = Rule::new(400, "youtube.caption", "invalidMetadata", Place::body("snippet"), "The request contains invalid metadata values, which prevent the track from being created: snippet.videoId and snippet.language (a BCP-47 tag) are required, and snippet.name takes no control characters.");
    /// A name that is too long.
    NAME_TOO_LONG = Rule::new(400, "youtube.caption", "nameTooLong", Place::body("snippet.name"), "The snippet.name specified in the request is too long: at most 150 characters.");
    /// More tracks than a video takes. Ours.
    TOO_MANY = Rule::new(400, "youtube.caption", "captionLimitExceeded", Place::body("snippet.videoId"), "The video has 500 caption tracks already, which is the most that a video takes.");
    /// The video that tracks are added to.
    VIDEO_NOT_FOUND = Rule::new(404, "youtube.caption", "videoNotFound", Place::body("snippet.videoId"), "The video identified by the <code>videoId</code> parameter could not be found.");
    /// The video whose tracks are listed.
    LISTED_VIDEO_NOT_FOUND = Rule::new(404, "youtube.caption", "videoNotFound", Place::parameter("videoId"), "The video identified by the <code>videoId</code> parameter could not be found.");
    /// A track by its id.
    NOT_FOUND = Rule::new(404, "youtube.caption", "captionNotFound", Place::parameter("id"), "The caption track could not be found. Check the value of the request's <code>id</code> parameter to ensure that it is correct.");
    /// Tracks of somebody else's video.
    FORBIDDEN = Rule::new(403, "youtube.caption", "forbidden", Place::None, "The permissions associated with the request are not sufficient: the caption tracks of a video are written and downloaded by the owner of the video.");
    /// A track of the same language and name.
    EXISTS = Rule::new(409, "youtube.caption", "captionExists", Place::body("snippet.name"), "The specified video already has a caption track with the given <code>snippet.language</code> and <code>snippet.name</code>. A video can have multiple tracks for the same language, but each must have a different name.");
    /// A format that cannot be had.
    FORMAT_NOT_CONVERTED = Rule::new(400, "youtube.caption", "couldNotConvert", Place::parameter("tfmt"), "The caption track data could not be converted into the requested format: sbv, scc, srt, ttml or vtt, of a track that serves.");
    /// A language that cannot be had.
    LANGUAGE_NOT_CONVERTED = Rule::new(400, "youtube.caption", "couldNotConvert", Place::parameter("tlang"), "The caption track data could not be converted into the requested language: it is no language tag, or no translator is configured, or the translator does not know it or failed.");
}
