//! Rows whose handlers are not built yet: they are routed, checked and documented like all others, and answer 501 by name.
//! Two were withdrawn from the interface itself (Spec §9).

use crate::account::{Scope, Scopes};
use crate::api::operation::{
    Access, Cost, Filters, HL, ID, IDS, MAX_RESULTS, OWNER, OWNER_CHANNEL, Operation, PAGE_TOKEN,
    PART, Part, READ, Run, Upload, WRITE,
};
use crate::api::parameter::{Kind, Param};
use crate::media::Treatment;

/// The parts of a activity.
const ACTIVITY_PARTS: &[Part] =
    &[Part::written("id"), Part::written("snippet"), Part::written("contentDetails")];

/// The parts of a caption.
const CAPTION_PARTS: &[Part] = &[Part::written("id"), Part::written("snippet")];

/// The parts of a channelSection.
const CHANNEL_SECTION_PARTS: &[Part] = &[
    Part::written("id"),
    Part::written("snippet"),
    Part::written("contentDetails"),
    Part::written("localizations"),
    Part::written("targeting"),
];

/// The parts of a commentThread.
const COMMENT_THREAD_PARTS: &[Part] =
    &[Part::written("id"), Part::written("snippet"), Part::read("replies")];

/// The parts of a comment.
const COMMENT_PARTS: &[Part] = &[Part::written("id"), Part::written("snippet")];

/// The parts of a member.
const MEMBER_PARTS: &[Part] = &[Part::read("snippet")];

/// The parts of a membershipsLevel.
const MEMBERSHIPS_LEVEL_PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// The parts of a subscription.
const SUBSCRIPTION_PARTS: &[Part] = &[
    Part::written("id"),
    Part::written("snippet"),
    Part::read("contentDetails"),
    Part::read("subscriberSnippet"),
];

/// The parts of a videoAbuseReportReason.
const VIDEO_ABUSE_REPORT_REASON_PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `activities.list`.
pub(crate) const ACTIVITIES_LIST: Operation = Operation {
    doc: "Channel activity events matching criteria (a channel's or the user's own).",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        Param::of("home", Kind::Boolean, "Activities for the home page.").private().deprecated(),
        MAX_RESULTS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        PAGE_TOKEN,
        Param::of(
            "publishedAfter",
            Kind::Moment,
            "Only what was published at or after this moment.",
        ),
        Param::of("publishedBefore", Kind::Moment, "Only what was published before this moment."),
        Param::text("regionCode", "A country (i18nRegions.list)."),
    ],
    filters: Filters::One(&["channelId", "home", "mine"]),
    parts: ACTIVITY_PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly]),
    response: Some("ActivityListResponse"),
    ..Operation::list("activities.list", "/activities", Run::Absent)
};

/// `activities.insert`.
pub(crate) const ACTIVITIES_INSERT: Operation = Operation {
    doc: "Deprecated, unsupported.",
    params: &[PART],
    parts: ACTIVITY_PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl]),
    request: Some("Activity"),
    response: Some("Activity"),
    ..Operation::insert("activities.insert", "/activities", Run::Unsupported)
};

/// `captions.delete`.
pub(crate) const CAPTIONS_DELETE: Operation = Operation {
    doc: "Delete a caption track.",
    params: &[
        ID,
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
    ],
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    ..Operation::delete("captions.delete", "/captions", Run::Absent)
};

/// `captions.download`.
pub(crate) const CAPTIONS_DOWNLOAD: Operation = Operation {
    doc: "Download a track in its original format and language unless tfmt (format) and tlang (language) parameters are given.",
    params: &[
        Param::text("id", "Narrows the answer: id.").required().in_path(),
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
        Param::text("tfmt", "The format of the track: sbv, scc, srt, ttml or vtt."),
        Param::text("tlang", "The language to translate the track to."),
    ],
    access: Access::Token,
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    cost: Cost { units: 200, own_bucket: false },
    download: true,
    ..Operation::list("captions.download", "/captions/{id}", Run::Absent)
};

