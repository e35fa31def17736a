//! The note of the packs that hold bodies: one that is gone is found by the next start, and not by whoever reads from it.
//!
//! A pack comes into it behind its first body, and is taken out before it is removed; so at no moment does it name one that is not there.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use super::PACKS;
use super::pack::pack_path;
use crate::disk::Disk;

/// The file, beside the folder of the packs.
pub(crate) const FILE: &str = "known-packs";
/// The longest note that is read.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// The packs that a note names; none where there is no note, or none that is whole.
///
/// # Errors
/// As the disk.
pub(super) fn read(disk: &dyn Disk, path: &Path) -> io::Result<Option<BTreeSet<u32>>> {
    let bytes = match disk.read(path, BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    Ok(str::from_utf8(&bytes).ok().and_then(parse))
}

/// Puts a note on disk, whole or not at all. Its name may come there later.
///
/// # Errors
/// As the disk.
pub(super) fn write(disk: &dyn Disk, path: &Path, packs: &BTreeSet<u32>) -> io::Result<()> {
    let new = path.with_extension("new");
    let file = disk.replace(&new)?;
    file.write_all_at(text_of(packs).as_bytes(), 0)?;
    file.sync()?;
    disk.rename(&new, path)
}

/// The first pack below a directory of bodies that its note names and that is not there.
///
/// # Errors
/// As the disk.
pub(crate) fn missing(disk: &dyn Disk, bodies: &Path) -> io::Result<Option<PathBuf>> {
    let Some(known) = read(disk, &bodies.join(FILE))? else {
        return Ok(None);
    };
    let packs = bodies.join(PACKS);
    let there: BTreeSet<PathBuf> = match disk.list(&packs) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeSet::new(),
        listed => listed?.into_iter().collect(),
    };
    let mut paths = known.into_iter().map(|pack| pack_path(&packs, pack));
    Ok(paths.find(|path| !there.contains(path)))
}

/// The line of a note: numbers, and spans of them, with their checksum.
fn text_of(packs: &BTreeSet<u32>) -> String {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for pack in packs {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *pack => *last = *pack,
            _ => spans.push((*pack, *pack)),
        }
    }
    let spans: Vec<_> = spans
        .into_iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        })
        .collect();
    let said = spans.join(" ");
    format!("{said} {:08x}\n", crc32c::crc32c(said.as_bytes()))
}

fn parse(text: &str) -> Option<BTreeSet<u32>> {
    let (said, sum) = text.strip_suffix('\n')?.rsplit_once(' ')?;
    if format!("{:08x}", crc32c::crc32c(said.as_bytes())) != sum {
        return None;
    }
    let mut packs = BTreeSet::new();
    for span in said.split(' ').filter(|span| !span.is_empty()) {
        let (first, last) = span.split_once('-').unwrap_or((span, span));
        packs.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(packs)
}

#[cfg(test)]
mod tests {
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_note_says_the_packs_that_it_was_given_and_nothing_once_it_is_changed(
            packs in btree_set(1..40_u32, 0..20),
            at in any::<prop::sample::Index>(),
            bit in 0..7_u8,
        ) {
            let text = text_of(&packs);
            prop_assert_eq!(parse(&text), Some(packs));
            let mut bytes = text.clone().into_bytes();
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            let changed = String::from_utf8(bytes).unwrap();
            prop_assert_eq!(parse(&changed), None);
        }
    }
}
