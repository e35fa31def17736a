//! The calls of a recorded process, made again on the simulated disk. It keeps its open files, and leaves out what lies outside its data directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::call::{OpenFlags, Place, SystemCall};
use crate::disk::simulated::{BegunSync, Change, FileNumber, SimulatedDisk};

/// The place of the data directory on the simulated disk.
fn data() -> &'static Path {
    super::super::stores::data()
}

/// The thing that a number of the process stands for.
#[derive(Debug, Clone)]
enum What {
    File(FileNumber),
    Directory(PathBuf),
    /// A socket, a pipe, or a file outside the data directory.
    Foreign,
}

/// An open file, which several numbers may stand for.
#[derive(Debug, Clone)]
struct Open {
    what: What,
    /// The place at which a write without one goes.
    position: u64,
    appends: bool,
}

/// A call that has begun: its numbers are those of the files that they stood for then.
#[derive(Debug, Clone)]
pub(super) enum Begun {
    Open {
        path: Option<PathBuf>,
        flags: OpenFlags,
    },
    Duplicate(Option<usize>),
    /// A write that has no place of its own moves that of its file.
    Write {
        open: usize,
        file: FileNumber,
        bytes: Vec<u8>,
        at: Option<u64>,
    },
    Moves {
        open: usize,
        is_seek: bool,
    },
    Changes(Change),
    Syncs(BegunSync),
    Nothing,
}

/// The open files of one life of a process, on the disk that all of its lives share.
#[derive(Debug)]
pub(super) struct Replay<'a> {
    disk: &'a SimulatedDisk,
    /// The data directory of the process.
    data: &'a Path,
    opened: Vec<Open>,
    numbers: BTreeMap<i64, usize>,
}

impl<'a> Replay<'a> {
    /// A process that has nothing open yet.
    pub(super) fn new(disk: &'a SimulatedDisk, data: &'a Path) -> Self {
        Self { disk, data, opened: Vec::new(), numbers: BTreeMap::new() }
    }

    /// Begins a call.
    pub(super) fn begin(&mut self, call: SystemCall) -> Result<Begun, String> {
        Ok(match call {
            SystemCall::Open(place, flags) => Begun::Open { path: self.own(&place), flags },
            SystemCall::Close(number) => {
                // At its begin, since its number may be given to another before the log has its end.
                self.numbers.remove(&number);
                Begun::Nothing
            }
            SystemCall::Duplicate(number) => Begun::Duplicate(self.numbers.get(&number).copied()),
            SystemCall::Write(number, bytes, at) => match self.file(number) {
                Some((open, file)) => Begun::Write { open, file, bytes, at },
                None => Begun::Nothing,
            },
            SystemCall::Read(number) => self.moves(number, false),
            SystemCall::Seek(number) => self.moves(number, true),
            SystemCall::Truncate(number, bytes) => match self.file(number) {
                Some((_, file)) => Begun::Changes(Change::Truncate(file, bytes)),
                None => Begun::Nothing,
            },
            SystemCall::CreateDirectory(place) => self.of_path(&place, Change::CreateDirectory),
            SystemCall::Remove(place) => self.of_path(&place, Change::Remove),
            SystemCall::Rename(from, to) => match (self.own(&from), self.own(&to)) {
                (Some(from), Some(to)) => Begun::Changes(Change::Rename(from, to)),
                (None, None) => Begun::Nothing,
                _ => return Err("a name that moves into the data directory, or out of it".into()),
            },
            SystemCall::Link(file, name) => match (self.own(&file), self.own(&name)) {
                (Some(file), Some(name)) => Begun::Changes(Change::Link(file, name)),
                (None, None) => Begun::Nothing,
                _ => return Err("a file with a name in the data directory and one outside".into()),
            },
            SystemCall::Sync(number) => self.sync(number)?,
            SystemCall::UnmodelledOfFiles(numbers) => {
                if numbers.iter().any(|number| self.file(*number).is_some()) {
                    return Err("there is no rule for this call of a file".into());
                }
                Begun::Nothing
            }
            SystemCall::UnmodelledOfPaths(places) => {
                if places.iter().any(|place| self.own(place).is_some()) {
                    return Err("there is no rule for this call of a path".into());
                }
                Begun::Nothing
            }
            SystemCall::Unmodelled => return Err("there is no rule for this call".into()),
            SystemCall::Nothing => Begun::Nothing,
        })
    }

