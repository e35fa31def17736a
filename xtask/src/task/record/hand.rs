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
