//! The server shell: the cheapest call of each service against a bare hyper server, start to ready, and idle memory.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hyper::body::Bytes;
use tempfile::tempdir_in;

use super::bare::with_bare;
use super::report::Row;
use crate::run::service::{Options, SERVICES, Server, Service, build_command};
use crate::run::workspace::target;

/// The time that each rate is measured.
const SPAN: Duration = Duration::from_secs(3);
const CONNECTIONS: usize = 16;
/// The answer of `/_ops/health/live`, and of the bare server too.
const BODY: &[u8] = b"live\n";
const PATH: &str = "/_ops/health/live";
/// The number of times that a start is timed; the middle one counts.
const STARTS: usize = 5;
const START_MS_MAX: f64 = 300.0;
const IDLE_MIB_MAX: f64 = 20.0;

/// Requests a second of each service beside a bare hyper server in the same run, its start, and its memory.
///
/// # Errors
/// If a service does not build, start or answer.
pub(crate) fn measure() -> Result<Vec<Row>> {
    ensure!(build_command(true).status()?.success(), "the services do not build");
    std::fs::create_dir_all(target())?;
    let mut rows = Vec::new();
    for service in &SERVICES {
        rows.extend(of(service)?);
    }
    Ok(rows)
}

fn of(service: &'static Service) -> Result<Vec<Row>> {
    let folder = tempdir_in(target())?;
    let mut starts = Vec::new();
    for number in 0..STARTS {
        let options = options(service, &folder.path().join(number.to_string()));
        let begun = Instant::now();
        let server = Server::start(service, &options)?;
        starts.push(begun.elapsed().as_secs_f64() * 1_000.0);
        server.stop()?;
    }
    starts.sort_by(f64::total_cmp);
    let start = starts.get(STARTS / 2).copied().unwrap_or_default();
    let server = Server::start(service, &options(service, &folder.path().join("rate")))?;
    let idle = resident_mib(server.pid())?;
    let address: SocketAddr = server
        .url
        .trim_start_matches("http://")
        .parse()
        .context("the service names its address")?;
    // Turn about, so that both meet the same machine.
    let (mut own, mut bare) = (0.0, 0.0);
    for _ in 0..2 {
        bare += with_bare(Bytes::from_static(BODY), |address| rate(address, "/"))? / 2.0;
        own += rate(address, PATH)? / 2.0;
    }
    server.stop()?;
    let name = service.name;
    let row = |what: String, value, unit, limit: (&str, f64), expected| Row {
        what,
        value,
        unit,
        limit: Some((limit.0.to_owned(), limit.1)),
        expected: Some(expected),
    };
    Ok(vec![
        row(
            format!("{name}: {PATH}, log to a file"),
            own,
            "requests/s",
            ("bare hyper, same answer", bare),
            0.7,
        ),
        // As shares of a bound, so that more is better as in every other row.
        row(
            format!("{name}: starts a second, from an empty directory to ready"),
            1_000.0 / start,
            "starts/s",
            ("one in 300 ms", 1_000.0 / START_MS_MAX),
            1.0,
        ),
        row(
            format!("{name}: idle services in a GiB"),
            1_024.0 / idle,
            "services",
            ("at 20 MiB each", 1_024.0 / IDLE_MIB_MAX),
            1.0,
        ),
    ])
}

fn options(service: &'static Service, data: &std::path::Path) -> Options {
    Options {
        binary: service.binary(true),
        data: data.to_owned(),
        seed: service.demo_seed(),
        port: Some(0),
        flags: vec!["--log".into(), data.with_extension("log").display().to_string()],
    }
}

/// Resident memory of a process.
fn resident_mib(pid: u32) -> Result<f64> {
    memory_mib(pid, "VmRSS:")
}

/// Memory of a process by the kernel's name of it: `VmRSS:` is what it holds now, `VmHWM:` the most it held.
///
/// # Errors
/// If there is no such process.
pub(super) fn memory_mib(pid: u32, kind: &str) -> Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix(kind))
        .context("the process has memory")?;
    let kib: f64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kib / 1_024.0)
}

/// Requests a second over some connections that are kept.
fn rate(address: SocketAddr, path: &str) -> Result<f64> {
    let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (count, stop, request) = (Arc::clone(&count), Arc::clone(&stop), request.clone());
            std::thread::spawn(move || ask(address, &request, &count, &stop))
        })
        .collect();
    // The first moments are not counted: connections open and caches fill.
    std::thread::sleep(SPAN / 6);
    let (begun, before) = (Instant::now(), count.load(Ordering::Relaxed));
    std::thread::sleep(SPAN);
    let answered = count.load(Ordering::Relaxed) - before;
    let took = begun.elapsed();
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().map_err(|_| anyhow::anyhow!("a client panicked"))??;
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate has no 53 bits")]
    let rate = answered as f64 / took.as_secs_f64();
    Ok(rate)
}

fn ask(address: SocketAddr, request: &str, count: &AtomicU64, stop: &AtomicBool) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut buffer = [0; 4_096];
    while !stop.load(Ordering::Relaxed) {
        stream.write_all(request.as_bytes())?;
        let mut read = 0;
        // Every answer ends with the same few bytes, and none comes before it was asked for.
        while !buffer.get(..read).is_some_and(|answer| answer.ends_with(BODY)) {
            let rest = buffer.get_mut(read..).unwrap_or_default();
            let bytes = stream.read(rest)?;
            ensure!(bytes > 0, "the server closed the connection");
            read += bytes;
        }
        ensure!(buffer.starts_with(b"HTTP/1.1 200"), "the server refused");
        count.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}
