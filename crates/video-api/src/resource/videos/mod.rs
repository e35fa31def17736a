//! Videos: uploaded, listed, changed, rated.

pub mod chart;
pub mod patch;
pub mod play;
pub mod player;
pub mod rating;
pub mod record;
pub mod render;
pub mod report;
pub mod rules;
pub mod search_document;
mod seed;
pub mod store;

use triptych_core::id::Ids;
use triptych_core::kv::{Plan, RoundTrips, Tx};

use crate::api::error::{Error, Rule};
use crate::api::id_list;
use crate::api::operation::call::Call;
use crate::api::operation::{
    Access, Cost, Filters, Operation, Part, READ, Run, UPLOAD, Upload, WRITE,
};
use crate::api::parameter::{
    HL, ID, IDS, Kind, OWNER, OWNER_CHANNEL, PAGE_TOKEN, PART, Param, REGION_CODE,
};
use crate::api::response::{List, Paging, Reply};
use crate::media::{Processed, Processing};
use crate::record::id;
use crate::record::id::SystemPlaylist;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::channels::record as channels;
use crate::resource::comments::record::list_of_video;
use crate::resource::comments::tally;
use crate::resource::playlist_items::record::ITEMS_OF_VIDEO;
use crate::resource::videos::patch::VideoPatch;
use crate::resource::videos::rating::RATINGS;
use crate::resource::videos::record::{VIDEO_COUNTS, VIDEOS, Video, VideoCounts};
use crate::resource::videos::render::{LISTED_VIDEOS, RenderOptions};
use crate::upload::file_name;

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[INSERT, LIST, DELETE, UPDATE, RATE, GET_RATING, REPORT_ABUSE],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("videos", &VIDEOS, Form::Stored),
        TableEntry::new("videoCounts", &VIDEO_COUNTS, Form::Json),
        TableEntry::new("uploads", &record::UPLOADS, Form::Bytes),
        TableEntry::new("chart", &chart::CHART, Form::Bytes),
        TableEntry::new("schedule", &record::SCHEDULE, Form::Bytes),
        TableEntry::new("ratings", &RATINGS, Form::Json),
        TableEntry::new("rated", &rating::RATED, Form::Bytes),
        TableEntry::new("raters", &rating::RATERS, Form::Bytes),
        TableEntry::new("ratedCount", &rating::RATED_COUNT, Form::Json),
        TableEntry::new("hiddenRatings", &rating::HIDDEN_COUNT, Form::Json),
        TableEntry::new("playerTickets", &player::ticket::TICKETS, Form::Json),
        TableEntry::new("abuseReports", &report::REPORTS, Form::Json),
        TableEntry::new("abuseReportsOfVideo", &report::REPORTS_OF_VIDEO, Form::Bytes),
    ],
    seed: seed::SECTIONS,
};

/// The parts of a video.
const VIDEO_PARTS: &[Part] = &[
    Part::written("id"),
    Part::written("snippet"),
    Part::read("ageGating"),
    Part::read("brandPartner"),
    Part::read("contentDetails"),
    Part::owner("fileDetails"),
    Part::read("liveStreamingDetails"),
    Part::written("localizations"),
    Part::read("monetizationDetails"),
    Part::written("paidProductPlacementDetails"),
    Part::read("player"),
    Part::owner("processingDetails"),
    Part::read("projectDetails"),
    Part::written("recordingDetails"),
    Part::read("statistics"),
    Part::written("status"),
    Part::owner("suggestions"),
    Part::read("topicDetails"),
];

/// `videos.insert`.
const INSERT: Operation = Operation {
    doc: "Upload a video, optionally with metadata.",
    params: &[
        PART,
        Param::of("autoLevels", Kind::Boolean, "Whether to improve lighting and colour."),
        Param::of("notifySubscribers", Kind::Boolean, "Whether subscribers hear of it.")
            .default("true"),
        OWNER,
        OWNER_CHANNEL,
        Param::of("stabilize", Kind::Boolean, "Whether to stabilize a shaky picture."),
    ],
    parts: VIDEO_PARTS,
    scopes: UPLOAD,
    cost: Cost { units: 1600, own_bucket: true },
    request: Some("Video"),
    response: Some("Video"),
    upload: Some(Upload {
        accept: &["video/*", "application/octet-stream"],
        bytes_max: 274_877_906_944,
        required: true,
        processing: Processing::Probe,
    }),
    round_trips: RoundTrips::of(4, 1),
    ..Operation::insert("videos.insert", "/videos", Run::Call(insert))
};

