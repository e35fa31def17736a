//! Threads whose end is waited for, but not for ever: a call to a disk that does not answer never returns.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use parking_lot::Mutex;

/// Time that a thread has to end once it was told to.
pub(crate) const END_MAX: Duration = Duration::from_secs(10);

/// A thread, and the word that it has ended.
#[derive(Debug)]
pub(crate) struct EndingThread {
    thread: JoinHandle<()>,
    ended: Mutex<Receiver<()>>,
}

impl EndingThread {
    /// Starts a thread. What `run` holds is dropped before the thread counts as ended.
    ///
    /// # Errors
    /// As the operating system.
    pub(crate) fn start(
        name: impl Into<String>,
        run: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let (end, ended) = mpsc::channel();
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            run();
            let _ = end.send(());
        })?;
        Ok(Self { thread, ended: Mutex::new(ended) })
    }

    pub(crate) fn thread(&self) -> &Thread {
        self.thread.thread()
    }

    /// Waits for its end, and tells whether it came in time; else the thread is left behind.
    pub(crate) fn end(self, within: Duration) -> bool {
        let ended = self.ended.into_inner().recv_timeout(within);
        let has_ended = ended != Err(RecvTimeoutError::Timeout);
        if has_ended {
            let _ = self.thread.join();
        }
        has_ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_does_not_end_is_left_behind_and_one_that_panics_has_ended() {
        let (hold, held) = mpsc::channel::<()>();
        let stuck = EndingThread::start("stuck", move || {
            let _ = held.recv();
        })
        .unwrap();
        assert!(!stuck.end(Duration::from_millis(20)));
        drop(hold);
        let panics = EndingThread::start("panics", || panic!("as the test wants")).unwrap();
        assert!(panics.end(END_MAX));
        assert!(EndingThread::start("ends", || {}).unwrap().end(END_MAX));
    }
}
