use triptych_core::time::Timestamp;

use super::*;
use crate::resource::channels::record::Id;
use crate::resource::playlist_items::garbage::sweep;
use crate::resource::playlist_items::rules;
use crate::resource::playlists::record::PLAYLIST_GARBAGE;
use proptest::prelude::*;
use triptych_core::id::SeededIds;
use triptych_core::kv::{Memory, Span, run_blocking};

fn item(video: String) -> PlaylistItem {
    PlaylistItem {
        video,
        added: Timestamp::EPOCH,
        chunk: 0,
        note: None,
        start_at: None,
        end_at: None,
    }
}

#[test]
fn a_full_playlist_takes_no_more_and_leaves_no_row_when_it_is_gone() {
    let store = Memory::new();
    let mut ids = SeededIds::from_number(1);
    let insert = |ids: &mut SeededIds, number: u32| {
        run_blocking(&store, ids, 1, |tx, ids| {
            Order::load(tx, "PL")?.insert(
                tx,
                ids,
                Some(u64::from(number / 2)),
                item(format!("v{number}")),
            )
        })
    };
    for number in 0..ITEMS_MAX {
        insert(&mut ids, number).unwrap();
    }
    assert_eq!(insert(&mut ids, 0), Err(Error::Rule(&rules::PLAYLIST_FULL)));
    let numbers =
        Order::load(&mut Tx::new(&store), "PL").unwrap().slice(&mut Tx::new(&store), 0, ITEMS_MAX);
    let unique: std::collections::BTreeSet<_> = numbers.unwrap().into_iter().collect();
    assert_eq!(unique.len(), ITEMS_MAX as usize);
    run_blocking(&store, &mut ids, 1, |tx, _| {
        PLAYLIST_GARBAGE.put(tx, &"PL".to_owned(), &Id("UCx".to_owned()));
        Ok::<_, Error>(())
    })
    .unwrap();
    while run_blocking(&store, &mut ids, 1, |tx, _| sweep(tx)).unwrap() {}
    let page = triptych_core::kv::KeyValue::scan(&store, &Span::default(), 9).unwrap();
    assert!(page.rows.is_empty());
}

#[derive(Debug, Clone)]
enum Step {
    Insert {
        at: Option<usize>,
    },
    Shift {
        item: usize,
        to: usize,
    },
    Remove {
        item: usize,
    },
    /// So many at once at one place: what splits a chunk.
    Run {
        at: usize,
        count: usize,
    },
    /// So many at once from one place: what empties a chunk.
    Clear {
        from: usize,
        count: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let place = 0..500_usize;
    prop_oneof![
        3 => proptest::option::of(place.clone()).prop_map(|at| Step::Insert { at }),
        4 => (place.clone(), place.clone()).prop_map(|(item, to)| Step::Shift { item, to }),
        2 => place.clone().prop_map(|item| Step::Remove { item }),
        2 => (place.clone(), 1..200_usize).prop_map(|(at, count)| Step::Run { at, count }),
        1 => (place, 1..200_usize).prop_map(|(from, count)| Step::Clear { from, count }),
    ]
}

/// A playlist, and the plain list that it should be.
struct Pair {
    store: Memory,
    ids: SeededIds,
    plain: Vec<u64>,
}

impl Pair {
    fn insert(&mut self, at: Option<usize>) {
        let made = run_blocking(&self.store, &mut self.ids, 1, |tx, ids| {
            let at = at.map(|at| at as u64);
            Order::load(tx, "PL")?.insert(tx, ids, at, item("v".into()))
        });
        if at.is_some_and(|at| at > self.plain.len()) {
            assert_eq!(made, Err(Error::Rule(&rules::POSITION_INVALID)));
            return;
        }
        let at = at.unwrap_or(self.plain.len());
        let (number, position) = made.unwrap();
        assert_eq!(position as usize, at);
        self.plain.insert(at, number);
    }

    fn shift(&mut self, at: usize, to: usize) {
        let Some(number) = self.plain.get(at).copied() else {
            return;
        };
        let moved = run_blocking(&self.store, &mut self.ids, 1, |tx, _| {
            let mut item = ITEMS.get(tx, &("PL".to_owned(), number))?.unwrap();
            Order::load(tx, "PL")?.shift(tx, number, &mut item, to as u64)
        });
        if to >= self.plain.len() {
            assert_eq!(moved, Err(Error::Rule(&rules::POSITION_INVALID)));
            return;
        }
        assert_eq!(moved, Ok(u32::try_from(to).unwrap()));
        self.plain.remove(at);
        self.plain.insert(to, number);
    }

    fn remove(&mut self, at: usize) {
        if at >= self.plain.len() {
            return;
        }
        let number = self.plain.remove(at);
        let removed = run_blocking(&self.store, &mut self.ids, 1, |tx, _| {
            let item = ITEMS.get(tx, &("PL".to_owned(), number))?.unwrap();
            Order::load(tx, "PL")?.remove(tx, number, &item)
        });
        assert_eq!(removed, Ok(()));
    }

    fn apply(&mut self, step: &Step) {
        match *step {
            Step::Insert { at } => self.insert(at),
            Step::Shift { item, to } => self.shift(item, to),
            Step::Remove { item } => self.remove(item),
            Step::Run { at, count } => {
                let at = at.min(self.plain.len());
                (0..count).for_each(|_| self.insert(Some(at)));
            }
            Step::Clear { from, count } => (0..count).for_each(|_| self.remove(from)),
        }
    }

    fn check(&self) {
        let tx = &mut Tx::new(&self.store);
        let order = Order::load(tx, "PL").unwrap();
        assert_eq!(order.total() as usize, self.plain.len());
        assert_eq!(order.slice(tx, 0, ITEMS_MAX).unwrap(), self.plain);
        for (at, number) in self.plain.iter().enumerate() {
            let item = ITEMS.get(tx, &("PL".to_owned(), *number)).unwrap().unwrap();
            let position = order.position(tx, *number, &item).unwrap();
            assert_eq!(position.map(|position| position as usize), Some(at));
        }
        let start = self.plain.len() / 2;
        let page = order.slice(tx, u32::try_from(start).unwrap(), 50).unwrap();
        let end = (start + 50).min(self.plain.len());
        assert_eq!(page, self.plain[start..end]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn an_order_in_chunks_is_the_plain_list_after_any_sequence(steps in proptest::collection::vec(step(), 1..30)) {
        let mut pair = Pair { store: Memory::new(), ids: SeededIds::from_number(1), plain: Vec::new() };
        pair.apply(&Step::Run { at: 0, count: 300 });
        for step in &steps {
            pair.apply(step);
        }
        pair.check();
    }
}
