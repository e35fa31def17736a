//! Rendering an activity, and whether it is shown at all.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use triptych_core::kv::{Plan, Tx};
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::response::{Item, etag};
use crate::record::id;
use crate::record::stored::{self, Stored};
use crate::resource::activities::record::{Event, Thing};
use crate::resource::channels::record::{CHANNELS, Channel};
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::sight;
use crate::resource::playlist_items::order::ORDER;
use crate::resource::playlist_items::record::ITEMS;
use crate::resource::playlists::record::{PLAYLISTS, Playlist};
use crate::resource::playlists::render as playlists;
use crate::resource::videos::record::VIDEOS;
use crate::resource::videos::render::{LISTED_VIDEOS, ListedVideo};

/// Whoever asks, and how.
#[derive(Debug, Clone, Copy)]
pub(super) struct Audience<'a> {
    /// The caller.
    pub(super) caller: &'a Caller,
    /// True if the caller asks for the caller's own; else what everybody sees is shown.
    pub(super) is_own: bool,
    /// The region where videos are to be viewed.
    pub(super) region: Option<&'a str>,
}

/// A resource that is there to be shown.
pub(super) enum Shown {
    Video(Arc<ListedVideo>),
    Channel(Arc<Stored<Channel>>),
    /// With its pictures.
    Playlist(Arc<Stored<Playlist>>, Value),
    /// There is none.
    Nothing,
}

/// Plans what [`find`] reads.
pub(super) fn plan(plan: &mut Plan<'_>, channel: &str, event: &Event) {
    match event {
        Event::ChannelItem(_) => drop(plan.row(&CHANNELS, &channel.to_owned())),
        Event::Comment { comment, .. } => sight::plan(plan, comment, channel),
        Event::PlaylistItem { playlist, number, .. } => {
            plan.row(&PLAYLISTS, playlist);
            plan.row(&ITEMS, &(playlist.clone(), *number));
        }
        _ => {}
    }
    match event.thing() {
        Some(Thing::Video(id)) => drop(plan.row(&LISTED_VIDEOS, &id)),
        Some(Thing::Channel(id)) => drop(plan.row(&CHANNELS, &id)),
        Some(Thing::Playlist(id)) => {
            plan.row(&PLAYLISTS, &id);
            let first = plan.row(&ORDER, &id).and_then(|order| order.first_video);
            first.iter().for_each(|video| drop(plan.row(&VIDEOS, video)));
        }
        None => {}
    }
}

/// The thing that an activity is about, if it is shown to the audience: nothing of what was undone, deleted or hidden is.
pub(super) fn find(
    tx: &mut Tx<'_>,
    channel: &str,
    event: &Event,
    audience: &Audience<'_>,
) -> Result<Option<Shown>, Error> {
    if !is_done(tx, channel, event, audience)? {
        return Ok(None);
    }
    let Some(thing) = event.thing() else {
        return Ok(Some(Shown::Nothing));
    };
    Ok(match thing {
        Thing::Video(id) => {
            let is_shown = |video: &Arc<ListedVideo>| {
                let head = &video.record.head;
                let region = audience.region.zip(head.regions.as_ref());
                let is_closed = region.is_some_and(|(region, regions)| regions.close(region));
                let own = audience.is_own && head.is_visible(audience.caller);
                let is_closing = audience.caller.closing.holds(&head.channel);
                !is_closed && !is_closing && (own || head.is_listed())
            };
            LISTED_VIDEOS.peek_shared(tx, &id)?.filter(is_shown).map(Shown::Video)
        }
        Thing::Channel(id) => CHANNELS.peek_shared(tx, &id)?.map(Shown::Channel),
        Thing::Playlist(id) => match playlist(tx, &id, audience)? {
            Some(playlist) => {
                let first = ORDER.peek(tx, &id)?.and_then(|order| order.first_video);
                let picture = playlists::picture(tx, first.as_deref(), audience.caller)?;
                Some(Shown::Playlist(playlist, picture))
            }
            None => None,
        },
    })
}

