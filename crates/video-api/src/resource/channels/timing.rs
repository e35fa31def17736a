//! The time and the corner at which a promotion or a watermark is shown over a video.

use serde_json::{Value, json};

use crate::api::error::Rule;
use crate::record::json_fields::Body;

/// The rules that a timing can break, with its place in the body that holds it.
#[derive(Debug)]
pub struct TimingRules {
    /// Its type is none.
    pub kind: &'static Rule,
    /// It has no offset.
    pub offset_required: &'static Rule,
    /// Its offset is no number.
    pub offset: &'static Rule,
    /// Its duration is no number.
    pub duration: &'static Rule,
}

/// The time when a promotion or a watermark is shown: type, offset and duration, numbers as text.
///
/// # Errors
/// The [`TimingRules`]: of the type, of the offset, of the duration.
pub fn timing(given: Body<'_>, broken: &TimingRules) -> Result<Value, &'static Rule> {
    let kind = given.text("type").map_err(|_| broken.kind)?;
    let kind = kind
        .filter(|kind| ["offsetFromStart", "offsetFromEnd"].contains(&kind.as_str()))
        .ok_or(broken.kind)?;
    let offset = given.number("offsetMs").map_err(|_| broken.offset)?;
    let offset = offset.ok_or(broken.offset_required)?;
    let duration = given.number("durationMs").map_err(|_| broken.duration)?;
    let mut out = json!({"type": kind, "offsetMs": offset.to_string()});
    if let (Some(duration), Some(map)) = (duration, out.as_object_mut()) {
        map.insert("durationMs".into(), duration.to_string().into());
    }
    Ok(out)
}

/// The corner where a promotion or a watermark is shown; `None` if that is no corner.
#[must_use]
pub fn corner(given: Body<'_>) -> Option<Value> {
    let text = |name| given.text(name).ok();
    let kind = text("type")?.unwrap_or_else(|| "corner".into());
    let corner = text("cornerPosition")?.unwrap_or_else(|| "topRight".into());
    let known = ["topLeft", "topRight", "bottomLeft", "bottomRight"].contains(&corner.as_str());
    (kind == "corner" && known).then(|| json!({"type": kind, "cornerPosition": corner}))
}
