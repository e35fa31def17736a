//! Addresses of the schemes that have hosts in the browser alone: those of its own pages and of extensions' are read as those of the web are.

use url::{ParseError, Position, Url};

use super::canonical::{self, parse};
use super::plain_host::with_plain_host;

/// The schemes whose addresses have hosts in the browser, where the URL standard knows none.
const WITH_HOSTS: [&str; 2] = ["chrome", "chrome-extension"];

/// The characters that may stand before a host, any number of times.
pub(super) const SLASHES: [char; 2] = ['/', '\\'];

/// A text as a URL.
///
/// # Errors
/// If it is none.
pub fn read(text: &str) -> Result<Url, ParseError> {
    parse(text).and_then(with_host)
}

/// The address that a text leads to from a page.
///
/// # Errors
/// If it leads nowhere.
pub fn join(base: &Url, text: &str) -> Result<Url, ParseError> {
    let is_relative = Url::parse(text) == Err(ParseError::RelativeUrlWithoutBase);
    match stand_in(base).filter(|_| is_relative) {
        Some(web) => canonical::join(&web, text)
            .and_then(|page| page_at_host(base.scheme(), &page[Position::BeforeHost..])),
        None => canonical::join(base, text).and_then(with_host),
    }
}

/// The address of the web that what is relative to an address with a host can be relative to in its place.
fn stand_in(url: &Url) -> Option<Url> {
    let has_host = WITH_HOSTS.contains(&url.scheme());
    has_host.then(|| Url::parse(&format!("https{}", &url[Position::AfterScheme..])).ok())?
}

/// An address with its host, if it is of a scheme whose addresses have one.
fn with_host(url: Url) -> Result<Url, ParseError> {
    match url.as_str().split_once(':') {
        Some((scheme, rest)) if WITH_HOSTS.contains(&scheme) => {
            page_at_host(scheme, rest.trim_start_matches(SLASHES))
        }
        _ => Ok(url),
    }
}

/// The page of a scheme that a text names by its host and what stands behind it. The browser reads it as an address of the web, in lower case and
/// without escapes, but keeps neither a user nor a port.
pub(super) fn page_at_host(scheme: &str, text: &str) -> Result<Url, ParseError> {
    let web = format!("https://{text}");
    let page = match parse(&web) {
        Ok(web) => {
            format!("//{}{}", web.host_str().unwrap_or_default(), &web[Position::BeforePath..])
        }
        Err(error) => with_plain_host(&web).ok_or(error)?.trim_start_matches("https:").to_owned(),
    };
    Url::parse(&format!("{scheme}:{page}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_an_extension_is_read_as_one_of_the_web() {
        for (text, url) in [
            ("chrome-extension://ABC/Page.html", "chrome-extension://abc/Page.html"),
            ("Chrome-Extension://x.Y/a", "chrome-extension://x.y/a"),
            ("chrome-extension://abc", "chrome-extension://abc/"),
            ("chrome-extension://abc?x#Y", "chrome-extension://abc/?x#Y"),
            ("chrome-extension:\\\\abc\\x.html", "chrome-extension://abc/x.html"),
            ("chrome-extension:abc/x", "chrome-extension://abc/x"),
            ("chrome-extension:/abc/x", "chrome-extension://abc/x"),
            ("chrome-extension:///abc/x", "chrome-extension://abc/x"),
            ("chrome-extension://u:p@abc:80/a/../b c", "chrome-extension://abc/b%20c"),
            ("chrome-extension://abc/^|{}'", "chrome-extension://abc/%5E%7C%7B%7D'"),
        ] {
            assert_eq!(read(text).map(String::from).as_deref(), Ok(url), "{text}");
        }
        assert_eq!(read("chrome-extension://"), Err(ParseError::EmptyHost));
    }

    #[test]
    fn what_leads_on_from_a_page_of_an_extension_is_read_so_too() {
        let page = read("chrome-extension://abc/x/y.html?q").unwrap();
        for (text, url) in [
            ("\\a\\..\\b", "chrome-extension://abc/b"),
            ("z|.html", "chrome-extension://abc/x/z%7C.html"),
            ("#f", "chrome-extension://abc/x/y.html?q#f"),
            ("//DEF", "chrome-extension://def/"),
            ("https://b.test", "https://b.test/"),
        ] {
            assert_eq!(join(&page, text).map(String::from).as_deref(), Ok(url), "{text}");
        }
        let web = read("http://a.test/").unwrap();
        let led = join(&web, "chrome-extension:ABC").map(String::from);
        assert_eq!(led.as_deref(), Ok("chrome-extension://abc/"));
    }
}
