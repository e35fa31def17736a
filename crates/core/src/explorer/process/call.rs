//! The calls that change files and names, or put them on disk, out of all that a log has.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use super::trace::{Argument, Call, number, quoted};

/// A path, below the directory that is open as this number if it is not the process's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) below: Option<i64>,
    pub(super) path: PathBuf,
}

/// The ways in which a file is opened that change it or say where its writes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct OpenFlags {
    pub(super) creates: bool,
    pub(super) truncates: bool,
    pub(super) appends: bool,
}

/// A call, by what it does. Numbers are those of open files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SystemCall {
    Open(Place, OpenFlags),
    Close(i64),
    Duplicate(i64),
    /// Bytes at a place, or where the last read or write has ended.
    Write(i64, Vec<u8>, Option<u64>),
    Read(i64),
    Seek(i64),
    Truncate(i64, u64),
    CreateDirectory(Place),
    Rename(Place, Place),
    /// The file at the first place gets a second name.
    Link(Place, Place),
    Remove(Place),
    Sync(i64),
    /// It would change these files in a way that the simulated disk has no rule for.
    UnmodelledOfFiles(Vec<i64>),
    /// The same of these paths.
    UnmodelledOfPaths(Vec<Place>),
    /// It would change something, of which file is not told.
    Unmodelled,
    /// It changes no file and no name.
    Nothing,
}

impl SystemCall {
    /// The call, if its arguments are those that it has.
    pub(super) fn of(call: &Call) -> Option<Self> {
        let file = |at| integer(call, at);
        let own = |at| Some(Place { below: None, path: path(call, at)? });
        let below =
            |at: usize| Some(Place { below: directory(call, at)?, path: path(call, at + 1)? });
        Some(match call.name.as_str() {
            "openat" => Self::Open(below(0)?, open_flags(word(call, 2)?)),
            "open" => Self::Open(own(0)?, open_flags(word(call, 1)?)),
            "creat" => {
                let flags = OpenFlags { creates: true, truncates: true, appends: false };
                Self::Open(own(0)?, flags)
            }
            "close" => Self::Close(file(0)?),
            "dup" | "dup2" | "dup3" => Self::Duplicate(file(0)?),
            "fcntl" if word(call, 1)?.starts_with("F_DUPFD") => Self::Duplicate(file(0)?),
            "write" => Self::Write(file(0)?, buffer(call, 1)?, None),
            "pwrite64" => Self::Write(file(0)?, buffer(call, 1)?, Some(length(call, 3)?)),
            "writev" => Self::Write(file(0)?, buffers(word(call, 1)?)?, None),
            "pwritev" | "pwritev2" => {
                Self::Write(file(0)?, buffers(word(call, 1)?)?, Some(length(call, 3)?))
            }
            "read" | "readv" => Self::Read(file(0)?),
            "lseek" => Self::Seek(file(0)?),
            "ftruncate" => Self::Truncate(file(0)?, length(call, 1)?),
            "mkdir" => Self::CreateDirectory(own(0)?),
            "mkdirat" => Self::CreateDirectory(below(0)?),
            "rename" => Self::Rename(own(0)?, own(1)?),
            "renameat" => Self::Rename(below(0)?, below(2)?),
            "renameat2" if word(call, 4)? == "0" => Self::Rename(below(0)?, below(2)?),
            "link" => Self::Link(own(0)?, own(1)?),
            "linkat" if word(call, 4)? == "0" => Self::Link(below(0)?, below(2)?),
            "unlink" => Self::Remove(own(0)?),
            "unlinkat" if word(call, 2)? == "0" => Self::Remove(below(0)?),
            "fsync" | "fdatasync" => Self::Sync(file(0)?),
            "mmap" if is_shared_to_write(call)? => Self::UnmodelledOfFiles(vec![file(4)?]),
            "ioctl" if word(call, 1)?.contains("FICLONE") => {
                Self::UnmodelledOfFiles(vec![file(0)?])
            }
            "fallocate" => Self::UnmodelledOfFiles(vec![file(0)?]),
            "copy_file_range" | "splice" => Self::UnmodelledOfFiles(vec![file(2)?]),
            "sendfile" => Self::UnmodelledOfFiles(vec![file(0)?]),
            "truncate" | "rmdir" => Self::UnmodelledOfPaths(vec![own(0)?]),
            "unlinkat" => Self::UnmodelledOfPaths(vec![below(0)?]),
            "linkat" | "renameat2" => Self::UnmodelledOfPaths(vec![below(0)?, below(2)?]),
            "symlink" => Self::UnmodelledOfPaths(vec![own(1)?]),
            "symlinkat" => Self::UnmodelledOfPaths(vec![below(1)?]),
            "io_uring_setup" | "sync" | "syncfs" | "msync" => Self::Unmodelled,
            // sync_file_range among them: it puts neither names on disk nor the length of a file, and no disk's own cache.
            _ => Self::Nothing,
        })
    }
}

