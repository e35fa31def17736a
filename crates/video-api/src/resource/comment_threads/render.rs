//! Rendering a thread: its first comment, and some of its replies.

use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::api::response::{Item, Object, etag};
use crate::record::privacy::Privacy;
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::record::{COMMENTS, Comment, REPLIES, REPLY_COUNTS};
use crate::resource::comments::render::{self, CommentForm};
use crate::resource::videos::render::LISTED_VIDEOS;

/// A thread holds at most this many of its replies; `comments.list` has all.
const REPLIES_MAX: usize = 5;

/// The form in which threads are asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreadForm<'c> {
    /// The form of its comments.
    pub(super) comments: CommentForm<'c>,
    /// The parts.
    pub(super) parts: &'c [&'static str],
    /// The state of the replies that it holds.
    pub(super) state: Moderation,
}

/// A thread as a resource.
///
/// # Errors
/// As the store.
pub(super) fn render(
    tx: &mut Tx<'_>,
    id: &str,
    top: &Comment,
    form: &ThreadForm<'_>,
) -> Result<Item, Error> {
    let counts = REPLY_COUNTS.peek(tx, &id.to_owned())?.unwrap_or_default();
    let version = etag(&[b"thread", render::version(id, top).as_bytes()].concat());
    let mut item = Item::begin("commentThread", &version, Some(id));
    for part in form.parts {
        match *part {
            "snippet" => {
                let replies = counts.of(Moderation::Published);
                item.part(part, &snippet(tx, id, top, replies, form)?);
            }
            "replies" if counts.of(form.state) > 0 => {
                item.begin_part(part);
                item.text.extend_from_slice(b"{\"comments\":[");
                replies(tx, id, form, &mut item.text)?;
                item.text.extend_from_slice(b"]}");
            }
            _ => {}
        }
    }
    Ok(item.end())
}

fn snippet(
    tx: &mut Tx<'_>,
    id: &str,
    top: &Comment,
    replies: u64,
    form: &ThreadForm<'_>,
) -> Result<bytes::Bytes, Error> {
    let (mut is_shown, mut is_open) = (true, true);
    if let Some(video) = &top.video {
        let video = LISTED_VIDEOS.peek_shared(tx, video)?;
        let head = video.as_ref().map(|video| &video.record.head);
        is_shown = head.is_some_and(|head| head.privacy != Privacy::Private);
        is_open = head.is_some_and(|head| !head.comments_disabled());
    }
    let is_published = top.state == Moderation::Published;
    let mut out = Object::new();
    out.text("channelId", &top.channel);
    if let Some(video) = &top.video {
        out.text("videoId", video);
    }
    out.json("topLevelComment", &render::render(tx, id, top, true, &form.comments)?.text);
    out.flag("canReply", is_published && is_open);
    out.value("totalReplyCount", &replies);
    out.flag("isPublic", is_published && is_shown && is_open);
    Ok(out.end())
}

/// The latest replies in the state that is asked for.
fn replies(
    tx: &mut Tx<'_>,
    id: &str,
    form: &ThreadForm<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let span = REPLIES.span(&(id.to_owned(), form.state.slot()));
    let (rows, _) = tx.guarded(|tx| REPLIES.scan(tx, &span, REPLIES_MAX))?;
    for ((_, _, _, reply), ()) in &rows {
        if let Some(comment) = COMMENTS.peek_shared(tx, reply)? {
            let item = render::render(tx, reply, &comment, true, &form.comments)?;
            if out.last() != Some(&b'[') {
                out.push(b',');
            }
            out.extend_from_slice(&item.text);
        }
    }
    Ok(())
}
