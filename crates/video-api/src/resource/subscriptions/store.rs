//! Putting and removing subscriptions with their index rows and counts on both sides.

use triptych_core::kv::{Key, Plan, Table, Tx};
use triptych_core::time::Timestamp;

use super::record::{
    PRIVATE_SUBSCRIBERS, PUBLISHER_COUNT, PUBLISHERS_BY_TIME, PUBLISHERS_BY_TITLE, Parties,
    SUBSCRIBER_COUNT, SUBSCRIBERS_BY_TIME, SUBSCRIBERS_BY_TITLE, SUBSCRIPTION_IDS, SUBSCRIPTIONS,
    Subscription,
};
use super::rules;
use crate::api::error::Error;
use crate::record::counter;
use crate::record::key_order::latest_first;
use crate::resource::activities::record::{self as activities, Event};
use crate::resource::channels::record::{self as channels, CHANNELS};

/// Characters of a title that its place among others follows from.
const TITLE_CHARS: usize = 100;

/// The titles of both sides, which the interface cannot change.
#[derive(Debug, Clone, Copy)]
pub struct Titles<'t> {
    /// Of the channel that subscribes.
    pub subscriber: &'t str,
    /// Of the channel that it subscribes to.
    pub publisher: &'t str,
}

/// Stores a new subscription between two channels that are there.
///
/// # Errors
/// [`rules::DUPLICATE`]; else as the store.
pub fn insert(
    tx: &mut Tx<'_>,
    parties: &Parties,
    subscription: &Subscription,
) -> Result<(), Error> {
    if SUBSCRIPTIONS.get(tx, &parties.key())?.is_some() {
        return Err(Error::Rule(&rules::DUPLICATE));
    }
    let titles = titles(tx, parties)?;
    let titles = Titles { subscriber: &titles.0, publisher: &titles.1 };
    rows(tx, parties, subscription, titles, true);
    counts(tx, parties, subscription, true)?;
    let event = Event::Subscription(parties.publisher.clone());
    activities::note(tx, &parties.subscriber, subscription.since, event, !subscription.is_private)
}

/// Removes a subscription.
///
/// # Errors
/// As the store.
pub fn remove(
    tx: &mut Tx<'_>,
    parties: &Parties,
    subscription: &Subscription,
) -> Result<(), Error> {
    let titles = titles(tx, parties)?;
    let titles = Titles { subscriber: &titles.0, publisher: &titles.1 };
    rows(tx, parties, subscription, titles, false);
    counts(tx, parties, subscription, false)?;
    activities::forget(tx, &parties.subscriber, &Event::Subscription(parties.publisher.clone()))
}

/// Removes at most `most` subscriptions of and to a channel of this title that is gone, and says whether there are more.
///
/// # Errors
/// As the store.
pub fn remove_of_closed(
    tx: &mut Tx<'_>,
    channel: &str,
    title: &str,
    most: usize,
) -> Result<bool, Error> {
    let span = PUBLISHERS_BY_TIME.span(&channel.to_owned());
    let (own, more_own) = PUBLISHERS_BY_TIME.scan(tx, &span, most)?;
    let left = most.saturating_sub(own.len());
    let span = SUBSCRIBERS_BY_TIME.span(&channel.to_owned());
    let (others, more_others) = SUBSCRIBERS_BY_TIME.scan(tx, &span, left)?;
    for ((_, _, publisher), ()) in &own {
        let other = channels::title(tx, publisher).unwrap_or_default();
        let titles = Titles { subscriber: title, publisher: &other };
        let parties = Parties { subscriber: channel.to_owned(), publisher: publisher.clone() };
        remove_titled(tx, &parties, titles)?;
    }
    let left = left.saturating_sub(others.len());
    let span = PRIVATE_SUBSCRIBERS.span(&channel.to_owned());
    let (hidden, more_hidden) = PRIVATE_SUBSCRIBERS.scan(tx, &span, left)?;
    let others = others.iter().map(|((_, _, subscriber), ())| subscriber);
    for subscriber in others.chain(hidden.iter().map(|((_, subscriber), ())| subscriber)) {
        let other = channels::title(tx, subscriber).unwrap_or_default();
        let titles = Titles { subscriber: &other, publisher: title };
        let parties = Parties { subscriber: subscriber.clone(), publisher: channel.to_owned() };
        remove_titled(tx, &parties, titles)?;
    }
    Ok(more_own || more_others || more_hidden)
}

