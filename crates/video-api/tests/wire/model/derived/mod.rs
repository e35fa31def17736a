//! Checks whether every index table and count holds what a rebuild from the records would make.

mod audience;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use triptych_core::kv::{Key, KeyValue, Record, Table, Tx};
use video_api::index::tokenizer;
use video_api::record::cascade::CASCADES;
use video_api::record::counter::Count;
use video_api::record::key_order::latest_first;
use video_api::record::privacy::Privacy;
use video_api::resource::activities::record::{ACTIVITIES, ACTIVITY_COUNTS, ACTIVITY_TIMES, Event};
use video_api::resource::channels::record::{CHANNEL_COUNTS, CHANNELS, ChannelCounts};
use video_api::resource::comments::moderation::Moderation;
use video_api::resource::comments::record::{
    COMMENTS, RELEVANT_THREADS, REPLIES, REPLY_COUNTS, ReplyCounts, THREADS, slots, thread_of,
    whole_lists,
};
use video_api::resource::comments::tally::{self, TALLIES};
use video_api::resource::comments::words::WORDS;
use video_api::resource::playlist_items::order::{CHUNKS, ORDER};
use video_api::resource::playlist_items::record::{ITEMS, ITEMS_OF_VIDEO};
use video_api::resource::playlist_items::system_playlist::{HISTORY, HISTORY_COUNT};
use video_api::resource::playlists::record::{CHANNEL_PLAYLISTS, PLAYLIST_COUNT, PLAYLISTS};
use video_api::resource::videos::chart::CHART;
use video_api::resource::videos::rating::{HIDDEN_COUNT, RATED, RATED_COUNT, RATERS, RATINGS};
use video_api::resource::videos::record::VideoCounts;
use video_api::resource::videos::record::{SCHEDULE, UPLOADS, VIDEO_COUNTS, VIDEOS};

/// Everything of a table.
fn all<K: Key + Ord, V: Record>(tx: &mut Tx<'_>, table: &Table<K, V>) -> BTreeMap<K, V> {
    let span = table.span(&());
    let (rows, more) = table.scan(tx, &span, 100_000).unwrap();
    assert!(!more, "the model is small");
    rows.into_iter().collect()
}

fn keys<K: Key + Ord>(tx: &mut Tx<'_>, table: &Table<K, ()>) -> BTreeSet<K> {
    all(tx, table).into_keys().collect()
}

/// Counts of keys, those of which there are none left out, as no row and a row of none mean the same.
fn counted<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts
}

fn counts<K: Key + Ord>(tx: &mut Tx<'_>, table: &Table<K, Count>) -> BTreeMap<K, u64> {
    let rows = all(tx, table).into_iter();
    let rows = rows.map(|(key, Count(count))| (key, count));
    rows.filter(|(_, count)| *count > 0).collect()
}

/// Fails where a table differs from what the records say.
pub(crate) fn check(store: &dyn KeyValue) {
    let tx = &mut Tx::new(store);
    videos(tx);
    ratings(tx);
    playlists(tx);
    items(tx);
    comments(tx);
    activities(tx);
    audience::check(tx);
    let history = all(tx, &HISTORY).into_keys();
    same(
        counted(history.map(|(channel, ..)| channel)),
        counts(tx, &HISTORY_COUNT),
        "history counts",
    );
}

