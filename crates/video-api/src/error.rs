//! Why a request is refused: one enum, in the order in which the checks run. Status, reason, domain and place of
//! each stand in [`Error::detail`] and nowhere else.
//!
//! Rows marked "ours" are where neither the spec nor the real service says; docs/video-api.md lists them.

use std::borrow::Cow;

use triptych_core::error::{Coded, Row};
use triptych_core::kv::StoreError;

use crate::upload::session::SessionError;

/// Where in a request the fault lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Nowhere in particular.
    None,
    /// A query parameter.
    Parameter(Cow<'static, str>),
    /// A header.
    Header(&'static str),
    /// A field of the body, as a path.
    Body(Cow<'static, str>),
}

/// What an error body says beside the sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// Status and reason.
    pub row: Row,
    /// The domain of the reason.
    pub domain: &'static str,
    /// Where the fault lies.
    pub place: Place,
}

/// Why a request was refused. Declared in the order of the checks: the first that applies is returned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    // The target.
    /// Nothing is served under this path.
    #[error("Not Found")]
    UnknownPath,
    /// The path is there, with other methods.
    #[error("This path does not take the method {0}.")]
    MethodNotAllowed(String),
    /// The operation was withdrawn from the interface (Spec §9).
    #[error("{0} is deprecated and no longer supported.")]
    Unsupported(&'static str),
    /// A row of the table whose handler is not built yet.
    #[error("{0} is not implemented.")]
    NotImplemented(&'static str),

    // What every operation takes.
    /// A parameter that the operation does not know, under `--strict`.
    #[error("Unknown parameter: '{0}'.")]
    UnknownParameter(String),
    /// `alt=proto`: answers are JSON alone.
    #[error("The output format proto is not supported; use json.")]
    OutputFormat,
    /// `alt` names a form that this operation has not.
    #[error("Invalid string value: '{0}'. Allowed values: [json, media]")]
    AltUnsupported(String),
    /// `fields` cannot be read.
    #[error("Invalid field selection {0}")]
    InvalidFields(String),

    // Who asks.
    /// The API key is none of ours.
    #[error("API key not valid. Please pass a valid API key.")]
    KeyInvalid,
    /// The token is none of ours, or has ended.
    #[error("Invalid Credentials")]
    InvalidCredentials,
    /// Neither key nor token.
    #[error("The request is missing a valid API key.")]
    Unregistered,
    /// A token is needed and none was sent.
    #[error("Login Required.")]
    LoginRequired,
    /// A parameter asks for somebody's own data, and no token says whose.
    #[error("The request uses the <code>{0}</code> parameter but is not properly authorized.")]
    AuthorizationRequired(&'static str),
    /// The token has none of the operation's scopes.
    #[error("Request had insufficient authentication scopes.")]
    InsufficientScopes,
    /// The account of the token has no channel.
    #[error("The authenticated user has no channel.")]
    NoChannel,
    /// The project's units of the day are used up.
    #[error(
        "The request cannot be completed because you have exceeded your <a href=\"/youtube/v3/getting-started#quota\">quota</a>."
    )]
    QuotaExceeded,

    // Parameters.
    /// A required parameter is missing.
    #[error("Required parameter: {0}")]
    Required(&'static str),
    /// A parameter that is no list is given twice. Ours.
    #[error("The parameter {0} can be given only once.")]
    Repeated(&'static str),
    /// A parameter cannot be read as its type.
    #[error("Invalid {kind} value: '{value}'")]
    InvalidValue {
        /// Which parameter.
        name: &'static str,
        /// The type's name.
        kind: &'static str,
        /// What was given.
        value: String,
    },
    /// A number out of its range.
    #[error("Invalid value '{value}'. Values must be within the range: [{least}, {most}]")]
    OutOfRange {
        /// Which parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// The least allowed.
        least: i64,
        /// The most allowed.
        most: i64,
    },
    /// A value that the list of the parameter does not hold.
    #[error("Invalid string value: '{value}'. Allowed values: [{}]", .allowed.join(", "))]
    UnknownValue {
        /// Which parameter.
        name: &'static str,
        /// What was given.
        value: String,
        /// What may be given.
        allowed: &'static [&'static str],
    },
    /// A part that the resource has not.
    #[error("'{0}'")]
    UnknownPart(String),
    /// A part that this operation cannot write, or one that the body holds and `part` does not name.
    #[error("'{0}'")]
    UnexpectedPart(String),
    /// No filter, where one is needed.
    #[error("No filter selected. Expected one of: {}", .0.join(", "))]
    NoFilter(&'static [&'static str]),
    /// Two filters, where one is taken.
    #[error("Incompatible parameters specified in the request: {0}")]
    IncompatibleParameters(String),
    /// More ids than one request may name.
    #[error("The request specifies an invalid filter parameter.")]
    TooManyIds,
    /// A page token of another request, or none of ours.
    #[error("The request specifies an invalid page token.")]
    InvalidPageToken,
    /// `hl` is no language tag.
    #[error("'{0}' is not a language code.")]
    InvalidLanguage(String),
    /// `hl` names no language of ours.
    #[error("'{0}' is not a supported language code.")]
    UnsupportedLanguage(String),
    /// `regionCode` is no region code.
    #[error("'{0}' is not a region code: two letters of ISO 3166-1.")]
    InvalidRegion(String),
    /// `regionCode` names no region of ours.
    #[error("'{0}' is not a supported region code.")]
    UnsupportedRegion(String),

    // The body.
    /// The body is no JSON.
    #[error("Parse Error: {0}")]
    ParseError(String),
    /// A field of the body has the wrong type.
    #[error("Invalid value at '{path}' ({expected})")]
    InvalidField {
        /// Where.
        path: String,
        /// What is expected there.
        expected: &'static str,
    },
    /// A field of the body is needed. The text is the path.
    #[error("Required")]
    RequiredField(&'static str),
    /// Media is needed and none was sent.
    #[error("The request does not include the media to upload.")]
    MediaBodyRequired,
    /// The media type is none that the operation takes.
    #[error("Media type '{0}' is not supported. Valid media types: [{1}]")]
    BadContent(String, String),
    /// The body is longer than the operation takes.
    #[error("The body is longer than the {0} bytes that this operation takes.")]
    UploadTooLarge(u64),
    /// An upload path for an operation that takes no media.
    #[error("This operation takes no media; send it to the path without /upload.")]
    NotUpload,
    /// `uploadType` is none.
    #[error("'{0}' is not an upload protocol; use media, multipart or resumable.")]
    UnsupportedMediaProtocol(String),
    /// The body broke off or came too slowly.
    #[error("The request body ended early.")]
    BodyBroken,
    /// A batch holds too many requests.
    #[error("The batch holds more than {0} requests.")]
    BatchTooLarge(usize),

    /// A request to an upload session that cannot be taken.
    #[error(transparent)]
    Session(SessionError),

    // The resource.
    /// Something named in the request is not there, or not for the caller to see.
    #[error("{}", .0.sentence())]
    Absent(Absent),
    /// The resource is not the caller's.
    #[error("{}", .0.sentence())]
    Forbidden(Forbidden),
    /// A value of the resource breaks a rule.
    #[error("{}", .0.sentence())]
    Rule(Rule),
    /// `If-Match` names another version.
    #[error("Precondition Failed")]
    ConditionNotMet,
    /// Too many requests fought over one record; nothing was written.
    #[error("The request was aborted by other writes to the same resource; try again.")]
    Contended,

    // The service.
    /// The disk or the store failed.
    #[error("Backend Error")]
    Backend(StoreError),
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $status:literal $domain:literal $reason:literal $place:expr => $sentence:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }

            fn detail(self) -> Detail {
                match self { $(Self::$variant => Detail::new($status, $domain, $reason, $place),)* }
            }
        }

        impl From<$name> for Error {
            fn from(value: $name) -> Self { Self::$name(value) }
        }
    };
}

