//! Panics of handlers, caught.

use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::task::Poll;

/// The output of `future`, or `None` if it panicked.
pub(in crate::host) async fn caught<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    std::future::poll_fn(move |context| {
        // What a handler shares is behind locks that survive a panic; its own state is dropped with it.
        match std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll.map(Some),
            Err(_) => Poll::Ready(None),
        }
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_caught() {
        assert_eq!(caught(async { 7 }).await, Some(7));
        assert_eq!(caught(async { panic!("as the test wants") }).await, None::<()>);
    }
}
