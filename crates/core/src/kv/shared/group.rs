//! Requests that go to a store together. What is asked while others are on their way waits, and goes in one statement with all that waits by then, as
//! a write-ahead log syncs once for all that wait (group commit). Where nobody else asks, nothing waits.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

/// Requests that are looked at for one group: those behind them go with the next.
const LOOKED_AT_MAX: usize = 256;

/// The rule for which requests go together.
pub(in crate::kv) trait Companions<Q>: Default {
    /// Takes one more, unless it must not go with those that were taken. The first is always taken.
    fn take(&mut self, request: &Q) -> bool;
}

/// Requests that wait to go together.
pub(in crate::kv) struct Group<Q, A> {
    /// Requests of one group at most.
    most: usize,
    /// The time for which a group is waited for by those behind it. One that takes longer may hang, or the store is far away.
    late: Duration,
    queue: Mutex<Queue<Q, A>>,
    /// Held by the group that is on its way.
    turn: Semaphore,
}

struct Queue<Q, A> {
    waiting: VecDeque<Waiting<Q, A>>,
    /// The number of the next request.
    next: u64,
}

struct Waiting<Q, A> {
    number: u64,
    request: Q,
    answer: oneshot::Sender<A>,
}

impl<Q, A> Group<Q, A> {
    /// Nobody waits yet. A group has `most` requests at most, and after `late` the next goes its way beside it.
    pub(in crate::kv) fn new(most: usize, late: Duration) -> Self {
        let queue = Queue { waiting: VecDeque::new(), next: 0 };
        Self { most, late, queue: Mutex::new(queue), turn: Semaphore::new(1) }
    }

    /// The answer to a request. Whoever gets a turn and still waits sends all that may go together, by `send`, which answers them in their order. `None`
    /// where the one who sent it was stopped meanwhile.
    pub(in crate::kv) async fn ask<C, F>(&self, request: Q, send: impl Fn(Vec<Q>) -> F) -> Option<A>
    where
        C: Companions<Q>,
        F: Future<Output = Vec<A>>,
    {
        let (answer, mut own) = oneshot::channel();
        let number = self.queue.lock().push(request, answer);
        loop {
            let turn = tokio::select! {
                biased;
                answered = &mut own => return answered.ok(),
                turn = self.turn.acquire() => turn,
            };
            // Those that are asked at this moment are let in.
            tokio::task::yield_now().await;
            let Some((requests, answers)) = self.queue.lock().group_with::<C>(number, self.most)
            else {
                // It is on its way already, and others can have the turn.
                drop(turn);
                return own.await.ok();
            };
            let mut sent = pin!(send(requests));
            let answered = match timeout(self.late, &mut sent).await {
                Ok(answered) => answered,
                Err(_) => {
                    drop(turn);
                    sent.await
                }
            };
            for (waiting, answer) in answers.into_iter().zip(answered) {
                // Whoever asked may have gone.
                let _ = waiting.send(answer);
            }
        }
    }
}

impl<Q, A> Queue<Q, A> {
    fn push(&mut self, request: Q, answer: oneshot::Sender<A>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting.push_back(Waiting { number, request, answer });
        number
    }

