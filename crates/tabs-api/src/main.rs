//! The `tabs-api` binary: flags to a service under the host.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::json;
use tabs_api::browser::Compat;
use tabs_api::engine::allowed_hosts::AllowedHosts;
#[cfg(feature = "replay")]
use tabs_api::engine::fixtures::Pages;
use tabs_api::http::TabsApi;
#[cfg(feature = "replay")]
use tabs_api::replay::Replay;
use tabs_api::seed::{Install, Seed};
use tabs_api::store::archive::RowCodec;
use tabs_api::version::BrowserVersion;
use triptych_core::host::flags::Product;
use triptych_core::host::launch::{self, Archive, BuiltService, LaunchError, Start};
use triptych_core::host::storage;
#[cfg(feature = "replay")]
use triptych_core::time::Clock;

const PRODUCT: Product = Product {
    name: "tabs-api",
    version: env!("CARGO_PKG_VERSION"),
    prefix: "TABS_API",
    port: 7803,
    record_bytes_max: 65_536,
    is_row: tabs_api::store::archive::is_row,
};

/// Whole stores as files.
const ARCHIVE: Archive = Archive {
    codec: &RowCodec,
    exported: "",
    imported: ". Tokens that its data directory kept are not among them: --seed and --control-token give them",
};

fn main() -> ExitCode {
    let about = "The browser.tabs engine, driven by extension code over the network";
    let command = launch::command(&PRODUCT, about, flags);
    let matches = command.clone().get_matches();
    let sub_command = matches.subcommand();
    if let Some(code) = sub_command.and_then(|(name, matches)| ARCHIVE.run(&PRODUCT, name, matches))
    {
        return code;
    }
    launch::run(&PRODUCT, &command, &matches, make)
}

fn flags(command: Command) -> Command {
    let flag = |id: &'static str, name: &'static str, variable: &'static str, help| {
        Arg::new(id).long(id).value_name(name).env(variable).help(help).global(true)
    };
    let command = Archive::augment(command)
        .arg(
            flag(
                "compat",
                "WHICH",
                "TABS_API_COMPAT",
                "What counts where the specification and the recorded browser differ",
            )
            .value_parser(["spec", "browser"])
            .default_value("spec"),
        )
        .arg(
            flag(
                "control-token",
                "TOKEN",
                "TABS_API_CONTROL_TOKEN",
                "Token of the control side; made and kept in the data directory unless given",
            )
            .hide_env_values(true),
        )
        .arg(
            flag(
                "allow-origin",
                "ORIGIN",
                "TABS_API_ALLOW_ORIGIN",
                "Origin of web pages that may use the server; may be repeated",
            )
            .action(ArgAction::Append)
            .value_delimiter(','),
        )
        .arg(
            flag(
                "fetch",
                "HOST",
                "TABS_API_FETCH",
                "Host whose real pages tabs load: example.com, *.example.com, example.com:8080 or name=address; may be repeated. \
                 Private addresses are reached only where an entry names them",
            )
            .action(ArgAction::Append)
            .value_delimiter(','),
        );
    let command = command.arg(flag(
        "instance-url",
        "URL",
        "TABS_API_INSTANCE_URL",
        "URL of this instance among those that share --store: others send clients here whose profiles run here [default: the URL that it prints]",
    ));
    let command = command.arg(
        flag(
            "browser-version",
            "N",
            "TABS_API_BROWSER_VERSION",
            "Version of the browser: what came later is not there",
        )
        .value_parser(
            clap::value_parser!(u16)
                .range(i64::from(BrowserVersion::OLDEST.0)..=i64::from(BrowserVersion::LATEST.0)),
        ),
    );
    #[cfg(feature = "replay")]
    let command = command.arg(
        flag(
            "lab",
            "FIXTURES",
            "TABS_API_LAB",
            "Offer the replay contract of recorded scenarios, with these pages",
        )
        .value_parser(clap::value_parser!(PathBuf)),
    );
    command
}

/// Builds the service; what it awaits holds nothing of the command line.
fn make(
    start: Start,
    matches: &ArgMatches,
) -> impl Future<Output = Result<BuiltService<TabsApi>, LaunchError>> + use<> {
    std::future::ready(build(&start, matches))
}

