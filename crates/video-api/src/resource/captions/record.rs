//! Caption tracks: what is stored of one, and who may see it.

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Table};
use triptych_core::time::Timestamp;

use crate::api::{language, response};
use crate::caption::FileForm;
use crate::resource::channels::record::Id;
use crate::upload::media::Content;

/// Tracks by their id.
pub const CAPTIONS: Table<String, Caption> = Table::new(0x60);

/// Tracks by video and the time when they were made, the first one first.
pub const VIDEO_CAPTIONS: Table<(String, u64, String), ()> = Table::new(0x61);

/// Tracks by video, language and name: there is one of each. The language is in lower case and with hyphens, for `en_GB` and `en-gb` are one.
pub const CAPTION_NAMES: Table<(String, String, String), Id> = Table::new(0x62);

/// Tracks whose times are being worked out, by when that ends.
pub const SYNCS: Table<(u64, String), ()> = Table::new(0x63);

/// Number of tracks of a video, and of those that everyone is shown.
pub const CAPTION_COUNTS: Table<String, CaptionCounts> = Table::new(0x64);

/// A caption track.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caption {
    /// The video that it belongs to.
    pub video: String,
    /// The tag of its language.
    pub language: String,
    /// Its name; may be empty.
    pub name: String,
    /// True if its owner alone sees it.
    pub is_draft: bool,
    /// The time when it was made.
    pub made: Timestamp,
    /// The time when it was written last.
    pub updated: Timestamp,
    /// The bytes that came.
    pub content: Content,
    /// Their number.
    pub bytes: u64,
    /// The use of those bytes.
    pub form: FileForm,
    /// True if its times are those of the service.
    pub is_synced: bool,
    /// The time when its times will have been worked out, as long as they are not.
    pub syncs_until: Option<Timestamp>,
    /// Facts that no operation writes: the seed file does.
    #[serde(default)]
    pub traits: Traits,
}

/// Members of a track that no operation writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Traits {
    /// `standard`, `ASR` or `forced`.
    pub track_kind: String,
    /// `unknown`, `primary`, `commentary` or `descriptive`.
    pub audio_track_type: String,
    /// True if it says what is heard beside speech.
    #[serde(rename = "isCC")]
    pub is_cc: bool,
    /// True if it is in large letters.
    pub is_large: bool,
    /// True if it is in words that are easy to read.
    pub is_easy_reader: bool,
}

impl Default for Traits {
    fn default() -> Self {
        Self {
            track_kind: "standard".into(),
            audio_track_type: "unknown".into(),
            is_cc: false,
            is_large: false,
            is_easy_reader: false,
        }
    }
}

impl JsonRecord for Caption {}

/// A language as names of tracks are compared: in lower case and with hyphens.
pub(super) fn normal_language(tag: &str) -> String {
    language::with_hyphens(tag).to_lowercase()
}

/// Number of tracks of a video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CaptionCounts {
    /// All of them.
    pub tracks: u32,
    /// Those that are published and serve.
    pub serving: u32,
}

impl JsonRecord for CaptionCounts {}

impl Caption {
    /// The reason why it can serve no player; `None` if it can.
    #[must_use]
    pub const fn failure(&self) -> Option<&'static str> {
        match self.form {
            FileForm::Captions(_) => None,
            FileForm::Transcript if self.is_synced => None,
            FileForm::Transcript | FileForm::Unknown => Some("unknownFormat"),
            FileForm::Unsupported => Some("unsupportedFormat"),
            FileForm::Broken => Some("processingFailed"),
        }
    }

    /// `snippet.status`.
    #[must_use]
    pub const fn status(&self) -> &'static str {
        match (self.failure(), self.syncs_until) {
            (Some(_), _) => "failed",
            (None, Some(_)) => "syncing",
            (None, None) => "serving",
        }
    }

    /// Returns whether everyone who sees the video is shown it by a player.
    #[must_use]
    pub const fn is_serving(&self) -> bool {
        !self.is_draft && self.failure().is_none() && self.syncs_until.is_none()
    }

    /// The key of its place among the tracks of its video.
    pub(super) fn name_key(&self) -> (String, String, String) {
        (self.video.clone(), normal_language(&self.language), self.name.clone())
    }

    /// The key under which a track whose language has an underscore may be where an earlier build made it.
    pub(super) fn early_name_key(&self) -> Option<(String, String, String)> {
        let language = self.language.to_lowercase();
        let is_other = language.contains('_');
        is_other.then(|| (self.video.clone(), language, self.name.clone()))
    }

    /// The version.
    #[must_use]
    pub fn etag(&self) -> String {
        response::etag(&serde_json::to_vec(self).unwrap_or_default())
    }
}
