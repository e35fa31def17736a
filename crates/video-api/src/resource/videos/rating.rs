//! Ratings that accounts gave to videos.

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Plan, Table, Tx};
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::page_token::Binding;
use crate::api::paginate::{self, Counted, Wanted};
use crate::api::response::Paging;
use crate::index;
use crate::index::Kind;
use crate::record::cascade::{self, Cascade};
use crate::record::counter::{self, Count};
use crate::record::key_order::latest_first;
use crate::resource::videos::record::{VIDEO_COUNTS, VIDEOS, Video};
use crate::resource::videos::render::LISTED_VIDEOS;

/// The rating of a video by an account: channel of the account, video.
pub const RATINGS: Table<(String, String), Rating> = Table::new(0x25);

/// Rated videos of an account by rating (1 like, 2 dislike) and time, latest first.
pub const RATED: Table<(String, u8, u64, String), ()> = Table::new(0x26);

/// Number of videos that an account has rated so.
pub const RATED_COUNT: Table<(String, u8), Count> = Table::new(0x27);

/// Number of ratings of an account, by rating, whose video it does not see any more.
pub const HIDDEN_COUNT: Table<(String, u8), Count> = Table::new(0x2A);

/// Channels that rated a video.
pub const RATERS: Table<(String, String), ()> = Table::new(0x4D);

/// The rating of a video by an account, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rating {
    /// True if it likes it; else it dislikes it.
    pub likes: bool,
    /// Since when.
    pub since: Timestamp,
    /// True if its account does not see the video any more. It follows the video in a job ([`mark`]).
    #[serde(rename = "h", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_hidden: bool,
}

impl JsonRecord for Rating {}

impl Rating {
    /// Its number in keys.
    const fn kind(&self) -> u8 {
        if self.likes { LIKE } else { DISLIKE }
    }
}

const LIKE: u8 = 1;
const DISLIKE: u8 = 2;

/// Sets what the account of `channel` thinks of a video: `None` removes its rating. Likes are the playlist of likes.
///
/// # Errors
/// As the store.
pub fn set(
    tx: &mut Tx<'_>,
    channel: &str,
    id: &str,
    likes: Option<bool>,
    now: Timestamp,
) -> Result<(), Error> {
    let key = (channel.to_owned(), id.to_owned());
    let old = RATINGS.get(tx, &key)?;
    if old.map(|rating| rating.likes) == likes {
        return Ok(());
    }
    if let Some(old) = old {
        list(tx, &key, old, false)?;
    }
    if let Some(likes) = likes {
        let video = LISTED_VIDEOS.get_shared(tx, &key.1)?;
        let is_hidden = video.is_some_and(|video| is_hidden(&video.record.head, channel));
        list(tx, &key, Rating { likes, since: now, is_hidden }, true)?;
    }
    if let Some(mut counts) = VIDEO_COUNTS.get(tx, &key.1)? {
        if let Some(old) = old {
            let count = if old.likes { &mut counts.likes } else { &mut counts.dislikes };
            *count = count.saturating_sub(1);
        }
        if let Some(likes) = likes {
            let count = if likes { &mut counts.likes } else { &mut counts.dislikes };
            *count = count.saturating_add(1);
        }
        VIDEO_COUNTS.put(tx, &key.1, &counts);
        index::update_facets(tx, Kind::Video, id, |facets| {
            (facets.likes, facets.dislikes) = (counts.likes, counts.dislikes);
        })?;
    }
    Ok(())
}

/// Plans the counts that [`total`] reads.
pub fn plan_total(plan: &mut Plan<'_>, channel: &str, kind: u8) {
    plan.row(&RATED_COUNT, &(channel.to_owned(), kind));
    plan.row(&HIDDEN_COUNT, &(channel.to_owned(), kind));
}

