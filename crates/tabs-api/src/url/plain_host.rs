//! Addresses whose hosts the URL standard refuses and the browser takes as they are: those with spaces, and those with names that stand for no others.

use url::{Host, Position};

use super::canonical::parse;

/// The start of a name that stands for one in other letters. The browser does not ask whether there is such a name.
const STANDS_FOR: &str = "xn--";

/// An address whose host the URL standard refuses, as the browser writes it.
pub(super) fn with_plain_host(text: &str) -> Option<String> {
    // What the URL standard leaves out before it reads.
    let text = text.trim_matches(|letter| letter <= ' ').replace(['\t', '\n', '\r'], "");
    let (scheme, rest) = text.split_once("://")?;
    let (authority, tail) = rest.split_at(rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len()));
    let (user, host) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    let (host, port) = host.split_at(host.find(':').unwrap_or(host.len()));
    if !["http", "https", "ws", "wss", "ftp", "chrome"].contains(&&*scheme.to_ascii_lowercase())
        || host.starts_with(' ')
        || host.starts_with("%20")
    {
        return None;
    }
    let host = PlainHost::of(host)?;
    // The rest must be as that of any other.
    let url = parse(&format!("{scheme}://{user}{}{port}{tail}", host.stand_in)).ok()?;
    let mended = dots_mended(&host.shown).filter(|_| url.scheme() != "chrome");
    let host = mended.unwrap_or(host.shown);
    Some(format!("{}{host}{}", &url[..Position::BeforeHost], &url[Position::AfterHost..]))
}

/// A host without dots before it, and with one at the most behind it; `None` for one that is so.
pub(super) fn dots_mended(host: &str) -> Option<String> {
    let bare = host.trim_matches('.');
    let end = if host.ends_with('.') { "." } else { "" };
    let is_so = bare.is_empty() || host.len() == bare.len() + end.len();
    (!is_so).then(|| format!("{bare}{end}"))
}

/// A host as the browser writes it: in small letters and without the escapes and the international names that it can do without.
#[must_use]
pub(crate) fn canonical_host(host: &str) -> Option<String> {
    match PlainHost::of(host) {
        Some(plain) => Host::parse(&plain.stand_in).ok().map(|_| plain.shown),
        None => Host::parse(host).ok().map(|host| host.to_string()),
    }
}

/// A host of which the browser takes more than the URL standard does.
struct PlainHost {
    /// As the browser writes it.
    shown: String,
    /// One that the URL standard takes where the browser takes this.
    stand_in: String,
}

impl PlainHost {
    /// `None` for a host that both read alike.
    fn of(host: &str) -> Option<Self> {
        let plain = host.replace("%20", " ").to_ascii_lowercase();
        let is_plain = plain.is_ascii() && (plain.contains(' ') || plain.contains(STANDS_FOR));
        is_plain.then(|| Self {
            shown: plain.replace(' ', "%20"),
            stand_in: plain.replace(' ', "-").replace(STANDS_FOR, "xn-"),
        })
    }
}
