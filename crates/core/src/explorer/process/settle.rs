//! The content of the data directory before and after a life. At its end the calls that it came into are settled by what is there afterwards, and all
//! else has to be there as it was made again.

use std::io;

use super::Content;
use crate::disk::Disk as _;
use crate::disk::simulated::{Change, SimulatedDisk};
use crate::explorer::stores::data;

/// The data directory as processes see it; none if it has no name.
pub(super) fn content(disk: &SimulatedDisk) -> Option<Content> {
    let all = disk.below(std::path::Path::new("/"));
    all.contains_key(data()).then(|| {
        let inner = |path: &std::path::Path| path.strip_prefix(data()).ok().map(ToOwned::to_owned);
        let own = all.into_iter().filter_map(|(path, content)| Some((inner(&path)?, content)));
        own.filter(|(path, _)| !path.as_os_str().is_empty()).collect()
    })
}

/// A disk that has this content in the data directory, all of it on disk.
///
/// # Errors
/// If a path has no directory above it.
pub(super) fn disk_with(content: &Content) -> io::Result<SimulatedDisk> {
    let disk = SimulatedDisk::new();
    disk.create_directory(data())?;
    for (path, content) in content {
        let path = data().join(path);
        match content {
            None => disk.create_directory(&path)?,
            Some(bytes) => disk.create(&path)?.write_all_at(bytes, 0)?,
        }
    }
    let picture = disk.picture();
    Ok(picture.after(&picture.kill()))
}

/// Makes of the changes that were under way those that were made, and compares.
///
/// # Errors
/// The first path that is another one after the life.
pub(super) fn settle(
    disk: &SimulatedDisk,
    under_way: Vec<Change>,
    after: &Content,
) -> Result<(), String> {
    for change in under_way {
        if let Some(change) = made(disk, change, after) {
            // A call that could not be made (the file that it takes away is gone) would have failed, and the comparison sees all others.
            let _ = disk.make(&change);
        }
    }
    let own = content(disk).unwrap_or_default();
    let paths = own.keys().chain(after.keys());
    match paths.into_iter().find(|path| own.get(*path) != after.get(*path)) {
        None => Ok(()),
        Some(path) => {
            Err(format!("{} {}", path.display(), difference(own.get(path), after.get(path))))
        }
    }
}

fn difference(own: Option<&Option<Vec<u8>>>, after: Option<&Option<Vec<u8>>>) -> String {
    match (own, after) {
        (Some(Some(own)), Some(Some(after))) => {
            let at = own.iter().zip(after).position(|(own, after)| own != after);
            let at = at.unwrap_or(own.len().min(after.len()));
            let (own, after) = (own.len(), after.len());
            format!("has {after} bytes, and {own} made again: other ones from {at} on")
        }
        (None, _) => "is there, and was not made".into(),
        (_, None) => "was made, and is not there".into(),
        _ => "is a file here and a directory there".into(),
    }
}

/// The change as far as it was made.
fn made(disk: &SimulatedDisk, change: Change, after: &Content) -> Option<Change> {
    let after = |path: &std::path::Path| after.get(path.strip_prefix(data()).ok()?);
    let is_made = match &change {
        Change::CreateDirectory(path) | Change::Create(path) => after(path).is_some(),
        Change::Rename(from, to) => after(from).is_none() && after(to).is_some(),
        Change::Link(_, name) => after(name).is_some(),
        Change::Remove(path) => after(path).is_none(),
        Change::Truncate(file, bytes) => {
            let left = after(&disk.path_of(*file)?)?.as_ref()?;
            left.len() as u64 == *bytes
        }
        Change::Write(file, at, bytes) => {
            let left = after(&disk.path_of(*file)?)?.as_ref()?;
            let place = left.get(usize::try_from(*at).ok()?..)?;
            let same = place.iter().zip(bytes.iter()).take_while(|(left, own)| left == own);
            let written = bytes.get(..same.count()).filter(|bytes| !bytes.is_empty())?;
            return Some(Change::Write(*file, *at, written.into()));
        }
    };
    is_made.then_some(change)
}
