//! Queries against small sets, and the index against a rebuild.

mod plain;
mod reads;

use std::collections::BTreeMap;

use super::*;
use crate::index::verify::verify;
use crate::index::{Document, Facets, indexer, put, remove, update_facets};
use proptest::prelude::*;
use triptych_core::id::SeededIds;
use triptych_core::kv::{self, Memory};

fn change(store: &Memory, mut body: impl FnMut(&mut Tx<'_>) -> Result<(), StoreError>) {
    kv::run_blocking(store, &mut SeededIds::from_number(1), 1, |tx, _| body(tx)).unwrap();
}

fn caught_up(store: &Memory) {
    let mut ids = SeededIds::from_number(2);
    while indexer::follow(store, &mut ids).unwrap() > 0 {}
}

fn video(title: &str, channel: &str, published: i64) -> Document {
    Document {
        title: title.to_owned(),
        channel: channel.to_owned(),
        facets: Facets { published, public: true, ..Facets::default() },
        ..Document::default()
    }
}

fn ids(store: &Memory, query: &Query) -> Vec<String> {
    let found = run(&mut Tx::new(store), query, None, false, 1000).unwrap();
    assert_eq!(found.total, found.hits.len() as u64);
    found.hits.into_iter().map(|hit| hit.id).collect()
}

fn words(text: &str) -> Query {
    Query { text: TextQuery::parse(text), ..Query::default() }
}

#[test]
fn the_better_match_comes_first_and_all_words_are_wanted() {
    let store = Memory::new();
    change(&store, |tx| {
        put(tx, Kind::Video, "in-title", &video("a cat at sea", "c1", 1))?;
        let described = Document {
            description: "there is a cat in this one, somewhere".to_owned(),
            ..video("holiday", "c1", 2)
        };
        put(tx, Kind::Video, "in-description", &described)?;
        put(tx, Kind::Video, "no-cat", &video("dogs at sea", "c2", 3))?;
        put(tx, Kind::Channel, "c1", &video("Cat", "c1", 0))
    });
    caught_up(&store);
    assert_eq!(ids(&store, &words("CAT")), ["c1", "in-title", "in-description"]);
    assert_eq!(ids(&store, &words("cat sea")), ["in-title"]);
    assert_eq!(
        ids(&store, &words("cat|dogs sea")),
        ["no-cat", "in-title"],
        "the rarer the word the more it says"
    );
    assert_eq!(ids(&store, &words("sea -cat")), ["no-cat"]);
    assert_eq!(
        ids(&store, &Query { kinds: vec![Kind::Video], ..words("cat") }),
        ["in-title", "in-description"]
    );
    assert_eq!(ids(&store, &words("nothing")), [""; 0]);
    assert_eq!(
        ids(&store, &Query { channel: Some("c1".to_owned()), ..Query::default() }),
        ["in-description", "in-title", "c1"]
    );
}

#[test]
fn private_things_are_found_by_their_owner_alone() {
    let store = Memory::new();
    change(&store, |tx| {
        let mut private = video("cat", "alice", 1);
        private.facets.public = false;
        put(tx, Kind::Video, "private", &private)?;
        put(tx, Kind::Video, "public", &video("cat", "bob", 2))
    });
    caught_up(&store);
    assert_eq!(ids(&store, &words("cat")), ["public"]);
    assert_eq!(ids(&store, &Query { mine: Some("alice".to_owned()), ..words("cat") }), ["private"]);
    assert_eq!(ids(&store, &Query::default()), ["public"]);
}

#[test]
fn every_filter_takes_away_what_it_names() {
    let store = Memory::new();
    let document = |facets: Facets| Document {
        facets: Facets { public: true, ..facets },
        ..video("x", "c", 0)
    };
    change(&store, |tx| {
        put(
            tx,
            Kind::Video,
            "short",
            &document(Facets {
                duration_ms: 239_999,
                location: Some((48.0, 11.5)),
                ..Facets::default()
            }),
        )?;
        put(
            tx,
            Kind::Video,
            "medium",
            &document(Facets {
                duration_ms: 240_000,
                high_definition: true,
                captions: true,
                ..Facets::default()
            }),
        )?;
        put(
            tx,
            Kind::Video,
            "long",
            &document(Facets {
                duration_ms: 1_200_001,
                category: "10".to_owned(),
                restricted: true,
                ..Facets::default()
            }),
        )?;
        put(
            tx,
            Kind::Video,
            "blocked",
            &document(Facets {
                blocked: vec!["DE".to_owned()],
                embeddable: true,
                topics: vec!["/m/1".to_owned()],
                ..Facets::default()
            }),
        )
    });
    caught_up(&store);
    let all = ["blocked", "long", "medium", "short"];
    let without = |out: &str| all.iter().copied().filter(|id| *id != out).collect::<Vec<_>>();
    let near = |metres| Some(GeoCircle { latitude: 48.1, longitude: 11.5, metres });
    let base = Query::default();
    for (query, expected) in [
        (Query { duration: Some(DurationClass::Medium), ..base.clone() }, vec!["medium"]),
        (Query { duration: Some(DurationClass::Long), ..base.clone() }, vec!["long"]),
        (Query { high_definition: Some(false), ..base.clone() }, without("medium")),
        (Query { captions: Some(true), ..base.clone() }, vec!["medium"]),
        (Query { category: Some("10".to_owned()), ..base.clone() }, vec!["long"]),
        (Query { region: Some("DE".to_owned()), ..base.clone() }, without("blocked")),
        (Query { embeddable: true, ..base.clone() }, vec!["blocked"]),
        (Query { topic: Some("/m/1".to_owned()), ..base.clone() }, vec!["blocked"]),
        (Query { strict: true, ..base.clone() }, without("long")),
        (Query { near: near(12_000.0), ..base.clone() }, vec!["short"]),
        (Query { near: near(10_000.0), ..base.clone() }, vec![]),
        (Query { published_after: Some(0), ..base.clone() }, all.to_vec()),
        (Query { published_before: Some(0), ..base }, vec![]),
    ] {
        let mut found = ids(&store, &query);
        found.sort();
        assert_eq!(found, expected, "{query:?}");
    }
}

fn pages(store: &Memory, query: &Query, limit: usize) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), None);
    loop {
        let found = run(&mut Tx::new(store), query, cursor.as_ref(), false, limit).unwrap();
        if let Some(cursor) = &cursor {
            let back = run(
                &mut Tx::new(store),
                query,
                found.hits.first().map(|hit| &hit.cursor),
                true,
                limit,
            )
            .unwrap();
            assert_eq!(
                back.hits.last().map(|hit| &hit.cursor),
                Some(cursor),
                "the page before ends where this one begins"
            );
        }
        all.extend(found.hits.iter().map(|hit| hit.id.clone()));
        cursor = found.hits.last().map(|hit| hit.cursor.clone());
        if !found.more {
            return all;
        }
    }
}

