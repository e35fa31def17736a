//! Promotions of a channel in its videos (`invideoPromotion`).

use serde_json::{Map, Value, json};
use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::record::json_fields::{Body, is_plain};
use crate::resource::channels::record::CHANNELS;
use crate::resource::channels::rules;
use crate::resource::channels::timing::{corner, timing};
use crate::resource::videos::record::VIDEOS;

/// A message has at most this many characters. Ours.
const MESSAGE_CHARS_MAX: usize = 500;
/// The address of a page has at most this many bytes. Ours.
const WEBSITE_BYTES_MAX: usize = 2_000;
/// A channel promotes at most so many things. Ours.
const ITEMS_MAX: usize = 20;

/// Reads `invideoPromotion` of the channel `id`.
///
/// # Errors
/// The rule that a value breaks, in the order defaultTiming, position, items.
pub fn read(tx: &mut Tx<'_>, id: &str, body: Body<'_>) -> Result<Map<String, Value>, Error> {
    let mut out = Map::new();
    let Some(given) = body.object("invideoPromotion", "invideoPromotion")? else {
        return Ok(out);
    };
    if let Some(given) = given.object("defaultTiming", "invideoPromotion.defaultTiming")? {
        out.insert("defaultTiming".into(), timing(given, &rules::DEFAULT_TIMING)?);
    }
    if let Some(position) = given.object("position", "invideoPromotion.position")? {
        out.insert("position".into(), corner(position).ok_or(&rules::PROMOTION_INVALID)?);
    }
    if let Some(smart) = given.flag("useSmartTiming")? {
        out.insert("useSmartTiming".into(), smart.into());
    }
    if let Some(items) = given.get("items") {
        let items = items
            .as_array()
            .filter(|items| items.len() <= ITEMS_MAX)
            .ok_or(&rules::PROMOTION_INVALID)?;
        let items = items.iter().map(|value| {
            let map = value.as_object().ok_or(&rules::PROMOTION_INVALID)?;
            item(tx, id, Body::of(map))
        });
        out.insert("items".into(), items.collect::<Result<Vec<_>, _>>()?.into());
    }
    Ok(out)
}

fn item(tx: &mut Tx<'_>, channel: &str, given: Body<'_>) -> Result<Value, Error> {
    let id =
        given.object("id", "invideoPromotion.items.id")?.ok_or(&rules::PROMOTION_ITEM_REQUIRED)?;
    let kind = id.text("type")?.ok_or(&rules::PROMOTION_ITEM_REQUIRED)?;
    let mut name = json!({"type": kind});
    let mut out = Map::new();
    let (member, value) = match kind.as_str() {
        "video" => {
            let video = id.text("videoId")?.unwrap_or_default();
            let found = VIDEOS.get(tx, &video)?;
            if found.is_none_or(|found| found.head.channel != channel) {
                return Err(Error::Rule(&rules::PROMOTED_VIDEO_FORBIDDEN));
            }
            ("videoId", video)
        }
        "website" => {
            let url = id.text("websiteUrl")?.unwrap_or_default();
            if !is_website(&url) {
                return Err(Error::Rule(&rules::PROMOTED_WEBSITE_FORBIDDEN));
            }
            ("websiteUrl", url)
        }
        "recentUpload" => {
            let by = id.filled_text("recentlyUploadedBy")?.unwrap_or_else(|| channel.into());
            CHANNELS.peek(tx, &by)?.ok_or(&rules::RECENT_UPLOAD_INVALID)?;
            ("recentlyUploadedBy", by)
        }
        _ => return Err(Error::Rule(&rules::PROMOTION_ITEM_REQUIRED)),
    };
    if let Some(map) = name.as_object_mut() {
        map.insert(member.into(), value.into());
    }
    out.insert("id".into(), name);
    if let Some(given) = given.object("timing", "invideoPromotion.items.timing")? {
        out.insert("timing".into(), timing(given, &rules::ITEM_TIMING)?);
    }
    if let Some(message) = given.text("customMessage")? {
        if message.chars().count() > MESSAGE_CHARS_MAX || !is_plain(&message) {
            return Err(Error::Rule(&rules::PROMOTION_MESSAGE_INVALID));
        }
        out.insert("customMessage".into(), message.into());
    }
    if let Some(flag) = given.flag("promotedByContentOwner")? {
        out.insert("promotedByContentOwner".into(), flag.into());
    }
    Ok(Value::Object(out))
}

fn is_website(url: &str) -> bool {
    let rest = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let is_stray = |letter: char| letter.is_whitespace() || letter.is_control();
    url.len() <= WEBSITE_BYTES_MAX
        && rest.is_some_and(|rest| !rest.is_empty() && is_plain(rest) && !rest.contains(is_stray))
}
