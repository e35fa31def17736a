//! Rendering a channel.

use bytes::Bytes;
use serde_json::{Value, json};

use crate::account::Caller;
use crate::api::response::Item;
use crate::record::id::SystemPlaylist;
use crate::record::localized;
use crate::record::stored::Stored;
use crate::resource::channels::record::{Channel, ChannelCounts};

/// The resource.
#[must_use]
pub fn render(
    id: &str,
    channel: &Stored<Channel>,
    counts: ChannelCounts,
    parts: &[&'static str],
    language: Option<&str>,
    caller: &Caller,
) -> Item {
    let mut item = Item::begin("channel", &channel.etag(), Some(id));
    let owner = caller.owns(id);
    let own = channel.head.language.as_deref();
    for part in parts {
        let text = match *part {
            "id" => continue,
            "snippet" => localized::snippet(channel, own, language)
                .or_else(|| channel.part("snippet").cloned())
                .unwrap_or_default(),
            "localizations" => match localized::part(channel, own) {
                Some(text) => text,
                None => continue,
            },
            "statistics" => statistics(&channel.head, counts),
            "contentDetails" => json!({"relatedPlaylists": related(id, owner)}).to_string().into(),
            "status" => json!({"privacyStatus": "public", "isLinked": true, "longUploadsStatus": if owner { "allowed" } else { "longUploadsUnspecified" }, "madeForKids": false}).to_string().into(),
            "auditDetails" => json!({"communityGuidelinesGoodStanding": true, "copyrightStrikesGoodStanding": true, "contentIdClaimsGoodStanding": true}).to_string().into(),
            "contentOwnerDetails" | "topicDetails" | "conversionPings" => Bytes::from_static(b"{}"),
            "brandingSettings" => match channel.part("brandingSettings") {
                Some(text) => text.clone(),
                None => json!({"channel": {"title": channel.head.title}}).to_string().into(),
            },
            // A campaign is its owner's to see; what others see of it is in the player.
            "invideoPromotion" if !owner => continue,
            other => match channel.part(other) {
                Some(text) => text.clone(),
                None => continue,
            },
        };
        item.part(part, &text);
    }
    item.end()
}

fn statistics(head: &Channel, counts: ChannelCounts) -> Bytes {
    let ChannelCounts { views, subscribers, videos, .. } = counts;
    let hidden = head.hides_subscribers;
    let subscribers = if hidden {
        // A 0 would say that nobody subscribes.
        String::new()
    } else {
        format!("\"subscriberCount\":\"{}\",", three_figures(subscribers))
    };
    format!("{{\"viewCount\":\"{views}\",{subscribers}\"hiddenSubscriberCount\":{hidden},\"videoCount\":\"{videos}\"}}").into()
}

/// Rounds a count down to its first three digits, as the service tells every caller how many subscribe, the owner too.
fn three_figures(count: u64) -> u64 {
    let step = 10_u64.pow(count.checked_ilog10().unwrap_or_default().saturating_sub(2));
    count - count % step
}

/// Ids of the special playlists (Spec §2, fact 6); what was watched and what is to be watched is the owner's alone.
fn related(id: &str, owner: bool) -> Value {
    let mut related = json!({
        "uploads": SystemPlaylist::Uploads.of(id),
        "likes": SystemPlaylist::Likes.of(id),
        "favorites": SystemPlaylist::Favorites.of(id),
    });
    if let (true, Some(map)) = (owner, related.as_object_mut()) {
        map.insert("watchHistory".into(), SystemPlaylist::History.of(id).into());
        map.insert("watchLater".into(), SystemPlaylist::Later.of(id).into());
    }
    related
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscribers_are_told_in_three_figures_rounded_down() {
        for (count, told) in [
            (0, 0),
            (7, 7),
            (999, 999),
            (1_000, 1_000),
            (1_653, 1_650),
            (123_456, 123_000),
            (14_304_323, 14_300_000),
            (u64::MAX, 18_400_000_000_000_000_000),
        ] {
            assert_eq!(three_figures(count), told);
        }
    }
}
