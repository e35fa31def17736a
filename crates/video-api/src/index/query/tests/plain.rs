//! Queries against a plain model that looks at every document: filters, ranks, ties and pages.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::index::tokenizer::{self, Term};

type Model = BTreeMap<(Kind, String), Document>;

/// Ids that begin alike and titles that begin alike: what a summary knows of them does not tell them apart.
fn document() -> impl Strategy<Value = ((Kind, String), Document)> {
    let kind = (0_usize..3).prop_map(|kind| Kind::ALL[kind]);
    let id = "(identity-)?[ab]{1,3}";
    let title = "(the same title )?[abc]( [abc]){0,3}";
    let numbers = (0_i64..3, 0_u64..2, 0_u64..3, 0_u64..2);
    let flags = any::<(bool, bool, bool, bool)>();
    let texts = ("[cd]", "[12]", "(de|de-AT|en|fil)?", "(DE)?");
    (kind, id, title, numbers, flags, texts).prop_map(
        |(kind, id, title, (published, views, likes, videos), flags, texts)| {
            let (channel, category, language, blocked) = texts;
            let (public, high_definition, captions, restricted) = flags;
            let facets = Facets {
                published,
                views,
                likes,
                videos,
                public,
                high_definition,
                captions,
                restricted,
                category,
                language,
                duration_ms: views * 300_000,
                location: captions.then_some((48.0, 11.0 + likes as f64)),
                blocked: vec![blocked].into_iter().filter(|b| !b.is_empty()).collect(),
                ..Facets::default()
            };
            let document = Document { channel, title, facets, ..Document::default() };
            ((kind, id), document)
        },
    )
}

fn query() -> impl Strategy<Value = Query> {
    let wanted = "(a|b|a b|a\\|b|\"a b\"|a -b|-c|)";
    let order = (0_usize..6).prop_map(|order| {
        [
            Order::Date,
            Order::Rating,
            Order::Relevance,
            Order::Title,
            Order::VideoCount,
            Order::ViewCount,
        ][order]
    });
    let option = proptest::option::of::<std::ops::Range<i64>>;
    let moments = (option(0..3), option(0..3));
    let places = proptest::option::of(prop_oneof![Just(1_000.0), Just(200_000.0)]);
    let flags = any::<(Option<bool>, Option<bool>, bool, bool)>();
    let texts = (
        proptest::option::of("[cd]"),
        proptest::option::of("[cd]"),
        proptest::option::of("[12]"),
        proptest::option::of("(de|zh-Hans)"),
    );
    let kinds = proptest::collection::vec((0_usize..3).prop_map(|kind| Kind::ALL[kind]), 0..2);
    (wanted, order, moments, places, flags, texts, kinds).prop_map(
        |(wanted, order, (after, before), metres, flags, texts, kinds)| {
            let (high_definition, captions, strict, has_region) = flags;
            let (channel, mine, category, language) = texts;
            Query {
                text: TextQuery::parse(&wanted),
                order,
                kinds,
                published_after: after,
                published_before: before,
                near: metres.map(|metres| GeoCircle { latitude: 48.0, longitude: 11.0, metres }),
                // Most filters leave nothing: so only some at once.
                high_definition: high_definition.filter(|_| strict),
                captions: captions.filter(|_| !strict),
                strict,
                region: has_region.then(|| "DE".to_owned()),
                channel: channel.filter(|_| !has_region),
                mine: mine.filter(|_| strict),
                category: category.filter(|_| has_region),
                language,
                ..Query::default()
            }
        },
    )
}

