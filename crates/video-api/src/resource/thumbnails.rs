//! Custom pictures of videos.

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::api::error::{Error, Place, Rule, rules};
use crate::api::operation::call::Call;
use crate::api::operation::{Operation, Run, UPLOAD, Upload};
use crate::api::parameter::{OWNER, Param};
use crate::api::response::{List, Reply};
use crate::media::{Processed, Processing};
use crate::picture;
use crate::record::{stored, thumbnail};
use crate::resource::Resource;
use crate::resource::videos::record::VIDEOS;
use crate::resource::videos::{patch, store};
use crate::upload::media;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[SET], rules: RULES, ..Resource::EMPTY };

rules! {
    /// The video of a thumbnail.
    VIDEO_NOT_FOUND = Rule::new(404, "youtube.thumbnail", "videoNotFound", Place::parameter("videoId"), "The video that you are trying to insert a thumbnail image for cannot be found. Check the value of the request's <code>videoId</code> parameter to ensure that it is correct.");
    /// A picture for somebody else's video.
    FORBIDDEN = Rule::new(403, "youtube.thumbnail", "forbidden", Place::parameter("videoId"), "The thumbnail can't be set for the specified video. The request might not be properly authorized.");
    /// Media that is no picture.
    IMAGE_INVALID = Rule::new(400, "youtube.thumbnail", "invalidImage", Place::None, "The provided image content is invalid: a JPEG or PNG, of at most 40 million pixels.");
}

/// `thumbnails.set`.
const SET: Operation = Operation {
    doc: "Upload a custom video thumbnail and set it for a video.",
    params: &[Param::text("videoId", "The id of a video.").required(), OWNER],
    scopes: UPLOAD,
    response: Some("ThumbnailSetResponse"),
    upload: Some(Upload {
        accept: &["image/jpeg", "image/png", "application/octet-stream"],
        bytes_max: 52_428_800,
        required: true,
        processing: Processing::Render { sizes: picture::VIDEO, least: (1, 1) },
    }),
    round_trips: RoundTrips::of(6, 1),
    ..Operation::insert("thumbnails.set", "/thumbnails/set", Run::Call(set))
};

fn set(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = call.params.get("videoId").unwrap_or_default().to_owned();
    if let Ok(channel) = call.caller.channel() {
        tx.plan(|plan| store::plan(plan, &id, channel))?;
    }
    let old = VIDEOS
        .get(tx, &id)?
        .filter(|video| video.head.is_visible(call.caller))
        .ok_or(&VIDEO_NOT_FOUND)?;
    if !call.caller.owns(&old.head.channel) {
        return Err(Error::Rule(&FORBIDDEN));
    }
    let sent = call.media.ok_or(Error::MediaBodyRequired)?;
    let Processed::Pictures(Ok(pictures)) = &sent.processed else {
        return Err(Error::Rule(&IMAGE_INVALID));
    };
    picture::set(tx, &format!("vi/{id}"), &pictures.pieces)?;
    // What is shown are the renderings; the file itself is not needed again.
    media::discard(tx, sent.id);
    let mut new = old.clone();
    new.head.has_thumbnail = true;
    new.head.thumbnail_size = Some(pictures.source);
    patch::refresh(&id, &mut new);
    store::replace(tx, &id, &old, &new)?;
    let mut list = List::new("thumbnailSetResponse");
    let details = serde_json::Map::from_iter([(
        "t".to_owned(),
        thumbnail::of_video(&id, new.head.picture_source()),
    )]);
    let text = stored::print(&details);
    list.push_text(text.get(5..text.len().saturating_sub(1)).unwrap_or_default());
    Ok(list.end(None))
}
