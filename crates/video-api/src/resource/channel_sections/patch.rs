//! Writing a section: the parts that clients set, each overwritten as a whole, and what all of them together have to be.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use triptych_core::kv::Tx;

use super::record::{Contents, Section, TYPES, Targeting};
use super::rules;
use crate::api::country::{self, country};
use crate::api::error::{Error, Rule};
use crate::api::language;
use crate::record::id::{self, PlaylistName};
use crate::record::json_fields::{Body, check_languages, is_name};
use crate::record::privacy::Privacy;
use crate::resource::channels::record as channels;
use crate::resource::channels::record::CHANNELS;
use crate::resource::playlists::record::{PLAYLISTS, Playlist};

/// A title has at most this many characters.
const TITLE_CHARS_MAX: usize = 100;
/// A section has at most so many playlists, or channels.
const CONTENTS_MAX: usize = 50;

/// Overwrites the named parts, and gives the position that the snippet asks for.
///
/// # Errors
/// The rule that a value breaks, in the order snippet, contentDetails, localizations, targeting.
pub(super) fn write(
    tx: &mut Tx<'_>,
    section: &mut Section,
    body: Body<'_>,
    parts: &[&str],
) -> Result<Option<u64>, Error> {
    let mut position = None;
    if parts.contains(&"snippet") {
        let given = body.object("snippet", "snippet")?.ok_or(&rules::SNIPPET_NEEDED)?;
        position = snippet(section, given)?;
    } else if section.kind.is_empty() {
        return Err(Error::Rule(&rules::SNIPPET_NEEDED));
    }
    if parts.contains(&"contentDetails") {
        let given = body.object("contentDetails", "contentDetails")?;
        let list = |name| match given {
            Some(given) => given.texts(name).map(Option::unwrap_or_default),
            None => Ok(Vec::new()),
        };
        let (playlists, channels) = (list("playlists")?, list("channels")?);
        if given.is_none() && section.contents() != Contents::Found {
            return Err(Error::Rule(&rules::DETAILS_NEEDED));
        }
        (section.playlists, section.channels) = (playlists, channels);
    }
    check_contents(section, parts)?;
    if parts.contains(&"contentDetails") {
        check_named(tx, section)?;
    }
    if parts.contains(&"localizations") {
        localizations(section, body)?;
    }
    if section.language.is_none() && !section.localizations.is_empty() {
        return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
    }
    if parts.contains(&"targeting") {
        section.targeting = match body.object("targeting", "targeting")? {
            Some(given) => Some(targeting(given)?),
            None => None,
        };
    }
    Ok(position)
}

fn snippet(section: &mut Section, given: Body<'_>) -> Result<Option<u64>, Error> {
    let kind = given.text("type")?.unwrap_or_default();
    section.kind = match kind.as_str() {
        "" | "channelsectionTypeUndefined" => return Err(Error::Rule(&rules::TYPE_REQUIRED)),
        kind if TYPES.iter().any(|(name, _)| *name == kind) => kind.to_owned(),
        _ => {
            return Err(Error::InvalidField {
                path: "snippet.type".into(),
                expected: "a type of sections",
            });
        }
    };
    section.style = given.text("style")?;
    let is_style = |style: &str| ["horizontalRow", "verticalList"].contains(&style);
    if section.style.as_deref().is_some_and(|style| !is_style(style)) {
        return Err(Error::Rule(&rules::STYLE_REQUIRED));
    }
    let title = given.text("title")?.filter(|title| !title.trim().is_empty());
    // Sections of other types have titles of the service's own, so that theirs are read and not kept.
    let has_title = matches!(section.contents(), Contents::Playlists | Contents::Channels);
    section.title = title.filter(|_| has_title);
    match &section.title {
        None if has_title => return Err(Error::Rule(&rules::TITLE_REQUIRED)),
        Some(title) => check_title(title)?,
        None => {}
    }
    section.language = given.language("defaultLanguage")?;
    match given.number("position") {
        Ok(position) => Ok(position),
        Err(_) => Err(Error::Rule(&rules::POSITION_INVALID)),
    }
}

fn check_title(title: &str) -> Result<(), Error> {
    if title.chars().count() > TITLE_CHARS_MAX {
        return Err(Error::Rule(&rules::TITLE_TOO_LONG));
    }
    if is_name(title) { Ok(()) } else { Err(Error::Rule(&rules::TITLE_INVALID)) }
}

/// Checks that a section has what its type is made of, and nothing else.
fn check_contents(section: &Section, parts: &[&str]) -> Result<(), Error> {
    let Section { playlists, channels, .. } = section;
    let contents = section.contents();
    let needs_playlists = matches!(contents, Contents::OnePlaylist | Contents::Playlists);
    let rule: Option<&'static Rule> = match contents {
        _ if !playlists.is_empty() && !needs_playlists => Some(&rules::PLAYLISTS_NOT_EXPECTED),
        _ if !channels.is_empty() && contents != Contents::Channels => {
            Some(&rules::CHANNELS_NOT_EXPECTED)
        }
        Contents::Found => None,
        _ if playlists.is_empty() && channels.is_empty() && !parts.contains(&"contentDetails") => {
            Some(&rules::DETAILS_NEEDED)
        }
        _ if needs_playlists && playlists.is_empty() => Some(&rules::PLAYLISTS_NEEDED),
        Contents::OnePlaylist if playlists.len() > 1 => Some(&rules::ONE_PLAYLIST_NEEDED),
        Contents::Channels if channels.is_empty() => Some(&rules::CHANNELS_NEEDED),
        _ => None,
    };
    rule.map_or(Ok(()), |rule| Err(Error::Rule(rule)))
}

