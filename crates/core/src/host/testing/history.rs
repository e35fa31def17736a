//! Histories of calls that overlap, and the question whether they are linearizable: whether each call can have happened at one moment between
//! its start and its answer, so that all answers are right (Wing and Gong's search, with Lowe's memory of what was tried).

use std::collections::{BTreeMap, HashSet};
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
    /// The moment before it was sent.
    pub begun: u64,
    /// The moment after its answer came.
    pub answered: u64,
    /// The call with its answer.
    pub call: C,
}

/// The calls of many clients, as they are made.
#[derive(Debug)]
pub struct History<C> {
    moment: AtomicU64,
    events: Mutex<Vec<Event<C>>>,
}

impl<C> Default for History<C> {
    fn default() -> Self {
        Self { moment: AtomicU64::new(0), events: Mutex::default() }
    }
}

impl<C> History<C> {
    /// The next moment: no two are alike.
    pub fn now(&self) -> u64 {
        self.moment.fetch_add(1, Ordering::SeqCst)
    }

    /// Notes a call that began at `begun` and was answered now.
    pub fn note(&self, begun: u64, call: C) {
        let answered = self.now();
        self.events.lock().push(Event { begun, answered, call });
    }

    /// The calls, in the order of their answers.
    pub fn into_events(self) -> Vec<Event<C>> {
        self.events.into_inner()
    }
}

impl<C> History<(usize, C)> {
    /// The calls of each key. Those that `is_lost` picks got no answer, and may still happen after all others.
    pub fn into_keys(self, is_lost: impl Fn(&C) -> bool) -> BTreeMap<usize, Vec<Event<C>>> {
        let mut keys = BTreeMap::<usize, Vec<_>>::new();
        for Event { begun, answered, call: (key, call) } in self.into_events() {
            let answered = if is_lost(&call) { u64::MAX } else { answered };
            keys.entry(key).or_default().push(Event { begun, answered, call });
        }
        keys
    }
}

/// The most calls of a history.
const CALLS_MAX: usize = 128;

/// Tells whether the calls, of which there are at most 128, can have happened one after another, from `state` on.
///
/// # Panics
/// If there are more calls, which the search would not come to an end with.
#[must_use]
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
        let events = self.events.iter().enumerate();
        let left: Vec<_> = events.filter(|(number, _)| done & (1 << number) == 0).collect();
        // Whatever happens next began before any of them was answered.
        let Some(first) = left.iter().map(|(_, event)| event.answered).min() else {
            return true;
        };
        if !self.tried.insert((done, state.clone())) {
            return false;
        }
        left.into_iter().any(|(number, event)| {
            event.begun < first
                && M::after(&state, &event.call)
                    .is_some_and(|next| self.goes_on(done | (1 << number), next))
        })
    }
}
