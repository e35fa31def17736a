//! The policy of hosts and origins: a hostile web page gets nowhere, also one that has rebound its host name.

use http::request::Parts as Head;
use http::{HeaderMap, HeaderValue, header};
use triptych_core::host::is_own_name;

use super::refusal::Refusal;

/// The names and origins that requests may carry.
#[derive(Debug, Default)]
pub(super) struct OriginPolicy {
    pub(super) base_hosts: Vec<String>,
    pub(super) origins: Vec<String>,
}

impl OriginPolicy {
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