const fn parameter(name: &'static str) -> Place {
    Place::Parameter(Cow::Borrowed(name))
}

const fn body(path: &'static str) -> Place {
    Place::Body(Cow::Borrowed(path))
}

named! {
    /// What is not there.
    Absent {
        /// A video.
        Video = 404 "youtube.video" "videoNotFound" parameter("id") => "The video that you are trying to retrieve cannot be found.",
        /// The video of a thumbnail.
        ThumbnailVideo = 404 "youtube.thumbnail" "videoNotFound" parameter("videoId") => "The video that you are trying to insert a thumbnail image for cannot be found. Check the value of the request's <code>videoId</code> parameter to ensure that it is correct.",
        /// The video of a playlist item.
        ItemVideo = 404 "youtube.playlistItem" "videoNotFound" Place::None => "Video not found.",
        /// A channel.
        Channel = 404 "youtube.channel" "channelNotFound" parameter("id") => "The channel specified in the request cannot be found.",
        /// A guide category.
        Category = 404 "youtube.channel" "categoryNotFound" parameter("categoryId") => "The category identified by the <code>categoryId</code> parameter cannot be found.",
        /// A chart.
        Chart = 400 "youtube.video" "videoChartNotFound" parameter("chart") => "The requested video chart is not supported or is not available.",
        /// A playlist by its id.
        Playlist = 404 "youtube.playlist" "playlistNotFound" parameter("id") => "The playlist identified with the request's <code>id</code> parameter cannot be found.",
        /// The playlist of an item.
        ItemPlaylist = 404 "youtube.playlistItem" "playlistNotFound" parameter("playlistId") => "The playlist identified with the request's <code>playlistId</code> parameter cannot be found.",
        /// A playlist item.
        PlaylistItem = 404 "youtube.playlistItem" "playlistItemNotFound" parameter("id") => "The playlist item identified with the request's <code>id</code> parameter cannot be found.",
        /// A guide category by its id.
        GuideCategory = 404 "global" "notFound" parameter("id") => "One or more of the categories could not be found.",
        /// A video category by its id.
        VideoCategory = 404 "youtube.videoCategory" "videoCategoryNotFound" parameter("id") => "The video category identified by the <code>id</code> parameter cannot be found. Use the videoCategories.list method to retrieve a list of valid values.",
    }
}

