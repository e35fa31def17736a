//! Threads whose end is waited for, but not for ever: a call to a disk that does not answer never returns.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use parking_lot::Mutex;

use crate::schedule::{Parker, StartedThread};

/// Time that a thread has to end once it was told to.
pub(crate) const END_MAX: Duration = Duration::from_secs(10);

/// A thread, and the word that it has ended.
#[derive(Debug)]
pub(crate) struct EndingThread {
    thread: StartedThread,
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
        let thread = StartedThread::start(name.into(), move || {
            run();
            let _ = end.send(());
        })?;
        Ok(Self { thread, ended: Mutex::new(ended) })
    }

    /// The thread, to have it go on where it has parked.
    pub(crate) fn parker(&self) -> Parker {
        self.thread.parker()
    }

    /// Returns whether it is the thread that calls.
    pub(crate) fn is_own(&self) -> bool {
        self.thread.is_own()
    }

    /// Waits for its end, and tells whether it came in time; else the thread is left behind.
    pub(crate) fn end(self, within: Duration) -> bool {
        self.thread.give_turns();
        let ended = self.ended.into_inner().recv_timeout(within);
        let has_ended = ended != Err(RecvTimeoutError::Timeout);
        if has_ended {
            self.thread.join();
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