/// `videos.list`.
const LIST: Operation = Operation {
    doc: "Videos matching parameters; accepts regionCode.",
    params: &[
        PART,
        Param::of("chart", Kind::OneOf(&["chartUnspecified", "mostPopular"]), "A chart of videos."),
        HL,
        IDS,
        Param::text("locale", "As hl.").deprecated(),
        Param::of(
            "maxHeight",
            Kind::Signed(72, 8192),
            "The greatest height of the embedded player.",
        ),
        Param::of("maxResults", Kind::Unsigned(1, 50), "How many items a page has at most.")
            .default("5"),
        Param::of("maxWidth", Kind::Signed(72, 8192), "The greatest width of the embedded player."),
        Param::of(
            "myRating",
            Kind::OneOf(&["none", "like", "dislike"]),
            "Videos that the caller rated so.",
        )
        .private(),
        OWNER,
        PAGE_TOKEN,
        REGION_CODE,
        Param::text("videoCategoryId", "Only this category of videos.").default("0"),
    ],
    filters: Filters::One(&["chart", "id", "myRating"]),
    parts: VIDEO_PARTS,
    scopes: READ,
    plan: |asked, plan| {
        asked.list("id").for_each(|id| plan_shown(plan, &id, asked.wants("statistics")));
    },
    response: Some("VideoListResponse"),
    round_trips: RoundTrips::of(7, 0),
    ..Operation::list("videos.list", "/videos", Run::Call(list))
};

/// `videos.delete`.
const DELETE: Operation = Operation {
    doc: "Delete a video.",
    params: &[ID, OWNER],
    scopes: WRITE,
    round_trips: RoundTrips::of(3, 1),
    ..Operation::delete("videos.delete", "/videos", Run::Call(delete))
};

/// `videos.update`.
const UPDATE: Operation = Operation {
    doc: "Update metadata.",
    params: &[PART, OWNER],
    parts: VIDEO_PARTS,
    scopes: WRITE,
    request: Some("Video"),
    response: Some("Video"),
    round_trips: RoundTrips::of(2, 1),
    ..Operation::update("videos.update", "/videos", Run::Call(update))
};

/// `videos.rate`.
const RATE: Operation = Operation {
    doc: "Add a like or dislike, or remove a rating.",
    params: &[
        ID,
        Param::of("rating", Kind::OneOf(&["none", "like", "dislike"]), "The rating to give.")
            .required()
            .unlisted(&rules::RATING_INVALID),
    ],
    scopes: WRITE,
    round_trips: RoundTrips::of(2, 1),
    ..Operation::insert("videos.rate", "/videos/rate", Run::Call(rate))
};

/// `videos.getRating`.
const GET_RATING: Operation = Operation {
    doc: "Ratings the authorized user gave to a list of videos.",
    params: &[IDS.required(), OWNER],
    access: Access::Token,
    scopes: READ,
    response: Some("VideoGetRatingResponse"),
    round_trips: RoundTrips::of(2, 0),
    ..Operation::list("videos.getRating", "/videos/getRating", Run::Call(get_rating))
};

