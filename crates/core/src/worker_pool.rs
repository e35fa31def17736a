//! A few threads for calls to the disk that may take long. Each writer and reader waits for its own
//! call before the next, so that is also the bound on what waits here.

use std::io;
use std::sync::Arc;

use crate::ending_thread::{END_MAX, EndingThread};
use crate::pending::Pending;
use crate::queue::Queue;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that do jobs until the pool is dropped.
pub(crate) struct WorkerPool {
    jobs: Arc<Queue<Job>>,
    threads: Vec<EndingThread>,
}

impl WorkerPool {
    /// Starts so many threads, named `blob-<kind>-<number>`.
    pub(crate) fn start(kind: &str, threads: usize) -> io::Result<Self> {
        let jobs = Arc::new(Queue::<Job>::new());
        let start = |number: usize| {
            let jobs = Arc::clone(&jobs);
            EndingThread::start(format!("blob-{kind}-{number}"), move || {
                while let Some(job) = jobs.pop() {
                    job();
                }
            })
        };
        let threads = (0..threads).map(start).collect::<Result<_, _>>()?;
        Ok(Self { jobs, threads })
    }

    /// Has `job` done by one of the threads; `lost` is the answer where the pool is closed before it.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        lost: T,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Pending<T> {
        let (resolver, pending) = Pending::new(lost);
        self.jobs.push(Box::new(move || resolver.resolve(job())));
        pending
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.jobs.close();
        for thread in self.threads.drain(..).filter(|thread| !thread.is_own()) {
            thread.end(END_MAX);
        }
    }
}
