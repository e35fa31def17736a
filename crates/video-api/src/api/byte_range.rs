//! `Range` of a request for a file (RFC 9110 §14.2).

use std::ops::Range;

/// The bytes that a request asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestedRange {
    /// All of them: no range is asked for, or one in a form that is not served.
    Whole,
    /// These, which are there.
    Part(Range<u64>),
    /// None that there are.
    Unsatisfiable,
}

impl RequestedRange {
    /// Reads the header of a request for a file of `length` bytes. Several ranges at once are not served: the answer to them is the whole.
    #[must_use]
    pub fn of(header: Option<&str>, length: u64) -> Self {
        let Some(range) = header.and_then(|text| text.trim().split_once('=')) else {
            return Self::Whole;
        };
        let (unit, range) = range;
        let Some((first, last)) = range.split_once('-') else { return Self::Whole };
        if !unit.trim().eq_ignore_ascii_case("bytes") {
            return Self::Whole;
        }
        match (number(first.trim()), number(last.trim())) {
            (Bound::None, Bound::At(suffix)) => match length.checked_sub(suffix) {
                _ if suffix == 0 || length == 0 => Self::Unsatisfiable,
                first => Self::Part(first.unwrap_or_default()..length),
            },
            (Bound::At(first), Bound::At(last)) if last < first => Self::Whole,
            (Bound::At(first), _) if first >= length => Self::Unsatisfiable,
            (Bound::At(first), Bound::At(last)) => {
                Self::Part(first..last.saturating_add(1).min(length))
            }
            (Bound::At(first), Bound::None) => Self::Part(first..length),
            _ => Self::Whole,
        }
    }
}

enum Bound {
    None,
    At(u64),
    Invalid,
}

fn number(digits: &str) -> Bound {
    match digits {
        "" => Bound::None,
        // What is larger than any file is beyond its end.
        _ if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Bound::At(digits.parse().unwrap_or(u64::MAX))
        }
        _ => Bound::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_of_the_header_is_read() {
        let part = |range: Range<u64>| RequestedRange::Part(range);
        for (header, expected) in [
            ("bytes=0-3", part(0..4)),
            ("bytes=0-104857599", part(0..10)),
            ("bytes=4-", part(4..10)),
            ("Bytes=-3", part(7..10)),
            ("bytes=-30", part(0..10)),
            ("bytes=9-9", part(9..10)),
            ("bytes=10-", RequestedRange::Unsatisfiable),
            ("bytes=-0", RequestedRange::Unsatisfiable),
            ("bytes=99999999999999999999999-", RequestedRange::Unsatisfiable),
            ("bytes=5-4", RequestedRange::Whole),
            ("bytes=0-1,3-4", RequestedRange::Whole),
            ("bytes=-", RequestedRange::Whole),
            ("bytes=a-b", RequestedRange::Whole),
            ("items=0-1", RequestedRange::Whole),
            ("", RequestedRange::Whole),
        ] {
            assert_eq!(RequestedRange::of(Some(header), 10), expected, "{header}");
        }
        assert_eq!(RequestedRange::of(Some("bytes=0-"), 0), RequestedRange::Unsatisfiable);
        assert_eq!(RequestedRange::of(None, 10), RequestedRange::Whole);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_part_lies_within_the_file(header in "(bytes=)?[0-9, -]{0,24}", length in 0_u64..40) {
            if let RequestedRange::Part(range) = RequestedRange::of(Some(&header), length) {
                prop_assert!(range.start < range.end && range.end <= length);
            }
        }
    }
}
