//! Comments: replies written and listed, every comment changed, moderated and deleted. `comments.markAsSpam` was withdrawn (Spec §9).

pub mod leftover;
pub mod listed;
pub mod moderation;
pub mod reaction;
pub mod record;
pub mod render;
pub mod rules;
mod seed;
pub mod sight;
pub mod store;
pub mod tally;
pub mod text;
pub mod words;

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, NamedParts, Operation, Part, Run};
use crate::api::page_token::Binding;
use crate::api::parameter::{ID, IDS, Kind, PAGE_TOKEN, PART, Param};
use crate::api::response::{Item, List, Reply};
use crate::api::{id_list, paginate};
use crate::record::cascade::CASCADES;
use crate::record::json_fields::Body;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::comments::listed::LISTED_COMMENTS;
use crate::resource::comments::moderation::{Moderation, Viewer};
use crate::resource::comments::record::{
    BANNED, COMMENTS, Comment, EVERY_STATE, REPLIES, REPLY_COUNTS, thread_of,
};
use crate::resource::comments::render::CommentForm;
use crate::resource::comments::text::TextForm;
use crate::resource::videos::record::VIDEOS;

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[LIST, SET_MODERATION_STATUS, INSERT, MARK_AS_SPAM, DELETE, UPDATE],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("comments", &COMMENTS, Form::Json),
        TableEntry::new("threads", &record::THREADS, Form::Bytes),
        TableEntry::new("relevantThreads", &record::RELEVANT_THREADS, Form::Bytes),
        TableEntry::new("replies", &REPLIES, Form::Bytes),
        TableEntry::new("replyCounts", &REPLY_COUNTS, Form::Json),
        TableEntry::new("commentLikes", &record::LIKES, Form::Bytes),
        TableEntry::new("bannedAuthors", &BANNED, Form::Bytes),
        TableEntry::new("threadTallies", &tally::TALLIES, Form::Json),
        TableEntry::new("threadWords", &words::WORDS, Form::Bytes),
        TableEntry::new("cascades", &CASCADES, Form::Json),
    ],
    seed: seed::SECTIONS,
};

/// Parts of the resource.
const PARTS: &[Part] = &[Part::written("id"), Part::written("snippet")];

/// The scope that every operation on comments needs.
pub(super) const SCOPES: Scopes = Scopes::of(&[Scope::ForceSsl]);

/// The size of a page.
pub(super) const MAX_RESULTS: Param =
    Param::of("maxResults", Kind::Unsigned(1, 100), "How many items a page has at most.")
        .default("20");

/// The form of texts.
pub(super) const TEXT_FORMAT: Param = Param::of(
    "textFormat",
    Kind::OneOf(&["textFormatUnspecified", "html", "plainText"]),
    "The form of snippet.textDisplay: HTML, or the text as it was written.",
)
.default("html");

/// `comments.list`.
const LIST: Operation = Operation {
    doc: "Comments matching parameters.",
    params: &[
        PART,
        IDS,
        MAX_RESULTS,
        PAGE_TOKEN,
        Param::text("parentId", "The comment whose replies are asked for."),
        TEXT_FORMAT,
    ],
    filters: Filters::One(&["id", "parentId"]),
    parts: PARTS,
    scopes: SCOPES,
    response: Some("CommentListResponse"),
    round_trips: RoundTrips::of(7, 0),
    ..Operation::list("comments.list", "/comments", Run::Call(list))
};

/// `comments.setModerationStatus`.
const SET_MODERATION_STATUS: Operation = Operation {
    doc: "Set moderation status of one or more comments.",
    params: &[
        IDS.required(),
        Param::of(
            "moderationStatus",
            Kind::OneOf(&["published", "heldForReview", "likelySpam", "rejected"]),
            "The moderation status: published, heldForReview or rejected.",
        )
        .required(),
        Param::of(
            "banAuthor",
            Kind::Boolean,
            "Whether what the authors write here from now on is rejected as well; with rejected alone.",
        )
        .default("false"),
    ],
    scopes: SCOPES,
    round_trips: RoundTrips::of(3, 1),
    ..Operation::insert("comments.setModerationStatus",
        "/comments/setModerationStatus",
        Run::Call(set_moderation_status),
    )
};

/// `comments.insert`.
const INSERT: Operation = Operation {
    doc: "Create a reply to an existing comment.",
    params: &[PART],
    parts: PARTS,
    named_parts: NamedParts::Returned,
    scopes: SCOPES,
    request: Some("Comment"),
    response: Some("Comment"),
    round_trips: RoundTrips::of(5, 1),
    ..Operation::insert("comments.insert", "/comments", Run::Call(insert))
};

