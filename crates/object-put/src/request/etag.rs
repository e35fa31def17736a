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

/// Tells whether one of the comma-separated tags of `list`, or `*`, means `etag` by the strong comparison, which no weak tag passes
/// (RFC 9110 §8.8.3.2): that of `If-Match`.
#[must_use]
pub fn listed_strongly(list: &str, etag: &str) -> bool {
    list.split(',').map(str::trim).any(|tag| tag == "*" || bare(tag) == etag)
}

/// Tells whether one of the comma-separated tags of `list`, or `*`, means `etag` by the weak comparison, to which a weak tag is as good as a
/// strong one: that of `If-None-Match`.
#[must_use]
pub fn listed_weakly(list: &str, etag: &str) -> bool {
    list.split(',').any(|tag| {
        let tag = tag.trim();
        listed_strongly(tag.strip_prefix("W/").unwrap_or(tag), etag)
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
        for listed in [listed_strongly, listed_weakly] {
            for list in ["\"a\", \"b\"", "b", "*"] {
                assert!(listed(list, "b"), "{list}");
            }
            assert!(!listed("\"a\", \"c\"", "b"));
            assert!(!listed("", "b"));
        }
    }

    #[test]
    fn a_weak_tag_passes_the_weak_comparison_alone() {
        for list in ["W/\"b\"", "\"a\", W/\"b\""] {
            assert!(listed_weakly(list, "b"), "{list}");
            assert!(!listed_strongly(list, "b"), "{list}");
        }
        assert!(listed_strongly("W/\"b\", \"b\"", "b"));
    }
}
