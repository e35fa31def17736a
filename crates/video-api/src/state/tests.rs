use std::collections::BTreeMap;

use bytes::Bytes;
use triptych_core::archive::{Checkpoint, Import, Watch, export};
use triptych_core::blobs::{Blobs, MemoryBlobs};
use triptych_core::id::SeededIds;
use triptych_core::kv::{self, KeyValue, Memory, Span, Tx};
use triptych_core::time::Timestamp;

use super::archive::RowCodec;
use super::catalogue::SERIES_VIDEOS;
use super::generate::{Generator, Plan};
use super::vocabulary::name;
use crate::index::query::{self, Query};
use crate::index::tokenizer::TextQuery;
use crate::index::verify::verify;
use crate::picture::{self, VIDEO};
use crate::record::counter::Count;
use crate::resource::activities::record::{ACTIVITY_COUNTS, ACTIVITY_TIMES};
use crate::resource::channel_sections::record::SECTIONS;
use crate::resource::channels::record::{CHANNEL_COUNTS, CHANNELS};
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::record::{COMMENTS, Comment, thread_of, whole_lists};
use crate::resource::comments::tally;
use crate::resource::members::record::MEMBERS;
use crate::resource::playlist_items::order::ORDER;
use crate::resource::playlist_items::record::ITEMS_OF_VIDEO;
use crate::resource::playlists::record::PLAYLISTS;
use crate::resource::subscriptions::record::SUBSCRIPTIONS;
use crate::resource::videos::chart::CHART;
use crate::resource::videos::record::{UPLOADS, VIDEO_COUNTS, VIDEOS};
use crate::upload::media::{PIECES, Piece};
use triptych_core::kv::Loader;

const ALL: usize = 1_000_000;

struct Nobody;

impl Watch for Nobody {
    fn progress(&mut self, _rows: u64, _bytes: u64) {}

    fn save(&mut self, _checkpoint: &Checkpoint) -> std::io::Result<()> {
        Ok(())
    }
}

struct Stores {
    kv: Memory,
    blobs: MemoryBlobs,
}

impl Stores {
    fn empty() -> Self {
        Self { kv: Memory::new(), blobs: MemoryBlobs::new(SeededIds::from_number(1)) }
    }

    fn generated(plan: Plan) -> Self {
        let stores = Self::empty();
        let mut rows = BTreeMap::new();
        let mut generator = Generator::new(plan);
        while let Some(part) = generator.part().unwrap() {
            rows.extend(part);
        }
        assert_eq!(generator.videos(), plan.videos);
        let mut loader = Loader::new(&stores.kv, &mut SeededIds::from_number(2));
        for (key, value) in rows {
            loader.put(key, value).unwrap();
        }
        loader.finish().unwrap();
        stores
    }

    fn export(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut ids = SeededIds::from_number(3);
        export(&RowCodec, &self.kv, &self.blobs, &mut ids, &mut out, |_, _| ()).unwrap();
        out
    }

    fn import(&self, text: &[u8]) -> Result<u64, String> {
        let mut ids = SeededIds::from_number(4);
        let import = Import {
            codec: &RowCodec,
            store: &self.kv,
            blobs: &self.blobs,
            ids: &mut ids,
            now: Timestamp::EPOCH,
            from: None,
            end: None,
            step_bytes: 1024,
        };
        import.run(&mut &*text, &mut Nobody).map_err(|error| error.to_string())
    }

    /// Names a body of `length` bytes in the table of pieces, in pieces of two lengths.
    fn upload(&self, media: u8, length: usize) {
        let piece = |bytes: Vec<u8>| {
            let stat = self.blobs.put_small(Timestamp::EPOCH, bytes.into()).wait().unwrap();
            Piece { blob: stat.id, bytes: stat.bytes }
        };
        let pieces = [piece(vec![media; length]), piece(vec![1; 7])];
        kv::run_blocking(&self.kv, &mut SeededIds::from_number(5), 1, |tx, _| {
            PIECES.put(tx, &([media; 16], 0), &pieces[0]);
            PIECES.put(tx, &([media; 16], length as u64), &pieces[1]);
            picture::set(tx, &format!("vi/{media}"), &[(VIDEO[0], pieces[1])])
        })
        .unwrap();
    }

    fn rows(&self) -> Vec<(Bytes, Bytes)> {
        self.kv.scan(&Span::default(), ALL).unwrap().rows
    }
}

const SMALL: Plan =
    Plan { channels: 3, videos: 130, busy_threads: 0, busy_subscriptions: 0, seed: 7 };

