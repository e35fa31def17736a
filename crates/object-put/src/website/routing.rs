//! The way of a request for a page: the key that it leads to, or another address.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::website::{Pages, RoutingRule, Website};

/// Everything but letters, digits, slashes and `-._~` is encoded.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// The address that a request for a page was sent to.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'r> {
    /// The host, with its port.
    pub host: &'r str,
    /// True if it came over TLS.
    pub secure: bool,
    /// The key that the path names; empty for the root.
    pub key: &'r str,
}

/// An answer that leads elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The status.
    pub status: u16,
    /// The address.
    pub location: String,
}

/// The next step to a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// Elsewhere.
    Redirect(Redirect),
    /// To the object with this key.
    Object(String),
}

impl Website {
    /// The way of a request, before any object is looked at.
    #[must_use]
    pub fn way(&self, request: &PageRequest<'_>) -> Way {
        match self {
            Self::Elsewhere(place) => {
                let protocol = place.protocol.as_deref();
                let location = request.address(protocol, Some(&place.host), request.key);
                Way::Redirect(Redirect { status: 301, location })
            }
            Self::Pages(pages) => match pages.rule(None, request.key) {
                Some(rule) => Way::Redirect(rule.redirect(request)),
                None => Way::Object(pages.key_of(request.key)),
            },
        }
    }
}

impl Pages {
    /// The key of the page at a place: a folder has one of its own.
    #[must_use]
    pub fn key_of(&self, key: &str) -> String {
        if key.is_empty() || key.ends_with('/') {
            [key, &self.index].concat()
        } else {
            key.to_owned()
        }
    }

    /// The key of the page of the folder that a request means which names it without its slash; `None` for what is a folder already.
    #[must_use]
    pub fn folder_page(&self, key: &str) -> Option<String> {
        (!key.is_empty() && !key.ends_with('/')).then(|| format!("{key}/{}", self.index))
    }

    /// Leads a request for a folder to the folder.
    #[must_use]
    pub fn to_folder(request: &PageRequest<'_>) -> Redirect {
        let path = utf8_percent_encode(request.key, ENCODED);
        Redirect { status: 302, location: format!("/{path}/") }
    }

    /// The way of a request that met a fault with this status.
    #[must_use]
    pub fn way_of_fault(&self, status: u16, request: &PageRequest<'_>) -> Option<Redirect> {
        self.rule(Some(status), request.key).map(|rule| rule.redirect(request))
    }

    /// The first rule for a key, and for a fault where there is one.
    fn rule(&self, fault: Option<u16>, key: &str) -> Option<&RoutingRule> {
        self.rules.iter().find(|rule| {
            rule.fault == fault
                && rule.prefix.as_deref().is_none_or(|prefix| key.starts_with(prefix))
        })
    }
}

impl RoutingRule {
    fn redirect(&self, request: &PageRequest<'_>) -> Redirect {
        let rest = self.prefix.as_deref().and_then(|prefix| request.key.strip_prefix(prefix));
        let key = match (&self.new_key, &self.new_prefix) {
            (Some(key), _) => key.clone(),
            (None, Some(prefix)) => [prefix, rest.unwrap_or(request.key)].concat(),
            (None, None) => request.key.to_owned(),
        };
        let location = request.address(self.protocol.as_deref(), self.host.as_deref(), &key);
        Redirect { status: self.status.unwrap_or(301), location }
    }
}

impl PageRequest<'_> {
    fn address(&self, protocol: Option<&str>, host: Option<&str>, key: &str) -> String {
        let own = if self.secure { "https" } else { "http" };
        let path = utf8_percent_encode(key, ENCODED);
        format!("{}://{}/{path}", protocol.unwrap_or(own), host.unwrap_or(self.host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::website::Place;

    const fn request(key: &str) -> PageRequest<'_> {
        PageRequest { host: "b.web.example:80", secure: false, key }
    }

    fn to(status: u16, location: &str) -> Way {
        Way::Redirect(Redirect { status, location: location.to_owned() })
    }

    #[test]
    fn a_folder_has_a_page_of_its_own() {
        let pages = Pages { index: "index.html".to_owned(), error: None, rules: Vec::new() };
        let website = Website::Pages(pages.clone());
        for (key, page) in
            [("", "index.html"), ("a/", "a/index.html"), ("a", "a"), ("/", "/index.html")]
        {
            assert_eq!(website.way(&request(key)), Way::Object(page.to_owned()));
        }
        assert_eq!(pages.folder_page("a").as_deref(), Some("a/index.html"));
        assert_eq!(pages.folder_page("a/"), None);
        assert_eq!(Pages::to_folder(&request("a b")).location, "/a%20b/");
    }

    #[test]
    fn the_first_rule_that_fits_leads_elsewhere() {
        let rule = |prefix: &str| RoutingRule {
            prefix: Some(prefix.to_owned()),
            ..RoutingRule::default()
        };
        let website = Website::Pages(Pages {
            index: "i".to_owned(),
            error: None,
            rules: vec![
                RoutingRule { new_prefix: Some("documents/".to_owned()), ..rule("docs/") },
                RoutingRule { new_key: Some("moved".to_owned()), status: Some(302), ..rule("old") },
                RoutingRule {
                    host: Some("h".to_owned()),
                    protocol: Some("https".to_owned()),
                    ..rule("far/")
                },
                RoutingRule {
                    fault: Some(404),
                    new_prefix: Some("report-404/".to_owned()),
                    ..RoutingRule::default()
                },
            ],
        });
        let here = "http://b.web.example:80";
        assert_eq!(website.way(&request("docs/a b")), to(301, &format!("{here}/documents/a%20b")));
        assert_eq!(website.way(&request("older")), to(302, &format!("{here}/moved")));
        assert_eq!(website.way(&request("far/x")), to(301, "https://h/far/x"));
        assert_eq!(website.way(&request("x")), Way::Object("x".to_owned()));
        let Website::Pages(pages) = &website else { return };
        let led = pages.way_of_fault(404, &request("x")).unwrap();
        assert_eq!(led.location, format!("{here}/report-404/x"));
        assert_eq!(pages.way_of_fault(403, &request("x")), None);
    }

    #[test]
    fn a_website_may_lead_every_request_to_another_host() {
        let place = |protocol: Option<&str>| {
            Website::Elsewhere(Place {
                host: "h".to_owned(),
                protocol: protocol.map(str::to_owned),
            })
        };
        assert_eq!(place(None).way(&request("a")), to(301, "http://h/a"));
        assert_eq!(place(Some("https")).way(&request("")), to(301, "https://h/"));
    }
}
