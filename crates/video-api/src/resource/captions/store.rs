//! Putting and removing tracks with all that follows from them: index rows, counts, and what their video says of its captions.

use std::collections::BTreeSet;

use triptych_core::kv::{Plan, Tx};
use triptych_core::time::Timestamp;

use super::record::{
    CAPTION_COUNTS, CAPTION_NAMES, CAPTIONS, Caption, CaptionCounts, SYNCS, VIDEO_CAPTIONS,
    normal_language,
};
use super::rules;
use crate::api::error::Error;
use crate::record::key_order::{latest_first, moment_of};
use crate::resource::channels::record::Id;
use crate::resource::videos;
use crate::resource::videos::record::VIDEOS;
use crate::upload::media;

/// Tracks that a video has at most.
pub const TRACKS_MAX: u32 = 500;
/// Tracks whose synchronization one transaction ends.
const SYNCS_PER_STEP: usize = 50;

/// The tracks that a video has, by language as languages are compared, and by name.
pub type Names = BTreeSet<(String, String)>;

/// Reads the names of the tracks of a video. Earlier builds kept languages as they were written, so no key leads to all that are one.
///
/// # Errors
/// As the store.
pub fn names(tx: &mut Tx<'_>, video: &str) -> Result<Names, Error> {
    let span = CAPTION_NAMES.span(&video.to_owned());
    let (rows, _) = CAPTION_NAMES.scan(tx, &span, TRACKS_MAX as usize)?;
    Ok(rows.into_iter().map(|((_, tag, name), _)| (normal_language(&tag), name)).collect())
}

/// Plans what storing a new track of a video of this channel reads.
pub fn plan_insert(plan: &mut Plan<'_>, id: &str, caption: &Caption, channel: &str) {
    plan.row(&CAPTIONS, &id.to_owned());
    plan.row(&CAPTION_NAMES, &caption.name_key());
    plan_counts(plan, &caption.video, channel);
}

/// Stores a new track and its indexes, where the video has tracks of these [`names`].
///
/// # Errors
/// [`rules::EXISTS`], [`rules::TOO_MANY`]; else as the store.
pub fn insert(tx: &mut Tx<'_>, id: &str, caption: &Caption, names: &Names) -> Result<(), Error> {
    let name = caption.name_key();
    let is_known = names.contains(&(name.1.clone(), name.2.clone()));
    // One that was made since the names were read is under this key.
    if CAPTION_NAMES.get(tx, &name)?.is_some() || is_known {
        return Err(Error::Rule(&rules::EXISTS));
    }
    CAPTION_NAMES.put(tx, &name, &Id(id.to_owned()));
    VIDEO_CAPTIONS.put(tx, &video_key(id, caption), &());
    put(tx, id, caption);
    let counts = count(tx, &caption.video, |counts| {
        counts.tracks += 1;
        counts.serving += u32::from(caption.is_serving());
    })?;
    if counts.tracks > TRACKS_MAX {
        return Err(Error::Rule(&rules::TOO_MANY));
    }
    Ok(())
}

/// Replaces a track; video, language and name stay. The bytes of the old one are freed where the new one has others.
///
/// # Errors
/// As the store.
pub fn replace(tx: &mut Tx<'_>, id: &str, old: &Caption, new: &Caption) -> Result<(), Error> {
    if let Some(until) = old.syncs_until {
        SYNCS.delete(tx, &sync_key(id, until));
    }
    put(tx, id, new);
    if old.content != new.content {
        media::discard_content(tx, old.content)?;
    }
    if old.is_serving() != new.is_serving() {
        count(tx, &new.video, |counts| {
            counts.serving = counts.serving.saturating_sub(u32::from(old.is_serving()))
                + u32::from(new.is_serving());
        })?;
    }
    Ok(())
}

/// Removes a track, and frees its bytes.
///
/// # Errors
/// As the store.
pub fn remove(tx: &mut Tx<'_>, id: &str, caption: &Caption) -> Result<(), Error> {
    remove_rows(tx, id, caption)?;
    count(tx, &caption.video, |counts| {
        counts.tracks = counts.tracks.saturating_sub(1);
        counts.serving = counts.serving.saturating_sub(u32::from(caption.is_serving()));
    })?;
    Ok(())
}