    /// Ends a call that succeeded with this answer.
    pub(super) fn end(&mut self, begun: &Begun, result: i64) -> Result<(), String> {
        match begun {
            Begun::Open { path, flags } => {
                let what = self.open(path.as_deref(), *flags)?;
                let open = Open { what, position: 0, appends: flags.appends };
                self.numbers.insert(result, self.opened.len());
                self.opened.push(open);
            }
            Begun::Duplicate(Some(open)) => {
                self.numbers.insert(result, *open);
            }
            // The number may have stood for a file before.
            Begun::Duplicate(None) => {
                self.numbers.remove(&result);
            }
            Begun::Write { open, file, at, .. } => {
                let written = usize::try_from(result).unwrap_or(0);
                if let Some(change) = self.change_of(begun, Some(written)) {
                    self.make(&change)?;
                }
                if let (None, Some(open)) = (at, self.opened.get_mut(*open)) {
                    let from = if open.appends {
                        self.disk.length_of(*file)
                    } else {
                        open.position + written as u64
                    };
                    open.position = from;
                }
            }
            Begun::Moves { open, is_seek } => {
                let by = u64::try_from(result).unwrap_or(0);
                if let Some(open) = self.opened.get_mut(*open) {
                    open.position = if *is_seek { by } else { open.position + by };
                }
            }
            Begun::Changes(change) => self.make(change)?,
            Begun::Syncs(sync) => {
                self.disk.end_sync(sync).map_err(|error| error.to_string())?;
            }
            Begun::Nothing => {}
        }
        Ok(())
    }

    /// The change that a call makes, of so many of its bytes or of all: what may be there of one that has not ended.
    pub(super) fn change_of(&self, begun: &Begun, written: Option<usize>) -> Option<Change> {
        match begun {
            Begun::Write { open, file, bytes, at } => {
                let bytes = bytes.get(..written.unwrap_or(bytes.len())).unwrap_or(bytes);
                let open = self.opened.get(*open)?;
                let end = self.disk.length_of(*file);
                let at = at.unwrap_or(if open.appends { end } else { open.position });
                Some(Change::Write(*file, at, bytes.into()))
            }
            Begun::Changes(change) => Some(change.clone()),
            Begun::Open { path: Some(path), flags } => self.opening(path, *flags),
            _ => None,
        }
    }

    fn make(&self, change: &Change) -> Result<(), String> {
        self.disk.make(change).map_err(|error| format!("{change:.80?}: {error}"))
    }

    /// The change that opening makes, if it makes one.
    fn opening(&self, path: &Path, flags: OpenFlags) -> Option<Change> {
        match self.disk.file_number(path) {
            Ok(file) => (flags.truncates && self.disk.length_of(file) > 0)
                .then_some(Change::Truncate(file, 0)),
            Err(_) => flags.creates.then(|| Change::Create(path.to_owned())),
        }
    }

    fn open(&self, path: Option<&Path>, flags: OpenFlags) -> Result<What, String> {
        let Some(path) = path else { return Ok(What::Foreign) };
        if let Some(change) = self.opening(path, flags) {
            self.make(&change)?;
        }
        match self.disk.file_number(path) {
            Ok(file) => Ok(What::File(file)),
            Err(error) if error.kind() == std::io::ErrorKind::IsADirectory => {
                Ok(What::Directory(path.to_owned()))
            }
            // The root has no name.
            Err(_) if path == Path::new("/") => Ok(What::Directory(path.to_owned())),
            Err(error) => Err(format!("{} was opened: {error}", path.display())),
        }
    }

    fn file(&self, number: i64) -> Option<(usize, FileNumber)> {
        let open = *self.numbers.get(&number)?;
        match self.opened.get(open)?.what {
            What::File(file) => Some((open, file)),
            What::Directory(_) | What::Foreign => None,
        }
    }

    fn moves(&self, number: i64, is_seek: bool) -> Begun {
        let found = self.file(number);
        found.map_or(Begun::Nothing, |(open, _)| Begun::Moves { open, is_seek })
    }

    fn of_path(&self, place: &Place, change: impl FnOnce(PathBuf) -> Change) -> Begun {
        self.own(place).map_or(Begun::Nothing, |path| Begun::Changes(change(path)))
    }

    fn sync(&self, number: i64) -> Result<Begun, String> {
        let open = self.numbers.get(&number).and_then(|open| self.opened.get(*open));
        Ok(match open.map(|open| &open.what) {
            Some(What::File(file)) => Begun::Syncs(self.disk.begin_sync(*file)),
            Some(What::Directory(path)) => {
                let begun = self.disk.begin_directory_sync(path);
                Begun::Syncs(begun.map_err(|error| error.to_string())?)
            }
            Some(What::Foreign) | None => Begun::Nothing,
        })
    }

    /// The path on the simulated disk, if it is that of the data directory, of something in it, or of the directory above it.
    fn own(&self, place: &Place) -> Option<PathBuf> {
        if let (false, Some(number)) = (place.path.is_absolute(), place.below) {
            let open = self.numbers.get(&number)?;
            return match &self.opened.get(*open)?.what {
                What::Directory(above) => Some(above.join(&place.path)),
                What::File(_) | What::Foreign => None,
            };
        }
        if Some(&*place.path) == self.data.parent() {
            return Some(PathBuf::from("/"));
        }
        let inner = place.path.strip_prefix(self.data).ok()?;
        Some(if inner.as_os_str().is_empty() { data().to_owned() } else { data().join(inner) })
    }
}
