//! Rules of comments and their threads: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};
use crate::resource::comments::text::TextRules;

rules! {
    /// The text of a comment, missing.
    TEXT_REQUIRED = Rule::new(400, "youtube.comment", "commentTextRequired", Place::body("snippet.textOriginal"), "The comment resource that is being written must specify a value for the snippet.textOriginal property. Comments can't be empty.");
    /// The text of a comment, too long.
    TEXT_TOO_LONG = Rule::new(400, "youtube.comment", "commentTextTooLong", Place::body("snippet.textOriginal"), "The comment resource that is being written contains too many characters in the snippet.textOriginal property: at most 10000.");
    /// A text with control characters.
    METADATA_INVALID = Rule::new(400, "youtube.comment", "invalidCommentMetadata", Place::body("snippet.textOriginal"), "The request metadata is invalid: a text holds no control characters but line breaks and tabs.");
    /// A caller without a channel.
    INELIGIBLE_ACCOUNT = Rule::new(403, "youtube.comment", "ineligibleAccount", Place::Header("Authorization"), "The account that authorizes the request needs a channel to write a comment.");
    /// `snippet.parentId` missing.
    PARENT_ID_MISSING = Rule::new(400, "youtube.comment", "parentIdMissing", Place::body("snippet.parentId"), "The comment that is being inserted must be linked to a parent comment, but the request did not specify a value for the snippet.parentId property.");
    /// The comment that is replied to.
    PARENT_NOT_FOUND = Rule::new(404, "youtube.comment", "parentCommentNotFound", Place::body("snippet.parentId"), "The specified parent comment could not be found. Check the value of the snippet.parentId property in the request body.");
    /// A comment that not everybody sees, replied to.
    PARENT_PRIVATE = Rule::new(400, "youtube.comment", "parentCommentIsPrivate", Place::body("snippet.parentId"), "The specified parent comment is private: it is not published, and can't be replied to.");
    /// A reply to a reply.
    REPLY_UNSUPPORTED = Rule::new(400, "youtube.comment", "operationNotSupported", Place::body("snippet.parentId"), "The specified parent comment is a reply itself. Replies are made to the comment that opens a thread.");
    /// A reply that is said to be about another video than its thread.
    PROCESSING_FAILURE = Rule::new(400, "youtube.comment", "processingFailure", Place::body("snippet.videoId"), "The API server failed to successfully process the request: the reply names another video than its thread. Check the structure of the comment resource in the request body.");
    /// A comment by its id.
    NOT_FOUND = Rule::new(404, "youtube.comment", "commentNotFound", Place::parameter("id"), "The comment or comments identified with the request's <code>id</code> parameter cannot be found.");
    /// The comment whose replies are asked for.
    FILTER_PARENT_NOT_FOUND = Rule::new(404, "youtube.comment", "commentNotFound", Place::parameter("parentId"), "The comment identified with the request's <code>parentId</code> parameter cannot be found.");
    /// A comment of somebody else.
    FORBIDDEN = Rule::new(403, "youtube.comment", "forbidden", Place::parameter("id"), "The comment or comments cannot be changed due to insufficient permissions. The request might not be properly authorized.");
    /// A comment where comments are disabled.
    INSERT_FORBIDDEN = Rule::new(403, "youtube.comment", "forbidden", Place::None, "The comment cannot be created: comments on this video are disabled.");
    /// A ban of an author whose comment is not rejected.
    BAN_WITHOUT_REJECT = Rule::new(400, "youtube.comment", "banWithoutReject", Place::parameter("banAuthor"), "The banAuthor parameter can only be used if the moderationStatus parameter value is rejected.");
    /// A status that the service alone gives.
    STATUS_UNSUPPORTED = Rule::new(400, "youtube.comment", "operationNotSupported", Place::parameter("moderationStatus"), "The moderation status can be set to heldForReview, published or rejected.");
}

/// The rules of the text of a comment.
pub const TEXT: TextRules =
    TextRules { required: &TEXT_REQUIRED, too_long: &TEXT_TOO_LONG, invalid: &METADATA_INVALID };
