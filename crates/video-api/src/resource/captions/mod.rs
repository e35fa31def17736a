//! Captions: tracks of a video, written and downloaded by its owner, and listed for everyone.

pub mod download;
pub mod patch;
pub mod record;
mod render;
pub mod rules;
pub mod seed;
pub mod store;

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Access, Cost, NamedParts, Operation, Part, Run, Upload};
use crate::api::parameter::{ID, IDS, Kind, OWNER, PART, Param};
use crate::api::response::{List, Reply};
use crate::media::Processing;
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::videos::record::{self as videos, Video};
use patch::CaptionFile;
use record::{CAPTIONS, Caption, VIDEO_CAPTIONS};

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[DELETE, DOWNLOAD, INSERT, LIST, UPDATE],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("captions", &CAPTIONS, Form::Json),
        TableEntry::new("videoCaptions", &VIDEO_CAPTIONS, Form::Bytes),
        TableEntry::new("captionNames", &record::CAPTION_NAMES, Form::Json),
        TableEntry::new("captionSyncs", &record::SYNCS, Form::Bytes),
        TableEntry::new("captionCounts", &record::CAPTION_COUNTS, Form::Json),
    ],
    seed: seed::SECTIONS,
};

/// Parts of the resource.
const PARTS: &[Part] = &[Part::written("id"), Part::written("snippet")];

/// `captions.delete`.
const DELETE: Operation = Operation {
    doc: "Delete a caption track.",
    params: &[
        ID,
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
    ],
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    round_trips: RoundTrips::of(4, 1),
    ..Operation::delete("captions.delete", "/captions", Run::Call(delete))
};

/// `captions.download`.
const DOWNLOAD: Operation = Operation {
    doc: "Download a track in its original format and language unless tfmt (format) and tlang (language) parameters are given.",
    params: &[
        Param::text("id", "The id of the track.").required().in_path(),
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
        Param::text("tfmt", "The format of the track: sbv, scc, srt, ttml or vtt."),
        Param::text("tlang", "The language to translate the track to."),
    ],
    access: Access::Token,
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    cost: Cost { units: 200, own_bucket: false },
    download: true,
    round_trips: RoundTrips::of(4, 0),
    ..Operation::list("captions.download", "/captions/{id}", Run::Call(download_track))
};

/// `captions.insert`.
const INSERT: Operation = Operation {
    doc: "Upload a caption track.",
    params: &[
        PART,
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
        Param::of("sync", Kind::Boolean, "Whether time codes are to be worked out from the media."),
    ],
    parts: PARTS,
    named_parts: NamedParts::Returned,
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    cost: Cost { units: 400, own_bucket: false },
    request: Some("Caption"),
    response: Some("Caption"),
    upload: Some(Upload {
        accept: &["text/xml", "application/octet-stream", "*/*"],
        bytes_max: 104_857_600,
        // A track without a file has a reason of its own.
        required: false,
        processing: Processing::Captions,
    }),
    round_trips: RoundTrips::of(6, 1),
    ..Operation::insert("captions.insert", "/captions", Run::Call(insert))
};

/// `captions.list`.
const LIST: Operation = Operation {
    doc: "Tracks of a specified video; the response has no caption content.",
    params: &[
        PART,
        Param::text("videoId", "The id of a video.").required(),
        IDS,
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
    ],
    parts: PARTS,
    access: Access::Token,
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    cost: Cost { units: 50, own_bucket: false },
    response: Some("CaptionListResponse"),
    round_trips: RoundTrips::of(4, 0),
    ..Operation::list("captions.list", "/captions", Run::Call(list))
};

