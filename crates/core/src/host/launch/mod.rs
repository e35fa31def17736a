//! The steps that every service shares: from flags to `<name> is ready`, and from a signal to the exit code.

#[cfg(feature = "sled")]
mod archive;
#[cfg(feature = "sled")]
mod body_folders;
#[cfg(feature = "sled")]
mod copies;
#[cfg(feature = "sled")]
pub(in crate::host) mod directory_watch;
pub mod flags;
mod healthcheck;
#[cfg(feature = "sled")]
mod identity;
#[cfg(feature = "sled")]
mod identity_error;
#[cfg(feature = "sled")]
mod identity_file;
mod log;
mod open_files;
mod output;
mod output_file;
mod private_file;
#[cfg(feature = "sled")]
mod restoration;
mod secret;
mod service_mark;
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
pub(in crate::host) mod shared_clock;
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
pub(in crate::host) mod shared_store;
#[cfg(feature = "sled")]
mod staging_dir;
pub mod storage;
mod storage_error;
mod store_url;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
mod tls_client;
#[cfg(feature = "tls")]
mod tls_to_self;
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
mod waiting;

use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgMatches, Command};
use tokio::net::TcpListener;

#[cfg(feature = "sled")]
pub use self::archive::Archive;
#[cfg(feature = "sled")]
use self::directory_watch::DirectoryWatch;
use self::flags::{Flags, Product};
pub use self::log::Log;
pub use self::output::print;
use self::output_file::{OutputFile, replaced_by};
#[cfg(feature = "sled")]
pub use self::staging_dir::StagingDir;
use self::storage::Storage;
#[cfg(feature = "tls")]
pub use self::tls_client::TlsClient;
use super::ops::Metrics;
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
use super::ops::shared_store_metrics::SharedStoreMetrics;
use super::server::{Config, HostedService, serve, signals};
use crate::kv::ClosingFault;
use crate::pending::Pending;
use crate::time::SystemClock;

/// Reasons for which a service does not start. It is printed, and the exit code is 1.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The address is taken or not ours.
    #[error(
        "cannot listen on {address}: {reason}. Choose another with --listen and --port (0 takes a free port)"
    )]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// The cause.
        reason: std::io::Error,
    },
    /// A server that other machines reach needs secrets of its own.
    #[error("listening on {0} lets other machines in, so it needs {1}")]
    Exposed(SocketAddr, String),
    /// The stores cannot be opened.
    #[error(transparent)]
    Storage(#[from] storage::StorageError),
    /// The log file cannot be opened.
    #[error("the log cannot be written: {0}")]
    Log(std::io::Error),
    /// The ready file cannot be written.
    #[error("the ready file cannot be written: {0}")]
    ReadyFile(std::io::Error),
    /// TLS was asked for with files that cannot be used.
    #[error("TLS cannot be used: {0}")]
    Tls(String),
    /// The service's own reason.
    #[error("{0}")]
    Service(String),
}

/// Everything a service is made of, before it is built.
#[derive(Debug)]
pub struct Start {
    /// The common flags.
    pub flags: Flags,
    /// The stores.
    pub storage: Storage,
    /// The clock that `/_ops/clock` moves.
    pub clock: Arc<SystemClock>,
    /// Counters; the service may register its own.
    pub metrics: Metrics,
    /// The address at which the server listens; the real port, also where 0 was asked for.
    pub address: SocketAddr,
    /// The URL that clients use: `--external-url`, else scheme, address and port.
    pub url: String,
}