/// `captions.insert`.
pub(crate) const CAPTIONS_INSERT: Operation = Operation {
    doc: "Upload a caption track.",
    params: &[
        PART,
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
        Param::of("sync", Kind::Boolean, "Whether time codes are to be worked out from the media."),
    ],
    parts: CAPTION_PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    cost: Cost { units: 400, own_bucket: false },
    request: Some("Caption"),
    response: Some("Caption"),
    upload: Some(Upload {
        accept: &["text/xml", "application/octet-stream", "*/*"],
        bytes_max: 104_857_600,
        required: true,
        treatment: Treatment::Keep,
    }),
    ..Operation::insert("captions.insert", "/captions", Run::Absent)
};

/// `captions.list`.
pub(crate) const CAPTIONS_LIST: Operation = Operation {
    doc: "Tracks of a specified video; the response has no caption content.",
    params: &[
        PART,
        Param::text("videoId", "The id of a video.").required(),
        IDS,
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
    ],
    parts: CAPTION_PARTS,
    access: Access::Token,
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    cost: Cost { units: 50, own_bucket: false },
    response: Some("CaptionListResponse"),
    ..Operation::list("captions.list", "/captions", Run::Absent)
};

/// `captions.update`.
pub(crate) const CAPTIONS_UPDATE: Operation = Operation {
    doc: "Change draft status, upload a new caption file, or both.",
    params: &[
        PART,
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
        Param::of("sync", Kind::Boolean, "Whether time codes are to be worked out from the media."),
    ],
    parts: CAPTION_PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    cost: Cost { units: 450, own_bucket: false },
    request: Some("Caption"),
    response: Some("Caption"),
    upload: Some(Upload {
        accept: &["text/xml", "application/octet-stream", "*/*"],
        bytes_max: 104_857_600,
        required: false,
        treatment: Treatment::Keep,
    }),
    ..Operation::update("captions.update", "/captions", Run::Absent)
};

/// `channelSections.delete`.
pub(crate) const CHANNEL_SECTIONS_DELETE: Operation = Operation {
    doc: "Delete a section.",
    params: &[ID, OWNER],
    scopes: WRITE,
    ..Operation::delete("channelSections.delete", "/channelSections", Run::Absent)
};

/// `channelSections.insert`.
pub(crate) const CHANNEL_SECTIONS_INSERT: Operation = Operation {
    doc: "Add a section to the authenticated user's channel.",
    params: &[PART, OWNER, OWNER_CHANNEL],
    parts: CHANNEL_SECTION_PARTS,
    scopes: WRITE,
    request: Some("ChannelSection"),
    response: Some("ChannelSection"),
    ..Operation::insert("channelSections.insert", "/channelSections", Run::Absent)
};

/// `channelSections.list`.
pub(crate) const CHANNEL_SECTIONS_LIST: Operation = Operation {
    doc: "Sections matching criteria.",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        Param::text("hl", "Narrows the answer: hl.").deprecated(),
        IDS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        OWNER,
    ],
    filters: Filters::One(&["channelId", "id", "mine"]),
    parts: CHANNEL_SECTION_PARTS,
    scopes: READ,
    response: Some("ChannelSectionListResponse"),
    ..Operation::list("channelSections.list", "/channelSections", Run::Absent)
};

/// `channelSections.update`.
pub(crate) const CHANNEL_SECTIONS_UPDATE: Operation = Operation {
    doc: "Update a section.",
    params: &[PART, OWNER],
    parts: CHANNEL_SECTION_PARTS,
    scopes: WRITE,
    request: Some("ChannelSection"),
    response: Some("ChannelSection"),
    ..Operation::update("channelSections.update", "/channelSections", Run::Absent)
};

