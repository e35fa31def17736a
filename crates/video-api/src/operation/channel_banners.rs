//! Banners: the first two of the three steps by which a channel gets one. The third is channels.update.

use serde_json::json;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use super::{Call, Found, OWNER, OWNER_CHANNEL, Operation, Param, Run, Upload};
use crate::account::{Scope, Scopes};
use crate::envelope::{Item, Reply, etag};
use crate::error::{Error, Forbidden, Rule};
use crate::model::id;
use crate::model::picture::Picture;
use crate::tables::BANNERS;

/// The least width and height of a banner.
const BANNER_MIN: (u32, u32) = (2_048, 1_152);


/// `channelBanners.insert`.
pub(super) const INSERT: Operation = Operation {
    doc: "Upload a banner image; is the first two steps of a three-step banner update and returns the URL for the last step.",
    params: &[Param::text("channelId", "The id of a channel."), OWNER, OWNER_CHANNEL],
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::Upload]),
    request: Some("ChannelBannerResource"),
    response: Some("ChannelBannerResource"),
    upload: Some(Upload { accept: &["image/jpeg", "image/png", "application/octet-stream"], bytes_max: 6_291_456, required: true }),
    ..Operation::insert("channelBanners.insert", "/channelBanners/insert", Run::Call(insert))
};

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let channel = call.caller.channel()?;
    if call.params.get("channelId").is_some_and(|wanted| wanted != channel) {
        return Err(Forbidden::Banner.into());
    }
    let uploaded = call.uploaded.ok_or(Error::MediaBodyRequired)?;
    match uploaded.found {
        Found::NoPicture => return Err(Rule::BannerShape.into()),
        Found::Picture { width, height } => {
            // 16:9, give or take what a division of whole pixels leaves.
            let (w, h) = (u64::from(width), u64::from(height));
            if width < BANNER_MIN.0 || height < BANNER_MIN.1 || (w * 9).abs_diff(h * 16) > w {
                return Err(Rule::BannerShape.into());
            }
        }
        Found::Unknown | Found::Video(_) => {}
    }
    let banner = id::picture(ids);
    let picture = Picture { channel: channel.to_owned(), media: uploaded.media, content_type: uploaded.content_type.clone() };
    BANNERS.put(tx, &banner, &picture);
    let url = json!(format!("\u{1}/banner/{banner}")).to_string().replace("\\u0001", "\u{1}");
    let mut item = Item::begin("channelBannerResource", &etag(url.as_bytes()), None);
    item.part("url", url.as_bytes());
    Ok(Reply::resource(&item.end()))
}
