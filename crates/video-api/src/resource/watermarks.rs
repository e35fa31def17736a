//! Watermarks: a picture over a channel's videos, and when and where it is shown.

use bytes::Bytes;
use serde_json::Map;
use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Table, Tx};

use crate::api::error::{Error, Place, Rule, rules};
use crate::api::operation::call::Call;
use crate::api::operation::{Operation, Run, UPLOAD, Upload, WRITE};
use crate::api::parameter::{OWNER, Param};
use crate::api::response::Reply;
use crate::media::{Processed, Processing};
use crate::picture;
use crate::picture::PictureError;
use crate::record::json_fields::Body;
use crate::record::stored;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::channels::record::CHANNELS;
use crate::resource::channels::timing::{TimingRules, corner, timing};
use crate::upload::media;

/// Watermarks by their channel: the resource as text.
pub const WATERMARKS: Table<String, Bytes> = Table::new(0x16);

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[SET, UNSET],
    rules: RULES,
    tables: &[TableEntry::new("watermarks", &WATERMARKS, Form::Bytes)],
    ..Resource::EMPTY
};

rules! {
    /// The channel that a watermark leads to.
    TARGET_CHANNEL_NOT_FOUND = Rule::new(404, "youtube.watermark", "channelNotFound", Place::body("targetChannelId"), "The channel that the targetChannelId property names cannot be found.");
    /// A watermark for somebody else's channel.
    FORBIDDEN = Rule::new(403, "youtube.watermark", "forbidden", Place::parameter("channelId"), "The watermark can't be set for the specified channel. The request might not be properly authorized.");
    /// A watermark that is no picture.
    IMAGE_FORMAT_UNSUPPORTED = Rule::new(400, "youtube.watermark", "imageFormatUnsupported", Place::None, "The image you provided is in an unsupported format: a JPEG or PNG.");
    /// A watermark that is wider than can be decoded.
    IMAGE_TOO_WIDE = Rule::new(400, "youtube.watermark", "imageTooWide", Place::None, "The image you provided is too wide: at most 16384 pixels.");
    /// A watermark that is taller than can be decoded.
    IMAGE_TOO_TALL = Rule::new(400, "youtube.watermark", "imageTooTall", Place::None, "The image you provided is too tall: at most 16384 pixels.");
    /// A watermark without its values.
    TIMING_REQUIRED = Rule::new(400, "youtube.watermark", "required", Place::body("timing"), "Required");
    /// A watermark in no corner.
    POSITION_INVALID = Rule::new(400, "youtube.watermark", "invalidValue", Place::body("position"), "Invalid Value");
    /// A watermark at a time that cannot be.
    TIMING_INVALID = Rule::new(400, "youtube.watermark", "invalidValue", Place::body("timing"), "Invalid Value");
}

/// The rules of the timing, which is refused as a whole (facts: probes of the real service).
const BROKEN_TIMING: TimingRules = TimingRules {
    kind: &TIMING_INVALID,
    offset_required: &TIMING_INVALID,
    offset: &TIMING_INVALID,
    duration: &TIMING_INVALID,
};

/// `watermarks.set`.
const SET: Operation = Operation {
    doc: "Upload a watermark image and set it for a channel.",
    params: &[Param::text("channelId", "The id of a channel.").required(), OWNER],
    scopes: UPLOAD,
    request: Some("InvideoBranding"),
    upload: Some(Upload {
        accept: &["image/jpeg", "image/png", "application/octet-stream"],
        bytes_max: 10_485_760,
        required: true,
        processing: Processing::Render { sizes: picture::WATERMARK, least: (1, 1) },
    }),
    round_trips: RoundTrips::of(7, 1),
    ..Operation::insert("watermarks.set", "/watermarks/set", Run::Call(set))
};

/// `watermarks.unset`.
const UNSET: Operation = Operation {
    doc: "Delete a channel's watermark image.",
    params: &[Param::text("channelId", "The id of a channel.").required(), OWNER],
    scopes: WRITE,
    round_trips: RoundTrips::of(2, 1),
    ..Operation::insert("watermarks.unset", "/watermarks/unset", Run::Call(unset))
};

fn owned(call: &Call<'_>) -> Result<String, Error> {
    let id = call.params.get("channelId").unwrap_or_default().to_owned();
    // A channel that is not there is as forbidden as somebody else's: the documented error has both reasons.
    if call.caller.owns(&id) { Ok(id) } else { Err(Error::Rule(&FORBIDDEN)) }
}

fn set(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = owned(call)?;
    let sent = call.media.ok_or(Error::MediaBodyRequired)?;
    let body = Body::of(call.body);
    let mut resource = Map::new();
    if call.body.is_empty() {
        return Err(Error::NoFilter(&["resource"]));
    }
    let timing = body.object("timing", "timing")?.ok_or(&TIMING_REQUIRED)?;
    // Without type or offset a watermark is shown from the start (facts: probes of the real service).
    let mut given = Map::from_iter([
        ("type".to_owned(), "offsetFromStart".into()),
        ("offsetMs".to_owned(), 0.into()),
    ]);
    given.extend(timing.members());
    let timing = self::timing(Body::of(&given), &BROKEN_TIMING)?;
    if timing.get("durationMs").is_some_and(|duration| duration == "0") {
        return Err(Error::Rule(&TIMING_INVALID));
    }
    resource.insert("timing".into(), timing);
    if let Some(position) = body.object("position", "position")? {
        let corner = corner(position).ok_or(&POSITION_INVALID)?;
        resource.insert("position".into(), corner);
    }
    if let Some(target) = body.filled_text("targetChannelId")? {
        CHANNELS.peek(tx, &target)?.ok_or(&TARGET_CHANNEL_NOT_FOUND)?;
        resource.insert("targetChannelId".into(), target.into());
    }
    let pictures = match &sent.processed {
        Processed::Pictures(Ok(pictures)) => pictures,
        Processed::Pictures(Err(PictureError::TooWide { .. })) => {
            return Err(Error::Rule(&IMAGE_TOO_WIDE));
        }
        Processed::Pictures(Err(PictureError::TooTall { .. })) => {
            return Err(Error::Rule(&IMAGE_TOO_TALL));
        }
        _ => return Err(Error::Rule(&IMAGE_FORMAT_UNSUPPORTED)),
    };
    picture::set(tx, &format!("watermark/{id}"), &pictures.pieces)?;
    // What is shown are the renderings; the file itself is not needed again.
    media::discard(tx, sent.id);
    WATERMARKS.put(tx, &id, &stored::print(&resource));
    Ok(Reply::empty())
}

fn unset(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = owned(call)?;
    picture::unset(tx, &format!("watermark/{id}"))?;
    WATERMARKS.delete(tx, &id);
    Ok(Reply::empty())
}
