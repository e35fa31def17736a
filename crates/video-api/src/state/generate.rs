//! Channels, videos and playlists that follow from a seed: the same numbers give the same rows, whenever and wherever they are made.
//!
//! Rows are made by the functions that requests use, a part of a channel at a time, in a transaction that nobody commits: what it
//! recorded is handed out, in no order, to be sorted and loaded.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Map, json};
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::{Batch, KeyValue, Memory, Tx};
use triptych_core::time::Timestamp;

use super::StateError;
use super::vocabulary::{name, phrase, sentence, tag};
use crate::account;
use crate::account::Account;
use crate::api::error::Error;
use crate::index::bulk::Bulk;
use crate::index::{CHANGED, DOCUMENTS, Kind};
use crate::media::{AudioStream, MediaInfo, VideoStream};
use crate::record::counter::Count;
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::resource::channels::record::{
    CATEGORY_CHANNEL_COUNT, CHANNEL_COUNTS, CHANNELS, Channel,
};
use crate::resource::playlist_items::order::Order;
use crate::resource::playlist_items::record::PlaylistItem;
use crate::resource::playlists::record::PLAYLIST_COUNT;
use crate::resource::subscriptions::record::{
    PUBLISHER_COUNT, Parties, SUBSCRIBER_COUNT, Subscription,
};
use crate::resource::subscriptions::store::Titles;
use crate::resource::videos::patch::VideoPatch;
use crate::resource::videos::rating::RATED_COUNT;
use crate::resource::{captions, channels, playlists, subscriptions, videos};

/// The plan of what is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Number of channels, each with an account of its own.
    pub channels: u64,
    /// Number of videos, spread evenly over the channels.
    pub videos: u64,
    /// The number that everything follows from.
    pub seed: u64,
}

/// Nothing is younger than this: 2026-01-01T00:00:00Z.
const LATEST: Timestamp = Timestamp::from_seconds(1_767_225_600);
/// Videos are at most so many seconds older: five years.
const VIDEO_SECONDS_MAX: u64 = 5 * 365 * 86_400;
/// Videos of one part of a channel; a part's rows are in memory together.
const PART_VIDEOS: u64 = 500;
/// Counts of one part.
const PART_COUNTS: usize = 10_000;
/// A series has so many videos, and a name that nothing else has: a search for it finds so many, however many videos there are.
pub const SERIES_VIDEOS: u64 = 20;
/// A playlist is made of every so many videos of a channel, and holds the first half of them.
const PLAYLIST_VIDEOS: u64 = 100;
/// Categories of generated videos.
const CATEGORIES: [&str; 8] = ["22", "10", "20", "24", "27", "28", "26", "17"];
/// Languages of captions: a quarter of the videos has some, in the first, the first two or all of these.
const LANGUAGES: [&str; 3] = ["en", "es", "de"];
/// Width and height of generated videos.
const SIZES: [(u32, u32); 4] = [(1920, 1080), (1280, 720), (640, 360), (3840, 2160)];

/// Rows of a part, in no order.
pub type Rows = Vec<(Bytes, Bytes)>;

/// Makes a plan's rows part by part. A later row replaces an earlier one with the same key.
#[derive(Debug)]
pub struct Generator {
    plan: Plan,
    channel: u64,
    /// Videos that were made, of all channels.
    videos: u64,
    /// Rows of the channel that its next part reads again: counters, and the channel itself.
    carried: Memory,
    index: Bulk,
    /// Number of channels that each channel subscribes to, as far as it is known.
    publishers: Vec<u32>,
    /// Channels whose number of those was handed out.
    counted: usize,
    finished: bool,
}

impl Generator {
    /// A generator at the beginning of a plan.
    #[must_use]
    pub fn new(plan: Plan) -> Self {
        Self {
            plan,
            channel: 0,
            videos: 0,
            carried: Memory::new(),
            index: Bulk::default(),
            publishers: vec![0; usize::try_from(plan.channels).unwrap_or(0)],
            counted: 0,
            finished: false,
        }
    }

    /// Number of videos that were made so far.
    #[must_use]
    pub const fn videos(&self) -> u64 {
        self.videos
    }

