//! Invariants of a browser, checked after every command in debug builds.

use crate::browser::Browser;
use crate::browser::window::{Window, WindowKind};

impl Browser {
    /// Panics in debug builds where an invariant is broken: by a fault of the engine, never of a caller.
    pub fn assert_invariants(&self) {
        if cfg!(debug_assertions) {
            for window in self.strips.windows() {
                self.assert_window(window);
            }
            let held: usize = self.strips.windows().map(|window| window.tabs.len()).sum();
            assert_eq!(held, self.strips.tabs().count(), "every tab stands in one window");
            for group in self.strips.groups() {
                assert!(
                    self.strips.tabs().any(|tab| tab.group == Some(group.id)),
                    "no group is empty"
                );
            }
        }
    }

    fn assert_window(&self, window: &Window) {
        let tabs: Vec<_> = window.tabs.iter().filter_map(|id| self.strips.tab(*id)).collect();
        assert_eq!(tabs.len(), window.tabs.len(), "a window holds tabs that are there");
        assert!(tabs.iter().all(|tab| tab.window == window.id), "a tab knows its window");
        if tabs.is_empty() && window.kind != WindowKind::Normal {
            return;
        }
        assert!(
            window.active.is_some_and(|active| window.tabs.contains(&active)),
            "a window has one active tab"
        );
        assert!(
            window.active.is_some_and(|active| window.highlighted.contains(&active)),
            "the active tab is highlighted"
        );
        assert!(tabs.is_sorted_by_key(|tab| !tab.pinned), "pinned tabs come first");
        assert!(
            tabs.iter().all(|tab| !tab.pinned || tab.group.is_none()),
            "a pinned tab is in no group"
        );
        let mut seen = Vec::new();
        for tab in &tabs {
            if seen.last() != Some(&tab.group) {
                assert!(
                    tab.group.is_none() || !seen.contains(&tab.group),
                    "the tabs of a group stand side by side"
                );
                seen.push(tab.group);
            }
        }
    }
}
