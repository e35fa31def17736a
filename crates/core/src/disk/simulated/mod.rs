//! A disk in memory that knows what a power cut may take: for tests, which run stores on it, take pictures of it at any call, and make of each
//! picture a state that a cut could have left.
//!
//! Writes and cuts of a file are pending until it is synced; names are pending until their directory is. A sync that fails loses what was
//! pending, and the system goes on to show it until it is told to forget what it remembers. A call may be slow, too: others are made meanwhile.

mod crash;
mod replay;
mod world;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use rustix::io::Errno;

pub use self::crash::{Choice, CrashPlan, Survival};
pub use self::replay::{BegunSync, Change, FileNumber};
use self::world::{InodeId, World};
use super::{Disk, DiskFile, DiskLock};
use crate::schedule;

/// The longest time for which a slow call waits for others: where they wait for it, none comes.
const SLOW_MAX: Duration = Duration::from_millis(300);
/// The same in turns of a simulation, for each call that it waits for.
const SLOW_TURNS_MAX: u64 = 4;

/// Kinds of calls that change what is on the disk, or put it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// A directory is made.
    CreateDirectory,
    /// A file is made.
    Create,
    /// A file is opened.
    Open,
    /// A file gets another name.
    Rename,
    /// A file is removed.
    Remove,
    /// The names of a directory are put on disk.
    SyncDirectory,
    /// A file is read.
    Read,
    /// A file is written to.
    Write,
    /// A file is put on disk.
    Sync,
    /// A file is given a length.
    Truncate,
    /// The names in a directory are read.
    List,
}

impl CallKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::CreateDirectory,
        Self::Create,
        Self::Open,
        Self::Rename,
        Self::Remove,
        Self::SyncDirectory,
        Self::Read,
        Self::Write,
        Self::Sync,
        Self::Truncate,
        Self::List,
    ];

    /// Returns whether the disk is another after it.
    #[must_use]
    pub const fn changes_disk(self) -> bool {
        !matches!(self, Self::Open | Self::Read | Self::List)
    }
}

/// Told of each call before it is made: an error is the call's outcome.
pub type OnCall = dyn Fn(CallKind, &Path) -> CallOutcome + Send + Sync;

/// The outcome of a call, as a test wants it.
#[derive(Debug)]
pub enum CallOutcome {
    /// It is made.
    Made,
    /// It is a sync, which is left out and told as made.
    LeftOut,
    /// It fails; a write has written half, a sync loses what it was to put on disk.
    Fails(Errno),
    /// A picture of the disk is taken before it is made.
    Pictured,
    /// It is made after so many later calls, or when none of them comes.
    Slow(u64),
}

/// The disk.
#[derive(Clone)]
pub struct SimulatedDisk {
    world: Arc<Mutex<World>>,
    slow: Arc<SlowCalls>,
    pictures: Arc<Mutex<Vec<Picture>>>,
    mark: Arc<dyn Fn() -> u64 + Send + Sync>,
    on_call: Arc<OnCall>,
}

/// The calls that wait for later ones.
#[derive(Default)]
struct SlowCalls {
    waiting: AtomicUsize,
    called: Condvar,
}

/// A disk at one moment.
#[derive(Clone)]
pub struct Picture {
    world: World,
    /// The number that the test had for this moment.
    pub mark: u64,
    /// The slow calls that were under way.
    pub slow_calls: usize,
}

impl SimulatedDisk {
    /// An empty disk, all of whose calls are made.
    #[must_use]
    pub fn new() -> Self {
        Self::of(World::default(), |_, _| CallOutcome::Made, || 0)
    }

    fn of(
        world: World,
        on_call: impl Fn(CallKind, &Path) -> CallOutcome + Send + Sync + 'static,
        mark: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self {
            world: Arc::new(Mutex::new(world)),
            slow: Arc::default(),
            pictures: Arc::default(),
            mark: Arc::new(mark),
            on_call: Arc::new(on_call),
        }
    }

    /// The same disk, seen through a function that every call passes; `mark` numbers the moments of pictures. The function is called while the disk
    /// stands still.
    #[must_use]
    pub fn watched(
        &self,
        on_call: impl Fn(CallKind, &Path) -> CallOutcome + Send + Sync + 'static,
        mark: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self {
            world: Arc::clone(&self.world),
            slow: Arc::clone(&self.slow),
            pictures: Arc::clone(&self.pictures),
            mark: Arc::new(mark),
            on_call: Arc::new(on_call),
        }
    }

    /// A picture of it now.
    #[must_use]
    pub fn picture(&self) -> Picture {
        self.picture_of(&self.world.lock())
    }

    fn picture_of(&self, world: &World) -> Picture {
        let slow_calls = self.slow.waiting.load(Ordering::SeqCst);
        Picture { world: world.clone(), mark: (self.mark)(), slow_calls }
    }

    /// The pictures that were taken since the last look.
    #[must_use]
    pub fn pictures(&self) -> Vec<Picture> {
        std::mem::take(&mut *self.pictures.lock())
    }

