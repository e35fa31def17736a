//! Guide categories, which the service assigns to channels.

use serde_json::json;
use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::{Error, Place, Rule, rules};
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, Operation, Part, Run};
use crate::api::parameter::{HL, IDS, PART, REGION_CODE};
use crate::api::response::Reply;
use crate::api::snippet_list;
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource { operations: &[LIST], rules: RULES, ..Resource::EMPTY };

rules! {
    /// A guide category by its id.
    NOT_FOUND = Rule::new(404, "global", "notFound", Place::parameter("id"), "One or more of the categories could not be found.");
}

/// The channel that categories belong to in the real service.
const CATEGORY_CHANNEL: &str = "UCBR8-60-B28hp2BmDPdntcQ";

/// Guide categories, which the service assigns to channels by itself: id and title.
pub const CATEGORIES: &[(&str, &str)] = &[
    ("GCQmVzdCBvZiB0aGUgc2VydmljZQ", "Best of the service"),
    ("GCQ3JlYXRvciBvbiB0aGUgcmlzZQ", "Creator on the rise"),
    ("GCTXVzaWM", "Music"),
    ("GCQ29tZWR5", "Comedy"),
    ("GCRmlsbSAmIEVudGVydGFpbm1lbnQ", "Film & Entertainment"),
    ("GCR2FtaW5n", "Gaming"),
    ("GCQmVhdXR5ICYgRmFzaGlvbg", "Beauty & Fashion"),
    ("GCU3BvcnRz", "Sports"),
    ("GCVGVjaA", "Tech"),
    ("GCQ29va2luZyAmIEhlYWx0aA", "Cooking & Health"),
    ("GCTmV3cyAmIFBvbGl0aWNz", "News & Politics"),
];

/// The guide category that the service gives a channel: it follows from the channel's id, so it never changes.
#[must_use]
pub fn of_channel(channel: &str) -> &'static str {
    let sum =
        channel.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    CATEGORIES.get(sum % CATEGORIES.len()).map_or("", |(id, _)| id)
}

/// Parts of the resource.
const PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `guideCategories.list`.
const LIST: Operation = Operation {
    doc: "Categories assignable to channels; accepts hl.",
    params: &[PART, HL.default("en-US"), IDS, REGION_CODE],
    filters: Filters::One(&["id", "regionCode"]),
    parts: PARTS,
    scopes: Scopes::of(&[Scope::Full, Scope::ForceSsl, Scope::ReadOnly]),
    response: Some("GuideCategoryListResponse"),
    round_trips: RoundTrips::of(1, 0),
    ..Operation::list("guideCategories.list", "/guideCategories", Run::Call(list))
};

fn list(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let ids = call.params.list("id");
    if ids.iter().any(|id| !CATEGORIES.iter().any(|(known, _)| *known == id)) {
        return Err(Error::Rule(&NOT_FOUND));
    }
    let rows = CATEGORIES
        .iter()
        .filter(|(known, _)| ids.is_empty() || ids.iter().any(|wanted| wanted == known));
    let rows = rows.map(|(id, title)| {
        (*id, json!({"title": title, "channelId": CATEGORY_CHANNEL}).to_string())
    });
    Ok(snippet_list::reply(call, "guideCategory", "guideCategoryListResponse", rows))
}