/// `commentThreads.list`.
pub(crate) const COMMENT_THREADS_LIST: Operation = Operation {
    doc: "Threads matching parameters.",
    params: &[
        PART,
        Param::text("allThreadsRelatedToChannelId", "Threads about the channel and its videos."),
        Param::text("channelId", "The id of a channel."),
        IDS,
        Param::of("maxResults", Kind::Unsigned(1, 100), "Narrows the answer: maxResults.")
            .default("20"),
        Param::of(
            "moderationStatus",
            Kind::OneOf(&["published", "heldForReview", "likelySpam", "rejected"]),
            "The moderation status.",
        )
        .default("published"),
        Param::of(
            "order",
            Kind::OneOf(&["orderUnspecified", "time", "relevance"]),
            "The order of the answer.",
        )
        .default("time"),
        PAGE_TOKEN,
        Param::text("searchTerms", "Words that the text holds."),
        Param::of(
            "textFormat",
            Kind::OneOf(&["textFormatUnspecified", "html", "plainText"]),
            "The form of texts.",
        )
        .default("html"),
        Param::text("videoId", "The id of a video."),
    ],
    filters: Filters::One(&["allThreadsRelatedToChannelId", "channelId", "id", "videoId"]),
    parts: COMMENT_THREAD_PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    response: Some("CommentThreadListResponse"),
    ..Operation::list("commentThreads.list", "/commentThreads", Run::Absent)
};

/// `commentThreads.insert`.
pub(crate) const COMMENT_THREADS_INSERT: Operation = Operation {
    doc: "Create a top-level comment (replies use comments.insert).",
    params: &[PART],
    parts: COMMENT_THREAD_PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    request: Some("CommentThread"),
    response: Some("CommentThread"),
    ..Operation::insert("commentThreads.insert", "/commentThreads", Run::Absent)
};

/// `comments.list`.
pub(crate) const COMMENTS_LIST: Operation = Operation {
    doc: "Comments matching parameters.",
    params: &[
        PART,
        IDS,
        Param::of("maxResults", Kind::Unsigned(1, 100), "Narrows the answer: maxResults.")
            .default("20"),
        PAGE_TOKEN,
        Param::text("parentId", "The comment whose replies are asked for."),
        Param::of(
            "textFormat",
            Kind::OneOf(&["textFormatUnspecified", "html", "plainText"]),
            "The form of texts.",
        )
        .default("html"),
    ],
    filters: Filters::One(&["id", "parentId"]),
    parts: COMMENT_PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    response: Some("CommentListResponse"),
    ..Operation::list("comments.list", "/comments", Run::Absent)
};

/// `comments.setModerationStatus`.
pub(crate) const COMMENTS_SET_MODERATION_STATUS: Operation = Operation {
    doc: "Set moderation status of one or more comments.",
    params: &[
        IDS.required(),
        Param::of(
            "moderationStatus",
            Kind::OneOf(&["published", "heldForReview", "likelySpam", "rejected"]),
            "The moderation status.",
        )
        .required(),
        Param::of("banAuthor", Kind::Boolean, "Whether the author is banned as well.")
            .default("false"),
    ],
    scopes: Scopes::of(&[Scope::ForceSsl]),
    ..Operation::insert(
        "comments.setModerationStatus",
        "/comments/setModerationStatus",
        Run::Absent,
    )
};

/// `comments.insert`.
pub(crate) const COMMENTS_INSERT: Operation = Operation {
    doc: "Create a reply to an existing comment.",
    params: &[PART],
    parts: COMMENT_PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    request: Some("Comment"),
    response: Some("Comment"),
    ..Operation::insert("comments.insert", "/comments", Run::Absent)
};

/// `comments.markAsSpam`.
pub(crate) const COMMENTS_MARK_AS_SPAM: Operation = Operation {
    doc: "Deprecated, unsupported.",
    params: &[IDS.required()],
    scopes: Scopes::of(&[Scope::ForceSsl]),
    ..Operation::insert("comments.markAsSpam", "/comments/markAsSpam", Run::Unsupported)
};

/// `comments.delete`.
pub(crate) const COMMENTS_DELETE: Operation = Operation {
    doc: "Delete a comment.",
    params: &[ID],
    scopes: Scopes::of(&[Scope::ForceSsl]),
    ..Operation::delete("comments.delete", "/comments", Run::Absent)
};

/// `comments.update`.
pub(crate) const COMMENTS_UPDATE: Operation = Operation {
    doc: "Modify a comment.",
    params: &[PART],
    parts: COMMENT_PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl]),
    request: Some("Comment"),
    response: Some("Comment"),
    ..Operation::update("comments.update", "/comments", Run::Absent)
};

