//! A running service for tests: on a free port, in memory, gone when dropped.

use std::sync::Arc;

use triptych_core::blobs::MemoryBlobs;
use triptych_core::host::Config;
pub use triptych_core::host::testing::Running;
use triptych_core::id::{Ids as _, SystemIds};
use triptych_core::kv::Memory;

use crate::http::VideoApi;
use crate::seed::{Seed, SeedError};

/// The API key that [`spawn`] gives its project.
pub const API_KEY: &str = "testing-key";
/// The token that [`spawn`] gives its account, with every scope.
pub const TOKEN: &str = "testing-token";

/// A failure to start a service.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No port could be taken.
    #[error("no port could be taken: {0}")]
    Listen(#[from] std::io::Error),
    /// The seed could not be stored.
    #[error(transparent)]
    Seed(#[from] SeedError),
}

/// Starts a service in memory on a free port of loopback, with the key [`API_KEY`] and the token [`TOKEN`]. Needs a tokio runtime.
///
/// # Errors
/// [`SpawnError`].
pub async fn spawn() -> Result<Running, SpawnError> {
    let config = Config::default();
    let blobs = Arc::new(MemoryBlobs::new(SystemIds.fork()));
    let service = VideoApi::builder(Arc::new(Memory::new()), blobs)
        .clock(config.clock.clone())
        .seed(Seed::of_credentials(API_KEY, TOKEN))
        .build();
    service.apply_seed().await?;
    Ok(Running::start(service, config).await?)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn a_spawned_service_answers_until_it_is_dropped() {
        let running = super::spawn().await.unwrap();
        let mut stream = tokio::net::TcpStream::connect(running.address).await.unwrap();
        let request =
            "GET /_ops/health/ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(running.url().starts_with("http://127.0.0.1:"));
    }
}
