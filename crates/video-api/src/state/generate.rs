//! Channels, videos, playlists and what is said about them that follow from a seed: the same numbers give the same rows, whenever and wherever they are made.
//!
//! Rows are made by the functions that requests use, a part of a channel at a time, in a transaction that nobody commits: what it
//! recorded is handed out, in no order, to be sorted and loaded.

use std::time::Duration;

use bytes::Bytes;
use triptych_core::id::SeededIds;
use triptych_core::kv::{Batch, KeyValue, Memory, Tx};
use triptych_core::time::Timestamp;

use super::StateError;
use super::catalogue::{LATEST, VIDEO_SECONDS_MAX, make_channel, make_playlist, make_video, title};
use super::discussion::{self, Subject, below, skewed};
use super::showcase::{self, KnownVideo, KnownVideos, shows_sections};
use super::vocabulary::name;
use crate::api::error::Error;
use crate::index::bulk::Bulk;
use crate::index::{CHANGED, DOCUMENTS, Kind};
use crate::record::counter::Count;
use crate::record::id;
use crate::resource::activities::record::{ACTIVITY_COUNTS, Event};
use crate::resource::channels::record::{CATEGORY_CHANNEL_COUNT, CHANNEL_COUNTS, CHANNELS};
use crate::resource::comments::record::{list_of_all, list_of_public, list_of_video};
use crate::resource::comments::tally::TALLIES;
use crate::resource::playlists::record::PLAYLIST_COUNT;
use crate::resource::recount::{RECOUNT, Recount};
use crate::resource::subscriptions::record::{
    PUBLISHER_COUNT, Parties, SUBSCRIBER_COUNT, Subscription,
};
use crate::resource::subscriptions::store::Titles;
use crate::resource::videos::rating::RATED_COUNT;
use crate::resource::videos::record::{VIDEO_COUNTS, VIDEOS};
use crate::resource::{activities, channels, subscriptions};

/// The plan of what is to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Number of channels, each with an account of its own.
    pub channels: u64,
    /// Number of videos, spread evenly over the channels.
    pub videos: u64,
    /// Number of threads about the last video of the last channel that others see, beside those that it has as any other.
    pub busy_threads: u64,
    /// Number of channels to which the last channel subscribes, at least: of the first ones.
    pub busy_subscriptions: u64,
    /// The number that everything follows from.
    pub seed: u64,
}

/// Videos of one part of a channel; a part's rows are in memory together.
const PART_VIDEOS: u64 = 500;
/// Threads of one part about the busiest video.
const PART_THREADS: u64 = 2_000;
/// Threads about the busiest video that have a word of their own: a search for it finds so many, however many threads there are.
const SERIES_THREADS: u64 = 20;
/// Counts of one part.
const PART_COUNTS: usize = 10_000;
/// A playlist is made of every so many videos of a channel, and holds the first half of them.
const PLAYLIST_VIDEOS: u64 = 100;

/// Playlists that the sections of a channel show.
const PLAYLISTS_SHOWN: usize = 4;

