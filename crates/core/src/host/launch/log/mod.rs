//! The log: lines are handed to a thread that writes them, so that no request waits for a file.

mod text;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tracing_subscriber::fmt::MakeWriter;

/// Bytes that wait to be written at the most; lines beyond that are dropped and counted.
const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Time for which the first line of a batch waits for others: a busy service then wakes the writer a hundred times a second, not once a line.
const GATHERING: Duration = Duration::from_millis(10);

/// The log of a process. Dropping it writes what waits.
#[derive(Debug)]
pub struct Log {
    buffer: Arc<LogBuffer>,
    thread: Option<JoinHandle<()>>,
}

/// Lines on their way to the thread that writes them.
#[derive(Debug, Default)]
struct LogBuffer {
    lines: Mutex<Lines>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    waiting: Vec<u8>,
    dropped: u64,
    is_closed: bool,
}

impl LogBuffer {
    /// Waits for lines and takes them with those that follow shortly; `None` once the log is closed and empty.
    fn take(&self, mut into: Vec<u8>) -> Option<Vec<u8>> {
        into.clear();
        let mut lines = self.lines.lock();
        self.arrived.wait_while(&mut lines, |lines| lines.waiting.is_empty() && !lines.is_closed);
        if lines.waiting.is_empty() {
            return None;
        }
        self.arrived.wait_while_for(&mut lines, |lines| !lines.is_closed, GATHERING);
        std::mem::swap(&mut lines.waiting, &mut into);
        if lines.dropped > 0 {
            into.extend_from_slice(
                format!("{} log lines were dropped: the log's disk is too slow\n", lines.dropped)
                    .as_bytes(),
            );
            lines.dropped = 0;
        }
        Some(into)
    }
}

impl Log {
    /// Starts writing to `path`, appending, or to standard error, in lines of text or JSON.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn start(path: Option<&Path>, json: bool) -> io::Result<Self> {
        let out: Box<dyn Write + Send> = match path {
            Some(path) => {
                Box::new(std::fs::OpenOptions::new().create(true).append(true).open(path)?)
            }
            None => Box::new(io::stderr()),
        };
        let buffer = Arc::new(LogBuffer::default());
        let taken = Arc::clone(&buffer);
        let thread =
            std::thread::Builder::new().name("log".into()).spawn(move || write_all(&taken, out))?;
        let lines = tracing_subscriber::fmt()
            .with_writer(LogWriter(Arc::clone(&buffer)))
            .with_max_level(tracing::Level::INFO);
        let lines = lines.with_ansi(false);
        // A second log in one process keeps the first: embedders have their own.
        let _ = if json {
            lines.json().flatten_event(true).try_init()
        } else {
            lines.event_format(text::Text).try_init()
        };
        Ok(Self { buffer, thread: Some(thread) })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.buffer.lines.lock().is_closed = true;
        self.buffer.arrived.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_all(buffer: &LogBuffer, mut out: Box<dyn Write + Send>) {
    let mut lines = Vec::new();
    while let Some(taken) = buffer.take(lines) {
        // Nobody is left to tell where the log itself cannot be written.
        let _ = out.write_all(&taken).and_then(|()| out.flush());
        lines = taken;
    }
}

/// The writer that lines are formatted into.
struct LogWriter(Arc<LogBuffer>);

impl<'w> MakeWriter<'w> for LogWriter {
    type Writer = LineWriter<'w>;

    fn make_writer(&'w self) -> LineWriter<'w> {
        LineWriter(&self.0)
    }
}

struct LineWriter<'w>(&'w LogBuffer);

impl Write for LineWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut lines = self.0.lines.lock();
        if lines.waiting.len() + bytes.len() > WAITING_BYTES_MAX {
            lines.dropped += 1;
        } else {
            let is_first = lines.waiting.is_empty();
            lines.waiting.extend_from_slice(bytes);
            drop(lines);
            if is_first {
                self.0.arrived.notify_one();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_drops_lines_and_says_how_many() {
        let buffer = LogBuffer::default();
        let half = vec![b'x'; WAITING_BYTES_MAX / 2 + 1];
        LineWriter(&buffer).write_all(&half).unwrap();
        LineWriter(&buffer).write_all(&half).unwrap();
        let taken = buffer.take(Vec::new()).unwrap();
        assert!(taken.ends_with(b"1 log lines were dropped: the log's disk is too slow\n"));
        buffer.lines.lock().is_closed = true;
        assert_eq!(buffer.take(Vec::new()), None);
    }
}