#[test]
fn what_is_exported_and_imported_is_the_same_and_exports_as_the_same_bytes() {
    let first = Stores::generated(SMALL);
    for (media, length) in [(1, 1), (2, 48 * 1024), (3, 48 * 1024 + 1), (4, 3_000_000)] {
        first.upload(media, length);
    }
    let text = first.export();
    let second = Stores::empty();
    let rows = second.import(&text).unwrap();
    assert_eq!(rows, first.rows().len() as u64);
    assert!(second.export() == text, "the second export differs");
    let strip = |stores: &Stores| -> Vec<_> {
        let rows = stores.rows().into_iter();
        rows.filter(|(key, _)| ![0x83, 0x85].contains(&key[0])).collect()
    };
    assert!(strip(&first) == strip(&second), "a row differs");
    let mut tx = Tx::new(&second.kv);
    let piece = PIECES.get(&mut tx, &([4; 16], 0)).unwrap().unwrap();
    let body = second.blobs.read_small(piece.blob, piece.bytes).unwrap();
    assert!(body == vec![4; 3_000_000], "the body differs");
}

#[test]
fn a_damaged_export_is_refused_with_its_line() {
    let stores = Stores::generated(Plan {
        channels: 1,
        videos: 2,
        busy_threads: 0,
        busy_subscriptions: 0,
        seed: 1,
    });
    stores.upload(1, 100);
    let text = stores.export();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    for cut in 0..lines.len() {
        let error = Stores::empty().import(&lines[..cut].concat()).unwrap_err();
        assert!(error.starts_with(&format!("line {}:", cut + 1)), "{cut}: {error}");
    }
    for (at, line) in lines.iter().enumerate() {
        let mut other = lines.clone();
        other.remove(at);
        assert!(Stores::empty().import(&other.concat()).is_err(), "without line {at}");
        other.insert(at, line);
        other.insert(at, line);
        assert!(Stores::empty().import(&other.concat()).is_err(), "line {at} twice");
    }
    for at in (0..text.len()).step_by(97) {
        let mut other = text.clone();
        other[at] ^= 1;
        assert!(Stores::empty().import(&other).is_err(), "byte {at}");
    }
    let error = stores.import(&text).unwrap_err();
    assert!(error.contains("not empty"), "{error}");
    let error = Stores::empty().import(b"{}\n").unwrap_err();
    assert_eq!(error, "line 1: it is no export of video-api");
}

#[test]
fn the_same_seed_gives_the_same_rows_and_another_gives_others() {
    assert!(Stores::generated(SMALL).rows() == Stores::generated(SMALL).rows());
    let other = Plan { seed: 8, ..SMALL };
    assert!(Stores::generated(SMALL).rows() != Stores::generated(other).rows());
}

/// One channel of more videos than a part holds, so that what is carried from part to part counts.
#[test]
fn what_is_generated_is_what_requests_would_have_made() {
    let plan = Plan { channels: 1, videos: 1_203, busy_threads: 0, busy_subscriptions: 0, seed: 3 };
    let stores = Stores::generated(plan);
    let mut tx = Tx::new(&stores.kv);
    verify(&mut tx).unwrap();
    let (videos, _) = VIDEOS.scan(&mut tx, &VIDEOS.span(&()), ALL).unwrap();
    assert_eq!(videos.len(), 1_203);
    let (mut public, mut views) = (0, 0);
    for (id, video) in &videos {
        public += u64::from(video.head.is_listed());
        views += VIDEO_COUNTS.get(&mut tx, id).unwrap().unwrap().views;
    }
    let (channels, _) = CHANNEL_COUNTS.scan(&mut tx, &CHANNEL_COUNTS.span(&()), ALL).unwrap();
    assert_eq!(channels.len(), 1);
    let counts = channels[0].1;
    assert_eq!((counts.uploads, counts.videos, counts.views), (1_203, public, views));
    let count = |tx: &mut Tx<'_>, span: Span| tx.scan(&span, ALL).unwrap().rows.len() as u64;
    assert_eq!(count(&mut tx, UPLOADS.span(&())), 1_203 + public);
    assert_eq!(count(&mut tx, CHART.span(&())), 2 * public);
    let (playlists, _) = PLAYLISTS.scan(&mut tx, &PLAYLISTS.span(&()), ALL).unwrap();
    let items: u32 =
        playlists.iter().map(|(id, _)| ORDER.get(&mut tx, id).unwrap().unwrap().total()).sum();
    assert!(playlists.len() >= 12 && items >= 600, "{} {items}", playlists.len());
    let query = Query {
        text: TextQuery::parse(&name(2)),
        mine: Some(channels[0].0.clone()),
        ..Query::default()
    };
    let found = query::run(&mut tx, &query, None, false, 50).unwrap();
    assert_eq!(found.total, SERIES_VIDEOS, "a series is found whole");
}