/// Lists, words and counters of comments.
fn comments(tx: &mut Tx<'_>) {
    let comments = all(tx, &COMMENTS);
    let (mut replies, mut reply_counts) = (BTreeSet::new(), BTreeMap::<String, [u64; 4]>::new());
    for (id, comment) in &comments {
        let time = latest_first(comment.published.micros());
        if let Some(thread) = thread_of(id) {
            for slot in [0, comment.state.slot()] {
                replies.insert((thread.to_owned(), slot, time, id.clone()));
            }
            let counts = reply_counts.entry(thread.to_owned()).or_default();
            counts[usize::from(comment.state.slot()) - 1] += 1;
        }
    }
    same(replies, keys(tx, &REPLIES), "replies");
    let stored = all(tx, &REPLY_COUNTS).into_iter().map(|(thread, counts)| (thread, counts.0));
    let stored: BTreeMap<_, _> = stored.filter(|(_, counts)| *counts != [0; 4]).collect();
    same(reply_counts.clone(), stored, "counts of replies");
    let (mut threads, mut relevant) = (BTreeSet::new(), BTreeSet::new());
    let (mut words, mut tallies) = (BTreeMap::new(), BTreeMap::<String, (i64, [i64; 4])>::new());
    for (id, comment) in &comments {
        let thread = thread_of(id).unwrap_or(id);
        let time = latest_first(comments[thread].published.micros());
        for list in comment.lists() {
            for word in tokenizer::words(&comment.text).collect::<BTreeSet<_>>() {
                let key = (list.clone(), word, time, thread.to_owned());
                *words.entry(key).or_insert(0) += 1;
            }
        }
    }
    let videos = all(tx, &VIDEOS);
    for (id, comment) in comments.iter().filter(|(id, _)| thread_of(id).is_none()) {
        let time = latest_first(comment.published.micros());
        let counts = ReplyCounts(reply_counts.get(id).copied().unwrap_or_default());
        let slots = || (1_u8..).zip(slots(comment.state, counts)).filter(|(_, is)| *is);
        for list in comment.lists() {
            for (slot, _) in slots() {
                threads.insert((list.clone(), slot, time, id.clone()));
            }
            if comment.state == Moderation::Published {
                relevant.insert((list.clone(), !comment.likes, time, id.clone()));
            }
        }
        let seen = comment.video.as_ref().map(|video| videos[video].head.lists_comments());
        let [own, _] = comment.lists();
        let whole = whole_lists(&comment.channel, seen.unwrap_or([true; 2]));
        for list in std::iter::once(own).chain(whole) {
            let tally = tallies.entry(list.clone()).or_default();
            for (slot, _) in slots() {
                tally.1[usize::from(slot) - 1] += 1;
            }
            if comment.state == Moderation::Published {
                tally.0 += 1 + i64::try_from(counts.of(Moderation::Published)).unwrap();
            }
        }
    }
    same(threads, keys(tx, &THREADS), "lists of threads");
    same(relevant, keys(tx, &RELEVANT_THREADS), "threads by likes");
    let stored = all(tx, &WORDS).into_iter().map(|(key, uses)| (key, uses.0));
    same(words, stored.collect(), "words of threads");
    let lists: BTreeSet<_> = all(tx, &TALLIES).into_keys().map(|(list, _)| list).collect();
    for list in lists {
        let stored = tally::of(tx, list.clone()).unwrap();
        let rebuilt = tallies.remove(&list).unwrap_or_default();
        same(rebuilt, (stored.comments, stored.threads), "tallies");
    }
    same(BTreeMap::new(), tallies, "lists without a tally");
}

/// Activities, and those that comments are.
fn activities(tx: &mut Tx<'_>) {
    let activities = all(tx, &ACTIVITIES);
    let mut times = BTreeSet::new();
    for ((channel, id), activity) in &activities {
        assert_eq!(*id, activity.event.id(channel));
        let time = latest_first(activity.at.micros());
        for audience in if activity.public { 0..=1 } else { 1..=1 } {
            times.insert((channel.clone(), audience, time, id.clone()));
        }
    }
    let totals = counted(times.iter().map(|(channel, audience, ..)| (channel.clone(), *audience)));
    same(times, keys(tx, &ACTIVITY_TIMES), "times of activities");
    same(totals, counts(tx, &ACTIVITY_COUNTS), "counts of activities");
    let channels = all(tx, &CHANNELS);
    // What an account wrote stays when it is closed, and is nobody's activity any more.
    let written = all(tx, &COMMENTS)
        .into_iter()
        .filter(|(_, comment)| channels.contains_key(&comment.author))
        .map(|(id, comment)| (comment.event(&id).id(&comment.author), id));
    let noted = activities.iter().filter_map(|((_, id), activity)| match &activity.event {
        Event::Comment { comment, .. } => Some((id.clone(), comment.clone())),
        _ => None,
    });
    same(written.collect::<BTreeMap<_, _>>(), noted.collect(), "activities of comments");
    assert_eq!(all(tx, &CASCADES).len(), 0, "every job is done");
}

fn same<T: PartialEq + Debug>(rebuilt: T, stored: T, what: &str) {
    assert_eq!(stored, rebuilt, "{what} are what a rebuild would make");
}

fn videos(tx: &mut Tx<'_>) {
    let (mut uploads, mut chart, mut schedule) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut channels = BTreeMap::<String, (u64, u64)>::new();
    let counts = all(tx, &VIDEO_COUNTS);
    for (id, video) in all(tx, &VIDEOS) {
        let head = &video.head;
        let time = latest_first(head.published.micros());
        let (listed, uploaded) = channels.entry(head.channel.clone()).or_default();
        *uploaded += 1;
        uploads.insert((head.channel.clone(), 1, time, id.clone()));
        if head.privacy == Privacy::Public {
            *listed += 1;
            uploads.insert((head.channel.clone(), 0, time, id.clone()));
            let views = counts.get(&id).map_or(0, |counts| counts.views);
            for category in ["0", &head.category] {
                chart.insert((category.to_owned(), !views, id.clone()));
            }
        }
        if let Some(at) = head.publish_at {
            schedule.insert((!latest_first(at.micros()), id));
        }
    }
    same(uploads, keys(tx, &UPLOADS), "uploads");
    same(chart, keys(tx, &CHART), "charts");
    same(schedule, keys(tx, &SCHEDULE), "schedules");
    for (channel, stored) in all(tx, &CHANNEL_COUNTS) {
        let (videos, uploads) = channels.remove(&channel).unwrap_or_default();
        let rebuilt = ChannelCounts { videos, uploads, ..stored };
        same(rebuilt, stored, "counts of a channel");
    }
    same(BTreeMap::new(), channels, "channels without counts");
}

