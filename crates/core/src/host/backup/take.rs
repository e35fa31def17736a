//! Taking a backup of a store that is served.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Weak;
use std::time::Duration;

use parking_lot::Mutex;

use super::manifest::{FILE, Manifest, ManifestFile, sum_of};
use super::{BackupError, EXPORTING};
use crate::blobs::{Directory, KNOWN_PACKS, LARGE};
use crate::disk::{Disk as _, SystemDisk, copy_privately, make_private_directories, private};
use crate::kv::{Sled, Version, end_copied_log};
use crate::time::Timestamp;

/// The start of the names of the files of the journal.
const JOURNAL: &str = "journal-";
/// The extension of a backup that is not whole yet.
const UNFINISHED: &str = "unfinished";

/// The stores of a service, as long as it holds them, to copy.
pub(in crate::host) struct Source {
    pub(in crate::host) service: &'static str,
    pub(in crate::host) version: &'static str,
    /// The data directory.
    pub(in crate::host) directory: PathBuf,
    /// The identity of its records, by which who asks for a copy knows it.
    pub(in crate::host) identity: Option<String>,
    /// The place of the bodies, if not below the data directory.
    pub(in crate::host) bodies_elsewhere: Option<String>,
    pub(in crate::host) kv: Weak<Sled>,
    pub(in crate::host) blobs: Weak<Directory>,
    /// Held while one is taken.
    pub(in crate::host) taking: Mutex<()>,
}

/// A backup that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::host) struct Taken {
    /// Its folder.
    pub(in crate::host) path: PathBuf,
    pub(in crate::host) files: u64,
    pub(in crate::host) bytes: u64,
    /// Bytes that were written for it; the others are links.
    pub(in crate::host) copied_bytes: u64,
}

impl Source {
    /// Copies everything of one moment into a new folder of `to`, which is made if it is not there. It blocks.
    ///
    /// The base is held and copied first, then values and bodies, and the journal after them: so it has a row for every value that was deleted since
    /// the base. While it is copied no body is deleted, and the bodies that came meanwhile are copied once more: so every body is there
    /// that a row of the journal names.
    ///
    /// # Errors
    /// [`BackupError`]. What there is of it has no manifest.
    pub(in crate::host) fn take(&self, to: &Path, now: Timestamp) -> Result<Taken, BackupError> {
        if let Some(place) = &self.bodies_elsewhere {
            return Err(BackupError::BodiesElsewhere(place.clone()));
        }
        self.check_outside(to)?;
        let _alone = self.taking.lock();
        let kv = self.kv.upgrade().ok_or(BackupError::InMemory)?;
        // A service that has no bodies lets go of them.
        let blobs = self.blobs.upgrade();
        make_private_directories(to).map_err(BackupError::at(to))?;
        let before = newest(to)?;
        let path = to.join(name_after(before.as_deref(), now));
        let unfinished = path.with_extension(UNFINISHED);
        let manifest = Manifest::new(self.service, self.version, now.rfc3339_millis());
        // One that is damaged is no reason to take none: then everything is copied.
        let before = before.and_then(|before| Some((Manifest::read(&before).ok()?, before)));
        let begun = Copy::begin(&self.directory, &unfinished, before, manifest)?;
        let copied = self.copy(begun, &kv, blobs.as_deref());
        if copied.is_err() {
            // What there is of it would only take the space that the next one wants.
            let _ = fs::remove_dir_all(&unfinished);
        }
        let (files, bytes, copied_bytes) = copied?;
        fs::rename(&unfinished, &path).map_err(BackupError::at(&path))?;
        sync_directory(to)?;
        Ok(Taken { path, files, bytes, copied_bytes })
    }

    /// Refuses to copy what is not the store of this identity.
    ///
    /// # Errors
    /// `OtherStore`.
    pub(in crate::host) fn check_store(&self, identity: &str) -> Result<(), BackupError> {
        match &self.identity {
            Some(own) if own == identity => Ok(()),
            _ => Err(BackupError::OtherStore(self.directory.display().to_string())),
        }
    }