named! {
    /// What is not the caller's to do.
    Forbidden {
        /// A video of somebody else.
        Video = 403 "youtube.video" "forbidden" parameter("id") => "The video cannot be changed or deleted: the request is not properly authorized.",
        /// Parts that only the owner sees.
        OwnerParts = 403 "youtube.video" "forbidden" parameter("part") => "The request is not properly authorized to access video file or processing information. The parts fileDetails, processingDetails and suggestions are only available to the video's owner.",
        /// A channel of somebody else.
        Channel = 403 "youtube.channel" "channelForbidden" parameter("id") => "The channel specified in the <code>id</code> parameter does not support the request or the request is not properly authorized.",
        /// A playlist of somebody else.
        Playlist = 403 "youtube.playlist" "playlistForbidden" parameter("id") => "This operation is forbidden or the request might not be properly authorized.",
        /// Items of a playlist that the caller cannot see or change.
        PlaylistItems = 403 "youtube.playlistItem" "playlistItemsNotAccessible" parameter("playlistId") => "The request is not properly authorized to access or change the items of this playlist.",
        /// A picture for somebody else's video.
        Thumbnail = 403 "youtube.thumbnail" "forbidden" parameter("videoId") => "The thumbnail can't be set for the specified video. The request might not be properly authorized.",
        /// A watermark for somebody else's channel.
        Watermark = 403 "youtube.watermark" "forbidden" parameter("channelId") => "The watermark can't be set for the specified channel. The request might not be properly authorized.",
        /// A banner for somebody else's channel.
        Banner = 403 "youtube.channelBanner" "forbidden" parameter("channelId") => "The banner can't be uploaded for the specified channel. The request might not be properly authorized.",
        /// The likes of somebody else.
        Rating = 403 "youtube.video" "forbidden" parameter("myRating") => "The request cannot access user rating information. This error may occur because the request is not properly authorized.",
    }
}

