//! `cargo xtask up`: all three services with demo data, and lines to paste that work.

use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::run::clients;
use crate::run::progress;
use crate::run::service::{Options, SERVICES, Server, Service, build_command};
use crate::run::workspace::target;
use crate::task::demo;

/// Arguments of `up`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// Run a real job through each service with its real client, then stop
    #[arg(long)]
    pub demo: bool,
    /// Build with all optimisations (slower to build, faster to serve)
    #[arg(long)]
    pub release: bool,
    /// Take free ports instead of 7801, 7802 and 7803
    #[arg(long)]
    pub free_ports: bool,
    /// Begin with the demo data alone: forget what earlier runs kept
    #[arg(long)]
    pub fresh: bool,
    /// The folder that holds the data [default: up/ of the target directory]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// Builds, starts, prints, waits for Ctrl-C and stops.
///
/// # Errors
/// If a service does not build, start, run on or stop as it should; with `--demo`, if a job fails.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    progress::build(&mut build_command(arguments.release))?;
    if arguments.demo {
        clients::install_packages()?;
    }
    let (stop, stopped) = channel();
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    std::thread::spawn(move || signals.forever().try_for_each(|_| stop.send(())));
    let mut running = Vec::new();
    for service in &SERVICES {
        let server = Server::start(service, &options(service, arguments)?)
            .with_context(|| format!("{} did not start", service.name))?;
        show(service, &server)?;
        running.push((service, server));
    }
    let outcome = if arguments.demo {
        running.iter().try_for_each(|(service, server)| demo::run(service, &server.url))
    } else {
        println!(
            "All three are ready. Ctrl-C stops them; `cargo xtask up --demo` shows them at work."
        );
        wait(&mut running, || stopped.recv_timeout(Duration::from_millis(500)))
    };
    println!("stopping");
    let ends = running.into_iter().rev().map(|(_, server)| server.stop());
    ends.fold(outcome, Result::and)
}

fn options(service: &Service, arguments: &Arguments) -> Result<Options> {
    // A demonstration leaves no traces and meets none.
    let home = if arguments.demo { "demo" } else { "up" };
    let home = arguments.data.clone().unwrap_or_else(|| target().join(home));
    let data = home.join(service.name);
    if (arguments.fresh || arguments.demo) && data.exists() {
        std::fs::remove_dir_all(&data)
            .with_context(|| format!("cannot clear {}", data.display()))?;
    }
    Ok(Options {
        binary: service.binary(arguments.release),
        data,
        seed: service.demo_seed(),
        port: (arguments.free_ports || arguments.demo).then_some(0),
        flags: Vec::new(),
    })
}

fn show(service: &Service, server: &Server) -> Result<()> {
    println!("\n{}  {}", service.name, server.url);
    for (what, value) in demo::credentials(service)? {
        println!("  {:<12} {value}", what.to_lowercase().replace('_', " "));
    }
    println!("  paste:");
    for line in demo::lines(service, &server.url)? {
        println!("    {line}");
    }
    Ok(())
}

/// Waits for Ctrl-C, and notices a service that ends by itself.
fn wait(
    running: &mut [(&'static Service, Server)],
    mut stopped: impl FnMut() -> Result<(), RecvTimeoutError>,
) -> Result<()> {
    loop {
        match stopped() {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) => {}
        }
        for (service, server) in &mut *running {
            if !server.is_running()? {
                bail!("{} ended by itself{}", service.name, server.tail());
            }
        }
    }
}
