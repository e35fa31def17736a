//! Rendering a playlist item.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};
use triptych_core::kv::Table;

use crate::api::response::{Item, Object, etag, string};
use crate::record::id;
use crate::record::render_cache::RenderCache;
use crate::record::stored::Stored;
use crate::resource::playlist_items::record::PlaylistItem;
use crate::resource::videos::record::Video;
use crate::resource::videos::render::{ListedVideo, as_item};

/// The same, as lists read them.
pub const LISTED_ITEMS: Table<(String, u64), ListedItem> = Table::new(0x35);

/// An item as lists read it.
pub type ListedItem = RenderCache<PlaylistItem, RenderKey>;

/// Everything that a resource follows from beside its item and the playlist.
#[derive(Debug)]
pub struct RenderKey {
    title: String,
    position: Option<u32>,
    video: Option<Arc<ListedVideo>>,
    visible: bool,
    parts: Vec<&'static str>,
}

impl RenderKey {
    fn is(&self, shown: &Shown<'_>, video: Option<&Arc<ListedVideo>>, parts: &[&str]) -> bool {
        let same_video = match (&self.video, video) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (before, now) => before.is_none() && now.is_none(),
        };
        same_video
            && (self.position, self.visible) == (shown.position, shown.visible)
            && self.title == shown.owner.1
            && self.parts == parts
    }
}

/// The resource of an item that is `shown` so, as it was shown before where nothing of it is another now.
#[must_use]
pub fn list(
    listed: &ListedItem,
    shown: &Shown<'_>,
    video: Option<&Arc<ListedVideo>>,
    parts: &[&'static str],
) -> Arc<Item> {
    let show = || {
        let with = RenderKey {
            title: shown.owner.1.to_owned(),
            position: shown.position,
            video: video.map(Arc::clone),
            visible: shown.visible,
            parts: parts.to_owned(),
        };
        (with, render(shown, parts))
    };
    listed.show(|with| with.is(shown, video, parts), show)
}

/// The form in which an item is shown.
#[derive(Debug)]
pub struct Shown<'s> {
    /// The id of the playlist as the client knows it.
    pub playlist: &'s str,
    /// The channel that owns the playlist, and its title.
    pub owner: (&'s str, &'s str),
    /// The item's own part of its id.
    pub number: Number<'s>,
    /// Its position, if it was counted.
    pub position: Option<u32>,
    /// The item.
    pub item: &'s PlaylistItem,
    /// Its video, if it is still there.
    pub video: Option<&'s Stored<Video>>,
    /// True if the caller may see the video.
    pub visible: bool,
}

/// An item's own part of its id.
#[derive(Debug, Clone, Copy)]
pub enum Number<'s> {
    /// In an order.
    Ordered(u64),
    /// In a list by time.
    Timed(&'s str),
}

/// The resource.
#[must_use]
pub fn render(shown: &Shown<'_>, parts: &[&'static str]) -> Item {
    let id = match shown.number {
        Number::Ordered(number) => id::item(shown.playlist, &id::item_number(number)),
        Number::Timed(number) => id::item(shown.playlist, number),
    };
    let version = etag(&version(shown, &id));
    let mut item = Item::begin("playlistItem", &version, Some(&id));
    for part in parts {
        match *part {
            "id" => {}
            "snippet" => snippet(shown, &mut item),
            "contentDetails" => item.part(part, &content_details(shown)),
            _ => {
                let mut status = Object::new();
                status.text("privacyStatus", privacy(shown));
                item.part(part, &status.end());
            }
        }
    }
    let video = shown.video.map(Stored::etag);
    // The version tells no place in a list by time, which the item does.
    item.end().etag_input((shown.owner, video, shown.visible, shown.position))
}

/// The version of an item is all that can be written of it and, in an order, where it is: nobody writes its place in a list by time.
fn version(shown: &Shown<'_>, id: &str) -> Vec<u8> {
    let item = shown.item;
    let mut out = Vec::with_capacity(160);
    if let (Number::Ordered(_), Some(position)) = (shown.number, shown.position) {
        out.extend_from_slice(&position.to_be_bytes());
    }
    out.extend_from_slice(&item.added.micros().to_be_bytes());
    let written = [&item.note, &item.start_at, &item.end_at].map(Option::as_deref);
    for text in [Some(id), Some(&item.video)].into_iter().chain(written) {
        // No text holds this byte, so that no two versions are the same bytes.
        let text = text.map_or([0xFF].as_slice(), str::as_bytes);
        out.extend_from_slice(text);
        out.push(0xFE);
    }
    out
}

fn privacy(shown: &Shown<'_>) -> &'static str {
    shown.video.map_or("privacyStatusUnspecified", |video| video.head.privacy.name())
}

fn snippet(shown: &Shown<'_>, item: &mut Item) {
    let mut text = Object::new();
    text.text("publishedAt", &shown.item.added.rfc3339());
    text.text("channelId", shown.owner.0);
    text.text("channelTitle", shown.owner.1);
    text.text("playlistId", shown.playlist);
    let video = shown.video.filter(|_| shown.visible);
    if video.is_none() {
        let (title, description) = match shown.video {
            None => ("Deleted video", "This video is unavailable."),
            Some(_) => ("Private video", "This video is private."),
        };
        text.text("title", title);
        text.text("description", description);
        text.value("thumbnails", &Map::<String, Value>::new());
    }
    item.begin_part("snippet");
    item.open(&text);
    if let Some(video) = video {
        item.text.push(b',');
        item.served(&as_item(video));
    }
    if let Some(position) = shown.position {
        item.text.extend_from_slice(b",\"position\":");
        item.text.extend_from_slice(position.to_string().as_bytes());
    }
    item.text.extend_from_slice(b",\"resourceId\":{\"kind\":\"youtube#video\",\"videoId\":");
    string(&mut item.text, &shown.item.video);
    item.text.extend_from_slice(b"}}");
}

fn content_details(shown: &Shown<'_>) -> Bytes {
    let item = shown.item;
    let published = shown
        .video
        .filter(|video| shown.visible && video.head.is_shared())
        .map(|video| video.head.published.rfc3339());
    let mut out = Object::new();
    for (name, value) in [
        ("endAt", item.end_at.as_ref()),
        ("note", item.note.as_ref()),
        ("startAt", item.start_at.as_ref()),
        ("videoId", Some(&item.video)),
        ("videoPublishedAt", published.as_ref()),
    ] {
        if let Some(value) = value {
            out.text(name, value);
        }
    }
    out.end()
}
