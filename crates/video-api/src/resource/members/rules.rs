//! Rules of members: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};

rules! {
    /// A mode that is none.
    MODE_INVALID = Rule::new(400, "youtube.member", "invalidMode", Place::parameter("mode"), "The request specifies an invalid mode: all_current or updates.");
    /// A level that the channel does not offer.
    LEVEL_INVALID = Rule::new(400, "youtube.member", "invalidHasAccessToLevel", Place::parameter("hasAccessToLevel"), "The request specifies a level that the channel does not have. Use membershipsLevels.list to retrieve its levels.");
    /// Too many members that are asked for by their channels.
    FILTER_INVALID = Rule::new(400, "youtube.member", "invalidFilterByMemberChannelId", Place::parameter("filterByMemberChannelId"), "The request names more than 100 channels of members.");
}
