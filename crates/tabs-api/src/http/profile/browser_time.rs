//! The time of a browser: that of the clock, as long as nobody puts the clock back.

use std::time::Duration;

use triptych_core::time::Timestamp;

/// The time of a browser, which goes on from where it was once the clock is put back: what is under way takes as long as ever.
#[derive(Debug)]
pub(super) struct BrowserTime {
    /// The time by which it is ahead of the clock.
    ahead: Duration,
    /// The time that the clock showed last.
    last: Timestamp,
}

impl BrowserTime {
    /// The time of a browser that begins now.
    pub(super) const fn beginning(now: Timestamp) -> Self {
        Self { ahead: Duration::ZERO, last: now }
    }

    /// The browser's time as the clock shows `clock`.
    pub(super) fn at(&mut self, clock: Timestamp) -> Timestamp {
        self.ahead = self.ahead.saturating_add(self.last.since(clock));
        self.last = clock;
        clock.plus(self.ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_by_what_elapses_wherever_the_clock_is_put() {
        let start = Timestamp::from_seconds(1_790_000_000);
        let mut time = BrowserTime::beginning(start);
        let second = Duration::from_secs(1);
        assert_eq!(time.at(start.plus(second)), start.plus(second));
        let past = Timestamp::from_seconds(1_500_000_000);
        assert_eq!(time.at(past), start.plus(second), "it never goes back");
        assert_eq!(time.at(past.plus(second)), start.plus(2 * second));
        let before_1970 = Timestamp::from_seconds(-5);
        assert_eq!(time.at(before_1970), start.plus(2 * second));
        assert_eq!(time.at(before_1970.plus(second)), start.plus(3 * second));
    }
}
