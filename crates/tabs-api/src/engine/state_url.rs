//! The address that a script may give its document without loading another one.

use url::{Position, Url};

use crate::url::{join, parse};

/// The address that a document comes to by `pushState` and `replaceState`, of an address relative to a base; `None` where the script fails instead. An
/// empty one is that of the document itself.
pub(super) fn state_url(document: &str, base: &str, given: &str) -> Option<String> {
    if given.is_empty() {
        return Some(document.to_owned());
    }
    let from = parse(document).ok()?;
    let to = join(&parse(base).ok()?, given).ok()?;
    let is_of_web = matches!(to.scheme(), "http" | "https");
    // Only pages of the web decide what their paths mean.
    let end = |url: &Url| {
        if is_of_web {
            url[..Position::BeforePath].to_owned()
        } else {
            url[..Position::AfterQuery].to_owned()
        }
    };
    (end(&from) == end(&to)).then(|| to.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_may_change_no_more_than_path_query_and_fragment() {
        let page = "http://a.test/a.html#x";
        for (document, base, given, url) in [
            (page, page, "/p?q", Some("http://a.test/p?q")),
            (page, page, "#y", Some("http://a.test/a.html#y")),
            (page, page, "", Some(page)),
            (page, page, "http://a.test/b", Some("http://a.test/b")),
            (page, page, "http://b.test/b", None),
            (page, page, "https://a.test/b", None),
            (page, page, "http://a.test:81/b", None),
            (page, page, "http://me@a.test/b", None),
            ("about:blank", "about:blank", "/x", None),
            ("about:blank", "about:blank", "#x", Some("about:blank#x")),
            ("about:blank", page, "/x", None),
            ("data:text/html,x", "data:text/html,x", "#y", Some("data:text/html,x#y")),
        ] {
            assert_eq!(state_url(document, base, given).as_deref(), url, "{document} {given}");
        }
    }
}
