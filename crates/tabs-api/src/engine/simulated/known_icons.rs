//! The icons that are known, by the addresses of their pages.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use triptych_core::time::Timestamp;

/// The number of pages whose icons are known: those that were first seen longest ago go, so that a browser that runs for months does not grow.
const PAGES_MAX: usize = 10_000;

/// The times at which icons first came.
#[derive(Debug, Default)]
pub(super) struct KnownIcons {
    came: HashMap<Arc<str>, Timestamp>,
    /// The addresses, in the order in which they were first seen.
    order: VecDeque<Arc<str>>,
}

impl KnownIcons {
    /// True if the icon of the page at an address had come by then.
    pub(super) fn has(&self, url: &str, by: Timestamp) -> bool {
        self.came.get(url).is_some_and(|came| *came <= by)
    }

    /// Notes the time at which the icon of a page comes, unless it came before.
    pub(super) fn note(&mut self, url: &str, when: Timestamp) {
        if self.came.contains_key(url) {
            return;
        }
        if self.order.len() >= PAGES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.came.remove(&oldest);
        }
        let url = Arc::<str>::from(url);
        self.came.insert(Arc::clone(&url), when);
        self.order.push_back(url);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_icon_is_known_from_its_first_time_on_until_ten_thousand_others_came() {
        let at = Timestamp::from_seconds;
        let mut icons = KnownIcons::default();
        icons.note("https://a.test/", at(2));
        icons.note("https://a.test/", at(1));
        assert_eq!([1, 2].map(|by| icons.has("https://a.test/", at(by))), [false, true]);
        for number in 1..PAGES_MAX {
            icons.note(&format!("https://a.test/{number}"), at(3));
        }
        assert!(icons.has("https://a.test/", at(3)));
        icons.note("https://b.test/", at(3));
        assert!(!icons.has("https://a.test/", at(3)) && icons.has("https://a.test/1", at(3)));
        assert_eq!((icons.came.len(), icons.order.len()), (PAGES_MAX, PAGES_MAX));
    }
}
