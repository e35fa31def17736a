//! Figures of each crate's floor plan, for who wants to see it change.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use anyhow::Result;

use super::circle::{Graph, graph};
use super::import::Arrow;
use super::plan::Plan;
use crate::run::workspace::files;

/// The table of all crates, and under it each arrow back and each circle.
///
/// A room is a folder at the top of `src/`; a file there counts as one too when arrows are counted. Arrows are counted once for each
/// pair of rooms. The order of rooms is the one with the fewest arrows back that a search finds.
///
/// # Errors
/// If a source cannot be read.
pub(super) fn table(plans: &[Plan]) -> Result<String> {
    let mut page = format!(
        "{:<14}{:>10}{:>7}{:>8}{:>6}{:>9}{:>12}{:>8}  longest\n",
        "crate", "top files", "rooms", "arrows", "back", "circles", "in circles", "lines"
    );
    let mut notes = String::new();
    for plan in plans {
        let arrows = between_rooms(plan);
        let rooms = graph(arrows.keys().map(|(from, to)| (from.as_str(), to.as_str())));
        let order = order(&rooms);
        let back = back(&rooms, &order);
        let circles = plan.circles();
        let (lines, longest, longest_lines) = lines(&plan.source)?;
        let (folders, top) = top(&plan.source)?;
        writeln!(
            page,
            "{:<14}{top:>10}{folders:>7}{:>8}{:>6}{:>9}{:>12}{lines:>8}  {longest} ({longest_lines})",
            plan.name,
            arrows.len(),
            back.len(),
            circles.len(),
            circles.iter().map(|circle| circle.modules).sum::<usize>(),
        )?;
        writeln!(notes, "\n{}\n  order: {}", plan.name, order.join(" "))?;
        for (from, to) in back {
            if let Some(arrow) = arrows.get(&(from.to_owned(), to.to_owned())) {
                writeln!(notes, "  back: {from} -> {to} ({})", plan.place(arrow))?;
            }
        }
        for circle in circles {
            writeln!(notes, "  {}", plan.told(&circle))?;
        }
    }
    Ok(page + &notes)
}

/// The first arrow between each pair of rooms.
fn between_rooms(plan: &Plan) -> BTreeMap<(String, String), &Arrow> {
    let mut found = BTreeMap::new();
    for arrow in &plan.arrows {
        let rooms = room(&plan.source, &arrow.file).zip(room(&plan.source, &arrow.to_file));
        if let Some((from, to)) = rooms.filter(|(from, to)| from != to) {
            found.entry((from, to)).or_insert(arrow);
        }
    }
    found
}

/// The folder, or the file at the top, that a file belongs to; a crate's root belongs to none.
fn room(source: &Path, file: &Path) -> Option<String> {
    let within = file.strip_prefix(source).ok()?;
    let first = within.components().next()?.as_os_str().to_str()?;
    let name = first.strip_suffix(".rs").unwrap_or(first);
    (name != "lib").then(|| name.to_owned())
}

/// The number of folders and files at the top.
fn top(source: &Path) -> Result<(usize, usize)> {
    let (mut folders, mut files) = (0, 0);
    for entry in std::fs::read_dir(source)? {
        let path = entry?.path();
        folders += usize::from(path.is_dir());
        files += usize::from(path.extension().is_some_and(|kind| kind == "rs"));
    }
    Ok((folders, files))
}

/// All lines, and the longest file with its own.
fn lines(source: &Path) -> Result<(usize, String, usize)> {
    let (mut all, mut longest, mut most) = (0, String::new(), 0);
    for path in files(source, ".rs")? {
        let count = std::fs::read_to_string(&path)?.lines().count();
        all += count;
        if count > most {
            most = count;
            longest = path.strip_prefix(source)?.display().to_string();
        }
    }
    Ok((all, longest, most))
}

/// Arrows from a later room to an earlier one.
fn back<'a>(rooms: &Graph<'a>, order: &[&'a str]) -> Vec<(&'a str, &'a str)> {
    let places: BTreeMap<_, _> = order.iter().zip(0..).collect::<BTreeMap<_, usize>>();
    let arrows = rooms.iter().flat_map(|(from, to)| to.iter().map(|to| (*from, *to)));
    arrows.filter(|(from, to)| places.get(from) > places.get(to)).collect()
}

/// An order of rooms, those that need others first, in which few arrows lead back: no single room could stand elsewhere with fewer.
fn order<'a>(rooms: &Graph<'a>) -> Vec<&'a str> {
    let mut order = first_order(rooms);
    let mut fewest = back(rooms, &order).len();
    loop {
        let before = fewest;
        for name in rooms.keys() {
            let others: Vec<_> = order.iter().filter(|other| *other != name).copied().collect();
            for at in 0..=others.len() {
                let (head, tail) = others.split_at(at);
                let tried = [head, &[*name], tail].concat();
                let count = back(rooms, &tried).len();
                if count < fewest {
                    (order, fewest) = (tried, count);
                }
            }
        }
        if fewest == before {
            return order;
        }
    }
}

/// Rooms that nobody left needs first, those that need nobody left last; between them the one that needs most and is needed least.
fn first_order<'a>(rooms: &Graph<'a>) -> Vec<&'a str> {
    let mut left: BTreeSet<&str> = rooms.keys().copied().collect();
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        let needs = |name: &str| rooms.get(name).map_or(0, |to| (to & &left).len());
        let needed = |name: &str| {
            let users = rooms.iter().filter(|(from, to)| left.contains(*from) && to.contains(name));
            users.count()
        };
        let last = left.iter().copied().find(|name| needs(name) == 0);
        let best = left
            .iter()
            .copied()
            .max_by_key(|name| (needed(name) == 0, needs(name) as isize - needed(name) as isize));
        if let Some(name) = last {
            tail.push(name);
            left.remove(name);
        } else if let Some(name) = best {
            head.push(name);
            left.remove(name);
        }
    }
    tail.reverse();
    head.extend(tail);
    head
}
