//! Rendering a section: what it names is shown as long as it is there for whoever asks.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use triptych_core::kv::Tx;

use super::patch;
use super::record::{Contents, Section, Targeting};
use crate::account::Caller;
use crate::api::error::Error;
use crate::api::response::{Item, Object};
use crate::record::localized;
use crate::record::privacy::Privacy;
use crate::resource::channels::record::CHANNELS;

/// The form in which a section is asked for.
pub(super) struct RenderOptions<'s> {
    /// The parts.
    pub(super) parts: &'s [&'static str],
    /// The language of `snippet.localized`.
    pub(super) language: Option<&'s str>,
    /// The caller.
    pub(super) caller: &'s Caller,
}

/// The resource of a section at its position.
///
/// # Errors
/// As the store.
pub(super) fn render(
    tx: &mut Tx<'_>,
    id: &str,
    section: &Section,
    position: usize,
    options: &RenderOptions<'_>,
) -> Result<Item, Error> {
    let section = &shown(tx, section, options.caller)?;
    let mut item = Item::begin("channelSection", &section.etag(position), Some(id));
    for part in options.parts {
        let text = match *part {
            "snippet" => snippet(section, position, options.language).end(),
            "contentDetails" if section.contents() != Contents::Found => {
                let mut out = Object::new();
                match section.contents() {
                    Contents::Channels => out.value("channels", &section.channels),
                    _ => out.value("playlists", &section.playlists),
                }
                out.end()
            }
            "localizations" => {
                let own = section.language.as_deref().zip(own_title(section));
                let all = localized::all(titles(&section.localizations), own);
                if all.is_empty() {
                    continue;
                }
                Value::Object(all).to_string().into()
            }
            "targeting" => match &section.targeting {
                Some(targeting) => self::targeting(targeting).to_string().into(),
                None => continue,
            },
            _ => continue,
        };
        item.part(part, &text);
    }
    Ok(item.end())
}

fn snippet(section: &Section, position: usize, language: Option<&str>) -> Object {
    let mut out = Object::new();
    out.text("type", &section.kind);
    if let Some(style) = &section.style {
        out.text("style", style);
    }
    out.text("channelId", &section.channel);
    if let Some(title) = &section.title {
        out.text("title", title);
    }
    out.value("position", &position);
    if let Some(language) = &section.language {
        out.text("defaultLanguage", language);
    }
    let titles = titles(&section.localizations);
    let own = section.language.as_deref();
    let localized = language.and_then(|language| localized::in_language(&titles, own, language));
    let own = own_title(section);
    if let Some(localized) = localized.or(own.as_ref()) {
        out.value("localized", localized);
    }
    out
}

/// The text of a section in its default language.
fn own_title(section: &Section) -> Option<Value> {
    section.title.as_ref().map(|title| json!({"title": title}))
}

fn titles(localizations: &BTreeMap<String, String>) -> Map<String, Value> {
    let titles = localizations.iter();
    titles.map(|(language, title)| (language.clone(), json!({"title": title}))).collect()
}

/// A section as the caller sees it: what it names is among it as long as it is there for the caller.
///
/// # Errors
/// As the store.
pub(super) fn shown(tx: &mut Tx<'_>, section: &Section, caller: &Caller) -> Result<Section, Error> {
    let own = caller.channel().unwrap_or_default().to_owned();
    let (mut playlists, mut channels) = (Vec::new(), Vec::new());
    for id in &section.playlists {
        let privacy = patch::privacy(tx, id, &own)?;
        if privacy.is_some_and(|privacy| privacy != Privacy::Private || own == section.channel) {
            playlists.push(id.clone());
        }
    }
    for id in &section.channels {
        if CHANNELS.peek_shared(tx, id)?.is_some() {
            channels.push(id.clone());
        }
    }
    Ok(Section { playlists, channels, ..section.clone() })
}

fn targeting(targeting: &Targeting) -> Value {
    let lists = [
        ("languages", &targeting.languages),
        ("regions", &targeting.regions),
        ("countries", &targeting.countries),
    ];
    let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
    Value::Object(lists.map(|(name, list)| (name.to_owned(), json!(list))).collect())
}
