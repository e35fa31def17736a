//! Sections of a channel: what is stored of one, and the types with what each of them shows.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Table};

use crate::api::response;

/// Sections by their id.
pub const SECTIONS: Table<String, Section> = Table::new(0x68);

/// The sections of a channel in their order: positions are places in it.
pub const SECTION_ORDER: Table<String, SectionOrder> = Table::new(0x69);

/// Sections by the playlists and channels that they name.
pub const SECTIONS_NAMING: Table<(String, String), ()> = Table::new(0x6A);

/// The contents that a section of a type is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// Contents that the service finds by itself.
    Found,
    /// One playlist.
    OnePlaylist,
    /// Playlists, under a title.
    Playlists,
    /// Other channels, under a title.
    Channels,
}

/// The types of sections. `channelsectionTypeUndefined` is none of them.
pub const TYPES: &[(&str, Contents)] = &[
    ("singlePlaylist", Contents::OnePlaylist),
    ("multiplePlaylists", Contents::Playlists),
    ("popularUploads", Contents::Found),
    ("recentUploads", Contents::Found),
    ("likes", Contents::Found),
    ("allPlaylists", Contents::Found),
    ("likedPlaylists", Contents::Found),
    ("recentPosts", Contents::Found),
    ("recentActivity", Contents::Found),
    ("liveEvents", Contents::Found),
    ("upcomingEvents", Contents::Found),
    ("completedEvents", Contents::Found),
    ("multipleChannels", Contents::Channels),
    ("postedVideos", Contents::Found),
    ("postedPlaylists", Contents::Found),
    ("subscriptions", Contents::Found),
];

/// A section.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Section {
    /// The channel that it belongs to.
    pub channel: String,
    /// One of [`TYPES`].
    pub kind: String,
    /// `horizontalRow` or `verticalList`, where it was said.
    pub style: Option<String>,
    /// The title; only sections of several playlists or channels have one.
    pub title: Option<String>,
    /// The language of the title.
    pub language: Option<String>,
    /// Its playlists.
    pub playlists: Vec<String>,
    /// Its channels.
    pub channels: Vec<String>,
    /// The title in other languages.
    pub localizations: BTreeMap<String, String>,
    /// The audience that it is meant for, where it was said.
    pub targeting: Option<Targeting>,
}

impl JsonRecord for Section {}

/// The audience that a section is meant for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Targeting {
    /// Languages.
    pub languages: Vec<String>,
    /// Regions.
    pub regions: Vec<String>,
    /// Countries.
    pub countries: Vec<String>,
}

/// Ids of sections in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SectionOrder(pub Vec<String>);

impl JsonRecord for SectionOrder {}

impl Section {
    /// The contents that it is made of.
    #[must_use]
    pub fn contents(&self) -> Contents {
        let found = TYPES.iter().find(|(name, _)| *name == self.kind);
        found.map_or(Contents::Found, |(_, contents)| *contents)
    }

    /// The version of the section at a position.
    #[must_use]
    pub fn etag(&self, position: usize) -> String {
        let mut text = serde_json::to_vec(self).unwrap_or_default();
        text.extend_from_slice(&position.to_be_bytes());
        response::etag(&text)
    }
}
