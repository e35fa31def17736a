//! The calls to the disk, behind a trait so that a test can make the n-th one fail.

#[cfg(feature = "testing")]
pub mod simulated;
#[cfg(test)]
pub(crate) mod testing;

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Block of a disk. A write past the page cache has a length and a place, in memory and in its file, that are multiples of it: no
/// disk of today asks for more.
pub(crate) const BLOCK_BYTES: usize = 4096;

/// Bytes of a file that are read at once where all of it is: a core's own cache takes them.
const PIECE_BYTES: usize = 256 * 1024;

/// The disk as the stores use it.
pub trait Disk: Send + Sync {
    /// Makes a directory and those above it, and puts their names on disk.
    ///
    /// # Errors
    /// As the operating system.
    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let Some(above) = path.parent() else {
            return Ok(());
        };
        let above = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        if path.is_dir() {
            // A kill may have come between the directory and the sync of its name. Above one that somebody else made may be what
            // cannot be opened or synced.
            return match self.sync_directory(above) {
                Err(error) if is_not_ours(&error) => Ok(()),
                synced => synced,
            };
        }
        if above != Path::new(".") {
            self.make_directory(above)?;
        }
        match self.create_directory(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.sync_directory(above)
    }

    /// Makes a directory in one that is there.
    ///
    /// # Errors
    /// As the operating system.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes a file that is not there.
    ///
    /// # Errors
    /// As the operating system.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// [`Disk::create`] for a large body: what is written of it in whole blocks of 4 KiB, from memory that begins as a block does,
    /// goes past the page cache where the system can.
    ///
    /// # Errors
    /// As the operating system.
    fn create_large(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.create(path)
    }

    /// Opens a file to read.
    ///
    /// # Errors
    /// As the operating system.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Opens a file to read and to write on.
    ///
    /// # Errors
    /// As the operating system.
    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// Makes a file, without what an earlier attempt left under its name.
    ///
    /// # Errors
    /// As the operating system.
    fn replace(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        match self.remove(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.create(path),
        }
    }

    /// Gives a file another name in its directory.
    ///
    /// # Errors
    /// As the operating system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// As the operating system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Puts the names in a directory on disk.
    ///
    /// # Errors
    /// As the operating system.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;

    /// The files of a directory.
    ///
    /// # Errors
    /// As the operating system.
    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>>;

    /// All bytes of a small file; of a longer one, those up to `bytes_max`.
    ///
    /// # Errors
    /// As the operating system.
    fn read(&self, path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; bytes_max];
        let length = self.open(path)?.read_at(&mut bytes, 0)?;
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Returns whether there is a directory at this path.
    ///
    /// # Errors
    /// As the operating system.
    fn has_directory(&self, path: &Path) -> io::Result<bool> {
        match self.list(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            listed => listed.map(|_| true),
        }
    }

    /// The numbers of the device and of the file at a path: a copy has others.
    ///
    /// # Errors
    /// As the operating system.
    fn file_id(&self, path: &Path) -> io::Result<(u64, u64)> {
        use std::os::unix::fs::MetadataExt as _;
        let found = std::fs::metadata(path)?;
        Ok((found.dev(), found.ino()))
    }

