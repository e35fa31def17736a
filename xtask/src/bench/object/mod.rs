//! The object store over HTTP: PUT and GET of four sizes against the disk, the digests, bare hyper and three peers; memory of
//! many uploads and of slow readers; what a PUT costs when there are many keys; uploads in parts, modes of encryption, sessions,
//! appends and signatures with a key pair.

mod express;
mod limit;
pub(super) mod load;
mod modes;
mod parts;
mod peer;
pub(super) mod sign;
mod stalled;

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use hyper::body::Bytes;
use tempfile::{TempDir, tempdir_in};
use triptych_core::id::{Ids, SeededIds};

use self::load::{BUCKET, Target, Work};
use self::peer::{NGINX, PEERS, Peer, Running};
use self::sign::{ACCESS_KEY, SECRET_KEY, Signer};
use super::bare::with_same;
use super::host::memory_mib;
use super::report::{self, Row};
use crate::run::progress::{self, spinner};
use crate::run::service::{Options, Server, Service};
use crate::run::workspace::{cargo, target};

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;
const SMALL: usize = 4 * KIB;
const MIDDLE: usize = 64 * KIB;
const LARGE: usize = 64 * MIB;
const CONNECTIONS: [usize; 3] = [1, 16, 64];
/// The time that each rate is measured, and the number of rounds; all take turns, so that each meets the same machine.
const SPAN: Duration = Duration::from_millis(1_500);
const ROUNDS: usize = 3;
/// The bytes under way at once beyond which one round has to do: each takes as much of the disk, for every server.
const ROUNDS_BYTES_MAX: usize = 1024 * MIB;
/// The number of connections that fill what is then read.
const READ_FROM: usize = 4;
/// The memory that 64 uploads at once may add to the process.
const UPLOADS: usize = 64;
const UPLOAD_BYTES: usize = 128 * MIB;
const UPLOADS_MIB_MAX: f64 = 200.0;
/// The two stores whose costs are compared, and how they are.
const FEW_KEYS: u64 = 1_000;
const MANY_KEYS: u64 = 1_000_000;
const FLAT_RUNS: usize = 9;
const FLAT_PUTS: u64 = 2_000;
/// The factor by which a PUT among many keys may be dearer.
const FLAT_WITHIN: f64 = 1.3;

/// One group of rows; it says what it is at.
type Step = fn(&dyn Fn(&str)) -> Result<Vec<Row>>;

/// The groups, by name.
const STEPS: [(&str, Step); 10] = [
    ("4 KiB", |at| of_size(4 * KIB, at)),
    ("64 KiB", |at| of_size(64 * KIB, at)),
    ("1 MiB", |at| of_size(MIB, at)),
    ("64 MiB", |at| of_size(64 * MIB, at)),
    ("memory", memory),
    ("keys", flat_cost),
    ("parts", parts::measure),
    ("modes", modes::measure),
    ("sessions", express::measure_sessions),
    ("appends", express::measure_appends),
];

/// Everything about the object store, or the groups whose name contains `only`; see the module.
///
/// # Errors
/// If the service does not build, or there is no such group.
pub(crate) fn measure(only: Option<&str>) -> Result<Vec<Row>> {
    let mut build = cargo(&["build", "--release", "--locked", "-p", "object-put"]);
    ensure!(build.status()?.success(), "object-put does not build");
    std::fs::create_dir_all(target())?;
    let bar = spinner("object");
    let at = |what: &str| progress::at(&bar, what);
    let rows = report::of_groups(&STEPS, only, |step| step(&at));
    bar.finish_and_clear();
    rows
}

/// Our server in a directory of its own, which goes with it.
struct Own {
    server: Server,
    target: Target,
    folder: TempDir,
}

impl Own {
    fn start() -> Result<Self> {
        Self::start_with(&[])
    }

    fn start_with(flags: &[&str]) -> Result<Self> {
        let folder = tempdir_in(target())?;
        let service = Service::find("object")?;
        let seed = folder.path().join("seed.json");
        let account = serde_json::json!({
            "id": "111122223333", "canonicalId": "a".repeat(64), "displayName": "bench", "email": "bench@example.com",
            "keys": [{ "accessKeyId": ACCESS_KEY, "secretAccessKey": SECRET_KEY, "allow": ["*"] }],
        });
        let directory = serde_json::json!({ "name": express::BUCKET, "owner": "111122223333", "kind": "directory" });
        let written = serde_json::json!({ "region": "us-east-1", "accounts": [account], "buckets": [directory] });
        std::fs::write(&seed, written.to_string())?;
        let data = folder.path().join("data");
        let log = folder.path().join("requests.log").display().to_string();
        let options = Options {
            binary: service.binary(true),
            data,
            seed,
            port: Some(0),
            flags: flags
                .iter()
                .map(|&flag| flag.to_owned())
                .chain(["--log".to_owned(), log])
                .collect(),
        };
        let server = Server::start(service, &options)?;
        let address = server.url.trim_start_matches("http://").parse();
        let target = Target {
            address: address.context("the service names its address")?,
            signer: Signer::now()?,
        };
        target.make_bucket()?;
        Ok(Self { server, target, folder })
    }

