//! Rules of activities: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};

rules! {
    /// The channel whose activities are asked for.
    CHANNEL_NOT_FOUND = Rule::new(404, "youtube.activity", "channelNotFound", Place::parameter("channelId"), "The channel identified with the request's <code>channelId</code> parameter cannot be found.");
    /// A type that operations make by themselves, or none at all.
    TYPE_UNSUPPORTED = Rule::new(400, "youtube.activity", "invalidType", Place::body("type"), "The type of an activity that is made is social, recommendation, bulletin or promotedItem: the others follow from what happens.");
}
