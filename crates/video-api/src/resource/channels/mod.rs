//! Channels: read by everyone, written by their owner.

pub mod closing;
pub mod detach;
pub mod patch;
pub mod promotion;
pub mod record;
pub mod render;
pub mod rules;
pub mod search_document;
pub mod store;
pub mod timing;

use triptych_core::id::Ids;
use triptych_core::kv::{Plan, RoundTrips, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Filters, NamedParts, Operation, Part, Run, WRITE};
use crate::api::page_token::Binding;
use crate::api::parameter::{HL, IDS, Kind, MAX_RESULTS, OWNER, PAGE_TOKEN, PART, Param};
use crate::api::response::{List, Paging, Reply};
use crate::api::{id_list, paginate};
use crate::record::closing::{CLOSING, STEPS};
use crate::record::counter;
use crate::record::json_fields::Body;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::channels::record::{
    CATEGORY_CHANNEL_COUNT, CATEGORY_CHANNELS, CHANNEL_COUNTS, CHANNELS, CLOSED_CHANNELS,
    ChannelCounts, HANDLES, USERNAMES,
};
use crate::resource::subscriptions::record::SUBSCRIPTIONS;
use crate::resource::{Resource, guide_categories, subscriptions};

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[LIST, UPDATE],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("channels", &CHANNELS, Form::Stored),
        TableEntry::new("channelCounts", &CHANNEL_COUNTS, Form::Json),
        TableEntry::new("handles", &HANDLES, Form::Json),
        TableEntry::new("usernames", &USERNAMES, Form::Json),
        TableEntry::new("categoryChannels", &CATEGORY_CHANNELS, Form::Bytes),
        TableEntry::new("categoryChannelCount", &CATEGORY_CHANNEL_COUNT, Form::Json),
        TableEntry::new("closedChannels", &CLOSED_CHANNELS, Form::Bytes),
        TableEntry::new("closingChannels", &CLOSING, Form::Json),
        TableEntry::new("closingSteps", &STEPS, Form::Json),
    ],
    ..Resource::EMPTY
};

/// The parts of a channel.
const CHANNEL_PARTS: &[Part] = &[
    Part::written("id"),
    Part::read("snippet"),
    Part::owner("auditDetails"),
    Part::written("brandingSettings"),
    Part::read("contentDetails"),
    Part::read("contentOwnerDetails"),
    Part::read("conversionPings"),
    Part::written("invideoPromotion"),
    Part::written("localizations"),
    Part::read("statistics"),
    Part::read("status"),
    Part::read("topicDetails"),
];

/// `channels.list`.
const LIST: Operation = Operation {
    doc: "Zero or more channels matching criteria.",
    params: &[
        PART,
        Param::text("categoryId", "The id of a guide category."),
        Param::text("forHandle", "The handle of a channel, with or without @."),
        Param::text("forUsername", "The user name of a channel."),
        HL,
        IDS,
        Param::of("managedByMe", Kind::Boolean, "Channels that the content owner manages.")
            .private(),
        MAX_RESULTS,
        Param::of("mine", Kind::Boolean, "The caller's own.").private(),
        Param::of("mySubscribers", Kind::Boolean, "Channels that subscribe to the caller's.")
            .private(),
        OWNER,
        PAGE_TOKEN,
    ],
    clash: Some(&rules::CRITERIA_INVALID),
    filters: Filters::One(&[
        "categoryId",
        "forHandle",
        "forUsername",
        "id",
        "managedByMe",
        "mine",
        "mySubscribers",
    ]),
    parts: CHANNEL_PARTS,
    scopes: Scopes::of(&[
        Scope::Full,
        Scope::ForceSsl,
        Scope::ReadOnly,
        Scope::Partner,
        Scope::PartnerAudit,
    ]),
    plan: |asked, plan| {
        asked.list("id").for_each(|id| plan_shown(plan, &id));
        // Who asks for nothing by its name asks for the own.
        asked.channel.iter().for_each(|own| plan_shown(plan, &(*own).to_owned()));
    },
    response: Some("ChannelListResponse"),
    round_trips: RoundTrips::of(2, 0),
    ..Operation::list("channels.list", "/channels", Run::Call(list))
};