#[test]
fn what_is_generated_around_videos_is_counted_as_requests_count_it() {
    let plan =
        Plan { channels: 40, videos: 1_500, busy_threads: 4_100, busy_subscriptions: 30, seed: 5 };
    let stores = Stores::generated(plan);
    let mut tx = Tx::new(&stores.kv);
    let (comments, _) = COMMENTS.scan(&mut tx, &COMMENTS.span(&()), ALL).unwrap();
    let state_of = |id: &str| {
        let found = comments.binary_search_by(|(known, _)| known.as_str().cmp(id));
        comments[found.unwrap()].1.state
    };
    let is_seen = |id: &str, comment: &Comment| {
        let published = |state| state == Moderation::Published;
        published(comment.state) && thread_of(id).is_none_or(|thread| published(state_of(thread)))
    };
    let (mut seen, mut replies) = (BTreeMap::<String, u64>::new(), 0);
    for (id, comment) in &comments {
        let [own, _] = comment.lists();
        // Comments on unlisted videos are told of under their videos alone.
        let video = comment.video.as_ref().map(|video| VIDEOS.get(&mut tx, video).unwrap());
        let is_listed = video.is_none_or(|video| video.unwrap().head.is_listed());
        for list in std::iter::once(own).chain(whole_lists(&comment.channel, [true, is_listed])) {
            *seen.entry(list).or_default() += u64::from(is_seen(id, comment));
        }
        replies += usize::from(thread_of(id).is_some());
    }
    for (list, count) in &seen {
        assert_eq!(tally::of(&mut tx, list.clone()).unwrap().comments(), *count, "{list}");
    }
    let threads = comments.len() - replies;
    let others = threads - 4_100;
    assert!((500..5_000).contains(&others) && replies > threads / 10, "{threads} {replies}");
    for state in Moderation::ALL {
        assert!(comments.iter().any(|(_, comment)| comment.state == state), "{state:?}");
    }
    let (times, _) = ACTIVITY_TIMES.scan(&mut tx, &ACTIVITY_TIMES.span(&()), ALL).unwrap();
    let mut done = BTreeMap::<(String, u8), u64>::new();
    for ((channel, audience, ..), ()) in times {
        *done.entry((channel, audience)).or_default() += 1;
    }
    let (counts, _) = ACTIVITY_COUNTS.scan(&mut tx, &ACTIVITY_COUNTS.span(&()), ALL).unwrap();
    let counts: BTreeMap<_, _> =
        counts.into_iter().map(|(key, Count(count))| (key, count)).collect();
    assert_eq!(counts, done);
    let (members, _) = MEMBERS.scan(&mut tx, &MEMBERS.span(&()), ALL).unwrap();
    assert!(!members.is_empty());
    let now = Timestamp::from_seconds(1_767_225_600);
    assert!(
        members.iter().all(|(_, member)| member.level.is_some() && member.time.since <= Some(now))
    );
    let (favourites, _) = ITEMS_OF_VIDEO.scan(&mut tx, &ITEMS_OF_VIDEO.span(&()), ALL).unwrap();
    let mut favourite = BTreeMap::<String, u64>::new();
    for ((playlist, video, _), ()) in favourites {
        if playlist.starts_with("FL") {
            *favourite.entry(video).or_default() += 1;
        }
    }
    let (counts, _) = VIDEO_COUNTS.scan(&mut tx, &VIDEO_COUNTS.span(&()), ALL).unwrap();
    let counted = counts.into_iter().map(|(video, counts)| (video, counts.favorites));
    let counted: BTreeMap<_, _> = counted.filter(|(_, count)| *count > 0).collect();
    assert_eq!(counted, favourite);
    assert!(favourite.len() >= 10, "{favourite:?}");
    let (sections, _) = SECTIONS.scan(&mut tx, &SECTIONS.span(&()), ALL).unwrap();
    for kind in ["recentUploads", "popularUploads", "singlePlaylist", "multipleChannels"] {
        assert!(sections.iter().any(|(_, section)| section.kind == kind), "{kind}");
    }
    for (id, section) in &sections {
        let channel = CHANNELS.get(&mut tx, &section.channel).unwrap().unwrap();
        assert!(channel.head.browse_view, "{id} is hidden");
        for playlist in &section.playlists {
            assert!(PLAYLISTS.get(&mut tx, playlist).unwrap().is_some(), "{playlist}");
        }
        for other in &section.channels {
            assert!(CHANNELS.get(&mut tx, other).unwrap().is_some(), "{other}");
        }
    }
    assert!(sections.len() < 4 * 40);
    let (busy, _) = SUBSCRIPTIONS.scan(&mut tx, &SUBSCRIPTIONS.span(&()), ALL).unwrap();
    let mut most = BTreeMap::<String, u64>::new();
    for ((subscriber, _), _) in busy {
        *most.entry(subscriber).or_default() += 1;
    }
    assert!(most.into_values().max() >= Some(30));
}