/// `captions.update`.
const UPDATE: Operation = Operation {
    doc: "Change draft status, upload a new caption file, or both.",
    params: &[
        PART,
        Param::text(
            "onBehalfOf",
            "The page on whose behalf the caller acts; read and not needed here.",
        ),
        OWNER,
        Param::of("sync", Kind::Boolean, "Whether time codes are to be worked out from the media."),
    ],
    parts: PARTS,
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    cost: Cost { units: 450, own_bucket: false },
    request: Some("Caption"),
    response: Some("Caption"),
    upload: Some(Upload {
        accept: &["text/xml", "application/octet-stream", "*/*"],
        bytes_max: 104_857_600,
        required: false,
        processing: Processing::Captions,
    }),
    round_trips: RoundTrips::of(3, 1),
    ..Operation::update("captions.update", "/captions", Run::Call(update))
};

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("videoId").unwrap_or_default().to_owned();
    let video = videos::visible(tx, &id, call.caller)?.ok_or(&rules::LISTED_VIDEO_NOT_FOUND)?;
    let owner = call.caller.owns(&video.head.channel);
    let wanted = call.params.list("id");
    let rows = VIDEO_CAPTIONS.all(tx, &id, store::TRACKS_MAX as usize)?;
    tx.plan(|plan| rows.iter().for_each(|((_, _, id), ())| drop(plan.row(&CAPTIONS, id))))?;
    let mut list = List::new("captionListResponse");
    let mut found = 0;
    for ((_, _, id), ()) in rows {
        if !wanted.is_empty() && !wanted.contains(&id) {
            continue;
        }
        let Some(caption) = CAPTIONS.peek(tx, &id)?.filter(|caption| owner || !caption.is_draft)
        else {
            continue;
        };
        found += 1;
        list.push(&render::render(&id, &caption, &call.parts));
    }
    if found < wanted.len() {
        return Err(Error::Rule(&rules::NOT_FOUND));
    }
    Ok(list.end(None))
}

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let body = Body::of(call.body);
    let snippet = body.object("snippet", "snippet")?.ok_or(&rules::METADATA_INVALID)?;
    let video = snippet.filled_text("videoId")?;
    let video = video.ok_or(&rules::METADATA_INVALID)?;
    let sent = CaptionFile::uploaded(call.media, call.params.flag("sync"));
    let new = sent.map(|sent| patch::new(video.clone(), snippet, sent, call.now));
    let mut id = id::caption(ids);
    // A page is read before the rows that are planned: what tells whether all are of one moment comes with these.
    let names = store::names(tx, &video)?;
    if let (Ok(channel), Some(Ok(new))) = (call.caller.channel(), &new) {
        tx.plan(|plan| store::plan_insert(plan, &id, new, channel))?;
    }
    let found = videos::visible(tx, &video, call.caller)?.ok_or(&rules::VIDEO_NOT_FOUND)?;
    if !call.caller.owns(&found.head.channel) {
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    let new = new.ok_or(&rules::CONTENT_REQUIRED)??;
    while CAPTIONS.get(tx, &id)?.is_some() {
        id = id::caption(ids);
    }
    store::insert(tx, &id, &new, &names)?;
    Ok(Reply::resource(&render::render(&id, &new, &call.parts)))
}

/// The track with this id and its video, if the caller may see both.
fn seen(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<(Caption, Stored<Video>), Error> {
    let caption = CAPTIONS.get(tx, &id.to_owned())?.ok_or(&rules::NOT_FOUND)?;
    let video = videos::visible(tx, &caption.video, call.caller)?.ok_or(&rules::NOT_FOUND)?;
    if caption.is_draft && !call.caller.owns(&video.head.channel) {
        return Err(Error::Rule(&rules::NOT_FOUND));
    }
    Ok((caption, video))
}

/// The track that the caller may download, and its video.
fn owned(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<(Caption, Stored<Video>), Error> {
    let (caption, video) = seen(call, tx, id)?;
    if !call.caller.owns(&video.head.channel) {
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    Ok((caption, video))
}

/// The track that the caller may change.
fn changeable(call: &Call<'_>, tx: &mut Tx<'_>, id: &str) -> Result<Caption, Error> {
    let (caption, _) = owned(call, tx, id)?;
    call.expect(&caption.etag())?;
    Ok(caption)
}

/// Plans what a change of a track of the caller's reads.
fn plan_change(call: &Call<'_>, tx: &Tx<'_>, id: &str) -> Result<(), Error> {
    match call.caller.channel() {
        Ok(channel) => Ok(tx.plan(|plan| store::plan(plan, id, channel))?),
        Err(_) => Ok(()),
    }
}

fn update(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let body = Body::of(call.body);
    let id = body.id()?.ok_or(Error::RequiredField("id"))?;
    plan_change(call, tx, &id)?;
    let old = changeable(call, tx, &id)?;
    let snippet = body.object("snippet", "snippet")?.filter(|_| call.wants("snippet"));
    let sent = CaptionFile::uploaded(call.media, call.params.flag("sync"));
    if snippet.is_none() && sent.is_none() {
        return Err(Error::Rule(&rules::CONTENT_REQUIRED));
    }
    let mut new = Caption { updated: call.now, ..old.clone() };
    if let Some(snippet) = snippet {
        // Video, language and name are what a track is known by: they stay.
        new.is_draft = snippet.flag("isDraft")?.unwrap_or_default();
    }
    if let Some(sent) = sent {
        patch::set_file(&mut new, sent, call.now);
    }
    store::replace(tx, &id, &old, &new)?;
    Ok(Reply::resource(&render::render(&id, &new, &call.parts)))
}

fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default();
    plan_change(call, tx, id)?;
    let caption = changeable(call, tx, id)?;
    store::remove(tx, id, &caption)?;
    Ok(Reply::empty())
}

fn download_track(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("id").unwrap_or_default();
    let (caption, video) = owned(call, tx, id)?;
    let length = video.head.facts.as_ref().map_or(0, |facts| facts.duration_ms);
    let (format, language) = (call.params.get("tfmt"), call.params.get("tlang"));
    let file = download::plan(&caption, format, language, length)?;
    // A file has the version that its download tells: one that is converted is another than the track.
    call.expect(&file.etag)?;
    Ok(Reply { download: Some(file), ..Reply::default() })
}
