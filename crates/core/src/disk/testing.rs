//! A disk that shows each call to a test before it is made, and fails it where the test says so.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;

use super::{Disk, DiskFile, SystemDisk};

/// A kind of call to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    CreateDirectory,
    Create,
    Open,
    Rename,
    Remove,
    SyncDirectory,
    List,
    Read,
    Write,
    Sync,
    Length,
    Truncate,
    ForgetCached,
}

type Watch = dyn Fn(Call, &Path) -> io::Result<()> + Send + Sync;

/// The operating system's disk, seen through a function that every call passes.
#[derive(Clone)]
pub(crate) struct WatchedDisk {
    watch: Arc<Watch>,
    /// Held for reading by every call that is under way.
    under_way: Arc<RwLock<()>>,
}

struct WatchedFile {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    disk: WatchedDisk,
}

impl WatchedDisk {
    pub(crate) fn new(
        watch: impl Fn(Call, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::with_lock(Arc::default(), watch)
    }

    /// A disk that stands still for as long as the function, or anybody else, holds this lock for writing.
    pub(crate) fn with_lock(
        under_way: Arc<RwLock<()>>,
        watch: impl Fn(Call, &Path) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self { watch: Arc::new(watch), under_way }
    }

    fn call<T>(
        &self,
        call: Call,
        path: &Path,
        run: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        (self.watch)(call, path)?;
        let _under_way = self.under_way.read();
        run()
    }

    fn file(&self, path: &Path, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(WatchedFile { file, path: path.to_owned(), disk: self.clone() })
    }
}

impl Disk for WatchedDisk {
    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.call(Call::CreateDirectory, path, || SystemDisk.create_directory(path))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(path, self.call(Call::Create, path, || SystemDisk.create(path))?))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(path, self.call(Call::Open, path, || SystemDisk.open(path))?))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(self.file(path, self.call(Call::Open, path, || SystemDisk.open_to_write(path))?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call(Call::Rename, from, || SystemDisk.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call(Call::Remove, path, || SystemDisk.remove(path))
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.call(Call::SyncDirectory, path, || SystemDisk.sync_directory(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.call(Call::List, path, || SystemDisk.list(path))
    }
}

impl DiskFile for WatchedFile {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        self.disk.call(Call::Read, &self.path, || self.file.read_at(into, at))
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.disk.call(Call::Write, &self.path, || self.file.write_all_at(bytes, at))
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.call(Call::Sync, &self.path, || self.file.sync())
    }

    fn has_name(&self) -> io::Result<bool> {
        self.file.has_name()
    }

    fn length(&self) -> io::Result<u64> {
        self.disk.call(Call::Length, &self.path, || self.file.length())
    }

    fn truncate(&self, bytes: u64) -> io::Result<()> {
        self.disk.call(Call::Truncate, &self.path, || self.file.truncate(bytes))
    }

    fn forget_cached(&self) -> io::Result<()> {
        self.disk.call(Call::ForgetCached, &self.path, || self.file.forget_cached())
    }
}
