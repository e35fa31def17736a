//! Parameters that listings have in common: numbers of entries, encodings, and places to go on from.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::error::Error;
use crate::operation::ReadCall;
use crate::request::xml::XmlWriter;
use crate::store::bucket::BucketKind;

/// The characters that `encoding-type=url` leaves as they are, and the blank, which becomes a plus sign.
const KEPT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'*').remove(b'/').remove(b' ');

/// The encoding of the texts of a listing.
#[derive(Debug, Clone, Copy)]
pub struct ListEncoding<'c>(Option<&'c str>);

impl<'c> ListEncoding<'c> {
    /// That which `encoding-type` names, in letters of either case.
    ///
    /// # Errors
    /// `InvalidArgument` for another than `url`.
    pub fn read(call: &'c ReadCall<'_>) -> Result<Self, Error> {
        match call.query.get("encoding-type") {
            Some(other) if !other.eq_ignore_ascii_case("url") => {
                let reason = "Invalid Encoding Method specified in Request";
                Err(Error::argument("encoding-type", Some(other), reason))
            }
            named => Ok(Self(named)),
        }
    }

    /// A text in it.
    #[must_use]
    pub fn text(self, text: &str) -> String {
        match self.0 {
            Some(_) => utf8_percent_encode(text, KEPT).to_string().replace(' ', "+"),
            None => text.to_owned(),
        }
    }

    /// Writes its name as it was sent, where one was.
    pub fn write(self, writer: &mut XmlWriter) {
        writer.text_if("EncodingType", self.0);
    }
}

/// The refusal of a continuation token that was never given.
#[must_use]
pub fn wrong_token() -> Error {
    Error::argument("continuation-token", None, "The continuation token provided is incorrect")
}

/// A whole number of a parameter, at most `most`, which it is without one.
///
/// # Errors
/// Those of [`limited`].
pub fn number(call: &ReadCall<'_>, name: &'static str, most: usize) -> Result<usize, Error> {
    limited(name, call.query.get(name), most, most)
}

/// A whole number of a parameter or a header, at most `most`; `default` without one.
///
/// # Errors
/// Those of [`whole`]; `InvalidArgument` for one below zero.
pub fn limited(
    name: &'static str,
    text: Option<&str>,
    default: usize,
    most: usize,
) -> Result<usize, Error> {
    let Some(number) = whole(name, text)? else {
        return Ok(default);
    };
    let is_out =
        || Error::argument(name, Some(&number.to_string()), out_of_range(name, 0, i32::MAX));
    usize::try_from(number).map(|number| number.min(most)).map_err(|_| is_out())
}

/// The reason for a number that is none of a range.
#[must_use]
pub fn out_of_range(name: &str, least: i32, most: i32) -> String {
    format!("Argument {name} must be an integer between {least} and {most}")
}

/// A number of 32 bits; `None` for an empty text. What is beyond them is none, as in the real service, which looks at the range later.
///
/// # Errors
/// `InvalidArgument`.
pub fn whole(name: &'static str, text: Option<&str>) -> Result<Option<i32>, Error> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let has_plus = text.starts_with('+');
    match text.parse().ok().filter(|_| !has_plus) {
        Some(number) => Ok(Some(number)),
        None => Err(Error::argument(
            name,
            Some(text),
            format!("Provided {name} not an integer or within integer range"),
        )),
    }
}

/// Checks that a listing of a directory bucket has `/` as its only delimiter, a prefix that ends in it, and no key after which it starts.
///
/// # Errors
/// `InvalidArgument`.
pub fn check_directory(call: &ReadCall<'_>, prefix: &str, delimiter: &str) -> Result<(), Error> {
    if call.bucket()?.kind != BucketKind::Directory {
        return Ok(());
    }
    let refused = |name: &'static str, value: &str, reason: &'static str| {
        Err(Error::argument(name, Some(value), reason))
    };
    if !["", "/"].contains(&delimiter) {
        return refused("delimiter", delimiter, "The only delimiter of directory buckets is /");
    }
    if !prefix.is_empty() && !prefix.ends_with('/') {
        return refused("prefix", prefix, "Prefixes in directory buckets end in the delimiter");
    }
    match call.query.get("start-after").filter(|start| !start.is_empty()) {
        Some(start) => refused("start-after", start, "Directory buckets do not support StartAfter"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_encoded_as_the_real_service_encodes_them() {
        let text = "a b+c~d*e/f%g(é)";
        assert_eq!(ListEncoding(None).text(text), text);
        let encoded = ListEncoding(Some("URL")).text(text);
        assert_eq!(encoded, "a+b%2Bc%7Ed*e/f%25g%28%C3%A9%29");
    }

    #[test]
    fn a_number_is_one_of_32_bits_and_is_told_as_it_was_read() {
        assert_eq!(whole("max-keys", None), Ok(None));
        for (text, expected) in [("", None), ("05", Some(5)), ("-0", Some(0)), ("-01", Some(-1))] {
            assert_eq!(whole("max-keys", Some(text)), Ok(expected), "{text}");
        }
        for text in ["abc", " 5", "+5", "1.5", "2147483648", "-2147483649"] {
            let reason = "Provided max-keys not an integer or within integer range";
            let refused = Error::argument("max-keys", Some(text), reason);
            assert_eq!(whole("max-keys", Some(text)), Err(refused));
        }
        let reason = "Argument max-parts must be an integer between 0 and 2147483647";
        let refused = Error::argument("max-parts", Some("-1"), reason);
        assert_eq!(limited("max-parts", Some("-01"), 1000, 1000), Err(refused));
        assert_eq!(limited("max-parts", Some("2147483647"), 1000, 1000), Ok(1000));
    }
}
