//! Threads: a comment about a channel or a video, with its replies.

mod pages;
mod render;
pub mod rules;
mod shared_rows;

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::api::error::Error;
use crate::api::id_list;
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, NamedParts, Operation, Part, Run};
use crate::api::parameter::{IDS, Kind, PAGE_TOKEN, PART, Param};
use crate::api::response::{List, Reply};
use crate::record::json_fields::Body;
use crate::resource::Resource;
use crate::resource::channels::record as channels;
use crate::resource::comment_threads::pages::ThreadList;
use crate::resource::comment_threads::render::ThreadForm;
use crate::resource::comment_threads::shared_rows::SharedRows;
use crate::resource::comments::listed::LISTED_COMMENTS;
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::record::{
    REPLY_COUNTS, list_of_all, list_of_channel, list_of_public, list_of_video, thread_of,
};
use crate::resource::comments::{self, sight, store, tally, text};
use crate::resource::videos::record::VIDEOS;

/// The resource.
pub static RESOURCE: Resource =
    Resource { operations: &[LIST, INSERT], rules: rules::RULES, ..Resource::EMPTY };

/// Parts of the resource.
const PARTS: &[Part] = &[Part::written("id"), Part::written("snippet"), Part::read("replies")];

/// `commentThreads.list`.
const LIST: Operation = Operation {
    doc: "Threads matching parameters.",
    params: &[
        PART,
        Param::text("allThreadsRelatedToChannelId", "Threads about the channel and its videos."),
        Param::text("channelId", "Threads about this channel itself."),
        IDS,
        comments::MAX_RESULTS,
        Param::of(
            "moderationStatus",
            Kind::OneOf(&["published", "heldForReview", "likelySpam", "rejected"]),
            "The moderation status; all but published are the owner's alone.",
        )
        .default("published"),
        Param::of(
            "order",
            Kind::OneOf(&["orderUnspecified", "time", "relevance"]),
            "The order of the answer: time is newest first, relevance most liked first.",
        )
        .default("time"),
        PAGE_TOKEN,
        Param::text("searchTerms", "Words that one comment of the thread holds, all of them."),
        comments::TEXT_FORMAT,
        Param::text("videoId", "Threads about this video."),
    ],
    filters: Filters::One(&["allThreadsRelatedToChannelId", "channelId", "id", "videoId"]),
    parts: PARTS,
    scopes: comments::SCOPES,
    plan: |asked, plan| {
        let mut lists = Vec::new();
        if let Some(video) = asked.get("videoId") {
            plan.row(&VIDEOS, &video.to_owned());
            lists.push(list_of_video(video));
        }
        if let Some(channel) = asked.get("channelId") {
            plan.row(&channels::CHANNELS, &channel.to_owned());
            lists.push(list_of_channel(channel));
        }
        if let Some(channel) = asked.get("allThreadsRelatedToChannelId") {
            plan.row(&channels::CHANNELS, &channel.to_owned());
            lists.extend([list_of_all(channel), list_of_public(channel)]);
        }
        // All shards are read at once, for the lists of which there are many.
        lists.iter().for_each(|list| tally::plan_take(plan, list));
    },
    response: Some("CommentThreadListResponse"),
    round_trips: RoundTrips::of(9, 0),
    ..Operation::list("commentThreads.list", "/commentThreads", Run::Call(list))
};

/// `commentThreads.insert`.
const INSERT: Operation = Operation {
    doc: "Create a top-level comment (replies use comments.insert).",
    params: &[PART],
    parts: PARTS,
    named_parts: NamedParts::Returned,
    scopes: comments::SCOPES,
    request: Some("CommentThread"),
    response: Some("CommentThread"),
    round_trips: RoundTrips::of(5, 1),
    ..Operation::insert("commentThreads.insert", "/commentThreads", Run::Call(insert))
};

fn thread_form<'c>(call: &'c Call<'_>, state: Moderation, tells_state: bool) -> ThreadForm<'c> {
    let comments = comments::form(call, tells_state);
    ThreadForm { comments, parts: &call.parts, state, shows_replies: true }
}

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    if call.params.has("id") {
        return by_id(call, tx);
    }
    let threads = ThreadList::open(call, tx)?;
    let (ids, paging) = threads.page(call, tx)?;
    let form = thread_form(call, threads.state, true);
    let mut list = List::new("commentThreadListResponse");
    tx.plan(|plan| {
        for id in &ids {
            comments::render::plan(plan, id, call.caller);
            plan.row(&REPLY_COUNTS, id);
        }
    })?;
    let mut rows = SharedRows::default();
    let replies = render::replies(tx, ids.iter(), &form, &mut rows)?;
    for id in &ids {
        if let Some(top) = LISTED_COMMENTS.peek_shared(tx, id)? {
            let replies = replies.get(id).map(Vec::as_slice).unwrap_or_default();
            let thread = render::list(tx, id, &top, replies, &form, &mut rows)?;
            list.push(&thread);
        }
    }
    Ok(list.end(Some(&paging)))
}