/// `comments.markAsSpam`.
const MARK_AS_SPAM: Operation = Operation {
    doc: "Deprecated, unsupported.",
    params: &[IDS.required()],
    scopes: SCOPES,
    ..Operation::insert("comments.markAsSpam", "/comments/markAsSpam", Run::Withdrawn)
};

/// `comments.delete`.
const DELETE: Operation = Operation {
    doc: "Delete a comment.",
    params: &[ID],
    scopes: SCOPES,
    round_trips: RoundTrips::of(4, 1),
    ..Operation::delete("comments.delete", "/comments", Run::Call(delete))
};

/// `comments.update`.
const UPDATE: Operation = Operation {
    doc: "Modify a comment.",
    params: &[PART],
    parts: PARTS,
    scopes: SCOPES,
    request: Some("Comment"),
    response: Some("Comment"),
    round_trips: RoundTrips::of(3, 1),
    ..Operation::update("comments.update", "/comments", Run::Call(update))
};

/// The form in which a request asks for comments; `tells_state` where owners are told the status.
pub(super) fn form<'c>(call: &'c Call<'_>, tells_state: bool) -> CommentForm<'c> {
    let text = if call.given("textFormat") == Some("plainText") {
        TextForm::Plain
    } else {
        TextForm::Html
    };
    CommentForm { caller: call.caller, text, tells_state }
}

/// The channel of the caller, who writes a comment.
///
/// # Errors
/// [`Error::LoginRequired`], [`rules::INELIGIBLE_ACCOUNT`].
pub(super) fn author(call: &Call<'_>) -> Result<String, Error> {
    match call.caller.channel() {
        Ok(channel) => Ok(channel.to_owned()),
        Err(Error::NoChannel) => Err(Error::Rule(&rules::INELIGIBLE_ACCOUNT)),
        Err(other) => Err(other),
    }
}

/// A new comment of `author` about a channel or its video, in the state that it begins with there.
///
/// # Errors
/// As the store.
pub(super) fn written(
    tx: &mut Tx<'_>,
    call: &Call<'_>,
    author: String,
    channel: String,
    video: Option<String>,
    text: String,
) -> Result<Comment, Error> {
    let state = sight::first_state(tx, &channel, &author)?;
    let (published, updated) = (call.now, call.now);
    Ok(Comment { author, channel, video, text, published, updated, state, likes: 0 })
}

fn show(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    id: &str,
    comment: &Comment,
    tells_state: bool,
) -> Result<Item, Error> {
    render::render(tx, id, comment, call.wants("snippet"), &form(call, tells_state))
}

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let mut list = List::new("commentListResponse");
    if call.params.has("id") {
        id_list::expect_whole(call)?;
        let (ids, mut found) = (call.params.list("id"), Vec::new());
        tx.plan(|plan| {
            for id in ids {
                sight::plan_find(plan, id);
                render::plan(plan, id, call.caller);
            }
        })?;
        for id in ids {
            if let Some((comment, _)) = sight::find(tx, id, call.caller)? {
                found.push(show(call, tx, id, &comment, false)?);
            }
        }
        let paging = id_list::whole(call, &found);
        found.iter().for_each(|item| list.push(item));
        return Ok(list.end(Some(&paging)));
    }
    let thread = call.params.get("parentId").unwrap_or_default();
    tx.plan(|plan| {
        sight::plan_find(plan, thread);
        plan.row(&REPLY_COUNTS, &thread.to_owned());
    })?;
    let (top, viewer) =
        sight::find(tx, thread, call.caller)?.ok_or(&rules::FILTER_PARENT_NOT_FOUND)?;
    let is_owner = viewer == Viewer::Owner;
    let slot = if is_owner { EVERY_STATE } else { Moderation::Published.slot() };
    let is_open = sight::shows_replies(tx, &top, viewer)?;
    let audience = if is_owner { "owner" } else { "everyone" };
    let binding = Binding::of(&[call.operation.name, thread, audience]);
    let token = call.page_token(binding)?;
    let counts = REPLY_COUNTS.peek(tx, &thread.to_owned())?.unwrap_or_default();
    let size = if is_open { call.page_size() } else { 0 };
    let rows = tx.guarded(|tx| {
        let start = (thread.to_owned(), slot);
        paginate::read(
            tx,
            &REPLIES,
            &start,
            paginate::Wanted { token: token.as_ref(), size, binding },
        )
    })?;
    let total = match (is_owner, is_open) {
        (true, _) => counts.total(),
        (false, true) => counts.of(Moderation::Published),
        (false, false) => 0,
    };
    tx.plan(|plan| {
        rows.keys.iter().for_each(|(_, _, _, id)| render::plan(plan, id, call.caller));
    })?;
    for (_, _, _, id) in &rows.keys {
        if let Some(reply) = LISTED_COMMENTS.peek_shared(tx, id)? {
            list.push(&show(call, tx, id, &reply.record, true)?);
        }
    }
    Ok(list.end(Some(&rows.paging(total, call.page_size()))))
}

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let author = author(call)?;
    let snippet = Body::of(call.body).object("snippet", "snippet")?;
    let parent = snippet.map(|snippet| snippet.filled_text("parentId")).transpose()?.flatten();
    let thread = parent.ok_or(&rules::PARENT_ID_MISSING)?;
    let text = text::read(snippet, &rules::TEXT)?;
    tx.plan(|plan| sight::plan(plan, &thread, &author))?;
    let (top, _) = sight::find(tx, &thread, call.caller)?.ok_or(&rules::PARENT_NOT_FOUND)?;
    if thread_of(&thread).is_some() {
        return Err(Error::Rule(&rules::REPLY_UNSUPPORTED));
    }
    if top.state != Moderation::Published {
        return Err(Error::Rule(&rules::PARENT_PRIVATE));
    }
    if let Some(video) = &top.video
        && VIDEOS.get(tx, video)?.is_some_and(|video| video.head.comments_disabled())
    {
        return Err(Error::Rule(&rules::INSERT_FORBIDDEN));
    }
    let about = snippet.map(|snippet| snippet.filled_text("videoId")).transpose()?.flatten();
    let of = snippet.map(|snippet| snippet.filled_text("channelId")).transpose()?.flatten();
    let is_elsewhere = about.is_some_and(|about| Some(about) != top.video)
        || of.is_some_and(|of| of != top.channel);
    if is_elsewhere {
        return Err(Error::Rule(&rules::PROCESSING_FAILURE));
    }
    let id = record::new_id(tx, ids, Some(&thread))?;
    let comment = written(tx, call, author, top.channel, top.video, text)?;
    let shard = tally::shard(ids);
    tx.plan(|plan| store::plan_of(plan, shard, &id, &comment, [None, Some(&comment.text)]))?;
    store::insert(tx, shard, &id, &comment)?;
    Ok(Reply::resource(&show(call, tx, &id, &comment, true)?))
}

