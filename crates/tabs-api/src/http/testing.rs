//! A running service for tests: on a free port, in memory, gone when dropped.

use std::sync::Arc;

use triptych_core::host::Config;
use triptych_core::host::testing::Running;

use crate::browser::Compat;
use crate::http::TabsApi;
use crate::seed::{Seed, SeedError};

/// The token of the extension that [`spawn`] installs. It has every permission.
pub const TOKEN: &str = "testing";
/// The token of the control side.
pub const CONTROL_TOKEN: &str = "testing-control";

/// The reason for which a service does not run.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No port could be taken.
    #[error("no port could be taken: {0}")]
    Listen(#[from] std::io::Error),
    /// The seed cannot be used.
    #[error(transparent)]
    Seed(#[from] SeedError),
}

/// Starts a service of one browser on a free port of loopback. Needs a tokio runtime.
///
/// # Errors
/// [`SpawnError`].
pub async fn spawn() -> Result<Running, SpawnError> {
    let seed = Seed::parse(
        r#"{"extensions": [{"token": "testing", "manifest": {"manifest_version": 3, "name": "Testing", "version": "1",
            "permissions": ["tabs", "tabGroups", "activeTab"], "host_permissions": ["<all_urls>"]}}]}"#,
    )?;
    let config = Config::default();
    let service = TabsApi::builder()
        .clock(Arc::clone(&config.clock) as Arc<dyn triptych_core::time::Clock>)
        .compat(Compat::Browser)
        .control_token(CONTROL_TOKEN)
        .seed(seed)
        .build()?;
    Ok(Running::start(service, config).await?)
}
