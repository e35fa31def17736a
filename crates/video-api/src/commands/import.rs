//! `import`: a data directory from what `export` wrote.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use clap::ArgMatches;
use triptych_core::host::flags::Flags;
use triptych_core::host::launch::StagingDir;
use triptych_core::id::SystemIds;
use triptych_core::time::{Clock, SystemClock};
use video_api::state::import::import;

use super::{at_path, file, progress, with_causes};

/// Fills `data` from the file that the command names.
pub(super) fn run(flags: &Flags, data: &Path, matches: &ArgMatches) -> Result<String, String> {
    let file = file(matches);
    let staging = StagingDir::new(data)?;
    let stores = staging.open(flags)?;
    let bar = progress("rows read", 0);
    let read = |text: &mut dyn std::io::BufRead| {
        let (kv, blobs, now) = (&*stores.kv, &*stores.blobs, SystemClock::new().now());
        import(kv, blobs, &mut SystemIds, now, text, |rows| bar.set_position(rows))
            .map_err(|error| format!("{}: {}", file.display(), with_causes(error)))
    };
    let rows = if file.as_os_str() == "-" {
        read(&mut BufReader::new(std::io::stdin().lock()))?
    } else {
        let opened = File::open(&file).map_err(|error| at_path(&file, &error))?;
        read(&mut BufReader::with_capacity(256 * 1024, opened))?
    };
    drop(stores);
    staging.publish(data)?;
    Ok(format!("{rows} rows are in {}", data.display()))
}
