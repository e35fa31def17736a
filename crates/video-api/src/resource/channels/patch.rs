//! Writing a channel: branding, promotion and localizations, each overwritten as a whole.

use serde_json::{Map, Value, json};
use triptych_core::kv::Tx;

use crate::api::country::country;
use crate::api::error::Error;
use crate::api::language;
use crate::record::json_fields::{
    Body, LocalizedTitle, check_languages, is_description, is_name, localizations,
};
use crate::record::stored::Stored;
use crate::record::thumbnail;
use crate::resource::channel_banners::BANNERS;
use crate::resource::channels::record::Channel;
use crate::resource::channels::{promotion, rules};
use crate::resource::videos::record::VIDEOS;

/// A localized title has at most this many characters.
const TITLE_CHARS_MAX: usize = 100;

/// A channel's description has at most this many characters (facts: brandingSettings).
const DESCRIPTION_CHARS_MAX: usize = 1_000;

/// Keywords have at most this many characters.
const KEYWORDS_CHARS_MAX: usize = 500;

/// At most so many hints.
const HINTS_MAX: usize = 20;

/// Titles, ids and addresses within a channel's settings have at most this many characters. Ours.
const SETTING_CHARS_MAX: usize = 100;

/// The title above featured channels has at most this many characters.
const FEATURED_TITLE_CHARS_MAX: usize = 30;

/// At most so many featured channels.
const FEATURED_MAX: usize = 100;

/// Brings the snippet in line with head and branding.
pub fn refresh(id: &str, channel: &mut Stored<Channel>) {
    let branding = channel.value("brandingSettings");
    let settings = branding.get("channel").and_then(Value::as_object);
    let given = |name: &str| settings.and_then(|settings| settings.get(name)).cloned();
    let description = given("description").unwrap_or_else(|| "".into());
    let head = &channel.head;
    let mut snippet = Map::new();
    snippet.insert("title".into(), head.title.clone().into());
    snippet.insert("description".into(), description.clone());
    if let Some(handle) = &head.handle {
        snippet.insert("customUrl".into(), handle.to_lowercase().into());
    }
    snippet.insert("publishedAt".into(), head.published.rfc3339().into());
    snippet.insert("thumbnails".into(), thumbnail::of_channel(id));
    snippet.insert("localized".into(), json!({"title": head.title, "description": description}));
    for name in ["country", "defaultLanguage"] {
        if let Some(value) = given(name) {
            snippet.insert(name.into(), value);
        }
    }
    channel.head.language =
        given("defaultLanguage").and_then(|tag| tag.as_str().map(str::to_owned));
    channel.head.browse_view =
        given("showBrowseView").and_then(|flag| flag.as_bool()).unwrap_or_default();
    channel.set("snippet", &snippet);
}

