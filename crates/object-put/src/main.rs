//! The `object-put` binary: flags to a service under the host.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use hex::FromHex as _;
use object_put::auth::account::Secret;
use object_put::body::encryption::Keyring;
use object_put::maintenance::root_keys;
use object_put::maintenance::seed::{DEFAULT_REGION, FIRST_BUCKET, Seed};
use object_put::maintenance::verify::{VerifyEvent, VerifyReport, verify};
use object_put::server::ObjectPut;
use triptych_core::host::flags::{Flags, Product};
use triptych_core::host::launch::{self, BuiltService, LaunchError, Start};
use triptych_core::host::storage::{self, Storage};

const PRODUCT: Product = Product {
    name: "object-put",
    version: env!("CARGO_PKG_VERSION"),
    prefix: "OBJECT_PUT",
    port: 7802,
    record_bytes_max: 65_536,
};

fn main() -> ExitCode {
    let about = "An object store built around PutObject, driven by unmodified S3 clients";
    let command = launch::command(&PRODUCT, about, flags);
    let matches = command.clone().get_matches();
    if let Some(("verify", matches)) = matches.subcommand() {
        return check(matches);
    }
    launch::run(&PRODUCT, &command, &matches, make)
}

/// `verify`: 0 if all is well, 1 if something is damaged, 2 if the check could not be made.
#[expect(clippy::print_stdout, reason = "the findings are the program's output")]
fn check(matches: &ArgMatches) -> ExitCode {
    match findings(matches) {
        Err(why) => {
            println!("object-put verify: {why}");
            ExitCode::from(2)
        }
        Ok(VerifyReport { versions, bytes, faults }) => {
            println!("{versions} versions of {bytes} bytes, {faults} faults");
            ExitCode::from(u8::from(faults > 0))
        }
    }
}

/// Checks the store of `--data`, which must be there: nothing is made, neither a directory nor a key.
#[expect(clippy::print_stdout, reason = "the findings are the program's output")]
fn findings(matches: &ArgMatches) -> Result<VerifyReport, String> {
    let flags = Flags::from_matches(matches);
    let data = flags
        .data
        .as_deref()
        .ok_or("memory holds nothing to verify: name a directory with --data")?;
    if !data.join("kv").is_dir() {
        let data = data.display();
        return Err(format!("{data} keeps no store: name the directory of one with --data"));
    }
    let deep = matches.get_flag("deep");
    let has_key = data.join("root-key").is_file()
        || matches.contains_id("root-key")
        || matches.contains_id("root-key-file");
    if deep && !has_key {
        return Err("without its root-key no body can be opened: give --root-key-file, or check without --deep".to_owned());
    }
    let stores = storage::open(&flags).map_err(|error| error.to_string())?;
    let ring = if deep {
        Some(keyring(&stores, matches).map_err(|error| error.to_string())?)
    } else {
        None
    };
    let shows = std::io::stderr().is_terminal();
    verify(&*stores.kv, &*stores.blobs, ring.as_ref(), &mut |note| match note {
        VerifyEvent::Fault(fault) => println!("{fault}"),
        VerifyEvent::Progress(so_far) if shows => {
            eprint!("\r{} versions, {} faults so far ", so_far.versions, so_far.faults)
        }
        VerifyEvent::Progress(_) => {}
    })
    .inspect(|_| {
        if shows {
            eprintln!();
        }
    })
    .map_err(|error| error.to_string())
}

fn flags(command: Command) -> Command {
    let command = command.subcommand(
        Command::new("verify")
            .about("Check records against bodies; exits 0 if all is well, 1 if not, 2 if it cannot tell")
            .arg(
                Arg::new("deep")
                    .long("deep")
                    .action(clap::ArgAction::SetTrue)
                    .help("Read and decrypt every body, and compare its digests"),
            ),
    );
    let flag = |id: &'static str, name: &'static str, variable: &'static str, help| {
        Arg::new(id).long(id).value_name(name).env(variable).help(help).global(true)
    };
    command
        .arg(
            flag("region", "REGION", "OBJECT_PUT_REGION", "Region that signatures must name")
                .long_help("Region that signatures must name; a seed file's own comes first"),
        )
        .arg(
            flag("access-key", "ID", "OBJECT_PUT_ACCESS_KEY", "Access key of the first account")
                .requires("secret-key"),
        )
        .arg(
            flag("secret-key", "SECRET", "OBJECT_PUT_SECRET_KEY", "Secret of --access-key")
                .hide_env_values(true)
                .requires("access-key"),
        )
        .arg(
            flag(
                "root-key-file",
                "FILE",
                "OBJECT_PUT_ROOT_KEY_FILE",
                "Root keys of encryption at rest: 64 hexadecimal digits a line, the first for new objects",
            )
            .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            flag(
                "root-key",
                "HEX",
                "OBJECT_PUT_ROOT_KEY",
                "Root key of encryption at rest; made and kept in the data directory unless given",
            )
            .hide_env_values(true)
            .conflicts_with("root-key-file"),
        )
        .arg(
            switch("without-lost-root-keys", "OBJECT_PUT_WITHOUT_LOST_ROOT_KEYS", "Start although a root key that bodies need is lost"),
        )
        .arg(
            switch("sweep-orphans", "OBJECT_PUT_SWEEP_ORPHANS", "Delete bodies that no record names, however many they are"),
        )
}

/// A flag without a value.
fn switch(name: &'static str, variable: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .env(variable)
        .action(clap::ArgAction::SetTrue)
        .value_parser(clap::builder::BoolishValueParser::new())
        .help(help)
        .global(true)
}

/// Builds the service; what it awaits holds nothing of the command line.
fn make(
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
    let region = seed.region.clone().or_else(|| text(matches, "region"));
    let unserved = seed.unserved();
    let external = start.flags.external_url.as_deref().and_then(host_of);
    let service = ObjectPut::builder(start.storage.kv.clone(), start.storage.blobs.clone())
        .keyring(needed_keyring(&start.storage, matches)?)
        .sweeps_all(matches.get_flag("sweep-orphans"))
        .clock(start.clock.clone())
        .region(region.unwrap_or_else(|| DEFAULT_REGION.to_owned()))
        .strict(start.flags.strict)
        .base_hosts(start.flags.base_hosts.iter().cloned().chain(external))
        .seed(seed)
        .build();
    let mut banner = Vec::new();
    if let Some(named) = unserved {
        banner.push(("not yet", format!("{named} of the seed file are not served")));
    }
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

fn text(matches: &ArgMatches, id: &str) -> Option<String> {
    matches.get_one::<String>(id).cloned()
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

/// The root keys, with every one among them that the bodies of the store need.
fn needed_keyring(stores: &Storage, matches: &ArgMatches) -> Result<Keyring, LaunchError> {
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
    // Before a new key is drawn and kept.
    if let Some(first) = needed.first().filter(|_| !goes_on && !is_given && !is_kept) {
        return Err(refused(first));
    }
    let ring = keyring(stores, matches)?;
    match needed.iter().find(|id| !ring.has(id)) {
        Some(missing) if !goes_on => Err(refused(missing)),
        _ => Ok(ring),
    }
}

/// The root keys: of the file, of the flag, or one that the data directory keeps.
fn keyring(stores: &Storage, matches: &ArgMatches) -> Result<Keyring, LaunchError> {
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
