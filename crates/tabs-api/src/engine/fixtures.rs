//! Pages of the simulated web, read from a fixtures file.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use url::Url;

use crate::engine::data_address;
use crate::engine::page::Page;
use crate::engine::script::script_of;
use crate::url::{SOURCE, is_barred, is_blank, parse, redirected};

/// All pages of a simulated web.
#[derive(Debug, Clone, Default)]
pub struct Pages {
    /// By path; `*` is any other.
    paths: BTreeMap<String, Page>,
    /// By whole URL.
    urls: BTreeMap<String, Page>,
    /// The files of the machine by their paths, if these are known.
    files: Option<BTreeSet<String>>,
}

/// The outcome of loading a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A page, under the URL that it has after redirects.
    Page(String, Box<Page>),
    /// Nothing: the tab stays where it is.
    Nothing,
    /// Nothing here: another program of the machine opens it, or it is kept as a file.
    Elsewhere,
}

/// Schemes that the browser hands over without asking; with others it asks, and the tab stays as it is.
const HANDED_OVER: [&str; 3] = ["mailto:", "news:", "snews:"];

/// Schemes of pages that have sources; at the source of another one a blank page stands.
const WITH_SOURCES: [&str; 3] = ["http:", "https:", "file:"];

/// Schemes of which no tab shows a page.
const WITHOUT_PAGES: [&str; 5] = ["blob", "chrome-search", "filesystem", "ws", "wss"];

const REDIRECTS_MAX: usize = 20;

impl Pages {
    /// Reads a fixtures file: an object with `paths` (by path, on every host that ends in `.test`, without encryption), or `pages` (by whole URL), or both;
    /// `files` are the paths of all files of the machine.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("the fixtures are not JSON: {error}"))?;
        let descriptions =
            |of: &str| value.get(of).and_then(Value::as_object).into_iter().flatten();
        let mut pages = Self::described(descriptions("paths"), descriptions("pages"))?;
        let files = value.get("files").and_then(Value::as_array);
        pages.files =
            files.map(|files| files.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        Ok(pages)
    }