fn playlist(
    tx: &mut Tx<'_>,
    id: &String,
    audience: &Audience<'_>,
) -> Result<Option<Arc<Stored<Playlist>>>, Error> {
    let is_shown = |playlist: &Arc<Stored<Playlist>>| {
        let own = audience.is_own && playlist.head.is_visible(audience.caller);
        own || (playlist.head.is_public() && playlist.head.is_visible(audience.caller))
    };
    Ok(PLAYLISTS.peek_shared(tx, id)?.filter(is_shown))
}

/// Returns whether the comment, the item or the section that an activity of a channel made is still there and seen.
fn is_done(
    tx: &mut Tx<'_>,
    channel: &str,
    event: &Event,
    audience: &Audience<'_>,
) -> Result<bool, Error> {
    match event {
        Event::ChannelItem(_) => {
            let channel = CHANNELS.peek_shared(tx, &channel.to_owned())?;
            Ok(audience.is_own || channel.is_some_and(|channel| channel.head.browse_view))
        }
        Event::Comment { comment, .. } => {
            let closing = Arc::clone(&audience.caller.closing);
            let nobody = Caller { closing, ..Caller::default() };
            let caller = if audience.is_own { audience.caller } else { &nobody };
            let found = sight::find(tx, comment, caller)?;
            Ok(found.is_some_and(|(comment, _)| {
                audience.is_own || comment.state == Moderation::Published
            }))
        }
        Event::PlaylistItem { playlist: id, number, .. } => {
            let is_open = playlist(tx, id, audience)?.is_some();
            Ok(is_open && ITEMS.peek(tx, &(id.clone(), *number))?.is_some())
        }
        _ => Ok(true),
    }
}

/// The resource.
pub(super) fn render(
    channel: (&str, &Stored<Channel>),
    at: Timestamp,
    event: &Event,
    shown: &Shown,
    parts: &[&'static str],
) -> Item {
    let (channel, owner) = channel;
    let id = event.id(channel);
    let version = etag(format!("{id} {}", at.micros()).as_bytes());
    let mut item = Item::begin("activity", &version, Some(&id));
    for part in parts {
        match *part {
            "snippet" => {
                let mut snippet = about(shown);
                snippet.insert("publishedAt".into(), at.rfc3339().into());
                snippet.insert("channelId".into(), channel.into());
                snippet.insert("channelTitle".into(), owner.head.title.clone().into());
                snippet.insert("type".into(), event.kind().into());
                if let Some(group) = event.group(channel) {
                    snippet.insert("groupId".into(), group.into());
                }
                item.part(part, &stored::print(&snippet));
            }
            "contentDetails" => {
                let details = json!({event.kind(): details(event)});
                let empty = Map::new();
                item.part(part, &stored::print(details.as_object().unwrap_or(&empty)));
            }
            _ => {}
        }
    }
    item.end()
}

/// Title, description and pictures of what an activity is about.
fn about(shown: &Shown) -> Map<String, Value> {
    let (snippet, picture) = match shown {
        Shown::Video(video) => (video.record.value("snippet"), None),
        Shown::Channel(channel) => (channel.value("snippet"), None),
        Shown::Playlist(playlist, picture) => (playlist.value("snippet"), Some(picture.clone())),
        Shown::Nothing => (Map::new(), None),
    };
    let mut out = Map::new();
    for name in ["title", "description", "thumbnails"] {
        let value = snippet.get(name).cloned();
        let value = value.or_else(|| picture.clone().filter(|_| name == "thumbnails"));
        if let Some(value) = value {
            out.insert(name.into(), value);
        }
    }
    out
}

fn resource_id(thing: &Thing) -> Value {
    let (member, id) = thing.named();
    json!({"kind": thing.kind(), member: id})
}

fn details(event: &Event) -> Value {
    match event {
        Event::Upload(video) => json!({"videoId": video}),
        Event::PlaylistItem { playlist, number, video } => json!({
            "resourceId": resource_id(&Thing::Video(video.clone())),
            "playlistId": playlist,
            "playlistItemId": id::item(playlist, &id::item_number(*number)),
        }),
        Event::Other { details, .. } => Value::Object(details.clone()),
        other => match other.thing() {
            Some(thing) => json!({"resourceId": resource_id(&thing)}),
            None => json!({}),
        },
    }
}
