//! Taking out of a channel's own words what is gone: its trailer, and the videos that it promotes.

use serde_json::Value;
use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::resource::channels::record::CHANNELS;

/// Takes a video that is gone out of the branding and the promotions of its channel.
///
/// # Errors
/// As the store.
pub fn video(tx: &mut Tx<'_>, channel: &str, video: &str) -> Result<(), Error> {
    let key = channel.to_owned();
    let Some(old) = CHANNELS.get(tx, &key)? else {
        return Ok(());
    };
    let mut new = old.clone();
    let mut branding = old.value("brandingSettings");
    let settings = branding.get_mut("channel").and_then(Value::as_object_mut);
    if let Some(settings) = settings
        && settings.get("unsubscribedTrailer").and_then(Value::as_str) == Some(video)
    {
        settings.remove("unsubscribedTrailer");
        new.set("brandingSettings", &branding);
    }
    let mut promotion = old.value("invideoPromotion");
    if let Some(items) = promotion.get_mut("items").and_then(Value::as_array_mut) {
        let before = items.len();
        items.retain(|item| item.pointer("/id/videoId").is_none_or(|id| id != video));
        if items.len() != before {
            new.set("invideoPromotion", &promotion);
        }
    }
    if new != old {
        CHANNELS.put(tx, &key, &new);
    }
    Ok(())
}
