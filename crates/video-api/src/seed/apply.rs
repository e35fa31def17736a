//! What each thing of a seed file becomes: the records that the interface's own operations would have left.

use serde_json::{Map, json};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::{
    Liking, SeedAccount, SeedChannel, SeedClient, SeedPlay, SeedPlaylist, SeedProject, SeedRating,
    SeedServiceAccount, SeedVideo,
};
use crate::account::{ACCOUNTS, Account, KEYS, KeyRow, Scope, Scopes, TOKENS, TokenRow, digest};
use crate::api::error::Error;
use crate::api::quota::{PROJECTS, Project};
use crate::media::Facts;
use crate::oauth::grant::{CLIENTS, Client, SERVICE_ACCOUNTS, ServiceAccount};
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::resource::channels::record::{CHANNELS, Channel};
use crate::resource::playlist_items::order::Order;
use crate::resource::playlist_items::record::PlaylistItem;
use crate::resource::playlists::record::PLAYLISTS;
use crate::resource::videos::patch::VideoPatch;
use crate::resource::videos::rating::RATINGS;
use crate::resource::videos::record::{VIDEO_COUNTS, VIDEOS};
use crate::resource::{channels, playlists, videos};

pub(super) fn project(tx: &mut Tx<'_>, project: &SeedProject) -> Result<bool, Error> {
    let mut new = false;
    if PROJECTS.get(tx, &project.id)?.is_none() {
        PROJECTS.put(tx, &project.id, &Project { quota: project.quota });
        new = true;
    }
    for key in &project.api_keys {
        let key = digest(key);
        if KEYS.get(tx, &key)?.is_none() {
            KEYS.put(tx, &key, &KeyRow { project: project.id.clone() });
            new = true;
        }
    }
    Ok(new)
}

pub(super) fn client(tx: &mut Tx<'_>, client: &SeedClient) -> Result<bool, Error> {
    let row = Client {
        secret: client.secret.as_deref().map(digest),
        redirects: client.redirect_uris.clone(),
        project: client.project.clone(),
    };
    let new = CLIENTS.get(tx, &client.id)?.as_ref() != Some(&row);
    CLIENTS.put(tx, &client.id, &row);
    Ok(new)
}

pub(super) fn service_account(tx: &mut Tx<'_>, robot: &SeedServiceAccount) -> Result<bool, Error> {
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

pub(super) fn account(
    tx: &mut Tx<'_>,
    seed: &SeedAccount,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let mut new = false;
    if ACCOUNTS.get(tx, &seed.id)?.is_none() {
        let channel = match &seed.channel {
            None => None,
            Some(of_seed) => Some(channel(tx, seed, of_seed, now, ids)?),
        };
        let email = seed.email.clone().unwrap_or_else(|| format!("{}@example.com", seed.id));
        crate::account::put(tx, &Account { id: seed.id.clone(), email, channel })?;
        new = true;
    }
    for token in &seed.tokens {
        let key = digest(&token.token);
        if TOKENS.get(tx, &key)?.is_some() {
            continue;
        }
        let scopes = token
            .scopes
            .iter()
            .filter_map(|name| Scope::named(name))
            .fold(Scopes::default(), Scopes::with);
        let expires = token.expires.as_deref().map(|text| moment(Some(text), now)).transpose()?;
        TOKENS.put(
            tx,
            &key,
            &TokenRow { account: seed.id.clone(), scopes, project: token.project.clone(), expires },
        );
        new = true;
    }
    Ok(new)
}

fn channel(
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
    let handle = seed.handle.as_ref().map(|handle| format!("@{}", handle.trim_start_matches('@')));
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
    channels::patch::write(tx, &id, &mut made, body, &["brandingSettings"])?;
    channels::store::insert(tx, &id, seed.username.as_deref(), &mut made)?;
    Ok(id)
}

/// The channel of somebody who is named at `path` by account or by channel.
fn channel_of(tx: &mut Tx<'_>, name: &str, path: &str) -> Result<String, Error> {
    let channel = match ACCOUNTS.peek(tx, &name.to_owned())? {
        Some(account) => account.channel,
        None => CHANNELS.peek(tx, &name.to_owned())?.map(|_| name.to_owned()),
    };
    channel.ok_or_else(|| Error::InvalidField {
        path: path.to_owned(),
        expected: "an account with a channel, or a channel",
    })
}

pub(super) fn video(
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
    let owner = channel_of(tx, &seed.owner, "owner")?;
    let title = channels::record::title(tx, &owner)?;
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
    if let Some(details) = &seed.content_details {
        made.head.regions = details.region_restriction.clone();
        made.head.rating = details.content_rating.clone();
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
    let parts: Vec<_> =
        given.iter().filter(|(_, part)| part.is_some()).map(|(name, _)| *name).collect();
    VideoPatch { body: Body::of(&body), parts: &parts, now, is_new: true }
        .apply(&id, &title, &mut made)?;
    videos::store::insert(tx, &id, &made)?;
    if let Some(views) = seed.view_count {
        videos::store::add_views(tx, &id, &made.head, views)?;
    }
    debug_assert!(VIDEO_COUNTS.get(tx, &id)?.is_some(), "a video has counts");
    Ok(true)
}

pub(super) fn playlist(
    tx: &mut Tx<'_>,
    seed: &SeedPlaylist,
    now: Timestamp,
) -> Result<bool, Error> {
    let id = seed.id.clone().unwrap_or_default();
    if PLAYLISTS.get(tx, &id)?.is_some() {
        return Ok(false);
    }
    let owner = channel_of(tx, &seed.owner, "owner")?;
    let title = channels::record::title(tx, &owner)?;
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
    let parts: Vec<_> =
        given.iter().filter(|(_, part)| part.is_some()).map(|(name, _)| *name).collect();
    playlists::patch::write(&mut made, &title, Body::of(&body), &parts)?;
    playlists::store::insert(tx, &id, &made)?;
    Ok(true)
}

pub(super) fn item(
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

pub(super) fn rating(tx: &mut Tx<'_>, seed: &SeedRating, now: Timestamp) -> Result<bool, Error> {
    let channel = channel_of(tx, &seed.account, "account")?;
    VIDEOS.peek(tx, &seed.video)?.ok_or(&videos::rules::NOT_FOUND)?;
    let likes = seed.rating == Liking::Like;
    let old = RATINGS.get(tx, &(channel.clone(), seed.video.clone()))?;
    if old.is_some_and(|rating| rating.likes == likes) {
        return Ok(false);
    }
    videos::rating::set(tx, &channel, &seed.video, Some(likes), now)?;
    Ok(true)
}

pub(super) fn play(
    tx: &mut Tx<'_>,
    seed: &SeedPlay,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let at = moment(seed.at.as_deref(), now)?;
    videos::play::record(tx, ids, &seed.plays(), at)?;
    Ok(true)
}
