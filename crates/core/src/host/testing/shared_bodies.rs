//! The place of bodies that several instances share: a folder, or a bucket of SeaweedFS.

use std::io::{Error, Result};
use std::path::Path;
use std::sync::Arc;

use crate::blobs::remote::SeaweedFs;

/// The variable of the environment that names the place: `folder`, which is the default, or `seaweedfs`.
const VARIABLE: &str = "TRIPTYCH_TEST_BODIES";

/// The place of the bodies of all instances below one folder. Where it is a bucket, its server runs as long as one of these is held.
#[derive(Debug, Clone)]
pub struct SharedBodies {
    url: String,
    _server: Option<Arc<SeaweedFs>>,
}

impl SharedBodies {
    /// The place that the environment names, for the instances below a folder.
    ///
    /// # Errors
    /// If it cannot be made, or the environment names none.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test program is told by its environment what to run on"
    )]
    pub fn of(folder: &Path) -> Result<Self> {
        let wanted = std::env::var(VARIABLE).unwrap_or_else(|_| "folder".to_owned());
        match wanted.as_str() {
            "folder" => {
                let bodies = folder.join("bodies");
                std::fs::create_dir_all(&bodies)?;
                Ok(Self { url: format!("file://{}", bodies.display()), _server: None })
            }
            "seaweedfs" => {
                let server = SeaweedFs::shared()?;
                let name = folder.display().to_string();
                let prefix: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
                Ok(Self { url: server.place(&prefix), _server: Some(server) })
            }
            _ => Err(Error::other(format!("{VARIABLE} names {wanted}, which is no place"))),
        }
    }

    /// The URL for `--blobs`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}
