//! Circles among arrows, but those of a parent with what is below it.

use std::collections::{BTreeMap, BTreeSet};

/// The modules that each one needs, by name.
pub(super) type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// A circle that should not be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Circle<'a> {
    /// Its modules in the order of its arrows; the last needs the first.
    pub path: Vec<&'a str>,
    /// The number of modules that hang together by circles here, of which `path` shows one.
    pub modules: usize,
}

/// The graph of pairs, with an entry for every name.
pub(super) fn graph<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Graph<'a> {
    let mut graph = Graph::new();
    for (from, to) in pairs {
        graph.entry(from).or_default().insert(to);
        graph.entry(to).or_default();
    }
    graph
}

/// One circle of every knot of modules that need one another, unless each of its circles runs through a module that is above all
/// others of that circle.
pub(super) fn circles<'a>(graph: &Graph<'a>) -> Vec<Circle<'a>> {
    let mut found = Vec::new();
    for knot in knots(graph) {
        let within = graph.iter().filter(|(from, _)| knot.contains(*from));
        let mut inner: Graph<'a> = within.map(|(from, to)| (*from, to & &knot)).collect();
        match knot.iter().find(|top| is_above_others(top, knot.iter())) {
            Some(top) => {
                remove(&mut inner, top);
                found.extend(circles(&inner));
            }
            None => found.push(Circle { path: one_circle(&inner), modules: knot.len() }),
        }
    }
    found
}

fn remove(graph: &mut Graph<'_>, name: &str) {
    graph.remove(name);
    for targets in graph.values_mut() {
        targets.remove(name);
    }
}

/// Tells whether a module is above all others of these.
fn is_above_others<'a>(top: &str, mut names: impl Iterator<Item = &'a &'a str>) -> bool {
    names.all(|name| *name == top || is_below(name, top))
}

fn is_below(name: &str, top: &str) -> bool {
    top == "crate" || name.strip_prefix(top).is_some_and(|rest| rest.starts_with("::"))
}

/// Sets of two or more names, each of which reaches every other of its set.
fn knots<'a>(graph: &Graph<'a>) -> Vec<BTreeSet<&'a str>> {
    let reached: BTreeMap<_, _> =
        graph.keys().map(|name| (*name, reachable(graph, name))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|names| names.contains(to));
    let mut found: Vec<BTreeSet<&str>> = Vec::new();
    for name in graph.keys() {
        if !found.iter().any(|knot| knot.contains(name)) {
            let knot = graph.keys().filter(|other| reaches(name, other) && reaches(other, name));
            found.push(knot.copied().collect());
        }
    }
    found.retain(|knot| knot.len() > 1);
    found
}

/// Every name that a name leads to, itself only through a circle.
fn reachable<'a>(graph: &Graph<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        for next in graph.get(name).into_iter().flatten() {
            if found.insert(*next) {
                open.push(next);
            }
        }
    }
    found
}

/// The shortest circle of a knot that no module of its is above.
fn one_circle<'a>(knot: &Graph<'a>) -> Vec<&'a str> {
    let arrows = knot.iter().flat_map(|(from, to)| to.iter().map(|to| (*from, *to)));
    let found = arrows.filter_map(|(from, to)| circle_through(knot, from, to));
    let mut path = found.min_by_key(Vec::len).unwrap_or_else(|| knot.keys().copied().collect());
    let first = path.iter().zip(0..).min().map_or(0, |(_, at)| at);
    path.rotate_left(first);
    path
}

/// A short circle through an arrow, around every module that is above the circles before it.
fn circle_through<'a>(knot: &Graph<'a>, from: &'a str, to: &'a str) -> Option<Vec<&'a str>> {
    let mut left = knot.clone();
    loop {
        let path = way(&left, to, from)?;
        let Some(top) = path.iter().find(|top| is_above_others(top, path.iter())) else {
            return Some(path);
        };
        if *top == from || *top == to {
            return None;
        }
        remove(&mut left, top);
    }
}

/// The shortest way between two names, both included.
fn way<'a>(graph: &Graph<'a>, from: &'a str, to: &'a str) -> Option<Vec<&'a str>> {
    let mut before = BTreeMap::from([(from, from)]);
    let mut open = std::collections::VecDeque::from([from]);
    while let Some(name) = open.pop_front() {
        if name == to {
            let mut path = vec![to];
            while let Some(last) = path.last().copied().filter(|last| *last != from) {
                path.push(before.get(last)?);
            }
            path.reverse();
            return Some(path);
        }
        for next in graph.get(name).into_iter().flatten() {
            before.entry(next).or_insert_with(|| {
                open.push_back(next);
                name
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pairs: &[(&'static str, &'static str)]) -> Vec<String> {
        let graph = graph(pairs.iter().copied());
        circles(&graph).into_iter().map(|circle| circle.path.join(" ")).collect()
    }

    #[test]
    fn a_parent_with_its_own_children_is_no_circle() {
        assert!(found(&[("a", "a::b"), ("a::b", "a")]).is_empty());
        assert!(found(&[("a", "a::b"), ("a::b", "a::c"), ("a::c", "a")]).is_empty());
        assert!(found(&[("a", "a::b::c"), ("a::b::c", "a::b"), ("a::b", "a")]).is_empty());
        assert!(found(&[("crate", "a"), ("a", "b"), ("b", "crate")]).is_empty());
        assert!(found(&[("a", "b"), ("b", "c"), ("a", "c")]).is_empty());
    }

    #[test]
    fn siblings_and_strangers_in_a_circle_are_found() {
        assert_eq!(found(&[("a", "b"), ("b", "a")]), ["a b"]);
        assert_eq!(
            found(&[("a::b", "a::c"), ("a::c", "a::b"), ("a::b", "a"), ("a", "a::c")]),
            ["a::b a::c"]
        );
        assert_eq!(found(&[("a", "a::b"), ("a::b", "x"), ("x", "a")]), ["a a::b x"]);
        assert_eq!(found(&[("a", "ab"), ("ab", "a")]), ["a ab"]);
    }

    #[test]
    fn of_a_knot_the_shortest_circle_is_named() {
        let pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("d", "c")];
        let graph = graph(pairs.into_iter());
        assert_eq!(circles(&graph), [Circle { path: vec!["c", "d"], modules: 4 }]);
    }
}
