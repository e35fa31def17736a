//! Members of channels: everybody who is one now, or who became one or more of one since the last call.

pub mod control;
pub mod record;
mod render;
pub mod rules;
mod seed;
pub mod store;

use triptych_core::id::Ids;
use triptych_core::kv::{RoundTrips, Tx};

use crate::account::{Scope, Scopes};
use crate::api::error::Error;
use crate::api::operation::call::Call;
use crate::api::operation::{Access, Operation, Part, Run};
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::parameter::{Kind, PAGE_TOKEN, PART, Param};
use crate::api::response::{List, Paging, Reply};
use crate::api::{id_list, paginate};
use crate::record::counter;
use crate::record::counter::Count;
use crate::record::key_order::latest_first;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::Resource;
use crate::resource::channels::record::Id;
use crate::resource::members::record::{
    ANY_LEVEL, MEMBER_COUNT, MEMBER_UPDATES, MEMBERS, MEMBERS_BY_LEVEL, Membership, UPDATE_COUNT,
};
use crate::resource::memberships_levels as levels;

/// The resource.
pub static RESOURCE: Resource = Resource {
    operations: &[LIST],
    rules: rules::RULES,
    tables: &[
        TableEntry::new("members", &MEMBERS, Form::Json),
        TableEntry::new("membersByLevel", &MEMBERS_BY_LEVEL, Form::Bytes),
        TableEntry::new("memberCount", &MEMBER_COUNT, Form::Json),
        TableEntry::new("memberUpdates", &MEMBER_UPDATES, Form::Json),
        TableEntry::new("memberUpdateCount", &UPDATE_COUNT, Form::Json),
    ],
    seed: seed::SECTIONS,
};

/// Parts of the resource.
const PARTS: &[Part] = &[Part::read("snippet")];

/// Members that one request names at most (facts: members.list).
const FILTER_MAX: usize = 100;

/// `members.list`.
const LIST: Operation = Operation {
    doc: "Members of a channel.",
    params: &[
        PART,
        Param::text("filterByMemberChannelId", "Only these members: their channels, at most 100."),
        Param::text("hasAccessToLevel", "Only members of this level or above."),
        Param::of("maxResults", Kind::Unsigned(0, 1000), "How many items a page has at most.")
            .default("5"),
        Param::of(
            "mode",
            Kind::OneOf(&["listMembersModeUnknown", "updates", "all_current"]),
            "All who are members now, or those who joined or upgraded since the call that gave the page token.",
        )
        .default("all_current")
        .unlisted(&rules::MODE_INVALID),
        PAGE_TOKEN,
    ],
    parts: PARTS,
    access: Access::Token,
    scopes: Scopes::of(&[Scope::Memberships]),
    response: Some("MemberListResponse"),
    round_trips: RoundTrips::of(6, 0),
    ..Operation::list("members.list", "/members", Run::Call(list))
};

/// The members that a request asks for, and whose they are.
struct Wanted<'c> {
    creator: &'c str,
    offered: Vec<levels::Level>,
    level: Option<&'c str>,
    /// Only these channels, if any are named.
    named: Vec<&'c str>,
    /// The bond of page tokens.
    binding: Binding,
}

impl Wanted<'_> {
    /// Returns whether somebody is a member now, of the level that is asked for.
    fn has(&self, member: &str, membership: &Membership) -> bool {
        let is_open = |level: &str| {
            membership.levels.iter().any(|(id, span)| id == level && span.since.is_some())
        };
        membership.level.is_some()
            && self.level.is_none_or(is_open)
            && (self.named.is_empty() || self.named.contains(&member))
    }
}

