//! Rendering a thread: its first comment, and some of its replies.

use std::collections::BTreeMap;
use std::sync::Arc;

use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::api::response::{Item, Object, etag};
use crate::resource::comment_threads::shared_rows::SharedRows;
use crate::resource::comments::listed::{LISTED_COMMENTS, ListedComment, ThreadInput};
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::record::{Comment, REPLIES};
use crate::resource::comments::render::{self, Around, CommentForm};

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
    /// True if the caller is shown what others replied.
    pub(super) shows_replies: bool,
}

/// The replies that threads hold, as a request asks for them: by the ids of those that hold any.
pub(super) type Replies = BTreeMap<String, Vec<String>>;

/// Finds the replies that threads hold, all together, and plans what is read of these.
///
/// # Errors
/// As the store.
pub(super) fn replies<'i>(
    tx: &mut Tx<'_>,
    threads: impl Iterator<Item = &'i String>,
    form: &ThreadForm<'_>,
    rows: &mut SharedRows,
) -> Result<Replies, Error> {
    let mut with_replies = Vec::new();
    for id in threads.filter(|_| form.parts.contains(&"replies")) {
        if rows.counts(tx, id)?.of(form.state) > 0 {
            with_replies.push(id.clone());
        }
    }
    let span = |id: &String| REPLIES.span(&(id.clone(), form.state.slot()));
    let spans: Vec<_> = with_replies.iter().map(span).collect();
    // Whatever changes the replies writes their counts, which were read above.
    let found = tx.guarded(|tx| REPLIES.scan_many(tx, &spans, REPLIES_MAX))?.into_iter();
    let ids = found.map(|(rows, _)| rows.into_iter().map(|((_, _, _, reply), ())| reply).collect());
    let found: Replies = with_replies.into_iter().zip(ids).collect();
    let caller = form.comments.caller;
    tx.plan(|plan| {
        found.values().flatten().for_each(|reply| render::plan(plan, reply, caller));
    })?;
    Ok(found)
}

/// A thread as a resource, with the replies that it holds.
///
/// # Errors
/// As the store.
pub(super) fn render(
    tx: &mut Tx<'_>,
    id: &String,
    top: &Comment,
    replies: &[String],
    form: &ThreadForm<'_>,
    rows: &mut SharedRows,
) -> Result<Item, Error> {
    let input = read(tx, id, top, replies, form, rows)?;
    let mut liked = vec![render::is_liked(tx, id, top, &form.comments)?];
    for (reply, comment) in &input.replies {
        liked.push(render::is_liked(tx, reply, &comment.record, &form.comments)?);
    }
    Ok(write(id, top, form, &input, &liked))
}

/// The same of a list. Those who have no channel are all shown the same, which is kept as long as nothing of it is another.
///
/// # Errors
/// As the store.
pub(super) fn list(
    tx: &mut Tx<'_>,
    id: &String,
    top: &ListedComment,
    replies: &[String],
    form: &ThreadForm<'_>,
    rows: &mut SharedRows,
) -> Result<Arc<Item>, Error> {
    if form.comments.caller.channel().is_ok() {
        return Ok(Arc::new(render(tx, id, &top.record, replies, form, rows)?));
    }
    let input = Arc::new(read(tx, id, &top.record, replies, form, rows)?);
    let show = || (Arc::clone(&input), write(id, &top.record, form, &input, &[]));
    Ok(top.show(|with| with.is_same(&input), show))
}

/// Reads what a thread follows from beside its first comment.
fn read(
    tx: &mut Tx<'_>,
    id: &String,
    top: &Comment,
    shown: &[String],
    form: &ThreadForm<'_>,
    rows: &mut SharedRows,
) -> Result<ThreadInput, Error> {
    let counts = rows.counts(tx, id)?;
    let (mut is_shown, mut is_open) = (true, true);
    if let Some(video) = &top.video {
        let video = rows.video(tx, video)?;
        let head = video.as_ref().map(|video| &video.record.head);
        is_shown = head.is_some_and(|head| head.is_shared());
        is_open = head.is_some_and(|head| !head.comments_disabled());
    }
    let mut replies = Vec::new();
    for reply in shown {
        if let Some(comment) = LISTED_COMMENTS.peek_shared(tx, reply)? {
            replies.push((reply.clone(), comment));
        }
    }
    let mut authors = vec![rows.channel(tx, &top.author)?];
    for (_, comment) in &replies {
        authors.push(rows.channel(tx, &comment.record.author)?);
    }
    Ok(ThreadInput {
        parts: form.parts.to_owned(),
        text: form.comments.text,
        state: form.state,
        counts,
        is_shown,
        is_open,
        replies,
        authors,
    })
}

/// The thread that follows from what was read; `liked` says of its comments which the caller likes.
fn write(
    id: &str,
    top: &Comment,
    form: &ThreadForm<'_>,
    input: &ThreadInput,
    liked: &[bool],
) -> Item {
    let around = |at: usize| Around {
        author: input.authors.get(at).and_then(Option::as_deref),
        is_liked: liked.get(at).copied().unwrap_or_default(),
    };
    let version = etag(&[b"thread", render::version(id, top).as_bytes()].concat());
    let mut item = Item::begin("commentThread", &version, Some(id));
    for part in form.parts {
        match *part {
            "snippet" => item.part(part, &snippet(id, top, form, input, around(0))),
            "replies" if !input.replies.is_empty() => {
                item.begin_part(part);
                item.text.extend_from_slice(b"{\"comments\":[");
                for (at, (reply, comment)) in input.replies.iter().enumerate() {
                    if at > 0 {
                        item.text.push(b',');
                    }
                    let comment = &comment.record;
                    let shown = render::write(reply, comment, true, &form.comments, around(at + 1));
                    item.text.extend_from_slice(&shown.text);
                }
                item.text.extend_from_slice(b"]}");
            }
            _ => {}
        }
    }
    item.end()
}

fn snippet(
    id: &str,
    top: &Comment,
    form: &ThreadForm<'_>,
    input: &ThreadInput,
    around: Around<'_>,
) -> bytes::Bytes {
    let is_published = top.state == Moderation::Published;
    let mut out = Object::new();
    out.text("channelId", &top.channel);
    if let Some(video) = &top.video {
        out.text("videoId", video);
    }
    out.json("topLevelComment", &render::write(id, top, true, &form.comments, around).text);
    out.flag("canReply", is_published && input.is_open);
    let replies = if form.shows_replies { input.counts.of(Moderation::Published) } else { 0 };
    out.value("totalReplyCount", &replies);
    out.flag("isPublic", is_published && input.is_shown && input.is_open);
    out.end()
}
