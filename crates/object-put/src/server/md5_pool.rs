//! Threads that compute the MD5 of the bodies that arrive at the same time, several side by side. Whoever takes a body hands its
//! pieces over and goes on with them meanwhile.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::{Buf as _, Bytes, BytesMut};
use triptych_core::queue::Queue;
use triptych_crypto::md5_lanes::{BLOCK_BYTES, LANES, Md5State, Md5Sum, advance, last_blocks};

/// Bytes that wait to be summed, beside the piece of each body that was handed over last, shared by the bodies that are summed.
const WAITING_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes that a body may have waiting however many bodies there are.
const SHARE_BYTES_MIN: usize = 256 * 1024;

/// The threads, which start with the first body, and end once the pool and all sums are dropped.
#[derive(Default)]
pub(super) struct Md5Pool(OnceLock<Option<Arc<Workers>>>);

/// The threads, as long as this lives.
struct Workers {
    /// Bodies with blocks that nobody computes yet, the first to come first.
    queue: Arc<Queue<Arc<QueuedBody>>>,
    /// Sums that are not finished.
    sums: AtomicUsize,
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.close();
    }
}

#[derive(Default)]
struct QueuedBody {
    progress: Mutex<Progress>,
    moved: Condvar,
}

#[derive(Default)]
struct Progress {
    state: Md5State,
    /// Whole blocks, in their order.
    waiting: VecDeque<Bytes>,
    bytes: usize,
    /// True if it is due or with a thread.
    is_queued: bool,
}

impl Md5Pool {
    /// The sum of a new body, computed by one of so many threads; by whoever takes the body where none starts.
    pub(super) fn start(&self, threads: usize) -> Box<dyn Md5Sum> {
        match self.0.get_or_init(|| Workers::spawn(threads)) {
            Some(workers) => {
                workers.sums.fetch_add(1, Ordering::Relaxed);
                Box::new(PooledMd5 {
                    workers: Arc::clone(workers),
                    body: Arc::default(),
                    tail: BytesMut::with_capacity(BLOCK_BYTES),
                    bytes: 0,
                })
            }
            None => Box::new(md5::Md5::default()),
        }
    }
}

impl Workers {
    fn spawn(threads: usize) -> Option<Arc<Self>> {
        let queue = Arc::new(Queue::new());
        let started = (0..threads).filter(|number| {
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new().name(format!("md5-{number}"));
            thread.spawn(move || work(&queue)).is_ok()
        });
        let sums = AtomicUsize::new(0);
        (started.count() > 0).then(|| Arc::new(Self { queue, sums }))
    }
}

/// Takes the bodies that are due, as many as go side by side, until nothing more can come.
fn work(queue: &Queue<Arc<QueuedBody>>) {
    while let Some(bodies) = queue.pop_group(|waiting| waiting.len().min(LANES)) {
        advance_all(queue, bodies);
    }
}

/// Computes what waits of these bodies, until one of them has no more.
fn advance_all(queue: &Queue<Arc<QueuedBody>>, bodies: Vec<Arc<QueuedBody>>) {
    let taken = bodies.iter().map(|body| body.begin());
    let (mut states, mut pieces): (Vec<_>, Vec<_>) = taken.unzip();
    loop {
        let fronts: Vec<&[u8]> = pieces.iter().map(front).collect();
        let bytes = fronts.iter().map(|front| front.len()).min().unwrap_or(0);
        if bytes == 0 {
            break;
        }
        advance(&mut states, &fronts);
        for waiting in &mut pieces {
            skip(waiting, bytes);
        }
    }
    for ((body, state), pieces) in bodies.into_iter().zip(states).zip(pieces) {
        if body.end(state, pieces) {
            queue.push(body);
        }
    }
}

fn front(waiting: &VecDeque<Bytes>) -> &[u8] {
    waiting.front().map_or(&[], |piece| piece)
}

fn skip(waiting: &mut VecDeque<Bytes>, bytes: usize) {
    if let Some(piece) = waiting.front_mut() {
        piece.advance(bytes);
        if piece.is_empty() {
            waiting.pop_front();
        }
    }
}

