//! A store whose index outgrows memory: ten million rows on redb, in a process of its own, whose memory is then that store's alone.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::report::Row;
use crate::run::workspace::cargo;

/// Rows of the store, unless the variable says otherwise.
const ROWS: u64 = 10_000_000;
/// The variable that names another count, for a trial of the measurement.
const ROWS_VARIABLE: &str = "BENCH_LARGE_ROWS";
/// The memory that the process may take.
const MEMORY_MIB_MAX: f64 = 2048.0;

/// Loads them in no order of their keys, reads some, opens the store again and fills its index anew, by the program `large` of the core.
///
/// # Errors
/// If a row is not there, the process was larger than it may be, or the disk fails.
pub(crate) fn measure(folder: &Path) -> Result<Vec<Row>> {
    let rows = match std::env::var(ROWS_VARIABLE) {
        Ok(rows) => rows.parse().with_context(|| format!("{ROWS_VARIABLE} is no number"))?,
        Err(_) => ROWS,
    };
    let mut command = cargo(&["run", "--release", "--locked", "-p", "triptych-core"]);
    command.args(["--example", "large", "--features", "redb", "--"]);
    command.args([&rows.to_string(), "redb"]).arg(folder.join("large"));
    let done = command.output()?;
    let said = String::from_utf8_lossy(&done.stdout);
    if !done.status.success() {
        bail!("{said}{}", String::from_utf8_lossy(&done.stderr));
    }
    let told = Told::read(&said);
    let row = |what: String, value, unit| Row { what, value, unit, limit: None, expected: None };
    let most = told.most;
    Ok(vec![
        row(
            format!("{rows} rows of 200 bytes loaded in no order, redb"),
            told.rate("all loaded")?,
            "rows/s",
        ),
        row(
            format!("rows read at random among {rows}, redb"),
            told.rate("rows read at random")?,
            "reads/s",
        ),
        row(
            format!("pages of 100 rows at random among {rows}, redb"),
            told.rate("pages of 100")?,
            "pages/s",
        ),
        row(
            format!("index of {rows} rows filled anew, redb"),
            told.rate("index filled anew")?,
            "rows/s",
        ),
        Row {
            what: format!(
                "{rows} rows on redb make the process {most:.0} MiB at the most: how often that fits"
            ),
            value: MEMORY_MIB_MAX / most,
            unit: "times",
            limit: Some(("once in 2 GiB".into(), 1.0)),
            expected: Some(1.0),
        },
    ])
}

/// The lines that the program prints.
struct Told {
    /// The first cell of each, and its third.
    rates: Vec<(String, String)>,
    /// The most memory, in MiB.
    most: f64,
}

impl Told {
    fn read(text: &str) -> Self {
        let (mut rates, mut most) = (Vec::new(), 0_f64);
        for line in text.lines() {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [what, _, rate, _, at_most] = cells[..] else { continue };
            rates.push((what.to_owned(), rate.to_owned()));
            most = most.max(at_most.parse().unwrap_or_default());
        }
        Self { rates, most }
    }

    /// The last rate of a name: of reads, those of the store that was opened again and filled anew.
    fn rate(&self, name: &str) -> Result<f64> {
        let found = self.rates.iter().rfind(|(what, _)| what == name);
        let (_, rate) = found.with_context(|| format!("the program told no rate of {name:?}"))?;
        Ok(rate.parse()?)
    }
}
