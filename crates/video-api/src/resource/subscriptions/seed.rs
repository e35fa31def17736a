//! The section of a seed file: who subscribes to whom.

use serde::Deserialize;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::record::{Parties, SUBSCRIPTIONS, Subscription};
use super::store;
use crate::api::error::Error;
use crate::record::id;
use crate::resource::channels::record::CHANNELS;
use crate::seed::error::SeedError;
use crate::seed::section::{SectionReader, SeedSection, channel_of, moment};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] =
    &[SeedSection { name: "subscriptions", order: 83, fills_only: true, read }];

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedSubscription {
    id: Option<String>,
    subscriber: String,
    channel: String,
    published_at: Option<String>,
    last_watched_at: Option<String>,
    #[serde(default)]
    activity_type: ActivityType,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
enum ActivityType {
    #[default]
    All,
    Uploads,
}

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedSubscription>()? {
        if let Some(id) = &seed.id {
            reader.names.take("subscription", id, &place, ".id")?;
        }
        reader.step(place, move |tx, now, ids| subscription(tx, &seed, now, ids));
    }
    Ok(())
}

fn subscription(
    tx: &mut Tx<'_>,
    seed: &SeedSubscription,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let subscriber = channel_of(tx, &seed.subscriber, "subscriber")?;
    let publisher = channel_of(tx, &seed.channel, "channel")?;
    let parties = Parties { subscriber, publisher };
    let invalid = |expected| Error::InvalidField { path: "channel".into(), expected };
    if parties.subscriber == parties.publisher {
        return Err(invalid("another channel than the subscriber's"));
    }
    if SUBSCRIPTIONS.get(tx, &parties.key())?.is_some() {
        return Err(invalid("a channel that it does not subscribe to yet"));
    }
    let since = moment("publishedAt", seed.published_at.as_deref(), now)?;
    let watched = moment("lastWatchedAt", seed.last_watched_at.as_deref(), since)?;
    let owner = CHANNELS.peek(tx, &parties.subscriber)?;
    let made = Subscription {
        id: seed.id.clone().unwrap_or_else(|| id::subscription(ids)),
        since,
        watched,
        uploads_only: seed.activity_type == ActivityType::Uploads,
        is_private: owner.is_some_and(|owner| owner.head.hides_subscriptions),
    };
    store::insert(tx, &parties, &made)?;
    Ok(true)
}
