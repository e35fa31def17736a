//! Seed files: what fills an empty store before the service is ready, in the interface's own shapes.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::{StoreError, Tx};
use triptych_core::time::Timestamp;

use crate::account::{self, Account, KeyRow, Scope, Scopes, TokenRow};
use crate::error::Error;
use crate::media::Facts;
use crate::model::channel::{self, Channel};
use crate::model::playlist_item::{Order, PlaylistItem};
use crate::model::stored::Stored;
use crate::model::text::Body;
use crate::model::video::{self, Writing};
use crate::model::{id, playlist};
use crate::oauth::grant::{CLIENTS, Client, SERVICE_ACCOUNTS, ServiceAccount};
use crate::oauth::jwt::RsaKey;
use crate::quota::{Model, Project};
use crate::tables::{ACCOUNTS, CHANNELS, KEYS, PLAYLISTS, PROJECTS, TOKENS, VIDEO_COUNTS, VIDEOS};

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
}

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
        let known = [
            "projects",
            "accounts",
            "oauthClients",
            "serviceAccounts",
            "videos",
            "playlists",
        ];
        if let Some(name) = map.keys().find(|name| !known.contains(&name.as_str())) {
            let list = known.join(", ");
            return Err(SeedError::Unreadable(format!(
                "{name}: not a section of a seed file; there are {list}"
            )));
        }
        let mut seed = Self {
            digest: Sha256::digest(text.as_bytes()).into(),
            ..Self::default()
        };
        for (place, project) in section::<SeedProject>(map, "projects")? {
            seed.has_credentials |= !project.api_keys.is_empty();
            seed.steps.push((place, Step::Project(project)));
        }
        for (place, account) in section::<SeedAccount>(map, "accounts")? {
            for token in &account.tokens {
                seed.has_credentials = true;
                if let Some(name) = token
                    .scopes
                    .iter()
                    .find(|name| Scope::named(name).is_none())
                {
                    return Err(SeedError::Unreadable(format!(
                        "{place}.tokens: {name} is no scope"
                    )));
                }
            }
            seed.steps.push((place, Step::Account(Box::new(account))));
        }
        for (place, client) in section::<SeedClient>(map, "oauthClients")? {
            seed.steps.push((place, Step::Client(client)));
        }
        for (place, robot) in section::<SeedServiceAccount>(map, "serviceAccounts")? {
            RsaKey::from_pem(&robot.public_key)
                .map_err(|error| SeedError::Unreadable(format!("{place}.publicKey: {error}")))?;
            seed.steps.push((place, Step::ServiceAccount(robot)));
        }
        for (place, video) in section::<SeedVideo>(map, "videos")? {
            seed.steps.push((place, Step::Video(Box::new(video))));
        }
        let mut ids = SeededIds::from_seed(seed.digest);
        for (place, mut playlist) in section::<SeedPlaylist>(map, "playlists")? {
            let id = playlist
                .id
                .get_or_insert_with(|| id::playlist(&mut ids))
                .clone();
            let items = std::mem::take(&mut playlist.items);
            seed.steps
                .push((place.clone(), Step::Playlist(Box::new(playlist))));
            for (at, video) in items.into_iter().enumerate() {
                seed.steps.push((
                    format!("{place}.items[{at}]"),
                    Step::Item {
                        playlist: id.clone(),
                        video,
                    },
                ));
            }
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

    /// Applies one step, and says whether anything was new. Steps are small, so each is a transaction, and applying
    /// one again does nothing. `is_new` says that the store was empty: on one that was not, only accounts, keys and tokens are added.
    ///
    /// # Errors
    /// [`SeedError::Refused`], [`SeedError::Store`].
    pub fn apply(
        &self,
        at: usize,
        tx: &mut Tx<'_>,
        now: Timestamp,
        is_new: bool,
    ) -> Result<bool, SeedError> {
        let Some((place, step)) = self.steps.get(at) else {
            return Ok(false);
        };
        // Ids that the file leaves open follow from the file, so that a seed that was interrupted goes on where it stopped.
        let mut seed = self.digest;
        for (byte, more) in seed.iter_mut().zip(at.to_be_bytes()) {
            *byte ^= more;
        }
        let mut ids = SeededIds::from_seed(seed);
        let applied = match step {
            Step::Project(project) => apply_project(tx, project),
            Step::Account(account) => apply_account(tx, account, now, &mut ids),
            Step::Client(client) => apply_client(tx, client),
            Step::ServiceAccount(robot) => apply_service_account(tx, robot),
            Step::Video(video) if is_new => apply_video(tx, video, now, &mut ids),
            Step::Playlist(playlist) if is_new => apply_playlist(tx, playlist, now),
            Step::Item { playlist, video } if is_new => {
                apply_item(tx, playlist, video, now, &mut ids)
            }
            Step::Video(_) | Step::Playlist(_) | Step::Item { .. } => Ok(false),
        };
        applied.map_err(|error| match error {
            Error::Backend(error) => SeedError::Store(error),
            Error::Contended => SeedError::Store(StoreError::Conflict),
            other => SeedError::Refused {
                place: place.clone(),
                reason: other.to_string(),
            },
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
    let list = value
        .as_array()
        .ok_or_else(|| SeedError::Unreadable(format!("{name}: not a list")))?;
    let read = list.iter().enumerate().map(|(at, value)| {
        let place = format!("{name}[{at}]");
        let item = T::deserialize(value)
            .map_err(|error| SeedError::Unreadable(format!("{place}: {error}")))?;
        Ok((place, item))
    });
    read.collect()
}

fn apply_project(tx: &mut Tx<'_>, project: &SeedProject) -> Result<bool, Error> {
    let mut new = false;
    if PROJECTS.get(tx, &project.id)?.is_none() {
        PROJECTS.put(
            tx,
            &project.id,
            &Project {
                quota: project.quota,
            },
        );
        new = true;
    }
    for key in &project.api_keys {
        let key = account::digest(key);
        if KEYS.get(tx, &key)?.is_none() {
            KEYS.put(
                tx,
                &key,
                &KeyRow {
                    project: project.id.clone(),
                },
            );
            new = true;
        }
    }
    Ok(new)
}

fn apply_client(tx: &mut Tx<'_>, client: &SeedClient) -> Result<bool, Error> {
    let row = Client {
        secret: client.secret.as_deref().map(account::digest),
        redirects: client.redirect_uris.clone(),
        project: client.project.clone(),
    };
    let new = CLIENTS.get(tx, &client.id)?.as_ref() != Some(&row);
    CLIENTS.put(tx, &client.id, &row);
    Ok(new)
}

fn apply_service_account(tx: &mut Tx<'_>, robot: &SeedServiceAccount) -> Result<bool, Error> {
    let row = ServiceAccount {
        account: robot.account.clone(),
        key: robot.public_key.clone(),
        project: robot.project.clone(),
    };
    let new = SERVICE_ACCOUNTS.get(tx, &robot.email)?.as_ref() != Some(&row);
    SERVICE_ACCOUNTS.put(tx, &robot.email, &row);
    Ok(new)
}

fn moment(text: Option<&str>, now: Timestamp) -> Result<Timestamp, Error> {
    match text {
        None => Ok(now),
        Some(text) => Timestamp::from_rfc3339(text).ok_or_else(|| Error::InvalidField {
            path: "publishedAt".into(),
            expected: "RFC 3339",
        }),
    }
}

fn apply_account(
    tx: &mut Tx<'_>,
    seed: &SeedAccount,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let mut new = false;
    if ACCOUNTS.get(tx, &seed.id)?.is_none() {
        let channel = match &seed.channel {
            None => None,
            Some(channel) => Some(apply_channel(tx, seed, channel, now, ids)?),
        };
        let email = seed
            .email
            .clone()
            .unwrap_or_else(|| format!("{}@example.com", seed.id));
        account::put(
            tx,
            &Account {
                id: seed.id.clone(),
                email,
                channel,
            },
        )?;
        new = true;
    }
    for token in &seed.tokens {
        let key = account::digest(&token.token);
        if TOKENS.get(tx, &key)?.is_some() {
            continue;
        }
        let scopes = token
            .scopes
            .iter()
            .filter_map(|name| Scope::named(name))
            .fold(Scopes::default(), Scopes::with);
        let expires = token
            .expires
            .as_deref()
            .map(|text| moment(Some(text), now))
            .transpose()?;
        TOKENS.put(
            tx,
            &key,
            &TokenRow {
                account: seed.id.clone(),
                scopes,
                project: token.project.clone(),
                expires,
            },
        );
        new = true;
    }
    Ok(new)
}

fn apply_channel(
    tx: &mut Tx<'_>,
    owner: &SeedAccount,
    seed: &SeedChannel,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<String, Error> {
    let id = seed.id.clone().unwrap_or_else(|| id::channel(ids));
    if !id::is_plain(&id) {
        return Err(Error::InvalidField {
            path: "channel.id".into(),
            expected: "letters, digits, - and _",
        });
    }
    if CHANNELS.get(tx, &id)?.is_some() {
        return Ok(id);
    }
    let handle = seed
        .handle
        .as_ref()
        .map(|handle| format!("@{}", handle.trim_start_matches('@')));
    let mut made = Stored::new(Channel {
        account: owner.id.clone(),
        title: seed.title.clone(),
        handle,
        published: moment(seed.published_at.as_deref(), now)?,
        language: None,
        hides_subscribers: seed.hides_subscribers,
        browse_view: false,
    });
    let mut settings = json!({"title": seed.title});
    if let Some(map) = settings.as_object_mut() {
        if !seed.description.is_empty() {
            map.insert("description".into(), seed.description.clone().into());
        }
        if let Some(country) = &seed.country {
            map.insert("country".into(), country.clone().into());
        }
    }
    let branding = json!({"brandingSettings": {"channel": settings}});
    let empty = Map::new();
    let body = Body::of(branding.as_object().unwrap_or(&empty));
    channel::write(tx, &id, &mut made, body, &["brandingSettings"])?;
    channel::insert(tx, &id, seed.username.as_deref(), &mut made)?;
    Ok(id)
}

/// The channel of an owner, who is named by account or by channel.
fn channel_of(tx: &mut Tx<'_>, owner: &str) -> Result<String, Error> {
    if let Some(account) = ACCOUNTS.peek(tx, &owner.to_owned())? {
        return account.channel.ok_or(Error::NoChannel);
    }
    CHANNELS
        .peek(tx, &owner.to_owned())?
        .map(|_| owner.to_owned())
        .ok_or(Error::NoChannel)
}

fn apply_video(
    tx: &mut Tx<'_>,
    seed: &SeedVideo,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let id = seed.id.clone().unwrap_or_else(|| id::video(ids));
    if !id::is_plain(&id) {
        return Err(Error::InvalidField {
            path: "id".into(),
            expected: "letters, digits, - and _",
        });
    }
    if VIDEOS.get(tx, &id)?.is_some() {
        return Ok(false);
    }
    let owner = channel_of(tx, &seed.owner)?;
    let title = channel::title(tx, &owner)?;
    let published = moment(seed.published_at.as_deref(), now)?;
    let mut made = Stored::uploaded(&id, &owner, &title, published);
    if let Some(duration_ms) = seed.duration_ms {
        made.head.facts = Some(Facts {
            container: "mp4".into(),
            duration_ms,
            video: Vec::new(),
            audio: Vec::new(),
            created: None,
        });
    }
    let given = [
        ("snippet", &seed.snippet),
        ("status", &seed.status),
        ("localizations", &seed.localizations),
        ("recordingDetails", &seed.recording_details),
    ];
    let body: Map<_, _> = given
        .iter()
        .filter_map(|(name, part)| Some(((*name).to_owned(), (*part).clone()?)))
        .collect();
    let parts: Vec<_> = given
        .iter()
        .filter(|(_, part)| part.is_some())
        .map(|(name, _)| *name)
        .collect();
    Writing {
        body: Body::of(&body),
        parts: &parts,
        now,
        is_new: true,
    }
    .apply(&id, &title, &mut made)?;
    video::insert(tx, &id, &made)?;
    if let Some(views) = seed.view_count {
        video::add_views(tx, &id, &made.head, views)?;
    }
    debug_assert!(VIDEO_COUNTS.get(tx, &id)?.is_some(), "a video has counts");
    Ok(true)
}

fn apply_playlist(tx: &mut Tx<'_>, seed: &SeedPlaylist, now: Timestamp) -> Result<bool, Error> {
    let id = seed.id.clone().unwrap_or_default();
    if PLAYLISTS.get(tx, &id)?.is_some() {
        return Ok(false);
    }
    let owner = channel_of(tx, &seed.owner)?;
    let title = channel::title(tx, &owner)?;
    let mut made = Stored::made(owner, moment(seed.published_at.as_deref(), now)?);
    let given = [
        ("snippet", Some(&seed.snippet)),
        ("status", seed.status.as_ref()),
        ("localizations", seed.localizations.as_ref()),
    ];
    let body: Map<_, _> = given
        .iter()
        .filter_map(|(name, part)| Some(((*name).to_owned(), (*part)?.clone())))
        .collect();
    let parts: Vec<_> = given
        .iter()
        .filter(|(_, part)| part.is_some())
        .map(|(name, _)| *name)
        .collect();
    playlist::write(&mut made, &title, Body::of(&body), &parts)?;
    playlist::insert(tx, &id, &made)?;
    Ok(true)
}

fn apply_item(
    tx: &mut Tx<'_>,
    playlist: &str,
    video: &str,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let item = PlaylistItem {
        video: video.to_owned(),
        added: now,
        chunk: 0,
        note: None,
        start_at: None,
        end_at: None,
    };
    Order::load(tx, playlist)?.insert(tx, ids, None, item)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_seed_file_does_not_know_is_refused_with_its_place() {
        for (text, place) in [
            ("[]", "a seed file is a JSON object"),
            (r#"{"thing": []}"#, "thing: not a section"),
            (
                r#"{"accounts": [{"id": "a"}, {"id": "b", "age": 7}]}"#,
                "accounts[1]: unknown field `age`",
            ),
            (
                r#"{"accounts": [{"id": "a", "tokens": [{"token": "t", "scopes": ["drive"]}]}]}"#,
                "drive is no scope",
            ),
        ] {
            let error = Seed::parse(text).unwrap_err().to_string();
            assert!(error.contains(place), "{error}");
        }
    }
}