    /// Locks a file, which is made if it is not there, for as long as the answer is held; none if another process has it.
    ///
    /// # Errors
    /// As the operating system.
    fn lock(&self, path: &Path) -> io::Result<Option<DiskLock>> {
        let mut options = OpenOptions::new();
        let file = private(options.create(true).truncate(false).write(true)).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(DiskLock::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// A lock that is held until this is dropped.
pub struct DiskLock(#[expect(dead_code, reason = "it is held")] Box<dyn Send + Sync>);

impl DiskLock {
    /// The lock that lasts as long as `held`.
    pub fn new(held: impl Send + Sync + 'static) -> Self {
        Self(Box::new(held))
    }
}

impl std::fmt::Debug for DiskLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DiskLock")
    }
}

/// One open file.
pub trait DiskFile: Send + Sync {
    /// Reads at an offset; fewer bytes only at the end.
    ///
    /// # Errors
    /// As the operating system.
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize>;

    /// The bytes at an offset, so many; fewer only at the end.
    ///
    /// # Errors
    /// As the operating system.
    fn read_new(&self, bytes: usize, at: u64) -> io::Result<Vec<u8>> {
        let mut into = vec![0; bytes];
        let read = self.read_at(&mut into, at)?;
        into.truncate(read);
        Ok(into)
    }

    /// Writes all bytes at an offset.
    ///
    /// # Errors
    /// As the operating system.
    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()>;

    /// Puts what was written on disk.
    ///
    /// # Errors
    /// As the operating system.
    fn sync(&self) -> io::Result<()>;

    /// Returns whether it has a name: what is written to a file that was removed is gone with whoever has it open.
    ///
    /// # Errors
    /// As the operating system.
    fn has_name(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// [`DiskFile::sync`] of a file that has to be found again by its name.
    ///
    /// # Errors
    /// As the operating system; if the file was removed.
    fn sync_named(&self) -> io::Result<()> {
        self.sync()?;
        match self.has_name()? {
            true => Ok(()),
            false => Err(io::Error::other("a file was removed while it was written")),
        }
    }

    /// Its length in bytes.
    ///
    /// # Errors
    /// As the operating system.
    fn length(&self) -> io::Result<u64>;

    /// Cuts it off at a length.
    ///
    /// # Errors
    /// As the operating system.
    fn truncate(&self, bytes: u64) -> io::Result<()>;

    /// Reads all of it and keeps nothing: a fault on the way is what it is read for.
    ///
    /// # Errors
    /// As the operating system.
    fn read_through(&self) -> io::Result<()> {
        let mut piece = vec![0; PIECE_BYTES];
        let mut at = 0;
        loop {
            match self.read_at(&mut piece, at)? {
                0 => return Ok(()),
                bytes => at += bytes as u64,
            }
        }
    }

    /// Has what is in memory of it forgotten, but for what is not on disk yet, so that the next read says what the disk has.
    ///
    /// # Errors
    /// As the operating system.
    fn forget_cached(&self) -> io::Result<()>;
}

/// Returns whether a sync of a directory says no more than that this user may not have it, or that its file system has none.
fn is_not_ours(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ReadOnlyFilesystem, Unsupported};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | InvalidInput | Unsupported)
}

/// The mode of directories that are made: what they hold is for their owner alone, secrets of accounts among it.
const DIRECTORY_MODE: u32 = 0o700;
/// The mode of files that are made.
const FILE_MODE: u32 = 0o600;

/// Makes a directory and those above it that are missing, for their owner alone.
///
/// # Errors
/// As the operating system.
#[cfg(all(feature = "host", feature = "sled"))]
pub(crate) fn make_private_directories(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    std::os::unix::fs::DirBuilderExt::mode(builder.recursive(true), DIRECTORY_MODE).create(path)
}

/// Copies what a file or a link to one holds into a new file that only its owner can read.
///
/// # Errors
/// As the operating system, with the path that it is about.
#[cfg(all(feature = "host", feature = "sled"))]
pub(crate) fn copy_privately<'p>(
    from: &'p Path,
    to: &'p Path,
) -> Result<(), (&'p Path, io::Error)> {
    let mut source = File::open(from).map_err(|error| (from, error))?;
    let mut options = OpenOptions::new();
    let options = private(options.write(true).create(true).truncate(true));
    let mut target = options.open(to).map_err(|error| (to, error))?;
    io::copy(&mut source, &mut target).map_err(|error| match is_of_writing(&error) {
        true => (to, error),
        false => (from, error),
    })?;
    target.sync_all().map_err(|error| (to, error))
}

/// Returns whether an error of a copy can be one of the disk that is written to alone.
#[cfg(all(feature = "host", feature = "sled"))]
fn is_of_writing(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge | ReadOnlyFilesystem)
}

/// Has a file that is made be one that only its owner can read.
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, FILE_MODE)
}

/// The operating system's disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), DIRECTORY_MODE)
            .create(path)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        let options = private(options.read(true).write(true).create_new(true));
        Ok(Arc::new(options.open(path)?))
    }

    #[cfg(target_os = "linux")]
    fn create_large(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        use std::os::unix::fs::OpenOptionsExt as _;
        let file = self.create(path)?;
        let mut past = OpenOptions::new();
        past.write(true).custom_flags(rustix::fs::OFlags::DIRECT.bits().cast_signed());
        // A file system that cannot says so here or at the first write.
        Ok(match past.open(path) {
            Ok(past) => Arc::new(LargeDiskFile { file, past }),
            Err(_) => file,
        })
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(File::open(path)?))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(OpenOptions::new().read(true).write(true).open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect()
    }
}

