//! Match patterns for URLs, and the globs of `query({title})`.

use crate::url::{canonical_host, unescaped};

/// A pattern like `*://*.example.com/path*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchPattern(Form);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// `<all_urls>`.
    All,
    Parts {
        scheme: Scheme,
        host: Host,
        port: Option<String>,
        path: Path,
    },
}

/// A path of a pattern, or what stands there for a scheme without hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Path {
    written: String,
    /// Without the escapes that say nothing.
    unescaped: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Scheme {
    /// `*`: http and https.
    Web,
    Exactly(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Any,
    /// A host and everything below it.
    Below(String),
    Exactly(String),
}

/// The schemes whose addresses name a host.
const SCHEMES_WITH_HOST: &[&str] = &[
    "http",
    "https",
    "ftp",
    "ws",
    "wss",
    "file",
    "filesystem",
    "chrome",
    "chrome-distiller",
    "chrome-extension",
    "chrome-native",
    "chrome-search",
    "devtools",
    "chrome-untrusted",
    "isolated-app",
    "chrome-error",
];
/// Those of them whose patterns may name a port.
const SCHEMES_WITH_PORT: &[&str] = &["http", "https", "ftp", "ws", "wss"];
/// Domains of the first level that nobody owns as a whole.
const COMMON_DOMAINS: &[&str] = &["com", "org", "net", "edu", "gov", "io", "de", "uk", "fr", "jp"];

impl MatchPattern {
    /// Reads a pattern; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "<all_urls>" {
            return Some(Self(Form::All));
        }
        let separator = if text.contains("://") { "://" } else { ":" };
        let (name, rest) = text.split_once(separator)?;
        let has_host =
            name == "*" || SCHEMES_WITH_HOST.contains(&name.to_ascii_lowercase().as_str());
        if has_host != (separator == "://") || rest.is_empty() {
            return None;
        }
        if !has_host {
            // A scheme without hosts has nothing but what comes behind it.
            return Some(Self::of_scheme(name, rest));
        }
        if name == "file" {
            // The host of a file pattern is empty, but may be written as anything before the path, or be left out with the path's slash.
            let path = rest.find('/').and_then(|at| rest.get(at..));
            return Some(match path {
                Some(path) => Self::of_scheme(name, path),
                None => Self::of_scheme(name, &format!("/{rest}")),
            });
        }
        let scheme = if name == "*" { Scheme::Web } else { Scheme::Exactly(name.into()) };
        let (authority, path) = rest.split_at(rest.find('/')?);
        let (host, port) = split_port(authority)?;
        if port.is_some() && !SCHEMES_WITH_PORT.contains(&name) {
            return None;
        }
        let host = match host.strip_prefix("*.") {
            Some(parent) => match host_of(parent)? {
                root if root.is_empty() => Host::Any,
                parent => Host::Below(parent),
            },
            None if host == "*" => Host::Any,
            None => Host::Exactly(host_of(host)?),
        };
        Some(Self(Form::Parts { scheme, host, port, path: Path::of(path) }))
    }

    fn of_scheme(name: &str, path: &str) -> Self {
        let scheme = Scheme::Exactly(name.into());
        Self(Form::Parts { scheme, host: Host::Any, port: None, path: Path::of(path) })
    }

    /// True if it is `<all_urls>`, or grants as much of the web: `*://*/*`.
    #[must_use]
    pub fn is_all_urls(&self) -> bool {
        self.0 == Form::All
    }

    /// True if it covers every site, or every one below a domain of the first level.
    #[must_use]
    pub fn covers_all_sites(&self) -> bool {
        match &self.0 {
            Form::All => true,
            Form::Parts { scheme, host, .. } => {
                !matches!(scheme, Scheme::Exactly(name) if name == "file")
                    && match host {
                        Host::Any => true,
                        Host::Below(parent) => COMMON_DOMAINS.contains(&parent.as_str()),
                        Host::Exactly(_) => false,
                    }
            }
        }
    }

    /// The host that it covers, with `*.` in front where those below it are meant; `None` for all of them and for files.
    #[must_use]
    pub fn site(&self) -> Option<String> {
        match &self.0 {
            Form::Parts { host: Host::Below(parent), .. } => Some(format!("*.{parent}")),
            Form::Parts { host: Host::Exactly(name), .. } => Some(name.clone()),
            _ => None,
        }
    }

    /// True if a URL, without its fragment, matches.
    #[must_use]
    pub fn matches(&self, url: &str) -> bool {
        let Form::Parts { scheme, host, port, path } = &self.0 else {
            return !without_fragment(url).is_empty();
        };
        let Some(parts) = Parts::of(url) else {
            return false;
        };
        let scheme_matches = match scheme {
            Scheme::Web => matches!(parts.scheme, "http" | "https"),
            Scheme::Exactly(name) => parts.scheme == name,
        };
        let shown = without_dot(parts.host);
        let host_matches = || match host {
            Host::Any => true,
            Host::Exactly(name) => shown == name,
            Host::Below(parent) => shown.strip_suffix(parent.as_str()).is_some_and(|start| {
                start.is_empty() || start.ends_with('.') && !is_address(parts.host)
            }),
        };
        let port_matches = || port.as_ref().is_none_or(|port| parts.port() == port);
        scheme_matches
            && host_matches()
            && port_matches()
            && path.matches(without_fragment(parts.rest))
    }
}

