//! Playlists: what is stored of one, who may see it, and its indexes.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::language;
use crate::api::paginate::latest_first;
use crate::api::response::Item;
use crate::index::{self, Kind};
use crate::record::json_fields::{Body, is_description, is_title, localizations};
use crate::record::stored::Stored;
use crate::record::tables::{
    CHANNEL_PLAYLISTS, ORDER, PLAYLIST_COUNT, PLAYLIST_GARBAGE, PLAYLISTS,
};
use crate::record::{counter, thumbnail};
use crate::resource::playlist_items::record::Directory;
use crate::resource::playlists::rules;
use crate::resource::search_document as findable;
use crate::resource::videos::record::Privacy;

/// A title has at most this many characters.
const TITLE_CHARS_MAX: usize = 150;

/// What rules need of a playlist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Playlist {
    /// The channel that owns it.
    pub channel: String,
    /// When it was made.
    pub published: Timestamp,
    /// Who may see it.
    pub privacy: Privacy,
    /// The language of title and description.
    pub language: Option<String>,
    /// `enabled` or `disabled`, where it was set.
    pub podcast: Option<String>,
}

impl Playlist {
    /// Whether the caller may see it by its id.
    #[must_use]
    pub fn is_visible(&self, caller: &Caller) -> bool {
        self.privacy != Privacy::Private || caller.owns(&self.channel)
    }
}

impl Stored<Playlist> {
    /// A playlist without a title yet; public by default (Spec §2, fact 7).
    #[must_use]
    pub fn made(channel: String, now: Timestamp) -> Self {
        Self::new(Playlist {
            channel,
            published: now,
            privacy: Privacy::Public,
            language: None,
            podcast: None,
        })
    }
}

/// Overwrites the named parts. What a named part leaves out goes back to its default.
///
/// # Errors
/// The rule that a value breaks, in the order snippet, status, localizations.
pub fn write(
    playlist: &mut Stored<Playlist>,
    channel_title: &str,
    body: Body<'_>,
    parts: &[&str],
) -> Result<(), Error> {
    if parts.contains(&"snippet") {
        snippet(playlist, channel_title, body)?;
    }
    if parts.contains(&"status") {
        let empty = Map::new();
        let given = body.object("status", "status")?.unwrap_or(Body::of(&empty));
        playlist.head.privacy = match given.text("privacyStatus")? {
            None => Privacy::Public,
            Some(name) => Privacy::named(&name).ok_or(&rules::PRIVACY_INVALID)?,
        };
        let podcast = given.text("podcastStatus")?;
        if podcast.as_deref().is_some_and(|status| !["enabled", "disabled"].contains(&status)) {
            return Err(Error::Rule(&rules::SNIPPET_INVALID));
        }
        playlist.head.podcast = podcast;
    }
    if parts.contains(&"localizations") {
        let empty = Map::new();
        let given = body.get("localizations").map_or(Some(&empty), Value::as_object);
        let given = given.ok_or(&rules::LOCALIZATIONS_INVALID)?;
        if !given.is_empty() && playlist.head.language.is_none() {
            return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
        }
        let kept = localizations(given, TITLE_CHARS_MAX).ok_or(&rules::LOCALIZATIONS_INVALID)?;
        playlist.set("localizations", &kept);
    }
    Ok(())
}

