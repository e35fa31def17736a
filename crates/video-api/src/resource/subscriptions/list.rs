//! Lists of subscriptions: by who subscribes, by who is subscribed to, or by id, in their orders and pages.

use triptych_core::kv::Tx;

use super::record::{
    PUBLISHERS_BY_TIME, PUBLISHERS_BY_TITLE, Parties, SUBSCRIBER_COUNT, SUBSCRIBERS_BY_TIME,
    SUBSCRIBERS_BY_TITLE, SUBSCRIPTION_IDS, SUBSCRIPTIONS,
};
use super::side::{Page, Side, closing, rank_of};
use super::{rules, store, unread};
use crate::api::error::Error;
use crate::api::id_list::{self, Ranked};
use crate::api::operation::call::Call;
use crate::api::page_token::Binding;
use crate::record::counter;
use crate::record::key_order::latest_first;
use crate::resource::channels::record as channels;
use crate::resource::channels::record::CHANNELS;

/// Channels that `forChannelId` names at most.
const CHANNELS_MAX: usize = 50;

/// The page that a request asks for.
///
/// # Errors
/// [`rules::SUBSCRIBER_CLOSED`], [`rules::SUBSCRIBER_NOT_FOUND`], [`rules::PRIVATE`], [`Error::NoChannel`], [`Error::InvalidPageToken`].
pub(super) fn page(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<Page, Error> {
    let params = call.params;
    let only: Option<Vec<&str>> = params
        .get("forChannelId")
        .map(|list| list.split(',').map(str::trim).filter(|id| !id.is_empty()).collect());
    if only.as_ref().is_some_and(|only| only.len() > CHANNELS_MAX) {
        return Err(Error::TooManyIds);
    }
    if params.has("id") {
        let found = by_id(call, tx, only.as_deref())?;
        return id_list::page(call, found);
    }
    if params.flag("mySubscribers") || params.flag("myRecentSubscribers") {
        let channel = call.caller.channel()?.to_owned();
        if only.is_some_and(|only| !only.contains(&channel.as_str())) {
            return id_list::slice(call, Vec::new(), call.page_size(), Binding::of(&[]));
        }
        let (mine, recent) = ("mySubscribers", "myRecentSubscribers");
        let list = if params.flag(mine) { mine } else { recent };
        let by_title = list == mine && params.get("order") == Some("alphabetical");
        return subscribers(call, tx, (list, &channel), by_title);
    }
    let (list, subscriber) = subscriber(call, tx)?;
    if let Some(only) = only {
        return chosen(call, tx, (list, &subscriber), &only);
    }
    match params.get("order") {
        Some("unread") => {
            unread::page(call, tx, &Side { channel: &subscriber, list, order: "unread" })
        }
        Some("alphabetical") => {
            let publisher = |key: (String, String, String)| key.2;
            let side = Side { channel: &subscriber, list, order: "alphabetical" };
            let (found, paging) = side.read(call, tx, &PUBLISHERS_BY_TITLE, publisher)?;
            side.finish(call, tx, found, paging)
        }
        _ => {
            let publisher = |key: (String, u64, String)| key.2;
            let side = Side { channel: &subscriber, list, order: "relevance" };
            let (found, paging) = side.read(call, tx, &PUBLISHERS_BY_TIME, publisher)?;
            side.finish(call, tx, found, paging)
        }
    }
}

/// A page of the channels that subscribe to `channel` and do not keep it private, as the list of that name.
///
/// # Errors
/// [`Error::InvalidPageToken`].
pub fn subscribers(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    (list, channel): (&'static str, &str),
    by_title: bool,
) -> Result<Page, Error> {
    let (found, mut paging) = if by_title {
        let side = Side { channel, list, order: "by title" };
        side.read(call, tx, &SUBSCRIBERS_BY_TITLE, |key: (String, String, String)| key.2)?
    } else {
        let side = Side { channel, list, order: "by time" };
        side.read(call, tx, &SUBSCRIBERS_BY_TIME, |key: (String, u64, String)| key.2)?
    };
    let of = |subscriber| Parties { subscriber, publisher: channel.to_owned() };
    let total = counter::of(tx, &SUBSCRIBER_COUNT, &channel.to_owned())?;
    paging.total = total.saturating_sub(closing(call, tx, of, |found| !found.is_private)?);
    Ok((found.into_iter().map(of).collect(), paging))
}

/// The channel whose subscriptions are asked for, if the caller may see them, with the filter that names it.
fn subscriber(call: &Call<'_>, tx: &mut Tx<'_>) -> Result<(&'static str, String), Error> {
    let Some(id) = call.params.get("channelId") else {
        return Ok(("mine", call.caller.channel()?.to_owned()));
    };
    let (absent, closed) = (&rules::SUBSCRIBER_NOT_FOUND, &rules::SUBSCRIBER_CLOSED);
    let channel = channels::named_or(tx, id, absent, closed)?;
    if channel.head.hides_subscriptions && !call.caller.owns(id) {
        return Err(Error::Rule(&rules::PRIVATE));
    }
    Ok(("channelId", id.to_owned()))
}

/// Those of the ids that there are; what a subscriber keeps private, nobody else sees.
fn by_id(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    only: Option<&[&str]>,
) -> Result<Vec<Ranked<Parties>>, Error> {
    let mut found = Vec::new();
    tx.plan(|plan| {
        for id in call.params.list("id") {
            if let Some(parties) = plan.row(&SUBSCRIPTION_IDS, id) {
                plan.row(&SUBSCRIPTIONS, &parties.key());
            }
        }
    })?;
    for (at, id) in call.params.list("id").iter().enumerate() {
        let Some(parties) = SUBSCRIPTION_IDS.peek(tx, id)? else {
            continue;
        };
        let subscription = SUBSCRIPTIONS.peek(tx, &parties.key())?;
        let is_seen = call.caller.owns(&parties.subscriber)
            || subscription.is_some_and(|subscription| !subscription.is_private);
        let closing = &call.caller.closing;
        let is_closing = closing.holds(&parties.subscriber) || closing.holds(&parties.publisher);
        if is_seen
            && !is_closing
            && only.is_none_or(|only| only.contains(&parties.publisher.as_str()))
        {
            found.push((id_list::rank_at(at), parties));
        }
    }
    Ok(found)
}

/// Subscriptions with their ranks in the order that is asked for.
fn ranked(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    found: Vec<Parties>,
) -> Result<Vec<Ranked<Parties>>, Error> {
    let order = call.params.get("order");
    tx.plan(|plan| {
        for parties in &found {
            plan.row(&SUBSCRIPTIONS, &parties.key());
            if order == Some("alphabetical") {
                plan.row(&CHANNELS, &parties.publisher);
            }
        }
    })?;
    let mut ranks = Vec::with_capacity(found.len());
    match order {
        Some("unread") => {
            let classes = unread::classes(tx, &found)?;
            let ranked = classes.into_iter().zip(&found);
            ranks.extend(
                ranked.map(|(class, parties)| rank_of(&(class, parties.publisher.clone()))),
            );
        }
        Some("alphabetical") => {
            for Parties { publisher, .. } in &found {
                let channel = CHANNELS.peek_shared(tx, publisher)?;
                let title = channel.map(|channel| store::title_key(&channel.head.title));
                ranks.push(rank_of(&(title.unwrap_or_default(), publisher.clone())));
            }
        }
        _ => {
            for parties in &found {
                let known = SUBSCRIPTIONS.peek(tx, &parties.key())?;
                let since = known.map_or(0, |known| latest_first(known.since.micros()));
                ranks.push(rank_of(&(since, parties.publisher.clone())));
            }
        }
    }
    let mut ranked: Vec<_> = ranks.into_iter().zip(found).collect();
    ranked.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(ranked)
}

/// Those subscriptions of a channel that are to one of these.
fn chosen(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    (list, subscriber): (&'static str, &str),
    only: &[&str],
) -> Result<Page, Error> {
    let of = |publisher: &str| Parties {
        subscriber: subscriber.to_owned(),
        publisher: publisher.to_owned(),
    };
    tx.plan(|plan| {
        only.iter().for_each(|publisher| drop(plan.row(&SUBSCRIPTIONS, &of(publisher).key())));
    })?;
    let mut found: Vec<Parties> = Vec::new();
    for publisher in only {
        let parties = of(publisher);
        let is_there = !call.caller.closing.holds(publisher)
            && SUBSCRIPTIONS.peek(tx, &parties.key())?.is_some();
        if is_there && !found.contains(&parties) {
            found.push(parties);
        }
    }
    let found = ranked(call, tx, found)?;
    let order = call.params.get("order").unwrap_or_default();
    let side = Side { channel: subscriber, list, order };
    id_list::slice(call, found, call.page_size(), side.binding(call))
}
