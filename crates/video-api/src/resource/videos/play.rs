//! Plays: what `POST /_ops/plays` says that somebody watched, counted and put into the history of whoever it was.

use serde::Deserialize;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::account::ACCOUNTS;
use crate::api::error::Error;
use crate::resource::channels::rules as channel_rules;
use crate::resource::playlist_items::system_playlist;
use crate::resource::subscriptions::store as subscriptions;
use crate::resource::videos::record::{VIDEOS, VideoCounts};
use crate::resource::videos::{rules, store};

/// Entries of the history that one call adds at most.
const HISTORY_MAX: u64 = 50;

/// Somebody watched a video.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plays {
    /// The thing.
    pub video: String,
    /// The account; nobody known if absent, and then no history holds it.
    pub account: Option<String>,
    /// The number of times.
    #[serde(default = "one")]
    pub count: u64,
    /// Number of seconds each.
    #[serde(default)]
    pub seconds: u64,
}

const fn one() -> u64 {
    1
}

/// Counts plays, and gives what is counted of the video then.
///
/// # Errors
/// [`rules::NOT_FOUND`], [`NOT_FOUND`](crate::resource::channels::rules::NOT_FOUND) for an account that is none, [`Error::NoChannel`].
pub fn record(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    plays: &Plays,
    now: Timestamp,
) -> Result<VideoCounts, Error> {
    let found = VIDEOS.get(tx, &plays.video)?.ok_or(&rules::NOT_FOUND)?;
    if let Some(account) = &plays.account {
        let account = ACCOUNTS.peek(tx, account)?.ok_or(&channel_rules::NOT_FOUND)?;
        let channel = account.channel.ok_or(Error::NoChannel)?;
        for _ in 0..plays.count.min(HISTORY_MAX) {
            system_playlist::watch(tx, ids, &channel, &plays.video, now)?;
        }
        subscriptions::watched(tx, &channel, &found.head.channel, now)?;
    }
    store::add_views(tx, &plays.video, &found.head, plays.count)?;
    store::add_seconds(tx, &plays.video, plays.seconds.saturating_mul(plays.count))
}