#[test]
fn pages_join_to_the_whole_in_every_order() {
    let store = Memory::new();
    change(&store, |tx| {
        (0_u64..60).try_for_each(|number| {
            let mut document = video(
                &format!("cat {}", number % 7),
                &format!("c{}", number % 3),
                (number % 9).cast_signed(),
            );
            document.facets.views = number % 5;
            document.facets.likes = number % 4;
            document.facets.videos = number % 6;
            let kind = if number % 4 == 0 { Kind::Playlist } else { Kind::Video };
            put(tx, kind, &format!("{number:02}"), &document)
        })
    });
    caught_up(&store);
    for order in [
        Order::Date,
        Order::Rating,
        Order::Relevance,
        Order::Title,
        Order::VideoCount,
        Order::ViewCount,
    ] {
        for query in [
            Query { order, ..Query::default() },
            Query { order, ..words("cat") },
            Query { order, channel: Some("c1".to_owned()), ..words("cat") },
        ] {
            let whole = ids(&store, &query);
            assert_eq!(pages(&store, &query, 7), whole, "{query:?}");
        }
    }
}

#[test]
fn a_page_goes_on_where_it_stopped_while_rows_are_added() {
    let store = Memory::new();
    let add = |from: u64, to: u64| {
        change(&store, |tx| {
            (from..to).try_for_each(|number| {
                put(
                    tx,
                    Kind::Video,
                    &format!("{number:03}"),
                    &video("cat", "c", number.cast_signed()),
                )
            })
        });
        caught_up(&store);
    };
    add(0, 20);
    let query = Query { order: Order::Date, ..words("cat") };
    let first = run(&mut Tx::new(&store), &query, None, false, 5).unwrap();
    add(20, 40);
    let next =
        run(&mut Tx::new(&store), &query, first.hits.last().map(|hit| &hit.cursor), false, 5)
            .unwrap();
    let ids: Vec<_> = next.hits.iter().map(|hit| hit.id.as_str()).collect();
    assert_eq!(ids, ["014", "013", "012", "011", "010"]);
    assert_eq!(next.total, 40);
}

