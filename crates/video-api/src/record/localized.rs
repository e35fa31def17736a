//! Localizations of a resource by language.

use serde_json::{Map, Value};

use crate::api::language::with_hyphens;

/// Finds the localized title and description that fits `language`: itself, or the language without its region.
#[must_use]
pub fn in_language<'l>(localizations: &'l Map<String, Value>, language: &str) -> Option<&'l Value> {
    // Both spellings of a tag are asked for, and both are stored.
    let language = with_hyphens(language);
    let find = |wanted: &str| {
        let is_wanted = |tag: &String| with_hyphens(tag).eq_ignore_ascii_case(wanted);
        localizations.iter().find(|(tag, _)| is_wanted(tag)).map(|(_, value)| value)
    };
    find(&language).or_else(|| find(language.split('-').next().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_language_is_found_however_its_region_is_written_and_else_without_it() {
        let stored = json!({"pt_BR": 1, "de": 2, "en-GB": 3});
        let stored = stored.as_object().unwrap();
        for (language, found) in [
            ("pt_BR", Some(1)),
            ("pt-br", Some(1)),
            ("en_gb", Some(3)),
            ("de-AT", Some(2)),
            ("de_AT", Some(2)),
            ("pt", None),
            ("en-US", None),
        ] {
            let told = in_language(stored, language).and_then(Value::as_i64);
            assert_eq!(told, found, "{language}");
        }
    }
}
