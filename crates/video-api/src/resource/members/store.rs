//! A membership that begins, changes its level or ends, with all rows that follow from it.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::record::counter;
use crate::record::counter::Count;
use crate::record::key_order::latest_first;
use crate::resource::channels::record::Id;
use crate::resource::members::record::{
    ANY_LEVEL, MEMBER_COUNT, MEMBER_UPDATES, MEMBERS, MEMBERS_BY_LEVEL, Membership, UPDATE_COUNT,
};
use crate::resource::memberships_levels as levels;

/// Gives `member` this level of `creator`'s channel, or ends the membership, and gives what is stored of it then.
///
/// # Errors
/// [`levels::NOT_ENABLED`], [`Error::InvalidField`] for a level that the channel does not offer; else as the store.
pub fn set_level(
    tx: &mut Tx<'_>,
    creator: &str,
    member: &str,
    level: Option<&str>,
    now: Timestamp,
) -> Result<Membership, Error> {
    let offered = levels::of_channel(tx, creator)?;
    let rank = |wanted: &str| offered.iter().position(|level| level.id == wanted);
    let to = match level {
        Some(level) => Some(rank(level).ok_or_else(|| Error::InvalidField {
            path: "level".into(),
            expected: "the id of a level that the creator's channel offers",
        })?),
        None => None,
    };
    let key = (creator.to_owned(), member.to_owned());
    let old = MEMBERS.get(tx, &key)?.unwrap_or_default();
    let from = old.level.as_deref().and_then(rank);
    if old.level.as_deref() == level {
        return Ok(old);
    }
    list(tx, &key, &old, false)?;
    let mut new = old.clone();
    new.level = level.map(str::to_owned);
    new.time.set(to.is_some(), now);
    for (at, offered) in offered.iter().enumerate() {
        let has_access = to.is_some_and(|to| at <= to);
        match new.levels.iter_mut().find(|(id, _)| *id == offered.id) {
            Some((_, span)) => span.set(has_access, now),
            None if has_access => {
                let mut span = super::record::Span::default();
                span.set(true, now);
                new.levels.push((offered.id.clone(), span));
            }
            None => {}
        }
    }
    // Who joins or upgrades is told of; who leaves is told of no more.
    if to > from || to.is_none() {
        forget_update(tx, creator, &mut new);
    }
    if to > from {
        let Count(last) = UPDATE_COUNT.get(tx, &key.0)?.unwrap_or_default();
        let place = last.saturating_add(1);
        UPDATE_COUNT.put(tx, &key.0, &Count(place));
        MEMBER_UPDATES.put(tx, &(key.0.clone(), place), &Id(key.1.clone()));
        new.update = Some(place);
    }
    list(tx, &key, &new, true)?;
    MEMBERS.put(tx, &key, &new);
    Ok(new)
}

fn forget_update(tx: &mut Tx<'_>, creator: &str, membership: &mut Membership) {
    if let Some(place) = membership.update.take() {
        MEMBER_UPDATES.delete(tx, &(creator.to_owned(), place));
    }
}

/// Puts or takes away the rows by which a membership that goes on is listed.
fn list(
    tx: &mut Tx<'_>,
    (creator, member): &(String, String),
    membership: &Membership,
    is_listed: bool,
) -> Result<(), Error> {
    let Some(since) = membership.time.since.filter(|_| membership.level.is_some()) else {
        return Ok(());
    };
    let open = membership.levels.iter().filter(|(_, span)| span.since.is_some());
    for level in open.map(|(id, _)| id.as_str()).chain([ANY_LEVEL]) {
        let time = latest_first(since.micros());
        let row = (creator.clone(), level.to_owned(), time, member.clone());
        if is_listed {
            MEMBERS_BY_LEVEL.put(tx, &row, &());
        } else {
            MEMBERS_BY_LEVEL.delete(tx, &row);
        }
        counter::change(tx, &MEMBER_COUNT, &(creator.clone(), level.to_owned()), is_listed)?;
    }
    Ok(())
}
