//! Application languages: a list of the interface.

use serde_json::json;
use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Operation, Part, READ, Run};
use crate::api::parameter::{HL, PART};
use crate::api::response::Reply;
use crate::api::{language, snippet_list};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[LIST], ..Resource::EMPTY };

/// Parts of the resource.
const PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `i18nLanguages.list`.
const LIST: Operation = Operation {
    doc: "Supported application languages.",
    params: &[PART, HL.default("en_US")],
    parts: PARTS,
    scopes: READ,
    response: Some("I18nLanguageListResponse"),
    round_trips: RoundTrips::of(1, 0),
    ..Operation::list("i18nLanguages.list", "/i18nLanguages", Run::Call(list))
};

fn list(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let rows = language::LANGUAGES
        .iter()
        .map(|(code, name)| (*code, json!({"hl": code, "name": name}).to_string()));
    Ok(snippet_list::reply(call, "i18nLanguage", "i18nLanguageListResponse", rows))
}
