//! The moments of a recording at which the process may be ended, and those that a seed draws.

use std::collections::BTreeMap;

use crate::id::{Ids as _, SeededIds};

/// A moment: the life, and the event before which it is.
pub(super) type At = (usize, usize);

/// The work that a process is at: what is short, and matters most for what a cut may leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Work {
    /// It is not ready yet: it fills its index, catches up, and takes away what it does not need.
    pub(super) is_start: bool,
    /// A base is made, or the log before it is let go.
    pub(super) is_base: bool,
}

/// The moments of a recording, in order: all, those of a start, and those of a base.
#[derive(Debug, Default)]
pub(super) struct Moments {
    all: Vec<At>,
    starts: Vec<At>,
    bases: Vec<At>,
}

impl Moments {
    /// Adds one behind those before it.
    pub(super) fn add(&mut self, at: At, work: Work) {
        self.all.push(at);
        self.starts.extend(work.is_start.then_some(at));
        self.bases.extend(work.is_base.then_some(at));
    }

    /// All of them.
    pub(super) const fn count(&self) -> usize {
        self.all.len()
    }

    /// The distance of a moment from the middle one.
    pub(super) fn distance_from_middle(&self, at: At) -> usize {
        let (Ok(place) | Err(place)) = self.all.binary_search(&at);
        place.abs_diff(self.all.len() / 2)
    }

    /// The moment of each of so many states: one in three is one of a start and one in three one of a base, where there are such. None if there is no moment.
    pub(super) fn drawn(&self, seed: u64, states: u64) -> Option<BTreeMap<At, Vec<u64>>> {
        let mut chance = SeededIds::from_number(seed);
        let mut drawn: BTreeMap<At, Vec<u64>> = BTreeMap::new();
        for state in 0..states {
            let own = match state % 3 {
                1 => &self.starts,
                2 => &self.bases,
                _ => &self.all,
            };
            let own = if own.is_empty() { &self.all } else { own };
            let place = chance.next().checked_rem(own.len() as u64)?;
            drawn.entry(*own.get(place as usize)?).or_default().push(state);
        }
        Some(drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_state_in_three_is_of_a_start_and_one_in_three_of_a_base() {
        let mut moments = Moments::default();
        for place in 0..1_000 {
            moments.add((0, place), Work { is_start: place < 3, is_base: place >= 998 });
        }
        let drawn = moments.drawn(1, 90).unwrap();
        let count = |places: std::ops::Range<usize>| {
            let own = drawn.range((0, places.start)..(0, places.end));
            own.map(|(_, states)| states.len()).sum::<usize>()
        };
        assert!((30..35).contains(&count(0..3)) && (30..35).contains(&count(998..1_000)));
        assert_eq!(count(0..1_000), 90);
    }

    #[test]
    fn where_nothing_happened_no_moment_is_drawn() {
        assert_eq!(Moments::default().drawn(1, 1), None);
    }
}
