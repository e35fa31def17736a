//! Localizations of a resource by language.

use serde_json::{Map, Value};

use crate::api::language::canonical;

/// Finds the localized title and description that fits `language`: itself, or the language without its region, and then its script (RFC 4647, section 3.4).
#[must_use]
pub fn in_language<'l>(localizations: &'l Map<String, Value>, language: &str) -> Option<&'l Value> {
    // Each spelling of a tag is asked for, and each is stored.
    let language = canonical(language);
    let find = |wanted: &str| {
        let is_wanted = |tag: &String| canonical(tag).eq_ignore_ascii_case(wanted);
        localizations.iter().find(|(tag, _)| is_wanted(tag)).map(|(_, value)| value)
    };
    std::iter::successors(Some(&*language), |tag| Some(tag.rsplit_once('-')?.0)).find_map(find)
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
            let told = in_language(stored, language).and_then(Value::as_i64);
            assert_eq!(told, found, "{language}");
        }
    }
}