fn ratings(tx: &mut Tx<'_>) {
    let ratings = all(tx, &RATINGS);
    let kind = |likes: bool| if likes { 1_u8 } else { 2 };
    let rated: BTreeSet<_> = ratings
        .iter()
        .map(|((channel, video), rating)| {
            let since = latest_first(rating.since.micros());
            (channel.clone(), kind(rating.likes), since, video.clone())
        })
        .collect();
    let totals = counted(rated.iter().map(|(channel, kind, ..)| (channel.clone(), *kind)));
    same(rated, keys(tx, &RATED), "rated videos");
    let raters = ratings.keys().map(|(channel, video)| (video.clone(), channel.clone())).collect();
    same(raters, keys(tx, &RATERS), "raters of videos");
    same(totals, counts(tx, &RATED_COUNT), "counts of rated videos");
    let videos = all(tx, &VIDEOS);
    let is_hidden = |channel: &String, video: &String| {
        let head = &videos[video].head;
        !head.is_shared() && head.channel != *channel
    };
    for ((channel, video), rating) in &ratings {
        assert_eq!(rating.is_hidden, is_hidden(channel, video), "the mark of {video} by {channel}");
    }
    let hidden = ratings.iter().filter(|(_, rating)| rating.is_hidden);
    let hidden =
        counted(hidden.map(|((channel, _), rating)| (channel.clone(), kind(rating.likes))));
    same(hidden, counts(tx, &HIDDEN_COUNT), "counts of ratings that are hidden");
    let of_videos =
        counted(ratings.iter().map(|((_, video), rating)| (video.clone(), rating.likes)));
    for (id, stored) in all(tx, &VIDEO_COUNTS) {
        let count = |likes| of_videos.get(&(id.clone(), likes)).copied().unwrap_or(0);
        let rebuilt = VideoCounts { likes: count(true), dislikes: count(false), ..stored };
        same(rebuilt, stored, "counts of a video");
    }
}

fn playlists(tx: &mut Tx<'_>) {
    let mut rows = BTreeSet::new();
    for (id, playlist) in all(tx, &PLAYLISTS) {
        let head = &playlist.head;
        let time = latest_first(head.published.micros());
        for audience in [0, 1] {
            if audience == 1 || head.privacy == Privacy::Public {
                rows.insert((head.channel.clone(), audience, time, id.clone()));
            }
        }
    }
    let totals = counted(rows.iter().map(|(channel, audience, ..)| (channel.clone(), *audience)));
    same(rows, keys(tx, &CHANNEL_PLAYLISTS), "playlists of channels");
    same(totals, counts(tx, &PLAYLIST_COUNT), "counts of playlists");
}

fn items(tx: &mut Tx<'_>) {
    let items = all(tx, &ITEMS);
    let of_videos: BTreeSet<_> = items
        .iter()
        .map(|((playlist, number), item)| (playlist.clone(), item.video.clone(), *number))
        .collect();
    same(of_videos, keys(tx, &ITEMS_OF_VIDEO), "items of videos");
    let mut ordered = BTreeSet::new();
    let chunks = all(tx, &CHUNKS);
    for (playlist, directory) in all(tx, &ORDER) {
        for (chunk, count) in &directory.chunks {
            let numbers = &chunks[&(playlist.clone(), *chunk)].0;
            same(numbers.len() as u32, *count, "counts of a chunk");
            for number in numbers {
                let is_first = ordered.insert((playlist.clone(), *number));
                assert!(is_first, "an item stands once in its order");
                let item = &items[&(playlist.clone(), *number)];
                same(*chunk, item.chunk, "chunks of items");
            }
        }
        let first = directory.chunks.first().map(|(chunk, _)| {
            let number = chunks[&(playlist.clone(), *chunk)].0[0];
            items[&(playlist.clone(), number)].video.clone()
        });
        same(first, directory.first_video, "first videos");
    }
    same(items.into_keys().collect(), ordered, "orders");
}
