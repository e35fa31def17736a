//! Rules of threads: each with its status, domain, reason, place and sentence. Those of texts and authors are the comments'.

use crate::api::error::{Place, Rule, rules};
use crate::resource::comments::text::TextRules;

rules! {
    /// The channel or video that a thread is about, missing.
    CHANNEL_OR_VIDEO_ID_MISSING = Rule::new(400, "youtube.commentThread", "channelOrVideoIdMissing", Place::body("snippet.channelId"), "The request must specify the channel or video that the comment is about: snippet.channelId or snippet.videoId.");
    /// The text of the comment that opens a thread, missing.
    TEXT_REQUIRED = Rule::new(400, "youtube.commentThread", "commentTextRequired", Place::body("snippet.topLevelComment.snippet.textOriginal"), "The commentThread resource that is being inserted must specify a value for the snippet.topLevelComment.snippet.textOriginal property. Comments can't be empty.");
    /// The text of the comment that opens a thread, too long.
    TEXT_TOO_LONG = Rule::new(400, "youtube.commentThread", "commentTextTooLong", Place::body("snippet.topLevelComment.snippet.textOriginal"), "The commentThread resource that is being inserted contains too many characters in the snippet.topLevelComment.snippet.textOriginal property: at most 10000.");
    /// A thread with a value that cannot be.
    METADATA_INVALID = Rule::new(400, "youtube.commentThread", "invalidCommentThreadMetadata", Place::body("snippet.topLevelComment.snippet.textOriginal"), "The request metadata is invalid: a text holds no control characters but line breaks and tabs.");
    /// A video of another channel.
    CHANNEL_MISMATCH = Rule::new(400, "youtube.commentThread", "invalidCommentThreadMetadata", Place::body("snippet.channelId"), "The request metadata is invalid: the video that snippet.videoId names is of another channel than snippet.channelId.");
    /// A comment that is said to be about another video than its thread.
    PROCESSING_FAILURE = Rule::new(400, "youtube.commentThread", "processingFailure", Place::body("snippet.topLevelComment.snippet.videoId"), "The API server failed to successfully process the request: the comment names another video than its thread. Check the structure of the commentThread resource in the request body.");
    /// A reply, asked for as a thread.
    REPLY_UNSUPPORTED = Rule::new(400, "youtube.commentThread", "operationNotSupported", Place::parameter("id"), "The request's <code>id</code> parameter names a reply, which is no thread: comments.list returns it.");
    /// The channel that a thread is to be about.
    CHANNEL_NOT_FOUND = Rule::new(404, "youtube.commentThread", "channelNotFound", Place::body("snippet.channelId"), "The channel identified with the snippet.channelId property cannot be found.");
    /// The video that a thread is to be about.
    VIDEO_NOT_FOUND = Rule::new(404, "youtube.commentThread", "videoNotFound", Place::body("snippet.videoId"), "The video identified with the snippet.videoId property cannot be found.");
    /// A thread about a video without comments.
    INSERT_FORBIDDEN = Rule::new(403, "youtube.commentThread", "forbidden", Place::body("snippet.videoId"), "The comment thread cannot be created: comments on this video are disabled.");
    /// A thread by its id.
    NOT_FOUND = Rule::new(404, "youtube.commentThread", "commentThreadNotFound", Place::parameter("id"), "One or more of the specified comment threads cannot be found. Check the values of the request's <code>id</code> parameter.");
    /// The channel whose threads are asked for.
    FILTER_CHANNEL_NOT_FOUND = Rule::new(404, "youtube.commentThread", "channelNotFound", Place::parameter("channelId"), "The channel identified with the request's <code>channelId</code> parameter cannot be found.");
    /// The channel about which all threads are asked for.
    FILTER_RELATED_NOT_FOUND = Rule::new(404, "youtube.commentThread", "channelNotFound", Place::parameter("allThreadsRelatedToChannelId"), "The channel identified by the <code><a href=\"/youtube/v3/docs/commentThreads/list#allThreadsRelatedToChannelId\">allThreadsRelatedToChannelId</a></code> parameter could not be found.");
    /// The video whose threads are asked for.
    FILTER_VIDEO_NOT_FOUND = Rule::new(404, "youtube.commentThread", "videoNotFound", Place::parameter("videoId"), "The video identified by the <code><a href=\"/youtube/v3/docs/commentThreads/list#videoId\">videoId</a></code> parameter could not be found.");
    /// A video without comments.
    COMMENTS_DISABLED = Rule::new(403, "youtube.commentThread", "commentsDisabled", Place::parameter("videoId"), "The video identified by the <code><a href=\"/youtube/v3/docs/commentThreads/list#videoId\">videoId</a></code> parameter has disabled comments.");
    /// Threads that are not published, asked for by somebody else than the owner.
    FORBIDDEN = Rule::new(403, "youtube.commentThread", "forbidden", Place::parameter("moderationStatus"), "One or more of the requested comment threads cannot be retrieved due to insufficient permissions. The request might not be properly authorized.");
}

/// The rules of the text of a comment that opens a thread.
pub const TEXT: TextRules =
    TextRules { required: &TEXT_REQUIRED, too_long: &TEXT_TOO_LONG, invalid: &METADATA_INVALID };