/// `videos.reportAbuse`.
const REPORT_ABUSE: Operation = Operation {
    doc: "Report a video as abusive, using a reason from videoAbuseReportReasons.",
    params: &[OWNER],
    scopes: WRITE,
    request: Some("VideoAbuseReport"),
    round_trips: RoundTrips::of(3, 1),
    ..Operation::insert("videos.reportAbuse", "/videos/reportAbuse", Run::Call(report_abuse))
};

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let owner = call.caller.channel()?.to_owned();
    let sent = call.media.ok_or(Error::MediaBodyRequired)?;
    let id = store::new_id(tx, ids, &owner)?;
    let title = channels::title(tx, &owner)?;
    let mut video = Stored::uploaded(&id, &owner, &title, call.now);
    video.head.picture_key = Some(id::picture_key(ids));
    video.head.media = Some(sent.id);
    video.head.bytes = sent.bytes;
    if let Some(name) = &sent.file_name {
        if !file_name::is_valid(name) {
            return Err(Error::Rule(&rules::FILE_NAME_INVALID));
        }
        video.head.file_name = Some(name.clone());
        patch::default_snippet(&id, &title, &mut video);
    }
    match &sent.processed {
        Processed::Info(Ok(facts)) => {
            video.head.three_d = facts.is_three_d();
            video.head.facts = Some(facts.clone());
        }
        Processed::Info(Err(reason)) => video.head.failure = Some(*reason),
        Processed::Nothing | Processed::Captions(_) | Processed::Pictures(_) => {}
    }
    // A part that is named but not sent is as good as not named: the upload has defaults for it.
    let body = Body::of(call.body);
    let parts: Vec<_> =
        call.parts.iter().copied().filter(|part| body.get(part).is_some()).collect();
    let writing = VideoPatch { body, parts: &parts, now: call.now, is_new: true };
    writing.apply(&id, &title, &mut video)?;
    store::insert(tx, &id, &video)?;
    Ok(Reply::resource(&render::render(&id, &video, VideoCounts::default(), &options(call, true))))
}

fn options<'s>(call: &'s Call<'_>, owner: bool) -> RenderOptions<'s> {
    let side = |name| call.given(name).and_then(|text| text.parse().ok());
    RenderOptions {
        parts: &call.parts,
        now: call.now,
        language: call.language(),
        player: (side("maxWidth"), side("maxHeight")),
        owner,
    }
}

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let region = call.region();
    let (ids, mut paging) = if call.params.has("id") {
        id_list::expect_whole(call)?;
        (call.params.list("id").to_vec(), Paging::default())
    } else if let Some(rating) = call.params.get("myRating") {
        rating::page(call, tx, rating)?
    } else {
        chart::page(call, tx, region)?
    };
    let counted = call.wants("statistics");
    tx.plan(|plan| ids.iter().for_each(|id| plan_shown(plan, id, counted)))?;
    let wants_owner_parts =
        call.operation.parts.iter().any(|part| part.owner_only && call.wants(part.name));
    let mut list = List::of("videoListResponse", call.form());
    let as_owner = options(call, true);
    let as_other = RenderOptions { owner: false, ..as_owner };
    for id in &ids {
        let video = LISTED_VIDEOS.peek_shared(tx, id)?;
        let Some(video) = video.filter(|video| video.record.head.is_visible(call.caller)) else {
            continue;
        };
        let owner = call.caller.owns(&video.record.head.channel);
        if wants_owner_parts && !owner {
            return Err(Error::Rule(&rules::OWNER_PARTS_FORBIDDEN));
        }
        let counts = shown_counts(call, tx, id)?;
        let options = if owner { &as_owner } else { &as_other };
        list.push(&render::list(id, &video, counts, options));
    }
    if call.params.has("id") {
        (paging.total, paging.size) =
            (list.len() as u64, u32::try_from(list.len()).unwrap_or(u32::MAX));
    }
    Ok(list.end(Some(&paging)))
}

/// Plans the rows that a video is shown by.
fn plan_shown(plan: &mut Plan<'_>, id: &String, counted: bool) {
    plan.row(&VIDEOS, id);
    if counted {
        plan.row(&VIDEO_COUNTS, id);
        tally::plan(plan, &list_of_video(id));
    }
}

