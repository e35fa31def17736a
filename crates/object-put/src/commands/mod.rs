//! The command line: flags, and sub-commands that work on a data directory whose server is stopped.

mod keys;
mod root_keys;
pub(crate) mod serve;
mod verify;

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use object_put::maintenance::archive::RowCodec;
use triptych_core::host::flags::host_name;
use triptych_core::host::launch::Archive;

/// Whole stores as files.
const ARCHIVE: Archive = Archive {
    codec: &RowCodec,
    exported: ". Its bodies open with the root keys of this store alone: keep a copy of them elsewhere",
    imported: ". Put the file root-key of the exported store there, or start with --root-key-file",
};

/// Adds the flags and the sub-commands.
pub(crate) fn augment(command: Command) -> Command {
    let command = command.subcommand(keys::command()).subcommand(
        Command::new("verify")
            .about("Check records against bodies; exits 0 if all is well, 1 if not, 2 if it cannot tell")
            .arg(
                Arg::new("deep")
                    .long("deep")
                    .action(clap::ArgAction::SetTrue)
                    // A backup is compared with its manifest, which has no digests of what is encrypted.
                    .conflicts_with("backup")
                    .help("Read and decrypt every body, and compare its digests"),
            ),
    );
    let command = Archive::augment(command);
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
            flag(
                "part-bytes-min",
                "BYTES",
                "OBJECT_PUT_PART_BYTES_MIN",
                "Least bytes of a part that is not the last of its object; fewer than 5 MiB are for tests",
            )
            .value_parser(value_parser!(u64).range(1..)),
        )
        .arg(
            flag(
                "restore-speed",
                "FACTOR",
                "OBJECT_PUT_RESTORE_SPEED",
                "Restorations of archived objects take their usual minutes to days divided by FACTOR",
            )
            .value_parser(value_parser!(NonZeroU32)),
        )
        .arg(
            flag(
                "key-service",
                "URL",
                "OBJECT_PUT_KEY_SERVICE",
                "Key service on the network (JSON protocol, http:// or https://), in place of the embedded one",
            )
            .requires("key-service-access-key"),
        )
        .arg(
            flag(
                "key-service-access-key",
                "ID",
                "OBJECT_PUT_KEY_SERVICE_ACCESS_KEY",
                "Access key of --key-service",
            )
            .requires("key-service-secret-key"),
        )
        .arg(
            flag(
                "key-service-secret-key",
                "SECRET",
                "OBJECT_PUT_KEY_SERVICE_SECRET_KEY",
                "Secret of --key-service-access-key",
            )
            .hide_env_values(true),
        )
        .arg(
            flag(
                "key-service-session-token",
                "TOKEN",
                "OBJECT_PUT_KEY_SERVICE_SESSION_TOKEN",
                "Session token of --key-service-access-key, where it is a temporary one",
            )
            .hide_env_values(true),
        )
        .arg(
            flag(
                "key-service-ca",
                "FILE",
                "OBJECT_PUT_KEY_SERVICE_CA",
                "PEM file of the authorities that --key-service is trusted by over https://; those of the system without it",
            )
            .value_parser(value_parser!(PathBuf)),
        )
        .arg(
            flag(
                "zonal-host",
                "NAME",
                "OBJECT_PUT_ZONAL_HOST",
                "Name of the zonal endpoint: <bucket>.NAME is a directory bucket, as under a base host",
            )
            .action(clap::ArgAction::Append)
            .value_parser(host_name)
            .value_delimiter(','),
        )
        .arg(
            flag(
                "access-point-host",
                "NAME",
                "OBJECT_PUT_ACCESS_POINT_HOST",
                "Name of access points: <name>-<account>.NAME is one, as under a base host",
            )
            .action(clap::ArgAction::Append)
            .value_parser(host_name)
            .value_delimiter(','),
        )
        .arg(
            flag(
                "on-prem-host",
                "NAME",
                "OBJECT_PUT_ON_PREM_HOST",
                "Name of deployments on premises: <name>-<account>.<deployment>.NAME is an access point in one, as under a base host",
            )
            .action(clap::ArgAction::Append)
            .value_parser(host_name)
            .value_delimiter(','),
        )
        .arg(
            flag(
                "website-host",
                "NAME",
                "OBJECT_PUT_WEBSITE_HOST",
                "Name of websites: <bucket>.NAME is the website of a bucket",
            )
            .action(clap::ArgAction::Append)
            .value_parser(host_name)
            .value_delimiter(','),
        )
        .arg(
            switch("without-lost-root-keys", "OBJECT_PUT_WITHOUT_LOST_ROOT_KEYS", "Start although a root key that bodies need is lost"),
        )
        .arg(
            flag("dialect", "DIALECT", "OBJECT_PUT_DIALECT", "Dialect of requests that name neither: store or amz")
                .value_parser(["store", "amz"])
                .default_value("store"),
        )
        .arg(
            switch("without-public-access-block", "OBJECT_PUT_WITHOUT_PUBLIC_ACCESS_BLOCK", "Let new buckets become public without a word about it, as the real service did before 2023"),
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

/// Runs the sub-command of this name; `None` if it is none of these.
pub(crate) fn run(name: &str, matches: &ArgMatches) -> Option<ExitCode> {
    match name {
        "keys" => Some(keys::run(matches)),
        // A backup is checked as that of any service.
        "verify" if !matches.contains_id("backup") => Some(verify::run(matches)),
        name => ARCHIVE.run(&crate::PRODUCT, name, matches),
    }
}

fn text(matches: &ArgMatches, id: &str) -> Option<String> {
    matches.get_one::<String>(id).cloned()
}

fn texts(matches: &ArgMatches, id: &str) -> Vec<String> {
    let given = matches.get_many::<String>(id).into_iter().flatten();
    // One that is empty clears what a variable said.
    given.filter(|text| !text.is_empty()).cloned().collect()
}
