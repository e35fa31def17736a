//! Overlays of a video while it plays: the watermark of its channel and what the channel promotes.

use serde_json::{Map, Value};
use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::record::closing;
use crate::record::json_fields::text_of;
use crate::resource::channels::record::CHANNELS;
use crate::resource::videos::record::{UPLOADS, VIDEOS};
use crate::resource::watermarks::WATERMARKS;

/// Something over the picture, with the link that it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Overlay {
    /// The corner: `topLeft`, `topRight`, `bottomLeft` or `bottomRight`.
    pub(super) corner: String,
    /// `offsetFromStart` or `offsetFromEnd`.
    pub(super) kind: String,
    /// Milliseconds.
    pub(super) offset: String,
    /// Milliseconds; to the end if absent.
    pub(super) length: Option<String>,
    /// The address that it leads to.
    pub(super) link: String,
    /// The picture or text that it shows.
    pub(super) face: Face,
}

/// The sight of something over the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Face {
    /// The picture of a channel's watermark.
    Watermark(String),
    /// Words.
    Words(String),
}

/// The corner of what names none.
const CORNER_DEFAULT: &str = "topRight";

/// The watermark of a channel, with the link to its target channel or to the channel itself.
pub(super) fn watermark(tx: &mut Tx<'_>, channel: &str) -> Result<Option<Overlay>, Error> {
    let Some(text) = WATERMARKS.peek(tx, &channel.to_owned())? else {
        return Ok(None);
    };
    let resource: Map<String, Value> = serde_json::from_slice(&text).unwrap_or_default();
    let target = resource.get("targetChannelId").and_then(Value::as_str).unwrap_or(channel);
    let timing = resource.get("timing").and_then(Value::as_object);
    Ok(timing.map(|timing| Overlay {
        link: format!("https://www.youtube.com/channel/{target}"),
        ..shown(timing, corner(&resource), Face::Watermark(channel.to_owned()))
    }))
}

/// The items that a channel promotes in its videos.
pub(super) fn promotions(tx: &mut Tx<'_>, channel: &str) -> Result<Vec<Overlay>, Error> {
    let Some(stored) = CHANNELS.peek_shared(tx, &channel.to_owned())? else {
        return Ok(Vec::new());
    };
    let promotion = stored.value("invideoPromotion");
    let items = promotion.get("items").and_then(Value::as_array);
    let usual = promotion.get("defaultTiming").and_then(Value::as_object);
    let mut overlays = Vec::new();
    for item in items.into_iter().flatten().filter_map(Value::as_object) {
        let timing = item.get("timing").and_then(Value::as_object).or(usual);
        let id = item.get("id").and_then(Value::as_object);
        let (Some(timing), Some(id)) = (timing, id) else {
            continue;
        };
        let Some((link, title)) = target(tx, id)? else {
            continue;
        };
        let message = text_of(item, "customMessage");
        let words = if message.is_empty() { title } else { message };
        let face = Face::Words(words);
        overlays.push(Overlay { link, ..shown(timing, corner(&promotion), face) });
    }
    Ok(overlays)
}

/// The link of a promoted item, and its title; nothing where there is nothing that everyone sees.
fn target(tx: &mut Tx<'_>, id: &Map<String, Value>) -> Result<Option<(String, String)>, Error> {
    let video = match id.get("type").and_then(Value::as_str) {
        Some("website") => {
            let url = text_of(id, "websiteUrl");
            return Ok(Some((url.clone(), url)));
        }
        Some("video") => text_of(id, "videoId"),
        _ => {
            let channel = text_of(id, "recentlyUploadedBy");
            let (rows, _) = UPLOADS.scan(tx, &UPLOADS.span(&(channel, 0_u8)), 1)?;
            match rows.into_iter().next() {
                Some(((_, _, _, video), ())) => video,
                None => return Ok(None),
            }
        }
    };
    let closing = closing::peek(tx)?;
    let found = VIDEOS.peek_shared(tx, &video)?;
    let found = found.filter(|found| found.head.is_shared() && !closing.holds(&found.head.channel));
    Ok(found.map(|found| (video.clone(), text_of(&found.value("snippet"), "title"))))
}

fn corner(resource: &Map<String, Value>) -> String {
    let position = resource.get("position").and_then(Value::as_object);
    let corner = position.map(|position| text_of(position, "cornerPosition"));
    corner.filter(|corner| !corner.is_empty()).unwrap_or_else(|| CORNER_DEFAULT.into())
}

fn shown(timing: &Map<String, Value>, corner: String, face: Face) -> Overlay {
    Overlay {
        corner,
        kind: text_of(timing, "type"),
        offset: text_of(timing, "offsetMs"),
        length: timing.get("durationMs").and_then(Value::as_str).map(str::to_owned),
        link: String::new(),
        face,
    }
}