/// The number of things that a channel did to others.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    subscriptions: u32,
    activities: u32,
}

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
    /// Playlists of the channel, as many as its sections show.
    playlists: Vec<String>,
    /// Videos among which favourites are drawn.
    known: KnownVideos,
    /// The last video of the channel that others see, and its time.
    busiest: Option<(String, Timestamp)>,
    /// Threads about it that were made.
    threads: u64,
    /// The deeds of other channels, by channel: counted in rows that several parts would write.
    done: Vec<Done>,
    /// Channels for which that was handed out.
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
            playlists: Vec::new(),
            known: KnownVideos::default(),
            busiest: None,
            threads: 0,
            done: vec![Done::default(); usize::try_from(plan.channels).unwrap_or(0)],
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
            if self.threads < self.plan.busy_threads && self.busiest.is_some() {
                return self.part_of_busiest().map(Some);
            }
            if self.counted < self.done.len() {
                return Ok(Some(self.counts_of_done()));
            }
            if std::mem::replace(&mut self.finished, true) {
                return Ok(None);
            }
            let nothing = Memory::new();
            let mut tx = Tx::new(&nothing);
            self.index.finish(&mut tx);
            RECOUNT.put(&mut tx, &(), &Recount::Done);
            return Ok(Some(rows(tx)));
        }
        let carried = std::mem::take(&mut self.carried);
        let mut tx = Tx::new(&carried);
        let channel = self.channel;
        let ended = self.videos_and_channel(&mut tx).map_err(in_own_words)?;
        let mut rows = rows_but_counts(tx);
        if !ended || self.channel == self.plan.channels {
            self.carried = carried;
            self.carry(&rows, channel)?;
        }
        self.index_rows(&mut rows)?;
        Ok(Some(rows))
    }

    /// Makes the next threads about the busiest video.
    fn part_of_busiest(&mut self) -> Result<Rows, StateError> {
        let Some((video, published)) = self.busiest.clone() else {
            return Ok(Rows::new());
        };
        let channel = self.plan.channels - 1;
        let owner = id::channel(&mut self.ids(channel, u64::MAX));
        let about = Subject { channel: &owner, video: &video, published };
        let carried = std::mem::take(&mut self.carried);
        let mut tx = Tx::new(&carried);
        let mut ids = self.ids(self.threads, u64::MAX - 4);
        let end = self.plan.busy_threads.min(self.threads + PART_THREADS);
        while self.threads < end {
            let series = name(self.threads / SERIES_THREADS);
            let made =
                discussion::thread(&mut tx, &mut ids, &about, LATEST, Some(&series), &mut |ids| {
                    self.author(ids)
                });
            made.map_err(in_own_words)?;
            self.threads += 1;
        }
        let rows = rows_but_counts(tx);
        self.carried = carried;
        self.carry(&rows, channel)?;
        Ok(rows)
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
            self.busiest = None;
            self.playlists.clear();
            let shows_sections = shows_sections(&mut self.ids(self.channel, u64::MAX - 5));
            make_channel(tx, self.channel, &owner, shows_sections, &mut ids)?;
            self.make_subscribers(tx, &owner)?;
            self.make_favourites(tx, &owner)?;
            self.make_members(tx, &owner)?;
        }
        let last = end.min(self.videos + PART_VIDEOS);
        let title = channels::record::title(tx, &owner)?;
        let mut made: Vec<String> = Vec::new();
        while self.videos < last {
            let video = make_video(tx, self.videos, &owner, &title, &mut ids)?;
            self.make_comments(tx, &owner, &video)?;
            made.push(video);
            self.videos += 1;
        }
        for (number, videos) in (0_u64..).zip(made.chunks(PLAYLIST_VIDEOS as usize)) {
            let playlist =
                make_playlist(tx, &owner, &title, self.videos + number, videos, &mut ids)?;
            if self.playlists.len() < PLAYLISTS_SHOWN {
                self.playlists.push(playlist);
            }
        }
        let ended = last == end;
        if ended {
            self.make_sections(tx, &owner)?;
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
        let wanted = skewed(&mut ids, 8, 2).min(channels.saturating_sub(1));
        let title = channels::record::title(tx, owner)?;
        let first = below(&mut ids, channels);
        let mut made = 0;
        let drawn = (0..wanted).map(|step| (first + step) % channels);
        let busy = channels.saturating_sub(1);
        let is_drawn = drawn.clone().any(|other| other == busy);
        let busy = (self.channel < self.plan.busy_subscriptions && !is_drawn).then_some(busy);
        let own = self.channel;
        for other in drawn.chain(busy).filter(|other| *other != own) {
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
            let event = Event::Subscription(parties.publisher.clone());
            activities::record::note(tx, &parties.subscriber, since, event, true)?;
            made += 1;
            self.count(other, |done| {
                done.subscriptions += 1;
                done.activities += 1;
            });
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

    /// Lets other channels, and the owner now and then, comment on a video that others see.
    fn make_comments(&mut self, tx: &mut Tx<'_>, owner: &str, video: &str) -> Result<(), Error> {
        let Some(found) = VIDEOS.get(tx, &video.to_owned())?.filter(|found| found.head.is_shared())
        else {
            return Ok(());
        };
        let mut ids = self.ids(self.videos, u64::MAX - 2);
        let about = Subject { channel: owner, video, published: found.head.published };
        discussion::threads(tx, &mut ids, &about, LATEST, |ids| self.author(ids))?;
        self.busiest = Some((video.to_owned(), found.head.published));
        if found.head.is_listed() {
            self.known.push(KnownVideo {
                id: video.to_owned(),
                channel: self.channel,
                published: found.head.published,
                counts: VIDEO_COUNTS.get(tx, &video.to_owned())?.unwrap_or_default(),
            });
        }
        Ok(())
    }

    /// Lets the channel find favourites among the videos of channels before it.
    fn make_favourites(&mut self, tx: &mut Tx<'_>, owner: &str) -> Result<(), Error> {
        let mut ids = self.ids(self.channel, u64::MAX - 6);
        let made = self.known.favourites(tx, &mut ids, (self.channel, owner), LATEST)?;
        self.count(self.channel, |done| done.activities += made);
        Ok(())
    }

    /// Lays out the channel's page.
    fn make_sections(&mut self, tx: &mut Tx<'_>, owner: &str) -> Result<(), Error> {
        let mut ids = self.ids(self.channel, u64::MAX - 5);
        let other = |ids: &mut SeededIds| {
            let other = below(ids, self.plan.channels);
            id::channel(&mut self.ids(other, u64::MAX))
        };
        let named = showcase::sections(tx, &mut ids, owner, &self.playlists, other, LATEST)?;
        self.count(self.channel, |done| done.activities += named);
        Ok(())
    }

    /// The last public video of the last channel, once it is made: the busiest, where threads are made about it.
    #[must_use]
    pub fn busiest(&self) -> Option<&str> {
        self.busiest.as_ref().map(|(video, _)| video.as_str())
    }

    /// Draws the author of a comment.
    fn author(&mut self, ids: &mut SeededIds) -> String {
        let author = below(ids, self.plan.channels);
        self.count(author, |done| done.activities += 1);
        id::channel(&mut self.ids(author, u64::MAX))
    }

    /// Gives one channel of ten levels and members.
    fn make_members(&self, tx: &mut Tx<'_>, owner: &str) -> Result<(), Error> {
        let mut ids = self.ids(self.channel, u64::MAX - 3);
        discussion::members(tx, &mut ids, owner, self.channel, LATEST, |ids| {
            let member = below(ids, self.plan.channels);
            id::channel(&mut self.ids(member, u64::MAX))
        })
    }

    fn count(&mut self, channel: u64, change: impl FnOnce(&mut Done)) {
        let place = usize::try_from(channel).unwrap_or(usize::MAX);
        if let Some(done) = self.done.get_mut(place) {
            change(done);
        }
    }

    /// Numbers of what the next channels did.
    fn counts_of_done(&mut self) -> Rows {
        let nothing = Memory::new();
        let mut tx = Tx::new(&nothing);
        let end = self.done.len().min(self.counted + PART_COUNTS);
        for (number, done) in (0_u64..).zip(&self.done).take(end).skip(self.counted) {
            let id = id::channel(&mut self.ids(number, u64::MAX));
            if done.activities > 0 {
                let count = Count(done.activities.into());
                ACTIVITY_COUNTS.put(&mut tx, &(id.clone(), 0), &count);
                ACTIVITY_COUNTS.put(&mut tx, &(id.clone(), 1), &count);
            }
            if done.subscriptions > 0 {
                PUBLISHER_COUNT.put(&mut tx, &id, &Count(done.subscriptions.into()));
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

    /// Carries what later parts of a channel read.
    fn carry(&self, rows: &Rows, channel: u64) -> Result<(), StateError> {
        let owner = id::channel(&mut self.ids(channel, u64::MAX));
        let busiest = self.busiest.as_ref().map(|(video, _)| video);
        let starts = [
            TALLIES.span(&list_of_all(&owner)).prefix,
            TALLIES.span(&list_of_public(&owner)).prefix,
            TALLIES.span(&busiest.map(|video| list_of_video(video)).unwrap_or_default()).prefix,
            VIDEOS.span(&busiest.cloned().unwrap_or_default()).prefix,
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
                let document = DOCUMENTS.decode(key, value)?;
                self.index.add(&mut tx, *kind, &id, &document);
            }
        }
        rows.extend(self::rows(tx));
        Ok(())
    }
}

fn in_own_words(error: Error) -> StateError {
    match error {
        Error::Backend(error) => StateError::Store(error),
        other => StateError::Rule(other.to_string()),
    }
}

/// The writes that a transaction recorded, without the counts of what channels did: each part would count its own, and their sums come at
/// the end.
fn rows_but_counts(tx: Tx<'_>) -> Rows {
    let counts = ACTIVITY_COUNTS.span(&()).prefix;
    let mut rows = rows(tx);
    rows.retain(|(key, _)| !key.starts_with(&counts));
    rows
}

/// The writes that a transaction recorded.
fn rows(tx: Tx<'_>) -> Rows {
    let writes = tx.into_batch([0; 16]).writes;
    writes.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}
