//! Rules of playlist items: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};

rules! {
    /// The video of a playlist item.
    VIDEO_NOT_FOUND = Rule::new(404, "youtube.playlistItem", "videoNotFound", Place::None, "Video not found.");
    /// A video that its owner keeps private (facts: what the real service answers).
    VIDEO_HIDDEN = Rule::new(400, "global", "failedPrecondition", Place::None, "Precondition check failed.");
    /// The video whose items are asked for.
    FILTER_VIDEO_NOT_FOUND = Rule::new(404, "youtube.playlistItem", "videoNotFound", Place::parameter("videoId"), "The video identified with the request's <code>videoId</code> parameter cannot be found.");
    /// The playlist of an item.
    PLAYLIST_NOT_FOUND = Rule::new(404, "youtube.playlistItem", "playlistNotFound", Place::parameter("playlistId"), "The playlist identified with the request's <code>playlistId</code> parameter cannot be found.");
    /// A playlist item.
    NOT_FOUND = Rule::new(404, "youtube.playlistItem", "playlistItemNotFound", Place::parameter("id"), "The playlist item identified with the request's <code>id</code> parameter cannot be found.");
    /// Items of a playlist that the caller cannot see or change.
    NOT_ACCESSIBLE = Rule::new(403, "youtube.playlistItem", "playlistItemsNotAccessible", Place::parameter("playlistId"), "The request is not properly authorized to access or change the items of this playlist.");
    /// `snippet.playlistId` missing.
    PLAYLIST_ID_REQUIRED = Rule::new(400, "youtube.playlistItem", "playlistIdRequired", Place::body("snippet.playlistId"), "The request does not specify a value for the required playlistId property.");
    /// `snippet.resourceId` missing.
    RESOURCE_ID_REQUIRED = Rule::new(400, "youtube.playlistItem", "resourceIdRequired", Place::body("snippet.resourceId"), "The request must contain a resource in which the snippet object specifies a resourceId.");
    /// `id` missing.
    ID_REQUIRED = Rule::new(400, "youtube.playlistItem", "playlistItemIdRequired", Place::body("id"), "The update request must specify a value for the id property to identify the playlist item being updated.");
    /// An item that is no video.
    RESOURCE_TYPE_INVALID = Rule::new(400, "youtube.playlistItem", "invalidResourceType", Place::None, "Resource type not supported.");
    /// A position outside the playlist.
    POSITION_INVALID = Rule::new(400, "youtube.playlistItem", "invalidPlaylistItemPosition", Place::body("snippet.position"), "The request attempts to set the playlist item's position to an invalid or unsupported value.");
    /// A position in a list that is ordered by time.
    MANUAL_SORT_REQUIRED = Rule::new(400, "youtube.playlistItem", "manualSortRequired", Place::None, "Playlist sort type need to be MANUAL to support position.");
    /// A note that is too long.
    CONTENT_DETAILS_INVALID = Rule::new(400, "youtube.playlistItem", "invalidContentDetails", Place::body("contentDetails.note"), "The contentDetails property in the request is not valid. A note has at most 280 characters.");
    /// A begin or an end that is none. Ours.
    MOMENT_INVALID = Rule::new(400, "youtube.playlistItem", "invalidContentDetails", Place::body("contentDetails"), "The contentDetails property in the request is not valid. startAt and endAt have at most 100 characters.");
    /// One item more than a playlist holds.
    PLAYLIST_FULL = Rule::new(403, "youtube.playlistItem", "playlistContainsMaximumNumberOfVideos", Place::None, "The playlist already contains the maximum allowed number of items.");
    /// A favourite that is one already.
    ALREADY_IN_PLAYLIST = Rule::new(409, "youtube.playlistItem", "videoAlreadyInPlaylist", Place::body("snippet.resourceId"), "The video that you are trying to add to the playlist is already in the playlist.");
    /// A video of somebody else in the list of uploads.
    OPERATION_UNSUPPORTED = Rule::new(400, "youtube.playlistItem", "playlistOperationUnsupported", Place::parameter("playlistId"), "The API does not support the ability to add this video to the playlist: it lists the channel's own uploads.");
    /// A change of an item of a list that keeps nothing but what it lists.
    UPDATE_UNSUPPORTED = Rule::new(400, "youtube.playlistItem", "playlistOperationUnsupported", Place::body("id"), "The API does not support changing this item: the list that it belongs to is made by the service, in the order of time. Delete the item, or insert it again.");
    /// An item that belongs to another playlist.
    SNIPPET_INVALID = Rule::new(400, "youtube.playlistItem", "invalidSnippet", Place::body("snippet.playlistId"), "The snippet does not name the playlist that the item belongs to.");
    /// Another video than the item's.
    VIDEO_FIXED = Rule::new(400, "youtube.playlistItem", "invalidSnippet", Place::body("snippet.resourceId.videoId"), "The snippet names another video than the item's. An item keeps its video; delete it and insert another.");
}
