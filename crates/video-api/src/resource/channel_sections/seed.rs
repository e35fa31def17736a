//! The section of a seed file: sections of channels, in their order.

use serde::Deserialize;
use serde_json::Value;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::record::{SECTIONS, Section};
use super::{new_id, patch, store};
use crate::api::error::Error;
use crate::record::json_fields::Body;
use crate::seed::error::SeedError;
use crate::seed::section::{self, SectionReader, SeedSection, channel_of};

/// The sections.
pub(super) static SEED_SECTIONS: &[SeedSection] =
    &[SeedSection { name: "channelSections", order: 82, fills_only: true, read }];

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedChannelSection {
    id: Option<String>,
    owner: String,
    snippet: Value,
    content_details: Option<Value>,
    localizations: Option<Value>,
    targeting: Option<Value>,
}

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedChannelSection>()? {
        if let Some(id) = &seed.id {
            reader.names.take("channel section", id, &place, ".id")?;
        }
        reader.step(place, move |tx, now, ids| section(tx, &seed, now, ids));
    }
    Ok(())
}

fn section(
    tx: &mut Tx<'_>,
    seed: &SeedChannelSection,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let channel = channel_of(tx, &seed.owner, "owner")?;
    let id = match &seed.id {
        Some(id) => id.clone(),
        None => new_id(tx, &channel, ids)?,
    };
    if SECTIONS.get(tx, &id)?.is_some() {
        return Ok(false);
    }
    let given = [
        ("snippet", Some(&seed.snippet)),
        ("contentDetails", seed.content_details.as_ref()),
        ("localizations", seed.localizations.as_ref()),
        ("targeting", seed.targeting.as_ref()),
    ];
    let (body, parts) = section::body("ChannelSection", &given)?;
    let mut made = Section { channel, ..Section::default() };
    let position = patch::write(tx, &mut made, Body::of(&body), &parts)?;
    store::insert(tx, &id, &made, position, now)?;
    Ok(true)
}
