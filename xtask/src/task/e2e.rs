//! Real clients against real processes: each test file of `tests/` gets a server of its own, on a free port and an empty disk.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::MultiProgress;
use serde_json::Value;

use crate::run::clients;
use crate::run::features;
use crate::run::process::watch;
use crate::run::progress::{self, spinner};
use crate::run::service::{Options, SERVICES, Server, Service, tail};
use crate::run::tally::{cargo_tests, client_checks};
use crate::run::workspace::{cargo, files, root, target};

/// The time that one file may take: long, so that only one that hangs is ended.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Arguments of `e2e`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// One service alone: object, video or tabs
    #[arg(long, value_parser = ["object", "video", "tabs"])]
    pub only: Option<String>,
    /// Only files whose name contains this text
    pub name: Option<String>,
    /// The clients that take long, in the folder `heavy` of each service
    #[arg(long)]
    pub heavy: bool,
    /// Take the binaries as they are, without building them
    #[arg(long)]
    pub no_build: bool,
}

/// Builds, installs the clients and runs the files.
///
/// # Errors
/// If anything is missing, or any check fails or is skipped.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if !arguments.no_build {
        build()?;
    }
    println!("{}", drive(arguments)?);
    Ok(())
}

/// Builds the binaries with the features that tests use, so that every step shares one build.
///
/// # Errors
/// If the build fails.
pub(crate) fn build() -> Result<()> {
    let features = features::local(None)?;
    let build = ["build", "--workspace", "--features", &features, "--bins", "--locked"];
    progress::build(&mut cargo(&build))
}

/// Runs every file that is asked for, and says how many checks passed.
///
/// # Errors
/// The files with a failed, skipped or absent check.
pub(crate) fn drive(arguments: &Arguments) -> Result<String> {
    match arguments.name {
        // Whatever these files miss fails them by its name.
        Some(_) => clients::install_packages()?,
        None => clients::install()?,
    }
    let mut all = Vec::new();
    for service in &SERVICES {
        if arguments.only.as_deref().is_none_or(|only| only == service.short) {
            let files = test_files(service, arguments)?;
            all.extend(files.into_iter().map(|file| (service, file)));
        }
    }
    if all.is_empty() {
        bail!("no client file was found: there is nothing that this could show");
    }
    let (mut failed, mut checks) = (Vec::new(), 0);
    run_side_by_side(&all, |file, outcome, seconds| {
        let name = shown(file);
        match outcome {
            Ok(count) => {
                checks += count;
                println!("  ok      {name:<44} {count:>4} checks {seconds:>6.1} s");
            }
            Err(error) => {
                println!("  FAILED  {name:<44} {seconds:>18.1} s\n{error:#}");
                failed.push(name);
            }
        }
    });
    if !failed.is_empty() {
        bail!("{} of {} client files failed: {}", failed.len(), all.len(), failed.join(", "));
    }
    Ok(format!("{checks} checks of {} client files passed", all.len()))
}

