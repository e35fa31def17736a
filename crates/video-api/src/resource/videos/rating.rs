//! Ratings that accounts gave to videos.

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Table, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::page_token::Binding;
use crate::api::paginate;
use crate::api::response::Paging;
use crate::index;
use crate::index::Kind;
use crate::record::counter;
use crate::record::counter::Count;
use crate::record::key_order::latest_first;
use crate::resource::videos::record::VIDEO_COUNTS;
use crate::resource::videos::render::LISTED_VIDEOS;

/// The rating of a video by an account: channel of the account, video.
pub const RATINGS: Table<(String, String), Rating> = Table::new(0x25);

/// Rated videos of an account by rating (1 like, 2 dislike) and time, latest first.
pub const RATED: Table<(String, u8, u64, String), ()> = Table::new(0x26);

/// Number of videos that an account has rated so.
pub const RATED_COUNT: Table<(String, u8), Count> = Table::new(0x27);

/// Channels that rated a video.
pub const RATERS: Table<(String, String), ()> = Table::new(0x4D);

/// The rating of a video by an account, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rating {
    /// True if it likes it; else it dislikes it.
    pub likes: bool,
    /// Since when.
    pub since: Timestamp,
}

impl JsonRecord for Rating {}

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
    let mut counts = VIDEO_COUNTS.get(tx, &id.to_owned())?;
    let mut list = |tx: &mut Tx<'_>, rating: Rating, more: bool| -> Result<(), Error> {
        let kind = if rating.likes { 1 } else { 2 };
        let row = (channel.to_owned(), kind, latest_first(rating.since.micros()), id.to_owned());
        let total = (channel.to_owned(), kind);
        if more {
            RATED.put(tx, &row, &());
        } else {
            RATED.delete(tx, &row);
        }
        let change = |count: u64| {
            if more { count.saturating_add(1) } else { count.saturating_sub(1) }
        };
        counter::change(tx, &RATED_COUNT, &total, more)?;
        if let Some(counts) = &mut counts {
            let count = if rating.likes { &mut counts.likes } else { &mut counts.dislikes };
            *count = change(*count);
        }
        Ok(())
    };
    if let Some(old) = old {
        list(tx, old, false)?;
    }
    match likes {
        None => {
            RATINGS.delete(tx, &key);
            RATERS.delete(tx, &(id.to_owned(), channel.to_owned()));
        }
        Some(likes) => {
            let rating = Rating { likes, since: now };
            list(tx, rating, true)?;
            RATINGS.put(tx, &key, &rating);
            RATERS.put(tx, &(id.to_owned(), channel.to_owned()), &());
        }
    }
    if let Some(counts) = counts {
        VIDEO_COUNTS.put(tx, &id.to_owned(), &counts);
        index::update_facets(tx, Kind::Video, id, |facets| {
            (facets.likes, facets.dislikes) = (counts.likes, counts.dislikes);
        })?;
    }
    Ok(())
}

/// Removes a step of the ratings of a video that is gone; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn remove_of_video(tx: &mut Tx<'_>, video: &str, most: usize) -> Result<bool, Error> {
    let (raters, more) = RATERS.scan(tx, &RATERS.span(&video.to_owned()), most)?;
    for ((_, channel), ()) in &raters {
        remove(tx, channel, video)?;
    }
    Ok(more)
}

/// Removes a rating, where it counts for its account alone.
fn remove(tx: &mut Tx<'_>, channel: &str, video: &str) -> Result<(), Error> {
    RATERS.delete(tx, &(video.to_owned(), channel.to_owned()));
    let key = (channel.to_owned(), video.to_owned());
    if let Some(rating) = RATINGS.get(tx, &key)? {
        let kind = if rating.likes { 1 } else { 2 };
        let since = latest_first(rating.since.micros());
        RATED.delete(tx, &(key.0.clone(), kind, since, key.1.clone()));
        counter::change(tx, &RATED_COUNT, &(key.0.clone(), kind), false)?;
        RATINGS.delete(tx, &key);
    }
    Ok(())
}

/// A page of the videos that the caller rated so.
pub(super) fn page(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    rating: &str,
) -> Result<(Vec<String>, Paging), Error> {
    let owner = call.caller.channel()?.to_owned();
    let kind = match rating {
        "like" => 1_u8,
        "dislike" => 2,
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
    let start = (owner, kind);
    let total = counter::of(tx, &RATED_COUNT, &start)?;
    let is_visible = |tx: &mut Tx<'_>, (_, _, _, video): &(String, u8, u64, String)| {
        let video = LISTED_VIDEOS.peek_shared(tx, video)?;
        Ok(video.is_some_and(|video| video.record.head.is_visible(call.caller)))
    };
    let wanted = paginate::Wanted { token: token.as_ref(), size, binding };
    let (rows, total) = paginate::read_counted(tx, &RATED, &start, wanted, total, is_visible)?;
    let paging = rows.paging(total, size);
    Ok((rows.keys.into_iter().map(|(_, _, _, video)| video).collect(), paging))
}