fn update(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let author = author(call)?;
    let body = Body::of(call.body);
    let id = body.id()?.ok_or(Error::RequiredField("id"))?;
    let text = text::read(body.object("snippet", "snippet")?, &rules::TEXT)?;
    let shard = tally::shard(ids);
    tx.plan(|plan| {
        sight::plan(plan, &id, &author);
        store::plan(plan, shard, &id, Some(&text));
    })?;
    let (old, _) = sight::find(tx, &id, call.caller)?.ok_or(&rules::NOT_FOUND)?;
    if !call.caller.owns(&old.author) {
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    call.expect(&render::version(&id, &old))?;
    let is_banned = BANNED.get(tx, &(old.channel.clone(), old.author.clone()))?.is_some();
    let state = if is_banned { Moderation::Rejected } else { old.state };
    let new = Comment { text, state, updated: call.now, ..old.clone() };
    store::replace(tx, shard, &id, &old, &new)?;
    Ok(Reply::resource(&show(call, tx, &id, &new, true)?))
}

fn delete(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default();
    let shard = tally::shard(ids);
    tx.plan(|plan| store::plan(plan, shard, id, None))?;
    let (comment, viewer) = sight::find(tx, id, call.caller)?.ok_or(&rules::NOT_FOUND)?;
    if viewer == Viewer::Anybody {
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    call.expect(&render::version(id, &comment))?;
    store::remove(tx, shard, id, &comment)?;
    Ok(Reply::empty())
}

/// Sets the status of all comments that the request names, or of none.
fn set_moderation_status(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
) -> Result<Reply, Error> {
    let wanted = call.params.get("moderationStatus").and_then(Moderation::named);
    let state = wanted.filter(|state| state.can_be_set()).ok_or(&rules::STATUS_UNSUPPORTED)?;
    let bans = call.params.flag("banAuthor");
    if bans && state != Moderation::Rejected {
        return Err(Error::Rule(&rules::BAN_WITHOUT_REJECT));
    }
    let shard = tally::shard(ids);
    tx.plan(|plan| {
        call.params.list("id").iter().for_each(|id| store::plan_state(plan, shard, id));
    })?;
    for id in call.params.list("id") {
        let (old, viewer) = sight::find(tx, id, call.caller)?.ok_or(&rules::NOT_FOUND)?;
        if viewer != Viewer::Owner {
            return Err(Error::Rule(&rules::FORBIDDEN));
        }
        if bans && old.author != old.channel {
            BANNED.put(tx, &(old.channel.clone(), old.author.clone()), &());
        }
        if old.state != state {
            let new = Comment { state, ..old.clone() };
            store::replace(tx, shard, id, &old, &new)?;
        }
    }
    Ok(Reply::empty())
}
