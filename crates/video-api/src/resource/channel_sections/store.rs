//! Putting, moving and removing sections: the order of a channel's sections is one row, so that it is right whoever writes at once.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::record::{SECTION_ORDER, SECTIONS, SECTIONS_NAMING, Section, SectionOrder};
use super::{contents, rules};
use crate::api::error::Error;

/// Sections that a channel has at most (Spec §8).
pub const SECTIONS_MAX: usize = 10;

/// Stores a new section at a position, or as the last one, and gives its position.
///
/// # Errors
/// [`rules::TOO_MANY`], [`rules::POSITION_INVALID`]; else as the store.
pub fn insert(
    tx: &mut Tx<'_>,
    id: &str,
    section: &Section,
    position: Option<u64>,
    now: Timestamp,
) -> Result<usize, Error> {
    let SectionOrder(mut order) = SECTION_ORDER.get(tx, &section.channel)?.unwrap_or_default();
    if order.len() >= SECTIONS_MAX {
        return Err(Error::Rule(&rules::TOO_MANY));
    }
    let position = place(position, order.len(), order.len())?;
    order.insert(position, id.to_owned());
    SECTION_ORDER.put(tx, &section.channel, &SectionOrder(order));
    SECTIONS.put(tx, &id.to_owned(), section);
    contents::replace(tx, id, None, Some(section), now)?;
    Ok(position)
}

/// Replaces a section, moves it where a position is given, and gives its position.
///
/// # Errors
/// [`rules::NOT_FOUND`], [`rules::POSITION_INVALID`]; else as the store.
pub fn replace(
    tx: &mut Tx<'_>,
    id: &str,
    old: &Section,
    section: &Section,
    position: Option<u64>,
    now: Timestamp,
) -> Result<usize, Error> {
    let SectionOrder(mut order) = SECTION_ORDER.get(tx, &section.channel)?.unwrap_or_default();
    let from = order.iter().position(|one| one == id).ok_or(&rules::NOT_FOUND)?;
    let to = place(position, from, order.len().saturating_sub(1))?;
    if from != to {
        let moved = order.remove(from);
        order.insert(to, moved);
        SECTION_ORDER.put(tx, &section.channel, &SectionOrder(order));
    }
    SECTIONS.put(tx, &id.to_owned(), section);
    contents::replace(tx, id, Some(old), Some(section), now)?;
    Ok(to)
}

/// Removes a section; those after it move up.
///
/// # Errors
/// As the store.
pub fn remove(tx: &mut Tx<'_>, id: &str, section: &Section) -> Result<(), Error> {
    let SectionOrder(mut order) = SECTION_ORDER.get(tx, &section.channel)?.unwrap_or_default();
    contents::replace(tx, id, Some(section), None, Timestamp::EPOCH)?;
    order.retain(|one| one != id);
    if order.is_empty() {
        SECTION_ORDER.delete(tx, &section.channel);
    } else {
        SECTION_ORDER.put(tx, &section.channel, &SectionOrder(order));
    }
    SECTIONS.delete(tx, &id.to_owned());
    Ok(())
}

/// Removes a section of a channel that is gone, one a step, since each may name many things; says whether there was one. The activities that
/// they are go with all others of the channel.
///
/// # Errors
/// As the store.
pub fn remove_of_closed(tx: &mut Tx<'_>, channel: &String) -> Result<bool, Error> {
    let SectionOrder(mut order) = SECTION_ORDER.get(tx, channel)?.unwrap_or_default();
    let Some(id) = order.pop() else {
        SECTION_ORDER.delete(tx, channel);
        return Ok(false);
    };
    if let Some(section) = SECTIONS.get(tx, &id)? {
        for name in section.playlists.into_iter().chain(section.channels) {
            SECTIONS_NAMING.delete(tx, &(name, id.clone()));
        }
        SECTIONS.delete(tx, &id);
    }
    SECTION_ORDER.put(tx, channel, &SectionOrder(order));
    Ok(true)
}

/// The position of a section in its channel.
///
/// # Errors
/// As the store.
pub fn position(tx: &mut Tx<'_>, id: &str, section: &Section) -> Result<usize, Error> {
    let order = SECTION_ORDER.peek(tx, &section.channel)?.unwrap_or_default();
    Ok(order.0.iter().position(|one| one == id).unwrap_or_default())
}

fn place(wanted: Option<u64>, default: usize, most: usize) -> Result<usize, Error> {
    let Some(wanted) = wanted else { return Ok(default) };
    let place = usize::try_from(wanted).ok().filter(|place| *place <= most);
    place.ok_or(Error::Rule(&rules::POSITION_INVALID))
}