#[test]
fn a_page_goes_on_where_it_stopped_when_its_last_result_is_gone() {
    let store = Memory::new();
    let id = |number: u64| format!("identity-{number:03}");
    change(&store, |tx| {
        (0..30).try_for_each(|number| put(tx, Kind::Video, &id(number), &video("cat", "c", 1)))
    });
    caught_up(&store);
    for order in [Order::Relevance, Order::Title, Order::ViewCount] {
        let query = Query { order, ..words("cat") };
        let first = run(&mut Tx::new(&store), &query, None, false, 5).unwrap();
        let last = first.hits.last().unwrap();
        change(&store, |tx| remove(tx, Kind::Video, &last.id));
        caught_up(&store);
        let next = run(&mut Tx::new(&store), &query, Some(&last.cursor), false, 5).unwrap();
        let all = ids(&store, &query);
        let told: Vec<_> = next.hits.into_iter().map(|hit| hit.id).collect();
        assert_eq!(told, all[4..9], "{order:?}");
        let back = run(&mut Tx::new(&store), &query, Some(&last.cursor), true, 5).unwrap();
        let told: Vec<_> = back.hits.into_iter().map(|hit| hit.id).collect();
        assert_eq!(told, all[..4], "{order:?}");
    }
}

#[test]
fn a_crash_in_the_middle_of_a_step_is_mended_by_the_next_run() {
    let store = Memory::new();
    change(&store, |tx| put(tx, Kind::Video, "a", &video("first words", "c", 1)));
    // A step that stops after it changed the words, and a document that changes before the next run.
    let key = (Kind::Video as u8, "a".to_owned());
    change(&store, |tx| {
        let group = indexer::begin(tx, [&key].into_iter())?;
        indexer::word_changes(&group)
            .iter()
            .try_for_each(|((word, block), changes)| postings::apply(tx, word, *block, changes))
    });
    change(&store, |tx| put(tx, Kind::Video, "a", &video("second words", "c", 1)));
    caught_up(&store);
    assert_eq!(verify(&mut Tx::new(&store)), Ok(()));
    assert_eq!(ids(&store, &words("first")), [""; 0]);
    assert_eq!(ids(&store, &words("second")), ["a"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn after_any_changes_the_index_is_what_a_rebuild_would_be(
        steps in proptest::collection::vec((0_u8..5, 0_u8..6, "[abc]{1,2}( [abc]{1,2}){0,3}", any::<bool>()), 1..40),
    ) {
        let store = Memory::new();
        let mut model: BTreeMap<String, Document> = BTreeMap::new();
        for (action, id, title, public) in steps {
            let id = format!("v{id}");
            let mut document = video(&title, "c", i64::from(action));
            document.facets.public = public;
            change(&store, |tx| match action {
                0 => remove(tx, Kind::Video, &id),
                1 => update_facets(tx, Kind::Video, &id, |facets| facets.views += 1),
                _ => put(tx, Kind::Video, &id, &document),
            });
            match action {
                0 => drop(model.remove(&id)),
                1 => {}
                _ => drop(model.insert(id, document)),
            }
            if action == 2 {
                caught_up(&store);
            }
        }
        caught_up(&store);
        prop_assert_eq!(verify(&mut Tx::new(&store)), Ok(()));
        for word in ["a", "b", "ab"] {
            let mut found = ids(&store, &words(word));
            found.sort();
            let holds = |document: &Document| document.facets.public && document.title.split(' ').any(|other| other == word);
            let expected: Vec<_> = model.iter().filter(|(_, document)| holds(document)).map(|(id, _)| id.clone()).collect();
            prop_assert_eq!(found, expected);
        }
        let mut all = ids(&store, &Query::default());
        all.sort();
        prop_assert_eq!(all, model.iter().filter(|(_, document)| document.facets.public).map(|(id, _)| id.clone()).collect::<Vec<_>>());
    }
}
