//! An answer that arrives later: awaited in a runtime, or waited for on a thread. Needs no runtime.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use parking_lot::Mutex;

use crate::schedule::{Condvar, Parker, park};

/// An answer that another thread gives. Dropping it cancels nothing.
#[must_use = "nothing is known until the answer is awaited or waited for"]
#[derive(Debug)]
pub struct Pending<T>(Progress<T>);

#[derive(Debug)]
enum Progress<T> {
    /// Known when it was made.
    Ready(Option<T>),
    Waiting(Arc<Slot<T>>),
}

#[derive(Debug)]
struct Slot<T> {
    answer: Mutex<Answer<T>>,
    arrived: Condvar,
}

#[derive(Debug)]
struct Answer<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

/// The side that gives the answer. If it is dropped without one, `lost` is given in its place.
#[derive(Debug)]
pub struct Resolver<T> {
    slot: Arc<Slot<T>>,
    lost: Option<T>,
}

impl<T> Pending<T> {
    /// An answer that is known already.
    pub const fn ready(value: T) -> Self {
        Self(Progress::Ready(Some(value)))
    }

    /// An answer to come, and the one who gives it; `lost` is the answer if nobody does.
    pub fn new(lost: T) -> (Resolver<T>, Self) {
        let slot = Arc::new(Slot {
            answer: Mutex::new(Answer { value: None, waker: None }),
            arrived: Condvar::new(),
        });
        (Resolver { slot: Arc::clone(&slot), lost: Some(lost) }, Self(Progress::Waiting(slot)))
    }

    /// Blocks this thread until the answer is there. Never call it on an async thread.
    ///
    /// # Panics
    /// If the answer was already taken by polling.
    #[expect(
        clippy::expect_used,
        reason = "an answer is given once; asking twice is a fault of the caller"
    )]
    pub fn wait(self) -> T {
        match self.0 {
            Progress::Ready(value) => value.expect("the answer is taken once"),
            Progress::Waiting(slot) => {
                let mut answer = slot.answer.lock();
                loop {
                    if let Some(value) = answer.value.take() {
                        return value;
                    }
                    slot.arrived.wait(&mut answer);
                }
            }
        }
    }
}

/// Blocks this thread until `future` is done. Never call it on an async thread.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(Parker::own())).into();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => park(),
        }
    }
}

/// Wakes the thread that polls.
struct Unpark(Parker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl<T: Unpin> Future for Pending<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Progress::Ready(value) => value.take().map_or(Poll::Pending, Poll::Ready),
            Progress::Waiting(slot) => {
                let mut answer = slot.answer.lock();
                if let Some(value) = answer.value.take() {
                    return Poll::Ready(value);
                }
                match &mut answer.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
                Poll::Pending
            }
        }
    }
}

impl<T> Slot<T> {
    fn give(&self, value: T) {
        let mut answer = self.answer.lock();
        answer.value = Some(value);
        let waker = answer.waker.take();
        drop(answer);
        self.arrived.notify_all();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Resolver<T> {
    /// Gives the answer.
    pub fn resolve(mut self, value: T) {
        self.lost = None;
        self.slot.give(value);
    }
}

impl<T> Drop for Resolver<T> {
    fn drop(&mut self) {
        if let Some(lost) = self.lost.take() {
            self.slot.give(lost);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_from_another_thread_can_be_waited_for() {
        let (resolver, pending) = Pending::new(0);
        let thread = std::thread::spawn(move || resolver.resolve(7));
        assert_eq!(pending.wait(), 7);
        thread.join().unwrap();
    }

    #[test]
    fn a_future_that_is_woken_by_another_thread_can_be_blocked_on() {
        let (resolver, pending) = Pending::new(0);
        let thread = std::thread::spawn(move || resolver.resolve(7));
        assert_eq!(block_on(async { pending.await + 1 }), 8);
        thread.join().unwrap();
    }

    #[test]
    fn a_resolver_that_is_dropped_gives_the_lost_answer() {
        let (resolver, pending) = Pending::new("lost");
        drop(resolver);
        assert_eq!(pending.wait(), "lost");
    }

    #[test]
    fn an_answer_can_be_awaited_and_wakes_its_task() {
        let (resolver, mut pending) = Pending::new(0);
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut pending).poll(&mut context).is_pending());
        resolver.resolve(3);
        assert_eq!(Pin::new(&mut pending).poll(&mut context), Poll::Ready(3));
    }
}
