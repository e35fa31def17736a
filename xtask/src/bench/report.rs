//! Measurements as a page and a plot: `docs/benchmarks/<name>.md` and `.svg`.

use std::fmt::Write;

use anyhow::{Result, ensure};

use crate::run::workspace::{output, root};

/// One measured number, beside the limit that the same run measured.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The work, as `16 writers, durable commits`.
    pub what: String,
    /// The measured value.
    pub value: f64,
    /// Of what, as `commits/s`.
    pub unit: &'static str,
    /// The limit of the machine itself, and how that was measured.
    pub limit: Option<(String, f64)>,
    /// The share of the limit that is expected.
    pub expected: Option<f64>,
}

impl Row {
    /// The value as a share of its limit.
    fn share(&self) -> Option<f64> {
        self.limit.as_ref().map(|(_, limit)| self.value / limit)
    }

    /// Tells whether it is what was expected; rows without an expectation are.
    fn holds(&self) -> bool {
        self.share().zip(self.expected).is_none_or(|(share, expected)| share >= expected)
    }
}

/// The rows of a measurement's groups, or of those whose name contains `only`. A group that fails is a row that says why, and takes no other's
/// rows along.
///
/// # Errors
/// If there is no such group.
pub(crate) fn of_groups<S: Copy>(
    groups: &[(&str, S)],
    only: Option<&str>,
    measure: impl Fn(S) -> Result<Vec<Row>>,
) -> Result<Vec<Row>> {
    let is_chosen = |name: &str| only.is_none_or(|only| name.contains(only));
    let chosen: Vec<_> = groups.iter().filter(|(name, _)| is_chosen(name)).collect();
    let names: Vec<_> = groups.iter().map(|(name, _)| *name).collect();
    ensure!(!chosen.is_empty(), "there is no such group; there are {}", names.join(", "));
    let rows = chosen
        .into_iter()
        .map(|(name, group)| measure(*group).unwrap_or_else(|error| vec![failed(name, &error)]));
    Ok(rows.flatten().collect())
}

/// A row that says why a group has none.
fn failed(name: &str, error: &anyhow::Error) -> Row {
    Row {
        what: format!("{name}: {error:#}").replace(['\n', '\r', '|'], " "),
        value: 0.0,
        unit: "rows",
        limit: Some(("a group that is measured".into(), 1.0)),
        expected: Some(1.0),
    }
}

/// The number of processes that wanted the processor in the last minute, as the kernel counts them: taken before a measurement.
pub(crate) fn load() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// Writes the page and the plot, and gives the page's table; `load` is what the machine did when the measurement began.
///
/// # Errors
/// If they cannot be written.
pub(crate) fn write(name: &str, rows: &[Row], load: &str) -> Result<String> {
    let folder = root().join("docs/benchmarks");
    std::fs::create_dir_all(&folder)?;
    let table = table(rows);
    let page = format!(
        "# {name}\n\nMeasured by `cargo xtask bench {name}` on {}; other work that wanted them when it began: {load}.\n\n{table}\n![shares of the limits]({name}.svg)\n",
        machine()
    );
    std::fs::write(folder.join(format!("{name}.md")), page)?;
    std::fs::write(folder.join(format!("{name}.svg")), plot(rows))?;
    Ok(table)
}

/// A table of rows.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| what | measured | limit in the same run | share | expected |\n|---|---|---|---|---|\n",
    );
    for row in rows {
        let limit = row
            .limit
            .as_ref()
            .map_or_else(String::new, |(how, limit)| format!("{} ({how})", number(*limit)));
        let share = row.share().map_or_else(String::new, |share| format!("{share:.2}"));
        let expected = row.expected.map_or_else(String::new, |expected| {
            let missed = if row.holds() { "" } else { ": missed" };
            format!("{}{missed}", (expected * 100.0).round() / 100.0)
        });
        let _ = writeln!(
            text,
            "| {} | {} {} | {limit} | {share} | {expected} |",
            row.what,
            number(row.value),
            row.unit
        );
    }
    text
}

/// Three significant digits and thousands apart.
fn number(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The share at which a bar ends: a peer that is left far behind would make all others invisible.
const SHOWN_SHARE_MAX: f64 = 4.0;

/// A bar a row: the share of its limit, and a line where it is expected to reach.
fn plot(rows: &[Row]) -> String {
    let shown: Vec<_> = rows.iter().filter_map(|row| Some((row, row.share()?))).collect();
    let most = shown
        .iter()
        .map(|(row, share)| share.max(row.expected.unwrap_or(0.0)))
        .fold(1.0, f64::max)
        .min(SHOWN_SHARE_MAX);
    let (left, width, step) = (330.0, 420.0, 26.0);
    let mut bars = String::new();
    let mut y = 10.0;
    for (row, share) in &shown {
        let length = (share / most).min(1.0) * width;
        let colour = if row.holds() { "#2a78d6" } else { "#d03b3b" };
        let _ = write!(
            bars,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"{left}\" y=\"{y}\" width=\"{length:.1}\" height=\"16\" fill=\"{colour}\"/><text x=\"{:.1}\" y=\"{}\">{share:.2}</text>",
            left - 8.0,
            y + 13.0,
            escape(&row.what),
            left + length + 6.0,
            y + 13.0
        );
        if let Some(expected) = row.expected {
            let x = left + (expected / most).min(1.0) * width;
            let _ = write!(
                bars,
                "<path d=\"M{x:.1} {}v22\" stroke=\"#52514e\" stroke-width=\"2\"/>",
                y - 3.0
            );
        }
        y += step;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"820\" height=\"{:.0}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#0b0b0b\"><rect width=\"100%\" height=\"100%\" fill=\"#fcfcfb\"/>{bars}</svg>\n",
        y + 6.0
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The processor and the kernel, so that numbers are compared with their like.
pub(crate) fn machine() -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        processor.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let kernel = output(std::process::Command::new("uname").arg("-sr")).unwrap_or_default();
    format!(
        "{cores} cores of {}, {}",
        model.unwrap_or("an unknown processor").trim(),
        kernel.trim()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(value: f64) -> Row {
        Row {
            what: "a < b".into(),
            value,
            unit: "calls/s",
            limit: Some(("bare".into(), 2_000.0)),
            expected: Some(0.5),
        }
    }

    #[test]
    fn a_missed_expectation_is_shown_as_missed() {
        assert!(
            table(&[row(1_234.0)])
                .contains("| a < b | 1,234 calls/s | 2,000 (bare) | 0.62 | 0.5 |")
        );
        assert!(table(&[row(900.0)]).contains("0.45 | 0.5: missed |"));
    }

    #[test]
    fn no_bar_is_longer_than_the_plot() {
        assert!(plot(&[row(1_000_000.0), row(900.0)]).contains("width=\"420.0\""));
    }

    #[test]
    fn the_plot_escapes_what_it_shows() {
        assert!(plot(&[row(900.0)]).contains("a &lt; b"));
    }
}
