//! Content regions: a list of the interface.

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

/// `i18nRegions.list`.
const LIST: Operation = Operation {
    doc: "Supported content regions.",
    params: &[PART, HL.default("en_US")],
    parts: PARTS,
    scopes: READ,
    response: Some("I18nRegionListResponse"),
    round_trips: RoundTrips::of(1, 0),
    ..Operation::list("i18nRegions.list", "/i18nRegions", Run::Call(list))
};

fn list(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let rows = language::REGIONS
        .iter()
        .map(|(code, name)| (*code, json!({"gl": code, "name": name}).to_string()));
    Ok(snippet_list::reply(call, "i18nRegion", "i18nRegionListResponse", rows))
}
