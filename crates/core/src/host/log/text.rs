//! An event as a line of text: moment, level, target, message and fields. It is the common form of such lines, without colours and
//! spans, which nobody here uses: every request writes one.

use std::cell::RefCell;
use std::fmt;
use std::time::SystemTime;

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::time::Timestamp;

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
        write_moment(now(), &mut writer)?;
        let metadata = event.metadata();
        let level = metadata.level().as_str();
        for _ in level.len()..6 {
            writer.write_char(' ')?;
        }
        for piece in [level, " ", metadata.target(), ":"] {
            writer.write_str(piece)?;
        }
        let mut fields = Fields {
            line: &mut writer,
            outcome: Ok(()),
        };
        event.record(&mut fields);
        fields.outcome?;
        writer.write_char('\n')
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "lines have the machine's time, whatever the service's clock was set to"
)]
fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Writes a moment in RFC 3339 with microseconds. The text of its second is made once a second.
fn write_moment(moment: Timestamp, line: &mut Writer<'_>) -> fmt::Result {
    thread_local! {
        static SECOND: RefCell<(i64, String)> = const { RefCell::new((i64::MIN, String::new())) };
    }
    SECOND.with_borrow_mut(|(second, text)| {
        if *second != moment.seconds() {
            *second = moment.seconds();
            *text = moment.rfc3339();
            text.pop();
        }
        let micros = moment.micros().rem_euclid(1_000_000);
        write!(line, "{text}.{micros:06}Z")
    })
}

struct Fields<'w, 'l> {
    line: &'w mut Writer<'l>,
    outcome: fmt::Result,
}

impl Fields<'_, '_> {
    fn name(&mut self, field: &Field) -> fmt::Result {
        self.line.write_char(' ')?;
        if field.name() != "message" {
            self.line.write_str(field.name())?;
            self.line.write_char('=')?;
        }
        Ok(())
    }

    fn value(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let written = self.name(field).and_then(|()| self.line.write_fmt(value));
        self.outcome = self.outcome.and(written);
    }
}

impl Visit for Fields<'_, '_> {
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
            let written = self.name(field);
            let pieces = ["\"", value, "\""];
            let written = pieces.iter().fold(written, |written, piece| {
                written.and_then(|()| self.line.write_str(piece))
            });
            self.outcome = self.outcome.and(written);
        } else {
            self.value(field, format_args!("{value:?}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lines, Queue};
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
            write_moment(Timestamp::from_micros(micros), &mut Writer::new(&mut line)).unwrap();
            assert_eq!(line, text);
        }
    }

    #[test]
    fn a_line_has_the_common_form() {
        let queue = Arc::new(Queue::default());
        let common = tracing_subscriber::fmt().with_ansi(false);
        let common = common.with_writer(Lines(Arc::clone(&queue))).finish();
        let own = tracing_subscriber::fmt().with_ansi(false);
        let own = own
            .event_format(Text)
            .with_writer(Lines(Arc::clone(&queue)))
            .finish();
        let tell = || {
            tracing::info!(target: "request", id = "A\"b", peer = %"127.0.0.1:1", status = 200_u16, path = "/a?b=ü", "done");
            tracing::warn!(error = ?"x", number = -1_i64, "an end");
        };
        tracing::subscriber::with_default(common, tell);
        tracing::subscriber::with_default(own, tell);
        let lines = String::from_utf8(queue.take(Vec::new()).unwrap()).unwrap();
        let moment = "2026-11-21T16:00:00.000000Z".len();
        let lines: Vec<_> = lines.lines().map(|line| line.get(moment..)).collect();
        assert_eq!(lines.len(), 4);
        assert_eq!(lines.get(..2), lines.get(2..));
    }
}
