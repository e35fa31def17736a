//! Rendering a track: all of it but its content.

use super::record::Caption;
use crate::api::response::{Item, Object};

/// The resource.
#[must_use]
pub(super) fn render(id: &str, caption: &Caption, parts: &[&'static str]) -> Item {
    let mut item = Item::begin("caption", &caption.etag(), Some(id));
    if parts.contains(&"snippet") {
        let mut out = Object::new();
        out.text("videoId", &caption.video);
        out.text("lastUpdated", &caption.updated.rfc3339_millis());
        out.text("trackKind", &caption.traits.track_kind);
        out.text("language", &caption.language);
        out.text("name", &caption.name);
        out.text("audioTrackType", &caption.traits.audio_track_type);
        out.flag("isCC", caption.traits.is_cc);
        out.flag("isLarge", caption.traits.is_large);
        out.flag("isEasyReader", caption.traits.is_easy_reader);
        out.flag("isDraft", caption.is_draft);
        out.flag("isAutoSynced", caption.is_synced);
        out.text("status", caption.status());
        if let Some(reason) = caption.failure() {
            out.text("failureReason", reason);
        }
        item.part("snippet", &out.end());
    }
    item.end()
}