    /// The next rows; `None` after the last.
    ///
    /// # Errors
    /// [`StateError::Rule`], [`StateError::Store`].
    pub fn part(&mut self) -> Result<Option<Rows>, StateError> {
        if self.channel == self.plan.channels {
            if self.counted < self.publishers.len() {
                return Ok(Some(self.publisher_counts()));
            }
            if std::mem::replace(&mut self.finished, true) {
                return Ok(None);
            }
            let nothing = Memory::new();
            let mut tx = Tx::new(&nothing);
            self.index.finish(&mut tx);
            return Ok(Some(rows(tx)));
        }
        let carried = std::mem::take(&mut self.carried);
        let mut tx = Tx::new(&carried);
        let ended = self.videos_and_channel(&mut tx).map_err(|error| match error {
            Error::Backend(error) => StateError::Store(error),
            other => StateError::Rule(other.to_string()),
        })?;
        let mut rows = rows(tx);
        if !ended {
            self.carried = carried;
            self.carry(&rows)?;
        }
        self.index_rows(&mut rows)?;
        Ok(Some(rows))
    }

    /// Videos `[first, last)` are those of the channel.
    fn share(&self, channel: u64) -> (u64, u64) {
        let Plan { channels, videos, .. } = self.plan;
        let of = |channel: u64| {
            // Their product may be larger than either.
            let share = u128::from(videos) * u128::from(channel) / u128::from(channels.max(1));
            u64::try_from(share).unwrap_or(videos)
        };
        (of(channel), of(channel + 1))
    }

    /// Makes the next part of the channel, and says whether it was the last one.
    fn videos_and_channel(&mut self, tx: &mut Tx<'_>) -> Result<bool, Error> {
        let (first, end) = self.share(self.channel);
        let mut ids = self.ids(self.channel, self.videos);
        let owner = id::channel(&mut self.ids(self.channel, u64::MAX));
        if self.videos == first {
            make_channel(tx, self.channel, &owner, &mut ids)?;
            self.make_subscribers(tx, &owner)?;
        }
        let last = end.min(self.videos + PART_VIDEOS);
        let title = channels::record::title(tx, &owner)?;
        let mut made: Vec<String> = Vec::new();
        while self.videos < last {
            made.push(make_video(tx, self.videos, &owner, &title, &mut ids)?);
            self.videos += 1;
        }
        for (number, videos) in (0_u64..).zip(made.chunks(PLAYLIST_VIDEOS as usize)) {
            make_playlist(tx, &owner, &title, self.videos + number, videos, &mut ids)?;
        }
        let ended = last == end;
        if ended {
            if let Some(channel) = CHANNELS.get(tx, &owner)? {
                channels::search_document::put(tx, &owner, &channel)?;
            }
            self.channel += 1;
        }
        Ok(ended)
    }

    /// Lets other channels subscribe to the one that is being made: few have many subscribers, and most have a few.
    fn make_subscribers(&mut self, tx: &mut Tx<'_>, owner: &str) -> Result<(), Error> {
        let channels = self.plan.channels;
        let mut ids = self.ids(self.channel, u64::MAX - 1);
        // Each step more is four times as rare, for twice as many.
        let magnitude = (ids.next().trailing_zeros() / 2).min(10);
        let wanted = below(&mut ids, 8 << magnitude).min(channels.saturating_sub(1));
        let title = channels::record::title(tx, owner)?;
        let first = below(&mut ids, channels);
        let mut made = 0;
        for step in 0..wanted {
            let other = (first + step) % channels;
            if other == self.channel {
                continue;
            }
            let subscriber = id::channel(&mut self.ids(other, u64::MAX));
            let since = LATEST.minus(Duration::from_secs(below(&mut ids, VIDEO_SECONDS_MAX)));
            let parties = Parties { subscriber, publisher: owner.to_owned() };
            let subscription = Subscription {
                id: id::subscription(&mut ids),
                since,
                watched: since,
                uploads_only: false,
                is_private: false,
            };
            let theirs = self.title(other);
            let titles = Titles { subscriber: &theirs, publisher: &title };
            subscriptions::store::rows(tx, &parties, &subscription, titles, true);
            made += 1;
            let place = usize::try_from(other).unwrap_or(usize::MAX);
            if let Some(publishers) = self.publishers.get_mut(place) {
                *publishers += 1;
            }
        }
        if made > 0 {
            SUBSCRIBER_COUNT.put(tx, &owner.to_owned(), &Count(made));
        }
        channels::record::count(tx, owner, |counts| counts.subscribers = made)
    }

    /// The title that [`make_channel`] gives to a channel.
    fn title(&self, channel: u64) -> String {
        title(channel, &mut self.ids(channel, self.share(channel).0))
    }

