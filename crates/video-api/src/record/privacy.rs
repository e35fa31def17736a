//! Privacy: who may see a resource.

use serde::{Deserialize, Serialize};

/// The privacy of a video or a playlist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Privacy {
    /// Everyone, and it is found.
    #[default]
    Public,
    /// Whoever has the id.
    Unlisted,
    /// The owner.
    Private,
}

impl Privacy {
    /// As it stands in resources.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Unlisted => "unlisted",
            Self::Private => "private",
        }
    }

    /// The privacy with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Public, Self::Unlisted, Self::Private]
            .into_iter()
            .find(|privacy| privacy.name() == name)
    }
}
