//! Videos: uploaded, listed, changed, rated.

pub mod patch;
pub mod play;
pub mod record;
pub mod render;
pub mod rules;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::api::call::Call;
use crate::api::error::Error;
use crate::api::operation::{
    Access, Cost, Filters, Operation, Part, READ, Run, UPLOAD, Upload, WRITE,
};
use crate::api::page_token::Binding;
use crate::api::parameter::{
    HL, ID, IDS, Kind, OWNER, OWNER_CHANNEL, PAGE_TOKEN, PART, Param, REGION_CODE,
};

use crate::api::paginate;
use crate::api::response::{List, Paging, Reply};
use crate::media::{Made, Treatment};
use crate::record::counter;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::record::tables::{
    CHART, LISTED_VIDEOS, RATED, RATED_COUNT, RATINGS, VIDEO_COUNTS, VIDEOS,
};
use crate::resource::Resource;
use crate::resource::channels::record as channel;
use crate::resource::video_categories;
use crate::resource::videos::patch::Writing;
use crate::resource::videos::record::{self as video, Video};
use crate::resource::videos::render::{Serving, list as listed, render};

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[INSERT, LIST, DELETE, UPDATE, RATE, GET_RATING, REPORT_ABUSE],
    rules: rules::RULES,
};

/// The total of a chart counts no further than this, as the real service's: what it costs does not grow with the videos.
const CHART_TOTAL_MAX: usize = 200;

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
        treatment: Treatment::Probe,
    }),
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
        Param::of("maxResults", Kind::Unsigned(1, 50), "Narrows the answer: maxResults.")
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
    response: Some("VideoListResponse"),
    ..Operation::list("videos.list", "/videos", Run::Call(list))
};

/// `videos.delete`.
const DELETE: Operation = Operation {
    doc: "Delete a video.",
    params: &[ID, OWNER],
    scopes: WRITE,
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
    ..Operation::insert("videos.rate", "/videos/rate", Run::Call(rate))
};

/// `videos.getRating`.
const GET_RATING: Operation = Operation {
    doc: "Ratings the authorized user gave to a list of videos.",
    params: &[IDS.required(), OWNER],
    access: Access::Token,
    scopes: READ,
    response: Some("VideoGetRatingResponse"),
    ..Operation::list("videos.getRating", "/videos/getRating", Run::Call(get_rating))
};

/// `videos.reportAbuse`.
const REPORT_ABUSE: Operation = Operation {
    doc: "Report a video as abusive, using a reason from videoAbuseReportReasons.",
    params: &[OWNER],
    scopes: WRITE,
    request: Some("VideoAbuseReport"),
    ..Operation::insert("videos.reportAbuse", "/videos/reportAbuse", Run::NotImplemented)
};

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let owner = call.caller.channel()?.to_owned();
    let sent = call.media.ok_or(Error::MediaBodyRequired)?;
    let title = channel::title(tx, &owner)?;
    let id = video::new_id(tx, ids)?;
    let mut video = Stored::uploaded(&id, &owner, &title, call.now);
    video.head.media = Some(sent.id);
    video.head.bytes = sent.bytes;
    match &sent.made {
        Made::Facts(Ok(facts)) => video.head.facts = Some(facts.clone()),
        Made::Facts(Err(reason)) => video.head.failure = Some(*reason),
        Made::Nothing | Made::Pictures(_) => {}
    }
    // A part that is named but not sent is as good as not named: the upload has defaults for it.
    let parts: Vec<_> =
        call.parts.iter().copied().filter(|part| call.body.contains_key(*part)).collect();
    let writing = Writing { body: Body::of(call.body), parts: &parts, now: call.now, is_new: true };
    writing.apply(&id, &title, &mut video)?;
    video::insert(tx, &id, &video)?;
    Ok(Reply::resource(&render(&id, &video, video::VideoCounts::default(), &serving(call, true))))
}

fn serving<'s>(call: &'s Call<'_>, owner: bool) -> Serving<'s> {
    let side = |name| call.given(name).and_then(|text| text.parse().ok());
    Serving {
        parts: &call.parts,
        now: call.now,
        language: call.language(),
        player: (side("maxWidth"), side("maxHeight")),
        owner,
    }
}

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let region = call.region();
    // Clients send maxResults with ids as a matter of habit, and the real service lets that pass.
    if call.params.has("id") && call.params.has("pageToken") {
        return Err(Error::IncompatibleParameters("id, pageToken".into()));
    }
    let (ids, mut paging) = if call.params.has("id") {
        let ids = call.params.list("id").to_vec();
        let size = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        (ids, Paging { size, ..Paging::default() })
    } else if let Some(rating) = call.params.get("myRating") {
        rated(call, tx, rating)?
    } else {
        chart(call, tx, region)?
    };
    let wants_owner_parts =
        call.operation.parts.iter().any(|part| part.owner_only && call.wants(part.name));
    let mut list = List::of("videoListResponse", call.form());
    for id in &ids {
        let video = LISTED_VIDEOS.peek_shared(tx, id)?;
        let Some(video) = video.filter(|video| video.record.head.is_visible(call.caller)) else {
            continue;
        };
        let owner = call.caller.owns(&video.record.head.channel);
        if wants_owner_parts && !owner {
            return Err(Error::Rule(&rules::OWNER_PARTS_FORBIDDEN));
        }
        let counts =
            if call.wants("statistics") { VIDEO_COUNTS.peek_shared(tx, id)? } else { None };
        list.push(&listed(
            id,
            &video,
            counts.map_or_else(Default::default, |counts| *counts),
            &serving(call, owner),
        ));
    }
    if call.params.has("id") {
        (paging.total, paging.size) =
            (list.len() as u64, u32::try_from(list.len()).unwrap_or(u32::MAX));
    }
    Ok(list.end(Some(&paging)))
}

