//! Addresses whose hosts hold spaces, which the URL standard refuses and the browser does not.

use url::{Position, Url};

/// An address whose host holds spaces, which are escaped.
pub(super) fn escaped_host(text: &str) -> Option<String> {
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
