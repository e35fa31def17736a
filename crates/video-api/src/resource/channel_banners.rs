//! Banners: the first two of the three steps by which a channel gets one. The third is channels.update.

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Table, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::{Error, Place, Rule, rules};
use crate::api::operation::call::Call;
use crate::api::operation::{Operation, Run, Upload};
use crate::api::parameter::{OWNER, OWNER_CHANNEL, Param};
use crate::api::response::{Item, Reply, etag};
use crate::media::{Processed, Processing};
use crate::picture;
use crate::record::id;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::channels::record::Id;
use crate::upload::media;

/// Uploaded banners by their id: whose they are.
pub const BANNERS: Table<String, Id> = Table::new(0x15);

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[INSERT],
    rules: RULES,
    tables: &[TableEntry::new("banners", &BANNERS, Form::Json)],
    ..Resource::EMPTY
};

rules! {
    /// A banner for somebody else's channel.
    FORBIDDEN = Rule::new(403, "youtube.channelBanner", "forbidden", Place::parameter("channelId"), "The banner can't be uploaded for the specified channel. The request might not be properly authorized.");
    /// A banner that is no picture, or too small. Ours.
    BANNER_INVALID = Rule::new(400, "youtube.channelBanner", "bannerValidationError", Place::None, "The banner must be a JPEG or PNG of at least 2048 by 1152 pixels; what is not 16:9 gets black bars.");
}

/// The least width and height of a banner.
const BANNER_MIN: (u32, u32) = (2_048, 1_152);

/// `channelBanners.insert`.
const INSERT: Operation = Operation {
    doc: "Upload a banner image; is the first two steps of a three-step banner update and returns the URL for the last step.",
    params: &[Param::text("channelId", "The id of a channel."), OWNER, OWNER_CHANNEL],
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::Upload]),
    request: Some("ChannelBannerResource"),
    response: Some("ChannelBannerResource"),
    upload: Some(Upload {
        accept: &["image/jpeg", "image/png", "application/octet-stream"],
        bytes_max: 6_291_456,
        required: true,
        processing: Processing::Render { sizes: picture::BANNER, least: BANNER_MIN },
    }),
    round_trips: RoundTrips::of(5, 1),
    ..Operation::insert("channelBanners.insert", "/channelBanners/insert", Run::Call(insert))
};

fn insert(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let channel = call.caller.channel()?;
    if call.params.get("channelId").is_some_and(|wanted| wanted != channel) {
        return Err(Error::Rule(&FORBIDDEN));
    }
    let sent = call.media.ok_or(Error::MediaBodyRequired)?;
    let Processed::Pictures(Ok(pictures)) = &sent.processed else {
        return Err(Error::Rule(&BANNER_INVALID));
    };
    let banner = id::picture(ids);
    picture::set(tx, &format!("banner/{banner}"), &pictures.pieces)?;
    // What is shown are the renderings; the file itself is not needed again.
    media::discard(tx, sent.id);
    BANNERS.put(tx, &banner, &Id(channel.to_owned()));
    let url = format!("\"\u{1}/banner/{banner}\"");
    let mut item = Item::begin("channelBannerResource", &etag(url.as_bytes()), None);
    item.part("url", url.as_bytes());
    Ok(Reply::resource(&item.end()))
}
