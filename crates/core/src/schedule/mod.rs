//! The places where a thread waits for another: those of the operating system, or, within a simulation, turns that a seed draws.
//!
//! Stores start and stop their threads, park, wait and lock by these. Outside of a simulation each is what the standard library and
//! `parking_lot` have under its name.

#[cfg(all(feature = "testing", feature = "redb"))]
mod simulation;

#[cfg(feature = "sled")]
use std::hash::{BuildHasher, RandomState};
#[cfg(feature = "sled")]
use std::io;
#[cfg(feature = "sled")]
use std::thread::JoinHandle;
use std::thread::Thread;
#[cfg(feature = "sled")]
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;
#[cfg(feature = "sled")]
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

#[cfg(all(feature = "testing", feature = "redb"))]
use self::simulation::{Key, Seat};
#[cfg(all(feature = "testing", feature = "redb"))]
pub(crate) use self::simulation::{Ran, simulated};

/// A thread that may be parked, for those who have it go on.
#[derive(Debug, Clone)]
pub(crate) struct Parker {
    thread: Thread,
    #[cfg(all(feature = "testing", feature = "redb"))]
    seat: Option<Seat>,
}

impl Parker {
    /// The thread that calls.
    pub(crate) fn own() -> Self {
        Self {
            thread: std::thread::current(),
            #[cfg(all(feature = "testing", feature = "redb"))]
            seat: Seat::own(),
        }
    }

    /// Has the thread go on, or not park the next time.
    pub(crate) fn unpark(&self) {
        #[cfg(all(feature = "testing", feature = "redb"))]
        if let Some(seat) = &self.seat {
            seat.unpark();
        }
        self.thread.unpark();
    }
}

/// Waits until another thread has this one go on.
pub(crate) fn park() {
    #[cfg(all(feature = "testing", feature = "redb"))]
    if let Some(seat) = Seat::own() {
        return seat.park(None);
    }
    std::thread::park();
}

/// Waits until another thread has this one go on, or for so long.
#[cfg(feature = "sled")]
pub(crate) fn park_timeout(time: Duration) {
    #[cfg(all(feature = "testing", feature = "redb"))]
    if let Some(seat) = Seat::own() {
        return seat.park(Some(time));
    }
    std::thread::park_timeout(time);
}

/// Lets other threads come first, if they want to.
#[cfg(feature = "sled")]
pub(crate) fn yield_now() {
    #[cfg(all(feature = "testing", feature = "redb"))]
    if let Some(seat) = Seat::own() {
        return seat.step();
    }
    std::thread::yield_now();
}

/// The moment now, by the machine's clock or that of the simulation.
#[cfg(feature = "sled")]
#[expect(
    clippy::disallowed_methods,
    reason = "how long something took decides nothing but when to sync"
)]
pub(crate) fn now() -> Instant {
    #[cfg(all(feature = "testing", feature = "redb"))]
    if let Some(seat) = Seat::own() {
        return seat.now();
    }
    Instant::now()
}

/// The moment by the machine's clock, in milliseconds since 1970, or the milliseconds of the simulation.
#[cfg(feature = "sled")]
#[expect(
    clippy::disallowed_methods,
    reason = "it is for people who look for a moment; nothing is decided by it"
)]
pub(crate) fn wall_clock_millis() -> u64 {
    #[cfg(all(feature = "testing", feature = "redb"))]
    if let Some(seat) = Seat::own() {
        return seat.millis();
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A number that nobody foresees, or one that the simulation draws.
#[cfg(feature = "sled")]
pub(crate) fn unforeseen(of: u64) -> u64 {
    #[cfg(all(feature = "testing", feature = "redb"))]
    if let Some(seat) = Seat::own() {
        return seat.drawn();
    }
    RandomState::new().hash_one(of)
}

/// Locks what another thread may hold while it waits for the disk.
#[cfg(feature = "sled")]
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(all(feature = "testing", feature = "redb"))]
    if let Some(seat) = Seat::own() {
        return seat.until(|| mutex.try_lock()).unwrap_or_else(|| mutex.lock());
    }
    mutex.lock()
}

/// Locks for reading what another thread may hold while it waits for the disk.
#[cfg(feature = "sled")]
pub(crate) fn read<T: ?Sized>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    #[cfg(all(feature = "testing", feature = "redb"))]
    if let Some(seat) = Seat::own() {
        return seat.until(|| lock.try_read()).unwrap_or_else(|| lock.read());
    }
    lock.read()
}

