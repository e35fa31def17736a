//! The moderation status of a comment: who sees it, and who may set it.

use serde::{Deserialize, Serialize};

/// A moderation status.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub enum Moderation {
    /// Everybody sees it.
    #[default]
    Published,
    /// It waits for the owner.
    HeldForReview,
    /// It looks like spam.
    LikelySpam,
    /// The owner took it out.
    Rejected,
}

/// The relation of a caller to a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    /// None.
    Anybody,
    /// The comment is the caller's.
    Author,
    /// The channel or video that it is about is the caller's.
    Owner,
}

/// The lists and look-ups in which a comment is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sight {
    /// In none.
    Nowhere,
    /// By its id.
    ById,
    /// By its id, and in the lists that ask for its state.
    OnRequest,
    /// By its id, and in lists.
    Everywhere,
}

/// Each state as anybody, its author and the owner see it.
const SIGHTS: [(Moderation, [Sight; 3]); 4] = {
    use Sight::{ById, Everywhere, Nowhere, OnRequest};
    [
        (Moderation::Published, [Everywhere, Everywhere, Everywhere]),
        (Moderation::HeldForReview, [Nowhere, ById, OnRequest]),
        (Moderation::LikelySpam, [Nowhere, ById, OnRequest]),
        (Moderation::Rejected, [Nowhere, ById, OnRequest]),
    ]
};

impl Moderation {
    /// Every state, in the order of their slots.
    pub const ALL: [Self; 4] =
        [Self::Published, Self::HeldForReview, Self::LikelySpam, Self::Rejected];

    /// As it stands in resources.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::HeldForReview => "heldForReview",
            Self::LikelySpam => "likelySpam",
            Self::Rejected => "rejected",
        }
    }

    /// The state with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// The slot of its lists.
    #[must_use]
    pub const fn slot(self) -> u8 {
        self as u8 + 1
    }

    /// The place where this viewer finds a comment in this state.
    #[must_use]
    pub fn sight(self, viewer: Viewer) -> Sight {
        let row = SIGHTS.iter().find(|(state, _)| *state == self);
        let [anybody, author, owner] = row.map_or([Sight::Nowhere; 3], |(_, sights)| *sights);
        match viewer {
            Viewer::Anybody => anybody,
            Viewer::Author => author,
            Viewer::Owner => owner,
        }
    }

    /// Returns whether an owner may set it: what looks like spam is for the service to say.
    #[must_use]
    pub const fn can_be_set(self) -> bool {
        !matches!(self, Self::LikelySpam)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_in_the_table_and_known_by_its_name() {
        for (at, state) in Moderation::ALL.into_iter().enumerate() {
            assert_eq!(SIGHTS[at].0, state);
            assert_eq!(Moderation::named(state.name()), Some(state));
            assert_eq!(usize::from(state.slot()), at + 1);
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
        assert_eq!(Moderation::named("spam"), None);
    }

    #[test]
    fn nobody_but_author_and_owner_finds_what_is_not_published() {
        for state in Moderation::ALL {
            let is_published = state == Moderation::Published;
            assert_eq!(state.sight(Viewer::Anybody) > Sight::Nowhere, is_published);
            assert!(state.sight(Viewer::Author) >= Sight::ById);
            assert!(state.sight(Viewer::Owner) >= Sight::OnRequest);
        }
    }
}
