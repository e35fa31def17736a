//! Rendering a playlist.

use bytes::Bytes;
use serde_json::{Map, json};
use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::api::response::Item;
use crate::record::stored::Stored;
use crate::record::{localized, stored, thumbnail};
use crate::resource::playlist_items::order::ORDER;
use crate::resource::playlists::record::Playlist;

/// The contents of a playlist, as its resource shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// Number of items.
    pub total: u64,
    /// The video of the first item.
    pub first_video: Option<String>,
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
) -> Result<Item, Error> {
    let needs_order = parts.iter().any(|part| ["snippet", "contentDetails"].contains(part));
    let mut contents = Contents::default();
    if needs_order {
        let order = ORDER.peek(tx, &id.to_owned())?.unwrap_or_default();
        contents = Contents { total: order.total().into(), first_video: order.first_video };
    }
    Ok(show(id, playlist, &contents, parts, language))
}

/// The resource of a playlist that holds this. Its picture is that of its first video.
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
                    "<iframe width=\"640\" height=\"360\" src=\"http://www.youtube.com/embed/videoseries?list={id}\" frameborder=\"0\" allow=\"autoplay; encrypted-media\" allowfullscreen></iframe>"
                );
                json!({"embedHtml": html}).to_string().into()
            }
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
    let mut text = playlist.part("snippet").cloned().unwrap_or_default();
    if let Some(language) = language {
        let localizations = playlist.value("localizations");
        if let Some(localized) = localized::in_language(&localizations, language) {
            let mut snippet = playlist.value("snippet");
            snippet.insert("localized".into(), localized.clone());
            text = stored::print(&snippet);
        }
    }
    let mut thumbnails = Map::new();
    let video = contents.first_video.as_deref().unwrap_or(thumbnail::NO_VIDEO);
    let source = thumbnail::Source::default();
    thumbnails.insert("thumbnails".into(), thumbnail::of_video(video, source));
    let thumbnails = stored::print(&thumbnails);
    let mut out = Vec::with_capacity(text.len() + thumbnails.len());
    out.extend_from_slice(text.get(..text.len().saturating_sub(1)).unwrap_or_default());
    out.push(b',');
    out.extend_from_slice(thumbnails.get(1..).unwrap_or_default());
    out.into()
}
