//! The policy of hosts and origins: a hostile web page gets nowhere, also one that has rebound its host name.

use http::request::Parts as Head;
use http::{HeaderMap, HeaderValue, header};
use triptych_core::host::is_own_name;
use url::Url;

use super::refusal::Refusal;
use crate::seed::SeedError;

/// The names and origins that requests may carry.
#[derive(Debug, Default)]
pub(super) struct OriginPolicy {
    pub(super) base_hosts: Vec<String>,
    pub(super) origins: Vec<String>,
}

/// The origin that browsers send for pages that have none.
const NO_ORIGIN: &str = "null";

/// True for an origin as browsers send it. Addresses, parts of them, and other spellings would never be met.
fn is_origin(text: &str) -> bool {
    let Ok(url) = Url::parse(text) else { return text == NO_ORIGIN };
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let origin = url.host_str().map(|host| format!("{}://{host}{port}", url.scheme()));
    origin.as_deref() == Some(text)
}

impl OriginPolicy {
    /// Refuses what no browser sends.
    ///
    /// # Errors
    /// `Origin`.
    pub(super) fn check_origins(&self) -> Result<(), SeedError> {
        match self.origins.iter().find(|text| !is_origin(text)) {
            Some(text) => Err(SeedError::Origin(text.clone())),
            None => Ok(()),
        }
    }

    /// Refuses foreign host names always, and web pages of every origin that is not allowed.
    pub(super) fn check(&self, head: &Head) -> Result<(), Refusal> {
        let host = text(&head.headers, header::HOST)
            .or_else(|| head.uri.authority().map(http::uri::Authority::as_str));
        if !host.is_some_and(|host| is_own_name(host, &self.base_hosts)) {
            return Err(Refusal::ForeignHost);
        }
        match head.headers.get(header::ORIGIN) {
            Some(_) if self.origin(&head.headers).is_none() => Err(Refusal::ForeignOrigin),
            None if is_embedded(&head.headers) => Err(Refusal::ForeignOrigin),
            _ => Ok(()),
        }
    }

    /// The origin of the page that asks, if it is allowed.
    pub(super) fn origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        let allowed = |allowed: &String| allowed.as_bytes() == origin.as_bytes();
        self.origins.iter().any(allowed).then(|| origin.clone())
    }
}

/// True if a foreign page asks for a picture, script or the like, which browsers send without an origin.
fn is_embedded(headers: &HeaderMap) -> bool {
    let field = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let is_foreign = matches!(field("sec-fetch-site"), Some("cross-site" | "same-site"));
    is_foreign && field("sec-fetch-mode") != Some("navigate")
}

/// The text of a header.
pub(super) fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(fields: &[(&str, &str)]) -> Result<(), Refusal> {
        let policy = OriginPolicy {
            base_hosts: vec!["tabs.example".into()],
            origins: vec!["https://good.example".into()],
        };
        let mut request = http::Request::builder();
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        policy.check(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn an_origin_is_what_a_browser_sends_and_nothing_else_is_taken_for_one() {
        let refused = |text: &str| {
            let policy = OriginPolicy { origins: vec![text.into()], ..OriginPolicy::default() };
            policy.check_origins().is_err()
        };
        for good in [
            "https://app.example",
            "http://localhost:3000",
            "http://[::1]:8080",
            "chrome-extension://abcdefghijklmnopabcdefghijklmnop",
            "null",
        ] {
            assert!(!refused(good), "{good}");
        }
        for bad in [
            "",
            "foo",
            "*",
            "app.example",
            "localhost:3000",
            "https://app.example/",
            "https://app.example/path",
            "https://App.example",
            "https://app.example:443",
            "https://user@app.example",
            "data:text/html,x",
        ] {
            assert!(refused(bad), "{bad}");
        }
    }

    #[test]
    fn foreign_names_and_pages_are_refused() {
        for good in [
            &[("host", "127.0.0.1:7803")][..],
            &[("host", "localhost:1")],
            &[("host", "tabs.example:1")],
            &[("host", "localhost"), ("origin", "https://good.example")],
        ] {
            assert!(check(good).is_ok(), "{good:?}");
        }
        for bad in [&[][..], &[("host", "evil.example")], &[("host", "localhost.evil.example")]] {
            assert!(matches!(check(bad), Err(Refusal::ForeignHost)), "{bad:?}");
        }
        let embedded = |mode| {
            let fields = [("host", "localhost"), ("sec-fetch-site", "cross-site")];
            check(&[fields[0], fields[1], ("sec-fetch-mode", mode)])
        };
        assert!(matches!(embedded("no-cors"), Err(Refusal::ForeignOrigin)));
        assert!(embedded("navigate").is_ok(), "a link to the schema may be followed");
        for origin in ["https://evil.example", "null", "http://localhost"] {
            let fields = [("host", "localhost"), ("origin", origin)];
            assert!(matches!(check(&fields), Err(Refusal::ForeignOrigin)));
        }
    }
}
