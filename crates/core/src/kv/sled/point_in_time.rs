//! The log of a copy, cut off after a moment: what came later was never there.

use std::io;
use std::path::Path;

use super::base::{self, Base};
use super::preflight;
use super::wal::{NEWEST, Segment, replay};
use crate::disk::{Disk, SystemDisk};
#[cfg(feature = "host")]
use crate::kv::Version;

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
    let mut cut = None;
    let replayed = replay(&segments, base.version, &mut |frame| {
        let is_kept = frame.time() <= until;
        if !is_kept {
            cut = Some(frame.tail_before());
        }
        Ok(is_kept)
    });
    replayed.map_err(|error| error.to_string())?;
    let Some(cut) = cut else {
        return Ok(());
    };
    super::index_state::IndexState::forget(disk, directory).map_err(failed)?;
    cut.cut(disk).map_err(failed)?;
    match disk.remove(&directory.join(NEWEST)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        removed => removed.map_err(failed)?,
    }
    for later in segments.iter().filter(|segment| segment.path > cut.path) {
        disk.remove(&later.path).map_err(failed)?;
    }
    disk.sync_directory(directory).map_err(failed)
}

/// Ends the copy of the newest file of a log, which was made while that was written, at its last whole frame: what came behind may be there in parts.
///
/// # Errors
/// A sentence: it cannot be used, or is damaged, or ends before a version that was on disk when the copy was begun.
#[cfg(feature = "host")]
pub(crate) fn end_copied_log(copy: &Path, at_least: Version) -> Result<(), String> {
    let last = Segment::end_copy(&SystemDisk, copy).map_err(|error| error.to_string())?;
    if last < at_least {
        return Err("the journal has lost its end".to_owned());
    }
    Ok(())
}