/// Plans what a change of a subscription reads.
pub fn plan(plan: &mut Plan<'_>, parties: &Parties) {
    let Parties { subscriber, publisher } = parties;
    plan.row(&SUBSCRIPTIONS, &parties.key());
    plan.row(&CHANNELS, subscriber);
    channels::plan(plan, publisher);
    plan.row(&PUBLISHER_COUNT, subscriber);
    plan.row(&SUBSCRIBER_COUNT, publisher);
    activities::plan(plan, subscriber, &Event::Subscription(publisher.clone()));
}

fn remove_titled(tx: &mut Tx<'_>, parties: &Parties, titles: Titles<'_>) -> Result<(), Error> {
    let Some(subscription) = SUBSCRIPTIONS.get(tx, &parties.key())? else {
        return Ok(());
    };
    rows(tx, parties, &subscription, titles, false);
    counts(tx, parties, &subscription, false)?;
    activities::forget(tx, &parties.subscriber, &Event::Subscription(parties.publisher.clone()))
}

/// Notes that a channel was watched by somebody, who may subscribe to it.
///
/// # Errors
/// As the store.
pub fn watched(
    tx: &mut Tx<'_>,
    subscriber: &str,
    publisher: &str,
    now: Timestamp,
) -> Result<(), Error> {
    let key = (subscriber.to_owned(), publisher.to_owned());
    if let Some(old) = SUBSCRIPTIONS.get(tx, &key)?
        && old.watched < now
    {
        SUBSCRIPTIONS.put(tx, &key, &Subscription { watched: now, ..old });
    }
    Ok(())
}

fn titles(tx: &mut Tx<'_>, parties: &Parties) -> Result<(String, String), Error> {
    let subscriber = channels::title(tx, &parties.subscriber)?;
    Ok((subscriber, channels::title(tx, &parties.publisher)?))
}

/// A title as a part of a key: without regard to case.
pub(super) fn title_key(title: &str) -> String {
    title.to_lowercase().chars().take(TITLE_CHARS).collect()
}

/// Puts or removes all rows of a subscription but the counts.
pub fn rows(
    tx: &mut Tx<'_>,
    parties: &Parties,
    subscription: &Subscription,
    titles: Titles<'_>,
    more: bool,
) {
    let Parties { subscriber, publisher } = parties;
    let time = latest_first(subscription.since.micros());
    if more {
        SUBSCRIPTIONS.put(tx, &parties.key(), subscription);
        SUBSCRIPTION_IDS.put(tx, &subscription.id, parties);
    } else {
        SUBSCRIPTIONS.delete(tx, &parties.key());
        SUBSCRIPTION_IDS.delete(tx, &subscription.id);
    }
    let by_time = (subscriber.clone(), time, publisher.clone());
    set(tx, &PUBLISHERS_BY_TIME, &by_time, more);
    let by_title = (subscriber.clone(), title_key(titles.publisher), publisher.clone());
    set(tx, &PUBLISHERS_BY_TITLE, &by_title, more);
    if !subscription.is_private {
        let by_time = (publisher.clone(), time, subscriber.clone());
        set(tx, &SUBSCRIBERS_BY_TIME, &by_time, more);
        let by_title = (publisher.clone(), title_key(titles.subscriber), subscriber.clone());
        set(tx, &SUBSCRIBERS_BY_TITLE, &by_title, more);
    } else {
        set(tx, &PRIVATE_SUBSCRIBERS, &(publisher.clone(), subscriber.clone()), more);
    }
}

fn set<K: Key>(tx: &mut Tx<'_>, table: &Table<K, ()>, key: &K, more: bool) {
    if more { table.put(tx, key, &()) } else { table.delete(tx, key) }
}

fn counts(
    tx: &mut Tx<'_>,
    parties: &Parties,
    subscription: &Subscription,
    more: bool,
) -> Result<(), Error> {
    counter::change(tx, &PUBLISHER_COUNT, &parties.subscriber, more)?;
    if !subscription.is_private {
        counter::change(tx, &SUBSCRIBER_COUNT, &parties.publisher, more)?;
    }
    channels::count(tx, &parties.publisher, |counts| {
        counts.subscribers = if more {
            counts.subscribers.saturating_add(1)
        } else {
            counts.subscribers.saturating_sub(1)
        };
    })
}
