//! An event as a line of text: moment, level, target, message and fields. It is the common form of such lines, without colours and
//! spans, which nobody here uses: every request writes one.

use std::cell::RefCell;
use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::time::{Clock as _, EachSecond, SystemClock, Timestamp};

#[derive(Debug)]
pub(super) struct Text;

impl<S, N> FormatEvent<S, N> for Text
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        thread_local! {
            static LINE: RefCell<String> = const { RefCell::new(String::new()) };
        }
        // An event within an event finds the line in use, and has one of its own.
        let mut line = LINE.take();
        line.clear();
        write_line(event, &mut line);
        let written = writer.write_str(&line);
        LINE.set(line);
        written
    }
}

fn write_line(event: &Event<'_>, line: &mut String) {
    // The machine's time, whatever the service's clock was set to.
    push_moment(SystemClock::new().now(), line);
    let metadata = event.metadata();
    let level = metadata.level().as_str();
    line.extend(std::iter::repeat_n(' ', 6 - level.len().min(6)));
    for piece in [level, " ", metadata.target(), ":"] {
        line.push_str(piece);
    }
    event.record(&mut Fields(line));
    line.push('\n');
}

/// Appends a moment in RFC 3339 with microseconds.
fn push_moment(moment: Timestamp, line: &mut String) {
    thread_local! {
        static SECOND: RefCell<EachSecond<String>> = const { RefCell::new(EachSecond::new()) };
    }
    SECOND.with_borrow_mut(|second| line.push_str(second.at(moment, Timestamp::rfc3339)));
    // Its last sign, the Z, comes after the fraction.
    line.pop();
    let micros = moment.micros().rem_euclid(1_000_000);
    push(line, format_args!(".{micros:06}Z"));
}

fn push(line: &mut String, text: fmt::Arguments<'_>) {
    // Writing to a string fails for no value that keeps the contract of its trait.
    let _ = line.write_fmt(text);
}

/// Fields, appended to a line.
struct Fields<'l>(&'l mut String);

impl Fields<'_> {
    fn name(&mut self, field: &Field) {
        self.0.push(' ');
        if field.name() != "message" {
            self.0.push_str(field.name());
            self.0.push('=');
        }
    }

    fn value(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        self.name(field);
        push(self.0, value);
    }
}

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.value(field, format_args!("{value:?}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.value(field, format_args!("{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
        if field.name() == "message" {
            self.value(field, format_args!("{value}"));
        } else if value.bytes().all(is_plain) {
            self.name(field);
            for piece in ["\"", value, "\""] {
                self.0.push_str(piece);
            }
        } else {
            self.value(field, format_args!("{value:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LogBuffer, LogWriter};
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_moment_has_six_digits_of_its_second() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (1_700_000_000_000_007, "2023-11-14T22:13:20.000007Z"),
            (1_700_000_000_999_999, "2023-11-14T22:13:20.999999Z"),
            (1_700_000_001_000_000, "2023-11-14T22:13:21.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
        ] {
            let mut line = String::new();
            push_moment(Timestamp::from_micros(micros), &mut line);
            assert_eq!(line, text);
        }
    }

    #[test]
    fn a_line_has_the_common_form() {
        let buffer = Arc::new(LogBuffer::default());
        let common = tracing_subscriber::fmt().with_ansi(false);
        let common = common.with_writer(LogWriter(Arc::clone(&buffer))).finish();
        let own = tracing_subscriber::fmt().with_ansi(false);
        let own = own.event_format(Text).with_writer(LogWriter(Arc::clone(&buffer))).finish();
        let tell = || {
            tracing::info!(target: "request", id = "A\"b", peer = %"127.0.0.1:1", status = 200_u16, path = "/a?b=ü", "done");
            tracing::warn!(error = ?"x", number = -1_i64, "an end");
        };
        tracing::subscriber::with_default(common, tell);
        tracing::subscriber::with_default(own, tell);
        let lines = String::from_utf8(buffer.take(Vec::new()).unwrap()).unwrap();
        let moment = "2026-11-21T16:00:00.000000Z".len();
        let lines: Vec<_> = lines.lines().map(|line| line.get(moment..)).collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines.get(..2), lines.get(2..));
    }
}
