//! The order `unread`: the latest subscriptions by what their channels published, then the others by when they began.
//!
//! A page goes on behind the last subscription of the one before it. Its token also says which one was the last that was ranked by what was
//! published: where one of them ends meanwhile, no other one comes to a place that was passed over.

use triptych_core::kv::{Key as _, Order, Span, Tx};

use super::record::{PUBLISHER_COUNT, PUBLISHERS_BY_TIME, Parties, SUBSCRIPTIONS};
use super::render;
use super::side::{Page, Side, rank_of};
use crate::api::error::Error;
use crate::api::id_list;
use crate::api::operation::call::Call;
use crate::api::page_token::{Direction, PageToken};
use crate::record::key_order::latest_first;

/// Subscriptions that are ranked by what their channels published: the latest ones.
const RANKED_MAX: usize = 1_000;

/// The class of subscriptions whose channel has published since its subscriber watched it last.
const UNREAD: u8 = 0;
/// The class of those whose channel has not.
const WATCHED: u8 = 1;
/// The class of those that nobody looked at for that.
const OTHER: u8 = 2;

/// A place in the order of time: when a subscription began, and the channel.
type Place = (u64, String);

/// The rank of a subscription: the last place of those that are looked at, its class, and what orders it within that.
type Rank = (Place, (u8, u64, String));

/// The class of each subscription, and the time when its channel published last, the latest first.
///
/// # Errors
/// As the store.
pub(super) fn classes(tx: &mut Tx<'_>, found: &[Parties]) -> Result<Vec<(u8, u64)>, Error> {
    tx.plan(|plan| {
        found.iter().for_each(|parties| drop(plan.row(&SUBSCRIPTIONS, &parties.key())));
        if let Some(parties) = found.first() {
            plan.row(&PUBLISHER_COUNT, &parties.subscriber);
        }
    })?;
    let latest = render::latest_items(tx, found.iter().map(|parties| &parties.publisher))?;
    let mut classes = Vec::with_capacity(found.len());
    for (parties, latest) in found.iter().zip(latest) {
        let subscription = SUBSCRIPTIONS.peek(tx, &parties.key())?;
        let watched = subscription.map_or(0, |known| latest_first(known.watched.micros()));
        classes.push((if latest < watched { UNREAD } else { WATCHED }, latest));
    }
    Ok(classes)
}

/// A page of the subscriptions of a channel.
///
/// # Errors
/// [`Error::InvalidPageToken`].
pub(super) fn page(call: &Call<'_>, tx: &mut Tx<'_>, side: &Side<'_>) -> Result<Page, Error> {
    let binding = side.binding(call);
    let from = match call.page_token(binding)? {
        None => None,
        Some(token) => {
            let rank = Rank::read(&mut token.key.as_slice()).ok_or(Error::InvalidPageToken)?;
            Some((token, rank))
        }
    };
    let Window { bound, head, tail } = window(call, tx, side, from)?;
    let head: Vec<_> = head.into_iter().map(|(_, publisher)| side.parties(publisher)).collect();
    let mut found = Vec::new();
    for ((class, latest), parties) in classes(tx, &head)?.into_iter().zip(head) {
        let rank: Rank = (bound.clone(), (class, latest, parties.publisher.clone()));
        found.push((rank_of(&rank), parties));
    }
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (time, publisher) in tail {
        let rank: Rank = (bound.clone(), (OTHER, time, publisher.clone()));
        found.push((rank_of(&rank), side.parties(publisher)));
    }
    let (found, paging) = id_list::slice(call, found, call.page_size(), binding)?;
    side.counted(call, tx, found, paging)
}

/// The subscriptions that a page is taken from.
struct Window {
    /// The last place of those that are ranked.
    bound: Place,
    /// Those that are ranked.
    head: Vec<Place>,
    /// As many of the others as tell what is on the page and whether there is more on both sides of it.
    tail: Vec<Place>,
}

/// The window of a page that begins, or ends, where its token says.
fn window(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    side: &Side<'_>,
    from: Option<(PageToken, Rank)>,
) -> Result<Window, Error> {
    let channel = side.channel.to_owned();
    let key = |(time, publisher): &Place| {
        PUBLISHERS_BY_TIME.key(&(channel.clone(), *time, publisher.clone())).to_vec()
    };
    let all = PUBLISHERS_BY_TIME.span(&channel);
    let most = (call.page_size() as usize).saturating_add(1);
    let Some((token, (bound, (class, time, publisher)))) = from else {
        let [mut head] = places(tx, [(&all, RANKED_MAX.saturating_add(most))])?;
        let tail = head.split_off(RANKED_MAX.min(head.len()));
        let last = head.last().filter(|_| !tail.is_empty()).cloned();
        // Where there are no others, every place is one of these.
        let bound = last.unwrap_or((u64::MAX, String::new()));
        return Ok(Window { bound, head, tail });
    };
    // What began since the first page is before them, and left out where it is too much.
    let to = [key(&bound), vec![0]].concat();
    let ranked = Span { to: Some(to), order: Order::Descending, ..all.clone() };
    let mut others = Span { from: Some(key(&bound)), ..all };
    let here = (class == OTHER).then_some((time, publisher));
    let is_next = token.direction == Direction::Next;
    match &here {
        Some(here) if is_next => others.from = others.from.max(Some(key(here))),
        Some(here) => (others.to, others.order) = (Some(key(here)), Order::Descending),
        None => {}
    }
    let [head, mut tail] = places(tx, [(&ranked, RANKED_MAX), (&others, most)])?;
    if let Some(here) = here.filter(|_| !is_next) {
        tail.reverse();
        // The page behind this one begins here, whether or not this place is still taken.
        tail.push(here);
    }
    Ok(Window { bound, head, tail })
}

/// Places within spans, at most so many of each, read together.
fn places<const N: usize>(
    tx: &mut Tx<'_>,
    spans: [(&Span, usize); N],
) -> Result<[Vec<Place>; N], Error> {
    let mut found = [const { Vec::new() }; N];
    for (found, page) in found.iter_mut().zip(tx.scan_many(&spans)?) {
        for (row, _) in page.rows {
            let (_, time, publisher) = PUBLISHERS_BY_TIME.read_key(&row)?;
            found.push((time, publisher));
        }
    }
    Ok(found)
}
