//! sled itself, held so that its panics are errors, and its end waits for no disk.

use std::ops::RangeBounds;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc;
use std::time::Duration;

/// Time that sled has to bring what it holds to the disk when it is closed. What it does not bring there the log has.
const CLOSE_MAX: Duration = Duration::from_secs(10);

/// The tree of a store.
pub(super) struct Tree(Option<sled::Db>);

impl Tree {
    /// Opens sled; `None` if it panics, as it does where it cannot make sense of its files.
    pub(super) fn open(settings: &sled::Config) -> Option<sled::Result<Self>> {
        let opened = std::panic::catch_unwind(AssertUnwindSafe(|| settings.open()));
        opened.ok().map(|opened| opened.map(|db| Self(Some(db))))
    }

    /// Calls sled.
    fn call<T>(&self, call: impl FnOnce(&sled::Db) -> sled::Result<T>) -> sled::Result<T> {
        let db = self.0.as_ref().ok_or_else(panicked)?;
        caught(|| call(db))
    }

    pub(super) fn get(&self, key: &[u8]) -> sled::Result<Option<sled::IVec>> {
        self.call(|db| db.get(key))
    }

    pub(super) fn insert(&self, key: &[u8], value: Vec<u8>) -> sled::Result<()> {
        self.call(|db| db.insert(key, value).map(|_| ()))
    }

    pub(super) fn apply_batch(&self, batch: sled::Batch) -> sled::Result<()> {
        self.call(|db| db.apply_batch(batch))
    }

    /// Hands sled's buffers to the operating system, which is not the disk yet.
    pub(super) fn flush(&self) -> sled::Result<()> {
        self.call(|db| db.flush().map(|_| ()))
    }

    /// The rows within `range`. Reading them may panic.
    pub(super) fn range<'k>(&self, range: impl RangeBounds<&'k [u8]>) -> sled::Result<sled::Iter> {
        self.call(|db| Ok(db.range::<&'k [u8], _>(range)))
    }

    /// The error that sled keeps to itself once one of its own threads has met it.
    pub(super) fn fault(&self) -> sled::Result<()> {
        self.call(|db| db.context.global_error())
    }

    #[cfg(test)]
    pub(super) fn iter(&self) -> sled::Iter {
        self.0.as_ref().unwrap().iter()
    }
}

/// The outcome of a call, an error where it panicked.
pub(super) fn caught<T>(call: impl FnOnce() -> sled::Result<T>) -> sled::Result<T> {
    std::panic::catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err(panicked()))
}

/// The error that a panic of sled is.
pub(super) fn panicked() -> sled::Error {
    sled::Error::ReportableBug("the engine panicked".into())
}

impl Tree {
    /// Closes sled, and tells whether it has ended. In a thread of its own: it panics where a last sync fails, and waits for its threads
    /// however they have ended.
    pub(super) fn close(&mut self) -> bool {
        let Some(db) = self.0.take() else {
            return true;
        };
        let (closed, wait) = mpsc::channel();
        let close = move || {
            let is_sound = db.flush().is_ok() && db.context.global_error().is_ok();
            drop(db);
            let _ = closed.send(is_sound);
        };
        let Ok(thread) = std::thread::Builder::new().name("kv-close".into()).spawn(close) else {
            return false;
        };
        let is_closed = wait.recv_timeout(CLOSE_MAX);
        if is_closed != Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = thread.join();
        }
        is_closed == Ok(true)
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _is_closed = self.close();
    }
}