fn passes_filters(query: &Query, kind: Kind, document: &Document) -> bool {
    let facets = &document.facets;
    let visible = match &query.mine {
        Some(mine) => *mine == document.channel,
        None => facets.public,
    };
    let asks_for_videos = query.high_definition.is_some()
        || query.captions.is_some()
        || query.category.is_some()
        || query.near.is_some();
    let is_near = |near: GeoCircle| facets.location.is_some_and(|place| near.holds(place));
    visible
        && (query.kinds.is_empty() || query.kinds.contains(&kind))
        && (kind == Kind::Video || !asks_for_videos)
        && query.channel.as_ref().is_none_or(|channel| *channel == document.channel)
        && query.category.as_ref().is_none_or(|category| *category == facets.category)
        && query.published_after.is_none_or(|moment| facets.published >= moment)
        && query.published_before.is_none_or(|moment| facets.published < moment)
        && query.high_definition.is_none_or(|is| is == facets.high_definition)
        && query.captions.is_none_or(|is| is == facets.captions)
        && query.near.is_none_or(is_near)
        && query.region.as_ref().is_none_or(|region| !facets.blocked.contains(region))
        && !(query.strict && facets.restricted)
        && query.text.holds(document)
}

/// BM25 of what is wanted, for a document that holds it.
fn score(query: &Query, model: &Model, document: &Document) -> f64 {
    let counted: Vec<_> = model.values().map(tokenizer::counts).collect();
    let length =
        |counts: &BTreeMap<String, Counts>| counts.values().map(|c| c.weight()).sum::<f64>();
    let average = counted.iter().map(length).sum::<f64>() / counted.len() as f64;
    let own = tokenizer::counts(document);
    let norm = K1 * (1.0 - B + B * length(&own) / average.max(1.0));
    let of_term = |counts: &BTreeMap<String, Counts>, term: &Term| {
        let all = term.iter().map(|word| counts.get(word).copied());
        all.reduce(|a, b| a.zip(b).map(|(a, b)| if a.title < b.title { a } else { b })).flatten()
    };
    let groups = query.text.groups.iter().map(|group| {
        let holding = counted
            .iter()
            .filter(|counts| group.iter().any(|term| of_term(counts, term).is_some()));
        let frequency = holding.count() as f64;
        let weight: f64 =
            group.iter().filter_map(|term| of_term(&own, term)).map(Counts::weight).sum();
        let rarity = (1.0 + (counted.len() as f64 - frequency + 0.5) / (frequency + 0.5)).ln();
        rarity * weight * (K1 + 1.0) / (weight + norm)
    });
    groups.sum()
}

fn expected(query: &Query, model: &Model) -> Vec<String> {
    let results =
        model.iter().filter(|((kind, _), document)| passes_filters(query, *kind, document));
    let mut results: Vec<_> = results
        .map(|((kind, id), document)| {
            let facets = &document.facets;
            let number = match query.order {
                Order::Rating => (facets.likes as f64 + 1.0) / (facets.likes as f64 + 2.0),
                Order::VideoCount => facets.videos as f64,
                Order::ViewCount => facets.views as f64,
                Order::Title => 0.0,
                Order::Relevance if !query.text.groups.is_empty() => {
                    let spoken = facets.language.split('-').next() == query.language.as_deref();
                    score(query, model, document)
                        * if spoken && query.language.is_some() { LANGUAGE_GAIN } else { 1.0 }
                }
                Order::Date | Order::Relevance => facets.published as f64,
            };
            // Sums of the same parts in another order differ in their last digits.
            let number = Reverse((number * 1e9).round() as i64);
            let title = match query.order {
                Order::Title => document.title.to_lowercase(),
                _ => String::new(),
            };
            (number, title, *kind, id.clone())
        })
        .collect();
    results.sort();
    results.into_iter().map(|(.., id)| id).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_query_finds_what_a_look_at_every_document_does_in_its_order(
        documents in proptest::collection::vec(document(), 1..24),
        queries in proptest::collection::vec(query(), 8),
    ) {
        let store = Memory::new();
        let model: Model = documents.into_iter().collect();
        change(&store, |tx| model.iter().try_for_each(|((kind, id), document)| put(tx, *kind, id, document)));
        caught_up(&store);
        prop_assert_eq!(verify(&mut Tx::new(&store)), Ok(()));
        for query in &queries {
            let told = ids(&store, query);
            prop_assert_eq!(&told, &expected(query, &model), "{:?}", query);
            prop_assert_eq!(&pages(&store, query, 3), &told, "{:?}", query);
        }
    }
}