    /// A call of a path, or of a file that was opened at it, which may have another name by now.
    fn call<T>(
        &self,
        kind: CallKind,
        (path, file): (&Path, Option<InodeId>),
        run: impl FnOnce(&mut World, Option<Errno>, bool) -> io::Result<T>,
    ) -> io::Result<T> {
        schedule::step();
        let mut world = self.world.lock();
        world.calls += 1;
        self.slow.called.notify_all();
        let named = file.and_then(|inode| world.path_of(inode));
        match (self.on_call)(kind, named.as_deref().unwrap_or(path)) {
            CallOutcome::Made => run(&mut world, None, false),
            CallOutcome::LeftOut => run(&mut world, None, true),
            CallOutcome::Fails(with) => run(&mut world, Some(with), false),
            CallOutcome::Pictured => {
                self.pictures.lock().push(self.picture_of(&world));
                run(&mut world, None, false)
            }
            CallOutcome::Slow(calls) => {
                let until = world.calls + calls;
                self.slow.waiting.fetch_add(1, Ordering::SeqCst);
                let is_early = |world: &mut World| world.calls < until;
                if schedule::is_simulated() {
                    let mut turns = calls * SLOW_TURNS_MAX;
                    while turns > 0 && is_early(&mut world) {
                        MutexGuard::unlocked(&mut world, schedule::step);
                        turns -= 1;
                    }
                } else {
                    self.slow.called.wait_while_for(&mut world, is_early, SLOW_MAX);
                }
                self.slow.waiting.fetch_sub(1, Ordering::SeqCst);
                run(&mut world, None, false)
            }
        }
    }

    /// A call that does nothing where it fails.
    fn simple<T>(
        &self,
        kind: CallKind,
        path: &Path,
        run: impl FnOnce(&mut World) -> io::Result<T>,
    ) -> io::Result<T> {
        self.call(kind, (path, None), |world, fails, _| match fails {
            Some(with) => Err(with.into()),
            None => run(world),
        })
    }

    fn file(&self, path: &Path, inode: InodeId) -> Arc<dyn DiskFile> {
        Arc::new(SimulatedFile { disk: self.clone(), path: path.to_owned(), inode })
    }
}

impl Default for SimulatedDisk {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for SimulatedDisk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SimulatedDisk")
    }
}

impl std::fmt::Debug for Picture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Picture").field("mark", &self.mark).finish_non_exhaustive()
    }
}

impl Disk for SimulatedDisk {
    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) else {
            return Ok(());
        };
        if !self.has_directory(path)? {
            self.make_directory(above)?;
            self.create_directory(path)?;
        }
        self.sync_directory(above)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        self.simple(CallKind::CreateDirectory, path, |world| world.create_directory(path))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let inode = self.simple(CallKind::Create, path, |world| world.create(path))?;
        Ok(self.file(path, inode))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let inode = self.simple(CallKind::Open, path, |world| world.find(path))?;
        Ok(self.file(path, inode))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.open(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.simple(CallKind::Rename, from, |world| world.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.simple(CallKind::Remove, path, |world| world.remove(path))
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.call(CallKind::SyncDirectory, (path, None), |world, fails, is_left_out| {
            match (fails, is_left_out) {
                (Some(with), _) => Err(with.into()),
                (None, true) => Ok(()),
                (None, false) => world.sync_directory(path),
            }
        })
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        self.simple(CallKind::List, path, |world| world.list(path))
    }

    fn file_id(&self, path: &Path) -> io::Result<(u64, u64)> {
        Ok((0, self.world.lock().find(path)?.0 as u64))
    }

    fn lock(&self, path: &Path) -> io::Result<Option<DiskLock>> {
        let mut world = self.world.lock();
        let inode = match world.find(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => world.create(path)?,
            found => found?,
        };
        let held = world.lock(inode);
        Ok(held.map(DiskLock::new))
    }
}

struct SimulatedFile {
    disk: SimulatedDisk,
    path: PathBuf,
    inode: InodeId,
}

impl DiskFile for SimulatedFile {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        self.disk.simple(CallKind::Read, &self.path, |world| Ok(world.read(self.inode, into, at)))
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.disk.call(CallKind::Write, (&self.path, Some(self.inode)), |world, fails, _| {
            match fails {
                None => {
                    world.write(self.inode, bytes, at);
                    Ok(())
                }
                Some(with) => {
                    let half = bytes.get(..bytes.len() / 2).unwrap_or_default();
                    world.write(self.inode, half, at);
                    Err(with.into())
                }
            }
        })
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.call(
            CallKind::Sync,
            (&self.path, Some(self.inode)),
            |world, fails, is_left_out| match (fails, is_left_out) {
                (Some(with), _) => {
                    world.lose(self.inode);
                    Err(with.into())
                }
                (None, true) => Ok(()),
                (None, false) => {
                    world.sync(self.inode);
                    Ok(())
                }
            },
        )
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.disk.world.lock().length(self.inode))
    }

    fn truncate(&self, bytes: u64) -> io::Result<()> {
        self.disk.simple(CallKind::Truncate, &self.path, |world| {
            world.truncate(self.inode, bytes);
            Ok(())
        })
    }

    fn forget_cached(&self) -> io::Result<()> {
        self.disk.world.lock().forget_cached(self.inode);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