/// Removes at most `most` tracks of a video that is gone, and says whether there are more.
///
/// # Errors
/// As the store.
pub fn remove_of_video(tx: &mut Tx<'_>, video: &str, most: usize) -> Result<bool, Error> {
    let span = VIDEO_CAPTIONS.span(&video.to_owned());
    let (rows, more) = VIDEO_CAPTIONS.scan(tx, &span, most)?;
    for (key, ()) in rows {
        match CAPTIONS.get(tx, &key.2)? {
            Some(caption) => remove_rows(tx, &key.2, &caption)?,
            None => VIDEO_CAPTIONS.delete(tx, &key),
        }
    }
    if !more {
        CAPTION_COUNTS.delete(tx, &video.to_owned());
    }
    Ok(more)
}

/// Plans what a change of a track reads, whose video is of this channel.
pub fn plan(plan: &mut Plan<'_>, id: &str, channel: &str) {
    if let Some(caption) = plan.row(&CAPTIONS, &id.to_owned()) {
        let names = [Some(caption.name_key()), caption.early_name_key()];
        names.iter().flatten().for_each(|name| drop(plan.row(&CAPTION_NAMES, name)));
        plan_counts(plan, &caption.video, channel);
    }
}

/// Plans what a change of the tracks of a video of this channel reads.
pub fn plan_counts(plan: &mut Plan<'_>, video: &str, channel: &str) {
    plan.row(&CAPTION_COUNTS, &video.to_owned());
    videos::store::plan(plan, video, channel);
}

fn put(tx: &mut Tx<'_>, id: &str, caption: &Caption) {
    CAPTIONS.put(tx, &id.to_owned(), caption);
    if let Some(until) = caption.syncs_until {
        SYNCS.put(tx, &sync_key(id, until), &());
    }
}

fn remove_rows(tx: &mut Tx<'_>, id: &str, caption: &Caption) -> Result<(), Error> {
    for key in [Some(caption.name_key()), caption.early_name_key()].into_iter().flatten() {
        // Another track has the name where an earlier build took the two for different ones.
        if CAPTION_NAMES.get(tx, &key)?.is_some_and(|Id(named)| named == id) {
            CAPTION_NAMES.delete(tx, &key);
        }
    }
    VIDEO_CAPTIONS.delete(tx, &video_key(id, caption));
    CAPTIONS.delete(tx, &id.to_owned());
    if let Some(until) = caption.syncs_until {
        SYNCS.delete(tx, &sync_key(id, until));
    }
    Ok(media::discard_content(tx, caption.content)?)
}

fn video_key(id: &str, caption: &Caption) -> (String, u64, String) {
    (caption.video.clone(), !latest_first(caption.made.micros()), id.to_owned())
}

fn sync_key(id: &str, until: Timestamp) -> (u64, String) {
    (!latest_first(until.micros()), id.to_owned())
}

/// Changes the counts of a video, and what it says of its captions where that follows.
fn count(
    tx: &mut Tx<'_>,
    video: &str,
    change: impl FnOnce(&mut CaptionCounts),
) -> Result<CaptionCounts, Error> {
    let key = video.to_owned();
    let mut counts = CAPTION_COUNTS.get(tx, &key)?.unwrap_or_default();
    change(&mut counts);
    if counts.tracks == 0 {
        CAPTION_COUNTS.delete(tx, &key);
    } else {
        CAPTION_COUNTS.put(tx, &key, &counts);
    }
    let has_captions = counts.serving > 0;
    if let Some(old) = VIDEOS.get(tx, &key)?
        && old.head.has_captions != has_captions
    {
        let mut new = old.clone();
        new.head.has_captions = has_captions;
        videos::store::replace(tx, video, &old, &new)?;
    }
    Ok(counts)
}

/// The time when the times of the next track are worked out.
///
/// # Errors
/// As the store.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, Error> {
    let (rows, _) = SYNCS.scan(tx, &SYNCS.span(&()), 1)?;
    Ok(rows.first().map(|((at, _), ())| Timestamp::from_micros(moment_of(!*at))))
}

/// Lets tracks serve whose times are worked out, at most 50 of them.
///
/// # Errors
/// As the store.
pub fn end_syncs(tx: &mut Tx<'_>, now: Timestamp) -> Result<(), Error> {
    let (rows, _) = SYNCS.scan(tx, &SYNCS.span(&()), SYNCS_PER_STEP)?;
    for ((at, id), ()) in rows {
        if at > !latest_first(now.micros()) {
            break;
        }
        let Some(old) = CAPTIONS.get(tx, &id)? else {
            SYNCS.delete(tx, &(at, id));
            continue;
        };
        let new = Caption { syncs_until: None, ..old.clone() };
        replace(tx, &id, &old, &new)?;
    }
    Ok(())
}
