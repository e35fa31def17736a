//! Captions of videos. Not built yet.

use crate::account::{Scope, Scopes};
use crate::api::operation::{Access, Cost, Operation, Part, Run, Upload};
use crate::api::parameter::{ID, IDS, Kind, OWNER, PART, Param};
use crate::media::Processing;
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource =
    Resource { operations: &[DELETE, DOWNLOAD, INSERT, LIST, UPDATE], ..Resource::EMPTY };

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
    ..Operation::delete("captions.delete", "/captions", Run::NotImplemented)
};

/// `captions.download`.
const DOWNLOAD: Operation = Operation {
    doc: "Download a track in its original format and language unless tfmt (format) and tlang (language) parameters are given.",
    params: &[
        Param::text("id", "Narrows the answer: id.").required().in_path(),
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
    ..Operation::list("captions.download", "/captions/{id}", Run::NotImplemented)
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
    scopes: Scopes::of(&[Scope::ForceSsl, Scope::Partner]),
    cost: Cost { units: 400, own_bucket: false },
    request: Some("Caption"),
    response: Some("Caption"),
    upload: Some(Upload {
        accept: &["text/xml", "application/octet-stream", "*/*"],
        bytes_max: 104_857_600,
        required: true,
        processing: Processing::Keep,
    }),
    ..Operation::insert("captions.insert", "/captions", Run::NotImplemented)
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
    ..Operation::list("captions.list", "/captions", Run::NotImplemented)
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
        processing: Processing::Keep,
    }),
    ..Operation::update("captions.update", "/captions", Run::NotImplemented)
};
