//! The service itself: its builder filled from flags and the seed file.

use std::num::NonZeroU32;
#[cfg(feature = "tls")]
use std::path::PathBuf;

use clap::ArgMatches;
use object_put::auth::account::Secret;
use object_put::kms::json_protocol::KeyServiceAccess;
use object_put::maintenance::seed::{DEFAULT_REGION, FIRST_BUCKET, Seed};
use object_put::operation::PART_BYTES_MIN;
use object_put::request::dialect::Dialect;
use object_put::server::{KeyServiceTransport, ObjectPut, RemoteKeyService};
#[cfg(feature = "tls")]
use triptych_core::host::launch::TlsClient;
use triptych_core::host::launch::{BuiltService, LaunchError, Start};
use triptych_core::host::storage;

use super::root_keys::needed_keyring;
use super::{text, texts};

/// Builds the service; what it awaits holds nothing of the command line.
pub(crate) fn make(
    start: Start,
    matches: &ArgMatches,
) -> impl Future<Output = Result<BuiltService<ObjectPut>, LaunchError>> + use<> {
    let made = build(&start, matches);
    async move {
        let mut made = made?;
        let filled = made.service.apply_seed().await;
        let new = filled.map_err(|error| LaunchError::Service(error.to_string()))?;
        made.service.start_background_tasks();
        if start.flags.seed.is_some() && new > 0 {
            made.banner.push(("seed", format!("{new} new accounts and keys")));
        }
        Ok(made)
    }
}

fn build(start: &Start, matches: &ArgMatches) -> Result<BuiltService<ObjectPut>, LaunchError> {
    let credentials = credentials(start, matches)?;
    let (seed, given) = seed(start, &credentials)?;
    // One that is empty, as a variable may be, is none.
    let flagged = || text(matches, "region").filter(|region| !region.is_empty());
    let region = seed.region.clone().or_else(flagged);
    let external = start.flags.external_url.as_deref().and_then(host_of);
    let dialect = text(matches, "dialect").as_deref().and_then(Dialect::parse);
    let part_bytes_min = matches.get_one::<u64>("part-bytes-min").copied();
    let restore_speed = matches.get_one::<NonZeroU32>("restore-speed").copied();
    let region = region.unwrap_or_else(|| DEFAULT_REGION.to_owned());
    let key_service = key_service(start, matches, &region)?;
    let mut banner = Vec::new();
    if let Some(remote) = &key_service {
        banner.push(("keys", format!("key service at {}", remote.access.host)));
    }
    let mut builder = ObjectPut::builder(start.storage.kv.clone(), start.storage.blobs.clone())
        .keyring(needed_keyring(&start.storage, matches)?)
        .sweeps_all(matches.get_flag("sweep-orphans"))
        .part_bytes_min(part_bytes_min.unwrap_or(PART_BYTES_MIN))
        .restore_speed(restore_speed.unwrap_or(NonZeroU32::MIN))
        .clock(start.clock.clone())
        .region(region)
        .strict(start.flags.strict)
        .base_hosts(start.flags.base_hosts.iter().cloned().chain(external))
        .zonal_hosts(texts(matches, "zonal-host"))
        .access_point_hosts(texts(matches, "access-point-host"))
        .on_premises_hosts(texts(matches, "on-prem-host"))
        .website_hosts(texts(matches, "website-host"))
        .dialect(dialect.unwrap_or_default())
        .public_access_block(!matches.get_flag("without-public-access-block"))
        .seed(seed);
    if let Some(remote) = key_service {
        builder = builder.key_service(remote);
    }
    let service = builder.build();
    let mut secrets = Vec::new();
    if let Some(key) = credentials.shown.filter(|_| !given) {
        let (id, secret) = (&key.0, key.1.reveal());
        secrets.push(("key", format!("{id}   secret {secret}")));
        let url = &start.url;
        let line = format!("aws --endpoint-url {url} s3 cp README.md s3://{FIRST_BUCKET}/");
        banner.push(("try", line));
    }
    Ok(BuiltService { service, banner, secrets, has_own_credentials: credentials.own || given })
}