/// Runs as many files at once as there are processors: each waits for its own servers most of the time. `ended` hears of each when it ends.
fn run_side_by_side(
    files: &[(&'static Service, PathBuf)],
    mut ended: impl FnMut(&Path, Result<u64>, f64),
) {
    let next = AtomicUsize::new(0);
    let bars = MultiProgress::new();
    let (send, outcomes) = channel();
    std::thread::scope(|scope| {
        for _ in 0..available_parallelism().map_or(1, NonZero::get) {
            let (send, next, bars) = (send.clone(), &next, &bars);
            scope.spawn(move || {
                while let Some((service, file)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (bar, began) = (bars.add(spinner(&shown(file))), Instant::now());
                    let outcome = run_file(service, file, |line| bar.set_message(line.to_owned()));
                    bar.finish_and_clear();
                    if send.send((file, outcome, began.elapsed().as_secs_f64())).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (file, outcome, seconds) in outcomes {
            bars.suspend(|| ended(file, outcome, seconds));
        }
    });
}

/// The name of the real service under which `object_store` looks for directory buckets, whatever endpoint it is given.
const ZONAL_HOST: [&str; 2] = ["--zonal-host", "s3express-use1-az4.us-east-1.amazonaws.com"];

/// Runs the clients written in Rust, which have a workspace of their own because they pull in much.
///
/// # Errors
/// If they do not build, or a test of theirs fails.
pub(crate) fn drive_rust() -> Result<String> {
    let folder = tempfile::tempdir()?;
    let mut command = cargo(&["test", "--locked", "--manifest-path"]);
    command.arg(root().join("tests/rust/Cargo.toml"));
    command.env("CARGO_TARGET_DIR", target().join("rust-clients"));
    let mut servers = Vec::new();
    for service in SERVICES.iter().filter(|service| service.short != "tabs") {
        let flags = if service.short == "object" { &ZONAL_HOST[..] } else { &[] };
        let server = start(service, &folder.path().join(service.name), flags)?;
        environment(&mut command, service, &server)?;
        servers.push(server);
    }
    let log = target().join("xtask/e2e/rust.log");
    let ended = watch(&mut command, &log, Duration::from_secs(20 * 60), |_| {})?;
    if !ended.success {
        bail!("the Rust clients failed{}", tail(&log, 60));
    }
    servers.into_iter().try_for_each(Server::stop)?;
    cargo_tests(&ended.text)
}

fn shown(file: &Path) -> String {
    file.strip_prefix(root().join("tests")).unwrap_or(file).display().to_string()
}

fn test_files(service: &Service, arguments: &Arguments) -> Result<Vec<PathBuf>> {
    let name = arguments.name.as_deref();
    let folder = root().join("tests").join(service.short);
    let mut found = files(&folder, "_test.py")?;
    found.extend(files(&folder, ".test.mjs")?);
    found.retain(|file| file.starts_with(folder.join("heavy")) == arguments.heavy);
    found.retain(|file| name.is_none_or(|name| shown(file).contains(name)));
    found.sort();
    if found.is_empty() && name.is_none() && !arguments.heavy {
        bail!("{} has no test file", folder.display());
    }
    Ok(found)
}

/// Starts the file's own servers, runs it, and gives the number of its checks.
fn run_file(service: &'static Service, file: &Path, on_line: impl FnMut(&str)) -> Result<u64> {
    let folder = tempfile::tempdir()?;
    let server = start(service, &folder.path().join(service.name), &[])?;
    let mut command = interpreter(file);
    command.current_dir(root());
    environment(&mut command, service, &server)?;
    // The clients that only stream over https need a second server of the same data.
    let tls = if service.short == "object" {
        let flags = ["--tls-self-signed"];
        let server = start(service, &folder.path().join("tls"), &flags)?;
        command.env(service.variable("TLS_URL"), &server.url);
        Some(server)
    } else {
        None
    };
    let log = target().join("xtask/e2e").join(format!("{}.log", shown(file).replace('/', "-")));
    let ended = watch(&mut command, &log, LIMIT, on_line)?;
    if !ended.success {
        bail!("{} failed{}{}", shown(file), tail(&log, 60), server.tail());
    }
    let count = client_checks(&ended.text).with_context(|| format!("see {}", log.display()))?;
    server.stop()?;
    tls.map_or(Ok(()), Server::stop)?;
    Ok(count)
}

fn start(service: &'static Service, data: &Path, flags: &[&str]) -> Result<Server> {
    let own: &[_] = match service.short {
        "tabs" => &["--control-token", CONTROL_TOKEN],
        // Clients look at what a public list or policy does; what keeps new buckets from it has tests of its own.
        "object" => &["--without-public-access-block"],
        _ => &[],
    };
    Server::start(
        service,
        &Options {
            binary: service.binary(false),
            data: data.to_owned(),
            seed: service.test_seed(),
            port: Some(0),
            flags: [&["--admin-token", ADMIN_TOKEN], own, flags]
                .concat()
                .iter()
                .map(|&flag| flag.into())
                .collect(),
        },
    )
}

/// The control token of tabs-api under test.
const CONTROL_TOKEN: &str = "control-token-of-the-tests";

/// The admin token of servers under test.
const ADMIN_TOKEN: &str = "admin-token-of-the-tests";

fn interpreter(file: &Path) -> Command {
    if file.extension().is_some_and(|kind| kind == "mjs") {
        let mut command = Command::new("node");
        command.args(["--test", "--test-reporter=tap"]).arg(file);
        return command;
    }
    let mut command = Command::new(clients::python());
    command.args(["-m", "unittest", "discover", "-v", "-s"]);
    command.arg(file.parent().unwrap_or_else(|| Path::new(".")));
    command.arg("-p").arg(file.file_name().unwrap_or_default());
    command
}

/// Tells a test where its server is and who it may be.
fn environment(command: &mut Command, service: &Service, server: &Server) -> Result<()> {
    identify(command, service)?;
    command.env(service.variable("URL"), &server.url);
    command.env(service.variable("PID"), server.pid().to_string());
    command.env(service.variable("ADMIN_TOKEN"), ADMIN_TOKEN);
    command.env(service.variable("CONTROL_TOKEN"), CONTROL_TOKEN);
    Ok(())
}

/// Tells a program of tests the binary, the seed file and the credentials in it, and nothing of the user's own settings.
///
/// # Errors
/// If the seed file cannot be read.
pub(crate) fn identify(command: &mut Command, service: &Service) -> Result<()> {
    let seed = service.test_seed();
    for (what, value) in
        credentials(service, &serde_json::from_str(&std::fs::read_to_string(&seed)?)?)
    {
        command.env(service.variable(what), value);
    }
    command.env(service.variable("SEED"), seed);
    command.env(service.variable("BINARY"), service.binary(false));
    // Tools of the environment, such as aws, are found first; nothing is read from the user's own settings.
    let bin = clients::python().parent().map(Path::to_owned).unwrap_or_default();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    command
        .env("PATH", std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&paths)))?);
    for name in [
        "AWS_PROFILE",
        "AWS_ENDPOINT_URL",
        "AWS_CA_BUNDLE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "http_proxy",
        "https_proxy",
    ] {
        command.env_remove(name);
    }
    command.env("NO_PROXY", "127.0.0.1,localhost").env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(())
}

/// The credentials of the first identity of a seed file.
pub(crate) fn credentials(service: &Service, seed: &Value) -> Vec<(&'static str, String)> {
    let pointers: &[(&str, &str)] = match service.short {
        "object" => &[
            ("ACCESS_KEY", "/accounts/0/keys/0/accessKeyId"),
            ("SECRET_KEY", "/accounts/0/keys/0/secretAccessKey"),
            ("REGION", "/region"),
        ],
        "video" => &[("API_KEY", "/projects/0/apiKeys/0"), ("TOKEN", "/accounts/0/tokens/0/token")],
        _ => &[("TOKEN", "/extensions/0/token")],
    };
    pointers
        .iter()
        .filter_map(|(what, pointer)| Some((*what, seed.pointer(pointer)?.as_str()?.to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_demo_seed_names_the_identity_that_tests_use() {
        for service in &SERVICES {
            let text = std::fs::read_to_string(service.demo_seed()).unwrap();
            let found = credentials(service, &serde_json::from_str(&text).unwrap());
            assert!(!found.is_empty(), "{}", service.name);
        }
    }
}
