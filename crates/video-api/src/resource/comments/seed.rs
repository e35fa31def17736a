//! The section of a seed file: comments with their replies, states and likes.

use serde::Deserialize;
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::moderation::Moderation;
use super::record::{COMMENTS, Comment, LIKES};
use super::{rules, store, tally, text};
use crate::api::error::Error;
use crate::record::id;
use crate::resource::videos::record::VIDEOS;
use crate::seed::error::SeedError;
use crate::seed::section::{SectionReader, SeedSection, channel_of, moment};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] =
    &[SeedSection { name: "comments", order: 100, fills_only: true, read }];

/// Accounts that one comment names as its likes.
const LIKES_MAX: usize = 500;
/// The most likes that `snippet.likeCount` can say: its type is `uint32`.
const LIKE_COUNT_MAX: u64 = u32::MAX as u64;

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    let mut ids = SeededIds::from_seed(reader.digest);
    for (place, mut seed) in reader.things::<SeedComment>()? {
        let id = seed.name(&place, || id::thread(&mut ids))?;
        reader.names.take("comment", &id, &place, ".id")?;
        let replies = std::mem::take(&mut seed.replies);
        let thread = id.clone();
        reader.step(place.clone(), move |tx, now, ids| open(tx, &thread, &seed, now, ids));
        for (at, mut reply) in replies.into_iter().enumerate() {
            let place = format!("{place}.replies[{at}]");
            if reply.video.is_some() || reply.channel.is_some() || !reply.replies.is_empty() {
                let reason = format!("{place}: a reply has no video, channel or replies");
                return Err(SeedError::Unreadable(reason));
            }
            let own = reply.name(&place, || id::reply(&mut ids))?;
            let thread = id.clone();
            let id = format!("{thread}.{own}");
            reader.names.take("comment", &id, &place, ".id")?;
            reader.step(place, move |tx, now, ids| {
                let top = COMMENTS.get(tx, &thread)?.ok_or(&rules::PARENT_NOT_FOUND)?;
                reply.put(tx, &id, top.channel, top.video, now, ids)
            });
        }
    }
    Ok(())
}

/// One comment. Its author, those who like it and what it is about, unless that is a video, are accounts or channels. A reply says neither
/// what it is about nor has replies.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedComment {
    id: Option<String>,
    video: Option<String>,
    channel: Option<String>,
    #[serde(default)]
    replies: Vec<Self>,
    author: String,
    text_original: String,
    published_at: Option<String>,
    updated_at: Option<String>,
    #[serde(default)]
    moderation_status: Moderation,
    #[serde(default)]
    likes: Vec<String>,
    like_count: Option<u64>,
}

fn invalid(path: &str, expected: &'static str) -> Error {
    Error::InvalidField { path: path.to_owned(), expected }
}

fn open(
    tx: &mut Tx<'_>,
    id: &str,
    seed: &SeedComment,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let (channel, video) = match (&seed.video, &seed.channel) {
        (Some(video), None) => {
            let found = VIDEOS.peek(tx, video)?.ok_or_else(|| invalid("video", "a video"))?;
            (found.head.channel.clone(), Some(video.clone()))
        }
        (None, Some(channel)) => (channel_of(tx, channel, "channel")?, None),
        _ => return Err(invalid("video", "a video or a channel, and not both")),
    };
    seed.put(tx, id, channel, video, now, ids)
}

impl SeedComment {
    /// Takes the comment's own id, that of a reply without its thread's, made by `new` where the file leaves it open.
    fn name(&mut self, place: &str, new: impl FnOnce() -> String) -> Result<String, SeedError> {
        let id = self.id.take().unwrap_or_else(new);
        if !id::is_plain(&id) || id.contains('.') {
            let reason = format!("{place}.id: letters, digits, - and _");
            return Err(SeedError::Unreadable(reason));
        }
        Ok(id)
    }

    fn put(
        &self,
        tx: &mut Tx<'_>,
        id: &str,
        channel: String,
        video: Option<String>,
        now: Timestamp,
        ids: &mut dyn Ids,
    ) -> Result<bool, Error> {
        if COMMENTS.get(tx, &id.to_owned())?.is_some() {
            return Ok(false);
        }
        text::check(&self.text_original, &rules::TEXT).map_err(|_| {
            let expected =
                "1 to 10000 characters, and no control characters but line breaks and tabs";
            invalid("textOriginal", expected)
        })?;
        if self.likes.len() > LIKES_MAX {
            return Err(invalid("likes", "at most 500 accounts; likeCount says how many more"));
        }
        for (at, name) in self.likes.iter().enumerate() {
            let path = format!("likes[{at}]");
            let like = (id.to_owned(), channel_of(tx, name, &path)?);
            if LIKES.get(tx, &like)?.is_some() {
                return Err(invalid(&path, "an account that is not named before"));
            }
            LIKES.put(tx, &like, &());
        }
        let named = self.likes.len() as u64;
        if self.like_count.is_some_and(|count| count < named) {
            return Err(invalid("likeCount", "at least as many as likes names"));
        }
        if self.like_count.is_some_and(|count| count > LIKE_COUNT_MAX) {
            return Err(invalid("likeCount", "at most 4294967295"));
        }
        let published = moment("publishedAt", self.published_at.as_deref(), now)?;
        let comment = Comment {
            author: channel_of(tx, &self.author, "author")?,
            channel,
            video,
            text: self.text_original.clone(),
            published,
            updated: moment("updatedAt", self.updated_at.as_deref(), published)?,
            state: self.moderation_status,
            likes: self.like_count.unwrap_or(named),
        };
        store::insert(tx, tally::shard(ids), id, &comment)?;
        Ok(true)
    }
}
