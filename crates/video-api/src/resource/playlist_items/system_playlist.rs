//! The special playlists that time orders: uploads, likes, watch history. They have no order of their own and no limit;
//! the latest comes first.

use triptych_core::id::Ids;
use triptych_core::kv::{Table, Tx};
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::paginate::{self, Wanted};
use crate::record::counter::{self, Count};
use crate::record::id::SystemPlaylist;
use crate::record::key_order::{latest_first, moment_of};
use crate::resource::channels::record::CHANNEL_COUNTS;
use crate::resource::playlist_items::record::{ITEMS_MAX, PlaylistItem};
use crate::resource::videos::rating as ratings;
use crate::resource::videos::rating::RATINGS;
use crate::resource::videos::record::{UPLOADS, VIDEOS};
use crate::resource::videos::store as videos;

/// The history of an account, by time, latest first; the last part tells two plays of one moment apart.
pub const HISTORY: Table<(String, u64, u64, String), ()> = Table::new(0x28);

/// Number of entries that an account's history has.
pub const HISTORY_COUNT: Table<String, Count> = Table::new(0x29);

/// Entries that are counted for the position of one of them.
const POSITIONS_MAX: u32 = 1_000;

/// One entry: the part of its id that tells it from others, and the item that it is shown as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The entry's part of an item id.
    pub number: String,
    /// The item.
    pub item: PlaylistItem,
}

/// A page of entries.
#[derive(Debug)]
pub struct Entries {
    /// Number of entries that come before.
    pub position: u32,
    /// The entries.
    pub entries: Vec<Entry>,
    /// The token of the next page.
    pub next: Option<String>,
    /// The token of the previous page.
    pub previous: Option<String>,
    /// Number of entries that all pages have together.
    pub total: u64,
}

/// The rows of a list that are meant.
#[derive(Debug, Clone, Copy)]
pub struct TimeOrderedPlaylist<'l> {
    /// The list.
    pub special: SystemPlaylist,
    /// The channel whose it is.
    pub channel: &'l str,
    /// The caller. Its owner sees uploads that not everyone does.
    pub caller: &'l Caller,
}

fn entry(number: String, video: String, micros: i64) -> Entry {
    let added = Timestamp::from_micros(micros);
    Entry {
        number,
        item: PlaylistItem { video, added, chunk: 0, note: None, start_at: None, end_at: None },
    }
}

fn history_number(time: u64, drawn: u64, video: &str) -> String {
    format!("{time:x}-{drawn:x}-{video}")
}

fn parse_history(number: &str) -> Option<(u64, u64, String)> {
    let mut pieces = number.splitn(3, '-');
    let time = u64::from_str_radix(pieces.next()?, 16).ok()?;
    let drawn = u64::from_str_radix(pieces.next()?, 16).ok()?;
    Some((time, drawn, pieces.next()?.to_owned()))
}

