//! Seed files: what fills an empty store before the service is ready, in the interface's own shapes.

mod apply;
mod names;

use names::Names;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use triptych_core::id::SeededIds;
use triptych_core::kv::{JsonRecord, StoreError, Table, Tx};
use triptych_core::time::Timestamp;

use crate::account::Scope;
use crate::api::error::Error;
use crate::api::quota::Model;
use crate::oauth::jwt::RsaKey;
use crate::record::id;
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::channels::record::CHANNELS;
use crate::resource::videos::play::Plays;
use crate::resource::videos::record::Regions;

/// How far a seed file is applied, while it is.
pub const SEEDING: Table<(), Progress> = Table::new(0x06);

/// Tables as an export names them.
pub static TABLES: &[TableEntry] = &[TableEntry::new("seeding", &SEEDING, Form::Json)];

/// Why a seed file cannot be applied. The text says where in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// It is no JSON, or holds what no seed file holds.
    #[error("{0}")]
    Unreadable(String),
    /// A resource breaks a rule of its own.
    #[error("{place}: {reason}")]
    Refused {
        /// Which resource.
        place: String,
        /// Why.
        reason: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A project and its keys.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedProject {
    id: String,
    #[serde(default)]
    api_keys: Vec<String>,
    #[serde(default)]
    quota: Model,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedToken {
    token: String,
    #[serde(default)]
    scopes: Vec<String>,
    project: Option<String>,
    expires: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedChannel {
    id: Option<String>,
    title: String,
    handle: Option<String>,
    username: Option<String>,
    #[serde(default)]
    description: String,
    country: Option<String>,
    published_at: Option<String>,
    #[serde(default)]
    hides_subscribers: bool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedAccount {
    id: String,
    email: Option<String>,
    #[serde(default)]
    tokens: Vec<SeedToken>,
    channel: Option<SeedChannel>,
}

/// A video: the resource, its owner (an account or a channel), and how long it is.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedVideo {
    id: Option<String>,
    owner: String,
    published_at: Option<String>,
    duration_ms: Option<u64>,
    view_count: Option<u64>,
    snippet: Option<Value>,
    status: Option<Value>,
    localizations: Option<Value>,
    recording_details: Option<Value>,
    content_details: Option<SeedDetails>,
}

/// What no operation writes of `contentDetails`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedDetails {
    region_restriction: Option<Regions>,
    #[serde(default)]
    content_rating: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedPlaylist {
    id: Option<String>,
    owner: String,
    published_at: Option<String>,
    snippet: Value,
    status: Option<Value>,
    localizations: Option<Value>,
    #[serde(default)]
    items: Vec<String>,
}

/// What an account thinks of a video.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedRating {
    account: String,
    video: String,
    rating: Liking,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Liking {
    Like,
    Dislike,
}

/// Somebody watched a video.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedPlay {
    video: String,
    account: Option<String>,
    #[serde(default)]
    seconds: u64,
    at: Option<String>,
}

impl SeedPlay {
    fn plays(&self) -> Plays {
        Plays {
            video: self.video.clone(),
            account: self.account.clone(),
            count: 1,
            seconds: self.seconds,
        }
    }
}

/// A program that asks users for access.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedClient {
    id: String,
    secret: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
    project: Option<String>,
}

/// A program that proves with a key that it is an account.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedServiceAccount {
    email: String,
    account: String,
    public_key: String,
    project: Option<String>,
}

/// One thing that a transaction applies.
#[derive(Debug, Clone)]
enum Step {
    Project(SeedProject),
    Account(Box<SeedAccount>),
    Client(SeedClient),
    ServiceAccount(SeedServiceAccount),
    Video(Box<SeedVideo>),
    Playlist(Box<SeedPlaylist>),
    Item { playlist: String, video: String },
    Rating(SeedRating),
    Play(SeedPlay),
}

/// Every section of a seed file.
const SECTIONS: [&str; 8] = [
    "projects",
    "accounts",
    "oauthClients",
    "serviceAccounts",
    "videos",
    "playlists",
    "ratings",
    "plays",
];
/// Sections for resources that answer 501: a file that relies on them would not do what it says.
const NOT_BUILT: [&str; 9] = [
    "activities",
    "captions",
    "channelSections",
    "comments",
    "commentThreads",
    "members",
    "membershipsLevels",
    "subscriptions",
    "videoAbuseReportReasons",
];

/// How far a seed file is applied, so that a process that was killed meanwhile goes on where it stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The digest of the file.
    file: [u8; 32],
    /// The step that comes next.
    next: usize,
}

