//! Rules of subscriptions: each with its status, domain, reason, place and sentence.

use crate::api::error::{Place, Rule, rules};

rules! {
    /// A subscription without the channel that it is to.
    PUBLISHER_REQUIRED = Rule::new(400, "youtube.subscription", "publisherRequired", Place::body("snippet.resourceId"), "The <code>resourceId</code> property of the request's snippet must name the channel that is subscribed to: kind youtube#channel, and channelId.");
    /// The channel that is subscribed to.
    PUBLISHER_NOT_FOUND = Rule::new(404, "youtube.subscription", "publisherNotFound", Place::None, "The resource specified by the requests <code>snippet.resourceId</code> property cannot be found.");
    /// A channel that subscribes to itself.
    OWN_CHANNEL = Rule::new(400, "youtube.subscription", "subscriptionForbidden", Place::None, "Subscribing to your own channel is not supported.");
    /// A second subscription to one channel.
    DUPLICATE = Rule::new(400, "youtube.subscription", "subscriptionDuplicate", Place::body("snippet.resourceId.channelId"), "The subscription that you are trying to create already exists.");
    /// A subscription by its id.
    NOT_FOUND = Rule::new(404, "youtube.subscription", "subscriptionNotFound", Place::parameter("id"), "The subscription that you are trying to delete cannot be found. Check the value of the request's <code>id</code> parameter to ensure that it is correct.");
    /// A subscription of somebody else.
    FORBIDDEN = Rule::new(403, "youtube.subscription", "subscriptionForbidden", Place::parameter("id"), "The request is not properly authorized: a subscription is deleted by the channel that subscribed.");
    /// The channel whose subscriptions are asked for.
    SUBSCRIBER_NOT_FOUND = Rule::new(404, "youtube.subscription", "subscriberNotFound", Place::parameter("channelId"), "The subscriber identified with the request cannot be found.");
    /// Subscriptions of a channel whose account was closed.
    SUBSCRIBER_CLOSED = Rule::new(403, "youtube.subscription", "accountClosed", Place::parameter("channelId"), "Subscriptions could not be retrieved because the subscriber's account is closed.");
    /// Subscriptions that are kept private.
    PRIVATE = Rule::new(403, "youtube.subscription", "subscriptionForbidden", Place::parameter("channelId"), "The requester is not allowed to access the requested subscriptions.");
}