/// The key service on the network that flags name.
fn key_service(
    start: &Start,
    matches: &ArgMatches,
    region: &str,
) -> Result<Option<RemoteKeyService>, LaunchError> {
    let Some(url) = text(matches, "key-service") else {
        return Ok(None);
    };
    let (scheme, host) = url.split_once("://").unwrap_or_default();
    let host = host.trim_end_matches('/');
    if !matches!(scheme, "http" | "https") || host.is_empty() || host.contains('/') {
        let rule = "--key-service takes http://HOST:PORT or https://HOST:PORT";
        return Err(LaunchError::Service(rule.to_owned()));
    }
    let access = KeyServiceAccess {
        host: host.to_owned(),
        region: region.to_owned(),
        access_key: text(matches, "key-service-access-key").unwrap_or_default(),
        secret: Secret::new(text(matches, "key-service-secret-key").unwrap_or_default()),
        session_token: text(matches, "key-service-session-token").map(Secret::new),
    };
    let transport = match scheme {
        "https" => tls(matches)?,
        _ => KeyServiceTransport::Plain,
    };
    let calls = start.metrics.calls_to("key_service");
    Ok(Some(RemoteKeyService { access, transport, calls }))
}

#[cfg(feature = "tls")]
fn tls(matches: &ArgMatches) -> Result<KeyServiceTransport, LaunchError> {
    let authorities = matches.get_one::<PathBuf>("key-service-ca");
    let client = TlsClient::new(authorities.map(PathBuf::as_path));
    let refused = |reason| LaunchError::Service(format!("--key-service-ca: {reason}"));
    client.map(KeyServiceTransport::Tls).map_err(refused)
}

#[cfg(not(feature = "tls"))]
fn tls(_: &ArgMatches) -> Result<KeyServiceTransport, LaunchError> {
    let reason = "--key-service takes https:// where TLS is built in (the feature tls)";
    Err(LaunchError::Service(reason.to_owned()))
}

fn host_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    rest.split('/').next().map(str::to_owned)
}

/// The key of the first account, and where it is from.
struct Credentials {
    key: (String, Secret),
    /// The key, if it was made here: a terminal may show it.
    shown: Option<(String, Secret)>,
    /// True if it was given by flag, or kept from an earlier start.
    own: bool,
}

/// The key that flags give; else the one that the data directory keeps, made at the first start.
fn credentials(start: &Start, matches: &ArgMatches) -> Result<Credentials, LaunchError> {
    if let (Some(id), Some(secret)) = (text(matches, "access-key"), text(matches, "secret-key")) {
        return Ok(Credentials { key: (id, Secret::new(secret)), shown: None, own: true });
    }
    let (secret, own) = match &start.storage.directory {
        Some(directory) => {
            let kept = directory.join("secret-key").exists();
            (storage::secret(directory, "secret-key")?, kept)
        }
        None => (storage::random_hex(), false),
    };
    // The id goes with the secret, so that one file keeps both; it tells nothing about it.
    let id: String = object_put::auth::account::key_id(&secret);
    let key = (id, Secret::new(secret));
    Ok(Credentials { shown: Some(key.clone()), key, own })
}

/// The seed file, or a first account and bucket; and whether it was a file with keys.
fn seed(start: &Start, credentials: &Credentials) -> Result<(Seed, bool), LaunchError> {
    let (id, secret) = credentials.key.clone();
    let Some(path) = &start.flags.seed else {
        return Ok((Seed::of_key(id, secret), false));
    };
    let failed = |error: String| LaunchError::Service(format!("{}: {error}", path.display()));
    let file = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let mut seed = Seed::parse(&file).map_err(|error| failed(error.to_string()))?;
    let given = seed.has_keys();
    // A key that a flag gives is good beside those of the file; one that was made here only where the file has none.
    if credentials.shown.is_none() || !given {
        seed.add_key(id, secret);
    }
    Ok((seed, given))
}
