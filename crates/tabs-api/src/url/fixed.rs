//! Texts that an extension gives for addresses, as the browser mends them.

use url::{ParseError, Url};

use super::canonical::parse;
use super::host_scheme::{SLASHES, join, read};
use super::internal_pages::{URL_BYTES_MAX, kills, renamed};
use super::plain_host::{dots_mended, with_plain_host};
use super::{BLANK, SOURCE, SRCDOC};
use crate::error::Error;

/// The URL that a text given to `create` or `update` navigates to; relative ones lie in the extension.
///
/// # Errors
/// `InvalidUrl`, `JavaScriptUrl`, `KillUrl`, `DevtoolsUrl`, `UntrustedUrl`, in this order.
pub fn resolve(text: &str, extension: &str) -> Result<String, Error> {
    let invalid = || Error::InvalidUrl(text.to_owned());
    let read: String = match read(text) {
        Ok(url) => url.into(),
        Err(error) => match with_plain_host(text) {
            Some(url) => url,
            None if error == ParseError::RelativeUrlWithoutBase && !begins_with_host(text) => {
                let root = Url::parse(&format!("chrome-extension://{extension}/"));
                root.and_then(|root| join(&root, text)).map_err(|_| invalid())?.into()
            }
            None => return Err(invalid()),
        },
    };
    mended(text, read)
}

/// True if a relative text names a host.
fn begins_with_host(text: &str) -> bool {
    text.strip_prefix(SLASHES).is_some_and(|rest| rest.starts_with(SLASHES))
}

/// The URL that a text leads to which is nobody's but the user's: without a scheme it is a host of the web.
///
/// # Errors
/// As [`resolve`], and then `NavigationRejected`.
pub fn typed(text: &str) -> Result<String, Error> {
    reached(mended(text, read(text).map_or_else(|_| text.to_owned(), Into::into))?)
}

/// The URL that a link of a page at `base` leads to.
///
/// # Errors
/// As [`typed`].
pub fn linked(text: &str, base: &str) -> Result<String, Error> {
    let joined = |base: Url| join(&base, text);
    let read = match read(text) {
        Ok(url) => url.into(),
        Err(ParseError::RelativeUrlWithoutBase) => {
            let url = Url::parse(base).and_then(joined);
            url.map_err(|_| Error::InvalidUrl(text.to_owned()))?.into()
        }
        Err(_) => text.to_owned(),
    };
    reached(mended(text, read)?)
}

/// An address that somebody goes to in a tab that is there, unless it is too long for that.
fn reached(url: String) -> Result<String, Error> {
    if url.len() > URL_BYTES_MAX { Err(Error::NavigationRejected) } else { Ok(url) }
}

/// The address that the browser makes of what it read of a text, if somebody may go there.
fn mended(text: &str, read: String) -> Result<String, Error> {
    let url = fixed(&read).map_err(|_| Error::InvalidUrl(text.to_owned()))?;
    check(&url).map(|()| url)
}

/// A text as the address that the browser makes of it.
fn fixed(text: &str) -> Result<String, ParseError> {
    let text = text.trim_matches(|letter| letter <= ' ');
    let Some((scheme, rest)) = text.split_once(':').filter(|_| has_scheme(text)) else {
        return without_scheme(text);
    };
    match scheme.to_ascii_lowercase().as_str() {
        // That of a source it leaves as it is.
        "view-source" if !starts_with(rest, SOURCE) => {
            Ok(format!("{SOURCE}{}", fixed(rest).unwrap_or_else(|_| rest.to_owned())))
        }
        "about" => about(text),
        _ => match read(text) {
            Ok(url) => Ok(with_host_mended(url).into()),
            Err(error) => with_plain_host(text).ok_or(error),
        },
    }
}

/// True if a text begins with a scheme: one with a dot in it would be a host, and one before digits alone a host before its port.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let port = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-');
    scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.bytes().all(is_letter)
        && !is_port
}

/// Schemes that are known also where a semicolon stands behind them.
const WITH_SEMICOLON: [&str; 6] = ["http", "https", "file", "ftp", "about", "chrome"];

