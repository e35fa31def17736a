//! The section of a seed file: tracks with their files.

use serde::Deserialize;
use serde_json::{Map, json};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::patch::{self, CaptionFile};
use super::record::{CAPTIONS, Traits};
use super::{rules, store};
use crate::api::error::Error;
use crate::caption::FileForm;
use crate::record::id;
use crate::record::json_fields::Body;
use crate::resource::videos::record::VIDEOS;
use crate::seed::error::SeedError;
use crate::seed::section::{SectionReader, SeedSection, moment};
use crate::upload::media::{self, Content, MediaId, SLICED_BYTES_MAX};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] =
    &[SeedSection { name: "captions", order: 81, fills_only: true, read }];

const TRACK_KINDS: [&str; 3] = ["standard", "ASR", "forced"];
const AUDIO_TRACK_TYPES: [&str; 4] = ["unknown", "primary", "commentary", "descriptive"];

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedCaption {
    id: Option<String>,
    video: String,
    language: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    is_draft: bool,
    text: Option<String>,
    file: Option<String>,
    #[serde(default)]
    sync: bool,
    updated_at: Option<String>,
    track_kind: Option<String>,
    audio_track_type: Option<String>,
    #[serde(default, rename = "isCC")]
    is_cc: bool,
    #[serde(default)]
    is_large: bool,
    #[serde(default)]
    is_easy_reader: bool,
}

fn read(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, mut seed) in reader.things::<SeedCaption>()? {
        let refuse = |member: &str, why: &str| {
            Err(SeedError::Unreadable(format!("{place}.{member}: {why}")))
        };
        let bytes = match (seed.text.take(), seed.file.take()) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(file)) => match reader.beside(&file) {
                Ok(bytes) => bytes,
                Err(why) => return refuse("file", &why),
            },
            _ => return refuse("text", "a track has either a text or a file"),
        };
        if bytes.is_empty() || bytes.len() > SLICED_BYTES_MAX {
            return refuse("text", "a track of a seed file has 1 to 786432 bytes");
        }
        let known = |given: &Option<String>, all: &[&str]| {
            given.as_deref().is_none_or(|given| all.contains(&given))
        };
        if !known(&seed.track_kind, &TRACK_KINDS) {
            return refuse("trackKind", "one of standard, ASR, forced");
        }
        if !known(&seed.audio_track_type, &AUDIO_TRACK_TYPES) {
            return refuse("audioTrackType", "one of unknown, primary, commentary, descriptive");
        }
        if let Some(id) = &seed.id {
            reader.names.take("caption", id, &place, ".id")?;
        }
        let form = FileForm::of(&bytes);
        reader.step(place.clone(), move |tx, now, ids| caption(tx, &seed, &bytes, form, now, ids));
    }
    Ok(())
}

fn caption(
    tx: &mut Tx<'_>,
    seed: &SeedCaption,
    bytes: &[u8],
    form: FileForm,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let id = seed.id.clone().unwrap_or_else(|| id::caption(ids));
    if CAPTIONS.get(tx, &id)?.is_some() {
        return Ok(false);
    }
    if VIDEOS.peek(tx, &seed.video)?.is_none() {
        return Err(Error::InvalidField { path: "video".into(), expected: "the id of a video" });
    }
    let mut name: MediaId = [0; 16];
    ids.fill(&mut name);
    let file = CaptionFile {
        content: Content::Rows(name),
        bytes: bytes.len() as u64,
        form,
        syncs: seed.sync,
    };
    let snippet = json!({"language": seed.language, "name": seed.name, "isDraft": seed.is_draft});
    let empty = Map::new();
    let snippet = Body::of(snippet.as_object().unwrap_or(&empty));
    let at = moment("updatedAt", seed.updated_at.as_deref(), now)?;
    let made = patch::new(seed.video.clone(), snippet, file, at);
    let mut made = made.map_err(of_member)?;
    // What a seed file holds was there before: its times were worked out long ago.
    made.syncs_until = None;
    let given = |text: &Option<String>, default: String| text.clone().unwrap_or(default);
    let defaults = Traits::default();
    made.traits = Traits {
        track_kind: given(&seed.track_kind, defaults.track_kind),
        audio_track_type: given(&seed.audio_track_type, defaults.audio_track_type),
        is_cc: seed.is_cc,
        is_large: seed.is_large,
        is_easy_reader: seed.is_easy_reader,
    };
    media::put_slices(tx, name, bytes);
    let names = store::names(tx, &made.video)?;
    store::insert(tx, &id, &made, &names).map_err(of_member)?;
    Ok(true)
}

/// The refusal of a track with the member of the file that breaks the rule: the interface has other paths.
fn of_member(error: Error) -> Error {
    let invalid = |path: &str, expected| Error::InvalidField { path: path.into(), expected };
    match error {
        Error::Rule(rule) if *rule == rules::METADATA_INVALID => {
            invalid("language", "a language tag, and beside it a name without control characters")
        }
        Error::Rule(rule) if *rule == rules::NAME_TOO_LONG => {
            invalid("name", "at most 150 characters")
        }
        Error::Rule(rule) if *rule == rules::EXISTS => {
            invalid("name", "a name that no other track of the language has")
        }
        Error::Rule(rule) if *rule == rules::TOO_MANY => {
            invalid("video", "a video with fewer than 500 tracks")
        }
        other => other,
    }
}

/// A track that is made up, as a seed file would bring it.
///
/// # Errors
/// As [`store::insert`].
pub fn generated(
    tx: &mut Tx<'_>,
    ids: &mut dyn Ids,
    video: &str,
    language: &str,
    text: &str,
    at: Timestamp,
) -> Result<(), Error> {
    let seed = json!({"video": video, "language": language, "updatedAt": at.rfc3339_millis()});
    let seed =
        SeedCaption::deserialize(&seed).map_err(|error| Error::ParseError(error.to_string()))?;
    let form = FileForm::of(text.as_bytes());
    caption(tx, &seed, text.as_bytes(), form, at, ids).map(drop)
}