/// A channel that is being written: its `brandingSettings`, `invideoPromotion` and `localizations`, each overwritten as a whole.
///
/// # Errors
/// The rule that a value breaks, in that order.
pub fn write(
    tx: &mut Tx<'_>,
    id: &str,
    channel: &mut Stored<Channel>,
    body: Body<'_>,
    parts: &[&'static str],
) -> Result<(), Error> {
    if parts.contains(&"brandingSettings") {
        let branding = branding(tx, id, channel, body)?;
        channel.set("brandingSettings", &branding);
        refresh(id, channel);
    }
    if parts.contains(&"invideoPromotion") {
        let promotion = promotion::read(tx, id, body)?;
        channel.set("invideoPromotion", &promotion);
    }
    if parts.contains(&"localizations") {
        let empty = Map::new();
        let given = body
            .get("localizations")
            .map_or(Some(&empty), Value::as_object)
            .ok_or(&rules::LOCALIZATIONS_INVALID)?;
        if !given.is_empty() && channel.head.language.is_none() {
            return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
        }
        check_languages(given)?;
        let own = channel.head.language.as_deref();
        let kept = localizations(given, own, LocalizedTitle::Optional, TITLE_CHARS_MAX)
            .ok_or(&rules::LOCALIZATIONS_INVALID)?;
        channel.set("localizations", &kept);
    }
    if channel.head.language.is_none() && channel.part("localizations").is_some() {
        return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
    }
    Ok(())
}

fn branding(
    tx: &mut Tx<'_>,
    id: &str,
    channel: &Stored<Channel>,
    body: Body<'_>,
) -> Result<Map<String, Value>, Error> {
    let given =
        body.object("brandingSettings", "brandingSettings")?.ok_or(&rules::BRANDING_INVALID)?;
    let mut out = Map::new();
    let empty = Map::new();
    let settings = given.object("channel", "brandingSettings.channel")?.unwrap_or(Body::of(&empty));
    out.insert("channel".into(), Value::Object(channel_settings(channel, settings)?));
    if let Some(trailer) = settings.filled_text("unsubscribedTrailer")? {
        let video = VIDEOS.get(tx, &trailer)?.map(|video| video.head);
        video
            .filter(|video| video.channel == id && video.is_shared())
            .ok_or(&rules::TRAILER_INVALID)?;
    }
    let old = channel.value("brandingSettings");
    match given.object("image", "brandingSettings.image")? {
        None => {
            if let Some(image) = old.get("image") {
                out.insert("image".into(), image.clone());
            }
        }
        Some(image) => {
            if let Some(url) = image.filled_text("bannerExternalUrl")? {
                // The third step of a banner: the address that channelBanners.insert gave.
                let banner = url
                    .rsplit_once("/banner/")
                    .map(|(_, id)| id.to_owned())
                    .ok_or(&rules::BRANDING_INVALID)?;
                BANNERS
                    .get(tx, &banner)?
                    .filter(|owner| owner.0 == id)
                    .ok_or(&rules::BRANDING_INVALID)?;
                out.insert(
                    "image".into(),
                    json!({"bannerExternalUrl": format!("\u{1}/banner/{banner}")}),
                );
            }
        }
    }
    if let Some(watch) = given.object("watch", "brandingSettings.watch")? {
        let mut kept = Map::new();
        for name in ["textColor", "backgroundColor", "featuredPlaylistId"] {
            let Some(text) = watch.filled_text(name)? else {
                continue;
            };
            let valid = match name {
                "featuredPlaylistId" => is_short_name(&text),
                _ => is_colour(&text),
            };
            if !valid {
                return Err(Error::Rule(&rules::BRANDING_INVALID));
            }
            kept.insert(name.into(), text.into());
        }
        out.insert("watch".into(), Value::Object(kept));
    }
    if let Some(hints) = given.get("hints") {
        out.insert("hints".into(), self::hints(hints).ok_or(&rules::BRANDING_INVALID)?);
    }
    Ok(out)
}

/// Returns whether a text is a colour as the interface writes it: `#` and six hexadecimal digits.
fn is_colour(text: &str) -> bool {
    text.strip_prefix('#').is_some_and(|digits| {
        digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

fn is_short_name(text: &str) -> bool {
    text.chars().count() <= SETTING_CHARS_MAX && is_name(text)
}

/// Pairs of property and value, which the service keeps and does not read.
fn hints(given: &Value) -> Option<Value> {
    let list = given.as_array().filter(|list| list.len() <= HINTS_MAX)?;
    let hints = list.iter().map(|hint| {
        let property = hint.get("property")?.as_str()?;
        let value = hint.get("value").filter(|value| !value.is_null());
        let value = value.map_or(Some(""), Value::as_str)?;
        let short = property.len() + value.len() <= KEYWORDS_CHARS_MAX;
        short.then(|| json!({"property": property, "value": value}))
    });
    hints.collect::<Option<Vec<_>>>().map(Value::Array)
}

fn channel_settings(
    channel: &Stored<Channel>,
    given: Body<'_>,
) -> Result<Map<String, Value>, Error> {
    if given.text("title")?.is_some_and(|title| title != channel.head.title) {
        return Err(Error::Rule(&rules::TITLE_UPDATE_FORBIDDEN));
    }
    let mut out = Map::new();
    out.insert("title".into(), channel.head.title.clone().into());
    for name in [
        "description",
        "keywords",
        "country",
        "defaultLanguage",
        "defaultTab",
        "featuredChannelsTitle",
        "profileColor",
        "trackingAnalyticsAccountId",
        "unsubscribedTrailer",
    ] {
        let Some(text) = given.filled_text(name)? else {
            continue;
        };
        let valid = match name {
            "description" => is_description(&text) && text.chars().count() <= DESCRIPTION_CHARS_MAX,
            "featuredChannelsTitle" => {
                text.chars().count() <= FEATURED_TITLE_CHARS_MAX && is_name(&text)
            }
            "country" => country(&text).is_some(),
            "defaultLanguage" => given.language(name)?.is_some(),
            "profileColor" => is_colour(&text),
            "keywords" => text.chars().count() <= KEYWORDS_CHARS_MAX && is_name(&text),
            _ => is_short_name(&text),
        };
        if !valid {
            return Err(Error::Rule(&rules::BRANDING_INVALID));
        }
        // Codes are kept as their standards write them.
        let text = match name {
            "country" => country(&text).map_or(text, str::to_owned),
            "defaultLanguage" => language::written(&text),
            _ => text,
        };
        out.insert(name.into(), text.into());
    }
    for name in ["showBrowseView", "showRelatedChannels", "moderateComments"] {
        if let Some(flag) = given.flag(name)? {
            out.insert(name.into(), flag.into());
        }
    }
    if let Some(featured) = given.texts("featuredChannelsUrls")? {
        if featured.len() > FEATURED_MAX || !featured.iter().all(|url| is_short_name(url)) {
            return Err(Error::Rule(&rules::BRANDING_INVALID));
        }
        out.insert("featuredChannelsUrls".into(), featured.into());
    }
    Ok(out)
}
