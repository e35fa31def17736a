//! Pages of the simulated web, read from a fixtures file.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use url::Url;

use crate::engine::script::{Script, script_of};
use crate::url::redirected;

/// A page of the simulated web.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// Its title; `None` leaves the address.
    pub title: Option<String>,
    /// Its declared language.
    pub language: Option<String>,
    /// Its icon.
    pub icon: Option<String>,
    /// HTTP status; 204 is no page.
    pub status: u16,
    /// True if a tab that comes back to it may show it as it came.
    pub is_cached: bool,
    /// True if it is no page but a file that is kept.
    pub is_download: bool,
    /// The address that it redirects to.
    pub location: Option<String>,
    /// The time that its first byte takes.
    pub head_delay: Duration,
    /// The time that its last byte takes after that.
    pub body_delay: Duration,
    /// Its script, and the time after the commit at which it runs.
    pub script: Option<(Duration, Script)>,
    /// Its text, as far as its language is to be told from it.
    pub text: Option<String>,
    /// The addresses of the frames in it, relative to its own.
    pub frames: Vec<String>,
}

/// All pages of a simulated web.
#[derive(Debug, Clone, Default)]
pub struct Pages {
    /// By path; `*` is any other.
    paths: BTreeMap<String, Page>,
    /// By whole URL.
    urls: BTreeMap<String, Page>,
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

const REDIRECTS_MAX: usize = 20;

impl Page {
    /// True for the browser's own page in place of one that could not be loaded.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        self.status == 0
    }
}

impl Pages {
    /// Reads a fixtures file: an object with `paths` (by path, on every host that ends in `.test`), or `pages` (by whole URL), or both.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text)
            .map_err(|error| format!("the fixtures are not JSON: {error}"))?;
        let mut pages = Self::default();
        for (path, description) in
            value.get("paths").and_then(Value::as_object).into_iter().flatten()
        {
            for (path, page) in expand(path, &page_of(description)) {
                pages.paths.insert(path, page);
            }
        }
        for (url, description) in
            value.get("pages").and_then(Value::as_object).into_iter().flatten()
        {
            let parsed = Url::parse(url).map_err(|error| format!("{url}: {error}"))?;
            pages.urls.insert(parsed.into(), page_of(description));
        }
        Ok(pages)
    }

    /// The outcome of loading a URL, redirects followed.
    #[must_use]
    pub fn load(&self, url: &str, extension_page_title: &str) -> Outcome {
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
        let is_of_paths = url.host_str().is_some_and(|host| host.ends_with(".test"));
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
        let titled = |title: &str| {
            Some(Page { title: Some(title.to_owned()), status: 200, ..Page::default() })
        };
        let failed = |title: &str| titled(title).map(|page| Page { status: 0, ..page });
        let untitled = Some(Page { status: 200, ..Page::default() });
        match parsed.as_ref().map(Url::scheme) {
            Some("http" | "https") => Some(self.on_the_web(parsed.as_ref()?)),
            Some("about" | "file" | "view-source") => untitled,
            Some("blob") => titled(url),
            Some("data") => title_in(url).map_or(untitled, |title| titled(&title)),
            Some("chrome") => browser_page(url),
            Some("chrome-extension") if parsed.as_ref()?.path() == "/page.html" => {
                titled(extension_page_title)
                    .map(|page| Page { language: Some("en".into()), ..page })
            }
            // No other page of an extension is known.
            Some("chrome-extension") => failed(url),
            Some(_) => None,
            // A host with spaces does not resolve.
            None => failed(&crate::url::title(url).replace('/', "")),
        }
    }

    fn on_the_web(&self, url: &Url) -> Page {
        let host = url.host_str().unwrap_or_default();
        if !host.ends_with(".test") && !self.paths.is_empty() {
            return Page { title: Some(host.to_owned()), status: 0, ..Page::default() };
        }
        let page = self.paths.get(url.path()).or_else(|| self.paths.get("any other")).cloned();
        let mut page = page.unwrap_or_else(|| Page {
            title: Some(host.to_owned()),
            status: 200,
            ..Page::default()
        });
        page.icon = page.icon.map(|icon| icon.replace("HOST", host));
        page
    }
}

fn browser_page(url: &str) -> Option<Page> {
    let page = url.split(['?', '#']).next().unwrap_or(url);
    let (title, icon, status) = match page {
        "chrome://version/" => ("About Version", Some("chrome://theme/current-channel-logo"), 200),
        "chrome://settings/" => ("Settings", None, 200),
        "chrome://bookmarks/" => ("Bookmarks", None, 200),
        "chrome://history/" => ("History", None, 200),
        "chrome://downloads/" => ("Downloads", None, 200),
        "chrome://extensions/" => ("Extensions", None, 200),
        "chrome://newtab/" | "chrome://new-tab-page-third-party/" => ("New Tab", None, 200),
        // One that is not known is not there.
        _ => (url, None, 0),
    };
    let is_new_tab = title == "New Tab";
    Some(Page {
        title: Some(title.to_owned()),
        icon: icon.map(str::to_owned),
        status,
        // As recorded: its own page takes the browser longer than a step waits for.
        body_delay: Duration::from_millis(if is_new_tab { 300 } else { 0 }),
        ..Page::default()
    })
}

/// The content of the `<title>` of a page written into its URL.
fn title_in(url: &str) -> Option<String> {
    let url = crate::url::unescaped(url);
    let (_, rest) = url.split_once("<title>")?;
    let (title, _) = rest.split_once("</title>")?;
    Some(title.to_owned())
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
    fn scripts_are_read() {
        let pages = Pages::read(FIXTURES).unwrap();
        let Outcome::Page(_, page) = pages.load("http://a.test/title.html", "") else {
            panic!("no page")
        };
        assert_eq!(page.script, Some((Duration::from_millis(300), Script::Title("Second".into()))));
    }
}