fn snippet(
    playlist: &mut Stored<Playlist>,
    channel_title: &str,
    body: Body<'_>,
) -> Result<(), Error> {
    let given = body.object("snippet", "snippet")?.ok_or(&rules::TITLE_REQUIRED)?;
    let title = given
        .text("title")?
        .filter(|title| !title.trim().is_empty())
        .ok_or(&rules::TITLE_REQUIRED)?;
    let description = given.text("description")?.unwrap_or_default();
    let tags = given.texts("tags")?.unwrap_or_default();
    let tags_length: usize = tags.iter().map(|tag| tag.chars().count()).sum();
    if !is_title(&title, TITLE_CHARS_MAX) || !is_description(&description) || tags_length > 500 {
        return Err(Error::Rule(&rules::SNIPPET_INVALID));
    }
    let default_language = given.text("defaultLanguage")?;
    if default_language.as_ref().is_some_and(|tag| !language::is_tag(tag)) {
        return Err(Error::Rule(&rules::SNIPPET_INVALID));
    }
    let mut snippet = Map::new();
    snippet.insert("publishedAt".into(), playlist.head.published.rfc3339().into());
    snippet.insert("channelId".into(), playlist.head.channel.clone().into());
    snippet.insert("channelTitle".into(), channel_title.into());
    snippet.insert("localized".into(), json!({"title": title, "description": description}));
    snippet.insert("title".into(), title.into());
    snippet.insert("description".into(), description.into());
    if !tags.is_empty() {
        snippet.insert("tags".into(), tags.into());
    }
    if let Some(tag) = &default_language {
        snippet.insert("defaultLanguage".into(), tag.clone().into());
    }
    playlist.head.language = default_language;
    playlist.set("snippet", &snippet);
    Ok(())
}

/// Stores a new playlist and its indexes.
///
/// # Errors
/// As the store.
pub fn insert(tx: &mut Tx<'_>, id: &str, playlist: &Stored<Playlist>) -> Result<(), Error> {
    PLAYLISTS.put(tx, &id.to_owned(), playlist);
    ORDER.put(tx, &id.to_owned(), &Directory::default());
    index(tx, id, &playlist.head, true)?;
    findable::playlist(tx, id, playlist)
}

/// Replaces a playlist.
///
/// # Errors
/// As the store.
pub fn replace(
    tx: &mut Tx<'_>,
    id: &str,
    old: &Stored<Playlist>,
    new: &Stored<Playlist>,
) -> Result<(), Error> {
    if old != new {
        index(tx, id, &old.head, false)?;
        PLAYLISTS.put(tx, &id.to_owned(), new);
        index(tx, id, &new.head, true)?;
        findable::playlist(tx, id, new)?;
    }
    Ok(())
}

/// Removes a playlist. Its items are gone at once for everyone, and their rows in steps afterwards.
///
/// # Errors
/// As the store.
pub fn remove(tx: &mut Tx<'_>, id: &str, playlist: &Stored<Playlist>) -> Result<(), Error> {
    index(tx, id, &playlist.head, false)?;
    PLAYLISTS.delete(tx, &id.to_owned());
    PLAYLIST_GARBAGE.put(tx, &id.to_owned(), &());
    index::remove(tx, Kind::Playlist, id)?;
    Ok(())
}

fn index(tx: &mut Tx<'_>, id: &str, head: &Playlist, more: bool) -> Result<(), Error> {
    let time = latest_first(head.published.micros());
    for audience in [0, 1] {
        if audience == 0 && head.privacy != Privacy::Public {
            continue;
        }
        let row = (head.channel.clone(), audience, time, id.to_owned());
        if more {
            CHANNEL_PLAYLISTS.put(tx, &row, &());
        } else {
            CHANNEL_PLAYLISTS.delete(tx, &row);
        }
        counter::change(tx, &PLAYLIST_COUNT, &(head.channel.clone(), audience), more)?;
    }
    Ok(())
}

/// What a playlist holds, as its resource shows it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Contents {
    /// How many items.
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
        if let Some(localized) = crate::record::localized(&localizations, language) {
            let mut snippet = playlist.value("snippet");
            snippet.insert("localized".into(), localized.clone());
            text = crate::record::print(&snippet);
        }
    }
    let mut thumbnails = Map::new();
    let video = contents.first_video.as_deref().unwrap_or("none");
    thumbnails.insert("thumbnails".into(), thumbnail::of_video(video, false));
    let thumbnails = crate::record::print(&thumbnails);
    let mut out = Vec::with_capacity(text.len() + thumbnails.len());
    out.extend_from_slice(text.get(..text.len().saturating_sub(1)).unwrap_or_default());
    out.push(b',');
    out.extend_from_slice(thumbnails.get(1..).unwrap_or_default());
    out.into()
}