impl JsonRecord for Progress {}

/// A seed file that was read.
#[derive(Debug, Clone, Default)]
pub struct Seed {
    steps: Vec<(String, Step)>,
    has_credentials: bool,
    digest: [u8; 32],
}

impl Seed {
    /// Reads a seed file. What it does not know is refused with its place.
    ///
    /// # Errors
    /// [`SeedError::Unreadable`].
    pub fn parse(text: &str) -> Result<Self, SeedError> {
        let value: Value =
            serde_json::from_str(text).map_err(|error| SeedError::Unreadable(error.to_string()))?;
        let map = value
            .as_object()
            .ok_or_else(|| SeedError::Unreadable("a seed file is a JSON object".into()))?;
        if let Some(name) = map.keys().find(|name| !SECTIONS.contains(&name.as_str())) {
            let what = if NOT_BUILT.contains(&name.as_str()) {
                "this resource is not built yet, so that nothing of it can be seeded"
            } else {
                "not a section of a seed file"
            };
            let list = SECTIONS.join(", ");
            return Err(SeedError::Unreadable(format!("{name}: {what}; there are {list}")));
        }
        let mut seed = Self { digest: Sha256::digest(text.as_bytes()).into(), ..Self::default() };
        let mut names = Names::default();
        for (place, project) in section::<SeedProject>(map, "projects")? {
            names.take("project", &project.id, &place, ".id")?;
            for key in &project.api_keys {
                names.take("API key", key, &place, ".apiKeys")?;
            }
            seed.has_credentials |= !project.api_keys.is_empty();
            seed.steps.push((place, Step::Project(project)));
        }
        for (place, account) in section::<SeedAccount>(map, "accounts")? {
            names.take("account", &account.id, &place, ".id")?;
            let handle = account.channel.as_ref().and_then(|of| of.handle.as_ref());
            if let Some(handle) = handle {
                let handle = handle.trim_start_matches('@').to_lowercase();
                names.take("handle", &handle, &place, ".channel.handle")?;
            }
            for token in &account.tokens {
                names.take("token", &token.token, &place, ".tokens")?;
                seed.has_credentials = true;
                if let Some(name) = token.scopes.iter().find(|name| Scope::named(name).is_none()) {
                    return Err(SeedError::Unreadable(format!(
                        "{place}.tokens: {name} is no scope"
                    )));
                }
            }
            seed.steps.push((place, Step::Account(Box::new(account))));
        }
        for (place, client) in section::<SeedClient>(map, "oauthClients")? {
            names.take("client", &client.id, &place, ".id")?;
            seed.steps.push((place, Step::Client(client)));
        }
        for (place, robot) in section::<SeedServiceAccount>(map, "serviceAccounts")? {
            names.take("service account", &robot.email, &place, ".email")?;
            RsaKey::from_pem(&robot.public_key)
                .map_err(|error| SeedError::Unreadable(format!("{place}.publicKey: {error}")))?;
            seed.steps.push((place, Step::ServiceAccount(robot)));
        }
        for (place, video) in section::<SeedVideo>(map, "videos")? {
            if let Some(id) = &video.id {
                names.take("video", id, &place, ".id")?;
            }
            seed.steps.push((place, Step::Video(Box::new(video))));
        }
        let mut ids = SeededIds::from_seed(seed.digest);
        for (place, mut playlist) in section::<SeedPlaylist>(map, "playlists")? {
            let id = playlist.id.get_or_insert_with(|| id::playlist(&mut ids)).clone();
            names.take("playlist", &id, &place, ".id")?;
            let items = std::mem::take(&mut playlist.items);
            seed.steps.push((place.clone(), Step::Playlist(Box::new(playlist))));
            for (at, video) in items.into_iter().enumerate() {
                seed.steps.push((
                    format!("{place}.items[{at}]"),
                    Step::Item { playlist: id.clone(), video },
                ));
            }
        }
        for (place, rating) in section::<SeedRating>(map, "ratings")? {
            seed.steps.push((place, Step::Rating(rating)));
        }
        for (place, play) in section::<SeedPlay>(map, "plays")? {
            seed.steps.push((place, Step::Play(play)));
        }
        Ok(seed)
    }

