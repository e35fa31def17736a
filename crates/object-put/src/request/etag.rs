//! Entity tags: how they are written, and how a condition compares them.

/// `etag` as a header carries it.
#[must_use]
pub fn quoted(etag: &str) -> String {
    format!("\"{etag}\"")
}

/// A tag of a condition without its quotes, which clients leave out as often as not.
#[must_use]
pub fn bare(tag: &str) -> &str {
    let tag = tag.trim();
    tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap_or(tag)
}

/// Tells whether one of the comma-separated tags of `list`, or `*`, means `etag`. A weak tag means the same as a strong one.
#[must_use]
pub fn listed(list: &str, etag: &str) -> bool {
    list.split(',').map(str::trim).any(|tag| {
        let tag = tag.strip_prefix("W/").unwrap_or(tag);
        tag == "*" || bare(tag) == etag
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_around_a_tag_do_not_matter() {
        assert_eq!(bare("\"abc\""), "abc");
        assert_eq!(bare(" abc "), "abc");
        assert_eq!(bare("\"abc"), "\"abc");
        assert_eq!(quoted("abc"), "\"abc\"");
    }

    #[test]
    fn a_list_means_each_of_its_tags() {
        for list in ["\"a\", \"b\"", "b", "*", "W/\"b\""] {
            assert!(listed(list, "b"), "{list}");
        }
        assert!(!listed("\"a\", \"c\"", "b"));
        assert!(!listed("", "b"));
    }
}