impl TimeOrderedPlaylist<'_> {
    fn is_own(&self) -> bool {
        self.caller.owns(self.channel)
    }

    fn audience(&self) -> u8 {
        u8::from(self.is_own())
    }

    /// A page of the list.
    ///
    /// # Errors
    /// As the store.
    pub fn page(&self, tx: &mut Tx<'_>, wanted: Wanted<'_>) -> Result<Entries, Error> {
        let channel = self.channel.to_owned();
        let by_time = |(_, _, time, video): (String, u8, u64, String)| {
            entry(video.clone(), video, moment_of(time))
        };
        match self.special {
            SystemPlaylist::Uploads | SystemPlaylist::Later | SystemPlaylist::Favorites => {
                let start = (channel.clone(), self.audience());
                let rows = paginate::read(tx, &UPLOADS, &start, wanted)?;
                let counts = CHANNEL_COUNTS.peek(tx, &channel)?.unwrap_or_default();
                let total = if self.is_own() { counts.uploads } else { counts.listed_uploads };
                Ok(entries(rows, total, by_time))
            }
            SystemPlaylist::Likes => {
                // A video that is gone leaves no gap; one that is private is shown as such.
                let (rows, total) =
                    ratings::rated(tx, self.caller, (self.channel, 1), wanted, true)?;
                Ok(entries(rows, total, by_time))
            }
            SystemPlaylist::History => {
                let rows = paginate::read(tx, &HISTORY, &channel, wanted)?;
                let total = counter::of(tx, &HISTORY_COUNT, &channel)?;
                Ok(entries(rows, total, |(_, time, drawn, video)| {
                    entry(history_number(time, drawn, &video), video, moment_of(time))
                }))
            }
        }
    }

    /// The entry with this number.
    ///
    /// # Errors
    /// As the store.
    pub fn find(&self, tx: &mut Tx<'_>, number: &str) -> Result<Option<Entry>, Error> {
        let channel = self.channel.to_owned();
        Ok(match self.special {
            SystemPlaylist::Uploads | SystemPlaylist::Later | SystemPlaylist::Favorites => VIDEOS
                .peek(tx, &number.to_owned())?
                .filter(|video| {
                    video.head.channel == channel
                        && video.head.is_in_uploads()
                        && (self.is_own() || video.head.is_listed())
                })
                .map(|video| {
                    entry(number.to_owned(), number.to_owned(), video.head.published.micros())
                }),
            SystemPlaylist::Likes => RATINGS
                .get(tx, &(channel, number.to_owned()))?
                .filter(|rating| rating.likes)
                .map(|rating| entry(number.to_owned(), number.to_owned(), rating.since.micros())),
            SystemPlaylist::History => match parse_history(number) {
                None => None,
                Some((time, drawn, video)) => {
                    let row = HISTORY.get(tx, &(channel, time, drawn, video.clone()))?;
                    row.map(|()| entry(number.to_owned(), video, moment_of(time)))
                }
            },
        })
    }

    /// The rank of an entry in the list: the latest comes first, and two plays of one moment are told apart.
    pub(super) fn rank(&self, entry: &Entry) -> Vec<u8> {
        let time = latest_first(entry.item.added.micros());
        let drawn = match self.special {
            SystemPlaylist::History => {
                parse_history(&entry.number).map_or(0, |(_, drawn, _)| drawn)
            }
            SystemPlaylist::Uploads
            | SystemPlaylist::Likes
            | SystemPlaylist::Later
            | SystemPlaylist::Favorites => 0,
        };
        [time.to_be_bytes(), drawn.to_be_bytes()].concat()
    }

    /// The entries of this video with their positions; of a watch history, those among its latest 5,000 entries.
    ///
    /// # Errors
    /// As the store.
    pub fn of_video(
        &self,
        tx: &mut Tx<'_>,
        video: &str,
    ) -> Result<Vec<(Option<u32>, Entry)>, Error> {
        if self.special == SystemPlaylist::History {
            let latest = self.page(tx, Wanted::latest(ITEMS_MAX))?;
            let entries = (0..).map(Some).zip(latest.entries);
            return Ok(entries.filter(|(_, entry)| entry.item.video == video).collect());
        }
        let Some(entry) = self.find(tx, video)? else {
            return Ok(Vec::new());
        };
        Ok(vec![(self.position(tx, &entry.number)?, entry)])
    }

    /// Number of entries that come before this one; `None` of one that is not among the first 1,000: further than that nobody counts for
    /// one item.
    ///
    /// # Errors
    /// As the store.
    pub fn position(&self, tx: &mut Tx<'_>, number: &str) -> Result<Option<u32>, Error> {
        let page = self.page(tx, Wanted::latest(POSITIONS_MAX))?;
        let at = page.entries.iter().position(|entry| entry.number == number);
        Ok(at.and_then(|at| u32::try_from(at).ok()))
    }

    /// The position of an entry that was just added: mostly the first, which is looked at before the others are.
    ///
    /// # Errors
    /// As the store.
    pub fn position_of_added(&self, tx: &mut Tx<'_>, number: &str) -> Result<Option<u32>, Error> {
        let first = self.page(tx, Wanted::latest(1))?;
        match first.entries.first() {
            Some(entry) if entry.number == number => Ok(Some(0)),
            _ => self.position(tx, number),
        }
    }

    /// Removes an entry: a like that is removed is no like any more.
    ///
    /// # Errors
    /// As the store.
    pub fn remove(&self, tx: &mut Tx<'_>, entry: &Entry, now: Timestamp) -> Result<(), Error> {
        match self.special {
            SystemPlaylist::Likes => ratings::set(tx, self.channel, &entry.item.video, None, now),
            SystemPlaylist::History => {
                if let Some((time, drawn, video)) = parse_history(&entry.number) {
                    HISTORY.delete(tx, &(self.channel.to_owned(), time, drawn, video));
                    counter::change(tx, &HISTORY_COUNT, &self.channel.to_owned(), false)?;
                }
                Ok(())
            }
            SystemPlaylist::Uploads => videos::set_in_uploads(tx, &entry.item.video, false),
            SystemPlaylist::Later | SystemPlaylist::Favorites => Ok(()),
        }
    }
}

/// Records that the account of `channel` watched a video.
///
/// # Errors
/// As the store.
pub fn watch(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    channel: &str,
    video: &str,
    now: Timestamp,
) -> Result<Entry, Error> {
    let (time, drawn) = (latest_first(now.micros()), ids.next());
    HISTORY.put(tx, &(channel.to_owned(), time, drawn, video.to_owned()), &());
    counter::change(tx, &HISTORY_COUNT, &channel.to_owned(), true)?;
    Ok(entry(history_number(time, drawn, video), video.to_owned(), now.micros()))
}

fn entries<K>(rows: paginate::Rows<K>, total: u64, of: impl FnMut(K) -> Entry) -> Entries {
    let paginate::Rows { position, keys, next, previous } = rows;
    Entries { position, entries: keys.into_iter().map(of).collect(), next, previous, total }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_history_read_back_whatever_the_video_is_called() {
        let number = history_number(7, 255, "a-b-c");
        assert_eq!(parse_history(&number), Some((7, 255, "a-b-c".into())));
        assert_eq!(parse_history("zz"), None);
    }

    #[test]
    fn a_video_whose_id_looks_like_an_entry_of_the_history_has_the_rank_of_its_time_among_uploads()
    {
        let caller = Caller::default();
        let list = |special| TimeOrderedPlaylist { special, channel: "UCx", caller: &caller };
        let entry = entry(history_number(7, 255, "a"), "a".into(), 1_000);
        let rank = |drawn: u64| [latest_first(1_000).to_be_bytes(), drawn.to_be_bytes()].concat();
        assert_eq!(list(SystemPlaylist::Uploads).rank(&entry), rank(0));
        assert_eq!(list(SystemPlaylist::History).rank(&entry), rank(255));
    }
}