    /// A project, an account and a channel for a start without a seed file.
    #[must_use]
    pub fn of_credentials(key: &str, token: &str) -> Self {
        let scopes: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
        let text = json!({
            "projects": [{"id": "demo", "apiKeys": [key]}],
            "accounts": [{"id": "demo", "email": "demo@example.com", "tokens": [{"token": token, "scopes": scopes}],
                "channel": {"id": "UCdemoDemoDemoDemoDemoDA", "title": "Demo", "handle": "@demo"}}],
        });
        Self::parse(&text.to_string()).unwrap_or_default()
    }

    /// Whether it names keys or tokens.
    #[must_use]
    pub const fn has_credentials(&self) -> bool {
        self.has_credentials
    }

    /// How many steps it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether it has none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Where to begin: `Some` step where the store is empty, or was being filled from this file; `None` on any other store, to which only accounts,
    /// keys and tokens are added.
    ///
    /// # Errors
    /// As the store.
    pub fn resume(&self, tx: &mut Tx<'_>) -> Result<Option<usize>, StoreError> {
        if let Some(progress) = SEEDING.get(tx, &())? {
            return Ok((progress.file == self.digest).then_some(progress.next));
        }
        let (rows, _) = CHANNELS.scan(tx, &CHANNELS.span(&()), 1)?;
        Ok(rows.is_empty().then_some(0))
    }

    /// Applies one step, and says whether anything was new. Each step is a transaction, and is applied once, however often the process is killed.
    /// `fills` says that the store is being filled, as [`Seed::resume`] found: else videos, playlists and what follows from them are left out.
    ///
    /// # Errors
    /// [`SeedError::Refused`], [`SeedError::Store`].
    pub fn apply(
        &self,
        at: usize,
        tx: &mut Tx<'_>,
        now: Timestamp,
        fills: bool,
    ) -> Result<bool, SeedError> {
        let new = self.step(at, tx, now, fills)?;
        if fills && at + 1 < self.steps.len() {
            let progress = Progress { file: self.digest, next: at + 1 };
            SEEDING.put(tx, &(), &progress);
        } else if fills {
            SEEDING.delete(tx, &());
        }
        Ok(new)
    }

    fn step(
        &self,
        at: usize,
        tx: &mut Tx<'_>,
        now: Timestamp,
        is_new: bool,
    ) -> Result<bool, SeedError> {
        let Some((place, step)) = self.steps.get(at) else {
            return Ok(false);
        };
        // Ids that the file leaves open follow from the file, so that every start on an empty store gives the same.
        let mut seed = self.digest;
        for (byte, more) in seed.iter_mut().zip(at.to_be_bytes()) {
            *byte ^= more;
        }
        let mut ids = SeededIds::from_seed(seed);
        let applied = match step {
            Step::Project(project) => apply::project(tx, project),
            Step::Account(account) => apply::account(tx, account, now, &mut ids),
            Step::Client(client) => apply::client(tx, client),
            Step::ServiceAccount(robot) => apply::service_account(tx, robot),
            Step::Video(video) if is_new => apply::video(tx, video, now, &mut ids),
            Step::Playlist(playlist) if is_new => apply::playlist(tx, playlist, now),
            Step::Item { playlist, video } if is_new => {
                apply::item(tx, playlist, video, now, &mut ids)
            }
            Step::Rating(rating) if is_new => apply::rating(tx, rating, now),
            Step::Play(play) if is_new => apply::play(tx, play, now, &mut ids),
            Step::Video(_)
            | Step::Playlist(_)
            | Step::Item { .. }
            | Step::Rating(_)
            | Step::Play(_) => Ok(false),
        };
        applied.map_err(|error| match error {
            Error::Backend(error) => SeedError::Store(error),
            Error::Contended => SeedError::Store(StoreError::Conflict),
            other => SeedError::Refused { place: place.clone(), reason: other.to_string() },
        })
    }
}

