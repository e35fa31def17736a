//! Rules of videos: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};

rules! {
    /// A video.
    NOT_FOUND = Rule::new(404, "youtube.video", "videoNotFound", Place::parameter("id"), "The video that you are trying to retrieve cannot be found.");
    /// A video that is updated, also where the body names none.
    UPDATED_NOT_FOUND = Rule::new(404, "youtube.video", "videoNotFound", Place::body("id"), "The video that you are trying to update cannot be found. Check the value of the <code>id</code> field in the request body to ensure that it is correct.");
    /// A chart.
    CHART_NOT_FOUND = Rule::new(400, "youtube.video", "videoChartNotFound", Place::parameter("chart"), "The requested video chart is not supported or is not available.");
    /// A video of somebody else.
    FORBIDDEN = Rule::new(403, "youtube.video", "forbidden", Place::parameter("id"), "The video cannot be changed or deleted: the request is not properly authorized.");
    /// Parts that only the owner sees.
    OWNER_PARTS_FORBIDDEN = Rule::new(403, "youtube.video", "forbidden", Place::parameter("part"), "The request is not properly authorized to access video file or processing information. The parts fileDetails, processingDetails and suggestions are only available to the video's owner.");
    /// The likes of somebody else.
    RATINGS_FORBIDDEN = Rule::new(403, "youtube.video", "forbidden", Place::parameter("myRating"), "The request cannot access user rating information. This error may occur because the request is not properly authorized.");
    /// A title that is empty, too long, or holds < or >.
    TITLE_INVALID = Rule::new(400, "youtube.video", "invalidTitle", Place::body("snippet.title"), "The request metadata specifies an invalid or empty video title: it has 1 to 100 characters, and no < or >.");
    /// A description that is too long, or holds < or > or control characters.
    DESCRIPTION_INVALID = Rule::new(400, "youtube.video", "invalidDescription", Place::body("snippet.description"), "The request metadata specifies an invalid video description: it has at most 5000 bytes, no < or >, and no control characters but line breaks and tabs.");
    /// Tags that are too long together.
    TAGS_INVALID = Rule::new(400, "youtube.video", "invalidTags", Place::body("snippet.tags"), "The request metadata specifies invalid video keywords: none is empty or has control characters, and they have at most 500 characters together, with a comma between two and quotation marks around one with a space.");
    /// A category that is none.
    CATEGORY_INVALID = Rule::new(400, "youtube.video", "invalidCategoryId", Place::body("snippet.categoryId"), "The snippet.categoryId property specifies an invalid category ID. Use the videoCategories.list method to retrieve supported categories.");
    /// A name of a file that is none.
    FILE_NAME_INVALID = Rule::new(400, "youtube.video", "invalidFilename", Place::Header("Slug"), "The video filename specified in the Slug header is invalid: it is text in UTF-8 of 1 to 255 bytes, and has no control characters.");
    /// A publication time of a video that is not private, or that is no time.
    PUBLISH_AT_INVALID = Rule::new(400, "youtube.video", "invalidPublishAt", Place::body("status.publishAt"), "The request metadata specifies an invalid scheduled publishing time: the video must be private, and the time a moment in RFC 3339.");
    /// Recording details that are none.
    RECORDING_DETAILS_INVALID = Rule::new(400, "youtube.video", "invalidRecordingDetails", Place::body("recordingDetails"), "The recordingDetails object in the request specifies invalid recording details.");
    /// Snippet without title or category, or none at all.
    METADATA_INVALID = Rule::new(400, "youtube.video", "invalidVideoMetadata", Place::body("snippet"), "The request metadata is invalid: a snippet needs title and categoryId.");
    /// Localizations without a default language.
    DEFAULT_LANGUAGE_NOT_SET = Rule::new(400, "youtube.video", "defaultLanguageNotSet", Place::body("snippet.defaultLanguage"), "The request is trying to add localized video details without specifying the default language of the video details.");
    /// Localizations that are none, or too many. Ours.
    LOCALIZATIONS_INVALID = Rule::new(400, "youtube.video", "localizationValidationError", Place::body("localizations"), "One of the values in the localizations object is not valid: each is a language with title and description, and all have at most 40 KiB together.");
    /// A licence that is none.
    LICENSE_FORBIDDEN = Rule::new(403, "youtube.video", "forbiddenLicenseSetting", Place::body("status.license"), "The request attempts to set an invalid license for the video: youtube or creativeCommon.");
    /// A privacy that is none.
    PRIVACY_FORBIDDEN = Rule::new(403, "youtube.video", "forbiddenPrivacySetting", Place::body("status.privacyStatus"), "The request attempts to set an invalid privacy setting for the video: public, unlisted or private.");
    /// A rating that is none.
    RATING_INVALID = Rule::new(400, "youtube.video", "invalidRating", Place::parameter("rating"), "The request contained an unexpected value for the rating parameter: like, dislike or none.");
    /// A video that its owner lets no other page play. Ours.
    EMBEDDING_FORBIDDEN = Rule::new(403, "youtube.video", "forbidden", Place::parameter("id"), "The owner of this video does not let other pages play it.");
    /// A video that is reported.
    REPORTED_NOT_FOUND = Rule::new(404, "youtube.video", "videoNotFound", Place::body("videoId"), "The video that you are trying to report cannot be found.");
    /// A reason of a report that is none.
    ABUSE_REASON_INVALID = Rule::new(400, "youtube.video", "invalidAbuseReason", Place::body("reasonId"), "The request contained an unexpected value for the reasonId. Use videoAbuseReportReasons.list to retrieve reasons.");
    /// A secondary reason of a report that its reason does not have.
    SECONDARY_REASON_INVALID = Rule::new(400, "youtube.video", "invalidAbuseReason", Place::body("secondaryReasonId"), "The request contained a secondaryReasonId that its reasonId does not have. Use videoAbuseReportReasons.list to retrieve reasons.");
    /// A report with too many words. Ours.
    REPORT_TOO_LONG = Rule::new(400, "global", "invalid", Place::body("comments"), "The comments of a report have at most 10000 characters.");
}