named! {
    /// Rules that a request's values break.
    Rule {
        // Videos.
        /// Title.
        VideoTitle = 400 "youtube.video" "invalidTitle" body("snippet.title") => "The request metadata specifies an invalid or empty video title: it has 1 to 100 characters, and no < or >.",
        /// Description.
        VideoDescription = 400 "youtube.video" "invalidDescription" body("snippet.description") => "The request metadata specifies an invalid video description: it has at most 5000 bytes, and no < or >.",
        /// Tags.
        VideoTags = 400 "youtube.video" "invalidTags" body("snippet.tags") => "The request metadata specifies invalid video keywords: they have at most 500 characters together.",
        /// Category.
        VideoCategory = 400 "youtube.video" "invalidCategoryId" body("snippet.categoryId") => "The snippet.categoryId property specifies an invalid category ID. Use the videoCategories.list method to retrieve supported categories.",
        /// Publication time.
        VideoPublishAt = 400 "youtube.video" "invalidPublishAt" body("status.publishAt") => "The request metadata specifies an invalid scheduled publishing time: the video must be private, and the time a moment in RFC 3339.",
        /// Recording details.
        VideoRecording = 400 "youtube.video" "invalidRecordingDetails" body("recordingDetails") => "The recordingDetails object in the request specifies invalid recording details.",
        /// Snippet without title or category, or none at all.
        VideoMetadata = 400 "youtube.video" "invalidVideoMetadata" body("snippet") => "The request metadata is invalid: a snippet needs title and categoryId.",
        /// Localizations without a default language.
        VideoDefaultLanguage = 400 "youtube.video" "defaultLanguageNotSet" body("snippet.defaultLanguage") => "The request is trying to add localized video details without specifying the default language of the video details.",
        /// Localizations that are none, or too many. Ours.
        VideoLocalizations = 400 "youtube.video" "localizationValidationError" body("localizations") => "One of the values in the localizations object is not valid: each is a language with title and description, and all have at most 40 KiB together.",
        /// Licence.
        VideoLicense = 403 "youtube.video" "forbiddenLicenseSetting" body("status.license") => "The request attempts to set an invalid license for the video: youtube or creativeCommon.",
        /// Privacy.
        VideoPrivacy = 403 "youtube.video" "forbiddenPrivacySetting" body("status.privacyStatus") => "The request attempts to set an invalid privacy setting for the video: public, unlisted or private.",
        /// Rating.
        Rating = 400 "youtube.video" "invalidRating" parameter("rating") => "The request contained an unexpected value for the rating parameter: like, dislike or none.",
        // Channels.
        /// Branding.
        Branding = 400 "youtube.channel" "brandingValidationError" body("brandingSettings") => "One of the values in the request's brandingSettings object cannot be validated.",
        /// Title of a channel.
        ChannelTitle = 400 "youtube.channel" "channelTitleUpdateForbidden" body("brandingSettings.channel.title") => "When updating a channel's brandingSettings part, you must either set the brandingSettings.channel.title property's value to the channel's current title or omit the property. The channel title cannot be updated.",
        /// Localizations of a channel without a default language.
        ChannelDefaultLanguage = 400 "youtube.channel" "defaultLanguageNotSetError" body("brandingSettings.channel.defaultLanguage") => "The defaultLanguage must be set to update localizations.",
        /// Localizations of a channel that are none.
        ChannelLocalizations = 400 "youtube.channel" "localizationValidationError" body("localizations") => "One of the values in the localizations object failed validation.",
        /// A promotion's position or list of items that is none.
        Promotion = 400 "youtube.channel" "invalidBrandingOption" body("invideoPromotion") => "The request specifies an invalid promotion: the position is a corner (topLeft, topRight, bottomLeft or bottomRight), the items are a list.",
        /// Timing type.
        TimingType = 400 "youtube.channel" "invalidTimingType" body("timing.type") => "The request specifies an invalid timing type: offsetFromStart or offsetFromEnd.",
        /// Timing without its offset.
        TimingOffsetRequired = 400 "youtube.channel" "requiredTimingOffset" body("timing.offsetMs") => "The request does not specify the timing offset, offsetMs.",
        /// Timing offset.
        TimingOffset = 400 "youtube.channel" "invalidTimingOffset" body("timing.offsetMs") => "The request specifies an invalid timing offset: offsetMs is a whole number of milliseconds.",
        /// Timing duration.
        TimingDuration = 400 "youtube.channel" "invalidDuration" body("timing.durationMs") => "The request specifies an invalid duration: durationMs is a whole number of milliseconds.",
        /// Promotion item.
        PromotionItem = 400 "youtube.channel" "requiredItemIdType" body("invideoPromotion.items.id.type") => "Every promoted item needs an id with the type video, website or recentUpload.",
        /// A promotion's message.
        PromotionMessage = 400 "youtube.channel" "invalidCustomMessage" body("invideoPromotion.items.customMessage") => "The request specifies an invalid custom message: at most 500 characters, and no < or >.",
        /// A promoted video that is not the channel's.
        PromotedVideo = 403 "youtube.channel" "promotedVideoNotAllowed" body("invideoPromotion.items.id.videoId") => "The video that the request promotes is not a video of the channel.",
        /// A promoted page.
        PromotedWebsite = 403 "youtube.channel" "websiteLinkNotAllowed" body("invideoPromotion.items.id.websiteUrl") => "The website that the request promotes is not allowed: an address with http or https.",
        // Playlists.
        /// Title missing.
        PlaylistTitle = 400 "youtube.playlist" "playlistTitleRequired" body("snippet.title") => "The request must specify a playlist title.",
        /// Snippet invalid.
        PlaylistSnippet = 400 "youtube.playlist" "invalidPlaylistSnippet" body("snippet") => "The request provides an invalid playlist snippet: the title has at most 150 characters, the description at most 5000 bytes, and neither has < or >.",
        /// Privacy of a playlist. Ours.
        PlaylistPrivacy = 400 "youtube.playlist" "invalidPlaylistPrivacy" body("status.privacyStatus") => "The request sets an invalid privacy status: public, unlisted or private.",
        /// Localizations without a default language.
        PlaylistDefaultLanguage = 400 "youtube.playlist" "defaultLanguageNotSetError" body("snippet.defaultLanguage") => "The defaultLanguage must be set to update localizations.",
        /// Localizations that are none.
        PlaylistLocalizations = 400 "youtube.playlist" "localizationValidationError" body("localizations") => "One of the values in the localizations object failed validation.",
        /// A playlist that is made by the service cannot be changed itself.
        PlaylistUnsupported = 400 "youtube.playlist" "playlistOperationUnsupported" parameter("id") => "This playlist is made by the service and cannot be changed or deleted.",
        // Playlist items.
        /// `snippet.playlistId` missing.
        PlaylistIdRequired = 400 "youtube.playlistItem" "playlistIdRequired" body("snippet.playlistId") => "The request does not specify a value for the required playlistId property.",
        /// `snippet.resourceId` missing.
        ResourceIdRequired = 400 "youtube.playlistItem" "resourceIdRequired" body("snippet.resourceId") => "The request must contain a resource in which the snippet object specifies a resourceId.",
        /// `id` missing.
        PlaylistItemIdRequired = 400 "youtube.playlistItem" "playlistItemIdRequired" body("id") => "The update request must specify a value for the id property to identify the playlist item being updated.",
        /// Not a video.
        ResourceType = 400 "youtube.playlistItem" "invalidResourceType" body("snippet.resourceId.kind") => "The type specified for the resource ID is not supported for this operation: youtube#video.",
        /// Position.
        Position = 400 "youtube.playlistItem" "invalidPlaylistItemPosition" body("snippet.position") => "The request attempts to set the playlist item's position to an invalid or unsupported value.",
        /// A position in a list that is ordered by time.
        ManualSort = 400 "youtube.playlistItem" "manualSortRequired" body("snippet.position") => "The request attempts to set the playlist item's position, but the playlist does not use manual sorting.",
        /// Note.
        ContentDetails = 400 "youtube.playlistItem" "invalidContentDetails" body("contentDetails.note") => "The contentDetails property in the request is not valid. A note has at most 280 characters.",
        /// Full.
        PlaylistFull = 403 "youtube.playlistItem" "playlistContainsMaximumNumberOfVideos" Place::None => "The playlist already contains the maximum allowed number of items.",
        /// The list is made by the service.
        ItemsUnsupported = 400 "youtube.playlistItem" "playlistOperationUnsupported" parameter("playlistId") => "The API does not support the ability to insert or delete items of this playlist: it lists the channel's uploads.",
        /// An item that belongs to another playlist, or another video.
        ItemSnippet = 400 "youtube.playlistItem" "invalidSnippet" body("snippet") => "The snippet does not name the playlist that the item belongs to.",
        // Search.
        /// Filters that do not go together.
        SearchFilter = 400 "youtube.search" "invalidSearchFilter" parameter("") => "The request contains an invalid combination of search filters and/or restrictions. Note that you must set the type parameter to video if you set either the forContentOwner or forMine parameters to true, or a value for the eventType, videoCaption, videoCategoryId, videoDefinition, videoDimension, videoDuration, videoEmbeddable, videoLicense, videoSyndicated or videoType parameters.",
        /// A channel that is none.
        SearchChannel = 400 "youtube.search" "invalidChannelId" parameter("channelId") => "The channelId parameter specified an invalid channel ID.",
        /// A place without a radius, or the other way round, or one that is none.
        SearchLocation = 400 "youtube.search" "invalidLocation" parameter("location") => "The location and/or locationRadius parameter value was formatted incorrectly: both are needed, as 'latitude,longitude' and a number with m, km, ft or mi of at most 1000 kilometers.",
        /// A language that is none.
        SearchLanguage = 400 "youtube.search" "invalidRelevanceLanguage" parameter("relevanceLanguage") => "The relevanceLanguage parameter value was formatted incorrectly.",
        // Pictures.
        /// Not a picture.
        Image = 400 "youtube.thumbnail" "invalidImage" Place::None => "The provided image content is invalid: a JPEG or PNG, of at most 40 million pixels.",
        /// Banner too small or of the wrong shape. Ours.
        BannerShape = 400 "youtube.channelBanner" "bannerValidationError" Place::None => "The banner must be a JPEG or PNG of 16:9, at least 2048 by 1152 pixels.",
        /// A watermark that is no picture.
        WatermarkFormat = 400 "youtube.watermark" "imageFormatUnsupported" Place::None => "The image you provided is in an unsupported format: a JPEG or PNG.",
        /// A watermark that is wider than can be decoded.
        WatermarkWide = 400 "youtube.watermark" "imageTooWide" Place::None => "The image you provided is too wide: at most 16384 pixels.",
        /// A watermark that is taller than can be decoded.
        WatermarkTall = 400 "youtube.watermark" "imageTooTall" Place::None => "The image you provided is too tall: at most 16384 pixels.",
        /// A watermark without its values.
        WatermarkResource = 400 "youtube.watermark" "required" body("timing") => "Required",
        /// A watermark with a value that cannot be.
        WatermarkTiming = 400 "youtube.watermark" "invalidValue" body("timing") => "Invalid Value",
    }
}

