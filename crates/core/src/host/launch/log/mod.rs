//! The log: lines are handed to a thread that writes them, so that no request waits for a file.

mod text;

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// Bytes that wait to be written at the most; lines beyond that are dropped and counted.
const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How long the first line of a batch waits for others: a busy service then wakes the writer a hundred times a second, not once a line.
const GATHERING: Duration = Duration::from_millis(10);

/// Where lines go. Dropping it writes what waits.
#[derive(Debug)]
pub struct Log {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    arrived: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: Vec<u8>,
    dropped: u64,
    closed: bool,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for lines and takes them with those that follow shortly; `None` once the log is closed and empty.
    fn take(&self, mut into: Vec<u8>) -> Option<Vec<u8>> {
        into.clear();
        let mut state = self
            .arrived
            .wait_while(self.lock(), |state| state.waiting.is_empty() && !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        if state.waiting.is_empty() {
            return None;
        }
        let gathered = self.arrived.wait_timeout_while(state, GATHERING, |state| !state.closed);
        (state, _) = gathered.unwrap_or_else(PoisonError::into_inner);
        std::mem::swap(&mut state.waiting, &mut into);
        if state.dropped > 0 {
            into.extend_from_slice(
                format!("{} log lines were dropped: the log's disk is too slow\n", state.dropped)
                    .as_bytes(),
            );
            state.dropped = 0;
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
        let queue = Arc::new(Queue::default());
        let taken = Arc::clone(&queue);
        let thread =
            std::thread::Builder::new().name("log".into()).spawn(move || write_all(&taken, out))?;
        let lines = tracing_subscriber::fmt()
            .with_writer(Lines(Arc::clone(&queue)))
            .with_max_level(tracing::Level::INFO);
        let lines = lines.with_ansi(false);
        // A second log in one process keeps the first: embedders have their own.
        let _ = if json {
            lines.json().flatten_event(true).try_init()
        } else {
            lines.event_format(text::Text).try_init()
        };
        Ok(Self { queue, thread: Some(thread) })
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.arrived.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write_all(queue: &Queue, mut out: Box<dyn Write + Send>) {
    let mut lines = Vec::new();
    while let Some(taken) = queue.take(lines) {
        // Nobody is left to tell where the log itself cannot be written.
        let _ = out.write_all(&taken).and_then(|()| out.flush());
        lines = taken;
    }
}

struct Lines(Arc<Queue>);

impl<'w> MakeWriter<'w> for Lines {
    type Writer = Line<'w>;

    fn make_writer(&'w self) -> Line<'w> {
        Line(&self.0)
    }
}

struct Line<'w>(&'w Queue);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.lock();
        if state.waiting.len() + bytes.len() > WAITING_BYTES_MAX {
            state.dropped += 1;
        } else {
            let sleeping = state.waiting.is_empty();
            state.waiting.extend_from_slice(bytes);
            drop(state);
            if sleeping {
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
        let queue = Queue::default();
        let half = vec![b'x'; WAITING_BYTES_MAX / 2 + 1];
        Line(&queue).write_all(&half).unwrap();
        Line(&queue).write_all(&half).unwrap();
        let taken = queue.take(Vec::new()).unwrap();
        assert!(taken.ends_with(b"1 log lines were dropped: the log's disk is too slow\n"));
        queue.lock().closed = true;
        assert_eq!(queue.take(Vec::new()), None);
    }
}
