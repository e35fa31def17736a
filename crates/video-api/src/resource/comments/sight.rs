//! The comments that a caller finds: through the video or channel that they are about, the thread that they reply in, and their state.

use serde_json::Value;
use triptych_core::kv::{Plan, Tx};

use crate::account::Caller;
use crate::api::error::Error;
use crate::resource::channels::record::CHANNELS;
use crate::resource::comments::moderation::{Moderation, Sight, Viewer};
use crate::resource::comments::record::{BANNED, COMMENTS, Comment, thread_of};
use crate::resource::videos::record::VIDEOS;

/// The relation of the caller to a comment.
#[must_use]
pub fn viewer(comment: &Comment, caller: &Caller) -> Viewer {
    if caller.owns(&comment.channel) {
        Viewer::Owner
    } else if caller.owns(&comment.author) {
        Viewer::Author
    } else {
        Viewer::Anybody
    }
}

/// Returns whether the caller is shown the comments about the video or channel that this one is about.
///
/// # Errors
/// As the store.
pub fn is_place_open(tx: &mut Tx<'_>, comment: &Comment, caller: &Caller) -> Result<bool, Error> {
    let Some(video) = &comment.video else {
        return Ok(CHANNELS.get(tx, &comment.channel)?.is_some());
    };
    let video = VIDEOS.get(tx, video)?.filter(|video| video.head.is_visible(caller));
    let own = viewer(comment, caller) != Viewer::Anybody;
    Ok(video.is_some_and(|video| own || !video.head.comments_disabled()))
}

/// Returns whether somebody who finds a thread is shown the replies of others in it: its author is not while the thread is not published, or
/// stands where comments are disabled.
///
/// # Errors
/// As the store.
pub fn shows_replies(tx: &mut Tx<'_>, top: &Comment, viewer: Viewer) -> Result<bool, Error> {
    if viewer == Viewer::Owner {
        return Ok(true);
    }
    let is_disabled = match &top.video {
        Some(video) => VIDEOS.get(tx, video)?.is_some_and(|video| video.head.comments_disabled()),
        None => false,
    };
    Ok(top.state == Moderation::Published && !is_disabled)
}

/// The comment with this id, if the caller finds it by that.
///
/// # Errors
/// As the store.
pub fn find(
    tx: &mut Tx<'_>,
    id: &str,
    caller: &Caller,
) -> Result<Option<(Comment, Viewer)>, Error> {
    let Some(comment) = COMMENTS.get(tx, &id.to_owned())? else {
        return Ok(None);
    };
    let viewer = viewer(&comment, caller);
    if comment.state.sight(viewer) < Sight::ById || !is_place_open(tx, &comment, caller)? {
        return Ok(None);
    }
    if let Some(thread) = thread_of(id) {
        let top = COMMENTS.get(tx, &thread.to_owned())?;
        let is_open =
            |top: Comment| viewer != Viewer::Anybody || top.state == Moderation::Published;
        if !top.is_some_and(is_open) {
            return Ok(None);
        }
    }
    Ok(Some((comment, viewer)))
}

/// Plans what [`find`] reads of a comment; gives that once it is known.
pub fn plan_find(plan: &mut Plan<'_>, id: &str) -> Option<Comment> {
    if let Some(thread) = thread_of(id) {
        plan.row(&COMMENTS, &thread.to_owned());
    }
    let comment = plan.row(&COMMENTS, &id.to_owned())?;
    match &comment.video {
        Some(video) => drop(plan.row(&VIDEOS, video)),
        None => drop(plan.row(&CHANNELS, &comment.channel)),
    }
    Some(comment)
}

/// Plans what [`find`] reads of a comment, and [`first_state`] of what an author says beside it.
pub fn plan(plan: &mut Plan<'_>, id: &str, author: &str) {
    if let Some(comment) = plan_find(plan, id) {
        plan_place(plan, &comment.channel, author);
    }
}

/// Plans what [`first_state`] reads.
pub fn plan_place(plan: &mut Plan<'_>, channel: &str, author: &str) {
    plan.row(&CHANNELS, &channel.to_owned());
    plan.row(&BANNED, &(channel.to_owned(), author.to_owned()));
}

/// The state that a new comment about a channel or its videos begins with.
///
/// # Errors
/// As the store.
pub fn first_state(tx: &mut Tx<'_>, channel: &str, author: &str) -> Result<Moderation, Error> {
    if channel == author {
        return Ok(Moderation::Published);
    }
    if BANNED.get(tx, &(channel.to_owned(), author.to_owned()))?.is_some() {
        return Ok(Moderation::Rejected);
    }
    let channel = CHANNELS.get(tx, &channel.to_owned())?;
    let is_moderated = channel.is_some_and(|channel| {
        let branding = channel.value("brandingSettings");
        let settings = branding.get("channel");
        settings.and_then(|settings| settings.get("moderateComments")) == Some(&Value::Bool(true))
    });
    Ok(if is_moderated { Moderation::HeldForReview } else { Moderation::Published })
}