/// Checks what a section names: how much of it, each once, and each there.
fn check_named(tx: &mut Tx<'_>, section: &Section) -> Result<(), Error> {
    let Section { playlists, channels, .. } = section;
    let is_twice = |list: &[String]| list.iter().collect::<BTreeSet<_>>().len() < list.len();
    let rule: Option<&'static Rule> = match () {
        () if playlists.len() > CONTENTS_MAX => Some(&rules::TOO_MANY_PLAYLISTS),
        () if channels.len() > CONTENTS_MAX => Some(&rules::TOO_MANY_CHANNELS),
        () if is_twice(playlists) => Some(&rules::PLAYLISTS_DUPLICATED),
        () if is_twice(channels) => Some(&rules::CHANNELS_DUPLICATED),
        () if channels.contains(&section.channel) => Some(&rules::OWN_CHANNEL),
        () => None,
    };
    if let Some(rule) = rule {
        return Err(Error::Rule(rule));
    }
    for id in playlists {
        match privacy(tx, id, &section.channel)? {
            None => return Err(Error::Rule(&rules::PLAYLIST_NOT_FOUND)),
            Some(Privacy::Private) => return Err(Error::Rule(&rules::PLAYLIST_PRIVATE)),
            Some(_) => {}
        }
    }
    for id in channels {
        if CHANNELS.get(tx, id)?.is_none() {
            let (absent, closed) = (&rules::NAMED_CHANNEL_NOT_FOUND, &rules::NAMED_CHANNEL_CLOSED);
            channels::named_or(tx, id, absent, closed)?;
        }
    }
    Ok(())
}

/// The privacy of a playlist as `channel` sees it; `None` if there is none.
///
/// # Errors
/// As the store.
pub(super) fn privacy(
    tx: &mut Tx<'_>,
    playlist: &str,
    channel: &str,
) -> Result<Option<Privacy>, Error> {
    Ok(match id::playlist_name(playlist, None) {
        PlaylistName::Made(id) => {
            // A section that is written names what is there when it is committed.
            let found = PLAYLISTS.get(tx, &id)?;
            let is_seen =
                |head: &Playlist| head.privacy != Privacy::Private || head.channel == channel;
            match found.filter(|found| is_seen(&found.head)) {
                // A list goes with its channel, also while its rows are still there.
                Some(found) if CHANNELS.peek_shared(tx, &found.head.channel)?.is_none() => None,
                found => found.map(|found| found.head.privacy),
            }
        }
        PlaylistName::Special(special, owner) => {
            let is_public = special.is_public();
            let found = CHANNELS.get(tx, &owner)?.filter(|_| is_public || owner == channel);
            found.map(|_| if is_public { Privacy::Public } else { Privacy::Private })
        }
    })
}

fn localizations(section: &mut Section, body: Body<'_>) -> Result<(), Error> {
    let empty = Map::new();
    let given = body.get("localizations").map_or(Some(&empty), Value::as_object);
    let given = given.ok_or(&rules::LOCALIZATIONS_INVALID)?;
    if !given.is_empty() && section.language.is_none() {
        return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
    }
    check_languages(given)?;
    let mut kept: BTreeMap<String, String> = BTreeMap::new();
    for (language, value) in given {
        let title = value.get("title").and_then(Value::as_str);
        let title = title.filter(|title| !title.trim().is_empty() && check_title(title).is_ok());
        let title = title.ok_or(&rules::LOCALIZATIONS_INVALID)?;
        if kept.keys().any(|other| language::is_same(other, language)) {
            return Err(Error::Rule(&rules::LOCALIZATIONS_INVALID));
        }
        kept.insert(language::written(language), title.to_owned());
    }
    // In the default language the section's own title counts.
    let own = section.language.as_deref().filter(|_| section.title.is_some());
    kept.retain(|language, _| !own.is_some_and(|own| language::is_same(own, language)));
    section.localizations = kept;
    Ok(())
}

fn targeting(given: Body<'_>) -> Result<Targeting, Error> {
    let read = |name: &'static str, is: fn(&str) -> bool| {
        let list = given.texts(name)?.unwrap_or_default();
        if list.len() > country::COUNT || !list.iter().all(|code| is(code)) {
            return Err(Error::Rule(&rules::TARGETING_INVALID));
        }
        Ok(list)
    };
    let is_region = |code: &str| language::region(code).is_some();
    Ok(Targeting {
        languages: read("languages", |code| {
            language::is_tag(code) && language::language(code).is_some()
        })?,
        regions: read("regions", is_region)?,
        countries: read("countries", |code| country(code).is_some())?,
    })
}