impl Path {
    fn of(written: &str) -> Self {
        Self { written: written.to_owned(), unescaped: unescaped(written) }
    }

    /// True for a path and query that it says as both are written, or as both read without the escapes that say nothing.
    fn matches(&self, path: &str) -> bool {
        let has_escapes = path.contains('%') || self.written != self.unescaped;
        says(&self.written, path) || has_escapes && says(&self.unescaped, &unescaped(path))
    }
}

/// True if a path of a pattern says what a path and query is, or that and `/*`.
fn says(pattern: &str, path: &str) -> bool {
    // A question mark and a backslash are escaped in what the browser compares here.
    let is_folder = pattern.strip_suffix("/*") == Some(path) && !path.contains(['?', '\\']);
    is_folder || stars(pattern, path)
}

fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(url, _)| url)
}

/// A host without the dot at its end, which says nothing.
fn without_dot(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

/// True for a host that is an address: nothing is below it.
fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

/// A URL that was normalised before, cut where patterns look.
struct Parts<'u> {
    scheme: &'u str,
    host: &'u str,
    /// As it is written: empty for the one of the scheme.
    port: &'u str,
    /// Path, query and fragment, or everything after the scheme where there is no host.
    rest: &'u str,
}

impl<'u> Parts<'u> {
    /// Looks for its signs byte by byte: they are near, and queries ask this of every tab.
    fn of(url: &'u str) -> Option<Self> {
        let (scheme, rest) = url.split_at(url.bytes().position(|byte| byte == b':')?);
        let rest = rest.strip_prefix(':')?;
        let hosted = rest.strip_prefix("//").filter(|_| SCHEMES_WITH_HOST.contains(&scheme));
        let Some(hosted) = hosted else {
            return Some(Self { scheme, host: "", port: "", rest });
        };
        let end = hosted.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
        let (authority, rest) = hosted.split_at(end.unwrap_or(hosted.len()));
        let last = |byte: u8| authority.bytes().rposition(|other| other == byte);
        let (start, bracket) = (last(b'@').map_or(0, |at| at + 1), last(b']').unwrap_or_default());
        let colon = last(b':').filter(|colon| *colon >= bracket.max(start));
        let colon = colon.unwrap_or(authority.len());
        let host = authority.get(start..colon).unwrap_or_default();
        let port = authority.get(colon..).unwrap_or_default();
        Some(Self { scheme, host, port: port.strip_prefix(':').unwrap_or_default(), rest })
    }

    fn port(&self) -> &str {
        match self.scheme {
            _ if !self.port.is_empty() => self.port,
            "http" | "ws" => "80",
            "https" | "wss" => "443",
            "ftp" => "21",
            _ => "",
        }
    }
}

