//! Rules of channels: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};
use crate::resource::channels::timing::TimingRules;

rules! {
    /// A channel.
    NOT_FOUND = Rule::new(404, "youtube.channel", "channelNotFound", Place::parameter("id"), "The channel specified in the request cannot be found.");
    /// A channel whose account was closed.
    CLOSED = Rule::new(403, "youtube.common", "channelClosed", Place::None, "The channel specified in the request has been closed.");
    /// A guide category.
    CATEGORY_NOT_FOUND = Rule::new(404, "youtube.channel", "categoryNotFound", Place::parameter("categoryId"), "The category identified by the <code>categoryId</code> parameter cannot be found.");
    /// A channel of somebody else.
    FORBIDDEN = Rule::new(403, "youtube.channel", "channelForbidden", Place::parameter("id"), "The channel specified in the <code>id</code> parameter does not support the request or the request is not properly authorized.");
    /// Branding with a value that is none.
    BRANDING_INVALID = Rule::new(400, "youtube.channel", "brandingValidationError", Place::body("brandingSettings"), "One of the values in the request's brandingSettings object cannot be validated.");
    /// A trailer that is no video of the channel, or one that nobody else sees.
    TRAILER_INVALID = Rule::new(400, "youtube.channel", "brandingValidationError", Place::body("brandingSettings.channel.unsubscribedTrailer"), "The trailer must be a public or unlisted video of the channel.");
    /// Two filters in one request.
    CRITERIA_INVALID = Rule::new(400, "youtube.channel", "invalidCriteria", Place::parameter(""), "A maximum of one of the following filters may be specified: id, categoryId, mine, managedByMe, mySubscribers, forHandle, forUsername.");
    /// Another title: the interface cannot change it.
    TITLE_UPDATE_FORBIDDEN = Rule::new(400, "youtube.channel", "channelTitleUpdateForbidden", Place::body("brandingSettings.channel.title"), "When updating a channel's brandingSettings part, you must either set the brandingSettings.channel.title property's value to the channel's current title or omit the property. The channel title cannot be updated.");
    /// Localizations of a channel without a default language.
    DEFAULT_LANGUAGE_NOT_SET = Rule::new(400, "youtube.channel", "defaultLanguageNotSetError", Place::body("brandingSettings.channel.defaultLanguage"), "The defaultLanguage must be set to update localizations.");
    /// Localizations of a channel that are none.
    LOCALIZATIONS_INVALID = Rule::new(400, "youtube.channel", "localizationValidationError", Place::body("localizations"), "One of the values in the localizations object failed validation.");
    /// A promotion's position or list of items that is none.
    PROMOTION_INVALID = Rule::new(400, "youtube.channel", "invalidBrandingOption", Place::body("invideoPromotion"), "The request specifies an invalid promotion: the position is a corner (topLeft, topRight, bottomLeft or bottomRight), the items are a list.");
    /// A timing of a type that is none.
    TIMING_TYPE_INVALID = Rule::new(400, "youtube.channel", "invalidTimingType", Place::body("invideoPromotion.items.timing.type"), "The request specifies an invalid timing type: offsetFromStart or offsetFromEnd.");
    /// Timing without its offset.
    TIMING_OFFSET_REQUIRED = Rule::new(400, "youtube.channel", "requiredTimingOffset", Place::body("invideoPromotion.items.timing.offsetMs"), "The request does not specify the timing offset, offsetMs.");
    /// An offset that is no number.
    TIMING_OFFSET_INVALID = Rule::new(400, "youtube.channel", "invalidTimingOffset", Place::body("invideoPromotion.items.timing.offsetMs"), "The request specifies an invalid timing offset: offsetMs is a whole number of milliseconds.");
    /// A duration that is no number.
    TIMING_DURATION_INVALID = Rule::new(400, "youtube.channel", "invalidDuration", Place::body("invideoPromotion.items.timing.durationMs"), "The request specifies an invalid duration: durationMs is a whole number of milliseconds.");
    /// The same of the timing that promotions have by default: a timing of a type that is none.
    DEFAULT_TIMING_TYPE_INVALID = Rule::new(400, "youtube.channel", "invalidTimingType", Place::body("invideoPromotion.defaultTiming.type"), "The request specifies an invalid timing type: offsetFromStart or offsetFromEnd.");
    /// The same of the timing that promotions have by default: timing without its offset.
    DEFAULT_TIMING_OFFSET_REQUIRED = Rule::new(400, "youtube.channel", "requiredTimingOffset", Place::body("invideoPromotion.defaultTiming.offsetMs"), "The request does not specify the timing offset, offsetMs.");
    /// The same of the timing that promotions have by default: an offset that is no number.
    DEFAULT_TIMING_OFFSET_INVALID = Rule::new(400, "youtube.channel", "invalidTimingOffset", Place::body("invideoPromotion.defaultTiming.offsetMs"), "The request specifies an invalid timing offset: offsetMs is a whole number of milliseconds.");
    /// The same of the timing that promotions have by default: a duration that is no number.
    DEFAULT_TIMING_DURATION_INVALID = Rule::new(400, "youtube.channel", "invalidDuration", Place::body("invideoPromotion.defaultTiming.durationMs"), "The request specifies an invalid duration: durationMs is a whole number of milliseconds.");
    /// A promoted item without an id of a known type.
    PROMOTION_ITEM_REQUIRED = Rule::new(400, "youtube.channel", "requiredItemIdType", Place::body("invideoPromotion.items.id.type"), "Every promoted item needs an id with the type video, website or recentUpload.");
    /// A message that is too long, or holds < or >.
    PROMOTION_MESSAGE_INVALID = Rule::new(400, "youtube.channel", "invalidCustomMessage", Place::body("invideoPromotion.items.customMessage"), "The request specifies an invalid custom message: at most 500 characters, and no < or >.");
    /// A promoted video that is not the channel's.
    PROMOTED_VIDEO_FORBIDDEN = Rule::new(403, "youtube.channel", "promotedVideoNotAllowed", Place::body("invideoPromotion.items.id.videoId"), "The video that the request promotes is not a video of the channel.");
    /// A promotion of the latest upload of a channel that is not there.
    RECENT_UPLOAD_INVALID = Rule::new(400, "youtube.channel", "invalidBrandingOption", Place::body("invideoPromotion.items.id.recentlyUploadedBy"), "The channel whose latest upload the request promotes cannot be found.");
    /// A promoted page without an address of the web.
    PROMOTED_WEBSITE_FORBIDDEN = Rule::new(403, "youtube.channel", "websiteLinkNotAllowed", Place::body("invideoPromotion.items.id.websiteUrl"), "The website that the request promotes is not allowed: an address with http or https, of at most 2,000 bytes.");
}

/// The rules of the timing of a promoted item.
pub const ITEM_TIMING: TimingRules = TimingRules {
    kind: &TIMING_TYPE_INVALID,
    offset_required: &TIMING_OFFSET_REQUIRED,
    offset: &TIMING_OFFSET_INVALID,
    duration: &TIMING_DURATION_INVALID,
};
/// The rules of the timing that promotions have by default.
pub const DEFAULT_TIMING: TimingRules = TimingRules {
    kind: &DEFAULT_TIMING_TYPE_INVALID,
    offset_required: &DEFAULT_TIMING_OFFSET_REQUIRED,
    offset: &DEFAULT_TIMING_OFFSET_INVALID,
    duration: &DEFAULT_TIMING_DURATION_INVALID,
};
