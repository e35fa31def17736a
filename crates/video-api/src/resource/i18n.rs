//! Languages and regions: lists of the interface.

use serde_json::json;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::api::error::Error;
use crate::api::language;
use crate::api::operation::{Call, HL, Operation, PART, Part, READ, Run};
use crate::api::response::{Item, List, Reply, etag};

/// The parts of a i18nLanguage.
const I18N_LANGUAGE_PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// The parts of a i18nRegion.
const I18N_REGION_PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `i18nLanguages.list`.
pub(crate) const LANGUAGES_LIST: Operation = Operation {
    doc: "Supported application languages.",
    params: &[PART, HL.default("en_US")],
    parts: I18N_LANGUAGE_PARTS,
    scopes: READ,
    response: Some("I18nLanguageListResponse"),
    ..Operation::list("i18nLanguages.list", "/i18nLanguages", Run::Call(languages))
};

/// `i18nRegions.list`.
pub(crate) const REGIONS_LIST: Operation = Operation {
    doc: "Supported content regions.",
    params: &[PART, HL.default("en_US")],
    parts: I18N_REGION_PARTS,
    scopes: READ,
    response: Some("I18nRegionListResponse"),
    ..Operation::list("i18nRegions.list", "/i18nRegions", Run::Call(regions))
};

fn languages(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    check_language(call)?;
    let rows = language::LANGUAGES
        .iter()
        .map(|(code, name)| (*code, json!({"hl": code, "name": name}).to_string()));
    Ok(list(call, "i18nLanguage", "i18nLanguageListResponse", rows))
}

fn regions(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    check_language(call)?;
    let rows = language::REGIONS
        .iter()
        .map(|(code, name)| (*code, json!({"gl": code, "name": name}).to_string()));
    Ok(list(call, "i18nRegion", "i18nRegionListResponse", rows))
}

/// Names are English whatever language is asked for, but it has to be one.
pub(crate) fn check_language(call: &Call<'_>) -> Result<(), Error> {
    match call.params.get("hl") {
        Some(code) if !language::is_tag(code) => Err(Error::InvalidLanguage(code.to_owned())),
        Some(code) if language::language(code).is_none() => {
            Err(Error::UnsupportedLanguage(code.to_owned()))
        }
        _ => Ok(()),
    }
}

/// The region that is asked for, as it is listed.
pub(crate) fn check_region(call: &Call<'_>) -> Result<Option<&'static str>, Error> {
    let Some(code) = call.params.get("regionCode") else {
        return Ok(None);
    };
    match language::region(code) {
        Some(region) => Ok(Some(region)),
        None if code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
            Err(Error::UnsupportedRegion(code.to_owned()))
        }
        None => Err(Error::InvalidRegion(code.to_owned())),
    }
}

/// A list of rows that have a snippet and nothing else.
pub(crate) fn list<'r>(
    call: &Call<'_>,
    kind: &'static str,
    list_kind: &'static str,
    rows: impl Iterator<Item = (&'r str, String)>,
) -> Reply {
    let mut list = List::new(list_kind);
    for (id, snippet) in rows {
        let mut item = Item::begin(kind, &etag(snippet.as_bytes()), Some(id));
        if call.wants("snippet") {
            item.part("snippet", snippet.as_bytes());
        }
        list.push(&item.end());
    }
    list.end(None)
}
