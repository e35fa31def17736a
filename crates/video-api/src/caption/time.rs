//! Points on the time line of a video, and how formats write them.

use std::fmt::Write as _;

use super::limits::HOURS_MAX;

const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MILLISECOND;
/// Digits of a fraction that still say something.
const FRACTION_DIGITS: usize = 9;

/// A point on the time line of a video, in nanoseconds from its start: fine enough for the frames and ticks of every format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MediaTime(u64);

impl MediaTime {
    /// The start of the video.
    pub const ZERO: Self = Self(0);
    /// The last time that a format may name.
    pub const MAX: Self = Self(HOURS_MAX * 3600 * SECOND);

    /// A time in nanoseconds, at most [`Self::MAX`].
    #[must_use]
    pub fn from_nanos(nanos: u64) -> Self {
        Self(nanos).min(Self::MAX)
    }

    /// A time in milliseconds, at most [`Self::MAX`].
    #[must_use]
    pub fn from_millis(millis: u64) -> Self {
        Self::from_nanos(millis.saturating_mul(MILLISECOND))
    }

    /// Nanoseconds from the start.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Milliseconds from the start, rounded to the nearest.
    #[must_use]
    pub const fn millis(self) -> u64 {
        (self.0 + MILLISECOND / 2) / MILLISECOND
    }

    /// A time that much later, at most [`Self::MAX`].
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::from_nanos(self.0.saturating_add(other.0))
    }

    /// The time of `numerator / denominator` seconds, to the nearest nanosecond.
    pub(super) fn of_ratio(numerator: u128, denominator: u128) -> Option<Self> {
        let nanos = numerator
            .checked_mul(u128::from(SECOND))?
            .checked_add(denominator / 2)?
            .checked_div(denominator)?;
        u64::try_from(nanos).ok().map(Self).filter(|time| *time <= Self::MAX)
    }

    /// Reads `[hours:]minutes:seconds[.fraction]`, with a dot or a comma before the fraction.
    pub(super) fn parse_clock(text: &str) -> Option<Self> {
        if let Some((time, _)) = Self::parse_usual(text) {
            return Some(time);
        }
        let (mut hours, mut minutes) = (None, None);
        let (mut value, mut digits) = (0_u64, 0_usize);
        let mut fraction = 0;
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                b'0'..=b'9' => {
                    value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
                    digits += 1;
                }
                b':' if digits > 0 && hours.is_none() => {
                    (hours, minutes) = (minutes, Some((value, digits)));
                    (value, digits) = (0, 0);
                }
                b'.' | b',' => {
                    let rest = text.get(at + 1..).filter(|rest| !rest.is_empty())?;
                    fraction = parse_fraction(rest)?;
                    break;
                }
                _ => return None,
            }
        }
        let sexagesimal = |(value, digits): (u64, usize)| {
            Some(value).filter(|value| (1..=2).contains(&digits) && *value < 60)
        };
        let (minutes, seconds) = (sexagesimal(minutes?)?, sexagesimal((value, digits))?);
        let hours = hours.map_or(0, |(value, _)| value);
        if hours > HOURS_MAX {
            return None;
        }
        let whole = ((hours * 60 + minutes) * 60 + seconds) * SECOND;
        Some(Self(whole + fraction)).filter(|time| *time <= Self::MAX)
    }

    /// Reads the form that nearly all times have: one or two digits of hours, two of minutes and of seconds, three of milliseconds. Gives
    /// the sign before these too; none for every other form, and for what is no time.
    pub(super) fn parse_usual(text: &str) -> Option<(Self, u8)> {
        let (h, i, rest) = match text.as_bytes() {
            [i, rest @ ..] if rest.len() == 10 => (&b'0', i, rest),
            [h, i, rest @ ..] if rest.len() == 10 => (h, i, rest),
            _ => return None,
        };
        let [b':', a, b, b':', c, d, point @ (b'.' | b','), e, f, g] = rest else { return None };
        let digits = [h, i, a, b, c, d, e, f, g].map(|byte| byte.wrapping_sub(b'0'));
        let [h, i, a, b, c, d, e, f, g] = digits.map(u64::from);
        let (minutes, seconds) = (a * 10 + b, c * 10 + d);
        if digits.iter().fold(0, |most, digit| most.max(*digit)) > 9 || minutes > 59 || seconds > 59
        {
            return None;
        }
        let whole = ((h * 10 + i) * 60 + minutes) * 60 + seconds;
        let fraction = (e * 100 + f * 10 + g) * MILLISECOND;
        Some((Self(whole * SECOND + fraction), *point))
    }

    /// Writes `hours:minutes:seconds` and milliseconds after `separator`, with so many digits for the hours at least.
    pub(super) fn write_clock(self, out: &mut String, hour_digits: usize, separator: char) {
        let millis = self.millis();
        if let Some(clock) = usual_clock(millis, separator) {
            let text = std::str::from_utf8(&clock).unwrap_or_default();
            let short = text.strip_prefix('0').filter(|_| hour_digits == 1);
            return out.push_str(short.unwrap_or(text));
        }
        self.write_whole(out, millis / 1_000, hour_digits);
        out.push(separator);
        push_padded(out, millis % 1_000, 3);
    }

    /// Writes `hours:minutes:seconds.fraction` with as many digits as the time has, and three at least.
    pub(super) fn write_exact(self, out: &mut String) {
        if self.0.is_multiple_of(MILLISECOND) {
            return self.write_clock(out, 2, '.');
        }
        self.write_whole(out, self.0 / SECOND, 2);
        out.push('.');
        let (mut fraction, mut digits) = (self.0 % SECOND, FRACTION_DIGITS);
        while digits > 3 && fraction % 10 == 0 {
            (fraction, digits) = (fraction / 10, digits - 1);
        }
        push_padded(out, fraction, digits);
    }

    fn write_whole(self, out: &mut String, seconds: u64, hour_digits: usize) {
        push_padded(out, seconds / 3600, hour_digits);
        out.push(':');
        push_padded(out, seconds / 60 % 60, 2);
        out.push(':');
        push_padded(out, seconds % 60, 2);
    }
}