fn rated(call: &Call<'_>, tx: &mut Tx<'_>, rating: &str) -> Result<(Vec<String>, Paging), Error> {
    let owner = call.caller.channel()?.to_owned();
    let kind = match rating {
        "like" => 1_u8,
        "dislike" => 2,
        // Nobody can list what they did not rate.
        _ => {
            return Err(Error::UnknownValue {
                name: "myRating",
                value: rating.into(),
                allowed: &["like", "dislike"],
            });
        }
    };
    let size = call.page_size(5);
    let binding = Binding::of(&[call.operation.name, rating, &owner]);
    let token = call.page_token(binding)?;
    let rows = paginate::read(tx, &RATED, &(owner.clone(), kind), token.as_ref(), size, binding)?;
    let paging = rows.paging(counter::of(tx, &RATED_COUNT, &(owner, kind))?, size);
    Ok((rows.keys.into_iter().map(|(_, _, _, video)| video).collect(), paging))
}

/// A page of the chart, of what can be viewed in `region` if one is named.
fn chart(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    region: Option<&str>,
) -> Result<(Vec<String>, Paging), Error> {
    if call.params.get("chart") != Some("mostPopular") {
        return Err(Error::Rule(&rules::CHART_NOT_FOUND));
    }
    let category = call.params.get("videoCategoryId").unwrap_or("0");
    if category != "0"
        && !video_categories::CATEGORIES.iter().any(|(known, _, _)| *known == category)
    {
        return Err(Error::Rule(&rules::CHART_NOT_FOUND));
    }
    let size = call.page_size(5);
    let within = region.unwrap_or_default();
    let binding = Binding::of(&[call.operation.name, "chart", category, within]);
    let token = call.page_token(binding)?;
    let is_open = |tx: &mut Tx<'_>, id: &String| -> Result<bool, Error> {
        let Some(region) = region else {
            return Ok(true);
        };
        let video = LISTED_VIDEOS.peek_shared(tx, id)?;
        let regions = video.as_ref().and_then(|video| video.record.head.regions.as_ref());
        Ok(!regions.is_some_and(|regions| regions.close(region)))
    };
    let start = category.to_owned();
    let keeps = |tx: &mut Tx<'_>, (_, _, id): &_| is_open(tx, id);
    let rows = paginate::read_where(tx, &CHART, &start, token.as_ref(), size, binding, keeps)?;
    let counted = tx.scan(&CHART.span(&start), CHART_TOTAL_MAX)?.rows;
    let mut total = counted.len() as u64;
    for (row, _) in counted.iter().filter(|_| region.is_some()) {
        let (_, _, id) = CHART.read_key(row)?;
        total -= u64::from(!is_open(tx, &id)?);
    }
    let paging = rows.paging(total, size);
    Ok((rows.keys.into_iter().map(|(_, _, video)| video).collect(), paging))
}

/// The video that the caller may change.
fn owned(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Stored<Video>, Error> {
    let video = VIDEOS
        .get(tx, &id.to_owned())?
        .filter(|video| video.head.is_visible(call.caller))
        .ok_or(&rules::NOT_FOUND)?;
    if !call.caller.owns(&video.head.channel) {
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    call.expect(&video.etag())?;
    Ok(video)
}

fn update(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let body = Body::of(call.body);
    let id = body.id()?.ok_or(Error::RequiredField("id"))?;
    let old = owned(call, tx, &id)?;
    let title = channel::title(tx, &old.head.channel)?;
    let mut new = old.clone();
    Writing { body, parts: &call.parts, now: call.now, is_new: false }
        .apply(&id, &title, &mut new)?;
    video::replace(tx, &id, &old, &new)?;
    let counts = VIDEO_COUNTS.peek(tx, &id)?.unwrap_or_default();
    Ok(Reply::resource(&render(&id, &new, counts, &serving(call, true))))
}

fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default();
    let video = owned(call, tx, id)?;
    video::remove(tx, id, &video)?;
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
    if video::visible(tx, id, call.caller)?.is_none() {
        return Err(Error::Rule(&rules::NOT_FOUND));
    }
    video::rate(tx, channel, id, likes, call.now)?;
    Ok(Reply::empty())
}

fn get_rating(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let channel = call.caller.channel()?.to_owned();
    let mut list = List::new("videoGetRatingResponse");
    for id in call.params.list("id") {
        if video::visible(tx, id, call.caller)?.is_none() {
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
