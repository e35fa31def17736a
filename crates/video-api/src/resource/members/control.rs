//! The work of `POST /_ops/members`, which no operation does: an account joins, changes its level, or leaves.

use serde::Deserialize;
use serde_json::{Value, json};
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::account::ACCOUNTS;
use crate::api::error::Error;
use crate::resource::channels::record::CHANNELS;
use crate::resource::channels::rules as channels;
use crate::resource::members::record::MEMBERS;
use crate::resource::members::store;

/// A membership that changes. Creator and member are accounts or channels; without a level, the member leaves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Change {
    /// The channel whose members they are.
    pub creator: String,
    /// The account.
    pub member: String,
    /// The level from now on.
    pub level: Option<String>,
}

/// Carries a change out, and says what it made of the membership.
///
/// # Errors
/// [`channels::NOT_FOUND`] for an account or channel that is none, [`Error::InvalidField`] for an account without a channel and one's own channel, and
/// those of [`store::set_level`].
pub fn carry_out(tx: &mut Tx<'_>, change: &Change, now: Timestamp) -> Result<Value, Error> {
    let creator = channel_of(tx, "creator", &change.creator)?;
    let member = match MEMBERS.peek(tx, &(creator.clone(), change.member.clone()))? {
        // Of a member whose account was closed, the channel's id is left.
        Some(_) => change.member.clone(),
        None => channel_of(tx, "member", &change.member)?,
    };
    if creator == member {
        let expected = "another channel than the creator's";
        return Err(Error::InvalidField { path: "member".into(), expected });
    }
    let level = change.level.as_deref();
    let membership = store::set_level(tx, &creator, &member, level, now)?;
    Ok(json!({
        "creator": creator,
        "member": member,
        "level": membership.level,
        "memberSince": membership.time.since.map(Timestamp::rfc3339),
    }))
}

/// The channel that the member `path` of the body names, by its own id or by that of its account.
fn channel_of(tx: &mut Tx<'_>, path: &'static str, name: &str) -> Result<String, Error> {
    if let Some(account) = ACCOUNTS.peek(tx, &name.to_owned())? {
        let expected = "an account that has a channel";
        return account.channel.ok_or(Error::InvalidField { path: path.into(), expected });
    }
    CHANNELS.peek(tx, &name.to_owned())?.ok_or(&channels::NOT_FOUND)?;
    Ok(name.to_owned())
}
