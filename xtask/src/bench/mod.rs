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

use anyhow::{Result, bail, ensure};

/// Measures, all of it or the groups whose name contains what is given, and gives a row for each number; the report makes a page and a plot of
/// them.
type Measure = fn(Option<&str>) -> Result<Vec<report::Row>>;

/// The measurements, by name, and whether they have groups.
const BENCHES: &[(&str, bool, Measure)] = &[
    ("kv", false, |_| kv::measure()),
    ("host", false, |_| host::measure()),
    ("object", true, object::measure),
    ("video", true, video::measure),
    ("tabs", false, |_| tabs::measure()),
    #[cfg(feature = "postgres")]
    ("scale", false, |_| scale::measure()),
];

/// Measures what is named, or everything; with `only`, groups of it whose name contains it, which become no page.
///
/// # Errors
/// If nothing of that name is measured, it has no groups, or a measurement fails.
pub(crate) fn measure(what: Option<&str>, only: Option<&str>) -> Result<()> {
    let is_chosen = |name: &str| what.is_none_or(|what| what == name);
    let chosen: Vec<_> = BENCHES.iter().filter(|(name, ..)| is_chosen(name)).collect();
    if chosen.is_empty() {
        bail!("there is no such measurement");
    }
    for (name, has_groups, measure) in chosen {
        if only.is_some() {
            ensure!(has_groups, "{name} has no groups: it is measured as a whole, without --only");
            println!("{}", report::table(&measure(only)?));
            continue;
        }
        let load = report::load();
        println!("== {name}\n{}", report::write(name, &measure(None)?, &load)?);
    }
    Ok(())
}