impl Detail {
    const fn new(status: u16, domain: &'static str, reason: &'static str, place: Place) -> Self {
        Self {
            row: Row::of(status, reason),
            domain,
            place,
        }
    }
}

impl Error {
    /// Status, reason, domain and place: all that an error body says beside the sentence.
    #[must_use]
    pub fn detail(&self) -> Detail {
        let of = Detail::new;
        match self {
            Self::UnknownPath => of(404, "global", "notFound", Place::None),
            Self::MethodNotAllowed(_) => of(405, "global", "httpMethodNotAllowed", Place::None),
            Self::Unsupported(_) => of(410, "global", "deleted", Place::None),
            Self::NotImplemented(_) => of(501, "global", "notImplemented", Place::None),
            Self::UnknownParameter(name) => of(
                400,
                "youtube.parameter",
                "unexpectedParameter",
                Place::Parameter(name.clone().into()),
            ),
            Self::OutputFormat => of(400, "global", "unsupportedOutputFormat", parameter("alt")),
            Self::AltUnsupported(_) => of(400, "global", "invalidAltValue", parameter("alt")),
            Self::InvalidFields(_) => of(400, "global", "invalidParameter", parameter("fields")),
            Self::KeyInvalid => of(400, "usageLimits", "keyInvalid", parameter("key")),
            Self::InvalidCredentials => {
                of(401, "global", "authError", Place::Header("Authorization"))
            }
            Self::Unregistered => of(403, "global", "forbidden", Place::None),
            Self::LoginRequired => of(401, "global", "required", Place::Header("Authorization")),
            Self::AuthorizationRequired(name) => of(
                401,
                "youtube.common",
                "authorizationRequired",
                parameter(name),
            ),
            Self::InsufficientScopes => of(403, "global", "insufficientPermissions", Place::None),
            Self::NoChannel => of(
                401,
                "youtube.header",
                "youtubeSignupRequired",
                Place::Header("Authorization"),
            ),
            Self::QuotaExceeded => of(403, "youtube.quota", "quotaExceeded", Place::None),
            Self::Required(name) => of(400, "global", "required", parameter(name)),
            Self::Repeated(name)
            | Self::InvalidValue { name, .. }
            | Self::OutOfRange { name, .. }
            | Self::UnknownValue { name, .. } => {
                of(400, "global", "invalidParameter", parameter(name))
            }
            Self::UnknownPart(_) => of(400, "youtube.part", "unknownPart", parameter("part")),
            Self::UnexpectedPart(_) => of(400, "youtube.part", "unexpectedPart", parameter("part")),
            Self::NoFilter(_) => of(
                400,
                "youtube.parameter",
                "missingRequiredParameter",
                parameter(""),
            ),
            Self::IncompatibleParameters(_) => of(
                400,
                "youtube.parameter",
                "incompatibleParameters",
                parameter(""),
            ),
            Self::TooManyIds => of(400, "youtube.parameter", "invalidFilters", parameter("id")),
            Self::InvalidPageToken => of(
                400,
                "youtube.parameter",
                "invalidPageToken",
                parameter("pageToken"),
            ),
            Self::InvalidLanguage(_) => {
                of(400, "youtube.parameter", "invalidLanguage", parameter("hl"))
            }
            Self::UnsupportedLanguage(_) => of(
                400,
                "youtube.parameter",
                "unsupportedLanguageCode",
                parameter("hl"),
            ),
            Self::InvalidRegion(_) => of(
                400,
                "youtube.parameter",
                "invalidRegionCode",
                parameter("regionCode"),
            ),
            Self::UnsupportedRegion(_) => of(
                400,
                "youtube.parameter",
                "unsupportedRegionCode",
                parameter("regionCode"),
            ),
            Self::ParseError(_) => of(400, "global", "parseError", Place::None),
            Self::InvalidField { path, .. } => {
                of(400, "global", "invalid", Place::Body(path.clone().into()))
            }
            Self::RequiredField(path) => of(400, "global", "required", body(path)),
            Self::MediaBodyRequired => of(400, "youtube.media", "mediaBodyRequired", Place::None),
            Self::BadContent(..) => of(400, "global", "badContent", Place::None),
            Self::UploadTooLarge(_) => of(413, "global", "uploadTooLarge", Place::None),
            Self::NotUpload => of(400, "global", "notUpload", Place::None),
            Self::UnsupportedMediaProtocol(_) => of(
                400,
                "global",
                "unsupportedMediaProtocol",
                parameter("uploadType"),
            ),
            Self::BodyBroken => of(400, "global", "badRequest", Place::None),
            Self::BatchTooLarge(_) => of(413, "global", "batchSizeTooLarge", Place::None),
            Self::Session(error) => Detail {
                row: error.row(),
                domain: "global",
                place: Place::None,
            },
            Self::Absent(absent) => absent.detail(),
            Self::Forbidden(forbidden) => forbidden.detail(),
            Self::Rule(rule) => rule.detail(),
            Self::ConditionNotMet => {
                of(412, "global", "conditionNotMet", Place::Header("If-Match"))
            }
            Self::Contended => of(409, "global", "conflict", Place::None),
            Self::Backend(_) => of(503, "global", "backendError", Place::None),
        }
    }