    fn memory_mib(&self, kind: &str) -> Result<f64> {
        memory_mib(self.server.pid(), kind)
    }
}

/// Bytes that nothing can compress.
fn body(bytes: usize) -> Bytes {
    let mut body = vec![0; bytes];
    SeededIds::from_number(bytes as u64).fill(&mut body);
    body.into()
}

/// Puts on disk what is not there yet: what a peer did not sync is not the next one's burden.
fn put_on_disk() -> Result<()> {
    ensure!(Command::new("sync").status()?.success(), "sync failed");
    Ok(())
}

/// PUT and GET of one size over each number of connections; all servers start anew for each, on an empty disk.
fn of_size(size: usize, at: &dyn Fn(&str)) -> Result<Vec<Row>> {
    let body = body(size);
    let mut rows = Vec::new();
    for connections in CONNECTIONS {
        let own = Own::start()?;
        let running: Vec<(&Peer, Running)> = PEERS
            .iter()
            .filter(|peer| peer.meets(size, connections))
            .map(|peer| Ok((peer, peer.start(own.folder.path())?)))
            .collect::<Result<_>>()?;
        let peers: Vec<_> =
            running.iter().map(|(peer, running)| (peer.name, &running.target)).collect();
        at(&format!("PUT {}, {}", shown(size), over(connections)));
        rows.extend(puts(&own, &peers, &body, connections)?);
        at(&format!("GET {}, {}", shown(size), over(connections)));
        rows.extend(gets(&own, &peers, &body, connections)?);
        own.server.stop()?;
    }
    Ok(rows)
}