fn list(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let mode = call.params.get("mode").unwrap_or("all_current");
    if mode == "listMembersModeUnknown" {
        return Err(Error::Rule(&rules::MODE_INVALID));
    }
    let creator = call.caller.channel()?;
    let offered = levels::of_channel(tx, creator)?;
    let level = call.params.get("hasAccessToLevel");
    if level.is_some_and(|level| !offered.iter().any(|offered| offered.id == level)) {
        return Err(Error::Rule(&rules::LEVEL_INVALID));
    }
    let filter = call.params.get("filterByMemberChannelId").unwrap_or_default();
    let mut named: Vec<_> =
        filter.split(',').map(str::trim).filter(|channel| !channel.is_empty()).collect();
    if named.len() > FILTER_MAX {
        return Err(Error::Rule(&rules::FILTER_INVALID));
    }
    named.sort_unstable();
    named.dedup();
    let names = [call.operation.name, mode, creator, level.unwrap_or_default(), &named.join(",")];
    let wanted = Wanted { creator, offered, level, named, binding: Binding::of(&names) };
    let (members, paging) = match mode {
        "updates" => updates(call, tx, &wanted)?,
        _ if wanted.named.is_empty() => current(call, tx, &wanted)?,
        _ => current_named(call, tx, &wanted)?,
    };
    let mut list = List::new("memberListResponse");
    for (member, membership) in &members {
        let parties = (creator, member.as_str());
        list.push(&render::render(tx, parties, membership, &wanted.offered, call.now)?);
    }
    Ok(list.end(Some(&paging)))
}

/// Members, each with its membership.
type Found = Vec<(String, Membership)>;

/// A page of everybody who is a member now, the newest first.
fn current(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    wanted: &Wanted<'_>,
) -> Result<(Found, Paging), Error> {
    let size = call.page_size();
    let start = (wanted.creator.to_owned(), wanted.level.unwrap_or(ANY_LEVEL).to_owned());
    let token = call.page_token(wanted.binding)?;
    let page = paginate::Wanted { token: token.as_ref(), size, binding: wanted.binding };
    let rows = paginate::read(tx, &MEMBERS_BY_LEVEL, &start, page)?;
    let paging = rows.paging(counter::of(tx, &MEMBER_COUNT, &start)?, size);
    let mut found = Vec::with_capacity(rows.keys.len());
    for (creator, _, _, member) in rows.keys {
        let membership = MEMBERS.peek(tx, &(creator, member.clone()))?;
        found.extend(membership.map(|membership| (member, membership)));
    }
    Ok((found, paging))
}

/// Of the channels that a request names, those that are members now, the newest first.
fn current_named(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    wanted: &Wanted<'_>,
) -> Result<(Found, Paging), Error> {
    let mut found = Vec::new();
    for member in &wanted.named {
        let key = (wanted.creator.to_owned(), (*member).to_owned());
        let membership = MEMBERS.peek(tx, &key)?;
        found.extend(
            membership
                .filter(|membership| wanted.has(member, membership))
                .map(|membership| (key.1, membership)),
        );
    }
    let rank = |(member, membership): &(String, Membership)| {
        let since = membership.time.since.map_or(u64::MAX, |since| latest_first(since.micros()));
        [&since.to_be_bytes(), member.as_bytes()].concat()
    };
    let mut found: Vec<_> = found.into_iter().map(|found| (rank(&found), found)).collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    id_list::slice(call, found, call.page_size(), wanted.binding)
}

/// Those who joined or upgraded after the place that the page token names. The first call names none, and gives nobody but a token.
fn updates(
    call: &Call<'_>,
    tx: &mut Tx<'_>,
    wanted: &Wanted<'_>,
) -> Result<(Found, Paging), Error> {
    let size = call.page_size();
    let creator = wanted.creator.to_owned();
    let mut found = Vec::new();
    let place = match call.page_token(wanted.binding)? {
        None => UPDATE_COUNT.peek(tx, &creator)?.unwrap_or(Count(0)).0,
        Some(token) => {
            let key = token.key.first_chunk().ok_or(Error::InvalidPageToken)?;
            let mut place = u64::from_be_bytes(*key);
            let mut span = MEMBER_UPDATES.span(&creator);
            span.from = Some(MEMBER_UPDATES.key(&(creator.clone(), place)).to_vec());
            let (rows, _) = MEMBER_UPDATES.scan(tx, &span, size as usize)?;
            for ((_, at), Id(member)) in rows {
                place = at;
                let membership = MEMBERS.peek(tx, &(creator.clone(), member.clone()))?;
                let membership = membership.filter(|found| wanted.has(&member, found));
                found.extend(membership.map(|membership| (member, membership)));
            }
            place
        }
    };
    let next = PageToken::print(Direction::Next, 0, &place.to_be_bytes(), wanted.binding);
    let total = found.len() as u64;
    Ok((found, Paging { next: Some(next), previous: None, total, size }))
}
