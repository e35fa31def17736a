//! The resources: what is stored of each, its rules, and how it is served.
//!
//! A handler in `operation/` reads the request and calls what is here; nothing here knows a parameter.

pub mod counter;
pub mod id;
pub mod json_fields;
pub mod render_cache;
pub mod stored;
pub mod tables;
pub mod thumbnail;

use bytes::Bytes;
use serde_json::{Map, Value};

/// The localized title and description that fits `language`: itself, or the language without its region.
#[must_use]
pub fn localized<'l>(localizations: &'l Map<String, Value>, language: &str) -> Option<&'l Value> {
    let language = language.replace('_', "-");
    let find = |wanted: &str| {
        localizations
            .iter()
            .find(|(tag, _)| tag.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value)
    };
    find(&language).or_else(|| find(language.split('-').next().unwrap_or_default()))
}

/// An object as the text that is served: compact, with the address' byte in place of its escape.
#[must_use]
pub fn print(map: &Map<String, Value>) -> Bytes {
    let mut stored = stored::Stored::new(());
    stored.set("", map);
    stored.part("").cloned().unwrap_or(Bytes::from_static(b"{}"))
}
