//! What is not there, what is not the caller's to do, and the rules that values break: a row each, with status, domain, reason, place and sentence.

use super::{Detail, Error, Place, body, parameter};

macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $status:literal $domain:literal $reason:literal $place:expr => $sentence:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every one of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            pub(super) const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }

            pub(super) fn detail(self) -> Detail {
                match self { $(Self::$variant => Detail::new($status, $domain, $reason, $place),)* }
            }
        }

        impl From<$name> for Error {
            fn from(value: $name) -> Self { Self::$name(value) }
        }
    };
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
        /// The video whose items are asked for.
        ListedVideo = 404 "youtube.playlistItem" "videoNotFound" parameter("videoId") => "The video identified with the request's <code>videoId</code> parameter cannot be found.",
        /// The channel whose playlists are asked for.
        PlaylistChannel = 404 "youtube.playlist" "channelNotFound" parameter("channelId") => "Channel not found.",
        /// The channel that a watermark leads to.
        TargetChannel = 404 "youtube.watermark" "channelNotFound" body("targetChannelId") => "The channel that the targetChannelId property names cannot be found.",
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
        /// Banner that is none or too small. Ours.
        BannerShape = 400 "youtube.channelBanner" "bannerValidationError" Place::None => "The banner must be a JPEG or PNG of at least 2048 by 1152 pixels; what is not 16:9 gets black bars.",
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
