//! `backup`, `restore` and `verify`, of every service.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::flags::{Flags, Product};
use super::storage::StorageError;
use super::{healthcheck, restoration, storage};
use crate::archive::{Codec, check_bodies};
use crate::blobs::Blobs;
use crate::host::backup::{BackupError, Found};
use crate::time::{Clock as _, SystemClock, Timestamp};

/// Bodies that a step of a check lists.
const BODIES_TOGETHER: usize = 1_000;
/// Bodies up to this length carry a checksum.
const SUMMED_BYTES_MAX: u64 = 256 * 1024;

/// Adds the sub-commands; a service may have a `verify` of its own, which knows what its records mean, and leaves that of a backup to this one.
pub(super) fn augment(command: Command) -> Command {
    let path = |id: &'static str, help: &'static str| {
        Arg::new(id).long(id).value_name("DIR").value_parser(value_parser!(PathBuf)).help(help)
    };
    let has_verify = command.find_subcommand("verify").is_some();
    let command = command
        .subcommand(
            Command::new("backup")
                .about("Copy the data, also while it is served, into a new folder of a directory of backups")
                .arg(path("to", "The directory of backups").required(true)),
        )
        .subcommand(
            Command::new("restore")
                .about("Fill an empty data directory from a backup")
                .arg(path("from", "A backup, or a directory of backups, of which the newest is taken").required(true))
                .arg(
                    Arg::new("at")
                        .long("at")
                        .value_name("TIME")
                        .help("Leave out the records of later than this moment (RFC 3339), as far back as the base of the backup"),
                ),
        );
    let backup =
        path("backup", "A backup, or a directory of backups, of which the newest is checked");
    if has_verify {
        return command.mut_subcommand("verify", |verify| verify.arg(backup));
    }
    command.subcommand(
        Command::new("verify")
            .about("Check the data of a stopped service, or a backup; exits 0 if all is well, 1 if not, 2 if it cannot tell")
            .arg(backup),
    )
}

/// Runs the sub-command of this name; `None` if it is none of these.
pub(super) fn run(product: &Product, name: &str, matches: &ArgMatches) -> Option<ExitCode> {
    let flags = Flags::from_matches(product, matches);
    let done = match name {
        "backup" => backup(product, &flags, matches).map_err(|error| (1, error)),
        "restore" => restore(product, &flags, matches).map_err(|error| (1, error)),
        "verify" => verify(product.name, None, &flags, matches),
        _ => return None,
    };
    Some(ended(product.name, name, done))
}

/// Runs `verify` of a service whose rows have a form as lines, which says what bodies they name.
pub(super) fn run_verify(
    product: &Product,
    codec: &'static dyn Codec,
    matches: &ArgMatches,
) -> ExitCode {
    let (flags, service) = (Flags::from_matches(product, matches), codec.format().service);
    ended(service, "verify", verify(service, Some(codec), &flags, matches))
}

/// Says how a sub-command ended, and gives its exit code.
fn ended(service: &str, name: &str, done: Result<String, (u8, String)>) -> ExitCode {
    let (code, said) = match done {
        Ok(said) => (0, said),
        Err((code, why)) => (code, format!("{service} {name}: {why}")),
    };
    let _ = writeln!(std::io::stderr(), "{said}");
    ExitCode::from(code)
}

fn path(matches: &ArgMatches, id: &str) -> PathBuf {
    matches.get_one::<PathBuf>(id).cloned().unwrap_or_default()
}

/// Asks the service that serves the data for a backup; where none does, the data is opened here.
fn backup(product: &Product, flags: &Flags, matches: &ArgMatches) -> Result<String, String> {
    let to = std::path::absolute(path(matches, "to")).map_err(|error| error.to_string())?;
    let Some(data) = flags.data.as_deref().filter(|_| flags.store.is_none()) else {
        return Err(BackupError::InMemory.to_string());
    };
    let stores = match storage::open_existing(flags) {
        Ok(stores) => stores,
        Err(StorageError::KeyValue(crate::kv::OpenError::Locked { .. })) => {
            return healthcheck::backup(flags, data, &to);
        }
        Err(error) => return Err(error.to_string()),
    };
    let source = stores.backup_source(product).ok_or_else(|| BackupError::InMemory.to_string())?;
    let taken = source.take(&to, SystemClock::new().now()).map_err(|error| error.to_string())?;
    Ok(taken.to_json().to_string())
}

fn restore(product: &Product, flags: &Flags, matches: &ArgMatches) -> Result<String, String> {
    let at = match matches.get_one::<String>("at") {
        None => None,
        Some(text) => Some(
            Timestamp::from_rfc3339(text)
                .ok_or("--at takes an RFC 3339 time: 2026-11-22T16:00:00Z")?,
        ),
    };
    if flags.blobs.is_some() || flags.store.is_some() {
        return Err(
            "a restore fills the directory of --data, bodies with it: leave --store and --blobs out, at the starts after it too"
                .to_owned(),
        );
    }
    let failed = |error: BackupError| error.to_string();
    let data = flags.data.as_deref().ok_or(BackupError::InMemory).map_err(failed)?;
    storage::check_service(flags).map_err(|error| error.to_string())?;
    let found = Found::verified(&path(matches, "from"), product.name).map_err(failed)?;
    restoration::fill(data, product, &found, at).map_err(failed)?;
    Ok(format!("{}; {} is filled from them", found.described(), data.display()))
}

