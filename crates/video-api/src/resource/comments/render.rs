//! Rendering comments and the threads that they open.

use triptych_core::kv::Tx;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::response::{Item, Object, etag};
use crate::resource::channels::record::CHANNELS;
use crate::resource::comments::moderation::Viewer;
use crate::resource::comments::record::{Comment, LIKES, thread_of};
use crate::resource::comments::sight;
use crate::resource::comments::text::{TextForm, display};

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
    let mut item = Item::begin("comment", &version(id, comment), Some(id));
    if with_snippet {
        item.part("snippet", &snippet(tx, id, comment, form)?);
    }
    Ok(item.end())
}

fn snippet(
    tx: &mut Tx<'_>,
    id: &str,
    comment: &Comment,
    form: &CommentForm<'_>,
) -> Result<bytes::Bytes, Error> {
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
    let author = CHANNELS.peek_shared(tx, &comment.author)?;
    out.text("authorDisplayName", author.as_ref().map_or("", |author| &author.head.title));
    let picture = if author.is_some() { comment.author.as_str() } else { "none" };
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
    let caller = form.caller.channel().ok().filter(|_| comment.likes > 0);
    let liked = match caller {
        Some(channel) => LIKES.peek(tx, &(id.to_owned(), channel.to_owned()))?.is_some(),
        None => false,
    };
    out.text("viewerRating", if liked { "like" } else { "none" });
    out.value("likeCount", &comment.likes);
    if form.tells_state && viewer == Viewer::Owner {
        out.text("moderationStatus", comment.state.name());
    }
    out.text("publishedAt", &comment.published.rfc3339());
    out.text("updatedAt", &comment.updated.rfc3339());
    Ok(out.end())
}
