//! Addresses of the browser's own pages: the one form that each of them is read to, those that end the browser, and those that it takes for orders.

use url::{ParseError, Position, Url};

use super::canonical::parse;
use super::plain_host::with_plain_host;
use super::{SOURCE, host};

/// The characters that may stand before a host, any number of times.
const SLASHES: [char; 2] = ['/', '\\'];

/// The page of an `about:` that names none.
const UNNAMED: &str = "version";

const KILLING_HOSTS: [&str; 5] =
    ["quit", "restart", "inducebrowsercrashforrealz", "uithreadhang", "delayeduithreadhang"];

const KILLING_PAGES: [&str; 8] = [
    "crash",
    "crashdump",
    "checkcrash",
    "badcastcrash",
    "kill",
    "hang",
    "shorthang",
    "memory-exhaust",
];

/// Pages that the browser answers by doing something to its own process for graphics, and not by going anywhere.
const ORDERS: [&str; 3] = ["chrome://gpuclean/", "chrome://gpucrash/", "chrome://gpuhang/"];

/// True for an address that the browser takes for an order. So it takes the source of a page that would end it.
fn is_order(url: &str) -> bool {
    match url.strip_prefix(SOURCE) {
        Some(page) => is_killing_page(page),
        None => ORDERS.contains(&url),
    }
}

/// The longest address that the browser goes to, in bytes.
pub(super) const URL_BYTES_MAX: usize = 2 * 1024 * 1024;

/// True for an address that the browser takes and does not go to: a tab that is made for it stays empty, and one that is there where it is.
#[must_use]
pub fn leads_nowhere(url: &str) -> bool {
    url.len() > URL_BYTES_MAX || is_order(url)
}

/// True for an address of the browser's own that ends it, or a page of it: some do as a whole, others with whatever stands behind their hosts.
pub(super) fn kills(url: &str) -> bool {
    KILLING_HOSTS.contains(&&*host(url)) || is_killing_page(url)
}

fn is_killing_page(url: &str) -> bool {
    let name = url.strip_prefix("chrome://").and_then(|page| page.strip_suffix('/'));
    name.is_some_and(|name| KILLING_PAGES.contains(&name))
}

/// A text as a URL. Those of the browser's own pages have hosts here, where the URL standard knows none.
///
/// # Errors
/// If it is none.
pub fn read(text: &str) -> Result<Url, ParseError> {
    let url = parse(text)?;
    match url.as_str().split_once(':') {
        Some(("chrome", rest)) => page_of_browser(rest.trim_start_matches(SLASHES)),
        _ => Ok(url),
    }
}

/// The page of the browser's own that an `about:` is another name of, by what stands behind that.
pub(super) fn renamed(rest: &str) -> Result<Url, ParseError> {
    match rest.trim_start_matches(SLASHES) {
        rest if rest.is_empty() || rest.starts_with(['?', '#']) => {
            page_of_browser(&format!("{UNNAMED}{rest}"))
        }
        rest => page_of_browser(rest),
    }
}

/// The page of the browser's own that a text names by its host and what stands behind it. The browser reads it as an address of the web, in lower case and
/// without escapes, but keeps neither a user nor a port.
fn page_of_browser(text: &str) -> Result<Url, ParseError> {
    let web = format!("https://{text}");
    let page = match parse(&web) {
        Ok(web) => {
            format!("//{}{}", web.host_str().unwrap_or_default(), &web[Position::BeforePath..])
        }
        Err(error) => with_plain_host(&web).ok_or(error)?.trim_start_matches("https:").to_owned(),
    };
    Url::parse(&format!("chrome:{page}"))
}