/// The video that the caller may change; where there is none, `absent` is broken.
fn owned(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    id: &str,
    absent: &'static Rule,
) -> Result<Stored<Video>, Error> {
    let video = VIDEOS
        .get(tx, &id.to_owned())?
        .filter(|video| video.head.is_visible(call.caller))
        .ok_or(absent)?;
    if !call.caller.owns(&video.head.channel) {
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    call.expect(&video.etag())?;
    Ok(video)
}

fn update(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let body = Body::of(call.body);
    let id = body.id()?.ok_or(&rules::UPDATED_NOT_FOUND)?;
    if let Ok(channel) = call.caller.channel() {
        tx.plan(|plan| {
            store::plan(plan, &id, channel);
            tally::plan(plan, &list_of_video(&id));
        })?;
    }
    let old = owned(call, tx, &id, &rules::UPDATED_NOT_FOUND)?;
    let title = channels::title(tx, &old.head.channel)?;
    let mut new = old.clone();
    VideoPatch { body, parts: &call.parts, now: call.now, is_new: false }
        .apply(&id, &title, &mut new)?;
    store::replace(tx, &id, &old, &new)?;
    let counts = shown_counts(call, tx, &id)?;
    Ok(Reply::resource(&render::render(&id, &new, counts, &options(call, true))))
}

/// The counters of a video, where the request asks for them.
fn shown_counts(call: &Call<'_>, tx: &mut Tx<'_>, id: &String) -> Result<VideoCounts, Error> {
    if !call.wants("statistics") {
        return Ok(VideoCounts::default());
    }
    let mut counts = VIDEO_COUNTS.peek_shared(tx, id)?.map(|counts| *counts).unwrap_or_default();
    for channel in call.caller.closing.iter() {
        leave_out(tx, &mut counts, channel, id)?;
    }
    let comments = tally::of(tx, list_of_video(id))?.comments();
    Ok(VideoCounts { comments, ..counts })
}

/// Counts a video without what a channel says of it that is closing.
fn leave_out(
    tx: &mut Tx<'_>,
    counts: &mut VideoCounts,
    channel: &str,
    id: &str,
) -> Result<(), Error> {
    if let Some(rating) = RATINGS.peek(tx, &(channel.to_owned(), id.to_owned()))? {
        let count = if rating.likes { &mut counts.likes } else { &mut counts.dislikes };
        *count = count.saturating_sub(1);
    }
    let favorites = SystemPlaylist::Favorites.of(channel);
    let span = ITEMS_OF_VIDEO.span(&(favorites, id.to_owned()));
    let is_favorite = !tx.scan(&span, 1)?.rows.is_empty();
    counts.favorites = counts.favorites.saturating_sub(is_favorite.into());
    Ok(())
}

fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default();
    if let Ok(channel) = call.caller.channel() {
        tx.plan(|plan| {
            store::plan(plan, id, channel);
            store::plan_remove(plan, id, channel);
        })?;
    }
    let video = owned(call, tx, id, &rules::NOT_FOUND)?;
    store::remove(tx, id, &video)?;
    Ok(Reply::empty())
}

fn rate(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let channel = call.caller.channel()?;
    let id = call.params.get("id").unwrap_or_default();
    let likes = match call.params.get("rating") {
        Some("like") => Some(true),
        Some("dislike") => Some(false),
        _ => None,
    };
    tx.plan(|plan| rating::plan(plan, channel, id))?;
    if record::visible(tx, id, call.caller)?.is_none() {
        return Err(Error::Rule(&rules::NOT_FOUND));
    }
    rating::set(tx, channel, id, likes, call.now)?;
    Ok(Reply::empty())
}

fn report_abuse(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    report::put(call, tx, ids)?;
    Ok(Reply::empty())
}

fn get_rating(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let channel = call.caller.channel()?.to_owned();
    tx.plan(|plan| {
        for id in call.params.list("id") {
            plan.row(&VIDEOS, id);
            plan.row(&RATINGS, &(channel.clone(), id.clone()));
        }
    })?;
    let mut list = List::new("videoGetRatingResponse");
    for id in call.params.list("id") {
        if record::visible(tx, id, call.caller)?.is_none() {
            continue;
        }
        let rating = match RATINGS.peek(tx, &(channel.clone(), id.clone()))? {
            None => "none",
            Some(rating) if rating.likes => "like",
            Some(_) => "dislike",
        };
        list.push_text(serde_json::json!({"videoId": id, "rating": rating}).to_string().as_bytes());
    }
    Ok(list.end(None))
}