/// A service that is built, and the lines of its banner: a label and a text each. Secrets go into `secrets`, which only a terminal shows.
#[derive(Debug)]
pub struct BuiltService<S> {
    /// The service.
    pub service: S,
    /// Lines of the banner, beside name, URL and data.
    pub banner: Vec<(&'static str, String)>,
    /// Banner lines that only a terminal shows.
    pub secrets: Vec<(&'static str, String)>,
    /// Set if the credentials were given by flag, seed file or an earlier start, so that listening off loopback is allowed.
    pub has_own_credentials: bool,
}

/// The command line of a service: common flags, and the service's own added by `extend`.
#[must_use]
pub fn command(
    product: &Product,
    about: &'static str,
    extend: impl FnOnce(Command) -> Command,
) -> Command {
    let command = Command::new(product.name).version(product.version).about(about);
    let command = extend(flags::augment(command, product));
    #[cfg(feature = "sled")]
    let command = copies::augment(command);
    command
}

/// Runs `serve`, `healthcheck` and `completions`; `make` builds the service once its stores and its address are there.
///
/// It prints the banner and `<name> is ready`, serves until SIGTERM or Ctrl-C, drains, and gives the exit code.
pub fn run<S, F>(
    product: &Product,
    command: &Command,
    matches: &ArgMatches,
    make: impl FnOnce(Start, &ArgMatches) -> F,
) -> ExitCode
where
    S: HostedService,
    F: Future<Output = Result<BuiltService<S>, LaunchError>>,
{
    let (name, inner) = matches.subcommand().unwrap_or(("serve", matches));
    #[cfg(feature = "sled")]
    if let Some(code) = copies::run(product, name, inner) {
        return code;
    }
    let flags = Flags::from_matches(product, inner);
    match name {
        "completions" => completions(product, command, inner),
        "healthcheck" => healthcheck::run(&flags),
        _ => {
            let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => return fail(product, &format!("no threads: {error}")),
            };
            let ended = runtime.block_on(start(product, flags, inner, make));
            // The last who has the stores may be a task, and they are closed with it.
            drop(runtime);
            match ended {
                Ok(ended) => ended.fault().map_or(ExitCode::SUCCESS, |fault| fail(product, &fault)),
                Err(error) => fail(product, &error.to_string()),
            }
        }
    }
}

fn fail(product: &Product, why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{}: {why}", product.name);
    ExitCode::FAILURE
}

fn completions(product: &Product, command: &Command, matches: &ArgMatches) -> ExitCode {
    let mut text = Vec::new();
    if let Some(shell) = matches.get_one::<clap_complete::Shell>("shell") {
        clap_complete::generate(*shell, &mut command.clone(), product.name, &mut text);
    }
    match print(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(product, &format!("the output cannot be written: {error}")),
    }
}

/// A service that was told to stop, and did.
#[derive(Default)]
struct Ended {
    closing: ClosingFault,
    /// The sentence that says that its data directory is gone, if it is.
    gone: Option<String>,
}

impl Ended {
    /// The sentence that says that its stores could not be closed, once they were dropped.
    fn fault(&self) -> Option<String> {
        let reason = self.closing.reason()?;
        let next = self.gone.as_deref().unwrap_or(
            "What was acknowledged is in the journal, and the next start goes on from there",
        );
        Some(format!("the stores could not be closed: {reason}. {next}"))
    }
}

async fn start<S, F>(
    product: &Product,
    flags: Flags,
    matches: &ArgMatches,
    make: impl FnOnce(Start, &ArgMatches) -> F,
) -> Result<Ended, LaunchError>
where
    S: HostedService,
    F: Future<Output = Result<BuiltService<S>, LaunchError>>,
{
    let _log = Log::start(flags.log.as_deref(), flags.log_json).map_err(LaunchError::Log)?;
    let asked = SocketAddr::new(flags.listen, flags.port);
    let listener = TcpListener::bind(asked)
        .await
        .map_err(|reason| LaunchError::Listen { address: asked, reason })?;
    let address =
        listener.local_addr().map_err(|reason| LaunchError::Listen { address: asked, reason })?;
    let mut limits = flags.limits;
    limits.connections_max = open_files::fitting_connections(limits.connections_max);
    let config = Config { limits, base_hosts: flags.base_hosts.clone(), ..Config::default() };
    #[cfg(feature = "tls")]
    let config = Config { tls: tls::config(&flags).map_err(LaunchError::Tls)?, ..config };
    let url =
        flags.external_url.clone().unwrap_or_else(|| format!("{}://{address}", scheme(&config)));
    let mut storage = storage::begin(&flags)?;
    if let Some((path, mode)) = flags.data.as_deref().and_then(private_file::readable_by_others) {
        let path = path.display();
        tracing::warn!(
            "{path} can be read by other users of this machine (mode {mode:o}): take their rights to the data directory away (chmod -R go=)"
        );
    }
    // Behind the stores, which tell whose directory it is.
    let config = Config { admin_token: admin_token(&flags)?, ..config };
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    let (listener, config) = match storage.shared.clone() {
        None => (listener, config),
        Some(shared) => {
            let Some(listener) = waiting::until_reached(listener, &config, &shared).await? else {
                return Ok(Ended::default());
            };
            storage.check_shared()?;
            config.metrics.collect(SharedStoreMetrics(shared.clone()));
            shared_clock::follow(shared.kv(), &config.clock)
                .map_err(|error| storage::StorageError::Shared(error.to_string()))?;
            (listener, Config { shared: Some(shared), ..config })
        }
    };
    #[cfg(feature = "sled")]
    if let Some(metrics) = storage.metrics.take() {
        config.metrics.collect(metrics);
    }
    #[cfg(feature = "sled")]
    let (backup, records) = (storage.backup_source(product), storage.records());
    #[cfg(feature = "sled")]
    let watch = storage.directory_watch();
    #[cfg(feature = "sled")]
    let config = Config { backup, records, watch: watch.clone(), ..config };
    // The service takes the stores apart; this is held until it has ended.
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    let _bodies_lock = storage.bodies_lock.take();
    let (data, failure) = (storage.place(), storage.failure.take());
    let closing_fault = storage.closing.clone();
    let bodies = storage.bodies_elsewhere.clone();
    let start = Start {
        storage,
        clock: Arc::clone(&config.clock),
        metrics: config.metrics.clone(),
        address,
        url: url.clone(),
        flags: flags.clone(),
    };
    let built = make(start, matches).await?;
    if !flags.listen.is_loopback() && !built.has_own_credentials {
        return Err(LaunchError::Exposed(
            address,
            "explicit credentials: give a --seed file that names them".into(),
        ));
    }
    let shown = bodies.map_or_else(|| data.clone(), |bodies| format!("{data}   bodies {bodies}"));
    banner(product, &url, &shown, &built);
    let asked_to_stop = signals();
    let closing = Duration::from_millis(flags.limits.drain_ms_max).saturating_add(CLOSING_MAX);
    if let Some(path) = &flags.ready_file {
        write_ready_file(path, product, &url, &data).map_err(LaunchError::ReadyFile)?;
    }
    say(&format!("{} is ready", product.name));
    let mut failed = None;
    #[cfg(feature = "sled")]
    let gone = until_gone(watch.clone());
    #[cfg(not(feature = "sled"))]
    let gone = std::future::pending::<String>();
    let stop = async {
        tokio::select! {
            () = asked_to_stop => {
                end_within(product.name, closing);
                // The second signal does not wait for anything.
                tokio::spawn(async {
                    signals().await;
                    std::process::exit(1);
                });
            }
            reason = until_failure(failure) => {
                end_within(product.name, closing);
                failed = Some(reason);
            }
            gone = gone => {
                end_within(product.name, closing);
                failed = Some(gone);
            }
        }
    };
    let report = serve(listener, built.service, config, stop).await;
    if !report.drained {
        tracing::warn!("requests were still running at the deadline and were cut");
    }
    // A directory that is gone is why its disk failed, and holds nothing for the next start to go on from.
    #[cfg(feature = "sled")]
    let gone = watch.and_then(|watch| watch.look().map(str::to_owned));
    #[cfg(not(feature = "sled"))]
    let gone = None;
    match failed {
        // Nothing more can be promised, so nothing more is answered.
        Some(reason) => Err(LaunchError::Service(gone.unwrap_or(reason))),
        None => Ok(Ended { closing: closing_fault, gone }),
    }
}

/// The ready file holds no secret: others wait for it as well.
const READY_FILE_MODE: u32 = 0o666;

/// Time that the stores have to be closed once requests are drained.
const CLOSING_MAX: Duration = Duration::from_secs(5);

/// Ends the process after a time with exit code 1, if it has not ended by itself: a call to a disk that does not answer never returns.
fn end_within(name: &'static str, time: Duration) {
    // Without a thread for it, the end waits for the disk.
    let _ = std::thread::Builder::new().name("end".into()).spawn(move || {
        let (_held, never) = std::sync::mpsc::channel::<()>();
        let _ = never.recv_timeout(time);
        let _ = writeln!(
            std::io::stderr(),
            "{name}: the disk did not answer in time; what was acknowledged is on it, and the next start goes on from there"
        );
        std::process::exit(1);
    });
}

/// Returns once the disk has failed; never, where there is none.
async fn until_failure(failure: Option<Pending<String>>) -> String {
    match failure {
        Some(failure) => failure.await,
        None => std::future::pending().await,
    }
}

/// Returns once the data directory is gone; never, where there is none.
#[cfg(feature = "sled")]
async fn until_gone(watch: Option<DirectoryWatch>) -> String {
    match watch {
        Some(watch) => watch.until_gone().await,
        None => std::future::pending().await,
    }
}

#[cfg(feature = "tls")]
const fn scheme(config: &Config) -> &'static str {
    if config.tls.is_some() { "https" } else { "http" }
}