/// Locks for writing what another thread may hold while it waits for the disk.
#[cfg(feature = "sled")]
pub(crate) fn write<T: ?Sized>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    #[cfg(all(feature = "testing", feature = "redb"))]
    if let Some(seat) = Seat::own() {
        return seat.until(|| lock.try_write()).unwrap_or_else(|| lock.write());
    }
    lock.write()
}

/// Lets a simulation give the turn to another thread, unless this one is within [`undivided`].
#[cfg(all(feature = "sled", feature = "testing"))]
pub(crate) fn step() {
    #[cfg(feature = "redb")]
    if let Some(seat) = Seat::own() {
        seat.step_unless_undivided();
    }
}

/// Returns whether this thread is one of a simulation.
#[cfg(all(feature = "sled", feature = "testing"))]
pub(crate) fn is_simulated() -> bool {
    #[cfg(feature = "redb")]
    let is_simulated = Seat::own().is_some();
    #[cfg(not(feature = "redb"))]
    let is_simulated = false;
    is_simulated
}

/// Does something with no turn of another thread in between: what it locks is not known here.
#[cfg(feature = "redb")]
pub(crate) fn undivided<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(all(feature = "testing", feature = "redb"))]
    let _undivided = simulation::Undivided::begin();
    work()
}

/// A condition that threads wait for.
#[derive(Debug, Default)]
pub(crate) struct Condvar(parking_lot::Condvar);

impl Condvar {
    /// One that nobody waits for.
    pub(crate) const fn new() -> Self {
        Self(parking_lot::Condvar::new())
    }

    /// Waits until somebody notifies; it may return before, too.
    pub(crate) fn wait<T>(&self, guard: &mut MutexGuard<'_, T>) {
        #[cfg(all(feature = "testing", feature = "redb"))]
        if let Some(seat) = Seat::own() {
            let mutex = MutexGuard::mutex(guard);
            return MutexGuard::unlocked(guard, || {
                seat.block(Key::of(self), None);
                // Whoever holds it by then may wait for its turn.
                seat.until(|| (!mutex.is_locked()).then_some(()));
            });
        }
        self.0.wait(guard);
    }

    /// Has one of those who wait go on.
    pub(crate) fn notify_one(&self) {
        #[cfg(all(feature = "testing", feature = "redb"))]
        if let Some(seat) = Seat::own() {
            seat.wake(Key::of(self), false);
        }
        self.0.notify_one();
    }

    /// Has all of those who wait go on.
    pub(crate) fn notify_all(&self) {
        #[cfg(all(feature = "testing", feature = "redb"))]
        if let Some(seat) = Seat::own() {
            seat.wake(Key::of(self), true);
        }
        self.0.notify_all();
    }
}

/// A thread that was started here.
#[cfg(feature = "sled")]
#[derive(Debug)]
pub(crate) struct StartedThread {
    handle: JoinHandle<()>,
    #[cfg(all(feature = "testing", feature = "redb"))]
    seat: Option<Seat>,
}

#[cfg(feature = "sled")]
impl StartedThread {
    /// Starts a thread.
    ///
    /// # Errors
    /// As the operating system.
    pub(crate) fn start(name: String, run: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        let builder = std::thread::Builder::new().name(name);
        #[cfg(all(feature = "testing", feature = "redb"))]
        if let Some(own) = Seat::own() {
            let seat = own.another();
            let taken = seat.clone();
            let handle = builder.spawn(move || taken.sit(run)).inspect_err(|_| seat.leave())?;
            return Ok(Self { handle, seat: Some(seat) });
        }
        Ok(Self {
            handle: builder.spawn(run)?,
            #[cfg(all(feature = "testing", feature = "redb"))]
            seat: None,
        })
    }

    /// The thread, to have it go on where it has parked.
    pub(crate) fn parker(&self) -> Parker {
        Parker {
            thread: self.handle.thread().clone(),
            #[cfg(all(feature = "testing", feature = "redb"))]
            seat: self.seat.clone(),
        }
    }

    /// Returns whether it is the thread that calls.
    pub(crate) fn is_own(&self) -> bool {
        self.handle.thread().id() == std::thread::current().id()
    }

    /// Lets it have its turns until it has ended, where there is a simulation.
    pub(crate) fn give_turns(&self) {
        #[cfg(all(feature = "testing", feature = "redb"))]
        if let Some(seat) = &self.seat {
            seat.wait_for_end();
        }
    }

    /// Waits for its end, and leaves it behind if it panicked.
    pub(crate) fn join(self) {
        let _ = self.handle.join();
    }
}
