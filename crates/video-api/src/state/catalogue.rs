//! Channels, videos with their captions, and playlists that follow from a seed, made by the functions that requests use.

use std::time::Duration;

use serde_json::{Map, json};
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::discussion::below;
use super::vocabulary::{name, phrase, sentence, tag};
use crate::account;
use crate::account::Account;
use crate::api::error::Error;
use crate::index::{DOCUMENTS, Kind};
use crate::media::{AudioStream, MediaInfo, VideoStream};
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::resource::channels::record::Channel;
use crate::resource::playlist_items::order::Order;
use crate::resource::playlist_items::record::PlaylistItem;
use crate::resource::videos::patch::VideoPatch;
use crate::resource::{captions, channels, playlists, videos};

/// Nothing is younger than this: 2026-01-01T00:00:00Z.
pub(super) const LATEST: Timestamp = Timestamp::from_seconds(1_767_225_600);
/// Videos are at most so many seconds older: five years.
pub(super) const VIDEO_SECONDS_MAX: u64 = 5 * 365 * 86_400;
/// Categories of generated videos.
const CATEGORIES: [&str; 8] = ["22", "10", "20", "24", "27", "28", "26", "17"];
/// Languages of captions: a quarter of the videos has some, in the first, the first two or all of these.
const LANGUAGES: [&str; 3] = ["en", "es", "de"];
/// Width and height of generated videos.
const SIZES: [(u32, u32); 4] = [(1920, 1080), (1280, 720), (640, 360), (3840, 2160)];
/// A series has so many videos, and a name that nothing else has: a search for it finds so many, however many videos there are.
pub(super) const SERIES_VIDEOS: u64 = 20;

/// The title of a channel; `ids` is at the beginning of those of the channel.
pub(super) fn title(channel: u64, ids: &mut SeededIds) -> String {
    format!("{} {}", name(channel), tag(ids))
}

pub(super) fn make_channel(
    tx: &mut Tx<'_>,
    number: u64,
    id: &str,
    shows_sections: bool,
    ids: &mut SeededIds,
) -> Result<(), Error> {
    let title = title(number, ids);
    let account = Account {
        id: format!("user-{number}"),
        email: format!("user-{number}@example.com"),
        channel: Some(id.to_owned()),
        closed: false,
    };
    account::put(tx, &account)?;
    let age = Duration::from_secs(VIDEO_SECONDS_MAX + below(ids, VIDEO_SECONDS_MAX));
    let mut made = Stored::new(Channel {
        account: account.id,
        title: title.clone(),
        handle: Some(format!("@{}{number}", name(number).to_lowercase())),
        published: LATEST.minus(age),
        language: None,
        hides_subscribers: below(ids, 20) == 0,
        hides_subscriptions: false,
        browse_view: false,
    });
    let settings = json!({"brandingSettings": {"channel": {
        "title": title,
        "description": sentence(ids),
        "showBrowseView": shows_sections,
    }}});
    let empty = Map::new();
    let body = Body::of(settings.as_object().unwrap_or(&empty));
    channels::patch::write(tx, id, &mut made, body, &["brandingSettings"])?;
    channels::store::insert(tx, id, None, &mut made)?;
    // Each view of a video would change what is found of its channel; once at the end is enough.
    DOCUMENTS.delete(tx, &(Kind::Channel as u8, id.to_owned()));
    Ok(())
}

