//! The end of a server: it is told, stops accepting, finishes what runs, and goes.

use tokio::sync::watch;

/// Tells whoever holds it when the server begins to stop: for replies that go on for long.
#[derive(Debug, Clone)]
pub struct Stopping(watch::Receiver<bool>);

/// The side that says that the server stops.
#[derive(Debug)]
pub(in crate::host) struct ShutdownTrigger(watch::Sender<bool>);

/// A server's stop, and what hears of it.
pub(in crate::host) fn stop() -> (ShutdownTrigger, Stopping) {
    let (sender, receiver) = watch::channel(false);
    (ShutdownTrigger(sender), Stopping(receiver))
}

impl ShutdownTrigger {
    pub(in crate::host) fn begin(&self) {
        self.0.send_replace(true);
    }
}

impl Stopping {
    /// A server that never stops: for services that run without the host.
    #[must_use]
    pub fn never() -> Self {
        let (sender, receiver) = watch::channel(false);
        // The receiver keeps the last value once its sender is gone, and `stopped` then waits for ever.
        drop(sender);
        Self(receiver)
    }

    /// Returns whether the server is stopping.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once the server begins to stop.
    pub async fn stopped(&self) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|stopping| *stopping).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Ends at the first SIGTERM or SIGINT (Ctrl-C) from this call on: it listens before its future is polled, so that a
/// signal that follows on the ready line is not met by the system's default. Call it inside a tokio runtime.
pub fn signals() -> impl Future<Output = ()> + Send {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let listen = |kind| signal(kind).ok();
        let (terminate, interrupt) =
            (listen(SignalKind::terminate()), listen(SignalKind::interrupt()));
        async fn heard(signal: Option<tokio::signal::unix::Signal>) {
            match signal {
                Some(mut signal) => drop(signal.recv().await),
                // One that cannot be listened to keeps the system's default, which ends the process.
                None => std::future::pending().await,
            }
        }
        async move {
            tokio::select! {
                () = heard(terminate) => {}
                () = heard(interrupt) => {}
            }
        }
    }
    #[cfg(not(unix))]
    async {
        let _ = tokio::signal::ctrl_c().await;
    }
}
