//! Match patterns for URLs, and the globs of `query({title})`.

use url::Url;

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
        path: String,
    },
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

const SCHEMES_WITH_HOST: &[&str] = &[
    "http",
    "https",
    "ftp",
    "ws",
    "wss",
    "file",
    "chrome",
    "chrome-extension",
    "chrome-search",
    "devtools",
    "filesystem",
    "chrome-untrusted",
];
const SCHEMES_WITHOUT_HOST: &[&str] = &[
    "about",
    "data",
    "blob",
    "javascript",
    "uuid-in-package",
    "urn",
    "view-source",
];

impl MatchPattern {
    /// Reads a pattern; `None` if it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if text == "<all_urls>" {
            return Some(Self(Form::All));
        }
        let (scheme, rest) = text.split_once(':')?;
        if SCHEMES_WITHOUT_HOST.contains(&scheme) {
            return Some(Self(Form::Parts {
                scheme: Scheme::Exactly(scheme.into()),
                host: Host::Any,
                port: None,
                path: rest.into(),
            }));
        }
        let scheme = match scheme {
            "*" => Scheme::Web,
            known if SCHEMES_WITH_HOST.contains(&known) => Scheme::Exactly(known.into()),
            _ => return None,
        };
        let rest = rest.strip_prefix("//")?;
        if scheme == Scheme::Exactly("file".into()) {
            // The host of a file pattern is empty, but may be written as anything before the path.
            let path = rest.get(rest.find('/')?..)?.to_owned();
            return Some(Self(Form::Parts {
                scheme,
                host: Host::Any,
                port: None,
                path,
            }));
        }
        let (authority, path) = rest.split_at(rest.find('/')?);
        let (host, port) = split_port(authority)?;
        let host = match host.strip_prefix("*.") {
            Some(parent) if is_host(parent) => Host::Below(parent.to_ascii_lowercase()),
            _ if host == "*" => Host::Any,
            None if is_host(host) => Host::Exactly(host.to_ascii_lowercase()),
            _ => return None,
        };
        Some(Self(Form::Parts {
            scheme,
            host,
            port,
            path: path.into(),
        }))
    }

    /// Whether it is `<all_urls>`, or grants as much of the web: `*://*/*`.
    #[must_use]
    pub fn is_all_urls(&self) -> bool {
        self.0 == Form::All
    }

    /// Whether a URL, without its fragment, matches.
    #[must_use]
    pub fn matches(&self, url: &str) -> bool {
        let url = url.split('#').next().unwrap_or(url);
        let Form::Parts {
            scheme,
            host,
            port,
            path,
        } = &self.0
        else {
            return !url.is_empty();
        };
        let Ok(parsed) = Url::parse(url) else {
            return false;
        };
        let scheme_matches = match scheme {
            Scheme::Web => matches!(parsed.scheme(), "http" | "https"),
            Scheme::Exactly(name) => parsed.scheme() == name,
        };
        let named = parsed.host_str().unwrap_or("");
        let host_matches = match host {
            Host::Any => true,
            Host::Exactly(name) => named == name,
            Host::Below(parent) => named
                .strip_suffix(parent.as_str())
                .is_some_and(|start| start.is_empty() || start.ends_with('.')),
        };
        let port_matches = port.as_ref().is_none_or(|port| {
            parsed
                .port_or_known_default()
                .is_some_and(|own| own.to_string() == *port)
        });
        scheme_matches && host_matches && port_matches && glob(path, rest_of(&parsed), false)
    }
}

/// What comes after the host: path and query, or everything after the scheme where there is no host.
fn rest_of(url: &Url) -> &str {
    if url.cannot_be_a_base() {
        return url.as_str().split_once(':').map_or("", |(_, rest)| rest);
    }
    let before = url[..url::Position::BeforePath].len();
    url.as_str().get(before..).unwrap_or("/")
}

fn split_port(authority: &str) -> Option<(&str, Option<String>)> {
    match authority.rsplit_once(':') {
        None => Some((authority, None)),
        Some((host, "*")) => Some((host, None)),
        Some((host, port)) => port
            .parse::<u16>()
            .ok()
            .map(|_| (host, Some(port.to_owned()))),
    }
}

fn is_host(host: &str) -> bool {
    !host.is_empty() && !host.contains(['*', '/', ' ', '@'])
}

/// Whether a glob matches all of a text: `*` is anything; with `rich`, `?` is one character or none, and `\` escapes.
#[must_use]
pub fn glob(pattern: &str, text: &str, rich: bool) -> bool {
    let mut tokens = Vec::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        tokens.push(match character {
            '*' => Token::Many,
            '?' if rich => Token::Maybe,
            '\\' if rich => Token::One(characters.next().unwrap_or('\\')),
            other => Token::One(other),
        });
    }
    // Which tokens may come next after each character: linear in text times pattern, whatever the pattern is.
    let mut at: Vec<bool> = vec![false; tokens.len() + 1];
    if let Some(first) = at.first_mut() {
        *first = true;
    }
    close(&tokens, &mut at);
    for character in text.chars() {
        let mut next = vec![false; tokens.len() + 1];
        for (place, token) in tokens.iter().enumerate() {
            if at.get(place) != Some(&true) {
                continue;
            }
            let reached = match token {
                Token::Many => place,
                Token::Maybe => place + 1,
                Token::One(wanted) if *wanted == character => place + 1,
                Token::One(_) => continue,
            };
            if let Some(slot) = next.get_mut(reached) {
                *slot = true;
            }
        }
        close(&tokens, &mut next);
        at = next;
    }
    at.last() == Some(&true)
}

enum Token {
    One(char),
    Maybe,
    Many,
}

/// Adds the places that are reached without a character.
fn close(tokens: &[Token], at: &mut [bool]) {
    for (place, token) in tokens.iter().enumerate() {
        if at.get(place) == Some(&true)
            && matches!(token, Token::Many | Token::Maybe)
            && let Some(slot) = at.get_mut(place + 1)
        {
            *slot = true;
        }
    }
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
        ] {
            assert_eq!(MatchPattern::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn title_globs_match_the_whole_title() {
        for (pattern, text, matches) in [
            ("Page A", "Page A", true),
            ("page a", "Page A", false),
            ("Page", "Page A", false),
            ("Page*", "Page A", true),
            ("Page ??", "Page A", true),
            ("Page A?", "Page A", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
        ] {
            assert_eq!(glob(pattern, text, true), matches, "{pattern} {text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_as_a_pattern_never_panics(pattern in ".*", url in ".*") {
            if let Some(pattern) = MatchPattern::parse(&pattern) {
                let _ = pattern.matches(&url);
            }
            let _ = glob(&pattern, &url, true);
        }
    }
}