pub(super) fn make_video(
    tx: &mut Tx<'_>,
    number: u64,
    owner: &str,
    channel_title: &str,
    ids: &mut SeededIds,
) -> Result<String, Error> {
    let id = videos::store::new_id(tx, ids, owner)?;
    let age = Duration::from_secs(below(ids, VIDEO_SECONDS_MAX));
    let published = LATEST.minus(age);
    let mut made = Stored::uploaded(&id, owner, channel_title, published);
    made.head.facts = Some(facts(ids));
    let privacy = match below(ids, 20) {
        0 => "private",
        1 => "unlisted",
        _ => "public",
    };
    let (series, episode) = (number / SERIES_VIDEOS, number % SERIES_VIDEOS + 1);
    let tags: Vec<_> = (0..3).map(|_| tag(ids)).collect();
    let category =
        CATEGORIES.get(usize::try_from(below(ids, 8)).unwrap_or(0)).copied().unwrap_or("22");
    let body = json!({
        "snippet": {
            "title": format!("{} | {} {episode}", phrase(ids), name(series)),
            "description": format!("{} {}", sentence(ids), sentence(ids)),
            "tags": tags,
            "categoryId": category,
        },
        "status": {"privacyStatus": privacy},
    });
    let empty = Map::new();
    VideoPatch {
        body: Body::of(body.as_object().unwrap_or(&empty)),
        parts: &["snippet", "status"],
        now: published,
        is_new: true,
    }
    .apply(&id, channel_title, &mut made)?;
    let languages = below(ids, 12).checked_sub(9).map_or(&[][..], |more| {
        LANGUAGES.get(..usize::try_from(more).unwrap_or(0) + 1).unwrap_or_default()
    });
    made.head.has_captions = !languages.is_empty();
    videos::store::insert(tx, &id, &made)?;
    let length = made.head.facts.as_ref().map_or(0, |facts| facts.duration_ms);
    for language in languages {
        let text = caption_text(length, ids);
        captions::seed::generated(tx, ids, &id, language, &text, published)?;
    }
    // Each step more is ten times as rare.
    let magnitude = (ids.next().trailing_zeros() / 3).min(6);
    let views = below(ids, 10_u64.pow(magnitude + 1));
    videos::store::add_views(tx, &id, &made.head, views)?;
    if below(ids, 50) == 0 {
        videos::rating::set(tx, owner, &id, Some(true), published)?;
    }
    Ok(id)
}

/// A file of a few lines, spread over the length of a video.
fn caption_text(length: u64, ids: &mut SeededIds) -> String {
    let lines = 3 + below(ids, 5);
    let clock = |millis: u64| {
        let (seconds, millis) = (millis / 1_000, millis % 1_000);
        let (hours, minutes, seconds) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        format!("{hours:02}:{minutes:02}:{seconds:02}.{millis:03}")
    };
    let mut out = String::from("WEBVTT\n");
    for line in 0..lines {
        let (start, end) = (length * line / lines, length * (line + 1) / lines);
        out.push_str(&format!("\n{} --> {}\n{}\n", clock(start), clock(end), phrase(ids)));
    }
    out
}

fn facts(ids: &mut SeededIds) -> MediaInfo {
    let (width, height) =
        SIZES.get(usize::try_from(below(ids, 4)).unwrap_or(0)).copied().unwrap_or((1280, 720));
    MediaInfo {
        container: "mp4".into(),
        duration_ms: 10_000 + below(ids, 3_600_000),
        video: vec![VideoStream {
            width,
            height,
            codec: "h264".into(),
            rotation: 0,
            frame_rate: Some(30.0),
            three_d: false,
        }],
        audio: vec![AudioStream { codec: "aac".into(), channels: 2 }],
        created: None,
    }
}

pub(super) fn make_playlist(
    tx: &mut Tx<'_>,
    owner: &str,
    channel_title: &str,
    number: u64,
    videos: &[String],
    ids: &mut SeededIds,
) -> Result<String, Error> {
    let id = id::playlist(ids);
    let made_at = LATEST.minus(Duration::from_secs(below(ids, VIDEO_SECONDS_MAX)));
    let mut made = Stored::made(owner.to_owned(), made_at);
    let body = json!({"snippet": {"title": format!("{} {number}", phrase(ids)), "description": sentence(ids)}});
    let empty = Map::new();
    let body = Body::of(body.as_object().unwrap_or(&empty));
    playlists::patch::write(&mut made, channel_title, body, &["snippet"])?;
    playlists::store::insert(tx, &id, &made)?;
    let mut order = Order::load(tx, &id)?;
    for video in videos.iter().take(videos.len().div_ceil(2)) {
        let item = PlaylistItem {
            video: video.clone(),
            added: made_at,
            chunk: 0,
            note: None,
            start_at: None,
            end_at: None,
        };
        order.insert(tx, ids, None, item)?;
    }
    Ok(id)
}
