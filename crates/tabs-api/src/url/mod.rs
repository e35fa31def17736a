//! URLs as a browser reads, fixes and shows them.

mod internal_pages;

use url::{ParseError, Position, Url};

pub use self::internal_pages::{is_order, read};
use self::internal_pages::{kills, read_renamed};
use crate::error::Error;

/// The page of a new tab.
pub const NEW_TAB: &str = "chrome://newtab/";
/// The beginning of the addresses of pages of new tabs, whichever the browser shows.
pub(crate) const NEW_TAB_PAGES: &str = "chrome://new";
/// The address of a blank page.
pub(crate) const BLANK: &str = "about:blank";
/// The title of that page in incognito windows.
pub const INCOGNITO_TITLE: &str = "New Incognito Tab";

/// The URL that a text given to `create` or `update` navigates to; relative ones lie in the extension.
///
/// # Errors
/// `InvalidUrl`, `JavaScriptUrl`, `KillUrl`, `DevtoolsUrl`, in this order.
pub fn resolve(text: &str, extension: &str) -> Result<String, Error> {
    let invalid = || Error::InvalidUrl(text.to_owned());
    if let Some(Ok(page)) = named_source(text).map(fixed) {
        return Ok(format!("{SOURCE}{page}"));
    }
    match fixed(text) {
        Ok(url) => check(&url).map(|()| url),
        Err(ParseError::RelativeUrlWithoutBase) if !text.starts_with("//") => {
            let root = Url::parse(&format!("chrome-extension://{extension}/"));
            let url = root.and_then(|root| root.join(text)).map_err(|_| invalid())?;
            Ok(url.into())
        }
        Err(_) => Err(invalid()),
    }
}

/// A text as the address that the browser makes of it.
fn fixed(text: &str) -> Result<String, ParseError> {
    if let Some(url) = host_and_port(text) {
        return Ok(url);
    }
    match read_renamed(text) {
        Ok(url) => Ok(url.into()),
        // A host may hold spaces, which the browser escapes.
        Err(error) => escaped_host(text).ok_or(error),
    }
}

/// The page whose source a text names. That of a source it leaves as it is.
fn named_source(text: &str) -> Option<&str> {
    let (scheme, page) =
        text.trim_start_matches(|letter| letter <= ' ').split_at_checked(SOURCE.len())?;
    let is_source = |text: &str| {
        text.get(..SOURCE.len()).is_some_and(|start| start.eq_ignore_ascii_case(SOURCE))
    };
    (is_source(scheme) && !is_source(page)).then_some(page)
}

/// `name:80/path` is a host and a port, whatever scheme the name may be.
fn host_and_port(text: &str) -> Option<String> {
    let text = text.trim_matches(|character: char| character <= ' ');
    let (name, rest) = text.split_once(':')?;
    let port = rest.split('/').next().unwrap_or_default();
    let is_name = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'));
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let url = (is_name && is_port).then(|| Url::parse(&format!("http://{text}")))?;
    url.ok().map(Into::into)
}

/// The start of the address at which the source of a page is shown.
pub(crate) const SOURCE: &str = "view-source:";

/// Refuses URLs that no extension may navigate to.
fn check(url: &str) -> Result<(), Error> {
    match url.split_once(':') {
        Some(("javascript", _)) => Err(Error::JavaScriptUrl),
        Some(("chrome", _)) if kills(url) => Err(Error::KillUrl),
        Some(("devtools", _)) => Err(Error::DevtoolsUrl),
        _ => Ok(()),
    }
}

fn escaped_host(text: &str) -> Option<String> {
    // What the URL standard leaves out before it reads.
    let text = text.trim_matches(|letter| letter <= ' ').replace(['\t', '\n', '\r'], "");
    let (scheme, rest) = text.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, tail) = rest.split_at(end);
    let host = host.to_ascii_lowercase().replace(' ', "%20");
    if !matches!(scheme, "http" | "https" | "chrome")
        || !host.contains("%20")
        || host.starts_with("%20")
    {
        return None;
    }
    // The rest must be a host as any other.
    let url = Url::parse(&format!("{scheme}://{}{tail}", host.replace("%20", "-"))).ok()?;
    Some(format!("{scheme}://{host}{}", &url[Position::BeforePath..]))
}

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

