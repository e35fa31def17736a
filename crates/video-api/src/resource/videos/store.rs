//! Putting and removing videos with all that follows from them: index rows, counters, search documents.

use triptych_core::id::Ids;
use triptych_core::kv::{Plan, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::index::Kind;
use crate::record::cascade::{self, Cascade};
use crate::record::id;
use crate::record::key_order::{latest_first, moment_of};
use crate::record::privacy::Privacy;
use crate::record::stored::Stored;
use crate::resource::channels::{detach, record as channels};
use crate::resource::comments::record::{list_of_video, whole_lists};
use crate::resource::comments::{store as comments, tally};
use crate::resource::videos::record::{
    SCHEDULE, UPLOADS, VIDEO_COUNTS, VIDEOS, Video, VideoCounts,
};
use crate::resource::videos::{chart, patch, rating, search_document};
use crate::upload::media;
use crate::{index, picture};

/// A new id that no video has; what a video of this channel changes is read together with the answer.
///
/// # Errors
/// As the store.
pub fn new_id(tx: &mut Tx<'_>, ids: &mut dyn Ids, channel: &str) -> Result<String, Error> {
    loop {
        let id = id::video(ids);
        tx.plan(|rows| plan(rows, &id, channel))?;
        if VIDEOS.get(tx, &id)?.is_none() {
            return Ok(id);
        }
    }
}

/// Stores a new video and its indexes.
///
/// # Errors
/// As the store.
pub fn insert(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    VIDEOS.put(tx, &id.to_owned(), video);
    VIDEO_COUNTS.put(tx, &id.to_owned(), &VideoCounts::default());
    put_indexes(tx, id, video)?;
    search_document::put(tx, id, video)
}

/// Replaces a video: indexes of the old one go, those of the new one come.
///
/// # Errors
/// As the store.
pub fn replace(
    tx: &mut Tx<'_>,
    id: &str,
    old: &Stored<Video>,
    new: &Stored<Video>,
) -> Result<(), Error> {
    if old != new {
        remove_indexes(tx, id, old)?;
        let (was, is) = (old.head.lists_comments(), new.head.lists_comments());
        comments::recount(tx, (&new.head.channel, id), was, is)?;
        if old.head.is_shared() != new.head.is_shared() {
            rating::mark_soon(tx, id)?;
        }
        VIDEOS.put(tx, &id.to_owned(), new);
        put_indexes(tx, id, new)?;
        search_document::put(tx, id, new)?;
    }
    Ok(())
}

/// Removes a video, also where its channel names it. Its comments count nothing from then on; these, its captions and its ratings go in steps.
/// Playlist items and entries of histories that name it stay, as the real service keeps them.
///
/// # Errors
/// As the store.
pub fn remove(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    remove_indexes(tx, id, video)?;
    let key = id.to_owned();
    let counts = VIDEO_COUNTS.get(tx, &key)?.unwrap_or_default();
    channels::count(tx, &video.head.channel, |channel| {
        channel.views = channel.views.saturating_sub(counts.views)
    })?;
    VIDEOS.delete(tx, &key);
    VIDEO_COUNTS.delete(tx, &key);
    if let Some(media) = video.head.media {
        media::discard(tx, media);
    }
    picture::unset(tx, &format!("vi/{id}"))?;
    index::remove(tx, Kind::Video, id)?;
    let channel = &video.head.channel;
    let whole = whole_lists(channel, video.head.lists_comments());
    comments::uncount(tx, &list_of_video(id), whole)?;
    detach::video(tx, channel, id)?;
    cascade::begin(tx, Cascade::Video, id);
    Ok(())
}

/// Plans what a change of a video of this channel reads.
pub fn plan(plan: &mut Plan<'_>, id: &str, channel: &str) {
    let key = id.to_owned();
    plan.row(&VIDEOS, &key);
    plan.row(&VIDEO_COUNTS, &key);
    index::plan(plan, Kind::Video, id);
    channels::plan(plan, channel);
}

/// Plans what [`remove`] reads beside that.
pub fn plan_remove(plan: &mut Plan<'_>, id: &str, channel: &str) {
    tally::plan_take(plan, &list_of_video(id));
    whole_lists(channel, [true; 2]).for_each(|list| tally::plan_add(plan, 0, &list));
}

fn put_indexes(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    let head = &video.head;
    let time = latest_first(head.published.micros());
    for audience in audiences(head) {
        UPLOADS.put(tx, &(head.channel.clone(), audience, time, id.to_owned()), &());
    }
    if head.is_listed() {
        let views = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default().views;
        chart::put(tx, id, head, views);
    }
    if let Some(at) = head.publish_at {
        SCHEDULE.put(tx, &(!latest_first(at.micros()), id.to_owned()), &());
    }
    channels::count(tx, &head.channel, |counts| {
        counts.uploads += u64::from(head.is_in_uploads());
        counts.listed_uploads += u64::from(head.is_in_uploads() && head.is_listed());
        counts.videos += u64::from(head.is_listed());
    })
}

fn remove_indexes(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    let head = &video.head;
    let time = latest_first(head.published.micros());
    for audience in audiences(head) {
        UPLOADS.delete(tx, &(head.channel.clone(), audience, time, id.to_owned()));
    }
    if head.is_listed() {
        let views = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default().views;
        chart::remove(tx, id, head, views);
    }
    if let Some(at) = head.publish_at {
        SCHEDULE.delete(tx, &(!latest_first(at.micros()), id.to_owned()));
    }
    channels::count(tx, &head.channel, |counts| {
        let (listed, is_in_uploads) = (head.is_listed(), head.is_in_uploads());
        counts.uploads = counts.uploads.saturating_sub(u64::from(is_in_uploads));
        counts.listed_uploads =
            counts.listed_uploads.saturating_sub(u64::from(is_in_uploads && listed));
        counts.videos = counts.videos.saturating_sub(u64::from(head.is_listed()));
    })
}

/// The audiences of a video in the list of uploads: 1 its owner, 0 everyone; 2 nobody, since it was taken from there.
fn audiences(head: &Video) -> impl Iterator<Item = u8> {
    let is_in_uploads = head.is_in_uploads();
    let of = [(1, is_in_uploads), (0, is_in_uploads && head.is_listed()), (2, !is_in_uploads)];
    of.into_iter().filter(|(_, is_so)| *is_so).map(|(audience, _)| audience)
}

/// Puts a video into the list of its channel's uploads, or takes it from there. The video itself stays.
///
/// # Errors
/// As the store.
pub fn set_in_uploads(tx: &mut Tx<'_>, id: &str, is_in_uploads: bool) -> Result<(), Error> {
    let Some(old) = VIDEOS.get(tx, &id.to_owned())? else {
        return Ok(());
    };
    let mut new = old.clone();
    new.head.is_off_uploads = !is_in_uploads;
    replace(tx, id, &old, &new)
}

/// Counts `more` views of a video, for it, its channel and the chart.
///
/// # Errors
/// As the store.
pub fn add_views(tx: &mut Tx<'_>, id: &str, video: &Video, more: u64) -> Result<(), Error> {
    let mut counts = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default();
    if video.is_listed() {
        chart::remove(tx, id, video, counts.views);
    }
    counts.views = counts.views.saturating_add(more);
    if video.is_listed() {
        chart::put(tx, id, video, counts.views);
    }
    VIDEO_COUNTS.put(tx, &id.to_owned(), &counts);
    index::update_facets(tx, Kind::Video, id, |facets| facets.views = counts.views)?;
    channels::count(tx, &video.channel, |channel| {
        channel.views = channel.views.saturating_add(more)
    })
}

/// Adds to the time for which a video was watched, and gives what is counted of it then. No resource shows the time.
///
/// # Errors
/// As the store.
pub fn add_seconds(tx: &mut Tx<'_>, id: &str, more: u64) -> Result<VideoCounts, Error> {
    let mut counts = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default();
    counts.seconds = counts.seconds.saturating_add(more);
    VIDEO_COUNTS.put(tx, &id.to_owned(), &counts);
    Ok(counts)
}

/// The time when the next scheduled video becomes public.
///
/// # Errors
/// As the store.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, Error> {
    let (rows, _) = SCHEDULE.scan(tx, &SCHEDULE.span(&()), 1)?;
    let next = rows.first();
    Ok(next.map(|((at, _), ())| Timestamp::from_micros(moment_of(!*at))))
}

/// Publishes videos whose time has come, at most 50 of them.
///
/// # Errors
/// As the store.
pub fn publish_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<(), Error> {
    let (rows, _) = SCHEDULE.scan(tx, &SCHEDULE.span(&()), 50)?;
    for ((at, id), ()) in rows {
        if at > !latest_first(now.micros()) {
            break;
        }
        let Some(old) = VIDEOS.get(tx, &id)? else {
            SCHEDULE.delete(tx, &(at, id));
            continue;
        };
        let mut new = old.clone();
        new.head.published = new.head.publish_at.take().unwrap_or(now);
        new.head.privacy = Privacy::Public;
        patch::refresh(&id, &mut new);
        replace(tx, &id, &old, &new)?;
    }
    Ok(())
}
