//! The playlists and channels that sections name: which sections name one, and the activity that naming it is.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::record::{SECTION_ORDER, SECTIONS, SECTIONS_NAMING, Section};
use crate::api::error::Error;
use crate::record::id::{self, PlaylistName};
use crate::resource::activities::record::{self as activities, Event, Thing};

/// Sections that a step changes: of each, the others of its channel are read.
const SECTIONS_STEP: usize = 20;

/// Records that a section names what it does now, and no more what it did before.
///
/// # Errors
/// As the store.
pub(super) fn replace(
    tx: &mut Tx<'_>,
    section: &str,
    old: Option<&Section>,
    new: Option<&Section>,
    now: Timestamp,
) -> Result<(), Error> {
    let Some(channel) = new.or(old).map(|section| section.channel.clone()) else {
        return Ok(());
    };
    let [before, after] = [old, new].map(|section| section.map(things).unwrap_or_default());
    for thing in before.iter().filter(|thing| !after.contains(thing)) {
        SECTIONS_NAMING.delete(tx, &(thing.named().1.to_owned(), section.to_owned()));
        forget(tx, &channel, section, thing)?;
    }
    for thing in after.iter().filter(|thing| !before.contains(thing)) {
        SECTIONS_NAMING.put(tx, &(thing.named().1.to_owned(), section.to_owned()), &());
        if !is_named_elsewhere(tx, &channel, section, thing)? && !is_special(thing) {
            activities::note(tx, &channel, now, Event::ChannelItem(thing.clone()), true)?;
        }
    }
    Ok(())
}

/// Takes a step of a playlist or channel that is gone out of the sections that name it; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn remove(tx: &mut Tx<'_>, name: &str) -> Result<bool, Error> {
    let span = SECTIONS_NAMING.span(&name.to_owned());
    let (rows, more) = SECTIONS_NAMING.scan(tx, &span, SECTIONS_STEP)?;
    for (row, ()) in &rows {
        SECTIONS_NAMING.delete(tx, row);
        let Some(old) = SECTIONS.get(tx, &row.1)? else {
            continue;
        };
        let mut new = old.clone();
        new.playlists.retain(|playlist| playlist != name);
        new.channels.retain(|channel| channel != name);
        SECTIONS.put(tx, &row.1, &new);
        for thing in things(&old).iter().filter(|thing| thing.named().1 == name) {
            forget(tx, &old.channel, &row.1, thing)?;
        }
    }
    Ok(more)
}

fn things(section: &Section) -> Vec<Thing> {
    let playlists = section.playlists.iter().cloned().map(Thing::Playlist);
    playlists.chain(section.channels.iter().cloned().map(Thing::Channel)).collect()
}

/// Returns whether a thing is a list that the service makes: nobody adds that to a channel.
fn is_special(thing: &Thing) -> bool {
    matches!(thing, Thing::Playlist(id) if matches!(id::playlist_name(id, None), PlaylistName::Special(..)))
}

fn forget(tx: &mut Tx<'_>, channel: &str, section: &str, thing: &Thing) -> Result<(), Error> {
    if is_named_elsewhere(tx, channel, section, thing)? {
        return Ok(());
    }
    activities::forget(tx, channel, &Event::ChannelItem(thing.clone()))
}

/// Returns whether another section of the channel names a thing: there are few.
fn is_named_elsewhere(
    tx: &mut Tx<'_>,
    channel: &str,
    section: &str,
    thing: &Thing,
) -> Result<bool, Error> {
    let order = SECTION_ORDER.get(tx, &channel.to_owned())?.unwrap_or_default();
    for other in order.0.iter().filter(|other| *other != section) {
        if SECTIONS.get(tx, other)?.is_some_and(|other| things(&other).contains(thing)) {
            return Ok(true);
        }
    }
    Ok(false)
}