/// `members.list`.
pub(crate) const MEMBERS_LIST: Operation = Operation {
    doc: "Members of a channel.",
    params: &[
        PART,
        Param::text("filterByMemberChannelId", "Only these members."),
        Param::text("hasAccessToLevel", "Only members of this level or above."),
        Param::of("maxResults", Kind::Unsigned(0, 1000), "Narrows the answer: maxResults.")
            .default("5"),
        Param::of(
            "mode",
            Kind::OneOf(&["listMembersModeUnknown", "updates", "all_current"]),
            "Which members.",
        )
        .default("all_current"),
        PAGE_TOKEN,
    ],
    parts: MEMBER_PARTS,
    access: Access::Token,
    scopes: Scopes::of(&[Scope::Memberships]),
    response: Some("MemberListResponse"),
    ..Operation::list("members.list", "/members", Run::Absent)
};

/// `membershipsLevels.list`.
pub(crate) const MEMBERSHIPS_LEVELS_LIST: Operation = Operation {
    doc: "Levels owned by the authorizing channel, in implicit display order.",
    params: &[PART],
    parts: MEMBERSHIPS_LEVEL_PARTS,
    access: Access::Token,
    scopes: Scopes::of(&[Scope::Memberships]),
    response: Some("MembershipsLevelListResponse"),
    ..Operation::list("membershipsLevels.list", "/membershipsLevels", Run::Absent)
};

/// `subscriptions.delete`.
pub(crate) const SUBSCRIPTIONS_DELETE: Operation = Operation {
    doc: "Delete a subscription.",
    params: &[ID],
    scopes: WRITE,
    ..Operation::delete("subscriptions.delete", "/subscriptions", Run::Absent)
};

/// `subscriptions.insert`.
pub(crate) const SUBSCRIPTIONS_INSERT: Operation = Operation {
    doc: "Add a subscription for the authenticated user's channel.",
    params: &[PART],
    parts: SUBSCRIPTION_PARTS,
    scopes: WRITE,
    request: Some("Subscription"),
    response: Some("Subscription"),
    ..Operation::insert("subscriptions.insert", "/subscriptions", Run::Absent)
};

/// `subscriptions.list`.
pub(crate) const SUBSCRIPTIONS_LIST: Operation = Operation {
    doc: "Subscriptions matching criteria.",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        Param::text("forChannelId", "Only subscriptions to these channels."),
        IDS,
        MAX_RESULTS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        Param::of(
            "myRecentSubscribers",
            Kind::Boolean,
            "Channels that subscribed to the caller's of late.",
        )
        .private(),
        Param::of("mySubscribers", Kind::Boolean, "Channels that subscribe to the caller's.")
            .private(),
        OWNER,
        OWNER_CHANNEL,
        Param::of(
            "order",
            Kind::OneOf(&["subscriptionOrderUnspecified", "relevance", "unread", "alphabetical"]),
            "The order of the answer.",
        )
        .default("relevance"),
        PAGE_TOKEN,
    ],
    filters: Filters::One(&["channelId", "id", "mine", "myRecentSubscribers", "mySubscribers"]),
    parts: SUBSCRIPTION_PARTS,
    scopes: READ,
    response: Some("SubscriptionListResponse"),
    ..Operation::list("subscriptions.list", "/subscriptions", Run::Absent)
};

/// `videoAbuseReportReasons.list`.
pub(crate) const VIDEO_ABUSE_REPORT_REASONS_LIST: Operation = Operation {
    doc: "Reasons usable to report abuse.",
    params: &[PART, HL.default("en-US")],
    parts: VIDEO_ABUSE_REPORT_REASON_PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly]),
    response: Some("VideoAbuseReportReasonListResponse"),
    ..Operation::list("videoAbuseReportReasons.list", "/videoAbuseReportReasons", Run::Absent)
};

/// `videos.reportAbuse`.
pub(crate) const VIDEOS_REPORT_ABUSE: Operation = Operation {
    doc: "Report a video as abusive, using a reason from videoAbuseReportReasons.",
    params: &[OWNER],
    scopes: WRITE,
    request: Some("VideoAbuseReport"),
    ..Operation::insert("videos.reportAbuse", "/videos/reportAbuse", Run::Absent)
};
