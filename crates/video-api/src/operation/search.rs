//! Search: resources that fit words and filters.

use super::{
    Cost, Filters, Kind, MAX_RESULTS, OWNER, Operation, PAGE_TOKEN, PART, Param, Part, Run,
};
use crate::account::{Scope, Scopes};

/// The parts of a searchResult.
const SEARCH_RESULT_PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `search.list`.
pub(super) const LIST: Operation = Operation {
    doc: "Results for query parameters; by default video, channel and playlist results; can be restricted to one type; accepts regionCode.",
    params: &[
        PART,
        Param::text("channelId", "The id of a channel."),
        Param::of(
            "channelType",
            Kind::OneOf(&["channelTypeUnspecified", "any", "show"]),
            "Narrows the answer: channelType.",
        ),
        Param::of(
            "eventType",
            Kind::OneOf(&["none", "upcoming", "live", "completed"]),
            "Narrows the answer: eventType.",
        ),
        Param::of(
            "forContentOwner",
            Kind::Boolean,
            "Narrows the answer: forContentOwner.",
        )
        .private(),
        Param::of(
            "forDeveloper",
            Kind::Boolean,
            "Narrows the answer: forDeveloper.",
        )
        .private(),
        Param::of("forMine", Kind::Boolean, "Narrows the answer: forMine.").private(),
        Param::text("location", "Narrows the answer: location."),
        Param::text("locationRadius", "Narrows the answer: locationRadius."),
        MAX_RESULTS,
        OWNER,
        Param::of(
            "order",
            Kind::OneOf(&[
                "searchSortUnspecified",
                "date",
                "rating",
                "viewCount",
                "relevance",
                "title",
                "videoCount",
            ]),
            "The order of the answer.",
        )
        .default("relevance"),
        PAGE_TOKEN,
        Param::of(
            "publishedAfter",
            Kind::Moment,
            "Only what was published at or after this moment.",
        ),
        Param::of(
            "publishedBefore",
            Kind::Moment,
            "Only what was published before this moment.",
        ),
        Param::text("q", "The words to look for."),
        Param::text("regionCode", "A country (i18nRegions.list)."),
        Param::text(
            "relevanceLanguage",
            "Narrows the answer: relevanceLanguage.",
        ),
        Param::of(
            "safeSearch",
            Kind::OneOf(&["safeSearchSettingUnspecified", "none", "moderate", "strict"]),
            "Narrows the answer: safeSearch.",
        )
        .default("moderate"),
        Param::text("topicId", "Narrows the answer: topicId."),
        Param::text("type", "The types of resource: video, channel, playlist.").repeated(),
        Param::of(
            "videoCaption",
            Kind::OneOf(&["videoCaptionUnspecified", "any", "closedCaption", "none"]),
            "Narrows the answer: videoCaption.",
        ),
        Param::text("videoCategoryId", "Only this category of videos."),
        Param::of(
            "videoDefinition",
            Kind::OneOf(&["any", "standard", "high"]),
            "Narrows the answer: videoDefinition.",
        ),
        Param::of(
            "videoDimension",
            Kind::OneOf(&["any", "2d", "3d"]),
            "Narrows the answer: videoDimension.",
        ),
        Param::of(
            "videoDuration",
            Kind::OneOf(&["videoDurationUnspecified", "any", "short", "medium", "long"]),
            "Narrows the answer: videoDuration.",
        ),
        Param::of(
            "videoEmbeddable",
            Kind::OneOf(&["videoEmbeddableUnspecified", "any", "true"]),
            "Narrows the answer: videoEmbeddable.",
        ),
        Param::of(
            "videoLicense",
            Kind::OneOf(&["any", "youtube", "creativeCommon"]),
            "Narrows the answer: videoLicense.",
        ),
        Param::of(
            "videoPaidProductPlacement",
            Kind::OneOf(&["videoPaidProductPlacementUnspecified", "any", "true"]),
            "Narrows the answer: videoPaidProductPlacement.",
        ),
        Param::of(
            "videoSyndicated",
            Kind::OneOf(&["videoSyndicatedUnspecified", "any", "true"]),
            "Narrows the answer: videoSyndicated.",
        ),
        Param::of(
            "videoType",
            Kind::OneOf(&["videoTypeUnspecified", "any", "movie", "episode"]),
            "Narrows the answer: videoType.",
        ),
    ],
    filters: Filters::AtMostOne(&["forContentOwner", "forDeveloper", "forMine"]),
    parts: SEARCH_RESULT_PARTS,
    scopes: Scopes::of(&[
        Scope::Full,
        Scope::ForceSsl,
        Scope::ReadOnly,
        Scope::Partner,
    ]),
    cost: Cost {
        units: 100,
        own_bucket: true,
    },
    response: Some("SearchListResponse"),
    heavy: true,
    ..Operation::list("search.list", "/search", Run::Absent)
};