    /// Refuses a directory of backups that is the data directory, or within it, but for the copy of an export, which is removed again.
    fn check_outside(&self, to: &Path) -> Result<(), BackupError> {
        let data = self.directory.canonicalize().map_err(BackupError::at(&self.directory))?;
        let place = place_of(to);
        match place.starts_with(&data) && !place.starts_with(data.join(EXPORTING)) {
            true => Err(BackupError::WithinData { path: to.display().to_string() }),
            false => Ok(()),
        }
    }

    fn copy(
        &self,
        mut copy: Copy<'_>,
        kv: &Sled,
        blobs: Option<&Directory>,
    ) -> Result<(u64, u64, u64), BackupError> {
        {
            let _no_base_is_made = kv.hold_bases();
            copy.folder(Path::new("kv"), |name| name.starts_with("base-"))?;
            copy.packs(Path::new("kv/values/packs"))?;
            copy.packs(Path::new("blobs/packs"))?;
            copy.folder(Path::new("blobs/large"), |_| true)?;
            let _no_body_is_deleted = blobs.map(Directory::hold_deletions);
            copy.at_least = kv.durable_version();
            copy.folder(Path::new("kv"), |name| !name.starts_with("base-"))?;
            copy.packs(Path::new("blobs/packs"))?;
            copy.folder(Path::new("blobs/large"), |_| true)?;
        }
        copy.folder(Path::new("blobs"), |_| true)?;
        copy.folder(Path::new(""), |_| true)?;
        copy.finish()
    }
}

impl Taken {
    /// As it is told to who asked.
    pub(in crate::host) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            // A path need not be UTF-8.
            "path": self.path.to_string_lossy(),
            "files": self.files,
            "bytes": self.bytes,
            "copiedBytes": self.copied_bytes,
        })
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// The place that a path leads to once all of its folders are there, through links and up again.
fn place_of(path: &Path) -> PathBuf {
    let mut place = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(place.pop()),
            other => place.push(other),
        }
        // What is not there yet is no link.
        place = place.canonicalize().unwrap_or(place);
    }
    place
}

/// The newest backup in a directory of backups. One that has its name and has lost its manifest counts, so that it is not passed over in silence.
pub(super) fn newest(directory: &Path) -> Result<Option<PathBuf>, BackupError> {
    let entries = fs::read_dir(directory).map_err(BackupError::at(directory))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir());
    // Names are times, so that the last of them is the youngest. A folder that somebody named otherwise is one to ask for by its name, unless it is all
    // that there is.
    let named = |path: &PathBuf| (moment_of(path), path.clone());
    let is_backup = |path: &PathBuf| moment_of(path).is_some() || path.join(FILE).is_file();
    let is_unfinished = |path: &PathBuf| path.extension().is_some_and(|end| end == UNFINISHED);
    Ok(paths.filter(|path| is_backup(path) && !is_unfinished(path)).max_by_key(named))
}

/// The name of a backup of a moment.
fn name_of(moment: Timestamp) -> String {
    moment.rfc3339_millis().replace([':', '.'], "-")
}

/// The moment that the name of a backup tells.
fn moment_of(path: &Path) -> Option<Timestamp> {
    let name = path.file_name()?.to_str()?;
    let (day, time) = name.split_once('T')?;
    let [hours, minutes, seconds, millis] =
        <[&str; 4]>::try_from(time.split('-').collect::<Vec<_>>()).ok()?;
    let moment = Timestamp::from_rfc3339(&format!("{day}T{hours}:{minutes}:{seconds}.{millis}"))?;
    (name_of(moment) == name).then_some(moment)
}

/// The name of the backup that follows on one: that of the moment, or of one behind the other's where the clock was moved back since, so that the
/// last name is always the youngest backup.
fn name_after(before: Option<&Path>, now: Timestamp) -> String {
    let after = before.and_then(moment_of).map(|before| before.plus(Duration::from_millis(1)));
    name_of(after.map_or(now, |after| after.max(now)))
}