#[cfg(not(feature = "tls"))]
const fn scheme(_config: &Config) -> &'static str {
    "http"
}

/// The token of the flag, else the one that the data directory keeps; in memory one that nobody knows.
fn admin_token(flags: &Flags) -> Result<Option<String>, LaunchError> {
    if let Some(token) = &flags.admin_token {
        return Ok(Some(token.clone()));
    }
    let Some(directory) = &flags.data else {
        return Ok(None);
    };
    storage::make_directory(directory)?;
    Ok(Some(storage::secret(directory, "admin-token")?))
}

fn banner<S>(product: &Product, url: &str, data: &str, built: &BuiltService<S>) {
    use std::io::IsTerminal;
    say(&format!("{} {}   {url}   data {data}", product.name, product.version));
    let secrets = built.secrets.iter().filter(|_| std::io::stdout().is_terminal());
    for (label, text) in secrets.chain(&built.banner) {
        say(&format!("  {label:<8} {text}"));
    }
}

/// Writes a line of the banner; a server goes on without whoever would have read it.
fn say(line: &str) {
    let _ = print(format!("{line}\n"));
}

/// Writes the ready file: a reader sees the whole of it or none. Whoever reads a pipe is awaited by a thread, and by no client.
fn write_ready_file(path: &Path, product: &Product, url: &str, data: &str) -> std::io::Result<()> {
    let text = serde_json::json!({ "name": product.name, "url": url, "pid": std::process::id(), "data": data }).to_string();
    let replaced = replaced_by(path)?;
    let path = path.to_owned();
    let write = move || {
        let mut out = OutputFile::create(&path, READY_FILE_MODE)?;
        out.write_all(text.as_bytes())?;
        out.finish()
    };
    if replaced.is_some() {
        return write();
    }
    let told = move || {
        if let Err(error) = write() {
            tracing::warn!("the ready file cannot be written: {error}");
        }
    };
    std::thread::Builder::new().name("ready".into()).spawn(told).map(drop)
}
