//! The address of a session as the client sees it: the one it must come back to, also through a proxy.

/// Headers and connection of a request, as far as they tell the address that the client used. Header values as they came.
#[derive(Debug, Clone, Copy, Default)]
pub struct AddressHeaders<'r> {
    /// `Host`, or the authority of an absolute target.
    pub host: Option<&'r str>,
    /// `X-Forwarded-Host`.
    pub forwarded_host: Option<&'r str>,
    /// `X-Forwarded-Proto`.
    pub forwarded_proto: Option<&'r str>,
    /// `X-Forwarded-Port`.
    pub forwarded_port: Option<&'r str>,
    /// `X-Forwarded-Prefix`.
    pub forwarded_prefix: Option<&'r str>,
    /// True if the connection to this service is under TLS.
    pub tls: bool,
}

/// The base URL, without a slash at the end: `external_url` if the operator named one, else what the proxy says, else the host that was called.
///
/// A header that is no host, scheme, port or path is as good as absent. Where a proxy lists several, the first is the client's.
#[must_use]
pub fn base_url(
    external_url: Option<&str>,
    seen: &AddressHeaders<'_>,
    fallback_host: &str,
) -> String {
    if let Some(url) = external_url {
        return url.trim_end_matches('/').to_owned();
    }
    let first = |value: Option<&'_ str>| {
        value.and_then(|value| value.split(',').next()).map(|value| value.trim().to_owned())
    };
    let scheme = first(seen.forwarded_proto)
        .map(|scheme| scheme.to_ascii_lowercase())
        .filter(|scheme| scheme == "http" || scheme == "https")
        .unwrap_or_else(|| if seen.tls { "https" } else { "http" }.to_owned());
    let forwarded = first(seen.forwarded_host).filter(|host| is_host(host));
    let port = first(seen.forwarded_port)
        .filter(|port| port.parse::<u16>().is_ok_and(|port| port != 0))
        .filter(|_| forwarded.as_deref().is_some_and(|host| !has_port(host)))
        .filter(|port| {
            !matches!((scheme.as_str(), port.as_str()), ("http", "80") | ("https", "443"))
        });
    let host = forwarded
        .or_else(|| first(seen.host).filter(|host| is_host(host)))
        .unwrap_or_else(|| fallback_host.to_owned());
    let prefix = first(seen.forwarded_prefix)
        .filter(|prefix| {
            prefix.starts_with('/')
                && prefix
                    .bytes()
                    .all(|byte| byte.is_ascii_graphic() && byte != b'?' && byte != b'#')
        })
        .unwrap_or_default();
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    format!("{scheme}://{host}{port}{}", prefix.trim_end_matches('/'))
}

/// The target of a session: the path and query that opened it, and its id in the place of any that was there.
#[must_use]
pub fn session_target(path: &str, query: Option<&str>, upload_id: &str) -> String {
    let kept = query
        .unwrap_or_default()
        .split('&')
        .filter(|pair| !pair.is_empty())
        // The session is its own bearer; secrets have no business in an address that is logged and shared.
        .filter(|pair| {
            !["upload_id", "access_token"].contains(&pair.split('=').next().unwrap_or_default())
        });
    let mut target = format!("{path}?");
    for pair in kept {
        target.push_str(pair);
        target.push('&');
    }
    target + "upload_id=" + upload_id
}

/// A name, an IPv4 address or a bracketed IPv6 address, with or without a port.
fn is_host(host: &str) -> bool {
    !host.is_empty()
        && host.len() <= 261
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte))
}

fn has_port(host: &str) -> bool {
    host.rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_comes_back_to_the_address_that_it_used() {
        let seen = |host, forwarded_host, forwarded_proto| AddressHeaders {
            host: Some(host),
            forwarded_host,
            forwarded_proto,
            ..AddressHeaders::default()
        };
        for (external, seen, expected) in [
            (None, seen("127.0.0.1:7801", None, None), "http://127.0.0.1:7801"),
            (
                None,
                seen("10.0.0.1:80", Some("api.example.com"), Some("https")),
                "https://api.example.com",
            ),
            (
                None,
                seen("a:1", Some("b.example, proxy.internal"), Some("HTTPS, http")),
                "https://b.example",
            ),
            (None, seen("a:1", Some("evil\"/host"), Some("javascript")), "http://a:1"),
            (
                Some("https://media.example/base/"),
                seen("a:1", Some("b"), None),
                "https://media.example/base",
            ),
            (
                None,
                AddressHeaders { host: Some("[::1]:7801"), tls: true, ..AddressHeaders::default() },
                "https://[::1]:7801",
            ),
            (None, AddressHeaders::default(), "http://fallback:1"),
            (
                None,
                AddressHeaders {
                    host: Some("a"),
                    forwarded_host: Some("b"),
                    forwarded_port: Some("8443"),
                    forwarded_proto: Some("https"),
                    forwarded_prefix: Some("/video/"),
                    tls: false,
                },
                "https://b:8443/video",
            ),
            (
                None,
                AddressHeaders {
                    host: Some("a"),
                    forwarded_host: Some("b"),
                    forwarded_port: Some("443"),
                    forwarded_proto: Some("https"),
                    ..AddressHeaders::default()
                },
                "https://b",
            ),
        ] {
            assert_eq!(base_url(external, &seen, "fallback:1"), expected);
        }
    }

    #[test]
    fn a_session_keeps_the_query_but_no_secret_and_no_older_session() {
        let query = Some(
            "part=snippet%2Cstatus&alt=json&access_token=secret&uploadType=resumable&upload_id=old",
        );
        assert_eq!(
            session_target("/upload/youtube/v3/videos", query, "new"),
            "/upload/youtube/v3/videos?part=snippet%2Cstatus&alt=json&uploadType=resumable&upload_id=new"
        );
        assert_eq!(session_target("/x", None, "new"), "/x?upload_id=new");
    }
}
