//! The section of a seed file: levels with their price.

use serde::Deserialize;
use triptych_core::kv::Tx;

use super::{LEVELS, LEVELS_MAX, Level};
use crate::api::error::Error;
use crate::record::id;
use crate::record::json_fields::is_title;
use crate::seed::error::SeedError;
use crate::seed::section::{SectionReader, SeedSection, channel_of};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] =
    &[SeedSection { name: "membershipsLevels", order: 91, fills_only: true, read }];

/// A name has at most this many characters.
const NAME_CHARS_MAX: usize = 100;

/// A level: its channel, and the price by which it stands among the others, in millionths of whatever is paid with.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedLevel {
    id: String,
    channel: String,
    display_name: String,
    price_micros: u64,
}

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedLevel>()? {
        reader.names.take("level", &seed.id, &place, ".id")?;
        reader.step(place, move |tx, _, _| put(tx, &seed));
    }
    Ok(())
}

fn put(tx: &mut Tx<'_>, seed: &SeedLevel) -> Result<bool, Error> {
    let invalid = |path: &str, expected| Error::InvalidField { path: path.into(), expected };
    if !id::is_plain(&seed.id) {
        return Err(invalid("id", "letters, digits, - and _"));
    }
    if !is_title(&seed.display_name, NAME_CHARS_MAX) {
        return Err(invalid("displayName", "1 to 100 characters on one line, without < and >"));
    }
    let channel = channel_of(tx, &seed.channel, "channel")?;
    let (rows, _) = LEVELS.scan(tx, &LEVELS.span(&channel), LEVELS_MAX)?;
    if rows.iter().any(|(_, level)| level.id == seed.id) {
        return Ok(false);
    }
    if rows.len() == LEVELS_MAX {
        return Err(invalid("channel", "a channel with fewer than 100 levels"));
    }
    let level = Level { id: seed.id.clone(), display_name: seed.display_name.clone() };
    LEVELS.put(tx, &(channel, seed.price_micros, seed.id.clone()), &level);
    Ok(true)
}
