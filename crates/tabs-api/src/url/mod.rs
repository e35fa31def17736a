//! URLs as a browser reads, fixes and shows them.

mod canonical;
mod fixed;
mod host_scheme;
mod internal_pages;
mod international;
mod plain_host;
mod ports;
mod shown;

use url::{Position, Url};

pub use self::canonical::parse;
pub use self::fixed::{linked, resolve, typed};
pub use self::host_scheme::{join, read};
pub use self::internal_pages::leads_nowhere;
pub(crate) use self::plain_host::canonical_host;
pub use self::ports::is_barred;
pub use self::shown::{error_title, title, unescaped};

/// The page of a new tab.
pub const NEW_TAB: &str = "chrome://newtab/";
/// The beginning of the addresses of pages of new tabs, whichever the browser shows.
pub(crate) const NEW_TAB_PAGES: &str = "chrome://new";
/// The address of a blank page.
pub(crate) const BLANK: &str = "about:blank";
/// The address of a page within a page, which no tab shows.
pub(crate) const SRCDOC: &str = "about:srcdoc";
/// The start of the address at which the source of a page is shown.
pub(crate) const SOURCE: &str = "view-source:";
/// The title of the page of a new tab in incognito windows.
pub const INCOGNITO_TITLE: &str = "New Incognito Tab";

/// True for a page of the machine's files, or the source of one.
#[must_use]
pub fn is_file(url: &str) -> bool {
    page_of_source(url).starts_with("file:")
}

/// The address of a page whose source is shown; any other one as it is.
#[must_use]
pub fn page_of_source(url: &str) -> &str {
    url.strip_prefix(SOURCE).unwrap_or(url)
}

/// True for a blank page, whatever parameters its address has.
#[must_use]
pub fn is_blank(url: &str) -> bool {
    let page = url.split(['?', '#']).next().unwrap_or(url);
    page.strip_suffix('/').unwrap_or(page) == BLANK
}

/// True for the source of a page.
#[must_use]
pub fn is_source(url: &str) -> bool {
    url.starts_with(SOURCE)
}

/// The key of zoom levels: the host; for pages without one, scheme and path.
#[must_use]
pub fn host(url: &str) -> String {
    match Url::parse(url) {
        Ok(parsed) => parsed
            .host_str()
            .map_or_else(|| format!("{}:{}", parsed.scheme(), parsed.path()), str::to_owned),
        Err(_) => url.to_owned(),
    }
}

/// Scheme, host and port: what an invocation is bound to.
#[must_use]
pub fn origin(url: &str) -> String {
    Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |parsed| match parsed.host_str() {
            Some(host) => format!(
                "{}://{host}:{}",
                parsed.scheme(),
                parsed.port_or_known_default().unwrap_or(0)
            ),
            None => parsed.as_str().to_owned(),
        },
    )
}

/// The address of the root of a page's origin; empty for pages whose origin is nobody's, as that of data or of a source is.
#[must_use]
pub fn root(url: &str) -> String {
    match Url::parse(url) {
        Ok(parsed) if !parsed.cannot_be_a_base() => {
            format!(
                "{}://{}/",
                parsed.scheme(),
                &parsed[Position::BeforeHost..Position::BeforePath]
            )
        }
        _ => String::new(),
    }
}

/// The address that a navigation comes to which stays in the document, because the two differ in their fragment alone and the second has
/// one. Where the source of a page is shown, it stays so.
#[must_use]
pub fn within_document(from: &str, to: &str) -> Option<String> {
    let (shown, page) = from.strip_prefix(SOURCE).map_or(("", from), |page| (SOURCE, page));
    let stays =
        !page.is_empty() && to.contains('#') && without_fragment(page) == without_fragment(to);
    stays.then(|| format!("{shown}{to}"))
}

/// The address that a redirect leads to: the fragment goes along, unless there is one in the new address.
#[must_use]
pub fn redirected(from: &Url, location: &str) -> Option<Url> {
    let mut to = join(from, location).ok()?;
    if to.fragment().is_none() {
        to.set_fragment(from.fragment());
    }
    Some(to)
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(page, _)| page)
}

/// The address that a new page has once it is there: the source of a page is shown as a whole.
#[must_use]
pub fn at_arrival(url: &str) -> &str {
    if url.starts_with(SOURCE) { without_fragment(url) } else { url }
}
