//! A simulation of threads: one of them runs at a time, and a seed draws which is next wherever one calls the disk, waits, or finds a lock taken.
//! The clock is a part of it. So a seed says all that happens, and says it again.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

/// Turns after which a simulation is taken for one that goes round in circles.
const TURNS_MAX: u64 = 50_000_000;
/// The longest that a turn takes by the clock, in nanoseconds, but for one in so many.
const TURN_NANOS_MAX: u64 = 40_000;
/// One turn in so many takes longer, as on a machine that is busy.
const LONG_TURNS: u64 = 256;
const LONG_TURN_NANOS_MAX: u64 = 60_000_000;
/// The most often that a thread is drawn, beside one that has the fewest chances.
const WEIGHTS: [u64; 4] = [1, 4, 4, 16];

thread_local! {
    static OWN: RefCell<Option<Seat>> = const { RefCell::new(None) };
    static UNDIVIDED: Cell<u32> = const { Cell::new(0) };
}

/// The place of a thread in a simulation.
#[derive(Clone)]
pub(super) struct Seat {
    table: Arc<Table>,
    number: u64,
}

/// A thing that threads wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// The condition at this address.
    Condition(usize),
    /// The word of another thread that this one is to go on.
    Unpark(u64),
    /// The end of a thread.
    End(u64),
}

impl Key {
    pub(super) fn of(condition: &super::Condvar) -> Self {
        Self::Condition(std::ptr::from_ref(condition).addr())
    }
}

/// The threads of a simulation.
struct Table {
    turns: Mutex<Turns>,
    /// Set once there are no turns any more: whoever is left runs as threads do.
    is_over: AtomicBool,
}

struct Turns {
    chance: u64,
    threads: BTreeMap<u64, Sitting>,
    next_number: u64,
    running: u64,
    begun: Instant,
    clock: Duration,
    ran: Ran,
}

/// A thread that has not ended.
struct Sitting {
    waits: Option<(Key, Option<Duration>)>,
    is_unparked: bool,
    weight: u64,
    turn: Arc<Condvar>,
}

/// The course of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Ran {
    /// Turns that were drawn.
    pub(crate) turns: u64,
    /// A sum of who had them: the same where a seed was run again.
    pub(crate) order: u64,
}

/// Runs `body`, and the threads that it starts, in turns that a seed draws.
///
/// # Panics
/// If every thread waits for another, or none comes to an end.
#[expect(clippy::disallowed_methods, reason = "the clock of the simulation begins at some moment")]
pub(crate) fn simulated<T>(seed: u64, body: impl FnOnce() -> T) -> (T, Ran) {
    let table = Arc::new(Table {
        turns: Mutex::new(Turns {
            chance: seed,
            threads: BTreeMap::new(),
            next_number: 0,
            running: 0,
            begun: Instant::now(),
            clock: Duration::ZERO,
            ran: Ran::default(),
        }),
        is_over: AtomicBool::new(false),
    });
    let number = table.turns.lock().join();
    let seat = Seat { table, number };
    OWN.set(Some(seat.clone()));
    let ended = Ended(&seat);
    let done = body();
    let ran = seat.table.turns.lock().ran;
    drop(ended);
    (done, ran)
}

/// The end of the thread that began a simulation, however it comes.
struct Ended<'e>(&'e Seat);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        OWN.set(None);
        self.0.table.end(&self.0.table.turns.lock());
    }
}

impl Table {
    /// Lets all threads run as they like from now on.
    fn end(&self, turns: &MutexGuard<'_, Turns>) {
        self.is_over.store(true, Ordering::SeqCst);
        turns.threads.values().for_each(|thread| {
            thread.turn.notify_all();
        });
    }
}

impl Turns {
    fn draw(&mut self) -> u64 {
        // SplitMix64.
        self.chance = self.chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut drawn = self.chance;
        drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        drawn ^ (drawn >> 31)
    }

    /// Adds a thread.
    fn join(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        let drawn = self.draw();
        let weight = WEIGHTS.get(drawn as usize % WEIGHTS.len()).copied().unwrap_or(1);
        let turn = Arc::default();
        let sitting = Sitting { waits: None, is_unparked: false, weight, turn };
        self.threads.insert(number, sitting);
        number
    }

    /// Lets time pass, and those go on whose time is over.
    fn pass_time(&mut self) {
        let is_long = self.draw().is_multiple_of(LONG_TURNS);
        let nanos_max = if is_long { LONG_TURN_NANOS_MAX } else { TURN_NANOS_MAX };
        let nanos = self.draw() % nanos_max;
        self.clock += Duration::from_nanos(nanos);
        self.wake_timed();
    }

    fn wake_timed(&mut self) {
        let now = self.clock;
        for thread in self.threads.values_mut() {
            if matches!(thread.waits, Some((_, Some(until))) if until <= now) {
                thread.waits = None;
            }
        }
    }

