//! Rendering a playlist.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use triptych_core::kv::Tx;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::response::{Item, unescape_base};
use crate::record::stored::Stored;
use crate::record::thumbnail::Source;
use crate::record::{localized, stored, thumbnail};
use crate::resource::playlist_items::order::ORDER;
use crate::resource::playlists::record::Playlist;
use crate::resource::videos::record::VIDEOS;

/// The contents of a playlist, as its resource shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// Number of items.
    pub total: u64,
    /// Its thumbnails.
    pub picture: Value,
}

/// The thumbnails of a playlist that begins with this video: the video's own, where the viewer may see it, else those of none.
///
/// # Errors
/// As the store.
pub fn picture(
    tx: &mut Tx<'_>,
    first_video: Option<&str>,
    caller: &Caller,
) -> Result<Value, Error> {
    let none = Source::default();
    let Some(id) = first_video else {
        return Ok(thumbnail::of_video(thumbnail::NONE, none));
    };
    let video = VIDEOS.peek_shared(tx, &id.to_owned())?;
    Ok(match video.filter(|video| video.head.is_visible(caller)) {
        Some(video) => {
            thumbnail::of_video(id, Source { key: video.head.picture_source().key, ..none })
        }
        None => thumbnail::of_video(thumbnail::NONE, none),
    })
}

/// Plans the videos whose pictures these playlists show.
///
/// # Errors
/// As the store.
pub fn plan_pictures<'i>(
    tx: &mut Tx<'_>,
    playlists: impl Iterator<Item = &'i String>,
) -> Result<(), Error> {
    let mut first = Vec::new();
    for id in playlists {
        first.extend(ORDER.peek(tx, id)?.and_then(|order| order.first_video));
    }
    tx.plan(|plan| {
        for video in &first {
            plan.row(&VIDEOS, video);
        }
    })?;
    Ok(())
}

/// The resource of a playlist that is in an order of its own.
///
/// # Errors
/// As the store.
pub fn render(
    tx: &mut Tx<'_>,
    id: &str,
    playlist: &Stored<Playlist>,
    parts: &[&'static str],
    language: Option<&str>,
    caller: &Caller,
) -> Result<Item, Error> {
    let needs_order = parts.iter().any(|part| ["snippet", "contentDetails"].contains(part));
    let mut contents = Contents::default();
    if needs_order {
        let order = ORDER.peek(tx, &id.to_owned())?.unwrap_or_default();
        contents.total = order.total().into();
        if parts.contains(&"snippet") {
            contents.picture = picture(tx, order.first_video.as_deref(), caller)?;
        }
    }
    Ok(show(id, playlist, &contents, parts, language))
}

/// The resource of a playlist that holds this.
#[must_use]
pub fn show(
    id: &str,
    playlist: &Stored<Playlist>,
    contents: &Contents,
    parts: &[&'static str],
    language: Option<&str>,
) -> Item {
    let mut item = Item::begin("playlist", &playlist.etag(), Some(id));
    for part in parts {
        let text: Bytes = match *part {
            "id" => continue,
            "snippet" => snippet_text(playlist, contents, language),
            "status" => {
                let mut status = json!({"privacyStatus": playlist.head.privacy.name()});
                if let (Some(podcast), Some(map)) = (&playlist.head.podcast, status.as_object_mut())
                {
                    map.insert("podcastStatus".into(), podcast.clone().into());
                }
                status.to_string().into()
            }
            "contentDetails" => format!("{{\"itemCount\":{}}}", contents.total).into(),
            "player" => {
                let html = format!(
                    "<iframe width=\"640\" height=\"360\" src=\"\u{1}/embed/videoseries?list={id}\" frameborder=\"0\" allow=\"autoplay; encrypted-media\" allowfullscreen></iframe>"
                );
                unescape_base(json!({"embedHtml": html}).to_string().into())
            }
            "localizations" => match localized::part(playlist, playlist.head.language.as_deref()) {
                Some(text) => text,
                None => continue,
            },
            other => match playlist.part(other) {
                Some(text) => text.clone(),
                None => continue,
            },
        };
        item.part(part, &text);
    }
    item.end()
}

fn snippet_text(playlist: &Stored<Playlist>, contents: &Contents, language: Option<&str>) -> Bytes {
    let text = localized::snippet(playlist, playlist.head.language.as_deref(), language);
    let text = text.or_else(|| playlist.part("snippet").cloned()).unwrap_or_default();
    let mut thumbnails = Map::new();
    thumbnails.insert("thumbnails".into(), contents.picture.clone());
    let thumbnails = stored::print(&thumbnails);
    let mut out = Vec::with_capacity(text.len() + thumbnails.len());
    out.extend_from_slice(text.get(..text.len().saturating_sub(1)).unwrap_or_default());
    out.push(b',');
    out.extend_from_slice(thumbnails.get(1..).unwrap_or_default());
    out.into()
}