/// `channels.update`.
const UPDATE: Operation = Operation {
    doc: "Update metadata; only brandingSettings and invideoPromotion (and their children) are updatable.",
    params: &[PART, OWNER],
    parts: CHANNEL_PARTS,
    named_parts: NamedParts::Written,
    scopes: WRITE,
    request: Some("Channel"),
    response: Some("Channel"),
    round_trips: RoundTrips::of(2, 1),
    ..Operation::update("channels.update", "/channels", Run::Call(update))
};

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let params = call.params;
    let size = call.page_size();
    let mut paging = Paging { size, ..Paging::default() };
    let ids: Vec<String> = if params.has("id") {
        params.list("id").to_vec()
    } else if let Some(handle) = params.get("forHandle") {
        HANDLES.peek(tx, &record::handle_key(handle))?.map(|id| id.0).into_iter().collect()
    } else if let Some(name) = params.get("forUsername") {
        USERNAMES.peek(tx, &name.to_lowercase())?.map(|id| id.0).into_iter().collect()
    } else if let Some(category) = params.get("categoryId") {
        if !guide_categories::CATEGORIES.iter().any(|(known, _)| *known == category) {
            return Err(Error::Rule(&rules::CATEGORY_NOT_FOUND));
        }
        let binding = Binding::of(&[call.operation.name, category]);
        let token = call.page_token(binding)?;
        let wanted = paginate::Wanted { token: token.as_ref(), size, binding };
        let rows = paginate::read(tx, &CATEGORY_CHANNELS, &category.to_owned(), wanted)?;
        paging = rows.paging(0, size);
        rows.keys.into_iter().map(|(_, id)| id).collect()
    } else if params.flag("mySubscribers") {
        let own = call.caller.channel()?.to_owned();
        let (found, found_paging) =
            subscriptions::list::subscribers(call, tx, ("mySubscribers", &own), false)?;
        paging = found_paging;
        found.into_iter().map(|parties| parties.subscriber).collect()
    } else {
        // An account without a channel owns none: that is an answer and no fault.
        call.caller.channel().ok().map(str::to_owned).into_iter().collect()
    };
    let mut items = Vec::new();
    tx.plan(|plan| ids.iter().for_each(|id| plan_shown(plan, id)))?;
    for (at, id) in ids.iter().enumerate() {
        let Some(found) = CHANNELS.peek(tx, id)? else {
            continue;
        };
        if call.wants("auditDetails")
            && !(call.caller.owns(id) && call.caller.scopes.has(Scope::PartnerAudit))
        {
            return Err(Error::Rule(&rules::FORBIDDEN));
        }
        let counts = shown_counts(call, tx, id)?;
        let item = render::render(id, &found, counts, &call.parts, call.language(), call.caller);
        items.push((id_list::rank_at(at), item));
    }
    let mut list = List::new("channelListResponse");
    let is_whole = params.has("categoryId") || params.flag("mySubscribers");
    if let Some(category) = params.get("categoryId") {
        paging.total = counter::of(tx, &CATEGORY_CHANNEL_COUNT, &category.to_owned())?;
    }
    let items = if is_whole {
        items.into_iter().map(|(_, item)| item).collect()
    } else {
        let (items, found) = id_list::page(call, items)?;
        paging = found;
        items
    };
    items.iter().for_each(|item| list.push(item));
    Ok(list.end(Some(&paging)))
}

/// Plans the rows that a channel is shown by.
fn plan_shown(plan: &mut Plan<'_>, id: &String) {
    plan.row(&CHANNELS, id);
    plan.row(&CHANNEL_COUNTS, id);
}

/// The counters of a channel. A subscriber that is closing counts no more.
fn shown_counts(call: &Call<'_>, tx: &mut Tx<'_>, id: &String) -> Result<ChannelCounts, Error> {
    let mut counts = CHANNEL_COUNTS.peek(tx, id)?.unwrap_or_default();
    for subscriber in call.caller.closing.iter() {
        let is_subscriber = SUBSCRIPTIONS.peek(tx, &(subscriber.to_owned(), id.clone()))?.is_some();
        counts.subscribers = counts.subscribers.saturating_sub(is_subscriber.into());
    }
    Ok(counts)
}

fn update(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let body = Body::of(call.body);
    let id = body.id()?.ok_or(Error::RequiredField("id"))?;
    if !call.caller.owns(&id) {
        record::named(tx, &id, &rules::NOT_FOUND)?;
        return Err(Error::Rule(&rules::FORBIDDEN));
    }
    tx.plan(|plan| record::plan(plan, &id))?;
    let old = CHANNELS.get(tx, &id)?.ok_or(&rules::NOT_FOUND)?;
    call.expect(&old.etag())?;
    let mut new = old.clone();
    patch::write(tx, &id, &mut new, body, &call.parts)?;
    if new != old {
        CHANNELS.put(tx, &id, &new);
        search_document::put(tx, &id, &new)?;
    }
    let counts = shown_counts(call, tx, &id)?;
    Ok(Reply::resource(&render::render(&id, &new, counts, &call.parts, None, call.caller)))
}