    /// The thread that is next; none if each waits for another.
    fn next(&mut self) -> Option<u64> {
        let is_ready = |thread: &&Sitting| thread.waits.is_none();
        let mut total: u64 =
            self.threads.values().filter(is_ready).map(|thread| thread.weight).sum();
        if total == 0 {
            let times = self.threads.values().filter_map(|thread| thread.waits?.1);
            self.clock = times.min()?;
            self.wake_timed();
            total = self.threads.values().filter(is_ready).map(|thread| thread.weight).sum();
        }
        let mut place = self.draw() % total.max(1);
        let mut ready = self.threads.iter().filter(|(_, thread)| thread.waits.is_none());
        ready.find_map(|(number, thread)| match place.checked_sub(thread.weight) {
            None => Some(*number),
            Some(rest) => {
                place = rest;
                None
            }
        })
    }

    fn wake(&mut self, key: Key, all: bool) {
        let waits = |thread: &Sitting| matches!(thread.waits, Some((other, _)) if other == key);
        let count = self.threads.values().filter(|thread| waits(thread)).count();
        let chosen = if all || count == 0 { 0 } else { self.draw() as usize % count };
        let waiting = self.threads.values_mut().filter(|thread| waits(thread));
        let woken = waiting.skip(chosen).take(if all { count } else { 1 });
        woken.for_each(|thread| thread.waits = None);
    }
}

impl Seat {
    /// The seat of this thread, if it is in a simulation that is not over.
    pub(super) fn own() -> Option<Self> {
        let seat = OWN.with_borrow(Clone::clone)?;
        (!seat.table.is_over.load(Ordering::SeqCst)).then_some(seat)
    }

    /// The seat of a thread that is about to be started.
    pub(super) fn another(&self) -> Self {
        let number = self.table.turns.lock().join();
        Self { table: Arc::clone(&self.table), number }
    }

    /// Runs a thread from its first turn on.
    pub(super) fn sit(self, run: impl FnOnce()) {
        let mut turns = self.table.turns.lock();
        self.wait_for_turn(&mut turns);
        drop(turns);
        OWN.set(Some(self.clone()));
        let left = Left(self);
        run();
        drop(left);
    }

    /// Gives the seat up, and the turn, if this thread has it.
    pub(super) fn leave(&self) {
        let mut turns = self.table.turns.lock();
        turns.threads.remove(&self.number);
        turns.wake(Key::End(self.number), true);
        if turns.running == self.number {
            self.pass(&mut turns);
        }
    }

    /// Waits until the thread of this seat has ended.
    pub(super) fn wait_for_end(&self) {
        let Some(own) = Self::own() else {
            return;
        };
        loop {
            let has_ended = !self.table.turns.lock().threads.contains_key(&self.number);
            if has_ended || self.table.is_over.load(Ordering::SeqCst) {
                return;
            }
            own.block(Key::End(self.number), None);
        }
    }

    /// Lets another thread have its turn, or goes on.
    pub(super) fn step(&self) {
        self.hand_on(&mut self.table.turns.lock());
    }

    /// [`Seat::step`], but for a thread that is to go on.
    pub(super) fn step_unless_undivided(&self) {
        if UNDIVIDED.get() == 0 {
            self.step();
        }
    }

    /// Waits for `key`, or for so long.
    pub(super) fn block(&self, key: Key, time: Option<Duration>) {
        let mut turns = self.table.turns.lock();
        let until = time.map(|time| turns.clock + time);
        if let Some(thread) = turns.threads.get_mut(&self.number) {
            thread.waits = Some((key, until));
        }
        self.hand_on(&mut turns);
    }

    /// Has those go on that wait for `key`: all, or one.
    pub(super) fn wake(&self, key: Key, all: bool) {
        self.table.turns.lock().wake(key, all);
    }

    pub(super) fn park(&self, time: Option<Duration>) {
        let mut turns = self.table.turns.lock();
        let unparked = turns.threads.get_mut(&self.number);
        if unparked.is_some_and(|thread| std::mem::take(&mut thread.is_unparked)) {
            return self.hand_on(&mut turns);
        }
        drop(turns);
        self.block(Key::Unpark(self.number), time);
        if let Some(thread) = self.table.turns.lock().threads.get_mut(&self.number) {
            thread.is_unparked = false;
        }
    }

    pub(super) fn unpark(&self) {
        let mut turns = self.table.turns.lock();
        if let Some(thread) = turns.threads.get_mut(&self.number) {
            thread.is_unparked = true;
        }
        turns.wake(Key::Unpark(self.number), true);
    }

    /// Tries again at each turn of this thread until it gives something; nothing if the simulation ends before.
    pub(super) fn until<T>(&self, mut tried: impl FnMut() -> Option<T>) -> Option<T> {
        loop {
            if let Some(done) = tried() {
                return Some(done);
            }
            if self.table.is_over.load(Ordering::SeqCst) {
                return None;
            }
            self.step();
        }
    }

    pub(super) fn now(&self) -> Instant {
        let turns = self.table.turns.lock();
        turns.begun + turns.clock
    }

