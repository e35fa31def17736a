//! Histories of calls that overlap, and the question whether they are linearizable: whether each call can have happened at one moment between
//! its start and its answer, so that all answers are right (Wing and Gong's search, with Lowe's memory of what was tried).

#![expect(unreachable_pub, reason = "each test uses its part")]

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// A thing that calls change one after another.
pub trait Model {
    /// Its state, small enough to be copied for each step.
    type State: Clone + Eq + Hash + Debug;
    /// A call with its answer.
    type Call: Debug;

    /// The state after a call; `None` if the call would have had another answer.
    fn after(state: &Self::State, call: &Self::Call) -> Option<Self::State>;
}

/// A call, and the moments between which it happened.
#[derive(Debug)]
pub struct Event<C> {
    pub begun: u64,
    pub answered: u64,
    pub call: C,
}

/// The calls of many clients, as they are made.
#[derive(Debug)]
pub struct History<C> {
    moment: AtomicU64,
    events: Mutex<Vec<Event<C>>>,
}

impl<C> History<C> {
    pub fn new() -> Self {
        Self { moment: AtomicU64::new(0), events: Mutex::default() }
    }

    /// The next moment: no two are alike.
    pub fn now(&self) -> u64 {
        self.moment.fetch_add(1, Ordering::SeqCst)
    }

    /// Notes a call that began at `begun` and was answered now.
    pub fn note(&self, begun: u64, call: C) {
        let answered = self.now();
        self.events.lock().push(Event { begun, answered, call });
    }

    pub fn into_events(self) -> Vec<Event<C>> {
        self.events.into_inner()
    }
}

/// The most calls of a history.
const CALLS_MAX: usize = 128;

/// Tells whether the calls can have happened one after another, from `state` on.
pub fn is_linearizable<M: Model>(state: M::State, events: &[Event<M::Call>]) -> bool {
    assert!(events.len() <= CALLS_MAX, "a history of {} calls", events.len());
    let mut search = Search::<M> { events, tried: HashSet::new() };
    search.goes_on(0, state)
}

struct Search<'e, M: Model> {
    events: &'e [Event<M::Call>],
    /// Calls that had happened, as bits, with the state after them: from there nothing led to the end.
    tried: HashSet<(u128, M::State)>,
}

impl<M: Model> Search<'_, M> {
    /// Tells whether the calls that are not in `done` can happen after those that are.
    fn goes_on(&mut self, done: u128, state: M::State) -> bool {
        let waiting = |number: &usize| done & (1 << number) == 0;
        let left: Vec<usize> = (0..self.events.len()).filter(waiting).collect();
        // Whatever happens next began before any of them was answered.
        let Some(first) = left.iter().map(|number| self.events[*number].answered).min() else {
            return true;
        };
        if !self.tried.insert((done, state.clone())) {
            return false;
        }
        left.into_iter().any(|number| {
            let event = &self.events[number];
            event.begun < first
                && M::after(&state, &event.call)
                    .is_some_and(|next| self.goes_on(done | (1 << number), next))
        })
    }
}
