//! A few threads for calls to the disk that may take long. Each writer and reader waits for its own
//! call before the next, so that is also the bound on what waits here.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::pending::Pending;

type Job = Box<dyn FnOnce() + Send>;

pub(crate) struct Workers {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    jobs: Mutex<(VecDeque<Job>, bool)>,
    arrived: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, (VecDeque<Job>, bool)> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let mut jobs = self.lock();
            let job = loop {
                if let Some(job) = jobs.0.pop_front() {
                    break job;
                }
                if jobs.1 {
                    return;
                }
                jobs = self.arrived.wait(jobs).unwrap_or_else(PoisonError::into_inner);
            };
            drop(jobs);
            job();
        }
    }
}

impl Workers {
    /// Starts so many threads, named `blob-<kind>-<number>`.
    pub(crate) fn start(kind: &str, threads: usize) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let start = |number: usize| {
            let queue = Arc::clone(&queue);
            std::thread::Builder::new()
                .name(format!("blob-{kind}-{number}"))
                .spawn(move || queue.work())
        };
        let threads = (0..threads).map(start).collect::<Result<_, _>>()?;
        Ok(Self { queue, threads })
    }

    /// Has `job` done by one of the threads; `lost` is the answer where the pool is closed before it.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        lost: T,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Pending<T> {
        let (resolver, pending) = Pending::new(lost);
        self.queue.lock().0.push_back(Box::new(move || resolver.resolve(job())));
        self.queue.arrived.notify_one();
        pending
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.lock().1 = true;
        self.queue.arrived.notify_all();
        let own = std::thread::current().id();
        for thread in self.threads.drain(..).filter(|thread| thread.thread().id() != own) {
            let _ = thread.join();
        }
    }
}