    /// Pages of these descriptions: by path, on every host that ends in `.test`, and by URL.
    ///
    /// # Errors
    /// The URL that is none.
    pub(crate) fn described<'d>(
        paths: impl Iterator<Item = (&'d String, &'d Value)>,
        urls: impl Iterator<Item = (&'d String, &'d Value)>,
    ) -> Result<Self, String> {
        let mut pages = Self::default();
        for (path, description) in paths {
            pages.paths.extend(expand(path, &page_of(description)));
        }
        for (url, description) in urls {
            let parsed = parse(url).map_err(|error| format!("{url}: {error}"))?;
            pages.urls.insert(parsed.into(), page_of(description));
        }
        Ok(pages)
    }

    /// The outcome of loading a URL, redirects followed. The source of a page is that of where they lead.
    #[must_use]
    pub fn load(&self, url: &str, extension_page_title: &str) -> Outcome {
        let has_source = |page: &&str| WITH_SOURCES.iter().any(|scheme| page.starts_with(scheme));
        let page = url.strip_prefix(SOURCE).filter(has_source);
        match page.map(|page| self.follow(page, extension_page_title)) {
            Some(Outcome::Page(url, page)) => {
                Outcome::Page(format!("{SOURCE}{url}"), Box::new(page.source()))
            }
            Some(Outcome::Nothing | Outcome::Elsewhere) => Outcome::Nothing,
            None => self.follow(url, extension_page_title),
        }
    }

    fn follow(&self, url: &str, extension_page_title: &str) -> Outcome {
        let mut url = url.to_owned();
        for _ in 0..REDIRECTS_MAX {
            let page = match self.find(&url, extension_page_title) {
                Some(page) if page.status == 204 => return Outcome::Nothing,
                Some(page) if page.is_download => return Outcome::Elsewhere,
                Some(page) => page,
                None if HANDED_OVER.iter().any(|scheme| url.starts_with(scheme)) => {
                    return Outcome::Elsewhere;
                }
                None => return Outcome::Nothing,
            };
            match page
                .location
                .as_deref()
                .and_then(|location| redirected(&Url::parse(&url).ok()?, location))
            {
                Some(next) => url = next.into(),
                None => return Outcome::Page(url, Box::new(page)),
            }
        }
        Outcome::Nothing
    }

    /// True if a page is described here, and not made up from its address.
    #[must_use]
    pub fn describes(&self, url: &Url) -> bool {
        let is_of_paths =
            url.scheme() == "http" && url.host_str().is_some_and(|host| host.ends_with(".test"));
        let is_known = |path: &str| self.paths.contains_key(path);
        let mut bare = url.clone();
        bare.set_fragment(None);
        self.urls.contains_key(bare.as_str())
            || is_of_paths && (is_known(url.path()) || is_known("any other"))
    }

    fn find(&self, url: &str, extension_page_title: &str) -> Option<Page> {
        let parsed = Url::parse(url).ok();
        let bare = url.split('#').next().unwrap_or(url);
        if let Some(page) = self.urls.get(bare) {
            return Some(page.clone());
        }
        let titled = |title: &str| Page { title: Some(title.to_owned()), ..Page::empty() };
        // A host with spaces does not resolve.
        let Some(parsed) = parsed else { return Some(Page::failed(url)) };
        Some(match parsed.scheme() {
            "http" | "https" => self.on_the_web(&parsed),
            "about" if is_blank(url) => Page::empty(),
            "data" => data_address::page(&parsed).unwrap_or_else(|| Page::failed(url)),
            "file" if self.has_file(parsed.path()) => Page::empty(),
            "view-source" => Page::empty(),
            "about" | "file" => Page::failed(url),
            scheme if WITHOUT_PAGES.contains(&scheme) => Page::failed(url),
            "chrome" => browser_page(url),
            "chrome-extension" if parsed.path() == "/page.html" => {
                Page { language: Some("en".into()), ..titled(extension_page_title) }
            }
            // No other page of an extension is known.
            "chrome-extension" => Page::failed(url),
            _ => return None,
        })
    }

    fn has_file(&self, path: &str) -> bool {
        self.files.as_ref().is_none_or(|files| files.contains(path))
    }

    fn on_the_web(&self, url: &Url) -> Page {
        let host = url.host_str().unwrap_or_default();
        let is_served = self.paths.is_empty() || host.ends_with(".test") && url.scheme() == "http";
        if !is_served || is_barred(url) {
            return Page::failed(url.as_str());
        }
        let page = self.paths.get(url.path()).or_else(|| self.paths.get("any other")).cloned();
        let made_up = || Page { title: Some(host.to_owned()), ..Page::empty() };
        let mut page = page.unwrap_or_else(made_up);
        page.icon = page.icon.map(|icon| icon.replace("HOST", host));
        page
    }
}

fn browser_page(url: &str) -> Page {
    let page = url.split(['?', '#']).next().unwrap_or(url);
    let (title, icon) = match page {
        "chrome://version/" => ("About Version", Some("chrome://theme/current-channel-logo")),
        "chrome://settings/" => ("Settings", None),
        "chrome://bookmarks/" => ("Bookmarks", None),
        "chrome://history/" => ("History", None),
        "chrome://downloads/" => ("Download history", None),
        "chrome://extensions/" => ("Extensions", None),
        "chrome://newtab/" | "chrome://new-tab-page-third-party/" => ("New Tab", None),
        // One that is not known is not there.
        _ => return Page::failed(url),
    };
    let is_new_tab = title == "New Tab";
    Page {
        title: Some(title.to_owned()),
        icon: icon.map(str::to_owned),
        // As recorded: its own page takes the browser longer than a step waits for.
        body_delay: Duration::from_millis(if is_new_tab { 300 } else { 0 }),
        ..Page::empty()
    }
}

/// `/a.html .. /f.html` stands for six pages, whose titles run with them.
fn expand(path: &str, page: &Page) -> Vec<(String, Page)> {
    let one = || vec![(path.to_owned(), page.clone())];
    let Some((first, last)) = path.split_once(" .. ") else {
        return one();
    };
    let letter = |text: &str| text.trim_start_matches('/').chars().next();
    let (Some(from), Some(to)) = (letter(first), letter(last)) else {
        return one();
    };
    let base =
        page.title.as_deref().and_then(|title| title.split(" .. ").next()).unwrap_or_default();
    let stem = base.strip_suffix(|letter: char| letter.is_ascii_uppercase()).unwrap_or(base);
    (from..=to)
        .map(|letter| {
            let title = format!("{stem}{}", letter.to_ascii_uppercase());
            (format!("/{letter}.html"), Page { title: Some(title), ..page.clone() })
        })
        .collect()
}

