//! Addresses as the browser shows them to the user: what a page without a title has for one, and the page in place of one that could not be loaded.

use super::international::shown_host;
use super::{is_file, page_of_source};
use crate::url::SOURCE;

/// The signs of ASCII whose escapes are undone beside those of letters and digits: no part of an address reads otherwise with them.
const PLAIN: &str = "-_~\"<>";

/// Characters of Unicode that stay escaped, first and last of each run: they give a text another direction, stand for a lock, or are seen as a space or not at all.
const UNSAFE: [(u32, u32); 30] = [
    (0x85, 0x85),
    (0xa0, 0xa0),
    (0xad, 0xad),
    (0x34f, 0x34f),
    (0x600, 0x605),
    (0x61c, 0x61c),
    (0x6dd, 0x6dd),
    (0x70f, 0x70f),
    (0x8e2, 0x8e2),
    (0x115f, 0x1160),
    (0x1680, 0x1680),
    (0x17b4, 0x17b5),
    (0x180b, 0x180e),
    (0x2000, 0x200f),
    (0x2028, 0x202f),
    (0x205f, 0x2064),
    (0x2066, 0x206f),
    (0x2800, 0x2800),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xfffb),
    (0x110bd, 0x110bd),
    (0x1bca0, 0x1bca3),
    (0x1d173, 0x1d17a),
    (0x1f50f, 0x1f510),
    (0x1f512, 0x1f513),
    (0xe0000, 0xe0fff),
];

/// Runs of the characters that are written from right to left.
const RIGHT_TO_LEFT: [(u32, u32); 5] =
    [(0x590, 0x8ff), (0xfb1d, 0xfdff), (0xfe70, 0xfefe), (0x10800, 0x10fff), (0x1e800, 0x1efff)];

/// The manner of showing an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Without what the user need not see, and with spaces.
    Short,
    /// The same for a page whose source is shown: there https counts.
    Source,
    /// Whole.
    Whole,
}

/// The title of a page that has none yet: its URL as the address bar shows it.
#[must_use]
pub fn title(url: &str) -> String {
    let shown = shown(url, Manner::Short);
    if is_file(url) {
        let end = shown.find(['?', '#']).unwrap_or(shown.len());
        let slash = shown.get(..end).and_then(|path| path.rfind('/'));
        return slash.and_then(|at| shown.get(at + 1..)).unwrap_or(&shown).to_owned();
    }
    if !shown.is_ascii() && shown.chars().any(|letter| is_in(&RIGHT_TO_LEFT, letter)) {
        return format!("\u{202a}{shown}\u{202c}");
    }
    shown
}

/// The title of the browser's own page in place of one that could not be loaded.
#[must_use]
pub fn error_title(url: &str) -> String {
    let page = page_of_source(url);
    let parts = Parts::of(page);
    match parts.scheme {
        "http://" | "https://" => shown_host(parts.host),
        _ => shown(page, Manner::Whole),
    }
}

fn shown(url: &str, manner: Manner) -> String {
    if let Some(page) = url.strip_prefix(SOURCE).filter(|page| !page.starts_with(SOURCE)) {
        return format!("{SOURCE}{}", shown(page, Manner::Source));
    }
    let parts = Parts::of(url);
    let is_short = manner != Manner::Whole;
    let is_plain = match parts.scheme {
        "http://" => is_short,
        "https://" => manner == Manner::Short,
        _ => false,
    };
    // Whoever types such a host means another protocol.
    let omits_scheme = is_plain && !parts.host.starts_with("ftp.");
    let scheme = if omits_scheme { "" } else { parts.scheme };
    let user = if is_short { "" } else { parts.user };
    let is_trimmed = manner == Manner::Short && omits_scheme;
    let host = shown_host(if is_trimmed { without_www(parts.host) } else { parts.host });
    let is_bare = is_short && !parts.host.is_empty() && parts.path == "/";
    let path = match parts.path {
        "/" if is_bare && parts.query.is_empty() && parts.fragment.is_empty() => String::new(),
        path => undone(path, manner),
    };
    let (query, fragment) =
        (unescaped_rest(parts.query, manner), unescaped_rest(parts.fragment, manner));
    format!("{scheme}{user}{host}{}{path}{query}{fragment}", parts.port)
}

/// A host without a `www.` that says nothing: what is left is a host of its own.
fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").filter(|bare| bare.contains('.')).unwrap_or(host)
}

/// The parts of an address. Each holds the marks that belong to it, so that together they are the address.
#[derive(Debug)]
struct Parts<'u> {
    scheme: &'u str,
    user: &'u str,
    host: &'u str,
    port: &'u str,
    path: &'u str,
    query: &'u str,
    fragment: &'u str,
}

impl<'u> Parts<'u> {
    fn of(url: &'u str) -> Self {
        let (rest, fragment) = split_before(url, '#');
        let (rest, query) = split_before(rest, '?');
        let colon = rest.find(':').map_or(0, |at| at + 1);
        let (scheme, path) = rest.split_at(colon);
        let Some(behind) = path.strip_prefix("//") else {
            let (user, host, port) = ("", "", "");
            return Self { scheme, user, host, port, path, query, fragment };
        };
        let scheme = rest.get(..colon + 2).unwrap_or(scheme);
        let (authority, path) = split_before(behind, '/');
        let (user, host) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        let end = host.rfind(':').filter(|at| !host.get(*at..).unwrap_or_default().contains(']'));
        let (host, port) = host.split_at(end.unwrap_or(host.len()));
        Self { scheme, user, host, port, path, query, fragment }
    }
}

