//! The work of `POST /_ops/comments`, which no operation does: somebody likes it or does so no more, and the service finds that it
//! looks like spam.

use serde::Deserialize;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::account::ACCOUNTS;
use crate::api::error::Error;
use crate::resource::channels::rules as channel_rules;
use crate::resource::comments::moderation::Moderation;
use crate::resource::comments::record::{COMMENTS, Comment, LIKES};
use crate::resource::comments::{rules, store, tally};

/// A like, or a state, or both.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reaction {
    /// The comment.
    pub comment: String,
    /// The account that likes it, or does so no more.
    pub account: Option<String>,
    /// False if the account does not like it any more.
    #[serde(default = "yes")]
    pub likes: bool,
    /// The state that it is given.
    pub moderation_status: Option<Moderation>,
}

const fn yes() -> bool {
    true
}

/// Carries a reaction out, and gives the comment as it is then.
///
/// # Errors
/// [`rules::NOT_FOUND`], [`NOT_FOUND`](channel_rules::NOT_FOUND) for an account that is none, [`Error::NoChannel`].
pub fn carry_out(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    reaction: &Reaction,
) -> Result<Comment, Error> {
    let id = &reaction.comment;
    let old = COMMENTS.get(tx, id)?.ok_or(&rules::NOT_FOUND)?;
    let mut new = old.clone();
    if let Some(account) = &reaction.account {
        let account = ACCOUNTS.peek(tx, account)?.ok_or(&channel_rules::NOT_FOUND)?;
        let key = (id.clone(), account.channel.ok_or(Error::NoChannel)?);
        match (LIKES.get(tx, &key)?.is_some(), reaction.likes) {
            (false, true) => {
                LIKES.put(tx, &key, &());
                new.likes = new.likes.saturating_add(1);
            }
            (true, false) => {
                LIKES.delete(tx, &key);
                new.likes = new.likes.saturating_sub(1);
            }
            _ => {}
        }
    }
    new.state = reaction.moderation_status.unwrap_or(new.state);
    if new != old {
        store::replace(tx, tally::shard(ids), id, &old, &new)?;
    }
    Ok(new)
}