impl DiskFile for File {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        let mut read = 0;
        while let Some(rest) = into.get_mut(read..).filter(|rest| !rest.is_empty()) {
            match FileExt::read_at(self, rest, at + read as u64) {
                Ok(0) => break,
                Ok(bytes) => read += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn read_new(&self, bytes: usize, at: u64) -> io::Result<Vec<u8>> {
        // Memory that the kernel fills is not filled with zeros before: that was a sixth of the instructions of a large read.
        let mut into = Vec::with_capacity(bytes);
        while into.len() < bytes {
            let place = at + into.len() as u64;
            match rustix::io::pread(self, rustix::buffer::spare_capacity(&mut into), place) {
                Ok(0) => break,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        // A vector may have room for more than it was asked for.
        into.truncate(bytes);
        Ok(into)
    }

    #[cfg(target_os = "linux")]
    fn read_through(&self) -> io::Result<()> {
        use std::io::Seek as _;

        // The kernel hands pages on to a device that drops them, and copies none: copying them was a third of the start of a large store.
        let mut nowhere = OpenOptions::new().write(true).open("/dev/null")?;
        let mut file = self;
        file.rewind()?;
        io::copy(&mut file, &mut nowhere).map(drop)
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn has_name(&self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt as _;
        Ok(self.metadata()?.nlink() > 0)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn truncate(&self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }

    fn forget_cached(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        rustix::fs::fadvise(self, 0, None, rustix::fs::Advice::DontNeed)?;
        Ok(())
    }
}

/// A file that is open twice, once past the page cache.
#[cfg(target_os = "linux")]
struct LargeDiskFile {
    file: Arc<dyn DiskFile>,
    past: File,
}

#[cfg(target_os = "linux")]
impl DiskFile for LargeDiskFile {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(into, at)
    }

    fn read_new(&self, bytes: usize, at: u64) -> io::Result<Vec<u8>> {
        self.file.read_new(bytes, at)
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        const BLOCK: u64 = BLOCK_BYTES as u64;
        let starts = bytes.as_ptr().addr() as u64;
        if [starts, bytes.len() as u64, at].iter().all(|place| place.is_multiple_of(BLOCK)) {
            match FileExt::write_all_at(&self.past, bytes, at) {
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => {}
                written => return written,
            }
        }
        self.file.write_all_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    fn has_name(&self) -> io::Result<bool> {
        self.file.has_name()
    }

    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn truncate(&self, bytes: u64) -> io::Result<()> {
        self.file.truncate(bytes)
    }

    fn forget_cached(&self) -> io::Result<()> {
        self.file.forget_cached()
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::testing::{Call, WatchedDisk};
    use super::*;

    #[test]
    fn what_is_read_anew_is_what_is_there_and_ends_where_the_file_does() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let content: Vec<u8> = (0..200_000_u32).map(|at| at.to_le_bytes()[0]).collect();
        std::fs::write(&path, &content).unwrap();
        let watched = WatchedDisk::new(|_, _| Ok(()));
        for file in [SystemDisk.open(&path).unwrap(), watched.open(&path).unwrap()] {
            let ranges = [(0, 1), (0, 200_000), (65_537, 70_000), (199_999, 1), (7, 0)];
            for (at, bytes) in ranges {
                let read = file.read_new(bytes, at as u64).unwrap();
                assert_eq!(read, content[at..at + bytes], "{bytes} at {at}");
            }
            assert_eq!(file.read_new(100, 199_990).unwrap(), content[199_990..]);
            assert_eq!(file.read_new(100, 200_000).unwrap(), b"");
            assert_eq!(file.read_new(1, u64::from(u32::MAX) * 4).unwrap(), b"");
        }
    }

    #[test]
    fn a_file_is_read_through_as_often_as_it_is_asked_for_and_from_its_start() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, vec![7; 3 * PIECE_BYTES + 5]).unwrap();
        let file = SystemDisk.open(&path).unwrap();
        file.read_through().unwrap();
        file.read_through().unwrap();
        assert_eq!(file.read_new(1, 0).unwrap(), [7]);
        // A directory opens as a file does, and cannot be read.
        let folder: Arc<dyn DiskFile> = Arc::new(File::open(directory.path()).unwrap());
        assert_eq!(folder.read_through().unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    #[test]
    fn what_is_made_only_its_owner_can_read_and_what_is_there_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let own = directory.path().join("own");
        std::fs::create_dir(&own).unwrap();
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
        let made = own.join("made/within");
        SystemDisk.make_directory(&made).unwrap();
        let files = ["file", "large", "lock"].map(|name| made.join(name));
        let [file, large, lock] = &files;
        SystemDisk.create(file).unwrap();
        SystemDisk.create_large(large).unwrap();
        SystemDisk.lock(lock).unwrap();
        assert_eq!((mode(&own), mode(&made), mode(&own.join("made"))), (0o755, 0o700, 0o700));
        assert_eq!(files.each_ref().map(|path| mode(path)), [0o600; 3]);
    }

    #[test]
    fn a_file_that_was_removed_is_not_synced_for_one_that_is_found_again() {
        let directory = tempfile::tempdir().unwrap();
        let (path, moved) = (directory.path().join("file"), directory.path().join("moved"));
        let file = SystemDisk.create(&path).unwrap();
        file.sync_named().unwrap();
        std::fs::rename(&path, &moved).unwrap();
        file.sync_named().unwrap();
        std::fs::remove_file(&moved).unwrap();
        file.sync().unwrap();
        assert!(file.sync_named().unwrap_err().to_string().contains("was removed"));
    }

    #[test]
    fn a_directory_that_is_there_has_its_name_on_disk_as_well() {
        let directory = tempfile::tempdir().unwrap();
        let inner = directory.path().join("outer/inner");
        let synced = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&synced);
        let disk = WatchedDisk::new(move |call, path| {
            if call == Call::SyncDirectory {
                seen.lock().push(path.to_owned());
            }
            Ok(())
        });
        let above = [directory.path().to_owned(), directory.path().join("outer")];
        // As a kill leaves them before any sync.
        std::fs::create_dir_all(&inner).unwrap();
        disk.make_directory(&inner).unwrap();
        assert_eq!(*synced.lock(), [above[1].clone()]);
        synced.lock().clear();
        std::fs::remove_dir(&inner).unwrap();
        disk.make_directory(&inner).unwrap();
        assert_eq!(*synced.lock(), above);
    }
}