    /// Numbers of channels that the next channels subscribe to.
    fn publisher_counts(&mut self) -> Rows {
        let nothing = Memory::new();
        let mut tx = Tx::new(&nothing);
        let end = self.publishers.len().min(self.counted + PART_COUNTS);
        for (number, publishers) in (0_u64..).zip(&self.publishers).take(end).skip(self.counted) {
            if *publishers > 0 {
                let id = id::channel(&mut self.ids(number, u64::MAX));
                PUBLISHER_COUNT.put(&mut tx, &id, &Count((*publishers).into()));
            }
        }
        self.counted = end;
        rows(tx)
    }

    /// A generator of ids that belongs to this place of the plan alone.
    fn ids(&self, channel: u64, at: u64) -> SeededIds {
        let mut seed = [0; 32];
        let numbers = [self.plan.seed, channel, at].map(u64::to_be_bytes);
        for (byte, from) in seed.iter_mut().zip(numbers.as_flattened()) {
            *byte = *from;
        }
        SeededIds::from_seed(seed)
    }

    fn carry(&self, rows: &Rows) -> Result<(), StateError> {
        let starts = [
            CHANNELS.span(&()).prefix,
            CHANNEL_COUNTS.span(&()).prefix,
            PLAYLIST_COUNT.span(&()).prefix,
            RATED_COUNT.span(&()).prefix,
            CATEGORY_CHANNEL_COUNT.span(&()).prefix,
        ];
        let carried =
            rows.iter().filter(|(key, _)| starts.iter().any(|start| key.starts_with(start)));
        let batch = Batch {
            writes: carried.map(|(key, value)| (key.clone(), Some(value.clone()))).collect(),
            ..Batch::default()
        };
        self.carried.commit(batch).wait()?;
        Ok(())
    }

    /// Puts the index of the part's documents in the place of the notes that an index would have to follow.
    fn index_rows(&mut self, rows: &mut Rows) -> Result<(), StateError> {
        let (documents, notes) = (DOCUMENTS.span(&()).prefix, CHANGED.span(&()).prefix);
        rows.retain(|(key, _)| !key.starts_with(&notes));
        let nothing = Memory::new();
        let mut tx = Tx::new(&nothing);
        for (key, value) in rows.iter().filter(|(key, _)| key.starts_with(&documents)) {
            let (kind, id) = DOCUMENTS.read_key(key)?;
            if let Some(kind) = Kind::ALL.get(usize::from(kind)) {
                let document = DOCUMENTS.decode(value.clone())?;
                self.index.add(&mut tx, *kind, &id, &document);
            }
        }
        rows.extend(self::rows(tx));
        Ok(())
    }
}

/// The writes that a transaction recorded.
fn rows(tx: Tx<'_>) -> Rows {
    let writes = tx.into_batch([0; 16]).writes;
    writes.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

/// A number below `most`.
fn below(ids: &mut dyn Ids, most: u64) -> u64 {
    ids.next() % most
}

/// The title of a channel; `ids` is at the beginning of those of the channel.
fn title(channel: u64, ids: &mut SeededIds) -> String {
    format!("{} {}", name(channel), tag(ids))
}

fn make_channel(tx: &mut Tx<'_>, number: u64, id: &str, ids: &mut SeededIds) -> Result<(), Error> {
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
    let settings =
        json!({"brandingSettings": {"channel": {"title": title, "description": sentence(ids)}}});
    let empty = Map::new();
    let body = Body::of(settings.as_object().unwrap_or(&empty));
    channels::patch::write(tx, id, &mut made, body, &["brandingSettings"])?;
    channels::store::insert(tx, id, None, &mut made)?;
    // Each view of a video would change what is found of its channel; once at the end is enough.
    DOCUMENTS.delete(tx, &(Kind::Channel as u8, id.to_owned()));
    Ok(())
}

fn make_video(
    tx: &mut Tx<'_>,
    number: u64,
    owner: &str,
    channel_title: &str,
    ids: &mut SeededIds,
) -> Result<String, Error> {
    let id = videos::record::new_id(tx, ids)?;
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

fn make_playlist(
    tx: &mut Tx<'_>,
    owner: &str,
    channel_title: &str,
    number: u64,
    videos: &[String],
    ids: &mut SeededIds,
) -> Result<(), Error> {
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
    Ok(())
}
