//! The log of a copy, cut off after a moment: what came later was never there.

use std::io;
use std::path::{Path, PathBuf};

use super::base::{self, Base};
use super::preflight;
use super::wal::{NEWEST, Segment, replay};
use crate::disk::{Disk, SystemDisk};

/// Cuts the log in a directory of records, whose service is stopped, off after a moment in milliseconds since 1970. All frames that are not
/// younger stay, and the index is filled anew at the next start.
///
/// # Errors
/// A sentence: the directory is in use or cannot be used, its log is damaged, or its base is younger than the moment; nothing is changed then.
pub fn cut_log(directory: &Path, until: u64) -> Result<(), String> {
    let disk: &dyn Disk = &SystemDisk;
    let _lock = preflight::lock(disk, directory).map_err(|error| error.to_string())?;
    let failed = |error: io::Error| format!("{}: {error}", directory.display());
    let (bases, _) = base::paths(disk, directory).map_err(failed)?;
    let newest = bases.first().ok_or("there is no base")?;
    let base = Base::open(disk, newest).map_err(|error| error.to_string())?.summary;
    if base.time > until {
        return Err("its base is younger; take the backup before it".to_owned());
    }
    let segments = Segment::all(disk, directory).map_err(|error| error.to_string())?;
    // The segment in which the cut is, and what stays of it.
    let mut cut: Option<(PathBuf, Option<u64>)> = None;
    let mut kept: Option<(PathBuf, u64)> = None;
    let replayed = replay(&segments, base.version, &mut |frame| {
        let path = &frame.segment.path;
        if frame.time() <= until {
            kept = Some((path.clone(), frame.end()));
            return Ok(true);
        }
        let end = kept.take().filter(|(of, _)| of == path).map(|(_, end)| end);
        cut = Some((path.clone(), end));
        Ok(false)
    });
    replayed.map_err(|error| error.to_string())?;
    let Some((path, end)) = cut else {
        return Ok(());
    };
    super::index_state::IndexState::forget(disk, directory).map_err(failed)?;
    let file = disk.open_to_write(&path).map_err(failed)?;
    file.truncate(end.unwrap_or(Segment::EMPTY_BYTES))
        .and_then(|()| file.sync())
        .map_err(failed)?;
    match disk.remove(&directory.join(NEWEST)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        removed => removed.map_err(failed)?,
    }
    for later in segments.iter().filter(|segment| segment.path > path) {
        disk.remove(&later.path).map_err(failed)?;
    }
    disk.sync_directory(directory).map_err(failed)
}
