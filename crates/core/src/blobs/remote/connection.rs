//! The thread and the runtime that talk to an object store, behind calls that know of neither.

use std::convert::Infallible;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::Bucket;
use crate::blobs::BlobError;
use crate::ending_thread::{END_MAX, EndingThread};
use crate::pending::Pending;

/// Threads that sign, encrypt and hash what goes over the network.
const THREADS: usize = 2;
/// The name of all threads here.
const THREAD_NAME: &str = "blob-remote";

/// A store and the runtime of its requests, which ends with the last of those that hold it.
#[derive(Clone)]
pub(super) struct Connection {
    pub(super) bucket: Bucket,
    // Before the thread, which ends when nobody holds this any more.
    alive: mpsc::Sender<Infallible>,
    runtime: Handle,
    _thread: Arc<RuntimeThread>,
}

struct RuntimeThread(Option<EndingThread>);

impl Connection {
    /// Starts the runtime on a thread of its own.
    ///
    /// # Errors
    /// `Unavailable` without a thread.
    pub(super) fn start(bucket: Bucket) -> Result<Self, BlobError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name(THREAD_NAME)
            .enable_all()
            .build()?;
        let handle = runtime.handle().clone();
        let (alive, mut ended) = mpsc::channel::<Infallible>(1);
        let thread = EndingThread::start(THREAD_NAME, move || {
            // Until nobody holds the connection and no request is under way: what was begun is aborted, not left behind.
            let _ = runtime.block_on(ended.recv());
            runtime.shutdown_background();
        })?;
        Ok(Self { bucket, alive, runtime: handle, _thread: Arc::new(RuntimeThread(Some(thread))) })
    }

    /// Has `work` done by the runtime.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, BlobError>> + Send + 'static,
    ) -> Pending<Result<T, BlobError>> {
        let (resolver, pending) = Pending::new(Err(closed()));
        let alive = self.alive.clone();
        self.runtime.spawn(async move {
            resolver.resolve(work.await);
            drop(alive);
        });
        pending
    }

    /// Has `work` done beside, until `set` is dropped.
    pub(super) fn run_in<T: Send + 'static>(
        &self,
        set: &mut JoinSet<T>,
        work: impl Future<Output = T> + Send + 'static,
    ) {
        set.spawn_on(work, &self.runtime);
    }
}

impl Drop for RuntimeThread {
    fn drop(&mut self) {
        // One of the runtime's own would wait for itself.
        let is_own = std::thread::current().name() == Some(THREAD_NAME);
        if let Some(thread) = self.0.take().filter(|_| !is_own) {
            thread.end(END_MAX);
        }
    }
}

/// The answer of a store that is closed.
pub(super) fn closed() -> BlobError {
    BlobError::Unavailable("the store is closed".to_owned())
}
