//! The icons that are known, by the addresses of their pages.

use triptych_core::cache::Cache;
use triptych_core::time::Timestamp;

/// The number of pages whose icons are known at most: those that nobody came to for longest go, so that a browser that runs for months does not grow.
const PAGES_MAX: usize = 10_000;

/// The times at which icons first came.
#[derive(Debug)]
pub(super) struct KnownIcons(Cache<String, Timestamp>);

impl Default for KnownIcons {
    fn default() -> Self {
        Self(Cache::new(PAGES_MAX))
    }
}

impl KnownIcons {
    /// True if the icon of the page at an address had come by then.
    pub(super) fn has(&mut self, url: &str, by: Timestamp) -> bool {
        self.0.get(url).is_some_and(|came| came <= by)
    }

    /// Notes the time at which the icon of a page comes, unless it came before.
    pub(super) fn note(&mut self, url: &str, when: Timestamp) {
        if self.0.get(url).is_none() {
            self.0.insert(url.to_owned(), when, 1);
        }
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
        for number in 1..PAGES_MAX / 2 {
            icons.note(&format!("https://a.test/{number}"), at(3));
        }
        assert!(icons.has("https://a.test/", at(2)));
        for number in 0..PAGES_MAX {
            icons.note(&format!("https://b.test/{number}"), at(3));
        }
        assert!(!icons.has("https://a.test/", at(3)) && !icons.has("https://a.test/1", at(3)));
        assert!(icons.has(&format!("https://b.test/{}", PAGES_MAX - 1), at(3)));
    }
}
