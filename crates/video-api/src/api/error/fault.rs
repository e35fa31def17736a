//! The wording of a fault that is asked for by its reason: the sentence and the place that the reason has when a request brings it about,
//! and for reasons that no rule here brings about, those of the interface's own description.

use super::{Error, Place, Rule};

/// Reasons that no request brings about.
static OTHERS: &[Rule] = &[
    Rule::new(
        403,
        "youtube.common",
        "accountDelegationForbidden",
        Place::None,
        "The authenticated user cannot act on behalf of the specified account.",
    ),
    Rule::new(
        403,
        "youtube.common",
        "authenticatedUserAccountSuspended",
        Place::None,
        "The account of the authenticated user is suspended.",
    ),
    Rule::new(
        403,
        "youtube.common",
        "authenticatedUserNotChannel",
        Place::None,
        "The channel that is associated with the request cannot be identified.",
    ),
    Rule::new(
        403,
        "youtube.common",
        "cmsUserAccountNotFound",
        Place::None,
        "The user is not allowed to act on behalf of the specified content owner.",
    ),
    Rule::new(
        403,
        "youtube.common",
        "insufficientCapabilities",
        Place::None,
        "The user has insufficient permissions to perform the requested operation for this content owner.",
    ),
    Rule::new(
        404,
        "youtube.common",
        "contentOwnerAccountNotFound",
        Place::parameter("onBehalfOfContentOwner"),
        "The content owner account could not be found.",
    ),
    Rule::new(
        400,
        "youtube.parameter",
        "invalidMine",
        Place::parameter("mine"),
        "The <code>mine</code> parameter cannot be used in requests of this authenticated user.",
    ),
    Rule::new(
        400,
        "youtube.part",
        "invalidPart",
        Place::parameter("part"),
        "The <code>part</code> parameter names parts that cannot be written at the same time.",
    ),
    Rule::new(
        400,
        "youtube.channelBanner",
        "bannerAlbumFull",
        Place::None,
        "The album of the channel's banners has too many images.",
    ),
    Rule::new(
        400,
        "youtube.channelSection",
        "notEditable",
        Place::parameter("id"),
        "The specified channel section cannot be edited.",
    ),
    Rule::new(
        400,
        "youtube.playlistItem",
        "videoAlreadyInAnotherSeriesPlaylist",
        Place::body("snippet.resourceId"),
        "The video that you are trying to add to the playlist is already in another series playlist.",
    ),
    Rule::new(
        400,
        "youtube.playlistItem",
        "channelIdRequired",
        Place::body("snippet.channelId"),
        "The request does not specify a value for the required channelId property.",
    ),
    Rule::new(
        400,
        "youtube.video",
        "invalidDefaultBroadcastPrivacySetting",
        Place::None,
        "The request attempts to set an invalid privacy setting for the default broadcast.",
    ),
    Rule::new(
        403,
        "youtube.video",
        "forbiddenEmbedSetting",
        Place::body("status.embeddable"),
        "The request attempts to set an invalid embed setting for the video.",
    ),
    Rule::new(
        400,
        "youtube.video",
        "uploadLimitExceeded",
        Place::None,
        "The user has exceeded the number of videos they may upload.",
    ),
    Rule::new(
        403,
        "youtube.video",
        "videoRatingDisabled",
        Place::parameter("id"),
        "The owner of the video that you are trying to rate has disabled ratings for that video.",
    ),
    Rule::new(
        400,
        "youtube.video",
        "emailNotVerified",
        Place::None,
        "The user must verify their email address before rating the video.",
    ),
    Rule::new(
        400,
        "youtube.video",
        "videoPurchaseRequired",
        Place::parameter("id"),
        "Rental videos can only be rated by users who rented them.",
    ),
    Rule::new(
        429,
        "youtube.thumbnail",
        "uploadRateLimitExceeded",
        Place::None,
        "The channel has uploaded too many thumbnails recently. Please try the request again later.",
    ),
    Rule::new(
        403,
        "global",
        "accessNotConfigured",
        Place::None,
        "The project is not configured to use this interface.",
    ),
    Rule::new(
        403,
        "global",
        "accountDeleted",
        Place::None,
        "The user account associated with the request's authorization credentials has been deleted.",
    ),
    Rule::new(
        403,
        "global",
        "accountDisabled",
        Place::None,
        "The user account associated with the request's authorization credentials has been disabled.",
    ),
    Rule::new(
        403,
        "youtube.common",
        "accountSuspended",
        Place::None,
        "The user account associated with the request is suspended.",
    ),
    Rule::new(
        403,
        "youtube.common",
        "channelSuspended",
        Place::None,
        "The channel specified in the request has been suspended.",
    ),
    Rule::new(
        403,
        "usageLimits",
        "dailyLimitExceeded",
        Place::None,
        "A daily quota limit for the interface has been reached.",
    ),
    Rule::new(
        403,
        "usageLimits",
        "rateLimitExceeded",
        Place::None,
        "Too many requests have been sent within a given time span.",
    ),
    Rule::new(
        403,
        "usageLimits",
        "userRateLimitExceeded",
        Place::None,
        "The per-user rate limit has been reached.",
    ),
    Rule::new(
        403,
        "global",
        "sslRequired",
        Place::None,
        "SSL is required to perform this operation.",
    ),
    Rule::new(401, "global", "expired", Place::Header("Authorization"), "The session expired."),
    Rule::new(
        400,
        "usageLimits",
        "keyExpired",
        Place::parameter("key"),
        "The API key in the request has expired.",
    ),
    Rule::new(
        404,
        "global",
        "unsupportedProtocol",
        Place::None,
        "The protocol used in the request is not supported.",
    ),
    Rule::new(
        428,
        "global",
        "preconditionRequired",
        Place::Header("If-Match"),
        "The request requires a precondition that is not provided.",
    ),
    Rule::new(
        500,
        "global",
        "internalError",
        Place::None,
        "The request failed due to an internal error.",
    ),
    Rule::new(
        503,
        "global",
        "backendNotConnected",
        Place::None,
        "The request failed due to a connection error.",
    ),
    Rule::new(503, "global", "notReady", Place::None, "The server is not ready."),
];

impl Error {
    /// The refusal that has this reason: a rule of a resource, a core error, or one that no request brings about. Of several the one with
    /// this status.
    #[must_use]
    pub fn of_reason(
        reason: &str,
        status: u16,
        rules: impl Iterator<Item = &'static Rule>,
    ) -> Option<Self> {
        let all = core().into_iter().chain(rules.chain(OTHERS).map(Self::Rule));
        let mut named = all.filter(|error| error.detail().row.code == reason).peekable();
        let first = named.peek().cloned();
        named.find(|error| error.detail().row.status == status).or(first)
    }
}

/// The errors of every operation whose sentence needs nothing of the request.
fn core() -> [Error; 21] {
    [
        Error::ExpectationFailed,
        Error::UnknownPath,
        Error::KeyInvalid,
        Error::InvalidCredentials,
        Error::Unregistered,
        Error::LoginRequired,
        Error::InsufficientScopes,
        Error::NoChannel,
        Error::QuotaExceeded,
        Error::InvalidPageToken,
        Error::MediaBodyRequired,
        Error::WrongUrlForUpload,
        Error::NotUpload,
        Error::BodyBroken,
        Error::ConditionNotMet,
        Error::Contended,
        Error::TooManyIds,
        Error::TooManyParts,
        Error::NotDownload,
        Error::RangeNotSatisfiable,
        Error::Backend(triptych_core::kv::StoreError::Conflict),
    ]
}
