//! The state of the tree's files: whether what sled finds in them may be believed, or they are filled anew from the base and the log.
//!
//! It is known of files that were closed and synced, and of those that this run of the machine left open, since a kill takes nothing
//! from the system. Of all others nothing is known: sled writes over what it believes to be on disk. A fault takes the state away.

use std::io;
use std::path::Path;

use crate::disk::Disk;
use crate::kv::Version;

/// The file that says it.
const FILE: &str = "index";
/// Longer than any state.
const BYTES_MAX: usize = 512;

/// Knowledge of the tree's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum IndexState {
    /// They were closed, on disk, with this last version.
    Closed(Version),
    /// They were open in the place that is told, and nobody closed them.
    Open(String),
    /// As `Open`, of a store that stopped because its base or log was found damaged: the tree alone has all rows.
    Ahead(String),
    /// Nothing.
    Unknown,
}

impl IndexState {
    /// The state that the directory tells; `Unknown` where it tells none that makes sense.
    pub(super) fn read(disk: &dyn Disk, directory: &Path) -> io::Result<Self> {
        let text = match disk.read(&directory.join(FILE), BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Unknown),
            read => String::from_utf8(read?).unwrap_or_default(),
        };
        let words = text.strip_suffix('\n').and_then(|line| line.split_once(' '));
        Ok(match words {
            Some(("closed", version)) => {
                version.parse().map_or(Self::Unknown, |version| Self::Closed(Version(version)))
            }
            Some(("open", place)) => Self::Open(place.to_owned()),
            Some(("ahead", place)) => Self::Ahead(place.to_owned()),
            _ => Self::Unknown,
        })
    }

    /// Puts the state on disk, before anything happens that it warns of.
    pub(super) fn write(&self, disk: &dyn Disk, directory: &Path) -> io::Result<()> {
        let text = match self {
            Self::Closed(Version(version)) => format!("closed {version}\n"),
            Self::Open(place) => format!("open {place}\n"),
            Self::Ahead(place) => format!("ahead {place}\n"),
            Self::Unknown => return Self::forget(disk, directory),
        };
        replace_whole(disk, directory, FILE, text.as_bytes())
    }

    /// Notes of files that are open that base and log do not lead to them any more.
    pub(super) fn note_ahead(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
        match Self::read(disk, directory)? {
            Self::Open(place) => Self::Ahead(place).write(disk, directory),
            Self::Closed(_) | Self::Ahead(_) | Self::Unknown => Ok(()),
        }
    }

    /// Takes the state away: from now on nothing is known.
    pub(super) fn forget(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
        match disk.remove(&directory.join(FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => {
                removed?;
                disk.sync_directory(directory)
            }
        }
    }
}

/// Puts a small file on disk, whole or not at all.
pub(super) fn replace_whole(
    disk: &dyn Disk,
    directory: &Path,
    name: &str,
    bytes: &[u8],
) -> io::Result<()> {
    let beside = directory.join(name).with_extension("new");
    let file = disk.replace(&beside)?;
    file.write_all_at(bytes, 0)?;
    file.sync()?;
    disk.rename(&beside, &directory.join(name))?;
    disk.sync_directory(directory)
}

/// The place in which the tree is open: this run of the machine and the file of the tree, so that neither a copy of the directory nor what
/// a power cut left is taken for what a kill left.
pub(super) fn place_of(boot_id: &str, (device, inode): (u64, u64)) -> String {
    format!("{boot_id} {device} {inode}")
}

/// Has the note of a directory that was copied name the copy of the tree, where it names one that this run of the machine left open: what a kill left is
/// believed in the copy as well.
///
/// # Errors
/// As the disk; where runs of the machine are not told apart.
#[cfg(any(test, feature = "testing"))]
pub fn believe_copied_tree(directory: &Path) -> io::Result<()> {
    let disk = &crate::disk::SystemDisk;
    let mut paths = super::TreeKind::all().iter().map(|(_, kind)| kind.path(directory));
    let Some(path) = paths.find(|path| path.exists()) else { return Ok(()) };
    let tree = disk.file_id(&path)?;
    let boot_id = boot_id().ok_or_else(|| io::Error::other("this run has no name"))?;
    move_note(directory, |run| (run == boot_id).then(|| place_of(&boot_id, tree)))
}

/// Has the note of a directory that was copied name a run of the machine that is over, as after a power cut: the tree is not believed, and neither is it
/// after a kill that comes before a start has said otherwise.
///
/// # Errors
/// As the disk.
#[cfg(any(test, feature = "testing"))]
pub fn end_copied_run(directory: &Path) -> io::Result<()> {
    move_note(directory, |_| Some(place_of("over", (0, 0))))
}

/// Gives the note of a tree that was left open another place, by the run of the machine that it names; none leaves it as it is.
#[cfg(any(test, feature = "testing"))]
fn move_note(directory: &Path, place: impl Fn(&str) -> Option<String>) -> io::Result<()> {
    let disk = &crate::disk::SystemDisk;
    let moved = |left: &str| place(left.split(' ').next().unwrap_or_default());
    let moved = match IndexState::read(disk, directory)? {
        IndexState::Open(left) => moved(&left).map(IndexState::Open),
        IndexState::Ahead(left) => moved(&left).map(IndexState::Ahead),
        IndexState::Closed(_) | IndexState::Unknown => None,
    };
    moved.map_or(Ok(()), |state| state.write(disk, directory))
}

/// The run of the machine since it was started, as the system names it.
pub(super) fn boot_id() -> Option<String> {
    let named = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let named = named.trim();
    (!named.is_empty()).then(|| named.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::SystemDisk;

    #[test]
    fn the_tree_of_a_copy_is_believed_where_this_run_of_the_machine_left_it_open() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path();
        std::fs::write(super::super::TreeKind::Sled.path(directory), "a tree").unwrap();
        let run = boot_id().unwrap();
        let own = SystemDisk.file_id(&super::super::TreeKind::Sled.path(directory)).unwrap();
        let (copied, believed) = (place_of(&run, (0, 0)), place_of(&run, own));
        for kind in [IndexState::Open, IndexState::Ahead] {
            kind(copied.clone()).write(&SystemDisk, directory).unwrap();
            believe_copied_tree(directory).unwrap();
            let told = IndexState::read(&SystemDisk, directory).unwrap();
            assert_eq!(told, kind(believed.clone()));
            end_copied_run(directory).unwrap();
            let over = IndexState::read(&SystemDisk, directory).unwrap();
            believe_copied_tree(directory).unwrap();
            assert_eq!(IndexState::read(&SystemDisk, directory).unwrap(), over);
            assert_ne!(over, kind(believed.clone()));
        }
    }
}