/// A text up to a mark, and the rest from it on.
fn split_before(text: &str, mark: char) -> (&str, &str) {
    text.split_at(text.find(mark).unwrap_or(text.len()))
}

/// A query or a fragment as it is shown, behind its mark.
fn unescaped_rest(part: &str, manner: Manner) -> String {
    let (mark, text) = part.split_at(part.len().min(1));
    format!("{mark}{}", undone(text, manner))
}

/// An address, or a part of one, without the escapes that say nothing: spaces stay escaped, and what reads otherwise without.
#[must_use]
pub fn unescaped(part: &str) -> String {
    undone(part, Manner::Whole)
}

/// A part of an address whose escapes are undone, where that gives a text that is safe to show. Where one gives no text at all, every escape stays.
fn undone(part: &str, manner: Manner) -> String {
    let (mut shown, mut rest) = (String::with_capacity(part.len()), part);
    while let Some(at) = rest.find('%') {
        let (before, escapes) = rest.split_at(at);
        shown.push_str(before);
        let Some(bytes) = escaped_bytes(escapes) else {
            shown.push('%');
            rest = escapes.get(1..).unwrap_or_default();
            continue;
        };
        let Some(letter) = std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next())
        else {
            return part.to_owned();
        };
        let (escape, behind) = escapes.split_at(bytes.len() * 3);
        if is_safe(letter, manner) {
            shown.push(letter);
        } else {
            shown.push_str(escape);
        }
        rest = behind;
    }
    shown + rest
}

/// The bytes of the character that escapes at the start of a text stand for, as many as its first one says; `None` if there is no escape.
fn escaped_bytes(text: &str) -> Option<Vec<u8>> {
    let byte = |at: usize| {
        let code = text.get(at * 3..)?.strip_prefix('%')?.get(..2)?;
        u8::from_str_radix(code, 16).ok().filter(|_| !code.starts_with('+'))
    };
    let length = match byte(0)? {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    Some((0..length).map_while(byte).collect())
}

fn is_safe(letter: char, manner: Manner) -> bool {
    match letter {
        ' ' => manner != Manner::Whole,
        letter if letter.is_ascii() => letter.is_ascii_alphanumeric() || PLAIN.contains(letter),
        letter => !is_in(&UNSAFE, letter),
    }
}

fn is_in(runs: &[(u32, u32)], letter: char) -> bool {
    runs.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_without_a_title_shows_its_address() {
        for (url, shown) in [
            ("http://a.test/a.html", "a.test/a.html"),
            ("https://a.test/a.html", "a.test/a.html"),
            ("http://ftp.a.test/x", "http://ftp.a.test/x"),
            ("http://user:pw@a.test:81/x", "a.test:81/x"),
            ("https://www.nowhere.invalid/x", "nowhere.invalid/x"),
            ("http://www.test/x.y", "www.test/x.y"),
            ("http://[::1]:81/", "[::1]:81"),
            ("http://nowhere.invalid/", "nowhere.invalid"),
            ("http://nowhere.invalid/#x", "nowhere.invalid/#x"),
            ("http://a%20b/", "a%20b"),
            ("http://xn--bcher-kva.test/", "bücher.test"),
            ("about:blank", "about:blank"),
            ("chrome://version/", "chrome://version"),
            ("view-source:http://a.test/a.html", "view-source:a.test/a.html"),
            ("view-source:view-source:http://a.test/", "view-source:view-source:http://a.test/"),
            ("file:///tmp/x.html", "x.html"),
            ("file:///etc/hostname?a/b#c/d", "hostname?a/b#c/d"),
            ("view-source:file:///tmp/x.html", "x.html"),
            ("view-source:https://a.test/%20", "view-source:https://a.test/ "),
            ("http://a.test/x%20y%2Fz", "a.test/x y%2Fz"),
            ("http://a.test/?%E2%80%AE%20x%C2%A0y", "a.test/?%E2%80%AE x%C2%A0y"),
            ("http://a.test/%20?a%20b%FF#%C3%A4", "a.test/ ?a%20b%FF#ä"),
            ("http://a.test/%C3%41%zz", "a.test/%C3%41%zz"),
            (
                "http://a.test/%21%28%2A%2E%5B%5E%60%7B%7C%2D%5F%7E%22%3C%41",
                "a.test/%21%28%2A%2E%5B%5E%60%7B%7C-_~\"<A",
            ),
            ("http://a.test/x?%27y#%60", "a.test/x?%27y#%60"),
            ("http://a.test/%D7%90", "\u{202a}a.test/\u{5d0}\u{202c}"),
        ] {
            assert_eq!(title(url), shown);
        }
    }

    #[test]
    fn an_error_is_titled_by_its_host_or_by_its_address_as_a_whole() {
        for (url, shown) in [
            ("http://nowhere.invalid:81/x", "nowhere.invalid"),
            ("view-source:http://nowhere.invalid/", "nowhere.invalid"),
            ("http://a%20b/x", "a%20b"),
            ("ws://a.test/", "ws://a.test/"),
            ("file:///no/x%20y%41.txt", "file:///no/x%20yA.txt"),
        ] {
            assert_eq!(error_title(url), shown);
        }
    }
}