/// Checks a backup, or the data directory of a stopped service; where it is known what bodies the rows name, those too.
fn verify(
    service: &str,
    codec: Option<&dyn Codec>,
    flags: &Flags,
    matches: &ArgMatches,
) -> Result<String, (u8, String)> {
    if matches.contains_id("backup") {
        let found = Found::verified(&path(matches, "backup"), service);
        return match found {
            Ok(found) => Ok(format!("{}: {}", found.path.display(), found.described())),
            Err(error @ BackupError::Damaged { .. }) => Err((1, error.to_string())),
            Err(error) => Err((2, error.to_string())),
        };
    }
    let unknown = |error: String| (2, error);
    if flags.data.is_none() || flags.store.is_some() {
        return Err(unknown(BackupError::InMemory.to_string()));
    }
    let stores = storage::open_existing(flags).map_err(|error| unknown(error.to_string()))?;
    let mut faults = 0_u64;
    let mut told = |fault: &dyn std::fmt::Display| {
        faults += 1;
        let _ = writeln!(std::io::stdout(), "{fault}");
    };
    let rows = match stores.verify_records(&mut |fault| told(&fault)) {
        Ok(rows) => rows,
        Err(crate::kv::StoreError::Corrupt(reason)) => return Err((1, reason)),
        Err(error) => return Err(unknown(error.to_string())),
    };
    if let Some(codec) = codec {
        check_bodies(codec, &*stores.kv, &*stores.blobs, &mut |fault| told(&fault))
            .map_err(|error| unknown(error.to_string()))?;
    }
    let bodies = verify_bodies(&*stores.blobs, &mut told).map_err(unknown)?;
    let said = format!("{rows} rows and {bodies} bodies, {faults} faults");
    if faults == 0 { Ok(said) } else { Err((1, said)) }
}

/// Reads every body that carries a checksum.
fn verify_bodies(
    blobs: &dyn Blobs,
    told: &mut dyn FnMut(&dyn std::fmt::Display),
) -> Result<u64, String> {
    let (mut after, mut bodies) = (None, 0);
    loop {
        let page = blobs.list(after, BODIES_TOGETHER).map_err(|error| error.to_string())?;
        let Some(last) = page.last() else {
            return Ok(bodies);
        };
        after = Some(last.id);
        for stat in &page {
            bodies += 1;
            if stat.bytes <= SUMMED_BYTES_MAX
                && let Err(error) = blobs.read_small(stat.id, stat.bytes)
            {
                told(&format_args!("the body {}: {error}", hex::encode(stat.id.0)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::flags::tests::PRODUCT;
    use super::*;
    use crate::archive::tests::{Plain, named};
    use crate::kv::Batch;

    #[test]
    fn verify_names_a_large_body_that_is_cut_off_or_gone_and_a_pack_that_is() {
        let folder = tempfile::tempdir().unwrap();
        let command = augment(super::super::flags::augment(Command::new("thing"), &PRODUCT));
        let data = folder.path().to_str().unwrap();
        let matches = command.get_matches_from(["thing", "verify", "--data", data]);
        let matches = matches.subcommand_matches("verify").unwrap();
        let flags = Flags::from_matches(&PRODUCT, matches);
        let stores = storage::open(&flags).unwrap();
        let put = |bytes: usize| {
            let body = vec![7; bytes].into();
            let stat = stores.blobs.put_small(Timestamp::EPOCH, body).wait().unwrap();
            let writes = vec![(vec![1, bytes.to_le_bytes()[0]].into(), Some(named(&stat).into()))];
            stores.kv.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
            stat
        };
        let (large, _) = (put(600_000), put(5_000));
        drop(stores);
        let verified = || verify("plain", Some(&Plain), &flags, matches);
        assert_eq!(verified().unwrap(), "2 rows and 2 bodies, 0 faults");
        let file = folder.path().join("blobs/large").join(hex::encode(large.id.0));
        std::fs::File::options().write(true).open(&file).unwrap().set_len(300_000).unwrap();
        assert_eq!(verified(), Err((1, "2 rows and 2 bodies, 1 faults".to_owned())));
        std::fs::remove_file(file).unwrap();
        assert_eq!(verified(), Err((1, "2 rows and 1 bodies, 1 faults".to_owned())));
        for entry in std::fs::read_dir(folder.path().join("blobs/packs")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|end| end == "pack") {
                std::fs::remove_file(path).unwrap();
            }
        }
        std::fs::remove_file(folder.path().join("blobs/known-packs")).unwrap();
        assert_eq!(verified(), Err((1, "2 rows and 0 bodies, 2 faults".to_owned())));
    }

    #[test]
    fn a_restore_refuses_another_place_than_its_directory() {
        let command = augment(super::super::flags::augment(Command::new("thing"), &PRODUCT));
        for (flag, place) in [("--blobs", "bodies"), ("--store", "postgres://host/db")] {
            let line = ["thing", "restore", "--from", "nowhere", flag, place];
            let matches = command.clone().get_matches_from(line);
            let matches = matches.subcommand_matches("restore").unwrap();
            let refused =
                restore(&PRODUCT, &Flags::from_matches(&PRODUCT, matches), matches).unwrap_err();
            assert!(refused.contains("leave --store and --blobs out"), "{refused}");
        }
    }
}
