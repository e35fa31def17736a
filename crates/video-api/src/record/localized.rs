//! Localizations of a resource by language. In the default language the snippet's own texts are the one truth.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::language::{canonical, is_same, written};
use crate::record::stored::{self, Stored};

/// Finds the localized title and description that fits `language`: itself, or the language without its region, and then its script (RFC 4647,
/// section 3.4). None fits where that meets the default language, `own`, first.
#[must_use]
pub fn in_language<'l>(
    localizations: &'l Map<String, Value>,
    own: Option<&str>,
    language: &str,
) -> Option<&'l Value> {
    // Each spelling of a tag is asked for, and earlier builds stored each.
    let language = canonical(language);
    let find = |wanted: &str| {
        let found = localizations.iter().find(|(tag, _)| is_same(tag, wanted));
        found.map(|(_, value)| value)
    };
    let is_own = |wanted: &str| own.is_some_and(|own| is_same(own, wanted));
    std::iter::successors(Some(&*language), |tag| Some(tag.rsplit_once('-')?.0))
        .take_while(|wanted| !is_own(wanted))
        .find_map(find)
}

/// All languages of a resource: its localizations, and in its default language what it says itself.
#[must_use]
pub fn all(localizations: Map<String, Value>, own: Option<(&str, Value)>) -> Map<String, Value> {
    let is_own = |tag: &str| own.as_ref().is_some_and(|(own, _)| is_same(own, tag));
    let others = localizations.into_iter().filter(|(tag, _)| !is_own(tag));
    let mut all: Map<_, _> = others.map(|(tag, value)| (written(&tag), value)).collect();
    all.extend(own.map(|(tag, value)| (written(tag), value)));
    all
}

/// The part `localizations` of a resource with this default language; nothing where it has no language at all.
#[must_use]
pub fn part<H: Serialize>(resource: &Stored<H>, own: Option<&str>) -> Option<Bytes> {
    let own = own.map(|own| (own, Value::Object(texts(&resource.value("snippet")))));
    let all = all(resource.value("localizations"), own);
    (!all.is_empty()).then(|| stored::print(&all))
}

/// The snippet of a resource with `localized` in this language; nothing where that is its own.
#[must_use]
pub fn snippet<H: Serialize>(
    resource: &Stored<H>,
    own: Option<&str>,
    language: Option<&str>,
) -> Option<Bytes> {
    let localizations = resource.value("localizations");
    let localized = in_language(&localizations, own, language?)?.as_object()?;
    let mut snippet = resource.value("snippet");
    // What is not localized is as it is in the default language.
    let mut shown = texts(&snippet);
    shown.extend(localized.clone());
    snippet.insert("localized".into(), shown.into());
    Some(stored::print(&snippet))
}

fn texts(snippet: &Map<String, Value>) -> Map<String, Value> {
    let own = ["title", "description"].into_iter();
    own.filter_map(|name| Some((name.to_owned(), snippet.get(name)?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_language_is_found_however_its_region_is_written_and_else_without_it() {
        let stored = json!({"pt_BR": 1, "de": 2, "en-GB": 3, "iw": 4, "zh-Hant": 5});
        let stored = stored.as_object().unwrap();
        for (language, found) in [
            ("pt_BR", Some(1)),
            ("pt-br", Some(1)),
            ("en_gb", Some(3)),
            ("de-AT", Some(2)),
            ("de_AT", Some(2)),
            ("he", Some(4)),
            ("iw-IL", Some(4)),
            ("zh_hant", Some(5)),
            ("zh-Hant-TW", Some(5)),
            ("de-Latn-AT", Some(2)),
            ("zh-TW", None),
            ("pt", None),
            ("en-US", None),
        ] {
            let told = in_language(stored, None, language).and_then(Value::as_i64);
            assert_eq!(told, found, "{language}");
        }
    }

    #[test]
    fn the_default_language_is_the_snippets_whatever_is_stored_in_it() {
        let stored = json!({"de": 1, "de-AT": 2, "fr": 3});
        let stored = stored.as_object().unwrap();
        for (language, found) in
            [("de", None), ("de-CH", None), ("DE_at", Some(2)), ("fr-CA", Some(3))]
        {
            let told = in_language(stored, Some("de"), language).and_then(Value::as_i64);
            assert_eq!(told, found, "{language}");
        }
        let shown = all(stored.clone(), Some(("de", json!("own"))));
        assert_eq!(Value::Object(shown), json!({"de": "own", "de-AT": 2, "fr": 3}));
        let old = json!({"pt_br": 1, "IW": 2});
        let shown = all(old.as_object().unwrap().clone(), Some(("he", json!("own"))));
        assert_eq!(Value::Object(shown), json!({"pt-BR": 1, "he": "own"}));
        assert!(all(Map::new(), None).is_empty());
    }
}
