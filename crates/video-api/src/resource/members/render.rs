//! Serving a member: who it is, what it has access to, and for how long.

use serde_json::{Map, Value, json};
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::api::response::{Item, etag};
use crate::record::stored;
use crate::resource::channels::record::CHANNELS;
use crate::resource::members::record::{Membership, Span};
use crate::resource::memberships_levels::Level;

/// The resource.
///
/// # Errors
/// As the store.
pub(super) fn render(
    tx: &mut Tx<'_>,
    (creator, member): (&str, &str),
    membership: &Membership,
    offered: &[Level],
    now: Timestamp,
) -> Result<Item, Error> {
    let mut snippet = Map::new();
    snippet.insert("creatorChannelId".into(), creator.into());
    snippet.insert("memberDetails".into(), profile(tx, member)?);
    snippet.insert("membershipsDetails".into(), details(membership, offered, now));
    let text = stored::print(&snippet);
    let mut item = Item::begin("member", &etag(&text), None);
    item.part("snippet", &text);
    Ok(item.end().time_dependent())
}

/// `memberDetails`: of a member whose channel is gone, its id is all that is left.
fn profile(tx: &mut Tx<'_>, member: &str) -> Result<Value, Error> {
    let Some(channel) = CHANNELS.peek_shared(tx, &member.to_owned())? else {
        return Ok(json!({"channelId": member}));
    };
    Ok(json!({
        "channelId": member,
        "channelUrl": format!("http://www.youtube.com/channel/{member}"),
        "displayName": channel.head.title,
        "profileImageUrl": format!("\u{1}/ytc/{member}/default.jpg"),
    }))
}

fn details(membership: &Membership, offered: &[Level], now: Timestamp) -> Value {
    let duration = |span: &Span| {
        let mut duration = Map::new();
        if let Some(since) = span.since {
            duration.insert("memberSince".into(), since.rfc3339().into());
        }
        duration.insert("memberTotalDurationMonths".into(), span.months(now).into());
        duration
    };
    let open: Vec<_> = membership.levels.iter().filter(|(_, span)| span.since.is_some()).collect();
    // In the order of their price, whenever each was reached.
    let accessible: Vec<_> = offered
        .iter()
        .filter(|level| open.iter().any(|(id, _)| *id == level.id))
        .map(|level| level.id.as_str())
        .collect();
    let highest = membership.level.as_deref().unwrap_or_default();
    let name = offered.iter().find(|level| level.id == highest);
    let at_levels: Vec<_> = offered
        .iter()
        .filter_map(|level| open.iter().find(|(id, _)| *id == level.id))
        .map(|(id, span)| {
            let mut at_level = duration(span);
            at_level.insert("level".into(), id.as_str().into());
            at_level
        })
        .collect();
    json!({
        "highestAccessibleLevel": highest,
        "highestAccessibleLevelDisplayName": name.map_or("", |level| level.display_name.as_str()),
        "accessibleLevels": accessible,
        "membershipsDuration": duration(&membership.time),
        "membershipsDurationAtLevels": at_levels,
    })
}