fn section<T: DeserializeOwned>(
    map: &Map<String, Value>,
    name: &str,
) -> Result<Vec<(String, T)>, SeedError> {
    let Some(value) = map.get(name) else {
        return Ok(Vec::new());
    };
    let list =
        value.as_array().ok_or_else(|| SeedError::Unreadable(format!("{name}: not a list")))?;
    let read = list.iter().enumerate().map(|(at, value)| {
        let place = format!("{name}[{at}]");
        let item = T::deserialize(value)
            .map_err(|error| SeedError::Unreadable(format!("{place}: {error}")))?;
        Ok((place, item))
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::videos::record::VIDEO_COUNTS;
    use triptych_core::kv::{self, KeyValue, Memory};

    #[test]
    fn what_a_seed_file_does_not_know_is_refused_with_its_place() {
        for (text, place) in [
            ("[]", "a seed file is a JSON object"),
            (r#"{"thing": []}"#, "thing: not a section"),
            (r#"{"comments": []}"#, "comments: this resource is not built yet"),
            (
                r#"{"ratings": [{"account": "a", "video": "v", "rating": "love"}]}"#,
                "ratings[0]: unknown variant `love`",
            ),
            (
                r#"{"accounts": [{"id": "a"}, {"id": "b", "age": 7}]}"#,
                "accounts[1]: unknown field `age`",
            ),
            (
                r#"{"accounts": [{"id": "a", "tokens": [{"token": "t", "scopes": ["drive"]}]}]}"#,
                "drive is no scope",
            ),
            (
                r#"{"accounts": [{"id": "a"}, {"id": "a"}]}"#,
                "accounts[1].id: this account is there already",
            ),
            (
                r#"{"projects": [{"id": "p", "apiKeys": ["k"]}, {"id": "q", "apiKeys": ["k"]}]}"#,
                "projects[1].apiKeys: this API key is there already",
            ),
            (
                r#"{"accounts": [{"id": "a", "channel": {"title": "A", "handle": "@x"}}, {"id": "b", "channel": {"title": "B", "handle": "X"}}]}"#,
                "accounts[1].channel.handle: this handle is there already",
            ),
            (
                r#"{"videos": [{"id": "v", "owner": "a"}, {"id": "v", "owner": "b"}]}"#,
                "videos[1].id: this video is there already",
            ),
            (r#"{"accounts": [{"id": ""}]}"#, "accounts[0].id: this account has no name"),
        ] {
            let error = Seed::parse(text).unwrap_err().to_string();
            assert!(error.contains(place), "{error}");
        }
    }

    #[test]
    fn a_seed_that_was_interrupted_anywhere_goes_on_and_counts_nothing_twice() {
        let text = json!({
            "accounts": [{"id": "a", "channel": {"title": "A"}}, {"id": "b", "channel": {"title": "B"}}],
            "videos": [{"id": "v", "owner": "a", "snippet": {"title": "V", "categoryId": "22"}, "viewCount": 5}],
            "playlists": [{"id": "PLx", "owner": "b", "snippet": {"title": "P"}, "items": ["v", "v"]}],
            "ratings": [{"account": "b", "video": "v", "rating": "like"}],
            "plays": [{"video": "v", "account": "b"}, {"video": "v"}],
        });
        let seed = Seed::parse(&text.to_string()).unwrap();
        let fill = |store: &Memory, most: usize| {
            let begin = seed.resume(&mut Tx::new(store)).unwrap();
            for at in (begin.unwrap_or(0)..seed.len()).take(most) {
                kv::run_blocking(store, &mut SeededIds::from_number(1), 1, |tx, _| {
                    seed.apply(at, tx, Timestamp::EPOCH, begin.is_some())
                })
                .unwrap();
            }
        };
        let whole = Memory::new();
        fill(&whole, usize::MAX);
        let rows = |store: &Memory| store.scan(&kv::Span::default(), 1_000).unwrap().rows;
        assert_eq!(seed.resume(&mut Tx::new(&whole)).unwrap(), None);
        for cut in 0..seed.len() {
            let store = Memory::new();
            fill(&store, cut);
            fill(&store, usize::MAX);
            fill(&store, usize::MAX);
            assert!(rows(&store) == rows(&whole), "cut after {cut} steps");
        }
        let counts = VIDEO_COUNTS.get(&mut Tx::new(&whole), &"v".to_owned()).unwrap().unwrap();
        assert_eq!((counts.views, counts.likes), (7, 1));
    }

    #[test]
    fn an_owner_who_is_nobody_is_refused_with_the_member_that_names_them() {
        for (text, place) in [
            (r#"{"videos": [{"owner": "x"}]}"#, "videos[0]: Invalid value at 'owner'"),
            (
                r#"{"accounts": [{"id": "x"}], "playlists": [{"owner": "x", "snippet": {"title": "t"}}]}"#,
                "playlists[0]: Invalid value at 'owner'",
            ),
            (
                r#"{"ratings": [{"account": "x", "video": "v", "rating": "like"}]}"#,
                "ratings[0]: Invalid value at 'account'",
            ),
        ] {
            let (seed, store) = (Seed::parse(text).unwrap(), Memory::new());
            let at = seed.len() - 1;
            let applied = seed.apply(at, &mut Tx::new(&store), Timestamp::EPOCH, true);
            let error = applied.unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
        }
    }
}
