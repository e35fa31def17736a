//! The snippet of a search result that has no snippet of its own kind.

use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::record::json_fields::text_of;
use crate::record::stored;

/// The snippet of a result that shows a resource with this snippet.
pub fn snippet(
    snippet: &Map<String, Value>,
    channel: &str,
    channel_title: &str,
    thumbnails: Value,
) -> Bytes {
    let published = text_of(snippet, "publishedAt");
    let shown = json!({
        "publishedAt": published, "channelId": channel, "title": text_of(snippet, "title"), "description": text_of(snippet, "description"),
        "thumbnails": thumbnails, "channelTitle": channel_title, "liveBroadcastContent": "none",
    });
    shown.as_object().map_or_else(Bytes::new, stored::print)
}