/// Files that are no part of a backup: the index, what is not whole, and what holds nothing.
fn is_left_out(folder: &Path, name: &str) -> bool {
    let is_tree = folder == Path::new("kv")
        && (["index", "lock", "newest-segment"].contains(&name) || crate::kv::is_of_tree(name));
    // A note of what is there, which a start makes anew.
    is_tree
        || name == KNOWN_PACKS
        || [".new", ".spare", ".part"].iter().any(|end| name.ends_with(end))
}

/// A backup that is being taken.
struct Copy<'c> {
    from: &'c Path,
    to: &'c Path,
    before: Option<(Manifest, PathBuf)>,
    manifest: Manifest,
    /// The places in the manifest of files that are copied.
    known: HashMap<PathBuf, usize>,
    copied_bytes: u64,
    /// The journal has all up to here.
    at_least: Version,
    /// The file of the journal that is written meanwhile.
    newest_journal: Option<PathBuf>,
}

impl<'c> Copy<'c> {
    fn begin(
        from: &'c Path,
        to: &'c Path,
        before: Option<(Manifest, PathBuf)>,
        manifest: Manifest,
    ) -> Result<Self, BackupError> {
        SystemDisk.create_directory(to).map_err(BackupError::at(to))?;
        let (known, at_least) = (HashMap::new(), Version::ABSENT);
        Ok(Self {
            from,
            to,
            before,
            manifest,
            known,
            copied_bytes: 0,
            at_least,
            newest_journal: None,
        })
    }

