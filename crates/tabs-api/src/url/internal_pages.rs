//! Addresses of the browser's own pages: other names of them, those that end the browser, and those that it takes for orders.

use url::{ParseError, Url};

use super::host_scheme::{SLASHES, page_at_host};
use super::{SOURCE, host};

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

/// The page of the browser's own that an `about:` is another name of, by what stands behind that.
pub(super) fn renamed(rest: &str) -> Result<Url, ParseError> {
    match rest.trim_start_matches(SLASHES) {
        rest if rest.is_empty() || rest.starts_with(['?', '#']) => {
            page_at_host("chrome", &format!("{UNNAMED}{rest}"))
        }
        rest => page_at_host("chrome", rest),
    }
}
