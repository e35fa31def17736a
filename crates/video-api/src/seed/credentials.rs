//! Sections of what no resource owns: projects, accounts, OAuth clients and service accounts.

use serde::Deserialize;
use serde_json::{Map, json};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::error::SeedError;
use super::secrets::{ApiKey, OauthClient, Token};
use super::section::{SectionReader, SeedSection, moment};
use crate::account::{ACCOUNTS, Account, KEYS, KeyRow, Scope, Scopes, TOKENS, TokenRow, digest};
use crate::api::error::Error;
use crate::api::quota::{Model, PROJECTS, Project};
use crate::oauth::grant::{CLIENTS, Client, SERVICE_ACCOUNTS, ServiceAccount, is_identity};
use crate::oauth::jwt::RsaKey;
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::resource::channels;
use crate::resource::channels::record::{CHANNELS, Channel};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] = &[
    SeedSection { name: "projects", order: 10, fills_only: false, read: read_projects },
    SeedSection { name: "accounts", order: 20, fills_only: false, read: read_accounts },
    SeedSection { name: "oauthClients", order: 30, fills_only: false, read: read_clients },
    SeedSection {
        name: "serviceAccounts",
        order: 40,
        fills_only: false,
        read: read_service_accounts,
    },
];

fn read_projects(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedProject>()? {
        reader.names.take("project", &seed.id, &place, ".id")?;
        for key in &seed.api_keys {
            reader.names.take("API key", key, &place, ".apiKeys")?;
            let (project, key) = (seed.id.clone(), key.clone());
            reader.secrets.api_keys.push(ApiKey { project, key });
        }
        reader.step(place, move |tx, _, _| project(tx, &seed));
    }
    Ok(())
}

fn read_accounts(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedAccount>()? {
        reader.names.take("account", &seed.id, &place, ".id")?;
        let handle = seed.channel.as_ref().and_then(|of| of.handle.as_ref());
        if let Some(handle) = handle {
            let handle = handle.trim_start_matches('@').to_lowercase();
            reader.names.take("handle", &handle, &place, ".channel.handle")?;
        }
        if let Some(username) = seed.channel.as_ref().and_then(|of| of.username.as_ref()) {
            let username = username.to_lowercase();
            reader.names.take("username", &username, &place, ".channel.username")?;
        }
        for token in &seed.tokens {
            reader.names.take("token", &token.token, &place, ".tokens")?;
            let secret = Token { account: seed.id.clone(), token: token.token.clone() };
            reader.secrets.tokens.push(secret);
            let is_known = |name: &str| Scope::named(name).is_some() || is_identity(name);
            if let Some(name) = token.scopes.iter().find(|name| !is_known(name)) {
                return Err(SeedError::Unreadable(format!("{place}.tokens: {name} is no scope")));
            }
        }
        reader.step(place, move |tx, now, ids| account(tx, &seed, now, ids));
    }
    Ok(())
}

fn read_clients(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedClient>()? {
        reader.names.take("client", &seed.id, &place, ".id")?;
        if let Some(secret) = seed.secret.clone() {
            reader.secrets.oauth_clients.push(OauthClient { id: seed.id.clone(), secret });
        }
        reader.step(place, move |tx, _, _| client(tx, &seed));
    }
    Ok(())
}

fn read_service_accounts(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedServiceAccount>()? {
        reader.names.take("service account", &seed.email, &place, ".email")?;
        RsaKey::from_pem(&seed.public_key)
            .map_err(|error| SeedError::Unreadable(format!("{place}.publicKey: {error}")))?;
        reader.step(place, move |tx, _, _| service_account(tx, &seed));
    }
    Ok(())
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

/// The title of a channel has at most this many characters.
const TITLE_CHARS_MAX: usize = 100;

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
    #[serde(default)]
    hides_subscriptions: bool,
    #[serde(default)]
    show_browse_view: bool,
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

fn project(tx: &mut Tx<'_>, project: &SeedProject) -> Result<bool, Error> {
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

/// Checks that a project is there that a thing of the file names at `path`.
fn check_project(tx: &mut Tx<'_>, id: Option<&String>, path: &str) -> Result<(), Error> {
    match id {
        Some(id) if PROJECTS.peek(tx, id)?.is_none() => {
            Err(Error::InvalidField { path: path.into(), expected: "the id of a project" })
        }
        _ => Ok(()),
    }
}

fn client(tx: &mut Tx<'_>, client: &SeedClient) -> Result<bool, Error> {
    check_project(tx, client.project.as_ref(), "project")?;
    let row = Client {
        secret: client.secret.as_deref().map(digest),
        redirects: client.redirect_uris.clone(),
        project: client.project.clone(),
    };
    let new = CLIENTS.get(tx, &client.id)?.as_ref() != Some(&row);
    CLIENTS.put(tx, &client.id, &row);
    Ok(new)
}

fn service_account(tx: &mut Tx<'_>, service_account: &SeedServiceAccount) -> Result<bool, Error> {
    check_project(tx, service_account.project.as_ref(), "project")?;
    if ACCOUNTS.peek(tx, &service_account.account)?.is_none() {
        let expected = "the id of an account";
        return Err(Error::InvalidField { path: "account".into(), expected });
    }
    let row = ServiceAccount {
        account: service_account.account.clone(),
        key: service_account.public_key.clone(),
        project: service_account.project.clone(),
    };
    let new = SERVICE_ACCOUNTS.get(tx, &service_account.email)?.as_ref() != Some(&row);
    SERVICE_ACCOUNTS.put(tx, &service_account.email, &row);
    Ok(new)
}

fn account(
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
        crate::account::put(tx, &Account { id: seed.id.clone(), email, channel, closed: false })?;
        new = true;
    }
    for (at, token) in seed.tokens.iter().enumerate() {
        let key = digest(&token.token);
        if TOKENS.get(tx, &key)?.is_some() {
            continue;
        }
        check_project(tx, token.project.as_ref(), &format!("tokens[{at}].project"))?;
        let scopes = token
            .scopes
            .iter()
            .filter_map(|name| Scope::named(name))
            .fold(Scopes::default(), Scopes::with);
        let identity = token.scopes.iter().map(String::as_str);
        let identity: Vec<_> = identity.filter(|name| is_identity(name)).collect();
        let path = format!("tokens[{at}].expires");
        let expires = token.expires.as_deref();
        let expires = expires.map(|text| moment(&path, Some(text), now)).transpose()?;
        TOKENS.put(
            tx,
            &key,
            &TokenRow {
                account: seed.id.clone(),
                scopes,
                project: token.project.clone(),
                expires,
                identity: identity.join(" "),
            },
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
    if !id::is_channel(&id) {
        return Err(Error::InvalidField {
            path: "channel.id".into(),
            expected: "UC at the beginning, then letters, digits, - and _",
        });
    }
    let is_title = |title: &str| {
        let chars = title.chars().count();
        !title.trim().is_empty() && chars <= TITLE_CHARS_MAX && !title.chars().any(char::is_control)
    };
    if !is_title(&seed.title) {
        return Err(Error::InvalidField {
            path: "channel.title".into(),
            expected: "1 to 100 characters on one line",
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
        published: moment("channel.publishedAt", seed.published_at.as_deref(), now)?,
        language: None,
        hides_subscribers: seed.hides_subscribers,
        hides_subscriptions: seed.hides_subscriptions,
        browse_view: false,
    });
    let mut settings = json!({"title": seed.title});
    if let Some(map) = settings.as_object_mut() {
        if seed.show_browse_view {
            map.insert("showBrowseView".into(), true.into());
        }
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