/// A text without a scheme: one that is misspelt, a file by its path, else a host of the web.
fn without_scheme(text: &str) -> Result<String, ParseError> {
    let is_known =
        |scheme: &str| WITH_SEMICOLON.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    if let Some((scheme, rest)) = text.split_once(';').filter(|(scheme, _)| is_known(scheme)) {
        let mended = format!("{scheme}:{rest}");
        if has_scheme(&mended) {
            return fixed(&mended);
        }
    }
    let scheme = if text.starts_with('/') { "file" } else { "http" };
    let text = format!("{scheme}://{text}");
    match parse(&text) {
        Ok(url) => Ok(with_host_mended(url).into()),
        Err(error) => with_plain_host(&text).ok_or(error),
    }
}

/// An `about:` as the page of the browser's own that it is another name of. Two pages are no other's, in lower case as a whole.
fn about(text: &str) -> Result<String, ParseError> {
    let lower = text.to_ascii_lowercase();
    let end = lower.find(['?', '#']).unwrap_or(lower.len());
    if let Some(BLANK | "about:blank/" | SRCDOC | "about:srcdoc/") = lower.get(..end) {
        return Ok(lower);
    }
    renamed(text.split_once(':').map_or("", |(_, rest)| rest)).map(Into::into)
}

/// An address without dots before its host, and with one at the most behind it.
fn with_host_mended(mut url: Url) -> Url {
    let has_host = matches!(url.scheme(), "http" | "https" | "ws" | "wss" | "ftp");
    let host = url.host_str().filter(|_| has_host).unwrap_or_default();
    if let Some(mended) = dots_mended(host) {
        // A host without dots around it stays one.
        let _ = url.set_host(Some(&mended));
    }
    url
}