fn build(start: &Start, matches: &ArgMatches) -> Result<BuiltService<TabsApi>, LaunchError> {
    let failed = |error: &dyn std::fmt::Display| LaunchError::Service(error.to_string());
    let (seed, given) = seed(start)?;
    let tokens = seed.extensions.iter().filter_map(|install| install.token.clone());
    let token = tokens.into_iter().next();
    let compat = match matches.get_one::<String>("compat").map(String::as_str) {
        Some("browser") => Compat::Browser,
        _ => Compat::Spec,
    };
    let origins = matches.get_many::<String>("allow-origin");
    let fetched = matches.get_many::<String>("fetch").into_iter().flatten();
    let fetched =
        AllowedHosts::parse(fetched.map(String::as_str)).map_err(|error| failed(&error))?;
    let control = control_token(start, matches)?;
    let is_kept = start.storage.directory.is_some() || start.storage.is_shared();
    let mut builder = TabsApi::builder()
        .clock(start.clock.clone())
        .compat(compat)
        .base_hosts(start.flags.base_hosts.iter().cloned())
        .origins(origins.into_iter().flatten().filter(|origin| !origin.is_empty()).cloned())
        .control_token(control.clone())
        .fetch(fetched)
        .seed(seed)
        .place(instance_url(start, matches));
    if is_kept {
        builder = builder.store(start.storage.kv.clone());
    }
    if let Some(version) = matches.get_one::<u16>("browser-version") {
        builder = builder.browser_version(BrowserVersion(*version));
    }
    #[cfg(feature = "replay")]
    if let Some(path) = matches.get_one::<PathBuf>("lab") {
        let text = read(path)?;
        let pages = Pages::read(&text).map_err(|error| failed(&error))?;
        builder = builder.replay(Replay::new(pages, start.clock.now()));
    }
    let service = builder.build().map_err(|error| failed(&error))?;
    let mut secrets = vec![("control", control)];
    let mut banner = Vec::new();
    if let Some(token) = token.filter(|_| !given) {
        let url = &start.url;
        banner.push((
            "try",
            format!("curl -H \"Authorization: Bearer $TOKEN\" {url}/v1/tabs/query -d '[{{}}]'"),
        ));
        secrets.push(("token", token));
    }
    Ok(BuiltService { service, banner, secrets, has_own_credentials: given })
}

/// The URL under which this instance is reached, where others share its store.
fn instance_url(start: &Start, matches: &ArgMatches) -> String {
    let given = matches.get_one::<String>("instance-url").cloned();
    given.unwrap_or_else(|| start.url.clone())
}

/// The seed file, or one extension that may do everything; and whether it was a file with extensions.
fn seed(start: &Start) -> Result<(Seed, bool), LaunchError> {
    if let Some(path) = &start.flags.seed {
        let seed = Seed::parse(&read(path)?)
            .map_err(|error| LaunchError::Service(format!("{}: {error}", path.display())))?;
        let given = !seed.extensions.is_empty();
        return Ok((seed, given));
    }
    let first = Install {
        token: Some(secret(start, "token")?),
        id: None,
        manifest: json!({
            "manifest_version": 3,
            "name": "First extension",
            "version": "1.0",
            "permissions": ["tabs", "tabGroups", "activeTab", "scripting", "sessions"],
            "host_permissions": ["<all_urls>"],
        }),
        allow_file_access: false,
        allow_incognito: false,
        files: None,
    };
    let seed = Seed { extensions: vec![first], ..Seed::default() };
    Ok((seed, false))
}

fn control_token(start: &Start, matches: &ArgMatches) -> Result<String, LaunchError> {
    match matches.get_one::<String>("control-token") {
        Some(token) if !token.is_empty() => Ok(token.clone()),
        _ => secret(start, "control-token"),
    }
}

/// A secret that the data directory keeps, or one that lives as long as the process.
fn secret(start: &Start, name: &str) -> Result<String, LaunchError> {
    match &start.storage.directory {
        Some(directory) => Ok(storage::secret(directory, name)?),
        None => Ok(storage::random_hex()),
    }
}

fn read(path: &PathBuf) -> Result<String, LaunchError> {
    std::fs::read_to_string(path)
        .map_err(|error| LaunchError::Service(format!("{}: {error}", path.display())))
}
