//! Past one machine: PUTs of 4 KiB and lists of videos at one, two and three instances on one PostgreSQL, beside guarded transactions and reads
//! of the engine by itself in the same run; what the database and the instances take of the machine; and round trips, as counted.

mod expense;
mod instances;
mod objects;
mod raw;
mod videos;

use anyhow::{Result, ensure};
use triptych_core::kv::PostgresServer;

use self::instances::{Busy, Instances};
use super::report::{self, Row};
use crate::run::progress::{self, spinner};
use crate::run::workspace::{cargo, target};
use crate::simulation::{self, Costs};

/// Instances at the most.
const INSTANCES: usize = 3;
/// Turns that the engine and the instances take, so that both meet the same machine.
const TURNS: usize = 2;
/// Requests of each kind whose round trips are counted.
const COUNTED: u32 = 200;

/// Everything; see the module. The costs of requests are kept, and the page of the simulation is made anew from them.
///
/// # Errors
/// If the services do not build or start, PostgreSQL is not installed, or anything is refused.
pub(crate) fn measure() -> Result<Vec<Row>> {
    let mut build = cargo(&["build", "--release", "--locked", "-p", "object-put"]);
    build.args(["-p", "video-api", "--features", "object-put/postgres,video-api/postgres"]);
    ensure!(build.status()?.success(), "the services do not build");
    std::fs::create_dir_all(target())?;
    let bar = spinner("scale");
    let at = |what: &str| progress::at(&bar, what);
    let database = PostgresServer::start()?;
    let (mut rows, [put, replace, get, list]) = objects::measure(&database, &at)?;
    let (of_videos, videos) = videos::measure(&database, &at)?;
    rows.extend(of_videos);
    at("simulation");
    simulation::keep(&Costs { machine: report::machine(), put, replace, get, list, videos })?;
    println!("{}", simulation::run()?);
    bar.finish_and_clear();
    Ok(rows)
}

/// A kind of request, and the engine's own work that it is compared with.
struct Kind {
    request: &'static str,
    engine: &'static str,
    /// The share of the engine's rate that is expected.
    expected: Option<f64>,
}

impl Kind {
    /// Rows of one, two and three instances: each count beside as many engines, and beside one instance; then what the most of them took of
    /// the machine, and how far one core of the database went with each. `engine` and `instances` give the rates of a count; the latter is
    /// told its turn.
    fn measure(
        &self,
        at: &dyn Fn(&str),
        engine: impl Fn(usize) -> Result<(f64, Busy)>,
        instances: impl Fn(usize, usize) -> Result<(f64, Busy)>,
    ) -> Result<Vec<Row>> {
        let (mut rows, mut one, mut busy) = (Vec::new(), 0.0, Busy::default());
        let mut of_core = (0.0, 0.0);
        for count in 1..=INSTANCES {
            let name = format!("{}, instances: {count}", self.request);
            at(&name);
            let (mut own, mut raw) = (0.0, 0.0);
            let mut raw_busy = Busy::default();
            busy = Busy::default();
            for turn in 0..TURNS {
                let (rate, taken) = engine(count)?;
                raw += rate / TURNS as f64;
                raw_busy.add(taken, TURNS);
                let (rate, taken) = instances(count, turn)?;
                own += rate / TURNS as f64;
                busy.add(taken, TURNS);
            }
            of_core = (own / busy.database, raw / raw_busy.database);
            let row = |limit: (&str, f64), expected| Row {
                what: name.clone(),
                value: own,
                unit: "requests/s",
                limit: Some((limit.0.to_owned(), limit.1)),
                expected,
            };
            rows.push(row((self.engine, raw), self.expected));
            match count {
                1 => one = own,
                _ => rows.push(row(("one instance", one), None)),
            }
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        let taken = [("the database", busy.database), ("the instances", busy.instances)];
        rows.extend(taken.map(|(who, value)| Row {
            what: format!("{}, instances: {INSTANCES}: {who}", self.request),
            value,
            unit: "cores",
            limit: Some(("of the machine, whose rest is the clients'".to_owned(), cores)),
            expected: None,
        }));
        // Where clients and instances have machines of their own the database is what limits.
        rows.push(Row {
            what: format!("{}, instances: {INSTANCES}: by one core of the database", self.request),
            value: of_core.0,
            unit: "requests/s",
            limit: Some((format!("{}, by one core", self.engine), of_core.1)),
            expected: self.expected,
        });
        Ok(rows)
    }
}

/// A row of the round trips of one request, the mean of many that `ask` sends to the first instance, one after the other. Signs of life and what
/// else an instance does by the clock are among them.
fn counted(
    what: &str,
    instances: &Instances,
    mut ask: impl FnMut(u32) -> Result<()>,
) -> Result<Row> {
    let before = instances.round_trips()?;
    (0..COUNTED).try_for_each(&mut ask)?;
    let value = (instances.round_trips()? - before) / f64::from(COUNTED);
    Ok(Row {
        what: format!("{what}: round trips"),
        value,
        unit: "a request",
        limit: None,
        expected: None,
    })
}