    /// The names of the files of a folder; none if it is not there.
    fn names(&mut self, folder: &Path) -> Result<Vec<String>, BackupError> {
        let path = self.from.join(folder);
        let entries = match fs::read_dir(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(BackupError::at(&path))?,
        };
        self.manifest.folders.insert(folder.to_owned());
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(BackupError::at(&path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !is_left_out(folder, &name) && is_file(&entry)? {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Copies the chosen files of a folder, but for its folders. Bases and large bodies never change.
    fn folder(
        &mut self,
        folder: &Path,
        is_chosen: impl Fn(&str) -> bool,
    ) -> Result<(), BackupError> {
        let names = self.names(folder)?;
        // Names sort by number.
        let journal = names.iter().rfind(|name| name.starts_with(JOURNAL));
        self.newest_journal = journal.map(|name| folder.join(name));
        for name in names.iter().filter(|name| is_chosen(name)) {
            let is_final = name.starts_with("base-") || folder.ends_with(LARGE);
            self.file(&folder.join(name), is_final)?;
        }
        Ok(())
    }

    /// Copies packs, and the log of tombstones before them: what it does not say yet is swept later. All packs but the last are final.
    fn packs(&mut self, folder: &Path) -> Result<(), BackupError> {
        let names = self.names(folder)?;
        let (packs, others): (Vec<_>, Vec<_>) =
            names.iter().partition(|name| name.ends_with(".pack"));
        for name in others {
            self.file(&folder.join(name), false)?;
        }
        let last = packs.len().saturating_sub(1);
        for (at, name) in packs.into_iter().enumerate() {
            self.file(&folder.join(name), at < last)?;
        }
        Ok(())
    }

    /// Copies a file, or links it if it is `is_final`. One that is there already, and is the same file, stays.
    fn file(&mut self, path: &Path, is_final: bool) -> Result<(), BackupError> {
        let (from, to) = (self.from.join(path), self.to.join(path));
        if is_final && is_same(&from, &to) {
            return Ok(());
        }
        if let Some(folder) = to.parent() {
            make_private_directories(folder).map_err(BackupError::at(folder))?;
        }
        match fs::remove_file(&to) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(BackupError::at(&to)(error));
            }
            _ => {}
        }
        // A link to a symbolic link would lead out of the backup.
        let done = if is_final && !from.is_symlink() && fs::hard_link(&from, &to).is_ok() {
            self.sum_of_link(path, &to).map_err(|error| (&*to, error))
        } else {
            self.copied(path, &from, &to)
        };
        let (bytes, crc32c) = match done {
            // It was compacted away, or deleted, since the folder was listed.
            Err((_, error)) if error.kind() == ErrorKind::NotFound && !from.exists() => {
                return Ok(());
            }
            done => done.map_err(|(at, error)| BackupError::at(at)(error))?,
        };
        let file = ManifestFile { path: path.to_owned(), bytes, crc32c };
        match self.known.get(path).and_then(|at| self.manifest.files.get_mut(*at)) {
            Some(known) => *known = file,
            None => {
                self.known.insert(path.to_owned(), self.manifest.files.len());
                self.manifest.files.push(file);
            }
        }
        Ok(())
    }

    /// The sum of a linked file; that of the backup before, if that has the very same file.
    fn sum_of_link(&self, path: &Path, to: &Path) -> std::io::Result<(u64, u32)> {
        if let Some((manifest, before)) = &self.before
            && let Some(file) = manifest.file(path)
            && is_same(&before.join(path), to)
        {
            return Ok((file.bytes, file.crc32c));
        }
        sum_of(to)
    }

    /// Copies a file, or links that of the backup before, if it has the same bytes, and has them still. A fault comes with the path that it is of.
    fn copied<'p>(
        &mut self,
        path: &Path,
        from: &'p Path,
        to: &'p Path,
    ) -> Result<(u64, u32), (&'p Path, std::io::Error)> {
        let of_source = |error| (from, error);
        if let Some((manifest, before)) = &self.before
            && let Some(file) = manifest.file(path)
            && fs::metadata(from).map_err(of_source)?.len() == file.bytes
            && sum_of(from).map_err(of_source)? == (file.bytes, file.crc32c)
            && sum_of(&before.join(path)).is_ok_and(|sum| sum == (file.bytes, file.crc32c))
            && fs::hard_link(before.join(path), to).is_ok()
        {
            return Ok((file.bytes, file.crc32c));
        }
        copy_privately(from, to)?;
        let of_target = |error| (to, error);
        if self.newest_journal.as_deref() == Some(path) {
            // It was written while it was copied.
            end_copied_log(to, self.at_least)
                .map_err(|error| of_source(std::io::Error::other(error)))?;
            File::open(to).and_then(|copy| copy.sync_all()).map_err(of_target)?;
        }
        let sum = sum_of(to).map_err(of_target)?;
        self.copied_bytes += sum.0;
        Ok(sum)
    }

    /// Puts names and manifest on disk; gives the count of files, their bytes, and those that were written.
    fn finish(self) -> Result<(u64, u64, u64), BackupError> {
        let folders = self.manifest.files.iter().filter_map(|file| file.path.parent());
        let mut folders: Vec<_> = folders.flat_map(Path::ancestors).collect();
        folders.sort_unstable();
        folders.dedup();
        for folder in folders {
            sync_directory(&self.to.join(folder))?;
        }
        let path = self.to.join(FILE);
        let failed = BackupError::at(&path);
        let text = serde_json::to_vec_pretty(&self.manifest);
        let text = text.map_err(|error| failed(error.into()))?;
        let mut options = fs::OpenOptions::new();
        let mut file =
            private(options.write(true).create_new(true)).open(&path).map_err(&failed)?;
        file.write_all(&text).and_then(|()| file.sync_all()).map_err(&failed)?;
        sync_directory(self.to)?;
        let bytes = self.manifest.files.iter().map(|file| file.bytes).sum();
        Ok((self.manifest.files.len() as u64, bytes, self.copied_bytes))
    }
}

/// Returns whether an entry is a file, or a link to one: a secret may be mounted elsewhere, and a copy without it opens nothing. A link that
/// leads nowhere is a fault.
fn is_file(entry: &fs::DirEntry) -> Result<bool, BackupError> {
    let path = entry.path();
    match (entry.file_type(), fs::metadata(&path)) {
        (Ok(kind), _) if !kind.is_symlink() => Ok(kind.is_file()),
        (_, led) => led.map(|led| led.is_file()).map_err(BackupError::at(&path)),
    }
}

/// Returns whether two paths are one file.
fn is_same(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

pub(super) fn sync_directory(path: &Path) -> Result<(), BackupError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(BackupError::at(path))
}