/// Plans what [`set`] reads.
pub fn plan(plan: &mut Plan<'_>, channel: &str, id: &str) {
    let video = id.to_owned();
    plan.row(&VIDEOS, &video);
    plan.row(&VIDEO_COUNTS, &video);
    plan.row(&RATINGS, &(channel.to_owned(), video));
    for kind in [LIKE, DISLIKE] {
        plan_total(plan, channel, kind);
    }
    index::plan(plan, Kind::Video, id);
}

/// Returns whether others than its owner do not see a video, and this channel is another's.
fn is_hidden(video: &Video, channel: &str) -> bool {
    !video.is_shared() && video.channel != channel
}

/// Puts a rating where its account and its video find it and counts it for the account, or takes it from there.
fn list(
    tx: &mut Tx<'_>,
    key: &(String, String),
    rating: Rating,
    is_there: bool,
) -> Result<(), Error> {
    let (channel, video) = key.clone();
    let row = (channel.clone(), rating.kind(), latest_first(rating.since.micros()), video.clone());
    let raters = (video, channel.clone());
    if is_there {
        RATINGS.put(tx, key, &rating);
        RATED.put(tx, &row, &());
        RATERS.put(tx, &raters, &());
    } else {
        RATINGS.delete(tx, key);
        RATED.delete(tx, &row);
        RATERS.delete(tx, &raters);
    }
    let total = (channel, rating.kind());
    counter::change(tx, &RATED_COUNT, &total, is_there)?;
    if rating.is_hidden {
        counter::change(tx, &HIDDEN_COUNT, &total, is_there)?;
    }
    Ok(())
}

/// Removes a step of the ratings of a video that is gone; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn remove_of_video(tx: &mut Tx<'_>, video: &str, most: usize) -> Result<bool, Error> {
    let (raters, more) = RATERS.scan(tx, &RATERS.span(&video.to_owned()), most)?;
    for (row, ()) in &raters {
        let key = (row.1.clone(), row.0.clone());
        // It counts for its account alone, as the counts of the video went with that.
        match RATINGS.get(tx, &key)? {
            Some(rating) => list(tx, &key, rating, false)?,
            None => RATERS.delete(tx, row),
        }
    }
    Ok(more)
}

/// Records that the marks of the ratings of a video are to follow what is seen of it from now on.
///
/// # Errors
/// As the store.
pub fn mark_soon(tx: &mut Tx<'_>, video: &str) -> Result<(), Error> {
    let (raters, _) = RATERS.scan(tx, &RATERS.span(&video.to_owned()), 1)?;
    if !raters.is_empty() {
        cascade::begin(tx, Cascade::Visibility, video);
    }
    Ok(())
}

/// Marks a step of the ratings of a video, those of the channels after `marked`; gives the last channel if there is more to do.
///
/// # Errors
/// As the store.
pub fn mark(
    tx: &mut Tx<'_>,
    video: &str,
    marked: &str,
    most: usize,
) -> Result<Option<String>, Error> {
    let id = video.to_owned();
    // The ratings of a video that is gone go with it.
    let Some(found) = LISTED_VIDEOS.get_shared(tx, &id)? else {
        return Ok(None);
    };
    let mut span = RATERS.span(&id);
    span.from = Some(RATERS.key(&(id.clone(), marked.to_owned())).to_vec());
    let (raters, more) = RATERS.scan(tx, &span, most)?;
    for ((_, channel), ()) in &raters {
        let key = (channel.clone(), id.clone());
        if let Some(old) = RATINGS.get(tx, &key)? {
            mark_one(tx, &key, old, &found.record.head)?;
        }
    }
    Ok(raters.last().filter(|_| more).map(|((_, channel), ())| channel.clone()))
}

/// Marks a rating as its account sees the video now.
///
/// # Errors
/// As the store.
pub fn mark_one(
    tx: &mut Tx<'_>,
    key: &(String, String),
    old: Rating,
    video: &Video,
) -> Result<(), Error> {
    let new = Rating { is_hidden: is_hidden(video, &key.0), ..old };
    if new != old {
        RATINGS.put(tx, key, &new);
        let total = (key.0.clone(), old.kind());
        counter::change(tx, &HIDDEN_COUNT, &total, new.is_hidden)?;
    }
    Ok(())
}