/// Threads by their ids, which go with no other filter.
fn by_id(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    for name in ["searchTerms", "order", "moderationStatus"] {
        if call.params.has(name) {
            return Err(Error::IncompatibleParameters(format!("id, {name}")));
        }
    }
    id_list::expect_whole(call)?;
    let form = thread_form(call, Moderation::Published, false);
    let ids = call.params.list("id");
    tx.plan(|plan| {
        for id in ids {
            sight::plan_find(plan, id);
            comments::render::plan(plan, id, call.caller);
            plan.row(&REPLY_COUNTS, id);
        }
    })?;
    let mut rows = SharedRows::default();
    let replies = render::replies(tx, ids.iter(), &form, &mut rows)?;
    let mut found = Vec::new();
    for id in ids {
        let (top, viewer) = sight::find(tx, id, call.caller)?.ok_or(&rules::NOT_FOUND)?;
        if thread_of(id).is_some() {
            return Err(Error::Rule(&rules::REPLY_UNSUPPORTED));
        }
        let shows_replies = sight::shows_replies(tx, &top, viewer)?;
        let form = ThreadForm { shows_replies, ..form };
        let replies = replies.get(id).filter(|_| shows_replies);
        let replies = replies.map(Vec::as_slice).unwrap_or_default();
        found.push(render::render(tx, id, &top, replies, &form, &mut rows)?);
    }
    let mut list = List::new("commentThreadListResponse");
    let paging = id_list::whole(call, &found);
    found.iter().for_each(|item| list.push(item));
    Ok(list.end(Some(&paging)))
}

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let author = comments::author(call)?;
    let snippet = Body::of(call.body).object("snippet", "snippet")?;
    let text_at = |name| match snippet {
        Some(snippet) => snippet.filled_text(name),
        None => Ok(None),
    };
    let (channel, video) = (text_at("channelId")?, text_at("videoId")?);
    let top = snippet.map(|snippet| snippet.object("topLevelComment", "snippet.topLevelComment"));
    let top = top.transpose()?.flatten();
    let top = top.map(|top| top.object("snippet", "snippet.topLevelComment.snippet"));
    let top = top.transpose()?.flatten();
    let text = text::read(top, &rules::TEXT);
    let about = top.map(|top| top.filled_text("videoId")).transpose()?.flatten();
    // A thread is about what its comment is about, where it does not say itself.
    let video = video.or_else(|| about.clone());
    if channel.is_none() && video.is_none() {
        return Err(Error::Rule(&rules::CHANNEL_OR_VIDEO_ID_MISSING));
    }
    let text = text?;
    if about.is_some_and(|about| Some(&about) != video.as_ref()) {
        return Err(Error::Rule(&rules::PROCESSING_FAILURE));
    }
    tx.plan(|plan| {
        let found = video.as_ref().and_then(|video| plan.row(&VIDEOS, video));
        let named = found.map(|found| found.head.channel.clone()).or_else(|| channel.clone());
        named.iter().for_each(|channel| sight::plan_place(plan, channel, &author));
    })?;
    let channel = place(call, tx, channel, video.as_ref())?;
    let id = comments::record::new_id(tx, ids, None)?;
    let comment = comments::written(tx, call, author, channel, video, text)?;
    let shard = tally::shard(ids);
    tx.plan(|plan| store::plan_of(plan, shard, &id, &comment, [None, Some(&comment.text)]))?;
    store::insert(tx, shard, &id, &comment)?;
    let form = thread_form(call, Moderation::Published, true);
    let rows = &mut SharedRows::default();
    Ok(Reply::resource(&render::render(tx, &id, &comment, &[], &form, rows)?))
}

/// The channel that a new thread is about, or whose video it is about.
fn place(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    channel: Option<String>,
    video: Option<&String>,
) -> Result<String, Error> {
    if let Some(channel) = &channel {
        channels::named(tx, channel, &rules::CHANNEL_NOT_FOUND)?;
    }
    let Some(video) = video else {
        return Ok(channel.unwrap_or_default());
    };
    let video = VIDEOS.get(tx, video)?.filter(|video| video.head.is_visible(call.caller));
    let video = video.ok_or(&rules::VIDEO_NOT_FOUND)?;
    if channel.is_some_and(|channel| channel != video.head.channel) {
        return Err(Error::Rule(&rules::CHANNEL_MISMATCH));
    }
    if video.head.comments_disabled() {
        return Err(Error::Rule(&rules::INSERT_FORBIDDEN));
    }
    Ok(video.head.channel.clone())
}
