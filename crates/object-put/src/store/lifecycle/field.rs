//! The values of a rule's elements: numbers and dates.

use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::store::lifecycle::DAY_SECONDS;

/// A number that must be positive, and at most `most`.
///
/// # Errors
/// `MalformedXml` for what is no number; `InvalidArgument` with `reason`.
pub(super) fn positive(
    name: &'static str,
    text: &str,
    most: u32,
    reason: impl Into<String>,
) -> Result<u32, Error> {
    let number = text.parse::<i64>().map_err(|_| Error::MalformedXml)?;
    match u32::try_from(number) {
        Ok(number) if number > 0 && number <= most => Ok(number),
        _ => Err(Error::argument(name, Some(text), reason.into())),
    }
}

/// A date with or without a time of day, which must be that of midnight.
///
/// # Errors
/// `MalformedXml` for what is no date; `InvalidArgument`.
pub(super) fn midnight(text: &str) -> Result<Timestamp, Error> {
    let date = Timestamp::from_rfc3339(text)
        .or_else(|| Timestamp::from_rfc3339(&format!("{text}T00:00:00Z")))
        .ok_or(Error::MalformedXml)?;
    match date.micros().rem_euclid(DAY_SECONDS * 1_000_000) {
        0 => Ok(date),
        _ => Err(Error::argument("Date", Some(&date.rfc3339()), "'Date' must be at midnight GMT")),
    }
}
