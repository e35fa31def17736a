//! The section of a seed file: members with their levels.

use serde::Deserialize;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::record::MEMBERS;
use super::store;
use crate::api::error::Error;
use crate::seed::error::SeedError;
use crate::seed::section::{SectionReader, SeedSection, channel_of, moment};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] =
    &[SeedSection { name: "members", order: 92, fills_only: true, read }];

/// A member: an account or a channel, its level, and since when. One whose profile is gone is named by the channel that it had.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedMember {
    creator: String,
    member: String,
    level: String,
    since: Option<String>,
    #[serde(default)]
    has_no_profile: bool,
}

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedMember>()? {
        let name = format!("{}/{}", seed.creator, seed.member);
        reader.names.take("member", &name, &place, ".member")?;
        reader.step(place, move |tx, now, _| put(tx, &seed, now));
    }
    Ok(())
}

fn put(tx: &mut Tx<'_>, seed: &SeedMember, now: Timestamp) -> Result<bool, Error> {
    let invalid = |path: &str, expected| Error::InvalidField { path: path.into(), expected };
    let creator = channel_of(tx, &seed.creator, "creator")?;
    let member = match seed.has_no_profile {
        true => seed.member.clone(),
        false => channel_of(tx, &seed.member, "member")?,
    };
    if creator == member {
        return Err(invalid("member", "another channel than the creator's"));
    }
    if MEMBERS.get(tx, &(creator.clone(), member.clone()))?.is_some() {
        return Err(invalid("member", "a channel that is no member yet"));
    }
    let since = moment("since", seed.since.as_deref(), now)?;
    if since > now {
        return Err(invalid("since", "a moment that is not to come"));
    }
    let set = store::set_level(tx, &creator, &member, Some(&seed.level), since);
    set.map(|_| true).map_err(|error| match error {
        Error::Rule(_) => invalid("level", "the id of a level of the creator's channel"),
        other => other,
    })
}
