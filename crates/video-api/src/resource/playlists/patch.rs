//! Writing a playlist: the parts that clients set, each overwritten as a whole.

use serde_json::{Map, Value, json};

use crate::api::error::Error;
use crate::record::json_fields::{
    Body, LocalizedTitle, check_languages, is_description, is_name, is_title, localizations,
};
use crate::record::privacy::Privacy;
use crate::record::stored::Stored;
use crate::resource::playlists::record::Playlist;
use crate::resource::playlists::rules;

/// A title has at most this many characters.
const TITLE_CHARS_MAX: usize = 150;

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
        let podcast = given.filled_text("podcastStatus")?;
        if podcast.as_deref().is_some_and(|status| !["enabled", "disabled"].contains(&status)) {
            let path = "status.podcastStatus".into();
            return Err(Error::InvalidField { path, expected: "enabled or disabled" });
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
        check_languages(given)?;
        let own = playlist.head.language.as_deref();
        let kept = localizations(given, own, LocalizedTitle::Required, TITLE_CHARS_MAX)
            .ok_or(&rules::LOCALIZATIONS_INVALID)?;
        playlist.set("localizations", &kept);
    }
    if playlist.head.language.is_none() && playlist.part("localizations").is_some() {
        return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
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
    if !is_title(&title, TITLE_CHARS_MAX)
        || !is_description(&description)
        || tags_length > 500
        || !tags.iter().all(|tag| !tag.is_empty() && is_name(tag))
    {
        return Err(Error::Rule(&rules::SNIPPET_INVALID));
    }
    let default_language = given.language("defaultLanguage")?;
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
