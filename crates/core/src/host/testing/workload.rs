//! Workloads: clients of several instances that call while faults come, and the history of what they saw.

use std::io::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::scope;

use super::history::History;
use super::{Client, Instance, until};

/// Calls that clients make on one key before they go on to the next one.
pub const CALLS_OF_A_KEY: usize = 60;
/// Calls that must be made between two faults.
pub const CALLS_BETWEEN: usize = 150;
/// Clients of each instance.
const CLIENTS: usize = 2;

/// A thing that happens to the instances or their store.
pub type Fault<'f> = &'f mut dyn FnMut(&mut [Instance]);

/// Calls of clients on keys of a service.
pub trait Workload: Sync {
    /// A call with its answer.
    type Call: Send;
    /// A client's memory for its next calls.
    type Memory: Default;

    /// A client's call on a key; `turn` tells the client's number and how many calls it made before. Gives what is noted of it, and whether
    /// the service answered.
    fn call(
        &self,
        client: Client,
        key: usize,
        turn: (usize, usize),
        memory: &mut Self::Memory,
    ) -> (Option<Self::Call>, bool);

    /// A read of a key; `None` where it was not answered.
    fn read(&self, client: Client, key: usize) -> Option<Self::Call>;
}

/// The calls of all clients, each with the number of its key.
pub type KeyedHistory<W> = History<(usize, <W as Workload>::Call)>;

/// Lets two clients of each instance call while `faults` come one after another; gives what they saw, with a read of each key through each
/// instance after all of it.
///
/// # Errors
/// If the service does not come back after a fault, or does not answer in the end.
pub fn run_workload<W: Workload>(
    workload: &W,
    instances: &mut [Instance],
    faults: &mut [Fault<'_>],
) -> Result<KeyedHistory<W>> {
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    let (history, taken, stop) =
        (KeyedHistory::<W>::default(), AtomicUsize::new(0), AtomicBool::new(false));
    let silent = || Error::other("no more calls are answered");
    scope(|scope| {
        // Also where a fault panics: else its test would wait for them without an end.
        let stopped = SetOnDrop(&stop);
        let callers = clients.iter().cycle().take(CLIENTS * clients.len()).enumerate();
        let callers: Vec<_> = callers
            .map(|(number, client)| {
                let (history, taken, stop) = (&history, &taken, &stop);
                scope.spawn(move || call_until(workload, (*client, number), history, taken, stop))
            })
            .collect();
        let go_on = || {
            let goal = taken.load(Ordering::Relaxed) + CALLS_BETWEEN;
            until(|| (taken.load(Ordering::Relaxed) >= goal).then_some(()))
        };
        let mut went_on = Some(());
        for fault in faults {
            went_on = went_on.and_then(|()| go_on()).map(|()| fault(instances));
        }
        let went_on = went_on.and_then(|()| go_on());
        drop(stopped);
        let panicked = |_| Error::other("a client panicked");
        for caller in callers {
            caller.join().map_err(panicked)?.ok_or_else(silent)?;
        }
        went_on.ok_or_else(silent)
    })?;
    let keys = taken.load(Ordering::Relaxed).div_ceil(CALLS_OF_A_KEY);
    for client in clients {
        wait_for(client, &AtomicBool::new(false)).ok_or_else(silent)?;
        for key in 0..keys {
            read_again(workload, client, key, &history)?;
        }
    }
    Ok(history)
}

/// Notes a read of a key.
///
/// # Errors
/// If it is not answered.
pub fn read_again<W: Workload>(
    workload: &W,
    client: Client,
    key: usize,
    history: &KeyedHistory<W>,
) -> Result<()> {
    let begun = history.now();
    let read = workload.read(client, key);
    history.note(begun, (key, read.ok_or_else(|| Error::other("a read was not answered"))?));
    Ok(())
}

/// Sets a flag when it is dropped.
struct SetOnDrop<'f>(&'f AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Calls one instance until it is told to stop; `None` where it did not come back. `taken` counts the calls of all clients, and so gives the key
/// of each.
fn call_until<W: Workload>(
    workload: &W,
    (client, number): (Client, usize),
    history: &KeyedHistory<W>,
    taken: &AtomicUsize,
    stop: &AtomicBool,
) -> Option<()> {
    let mut memory = W::Memory::default();
    for place in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let key = taken.fetch_add(1, Ordering::Relaxed) / CALLS_OF_A_KEY;
        let begun = history.now();
        let (call, is_answered) = workload.call(client, key, (number, place), &mut memory);
        if let Some(call) = call {
            history.note(begun, (key, call));
        }
        if !is_answered {
            wait_for(client, stop)?;
        }
    }
    Some(())
}

/// Waits until an instance says that it is ready, or the clients are told to stop; `None` where that takes too long.
fn wait_for(client: Client, stop: &AtomicBool) -> Option<()> {
    let ready = || {
        let answer = client.ask("GET", "/_ops/health/ready", &[], b"");
        answer.is_some_and(|answer| answer.status == 200) || stop.load(Ordering::Relaxed)
    };
    until(|| ready().then_some(()))
}
