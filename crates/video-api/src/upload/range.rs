//! Place of a piece in a resumable upload: `Content-Range` of a request, `Range` of a 308 response.

/// A `Content-Range` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentRange {
    /// `bytes FIRST-LAST/TOTAL`, or `/*` while the total is not known. `first <= last`, and `last < total`.
    Piece {
        /// Offset of the piece's first byte.
        first: u64,
        /// Offset of its last byte.
        last: u64,
        /// Length of the whole, if it is known.
        total: Option<u64>,
    },
    /// `bytes */TOTAL` or `bytes */*`: asks what has arrived; with a total it also says how long the whole is.
    Probe {
        /// Length of the whole, if it is known.
        total: Option<u64>,
    },
}

impl ContentRange {
    /// Reads the header's value (RFC 9110 §14.4, unit `bytes` alone); `None` if it is not one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (unit, rest) = text.trim().split_once([' ', '\t', '='])?;
        if !unit.eq_ignore_ascii_case("bytes") {
            return None;
        }
        let (range, total) = rest.trim().split_once('/')?;
        let total = match total.trim() {
            "*" => None,
            digits => Some(number(digits)?),
        };
        if range.trim() == "*" {
            return Some(Self::Probe { total });
        }
        let (first, last) = range.split_once('-')?;
        let (first, last) = (number(first.trim())?, number(last.trim())?);
        let fits = first <= last && last < u64::MAX && total.is_none_or(|total| last < total);
        fits.then_some(Self::Piece { first, last, total })
    }
}

/// The `Range` of a 308 response when `received` bytes have arrived; `None` before the first one, and then the header is absent.
#[must_use]
pub fn received_range(received: u64) -> Option<String> {
    received.checked_sub(1).map(|last| format!("bytes=0-{last}"))
}

/// Digits alone: no sign, no blank, no overflow.
fn number(digits: &str) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_form_of_the_header_is_read() {
        let piece = |first, last, total| Some(ContentRange::Piece { first, last, total });
        for (text, expected) in [
            ("bytes 0-999/1000", piece(0, 999, Some(1000))),
            ("bytes 0-262143/*", piece(0, 262_143, None)),
            ("Bytes 5-5/6", piece(5, 5, Some(6))),
            ("bytes */1000", Some(ContentRange::Probe { total: Some(1000) })),
            ("bytes */0", Some(ContentRange::Probe { total: Some(0) })),
            ("bytes */*", Some(ContentRange::Probe { total: None })),
            ("", None),
            ("bytes", None),
            ("bytes 0-999", None),
            ("bytes 9-5/10", None),
            ("bytes 0-10/10", None),
            ("bytes -5/10", None),
            ("bytes +1-2/10", None),
            ("bytes 0-99999999999999999999/*", None),
            ("bytes 0-18446744073709551615/*", None),
            ("items 0-1/2", None),
        ] {
            assert_eq!(ContentRange::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_has_arrived_is_absent_before_the_first_byte() {
        assert_eq!(received_range(0), None);
        assert_eq!(received_range(262_144).as_deref(), Some("bytes=0-262143"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_read_or_refused(text in "(bytes )?[0-9*/ -]{0,24}") {
            if let Some(ContentRange::Piece { first, last, total }) = ContentRange::parse(&text) {
                prop_assert!(first <= last && total.is_none_or(|total| last < total));
            }
        }
    }
}
