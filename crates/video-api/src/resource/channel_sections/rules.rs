//! Rules of channel sections: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};

rules! {
    /// A section by its id.
    NOT_FOUND = Rule::new(404, "youtube.channelSection", "channelSectionNotFound", Place::parameter("id"), "The channel section identified in the request cannot be found.");
    /// A section of somebody else's channel.
    FORBIDDEN = Rule::new(403, "youtube.channelSection", "channelSectionForbidden", Place::parameter("id"), "The request is not properly authorized to access or change this channel section.");
    /// The channel whose sections are asked for.
    CHANNEL_NOT_FOUND = Rule::new(404, "youtube.channelSection", "channelNotFound", Place::parameter("channelId"), "The channel identified in the request cannot be found.");
    /// A section without a snippet.
    SNIPPET_NEEDED = Rule::new(400, "youtube.channelSection", "snippetNeeded", Place::body("snippet"), "The request must specify the snippet of the channel section.");
    /// A section without a type.
    TYPE_REQUIRED = Rule::new(400, "youtube.channelSection", "typeRequired", Place::body("snippet.type"), "The request must specify a value for the <code>snippet.type</code> property.");
    /// A style that is none.
    STYLE_REQUIRED = Rule::new(400, "youtube.channelSection", "styleRequired", Place::body("snippet.style"), "The <code>snippet.style</code> property is horizontalRow or verticalList, or is left out.");
    /// A section of several playlists or channels without a title.
    TITLE_REQUIRED = Rule::new(400, "youtube.channelSection", "titleRequired", Place::body("snippet.title"), "A section of the type multiplePlaylists or multipleChannels must have a title.");
    /// A title that is too long.
    TITLE_TOO_LONG = Rule::new(400, "youtube.channelSection", "titleLengthExceeded", Place::body("snippet.title"), "The title of a section has at most 100 characters.");
    /// A title with signs that no title has. Ours.
    TITLE_INVALID = Rule::new(400, "youtube.channelSection", "invalidTitle", Place::body("snippet.title"), "The title of a section has neither < nor > nor control characters.");
    /// A position that is none.
    POSITION_INVALID = Rule::new(400, "youtube.channelSection", "inValidPosition", Place::body("snippet.position"), "The <code>snippet.position</code> property is a place among the sections of the channel, counted from 0.");
    /// More sections than a channel has (Spec §8).
    TOO_MANY = Rule::new(400, "youtube.channelSection", "maxChannelSectionExceeded", Place::None, "The channel already has the maximum of 10 sections.");
    /// A section of playlists or channels without them.
    DETAILS_NEEDED = Rule::new(400, "youtube.channelSection", "contentDetailsNeeded", Place::body("contentDetails"), "A section of this type must have contentDetails: playlists for singlePlaylist and multiplePlaylists, channels for multipleChannels.");
    /// A section of playlists without any.
    PLAYLISTS_NEEDED = Rule::new(400, "youtube.channelSection", "playlistsNeeded", Place::body("contentDetails.playlists"), "Playlists must be specified when the section's type is singlePlaylist or multiplePlaylists.");
    /// A section of one playlist with several.
    ONE_PLAYLIST_NEEDED = Rule::new(400, "youtube.channelSection", "onePlaylistNeeded", Place::body("contentDetails.playlists"), "Exactly one playlist must be specified when the section's type is singlePlaylist.");
    /// Playlists where none are expected.
    PLAYLISTS_NOT_EXPECTED = Rule::new(400, "youtube.channelSection", "playlistsNotExpected", Place::body("contentDetails.playlists"), "Playlists are expected for the types singlePlaylist and multiplePlaylists alone.");
    /// A playlist that is named twice.
    PLAYLISTS_DUPLICATED = Rule::new(400, "youtube.channelSection", "playlistsDuplicated", Place::body("contentDetails.playlists"), "The list of playlists has a playlist twice.");
    /// More playlists than a section takes.
    TOO_MANY_PLAYLISTS = Rule::new(400, "youtube.channelSection", "maxPlaylistExceeded", Place::body("contentDetails.playlists"), "A section has at most 50 playlists.");
    /// A playlist of a section.
    PLAYLIST_NOT_FOUND = Rule::new(404, "youtube.channelSection", "playlistNotFound", Place::body("contentDetails.playlists"), "One of the playlists in the request cannot be found.");
    /// A private playlist.
    PLAYLIST_PRIVATE = Rule::new(400, "youtube.channelSection", "playlistIsPrivate", Place::body("contentDetails.playlists"), "One of the playlists in the request is private, so that nobody would see it.");
    /// A section of channels without any.
    CHANNELS_NEEDED = Rule::new(400, "youtube.channelSection", "channelsNeeded", Place::body("contentDetails.channels"), "Channels must be specified when the section's type is multipleChannels.");
    /// Channels where none are expected.
    CHANNELS_NOT_EXPECTED = Rule::new(400, "youtube.channelSection", "channelsNotExpected", Place::body("contentDetails.channels"), "Channels are expected for the type multipleChannels alone.");
    /// A channel that is named twice.
    CHANNELS_DUPLICATED = Rule::new(400, "youtube.channelSection", "channelsDuplicated", Place::body("contentDetails.channels"), "The list of channels has a channel twice.");
    /// More channels than a section takes.
    TOO_MANY_CHANNELS = Rule::new(400, "youtube.channelSection", "maxChannelsExceeded", Place::body("contentDetails.channels"), "A section has at most 50 channels.");
    /// The channel itself in a section of its own.
    OWN_CHANNEL = Rule::new(400, "youtube.channelSection", "ownChannelInChannels", Place::body("contentDetails.channels"), "A section cannot have the channel that it belongs to.");
    /// A channel of a section.
    NAMED_CHANNEL_NOT_FOUND = Rule::new(404, "youtube.channelSection", "channelNotFound", Place::body("contentDetails.channels"), "One of the channels in the request cannot be found.");
    /// A channel of a section whose account was closed.
    NAMED_CHANNEL_CLOSED = Rule::new(400, "youtube.channelSection", "channelNotActive", Place::body("contentDetails.channels"), "One of the channels in the request is not active: its account was closed.");
    /// Localizations without a default language.
    DEFAULT_LANGUAGE_NOT_SET = Rule::new(400, "youtube.channelSection", "defaultLanguageNotSetError", Place::body("snippet.defaultLanguage"), "The defaultLanguage must be set to update localizations.");
    /// Localizations that are none.
    LOCALIZATIONS_INVALID = Rule::new(400, "youtube.channelSection", "localizationValidationError", Place::body("localizations"), "One of the values in the localizations object failed validation: each has a title of at most 100 characters.");
    /// Targeting that names no language, region or country. Ours.
    TARGETING_INVALID = Rule::new(400, "youtube.channelSection", "invalidTargeting", Place::body("targeting"), "The targeting names languages of i18nLanguages.list, and regions and countries of i18nRegions.list.");
}