/// Number of the videos that an account rated so, without those that are gone and, unless `with_hidden`, those that it does not see any
/// more: counted, but for the few of which a job is not done.
///
/// # Errors
/// As the store.
pub fn total(tx: &mut Tx<'_>, channel: &str, kind: u8, with_hidden: bool) -> Result<u64, Error> {
    let key = (channel.to_owned(), kind);
    let mut total = counter::of(tx, &RATED_COUNT, &key)?;
    if !with_hidden {
        total = total.saturating_sub(counter::of(tx, &HIDDEN_COUNT, &key)?);
    }
    let rating = |tx: &mut Tx<'_>, video: &String| {
        let rating = RATINGS.peek(tx, &(channel.to_owned(), video.clone()));
        rating.map(|rating| rating.filter(|rating| rating.kind() == kind))
    };
    for video in cascade::pending(tx, Cascade::Video)? {
        let counts = |rating: Rating| with_hidden || !rating.is_hidden;
        total = total.saturating_sub(rating(tx, &video)?.is_some_and(counts).into());
    }
    if with_hidden {
        return Ok(total);
    }
    for video in cascade::pending(tx, Cascade::Visibility)? {
        if let (Some(rating), Some(found)) =
            (rating(tx, &video)?, LISTED_VIDEOS.peek_shared(tx, &video)?)
        {
            total = match (rating.is_hidden, is_hidden(&found.record.head, channel)) {
                (false, true) => total.saturating_sub(1),
                (true, false) => total.saturating_add(1),
                _ => total,
            };
        }
    }
    Ok(total)
}

/// A page of the videos that the caller's channel rated so, without those that are gone and, unless `with_hidden`, those that the caller
/// does not see any more.
///
/// # Errors
/// As the store.
pub fn rated(
    tx: &mut Tx<'_>,
    caller: &Caller,
    (channel, kind): (&str, u8),
    wanted: Wanted<'_>,
    with_hidden: bool,
) -> Result<Counted<(String, u8, u64, String)>, Error> {
    let start = (channel.to_owned(), kind);
    let keeps = |tx: &mut Tx<'_>, (_, _, _, video): &(String, u8, u64, String)| {
        let video = LISTED_VIDEOS.peek_shared(tx, video)?;
        let head = video.as_ref().map(|video| &video.record.head);
        Ok(head.is_some_and(|head| {
            !caller.closing.holds(&head.channel) && (with_hidden || head.is_visible(caller))
        }))
    };
    let plan = |plan: &mut Plan<'_>, (_, _, _, video): &(String, u8, u64, String)| {
        plan.row(&LISTED_VIDEOS, video);
    };
    let total = total(tx, channel, kind, with_hidden)?;
    if caller.closing.is_empty() {
        return Ok((paginate::read_where(tx, &RATED, &start, wanted, plan, keeps)?, total));
    }
    // The videos of a channel that is closing go one after the other.
    paginate::read_counted(tx, &RATED, &start, wanted, total, plan, keeps)
}

/// A page of the videos that the caller rated so.
pub(super) fn page(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    rating: &str,
) -> Result<(Vec<String>, Paging), Error> {
    let owner = call.caller.channel()?.to_owned();
    let kind = match rating {
        "like" => LIKE,
        "dislike" => DISLIKE,
        // Nobody can list what they did not rate.
        _ => {
            return Err(Error::UnknownValue {
                name: "myRating",
                value: rating.into(),
                allowed: &["like", "dislike"],
            });
        }
    };
    let size = call.page_size();
    let binding = Binding::of(&[call.operation.name, rating, &owner]);
    let token = call.page_token(binding)?;
    let wanted = Wanted { token: token.as_ref(), size, binding };
    let (rows, total) = rated(tx, call.caller, (&owner, kind), wanted, false)?;
    let paging = rows.paging(total, size);
    Ok((rows.keys.into_iter().map(|(_, _, _, video)| video).collect(), paging))
}
