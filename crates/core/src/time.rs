//! Moments, their text forms, and clocks. Domain code is given a [`Timestamp`]; only a shell holds a [`Clock`].

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use jiff::civil::DateTime;
use parking_lot::Mutex;

/// The first moment of 1970, as a date and a time.
const EPOCH_CIVIL: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
/// The first moment that has the form of RFC 3339.
const FIRST_CIVIL: DateTime = DateTime::constant(0, 1, 1, 0, 0, 0, 0);

/// A moment in UTC, in whole microseconds since 1970.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// The moment `micros` microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The moment `millis` milliseconds after the epoch; the far ends saturate.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// The moment `seconds` seconds after the epoch; the far ends saturate.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1_000_000))
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since the epoch, rounded down.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// Whole seconds since the epoch, rounded down.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1_000_000)
    }

    /// This moment and `by` more; the far end saturates.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX)))
    }

    /// This moment less `by`; the far end saturates.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(by.as_micros()).unwrap_or(i64::MAX)))
    }

    /// The time from `earlier` to this moment; zero if it is not after it.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        let micros = self.0.saturating_sub(earlier.0);
        Duration::from_micros(if micros > 0 { micros.unsigned_abs() } else { 0 })
    }

    /// RFC 3339 in UTC with milliseconds: `2026-01-02T03:04:05.678Z`.
    #[must_use]
    pub fn rfc3339_millis(self) -> String {
        format!("{:.3}Z", self.civil())
    }

    /// RFC 3339 in UTC, whole seconds: `2026-01-02T03:04:05Z`.
    #[must_use]
    pub fn rfc3339(self) -> String {
        format!("{:.0}Z", self.civil())
    }

    /// The form of HTTP headers: `Fri, 02 Jan 2026 03:04:05 GMT` (RFC 9110 §5.6.7). Moments before 1970 give 1970.
    #[must_use]
    pub fn http_date(self) -> String {
        let seconds = u64::try_from(self.seconds()).unwrap_or(0).min(253_402_300_799);
        httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds))
    }

    /// Reads RFC 3339 with any offset and any number of fraction digits; `None` if it is not that.
    #[must_use]
    pub fn from_rfc3339(text: &str) -> Option<Self> {
        let pieces = jiff::fmt::temporal::Pieces::parse(text).ok()?;
        // The form has four digits for the year, and no name of a zone.
        if text.starts_with(['+', '-']) || pieces.time_zone_annotation().is_some() {
            return None;
        }
        let (time, offset) = (pieces.time()?, pieces.to_numeric_offset()?);
        let since = pieces.date().to_datetime(time).duration_since(EPOCH_CIVIL);
        let micros = i64::try_from(since.as_micros()).ok()?;
        Some(Self(micros.saturating_sub(i64::from(offset.seconds()).saturating_mul(1_000_000))))
    }

    /// Reads the three forms of an HTTP date, and the one with a numeric zone that mail has and clients send too; `None` if
    /// it is none of them.
    #[must_use]
    pub fn from_http_date(text: &str) -> Option<Self> {
        let Ok(time) = httpdate::parse_http_date(text) else {
            let time = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text);
            return Some(Self(time.ok()?.as_microsecond()));
        };
        Some(Self::EPOCH.plus(time.duration_since(UNIX_EPOCH).ok()?))
    }

    /// The date and time in UTC, of the years 0000 to 9999.
    fn civil(self) -> DateTime {
        let since = SignedDuration::from_micros(self.0);
        let end = if self.0 < 0 { FIRST_CIVIL } else { DateTime::MAX };
        EPOCH_CIVIL.checked_add(since).unwrap_or(end).max(FIRST_CIVIL)
    }
}

/// A value that is the same for a whole second, made once in it.
#[derive(Debug, Default)]
pub struct EachSecond<T>(Option<(i64, T)>);

impl<T> EachSecond<T> {
    /// Nothing was made yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// The value of the second of `moment`: as it was made last, or else as `make` makes it.
    pub fn at(&mut self, moment: Timestamp, make: impl FnOnce(Timestamp) -> T) -> &T {
        let second = moment.seconds();
        let known = self.0.take().filter(|(known, _)| *known == second);
        let (_, made) = self.0.insert(known.unwrap_or_else(|| (second, make(moment))));
        made
    }
}

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.rfc3339_millis())
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => Self::EPOCH.plus(since),
            Err(before) => Self::EPOCH.minus(before.duration()),
        }
    }
}

/// The place where a shell reads the time. It reads once per request and hands the value on.
pub trait Clock: Send + Sync {
    /// The moment it is.
    fn now(&self) -> Timestamp;
}

/// The machine's clock, moved by an offset that `/_ops/clock` can set. It never runs backwards by itself.
#[derive(Debug, Default)]
pub struct SystemClock {
    reading: Mutex<Reading>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Reading {
    offset_micros: i64,
    last: Timestamp,
}

impl SystemClock {
    /// A clock that shows the machine's time.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Milliseconds by which this clock is ahead of the machine's.
    #[must_use]
    pub fn offset_millis(&self) -> i64 {
        self.reading.lock().offset_micros.div_euclid(1_000)
    }

