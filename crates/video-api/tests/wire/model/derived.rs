//! Whether every index table and count holds what a rebuild from the records would make.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use triptych_core::kv::{Key, KeyValue, Record, Table, Tx};
use video_api::record::counter::Count;
use video_api::record::key_order::latest_first;
use video_api::record::privacy::Privacy;
use video_api::resource::channels::record::CHANNEL_COUNTS;
use video_api::resource::channels::record::ChannelCounts;
use video_api::resource::playlist_items::order::{CHUNKS, ORDER};
use video_api::resource::playlist_items::record::{ITEMS, ITEMS_OF_VIDEO};
use video_api::resource::playlist_items::system_playlist::{HISTORY, HISTORY_COUNT};
use video_api::resource::playlists::record::{CHANNEL_PLAYLISTS, PLAYLIST_COUNT, PLAYLISTS};
use video_api::resource::videos::chart::CHART;
use video_api::resource::videos::rating::{RATED, RATED_COUNT, RATINGS};
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
pub(super) fn check(store: &dyn KeyValue) {
    let tx = &mut Tx::new(store);
    videos(tx);
    ratings(tx);
    playlists(tx);
    items(tx);
    let history = all(tx, &HISTORY).into_keys();
    same(
        counted(history.map(|(channel, ..)| channel)),
        counts(tx, &HISTORY_COUNT),
        "history counts",
    );
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
    same(totals, counts(tx, &RATED_COUNT), "counts of rated videos");
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
