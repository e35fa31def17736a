//! A running service for tests, on a free port of loopback and gone when dropped; instances of its binary, and what asks them.

pub mod history;
mod instance;
mod nginx;
mod round_robin;
#[cfg(feature = "object-store")]
mod shared_bodies;
mod suite;
mod workload;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub use self::instance::{Answer, Client, Instance, pause_keeper, until};
pub use self::nginx::Nginx;
pub use self::round_robin::RoundRobin;
#[cfg(feature = "object-store")]
pub use self::shared_bodies::SharedBodies;
pub use self::suite::{run_suite, workspace_file};
pub use self::workload::{
    CALLS_BETWEEN, CALLS_OF_A_KEY, Fault, KeyedHistory, Workload, read_again, run_workload,
};
use super::{Config, HostedService, Report, serve};
use crate::time::SystemClock;

/// A service that runs until this is dropped.
#[derive(Debug)]
pub struct Running {
    /// The address at which it listens.
    pub address: SocketAddr,
    /// Its clock, which a test may move.
    pub clock: Arc<SystemClock>,
    stop: oneshot::Sender<()>,
    served: JoinHandle<Report>,
}

impl Running {
    /// Starts `service` under the host. Needs a tokio runtime.
    ///
    /// # Errors
    /// If no port can be taken.
    pub async fn start<S: HostedService>(service: S, config: Config) -> std::io::Result<Self> {
        let clock = Arc::clone(&config.clock);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel::<()>();
        let served = tokio::spawn(serve(listener, service, config, async move {
            // Sent or dropped, both mean the same.
            let _ = stopped.await;
        }));
        Ok(Self { address, clock, stop, served })
    }

    /// The URL for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Begins to stop, and returns the report of the end when it is awaited.
    #[must_use]
    pub fn stop(self) -> JoinHandle<Report> {
        let _ = self.stop.send(());
        self.served
    }
}
