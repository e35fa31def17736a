//! Taking out of a channel's own words what is gone: its trailer, and the videos and channels that it promotes.

use serde_json::{Map, Value};
use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::record::stored::{self, Stored};
use crate::resource::channels::record::{CHANNELS, Channel};
use crate::resource::watermarks::WATERMARKS;

/// The place of the channel whose latest upload an item promotes.
const RECENT_UPLOAD: &str = "/id/recentlyUploadedBy";

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
    promote_no_more(&mut new, "/id/videoId", video);
    if new != old {
        CHANNELS.put(tx, &key, &new);
    }
    Ok(())
}

/// Takes a channel that is gone out of the promotions and the watermarks of a step of channels, those after `seen`; gives the last of them if there is
/// more to do.
///
/// # Errors
/// As the store.
pub fn channel(
    tx: &mut Tx<'_>,
    gone: &str,
    seen: &str,
    most: usize,
) -> Result<Option<String>, Error> {
    let mut span = CHANNELS.span(&());
    span.from = Some(CHANNELS.key(&seen.to_owned()).to_vec());
    let (found, more) = CHANNELS.scan(tx, &span, most)?;
    tx.plan(|plan| found.iter().for_each(|(id, _)| drop(plan.row(&WATERMARKS, id))))?;
    for (id, old) in &found {
        let mut new = old.clone();
        promote_no_more(&mut new, RECENT_UPLOAD, gone);
        // What a scan found may be written meanwhile: the commit rests on what is read here.
        if new != *old
            && let Some(mut current) = CHANNELS.get(tx, id)?
        {
            promote_no_more(&mut current, RECENT_UPLOAD, gone);
            CHANNELS.put(tx, id, &current);
        }
        let Some(text) = WATERMARKS.get(tx, id)? else {
            continue;
        };
        let mut watermark: Map<String, Value> = serde_json::from_slice(&text).unwrap_or_default();
        if watermark.get("targetChannelId").and_then(Value::as_str) == Some(gone) {
            watermark.remove("targetChannelId");
            WATERMARKS.put(tx, id, &stored::print(&watermark));
        }
    }
    Ok(found.last().filter(|_| more).map(|(id, _)| id.clone()))
}

/// Takes those items out of a channel's promotions that name at this place what is gone.
fn promote_no_more(channel: &mut Stored<Channel>, place: &str, gone: &str) {
    let mut promotion = channel.value("invideoPromotion");
    let Some(items) = promotion.get_mut("items").and_then(Value::as_array_mut) else {
        return;
    };
    let before = items.len();
    items.retain(|item| item.pointer(place).is_none_or(|id| id != gone));
    if items.len() != before {
        channel.set("invideoPromotion", &promotion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use triptych_core::kv::{KeyValue as _, Memory};
    use triptych_core::time::Timestamp;

    #[test]
    fn a_channel_that_is_gone_is_taken_out_of_all_others_in_steps() {
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        let ids: Vec<_> = (0..7).map(|at| format!("UC{at}")).collect();
        for id in &ids {
            let mut channel = Stored::new(Channel {
                account: id.clone(),
                title: id.clone(),
                handle: None,
                published: Timestamp::EPOCH,
                language: None,
                hides_subscribers: false,
                hides_subscriptions: false,
                browse_view: false,
            });
            let item = |by: &str| json!({"id": {"type": "recentUpload", "recentlyUploadedBy": by}});
            let promotion = json!({"items": [item("UCgone"), item("UCgo"), item("UCgone")]});
            channel.set("invideoPromotion", promotion.as_object().unwrap());
            CHANNELS.put(&mut tx, id, &channel);
            let target = if id == "UC3" { "UC0" } else { "UCgone" };
            let watermark = json!({"targetChannelId": target, "timing": {}});
            WATERMARKS.put(&mut tx, id, &stored::print(watermark.as_object().unwrap()));
        }
        store.commit(tx.into_batch([0; 16])).wait().unwrap();
        let (mut seen, mut steps) = (String::new(), 0);
        loop {
            let mut tx = Tx::new(&store);
            let last = channel(&mut tx, "UCgone", &seen, 2).unwrap();
            store.commit(tx.into_batch([0; 16])).wait().unwrap();
            steps += 1;
            let Some(last) = last else {
                break;
            };
            assert!(last > seen, "each step goes on");
            seen = last;
        }
        assert!(steps >= 3);
        let mut tx = Tx::new(&store);
        for id in &ids {
            let promotion = CHANNELS.get(&mut tx, id).unwrap().unwrap().value("invideoPromotion");
            let left: Vec<_> = promotion["items"].as_array().unwrap().iter().collect();
            assert_eq!(left.len(), 1, "{id}");
            assert_eq!(left[0]["id"]["recentlyUploadedBy"], "UCgo");
            let watermark = WATERMARKS.get(&mut tx, id).unwrap().unwrap();
            let watermark: Value = serde_json::from_slice(&watermark).unwrap();
            let expected = if id == "UC3" { json!("UC0") } else { Value::Null };
            assert_eq!(watermark["targetChannelId"], expected, "{id}");
        }
    }
}
