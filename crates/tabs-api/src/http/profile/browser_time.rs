//! The time of a browser: that of the clock, as long as nobody puts the clock back.

use std::time::Duration;

use tokio::time::Instant;
use triptych_core::time::Timestamp;

/// The time of a browser, which goes on from where it was once the clock is put back: what is under way takes as long as ever.
#[derive(Debug)]
pub(super) struct BrowserTime {
    /// The time by which it is ahead of the clock.
    ahead: Duration,
    /// The time that the clock showed last, and when that was.
    last: (Timestamp, Instant),
}

impl BrowserTime {
    /// The time of a browser that begins as the clock shows this.
    pub(super) fn beginning(clock: Timestamp) -> Self {
        Self { ahead: Duration::ZERO, last: (clock, Instant::now()) }
    }

    /// The browser's time as the clock shows this.
    pub(super) fn now(&mut self, clock: Timestamp) -> Timestamp {
        self.at(clock, Instant::now())
    }

    fn at(&mut self, clock: Timestamp, moment: Instant) -> Timestamp {
        let (shown, before) = self.last;
        if clock < shown {
            let back = shown.since(clock).saturating_add(moment.duration_since(before));
            self.ahead = self.ahead.saturating_add(back);
        }
        self.last = (clock, moment);
        clock.plus(self.ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_by_what_elapses_wherever_the_clock_is_put() {
        let (start, begun) = (Timestamp::from_seconds(1_790_000_000), Instant::now());
        let mut time = BrowserTime { ahead: Duration::ZERO, last: (start, begun) };
        let second = Duration::from_secs(1);
        let mut at = |clock: Timestamp, seconds: u32| time.at(clock, begun + seconds * second);
        assert_eq!(at(start.plus(second), 1), start.plus(second));
        // Nobody looked at the clock for three seconds, in which it was put back.
        let past = Timestamp::from_seconds(1_500_000_000);
        assert_eq!(at(past, 4), start.plus(4 * second));
        assert_eq!(at(past.plus(second), 5), start.plus(5 * second));
        let before_1970 = Timestamp::from_seconds(-5);
        assert_eq!(at(before_1970, 5), start.plus(5 * second), "it never goes back");
        assert_eq!(at(before_1970.plus(second), 6), start.plus(6 * second));
    }
}
