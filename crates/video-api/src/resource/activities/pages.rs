//! Pages of activities: those of a channel, and the uploads of the channels that somebody subscribes to.

use triptych_core::kv::{Plan, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::api::merge::{self, Bounds, Row};
use crate::api::operation::call::Call;
use crate::api::page_token::Binding;
use crate::api::paginate::{self, EXACT_TOTAL_MAX, Wanted};
use crate::api::response::{List, Paging};
use crate::record::counter;
use crate::record::key_order::{latest_first, moment_of};
use crate::resource::activities::record::{ACTIVITIES, ACTIVITY_COUNTS, ACTIVITY_TIMES, Event};
use crate::resource::activities::render::{self, Audience, Shown};
use crate::resource::channels::record::{CHANNEL_COUNTS, CHANNELS};
use crate::resource::subscriptions::record::PUBLISHERS_BY_TIME;
use crate::resource::videos::rating::{self, RATED};
use crate::resource::videos::record::UPLOADS;

/// The latest subscriptions whose uploads are looked at.
const SUBSCRIPTIONS_MAX: usize = 2_000;

/// The table of a source, and the channel whose rows are read of it.
pub(super) enum Source {
    Uploads(String),
    Likes(String),
    Kept(String, u8),
}

impl Source {
    /// The activities of a channel that can be shown to others, or to its owner.
    pub(super) fn of_channel(channel: &str, is_own: bool) -> Vec<Self> {
        let channel = channel.to_owned();
        let mut all =
            vec![Self::Uploads(channel.clone()), Self::Kept(channel.clone(), is_own.into())];
        if is_own {
            // The likes of a channel are its owner's alone.
            all.push(Self::Likes(channel));
        }
        all
    }

    /// The uploads of the channels that somebody's channel subscribes to.
    ///
    /// # Errors
    /// As the store.
    pub(super) fn of_subscriptions(tx: &mut Tx<'_>, channel: &str) -> Result<Vec<Self>, Error> {
        let span = PUBLISHERS_BY_TIME.span(&channel.to_owned());
        let (publishers, _) = PUBLISHERS_BY_TIME.scan(tx, &span, SUBSCRIPTIONS_MAX)?;
        Ok(publishers.into_iter().map(|((_, _, publisher), ())| Self::Uploads(publisher)).collect())
    }

    fn prefix(&self) -> Vec<u8> {
        match self {
            Self::Uploads(channel) => UPLOADS.span(&(channel.clone(), 0_u8)).prefix,
            Self::Likes(channel) => RATED.span(&(channel.clone(), 1_u8)).prefix,
            Self::Kept(channel, audience) => {
                ACTIVITY_TIMES.span(&(channel.clone(), *audience)).prefix
            }
        }
    }

    fn channel(&self) -> &str {
        match self {
            Self::Uploads(channel) | Self::Likes(channel) | Self::Kept(channel, _) => channel,
        }
    }

    /// Number of its rows. Whatever changes them writes it.
    fn count(&self, tx: &mut Tx<'_>) -> Result<u64, Error> {
        match self {
            Self::Uploads(channel) => {
                Ok(CHANNEL_COUNTS.peek(tx, channel)?.unwrap_or_default().listed_uploads)
            }
            Self::Likes(channel) => rating::total(tx, channel, 1, false),
            Self::Kept(channel, audience) => {
                counter::of(tx, &ACTIVITY_COUNTS, &(channel.clone(), *audience))
            }
        }
    }

    /// Plans what [`Source::count`] reads.
    fn plan_count(&self, plan: &mut Plan<'_>) {
        match self {
            Self::Uploads(channel) => drop(plan.row(&CHANNEL_COUNTS, channel)),
            Self::Likes(channel) => rating::plan_total(plan, channel, 1),
            Self::Kept(channel, audience) => {
                plan.row(&ACTIVITY_COUNTS, &(channel.clone(), *audience));
            }
        }
    }

    /// Plans what is read of the activity that a row of it is.
    fn plan_event(&self, plan: &mut Plan<'_>, id: String) {
        let event = match self {
            Self::Uploads(_) => Some(Event::Upload(id)),
            Self::Likes(_) => Some(Event::Like(id)),
            Self::Kept(channel, _) => {
                plan.row(&ACTIVITIES, &(channel.clone(), id)).map(|activity| activity.event)
            }
        };
        event.iter().for_each(|event| render::plan(plan, self.channel(), event));
    }

    /// The activity that a row of it is.
    fn event(&self, tx: &mut Tx<'_>, id: String) -> Result<Option<Event>, Error> {
        Ok(match self {
            Self::Uploads(_) => Some(Event::Upload(id)),
            Self::Likes(_) => Some(Event::Like(id)),
            Self::Kept(channel, _) => {
                ACTIVITIES.peek(tx, &(channel.clone(), id))?.map(|activity| activity.event)
            }
        })
    }
}

/// Writes a page of these sources into `list`.
///
/// # Errors
/// [`Error::InvalidPageToken`].
pub(super) fn write(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    sources: &[Source],
    is_own: bool,
    names: &[&str],
    list: &mut List,
) -> Result<Paging, Error> {
    let region = call.region();
    let audience = Audience { caller: call.caller, is_own, region };
    let given = ["publishedAfter", "publishedBefore", "regionCode"];
    let mut bound = vec![call.operation.name];
    bound.extend(names);
    bound.extend(given.map(|name| call.params.get(name).unwrap_or_default()));
    let binding = Binding::of(&bound);
    let token = call.page_token(binding)?;
    let size = call.page_size();
    let wanted = Wanted { token: token.as_ref(), size, binding };
    let prefixes: Vec<_> = sources.iter().map(Source::prefix).collect();
    let bounds =
        bounds(call.params.moment("publishedAfter"), call.params.moment("publishedBefore"));
    tx.plan(|plan| {
        for source in sources {
            source.plan_count(plan);
            plan.row(&CHANNELS, &source.channel().to_owned());
        }
    })?;
    let mut total = 0;
    for source in sources {
        total += source.count(tx)?;
    }
    // Whatever changes what is listed changes a counter, which was read above.
    let (rows, total) = tx.guarded(|tx| {
        let take = |tx: &mut Tx<'_>, row: &Row| found(tx, sources, row, &audience);
        let plan = |plan: &mut Plan<'_>, row: &Row| {
            let id = merge::time_and_id(row.suffix()).map(|(_, id)| id);
            if let Some((source, id)) = sources.get(row.source).zip(id) {
                source.plan_event(plan, id);
            }
        };
        let is_narrowed = given.into_iter().any(|name| call.params.has(name));
        if is_narrowed || total <= u64::from(EXACT_TOTAL_MAX) {
            return paginate::count_spans(tx, &prefixes, &bounds, wanted, plan, take);
        }
        Ok((paginate::read_spans(tx, &prefixes, &bounds, wanted, plan, take)?, total))
    })?;
    for Found { channel, at, event, shown } in &rows.keys {
        if let Some(owner) = CHANNELS.peek_shared(tx, &(*channel).to_owned())? {
            list.push(&render::render((channel, &*owner), *at, event, shown, &call.parts));
        }
    }
    Ok(rows.paging(total, size))
}

/// An activity that is shown.
struct Found<'s> {
    channel: &'s str,
    at: Timestamp,
    event: Event,
    shown: Shown,
}

/// The activity of a row, if it is shown.
fn found<'s>(
    tx: &mut Tx<'_>,
    sources: &'s [Source],
    row: &Row,
    audience: &Audience<'_>,
) -> Result<Option<Found<'s>>, Error> {
    let (Some(source), Some((time, id))) =
        (sources.get(row.source), merge::time_and_id(row.suffix()))
    else {
        return Ok(None);
    };
    let Some(event) = source.event(tx, id)? else {
        return Ok(None);
    };
    let (channel, at) = (source.channel(), Timestamp::from_micros(moment_of(time)));
    let shown = render::find(tx, channel, &event, audience)?;
    Ok(shown.map(|shown| Found { channel, at, event, shown }))
}

/// The suffixes of what was published at or after one moment and before another: the latest come first.
fn bounds(after: Option<Timestamp>, before: Option<Timestamp>) -> Bounds {
    let past =
        |moment: Timestamp| latest_first(moment.micros()).saturating_add(1).to_be_bytes().to_vec();
    Bounds { from: before.map(past), to: after.map(past) }
}
