//! A queue that threads wait at until it is closed.

use std::collections::VecDeque;

use parking_lot::Mutex;

use crate::schedule::Condvar;

/// Items in the order they came, for the threads that take them.
#[derive(Debug)]
pub struct Queue<T> {
    state: Mutex<Items<T>>,
    arrived: Condvar,
}

#[derive(Debug)]
struct Items<T> {
    items: VecDeque<T>,
    is_closed: bool,
}

impl<T> Queue<T> {
    /// An empty queue.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            state: Mutex::new(Items { items: VecDeque::new(), is_closed: false }),
            arrived: Condvar::new(),
        }
    }

    /// Adds an item, and wakes a thread for it. One that comes after the close is dropped.
    pub fn push(&self, item: T) {
        self.extend([item]);
    }

    /// Adds items that come together, and wakes a thread for them.
    pub fn extend(&self, items: impl IntoIterator<Item = T>) {
        let mut state = self.state.lock();
        if !state.is_closed {
            state.items.extend(items);
            drop(state);
            self.arrived.notify_one();
        }
    }

    /// Takes the first item, once there is one; `None` once the queue is closed and empty.
    pub fn pop(&self) -> Option<T> {
        let mut state = self.state.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            if state.is_closed {
                return None;
            }
            self.arrived.wait(&mut state);
        }
    }

    /// Takes as many items from the front as `count` says go together, once there is one; `None` once the queue is closed and empty.
    pub fn pop_group(&self, count: impl FnOnce(&VecDeque<T>) -> usize) -> Option<Vec<T>> {
        let mut state = self.state.lock();
        while state.items.is_empty() && !state.is_closed {
            self.arrived.wait(&mut state);
        }
        if state.items.is_empty() {
            return None;
        }
        let count = count(&state.items).clamp(1, state.items.len());
        Some(state.items.drain(..count).collect())
    }

    /// Takes no more items. Those that wait are still given out.
    pub fn close(&self) {
        self.state.lock().is_closed = true;
        self.arrived.notify_all();
    }

    /// Closes the queue and drops what waits.
    pub fn abandon(&self) {
        let dropped = std::mem::take(&mut self.state.lock().items);
        self.close();
        drop(dropped);
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_closed_queue_gives_out_what_waits_and_then_nothing() {
        let queue = Queue::new();
        queue.extend([1, 2, 3]);
        queue.close();
        queue.push(4);
        assert_eq!(queue.pop(), Some(1));
        assert_eq!(queue.pop_group(VecDeque::len), Some(vec![2, 3]));
        assert_eq!((queue.pop(), queue.pop_group(VecDeque::len)), (None, None));
    }

    #[test]
    fn an_abandoned_queue_gives_out_nothing() {
        let queue = Queue::new();
        queue.push(1);
        queue.abandon();
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn a_thread_that_waits_gets_what_comes_and_ends_at_the_close() {
        let queue = Arc::new(Queue::new());
        let taken = Arc::clone(&queue);
        let thread = std::thread::spawn(move || std::iter::from_fn(|| taken.pop()).sum::<u32>());
        queue.push(3);
        queue.push(4);
        queue.close();
        assert_eq!(thread.join().unwrap(), 7);
    }
}