/// The address of an origin: that of a page without its path. One without a host is its own.
#[must_use]
pub fn origin_address(url: &str) -> String {
    let parsed = Url::parse(url).ok().filter(Url::has_host);
    let start = parsed.as_ref().map(|parsed| &parsed[..Position::BeforePath]);
    start.map_or_else(|| url.to_owned(), |start| format!("{start}/"))
}

/// The title of a page that has none yet: its URL as the address bar shows it.
#[must_use]
pub fn title(url: &str) -> String {
    let (scheme, rest) = if let Some(rest) = of_web(url) {
        ("", without_www(without_user(rest)))
    } else if let Some(rest) = url.strip_prefix("view-source:http://") {
        ("view-source:", without_user(rest))
    } else if is_file(url) {
        return unescaped(url.rsplit('/').next().unwrap_or(url));
    } else if let Some((scheme, rest)) = url.find("://").map(|at| url.split_at(at + 3)) {
        (scheme, rest)
    } else {
        return unescaped(url);
    };
    // A host is shown as it is, the rest as it reads.
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if path == "/" {
        format!("{scheme}{host}")
    } else {
        format!("{scheme}{host}{}", unescaped(path))
    }
}

/// What stands behind the scheme of a page of the web.
fn of_web(url: &str) -> Option<&str> {
    ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme))
}

/// A host and what follows it, without the user that may stand before it.
fn without_user(rest: &str) -> &str {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let user = rest.get(..end).and_then(|authority| authority.rfind('@'));
    user.and_then(|at| rest.get(at + 1..)).unwrap_or(rest)
}

/// A host and what follows it, without a `www.` that says nothing: what is left is a host of its own.
fn without_www(rest: &str) -> &str {
    let host = |rest: &str| rest.find([':', '/', '?', '#']).unwrap_or(rest.len());
    let bare = rest.strip_prefix("www.");
    let has_domain = |bare: &&str| bare.get(..host(bare)).is_some_and(|host| host.contains('.'));
    bare.filter(has_domain).unwrap_or(rest)
}

/// Characters that stay escaped, because they would read as a separator.
const KEPT: &[u8] = b"#$%&+,/:;=?@\\\x7f";

