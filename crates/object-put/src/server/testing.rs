//! A running service for tests: on a free port, in memory, gone when dropped.

use std::sync::Arc;

use triptych_core::blobs::MemoryBlobs;
use triptych_core::host::Config;
pub use triptych_core::host::testing::Running;
use triptych_core::id::{Ids as _, SystemIds};
use triptych_core::kv::Memory;

use crate::auth::account::Secret;
use crate::maintenance::seed::{Seed, SeedError};
use crate::server::state::ObjectPut;

/// The access key that [`spawn`] gives its first account.
pub const ACCESS_KEY: &str = "TESTING";
/// The secret of [`ACCESS_KEY`].
pub const SECRET_KEY: &str = "testing-secret";

/// Reasons why a service does not run.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No port could be taken.
    #[error("no port could be taken: {0}")]
    Listen(#[from] std::io::Error),
    /// The seed could not be stored.
    #[error(transparent)]
    Seed(#[from] SeedError),
}

/// Starts a service in memory on a free port of loopback, with the bucket `demo` and the key [`ACCESS_KEY`]. Needs a tokio runtime.
///
/// # Errors
/// [`SpawnError`].
pub async fn spawn() -> Result<Running, SpawnError> {
    let config = Config::default();
    let blobs = Arc::new(MemoryBlobs::new(SystemIds.fork()));
    let service = ObjectPut::builder(Arc::new(Memory::new()), blobs)
        .clock(config.clock.clone())
        .seed(Seed::of_key(ACCESS_KEY.to_owned(), Secret::new(SECRET_KEY.to_owned())))
        .build();
    service.apply_seed().await?;
    Ok(Running::start(service, config).await?)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    async fn get(running: &super::Running, target: &str) -> String {
        let mut stream = tokio::net::TcpStream::connect(running.address).await.unwrap();
        let request =
            format!("GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn a_spawned_service_answers_until_it_is_dropped() {
        let running = super::spawn().await.unwrap();
        let answer = get(&running, "/_ops/health/ready").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    #[tokio::test]
    async fn the_signature_of_a_presigned_url_is_not_shown_to_others() {
        let running = super::spawn().await.unwrap();
        get(&running, "/demo/a?X-Amz-Signature=s3cret&X-Store-Credential=s3cret&list-type=2").await;
        let requests = get(&running, "/_ops/requests").await;
        let shown = "/demo/a?X-Amz-Signature=...&X-Store-Credential=...&list-type=2";
        assert!(requests.contains(shown) && !requests.contains("s3cret"), "{requests}");
    }
}
