//! Plays: what `POST /_ops/plays` says that somebody watched, counted and put into the history of whoever it was.

use serde::Deserialize;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::{time_list, video};
use crate::error::{Absent, Error};
use crate::tables::{ACCOUNTS, VIDEO_COUNTS, VIDEOS};

/// Entries of the history that one call adds at most.
const HISTORY_MAX: u64 = 50;

/// Somebody watched a video.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Plays {
    /// What.
    pub video: String,
    /// Who; nobody known if absent, and then no history holds it.
    pub account: Option<String>,
    /// How often.
    #[serde(default = "one")]
    pub count: u64,
    /// How long each; it is taken and not kept yet, because nothing of the interface shows it.
    #[serde(default)]
    pub seconds: u64,
}

const fn one() -> u64 {
    1
}

/// Counts plays, and gives how often the video was watched in all.
///
/// # Errors
/// [`Absent::Video`], [`Absent::Channel`] for an account that is none, [`Error::NoChannel`].
pub fn record(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    plays: &Plays,
    now: Timestamp,
) -> Result<u64, Error> {
    let found = VIDEOS.get(tx, &plays.video)?.ok_or(Absent::Video)?;
    if let Some(account) = &plays.account {
        let account = ACCOUNTS.peek(tx, account)?.ok_or(Absent::Channel)?;
        let channel = account.channel.ok_or(Error::NoChannel)?;
        for _ in 0..plays.count.min(HISTORY_MAX) {
            time_list::watch(tx, ids, &channel, &plays.video, now)?;
        }
    }
    video::add_views(tx, &plays.video, &found.head, plays.count)?;
    let counts = VIDEO_COUNTS.get(tx, &plays.video)?.unwrap_or_default();
    Ok(counts.views)
}
