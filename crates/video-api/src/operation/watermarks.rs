//! Watermarks: a picture over a channel's videos, and when and where it is shown.

use serde_json::Map;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use super::{Call, Found, OWNER, Operation, Param, Run, Upload};
use crate::account::{Scope, Scopes};
use crate::envelope::Reply;
use crate::error::{Absent, Error, Forbidden, Rule};
use crate::model::channel;
use crate::model::picture::Picture;
use crate::model::stored::Stored;
use crate::model::text::Body;
use crate::tables::{CHANNELS, WATERMARKS};
use crate::upload::media;

/// `watermarks.set`.
pub(super) const SET: Operation = Operation {
    doc: "Upload a watermark image and set it for a channel.",
    params: &[Param::text("channelId", "The id of a channel.").required(), OWNER],
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::Upload, Scope::Partner]),
    request: Some("InvideoBranding"),
    upload: Some(Upload { accept: &["image/jpeg", "image/png", "application/octet-stream"], bytes_max: 10_485_760, required: true }),
    ..Operation::insert("watermarks.set", "/watermarks/set", Run::Call(set))
};

/// `watermarks.unset`.
pub(super) const UNSET: Operation = Operation {
    doc: "Delete a channel's watermark image.",
    params: &[Param::text("channelId", "The id of a channel.").required(), OWNER],
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::Partner]),
    ..Operation::insert("watermarks.unset", "/watermarks/unset", Run::Call(unset))
};

fn owned(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<String, Error> {
    let id = call.params.get("channelId").unwrap_or_default().to_owned();
    CHANNELS.peek(tx, &id)?.ok_or(Absent::Channel)?;
    if call.caller.owns(&id) { Ok(id) } else { Err(Forbidden::Watermark.into()) }
}

fn set(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = owned(call, tx)?;
    let uploaded = call.uploaded.ok_or(Error::MediaBodyRequired)?;
    let body = Body::of(call.body);
    let mut resource = Map::new();
    let timing = body.object("timing", "timing")?.ok_or(Rule::WatermarkResource)?;
    if timing.number("durationMs")? == Some(0) {
        return Err(Rule::WatermarkTiming.into());
    }
    resource.insert("timing".into(), channel::timing(timing)?);
    if let Some(position) = body.object("position", "position")? {
        let corner = position.text("cornerPosition")?.unwrap_or_else(|| "topRight".into());
        if !["topLeft", "topRight", "bottomLeft", "bottomRight"].contains(&corner.as_str()) {
            return Err(Rule::WatermarkTiming.into());
        }
        resource.insert("position".into(), serde_json::json!({"type": "corner", "cornerPosition": corner}));
    }
    if let Some(target) = body.text("targetChannelId")? {
        CHANNELS.peek(tx, &target)?.ok_or(Absent::Channel)?;
        resource.insert("targetChannelId".into(), target.into());
    }
    if uploaded.found == Found::NoPicture {
        return Err(Rule::WatermarkFormat.into());
    }
    discard(tx, &id)?;
    let picture = Picture { channel: id.clone(), media: uploaded.media, content_type: uploaded.content_type.clone() };
    let mut stored = Stored::new(picture);
    stored.set("resource", &resource);
    WATERMARKS.put(tx, &id, &stored);
    Ok(Reply::empty())
}

fn unset(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let id = owned(call, tx)?;
    discard(tx, &id)?;
    Ok(Reply::empty())
}

fn discard(tx: &mut Tx<'_>, id: &String) -> Result<(), Error> {
    if let Some(old) = WATERMARKS.get(tx, id)? {
        media::discard(tx, old.head.media);
        WATERMARKS.delete(tx, id);
    }
    Ok(())
}
