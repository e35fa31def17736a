//! Rendering a subscription: both of its channels as they are now.

use triptych_core::kv::{Span, Tx};

use super::record::{Parties, Subscription};
use crate::api::error::Error;
use crate::api::response;
use crate::api::response::{Item, Object};
use crate::record::json_fields::text_of;
use crate::record::key_order::latest_first;
use crate::record::thumbnail;
use crate::resource::channels::record::{CHANNEL_COUNTS, CHANNELS};
use crate::resource::videos::record::UPLOADS;

/// New items are counted no further.
const NEW_ITEMS_MAX: usize = 1_000;

/// The resource, with what [`new_items`] counted.
///
/// # Errors
/// As the store.
pub(super) fn render(
    tx: &mut Tx<'_>,
    parties: &Parties,
    subscription: &Subscription,
    new: usize,
    parts: &[&'static str],
) -> Result<Item, Error> {
    let written = format!("{} {}", subscription.id, subscription.since.micros());
    let etag = response::etag(written.as_bytes());
    let mut item = Item::begin("subscription", &etag, Some(&subscription.id));
    for part in parts {
        let mut out = Object::new();
        match *part {
            "snippet" => {
                out.text("publishedAt", &subscription.since.rfc3339());
                channel(tx, &mut out, &parties.publisher)?;
                let kind = [("kind", "youtube#channel"), ("channelId", &parties.publisher)];
                out.value(
                    "resourceId",
                    &serde_json::Map::from_iter(
                        kind.map(|(name, value)| (name.to_owned(), value.into())),
                    ),
                );
                out.text("channelId", &parties.subscriber);
            }
            "subscriberSnippet" => {
                channel(tx, &mut out, &parties.subscriber)?;
                out.text("channelId", &parties.subscriber);
            }
            "contentDetails" => {
                let counts = CHANNEL_COUNTS.peek(tx, &parties.publisher)?.unwrap_or_default();
                out.value("totalItemCount", &counts.videos);
                out.value("newItemCount", &new);
                let activity = if subscription.uploads_only { "uploads" } else { "all" };
                out.text("activityType", activity);
            }
            _ => continue,
        }
        item.part(part, &out.end());
    }
    Ok(item.end())
}

/// Title, description and pictures of a channel.
fn channel(tx: &mut Tx<'_>, out: &mut Object, id: &str) -> Result<(), Error> {
    let found = CHANNELS.peek_shared(tx, &id.to_owned())?;
    let (title, description) = found.map_or_else(Default::default, |found| {
        (found.head.title.clone(), text_of(&found.value("snippet"), "description"))
    });
    out.text("title", &title);
    out.text("description", &description);
    out.value("thumbnails", &thumbnail::of_channel(id));
    Ok(())
}

/// Number of videos of each channel that everyone sees listed and that were published after the subscriber looked last; they are read together,
/// if these parts tell of them.
///
/// # Errors
/// As the store.
pub(super) fn new_items(
    tx: &mut Tx<'_>,
    shown: &[(Parties, Subscription)],
    parts: &[&'static str],
) -> Result<Vec<usize>, Error> {
    if !parts.contains(&"contentDetails") {
        return Ok(vec![0; shown.len()]);
    }
    let span = |(parties, subscription): &(Parties, Subscription)| {
        let (channel, since) = (parties.publisher.clone(), subscription.watched.micros());
        let end = UPLOADS.key(&(channel.clone(), 0, latest_first(since), String::new()));
        Span { to: Some(end.to_vec()), ..UPLOADS.span(&(channel, 0_u8)) }
    };
    let spans: Vec<_> = shown.iter().map(span).collect();
    let scans: Vec<_> = spans.iter().map(|span| (span, NEW_ITEMS_MAX)).collect();
    Ok(tx.scan_many(&scans)?.iter().map(|page| page.rows.len()).collect())
}

/// The time when each channel published last; the latest is the least, and a channel without videos the greatest.
///
/// # Errors
/// As the store.
pub(super) fn latest_items<'c>(
    tx: &mut Tx<'_>,
    channels: impl Iterator<Item = &'c String>,
) -> Result<Vec<u64>, Error> {
    let spans: Vec<_> = channels.map(|channel| UPLOADS.span(&(channel.clone(), 0_u8))).collect();
    let found = UPLOADS.scan_many(tx, &spans, 1)?.into_iter();
    let latest = |rows: Vec<((_, _, u64, _), ())>| rows.first().map(|((_, _, time, _), ())| *time);
    Ok(found.map(|(rows, _)| latest(rows).unwrap_or(u64::MAX)).collect())
}
