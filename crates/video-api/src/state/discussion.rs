//! Comments and members that follow from a seed, in life-like numbers: few videos have many threads, and most have one or none.

use std::time::Duration;

use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::vocabulary::{name, phrase, sentence, tag};
use crate::api::error::Error;
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::record::{Comment, new_id};
use crate::resource::comments::{store, tally};
use crate::resource::members;
use crate::resource::memberships_levels::{LEVELS, Level};

/// Levels of a channel that has members, with their price.
const MEMBERSHIP_LEVELS: [(&str, u64); 3] =
    [("Friend", 990_000), ("Patron", 4_990_000), ("Producer", 24_990_000)];

/// A number below `most`.
pub(super) fn below(ids: &mut dyn Ids, most: u64) -> u64 {
    ids.next() % most.max(1)
}

/// A number that is below `most`, or seldom below a multiple of it: each doubling, at most ten, is `2^rarity` times as rare.
pub(super) fn skewed(ids: &mut dyn Ids, most: u64, rarity: u32) -> u64 {
    let doublings = (ids.next().trailing_zeros() / rarity).min(10);
    below(ids, most << doublings)
}

/// The subject of comments.
pub(super) struct Subject<'s> {
    /// The channel.
    pub(super) channel: &'s str,
    /// The video.
    pub(super) video: &'s str,
    /// The time when it was published.
    pub(super) published: Timestamp,
}

/// Makes the threads about a video with their replies. `author` draws the channel that a comment is of.
pub(super) fn threads(
    tx: &mut Tx<'_>,
    ids: &mut SeededIds,
    about: &Subject<'_>,
    latest: Timestamp,
    mut author: impl FnMut(&mut SeededIds) -> String,
) -> Result<(), Error> {
    for _ in 0..skewed(ids, 2, 2) {
        thread(tx, ids, about, latest, None, &mut author)?;
    }
    Ok(())
}

/// Makes a thread; `series` is a name that its text ends in.
pub(super) fn thread(
    tx: &mut Tx<'_>,
    ids: &mut SeededIds,
    about: &Subject<'_>,
    latest: Timestamp,
    series: Option<&str>,
    author: &mut impl FnMut(&mut SeededIds) -> String,
) -> Result<(), Error> {
    let at = between(ids, about.published, latest);
    let id = new_id(tx, ids, None)?;
    let by = author(ids);
    let mut top = make(ids, about, at, by);
    if let Some(series) = series {
        top.text.push_str(&format!(" {series}"));
    }
    store::insert(tx, tally::shard(ids), &id, &top)?;
    // One thread in four is answered.
    let replies = if below(ids, 4) == 0 { 1 + skewed(ids, 2, 2) } else { 0 };
    for _ in 0..replies {
        let reply_id = new_id(tx, ids, Some(&id))?;
        let at = between(ids, at, latest);
        let by = author(ids);
        let reply = make(ids, about, at, by);
        store::insert(tx, tally::shard(ids), &reply_id, &reply)?;
    }
    Ok(())
}

fn make(ids: &mut SeededIds, about: &Subject<'_>, at: Timestamp, author: String) -> Comment {
    let state = match below(ids, 100) {
        0..2 => Moderation::HeldForReview,
        2..4 => Moderation::Rejected,
        4 => Moderation::LikelySpam,
        _ => Moderation::Published,
    };
    let text = match below(ids, 4) {
        0 => format!("What a {}!", tag(ids)),
        1 => phrase(ids),
        2 => sentence(ids),
        _ => format!("{}\n\n{}", sentence(ids), sentence(ids)),
    };
    let likes = match below(ids, 3) {
        0 => skewed(ids, 2, 1),
        _ => 0,
    };
    Comment {
        author,
        channel: about.channel.to_owned(),
        video: Some(about.video.to_owned()),
        text,
        published: at,
        updated: at,
        state,
        likes: if state == Moderation::Published { likes } else { 0 },
    }
}

/// A moment between two.
pub(super) fn between(ids: &mut dyn Ids, from: Timestamp, to: Timestamp) -> Timestamp {
    let seconds = u64::try_from(to.seconds().saturating_sub(from.seconds())).unwrap_or(0);
    from.plus(Duration::from_secs(below(ids, seconds + 1)))
}

/// Gives a channel levels, and members among channels that `member` draws; nine channels of ten have neither.
pub(super) fn members(
    tx: &mut Tx<'_>,
    ids: &mut SeededIds,
    channel: &str,
    number: u64,
    latest: Timestamp,
    mut member: impl FnMut(&mut SeededIds) -> String,
) -> Result<(), Error> {
    if below(ids, 10) != 0 {
        return Ok(());
    }
    let offered = usize::try_from(1 + below(ids, 3)).unwrap_or(1);
    let offered = MEMBERSHIP_LEVELS.get(..offered).unwrap_or_default();
    let id = |place: usize| format!("level-{}-{place}", name(number).to_lowercase());
    for (place, (title, price)) in offered.iter().enumerate() {
        let level = Level { id: id(place), display_name: (*title).to_owned() };
        LEVELS.put(tx, &(channel.to_owned(), *price, level.id.clone()), &level);
    }
    for _ in 0..skewed(ids, 4, 2) {
        let who = member(ids);
        let age = Duration::from_secs(below(ids, 3 * 365 * 86_400));
        // Dearer levels have fewer members.
        let place = usize::try_from(skewed(ids, 1, 2)).unwrap_or(0).min(offered.len() - 1);
        if who != channel {
            let since = latest.minus(age);
            members::store::set_level(tx, channel, &who, Some(&id(place)), since)?;
        }
    }
    Ok(())
}
