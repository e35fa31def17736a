//! `generate`: a data directory full of made-up channels, videos and playlists.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use sha2::{Digest, Sha256};
use triptych_core::host::flags::Flags;
use triptych_core::host::storage;
use video_api::state::generate::{Generator, Plan};

use super::external_sort::ExternalSort;
use super::{at_path, progress, with_causes};
use triptych_core::host::launch::StagingDir;

/// Makes up a store and fills `data` with it.
pub(super) fn run(flags: &Flags, data: &Path, matches: &ArgMatches) -> Result<String, String> {
    let number = |id| matches.get_one::<u64>(id).copied().unwrap_or_default();
    let plan = Plan {
        channels: number("channels"),
        videos: number("videos"),
        busy_threads: number("busy-threads"),
        busy_subscriptions: number("busy-subscriptions"),
        seed: seed(matches),
    };
    if plan.channels == 0 && plan.videos > 0 {
        return Err("videos need a channel: --channels 1 or more".to_owned());
    }
    storage::check_service(flags).map_err(|error| error.to_string())?;
    let staging = StagingDir::new(data)?;
    let runs = staging.path().join("runs");
    fs::create_dir(&runs).map_err(|error| at_path(&runs, &error))?;
    let mut sort = ExternalSort::new(runs.clone());
    let mut generator = Generator::new(plan);
    let bar = progress("made", plan.videos);
    while let Some(rows) = generator.part().map_err(with_causes)? {
        sort.extend(rows).map_err(|error| at_path(&runs, &error))?;
        bar.set_position(generator.videos());
    }
    bar.finish_and_clear();
    let mut merged = sort.merged().map_err(|error| at_path(&runs, &error))?;
    let bar = progress("rows stored", 0);
    let mut rows = std::iter::from_fn(|| {
        let row = merged.next().transpose();
        match row {
            Some(_) => bar.inc(1),
            None => bar.set_message("rows stored; their index is filled"),
        }
        row
    });
    let filled = storage::open_filled(&staging, flags, &mut rows);
    let (stores, rows) = filled.map_err(|error| error.to_string())?;
    bar.finish_and_clear();
    drop(stores);
    fs::remove_dir_all(&runs).map_err(|error| at_path(&runs, &error))?;
    staging.publish(data)?;
    let busiest = generator.busiest().map(|video| format!("; {video} is the busiest video"));
    Ok(format!(
        "{} channels and {} videos, {rows} rows, are in {}{}",
        plan.channels,
        plan.videos,
        data.display(),
        busiest.unwrap_or_default()
    ))
}

/// A number as it is, any other text by its digest.
fn seed(matches: &ArgMatches) -> u64 {
    let text = matches.get_one::<PathBuf>("seed");
    let text = text.map(|text| text.to_string_lossy()).unwrap_or_default();
    text.parse().unwrap_or_else(|_| {
        let digest = Sha256::digest(text.as_bytes());
        digest.first_chunk().map_or(0, |first| u64::from_be_bytes(*first))
    })
}
