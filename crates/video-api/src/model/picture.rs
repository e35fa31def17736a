//! Pictures that were uploaded for a channel: banners and watermarks.

use serde::{Deserialize, Serialize};
use triptych_core::kv::JsonRecord;

use crate::upload::media::MediaId;

/// A picture, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Picture {
    /// The channel.
    pub channel: String,
    /// The rows of its bytes.
    pub media: MediaId,
    /// What the client says it is.
    pub content_type: String,
}

impl JsonRecord for Picture {}