/// True if a text begins with another one, in whatever case.
fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// Refuses URLs that no extension may navigate to.
fn check(url: &str) -> Result<(), Error> {
    match url.split_once(':') {
        Some(("javascript", _)) => Err(Error::JavaScriptUrl),
        Some(("chrome", _)) if kills(url) => Err(Error::KillUrl),
        Some(("devtools", _)) => Err(Error::DevtoolsUrl),
        Some(("chrome-untrusted", _)) => Err(Error::UntrustedUrl),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::leads_nowhere;

    #[test]
    fn what_a_user_types_is_no_page_of_an_extension() {
        let host = |text: &str, url: &str| assert_eq!(typed(text).as_deref(), Ok(url), "{text}");
        host("a.test", "http://a.test/");
        host("a.test/x y", "http://a.test/x%20y");
        host("https://a.test/#x", "https://a.test/#x");
        host("about:version", "chrome://version/");
        for text in ["", "http://"] {
            assert_eq!(typed(text), Err(Error::InvalidUrl(text.into())));
        }
        assert_eq!(typed("javascript:alert()"), Err(Error::JavaScriptUrl));
    }

    #[test]
    fn a_link_leads_on_from_its_page() {
        let of = |text: &str, base: &str| linked(text, base);
        for (text, url) in [
            ("b.html", "http://a.test/x/b.html"),
            ("/b", "http://a.test/b"),
            ("//b.test/", "http://b.test/"),
            ("", "http://a.test/x/a.html"),
            ("https://b.test", "https://b.test/"),
        ] {
            assert_eq!(of(text, "http://a.test/x/a.html").as_deref(), Ok(url), "{text}");
        }
        assert_eq!(of("b.html", "about:blank"), Err(Error::InvalidUrl("b.html".into())));
    }

    #[test]
    fn texts_navigate_to_what_the_browser_makes_of_them() {
        for (text, url) in [
            ("http://a.test", "http://a.test/"),
            ("http://a b/", "http://a%20b/"),
            ("", "chrome-extension://ext/"),
            ("page.html", "chrome-extension://ext/page.html"),
            ("a.test/a.html", "chrome-extension://ext/a.test/a.html"),
            ("\\page.html", "chrome-extension://ext/page.html"),
            ("Chrome-Extension:ABC", "chrome-extension://abc/"),
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
            ("localhost:80?x", "http://localhost/?x"),
            ("nowhere:81#x", "http://nowhere:81/#x"),
            ("a.test:/a.html", "http://a.test/a.html"),
            ("http://..a.test../", "http://a.test./"),
            ("http://a.test./", "http://a.test./"),
            ("about:BLANK/#Foo", "about:blank/#foo"),
            ("view-source:a.test/A.html", "view-source:http://a.test/A.html"),
            ("view-source:/etc/hostname", "view-source:file:///etc/hostname"),
            ("view-source:", "view-source:"),
            ("view-source:http;//a.test/a.html", "view-source:http://a.test/a.html"),
            ("a:99999", "a:99999"),
            (" JAVASCRIPT:1", "http://javascript:1/"),
            ("http://a%20b/", "http://a%20b/"),
            ("http://aa  b\u{3}", "http://aa%20%20b/"),
            (" http://A b\t/\u{3}x", "http://a%20b/%03x"),
        ] {
            assert_eq!(resolve(text, "ext"), Ok(url.to_owned()), "{text}");
        }
    }

    #[test]
    fn an_address_of_more_than_two_mebibytes_leads_nowhere_and_is_none_to_type() {
        let of = |bytes: usize| format!("http://a.test/{}", "x".repeat(bytes - 14));
        let (longest, longer) = (of(URL_BYTES_MAX), of(URL_BYTES_MAX + 1));
        assert_eq!(resolve(&longest, "ext").map(|url| leads_nowhere(&url)), Ok(false));
        assert_eq!(resolve(&longer, "ext").map(|url| leads_nowhere(&url)), Ok(true));
        assert_eq!(typed(&longest), Ok(longest.clone()));
        assert_eq!(typed(&longer), Err(Error::NavigationRejected));
    }

    #[test]
    fn hosts_that_only_the_browser_takes_stay_as_they_are_written() {
        for (text, url) in [
            ("http://xn--.test/", "http://xn--.test/"),
            ("http://U:P@XN--A.test:81/p^", "http://U:P@xn--a.test:81/p%5E"),
            ("http://xn--a_b.test/", "http://xn--a_b.test/"),
            ("http://xn--a%20b.test/", "http://xn--a%20b.test/"),
            ("http://..xn--a.test../", "http://xn--a.test./"),
            ("wss://xn--a.test/x", "wss://xn--a.test/x"),
            ("http://xn--a.test\\x", "http://xn--a.test/x"),
            ("chrome://xn--a/", "chrome://xn--a/"),
            ("http://u'u@a.test/x|y", "http://u%27u@a.test/x%7Cy"),
        ] {
            assert_eq!(resolve(text, "ext"), Ok(url.to_owned()), "{text}");
        }
        for text in ["http://xn--ä.test/", "http://a.xn--zzé.test/", "http://xn--1.2.3.4/"] {
            assert_eq!(resolve(text, "ext"), Err(Error::InvalidUrl(text.into())), "{text}");
        }
    }

    #[test]
    fn urls_that_cannot_be_opened_are_refused_by_name() {
        for text in [
            "http://",
            "chrome:",
            "http://[::1",
            "http://a:99999/",
            "a.test:99999",
            "a.test:x",
            "//host/x",
            "\\\\host/x",
            "chrome-extension:",
        ] {
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
        assert_eq!(resolve("chrome-untrusted://print/", "ext"), Err(Error::UntrustedUrl));
    }

    #[test]
    fn orders_and_sources_of_pages_that_end_the_browser_lead_nowhere() {
        for (text, is_order) in [
            ("chrome:GPUclean", true),
            ("about:gpucrash", true),
            ("chrome://gpuclean/x", false),
            ("view-source:chrome:kill", true),
            ("view-source:chrome://crash/x", false),
            ("view-source:chrome://quit/x", false),
            ("view-source:chrome://gpuclean", false),
            ("view-source:http://kill/", false),
        ] {
            assert_eq!(leads_nowhere(&resolve(text, "ext").unwrap()), is_order, "{text}");
        }
    }
}
