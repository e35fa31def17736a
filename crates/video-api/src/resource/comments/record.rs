//! Comments: what is stored of one, of the thread that it opens, and where it is listed.

use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Table, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::record::id;
use crate::resource::activities::record::{Event, Thing};
use crate::resource::comments::moderation::Moderation;

/// Comments by their id; that of a reply begins with its thread's.
pub const COMMENTS: Table<String, Comment> = Table::new(0x40);

/// Threads of a list by slot and time, latest first.
pub const THREADS: Table<(String, u8, u64, String), ()> = Table::new(0x41);

/// Published threads of a list by likes, most first, and time, latest first.
pub const RELEVANT_THREADS: Table<(String, u64, u64, String), ()> = Table::new(0x42);

/// Replies of a thread by slot and time, latest first; slot 0 holds all of them.
pub const REPLIES: Table<(String, u8, u64, String), ()> = Table::new(0x43);

/// Number of replies of a thread. Whatever changes [`REPLIES`] writes it.
pub const REPLY_COUNTS: Table<String, ReplyCounts> = Table::new(0x44);

/// Likes of a comment by the channels that gave them.
pub const LIKES: Table<(String, String), ()> = Table::new(0x45);

/// Authors whose comments a channel rejects.
pub const BANNED: Table<(String, String), ()> = Table::new(0x46);

/// The slot of [`REPLIES`] that holds the replies of every state.
pub const EVERY_STATE: u8 = 0;

/// A text has at most this many characters.
pub const TEXT_CHARS_MAX: usize = 10_000;

/// One comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comment {
    /// The channel of its author.
    pub author: String,
    /// The channel that it is about, or whose video it is about.
    pub channel: String,
    /// The video; none if it is about the channel itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub video: Option<String>,
    /// The text, as it was written.
    pub text: String,
    /// The time when it was written.
    pub published: Timestamp,
    /// The time when its text was written last.
    pub updated: Timestamp,
    /// The moderation status.
    #[serde(default)]
    pub state: Moderation,
    /// Number of likes.
    #[serde(default)]
    pub likes: u64,
}

impl JsonRecord for Comment {}

impl Comment {
    /// The activity of its author that it is, under its id.
    #[must_use]
    pub fn event(&self, id: &str) -> Event {
        let about = match &self.video {
            Some(video) => Thing::Video(video.clone()),
            None => Thing::Channel(self.channel.clone()),
        };
        Event::Comment { comment: id.to_owned(), about }
    }

    /// The lists that its thread stands in: that of its video or channel, and that of everything about its channel.
    #[must_use]
    pub fn lists(&self) -> [String; 2] {
        let own = match &self.video {
            Some(video) => list_of_video(video),
            None => list_of_channel(&self.channel),
        };
        [own, list_of_all(&self.channel)]
    }
}

/// The list of the threads about a video.
#[must_use]
pub fn list_of_video(video: &str) -> String {
    ["V", video].concat()
}

/// The list of the threads about a channel itself.
#[must_use]
pub fn list_of_channel(channel: &str) -> String {
    ["C", channel].concat()
}

/// The list of the threads about a channel and about its videos.
#[must_use]
pub fn list_of_all(channel: &str) -> String {
    ["A", channel].concat()
}

/// The tally of the part of [`list_of_all`] that everyone sees; no rows stand in it.
#[must_use]
pub fn list_of_public(channel: &str) -> String {
    ["P", channel].concat()
}

/// The tallies of everything of a channel that count the comments about a thing: its owner's, and everyone's, as these see it.
pub fn whole_lists(channel: &str, [own, public]: [bool; 2]) -> impl Iterator<Item = String> {
    let own = own.then(|| list_of_all(channel));
    own.into_iter().chain(public.then(|| list_of_public(channel)))
}

/// Number of replies of a thread by their state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReplyCounts(pub [u64; 4]);

impl JsonRecord for ReplyCounts {}

impl ReplyCounts {
    /// Number of those in this state.
    #[must_use]
    pub fn of(&self, state: Moderation) -> u64 {
        let mut all = Moderation::ALL.iter().zip(self.0);
        all.find(|(known, _)| **known == state).map_or(0, |(_, count)| count)
    }

    /// Number of all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// One more or one less in this state.
    pub fn change(&mut self, state: Moderation, more: bool) {
        for (known, count) in Moderation::ALL.iter().zip(&mut self.0) {
            if *known == state {
                *count = if more { count.saturating_add(1) } else { count.saturating_sub(1) };
            }
        }
    }
}

/// The slots of [`THREADS`] that a thread stands in: that of its first comment's state, and, unless that is rejected, those of replies
/// that wait or were taken out.
#[must_use]
pub fn slots(state: Moderation, replies: ReplyCounts) -> [bool; 4] {
    Moderation::ALL.map(|slot| {
        let by_reply = slot != Moderation::Published && state != Moderation::Rejected;
        slot == state || (by_reply && replies.of(slot) > 0)
    })
}

/// The thread that a comment is a reply in; `None` for a comment that opens one.
#[must_use]
pub fn thread_of(id: &str) -> Option<&str> {
    id.rsplit_once('.').map(|(thread, _)| thread)
}

/// A new id that no comment has: that of a thread, or of a reply in `thread`.
///
/// # Errors
/// As the store.
pub fn new_id(tx: &mut Tx<'_>, ids: &mut dyn Ids, thread: Option<&str>) -> Result<String, Error> {
    loop {
        let id = match thread {
            None => id::thread(ids),
            Some(thread) => format!("{thread}.{}", id::reply(ids)),
        };
        if COMMENTS.get(tx, &id)?.is_none() {
            return Ok(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_listed_where_its_comment_is_and_where_a_reply_waits() {
        let counts = |held, rejected| ReplyCounts([7, held, 0, rejected]);
        let published = Moderation::Published;
        assert_eq!(slots(published, counts(0, 0)), [true, false, false, false]);
        assert_eq!(slots(published, counts(1, 2)), [true, true, false, true]);
        assert_eq!(slots(Moderation::HeldForReview, counts(0, 0)), [false, true, false, false]);
        assert_eq!(slots(Moderation::Rejected, counts(1, 0)), [false, false, false, true]);
    }

    #[test]
    fn a_reply_names_its_thread() {
        assert_eq!(thread_of("Ugx.a"), Some("Ugx"));
        assert_eq!(thread_of("Ugx"), None);
    }
}