fn word(call: &Call, at: usize) -> Option<&str> {
    match call.arguments.get(at)? {
        Argument::Word(word) => Some(word),
        Argument::Bytes(_) => None,
    }
}

fn integer(call: &Call, at: usize) -> Option<i64> {
    number(word(call, at)?)
}

fn length(call: &Call, at: usize) -> Option<u64> {
    u64::try_from(integer(call, at)?).ok()
}

fn path(call: &Call, at: usize) -> Option<PathBuf> {
    Some(PathBuf::from(OsString::from_vec(buffer(call, at)?)))
}

/// An open directory; none where the process's own is meant.
fn directory(call: &Call, at: usize) -> Option<Option<i64>> {
    match word(call, at)? {
        "AT_FDCWD" => Some(None),
        file => number(file).map(Some),
    }
}

fn buffer(call: &Call, at: usize) -> Option<Vec<u8>> {
    match call.arguments.get(at)? {
        Argument::Bytes(bytes) => Some(bytes.clone()),
        Argument::Word(_) => None,
    }
}

/// The bytes of several buffers that are written as one.
fn buffers(word: &str) -> Option<Vec<u8>> {
    let parts = word.split("iov_base=").skip(1);
    let parts: Option<Vec<_>> = parts.map(|part| Some(quoted(part)?.0)).collect();
    Some(parts?.concat())
}

fn open_flags(word: &str) -> OpenFlags {
    let has = |flag| word.split('|').any(|own| own == flag);
    OpenFlags { creates: has("O_CREAT"), truncates: has("O_TRUNC"), appends: has("O_APPEND") }
}

fn is_shared_to_write(call: &Call) -> Option<bool> {
    let (protection, flags) = (word(call, 2)?, word(call, 3)?);
    let is_file = integer(call, 4)? >= 0;
    Some(is_file && protection.contains("PROT_WRITE") && flags.contains("MAP_SHARED"))
}

#[cfg(test)]
mod tests {
    use super::super::trace::Trace;
    use super::*;

    fn of(line: &str) -> SystemCall {
        let trace = Trace::read(format!("7 1.000001 {line}\n").as_bytes()).unwrap();
        SystemCall::of(&trace.calls[0]).unwrap()
    }

    #[test]
    fn a_file_is_opened_below_a_directory_or_by_itself() {
        let flags = OpenFlags { creates: true, truncates: true, appends: false };
        let below = Place { below: Some(5), path: "a".into() };
        assert_eq!(
            of("openat(5, \"\\x61\", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600) = 3"),
            SystemCall::Open(below, flags)
        );
        let own = Place { below: None, path: "/a".into() };
        let plain = SystemCall::Open(own, OpenFlags::default());
        assert_eq!(of("openat(AT_FDCWD, \"\\x2f\\x61\", O_RDONLY) = -1 ENOENT (No)"), plain);
    }

    #[test]
    fn buffers_of_one_write_are_its_bytes() {
        let line = "pwritev(3, [{iov_base=\"\\x61\", iov_len=1}, {iov_base=\"\\x62\", iov_len=1}], 2, 9) = 2";
        assert_eq!(of(line), SystemCall::Write(3, b"ab".to_vec(), Some(9)));
    }

    #[test]
    fn what_has_no_rule_is_told_with_its_files() {
        let shared = "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 9, 0) = 0x7f0000000000";
        assert_eq!(of(shared), SystemCall::UnmodelledOfFiles(vec![9]));
        let private = "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE, 9, 0) = 0x7f0000000000";
        assert_eq!(of(private), SystemCall::Nothing);
        assert_eq!(
            of("copy_file_range(3, NULL, 4, NULL, 10, 0) = 10"),
            SystemCall::UnmodelledOfFiles(vec![4])
        );
        assert_eq!(of("io_uring_setup(8, {flags=0}) = 3"), SystemCall::Unmodelled);
    }
}