/// True if a text is what a pattern with `*` alone says. Nothing is allocated.
fn stars(pattern: &str, text: &str) -> bool {
    let Some((first, pattern)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    let (middle, last) = pattern.rsplit_once('*').unwrap_or(("", pattern));
    for part in middle.split('*') {
        // An empty part, as between two stars, is found at once and takes nothing.
        match text.split_once(part) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(last)
}

/// The host of an authority, and the port where it names one.
fn split_port(authority: &str) -> Option<(&str, Option<String>)> {
    // The colons of an address of version 6 stand in brackets.
    let end = if authority.starts_with('[') { authority.find(']')? + 1 } else { 0 };
    let (bracketed, rest) = authority.split_at(end);
    let Some((name, port)) = rest.split_once(':') else {
        return (end == 0 || rest.is_empty()).then_some((authority, None));
    };
    if end > 0 && !name.is_empty() {
        return None;
    }
    let host = if end > 0 { bracketed } else { name };
    Some((host, if port == "*" { None } else { Some(port_of(port)?) }))
}

/// A port as it is written, with or without a sign; no address has one with a sign or with noughts in front.
fn port_of(text: &str) -> Option<String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    let port = digits.parse::<u64>().ok().filter(|_| is_number)?;
    let greatest = if text.starts_with('-') { 0 } else { u64::from(u16::MAX) };
    (port <= greatest).then(|| text.to_owned())
}

/// A host as addresses have it, without the dot at its end; `None` for one that no address can have.
fn host_of(host: &str) -> Option<String> {
    if host.is_empty() || host.contains('*') {
        return None;
    }
    canonical_host(host).map(|host| without_dot(&host).to_owned())
}

/// True if a glob matches all of a text: `*` is anything; with `rich`, `?` is one character or none, and `\` escapes.
#[must_use]
pub fn glob(pattern: &str, text: &str, rich: bool) -> bool {
    if !rich || !pattern.contains(['?', '\\']) {
        return stars(pattern, text);
    }
    let (pattern, text): (Vec<_>, Vec<_>) = (pattern.chars().collect(), text.chars().collect());
    let (mut pattern, mut text) = (pattern.as_slice(), text.as_slice());
    loop {
        let ordinary = pattern.iter().position(|sign| !is_wildcard(*sign));
        let (wild, rest) = pattern.split_at(ordinary.unwrap_or(pattern.len()));
        let reach = if wild.contains(&'*') { text.len() } else { wild.len() };
        match nearest(rest, text, reach) {
            Some(([], _)) => return true,
            Some(left) => (pattern, text) = left,
            None => return false,
        }
    }
}

const fn is_wildcard(sign: char) -> bool {
    matches!(sign, '*' | '?')
}

/// The rest of a pattern and of a text behind the nearest place, at most `reach` characters ahead, at which the text goes on as the pattern does up to its
/// next wildcard, or to the end of both. The browser looks for no other place once it has found one.
fn nearest<'s>(
    pattern: &'s [char],
    text: &'s [char],
    reach: usize,
) -> Option<(&'s [char], &'s [char])> {
    // As in the browser, a backslash at the very end escapes the first sign of the pattern at the next place.
    let mut is_escaped = false;
    for start in 0..=reach.min(text.len()) {
        let (mut wanted, mut found) = (pattern, text.get(start..)?);
        loop {
            match (wanted, found) {
                ([], []) => return Some((wanted, found)),
                ([], _) => break,
                ([sign, ..], _) if !is_escaped && is_wildcard(*sign) => {
                    return Some((wanted, found));
                }
                (['\\', rest @ ..], _) if !is_escaped => (is_escaped, wanted) = (true, rest),
                ([sign, rest @ ..], [letter, others @ ..]) if sign == letter => {
                    (is_escaped, wanted, found) = (false, rest, others);
                }
                (_, []) => return None,
                _ => {
                    is_escaped = false;
                    break;
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_match_as_in_the_browser() {
        for (pattern, url, matches) in [
            ("http://a.test/*", "http://a.test/a.html", true),
            ("http://A.test/*", "http://a.test/a.html", true),
            ("http://a.test/A*", "http://a.test/a.html", false),
            ("http://a.test/*", "http://b.a.test/", false),
            ("http://*.a.test/*", "http://b.a.test/", true),
            ("http://*.a.test/*", "http://a.test/", true),
            ("http://*.a.test/*", "http://xa.test/", false),
            ("*://*/*", "https://a.test/", true),
            ("*://*/*", "about:blank", false),
            ("<all_urls>", "about:blank", true),
            ("http://a.test:80/*", "http://a.test/", true),
            ("http://a.test:81/*", "http://a.test/", false),
            ("http://a.test/a.html", "http://a.test/a.html#f", true),
            ("http://a.test/a.html#f", "http://a.test/a.html#f", false),
            ("http://a.test/a.html", "http://a.test/a.html?q", false),
            ("http://a.test/a?html", "http://a.test/a.html", false),
            ("about:*", "about:blank", true),
            ("chrome://*/*", "chrome://version/", true),
            ("http://a.test./*", "http://a.test/", true),
            ("*://*.%74est/*", "http://a.test./", true),
            ("http://127.1/*", "http://127.0.0.1/", true),
            ("http://*.0.0.1/*", "http://127.0.0.1/", false),
            ("http://*.127.0.0.1/*", "http://127.0.0.1/", true),
            ("http://[::1]:80/*", "http://[::1]/", true),
            ("http://a.test:81/*", "http://u:p@a.test:81/x#f:@/", true),
            ("http://a.test/*", "http://a.test@b.test/", false),
            ("http://[::1]:81/*", "http://u:p@[::1]:81/", true),
            ("http://a.test:080/*", "http://a.test/", false),
            ("http://a.test/a.html/*", "http://a.test/a.html", true),
            ("http://a.test/a?b/*", "http://a.test/a?b", false),
            ("file://etc*", "file:///etc/hosts", true),
            ("a b:x", "about:blank", false),
        ] {
            assert_eq!(
                MatchPattern::parse(pattern).unwrap().matches(url),
                matches,
                "{pattern} {url}"
            );
        }
        for bad in [
            "",
            "a",
            "http://",
            "http:/a/*",
            "foo://a/*",
            "http://a*b/*",
            "http://*.*.a/*",
            "http://a",
            "http://a:x/*",
            "http://a:80:80/*",
            "http://[::1]x/*",
            "http://:80/*",
            "http://1.2.3.4.5/*",
            "http://a%/*",
            "http://a.test?x/*",
            "HTTP:x",
            "view-source:http://a/*",
        ] {
            assert_eq!(MatchPattern::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_path_matches_as_it_is_written_or_without_the_escapes_that_say_nothing() {
        for (pattern, path, matches) in [
            ("/%61.html", "/a.html", true),
            ("/*%61", "/%FFa", true),
            ("/%FF%61", "/%FFa", false),
            ("/ä.html", "/%C3%A4.html", true),
            ("/%c3%a4*", "/%C3%A4.html", true),
            ("/%c3%a4%FF", "/%C3%A4%FF", false),
            ("/%7eu", "/%7Eu", true),
            ("/\"*", "/%22q", true),
            ("/%*", "/%22q", true),
            ("/%*%71", "/%22q", false),
            ("/a%3Fb?c%3Dd=a", "/a%3Fb?c%3Dd=%61", true),
            ("/%61/*", "/a", true),
            ("/%2f", "/%2F", false),
            ("/a b", "/a%20b", false),
            ("/%61", "/%2561", false),
            ("/n-m_o.", "/n%2Dm%5Fo%2E", false),
            ("/n-m_o%2E", "/n%2Dm%5Fo%2E", true),
            ("/{c}", "/%7Bc%7D", false),
            ("/a\u{202e}b", "/a%E2%80%AEb", false),
        ] {
            let found = MatchPattern::parse(&format!("http://a.test{pattern}")).unwrap();
            assert_eq!(found.matches(&format!("http://a.test{path}")), matches, "{pattern} {path}");
        }
        let data = MatchPattern::parse("data:text/html,a*").unwrap();
        assert!(data.matches("data:text/html,%61%3C"));
    }

    #[test]
    fn title_globs_match_the_whole_title_as_the_browser_looks_for_them() {
        for (pattern, text, matches) in [
            ("Page A", "Page A", true),
            ("page a", "Page A", false),
            ("Page", "Page A", false),
            ("Page*", "Page A", true),
            ("Page ??", "Page A", true),
            ("Page A?", "Page A", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("a*b?c", "abXbc", false),
            ("*b?c", "abXbc", false),
            ("a*X?c", "abXbc", true),
            ("a*?c", "abXbc", true),
            ("*?????", "abXbc", true),
            ("??????", "abXbc", true),
            ("????", "abXbc", false),
            ("abXbc\\", "abXbc", true),
            ("a*\\bc", "abXbc", true),
            ("*\\", "abXbc", false),
            ("*\\", "Page A", true),
            ("ab\\", "ab\\\\", false),
            ("a*\\?", "ab*?", true),
        ] {
            assert_eq!(glob(pattern, text, true), matches, "{pattern} {text}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_of_stars_says_what_the_slow_way_says(pattern in "[ab*]{0,8}", text in "[ab]{0,10}") {
            // The backslash before an ordinary character changes nothing but the way that is taken.
            let slow = format!("{pattern}\\z");
            prop_assert_eq!(glob(&pattern, &text, true), glob(&slow, &format!("{text}z"), true));
        }

        #[test]
        fn any_text_as_a_pattern_never_panics(pattern in ".*", url in ".*") {
            if let Some(pattern) = MatchPattern::parse(&pattern) {
                let _ = pattern.matches(&url);
            }
            let _ = glob(&pattern, &url, true);
        }
    }
}
