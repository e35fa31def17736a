//! The thread and the runtime of an engine on another machine, so that its reads can be called from anywhere.

use std::io;

use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::sync::mpsc;

use crate::kv::StoreError;
use crate::pending::Pending;

/// A runtime with a thread of its own, which ends once the engine and everything that it was asked are gone.
pub(in crate::kv) struct EngineThread {
    pub(in crate::kv) runtime: Handle,
    /// Held by the engine and by everything that it was asked.
    alive: mpsc::Sender<()>,
}

impl EngineThread {
    /// Makes the runtime, enters it for `make`, and starts the thread, on which `begin` runs first.
    ///
    /// # Errors
    /// `Unavailable` if the thread cannot be started.
    pub(in crate::kv) fn start<T>(
        name: &str,
        make: impl FnOnce() -> T,
        begin: impl FnOnce(T) + Send + 'static,
    ) -> Result<(Self, T), StoreError>
    where
        T: Clone + Send + 'static,
    {
        let failed = |error: io::Error| StoreError::Unavailable(error.to_string());
        let runtime: Runtime =
            Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let handle = runtime.handle().clone();
        let (alive, mut gone) = mpsc::channel(1);
        let made = {
            let _entered = handle.enter();
            make()
        };
        let kept = made.clone();
        let work = move || {
            runtime.block_on(async move {
                begin(kept);
                // Nobody sends: this ends once every sender is gone.
                gone.recv().await
            });
        };
        std::thread::Builder::new().name(name.into()).spawn(work).map_err(failed)?;
        Ok((Self { runtime: handle, alive }, made))
    }

    /// Runs `work` on the engine's runtime as long as the engine lives; `lost` is the answer if that ends first.
    pub(in crate::kv) fn watch<T: Send + 'static>(
        &self,
        lost: T,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Pending<T> {
        let (resolver, pending) = Pending::new(lost);
        self.runtime.spawn(async move { resolver.resolve(work.await) });
        pending
    }

    /// Runs `work` on the engine's runtime, which waits for it; `lost` is the answer if that ends first.
    pub(in crate::kv) fn ask<T: Send + 'static>(
        &self,
        lost: T,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Pending<T> {
        let alive = self.alive.clone();
        self.watch(lost, async move {
            let answer = work.await;
            drop(alive);
            answer
        })
    }
}

/// The answer of an engine that ends.
pub(in crate::kv) fn unavailable() -> StoreError {
    StoreError::Unavailable("the service stops".to_owned())
}

/// Waits for an answer of the engine. On a thread of a runtime, what else that thread has to do goes on elsewhere.
pub(in crate::kv) fn wait<T>(pending: Pending<T>) -> T {
    let flavor = Handle::try_current().map(|current| current.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| pending.wait()),
        _ => pending.wait(),
    }
}