    /// The first that wait, and all behind them that may go with them; none if the request of this number does not wait any more.
    fn group_with<C: Companions<Q>>(
        &mut self,
        number: u64,
        most: usize,
    ) -> Option<(Vec<Q>, Vec<oneshot::Sender<A>>)> {
        self.waiting.binary_search_by_key(&number, |waiting| waiting.number).ok()?;
        let (mut companions, mut stays) = (C::default(), Vec::new());
        let (mut requests, mut answers) = (Vec::new(), Vec::new());
        for _ in 0..LOOKED_AT_MAX {
            match self.waiting.pop_front() {
                None => break,
                Some(waiting) if requests.len() < most && companions.take(&waiting.request) => {
                    requests.push(waiting.request);
                    answers.push(waiting.answer);
                }
                Some(other) => stays.push(other),
            }
        }
        stays.into_iter().rev().for_each(|other| self.waiting.push_front(other));
        Some((requests, answers))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::future::join_all;

    use super::*;

    const LATE: Duration = Duration::from_secs(1);

    /// Numbers that go together while they differ.
    #[derive(Default)]
    struct Different(Vec<u32>);

    impl Companions<u32> for Different {
        fn take(&mut self, request: &u32) -> bool {
            let goes = !self.0.contains(request);
            self.0.extend(goes.then_some(*request));
            goes
        }
    }

    /// The groups that were sent while these were asked at the same moment, and their answers.
    async fn sent(asked: &[u32]) -> (Vec<Vec<u32>>, Vec<Option<u32>>) {
        let (group, sent) = (Group::new(3, LATE), Arc::new(Mutex::new(Vec::new())));
        let send = |requests: Vec<u32>| {
            let sent = Arc::clone(&sent);
            async move {
                tokio::task::yield_now().await;
                let answers = requests.iter().map(|request| request * 10).collect();
                sent.lock().push(requests);
                answers
            }
        };
        let answers =
            join_all(asked.iter().map(|&request| group.ask::<Different, _>(request, send))).await;
        let sent = sent.lock().clone();
        (sent, answers)
    }

    #[tokio::test]
    async fn one_that_is_alone_goes_alone_and_those_of_one_moment_go_together() {
        assert_eq!(sent(&[1]).await, (vec![vec![1]], vec![Some(10)]));
        let (together, answers) = sent(&[1, 2, 3]).await;
        assert_eq!(together, [[1, 2, 3]]);
        assert_eq!(answers, [Some(10), Some(20), Some(30)]);
    }

    #[tokio::test]
    async fn one_that_must_not_go_with_those_before_it_goes_first_in_the_next() {
        let (together, answers) = sent(&[1, 1, 2, 3, 4, 1]).await;
        assert_eq!(together, [vec![1, 2, 3], vec![1, 4], vec![1]]);
        assert_eq!(answers, [10, 10, 20, 30, 40, 10].map(Some));
    }

    #[tokio::test]
    async fn each_is_answered_once_however_many_wait() {
        let asked: Vec<u32> = (0..1000).map(|number| number % 7).collect();
        let (together, answers) = sent(&asked).await;
        assert_eq!(answers, asked.iter().map(|number| Some(number * 10)).collect::<Vec<_>>());
        assert_eq!(together.iter().map(Vec::len).sum::<usize>(), asked.len());
        assert!(together.len() <= asked.len() / 3 + 1, "{} groups", together.len());
    }

    /// Asks something, of which 1 is never answered.
    async fn ask(group: Arc<Group<u32, u32>>, request: u32) -> Option<u32> {
        let send = |requests: Vec<u32>| async move {
            if requests.contains(&1) {
                std::future::pending::<()>().await;
            }
            requests
        };
        group.ask::<Different, _>(request, send).await
    }

    #[tokio::test]
    async fn one_that_hangs_is_waited_for_a_while_by_those_behind_it_and_then_passed() {
        let group = Arc::new(Group::new(1, Duration::from_millis(1)));
        let hangs = tokio::spawn(ask(Arc::clone(&group), 1));
        for request in [2, 3] {
            assert_eq!(ask(Arc::clone(&group), request).await, Some(request));
        }
        assert!(!hangs.is_finished());
    }

    #[tokio::test]
    async fn who_is_stopped_on_its_way_leaves_those_it_took_without_an_answer_and_others_go_on() {
        let group = Arc::new(Group::new(3, LATE));
        let first = tokio::spawn(ask(Arc::clone(&group), 1));
        let taken = tokio::spawn(ask(Arc::clone(&group), 2));
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        first.abort();
        assert_eq!(taken.await.unwrap(), None);
        assert_eq!(ask(group, 3).await, Some(3));
    }
}