/// The clock time of so many milliseconds with two digits of hours; none where the hours have more.
fn usual_clock(millis: u64, separator: char) -> Option<[u8; 12]> {
    let separator = u8::try_from(separator).ok()?;
    // Divisions are what costs here, and those of 32 bits cost least.
    let millis = u32::try_from(millis).ok().filter(|millis| *millis < 100 * 3_600_000)?;
    let (minutes, rest) = (millis / 60_000, millis % 60_000);
    let two = |value: u32| [value / 10, value % 10].map(|digit| b'0' + digit as u8);
    let [[a, b], [c, d], [e, f]] = [minutes / 60, minutes % 60, rest / 1_000].map(two);
    let fraction = rest % 1_000;
    let ([g, h], i) = (two(fraction / 10), b'0' + (fraction % 10) as u8);
    Some([a, b, b':', c, d, b':', e, f, separator, g, h, i])
}

/// Reads a number of digits alone, up to `most`.
pub(super) fn number(digits: &str, most: u64) -> Option<u64> {
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain {
        return None;
    }
    digits.parse().ok().filter(|value| *value <= most)
}

/// Nanoseconds of the digits after a decimal point.
pub(super) fn parse_fraction(digits: &str) -> Option<u64> {
    let mut nanos = 0;
    let mut unit = SECOND / 10;
    for byte in digits.bytes() {
        if !byte.is_ascii_digit() {
            return None;
        }
        nanos += u64::from(byte - b'0') * unit;
        unit /= 10;
    }
    Some(nanos)
}

/// Writes a number with leading noughts up to `digits`.
pub(super) fn push_padded(out: &mut String, value: u64, digits: usize) {
    if let (2, Ok(value @ 0..100)) = (digits, u8::try_from(value)) {
        // Nearly all are minutes, seconds and the like.
        out.push(char::from(b'0' + value / 10));
        out.push(char::from(b'0' + value % 10));
        return;
    }
    let mut buffer = [b'0'; 20];
    let mut rest = value;
    let mut used = 0;
    for place in buffer.iter_mut().rev() {
        if rest == 0 {
            break;
        }
        *place = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
        used += 1;
    }
    let start = buffer.len() - used.max(digits).min(buffer.len());
    match buffer.get(start..).and_then(|digits| std::str::from_utf8(digits).ok()) {
        Some(digits) => out.push_str(digits),
        None => {
            let _ = write!(out, "{value}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(text: &str) -> Option<u64> {
        MediaTime::parse_clock(text).map(MediaTime::nanos)
    }

    #[test]
    fn a_clock_time_is_read_with_and_without_hours_and_to_the_nanosecond() {
        assert_eq!(clock("01:02.5"), Some(62_500 * MILLISECOND));
        assert_eq!(clock("1:00:00,001"), Some(3_600_001 * MILLISECOND));
        assert_eq!(clock("00:00:00.123456789"), Some(123_456_789));
        assert_eq!(clock("123456:59:59.999").map(|t| t / SECOND), Some(123_456 * 3600 + 3599));
    }

    #[test]
    fn what_is_no_clock_time_is_refused() {
        for text in [
            "",
            "1",
            "00:60",
            "60:00",
            "00:00:00.",
            "-1:00",
            "00:00:00.1x",
            "1:2:3:4",
            "001:00",
            "1000001:00:00",
            "99999999999999999999:00:00",
            " 00:01",
            ":01:02",
            "1::02",
            "1:02:",
            "1:002",
            "1:2:3.4.5",
            "1:2:3,4:5",
            ".5",
        ] {
            assert_eq!(clock(text), None, "{text}");
        }
    }

    #[test]
    fn a_clock_time_is_rounded_to_the_nearest_millisecond() {
        let mut out = String::new();
        MediaTime::from_nanos(59_999_500_000).write_clock(&mut out, 1, ',');
        assert_eq!(out, "0:01:00,000");
    }

    #[test]
    fn an_exact_time_has_three_digits_or_as_many_as_it_needs() {
        let exact = |nanos| {
            let mut out = String::new();
            MediaTime::from_nanos(nanos).write_exact(&mut out);
            out
        };
        assert_eq!(exact(0), "00:00:00.000");
        assert_eq!(exact(33_366_667), "00:00:00.033366667");
        assert_eq!(exact(360_000 * SECOND + 250 * MILLISECOND), "100:00:00.250");
    }
}