impl QueuedBody {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits as long as `so_long`.
    fn wait(&self, so_long: impl FnMut(&mut Progress) -> bool) -> MutexGuard<'_, Progress> {
        let waited = self.moved.wait_while(self.lock(), so_long);
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what waits. More may come while it is computed.
    fn begin(&self) -> (Md5State, VecDeque<Bytes>) {
        let mut progress = self.lock();
        progress.bytes = 0;
        let taken = (progress.state, std::mem::take(&mut progress.waiting));
        drop(progress);
        self.moved.notify_one();
        taken
    }

    /// Notes how far it came and what is left; whether it is due again.
    fn end(&self, state: Md5State, mut left: VecDeque<Bytes>) -> bool {
        let mut progress = self.lock();
        progress.state = state;
        left.append(&mut progress.waiting);
        progress.waiting = left;
        progress.bytes = progress.waiting.iter().map(Bytes::len).sum();
        progress.is_queued = progress.bytes > 0;
        let is_queued = progress.is_queued;
        drop(progress);
        self.moved.notify_one();
        is_queued
    }
}

/// One body's sum.
struct PooledMd5 {
    workers: Arc<Workers>,
    body: Arc<QueuedBody>,
    /// The last bytes, fewer than a block.
    tail: BytesMut,
    bytes: u64,
}

impl Drop for PooledMd5 {
    fn drop(&mut self) {
        self.workers.sums.fetch_sub(1, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for PooledMd5 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sum").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl PooledMd5 {
    /// Hands over whole blocks.
    fn hand_over(&self, blocks: Bytes) {
        if blocks.is_empty() {
            return;
        }
        let sums = self.workers.sums.load(Ordering::Relaxed).max(1);
        let share = (WAITING_BYTES_MAX / sums).max(SHARE_BYTES_MIN);
        let mut progress = self.body.wait(|progress| progress.bytes > share);
        progress.bytes += blocks.len();
        progress.waiting.push_back(blocks);
        if !std::mem::replace(&mut progress.is_queued, true) {
            drop(progress);
            self.workers.queue.push(Arc::clone(&self.body));
        }
    }
}

impl Md5Sum for PooledMd5 {
    fn feed(&mut self, bytes: &Bytes) {
        self.bytes += bytes.len() as u64;
        let mut bytes = bytes.clone();
        if !self.tail.is_empty() {
            let missing = bytes.len().min(BLOCK_BYTES - self.tail.len());
            self.tail.extend_from_slice(&bytes.split_to(missing));
            if self.tail.len() == BLOCK_BYTES {
                let block = self.tail.split().freeze();
                self.hand_over(block);
            }
        }
        let tail = bytes.split_off(bytes.len() - bytes.len() % BLOCK_BYTES);
        self.tail.extend_from_slice(&tail);
        self.hand_over(bytes);
    }

    fn finish(self: Box<Self>) -> [u8; 16] {
        self.hand_over(last_blocks(&self.tail, self.bytes).into());
        self.body.wait(|progress| progress.is_queued).state.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use md5::Digest as _;

    #[test]
    fn bodies_that_arrive_together_in_odd_pieces_get_their_own_sums() {
        for threads in [1, 2] {
            let pool = Md5Pool::default();
            std::thread::scope(|scope| {
                for number in 0..9_usize {
                    let pool = &pool;
                    scope.spawn(move || {
                        let body: Bytes = (0..number * 77_777)
                            .map(|place| (place * (number + 1)) as u8)
                            .collect();
                        let mut sum = pool.start(threads);
                        for piece in body.chunks(number * 1_001 + 1) {
                            sum.feed(&Bytes::copy_from_slice(piece));
                        }
                        let alone: [u8; 16] = md5::Md5::digest(&body).into();
                        assert_eq!(sum.finish(), alone, "body {number}");
                    });
                }
            });
        }
    }

    #[test]
    fn a_body_that_is_given_up_holds_up_no_other() {
        let pool = Md5Pool::default();
        let mut given_up = pool.start(1);
        given_up.feed(&Bytes::from(vec![1; 100_000]));
        drop(given_up);
        let empty: [u8; 16] = md5::Md5::digest([]).into();
        assert_eq!(pool.start(1).finish(), empty);
    }
}
