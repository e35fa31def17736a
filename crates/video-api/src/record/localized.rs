//! Localizations of a resource by language.

use serde_json::{Map, Value};

/// Finds the localized title and description that fits `language`: itself, or the language without its region.
#[must_use]
pub fn in_language<'l>(localizations: &'l Map<String, Value>, language: &str) -> Option<&'l Value> {
    let language = language.replace('_', "-");
    let find = |wanted: &str| {
        localizations
            .iter()
            .find(|(tag, _)| tag.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value)
    };
    find(&language).or_else(|| find(language.split('-').next().unwrap_or_default()))
}