    /// Makes the clock show `now` and run on from there.
    pub fn set(&self, now: Timestamp) {
        let mut reading = self.reading.lock();
        reading.offset_micros = now.micros().saturating_sub(Self::machine().micros());
        reading.last = now;
    }

    /// Moves the clock on by `by` milliseconds; a negative number moves it back.
    pub fn advance_millis(&self, by: i64) {
        let mut reading = self.reading.lock();
        reading.offset_micros = reading.offset_micros.saturating_add(by.saturating_mul(1_000));
        reading.last = Timestamp::default();
    }

    /// Makes the clock show the machine's time again.
    pub fn reset(&self) {
        *self.reading.lock() = Reading::default();
    }

    #[expect(clippy::disallowed_methods, reason = "the one place that reads the machine's clock")]
    fn machine() -> Timestamp {
        SystemTime::now().into()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let mut reading = self.reading.lock();
        let shown = Timestamp(Self::machine().0.saturating_add(reading.offset_micros));
        reading.last = reading.last.max(shown);
        reading.last
    }
}

/// A clock that stands still until it is told otherwise.
#[derive(Debug, Default)]
pub struct ManualClock(Mutex<Timestamp>);

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub const fn at(now: Timestamp) -> Self {
        Self(Mutex::new(now))
    }

    /// Makes it show `now`.
    pub fn set(&self, now: Timestamp) {
        *self.0.lock() = now;
    }

    /// Moves it on.
    pub fn advance(&self, by: Duration) {
        let mut now = self.0.lock();
        *now = now.plus(by);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_is_read_and_written() {
        let moment = Timestamp::from_rfc3339("2026-01-02T05:04:05.678901+02:00").unwrap();
        assert_eq!(moment.rfc3339_millis(), "2026-01-02T03:04:05.678Z");
        assert_eq!(moment.rfc3339(), "2026-01-02T03:04:05Z");
        assert_eq!(moment.micros() % 1_000_000, 678_901);
        assert_eq!(Timestamp::EPOCH.rfc3339_millis(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Timestamp::from_rfc3339("2026-13-02T05:04:05Z"), None);
    }

    #[test]
    fn rfc3339_goes_from_the_year_0000_to_the_last_second_of_9999() {
        for text in [
            "0000-01-01T00:00:00.000Z",
            "1969-12-31T23:59:59.999Z",
            "2024-02-29T12:00:00.500Z",
            "9999-12-30T22:00:00.000Z",
            "9999-12-31T23:59:59.999Z",
        ] {
            let moment = Timestamp::from_rfc3339(text).unwrap();
            assert_eq!(moment.rfc3339_millis(), text);
        }
        let last = Timestamp::from_rfc3339("9999-12-31T23:59:59.999999Z").unwrap();
        assert_eq!(last.plus(Duration::from_secs(1)).rfc3339(), "9999-12-31T23:59:59Z");
        for (text, utc) in [
            ("2026-01-01t00:30:00.5+01:00", "2025-12-31T23:30:00.500Z"),
            ("2026-01-01T00:00:00-23:59", "2026-01-01T23:59:00.000Z"),
            ("2026-01-01 00:00:00-00:00", "2026-01-01T00:00:00.000Z"),
            ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.000Z"),
        ] {
            assert_eq!(Timestamp::from_rfc3339(text).unwrap().rfc3339_millis(), utc, "{text}");
        }
        for text in [
            "",
            "2026-01-01",
            "2026-01-01T00:00:00",
            "2026-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00Z[UTC]",
            "-000001-01-01T00:00:00Z",
            "+010000-01-01T00:00:00Z",
            "1767225600",
        ] {
            assert_eq!(Timestamp::from_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn all_forms_of_a_date_are_one_moment() {
        let moment = Timestamp::from_seconds(784_111_777);
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 -0000",
            "Sun, 06 Nov 1994 10:49:37 +0200",
        ] {
            assert_eq!(Timestamp::from_http_date(text), Some(moment), "{text}");
        }
        assert_eq!(moment.http_date(), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(Timestamp::from_millis(i64::MAX).http_date(), "Fri, 31 Dec 9999 23:59:59 GMT");
    }

    #[test]
    fn the_system_clock_can_be_set_moved_and_reset() {
        let clock = SystemClock::new();
        let there = Timestamp::from_seconds(4_000_000_000);
        clock.set(there);
        assert!(clock.now() >= there && clock.now() < there.plus(Duration::from_secs(60)));
        clock.advance_millis(3_600_000);
        assert!(clock.now() >= there.plus(Duration::from_secs(3600)));
        clock.reset();
        assert!(clock.now() < there);
        assert_eq!(clock.offset_millis(), 0);
    }

    #[test]
    fn far_ends_saturate_and_never_panic() {
        for micros in [i64::MIN, i64::MAX] {
            let moment = Timestamp::from_micros(micros);
            let _ = (
                moment.rfc3339(),
                moment.http_date(),
                moment.plus(Duration::MAX),
                moment.minus(Duration::MAX),
            );
        }
    }
}
