//! The root keys of encryption at rest: of a file, of a flag, or kept in the data directory.

use std::path::PathBuf;

use clap::ArgMatches;
use hex::FromHex as _;
use object_put::body::encryption::Keyring;
use object_put::maintenance::root_keys;
use triptych_core::host::launch::LaunchError;
use triptych_core::host::storage::{self, Storage};

use super::text;

/// The root keys, with every one among them that the bodies of the store need.
pub(super) fn needed_keyring(
    stores: &Storage,
    matches: &ArgMatches,
) -> Result<Keyring, LaunchError> {
    let needed = root_keys::needed(&*stores.kv);
    let needed = needed.map_err(|error| LaunchError::Service(error.to_string()))?;
    let goes_on = matches.get_flag("without-lost-root-keys");
    let refused = |missing: &str| {
        LaunchError::Service(format!(
            "the bodies of this store need the root key {missing}, which is not there: put the file root-key back into the data directory, or give the key with --root-key-file. To go on, with every body that needs it lost: --without-lost-root-keys"
        ))
    };
    let is_given = matches.contains_id("root-key") || matches.contains_id("root-key-file");
    let is_kept = stores.directory.as_ref().is_some_and(|data| data.join("root-key").exists());
    if stores.is_shared() && !is_given {
        let rule = "instances that share a store share its root key: give the same one to each with --root-key-file (made by openssl rand -hex 32), and keep a copy of it elsewhere";
        return Err(LaunchError::Service(rule.to_owned()));
    }
    // Before a new key is drawn and kept.
    if let Some(first) = needed.first().filter(|_| !goes_on && !is_given && !is_kept) {
        return Err(refused(first));
    }
    let ring = keyring(stores, matches)?;
    if !ring.has(&stores.claim("root key", ring.current_id())?) {
        let rule = "the store belongs to instances with another root key: give theirs with --root-key-file";
        return Err(LaunchError::Service(rule.to_owned()));
    }
    match needed.iter().find(|id| !ring.has(id)) {
        Some(missing) if !goes_on => Err(refused(missing)),
        _ => Ok(ring),
    }
}

/// The root keys: of the file, of the flag, or one that the data directory keeps.
pub(super) fn keyring(stores: &Storage, matches: &ArgMatches) -> Result<Keyring, LaunchError> {
    let root_key = |digits: &str| {
        <[u8; 32]>::from_hex(digits).map_err(|_| {
            let rule = "a root key is 64 hexadecimal digits: openssl rand -hex 32";
            LaunchError::Service(rule.into())
        })
    };
    let text = match (matches.get_one::<PathBuf>("root-key-file"), text(matches, "root-key")) {
        (Some(path), _) => std::fs::read_to_string(path)
            .map_err(|error| LaunchError::Service(format!("{}: {error}", path.display())))?,
        (None, Some(key)) => key,
        (None, None) => match &stores.directory {
            Some(directory) => storage::secret(directory, "root-key")?,
            None => storage::random_hex(),
        },
    };
    let mut keys = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = root_key(keys.next().unwrap_or_default())?;
    let mut ring = Keyring::new(&first);
    for key in keys {
        ring.insert(&root_key(key)?);
    }
    Ok(ring)
}
