//! The user's hand: pointer and keys, at the places where the browser draws its tabs.

use serde_json::{Value, json};

use super::random::Random;

/// The corner of the window, which the browser is started with.
const WINDOW: (usize, usize) = (10, 10);
/// The place of the first tab, and the distance of tabs while there is room for all.
const FIRST_TAB: usize = 40;
const TAB_WIDTH: usize = 240;
/// Half of the strip's height.
const STRIP_MIDDLE: usize = 20;
/// So many tabs have their whole width.
pub(super) const TABS_MAX: usize = 3;

/// Keys that change tabs, and how often they are pressed.
const KEYS: &[(&str, usize)] = &[
    ("ctrl+t", 2),
    ("ctrl+w", 2),
    ("ctrl+shift+t", 2),
    ("ctrl+Tab", 2),
    ("ctrl+shift+Tab", 1),
    ("ctrl+1", 1),
    ("ctrl+2", 1),
    ("ctrl+9", 1),
    ("ctrl+8", 1),
    ("ctrl+F4", 1),
    ("ctrl+Page_Up", 1),
    ("ctrl+Page_Down", 1),
    ("ctrl+shift+Page_Down", 2),
    ("ctrl+shift+Page_Up", 2),
    ("alt+Left", 1),
    ("alt+Right", 1),
    ("F5", 1),
    ("ctrl+plus", 1),
    ("ctrl+minus", 1),
    ("ctrl+0", 1),
];

/// A line for `xdotool`, in a window of so many tabs.
pub(super) fn line(random: &mut Random, tabs: usize) -> Vec<Value> {
    let whole = tabs.clamp(1, TABS_MAX);
    let (x, y) = place(random.below(whole));
    let words = match random.below(11) {
        0 | 1 => json!(["xdotool", "mousemove", x, y, "click", 1]),
        2 => json!(["xdotool", "mousemove", x, y, "click", 2]),
        3 => json!(["xdotool", "mousemove", x, y, "keydown", "ctrl", "click", 1, "keyup", "ctrl"]),
        4 => {
            json!(["xdotool", "mousemove", x, y, "keydown", "shift", "click", 1, "keyup", "shift"])
        }
        5 => {
            json!([
                "xdotool",
                "mousemove",
                x,
                y,
                "keydown",
                "ctrl",
                "keydown",
                "shift",
                "click",
                1,
                "keyup",
                "ctrl",
                "keyup",
                "shift"
            ])
        }
        _ => json!(["xdotool", "key", random.weighted(KEYS).copied().unwrap_or("F5")]),
    };
    words.as_array().cloned().unwrap_or_default()
}

/// The lines of a drag from a tab to another one's place.
pub(super) fn drag(random: &mut Random, tabs: usize) -> Vec<Vec<Value>> {
    let whole = tabs.clamp(1, TABS_MAX);
    let ((from, y), (to, _)) = (place(random.below(whole)), place(random.below(whole)));
    let begin = if to < from { from - 20 } else { from + 20 };
    let lines = [
        json!(["xdotool", "mousemove", from, y, "mousedown", 1]),
        json!(["xdotool", "mousemove", begin, y]),
        json!(["xdotool", "mousemove", usize::midpoint(from, to), y]),
        json!(["xdotool", "mousemove", to, y]),
        json!(["xdotool", "mouseup", 1]),
    ];
    lines.iter().filter_map(|line| line.as_array().cloned()).collect()
}

/// Keys that take away what a page tells or asks.
const ANSWERS: &[(&str, usize)] = &[("Return", 2), ("Escape", 1)];

/// A key that takes away what a page tells or asks.
pub(super) fn answer(random: &mut Random) -> Vec<Value> {
    let key = random.weighted(ANSWERS).copied().unwrap_or("Return");
    vec!["xdotool".into(), "key".into(), key.into()]
}

/// The places of two windows side by side, as `windows.update` and `windows.create` take them.
pub(super) const SIDE_BY_SIDE: [(usize, usize, usize, usize); 2] =
    [(10, 10, 680, 400), (700, 10, 680, 400)];
/// The width of that part of such a window's strip in which its tabs stand.
const STRIP_WIDTH: usize = 455;

/// The lines of a drag from a place in the strip of one of two windows side by side into the strip of the other one, or out of both;
/// with pauses in which the browser follows. `tabs` are the numbers of tabs that the windows are thought to have.
pub(super) fn drag_across(random: &mut Random, tabs: [usize; 2]) -> Vec<Option<Vec<Value>>> {
    let from = random.below(2);
    let [source, target] = if from == 0 { [0, 1] } else { [1, 0] };
    let middle = |window: usize, index: usize, more: usize| {
        let count = tabs.get(window).copied().unwrap_or(1).max(1) + more;
        let width = TAB_WIDTH.min(STRIP_WIDTH / count);
        let left = SIDE_BY_SIDE.get(window).map_or(0, |place| place.0);
        left + FIRST_TAB + index.min(count - 1) * width + width / 2
    };
    let y = WINDOW.1 + STRIP_MIDDLE;
    let x = middle(source, random.below(tabs.get(source).copied().unwrap_or(1).max(1)), 0);
    let count = tabs.get(target).copied().unwrap_or(1).max(1);
    let goal = middle(target, random.below(count + 1), 1);
    let mut points = vec![(x + 15, y), (x, y + 90), (x + 20, y + 170)];
    if random.chance(75) {
        points.extend([
            (usize::midpoint(x, goal), y + 120),
            (goal, y + 60),
            (goal, y),
            (goal + 10, y),
        ]);
    }
    let words = |words: Value| words.as_array().cloned();
    let mut lines = vec![words(json!(["xdotool", "mousemove", x, y, "mousedown", 1]))];
    for (x, y) in points {
        lines.push(words(json!(["xdotool", "mousemove", x, y])));
        lines.push(None);
    }
    if random.chance(15) {
        lines.push(words(json!(["xdotool", "key", "Escape"])));
    }
    lines.push(words(json!(["xdotool", "mouseup", 1])));
    lines.push(None);
    lines
}

/// The middle of a tab.
fn place(index: usize) -> (usize, usize) {
    (WINDOW.0 + FIRST_TAB + index * TAB_WIDTH + TAB_WIDTH / 2, WINDOW.1 + STRIP_MIDDLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_stays_on_the_tabs_that_there_are() {
        let mut random = Random::of("hand");
        for _ in 0..200 {
            let line = line(&mut random, 2);
            if let Some(x) = line.get(2).and_then(Value::as_u64) {
                assert!((50..530).contains(&x), "{line:?}");
            }
        }
    }
}