/// A text whose percent escapes are undone, where that gives text without control characters and separators.
#[must_use]
pub fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = (*first == b'%')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|code| std::str::from_utf8(code).ok());
        match code
            .and_then(|code| u8::from_str_radix(code, 16).ok())
            .filter(|byte| *byte >= b' ' && !KEPT.contains(byte))
        {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
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
    let mut to = from.join(location).ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_navigate_to_what_the_browser_makes_of_them() {
        for (text, url) in [
            ("http://a.test", "http://a.test/"),
            ("http://a b/", "http://a%20b/"),
            ("", "chrome-extension://ext/"),
            ("page.html", "chrome-extension://ext/page.html"),
            ("a.test/a.html", "chrome-extension://ext/a.test/a.html"),
            ("about:blank", "about:blank"),
            ("about:version", "chrome://version/"),
            ("chrome://version", "chrome://version/"),
            ("chrome:version", "chrome://version/"),
            ("CHROME://Version", "chrome://version/"),
            ("chrome:////version", "chrome://version/"),
            ("chrome:/version/x?y#Z", "chrome://version/x?y#Z"),
            ("chrome:\\version", "chrome://version/"),
            ("chrome:%76ersion", "chrome://version/"),
            ("chrome://user@version:80/", "chrome://version/"),
            ("chrome://version/a/../b", "chrome://version/b"),
            ("chrome://a%20b/", "chrome://a%20b/"),
            ("chrome://a b/", "chrome://a%20b/"),
            ("about:Version", "chrome://version/"),
            ("about://version", "chrome://version/"),
            ("about:version/x?y#Z", "chrome://version/x?y#Z"),
            ("about:", "chrome://version/"),
            ("about:Blank", "about:blank"),
            ("about:Blank?x", "about:blank?x"),
            ("about:/blank", "chrome://blank/"),
            ("about:blank/x", "chrome://blank/x"),
            ("about:Srcdoc", "about:srcdoc"),
            ("about:?x", "chrome://version/?x"),
            ("view-source:chrome:version", "view-source:chrome://version/"),
            ("VIEW-SOURCE:about:Version", "view-source:chrome://version/"),
            ("view-source:HTTP://A.test", "view-source:http://a.test/"),
            ("view-source:http://a b/", "view-source:http://a%20b/"),
            ("view-source:javascript:1", "view-source:http://javascript:1/"),
            ("view-source:view-source:HTTP://a", "view-source:view-source:HTTP://a"),
            ("view-source:chrome:kill", "view-source:chrome://kill/"),
            ("localhost:3000/a?b", "http://localhost:3000/a?b"),
            (" JAVASCRIPT:1", "http://javascript:1/"),
            ("http://a%20b/", "http://a%20b/"),
            ("http://aa  b\u{3}", "http://aa%20%20b/"),
            (" http://A b\t/\u{3}x", "http://a%20b/%03x"),
        ] {
            assert_eq!(resolve(text, "ext"), Ok(url.to_owned()), "{text}");
        }
    }

    #[test]
    fn urls_that_cannot_be_opened_are_refused_by_name() {
        for text in ["http://", "chrome:", "http://[::1", "http://a:99999/", "//host/x"] {
            assert_eq!(resolve(text, "ext"), Err(Error::InvalidUrl(text.into())), "{text}");
        }
        assert_eq!(resolve("JavaScript:alert(1)", "ext"), Err(Error::JavaScriptUrl));
        assert_eq!(resolve("chrome://crash", "ext"), Err(Error::KillUrl));
        for text in [
            "about:crash",
            "chrome://crashdump",
            "chrome:kill",
            "chrome://quit/x",
            "about:restart?x",
            "chrome://Crash",
            "chrome:Crash",
            "chrome:/kill",
            "chrome:///kill",
            "about:KILL",
            "about:/kill",
            "chrome:%71uit/x",
        ] {
            assert_eq!(resolve(text, "ext"), Err(Error::KillUrl), "{text}");
        }
        for (text, url) in [
            ("chrome://crash/x", "chrome://crash/x"),
            ("chrome://kill?x", "chrome://kill/?x"),
            ("about:hang#x", "chrome://hang/#x"),
            ("chrome://Version", "chrome://version/"),
        ] {
            assert_eq!(resolve(text, "ext"), Ok(url.to_owned()), "{text}");
        }
        assert_eq!(resolve("devtools://devtools/x", "ext"), Err(Error::DevtoolsUrl));
    }

    #[test]
    fn orders_and_sources_of_pages_that_end_the_browser_lead_nowhere() {
        for (text, leads_nowhere) in [
            ("chrome:GPUclean", true),
            ("about:gpucrash", true),
            ("chrome://gpuclean/x", false),
            ("view-source:chrome:kill", true),
            ("view-source:chrome://crash/x", false),
            ("view-source:chrome://quit/x", false),
            ("view-source:chrome://gpuclean", false),
            ("view-source:http://kill/", false),
        ] {
            assert_eq!(is_order(&resolve(text, "ext").unwrap()), leads_nowhere, "{text}");
        }
    }

    #[test]
    fn a_page_without_a_title_shows_its_address() {
        for (url, shown) in [
            ("http://a.test/a.html", "a.test/a.html"),
            ("http://nowhere.invalid/", "nowhere.invalid"),
            ("https://nowhere.invalid:8443/", "nowhere.invalid:8443"),
            ("https://www.nowhere.invalid/x", "nowhere.invalid/x"),
            ("http://www.test/x.y", "www.test/x.y"),
            ("http://user:word@a.test/x@y", "a.test/x@y"),
            ("view-source:https://a.test/", "view-source:https://a.test"),
            ("about:blank", "about:blank"),
            ("chrome://version/", "chrome://version"),
            ("view-source:http://a.test/a.html", "view-source:a.test/a.html"),
            ("file:///tmp/x.html", "x.html"),
            ("file:///", ""),
            ("view-source:file:///tmp/x.html", "x.html"),
            ("http://a.test/x%20y%2Fz", "a.test/x y%2Fz"),
        ] {
            assert_eq!(title(url), shown);
        }
    }
}
