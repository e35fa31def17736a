//! The Range header: which bytes of an object a GET wants.

use std::ops::Range;

use crate::error::Error;

/// The bytes of an object of `size` bytes that a `Range` header asks for; `None` where the header is not one range of
/// bytes, which is answered with the whole object (RFC 9110 §14.2): a blank within it makes it none, as in the real service.
///
/// # Errors
/// [`Error::InvalidRange`] for one that lies outside the object.
pub fn parse(header: &str, size: u64) -> Result<Option<Range<u64>>, Error> {
    let Some((first, last)) = header.strip_prefix("bytes=").and_then(|set| set.split_once('-'))
    else {
        return Ok(None);
    };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // More digits than a number holds are beyond the end of any object.
        digits.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    let range = match (first, last) {
        ("", last) => match number(last) {
            Some(count) => size.saturating_sub(count)..size,
            None => return Ok(None),
        },
        (first, "") => match number(first) {
            Some(first) => first..size,
            None => return Ok(None),
        },
        (first, last) => match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => first..last.saturating_add(1).min(size),
            _ => return Ok(None),
        },
    };
    if range.start >= size || range.is_empty() {
        return Err(Error::InvalidRange { requested: header.to_owned(), size });
    }
    Ok(Some(range))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_of_bytes_is_read() {
        for (header, expected) in [
            ("bytes=0-0", Some(0..1)),
            ("bytes=2-", Some(2..10)),
            ("bytes=-3", Some(7..10)),
            ("bytes=-30", Some(0..10)),
            ("bytes=8-99999999999999999999999", Some(8..10)),
            ("bytes=5-4", None),
            ("bytes=0-1,3-4", None),
            ("bytes=-", None),
            ("bytes= -1", None),
            ("bytes=0 -1", None),
            ("bytes=0- 1", None),
            ("bytes=0--1", None),
            ("bytes=00-01", Some(0..2)),
            ("bytes=a-b", None),
            ("lines=0-1", None),
        ] {
            assert_eq!(parse(header, 10), Ok(expected), "{header}");
        }
    }

    #[test]
    fn a_range_outside_the_object_is_refused() {
        for (header, size) in
            [("bytes=10-", 10), ("bytes=-0", 10), ("bytes=0-0", 0), ("bytes=-1", 0)]
        {
            let refused = parse(header, size);
            assert!(matches!(refused, Err(Error::InvalidRange { .. })), "{header}");
        }
    }
}
