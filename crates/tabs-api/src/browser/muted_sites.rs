//! Sites that the user muted: whichever tab shows a page of one makes no sound.

use std::collections::{BTreeMap, BTreeSet};

use crate::url::{is_file, origin};

/// The schemes of pages whose origins can be muted.
const OF_ORIGINS: [&str; 3] = ["http:", "https:", "chrome-extension:"];

/// The site that a page is of, by which it is muted: its origin, or the file that it is; pages of data and the browser's own are of none.
pub(super) fn site_of(url: &str) -> Option<String> {
    let page = url.split(['#', '?']).next().unwrap_or(url);
    match OF_ORIGINS.iter().any(|scheme| url.starts_with(scheme)) {
        true => Some(origin(url)),
        false => is_file(page).then(|| page.to_owned()).filter(|page| page.starts_with("file:")),
    }
}

/// Sites that the user muted. What is set in incognito windows holds in them alone, what is set elsewhere holds there too.
#[derive(Debug, Default)]
pub(crate) struct MutedSites {
    kept: BTreeSet<String>,
    incognito: BTreeMap<String, bool>,
}

impl MutedSites {
    /// Those that were kept, without incognito windows.
    pub(crate) const fn of(kept: BTreeSet<String>) -> Self {
        Self { kept, incognito: BTreeMap::new() }
    }

    /// True if pages of a site make no sound.
    pub(crate) fn contains(&self, site: &str, is_incognito: bool) -> bool {
        let own = self.incognito.get(site).filter(|_| is_incognito);
        own.copied().unwrap_or_else(|| self.kept.contains(site))
    }

    /// Those that are muted everywhere.
    pub(super) fn sites(&self) -> impl Iterator<Item = &String> {
        self.kept.iter()
    }

    /// Mutes a site, or lets it sound.
    pub(super) fn set(&mut self, site: String, muted: bool, is_incognito: bool) {
        if is_incognito {
            self.incognito.insert(site, muted);
        } else if muted {
            self.kept.insert(site);
        } else {
            self.kept.remove(&site);
        }
    }

    /// Forgets what was set in incognito windows, of which none is left.
    pub(super) fn end_incognito(&mut self) {
        self.incognito.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_an_origin_or_a_file() {
        for (url, site) in [
            ("http://a.test/x#y", Some("http://a.test:80")),
            ("https://a.test/", Some("https://a.test:443")),
            ("file:///etc/hostname#x", Some("file:///etc/hostname")),
            ("view-source:http://a.test/", None),
            ("data:text/html,x", None),
            ("about:blank", None),
            ("chrome://version/", None),
            ("", None),
        ] {
            assert_eq!(site_of(url).as_deref(), site, "{url}");
        }
    }

    #[test]
    fn what_is_set_in_incognito_windows_ends_with_them() {
        let mut sites = MutedSites::default();
        sites.set("a".into(), true, false);
        sites.set("a".into(), false, true);
        sites.set("b".into(), true, true);
        assert_eq!((sites.contains("a", true), sites.contains("a", false)), (false, true));
        assert_eq!((sites.contains("b", true), sites.contains("b", false)), (true, false));
        sites.end_incognito();
        assert_eq!((sites.contains("a", true), sites.contains("b", true)), (true, false));
    }
}