fn puts(
    own: &Own,
    peers: &[(&'static str, &Target)],
    body: &Bytes,
    connections: usize,
) -> Result<Vec<Row>> {
    let size = body.len();
    let scratch = own.folder.path().join("disk");
    let mut rates = Rates::of(peers, size * connections);
    for round in 0..rates.rounds {
        let work = Work::Put { prefix: format!("put-{connections}-{round}"), body: body.clone() };
        let of = |target: &Target| {
            put_on_disk()?;
            target.rate(&work, connections, SPAN)
        };
        rates.add(of(&own.target)?, peers, of)?;
        put_on_disk()?;
        rates.disk += limit::disk(&scratch, body, connections, SPAN)?;
        std::fs::remove_dir_all(&scratch)?;
        rates.hash += limit::hash(body, connections, SPAN)?;
    }
    let what = format!("PUT {}, {}", shown(size), over(connections));
    let lower = match rates.disk < rates.hash {
        true => ("the disk, same durable work", rates.disk),
        false => ("MD5 + CRC64NVME alone", rates.hash),
    };
    let expected = match (size, connections) {
        (LARGE, _) => Some(0.8),
        (MIDDLE | MIB, 1) => Some(0.55),
        (MIDDLE | MIB, 16) => Some(0.7),
        _ => None,
    };
    let mut rows = vec![rates.row(&what, size, lower, expected)];
    for (name, rate) in &rates.peers {
        let expected = match (size, connections, *name) {
            (SMALL, 16, NGINX) => Some(1.6),
            (SMALL, 16, name) if name.starts_with("s3s-fs") => Some(3.0),
            _ => None,
        };
        rows.push(rates.row(&what, size, (name, *rate), expected));
    }
    Ok(rows)
}

fn gets(
    own: &Own,
    peers: &[(&'static str, &Target)],
    body: &Bytes,
    connections: usize,
) -> Result<Vec<Row>> {
    let size = body.len();
    let keys = (4 * MIB / size).clamp(1, 64) as u64;
    let fill = Work::Put { prefix: "get".into(), body: body.clone() };
    let targets = peers.iter().map(|(_, target)| *target);
    for target in targets.chain([&own.target]) {
        target.rate_of(&fill, READ_FROM, keys)?;
    }
    let work = Work::Get { prefix: "get".into(), writers: READ_FROM, keys, size };
    let head = own.target.head_of(&format!("/{BUCKET}/get/0/0"))?;
    let mut rates = Rates::of(peers, size * connections);
    put_on_disk()?;
    for _ in 0..rates.rounds {
        let of = |target: &Target| target.rate(&work, connections, SPAN);
        let rate = of(&own.target)?;
        // Next to what it is compared with: what else this machine does changes within seconds.
        let bare = with_same(head.clone(), body.clone(), |address| {
            of(&Target { address, signer: own.target.signer.clone() })
        })?;
        let file = own.folder.path().join("copied");
        let opened = limit::unseal_and_copy(&file, size, connections, SPAN / 3)?;
        rates.bare += bare;
        rates.together += 1.0 / (1.0 / bare + 1.0 / opened);
        rates.add(rate, peers, of)?;
    }
    let what = format!("GET {}, {}", shown(size), over(connections));
    let expected = (size == 4 * KIB).then_some(0.6);
    let bare = ("bare hyper, same answer", rates.bare);
    let mut rows = vec![rates.row(&what, size, bare, expected)];
    let together = ("bare hyper, unsealing and one copy together", rates.together);
    rows.push(rates.row(&what, size, together, (size >= MIDDLE).then_some(0.8)));
    for (name, rate) in &rates.peers {
        rows.push(rates.row(&what, size, (name, *rate), (*name == NGINX).then_some(0.9)));
    }
    Ok(rows)
}

/// Sums over the rounds of one point; a row shows the mean.
struct Rates {
    rounds: usize,
    own: f64,
    disk: f64,
    hash: f64,
    bare: f64,
    together: f64,
    peers: Vec<(&'static str, f64)>,
}

impl Rates {
    fn of(peers: &[(&'static str, &Target)], under_way: usize) -> Self {
        let is_much = under_way > ROUNDS_BYTES_MAX;
        Self {
            rounds: if is_much { 1 } else { ROUNDS },
            own: 0.0,
            disk: 0.0,
            hash: 0.0,
            bare: 0.0,
            together: 0.0,
            peers: peers.iter().map(|(name, _)| (*name, 0.0)).collect(),
        }
    }

    fn add(
        &mut self,
        own: f64,
        peers: &[(&'static str, &Target)],
        of: impl Fn(&Target) -> Result<f64>,
    ) -> Result<()> {
        self.own += own;
        for ((_, sum), (name, target)) in self.peers.iter_mut().zip(peers) {
            *sum += of(target).with_context(|| (*name).to_owned())?;
        }
        Ok(())
    }

    /// Requests a second of small bodies, MiB a second of large ones.
    fn row(&self, what: &str, size: usize, limit: (&str, f64), expected: Option<f64>) -> Row {
        #[expect(clippy::cast_precision_loss, reason = "a size has no 53 bits")]
        let (unit, factor) = match size < MIB {
            true => ("requests/s", 1.0),
            false => ("MiB/s", (size / MIB) as f64),
        };
        #[expect(clippy::cast_precision_loss, reason = "a handful of rounds")]
        let factor = factor / self.rounds as f64;
        Row {
            what: what.to_owned(),
            value: self.own * factor,
            unit,
            limit: Some((limit.0.to_owned(), limit.1 * factor)),
            expected,
        }
    }
}

fn shown(size: usize) -> String {
    match size < MIB {
        true => format!("{} KiB", size / KIB),
        false => format!("{} MiB", size / MIB),
    }
}

fn over(connections: usize) -> String {
    match connections {
        1 => "1 connection".to_owned(),
        many => format!("{many} connections"),
    }
}

/// The memory of many uploads at once, and of readers that do not read.
fn memory(at: &dyn Fn(&str)) -> Result<Vec<Row>> {
    at("many uploads at once");
    let mut rows = vec![uploads_at_once()?];
    rows.extend(stalled::measure(at)?);
    Ok(rows)
}

/// The most memory that many large uploads at once add to the process.
fn uploads_at_once() -> Result<Row> {
    let own = Own::start()?;
    let work = Work::Put { prefix: "uploads".into(), body: body(UPLOAD_BYTES) };
    let before = own.memory_mib("VmRSS:")?;
    own.target.rate_of(&work, UPLOADS, 1)?;
    let added = own.memory_mib("VmHWM:")? - before;
    own.server.stop()?;
    Ok(Row {
        what: format!(
            "{UPLOADS} uploads of {} at once add {added:.0} MiB to the process: how often that fits",
            shown(UPLOAD_BYTES)
        ),
        value: UPLOADS_MIB_MAX / added,
        unit: "times",
        limit: Some(("once in 200 MiB".into(), 1.0)),
        expected: Some(1.0),
    })
}

/// The cost of a PUT among a thousand keys and among a million, turn about; the middle one of several runs counts.
fn flat_cost(at: &dyn Fn(&str)) -> Result<Vec<Row>> {
    at(&format!("PUT among {MANY_KEYS} keys"));
    let (few, many) = (Own::start()?, Own::start()?);
    let small = Work::Put { prefix: "filled".into(), body: body(100) };
    few.target.rate_of(&small, 8, FEW_KEYS / 8)?;
    many.target.rate_of(&small, 64, MANY_KEYS / 64)?;
    let body = body(4 * KIB);
    let (mut among_few, mut among_many) = (Vec::new(), Vec::new());
    for run in 0..FLAT_RUNS {
        let work = Work::Put { prefix: format!("run-{run}"), body: body.clone() };
        among_few.push(few.target.rate_of(&work, 16, FLAT_PUTS / 16)?);
        among_many.push(many.target.rate_of(&work, 16, FLAT_PUTS / 16)?);
    }
    let memory = |own: &Own| own.memory_mib("VmRSS:");
    let what = format!(
        "PUT 4 KiB, 16 connections, among {MANY_KEYS} keys ({:.0} MiB resident; {:.0} MiB among {FEW_KEYS})",
        memory(&many)?,
        memory(&few)?
    );
    few.server.stop()?;
    many.server.stop()?;
    Ok(vec![Row {
        what,
        value: median(among_many),
        unit: "requests/s",
        limit: Some((format!("among {FEW_KEYS} keys"), median(among_few))),
        expected: Some(1.0 / FLAT_WITHIN),
    }])
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}