    /// The canonical name of the status, as newer error bodies carry it.
    #[must_use]
    pub fn canonical(status: u16) -> &'static str {
        match status {
            400 | 413 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 | 410 => "NOT_FOUND",
            409 => "ABORTED",
            412 => "FAILED_PRECONDITION",
            416 => "OUT_OF_RANGE",
            429 => "RESOURCE_EXHAUSTED",
            501 => "UNIMPLEMENTED",
            503 => "UNAVAILABLE",
            405 => "UNIMPLEMENTED",
            _ => "INTERNAL",
        }
    }
}

impl Coded for Error {
    fn row(&self) -> Row {
        self.detail().row
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Contended,
            other => Self::Backend(other),
        }
    }
}

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Store(error) => Self::from(error),
            other => Self::Session(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_status_that_refuses_and_a_sentence() {
        let all = Absent::ALL.iter().map(|it| Error::from(*it));
        let all = all.chain(Forbidden::ALL.iter().map(|it| Error::from(*it)));
        for error in all.chain(Rule::ALL.iter().map(|it| Error::from(*it))) {
            assert!((400..500).contains(&error.row().status), "{error:?}");
            assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn the_message_of_a_missing_filter_names_the_filters() {
        let error = Error::NoFilter(&["id", "mine"]);
        assert_eq!(
            error.to_string(),
            "No filter selected. Expected one of: id, mine"
        );
        assert_eq!(error.row(), Row::of(400, "missingRequiredParameter"));
    }
}