    pub(super) fn millis(&self) -> u64 {
        u64::try_from(self.table.turns.lock().clock.as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn drawn(&self) -> u64 {
        self.table.turns.lock().draw()
    }

    /// Draws who is next, and waits until it is this thread.
    fn hand_on(&self, turns: &mut MutexGuard<'_, Turns>) {
        if self.pass(turns) {
            self.wait_for_turn(turns);
        }
    }

    /// Draws who is next; false if there are no turns any more.
    #[expect(clippy::panic, reason = "a simulation is a test, whose threads can go no further")]
    fn pass(&self, turns: &mut MutexGuard<'_, Turns>) -> bool {
        if self.table.is_over.load(Ordering::SeqCst) {
            return false;
        }
        turns.pass_time();
        let next = turns.next().filter(|_| turns.ran.turns < TURNS_MAX);
        let Some(next) = next else {
            let (waiting, number) = (turns.threads.len(), turns.ran.turns);
            self.table.end(turns);
            panic!(
                "after {number} turns each of {waiting} threads waits for another, or none comes to an end"
            );
        };
        turns.ran.turns += 1;
        turns.ran.order = (turns.ran.order ^ next).wrapping_mul(0x0100_0000_01B3);
        turns.running = next;
        if next != self.number
            && let Some(thread) = turns.threads.get(&next)
        {
            thread.turn.notify_all();
        }
        true
    }

    fn wait_for_turn(&self, turns: &mut MutexGuard<'_, Turns>) {
        let Some(own) = turns.threads.get(&self.number).map(|thread| Arc::clone(&thread.turn))
        else {
            return;
        };
        let is_early = |turns: &mut Turns| {
            turns.running != self.number && !self.table.is_over.load(Ordering::SeqCst)
        };
        own.wait_while(turns, is_early);
    }
}

impl std::fmt::Debug for Seat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Seat").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The end of a thread, however it comes.
struct Left(Seat);

impl Drop for Left {
    fn drop(&mut self) {
        OWN.set(None);
        self.0.leave();
    }
}

/// A part of a thread's work in which no other has its turn.
pub(super) struct Undivided;

impl Undivided {
    pub(super) fn begin() -> Self {
        UNDIVIDED.set(UNDIVIDED.get() + 1);
        Self
    }
}

impl Drop for Undivided {
    fn drop(&mut self) {
        UNDIVIDED.set(UNDIVIDED.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Condvar, Parker, StartedThread, lock, now, park, park_timeout, yield_now};
    use super::*;

    /// The order in which threads write down their numbers.
    fn written(seed: u64) -> (Vec<u32>, Ran) {
        simulated(seed, || {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let thread = |number| {
                let seen = Arc::clone(&seen);
                let run = move || {
                    for _ in 0..5 {
                        yield_now();
                        seen.lock().push(number);
                    }
                };
                StartedThread::start(format!("thread-{number}"), run).unwrap()
            };
            let threads: Vec<_> = (0..4).map(thread).collect();
            for thread in threads {
                thread.give_turns();
                thread.join();
            }
            Arc::into_inner(seen).unwrap().into_inner()
        })
    }

    #[test]
    fn a_seed_says_the_order_of_threads_and_another_says_another() {
        let orders: Vec<_> = (0..20).map(written).collect();
        assert_eq!((0..20).map(written).collect::<Vec<_>>(), orders);
        let mut distinct: Vec<_> = orders.iter().map(|(seen, _)| seen.clone()).collect();
        distinct.sort();
        distinct.dedup();
        assert!(distinct.len() > 15, "{}", distinct.len());
    }

    #[test]
    fn a_thread_that_is_told_to_go_on_does_and_a_time_ends_by_the_clock_of_the_simulation() {
        for seed in 0..50 {
            simulated(seed, || {
                let began = now();
                park_timeout(Duration::from_secs(3_600));
                assert!(now() - began >= Duration::from_secs(3_600));
                let main = Parker::own();
                let thread = StartedThread::start("other".into(), move || main.unpark()).unwrap();
                park();
                thread.give_turns();
                thread.join();
            });
        }
    }

    #[test]
    fn a_lock_that_is_held_and_a_condition_keep_threads_until_they_are_free() {
        for seed in 0..50 {
            simulated(seed, || {
                let shared = Arc::new((Mutex::new(0), Condvar::new()));
                let thread = |_| {
                    let shared = Arc::clone(&shared);
                    let run = move || {
                        let mut count = lock(&shared.0);
                        let before = *count;
                        yield_now();
                        *count = before + 1;
                        drop(count);
                        shared.1.notify_all();
                    };
                    StartedThread::start("counts".into(), run).unwrap()
                };
                let threads: Vec<_> = (0..3).map(thread).collect();
                let mut count = lock(&shared.0);
                while *count < 3 {
                    shared.1.wait(&mut count);
                }
                drop(count);
                threads.iter().for_each(StartedThread::give_turns);
            });
        }
    }

    #[test]
    #[should_panic(expected = "waits for another")]
    fn threads_that_all_wait_are_told() {
        simulated(1, park);
    }
}
