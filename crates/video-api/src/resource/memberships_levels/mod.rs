//! Levels of membership: what a channel offers its members, in the order of their price.

mod seed;

use serde::{Deserialize, Serialize};
use serde_json::json;
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, RoundTrips, Table, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::{Error, Place, Rule, rules};
use crate::api::operation::call::Call;
use crate::api::operation::{Access, Operation, Part, Run};
use crate::api::parameter::PART;
use crate::api::response::Reply;
use crate::api::snippet_list;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[LIST],
    rules: RULES,
    tables: &[TableEntry::new("membershipsLevels", &LEVELS, Form::Json)],
    seed: seed::SECTIONS,
};

rules! {
    /// Members or levels of a channel that has no levels.
    NOT_ENABLED = Rule::new(400, "youtube.member", "channelMembershipsNotEnabled", Place::None, "The creator's channel does not have channel memberships enabled.");
}

/// Levels by channel, price and id.
pub const LEVELS: Table<(String, u64, String), Level> = Table::new(0xA3);

/// A channel has at most so many levels.
pub const LEVELS_MAX: usize = 100;

/// A level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// Its id.
    pub id: String,
    /// Its name.
    pub display_name: String,
}

impl JsonRecord for Level {}

/// Parts of the resource.
const PARTS: &[Part] = &[Part::read("id"), Part::read("snippet")];

/// `membershipsLevels.list`.
const LIST: Operation = Operation {
    doc: "Levels owned by the authorizing channel, in implicit display order.",
    params: &[PART],
    parts: PARTS,
    access: Access::Token,
    scopes: Scopes::of(&[Scope::Memberships]),
    response: Some("MembershipsLevelListResponse"),
    round_trips: RoundTrips::of(3, 0),
    ..Operation::list("membershipsLevels.list", "/membershipsLevels", Run::Call(list))
};

/// The levels of a channel, the cheapest first. A level gives access to those before it.
///
/// # Errors
/// [`NOT_ENABLED`] if it has none.
pub fn of_channel(tx: &mut Tx<'_>, channel: &str) -> Result<Vec<Level>, Error> {
    let (rows, _) = LEVELS.scan(tx, &LEVELS.span(&channel.to_owned()), LEVELS_MAX)?;
    if rows.is_empty() {
        return Err(Error::Rule(&NOT_ENABLED));
    }
    Ok(rows.into_iter().map(|(_, level)| level).collect())
}

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let channel = call.caller.channel()?;
    let levels = of_channel(tx, channel)?;
    let rows = levels.iter().map(|level| {
        let details = json!({"displayName": level.display_name});
        let snippet = json!({"creatorChannelId": channel, "levelDetails": details});
        (level.id.as_str(), snippet.to_string())
    });
    let list_kind = "membershipsLevelListResponse";
    Ok(snippet_list::reply(call, "membershipsLevel", list_kind, rows))
}
