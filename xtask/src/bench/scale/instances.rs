//! Instances of a service on one store, and what they and the database take of the machine.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;
use tempfile::{TempDir, tempdir_in};
use triptych_core::kv::PostgresServer;

use crate::bench::load::Connection;
use crate::run::service::{Options, Server, Service};
use crate::run::workspace::target;

/// Ticks of the kernel's clock in a second, as it tells processes' times on every machine that this runs on.
const TICKS: f64 = 100.0;

/// Instances that run on one store, each with a data directory of its own.
pub(super) struct Instances {
    servers: Vec<Server>,
    addresses: Vec<SocketAddr>,
    _folder: TempDir,
}

impl Instances {
    /// Starts so many.
    ///
    /// # Errors
    /// If one does not start.
    pub(super) fn start(
        service: &'static Service,
        store: &str,
        seed: &Value,
        flags: &[&str],
        count: usize,
    ) -> Result<Self> {
        let folder = tempdir_in(target())?;
        let seed_file = folder.path().join("seed.json");
        std::fs::write(&seed_file, seed.to_string())?;
        let (mut servers, mut addresses) = (Vec::new(), Vec::new());
        for number in 0..count {
            let data = folder.path().join(number.to_string());
            let log = data.with_extension("requests.log").display().to_string();
            let given = ["--store", store, "--log", &log];
            let options = Options {
                binary: service.binary(true),
                data,
                seed: seed_file.clone(),
                port: Some(0),
                flags: given.iter().chain(flags).map(|&flag| flag.to_owned()).collect(),
            };
            let server = Server::start(service, &options)?;
            let address = server.url.trim_start_matches("http://").parse();
            addresses.push(address.context("the service names its address")?);
            servers.push(server);
        }
        Ok(Self { servers, addresses, _folder: folder })
    }

    /// The address of the first.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn first(&self) -> Result<SocketAddr> {
        self.addresses.first().copied().context("there is an instance")
    }

    /// The rate that the loads of the first `count` instances reach together, all at once.
    ///
    /// # Errors
    /// Those of a load.
    pub(super) fn rate(
        &self,
        count: usize,
        load: impl Fn(SocketAddr) -> Result<f64> + Sync,
    ) -> Result<f64> {
        let load = &load;
        std::thread::scope(|scope| {
            let addresses = self.addresses.iter().take(count);
            let loads: Vec<_> =
                addresses.map(|&address| scope.spawn(move || load(address))).collect();
            let ended = loads.into_iter().map(|load| load.join());
            ended.map(|ended| ended.map_err(|_| anyhow!("a load panicked"))?).sum()
        })
    }

    /// The statements that the first instance has sent so far.
    ///
    /// # Errors
    /// If it does not say.
    pub(super) fn round_trips(&self) -> Result<f64> {
        let mut page = Vec::new();
        Connection::to(self.first()?)?.get("/_ops/metrics", &mut page)?;
        let page = String::from_utf8(page)?;
        let told = page.lines().find_map(|line| line.strip_prefix("store_round_trips_total "));
        Ok(told.context("the instance counts its round trips")?.trim().parse()?)
    }

    /// Stops all.
    ///
    /// # Errors
    /// If one does not stop.
    pub(super) fn stop(self) -> Result<()> {
        self.servers.into_iter().try_for_each(Server::stop)
    }
}

/// The cores that somebody kept busy, in the mean, while something else was measured.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Busy {
    pub database: f64,
    pub instances: f64,
    /// Seconds for which it was measured.
    pub took: f64,
}

impl Busy {
    /// Adds one of several `turns` to their mean.
    pub(super) fn add(&mut self, turn: Self, turns: usize) {
        self.database += turn.database / turns as f64;
        self.instances += turn.instances / turns as f64;
    }

    /// Measures, and looks at how much of the machine went where meanwhile.
    ///
    /// # Errors
    /// Those of the measurement, or if the database does not say which its processes are.
    pub(super) fn of(
        database: &PostgresServer,
        instances: &Instances,
        measure: impl FnOnce() -> Result<f64>,
    ) -> Result<(f64, Self)> {
        let told = database.run("SELECT pid FROM pg_stat_activity")?;
        let database: Vec<u32> = told.lines().filter_map(|pid| pid.trim().parse().ok()).collect();
        let instances: Vec<u32> = instances.servers.iter().map(Server::pid).collect();
        let both = || [seconds(&database), seconds(&instances)];
        let (begun, before) = (Instant::now(), both());
        let measured = measure()?;
        let ([database, instances], took) = (both(), begun.elapsed().as_secs_f64());
        let [database_before, instances_before] = before;
        let busy = |now: f64, before: f64| (now - before).max(0.0) / took;
        let database = busy(database, database_before);
        let instances = busy(instances, instances_before);
        Ok((measured, Self { database, instances, took }))
    }
}

/// The time that processes had a core, all together; one that has ended adds nothing.
fn seconds(processes: &[u32]) -> f64 {
    let of = |pid: &u32| {
        let told = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
        let told = told.ok()?;
        // The name of the program stands in parentheses, and may hold anything.
        let (_, fields) = told.rsplit_once(')')?;
        let ticks = fields.split_whitespace().skip(11).take(2);
        Some(ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / TICKS)
    };
    processes.iter().filter_map(of).sum()
}