fn page_of(description: &Value) -> Page {
    let text = |name: &str| description.get(name).and_then(Value::as_str).map(str::to_owned);
    let millis = |name: &str| {
        Duration::from_millis(description.get(name).and_then(Value::as_u64).unwrap_or(0))
    };
    let status = description
        .get("status")
        .and_then(Value::as_u64)
        .and_then(|status| u16::try_from(status).ok());
    Page {
        title: text("title"),
        language: text("lang").and_then(|tag| crate::engine::language::declared(&tag)),
        text: text("text"),
        icon: text("favicon").or_else(|| text("favIconUrl")),
        status: status.unwrap_or(200),
        is_download: description.get("download").is_some(),
        is_cached: description.get("is_cached").and_then(Value::as_bool).unwrap_or(false),
        location: text("location"),
        head_delay: millis("headers_delay_ms"),
        body_delay: millis("body_delay_ms"),
        script: text("script").and_then(|script| script_of(&script)),
        frames: description
            .get("iframes")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::script::Script;

    const FIXTURES: &str = r#"{ "paths": {
        "/a.html .. /f.html": { "title": "Page A .. Page F", "lang": "en" },
        "/redirect": { "status": 302, "location": "/a.html" },
        "/204": { "status": 204 },
        "/title.html": { "title": "First", "script": "t=300: document.title='Second'" },
        "any other": { "status": 404, "title": "Not found" } } }"#;

    #[test]
    fn pages_are_found_by_path_through_redirects() {
        let pages = Pages::read(FIXTURES).unwrap();
        let Outcome::Page(url, page) = pages.load("http://a.test/redirect", "") else {
            panic!("no page")
        };
        assert_eq!((url.as_str(), page.title.as_deref()), ("http://a.test/a.html", Some("Page A")));
        let Outcome::Page(url, _) = pages.load("http://a.test/redirect#x", "") else {
            panic!("no page")
        };
        assert_eq!(url, "http://a.test/a.html#x");
        assert_eq!(pages.load("http://a.test/204", ""), Outcome::Nothing);
        assert_eq!(pages.load("mailto:a@b", ""), Outcome::Elsewhere);
        assert_eq!(pages.load("tel:1", ""), Outcome::Nothing);
        let Outcome::Page(_, page) = pages.load("http://a.test/c.html", "") else {
            panic!("no page")
        };
        assert_eq!(page.title.as_deref(), Some("Page C"));
        let Outcome::Page(_, page) = pages.load("http://nowhere.invalid/", "") else {
            panic!("no page")
        };
        assert_eq!(page.title.as_deref(), Some("nowhere.invalid"));
    }

    #[test]
    fn a_source_is_that_of_the_page_that_its_address_leads_to() {
        let pages = Pages::read(FIXTURES).unwrap();
        let Outcome::Page(url, page) = pages.load("view-source:http://a.test/redirect", "") else {
            panic!("no page")
        };
        assert_eq!((url.as_str(), page.title), ("view-source:http://a.test/a.html", None));
        assert_eq!(pages.load("view-source:http://a.test/204", ""), Outcome::Nothing);
    }

    #[test]
    fn an_error_stands_in_place_of_what_nobody_serves() {
        let pages = Pages::read(FIXTURES).unwrap();
        for (url, title) in [
            ("http://a.test:22/a.html", "a.test"),
            ("https://a.test/a.html", "a.test"),
            ("http://a.test./a.html", "a.test."),
            ("view-source:http://nowhere.invalid/", "nowhere.invalid"),
            ("about:srcdoc", "about:srcdoc"),
            ("blob:http://a.test/x", "blob:http://a.test/x"),
            ("ws://a.test/", "ws://a.test/"),
            ("data:text/html", "data:text/html"),
        ] {
            let Outcome::Page(at, page) = pages.load(url, "") else { panic!("no page for {url}") };
            assert_eq!((at.as_str(), page.title.as_deref()), (url, Some(title)));
            assert!(page.is_error(), "{url}");
        }
    }

    #[test]
    fn scripts_are_read() {
        let pages = Pages::read(FIXTURES).unwrap();
        let Outcome::Page(_, page) = pages.load("http://a.test/title.html", "") else {
            panic!("no page")
        };
        assert_eq!(page.script, Some((Duration::from_millis(300), Script::Title("Second".into()))));
    }
}
