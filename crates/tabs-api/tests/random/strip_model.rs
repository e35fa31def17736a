//! The strips of all windows as a listener follows them by events alone, by the plainest rules.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// The strips as events tell of them.
#[derive(Debug, Default)]
pub(crate) struct StripModel {
    /// The tabs of each window, in order.
    strips: BTreeMap<i64, Vec<i64>>,
    /// The active tab of each window, as last told.
    active: BTreeMap<i64, i64>,
    /// The members of each tab that its events told of, as they were told last.
    members: BTreeMap<i64, BTreeMap<String, Value>>,
    /// Every id that was ever given to a tab.
    known: BTreeSet<i64>,
}

/// Members that `tabs.onUpdated` tells of one by one.
const TOLD: [&str; 5] = ["pinned", "groupId", "discarded", "frozen", "audible"];

impl StripModel {
    /// The model of what is open before the first event.
    pub(crate) fn of(windows: &Value) -> Self {
        let mut model = Self::default();
        for window in windows.as_array().into_iter().flatten() {
            for tab in window["tabs"].as_array().into_iter().flatten() {
                model.create(tab);
                if tab["active"] == true {
                    model.active.insert(id(&window["id"]), id(&tab["id"]));
                }
            }
        }
        model
    }

    /// Takes an event, and checks that it fits what is known.
    pub(crate) fn follow(&mut self, name: &str, args: &Value) {
        let (first, info) = (&args[0], &args[1]);
        match name {
            "tabs.onCreated" => self.create(first),
            "tabs.onRemoved" => {
                let strip = self.strip(id(&info["windowId"]));
                let before = strip.len();
                strip.retain(|tab| *tab != id(first));
                assert_eq!(strip.len() + 1, before, "a tab that was there is removed: {args}");
            }
            "tabs.onMoved" => {
                let strip = self.strip(id(&info["windowId"]));
                let (from, to) = (place(&info["fromIndex"]), place(&info["toIndex"]));
                assert_eq!(strip.get(from), Some(&id(first)), "it moves from where it is: {args}");
                strip.remove(from);
                strip.insert(to, id(first));
            }
            "tabs.onDetached" => {
                let strip = self.strip(id(&info["oldWindowId"]));
                let from = place(&info["oldPosition"]);
                assert_eq!(strip.get(from), Some(&id(first)), "it leaves where it is: {args}");
                strip.remove(from);
            }
            "tabs.onAttached" => {
                let to = place(&info["newPosition"]);
                self.strip(id(&info["newWindowId"])).insert(to, id(first));
            }
            "tabs.onReplaced" => {
                assert!(self.known.insert(id(first)), "an id is given once: {args}");
                let (new, old) = (id(first), id(info));
                for tab in self.strips.values_mut().flatten().filter(|tab| **tab == old) {
                    *tab = new;
                }
                for tab in self.active.values_mut().filter(|tab| **tab == old) {
                    *tab = new;
                }
                let mut members = self.members.remove(&old).unwrap_or_default();
                // What belongs to its page goes with that.
                members.retain(|name, _| !["audible", "frozen"].contains(&name.as_str()));
                self.members.insert(new, members);
            }
            "tabs.onActivated" => {
                self.active.insert(id(&first["windowId"]), id(&first["tabId"]));
            }
            "tabs.onUpdated" => {
                for name in TOLD {
                    if let Some(value) = info.get(name) {
                        let members = self.members.entry(id(first)).or_default();
                        members.insert(name.to_owned(), value.clone());
                    }
                }
            }
            _ => {}
        }
    }

    /// Checks that what is open is what events have told.
    pub(crate) fn check(&self, windows: &Value) {
        let windows = windows.as_array().into_iter().flatten();
        let mut open = BTreeSet::new();
        for window in windows {
            let tabs = window["tabs"].as_array().into_iter().flatten();
            let strip: Vec<_> = tabs.clone().map(|tab| id(&tab["id"])).collect();
            let window = id(&window["id"]);
            assert_eq!(self.strips.get(&window), Some(&strip), "the strip of window {window}");
            open.insert(window);
            for tab in tabs {
                let number = id(&tab["id"]);
                if tab["active"] == true {
                    assert_eq!(self.active.get(&window), Some(&number), "active in {window}");
                }
                for (name, told) in self.members.get(&number).into_iter().flatten() {
                    assert_eq!(&tab[name], told, "{name} of {number} as it was told");
                }
            }
        }
        let left = self.strips.iter().filter(|(window, _)| !open.contains(window));
        left.for_each(|(window, strip)| assert!(strip.is_empty(), "window {window} is gone"));
    }

    fn create(&mut self, tab: &Value) {
        assert!(self.known.insert(id(&tab["id"])), "an id is given once: {tab}");
        let strip = self.strips.entry(id(&tab["windowId"])).or_default();
        let index = place(&tab["index"]);
        assert!(index <= strip.len(), "a tab is made in its strip: {tab}");
        strip.insert(index, id(&tab["id"]));
        let told = TOLD.iter().map(|name| ((*name).to_owned(), tab[*name].clone()));
        self.members.insert(id(&tab["id"]), told.collect());
    }

    fn strip(&mut self, window: i64) -> &mut Vec<i64> {
        self.strips.entry(window).or_default()
    }
}

/// An event as an extension is told it, against the same one as the browser has it: what it may not see is left out, and nothing else is.
pub(crate) fn is_part(shown: &Value, full: &Value) -> bool {
    const HIDDEN: [&str; 4] = ["url", "pendingUrl", "title", "favIconUrl"];
    match (shown, full) {
        (Value::Object(shown), Value::Object(full)) => {
            let is_there = |(name, value): (&String, &Value)| match shown.get(name) {
                Some(other) => is_part(other, value),
                None => HIDDEN.contains(&name.as_str()),
            };
            full.iter().all(is_there) && shown.keys().all(|name| full.contains_key(name))
        }
        (Value::Array(shown), Value::Array(full)) => {
            shown.len() == full.len()
                && shown.iter().zip(full).all(|(shown, full)| is_part(shown, full))
        }
        (shown, full) => shown == full,
    }
}

fn id(value: &Value) -> i64 {
    value.as_i64().unwrap_or(-1)
}

fn place(value: &Value) -> usize {
    value.as_u64().and_then(|place| usize::try_from(place).ok()).unwrap_or(usize::MAX)
}
