//! Rendering a subscription: both of its channels as they are now.

use triptych_core::kv::{Span, Tx};
use triptych_core::time::Timestamp;

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

/// The resource.
///
/// # Errors
/// As the store.
pub(super) fn render(
    tx: &mut Tx<'_>,
    parties: &Parties,
    subscription: &Subscription,
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
                let new = new_items(tx, &parties.publisher, subscription.watched)?;
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

/// Number of videos that everyone sees listed and that were published after `since`.
fn new_items(tx: &mut Tx<'_>, channel: &str, since: Timestamp) -> Result<usize, Error> {
    let end = (channel.to_owned(), 0_u8, latest_first(since.micros()), String::new());
    let span =
        Span { to: Some(UPLOADS.key(&end).to_vec()), ..UPLOADS.span(&(channel.to_owned(), 0_u8)) };
    Ok(tx.scan(&span, NEW_ITEMS_MAX)?.rows.len())
}

/// The time when the channel published last; the latest is the least, and a channel without videos the greatest.
pub(super) fn latest_item(tx: &mut Tx<'_>, channel: &str) -> Result<u64, Error> {
    let (rows, _) = UPLOADS.scan(tx, &UPLOADS.span(&(channel.to_owned(), 0_u8)), 1)?;
    Ok(rows.first().map_or(u64::MAX, |((_, _, time, _), ())| *time))
}
