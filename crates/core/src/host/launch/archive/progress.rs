//! The progress of long work on standard error: rows, bytes, and the seconds that are left.

use std::io::{IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Time between two lines on a terminal, where one takes the place of the other.
const DRAWN_EACH: Duration = Duration::from_millis(200);
/// Time between two lines anywhere else.
const SAID_EACH: Duration = Duration::from_secs(10);

/// An amount of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amount {
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// The progress of work of which all is known, or nothing.
pub(super) struct Progress {
    verb: &'static str,
    all: Amount,
    begun: Amount,
    since: Instant,
    shown: Instant,
    is_terminal: bool,
}

impl Progress {
    pub(super) fn new(verb: &'static str, all: Amount) -> Self {
        let (since, is_terminal) = (now(), std::io::stderr().is_terminal());
        Self { verb, all, begun: Amount::default(), since, shown: since, is_terminal }
    }

    /// Says that the work begins in its middle.
    pub(super) fn go_on(&mut self, begun: Amount) {
        self.begun = begun;
        self.say(&format!("goes on after {} rows, {} of the file", begun.rows, mib(begun.bytes)));
    }

    /// Shows how far the work came, if some time has gone by since that was shown.
    pub(super) fn show(&mut self, done: Amount) {
        // The clock is not read for each of a million rows.
        if !done.rows.is_multiple_of(64) {
            return;
        }
        let now = now();
        let each = if self.is_terminal { DRAWN_EACH } else { SAID_EACH };
        if now - self.shown >= each {
            self.shown = now;
            self.say(&line(self.verb, self.all, self.begun, done, now - self.since));
        }
    }

    fn say(&self, line: &str) {
        let (before, after) = if self.is_terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        let _ = write!(std::io::stderr(), "{before}{line}{after}");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.is_terminal {
            self.say("");
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the time that is shown is that of the work itself")]
fn now() -> Instant {
    Instant::now()
}

fn line(verb: &str, all: Amount, begun: Amount, done: Amount, took: Duration) -> String {
    if all.bytes == 0 {
        return format!("{} rows, {} {verb}", done.rows, mib(done.bytes));
    }
    let left = seconds_left(all.bytes, begun.bytes, done.bytes, took)
        .map_or_else(String::new, |seconds| format!(", {seconds} s left"));
    let (rows, bytes) = (all.rows, mib(all.bytes));
    format!("{} of {rows} rows, {} of {bytes} {verb}{left}", done.rows, mib(done.bytes))
}

/// The seconds that the rest takes at the rate so far; `None` while there is no rate.
fn seconds_left(all: u64, begun: u64, done: u64, took: Duration) -> Option<u128> {
    let here = u128::from(done.saturating_sub(begun));
    let left = u128::from(all.saturating_sub(done));
    (left * took.as_millis()).checked_div(here).map(|millis| millis.div_ceil(1_000))
}

fn mib(bytes: u64) -> String {
    let tenths = bytes * 10 / (1024 * 1024);
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn a_line_says_rows_bytes_and_seconds_left() {
        let all = Amount { rows: 1_000, bytes: 100 * MIB };
        let done = Amount { rows: 400, bytes: 25 * MIB };
        let took = Duration::from_secs(5);
        let said = line("read", all, Amount::default(), done, took);
        assert_eq!(said, "400 of 1000 rows, 25.0 MiB of 100.0 MiB read, 15 s left");
        // What an earlier run read has no part in the rate.
        let begun = Amount { rows: 300, bytes: 20 * MIB };
        assert!(line("read", all, begun, done, took).ends_with("75 s left"));
        assert_eq!(
            line("read", all, done, done, took),
            "400 of 1000 rows, 25.0 MiB of 100.0 MiB read"
        );
        assert_eq!(
            line("written", Amount::default(), begun, done, took),
            "400 rows, 25.0 MiB written"
        );
    }
}
