//! Measurements: one file for each of `BENCHES`, compiled with the feature `bench` alone, so that no other task waits for it.

mod bare;
mod host;
mod kv;
mod large;
mod load;
mod object;
mod prism;
mod rebuild;
mod report;
#[cfg(feature = "postgres")]
mod scale;
mod tabs;
mod video;

use anyhow::{Result, bail};

/// Measures, and gives a row for each number; the report makes a page and a plot of them.
type Measure = fn() -> Result<Vec<report::Row>>;

/// The measurements, by name.
const BENCHES: &[(&str, Measure)] = &[
    ("kv", kv::measure),
    ("host", host::measure),
    ("object", || object::measure(None)),
    ("video", video::measure),
    ("tabs", tabs::measure),
    #[cfg(feature = "postgres")]
    ("scale", scale::measure),
];

/// Measures what is named, or everything; with `only`, groups of `object` whose name contains it, which become no page.
///
/// # Errors
/// If nothing of that name is measured, or a measurement fails.
pub(crate) fn measure(what: Option<&str>, only: Option<&str>) -> Result<()> {
    if let Some(only) = only {
        println!("{}", report::table(&object::measure(Some(only))?));
        return Ok(());
    }
    let is_chosen = |name: &str| what.is_none_or(|what| what == name);
    let chosen: Vec<_> = BENCHES.iter().filter(|(name, _)| is_chosen(name)).collect();
    if chosen.is_empty() {
        bail!("there is no such measurement");
    }
    for (name, measure) in chosen {
        let load = report::load();
        println!("== {name}\n{}", report::write(name, &measure()?, &load)?);
    }
    Ok(())
}
