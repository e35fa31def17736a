//! Rendering comments and the threads that they open.

use triptych_core::kv::{Plan, Tx};

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::response::{Item, Object, etag};
use crate::record::stored::Stored;
use crate::record::thumbnail;
use crate::resource::channels::record::{CHANNELS, Channel};
use crate::resource::comments::moderation::Viewer;
use crate::resource::comments::record::{COMMENTS, Comment, LIKES, thread_of};
use crate::resource::comments::sight;
use crate::resource::comments::text::{TextForm, display};
use crate::resource::videos::record::VIDEOS;

/// The form in which comments are asked for.
#[derive(Debug, Clone, Copy)]
pub struct CommentForm<'c> {
    /// The caller.
    pub caller: &'c Caller,
    /// The form of texts.
    pub text: TextForm,
    /// True if the owner is told the moderation status.
    pub tells_state: bool,
}

/// The version of a comment: all that is written of it, and nothing that is counted.
#[must_use]
pub fn version(id: &str, comment: &Comment) -> String {
    let Comment { text, updated, state, .. } = comment;
    let updated = updated.micros().to_be_bytes();
    etag(&[id.as_bytes(), &[0xFF, state.slot()], &updated, text.as_bytes()].concat())
}

/// Plans the rows that a comment is shown by.
pub fn plan(plan: &mut Plan<'_>, id: &String, caller: &Caller) {
    if let Some(comment) = plan.row(&COMMENTS, id) {
        plan.row(&CHANNELS, &comment.author);
        if let Some(video) = &comment.video {
            plan.row(&VIDEOS, video);
        }
    }
    if let Ok(channel) = caller.channel() {
        plan.row(&LIKES, &(id.clone(), channel.to_owned()));
    }
}

/// A comment as a resource.
///
/// # Errors
/// As the store.
pub fn render(
    tx: &mut Tx<'_>,
    id: &str,
    comment: &Comment,
    with_snippet: bool,
    form: &CommentForm<'_>,
) -> Result<Item, Error> {
    let author = CHANNELS.peek_shared(tx, &comment.author)?;
    let around = Around { author: author.as_deref(), is_liked: is_liked(tx, id, comment, form)? };
    Ok(write(id, comment, with_snippet, form, around))
}

/// Returns whether the caller likes a comment.
///
/// # Errors
/// As the store.
pub fn is_liked(
    tx: &mut Tx<'_>,
    id: &str,
    comment: &Comment,
    form: &CommentForm<'_>,
) -> Result<bool, Error> {
    let caller = form.caller.channel().ok().filter(|_| comment.likes > 0);
    match caller {
        Some(channel) => Ok(LIKES.peek(tx, &(id.to_owned(), channel.to_owned()))?.is_some()),
        None => Ok(false),
    }
}

/// The rows around a comment that it is shown with.
#[derive(Debug, Clone, Copy)]
pub struct Around<'r> {
    /// The channel of its author; none if that account was closed.
    pub author: Option<&'r Stored<Channel>>,
    /// True if the caller likes it.
    pub is_liked: bool,
}

/// The same of what was read.
#[must_use]
pub fn write(
    id: &str,
    comment: &Comment,
    with_snippet: bool,
    form: &CommentForm<'_>,
    around: Around<'_>,
) -> Item {
    let mut item = Item::begin("comment", &version(id, comment), Some(id));
    if with_snippet {
        item.part("snippet", &snippet(id, comment, form, around));
    }
    item.end()
}

fn snippet(
    id: &str,
    comment: &Comment,
    form: &CommentForm<'_>,
    Around { author, is_liked }: Around<'_>,
) -> bytes::Bytes {
    let viewer = sight::viewer(comment, form.caller);
    let mut out = Object::new();
    out.text("channelId", &comment.channel);
    if let Some(video) = &comment.video {
        out.text("videoId", video);
    }
    out.text("textDisplay", &display(&comment.text, form.text));
    if form.caller.owns(&comment.author) {
        out.text("textOriginal", &comment.text);
    }
    if let Some(thread) = thread_of(id) {
        out.text("parentId", thread);
    }
    // An account that was closed leaves its comments behind, and nothing that says whose they were.
    out.text("authorDisplayName", author.map_or("", |author| &author.head.title));
    let picture = if author.is_some() { comment.author.as_str() } else { thumbnail::NONE };
    out.address("authorProfileImageUrl", &format!("/ytc/{picture}/default.jpg"));
    if author.is_some() {
        let page = format!("http://www.youtube.com/channel/{}", comment.author);
        out.text("authorChannelUrl", &page);
        let mut value = Object::new();
        value.text("value", &comment.author);
        out.json("authorChannelId", &value.end());
    } else {
        out.text("authorChannelUrl", "");
    }
    out.flag("canRate", true);
    out.text("viewerRating", if is_liked { "like" } else { "none" });
    out.value("likeCount", &comment.likes);
    if form.tells_state && viewer == Viewer::Owner {
        out.text("moderationStatus", comment.state.name());
    }
    out.text("publishedAt", &comment.published.rfc3339());
    out.text("updatedAt", &comment.updated.rfc3339());
    out.end()
}
